"""What a question asks for: a time, a number, a person, a place, yes or no, several; and where a text holds it."""

from __future__ import annotations

import re
from datetime import timedelta
from enum import Enum
from typing import TYPE_CHECKING, Final

from mnemic.core.clock import micros, moment
from mnemic.core.ids import to_bytes
from mnemic.core.items import Channel, Kind
from mnemic.core.parts import MONTHS
from mnemic.core.timex import TimeSpan, find_times
from mnemic.core.timex_tense import EVERY_YEAR
from mnemic.core.tokens import is_stop, local_time, tokenise
from mnemic.extract.chinese import bare_place
from mnemic.extract.hurried import with_capitals
from mnemic.extract.sentences import written_sentences
from mnemic.extract.slots_en_words import CALLED, RELATIONS
from mnemic.extract.slots_zh_words import RELATIONS as RELATIONS_CHINESE
from mnemic.recall.asked_person import called_by_name
from mnemic.recall.number_kinds import is_of_another_kind
from mnemic.recall.places_told import CAPITALS, NAME, is_one_of_several, place_surely
from mnemic.recall.polarity import ASKS_PAST
from mnemic.recall.understand import SPEAKS_OF_SELF
from mnemic.recall.word_groups import SUPPOSED, WordGroup

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date

    from mnemic.core.items import Item

_CHINESE: Final = re.compile("[\u3400-\u9fff]")

_ONES: Final = "one|two|three|four|five|six|seven|eight|nine"
_NUMBERS: Final = (
    rf"(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:[- ](?:{_ONES}))?|{_ONES}|ten|eleven|twelve|thirteen"
    "|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|dozen"
)
_NO_UNIT: Final = (
    "an?|and|now|last|in|at|on|to|or|of|for|this|next|but|so|because|when|is|was|are|were|the|with|from|by|as|i|we|he|she"
    "|it|they|who|which|since|until|today|yesterday|tomorrow|per|each|every|already|still|again|then|these|all|too|if"
)
_RATE: Final = (
    r"(?: (?:an?|per|each|every) (?:hour|day|night|week|fortnight|month|term|quarter|year|person|head|lesson|class)\b)"
)
"""By what a number goes: "a month"."""
_DIGITS: Final = "一二两三四五六七八九十百千万半几"
_NUMBER: Final = re.compile(
    rf"\b(?:once|twice|thrice|(?:\d+|{_NUMBERS}) times)(?: or (?:{_NUMBERS}|twice|so))?(?: an? [a-z]+| every [a-z]+)?"
    rf"|[£$€¥￥] ?\d(?:[\d,.]*\d)?(?:k|m|bn)?\b{_RATE}?"
    rf"|\b(?:(?:\d[\d,.]*\d|\d)(?:k|m|bn)?|{_NUMBERS})\b(?: (?:hundred|thousand|grand|million)\b)?"
    rf"(?: and a half\b| (?:to|or) (?:{_NUMBERS})\b)?(?:[- ](?!(?:{_NO_UNIT})\b)[a-z]+)?{_RATE}?"
    rf"|(?:(?<![A-Za-z_\d])|(?<=RMB|CNY|USD|EUR|GBP|JPY|HKD|KRW|SGD|AUD|CHF|TWD)(?<![A-Za-z_].{{3}})|(?<=QQ))\d+(?:,\d{{3}})*(?:\.\d+)?[个位次天年月周小时分钟只本部家岁元块种]*|(?<![{_DIGITS}])[{_DIGITS}]++[个位次天年月周只本部家岁块种](?:月|小时|多|半(?!年|天|月))?"
    r"|(?<![一二两三四五六七八九十百千万])[一二两三四五六七八九十]{1,3}[百千万][一二两三四五六七八九百千]{0,3}(?![一二两三四五六七八九十百千万个位次天年月周])",
    re.IGNORECASE,
)
_AGES: Final = re.compile(
    r"(?<!for )(?<!in )(?<!after )(?<!every )(?<!old )(?<!new )(?<!the )(?<!this )(?<!that )(?<!day )(?<!week )"
    r"(?<![:.])\b"
    rf"(?:\d{{1,3}}|{_NUMBERS})(?: and a half)?\b"
    r"(?: (?:years?|months?|weeks?)\b(?! (?:older|younger|apart|ago|later))(?: old)?"
    r"|(?=[.,;!)]|$| (?:and|now|last|in|on|this|next|today|yesterday)\b))"
    r"|(?<![小大差长\d一二两三四五六七八九十百零])(?:\d{1,3}|[一二两三四五六七八九十百零]{1,5})(?:岁半?|个月大?|(?=了|[，。,.！)）]|$))",
    re.IGNORECASE,
)
"""How old somebody is, as it is told: "seven last week", 六岁, 七十八了."""
_BORN: Final = re.compile(r"\b(?:born|birthday|aged?|turn(?:s|ed|ing)?)\b|出生|生日|[岁龄]|生于", re.IGNORECASE)
_GENERAL: Final = {
    **dict.fromkeys(("child", "children", "kid", "kids", "孩子", "小孩", "娃", "宝宝"), "child"),
    **dict.fromkeys(("parent", "parents", "父母", "爸妈", "双亲"), "parent"),
}
_GENERAL_CHINESE: Final = tuple(word for word in _GENERAL if not word.isascii())
_AUNTS: Final = ("姑妈", "姨妈", "舅妈", "伯妈", "干妈", "干爸")
"""Who is called so by a word that a parent's is part of."""
_ANY_OF: Final = {"son": "child", "daughter": "child", "mother": "parent", "father": "parent"}
"""What else somebody's people are called, whoever they are."""
PARENTS: Final = frozenset({"mother", "father", "parent"})
_KIN: Final = re.compile(
    rf"\b(?:{RELATIONS}|child|children|kids?|parents?)\b"
    rf"|{'|'.join(sorted((*RELATIONS_CHINESE, *_GENERAL_CHINESE, *_AUNTS), key=len, reverse=True))}",
    re.IGNORECASE,
)
_MYSELF: Final = re.compile(r"\bI\b|我(?!们?的?(?:家|妈|爸|哥|姐|弟|妹|爷|奶|老|儿|女))")
_CLOSE_BEHIND: Final = 12
"""Most characters between somebody's name and their age."""
_ASKS_AGE: Final = re.compile(
    r"\bhow old\b|\bwhat age\b|几岁|(?<![房屋院铺]子|店面|面积|地方)多大(?:了|年纪|岁数)?[?？]?$", re.IGNORECASE
)
_ASKS_HOW_OFTEN: Final = re.compile(r"\bhow often\b|多久[^？?]{0,6}次|多长时间[^？?]{0,6}次|几次", re.IGNORECASE)
_OFTEN: Final = re.compile(
    rf"\b(?:(?:once|twice|thrice|(?:\d+|{_NUMBERS}) times)"
    r"(?: (?:an?|every|each|per) [a-z]+| (?:dai|week|month|year)ly)?"
    r"|(?:every|each)(?: (?:other|second|third))? [a-z]+|daily|weekly|monthly|yearly)\b"
    r"|(?:每隔?|隔)(?:[一二两三四五六七八九十\d]?[个]?(?:天|周|月|年|星期|礼拜)|周[一二三四五六日天])"
    r"(?:(?:[\u4e00-\u9fff]{1,3}?)?[一二两三四五六七八九十\d]+次)?",
    re.IGNORECASE,
)
"""How often something is, as it is told: "every second Wednesday", 每周两次."""
_NAMES: Final = re.compile(NAME)
_BEGINS: Final = re.compile(r"(?:\A|[.!?:;…\n])[\s\"'“‘(]*\Z")
"""Before the first word of a sentence, which is written with a capital whatever it is."""
_BEFORE: Final = 4
"""Characters before a name that tell whether it begins a sentence."""
_PLACE: Final = re.compile(
    rf"\b(?:in|at|from|to|near|around|visited) (?:the )?({NAME})"
    r"|[在去到从][了过]?([\u4e00-\u9fff]{2,6}?)(?=[里吃玩看住待旅学工拍和的了过吧呢啊，。！、]|\Z)"
)
_NO_NAME: Final = re.compile(r"['’]s$|^[A-Z]$|^[A-Z]{3,}$")
"""Whose something is, a letter, or a word that is shouted: no name that answers by itself."""
_YEAR: Final = re.compile(
    r"\d{4}|\b(?:last|this|next|ago|yesterday|today|tomorrow|tonight)\b|[去今明前后昨]|上|下", re.IGNORECASE
)
"""What in a time says which year is meant, of itself or by the day it was said."""
_TODAY: Final = re.compile(r"\b(?:today|tonight|this)\b|[今当]", re.IGNORECASE)
_PLANNED: Final = re.compile(
    r"\b(?:will|going to|plans? to|hopes? to|(?:am|is|are) (?:\w+ )?\w+ing)\b|['’](?:ll|(?:m|re|s) \w+ing)\b"
    r"|打算|计划|准备|将",
    re.IGNORECASE,
)
_HALF_A_YEAR: Final = timedelta(days=183)
_UNDATED: Final = timedelta(minutes=1)
"""What came in from a file within this time of the day it bears has no day of its own."""
_NO_COUNT: Final = re.compile(r"一(?![百千万])[^\d]*$|one\b.*", re.IGNORECASE)
"""A number that mostly stands for an article."""
_ASKS_COUNT: Final = re.compile(
    r"\bhow many (?!(?:years?|times|months?|weeks?|days?|hours?|minutes?|miles?|kilos?|kgs?|grams?|stone|pounds?"
    r"|lit(?:re|er)s?|degrees?|percent|km|calories|pages|steps)\b)|[几幾][个個只隻条條位口匹头頭](?!小[时時]|月|星期|[礼禮]拜|[钟鐘][头頭])"
    r"|多少[个個只隻条條位](?!小[时時]|月|星期|[礼禮]拜|[钟鐘][头頭])",
    re.IGNORECASE,
)
"""Asks how many there are of something, and not for how long or how much."""
_AGE_OR_WEIGHT: Final = re.compile(
    r"(?<!size )(?<!total )(?<!number )(?<!count )(?<!answer )(?<!class )(?<!team )(?<!left )(?<!it )(?<!there )"
    r"(?:\b(?:turn(?:s|ed|ing)?|is|was|aged?|weigh(?:s|ed)?)|(?<!\bit)(?<!\bthere)['’]s)"
    r" (?:(?:now|only|just|already|nearly|almost|about) )*"
    rf"(?:\d{{1,3}}|{_NUMBERS})(?: and a half)?"
    r"(?:[- ](?:years?|months?)(?:[- ]old)?|\s?kilos?|\s?kg|\s?pounds?)?"
    r"(?=[.,;!)]|$| (?:and|now|last|in|on|this|next|today|yesterday|but|so|already)\b)"
    rf"|\b(?:\d{{1,3}}|{_NUMBERS})[- ]years?[- ]old\b"
    r"|(?<![\d一二两三四五六七八九十])[\d一二两三四五六七八九十]{1,4}(?:[岁歲]半?|公斤|斤|[个個]月大|(?=了(?:[，。,.！!]|$)))",
    re.IGNORECASE,
)
"""A number that tells how old or how heavy somebody is, and counts nothing."""
_UNIT_BEHIND: Final = re.compile(r"(?![的了吧呢啊])[\u4e00-\u9fff]")
"""Behind a number: the unit that it counts in goes on."""
_MEASURED: Final = re.compile(r"[\d一二两三四五六七八九十百千万半]+(?:片|粒|颗|毫克|滴|勺|箱|件|套|台|辆|斤|楼|层)半?")
"""So much of something by a measure beside those that are read with every number."""
_NUMERAL: Final = re.compile(r"\s*[\d一二三四五六七八九十百千万〇零两]")
_REPEATED: Final = re.compile(
    r"^(?:on )?(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|(?:周|星期|礼拜)[一二三四五六日天])$", re.IGNORECASE
)
_WEEKDAY: Final = re.compile(
    r"(?:on )?(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|(?:周|星期|礼拜)[一二三四五六日天]", re.IGNORECASE
)
"""Begins with a day of the week of no certain week."""
_HABIT: Final = re.compile(
    r"\b(?:my|our|the) (?:\w+ )?days? (?:is|are)\b|\b(?:every|each|always|usually)\b|每|都是", re.IGNORECASE
)
"""Tells what is so every week, so that a day of the week is no certain day."""
_EACH_WEEK: Final = re.compile(
    r"\b(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days at (?:half past )?[\w:.]+(?: ?[ap]m)?"
    r"|(?:每个?|逢)(?:周|星期|礼拜)[一二三四五六日天](?:早上|早晨|上午|中午|下午|傍晚|晚上|晚)?[\d一二三四五六七八九十两:：]{1,5}(?:点半?|(?<=[:：]\d\d))"
)
"""A day of every week with its hour."""
_BY_THE_MOON: Final = re.compile("[农阴]历|腊月|正月|初[一二三四五六七八九十]")
"""Tells a day by the moon, which is another day of every year."""
_ASKS_AHEAD: Final = re.compile(
    r"\bwhen(?:['’]s| is| are| am| do| does| will)\b"
    r"|\b(?:what|which) (?:date|day|month|year)(?:['’]s| is| are| do| does| will)\b"
    r"|什么时候(?!.*[了过的])",
    re.IGNORECASE,
)
"""Asks when something is, or is to be: no time that is over answers."""
_YEARLY: Final = re.compile(r"\b(?:birthday|anniversary|born)\b|生日|纪念日|周年|出生", re.IGNORECASE)
_ASKS_BIRTHDAY: Final = re.compile(r"\bbirthday\b|生日", re.IGNORECASE)
"""Asks for a day of every year."""
_DAY_OF_MONTH: Final = re.compile(
    r"(?:on )?the \d{1,2}(?:st|nd|rd|th)|[\d一二三四五六七八九十]{1,3}[号號日]", re.IGNORECASE
)
"""A day that names no month: of a time to come it is told as it was said."""
_NOT_ASSERTED: Final = (SUPPOSED + WordGroup(anywhere="考虑|不|没")).pattern()
_AWAY: Final = re.compile(r"\bfrom\b|从", re.IGNORECASE)
_WHO_IT_IS: Final = re.compile(
    r"^\W*[Ww]ho(?:['’]s| is| was) [A-Z][\w'’-]*(?: [A-Z][\w'’-]*)*\W*$|^\W*[^我你他她的]{2,6}是谁\W*$"
)
"""Asks what somebody of a name is, so that no other name answers."""
_OPENS_QUOTE: Final = re.compile(r"(?<!\w)['‘](?=\w)")
PAST: Final = re.compile(r"\b(?:did|was|were|had|has|have)\b|\b\w+ed\b|[了过]|的[?？]?$", re.IGNORECASE)
"""Asks for what has happened, or tells of it."""

_NO_PLURAL: Final = r"is|was|does|has|as|this|his|\w*ss|status|bus|gas|always|happens|news|plus"
_SEVERAL: Final = re.compile(
    rf"\b(?:what|which) (?:\w+ ){{0,2}}(?!(?:{_NO_PLURAL})\b)\w+s\b|\bhow many\b|\bwhat (?:has |have )?changed\b"
    r"|\bhow (?:has|have|did) (?:\w+ ){1,6}(?:changed?|evolved?|developed?)\b|\bin (?:what|which) order\b|\bin order\b"
    r"|\bwhat (?:\w+ ){0,3}allergic\b|\b(?:what|who|which) (?:\w+ ){0,3}"
    r"(?:children|kids|siblings|brothers|sisters|pets|hobbies|allergies|languages|parents)\b(?!['’]| \w+ing\b| drive\b)"
    rf"|\bwhat are (?:my|our|the|his|her|their|\w+['’]s) (?:\w+ ){{0,2}}(?!(?:{_NO_PLURAL})\b)\w+s (?:called|named)\b"
    r"|\bwho (?:\w+ ){0,3}live with\b|\bwhat else\b"
    r"|哪些|哪几|几[个種种次家本部样]|都\w{0,4}(?:什么|谁|哪)"
    r"|什么\w{0,2}过敏|过敏\w{0,3}什么|(?:孩子|娃|宠物|爱好|兴趣)\w{0,3}(?:什么|谁)"
    r"|先后|依次|怎么变|(?:怎么|怎样|如何)\w{0,3}变化|什么\w{0,2}变化",
    re.IGNORECASE,
)
"""Questions to which several sentences are quoted: for several things, for what somebody may have several of, or for
how something changed. Wider than `asks_several` of recall's own reading of a question, because a quote too many costs a
reader less than one too few: with that, evidence quoted on LoCoMo fell from 56.2 to 54.7 %.
"""
_YES_OR_NO: Final = re.compile(
    r"^\W*(?:(?:and|so|but|well|hey|hmm|wait)\W+)*"
    r"(?:do|does|did|am|is|are|was|were|have|has|had|can|could|will|would|should)(?:n['’]t)?\s+"
    r"(?!.*\bor\b(?! not\b))\w"
    r"|(?:[吗嗎吧]|没有|沒有|了没|了沒|不)\s*[?？。]*\s*$|(?:是不是|有[没沒]有|[会會]不[会會]|能不能|要不要)"
    r"|([\u4e00-\u9fff])[不没沒]\1",
    re.IGNORECASE,
)
_OPEN: Final = re.compile(r"什么|哪|谁|几[个点号月岁]|多少|怎么|为何")


class AnswerType(Enum):
    """The type of answer that a question expects, by its first question word: a time, a number, a person, a place."""

    TIME = r"\bwhen\b|\b(?:what|which) (?:date|day|month|year)\b|什么时候|何时|哪[一]?[天年月]|几[月号]"
    NUMBER = (
        r"\bhow (?:many|much|long|often|old|tall|heavy|far|high|big)\b|多少|多久|多长时间|多[高重远大](?!的)"
        r"|几[个次位天岁种本部家年码]"
    )
    PERSON = r"\bwho(?:m|se)?\b|谁"
    PLACE = r"\bwhere\b|\b(?:what|which) (?:city|country|place|town|state)\b|哪里|哪儿|什么地方|哪个(?:城市|国家|地方)"
    THING = r"\bwhat\b|\bwhich\b|\bwhy\b|\bhow\b|什么|为何|怎么|哪"

    @classmethod
    def by(cls, question: str) -> AnswerType:
        """The type whose question word comes first; THING where there is none, or what a person is, is asked."""
        if _WHO_IT_IS.search(question):
            return cls.THING
        matches = [
            (match.start(), asked) for asked in cls if (match := re.search(asked.value, question, re.IGNORECASE))
        ]
        return min(matches, key=lambda pair: pair[0])[1] if matches else cls.THING


def asks_several(question: str) -> bool:
    """Whether a question may be answered by several sentences."""
    return _SEVERAL.search(question) is not None


def asks_yes_or_no(question: str) -> bool:
    """Whether a question is answered by yes or no."""
    return _YES_OR_NO.search(question) is not None and _OPEN.search(question) is None


def asks_age(question: str) -> bool:
    """Whether a question asks how old somebody is."""
    return _ASKS_AGE.search(question) is not None


def tells_age(text: str) -> bool:
    """Whether a text may tell how old somebody is: by an age, or by when they were born."""
    return bool(_AGES.search(text) or _BORN.search(text))


def held(asked: AnswerType, text: str, item: Item, question: str) -> str:
    """What a sentence of an item holds of what is asked for, as it is written there; "" for nothing."""
    written = with_capitals(text)
    return _as_written(_held(asked, written, item, question), written, text)


def _as_written(answer: str, written: str, text: str) -> str:
    """An answer out of a text with capitals in the letters of that text, without the mark that ends a quotation."""
    if answer.endswith(("'", "’")) and _OPENS_QUOTE.search(text):
        answer = answer[:-1]
    at = written.find(answer) if answer and written != text else -1
    return answer if at < 0 else text[at : at + len(answer)]


def _held(asked: AnswerType, text: str, item: Item, question: str) -> str:
    match asked:
        case AnswerType.TIME:
            return _when(find_times(text, micros(item.said), item.said_offset), text, item)
        case AnswerType.NUMBER:
            if _ASKS_AGE.search(question):
                return next((age[0] for age in _ages(text, question)), "")
            number = _NUMBER.search(_without_ages(text) if _ASKS_COUNT.search(question) else text)
            return number[0] if number else ""
        case AnswerType.PERSON:
            return ", ".join(_names(text, question))
        case AnswerType.PLACE:
            return _place(text, question)
        case AnswerType.THING:
            return ""


def surely_held(asked: AnswerType, text: str, item: Item, question: str) -> str:
    """What a sentence holds of what is asked for where there is no doubt: one thing of that type, plainly said."""
    written = with_capitals(text)
    return _as_written(_surely_held(asked, written, item, question), written, text)


def _surely_held(asked: AnswerType, text: str, item: Item, question: str) -> str:
    if _NOT_ASSERTED.search(text):
        return ""
    match asked:
        case AnswerType.TIME:
            return _time_surely(text, item, question)
        case AnswerType.NUMBER:
            if _ASKS_HOW_OFTEN.search(question):
                often = _OFTEN.findall(text)
                return often[0] if len(often) == 1 else ""
            if _ASKS_AGE.search(question):
                return next((age[0] for age in _ages(text, question)), "")
            counting = _without_ages(text) if _ASKS_COUNT.search(question) else text
            numbers = [match for match in _NUMBER.finditer(counting) if not _NO_COUNT.match(match[0])]
            if any(is_of_another_kind(number[0], question) for number in numbers):
                return ""
            if any(numbers[0][0] not in count for count in _MEASURED.findall(text) if numbers):
                return ""
            return numbers[0][0] if len(numbers) == 1 and not _UNIT_BEHIND.match(counting, numbers[0].end()) else ""
        case AnswerType.PERSON:
            names = _names(text, question)
            if len(names) != 1 or _NO_NAME.search(names[0]) or is_one_of_several(names[0], text):
                return ""
            return names[0] if _is_told_of(names[0], text, question) else ""
        case AnswerType.PLACE:
            return place_surely(text, question)
        case AnswerType.THING:
            return ""


def asks_count(question: str) -> bool:
    """Whether a question asks how many there are of something."""
    return _ASKS_COUNT.search(question) is not None


def _without_ages(text: str) -> str:
    """A text without the numbers that tell how old or how heavy somebody is; other words stay where they were."""
    return _AGE_OR_WEIGHT.sub(lambda match: " " * len(match[0]), text)


def tells_only_ages(text: str) -> bool:
    """Whether all numbers of a text, of which there are some, tell how old or how heavy somebody is."""
    return _AGE_OR_WEIGHT.search(text) is not None and _NUMBER.search(_without_ages(text)) is None


def _is_told_of(name: str, text: str, question: str) -> bool:
    """Whether a name stands in the only sentence of a text, or in one that shares a word with the question.

    "Maureen's doing secretary now. I need a card for Brian" does not make Brian the secretary.
    """
    parts = [part for part in written_sentences(text) if not part.endswith(("?", "？"))]
    asked = {token for token in tokenise(question) if not is_stop(token)}
    return len(parts) < 2 or any(name in part and not asked.isdisjoint(tokenise(part)) for part in parts)


def _ages(text: str, question: str) -> list[re.Match[str]]:
    """The age that a sentence tells; of several, the one close behind the name of whom a question is about."""
    ages = [age for age in _AGES.finditer(text) if not _is_of_other_kin(text[: age.start()], question)]
    if len(ages) < 2:
        return ages
    ends = [text.find(name) + len(name) for name in called_by_name(question) if name in text]
    return [age for age in ages if any(0 <= age.start() - end <= _CLOSE_BEHIND for end in ends)][:1]


def _is_of_other_kin(before: str, question: str) -> bool:
    """Whether who was named last before an age is of the speaker's people, and not whom a question asks about."""
    last = next(reversed(list(_KIN.finditer(before))), None)
    if last is None or _MYSELF.search(before, last.end()) or called_by_name(question):
        return False
    asked = relations_in(question)
    told = _kin_of(last[0])
    if told in asked or _ANY_OF.get(told) in asked or any(_ANY_OF.get(kin) == told for kin in asked):
        return False
    return bool(asked or SPEAKS_OF_SELF.search(question))


def relations_in(text: str) -> frozenset[str]:
    """What those of somebody's people whom a text speaks of are to them, by one word for all that mean it."""
    return frozenset(_kin_of(kin[0]) for kin in _KIN.finditer(text))


def _kin_of(word: str) -> str:
    """What a word for one of somebody's people calls them, whatever the word."""
    low = word.casefold()
    return CALLED.get(low) or RELATIONS_CHINESE.get(low) or _GENERAL.get(low) or low


def _time_surely(text: str, item: Item, question: str) -> str:
    """The one time of a sentence; a day of the week as it was said, with its hour, unless of something past."""
    spans = find_times(text, micros(item.said), item.said_offset)
    if len(spans) != 1 or _NUMERAL.match(text, text.find(spans[0].text) + len(spans[0].text)):
        return ""
    if _BY_THE_MOON.search(text):
        return ""
    if _REPEATED.match(spans[0].text) and not PAST.search(question):
        return spans[0].text
    plain = not PAST.search(text) and (not ASKS_PAST.search(question) or _HABIT.search(text))
    if (weekday := _WEEKDAY.match(spans[0].text)) and plain:
        dated = re.search(rf"{re.escape(spans[0].text)} the \d{{1,2}}(?:st|nd|rd|th)\b", text)
        return dated[0] if dated else spans[0].text
    if weekday is None and (each := _EACH_WEEK.search(text)) and each[0].endswith(spans[0].text):
        return each[0]
    of_any_year = weekday is None and spans[0].kind == "day" and not _YEAR.search(spans[0].text)
    if of_any_year and _ASKS_BIRTHDAY.search(question):
        return spans[0].text
    if moment(spans[0].end) <= item.said and _ASKS_AHEAD.search(question) and not _YEARLY.search(question):
        to_come = _DAY_OF_MONTH.fullmatch(spans[0].text) or (of_any_year and not PAST.search(text))
        return spans[0].text if to_come else ""
    return _when(spans, text, item)


def day_said(item: Item, text: str) -> str:
    """The day on which an item was said, in a text's language; "" where it only came in from a file on that day."""
    return "" if is_undated(item) else _day(local_time(item.said, item.said_offset).date(), text)


def is_undated(item: Item) -> bool:
    """Whether an item came in from a file that names no time, so that it bears the time of its import."""
    written = (Channel.IMPORT, Kind.DOCUMENT, Kind.CHUNK)
    came = moment(int.from_bytes(to_bytes(item.id)[:6], "big") * 1000)
    return (item.channel in written or item.kind in written) and abs(item.said - came) < _UNDATED


def _place(text: str, question: str) -> str:
    """The first place of a sentence that the question does not give; where one comes from only if that is asked."""
    away = bool(_AWAY.search(question))
    every = [(match[0], next(filter(None, match.groups()))) for match in _PLACE.finditer(text)]
    bare = [(said, bare_place(place) if _CHINESE.search(place) else place) for said, place in every]
    places = [(said, place) for said, place in bare if place and place not in CAPITALS]
    other = [(said, place) for said, place in places if place.casefold() not in question.casefold()]
    other.sort(key=lambda pair: bool(_AWAY.search(pair[0])) is not away)
    return other[0][1] if other else ""


def _names(text: str, question: str) -> list[str]:
    """Capitalised names in a sentence, not those that the question gives, nor a first word that is a common one."""
    inside = (
        name
        for name in _NAMES.finditer(text)
        if not _BEGINS.search(text[max(0, name.start() - _BEFORE) : name.start()])
    )
    names = dict.fromkeys(_uncommon(name[0]) for name in inside)
    return [name for name in names if name and name.casefold() not in question.casefold()]


def _uncommon(name: str) -> str:
    """A name without what is always written with a capital: "July I" is none."""
    return " ".join(word for word in name.split() if word not in CAPITALS)


def _when(spans: Sequence[TimeSpan], text: str, item: Item) -> str:
    """The first time a sentence speaks of, as days; a time of day with its day, or alone where no day is named."""
    if not spans:
        return ""
    span, offset = spans[0], item.said_offset
    first, last = (local_time(moment(us), offset).date() for us in (span.start, span.end - 1))
    if _of_no_year(span, text, item):
        return span.text
    if span.kind == "hour":
        named = first != local_time(item.said, offset).date() or _TODAY.search(span.text)
        return f"{_day(first, text)}, {local_time(moment(span.start), offset):%H:%M}" if named else span.text
    if first == last:
        return _day(first, text)
    if span.kind in ("month", "year"):
        return _month(first, text) if span.kind == "month" else f"{first.year}"
    return f"{_day(first, text)} - {_day(last, text)}"


def _of_no_year(span: TimeSpan, text: str, item: Item) -> bool:
    """Whether a time may be of another year: it names none, and is told of in no past or comes every year."""
    if _YEAR.search(span.text):
        return False
    long_ago = moment(span.end) < item.said - _HALF_A_YEAR
    past = PAST.search(text) and not _PLANNED.search(text)
    return (long_ago and not past) or EVERY_YEAR.search(text.lower()) is not None


def _day(day: date, text: str) -> str:
    """A date as the text's language writes it."""
    if _CHINESE.search(text):
        return f"{day.year}年{day.month}月{day.day}日"
    return f"{day.day} {MONTHS[day.month - 1]} {day.year}"


def _month(day: date, text: str) -> str:
    return f"{day.year}年{day.month}月" if _CHINESE.search(text) else f"{MONTHS[day.month - 1]} {day.year}"
