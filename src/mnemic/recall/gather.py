"""The second stage of recall: every arm scores every entry that can be seen, with statistics of these entries alone."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from mnemic.core.tokens import mention, spoken_days
from mnemic.index.reading import AFTER, BEFORE, REACH

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mnemic.core.timex import TimeSpan
    from mnemic.index.reading import Reading
    from mnemic.recall.understand import Question, Term

    Scores = NDArray[np.float32]

K1: Final = 1.5
B: Final = 0.6
"""BM25's saturation and length normalisation (Robertson and Zaragoza, 2009)."""

WORK: Final = 20_000
"""Most places looked at for one question: the common words of a large space are passed over, the rarest never."""


PHRASE_PLACES: Final = 1_000
"""Most entries that are read for one quoted phrase: those with its rarest word."""


@dataclass(frozen=True, slots=True)
class Arms:
    """What each arm makes of one reading's entries, by place.

    Attributes:
        own: BM25 of the entry's words, and of the question's words in its date.
        window: BM25 of the entry with its neighbours in the session.
        session: BM25 of its whole session.
        phrase: How many phrases that the question quotes stand in the entry, word by word.
        speaker: 1 where the entry's speaker is named in the question.
        time: 1 where it was said in a stretch of time that the question names.
        mention: 1 where it speaks of such a stretch.
        dated: 1 where it speaks of any time, if the question asks when.
    """

    reading: Reading
    own: Scores
    window: Scores
    session: Scores
    phrase: Scores
    speaker: Scores
    time: Scores
    mention: Scores
    dated: Scores

    def column(self, name: str) -> Scores:
        """One arm's scores."""
        scores: Scores = getattr(self, name)
        return scores


def gather(question: Question, readings: Sequence[Reading], offset: int) -> list[Arms]:
    """Score every entry of every reading; statistics are summed over the readings, and over nothing else."""
    if not readings:
        return []
    arms = [_blank(reading) for reading in readings]
    scope = _Scope.of(readings)
    sessions = [np.zeros(reading.group_count, dtype=np.float32) for reading in readings]
    for word in _words(question, readings):
        _add_word(word, arms, sessions, scope)
    for term in question.terms:
        _add_dates(term, arms, scope)
    for arm, scores in zip(arms, sessions, strict=True):
        scores[0] = 0
        arm.session[:] = scores[arm.reading.groups]
        for name in question.names:
            arm.speaker[arm.reading.find(name.speaker)[0]] = 1
        _add_phrases(question, arm)
        _add_times(question, arm, offset)
    return arms


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


def _blank(reading: Reading) -> Arms:
    return Arms(reading, *(np.zeros(reading.size, dtype=np.float32) for _ in range(8)))


Found = tuple["NDArray[np.intp]", "Scores"]


def _words(question: Question, readings: Sequence[Reading]) -> list[list[Found]]:
    """Where each of a question's words stands in each reading, the rarest word first, as far as `WORK` goes."""
    words = [[reading.find(term.text) for reading in readings] for term in question.words]
    words.sort(key=_holders)
    spent = np.cumsum([_holders(word) for word in words])
    return words[: max(1, int(np.searchsorted(spent, WORK, "right")))]


def _holders(word: list[Found]) -> int:
    return sum(len(places) for places, _ in word)


def _add_word(word: list[Found], arms: Sequence[Arms], sessions: Sequence[Scores], scope: _Scope) -> None:
    weight = _idf(_holders(word), scope.entries)
    grouped = [_by_group(arm.reading, *found) for arm, found in zip(arms, word, strict=True)]
    session_weight = _idf(sum(int(np.count_nonzero(counts[1:])) for counts in grouped), scope.sessions)
    for arm, scores, (places, counts), groups in zip(arms, sessions, word, grouped, strict=True):
        if not len(places):
            continue
        reading = arm.reading
        arm.own[places] += weight * _saturate(counts, reading.lengths[places], scope.length)
        near, spread = _spread(reading, places, counts)
        arm.window[near] += weight * _saturate(spread, reading.window[near], scope.window)
        held = np.flatnonzero(groups)
        scores[held] += session_weight * _saturate(groups[held], reading.group_lengths[held], scope.session_length)


def _spread(reading: Reading, places: NDArray[np.intp], counts: Scores) -> tuple[NDArray[np.intp], Scores]:
    """A word's counts with those of the neighbours: the places it reaches, and how much of it does."""
    total = np.zeros(reading.size + REACH, dtype=np.float32)
    total[places] = counts
    for distance, before, after in zip((1, 2), BEFORE, AFTER, strict=True):
        joined = reading.joined[distance]
        total[places + distance] += np.float32(before) * counts * joined[places]
        total[places - distance] += np.float32(after) * counts * joined[places - distance]
    near = np.flatnonzero(total > 0)
    return near, total[near]


def _by_group(reading: Reading, places: NDArray[np.intp], counts: Scores) -> Scores:
    return np.bincount(reading.groups[places], counts, minlength=reading.group_count).astype(np.float32)


def _add_dates(term: Term, arms: Sequence[Arms], scope: _Scope) -> None:
    token = term.date
    found = [arm.reading.find(token)[0] for arm in arms]
    weight = _idf(sum(len(places) for places in found), scope.entries)
    for arm, places in zip(arms, found, strict=True):
        arm.own[places] += weight


def _add_phrases(question: Question, arm: Arms) -> None:
    for phrase in question.phrases:
        holders = min((arm.reading.find(token)[0] for token in phrase.hashes), key=len)
        for place in holders[:PHRASE_PLACES].tolist():
            if arm.reading.says(place, phrase.hashes):
                arm.phrase[place] += 1


def _add_times(question: Question, arm: Arms, offset: int) -> None:
    if question.asks_when:
        arm.dated[arm.reading.find(mention(""))[0]] = 1
    if not question.spans:
        return
    said = arm.reading.said
    for span in question.spans:
        arm.time[(span.start <= said) & (said < span.end)] = 1
        for when in _called(span, offset):
            arm.mention[arm.reading.find(mention(when))[0]] = 1


def _called(span: TimeSpan, offset: int) -> set[str]:
    """What words that speak of some of a span's time may have called it: its days and its months."""
    days = spoken_days(span, offset)
    return {*days, *(day[:7] for day in days)}


def _idf(holders: int, entries: int) -> np.float32:
    return np.float32(math.log(1 + (entries - holders + 0.5) / (holders + 0.5)))


def _saturate(counts: Scores, lengths: Scores, average: float) -> Scores:
    slack = np.float32(K1 * (1 - B)) + np.float32(K1 * B / average) * lengths
    return (counts * np.float32(K1 + 1) / (counts + slack)).astype(np.float32, copy=False)
