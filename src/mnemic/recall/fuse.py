"""The third stage of recall: one score from all arms, calibrated over everything that can be seen; repeats left out.

Each arm's scores are measured in its own deviation over the scope: of words from zero up, so that a word adds to a
score and its absence takes nothing away; of meaning from the mean, where an entry without a vector stands. They are
summed with the numbers of `recall_weights`. A few entries say little about an arm's deviation: it starts from one that
a small space is fair with. Of what says the same the best is chosen.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeVar

import numpy as np

from mnemic.core.queries import Hit
from mnemic.core.tokens import Field
from mnemic.index.columns import FIELD_SHIFT, Column
from mnemic.recall.recall_weights import WEIGHTS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mnemic.index.reading import Reading
    from mnemic.recall.gather import Arms, Scores
    from mnemic.recall.recall_weights import RecallWeights
    from mnemic.recall.understand import Term

T = TypeVar("T")

OF_SESSION: Final = frozenset({"session", "gist"})
"""Arms that speak for all entries of a session alike."""

SLIGHT: Final = 0.1
"""What is left of a mention that nothing else speaks beside: a month alone may be of another year."""

PRIOR: Final = 0.25
"""The deviation that is taken for granted, as if `PRIOR_ENTRIES` had shown it."""

PRIOR_ENTRIES: Final = 8.0

_NOT_BESIDE: Final = frozenset({"mention", "dated", "session", "gist", "hub", "addressed", "user"})
"""What says nothing of an entry by itself."""

_STEP: Final = 64
"""Entries sorted first; four times as many whenever these were not enough."""


_DATED: Final = np.uint64(Field.DATE) << FIELD_SHIFT
"""The first of the tokens that are dates or names."""

SAME: Final = 0.9
"""Share of their different words that two entries have in common to count as the same."""

SHORTEST: Final = 6
"""Entries of fewer different words are told apart only by being equal."""


@dataclass(frozen=True, slots=True)
class ScoredEntries:
    """The candidates of one reading with their scores, by position.

    Attributes:
        places: Where they lie.
        score: What each is ranked by.
        late: What decides between equals: the greater is the later one.
        components: What the scores are made of, by name.
        reasons: Why all of them are here.
    """

    reading: Reading
    places: NDArray[np.intp]
    score: Scores
    late: NDArray[np.int64]
    components: Mapping[str, Scores] = field(default_factory=dict)
    reasons: tuple[str, ...] = ()

    def hit(self, at: int, ver: int) -> Hit:
        """The candidate at a position, which is a part of version `ver`."""
        return Hit(
            space=self.reading.space,
            ver=ver,
            doc=int(self.places[at]),
            score=float(self.score[at]),
            components={name: value for name, part in self.components.items() if (value := float(part[at]))},
            reasons=self.reasons,
        )


@dataclass(frozen=True, slots=True)
class Ranking:
    """Candidates of all readings in order of score; sorted lazily, only as far as they are read."""

    scored: tuple[ScoredEntries, ...]

    def __len__(self) -> int:
        return sum(len(entries.places) for entries in self.scored)

    @property
    def items(self) -> int:
        """How many items the candidates are parts of."""
        return sum(len(np.unique(entries.reading.values(Column.VER, entries.places))) for entries in self.scored)

    def items_by(self, *components: str) -> int:
        """How many items have a part for which any of these components speaks."""
        count = 0
        for entries in self.scored:
            reached = [entries.components[name] > 0 for name in components if name in entries.components]
            places = entries.places[np.any(reached, axis=0)] if reached else entries.places[:0]
            count += len(np.unique(entries.reading.values(Column.VER, places)))
        return count

    def most(self, component: str) -> float:
        """The greatest that any candidate has of a component; 0 where none has it."""
        parts = [
            entries.components[component]
            for entries in self.scored
            if component in entries.components and len(entries.places)
        ]
        return max((float(part.max()) for part in parts), default=0.0)

    def hits(self) -> Iterator[Hit]:
        """Every item once, by the best of its parts; best first, and of equals the later one."""
        if not self.scored:
            return
        starts = np.cumsum([0, *(len(each.places) for each in self.scored)])
        seen: set[tuple[int, int]] = set()
        for block in _descending(*(np.concatenate(keys) for keys in zip(*map(_keys, self.scored), strict=True))):
            owners = np.searchsorted(starts, block, "right") - 1
            positions = block - starts[owners]
            vers = np.empty(len(block), dtype=np.int64)
            for owner, entries in enumerate(self.scored):
                mine = owners == owner
                vers[mine] = entries.reading.values(Column.VER, entries.places[positions[mine]])
            for owner, at, ver in zip(owners.tolist(), positions.tolist(), vers.tolist(), strict=True):
                if (owner, ver) not in seen:
                    seen.add((owner, ver))
                    yield self.scored[owner].hit(at, ver)


class Chosen:
    """The best hits without near-duplicates, best first; compared lazily, only as far as they are read.

    Each is compared with all that are kept, so what a budget will not hold is better not looked at.

    Args:
        limit: Most hits.
        twins: At most so many that say the same as a better one are passed over; then it ends.
    """

    def __init__(self, hits: Iterable[Hit], readings: Mapping[int, Reading], limit: int, twins: int) -> None:
        self._hits, self._readings = iter(hits), readings
        self._limit, self._most_twins = limit, twins
        self._kept: list[Hit] = []
        self._shown: list[frozenset[int]] = []
        self.looked = 0
        """How many hits were looked at so far."""

    def __iter__(self) -> Iterator[Hit]:
        place = 0
        while place < len(self._kept) or self._grow():
            yield self._kept[place]
            place += 1

    def __bool__(self) -> bool:
        return next(iter(self), None) is not None

    @property
    def kept(self) -> int:
        """How many hits were kept so far."""
        return len(self._kept)

    @property
    def twins(self) -> int:
        """How many hits were passed over as near-duplicates of a better one."""
        return self.looked - len(self._kept)

    def _grow(self) -> bool:
        """Find one more; whether there was one."""
        while len(self._kept) < self._limit and self.twins <= self._most_twins:
            hit = next(self._hits, None)
            if hit is None:
                return False
            self.looked += 1
            words = _words(self._readings[hit.space], hit.doc)
            if not any(says_same(words, other) for other in self._shown):
                self._kept.append(hit)
                self._shown.append(words)
                return True
        return False


def twin(hit: Hit, better: Iterable[Hit], readings: Mapping[int, Reading]) -> Hit | None:
    """The hit among `better` that says the same as `hit`."""
    words = _words(readings[hit.space], hit.doc)
    return next((other for other in better if says_same(words, _words(readings[other.space], other.doc))), None)


def _words(reading: Reading, place: int) -> frozenset[int]:
    """An entry's different words, its speaker among them, its dates and the names it is found by not."""
    stream = reading.stream(place)
    return frozenset(stream[stream < _DATED].tolist())


def says_same(words: frozenset[T], others: frozenset[T]) -> bool:
    """Whether two entries say the same, by their different words."""
    small, large = len(words), len(others)
    if small > large:
        small, large = large, small
    if small < SHORTEST:
        return words == others
    if small < SAME * large:
        return False
    both = len(words & others)
    return both >= SAME * (small + large - both)


def fuse(arms: Sequence[Arms], least: int = 0, weights: RecallWeights = WEIGHTS) -> Ranking:
    """Rank every entry that any arm scores, by the weighted sum of all arms.

    Args:
        least: Where fewer are candidates, all entries are ranked, those behind these: a small memory hides nothing.
    """
    scales = {name: _Scale.of([getattr(arm, name) for arm in arms]) for name in weights.by_words}
    candidates = sum(int(np.count_nonzero(arm.touched)) for arm in arms)
    scored = [_scored(arm, scales, weights, everything=0 < candidates < least) for arm in arms]
    return Ranking(tuple(scored))


def named(names: Sequence[Term], readings: Sequence[Reading]) -> Ranking:
    """Rank what the speakers of these names said, and what names them, latest first."""
    return Ranking(tuple(_of_names(names, reading) for reading in readings))


def latest(readings: Sequence[Reading]) -> Ranking:
    """Rank every entry by when it was said, latest first; documents and chunks only if there is nothing else."""
    short = [np.flatnonzero(~reading.lengthy) for reading in readings]
    if not any(len(places) for places in short):
        short = [np.arange(reading.size) for reading in readings]
    return Ranking(tuple(_unscored(reading, places) for reading, places in zip(readings, short, strict=True)))


@dataclass(frozen=True, slots=True)
class _Scale:
    """An arm's deviation over the scope."""

    deviation: float

    @classmethod
    def of(cls, columns: Sequence[Scores]) -> _Scale:
        count = max(1, sum(len(column) for column in columns))
        mean = sum(float(column.sum(dtype=np.float64)) for column in columns) / count
        square = sum(float(np.dot(column, column)) for column in columns) / count
        variance = count * max(square - mean * mean, 0.0) + PRIOR_ENTRIES * PRIOR * PRIOR
        return cls((variance / (count + PRIOR_ENTRIES)) ** 0.5)

    def calibrated(self, column: Scores, weight: float) -> Scores:
        """Weighted scores in deviations. Their mean stays in: it is the same for all entries, so it orders nothing."""
        return column * np.float32(weight / self.deviation)


def _scored(arm: Arms, scales: Mapping[str, _Scale], weights: RecallWeights, *, everything: bool) -> ScoredEntries:
    touched = np.arange(arm.reading.size) if everything else np.flatnonzero(arm.touched)
    of_arms = weights.beside_meaning if "dense" in arm.marks else weights.by_words
    parts = {name: scales[name].calibrated(getattr(arm, name)[touched], weight) for name, weight in of_arms.items()}
    for name, weight in weights.marks.items():
        if name in arm.marks:
            parts[name] = arm.marks[name][touched] * np.float32(weight)
    if arm.of_several:
        for name in OF_SESSION & parts.keys():
            parts[name] *= np.float32(weights.of_several)
    if "mention" in parts:
        parts["mention"] *= np.where(_alone(parts), np.float32(SLIGHT), np.float32(1))
    score = np.zeros(len(touched), dtype=np.float32)
    for part in parts.values():
        score += part
    if len(arm.reading.heads[0]):
        parts["head"] = _behind_chunks(arm.reading, touched, score) - score
        score = score + parts["head"]
    if everything:
        parts["beside"] = _behind(score, arm.touched)
        score = score + parts["beside"]
    return ScoredEntries(arm.reading, touched, score, arm.reading.values(Column.VER, touched), parts)


def _behind(score: Scores, touched: NDArray[np.bool_]) -> Scores:
    """What scores change by, so that the entries that are no candidates come behind those that are, in their order."""
    least = max(float(score[touched].min(initial=np.inf)), 1e-3) if touched.any() else 1.0
    squeezed = np.float32(least / 2) / (1 + np.exp(-score))
    behind: Scores = np.where(touched, np.float32(0), squeezed - score).astype(np.float32)
    return behind


def _alone(parts: Mapping[str, Scores]) -> NDArray[np.bool_]:
    """Where nothing speaks for an entry but that it mentions a time."""
    beside = [part > 0 for name, part in parts.items() if name not in _NOT_BESIDE]
    alone: NDArray[np.bool_] = ~np.any(np.stack(beside), axis=0)
    return alone


def _behind_chunks(reading: Reading, touched: NDArray[np.intp], score: Scores) -> Scores:
    """The scores with the head of each split document at most as high as its best chunk, which is later."""
    heads, ends = reading.heads
    every = np.zeros(reading.size + 1, dtype=np.float32)
    every[touched] = score
    best = np.maximum.reduceat(every, np.column_stack((heads + 1, ends)).ravel())[::2]
    every[heads] = np.where(best > 0, np.minimum(every[heads], best), every[heads])
    return every[touched]


def _of_names(names: Sequence[Term], reading: Reading) -> ScoredEntries:
    spoken = np.zeros(reading.size, dtype=np.float32)
    spoken_of = np.zeros(reading.size, dtype=np.float32)
    for name in names:
        spoken[reading.find(name.speaker)[0]] = 1
        spoken_of[reading.find(name.text)[0]] = 1
    spoken_of[spoken > 0] = 0
    places = np.flatnonzero(spoken + spoken_of)
    parts = {"speaker": spoken[places], "named": spoken_of[places]}
    return ScoredEntries(reading, places, np.ones(len(places), np.float32), reading.said[places], parts)


def _unscored(reading: Reading, places: NDArray[np.intp]) -> ScoredEntries:
    nothing = np.zeros(len(places), np.float32)
    return ScoredEntries(reading, places, nothing, reading.said[places], reasons=("one of the latest",))


def _keys(entries: ScoredEntries) -> tuple[Scores, NDArray[np.int64]]:
    return entries.score, entries.late


def _descending(score: Scores, late: NDArray[np.int64]) -> Iterator[NDArray[np.intp]]:
    """Positions in blocks: the highest score first, of equals the later, of these the first.

    The order does not depend on how far it is read.
    """
    rest = np.arange(len(score))
    step = _STEP
    while len(rest):
        ahead = _leading(score[rest], late[rest], step)
        block = rest[ahead]
        yield block[np.lexsort((-late[block], -score[block]))]
        rest = rest[~ahead]
        step *= 4


def _leading(score: Scores, late: NDArray[np.int64], count: int) -> NDArray[np.bool_]:
    """Which `count` come first, with all that equal the last of them; everybody if they are few."""
    if len(score) <= 2 * count:
        return np.ones(len(score), dtype=np.bool_)
    least = np.partition(score, -count)[-count]
    ahead: NDArray[np.bool_] = score > least
    level = np.flatnonzero(score == least)
    wanted = count - int(np.count_nonzero(ahead))
    ahead[level[late[level] >= np.partition(late[level], -wanted)[-wanted]]] = True
    return ahead
