"""The first stage of recall: what a question asks for, in words, phrases, names and stretches of time."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from mnemic.core.clock import moment
from mnemic.core.timex import TimeSpan, find_times
from mnemic.core.tokens import (
    Field,
    hash_in_fields,
    hash_term,
    local_day,
    local_time,
    spelled_tokens,
    stop_tokens,
    tokenise,
)
from mnemic.recall.recall_weights import WEIGHTS, RecallWeights

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
_SEVERAL: Final = re.compile(
    r"\b(?:what|which)(?: \w+){0,2} (?!was\b|is\b|has\b|does\b)\w+s\b|\bhow many\b"
    r"|\b(?:all|names|kinds?|types?|sorts?)\b"
    r"|哪些|哪几|多少|几[个個次种種家本部位]|所有|都有",
    re.IGNORECASE,
)
SPEAKS_OF_SELF: Final = re.compile(r"\b(?:i|me|my|mine|we|us|our)\b|[我咱]", re.IGNORECASE)
SPEAKS_TO_OTHER: Final = re.compile(r"\byou(?:rs?)?\b|[你您]", re.IGNORECASE)
_QUOTED: Final = re.compile(r"\"([^\"]+)\"|“([^“”]+)”|「([^「」]+)」|『([^『』]+)』|《([^《》]+)》")
_OWN_VERBS: Final = (
    *(("does", "do"), ("do", "do"), ("did", "did"), ("is", "am"), ("was", "was"), ("has", "have"), ("had", "had")),
    *((verb, verb) for verb in ("can", "could", "will", "would", "should")),
)
"""Verbs before whom a question is about, and before "I"."""

UNSPACED: Final = "\u0e00"
"""Scripts before this one, among them the Latin, put spaces between words."""

FIRST_PERSON: Final = tuple(map(hash_term, tokenise("i i'm i've i'd i'll me my mine we we're we've us our 我 咱")))
SECOND_PERSON: Final = tuple(map(hash_term, tokenise("you you're you've you'd you'll your yours 你 您")))
"""Text tokens by which an entry speaks of whoever says it, and of whoever it is said to."""

ASSISTANTS: Final = tuple(tokenise("assistant ai bot"))
"""What a speaker is called who is no person."""
ASSISTANT_TOKENS: Final = tuple(hash_term(name, Field.SPEAKER) for name in ASSISTANTS)
"""The tokens of such speakers."""

_DAY: Final = 86_400_000_000
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
        return cls(word, token, *hash_in_fields(token, Field.TEXT, Field.SPEAKER, Field.DATE))

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
    """A question with what was understood of it: words, names, phrases, times.

    Attributes:
        query: What was asked, of which spaces, and by which stages it is to be answered.
        terms: The words that say what is meant, each once, in order; stop words only if there is nothing else. Words
            that name a time are not among them, nor words for anything at all beside a time or a name.
        timed: The words that name a time: looked up in dates, to tell apart what other words have found.
        words: Those of the terms that are looked up in texts: a speaker's own name says little there, and
            nothing at all beside a time.
        names: Those of them that are names of speakers here.
        phrases: What it quotes.
        spans: The stretches of time it speaks of.
        asks_when: It asks for a time.
        asks_several: It asks for things of which there may be many, each said at another time.
        asks_own: Who asks speaks of themselves, and not of whoever is asked.
        weights: By which what is found for it is weighed.
    """

    query: Query
    terms: tuple[Term, ...]
    timed: tuple[Term, ...]
    words: tuple[Term, ...]
    names: tuple[Term, ...]
    phrases: tuple[Phrase, ...]
    spans: tuple[TimeSpan, ...]
    asks_when: bool
    asks_several: bool
    asks_own: bool
    weights: RecallWeights = WEIGHTS

    @property
    def others(self) -> tuple[Term, ...]:
        """The terms that are not names of speakers."""
        return tuple(term for term in self.terms if term not in self.names)

    @property
    def of_a_time(self) -> bool:
        """Whether it asks for whatever was said in a stretch of time, or by somebody then."""
        return bool(self.spans) and not self.others

    def day(self, said: int) -> str:
        """The day of a moment, in microseconds, on the clock of whoever asks."""
        return local_day(said, self.query.offset).isoformat()

    @property
    def called(self) -> list[str]:
        """The names as a person would write them."""
        return rejoined([name.name for name in self.names])

    @property
    def notes(self) -> tuple[str, ...]:
        """What was understood, one line each."""
        named = (f"speaker: {name}" for name in self.called)
        timed = (f'time: "{span.text}" = {_dates(span, self.query.offset)}' for span in self.spans)
        quoted = (f"quoted: {phrase.text}" for phrase in self.phrases)
        return (*named, *timed, *quoted)


def understand(query: Query, readings: Sequence[Reading]) -> Question:
    """Read a question against the speakers of its spaces and the moment it is asked."""
    spans = tuple(find_times(query.text, query.now, query.offset))
    text = _without(query.text, [span.text for span in spans])
    terms = _terms(text, telling_only=bool(spans))
    entries = {term: _entries(term.speaker, readings) for term in _callable(terms)}
    names = tuple(term for term, count in entries.items() if count)
    if unspaced := rejoined([name.word for name in names if name.word > UNSPACED]):
        terms = (*names, *_terms(_without(text, unspaced), telling_only=True))
    if (spans or names) and all(term in names or term.token in _ANYTHING for term in terms):
        terms = names
    return Question(
        query=query,
        terms=terms,
        timed=_terms(" ".join(span.text for span in spans)) if terms else (),
        words=() if spans and terms == names else tuple(t for t in terms if entries.get(t, 0) < SPEAKS),
        names=names,
        phrases=tuple(_phrases(query.text)),
        spans=spans,
        asks_when=_WHEN.search(query.text) is not None,
        asks_several=_SEVERAL.search(query.text) is not None,
        asks_own=SPEAKS_OF_SELF.search(query.text) is not None and SPEAKS_TO_OTHER.search(query.text) is None,
    )


def asked_of_self(question: str, user: str) -> str:
    """A question about its asker by name, as they ask it of themselves: "Where does Rosa live?" of Rosa."""
    if not user or user.casefold() not in question.casefold():
        return question
    name = re.escape(user)
    for verb, own in _OWN_VERBS:
        question = re.sub(rf"\b{verb} {name}\b(?!['’]s| and\b| or\b)", f"{own} I", question, flags=re.IGNORECASE)
    question = re.sub(rf"\b{name}['’]s\b", "my", question, flags=re.IGNORECASE)
    return re.sub(rf"^{name}(?=[\u4e00-\u9fff])(?![和跟与、])", "我", question)


def spelled(question: Question) -> Question:
    """Read a question that is nothing but a time as words instead: "1984" may be a book."""
    text = question.query.text
    terms = _terms(text) if any(text.strip(" ?!.？！。") == span.text for span in question.spans) else ()
    return replace(question, terms=terms, timed=(), words=terms, spans=())


def rejoined(words: list[str]) -> list[str]:
    """Words as a person would list them: the pairs of an unspaced script joined again, without their characters."""
    joined: list[str] = []
    for word in words:
        if joined and len(word) <= 2 and word > UNSPACED and word[0] in joined[-1][-2:]:
            joined[-1] += word[1:] if joined[-1][-1] == word[0] else ""
        else:
            joined.append(word)
    return joined


def rejoined_each(lists: Sequence[list[str]]) -> list[list[str]]:
    """Rejoin the words of each list."""
    return [rejoined(words) for words in lists]


def _terms(text: str, *, telling_only: bool = False) -> tuple[Term, ...]:
    every, stops = list(dict(spelled_tokens(text)).items()), stop_tokens()
    telling = [(token, word) for token, word in every if token not in stops]
    if not telling and not telling_only:
        telling = every
    return tuple(Term.of(word, token) for token, word in telling[-TERM_LIMIT:])


def _without(text: str, said: Sequence[str]) -> str:
    """A text without some of what it says, given in order of place."""
    kept: list[str] = []
    at = 0
    for stretch in said:
        if (begins := text.find(stretch, at)) >= 0:
            kept.append(text[at:begins])
            at = begins + len(stretch)
    return " ".join((*kept, text[at:]))


def _callable(terms: Sequence[Term]) -> list[Term]:
    """The words that may name somebody: no roles, and of a run of an unspaced script the pairs, not the characters.

    Two people may share a character of their names.
    """
    paired = {character for term in terms if len(term.word) == 2 and term.word > UNSPACED for character in term.word}
    return [term for term in terms if term.token not in _ROLES and term.word not in paired]


def _dates(span: TimeSpan, offset: int) -> str:
    """The days of a stretch of time, as they are called where it is asked; its hours if it is less than a day."""
    first, last = (local_time(moment(us), offset) for us in (span.start, span.end - 1))
    if span.end - span.start < _DAY:
        until = local_time(moment(span.end), offset)
        return f"{first:%Y-%m-%d %H:%M} to {until:%H:%M}"
    return f"{first.date()}" if first.date() == last.date() else f"{first.date()} to {last.date()}"


def _phrases(text: str) -> list[Phrase]:
    quoted = (next(filter(None, match.groups())) for match in _QUOTED.finditer(text))
    phrases = (Phrase(quote, tuple(hash_term(token) for token in tokenise(quote))) for quote in quoted)
    return [phrase for phrase in phrases if len(phrase.hashes) > 1]


def _entries(token: int, readings: Sequence[Reading]) -> int:
    return sum(len(reading.find(token)[0]) for reading in readings)
