"""Reads yes or no to a question about a time that is past: what was stated last before that time had passed held then.

"My lodger wants shelves" of 2021 says yes to "did I have a lodger in 2022?", whatever became of the lodger later; had
the lodger left by then, it is no. Only states are read so, and not what happens once: who went to Rome went at a time
of its own.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from mnemic.core.clock import micros
from mnemic.core.items import Kind
from mnemic.extract.chinese import has_chinese
from mnemic.extract.sentences import written_sentences
from mnemic.recall.asked_matter import AskedMatter
from mnemic.recall.evidence import asks, denies_in
from mnemic.recall.polarity import ASKS_END, ASKS_PAST, NO_DENIAL, ONCE
from mnemic.recall.unreal import is_unreal, supposed_clauses
from mnemic.recall.yes_or_no import YesOrNo

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mnemic.core.queries import Recalled
    from mnemic.core.timex import TimeSpan

_LASTING: Final = frozenset({"month", "season", "year", "range"})
"""Stretches of time in which a state holds; a day or a week is of what happens."""
_SOME: Final = 0.5
"""Share of what is asked about from which a sentence may be of it."""
_ASKS_EVENT: Final = re.compile(
    r"\b(?:did|have|has|had)\b.*\b(?:visit|see|meet|buy|sell|get|move|travel|fly|win|pass|start|begin|stop|quit|leave|finish"
    r"|join|sign|order|book|pay|lose|find|break|change|switch|happen|come|tell|say)\b|[过了][吗没]|[去到]过|有没有[去到]",
    re.IGNORECASE,
)
"""Asks for what happens once."""
_PASSING: Final = re.compile(
    r"\b(?:happy|sad|ill|sick|tired|angry|busy|stressed|late|bored|nervous|home)\b|生病|感冒|开心|难过|忙|累|在家",
    re.IGNORECASE,
)
"""Asks for what soon passes."""
_NO_MORE: Final = re.compile(
    r"\b(?:no (?:more|longer)|any ?more|last (?:day|lesson|one))\b|不再|没再|退了|停了|辞了|最后一"
)
"""Ends something that may be what is asked about."""
_WITHOUT: Final = re.compile(r"\b(?:free|without|off|none|nobody|nothing)\b|无|没有[^吗?？]", re.IGNORECASE)
"""Asks for what somebody went without."""
_WAS_SO: Final = re.compile(r"\b(?:i|we|he|she|they) (?:was|were|had)\b", re.IGNORECASE)
"""Tells of what was so before it is said."""
_AHEAD: Final = re.compile(
    r"\b(?:next|tomorrow|will|going to|upcoming)\b|明[年天]|下[个周月]|后[年天]|将|要不要|会不会"
)
"""Speaks of what is to come."""
_NAMES: Final = re.compile(r"\b(?:called|named)(?: [\w-]+){1,3}|(?<=[a-z,] )[A-Z][\w-]+(?: [A-Z][\w-]+)*")
"""What is only called so: the Split Decisions are a team."""
_OF_NOBODY: Final = re.compile(
    r"\W*(?:some(?:one|body)|everyone|everybody|nobody|they|an? \w+) |有人|别人", re.IGNORECASE
)
"""Opens with somebody who is none of whoever speaks and their own."""


def held_at(question: str, spans: Sequence[TimeSpan], evidence: Sequence[Recalled]) -> YesOrNo | None:
    """Read what whoever asks last stated, before a time had passed, of what a question asks of that time.

    None where the question is of no such time, nothing was stated, or the end came about that time.

    Args:
        spans: The stretches of time that the question names.
    """
    if not _asks_state_then(question, spans):
        return None
    span = spans[-1]
    matter = AskedMatter.of(question, [each.text for each in spans])
    stated = [
        (hit, sentence)
        for hit in evidence
        if hit.item.kind is Kind.TURN and micros(hit.item.said) < span.end
        for sentence in written_sentences(hit.text)
        if matter.share_in(sentence) >= _SOME and _asserts(sentence)
        if micros(hit.item.said) >= span.start or not any(map(_WAS_SO.search, matter.clauses_in(sentence)))
    ]
    if not stated:
        return None
    hit, sentence = max(stated, key=lambda each: (micros(each[0].item.said), matter.share_in(each[1])))
    ended = [other for other in evidence if _ends_since(other, hit, span.end)]
    if not _ends(matter, sentence):
        return None if ended or _NO_MORE.search(sentence) else YesOrNo(yes=True, item=hit.item, sentence=sentence)
    return YesOrNo(yes=False, item=hit.item, sentence=sentence) if micros(hit.item.said) < span.start else None


def _asks_state_then(question: str, spans: Sequence[TimeSpan]) -> bool:
    """Whether a question asks whether something was so in a stretch of time that is past."""
    if not spans or spans[-1].kind not in _LASTING or _AHEAD.search(question) or ASKS_END.search(question):
        return False
    if any(form.search(question) for form in (_ASKS_EVENT, _PASSING, _WITHOUT)):
        return False
    return has_chinese(question) or ASKS_PAST.search(question) is not None


def _asserts(sentence: str) -> bool:
    """Whether a sentence states what is so as it is said."""
    if asks(sentence) and not has_chinese(sentence):
        return False
    if _OF_NOBODY.match(sentence):
        return False
    supposed = all(supposed for _, supposed in supposed_clauses(sentence))
    return not (supposed or is_unreal(sentence) or _AHEAD.search(sentence) or ONCE.search(sentence))


def _ends(matter: AskedMatter, sentence: str) -> bool:
    """Whether a sentence says, where it names a matter, that it is no more or is not so."""
    clauses = matter.clauses_in(NO_DENIAL.sub(" ", sentence))
    return any(denies_in(_NAMES.sub(" ", clause)) for clause in clauses)


def _ends_since(other: Recalled, hit: Recalled, until: int) -> bool:
    """Whether another state of the matter, said since a statement and before a time had passed, tells of an end."""
    since = micros(hit.item.said) < micros(other.item.said) < until
    of_it = other.succession > 0 and _OF_NOBODY.match(other.text) is None
    return since and of_it and denies_in(NO_DENIAL.sub(" ", other.text))
