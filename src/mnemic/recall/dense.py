"""The dense arm: how near each entry is to the question in meaning, calibrated over everything that can be seen.

Cosines of one embedder crowd in a narrow band that no two embedders, and no two questions, share, so only deviations
from the scope's mean are used, never a threshold on cosines. An entry without a vector stands at the mean: it gains
nothing and loses nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mnemic.core.queries import Query
    from mnemic.index.reading import Reading
    from mnemic.index.vectors import Similarity

    Scores = NDArray[np.float32]

BEFORE: Final = (0.5, 0.3)
AFTER: Final = (0.5, 0.0)
"""What the nearness one and two turns before, or after, counts in a turn's own."""

FEW: Final = 8.0
"""Entries that a scope needs before their deviation is taken for half of what it says."""


@dataclass(frozen=True, slots=True)
class Nearness:
    """The nearness of one reading's entries to a question, by place, in standard deviations.

    Attributes:
        own: Each entry by itself; 0 for one that no vector is known of.
        hub: How near each is to the mean of all, which makes it near to any question; 0 likewise.
        known: There is a vector to compare, here or elsewhere in the scope.
        pending: Entries that have no vector yet.
    """

    own: Scores
    hub: Scores
    known: bool
    pending: int


def nearness(query: Query, readings: Sequence[Reading]) -> list[Nearness]:
    """Compare the question's vectors with those of every entry, calibrated over all readings together."""
    own, hub = ([np.zeros(reading.size, np.float32) for reading in readings] for _ in range(2))
    missing = [np.ones(reading.size, np.bool_) for reading in readings]
    pending = [reading.size for reading in readings]
    for model, vector in query.vectors.items():
        similarities = [reading.similar(model, vector) for reading in readings]
        scale = _Scale.of(similarities, readings)
        for i, similarity in enumerate(similarities):
            if similarity is not None:
                new = missing[i][similarity.places]
                places = similarity.places[new]
                own[i][places] = scale.calibrated(similarity.scores[new])
                hub[i][places] = _calibrated(readings[i].centrality(model, places))
                missing[i][places] = False
                pending[i] = min(pending[i], similarity.pending)
    known = not all(everything.all() for everything in missing)
    return [Nearness(near, wide, known, count) for near, wide, count in zip(own, hub, pending, strict=True)]


def with_neighbours(own: Scores, reading: Reading) -> Scores:
    """Add to each entry's nearness that of the turns beside it, weighted by `BEFORE` and `AFTER`."""
    total = own.copy()
    for distance, before, after in zip((1, 2), BEFORE, AFTER, strict=True):
        joined = reading.joined[distance][: max(0, reading.size - distance)]
        total[distance:] += np.float32(before) * own[:-distance] * joined
        if after:
            total[:-distance] += np.float32(after) * own[distance:] * joined
    return total


def best_of_session(own: Scores, reading: Reading) -> Scores:
    """Give all entries of a session the nearness of its nearest, less the mean; one of no session keeps its own."""
    inside = reading.groups > 0
    if not inside.any():
        return own
    starts, sizes = reading.runs
    best = np.maximum.reduceat(own, starts).repeat(sizes)
    return np.where(inside, best - best[inside].mean(), own)


@dataclass(frozen=True, slots=True)
class _Scale:
    """Mean and deviation of one embedder's cosines over the scope."""

    mean: float
    deviation: float

    @classmethod
    def of(cls, similarities: Sequence[Similarity | None], readings: Sequence[Reading]) -> _Scale:
        seen = [
            (reading.size - similarity.pending, similarity)
            for similarity, reading in zip(similarities, readings, strict=True)
            if similarity is not None
        ]
        count = sum(size for size, _ in seen)
        if not count:
            return cls(0.0, 1.0)
        mean = sum(size * part.mean for size, part in seen) / count
        square = sum(size * (part.deviation**2 + (part.mean - mean) ** 2) for size, part in seen) / count
        shrink = (1 + FEW / count) ** 0.5
        return cls(mean, square**0.5 * shrink or 1.0)

    def calibrated(self, scores: Scores) -> Scores:
        """Cosines in standard deviations from the mean."""
        return (scores - np.float32(self.mean)) / np.float32(self.deviation)


def _calibrated(scores: Scores) -> Scores:
    """Scores in deviations from their own mean."""
    if len(scores) < 2:
        return np.zeros_like(scores)
    apart = scores - scores.sum() / np.float32(len(scores))
    deviation = (float(apart @ apart) / len(scores) * (1 + FEW / len(scores))) ** 0.5
    calibrated: Scores = apart / np.float32(deviation or 1.0)
    return calibrated
