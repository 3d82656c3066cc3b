# ruff: noqa: E501 - a pattern cut in pieces is read wrongly
"""Reads yes to a question for what is so, where what was said in nearly its words stands, and what came since was added.

"As well as the shop I've said yes to the food bank" ends nothing at the shop: a second job, pet or client takes no
place unless it says so. A no to "still" wants something that ends, denies or takes the very place.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from mnemic.core.clock import micros
from mnemic.extract.sentences import written_sentences
from mnemic.recall.asked_matter import AskedMatter, without_since
from mnemic.recall.evidence import denies_in
from mnemic.recall.past_states import tells_only_past
from mnemic.recall.polarity import ASKS_PAST, PRESUMED
from mnemic.recall.unreal import ASKS_UNREAL, supposed_clauses
from mnemic.recall.what_asks import asks
from mnemic.recall.whom_it_is_about import about_another, asks_of_self, clauses
from mnemic.recall.word_groups import ASKS_END, CALLED_OFF, ENDING, GIVEN_UP, NO_DENIAL, ONCE, REPLACED, RID, WordGroup
from mnemic.recall.yes_or_no import YesOrNo

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mnemic.core.items import Item
    from mnemic.core.queries import Recalled

_HALF: Final = 0.5
"""Share of what is asked about beyond which a sentence states it."""
_ADDS: Final = re.compile(
    r"\b(?:also|as well|on top(?: of (?:that|it|my|the))|besides|alongside|in addition|on the side)\b|\btoo\b(?=\W*(?:$|[.,;!?]))"
    r"|(?<!every )\b(?:second|2nd)\b(?! (?:hand|time|thoughts?|half|year|week|month|[mtwfs]\w+day)\b)"
    r"|\b(?:clash\w*|fit(?:s|ting)? (?:it |them )?(?:in )?around|juggl\w+)\b"
    r"|又(?!不|没(?!忍))|另外(?!一个人)|还(?:接|报|加|兼|学|养)了|兼[职着了]|加上|[这那]两[样个份边头]|撞不撞|冲[不没]冲突|错开|兼顾",
    re.IGNORECASE,
)
"""Tells of something beside what was there."""
_GOES_ON: Final = re.compile(
    r"\bcarr(?:y|ies|ying) on\b|照(?:跑|做|上|去|练|干|开|接|养|学|旧|常|样)|还在|仍|接着|没落下|没停|没断",
    re.IGNORECASE,
)
"""Says of what its clause names that it goes on."""
_OF_SUCH: Final = re.compile(r"的(?:人|孩子|同学|朋友)")
"""Speaks of anybody who does it."""
_REPLACES: Final = (
    ENDING
    + REPLACED
    + WordGroup(r"stops?|cancel\w*|switch\w*|swap\w*|replac\w*", "放弃|不[去做干跑上养学]|转(?:给|行)")
).pattern()
"""Ends something, or says what takes its place."""
_OVER: Final = re.compile(r"(?:退|停|辞|卖|取消|注销|结束|戒)(?:出|掉)?[^，。]{0,6}了|[退辞]了|不再")
"""Ends what its clause names, in Chinese."""
_BINNED: Final = re.compile(
    rf"\b(?:{GIVEN_UP.whole}|{RID.whole}|{CALLED_OFF.whole}|killed|(?:done|finished|through) with) ((?:(?:the|my|our) )?[\w-]+)",
    re.IGNORECASE,
)
"""Ends what stands right behind it."""
_ASKING_CLAUSE: Final = re.compile(r"几|什么|怎么|咋|吗|多少|\bhow\b|\bwhat\b", re.IGNORECASE)
_OTHER_QUANTITY: Final = re.compile(
    r"\b(?:only|just|one|same|too|every|all|enough|alone|safe\w*|allowed)\b|\d|只|一样|同|都|就|够|安全|放心",
    re.IGNORECASE,
)
"""Asks for how much or how many, or whether it may be, which no statement that it is there answers."""
_ASKS_HAVE: Final = re.compile(r"\W*(?:do|have) (?:i|we) (?:still )?(?:have|own|got)\b", re.IGNORECASE)
_ACQUIRED: Final = re.compile(
    r"\W*(?:(?:i|we)(?:['’]ve| have)? )?(?:just |finally )?"
    r"(?:passed (?!an?\b|the\b)|(?:landed|earned|bought|adopted|won|took on) (?:an?|two|another|my|our) )"
    r"(?P<object>(?!my |our )[\w-]+(?: [\w-]+)??)"
    r"(?: (?:(?-i:[A-Z]{2,})|today|yesterday|at last|last \w+|this \w+|\d[\d/]*))*\W*(?:$|,(?!.*\b(?:it|him|her|them|then|sold|gave|for|ate)\b))",
    re.IGNORECASE,
)
"""Is all about what gave the speaker something that they have since, right behind the verb."""
_WELL: Final = "(?:也|还|很|挺|蛮|越来越|比较)*(?:好|顺|流利|溜|不错|熟|棒)(?!的)"
_DONE_CHINESE: Final = (
    "{}(?:也|都|现在)*(?:说|讲|聊|写|弹|开|拉|唱|打)得" + _WELL + "|{}证[^，。！!]{{0,6}}(?:下来|拿到|到手|考下|考过)"
)
_DOES: Final = re.compile(
    "(?:^|[，,。！!；])[^，,。！!；学想要怕劝让叫教]*?(?:我们?|咱们?|每[天周月晚早]\\S{0,6}|现在|最近|一直|放学|下班)(?:都|也|会|能|常|在|去|一直|每\\S{1,4})*$"
)
"""Stands before what somebody does, who is named or speaks."""
_NOT_DONE: Final = re.compile("的|太|多少|怎么|难|贵|班|证|老师|费")
"""Stands behind it where it is only spoken of."""
_ASKS_ABLE: Final = re.compile(r"会(?!员|议|计)")


def still_so(question: str, own: Sequence[Recalled]) -> YesOrNo | None:
    """Read whether something goes on: yes where what is newer only adds to it, or it says so itself; no where it ended.

    Args:
        own: What whoever asks said themselves, the best first; so in `stated_in_full`.
    """
    if not PRESUMED.search(question) or not _asks_plainly(question):
        return None
    matter = AskedMatter.of(question)
    named = [
        (hit, sentence)
        for hit in own
        for sentence in written_sentences(hit.text)
        if matter.share_in(sentence) > _HALF and not _is_of_another(question, sentence)
    ]
    if not named:
        return None
    hit, sentence = max(named, key=lambda each: micros(each[0].item.said))
    if not _states(matter, sentence):
        ended = hit.id == own[0].id and hit.succession <= 1 and _is_over(matter, sentence)
        return YesOrNo(yes=False, item=hit.item, sentence=sentence, inferred=True) if ended else None
    since = [other for other in own if micros(other.item.said) > micros(hit.item.said)]
    if any(_names_otherwise(matter, other.text) for other in since):
        return None
    newer = [other for other in since if other.succession > 0]
    so = all(adds(other.text) for other in newer) if newer else _goes_on(matter, sentence)
    return YesOrNo(yes=True, item=hit.item, sentence=sentence, inferred=True) if so else None


def stated_in_full(question: str, own: Sequence[Recalled]) -> YesOrNo | None:
    """Read yes where the first of what whoever asks said states in the question's words that something is so."""
    if not own or PRESUMED.search(question) or not _asks_plainly(question):
        return None
    matter, first = AskedMatter.of(question), own[0]
    if first.succession > 1 or _REPLACES.search(first.text):
        return None
    for sentence in written_sentences(first.text):
        stated = matter.named_in(sentence) and not _is_of_another(question, sentence) and _states(matter, sentence)
        if stated and _says_so(matter, question, sentence) and not tells_only_past(question, sentence):
            return YesOrNo(yes=True, item=first.item, sentence=sentence, inferred=True)
    return None


def may_have_ended_since(question: str, item: Item, own: Sequence[Recalled]) -> bool:
    """Whether whoever asks named a matter anew since an item, beside something that is added or not so.

    "I also do pottery, the choir is history" ends the choir in words that no list has; what is asked with "still" it
    leaves open.
    """
    if not PRESUMED.search(question):
        return False
    matter = AskedMatter.of(question)
    return any(
        micros(other.item.said) > micros(item.said)
        and (_ADDS.search(other.text) is not None or denies_in(NO_DENIAL.sub(" ", other.text)))
        and _names_otherwise(matter, other.text)
        for other in own
    )


def _asks_plainly(question: str) -> bool:
    """Whether a question asks for no more than that something is so now."""
    bare = without_since(question)
    return not any(form.search(bare) for form in (ASKS_UNREAL, ASKS_END, ASKS_PAST, _OTHER_QUANTITY))


def _is_of_another(question: str, sentence: str) -> bool:
    """Whether a sentence is of somebody else, where a question is of whoever asks it."""
    return asks_of_self(question) and about_another(sentence, frozenset(), question)


def _states(matter: AskedMatter, sentence: str) -> bool:
    """Whether a sentence that names a matter ends, denies or supposes nothing of it."""
    if ONCE.search(sentence) or all(supposed for _, supposed in supposed_clauses(sentence)):
        return False
    naming = matter.clauses_in(NO_DENIAL.sub(" ", sentence))
    return asks(sentence) or not any(
        denies_in(clause) or _REPLACES.search(clause) or _BINNED.search(clause) for clause in naming
    )


def _is_over(matter: AskedMatter, sentence: str) -> bool:
    """Whether a sentence plainly ends what it names."""
    return any(
        _OVER.search(clause) is not None or any(matter.share_in(found[1]) > 0 for found in _BINNED.finditer(clause))
        for clause, supposed in supposed_clauses(sentence)
        if not supposed and matter.share_in(clause) > 0
    )


def _goes_on(matter: AskedMatter, sentence: str) -> bool:
    """Whether a sentence says, where it names a matter, that it goes on."""
    return any(_GOES_ON.search(clause) and not _OF_SUCH.search(clause) for clause in matter.clauses_in(sentence))


def _names_otherwise(matter: AskedMatter, text: str) -> bool:
    """Whether a text states something of a matter itself, other than that it goes on: its end may be in other words."""
    return any(
        matter.touched_by(clause) and not _ASKING_CLAUSE.search(clause) and not _GOES_ON.search(clause)
        for sentence in written_sentences(text)
        if not asks(sentence)
        for clause in clauses(sentence)
    )


def adds(text: str) -> bool:
    """Whether a text tells of something beside what was there, and of nothing that ended or was replaced."""
    stated = " ".join(clause for clause in clauses(text) if not _ASKING_CLAUSE.search(clause))
    return _ADDS.search(text) is not None and _REPLACES.search(stated) is None


def _says_so(matter: AskedMatter, question: str, sentence: str) -> bool:
    """Whether a sentence that names what is asked about says of it what is asked: that it is done, known or had."""
    if not matter.chinese:
        acquired = _ACQUIRED.match(sentence)
        return bool(_ASKS_HAVE.match(question) and acquired and matter.named_in(acquired["object"]))
    if any(_is_done(phrase, sentence) for phrase in matter.phrases):
        return True
    able = _ASKS_ABLE.search(question)
    return bool(able) and any(
        re.search(_DONE_CHINESE.format(*[re.escape(word)] * 2), sentence) for word in matter.words
    )


def _is_done(phrase: str, sentence: str) -> bool:
    """Whether somebody does in a sentence what a phrase of verb and object says."""
    before, found, behind = sentence.partition(phrase)
    return bool(found) and _DOES.search(before) is not None and _NOT_DONE.match(behind) is None
