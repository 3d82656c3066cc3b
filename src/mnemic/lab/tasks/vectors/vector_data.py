"""Vectors to search among: made by a recipe that crowds as an embedder's do, or an embedder's own, made more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

COMMON, SPECTRUM = 0.90, 0.425
"""What every vector shares with every other, and how fast the lengths of the other dimensions fall (a power)."""

TOPIC: Final = 0.55
"""The share of a vector's own part that it has from its topic; the rest is its own alone."""

ASKING, MANNER, BEARING = 0.83, 0.35, 0.65
"""Of a question: what it shares with every vector, what with every question, and its own part's cosine with its
target's own part."""

SHARES: Final = {"10 %": 1, "1 %": 0}
"""The filters: how much they leave, and the last group that they leave."""

_TOPICS: Final = 50
_BASE: Final = 8_000
_NEAR: Final = 20


@dataclass(frozen=True, slots=True)
class Cloud:
    """Vectors and questions, rows of unit length.

    Attributes:
        groups: By row, 0 for one in a hundred, 1 for nine in a hundred, 2 for the rest: what filters choose by.
    """

    vectors: Floats
    questions: Floats
    groups: NDArray[np.int64]
    recipe: str


def synthetic(rows: int, questions: int, dims: int = 384, seed: int = 0) -> Cloud:
    """Vectors as multilingual-e5-small gives for turns of talk, in the figures that make a search easy or hard.

    Any two have a cosine of 0.81 +- 0.035 and the mean of all is 0.90 long; the spread about it has the weight of some
    50 equal dimensions, in no particular axes; topics are as uneven as words (Zipf). Questions lie apart: 0.75 +- 0.03
    from all, 0.87 from the turn that they are about.
    """
    rng = np.random.default_rng(seed)
    axes = np.linalg.qr(rng.standard_normal((dims, dims)))[0].astype(np.float32)
    lengths = np.arange(1, dims - 1, dtype=np.float32) ** -SPECTRUM
    topics = _drawn(rng, 1 + rows // _TOPICS, lengths)
    weights = 1 / np.arange(1, len(topics) + 1)
    chosen = rng.choice(len(topics), rows, p=weights / weights.sum())
    own = _unit(np.sqrt(TOPIC) * topics[chosen] + np.sqrt(1 - TOPIC) * _drawn(rng, rows, lengths))
    asked = own[rng.choice(rows, questions)]
    asking = BEARING * asked + np.sqrt(1 - BEARING**2) * _drawn(rng, questions, lengths)
    vectors = _joined(COMMON, 0.0, own) @ axes
    return Cloud(vectors, _joined(ASKING, MANNER, asking) @ axes, _groups(rng, rows), "synthetic, like E5's")


def multiplied(paths: Sequence[Path], rows: int, questions: int, seed: int = 0) -> Cloud:
    """An embedder's own vectors, made as many as are wanted: between two neighbours, moved as two neighbours differ.

    Each file is an `.npz` with the vectors of passages, `P`, and of questions, `Q`, by row.
    """
    rng = np.random.default_rng(seed)
    files = [np.load(path) for path in paths]
    base = np.unique(_unit(np.concatenate([file["P"] for file in files]).astype(np.float32)), axis=0)
    asked = _unit(np.concatenate([file["Q"] for file in files]).astype(np.float32))
    base = base[rng.permutation(len(base))[:_BASE]]
    vectors = base[:rows] if rows <= len(base) else np.concatenate((base, _between(base, rows - len(base), rng)))
    chosen = asked[rng.permutation(len(asked))[:questions]]
    return Cloud(vectors, chosen, _groups(rng, rows), f"{len(base)} vectors of an embedder, multiplied")


def _between(base: Floats, rows: int, rng: np.random.Generator) -> Floats:
    near = np.concatenate([_nearest(base, first) for first in range(0, len(base), 1_000)])
    first_rows, other = (rng.integers(len(base), size=rows) for _ in range(2))
    beside, apart = (near[row, rng.integers(_NEAR, size=rows)] for row in (first_rows, other))
    weight = rng.uniform(0.2, 0.8, size=(rows, 1)).astype(np.float32)
    return _unit(
        weight * base[first_rows] + (1 - weight) * base[beside] + np.float32(0.5) * (base[other] - base[apart])
    )


def _nearest(base: Floats, first: int) -> NDArray[np.intp]:
    cosines = base[first : first + 1_000] @ base.T
    cosines[np.arange(len(cosines)), first + np.arange(len(cosines))] = -1
    return np.argpartition(-cosines, _NEAR, axis=1)[:, :_NEAR]


def _joined(common: float, manner: float, own: Floats) -> Floats:
    """Rows of unit length: a part along the first axis, one along the second, and what is left along the others."""
    left = np.sqrt(1 - common**2 - manner**2)
    fixed = np.tile(np.array([common, manner], np.float32), (len(own), 1))
    return np.hstack((fixed, np.float32(left) * _unit(own)))


def _drawn(rng: np.random.Generator, rows: int, lengths: Floats) -> Floats:
    return _unit(rng.standard_normal((rows, len(lengths)), dtype=np.float32) * lengths)


def _unit(rows: Floats) -> Floats:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return (rows / lengths).astype(np.float32)  # type: ignore[no-any-return]


def _groups(rng: np.random.Generator, rows: int) -> NDArray[np.int64]:
    ranks = rng.permutation(rows)
    return (ranks >= rows // 100).astype(np.int64) + (ranks >= rows // 10)


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchPoint:
    """What a search finds and takes.

    Attributes:
        recall: The share of the ten truly nearest that are found, on average.
        milliseconds: CPU time of one question: the median of the turns.
        width: The setting it was searched with, if there is one.
    """

    recall: float
    milliseconds: float
    width: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexMeasurement:
    """One system among so many vectors.

    Attributes:
        build: CPU seconds to take in all.
        megabytes: Growth of resident memory by that; None where the system does not say.
        add: CPU milliseconds to add one more, ready to be found; None where none can be added.
        curve: The other settings of its search, on fewer questions.
        filtered: By the share of rows that are left.
    """

    name: str
    version: str
    rows: int
    build: float
    megabytes: float | None
    add: float | None
    all: SearchPoint
    filtered: dict[str, SearchPoint]
    filters: str
    curve: tuple[SearchPoint, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorRun:
    """What a run found, with what it ran on, and the systems that were not installed."""

    header: dict[str, object]
    measurements: tuple[IndexMeasurement, ...]
    missing: tuple[str, ...]
