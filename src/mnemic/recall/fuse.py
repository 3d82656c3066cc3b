"""The third stage of recall: one score from all arms, calibrated over everything that can be seen.

Each arm's scores become z-scores over the scope (mean 0, deviation 1), so that an arm that tells little apart weighs
little, and are summed with the weights below: ours, rounded, the same for every kind of conversation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

from mnemic.core.queries import Hit
from mnemic.index.columns import Column

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mnemic.index.reading import Reading
    from mnemic.recall.gather import Arms, Scores

CALIBRATED: Final = {"own": 0.2, "window": 0.6, "session": 0.4}
"""Weights of the z-scores of `gather.Arms`."""

MARKS: Final = {"speaker": 1.0, "phrase": 2.0, "time": 3.0, "mention": 1.0, "dated": 0.5}
"""What each match is worth, in the same unit: one standard deviation."""

_STEP: Final = 64
"""Entries sorted first; four times as many whenever these were not enough."""


@dataclass(frozen=True, slots=True)
class Scored:
    """The candidates of one reading.

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
    """Candidates in order: worked out only as far as somebody reads."""

    scored: tuple[Scored, ...]

    def __len__(self) -> int:
        return sum(len(one.places) for one in self.scored)

    @property
    def items(self) -> int:
        """How many items the candidates are parts of."""
        return sum(len(np.unique(one.reading.values(Column.VER, one.places))) for one in self.scored)

    def hits(self) -> Iterator[Hit]:
        """Every item once, by the best of its parts; best first, and of equals the later one."""
        if not self.scored:
            return
        starts = np.cumsum([0, *(len(one.places) for one in self.scored)])
        seen: set[tuple[int, int]] = set()
        for block in _descending(*(np.concatenate(keys) for keys in zip(*map(_keys, self.scored), strict=True))):
            owners = np.searchsorted(starts, block, "right") - 1
            for owner, at in zip(owners.tolist(), (block - starts[owners]).tolist(), strict=True):
                one = self.scored[owner]
                ver = one.reading.value(Column.VER, int(one.places[at]))
                if (owner, ver) not in seen:
                    seen.add((owner, ver))
                    yield one.hit(at, ver)


def fuse(arms: Sequence[Arms]) -> Ranking:
    """Every entry that any arm speaks for."""
    scales = {name: _Scale.of([arm.column(name) for arm in arms]) for name in CALIBRATED}
    return Ranking(tuple(_scored(arm, scales) for arm in arms))


def latest(readings: Sequence[Reading]) -> Ranking:
    """Every entry, the one said last first."""
    return Ranking(tuple(_unscored(reading) for reading in readings))


@dataclass(frozen=True, slots=True)
class _Scale:
    """An arm's mean and deviation over the scope."""

    mean: float
    deviation: float

    @classmethod
    def of(cls, columns: Sequence[Scores]) -> _Scale:
        count = max(1, sum(len(column) for column in columns))
        mean = sum(float(column.sum(dtype=np.float64)) for column in columns) / count
        square = sum(float(np.dot(column, column)) for column in columns) / count
        return cls(mean, max(square - mean * mean, 0.0) ** 0.5)

    def calibrated(self, column: Scores, weight: float) -> Scores:
        """Weighted z-scores; zeros for an arm that tells nothing apart."""
        if self.deviation < 1e-6:
            return np.zeros_like(column)
        return (column - np.float32(self.mean)) * np.float32(weight / self.deviation)


def _scored(arm: Arms, scales: Mapping[str, _Scale]) -> Scored:
    touched = np.flatnonzero(arm.touched)
    parts = {name: scales[name].calibrated(arm.column(name)[touched], weight) for name, weight in CALIBRATED.items()}
    for name, weight in MARKS.items():
        if name in arm.marks:
            parts[name] = arm.marks[name][touched] * np.float32(weight)
    score = np.zeros(len(touched), dtype=np.float32)
    for part in parts.values():
        score += part
    return Scored(arm.reading, touched, score, arm.reading.values(Column.VER, touched), parts)


def _unscored(reading: Reading) -> Scored:
    places = np.arange(reading.size)
    return Scored(reading, places, np.zeros(reading.size, np.float32), reading.said, reasons=("one of the latest",))


def _keys(one: Scored) -> tuple[Scores, NDArray[np.int64]]:
    return one.score, one.late


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
