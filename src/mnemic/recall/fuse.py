"""The third stage of recall: one score from all arms, calibrated over everything that can be seen.

Each arm's scores become z-scores over the scope (mean 0, deviation 1), so that an arm that tells little apart weighs
little, and are summed with the weights below: ours, rounded, the same for every kind of conversation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from mnemic.core.queries import Hit
from mnemic.index.columns import Column

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mnemic.recall.gather import Arms, Scores

CALIBRATED: Final = {"own": 0.2, "window": 0.6, "session": 0.4}
"""Weights of the z-scores of `gather.Arms`."""

MARKS: Final = {"speaker": 1.0, "phrase": 2.0, "time": 3.0, "mention": 1.0, "dated": 0.5}
"""What each match is worth, in the same unit: one standard deviation."""


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


def fuse(arms: Sequence[Arms], limit: int) -> list[Hit]:
    """The best `limit` entries that any arm speaks for, best first; of equals, the later one."""
    scales = {name: _Scale.of([arm.column(name) for arm in arms]) for name in CALIBRATED}
    hits: list[Hit] = []
    for arm in arms:
        touched = np.flatnonzero((arm.window > 0) | (arm.own > 0) | (arm.time > 0) | (arm.mention > 0))
        parts = {
            name: scales[name].calibrated(arm.column(name)[touched], weight) for name, weight in CALIBRATED.items()
        }
        parts |= {name: arm.column(name)[touched] * np.float32(weight) for name, weight in MARKS.items()}
        score = sum(parts.values(), np.zeros(len(touched), dtype=np.float32))
        best = _best(score, limit)
        vers = arm.reading.values(Column.VER, touched[best])
        for i, ver in zip(best.tolist(), vers.tolist(), strict=True):
            components = {name: float(part[i]) for name, part in parts.items() if part[i]}
            hits.append(
                Hit(space=arm.reading.space, ver=ver, doc=int(touched[i]), score=float(score[i]), components=components)
            )
    hits.sort(key=lambda hit: (-hit.score, -hit.ver, hit.doc))
    return hits[:limit]


def _best(score: Scores, limit: int) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    if len(score) > limit:
        chosen = np.argpartition(-score, limit)[:limit]
        return chosen[np.argsort(-score[chosen], kind="stable")]
    return np.argsort(-score, kind="stable")
