"""Tells numbers apart by their kind: sums from spans of time, and of a Chinese question for a 号 which one it asks for.

Every question for a number shares 号 with 手机号, so that a telephone number comes nearest to one for a plate or an
identity card. Some kinds are told without their name: 川A12345 is a plate, 住808 a room.
"""

from __future__ import annotations

import re
from typing import Final

_ASKS: Final = re.compile(
    r"([\u4e00-\u9fffA-Za-z]{0,3}[\u4e00-\u9fffA-Za-z](?<![几多大中小的第一二三四五六七八九十月这那是我您你]))号码?"
    r"(?:是|有|记得)?(?:多少|什么|啥|几)?(?:来着)?[?？\s。]*$",
    re.IGNORECASE,
)
"""Asks for a number of some kind, which stands before 号."""
_ASKS_TELEPHONE: Final = re.compile(r"电话|手机|座机|联[系络]|传真|热线|小灵通|移动|联通|电信")
"""Numbers by which somebody is rung, and people whom one rings."""
_ASKS_NO_NUMBER: Final = re.compile(r"[外绰称符信型牌句暗口记冒引逗口星问]号?$")
"""What ends in the same character and is no number: 外号, 型号."""
_TOLD: Final = tuple(
    (re.compile(asked, re.IGNORECASE), re.compile(told, re.IGNORECASE))
    for asked, told in (
        (r"身份证?$", r"身份证|身份号|(?<!\d)\d{17}[\dX](?!\d)"),
        (r"车牌?$|牌照$", r"车牌|牌照|牌号|上牌|[京津沪渝冀豫云辽黑湘皖鲁新苏浙赣鄂桂甘晋蒙陕吉闽贵粤青藏川宁琼][A-Z]"),
        (r"银行|信用卡|储蓄卡|借记卡|工资卡", r"银行|卡号|信用卡|储蓄卡|借记卡|工资卡|[工建招农中交]行|尾号"),
        (r"QQ$|扣扣$", r"QQ|扣扣|企鹅"),
        (r"微信$|vx$", r"微信|wechat|vx|威信"),
        (r"房间?$|门牌$|寝室$|宿舍$|单元$", r"房|室|门牌|宿舍|寝|单元|[栋幢]|住(?:在|了|的?是)?[A-Za-z]?\d{2,4}(?!\d)"),
        (r"护照", r"护照|passport|(?<![A-Za-z])[EG]\d{8}(?!\d)"),
        (r"航班|班次", r"航班|班次|飞|(?<![A-Za-z])[A-Z\d][A-Z]\d{3,4}(?!\d)"),
        (r"车次", r"车次|高铁|动车|火车|列车|(?<![A-Za-z])[GDCKTZ]\d{1,4}(?!\d)"),
        (r"座位?$|座席$", r"座|排|车厢|(?<!\d)\d{1,2}[A-F](?![A-Za-z])"),
        (r"单$|快递|运单|订单|物流", r"单|快递|运单|物流|顺丰|中通|圆通|韵达|申通|京东"),
        (r"工$|员工", r"工号|员工|工牌|编号"),
        (r"学$|学生|学籍", r"学号|学籍|学生证|编号"),
    )
)
"""By the end of what stands before 号, what tells such a number."""

_ASKS_SUM: Final = re.compile(
    r"\bhow much (?!(?:(?:un)?paid )?(?:time|leave|holiday|notice)\b)(?:"
    r"(?:is|are|was|were) (?!left\b|(?:I|you|we|he|she|they) \w|.{0,60}\bweigh)"
    r"|(?:do|does|did|can|could|will|would) [\w’' ]{0,60}\bmake\b"
    r"|(?=.{0,120}\b(?:cost\w*|pay\w*|paid|rent\w*|price\w*|earn\w*|ow(?:e[sd]?|ing)"
    r"|charg\w+|spen[dt]\w*|worth|salary|fees?|money)\b))"
    r"|多少钱|多少[块元]",
    re.IGNORECASE,
)
"""Asks for money: by what costs or earns it, or for how much something is."""
_COUNTS_NO_SUM: Final = re.compile(
    r"^[\w.,]+(?: and a half)?[- ](?:years?|months?|weeks?|days?|nights?|hours?|minutes?|mins?|bed\w*|rooms?|people"
    r"|kids|children|miles?|km|kilos?|kg|times|am|pm|percent|sessions?|lessons?|seats?|doors?|litres?|metres?|floors?)\b"
    r"|[次位天年月周岁小时分钟]$",
    re.IGNORECASE,
)
"""So many of what is no money."""
_ASKS_SPAN: Final = re.compile(
    r"\bhow long (?:do|does|did|is|was|will|has|have|had|it|can|should|ago)\b"
    r"(?!.*\b(?:table|rope|bridge|river|road|route|trail|hair|list|queue|garden|pool|cable|board)\b)|多久|多长时间",
    re.IGNORECASE,
)
_COUNTS_NO_TIME: Final = re.compile(
    r"^[£$€¥￥]|^(?:19|20)\d\d$|[位次个本部家块岁元种只]$|[- ](?:quid|pounds?|euros?|dollars?|people|kids|children"
    r"|miles?|km|kilos?|kg|pages?|stops?|times|bed\w*|rooms?|cups?|pills?|am|pm)\b",
    re.IGNORECASE,
)
"""So many of what is no time."""


def is_of_another_kind(number: str, question: str) -> bool:
    """Whether a number counts what a question does not ask for: years where a sum is, a sum where a span is."""
    if _ASKS_SUM.search(question):
        return _COUNTS_NO_SUM.search(number) is not None
    return _ASKS_SPAN.search(question) is not None and _COUNTS_NO_TIME.search(number) is not None


def lacks_number_asked(question: str, text: str) -> bool:
    """Whether a question asks for a number of a kind that a text does not name."""
    asked = _ASKS.search(question)
    if asked is None or _ASKS_TELEPHONE.search(question):
        return False
    kind = asked[1]
    for form, told in _TOLD:
        if form.search(kind):
            return told.search(text) is None
    if _ASKS_NO_NUMBER.search(kind):
        return False
    low = text.casefold()
    return not any(piece in low for piece in _pieces(kind.casefold()))


def _pieces(kind: str) -> list[str]:
    """What a text may name of a kind of number: any two characters of it, with 号 behind."""
    word = kind.rpartition("的")[2] + "号"
    return [word[at : at + 2] for at in range(len(word) - 1)]
