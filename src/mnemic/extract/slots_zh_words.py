# ruff: noqa: E501 - a pattern cut in pieces is read wrongly
"""The parts that Chinese statements are made of, on simplified characters; templates become patterns here."""

from __future__ import annotations

import re
from typing import Any, Final

from mnemic.core.timex_zh_words import numeral
from mnemic.extract.chinese import KNOWN_PLACES, NAME, ORGANISATION_ENDS, PLACE
from mnemic.extract.patterns import SlotPattern

_WHEN: Final = (
    r"(?:(?:上个?月|上周|上礼拜|上星期|昨天|昨晚|今天|今早|前天|去年|今年|前年|年初|年底|开春|这个?月|这周|那年|如今|眼下|从今天起|打今儿起|刚才|前几天|前不久"
    r"|(?:\d{4}年)?\d{1,2}月(?:份|\d{1,2}[日号])?|[一二三四五六七八九十]{1,2}月(?:份)?|[\u4e00-\u9fff]{1,6}(?:以后|之后|那天|起))[，,]?(?:我们?)?)?"
)
_VERY: Final = r"(?:真的|其实|一直|从小|平时|现在|目前|还是|还|也|都|很|非常|特别|最近|最|比较|挺|超级|超|更|蛮|就|已经|刚|终于|后来|又|正式|总算|早|本来就|一般|主要|平常|正|暂时|先|自己|一个人|从来){0,6}"
SECOND_THOUGHT: Final = (
    "[哦噢啊呃]?不对|[哦噢啊呃]不|不不不?|等等|等一下|[说打写记搞弄]错了|口误|更正|抱歉|对不起|不好意思"
)
"""How somebody takes back what they just said, or halts to do so."""
RELATIONS: Final = {
    "妈妈": "mother", "母亲": "mother", "妈": "mother", "爸爸": "father", "父亲": "father", "爸": "father", "姐姐": "sister",
    "妹妹": "sister", "哥哥": "brother", "弟弟": "brother", "老公": "partner", "丈夫": "partner", "老婆": "partner",
    "妻子": "partner", "太太": "partner", "男朋友": "partner", "女朋友": "partner", "男友": "partner", "女友": "partner",
    "对象": "partner", "爱人": "partner", "媳妇": "partner", "未婚妻": "partner", "未婚夫": "partner", "老伴": "partner",
    "儿子": "son", "女儿": "daughter", "闺女": "daughter", "同事": "colleague", "朋友": "friend", "好朋友": "friend",
    "闺蜜": "friend", "室友": "roommate", "老师": "teacher", "表哥": "cousin", "表姐": "cousin", "表弟": "cousin",
    "表妹": "cousin", "老板": "boss", "领导": "boss", "上司": "boss", "主管": "boss",
}  # fmt: skip
_KIN: Final = "|".join(sorted(RELATIONS, key=len, reverse=True))
_I: Final = rf"(?:(?:我|本人|俺)(?:们)?(?:俩|两口子|全家|一家人?|家)?(?:[跟和](?:我)?(?:{_KIN}))?{_WHEN}{_VERY})"
_ROMANCE: Final = "男朋友|女朋友|男友|女友|老公|老婆|丈夫|妻子|太太|对象|爱人|媳妇|未婚妻|未婚夫"
_JOBS: Final = (
    r"(?:[\u4e00-\u9fff]{0,6}(?:老师|教师|医生|大夫|护士|律师|工程师|程序员|设计师|会计|作家|画家|学生|研究生|大学生|博士生|高中生|厨师|司机|记者|编辑|翻译"
    r"|演员|歌手|导演|警察|军人|公务员|经理|销售|店员|教授|研究员|科学家|摄影师|农民|工人|快递员|外卖员|心理咨询师|药剂师|建筑师|分析师|顾问|教练|导游|空姐|飞行员|主持人|模特|编剧|插画师|理发师|自由职业者|产品经理|护工|社工|牙医|兽医"
    r"|校长|主任|店长|组长|班长|队长|总监|主管|保安|保姆|木匠|裁缝|电工|焊工|钳工|技工|木工|会计师|裁判|法官|检察官|运营|客服|出纳|秘书|助理|护林员|渔民|养蜂人|图书管理员|程序猿))"
)
_LANGUAGE: Final = r"(?:[\u4e00-\u9fff]{1,3}(?:语|话)|英文|中文|日文|韩文|法文|德文)"
_THING: Final = r"(?!你|您|他|她|它|这|那|和你|跟你|与你|上了|的|我|自己|有|把|被|上你|到|什么|一个人(?!旅行)|在|是|得|着)[\u4e00-\u9fffA-Za-z0-9]{1,10}"
_FOOD: Final = (
    "(?:牛羊肉|猪肉|牛肉|羊肉|鸡肉|狗肉|红肉|肥肉|肉|鱼虾|鱼|海鲜|虾|蟹|鸡蛋|蛋|奶制品|牛奶|奶茶|奶|乳制品|麸质|面食|米饭|主食|碳水|甜食|甜品|糖|辣椒|辣的|辣|香菜|葱|姜|大蒜|蒜|内脏|油炸食品|油炸的|生冷"
    "|白酒|啤酒|红酒|酒|咖啡|茶|可乐|碳酸饮料|饮料|花生|坚果|苦瓜|茄子|芹菜|榴莲|胡萝卜|洋葱|豆制品|味精|外卖|零食|夜宵)"
)
_CONDITION: Final = (
    "(?:哮喘|[一二12]型糖尿病|糖尿病|高血压|低血压|高血脂|高血糖|低血糖|心脏病|冠心病|痛风|风湿|关节炎|颈椎病|腰椎间盘突出|偏头痛|失眠症?|抑郁症?|焦虑症|癫痫|湿疹|鼻炎|过敏性鼻炎|胃炎|胃病|胃溃疡|甲亢|甲减"
    "|甲状腺结节|脂肪肝|肾结石|胆结石|近视|远视|散光|色盲|色弱|白内障|青光眼|耳鸣|贫血|多动症|自闭症|强迫症|白血病|癌症?|肺结核|乙肝|骨质疏松|静脉曲张|荨麻疹|银屑病|扁桃体炎|咽炎)"
)
_END: Final = r"(?=(?:了|啦|呢|呀|吧|哦|啊|的)?(?:[，,。！!；;~～ …：:]|$))"

_KNOWN_FIRMS: Final = (
    "阿里巴巴|阿里云|阿里|腾讯|字节跳动|字节|华为|百度|京东|美团|网易|小米|滴滴|拼多多|快手|携程|哔哩哔哩|小红书|蚂蚁集团|蚂蚁|顺丰|联想|比亚迪|格力|海尔|美的|大疆|商汤|科大讯飞|微软|谷歌|亚马逊|英特尔|英伟达"
    "|西门子|博世|宝洁|联合利华|普华永道|德勤|安永|毕马威|高盛|中信|平安|招商银行|工商银行|建设银行|农业银行|中国银行|国家电网|中石油|中石化|中国移动|中国电信|中国联通|富士康"
)
_LATELY: Final = r"(?:昨天|前天|上周|上个?月|上个?星期|上个?礼拜|这周|这个?月|最近|前不久|前几天|年初|年底|去年|今年|(?:\d{1,2}|[一二三四五六七八九十]{1,2})月)"

_AMOUNT: Final = r"(?:[一二三四五六七八九十百两俩几半好多\d]+(?:来|多|几)?个?半?)"
_PASSED: Final = (
    r"(?:(?:已经|刚刚|差不多|快要|将近|大概|整整|正好|转眼|都|也|才|刚|快|有|满|又|住|待|呆|了)*"
    rf"(?:第?{_AMOUNT}(?:年|月|周|星期|礼拜|天|季度|学期)(?:[半多整])*|好久|很久|许久|一阵子|一段时间|没多久|不久|多年|数年))"
)
"""How long ago, or the how manieth week: what follows a place and is none of it."""
_SETTLED: Final = (
    r"(?:(?:已经|刚刚|差不多|快要|将近|大概|整整|正好|转眼|都|也|才|刚|快|有|满|又)*"
    rf"(?:第{_AMOUNT}(?:年|月|周|星期|礼拜)|{_AMOUNT}(?:年|月)(?:[半多整])*|好久|很久|多年|数年))"
)
"""The same of a stay that is no journey: of months, or counted in weeks."""

_NOT_OTHERS: Final = (
    rf"(?!{_KIN}|[他她它你您]|孩子|家人|出差|旅[行游]|开会|暂时|认识|遇[到见]|碰[到见]|见到|的(?![，,]))"
)
"""The next character neither begins somebody else, nor hangs what was said on somebody: 我姓李的房东，在腾讯上班的同学."""
_SAID_OF_SELF: Final = (
    rf"(?:(?:的?名字)?叫[做作]? ?(?:{_NOT_OTHERS}[^，,、。！!？? 了着过来去到给把个]){{1,12}}?|姓(?:{_NOT_OTHERS}[\u4e00-\u9fff]){{1,2}}"
    rf"|是(?![来到去昨今刚从在说听想看])(?:{_NOT_OTHERS}[^，,、。！!？? ]){{1,12}}?|来自(?:{_NOT_OTHERS}[^，,、。！!？? ]){{1,8}}?|[男女]"
    r"|(?:今年|刚|已经|满)*(?:\d{2}|[二三四五六七八九]?十[一二三四五六七八九]?)(?:周?岁)?了?|今年(?:刚|大学)*毕业)"
)
_INTRODUCTION: Final = (
    rf"(?:我|本人|俺)(?!{_KIN}){_SAID_OF_SELF}[，,、 ]+"
    rf"(?:我?(?:今年|现在|目前|如今|平时|一直|常年|刚|已经|也)*(?:{_SAID_OF_SELF}|(?:{'|'.join(KNOWN_PLACES)})人|[\u4e00-\u9fff]{{2}}座|(?:(?:大家|朋友们?)(?:都|可以)?叫我|大[一二三四]|研[一二三]|[读学](?!生)"
    rf"|从事|毕业|本科|硕士|博士|喜欢|热?爱|单身|[已未结离]婚|离异|独居|老家|坐标|做(?!饭)|[家住在当])"
    rf"(?:{_NOT_OTHERS}(?![一那这]个(?!人[住过]))[^，,、。！!？? 有养]){{0,16}})[，,、 ]+){{0,5}}?(?:我|现在|目前|如今|平时|一直|常年|独自|一个人)*"
)
"""Who introduces themselves, and goes on without saying 我 again: 我叫林晓，今年三十，"""
_NO_ATTRIBUTE: Final = (
    r"(?!过(?!年)|时(?!间|常|不)|那[时会年段]|期间|[^，,。！!？?；; ]*的(?!工作|第|[，,。！!？?；; ]|$))"
)
"""What was read is what somebody does, and no attribute of whoever is named behind it: 在腾讯上班的同学."""
_OF_OTHERS: Final = (
    r"(?:[^，,。！!？?；; 有和跟与认遇见]{0,8}的(?:一?[个位名])?(?:大学|[高初中小]?[中学]|[大小老二三])?"
    rf"(?:{_KIN}|朋友|同学|同事|室友|舍友|邻居|房东|房客|师傅|徒弟|老板|老乡|客户|网友|[哥姐弟妹叔姑姨舅伯]|时候|那[段会几年])"
    "|那[位个](?:同学|同事|朋友))"
)
"""What follows hangs what was said on somebody, or on a time that is over: 我在腾讯上班的同学，我在上海工作的时候. What else
hangs on it is the speaker's: 我在北京上班的公司, which `<NO_ATTRIBUTE>` leaves to an introduction."""

_TOKENS: Final = {
    "<OF_OTHERS>": _OF_OTHERS,
    "<INTRO>": _INTRODUCTION,
    "<NO_ATTRIBUTE>": _NO_ATTRIBUTE,
    "<I>": _I,
    "<PASSED>": _PASSED,
    "<SETTLED>": _SETTLED,
    "<WE>": rf"(?:{_I}|^{_WHEN}{_VERY})",
    "<VERY>": _VERY,
    "<MY>": r"(?:我们?家?的?)",
    "<THEIR>": r"(?:^|我们?家?的?|(?=新))(?:新)?",
    "<PERSON>": rf"(?P<value>{NAME}|(?![他她它你您我咱]|大家|别人|什么|谁)[\u4e00-\u9fff·]{{2,4}}|[A-Za-z][\w-]*)",
    "<WHO>": rf"(?P<value>(?:{NAME}|[小老阿大](?:(?![又已正刚终早就没不])[\u4e00-\u9fff]){{1,2}}|[A-Z][\w-]*))",
    "<PLACE>": rf"(?P<value>{PLACE})",
    "<KNOWN>": rf"(?P<value>(?:{'|'.join(KNOWN_PLACES)})(?:市)?)",
    "<SPOT>": r"(?P<value>(?![他她它你您我在]|这|那|哪|什么|一起|一块|得|着|了|过|不|快|已|[和跟与](?![田平县顺林龙]))(?:(?![了得过]|那[天年会阵时]|以[后来]|之[后前]|后(?![海街湖])|的时候)[\u4e00-\u9fffA-Za-z0-9]){2,10}?)",
    "<WHO_IS>": rf"(?!(?:{_JOBS}|[\u4e00-\u9fff]{{0,2}}(?:老师|司机|学生|[中高]生|老板|农民|同学|老外|[\u4e00-\u9fff][人子])){_END})(?P<value>(?:{NAME}|[小老阿大](?:(?![又已正刚终早就没不])[\u4e00-\u9fff]){{1,2}}|[A-Z][\w-]*))",
    "<COMPANY>": rf"(?P<value>(?!当前|现在|一家|一个|这家|那家|某|同一|哪)[\u4e00-\u9fffA-Za-z]{{1,12}}?(?:{ORGANISATION_ENDS}|厂|店|局|所|站|馆|部|中心|物流|科技|学校|院))",
    "<KNOWN_FIRM>": rf"(?P<value>{_KNOWN_FIRMS})",
    "<FIRM_LEFT>": rf"(?:[这那]家)?(?P<value>(?![^，,。！!]*(?:兼职|副业|实习))(?!当前|现在|一家|一个|某|同一|哪)[\u4e00-\u9fffA-Za-z]{{0,12}}?(?:{ORGANISATION_ENDS}|厂|店|局|所|站|馆|部|中心|物流|科技|学校|院)(?<!公司)(?<!委员会)(?<!协会)(?<!俱乐部)(?<!乐队)|[\u4e00-\u9fffA-Za-z]{{1,12}}?公司)(?:里|那边|那儿|那里)?",
    "<FIRM>": r"(?P<value>(?![他她它你您我]|这|那|哪|什么)[\u4e00-\u9fffA-Za-z]{2,12}?)",
    "<JOB>": rf"(?P<value>{_JOBS})",
    "<SCHOOL>": r"(?P<value>[\u4e00-\u9fff]{2,10}?(?:大学|学院|中学|高中|小学|[\u4e00-\u9fff]大))",
    "<RELATION>": rf"(?P<slot>{_KIN})",
    "<ROMANCE>": rf"(?:{_ROMANCE})",
    "<PETS>": r"(?P<slot>猫咪?|狗狗?|兔子|仓鼠|鹦鹉|乌龟|金鱼|猫|狗)",
    "<THINGS>": rf"(?P<value>{_THING}(?:[、和]{_THING})*)",
    "<FOODS>": rf"(?P<value>{_FOOD}(?:[、和跟或]{_FOOD})*)",
    "<CONDITION>": rf"(?P<value>{_CONDITION})",
    "<LANGUAGES>": rf"(?P<value>{_LANGUAGE}(?:[、和跟]{_LANGUAGE})*)",
    "<LANGUAGE>": rf"(?P<value>{_LANGUAGE})",
    "<NUMBER>": r"(?P<value>\+?\d[\d -]{4,18}\d)(?!\d)",
    "<MAIL>": r"(?P<value>[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4})",
    "<DAY>": r"(?P<value>(?:\d{4}年)?[\d一二三四五六七八九十]{1,2}月[\d一二三四五六七八九十]{1,3}[日号]?)",
    "<GONE>": r"(?:分手|分开|离婚|掰|散|吹)",
    "<LATELY>": _LATELY,
    "<OWNED>": r"(?P<value>(?![把我你他她它这那都也])[\u4e00-\u9fffA-Za-z0-9]{1,8}?)",
    "<GIVING>": rf"(?:{_LATELY}|已经|刚|终于|最后|只好|只能|还是|不得不|忍痛|都|也|就|前天|昨晚|今天)*",
    "<TAKER>": rf"(?:我?(?:的)?(?:{_KIN}|爸妈|父母|奶奶|爷爷|外婆|姥姥|外公|姥爷|婆婆|公公|姐|妹|哥|弟|侄子|侄女|外甥女?|亲戚|邻居|别人|人家|学校|图书馆|社区|救助站|收容所|好心人|同学|前任|孩子|有缘人|人)|{NAME}|[小老阿大][\u4e00-\u9fff])",
    "<FROM>": r"(?:从(?:(?!搬|跳|[，,。！!])[\u4e00-\u9fffA-Za-z]){2,10}?)",
    "<END>": _END,
}  # fmt: skip
_TOKEN: Final = re.compile(r"<[A-Z_]+>")


def say(slot: str, template: str, cues: str, **options: Any) -> SlotPattern:
    """Make a pattern of a template; its tokens in angle brackets are parts of a statement."""
    return SlotPattern(slot, _TOKEN.sub(lambda token: _TOKENS[token.group()], template), cues, **options)


def number(text: str) -> int:
    """The value of Chinese numerals below a thousand; -1 if they are none."""
    try:
        return numeral(text)
    except KeyError:
        return -1
