"""What the entries of a space mean: one embedder's vectors beside a catalogue's rows, searched exactly.

Up to `EXACT` rows a question is one product of matrix and vector. Beyond, signs make a short list (`index.signs`) and
the cosines of those on it are exact. A view or a filter is a choice of rows, so it costs no recall; and no other
space's vector is ever touched. There is no graph to build, to repair or to filter badly: docs/vectors.md has the table.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Final

import numpy as np

from mnemic.errors import Invalid, StoreCorrupt
from mnemic.index.columns import Column
from mnemic.index.signs import ENOUGH, Signed, dots, short

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from mnemic.index.columns import EntryColumns
    from mnemic.store.values.work import VectorRow

    Floats = NDArray[np.float32]
    Halves = NDArray[np.float16]
    Rows = NDArray[np.intp]

EXACT: Final = 20_000
"""Rows up to which vectors are held, and searched, in single precision; more in proportion where dimensions are few."""

SAMPLE: Final = 1_000
"""Vectors from which mean and deviation of all are taken, where not all are looked at."""

_FEW: Final = 40
"""Where one row in so many is meant, looking at each exactly is cheaper than looking at the signs of all."""

_GATHER: Final = 5
"""Where one row in so many is meant, their rows are gathered; else the product is taken of all."""

_LOAD: Final = 4_096


@dataclass(frozen=True, slots=True)
class Similarity:
    """Cosines of a reading's entries with a question.

    Attributes:
        places: Ascending: every visible place that has a vector, or those that may be among the nearest.
        scores: Their cosines, exact but for half precision of the rows.
        mean, deviation: Of the cosines of all visible places that have a vector; of an even sample of `SAMPLE` of them
            where `places` are not all, which is off by 3 % of the deviation (one standard error).
        pending: Visible places that have no vector yet.
    """

    places: Rows
    scores: Floats
    mean: float
    deviation: float
    pending: int


@dataclass(frozen=True, slots=True)
class Single:
    """Vectors by row, in single precision. Rows are filled in, never changed: who reads knows which are filled."""

    matrix: Floats

    @property
    def dims(self) -> int:
        return int(self.matrix.shape[1])

    def filled(self, rows: Rows, vectors: Halves) -> Single:
        """With these rows filled in; by doubling, so that most rows are moved once or twice."""
        matrix, need = self.matrix, int(rows[-1]) + 1
        if need > len(matrix):
            matrix = np.zeros((max(need, min(2 * len(matrix), _exact(self.dims))), self.dims), np.float32)
            matrix[: len(self.matrix)] = self.matrix
        matrix[rows] = vectors
        return Single(matrix)

    def vectors(self, rows: Rows) -> Floats:
        """The vectors of some rows."""
        return self.matrix[rows]

    def cosines(self, rows: Rows, query: Floats) -> Floats:
        """The cosines of some rows, ascending."""
        span = int(rows[-1]) + 1
        if len(rows) * _GATHER < span:
            return dots(self.matrix[rows], query)
        cosines = dots(self.matrix[:span], query)
        return cosines if len(rows) == span else cosines[rows]


class VectorTable:
    """One embedder's vectors, each at the row of its entry. One thread adds; what `sight` returned stays as it is.

    Attributes:
        cursor: The embedder's lane as it stood when vectors were read last: complete up to there.
        seq: The space as it stood then.
    """

    def __init__(self, dims: int) -> None:
        self.cursor = 0
        self.seq = 0
        self._rows: Single | Signed = Single(np.zeros((0, dims), np.float32))
        self._held = np.zeros(0, np.bool_)

    @property
    def nbytes(self) -> int:
        """Memory taken."""
        rows = self._rows
        return len(self._held) + (rows.matrix.nbytes if isinstance(rows, Single) else rows.row_bytes * len(self._held))

    def sight(self) -> tuple[Single | Signed, NDArray[np.bool_]]:
        """The rows as they stand, and which of them are filled."""
        return self._rows, self._held

    def take(self, columns: EntryColumns, fresh: Iterable[VectorRow]) -> bool:
        """Add vectors, ascending by (ver, part); those that are there stay. Returns whether there were new ones.

        Raises:
            StoreCorrupt: a vector is not of the embedder's dimensions.
        """
        held = self._held
        stream = iter(fresh)
        while batch := list(islice(stream, _LOAD)):
            vectors = self._decoded(batch)
            rows = _rows_of(columns, batch)
            new = (rows >= 0) & ~_at(self._held, rows)
            if new.any():
                self.fill(rows[new], vectors[new])
        return self._held is not held

    def fill(self, rows: Rows, vectors: Halves) -> None:
        """Fill in rows, ascending."""
        held = np.zeros(max(len(self._held), int(rows[-1]) + 1), np.bool_)
        held[: len(self._held)] = self._held
        held[rows] = True
        if isinstance(self._rows, Single) and len(held) > _exact(self._rows.dims):
            self._rows = Signed.of(self._rows.matrix[: len(self._held)], self._held)
        self._rows = self._rows.filled(rows, vectors)
        if isinstance(self._rows, Signed):
            self._rows = self._rows.refitted(held)
        self._held = held

    def _decoded(self, batch: list[VectorRow]) -> Halves:
        size = 2 * self._rows.dims
        if wrong := next((row for row in batch if len(row.f16) != size), None):
            found = f"the vector of version {wrong.ver} has {len(wrong.f16)} bytes, not {size}"
            raise StoreCorrupt(f"{found}; `mnemic reindex` makes all of them anew")
        flat = np.frombuffer(b"".join([row.f16 for row in batch]), "<f2")
        return flat.astype(np.float16, copy=False).reshape(len(batch), -1)


class VisibleVectors:
    """What one reading sees of an embedder's vectors. Immutable: later vectors do not show in it."""

    def __init__(self, vectors: Single | Signed, held: NDArray[np.bool_], place: Rows) -> None:
        """`held`: which rows are filled; `place`: by row, its place in the reading, or -1 where it is not seen."""
        self._vectors = vectors
        self._place = place
        self._seen = held & (place[: len(held)] >= 0)
        self._rows = np.flatnonzero(self._seen)
        self._whole = len(self._rows) == len(self._seen)
        self.pending = int(np.count_nonzero(place >= 0)) - len(self._rows)

    @property
    def nbytes(self) -> int:
        """Memory taken beside the vectors, once it has been asked."""
        sampled = 0 if self._looks_at_all else 4 * SAMPLE * self._vectors.dims
        return self._seen.nbytes + self._rows.nbytes + sampled

    def similar(self, query: Floats) -> Similarity:
        """How near a question is.

        Raises:
            Invalid: the question's vector is not of the embedder's dimensions.
        """
        if query.shape != (self._vectors.dims,):
            problem = f"a vector of shape {query.shape} is asked for among such of {self._vectors.dims} dimensions"
            raise Invalid("query", problem, "Embed the question with the embedder whose vectors these are.")
        if not len(self._rows):
            return Similarity(self._rows, np.empty(0, np.float32), 0.0, 0.0, self.pending)
        if isinstance(self._vectors, Single) or self._looks_at_all:
            rows = self._rows
            scores = known = self._vectors.cosines(rows, query)
        else:
            rows = self._vectors.shortlist(query, None if self._whole else self._seen, self._rows)
            scores = self._vectors.cosines(rows, query)
            known = dots(self._sample, query)
        mean = float(known.sum()) / len(known)
        deviation = math.sqrt(max(0.0, float(known @ known) / len(known) - mean * mean))
        return Similarity(self._place[rows], scores, mean, deviation, self.pending)

    def centrality(self, rows: Rows) -> Floats:
        """The products of rows that `similar` gave with the mean of all that are seen, or of an even sample of them."""
        if not len(rows):
            return np.empty(0, np.float32)
        return self._central if len(rows) == len(self._rows) else self._vectors.cosines(rows, self._centre)

    @cached_property
    def _central(self) -> Floats:
        return self._vectors.cosines(self._rows, self._centre)

    @cached_property
    def _centre(self) -> Floats:
        count = min(SAMPLE, len(self._rows))
        sample = self._rows[np.arange(count) * len(self._rows) // count]
        centre: Floats = self._vectors.vectors(sample).mean(axis=0)
        return centre

    @property
    def _looks_at_all(self) -> bool:
        few = max(short(len(self._rows), self._vectors.dims), len(self._seen) // _FEW)
        return isinstance(self._vectors, Single) or len(self._rows) <= few

    @cached_property
    def _sample(self) -> Floats:
        assert isinstance(self._vectors, Signed)
        return self._vectors.vectors(self._rows[np.arange(SAMPLE) * len(self._rows) // SAMPLE])


def _exact(dims: int) -> int:
    return EXACT * max(1, ENOUGH // dims)


def _rows_of(columns: EntryColumns, batch: list[VectorRow]) -> Rows:
    """The row of each vector's entry; -1 for none."""
    vers = np.array([row.ver for row in batch], np.int64)
    parts = np.array([row.part for row in batch], np.int64)
    if not columns.rows:
        return np.full(len(batch), -1, np.intp)
    at = np.minimum(columns.column(Column.VER).searchsorted(vers) + parts, columns.rows - 1)
    found = (columns.column(Column.VER)[at] == vers) & (columns.column(Column.PART)[at] == parts)
    return np.where(found, at, -1)


def _at(held: NDArray[np.bool_], rows: Rows) -> NDArray[np.bool_]:
    """Which of some rows are held; one that is none, or past the end, is not."""
    inside = (rows >= 0) & (rows < len(held))
    known = np.zeros(len(rows), np.bool_)
    known[inside] = held[rows[inside]]
    return known
