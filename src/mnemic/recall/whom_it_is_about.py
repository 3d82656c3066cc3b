# ruff: noqa: E501 - a pattern cut in pieces is read wrongly
"""Tells whom a sentence is about by its first words, and whether a question is about whoever asks it.

"Dad is allergic to bees" answers nothing about the speaker; "my throat swells" does. Only a subject that is plainly
somebody else counts: kin with or without "my", or a name that what is read with it shows to be one.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import numpy as np

from mnemic.core.parts import MONTHS, WEEKDAYS
from mnemic.core.tokens import terms
from mnemic.extract.slots_en_words import RELATIONS
from mnemic.extract.slots_zh_words import RELATIONS as RELATIONS_CHINESE
from mnemic.recall.asked_for import AnswerType
from mnemic.recall.asked_person import called_by_name
from mnemic.recall.sentence_cues import kin_tokens
from mnemic.recall.understand import SPEAKS_OF_SELF, SPEAKS_TO_OTHER

if TYPE_CHECKING:
    from collections.abc import Iterable

_KIN: Final = (
    rf"{RELATIONS}|mama|papa|mummy|daddy|granny|grandad|granddad|gran|nan|auntie|child|kid|baby|ex|stepmother|stepfather"
    r"|stepson|stepdaughter|stepsister|stepbrother|mother-in-law|father-in-law|sister-in-law|brother-in-law|parents"
    r"|grandparents|kids|children|sons|daughters|brothers|sisters|twins|landlord|landlady|lodger|bestie|classmate"
)
_MILK: Final = re.compile("(?<![奶我你您他她])奶(?!奶)")
"""Is milk, and no grandmother: 牛奶."""
_BARE: Final = r"mum|mom|dad|mama|papa|grandma|grandpa|granny|grandad|granddad|gran|nan|(?:aunt|uncle|auntie) [A-Z]\w+"
_PREPOSITIONS: Final = (
    r"(?:and|or|on|at|in|for|with|from|to|of|about|by|around|after|before|this|next|every|tomorrow|today)"
)
_KIN_FIRST: Final = re.compile(
    rf"\W*(?:(?:and|but|so|then|well|oh|btw) )*(?:(?:my|our|the) (?:[\w-]+ ){{0,2}}?(?:{_KIN})|(?:{_BARE}))\b"
    rf"(?:[ ,]+(?-i:[A-Z])[\w-]+)?,?(?:['’]s|['’]re)? (?!{_PREPOSITIONS}\b)(?=\w)",
    re.IGNORECASE,
)
_OF_MINE: Final = re.compile(rf"\W*(?:(?:an?|one|some) )?(?:[\w-]+ )?(?:{_KIN})s? of (?:mine|ours)\b", re.IGNORECASE)
_PEOPLE: Final = (
    r"(?:boss|manager|supervisor|colleagues?|co-?workers?|workmates?|flatmates?|room-?mates?|housemates?|neighbou?rs?|classmates?|friends?|mates?|bloke"
    r"|guys?|chap|lad|lass|wom[ae]n|m[ae]n|girls?|boys?|lady|ladies|people|person|teacher|coach|trainer|landlord|landlady|tenants?"
    r"|clients?|customers?|students?|namesake|stranger|couple|kid|barista|driver|postman|receptionist|buddy|twins?|parents|relatives?|in-laws)"
)
_SOMEBODY_ELSE: Final = re.compile(
    rf"\W*(?:(?:and|but|so|then|well|oh|btw|apparently|turns out) )*(?:(?:(?:the|a|an|some|our|my|that|this|another|half (?:of )?(?:my|the|our)|(?:one|two|three|some|most|all|both|many) of (?:my|the|our)) "
    rf"(?:[\w-]+ ){{0,2}}?(?:{_PEOPLE}|{_KIN})\b(?! (?:and|or|is me\b)|['’]s )|(?:someone|somebody|everyone|everybody|nobody|others?)\b"
    r"|(?:there['’]s|there is) (?:another|one|some(?:one|body))\b|the other (?-i:[A-Z])\w+|another (?-i:[A-Z])\w+|half (?:of )?(?:my|the|our) (?:class|team|office|department)\b|my (?:doctor|dentist|gp|therapist|nurse|vet) (?:lives|moved|is (?:from|an?)|has|drives|adopted|works|went|married)\b|her\b|his\b|he\b|she\b"
    r"|(?-i:[A-Z])\w+['’]s (?!(?:my|our)\b)(?:\w+ )?(?:girlfriend|boyfriend|wife|husband|partner|mother|father|mum|mom|dad|sister|brother|son|daughter|kids?|boss|flatmate|friend)\b"
    r"|(?!(?:\w+(?:ed|ing)|work|live|back|home|stuck|here|now|just|still|lunch|dinner|coffee)\b)(?-i:[A-Z])\w+ (?:from|in|at) (?:accounts|work|sales|marketing|hr|it|school|church|class|the \w+|my \w+|our \w+|number \d+|next door|upstairs|downstairs)\b))",
    re.IGNORECASE,
)
"""Opens with somebody else by what they are, by a pronoun, or by whose name they share."""
_MORE_KIN_CHINESE: Final = """
前任 同桌 徒弟 房客 租客 合租的 舍友 队友 老乡 战友 网友 大学同学 高中同学
婆婆 公公 岳父 岳母 奶奶 爷爷 外婆 外公 姥姥 姥爷 姑姑 姑妈 大姑 姨妈 阿姨 舅舅 叔叔 伯伯 大伯 嫂子 侄女 侄子 外甥 外甥女 邻居 房东
父母 爸妈 双亲 姐夫 妹夫 嫂嫂 弟媳 弟妹 女婿 儿媳 表哥 表弟 表姐 表妹 堂哥 堂弟 堂姐 堂妹 孩子 宝宝 双胞胎 继女 继子 前妻 前夫 同学 发小 哥们 舍友 女儿们 儿子们 孩子们
"""
_KIN_CHINESE: Final = "|".join(
    sorted((kin for kin in {*RELATIONS_CHINESE, *_MORE_KIN_CHINESE.split()} if len(kin) > 1), key=len, reverse=True)
)
_SHORT_KIN_CHINESE: Final = "[妈爸姐妹哥弟]"
"""Kin in one character, which begins other words as well (哥本哈根): it counts after 我, or before a verb."""
_VERB_CHINESE: Final = "[说讲在是对怕住吃喝爱去来也都会不没今昨刚有做当喜讨叫让要想能开教最已生过]"
_OF_MINE_CHINESE: Final = f"(?:我们?家?|咱们?家?)的?[大小老二三]?{_SHORT_KIN_CHINESE}"
_KIN_FIRST_CHINESE: Final = re.compile(
    rf"(?:[而但且不过所以因为后来昨今天上周最近刚才]*)(?:(?:我们?家?|咱)?的?(?:[大小老二三]|最好的|新)?(?:{_KIN_CHINESE})"
    rf"|{_OF_MINE_CHINESE}|[大小老二三]?{_SHORT_KIN_CHINESE}(?={_VERB_CHINESE}))"
)
_NAMED: Final = re.compile(
    r"\W*([A-Z][\w-]+)(?:['’]s|['’]re)?[, ]+(?:and [A-Z][\w-]+ )?(?!and\b|on\b|at\b|in\b|for\b|with\b|of\b)\w"
)
_IS_MINE: Final = re.compile(
    r"(?:\bis|\bare|['’]s|\bwas) (?:\w+ ){0,2}(?:my|our|mine)\b|[是当]了?(?:[\u4e00-\u9fff]{0,3})我", re.IGNORECASE
)
"""Says what somebody is to the speaker."""
_SOMEBODY_ELSE_CHINESE: Final = re.compile(
    r"(?:而且|但是?|不过|所以|因为|后来|昨天|今天|上周|最近|刚才|听说|据说|好像)*(?:[她他](?:们|家|哥|姐|妹|弟|妈|爸|老公|老婆|室友|同事)?|他们家"
    r"|(?:跟我|和我|与我)?同名(?:同姓)?的|(?:公司|单位|办公室|学校|班)里?的?(?:另外?一个|有个|那个)|另外?一个[\u4e00-\u9fff]{2,3}|(?:楼上|楼下|隔壁|对门|对面)的?"
    r"|(?:我们?)?有个(?:朋友|同事|同学|亲戚|邻居|网友|客户)|我们?(?:班|公司|单位|部门|组|宿舍|小区)(?:里)?(?:一半|有些|好多|很多|大部分|有个|有的|[一两三几]个人)|[\u4e00-\u9fff]{1,4}部(?:那个|的那个|有个)?也叫|(?:以前|从前|原来)的(?:房客|室友|同事|老板|邻居|同学)|双胞胎里的"
    r"|我?的?(?:好友|学习搭子|搭子|班主任|导师|前夫|前妻|牙医|理发师|健身教练)(?:的[\u4e00-\u9fff]{2})?(?=[去在是有养换搬住当开吃考结嫁买])|合租的"
    r"|(?:教练|医生|护士|司机|老板|师傅|老师|中介|客服|房东|邻居|同事|室友)(?:说)?(?:他|她|今|昨|最|住|是|在|有|养|换|搬|也)"
    r"|[小老阿][\u4e00-\u9fff]的?(?:男朋友|女朋友|老公|老婆|哥哥|姐姐|弟弟|妹妹|爸|妈|儿子|女儿))"
)
_NAMED_CHINESE: Final = re.compile(
    r"[而但]?[小老阿](?![区店时孩心学说家板师人公])[\u4e00-\u9fff](?=[对怕是在说今昨也最会喜爱吃住去教当刚又有讨])"
)
_INSIDE: Final = re.compile(r"(?<=[\w,;:] )[A-Z][\w-]+")
"""A word with a capital that begins no sentence."""
_CALLED_CHINESE: Final = re.compile(
    rf"(?:(?:{_KIN_CHINESE})?叫做?|名叫|(?:{_KIN_CHINESE}|{_OF_MINE_CHINESE})(?![叫是姓的]))([\u4e00-\u9fff]{{2,4}}?)(?=[，。,.！!、在会怕是今昨]|\Z)"
)
_NO_NAMES: Final = frozenset({"I", "I'm", "I've", "I'd", "I'll", "Mr", "Mrs", "Ms", "Dr", *MONTHS, *WEEKDAYS})
_CLAUSE: Final = re.compile(r"[,，;；、:：—–]\s*|\s(?:and|but|so|because|while)\s")
_ASKS_WHAT_I_AM: Final = re.compile(r"\b(?:am|was) i\b", re.IGNORECASE)
_IS: Final = re.compile(r"\W*[A-Z][\w-]+(?:['’]s| is| was) ")
_ASKS_WHETHER_I: Final = re.compile(r"\W*我(?:现在|还|也|是不是)?([\u4e00-\u9fff]{2,})吗")
_SOMEBODY: Final = re.compile(r"[^\W\d_不没再还也都就已经戒停每天很最从别常爱会能想要是有在现今昨去上下]{2,4}")
_ADVERBS_CHINESE: Final = re.compile("(?:又|重新|开始|继续|终于|刚刚?|恢复|其实|偶尔|经常|准备|打算|只好|干脆|决定)+")
"""What stands before what whoever speaks does, and is nobody."""
_THIRD_PERSON: Final = re.compile(r"\b(?:he|she|his|her|hers|him|himself|herself|their|theirs)\b", re.IGNORECASE)
QUOTED: Final = re.compile(r"\"[^\"]*\"|“[^“”]*”|「[^「」]*」|(?<!\w)'(?:[^']|(?<=\w)'(?=\w))*'(?!\w)")
"""What stands between quotation marks, an apostrophe within words aside."""
_FIRST_PERSON: Final = re.compile(r"\b(?:i|me|we|us|mine|ours|myself)\b|[我咱俺]", re.IGNORECASE)


def asks_of_self(question: str) -> bool:
    """Whether a question is about whoever asks it, and about nobody of theirs, nobody by name, and not for somebody."""
    if not SPEAKS_OF_SELF.search(question) or SPEAKS_TO_OTHER.search(question) or called_by_name(question):
        return False
    if own_kin(question):
        return False
    tokens = np.frombuffer(terms(_MILK.sub("", question)), np.uint64).tolist()
    return AnswerType.by(question) is not AnswerType.PERSON and kin_tokens().isdisjoint(tokens)


def names_in(texts: Iterable[str]) -> frozenset[str]:
    """What texts show to be names: words with a capital inside a sentence, and what somebody is said to be called."""
    names = {name for text in texts for form in (_INSIDE, _CALLED_CHINESE) for name in form.findall(text)}
    return frozenset(names - _NO_NAMES)


def about_another(clause: str, names: frozenset[str], question: str) -> bool:
    """Whether the subject of a clause is plainly somebody other than who speaks, who is not in it themselves.

    To what a question asks of its asker ("am I allergic?") whatever else that is said of is somebody else.
    """
    kin = _KIN_FIRST.match(clause) or _KIN_FIRST_CHINESE.match(clause)
    rest = clause[kin.end() :] if kin else clause
    stranger = None if _IS_MINE.search(clause) else _SOMEBODY_ELSE.match(clause) or _SOMEBODY_ELSE_CHINESE.match(clause)
    if _FIRST_PERSON.search(clause[stranger.end() :] if stranger and not kin else rest):
        return False
    if kin or stranger or _NAMED_CHINESE.match(clause):
        return True
    named = _NAMED.match(clause)
    if named and (named[1] in names or (_ASKS_WHAT_I_AM.search(question) and _IS.match(clause))):
        return True
    if named and _THIRD_PERSON.search(rest):  # "Bram broke his arm"
        return True
    said = _ASKS_WHETHER_I.match(question)
    subject = _ADVERBS_CHINESE.sub("", clause[: max(0, clause.find(said[1]))]) if said else ""
    return bool(_SOMEBODY.fullmatch(subject)) or any(clause.startswith(name) for name in names if not name.isascii())


OWN_KIN: Final = re.compile(rf"\b(?:my|our) ({_KIN})\b|我(?:们|家)?的?({_KIN_CHINESE})", re.IGNORECASE)
"""Names kin of whoever speaks."""
OWN_SHORT_KIN: Final = re.compile(r"[我咱](?:们|家)?的?[大小老二三]?([妈爸姐妹哥弟])(?![妈爸姐妹哥弟们])")
"""The same in one character: 我弟."""


def own_kin(text: str) -> str:
    """The first word for kin of whoever speaks: "brother" of "my brother", 弟 of 我弟; "" where a text names none."""
    named = OWN_KIN.search(text) or OWN_SHORT_KIN.search(text)
    return next(filter(None, named.groups())) if named else ""


def is_kin_of_another(text: str, kin: str) -> bool:
    """Whether a text speaks of somebody else's kin, and not of the speaker's of that kind."""
    word = re.escape(kin)
    theirs = re.search(rf"\b(?:her|his|their|your|\w+['’]s) {word}\b|[她他您你]的?{word}", text, re.IGNORECASE)
    own = re.search(rf"\b(?:my|our) (?:\w+ )?{word}\b|[我咱]们?家?的?{word}", text, re.IGNORECASE)
    return theirs is not None and own is None


def of_somebody_of_mine(text: str) -> bool:
    """Whether a text opens with somebody of the speaker's, as "a colleague of mine", and does not go on with them."""
    opening = _OF_MINE.match(text)
    return opening is not None and not _FIRST_PERSON.search(text, opening.end())


def clauses(text: str) -> list[str]:
    """The clauses of a text, as commas, semicolons and conjunctions part them."""
    return [part for part in _CLAUSE.split(text) if part.strip()]
