"""The first stage of recall: what a question asks for, in words, phrases, names and stretches of time."""

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
"""Most different words of a question that are looked up; of a longer one the last, where the asking is."""

SPEAKS: Final = 3
"""Entries by which somebody is a speaker here, so that the name in a text says little."""

_WHEN: Final = re.compile(
    r"\bwhen\b|\bhow long\b|\b(?:what|which) (?:date|day|week|month|year|time)\b"
    r"|什么时候|什麼時候|何时|何時|哪[一]?[天年月周日]|几[月号点]|幾[月號點]|多久|多长时间",
    re.IGNORECASE,
)
_QUOTED: Final = re.compile(r"\"([^\"]+)\"|“([^“”]+)”|「([^「」]+)」|『([^『』]+)』|《([^《》]+)》")
_ROLES: Final = frozenset({"user", "system", "tool"})
_ANYTHING: Final = frozenset(
    tokenise(
        "happen happened happening going new say said tell told talk talked discuss discussed chat chatted mention "
        "event events thing things topic topics remember recall know up about "
        "发生 生了 做 做了 干 干了 说 说了 聊 聊了 们聊 话题 题 话 事情 记得 有"
    )
)


@dataclass(frozen=True, slots=True)
class Term:
    """One word of a question: as it was written, and its hash in each field."""

    word: str
    token: str
    text: int
    speaker: int
    date: int

    @classmethod
    def of(cls, word: str, token: str) -> Term:
        """`token` is what `tokenise` makes of `word`."""
        return cls(word, token, *(hash_term(token, field) for field in (Field.TEXT, Field.SPEAKER, Field.DATE)))

    @property
    def name(self) -> str:
        """The word as a name: whose "Ada's" is."""
        return self.word.removesuffix("'s")


@dataclass(frozen=True, slots=True)
class Phrase:
    """Words that the question quotes: as they were written, and their hashes in order."""

    text: str
    hashes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Question:
    """A question understood.

    Attributes:
        terms: The words that say what is meant, each once, in order; stop words only if there is nothing else. None
            at all if the question names a time and asks for whatever there was.
        words: Those of them that are looked up in texts: a speaker's own name says little there.
        names: Those of them that are names of speakers here.
        phrases: What it quotes.
        spans: The stretches of time it speaks of.
        asks_when: It asks for a time.
    """

    terms: tuple[Term, ...]
    words: tuple[Term, ...]
    names: tuple[Term, ...]
    phrases: tuple[Phrase, ...]
    spans: tuple[TimeSpan, ...]
    asks_when: bool

    @property
    def notes(self) -> tuple[str, ...]:
        """What was understood, one line each."""
        named = (f"speaker: {name.name}" for name in self.names)
        timed = (f"time: {span.text} ({span.kind})" for span in self.spans)
        quoted = (f"quoted: {phrase.text}" for phrase in self.phrases)
        return (*named, *timed, *quoted)


def understand(query: Query, readings: Sequence[Reading]) -> Question:
    """Read a question against the speakers of its spaces and the moment it is asked."""
    spans = tuple(find_times(query.text, query.now, query.offset))
    terms = () if spans and _asks_for_anything(query.text, spans) else _terms(query.text)
    entries = {term: _entries(term.speaker, readings) for term in terms if term.token not in _ROLES}
    return Question(
        terms=terms,
        words=tuple(term for term in terms if entries.get(term, 0) < SPEAKS),
        names=tuple(term for term, count in entries.items() if count),
        phrases=tuple(_phrases(query.text)),
        spans=spans,
        asks_when=_WHEN.search(query.text) is not None,
    )


def _terms(text: str) -> tuple[Term, ...]:
    spelled = list(dict(zip(tokenise(text), words(text), strict=True)).items())
    telling = [(token, word) for token, word in spelled if not is_stop(token)] or spelled
    return tuple(Term.of(word, token) for token, word in telling[-TERM_LIMIT:])


def _asks_for_anything(text: str, spans: Sequence[TimeSpan]) -> bool:
    for span in spans:
        text = text.replace(span.text, " ")
    return all(token in _ANYTHING or is_stop(token) for token in tokenise(text))


def _phrases(text: str) -> list[Phrase]:
    quoted = (next(filter(None, match.groups())) for match in _QUOTED.finditer(text))
    phrases = (Phrase(quote, tuple(hash_term(token) for token in tokenise(quote))) for quote in quoted)
    return [phrase for phrase in phrases if len(phrase.hashes) > 1]


def _entries(token: int, readings: Sequence[Reading]) -> int:
    return sum(len(reading.find(token)[0]) for reading in readings)
