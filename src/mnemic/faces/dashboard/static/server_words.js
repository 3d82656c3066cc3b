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
  [/^speaker: (.*)$/, "说话人：$1"], [/^quoted: (.*)$/, "引用：$1"], [/^no word of the question stands in it, beside it, or in its date(?:, and it is not close in meaning)?$/, "问题中的词语不在其中、其旁或其日期里，语义也不相近"], [/^nothing was said in that time$/, "那段时间没有说过什么"], [/^nothing was said in that time: the latest items$/, "那段时间没有说过什么：以下是最新的内容"],
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
  [/^Ids have 26 characters.*$/, "编号为 26 个字符。"], [/^An id is 26 characters of (.*)\.$/, "编号为 26 个字符，取自 $1。"], [/^See \/openapi\.json\.$/, "见 /openapi.json。"], [/^Say whose item or session.*$/, "请说明是谁的条目或会话。"], [/^Say whose memory.*$/, "请说明是谁的记忆。"], [/^Name (?:another|whose).*$/, "请另行指定。"], [/^Give a later time, or a span such as 90d\.$/, "给出更晚的时间，或时长，如 90d。"],
  [/^Give (?:a date such as|a datetime|a time in).*$/, "给出日期，如 2026-02-01；时间，如 2026-02-01T18:30+01:00；或“去年三月”这样的说法。"], [/^Give a time within years 1-9999\.$/, "给出公元 1 至 9999 年之间的时间。"], [/^Give a shorter span\.$/, "给出更短的时长。"], [/^Add one, such as \+00:00.*$/, "加上时区，如 +00:00。"], [/^Use an IANA name, such as (.*)\.$/, "使用 IANA 名称，如 $1。"], [/^Give an interval.*$/, "给出区间 [起, 止)。"],
  [/^Leave the user out, or give write\.$/, "不要指定用户，或改为写入权限。"], [/^Needed: (.*?)[.;].*$/, "需要：$1。"], [/^Known: (.*)\.$/, "已知的有：$1。"], [/^One of: (.*)\.$/, "可选：$1。"], [/^Did you mean (.*?)\? There are: (.*)\.$/, "是指 $1 吗？现有：$2。"], [/^There are: (.*)\.$/, "现有：$1。"],
  [/^There is nothing to remember; .*$/, "没有可记住的内容；请写些文字。"], [/^Ask something, in words\.$/, "请用文字提问。"], [/^The limit is (.*?) \(setting `(.*?)`\); split it\.$/, "上限为 $1（设置 `$2`）；请分成几份。"], [/^The limit is (.*?); shorten it\.$/, "上限为 $1；请缩短。"], [/^This looks binary; .*$/, "这像是二进制内容；请去掉 NUL 或先转换。"], [/^Nothing was written; give a name without it\.$/, "没有写入；请换一个不含它的名称。"],
  [/^Names(?: of files)? have at most (.*)\.$/, "名称最多 $1。"], [/^Give a name\.$/, "请给出名称。"], [/^Remove it\.$/, "请去掉它。"], [/^Leave it out\.$/, "请省去。"], [/^Leave one of them out\.$/, "请省去其中之一。"], [/^(?:Give|Say) just one of them\.$/, "只能给出其中一个。"], [/^Give (?:it )?a value\.$/, "请给出值。"], [/^Give a text\.$/, "请给出文字。"],
  [/^Give (\S+) to (\S+)\.$/, "给出 $1 至 $2。"], [/^Give (\d\S*) or more\.$/, "至少为 $1。"], [/^Give a span such as.*$/, "给出时长，如 30d；或时间，如 2030-01-31T18:00+00:00。"], [/^Give at least (\d\S*)\.$/, "至少为 $1。"], [/^Give a number of at least (\S+)\.$/, "给出不小于 $1 的数。"], [/^Give a number\.$/, "请给出数字。"], [/^Give True or False\.$/, "请给出 true 或 false。"], [/^Give the `next` of the page before, whole\.$/, "请完整给出上一页的 `next`。"],
  [/^Name at least one item\.$/, "请至少指明一个条目。"], [/^Give ids, a session or a source; .*$/, "请给出编号、会话或来源。"], [/^Write or supersede a fact instead\.$/, "请改为写下或取代一条事实。"], [/^Write a statement instead\.$/, "请改为写下一条陈述。"], [/^Supersede a statement\.$/, "只有陈述可以被取代。"], [/^Revise (.*)\.$/, "可修订的是：$1。"], [/^Use observe for what was said or read\.$/, "说过或读到的内容请用“说过的话”。"],
  [/^Give keep, ended, value or replaced_by;.*$/, "请选一项：仍然如此、不再如此，或实际的值。"], [/^Give keep to confirm it\.$/, "如要确认，请选“仍然如此”。"], [/^Name the item that says what is so instead\.$/, "请指明说出实际情况的条目。"], [/^`(?:\/v1\/)?review` lists what is in doubt\.$/, "“审阅”页列出存疑的内容。"], [/^`(?:\/v1\/)?log`(?: --oldest-first)? shows the (?:first )?commits?\.$/, "“时间线”页列出各次提交。"], [/^Merge it into the one it does\.$/, "请合并到它所来自的分支。"],
  [/^Send it in parts, or import it on the machine\.$/, "请分几次发送，或在该机器上导入。"], [/^Send it flatter\.$/, "请减少嵌套层次。"], [/^Name each field once\.$/, "每个字段只能出现一次。"],
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
