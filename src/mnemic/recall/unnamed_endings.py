# ruff: noqa: E501 - a pattern cut in pieces is read wrongly
"""Tells an end that need not name what it ends, for its speaker has but one: a job, a partner, a pregnancy.

"Got fired today" ends the job at any firm. Only a clause that its speaker is the subject of, or that names nobody, and
that says no more than that and when: "Karen got fired", "we split up the bill" and "retired greyhounds" end nothing.
"""

from __future__ import annotations

import re
from typing import Final

from mnemic.core.parts import MONTHS
from mnemic.extract.chinese import simple
from mnemic.extract.sentences import written_sentences
from mnemic.recall.polarity import ASKS_PAST
from mnemic.recall.sentence_cues import KIN, counted_in
from mnemic.recall.understand import SPEAKS_OF_SELF
from mnemic.recall.word_groups import DENIED, LONG_AGO, NEARLY, SUPPOSED, WEIGHED, WordGroup

_OPENS: Final = r"^\W*(?:(?:well|so|and|but|oh|ugh|finally|just|yep|sadly|guess what|bad news|big news|news|update|it['’]s official)\W+)*"
_WHEN: Final = (
    rf"(?=\W*$|\W*[,;.!:—–-]|\s+(?:today|tonight|yesterday|last \w+|this (?:week|month|year)|on (?:mon|tues|wednes|thurs|fri|satur|sun)\w+"
    rf"|in (?:{'|'.join(MONTHS)})|after|so|because|and|for good)\b)"
)
_OF_WHOM: Final = r"(?:\s+(?:from|at|by) (?-i:[A-Z])[\w’'-]+)?"
"""Where somebody worked, if it is named after all."""
_LATELY_CHINESE: Final = (
    r"^(?:我们?俩?|咱们?俩?|今天|昨天|前天|刚刚?|终于|最近|上周|上个?月|这周|又|也|还是|已经|正式|唉|哎|\W)*"
)
_FROM_CHINESE: Final = (
    r"(?:[从在](?![^，,。！!；;]*(?:兼职|副业|实习|[会队团社][辞离退]|俱乐部))[^\s，,。！!；;]{1,10}?)?"
)
"""Where somebody left, in Chinese; who leaves a society or a second job has their work still."""
_ENDS_CHINESE: Final = r"(?=\W*$|\W*[，,。！!；;～~]|[啊啦呢哈])"
_OF_WORK: Final = re.compile(
    rf"{_OPENS}(?:(?:i|we)(?:['’]ve| have)? (?:just |finally |now |also |officially )*(?:resigned|retired|(?:quit|lost|left) my job)"
    rf"|(?:i(?:['’]ve| have)? (?:just |now |officially )*)?(?:got|been|was) (?:fired|sacked|laid off|made redundant|let go)"
    rf"|(?:quit|lost|left) my job|i(?:['’]m| am) (?:now )?(?:unemployed|jobless|out of (?:work|a job)|between jobs)){_OF_WHOM}{_WHEN}"
    rf"|{_LATELY_CHINESE}{_FROM_CHINESE}(?:辞职了|离职了|退休了){_ENDS_CHINESE}"
    rf"|{_LATELY_CHINESE}(?:失业了|被(?:公司|老板|单位|厂里)?裁(?:员)?了|被炒(?:鱿鱼)?了){_ENDS_CHINESE}",
    re.IGNORECASE,
)
_DARLING: Final = r"(?:wife|husband|girlfriend|boyfriend|partner|fianc[eé]e?)"
_OF_A_PARTNER: Final = re.compile(
    rf"{_OPENS}(?:(?:we|i|my {_DARLING} and i|(?-i:[A-Z])\w+ and (?:i|me)|me and (?-i:[A-Z])\w+)(?:['’]ve| have)? (?:just |finally |officially )*"
    rf"(?:broke up|broken up|split up|separated|divorced|got divorced|parted ways)|i(?:['’]m| am) single(?: again| now)?|(?:i )?got dumped){_WHEN}"
    rf"|{_OPENS}(?:(?:he|she|(?-i:[A-Z])\w+|my {_DARLING}) (?:dumped|left) me)(?=\W*$|\W*[,;.!]|\s+(?:today|yesterday|last \w+|for (?:good|another|someone|somebody)))"
    rf"|{_LATELY_CHINESE}(?:[和跟]\S{{1,5}})?(?:分手了|分了(?!.*(?:一半|人一))|离婚了|恢复单身了?|单身了){_ENDS_CHINESE}",
    re.IGNORECASE,
)
_OF_A_PREGNANCY: Final = re.compile(
    rf"{_OPENS}(?:(?:the |our |my )?(?:baby|little one)(?: (?-i:[A-Z])\w+)? (?:(?:is|was|has) )?(?:here|born|arrived)|(?-i:[A-Z])\w+ was born"
    rf"|(?:i|we)(?:['’]ve| have)? (?:just |finally )*had (?:the|our|my) baby|(?:our|my) (?:son|daughter|baby) was born|i gave birth|gave birth)(?: on the \d+(?:st|nd|rd|th)\b)?{_WHEN}"
    rf"|{_LATELY_CHINESE}(?:凌晨)?生[了啦](?=\W*$|\W*[，,。！!])"
    rf"|{_LATELY_CHINESE}(?:家的?)?(?:宝宝|孩子|儿子|女儿|娃)(?:昨天|今天|终于|顺利|平安)*(?:出生|生下来|降生)了",
    re.IGNORECASE,
)
_BARS: Final = (
    SUPPOSED
    + WEIGHED
    + NEARLY
    + LONG_AGO
    + WordGroup(
        r"(?:19|20)\d\d|new job|start(?:ed|ing)|joined|kittens|puppies|will|to be|took|begged|called me back|back together"
        r"|withdrew|rehired|kidding|joking|jk|in the (?:sims|game|film|movie|book)",
        "复合|和好|叫回|撤回|开玩笑|骗你|游戏里",
    )
).pattern()
"""Says that it is no end, not yet, long ago, or that something else has come already."""
_PARTNER: Final = re.compile(
    r"\b(?:(?:girl|boy)friend|(?<!running )(?<!business )partner|wife|husband|fianc[eé]e?|spouse|married|engaged|dating)\b"
    r"|女朋友|男朋友|女友|男友|对象|老公|老婆|丈夫|妻子|结婚|伴侣",
    re.IGNORECASE,
)
_ENDS: Final = (
    (
        re.compile(
            r"\b(?:work(?:ing)?(?! out\b)|job|employe[rd]|company|boss|office)\b|上班|工作|单位|公司|老板",
            re.IGNORECASE,
        ),
        _OF_WORK,
    ),
    (_PARTNER, _OF_A_PARTNER),
    (re.compile(r"\b(?:pregnant|expecting)\b|怀孕", re.IGNORECASE), _OF_A_PREGNANCY),
)
"""Questions for what somebody has but one of at a time, and what ends it."""
_CONCERNED: Final = (
    re.compile(
        r"\b(?:do(?:es|ing)? (?:for a living|now)|for a living|profession|occupation|careers?|trade|role|position|post|manager|colleagues?|team|shifts?|commute"
        r"|salary|wages?|income|pension|desk|earn|pa(?:y|ys|id)|hours|clients?|committee|board|union|league|sports?|band)\b|职业|职位|同事|领导|收入|工资|薪水|通勤|做什么|干什么|干嘛",
        re.IGNORECASE,
    ),
    re.compile(
        r"\b(?:together|seeing|with me|am i with|going out|(?:in )?love|ex|single|relationships?|missus|other half|bf|gf|bands?|group|duo|act|team|partners?"
        r"|(?:live|living|share|sharing) with)\b|在一起|恋|单身|前任|乐队|组合|搭档|同居|[跟和]谁",
        re.IGNORECASE,
    ),
    re.compile(
        r"\b(?:due|baby|child(?:ren)?|kids?|birth|midwife|trimester|months along)\b|预产期|宝宝|孩子|产检|胎",
        re.IGNORECASE,
    ),
)
"""Of each, questions for what may end with it."""


def loses_work(clause: str) -> bool:
    """Whether a clause says that its speaker has no work any more, of whatever name it was."""
    return _is_end(_OF_WORK, clause)


def ends_unnamed(question: str, text: str) -> bool:
    """Whether a text ends what a question asks of whoever asks, without naming it; of their kin's it ends nothing."""
    if SPEAKS_OF_SELF.search(question) is None or ASKS_PAST.search(question) is not None:
        return False
    return any(
        _is_end(ends, sentence)
        for asked, ends in _ENDS
        if asked.search(question) and not counted_in(asked.sub(" ", question))[KIN].any()
        for sentence in written_sentences(text)
    )


def ends_something_else(question: str, text: str) -> bool:
    """Whether a text ends something that its speaker has but one of, and that a question does not ask for.

    "Tom and I separated" tells nothing of who is staying with us.
    """
    return any(
        _is_end(ends, sentence)
        for (asked, ends), concerned in zip(_ENDS, _CONCERNED, strict=True)
        if not asked.search(question) and not concerned.search(question)
        for sentence in written_sentences(text)
    )


def _is_end(form: re.Pattern[str], sentence: str) -> bool:
    plain = simple(sentence)
    if plain.rstrip()[-1:] in ("?", "？") or DENIED.search(plain) or _BARS.search(plain):
        return False
    return form.search(plain) is not None
