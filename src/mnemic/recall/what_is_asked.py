"""Tells what of the asker's own a question asks about, "my passport number", and whether a text names it.

A sentence that names no passport does not say its number, however much it is the closest of all in meaning: of what
was never said something is always the closest. Only what the question calls the asker's own counts, as that is asked
for by its name; what is asked for by a verb ("what do I do for a living") is told in any words.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from mnemic.core.tokens import tokenise
from mnemic.recall.polarity import asked_words
from mnemic.recall.sentence_cues import KIN, counted_in
from mnemic.recall.whom_it_is_about import is_kin

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy as np
    from numpy.typing import NDArray

_OWN: Final = re.compile(
    r"\b(do|does|did|has|have|had|can|will|would|could)? ?\b(?:my|our) ((?:[\w-]+(?:['’]s?)? ){0,3}?[\w-]+)"
    r"(?=\W*$| (?:is|was|are|were|called|named|do|does|did|live|lives|work|works|play|plays|cost|expire|expires"
    r"|come|comes|start|starts|end|ends|go|goes|visit|visits|like|likes|from|in|at|on|for|with|now|again|born|due|still|before|no|not)\b)",
    re.IGNORECASE,
)
_OWN_CHINESE: Final = re.compile(
    r"我(?:们?家?的|们?家|最喜欢的)([\u4e00-\u9fff]{2,5}?)"
    r"(?=的?(?:是|叫|在哪|住|多[少大高重]|什么|几|哪|花了|有几|现在|要|会|弹|姓)|\W*$)"
)
_KIN_CHINESE: Final = re.compile(
    r"我们?家?的?([\u4e00-\u9fff]{1,3}?)(?=的?(?:叫|是谁|在哪|住|多大|什么时候|做什么|几岁|弹|的?生日))"
)
_DOES: Final = re.compile(
    r"\b(?:which|what|how many) ((?:[\w-]+ ){0,2}?[\w-]+) (?:do|did|am|are|have|can|was|were) (?:i|we)\b(?: ([\w-]+))?",
    re.IGNORECASE,
)
"""Asks which of a kind the asker does something with."""
_ASKS_NUMBER: Final = re.compile(
    r"\b(?:my|our) (?:[\w-]+ ){1,2}number\b"
    r"|我的?[\u4e00-\u9fff]{2,4}(?:号码?|编号)[是多]",
    re.IGNORECASE,
)
_NUMBERED: Final = re.compile(r"\bnumber\b|\bno[.]|\d(?:[ -]?\d){4}|号(?!线|楼|店)", re.IGNORECASE)
_DAY_CHINESE: Final = re.compile(r"[\d一二三四五六七八九十]号")
_ASKS_BEST: Final = re.compile(r"\bmy favou?rite\b|我最喜欢", re.IGNORECASE)
_LIKES: Final = re.compile(
    r"\b(?:favou?rites?|lov\w+|lik\w+|prefer\w*|ador\w+|best|fond|fan|enjoy\w*|top|number one|beats?)\b|喜欢|爱|最|迷",
    re.IGNORECASE,
)
_ASKS_WHO: Final = re.compile(r"\bwho(?:['’]s| is| was) (?:my|our)\b", re.IGNORECASE)
_NAME: Final = re.compile(r"\b(?!I\b|I['’])[A-Z][\w'’-]+")
_LIGHT: Final = frozenset(
    tokenise(
        "name names called old new favourite favorite best first last current own full present now job work"
        " pet pets hobby hobbies food foods exercise surname address"
    )
)
"""Words beside which the name of a thing counts alone, and what is told in any words."""
_ANY_CHINESE: Final = frozenset(("工作", "职业", "名字", "地址"))
_OWNER: Final = re.compile(r"['’]s?$|(?<=s)['’]$")
_SORTS: Final = frozenset(tokenise("type size list group number time"))
"""Of what there are many: what they are of is named."""
_PLACES: Final = frozenset(
    tokenise(
        "city cities town towns country countries place state street area language languages time day year kind sort"
    )
)
"""What is told by its name alone: who moved to Toronto says no "city"."""
_SAID_OTHERWISE: Final = (
    frozenset(tokenise("job work profession occupation employer company boss manager")),
    frozenset(tokenise("home house flat apartment place address street live")),
    frozenset(tokenise("phone mobile cell telephone number handy")),
    frozenset(tokenise("car vehicle drive drove driving")),
    frozenset(tokenise("dog cat pet puppy kitten rabbit animal")),
    frozenset(tokenise("birthday born birth turn turned")),
    frozenset(tokenise("doctor gp physician")),
    frozenset(tokenise("rent pay paying mortgage")),
    frozenset(
        tokenise("partner husband hubby wife missus boyfriend girlfriend spouse married marry wedding fiance fiancee")
    ),
)
"""Words of which one is told by another."""
_EMPTY: Final = frozenset(("", "have", "do"))
"""Verbs that name nothing."""
_ANY_WORDS: Final = frozenset(tokenise("take use want need drive driving work working"))
"""Verbs of which the doing is told in any words: the doctor put me on it."""


def is_named(question: str, texts: Iterable[str], *, by_name: bool = True) -> bool:
    """Whether texts name all that a question calls the asker's own; true where it calls nothing so.

    Args:
        by_name: Kin may be spoken of by a name alone.
    """
    told = " ".join(texts)
    kin = counted_in(told)[KIN] > 0
    if _ASKS_NUMBER.search(question) and not _NUMBERED.search(_DAY_CHINESE.sub("", told)):
        return False
    if _ASKS_BEST.search(question) and not _LIKES.search(told):
        return False
    if _ASKS_WHO.search(question) and told.isascii() and not _NAME.search(told):
        return False
    return _in_english(question, told, kin, by_name=by_name) and _in_chinese(question, told, kin, by_name=by_name)


def _in_english(question: str, told: str, kin: NDArray[np.bool_], *, by_name: bool) -> bool:
    words = set(tokenise(told))
    for own in _OWN.finditer(question):
        asked = [word for word in own[2].casefold().split() if not _LIGHT.issuperset(tokenise(word))]
        if len(asked) > 1 and _SORTS.issuperset(tokenise(asked[-1])):
            asked.pop()
        owners = [word for word in asked[:-1] if _OWNER.search(word)]
        # behind "does" a verb that is not known here may stand at the end
        named_by = asked if own[1] else (*owners, *asked[-1:])
        naming = [_is_told(_OWNER.sub("", word), words, kin, told, by_name=by_name) for word in named_by]
        if not all(naming) and not (own[1] and (any(naming) or (by_name and _NAME.search(told)))):
            return False
    does = _DOES.search(question)
    if does is None:
        return True
    sort, verb = does[1].casefold().split()[-1], (does[2] or "").casefold()
    if not _ANY_WORDS.isdisjoint(tokenise(verb)) or not _PLACES.isdisjoint(tokenise(sort)):
        return True
    return any(_is_told(word, words, kin, told) for word in (sort, verb) if word not in _EMPTY)


def _is_told(word: str, words: set[str], kin: NDArray[np.bool_], told: str, *, by_name: bool = True) -> bool:
    tokens = set(tokenise(word))
    if not tokens or not tokens.isdisjoint(words):
        return True
    if counted_in(word)[KIN].any() and ((counted_in(word)[KIN] > 0) & kin).any():
        return True
    if any(not tokens.isdisjoint(group) and not words.isdisjoint(group) for group in _SAID_OTHERWISE):
        return True
    # who was called by name before is spoken of by it
    return by_name and is_kin(word) and not kin.any() and _NAME.search(told) is not None


def _in_chinese(question: str, told: str, kin: NDArray[np.bool_], *, by_name: bool) -> bool:
    for own in (*_OWN_CHINESE.finditer(question), *_KIN_CHINESE.finditer(question)):
        asked = counted_in(own[1])[KIN] > 0
        if asked.any() or is_kin(own[1]):
            if own[1] not in told and (kin.any() or not by_name) and not (asked & kin).any():
                return False
        elif (
            own.re is _OWN_CHINESE
            and own[1] not in _ANY_CHINESE
            and 2 * sum(sign in told for sign in own[1]) <= len(own[1])
        ):
            return False
    return True


def names_object(question: str, texts: Iterable[str]) -> bool:
    """Whether texts name what a question for yes or no ends in: "Am I allergic to latex?"; true of no English one."""
    asked = asked_words(question)
    ends = next((token for token in reversed(tokenise(question)) if token in asked), "")
    told = " ".join(texts)
    return not ends.isascii() or _is_told(ends, set(tokenise(told)), counted_in(told)[KIN] > 0, told)
