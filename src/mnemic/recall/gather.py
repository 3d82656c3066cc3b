"""The second stage of recall: every arm scores every entry that can be seen, with statistics of these entries alone."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from mnemic.core.queries import Stage
from mnemic.core.tokens import mention, spoken_days
from mnemic.index.reading import AFTER, BEFORE, REACH
from mnemic.recall.dense import best_of_session, nearness, with_neighbours
from mnemic.recall.understand import ASSISTANT_TOKENS, FIRST_PERSON, SECOND_PERSON

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

    from numpy.typing import NDArray

    from mnemic.core.queries import Query
    from mnemic.core.timex import TimeSpan
    from mnemic.index.reading import Reading, TokenPostings
    from mnemic.recall.dense import Nearness
    from mnemic.recall.understand import Question, Term

    Scores = NDArray[np.float32]

K1: Final = 1.5
B: Final = 0.6
"""BM25's saturation and length normalisation (Robertson and Zaragoza, 2009)."""

WORK: Final = 20_000
"""Most places looked at for one question: the common words of a large space are passed over, the rarest never."""


PHRASE_PLACES: Final = 1_000
"""Most entries that are read for one quoted phrase: those with its rarest word."""

NEAR: Final = 1.0
"""Deviations of nearness in meaning from which that alone makes a candidate.

In a scope of a few entries nothing can be so far from the mean: there it is half of what the nearest has.
"""


@dataclass(frozen=True, slots=True)
class Arms:
    """The scores that each arm gives the entries of one reading, by place.

    Attributes:
        own: BM25 of the entry's words, and of the question's words in its date.
        window: BM25 of the entry with its neighbours in the session.
        session: BM25 of its whole session.
        of_several: The question asks for several things: `session` and `gist` are worth less to it than to others.
        pending: Entries that have no vector yet, though the question has.
        near: The nearness from which meaning alone makes a candidate.
        marks: What else speaks for an entry, by name; an arm that finds nothing to look for is left out.
            dense: How near its meaning is, with its neighbours', in deviations.
            gist: How near the nearest entry of its session is.
            hub: How near it is to everything, whatever is asked.
            speaker: 1 where the entry's speaker is named in the question.
            self: 1 where such a speaker says "I": the name stands in the question, not in the answer.
            addressed: 1 where somebody else says "you", most likely to ask whoever is named.
            user: 1 where not the assistant speaks, if the question is in the first person.
            phrase: How many phrases that the question quotes stand in the entry, word by word.
            time: 1 where it was said in a stretch of time that the question names.
            mention: 1 where it speaks of such a stretch.
            dated: 1 where it speaks of any time, if the question asks when.
    """

    reading: Reading
    own: Scores
    window: Scores
    session: Scores
    marks: dict[str, Scores]
    of_several: bool = False
    pending: int = 0
    near: float = NEAR

    @property
    def said(self) -> bool:
        """Whether any word, date or time of the question bears on any entry."""
        timely = any(self.marks[name].any() for name in ("time", "mention") if name in self.marks)
        return timely or bool(self.own.any() or self.window.any())

    @property
    def meant(self) -> bool:
        """Whether any entry is near in meaning."""
        return "dense" in self.marks and bool((self.marks["dense"] >= self.near).any())

    @property
    def touched(self) -> NDArray[np.bool_]:
        """Which entries are candidates: by a word, a time or meaning; session, speaker or date alone are not enough."""
        touched: NDArray[np.bool_] = (self.window > 0) | (self.own > 0)
        for name in ("time", "mention"):
            if name in self.marks:
                touched |= self.marks[name] > 0
        if "dense" in self.marks:
            touched |= self.marks["dense"] >= self.near
        return touched

    def mark(self, name: str) -> Scores:
        """The array of an arm in `marks`, made of zeros if it is not there yet; the caller fills it in."""
        if name not in self.marks:
            self.marks[name] = np.zeros(self.reading.size, dtype=np.float32)
        return self.marks[name]


def gather(question: Question, readings: Sequence[Reading]) -> list[Arms]:
    """Score every entry of every reading by every arm; document frequencies are those of these readings alone."""
    if not readings:
        return []
    scope = _Scope.of(readings)
    arms = _add_words(_words(question, readings), readings, scope)
    for term in question.terms:
        _add_dates(term, arms, scope, found_only=False)
    arms = _with_meaning(arms, question.query)
    for arm in arms:
        _add_speakers(question, arm)
        _add_phrases(question, arm)
        _add_times(question, arm)
    for term in question.timed:
        _add_dates(term, arms, scope, found_only=True)
    return [_tuned(arm, question) for arm in arms]


@dataclass(frozen=True, slots=True)
class _Scope:
    """Statistics of the read set: of all the question's spaces, and of nothing that it cannot see."""

    entries: int
    length: float
    window: float
    sessions: int
    session_length: float

    @classmethod
    def of(cls, readings: Sequence[Reading]) -> _Scope:
        entries = sum(reading.size for reading in readings)
        lengths, windows, sessions, session_lengths = (
            sum(column) for column in zip(*(r.totals for r in readings), strict=True)
        )
        return cls(
            entries=entries,
            length=max(1.0, lengths / max(1, entries)),
            window=max(1.0, windows / max(1, entries)),
            sessions=int(sessions),
            session_length=max(1.0, session_lengths / max(1, sessions)),
        )


def _words(question: Question, readings: Sequence[Reading]) -> list[list[TokenPostings]]:
    """Where each of a question's words stands in each reading, the rarest word first, as far as `WORK` goes."""
    words = [[reading.find(term.text) for reading in readings] for term in question.words]
    words.sort(key=_holders)
    postings = np.cumsum([_holders(word) for word in words])
    return words[: max(1, int(np.searchsorted(postings, WORK, "right")))]


def _holders(word: list[TokenPostings]) -> int:
    return sum(len(places) for places, _ in word)


@dataclass(frozen=True, slots=True)
class _Held:
    """Where all words of a question stand in one reading, end to end: the word, the place, and how often."""

    words: NDArray[np.intp]
    places: NDArray[np.intp]
    counts: Scores

    @classmethod
    def of(cls, postings: Sequence[TokenPostings]) -> _Held:
        words = np.repeat(np.arange(len(postings)), [len(places) for places, _ in postings])
        if not len(words):
            return cls(words, words, np.empty(0, np.float32))
        return cls(words, np.concatenate([places for places, _ in postings]), np.concatenate([c for _, c in postings]))


def _add_words(words: Sequence[list[TokenPostings]], readings: Sequence[Reading], scope: _Scope) -> list[Arms]:
    """The arms that score by words: all words at once, because in a small space a call costs more than its work."""
    weights = _idfs([_holders(word) for word in words], scope.entries)
    held = [_Held.of([word[i] for word in words]) for i in range(len(readings))]
    grouped = [_by_group(reading, words_held, len(words)) for reading, words_held in zip(readings, held, strict=True)]
    in_groups = sum((np.count_nonzero(groups, axis=1) for groups in grouped), np.zeros(len(words), np.int64))
    session_weights = _idfs(in_groups.tolist(), scope.sessions)
    return [
        Arms(
            reading,
            *_own_and_window(reading, words_held, weights, scope),
            _session(reading, groups, session_weights, scope),
            {},
        )
        for reading, words_held, groups in zip(readings, held, grouped, strict=True)
    ]


def _own_and_window(reading: Reading, held: _Held, weights: Scores, scope: _Scope) -> tuple[Scores, Scores]:
    own = weights[held.words] * _saturate(held.counts, reading.lengths[held.places], scope.length)
    words, places, spread = _spread(reading, held, len(weights))
    window = weights[words] * _saturate(spread, reading.window[places], scope.window)
    return _summed(held.places, own, reading.size), _summed(places, window, reading.size)


def _session(reading: Reading, groups: Scores, weights: Scores, scope: _Scope) -> Scores:
    words, numbers = np.nonzero(groups > 0)
    scores = weights[words] * _saturate(groups[words, numbers], reading.group_lengths[numbers], scope.session_length)
    return _summed(numbers, scores, reading.group_count)[reading.groups]


def _spread(reading: Reading, held: _Held, words: int) -> tuple[NDArray[np.intp], NDArray[np.intp], Scores]:
    """Words' counts with those of the neighbours: each word, the places it reaches, and how much of it does."""
    width = reading.size + REACH
    total = np.zeros(words * width, dtype=np.float32)
    at = held.words * width + held.places
    total[at] = held.counts
    for distance, before, after in zip((1, 2), BEFORE, AFTER, strict=True):
        joined = reading.joined[distance]
        total[at + distance] += np.float32(before) * held.counts * joined[held.places]
        total[at - distance] += np.float32(after) * held.counts * joined[held.places - distance]
    reached = np.flatnonzero(total > 0)  # five times as fast as asking the counts themselves
    rows = reached // width
    return rows, reached - rows * width, total[reached]


def _by_group(reading: Reading, held: _Held, words: int) -> Scores:
    """How often each word stands in each session; those of no session count for nothing."""
    width = reading.group_count
    at = held.words * width + reading.groups[held.places]
    groups = np.bincount(at, held.counts, minlength=words * width).astype(np.float32).reshape(words, width)
    groups[:, 0] = 0
    return groups


def _summed(at: NDArray[np.intp], scores: Scores, size: int) -> Scores:
    return np.bincount(at, scores, minlength=size).astype(np.float32)


def _add_dates(term: Term, arms: Sequence[Arms], scope: _Scope, *, found_only: bool) -> None:
    """Add to what was said on a day called so; with `found_only`, if it is there for another reason."""
    token = term.date
    dated = [arm.reading.find(token)[0] for arm in arms]
    weight = _idf(sum(len(places) for places in dated), scope.entries)
    for arm, places in zip(arms, dated, strict=True):
        if len(places):
            arm.own[places[arm.touched[places]] if found_only else places] += weight


def _with_meaning(arms: list[Arms], query: Query) -> list[Arms]:
    """The same arms with nearness in meaning, if there is a vector to compare."""
    if Stage.DENSE in query.without:
        return arms
    if not query.vectors:
        return [replace(arm, pending=arm.reading.size) for arm in arms] if query.unfilled else arms
    by_meaning = nearness(query, [arm.reading for arm in arms])
    for arm, near in zip(arms, by_meaning, strict=True):
        if near.known:
            _add_nearness(arm, near, query.without)
    nearest = max((float(arm.marks["dense"].max()) for arm in arms if "dense" in arm.marks), default=0.0)
    least = min(NEAR, nearest / 2) if nearest > 0 else NEAR
    return [replace(arm, pending=near.pending, near=least) for arm, near in zip(arms, by_meaning, strict=True)]


def _add_nearness(arm: Arms, near: Nearness, without: Container[Stage]) -> None:
    beside = Stage.NEIGHBOURS not in without
    arm.marks["dense"] = with_neighbours(near.own, arm.reading) if beside else near.own
    if Stage.HUBS not in without:
        arm.marks["hub"] = near.hub
    if Stage.SESSION not in without:
        arm.marks["gist"] = best_of_session(near.own, arm.reading)


def _tuned(arm: Arms, question: Question) -> Arms:
    """The arms without those of stages that are left out; one session says less where several are asked about."""
    without = question.query.without
    nothing = np.zeros(arm.reading.size, np.float32)
    if Stage.NEIGHBOURS in without:
        arm = replace(arm, window=nothing)
    if Stage.SESSION in without:
        return replace(arm, session=nothing)
    if question.asks_several and Stage.ROUTING not in without:
        return replace(arm, of_several=True)
    return arm


def _add_speakers(question: Question, arm: Arms) -> None:
    """Who said it: one who is named, and then says "I" and is told "you"; or not the assistant."""
    without, reading = question.query.without, arm.reading
    if Stage.SPEAKER in without:
        return
    for name in question.names:
        arm.mark("speaker")[reading.find(name.speaker)[0]] = 1
    if Stage.PRONOUNS in without:
        return
    if question.names:
        arm.marks["self"] = arm.marks["speaker"] * reading.holding_any(FIRST_PERSON)
        arm.marks["addressed"] = (1 - arm.marks["speaker"]) * reading.holding_any(SECOND_PERSON)
    elif question.asks_own and (assistants := reading.holding_any(ASSISTANT_TOKENS)).any():
        arm.marks["user"] = np.logical_not(assistants).astype(np.float32)


def _add_phrases(question: Question, arm: Arms) -> None:
    for phrase in question.phrases:
        holders = min((arm.reading.find(token)[0] for token in phrase.hashes), key=len)
        for place in holders[:PHRASE_PLACES].tolist():
            if arm.reading.says(place, phrase.hashes):
                arm.mark("phrase")[place] += 1


def _add_times(question: Question, arm: Arms) -> None:
    if Stage.TIME in question.query.without:
        return
    if question.asks_when:
        arm.mark("dated")[arm.reading.find(mention(""))[0]] = 1
    if not question.spans:
        return
    said = arm.reading.said
    for span in question.spans:
        arm.mark("time")[(span.start <= said) & (said < span.end)] = 1
        for token in mentions(span, question.query.offset):
            arm.mark("mention")[arm.reading.find(token)[0]] = 1


def mentions(span: TimeSpan, offset: int) -> list[int]:
    """The tokens of words that speak of some of a span's time: of its days and of its months."""
    days = spoken_days(span, offset)
    return [mention(when) for when in dict.fromkeys((*days, *(day[:7] for day in days)))]


def _idf(holders: int, entries: int) -> np.float32:
    return np.float32(math.log(1 + (entries - holders + 0.5) / (holders + 0.5)))


def _idfs(holders: Sequence[int], entries: int) -> Scores:
    return np.array([_idf(count, entries) for count in holders], dtype=np.float32)


def _saturate(counts: Scores, lengths: Scores, average: float) -> Scores:
    slack = np.float32(K1 * (1 - B)) + np.float32(K1 * B / average) * lengths
    return (counts * np.float32(K1 + 1) / (counts + slack)).astype(np.float32, copy=False)
