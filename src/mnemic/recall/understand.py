"""The first stage of recall: what a question asks for, in words, names and stretches of time."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from mnemic.core.timex import TimeSpan, find_times
from mnemic.core.tokens import Field, hash_term, is_stop, tokenise, words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mnemic.core.queries import Query
    from mnemic.index.reading import Reading

TERM_LIMIT: Final = 64
"""Most different words of a question that are looked up; of a longer one, the last."""


_WHEN: Final = re.compile(
    r"\bwhen\b|\bhow long\b|\b(?:what|which) (?:date|day|week|month|year|time)\b"
    r"|什么时候|什麼時候|何时|何時|哪[一]?[天年月周日]|几[月号点]|幾[月號點]|多久|多长时间",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Term:
    """One word of a question: as it was written, as it is stored, and its hash in each field."""

    word: str
    token: str
    text: int
    speaker: int
    date: int

    @classmethod
    def of(cls, word: str, token: str) -> Term:
        return cls(word, token, *(hash_term(token, field) for field in (Field.TEXT, Field.SPEAKER, Field.DATE)))


@dataclass(frozen=True, slots=True)
class Question:
    """A question understood.

    Attributes:
        terms: The words that say what is meant, each once, in order; stop words only if there is nothing else.
        names: Those of them that are names of speakers here.
        spans: The stretches of time it speaks of.
        asks_when: It asks for a time.
    """

    terms: tuple[Term, ...]
    names: tuple[Term, ...]
    spans: tuple[TimeSpan, ...]
    asks_when: bool

    @property
    def notes(self) -> tuple[str, ...]:
        """What was understood, one line each."""
        named = (f"speaker: {name.word}" for name in self.names)
        timed = (f"time: {span.text} ({span.kind})" for span in self.spans)
        return (*named, *timed)


def understand(query: Query, readings: Sequence[Reading]) -> Question:
    """Read a question against the speakers of its spaces and the moment it is asked."""
    spans = tuple(find_times(query.text, query.now, query.offset))
    spelled = dict(zip(tokenise(query.text), words(query.text), strict=True))
    every = tuple(Term.of(word, token) for token, word in list(spelled.items())[-TERM_LIMIT:])
    terms = tuple(term for term in every if not is_stop(term.token)) or every
    names = tuple(term for term in terms if _speaks(term, readings))
    return Question(terms, names, spans, asks_when=_WHEN.search(query.text) is not None)


def _speaks(term: Term, readings: Sequence[Reading]) -> bool:
    return any(len(reading.find(term.speaker)[0]) for reading in readings)
