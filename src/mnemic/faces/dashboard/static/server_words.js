// What the server says in English, said in the language of the page: reasons, doubts, notes, problems. Words of memory in it stay.
import { language } from "./words.js";

/** English of the server, and its Chinese; `$1` is what stood there. The first that fits is taken. */
const SAID = [
  [/^says '(.*)'$/, "原话有“$1”"], [/^holds (.*)$/, "含有：$1"], [/^beside (.*)$/, "邻近的话含有：$1"], [/^close in meaning$/, "语义相近"], [/^dated (.*)$/, "日期为 $1"], [/^said by (.*)$/, "说话人：$1"],
  [/^said (.*), within '(.*)'$/, "说于 $1，在“$2”之内"], [/^its words may speak of (.*)$/, "其内容可能说的是 $1"], [/^the question names it$/, "问题提到了它"], [/^names '(.*)', which was found$/, "提到了已找到的“$1”"],
  [/^linked from '(.*)': it names '(.*)'$/, "由“$1”关联而来：它提到“$2”"], [/^linked from '(.*)': both name '(.*)'$/, "由“$1”关联而来：都提到“$2”"], [/^nothing in it bears on the question: there is little else$/, "与问题无关，只是记忆中内容很少"], [/^one of the latest$/, "最近的内容之一"],
  [/^says how it was before$/, "说的是以前的情况"], [/^what is later says how it is now$/, "后来的话说的是现在的情况"], [/^(\S+) picked it$/, "由策略 $1 选出"],
  [/^names it, and an end$/, "提到了它，并说已结束"], [/^speaks of a change of the same matter$/, "说到同一件事的变化"], [/^seems, by its meaning, to speak of a change of the same matter$/, "从语义看，似乎说到同一件事的变化"], [/^may take it back$/, "可能收回了它"],
  [/^was written by hand later, and gives another (.*)$/, "后来手动写下，并给出了另一个值（$1）"], [/^was said later than what was written by hand, and gives another (.*)$/, "比手动写下的内容说得更晚，并给出了另一个值（$1）"],
  [/^speaker: (.*)$/, "说话人：$1"], [/^quoted: (.*)$/, "引用：$1"], [/^no word of the question stands in it, beside it, or in its date(?:, and it is not close in meaning)?$/, "问题中的词语不在其中、其旁或其日期里，语义也不相近"], [/^nothing was said in that time$/, "那段时间没有说过什么"],
  [/^no such item in this scope$/, "这里没有这个条目"], [/^the view does not show it; it now stands as (.*)$/, "所看的时间不显示它；它现在的状态：$1"], [/^the filter leaves it out$/, "被筛选条件排除"], [/^it was recalled, at rank (\d+)$/, "已找到，排名第 $1"],
  [/^rules made it, and recall finds what they made it of in its place: (.*?);.*$/, "它由规则推导而来，检索给出的是其依据：$1"], [/^(\S+) derived it for nobody's recall$/, "$1 推导它不供检索"], [/^(\S+) keeps it for its own recall$/, "$1 只在自己的检索中使用它"],
  [/^(.*) says the same and ranks higher$/, "$1 说的相同且排名更高"], [/^rank (\d+), behind more than (\d+) that say the same$/, "排名第 $1，前面有超过 $2 条说法相同"], [/^rank (\d+) of (\d+); (\d+) were asked for$/, "在 $2 条中排名第 $1；只要求 $3 条"],
  [/^(1 item has|(\d+) items have) no vector yet:.*$/, "有条目尚无向量：在此之前只能靠词语找到"], [/^(\d+) were of that time: of equals, the latest$/, "那段时间有 $1 条：同等者取最新"], [/^more than (\d+) said the same as these: .*$/, "超过 $1 条说法相同：其余没有查看"],
  [/^nothing was found that is not shown already.*$/, "没有找到尚未显示的内容"], [/^nothing of what was found fits the budget of (\d+) tokens$/, "找到的内容都超出 $1 词元的预算"], [/^probably not in memory(?:: (.*))?$/, "记忆中可能没有"],
];
const TITLES = {
  Invalid: "给出的值不能接受", TooLarge: "超出上限", NotFound: "这里没有这样的内容", Conflict: "别人先改动了，或同一个键带来了别的内容；没有写入", Stale: "此条目已被改动；没有写入，请重新读取", Refused: "不允许此操作，或有保全或置顶阻止；没有写入",
  Unauthenticated: "凭证无法识别", OverQuota: "超出配额，请稍后再试", Compacted: "所问的过去已不可查", ModelError: "模型或其端点失败；写入的内容没有丢失", NoModel: "需要语言模型，但没有设定", UnusableModel: "设定的语言模型无法打开", OverBudget: "模型用量已达预算",
  StoreError: "存储失败；写入可能成功也可能没有", StoreFull: "磁盘已满", StoreReadOnly: "存储不可写", StoreCorrupt: "存储已损坏", StoreForeign: "这是其他程序的文件", StoreNewer: "存储的格式比本版本新", StoreLocked: "存储被占用", TenantElsewhere: "该租户在另一台服务器上",
};
const REMEDIES = [
  [/^Ids have 26 characters.*$/, "编号为 26 个字符。"], [/^See \/openapi\.json\.$/, "见 /openapi.json。"], [/^Say whose memory.*$/, "请说明是谁的记忆。"], [/^Name (?:another|whose).*$/, "请另行指定。"], [/^Give a later time, or a span such as 90d\.$/, "给出更晚的时间，或时长，如 90d。"],
  [/^Leave the user out, or give write\.$/, "不要指定用户，或改为写入权限。"], [/^Needed: (.*?)[.;].*$/, "需要：$1。"],
];

const inChinese = (text, pairs) => {
  for (const [english, chinese] of pairs) if (english.test(text)) return text.replace(english, chinese);
  return text;
};

/** A reason, a doubt or a note of the server, in the language of the page; as it came where no words are known for it. */
export const said = (text) => (language() === "zh" ? inChinese(text, SAID) : text);

/** What a problem is called. */
export const titleOf = (problem) => (language() === "zh" && TITLES[(problem.type ?? "").split(":").at(-1)]) || problem.title;

/** What to do about a problem. */
export const remedyOf = (problem) => (language() === "zh" ? inChinese(problem.remedy, REMEDIES) : problem.remedy);

/** What went wrong, without the remedy that stands below it. */
export const detailOf = (problem) => (problem.remedy && problem.detail.endsWith(problem.remedy) ? problem.detail.slice(0, -problem.remedy.length).trimEnd() : problem.detail);
