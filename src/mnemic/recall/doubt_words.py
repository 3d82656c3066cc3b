# ruff: noqa: E501 - a pattern cut in pieces is read wrongly
"""Words by which a sentence speaks of the matter of a profile fact, and of a change in it; English and Chinese.

They are for what rules could not read: a word of the matter and a word of change in one sentence of one's own say that
something is no longer as it was, not what it is now.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Final

from mnemic.core.tokens import hash_term, tokenise
from mnemic.extract.chinese import has_chinese
from mnemic.extract.sentences import lowered
from mnemic.extract.slots_en import English
from mnemic.extract.slots_zh import Chinese
from mnemic.recall.unreal import is_not_yet_so
from mnemic.recall.word_groups import CONDITION, COULD, DREAM, GUESS, HOPE, NEARLY, SOMEDAY, WISH, WordGroup

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from mnemic.extract.sentences import Sentence

_WORDS: Final = {
    "residence": """home house flat apartment move moved moving relocated relocating live living lease landlord landlady
        address town city neighbourhood neighborhood unpacked unpacking boxes settled studio condo bungalow cottage
        搬 住 家 房子 新房 买房 租房 定居 落户 安家 户口 小区 公寓""",
    "work": """job working employer desk company firm boss salary contract notice quit resigned
        fired laid hired redundant freelance badge promoted
        工作 上班 公司 单位 辞 离职 入职 老板 跳槽 失业 裁 工位 岗 升职 转行""",
    "relation": """partner husband wife boyfriend girlfriend fiancé fiancée married engaged single divorced separated
        broke dating split breakup ring wedding together widow widower
        分手 离婚 结婚 单身 男友 女友 对象 老公 老婆 丈夫 妻子 复合 订婚 领证 爱人""",
    "study": """school university college course degree major thesis campus semester term class studying student
        transferred graduated dropped enrolled
        学校 大学 专业 毕业 转学 退学 休学 考上 研究生 上学 课 读""",
    "name": "name called call surname maiden rename renamed goes 名字 姓 叫 改名 称呼",
    "contact": """number phone mail e-mail email mailbox inbox address sim reach text call
        号码 电话 手机 邮箱 号 联系""",
    "car": "car van truck drive driving garage wheels 车 驾驶 开的",
    "phone": "phone handset mobile smartphone 手机",
    "allergy": "allergy allergies allergic allergist intolerance intolerant 过敏",
    "diet": """meat vegan vegetarian vegetarians fish eat eating ate dairy gluten diet cheese steak bacon egg eggs plant
        吃 素 肉 荤 鱼 饮食 忌 奶""",
}

_NO_CHANGE: Final = {
    "home": r"(?<!from )(?<!at )home",
    "moving": r"moving(?! on\b)",
    "moved": r"moved(?! on\b)",
}
"""Words of a matter as patterns, where they may also say something else: where somebody is, or what comes next."""

_HERE: Final = re.compile(
    r"\bi(?:'m| am| do)? (?:really|still|truly) (?:live|living) here\b(?! (?:until|till|for another))|我(?:还|仍|仍然|真的)住(?:在)?这(?:里|儿)",
    re.IGNORECASE,
)
"""Somebody says that they live where they are: a lease that they signed is of the home that they have."""

_ENDS: Final = re.compile(
    r"\b(?:no longer|not any ?more|any ?more|quit|quitting|resigned|left|leaving|sold|gone|(?:is|are|was) (?:all )?over|ended|done with|broke up"
    r"|broken up|split(?: up)?|divorced|separated|dumped|dropped out|gave up|given up|handed in|laid off|fired|let go|died"
    r"|passed away|dead|closed|cancelled|canceled|swapped|traded|stopped|former|ex|behind (?:me|us)|goodbye|bye|farewell|cured|healed|outgr[eo]wn?"
    r"|ran away|(?:isn't|wasn't|never was) real|never (?:had|was|worked|lived)|(?:all )?cleared)\b"
    r"|不再|分手|分了|离婚|离了|辞|离职|退|卖|没了|不在|不住|不吃|不做|不干|停了|戒|走了|去世|散了|吹了|告别|再见|注销|停机|报废|裁|[治已经都痊]好了|痊愈|走丢|从来?没"
)
"""Something is so no longer."""

_ENDS_OF: Final = {
    "pet": re.compile(
        r"\b(?:(?:went|gone|is|been) missing|got lost|is lost|escaped|ran (?:off|out)|got out|wandered off|fl(?:ew|own) (?:off|out)|disappeared|vanished"
        r"|nowhere to be (?:found|seen)|(?:hasn't|never|didn't) (?:come|came) (?:back|home))\b|不见了|跑了|跑丢|飞了|飞走|丢了|失踪|没回来|找不到"
    ),
    "allergy": re.compile(
        r"\b(?:false (?:positive|alarm)|(?:came back|tested|test was|tests were) (?:negative|clean|clear)|misdiagnos\w+"
        r"|(?:tried|ate|had)\b.{0,50}?\b(?:(?:was|felt|am|i'm) (?:totally |completely )?(?:fine|ok(?:ay)?)|nothing happened|no (?:reaction|hives|symptoms|problem)|without (?:a|any) (?:reaction|hives|problem)))\b"
        r"|[试吃尝].{0,12}?(?:没事|没反应|没过敏|不过敏|没什么反应)|阴性|误诊"
    ),
}
"""What is said of an end of one sort of fact alone: that it is likely, and no more."""

_RETURNED: Final = re.compile(
    r"\b(?:(?<!never )(?<!not )(?<!n't )(?:come|came|is|are) (?:back|home)|(?<!never )(?<!not )(?<!n't )found|turned up|returned|caught)\b|(?<!没)(?<!没有)(?:找到|找着|回来了)"
)
"""Who got away is back."""

_CHANGES: Final = re.compile(
    r"\b(?:new|newly|now|nowadays|these days|moved|moving in|relocated|switched|changed|swapped|replaced|started|starting"
    r"|became|become|joined|adopted|transferred|converted|renamed|as of|as from|since (?:last|yesterday|mon|tues|wednes|thurs"
    r"|fri|satur|sun|january|february|march|april|may|june|july|august|september|october|november|december)\w*|from (?:today|now)"
    r"|first (?:day|week|month|night)|back (?:to|in|at|with|on)|officially|unpack(?:ed|ing)|settled|packed up|instead"
    r"|correction|i meant|wrong|not .{1,40}? but)\b"
    r"|新|现在|如今|目前|搬|换|改|变成|成了|开始|入职|跳槽|转|升|第一[天周]|正式|终于|从今|起我|以后|其实|说错|记错|更正|不是.{1,20}是|复合|领证|结婚|考上"
)
"""Something is otherwise than it was."""

_CHANGE_WORDS: Final = """
new newly now nowadays days moved moving relocated switched changed swapped replaced started starting became become joined
adopted transferred converted renamed as since today first back officially finally unpacked unpacking settled packed instead
correction meant wrong but longer anymore more quit quitting resigned left leaving sold gone over ended done broke broken split
divorced separated dumped dropped gave given handed laid fired let died passed dead closed cancelled canceled traded stopped
former ex behind goodbye bye farewell
新 现 如 目 搬 换 改 变 成 始 职 槽 转 升 第 正 终 从 起 以 其 错 更 是 复 领 结 考 不 分 离 辞 退 卖 没 停 戒 走 去 散 吹 告 再 注 报 裁
"""
"""The words that `_CHANGES` and `_ENDS` begin with or hold: without one of them none of both matches."""

_OWN: Final = re.compile(r"\b(?:i|i'm|i've|i'll|i'd|me|my|mine|we|we're|we've|our|ours|us|myself)\b|[我咱俺]")
_OTHERS: Final = re.compile(
    r"\b(?:he|she|they|his|her|their|him|them|he's|she's|they're|they've|someone|somebody|everyone|people"
    r"|mother|mum|mom|father|dad|parents|sister|brother|son|daughter|kids?|child(?:ren)?|baby|nephew|niece|friends?|mate|boss"
    r"|manager|colleagues?|coworkers?|neighbou?rs?|cousins?|grandma|grandpa|grandmother|grandfather|aunt|uncle|flatmate"
    r"|roommate|housemate|doctor|dentist|therapist|teacher|trainer|tutor|you|you're|your)\b"
    r"|[他她你您]|人家|别人|妈|爸|姐|妹|哥|弟|儿子|女儿|闺女|孩子|朋友|闺蜜|同事|老板|领导|邻居|表|奶奶|爷爷|外婆|外公|叔|舅|姑|姨|室友|医生|老师|教练"
)
_OF_MINE: Final = re.compile(
    r" (?:(?:new|old|former|future|current|next|first|second|other|older|elder|younger|big|little|best|dear|lovely) )?|们?家?的?"
)
"""What stands between "my" and whom it is of: "my new manager", 我弟, 我家的孩子."""
_PARTNERS: Final = re.compile(
    r"\b(?:partner|husband|wife|boyfriend|girlfriend|fianc[eé]e?)\b|老公|老婆|丈夫|妻子|男朋友|女朋友|男友|女友|爱人|对象"
)
_DIAGNOSED: Final = re.compile(
    r"^\W*(?:(?:my|the) )?(?:doctor|gp|allergist|dentist|specialist|clinic) (?:says?|said|told me|confirmed)(?: that)?\b|^(?:医生|大夫|专家)(?:说|告诉我|确认)"
)
_SAID_OTHERWISE: Final = (
    CONDITION
    + GUESS
    + COULD
    + WISH
    + HOPE
    + DREAM
    + SOMEDAY
    + NEARLY
    + WordGroup(
        r"considering|thinking (?:of|about)|tempted|dream\w*|pretend|wants? to|plan\w*|used to|once|back (?:when|then)|years ago"
        r"|as a (?:kid|child)|when i was|haha\w*|lol|april fools?|(?:just |only )?(?:kidding|joking)"
        r"|(?:won't|never|not|didn't|haven't|hasn't|no (?:plans?|reason|need) to) (?:\w+ )?(?:quit\w*|mov\w+|leav\w+|left|chang\w+|switch\w*|sell|sold|divorc\w+|split|resign\w*|relocat\w+)",
        r"梦|想象|考虑|的话|打算|计划|准备|想(?:搬|换|辞|去|吃|学|当|做)|(?:没|没有|不会|不想|不肯|别)(?:再)?(?:搬|换|辞|离|卖|分手|退|改)|小时候|当年|以前|曾经|那会儿|那时候|哈哈|开玩笑|愚人节",
    )
).pattern()
"""Supposed, wished for, planned, long ago or a joke: nothing is said of now."""

_NOT_SO: Final = r"\b(?:from|out of|than|instead of|not|no longer|leave|leaving|left)\b\W+(?:\w+\W+){0,2}?VALUE|(?:离开|从|不是对?|别了)VALUE(?!过敏[嘛吗么])"
"""What stands before a value of which a sentence says that it is not so, or not any more."""


_OWNED: Final = frozenset({"car", "phone", "possession"})
_PROPER: Final = re.compile(r"\b[A-Z][\w-]{2,}")
_LONG_NAME: Final = 4
"""Characters from which a Chinese name of a thing is called by a part of it."""

_NEAR: Final = 25
_NEAR_CHINESE: Final = 6
"""Characters between a word of a matter and one of a change, at most."""

_TRIED: Final = 8
"""Most words of each that are compared in a sentence."""


@lru_cache(maxsize=1)
def matter_tokens() -> dict[str, tuple[int, ...]]:
    """Hash the words of every matter as a catalogue's text does."""
    return {
        matter: tuple(sorted({hash_term(token) for word in words.split() for token in tokenise(word)}))
        for matter, words in _WORDS.items()
    }


@lru_cache(maxsize=1)
def change_tokens() -> tuple[int, ...]:
    """Hash the words without which no sentence tells of a change, as a catalogue's text does."""
    return tuple(sorted({hash_term(token) for word in _CHANGE_WORDS.split() for token in tokenise(word)}))


@lru_cache(maxsize=1)
def _patterns() -> dict[str, re.Pattern[str]]:
    patterns = {}
    for matter, words in _WORDS.items():
        plain = "|".join(_NO_CHANGE.get(word, word) for word in words.split() if word[0].isascii())
        other = "|".join(word for word in words.split() if not word[0].isascii())
        patterns[matter] = re.compile(rf"\b(?:{plain})\b|{other}")
    return patterns


def forms_of(slot: str, value: str) -> tuple[str, ...]:
    """The ways in which a sentence may name a value: whole, a pet by its name, a thing by a name in it ("the Panda", 海豚)."""
    if slot == "pet":
        return (value.partition(" (")[0],)
    if slot not in _OWNED:
        return (value,)
    name = value.rpartition("的")[2]
    pairs = [name[at : at + 2] for at in range(len(name) - 1)] if has_chinese(name) and len(name) >= _LONG_NAME else []
    return tuple(dict.fromkeys((value, *_PROPER.findall(value), *pairs)))


def touches(text: str, forms: tuple[str, ...]) -> bool:
    """Whether a text holds a word of a change, or a value: without, no sentence of it puts a fact of this value in doubt."""
    low = lowered(text)
    return any(pattern.search(low) for pattern in (_CHANGES, _ENDS, _named(forms)))


def is_asserted(sentence: Sentence) -> bool:
    """Whether a sentence may say how things are, and does not ask, suppose, plan, dream or tell of long ago."""
    low = _DIAGNOSED.sub("", sentence.low)
    if sentence.asks or _SAID_OTHERWISE.search(low) or is_not_yet_so(low):
        return False
    return not any(
        pattern.search(low)
        for language in (English, Chinese)
        for pattern in (language.FRAMED, language.UNSAID, language.AHEAD)
    )


def is_own(sentence: Sentence, matter: str) -> bool:
    """Whether a sentence names whoever speaks, and nobody else before them."""
    return _OWN.search(sentence.low) is not None and not is_of_others(sentence, matter)


def is_of_others(sentence: Sentence, matter: str) -> bool:
    """Whether a sentence names somebody other than whoever speaks, and that before them or right behind ("my sister").

    What a doctor says of whoever speaks is theirs.
    """
    low = _DIAGNOSED.sub("", sentence.low)
    own = _OWN.search(low)
    if own is not None:
        behind = _OF_MINE.match(low, own.end())
        if behind and _OTHERS.match(low, behind.end()):
            return True
    others = [_OTHERS.search(low), None if matter == "relation" else _PARTNERS.search(low)]
    return any(other is not None and (own is None or other.start() < own.start()) for other in others)


def hints_at_change(sentence: Sentence) -> bool:
    """Whether a sentence holds a word of a change."""
    return _CHANGES.search(sentence.low) is not None or _ENDS.search(sentence.low) is not None


def settles_here(text: str) -> bool:
    """Whether a text says that its speaker lives where they are."""
    return _HERE.search(text) is not None


def tells_change(sentence: Sentence, matter: str) -> bool:
    """Whether a sentence holds a word of a matter, and close to it one of a change."""
    low = sentence.low
    near = _NEAR_CHINESE if has_chinese(low) else _NEAR
    spoken = [match.span() for match in islice(_patterns()[matter].finditer(low), _TRIED)]
    changes = [match.span() for pattern in (_CHANGES, _ENDS) for match in islice(pattern.finditer(low), _TRIED)]
    return any(begin - near <= end and first <= last + near for first, end in spoken for begin, last in changes)


def speaks_of(sentence: Sentence, matter: str) -> bool:
    """Whether a sentence holds a word of a matter."""
    return _patterns()[matter].search(sentence.low) is not None


def speaks_of_another(sentence: Sentence, matter: str) -> bool:
    """Whether a sentence tells plainly of a change of other matters than one, of which it has no word."""
    others = [other for other in _WORDS if other != matter and tells_change(sentence, other)]
    return bool(others) and not speaks_of(sentence, matter)


def speaks_of_any(text: str, matters: Collection[str]) -> bool:
    """Whether a text holds a word of one of some matters; of one that has no words, no text does."""
    low, patterns = lowered(text), _patterns()
    return any(patterns[matter].search(low) for matter in matters if matter in patterns)


def names(sentence: Sentence, forms: tuple[str, ...]) -> bool:
    """Whether a sentence names a value in one of its forms."""
    return _named(forms).search(sentence.low) is not None


def ends_likely(sentence: Sentence, slot: str, spoken: Iterable[Sentence]) -> bool:
    """Whether a sentence that names what fills a slot tells of its likely end: a dog is missing, a food did no harm.

    Args:
        spoken: All sentences of its turn, of which one may say that the dog is back.
    """
    ends = _ENDS_OF.get(slot)
    if ends is None or ends.search(sentence.low) is None:
        return False
    return slot != "pet" or not any(_RETURNED.search(one.low) for one in spoken)


def denies(sentence: Sentence, forms: tuple[str, ...]) -> bool:
    """Whether a sentence that names a value has a word of an end, or says that it is not, or comes from there."""
    if _ENDS.search(sentence.low):
        return True
    named = "|".join(re.escape(form.lower()) for form in forms)
    return re.search(_NOT_SO.replace("VALUE", f"(?:{named})"), sentence.low) is not None


@lru_cache(maxsize=256)
def _named(forms: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(map(_bounded, forms)))


def _bounded(form: str) -> str:
    """A form as a pattern, of whole words where it is written in letters."""
    low = form.lower()
    begin, end = (r"\b" if part.isascii() and part.isalnum() else "" for part in (low[:1], low[-1:]))
    return f"{begin}{re.escape(low)}{end}"
