# ruff: noqa: E501 - a pattern cut in pieces is read wrongly
"""How much a passage will matter, from 1 to 10, by what it holds: the poignancy of Generative Agents, by rule.

Park et al. (arXiv:2304.03442, section 4.1) ask a model. Here what a passage holds is counted: a fact about whoever
speaks, words of a turning point, names, times and numbers, an answer, something new. The weights are set by hand.
"""

from __future__ import annotations

import re
from typing import Final

from mnemic.core.clock import micros
from mnemic.core.uninterrupted import import_whole
from mnemic.strategies.knowledge import Passage, Passages
from mnemic.strategies.rules.sentence_relevance import content_terms, similarity

LOWEST: Final = 1
HIGHEST: Final = 10

_SELF: Final = re.compile(r"\b(?:I|I'm|I've|I'd|my|me|we|our)\b|我|咱")
_TURNING: Final = re.compile(
    r"\b(?:died|death|passed away|funeral|born|birth|pregnan\w+|married|marry|wedding|engaged|divorc\w+|broke up|cancer"
    r"|diagnos\w+|hospital|surgery|accident|fired|laid off|promot\w+|quit|hired|new job|graduat\w+|moved|moving|adopt\w+"
    r"|retir\w+|bankrupt|won|award|accepted|rejected|emergency|love|proud|devastated|heartbroken|never forget)\b"
    r"|去世|葬礼|出生|怀孕|结婚|婚礼|订婚|离婚|分手|癌|确诊|住院|手术|车祸|辞职|开除|裁员|升职|入职|毕业|搬家|搬到|领养|退休|破产|获奖|录取",
    re.IGNORECASE,
)
"""Words of turning points in a life, and of strong feelings."""
_WHEN_OR_HOW_MANY: Final = re.compile(r"\d")
_ASKS: Final = re.compile(r"[?？]\s*$")
_FEWEST: Final = 3
"""Terms below which a passage is small talk."""
_NEW, _SAYS_I, _TURNS, _NAMES, _TIMES, _ANSWERS, _PROFILE, _LONG = 1.0, 0.5, 3.0, 0.5, 1.0, 0.5, 2.5, 1.0
_MOST_NAMES: Final = 3
_LONG_FROM: Final = 12
"""Terms from which a passage is long."""


def importance_scores(passages: Passages) -> tuple[int, ...]:
    """Score passages; each is new as far as those before it do not say the same."""
    scores: list[int] = []
    before: list[frozenset[str]] = []
    for place, passage in enumerate(passages):
        terms = content_terms(passage.text)
        novelty = 1 - max((similarity(frozenset(terms), others) for others in before), default=0.0)
        answers = place > 0 and _answers(passages[place - 1], passage)
        scores.append(_score(passage, terms, novelty, answers=answers))
        before.append(frozenset(terms))
    return tuple(scores)


def _score(passage: Passage, terms: list[str], novelty: float, *, answers: bool) -> int:
    if len(terms) < _FEWEST:
        return LOWEST
    import_whole("mnemic.core.timex", "mnemic.extract.entities")
    from mnemic.core.timex import find_times
    from mnemic.extract.entities import entities

    text = passage.text
    said = 0 if passage.said is None else micros(passage.said)
    worth = _NEW * novelty + _NAMES * min(_MOST_NAMES, len({entity.name for entity in entities(text)}))
    worth += _SAYS_I * bool(_SELF.search(text)) + _TURNS * bool(_TURNING.search(text)) + _ANSWERS * answers
    worth += _TIMES * bool(_WHEN_OR_HOW_MANY.search(text) or find_times(text, said, passage.said_offset))
    worth += _LONG * (len(terms) >= _LONG_FROM) + _PROFILE * _states_slot(passage)
    return max(LOWEST, min(HIGHEST, LOWEST + round(worth)))


def _answers(question: Passage, passage: Passage) -> bool:
    return question.speaker != passage.speaker and _ASKS.search(question.text) is not None


def _states_slot(passage: Passage) -> bool:
    """Whether somebody states something of their profile."""
    import_whole("mnemic.extract.slots", "mnemic.extract.speakers")
    from mnemic.extract.slots import slots
    from mnemic.extract.speakers import is_machine

    said = 0 if passage.said is None else micros(passage.said)
    return not is_machine(passage.speaker) and bool(slots(passage.text, "user", said, passage.said_offset))
