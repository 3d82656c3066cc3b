# ruff: noqa: E501 - a pattern cut in pieces is read wrongly
"""Tell that a request is for one thing alone, a card or a speech, and not for every answer from then on.

"Keep it under 100 words, it's for the newsletter" is worded like a wish for good, and its vector lies where such wishes
lie; what gives it away is that it says what it is for. So does a turn that asks for one thing before: "Draft a text to
my sister. Keep it breezy." A word for every time undoes either.
"""

from __future__ import annotations

import re
from typing import Final

from mnemic.extract.chinese import has_chinese, simple

_THING_EN: Final = (
    r"(?:flyer|leaflet|poster|pitch|speech|eulogy|toast|invite|invitation|newsletter|brochure|pamphlet|caption|headline|tagline"
    r"|slogan|slides?|deck|presentation|cover letter|letter|cv|résumé|application|essay|assignment|homework|obituary|bio|blurb"
    r"|card|postcard|banner|press release|proposal|advert|ad|listing|tweet|blog ?post|post|programme|handout|worksheet|quiz|survey"
    r"|form|certificate|label|noticeboard|website|memo|song|sermon|vows|script|group chat|subject line|header|footer|cover)"
)
_OWN_EN: Final = r"(?:an?|the|that|his|her|their|our|my)"
_FOR_EN: Final = re.compile(
    rf"\b(?:in|on|for|to|into|onto|off|from) (?:the|that|his|her|their|our|my) (?:\w+ )?{_THING_EN}\b"
    rf"|\b(?:it|this)(?:'s|s| is) {_OWN_EN} (?:[\w-]+ ){{0,2}}{_THING_EN}\b"
    rf"|\b(?:it|this)(?:'s|s| is) (?:for|going (?:on|in|into|up on|out to|to)) {_OWN_EN} (?:[\w'-]+ ){{0,3}}{_THING_EN}\b"
    rf"|\b(?:i|we)(?: need| want|'d like| would like) (?:an?|one|two|three|some) (?:[\w-]+ ){{0,2}}{_THING_EN}\b"
    r"|\bso (?:that )?i can (?:paste|print|copy|send|forward|post|frame|hand|pin|stick) (?:it|this|that|them)\b"
)
_THING_ZH: Final = (
    r"(?:道歉信|求职信|推荐信|感谢信|情书|贺卡|卡片|请柬|请帖|邀请函|海报|传单|宣传册|宣传单|致辞|祝词|悼词|演讲稿|发言稿|主持稿|简历|检讨"
    r"|请假条|辞职信|申请书|公告|通知|启事|广告|朋友圈|微博|小红书|公众号|推文|标语|横幅|证书|奖状|课件|幻灯片|ppt|剧本|小报|校刊|家长群)"
)
_KIN_ZH: Final = r"(?:我?(?:爸|妈|爷爷|奶奶|外婆|外公|姥姥|姥爷|儿子|女儿|孩子|老公|老婆|妹妹|弟弟|姐姐|哥哥))"
_FOR_ZH: Final = re.compile(
    rf"是[^，,。的]{{0,4}}{_THING_ZH}"
    r"|是(?:给|发给|写给|寄给|用在|用来|要给|要发|要贴)(?![我你您])[^，,。]{1,8}(?:的|用)"
    rf"|(?:发|贴|印|登|放|挂)(?:在|到|进)?{_THING_ZH}(?:用|上|里|$)"
    rf"|{_THING_ZH}(?:里|上|中|结尾|开头|末尾)(?!面?都)"
    r"|(?:老师|课程|作业|领导|老板|客户|编辑|甲方|房东|学校|公司|单位|对方)(?:要求|要的|规定|指定|是[^，,。]{0,6}(?:要求|规定|指定|要|说)的)"
    r"|(?:^|[，,])(?:你|请|麻烦)*(?:给我|跟我|用[^，,]{1,8})(?:讲讲|说说|聊聊|谈谈)"
    rf"|^(?:这?是)?给{_KIN_ZH}[看用读听]的[，,]"
)
_LASTING_EN: Final = re.compile(
    r"\b(?:always|never|ever|whenever|when|every ?time|each time|any ?time|every|each|any|all|from (?:now|here|today)|going forward|in (?:the )?future|in general|by default|until|usually|generally)\b"
)
_NOT_LASTING_EN: Final = re.compile(r"\bat all\b|\b(?:\w+n'?t|not|no|without) (?:[\w'-]+ ){0,2}any\b(?! ?time)")
"""What only strengthens a "no": "no rhymes at all", "don't use any emojis"."""
_LASTING_ZH: Final = re.compile(
    "以后|今后|往后|从现在|从今|每[次回当一天篇封份]|凡|一律|一直|总是|永远|都|平时|一般|的时候|默认"
)
_NOT_LASTING_ZH: Final = re.compile("(?<!每)一(?![律直般])[^都，,。]{1,6}都(?=请?(?:别|不|没|勿))")

_ASKING_EN: Final = re.compile(
    r"^(?:(?:hi|hey|hello|ok(?:ay)?|so|now|please|pls|and|just|then)[,! ]+)*(?:(?:can|could|would|will) you (?:please )?|i need you to |i(?:'d| would) like you to |help me )?"
    rf"(?:draft|write|compose|design|prepare|rewrite|reword|rephrase|translate|proofread|shorten|summari[sz]e|come up with)(?: me| us| up)? (?:(?:an?|this|that|these|my|our|one|two|three|some)\b|the (?:[\w-]+ ){{0,2}}{_THING_EN}\b)"
    rf"|\bi(?:'m| am) (?:writing|working on|putting together|preparing|making|drafting) (?:an?|the|my|our) (?:[\w-]+ ){{0,3}}{_THING_EN}\b"
)
_ASKING_ZH: Final = re.compile(
    r"(?:帮我|替我|给我|请你?|麻烦你?|我要|我想|我在|我得)(?:写|拟|起草|设计|改|润色|翻译|缩写)(?:一?(?:个|篇|封|份|张|首|段|条|下|幅)|这)"
)
_GOES_ON_EN: Final = re.compile(
    r"^(?!.*\b(?:your (?:[\w-]+ ){0,2}(?:answers|replies|responses)|(?:to|with|call|address) me)\b)"
    r"(?!(?:i|i'[a-z]+|im|we|you|you'[a-z]+|your|my|also|by the way|btw|one more thing|in other news)\b)"
)
_GOES_ON_ZH: Final = re.compile("^(?!我|你|您|另外|对了|还有|顺便)(?!.*(?:回答|[跟对]我|叫我|喊我|称呼我))")


def is_for_one_thing(low: str) -> bool:
    """Whether a sentence in lower case says which one thing it is for or asks for one, and has no word for every time."""
    plain = simple(low)
    says = (_FOR_ZH if has_chinese(plain) else _FOR_EN).search(plain) is not None
    return (says and not _is_lasting(plain)) or asks_for_one_thing(low)


def asks_for_one_thing(low: str) -> bool:
    """Whether a sentence in lower case asks for one text, or says that its speaker is at one."""
    plain = simple(low)
    return (_ASKING_ZH if has_chinese(plain) else _ASKING_EN).search(plain) is not None and not _is_lasting(plain)


def goes_on_about_it(low: str) -> bool:
    """Whether a sentence in lower case, behind one that asks for one thing, is of this thing as far as its words tell."""
    plain = simple(low)
    return (_GOES_ON_ZH if has_chinese(plain) else _GOES_ON_EN).match(plain) is not None and not _is_lasting(plain)


def _is_lasting(plain: str) -> bool:
    lasting, not_lasting = (_LASTING_ZH, _NOT_LASTING_ZH) if has_chinese(plain) else (_LASTING_EN, _NOT_LASTING_EN)
    return lasting.search(not_lasting.sub("", plain)) is not None
