# ruff: noqa: E501 - a pattern cut in pieces is read wrongly
"""Tells what is wished for from what is so: "Where would I like to live?" asks for another thing than "Where do I live?".

The two share all their words, and by meaning they are as near as can be. Only states of which both are said are looked
at: where somebody lives, works or studies, and what they drive or keep.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from mnemic.extract.sentences import written_sentences
from mnemic.recall.whom_it_is_about import clauses
from mnemic.recall.word_groups import AHEAD, COULD, GUESS, PLANNED, SUPPOSED, WEIGHED, WordGroup

if TYPE_CHECKING:
    from collections.abc import Sequence

_ADVERBS: Final = r"(?: (?:really|rather|most|also|so|much|dearly|still|always|just|one day|some day|someday|eventually|ideally|love to|like to))*"
_STATE_CHINESE: Final = r"(?:住|搬|定居|生活|安家|工作|上班|就职|任职|跳槽|开(?![始会心])|买|养|车|读|学)"
_GOVERNING: Final = rf"(?![^，。？]{{0,8}}(?:之前|以前|的时候|(?<!目)前))(?:(?=[^，。？我咱]{{0,12}}{_STATE_CHINESE})|(?!.*{_STATE_CHINESE}))"
"""The state that is asked for is what is wished for: 我想住在哪里, and not 我想搬家之前住在哪里."""
_ASKS_WISH: Final = re.compile(
    rf"\b(?:would|['’]d) (?:i|we){_ADVERBS} (?:like|love|prefer|rather|enjoy|want|choose)\b"
    rf"|\b(?:do|did|have) (?:i|we){_ADVERBS} (?:want(?:ed)?|wish(?:ed)?|hoped?|dream(?:t|ed)?|long(?:ed)?|intend(?:ed)?)\b"
    r"|\b(?:am|are|was|were) (?:i|we) (?:\w+ )?(?:hoping|dreaming|longing|wishing)\b|\b(?:my|our) (?:dream|ideal)\b"
    r"|[我咱]们?(?:最|一直|其实|将来|以后|真正|本来|还|也|很|都)*(?:想要?|希望|愿意|梦想|盼着?|向往|憧憬)"
    rf"(?!知道|问|请|了解|确认|查|听|说|起|到|法|念|象|出|过|不){_GOVERNING}|[我咱]们?的?(?:梦想|理想)",
    re.IGNORECASE,
)
"""Asks what somebody wishes for; 我想知道 only asks."""
_STATES: Final = (
    re.compile(
        r"\b(?:liv(?:e|es|ed|ing)|resid\w+|mov(?:e|ed|ing)|relocat\w+|settl(?:e|ed)|based)\b|住|搬|定居|生活|安家",
        re.IGNORECASE,
    ),
    re.compile(r"\b(?:work(?:s|ed|ing)?|job|employ\w+|career)\b|工作|上班|就职|任职|跳槽", re.IGNORECASE),
    re.compile(r"\b(?:driv(?:e|es|ing)|drove|own(?:s|ed)?|car)\b|开(?![始会心])|买|养|车", re.IGNORECASE),
    re.compile(r"\b(?:stud(?:y|ies|ied|ying))\b|读|学", re.IGNORECASE),
)
"""Ask or tell, each of one matter, of a state that somebody is in, or wishes to be in."""
_WISHES: Final = (
    SUPPOSED
    + WEIGHED
    + PLANNED
    + WordGroup(
        r"dream\w*|wanting|long(?:ing)? (?:to|for)|(?:like|love) to|planning|considering|ideal(?:ly)?|aim|goal|rather|prefer\w*"
        r"|saving|bucket list|fantasi\w+|imagin\w+|retire",
        "愿|梦|理想|向往|憧憬|盼|将来|以后",
    )
).pattern()
"""Holds a word by which something is wished for, planned or supposed."""
_TELLING: Final = r"(?! to (?:tell|say|let|mention|share|add|note|ask|know|remind|confirm)\b)"
_WISHED: Final = re.compile(
    rf"(?:\bwould|['’]d){_ADVERBS} (?:like|love|prefer|rather|give anything|enjoy|choose)\b{_TELLING}"
    rf"|\b(?:want|wish|hope|long|intend)(?:ed|ing)?\b{_TELLING} (?:to|i|we|that|for)\b|\bdream(?:t|ed|ing|s)?\b|\bif only\b"
    r"|(?:想要?|希望|愿意|梦想|盼着?|向往|憧憬)(?!知道|起|到|法|念|象|出|过|不)|(?:要是|如果|能).*就好",
    re.IGNORECASE,
)
"""Says that what it tells is wished for."""
_WISHER: Final = re.compile(r"\W*(?:is )?(?:that )?(?:i|we|my|our)?(?!\w)|[我咱]们?", re.IGNORECASE)
"""What may stand at the head of what is wished for: "I hope that we can live in Porto"."""
_OF_ITS_OWN: Final = re.compile(
    r"\b(?:i|we|my|our|that|where|which|who|whose|because|since|when|while|as)\b|[我咱]", re.IGNORECASE
)
"""Begins a clause that tells what is so beside a wish: "I want to sell the Volvo I drive"."""
_CAME_TRUE: Final = re.compile(
    r"\b(?:now|finally|at last) (?:i|we) (?:do|did|am|are|have)\b|\bcame true\b|\b(?:and|which) (?:now )?(?:i|we) (?:now )?(?:do|did)\b"
    r"|如愿|实现|终于|成真",
    re.IGNORECASE,
)
_TO_COME: Final = (GUESS + COULD + PLANNED + AHEAD + WordGroup("next|shall", "以后")).pattern()
"""Asks for what is to come, or may be."""


def asks_wish(question: str) -> bool:
    """Whether a question asks what whoever asks wishes for."""
    return _ASKS_WISH.search(question) is not None


def tells_wish(text: str) -> bool:
    """Whether a text holds a word by which something is wished for, planned or supposed."""
    return _WISHES.search(text) is not None


def may_misplace(question: str) -> bool:
    """Whether a question asks for a state, so that a wish for it, or the state beside a wish, may stand first."""
    return bool(_states(question)) and (asks_wish(question) or _TO_COME.search(question) is None)


def in_mood_first(question: str, texts: Sequence[str]) -> list[int]:
    """Order texts, the best first, so that of those of a state the ones of the mood that is asked for come first."""
    asked = _states(question)
    states = [n for n, text in enumerate(texts) if asked & _states(text)]
    first = next((n for n in states if is_of_other_mood(question, texts[n])), len(texts))
    ahead = [n for n in states if n > first and not is_of_other_mood(question, texts[n])]
    return [*range(first), *ahead, *(n for n in range(first, len(texts)) if n not in ahead)]


def is_of_other_mood(question: str, text: str) -> bool:
    """Whether a text tells of a state what is so, where the question asks for a wish, or the other way round."""
    if not may_misplace(question):
        return False
    if asks_wish(question):
        return not tells_wish(text) and bool(_states(text))
    return _only_wishes(text)


def _only_wishes(text: str) -> bool:
    """Whether all that a text tells of a state is wished for."""
    told = [part for sentence in written_sentences(text) for part in clauses(sentence) if _states(part)]
    return bool(told) and all(map(_is_wished, told)) and _CAME_TRUE.search(text) is None


def _is_wished(clause: str) -> bool:
    """Whether every state that a clause tells is what it wishes for, and none is told in a clause within it."""
    wishes = list(_WISHED.finditer(clause))
    states = (match.start() for form in _STATES for match in form.finditer(clause))
    return bool(wishes) and all(any(_governs(wish, clause, state) for wish in wishes) for state in states)


def _governs(wish: re.Match[str], clause: str, state: int) -> bool:
    """Whether a wish in a clause is for the state that is told at a place in it."""
    if state < wish.start():
        return _OF_ITS_OWN.search(clause, 0, state) is None  # "Living in Porto is my dream"
    head = _WISHER.match(clause, wish.end())
    return _OF_ITS_OWN.search(clause, head.end() if head else wish.end(), max(state, wish.end())) is None


def _states(text: str) -> frozenset[int]:
    """Of which matters a text asks for a state, or tells one."""
    return frozenset(n for n, form in enumerate(_STATES) if form.search(text))
