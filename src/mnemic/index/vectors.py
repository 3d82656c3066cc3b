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
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from mnemic.errors import Invalid, StoreCorrupt
from mnemic.index.columns import Column
from mnemic.index.signs import ENOUGH, Signed, dots, short, single, span
from mnemic.models.base import MAX_LOG_ODDS, TRAITS
from mnemic.store.values.work import allowed_vector_sizes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from mnemic.index.columns import EntryColumns
    from mnemic.index.signs import PackedSigns
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

_LOAD: Final = 512
"""Vectors read at once: so few that they stay in the processor's cache on their way."""

_SLACK: Final = 8
"""One row in so many more may be added before the matrix is moved."""

_TRAIT_SCALE: Final = np.float32(127 / MAX_LOG_ODDS)
_NO_TRAIT: Final = -128
"""By what the log odds of a trait are multiplied to be a byte, and the byte of one that is not known."""


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

    def with_room(self, count: int) -> Single:
        """With room for so many rows, and for an eighth more where they have to be moved."""
        if count <= len(self.matrix):
            return self
        matrix = np.zeros((count + min(count // _SLACK, max(0, most_exact(self.dims) - count)), self.dims), np.float32)
        matrix[: len(self.matrix)] = self.matrix
        return Single(matrix)

    def fill(self, rows: Rows, vectors: Halves) -> None:
        """Fill in rows, ascending."""
        self.matrix[span(rows)] = single(vectors)

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


class VectorSight(NamedTuple):
    """An embedder's rows as they stand.

    Attributes:
        vectors: By row.
        held: Which rows are filled.
        traits: By row, of the first rows alone where the others have none: (n, `TRAITS`), scaled to a byte each, and
            `_NO_TRAIT` where a vector came without.
    """

    vectors: Single | Signed
    held: NDArray[np.bool_]
    traits: NDArray[np.int8]


class _Decoded(NamedTuple):
    """Vectors out of the store, and their traits, None if none of them has any."""

    vectors: Halves
    traits: NDArray[np.int8] | None

    def some(self, which: NDArray[np.bool_]) -> _Decoded:
        return _Decoded(self.vectors[which], None if self.traits is None else self.traits[which])


class VectorTable:
    """One embedder's vectors, each at the row of its entry. One thread adds; what `sight` returned stays as it is.

    Attributes:
        cursor: The embedder's lane as it stood when vectors were read last: complete up to there.
        seq: The space as it stood then.
        fetched: Which rows' vectors are here, where the others have only signs; None where all are.
    """

    def __init__(self, dims: int, packed: PackedSigns | None = None) -> None:
        """`packed`: signs to begin with, instead of the vectors that they are of."""
        self.cursor = 0
        self.seq = 0
        self.fetched: NDArray[np.bool_] | None = None
        self._rows: Single | Signed = Single(np.zeros((0, dims), np.float32))
        self._held = np.zeros(0, np.bool_)
        self._traits = _without_traits(0)
        if packed is not None:
            self._rows, self._held, self.cursor = packed.signed, packed.held, packed.upto
            self._traits = _without_traits(len(packed.held))
            self.fetched = np.zeros(len(packed.held), np.bool_)

    @property
    def nbytes(self) -> int:
        """Memory taken."""
        rows, beside = self._rows, len(self._held) + self._traits.nbytes
        if isinstance(rows, Signed) and self.fetched is not None:
            here = len(self._held) - int(np.count_nonzero(~self.fetched))
            return beside + rows.signs.nbytes + 2 * rows.dims * here
        return beside + (rows.matrix.nbytes if isinstance(rows, Single) else rows.row_bytes * len(self._held))

    @property
    def dims(self) -> int:
        """Numbers of a vector."""
        return self._rows.dims

    def sight(self) -> VectorSight:
        """The rows as they stand."""
        return VectorSight(self._rows, self._held, self._traits)

    def take(self, columns: EntryColumns, fresh: Iterable[VectorRow]) -> bool:
        """Add vectors, ascending by (ver, part); those that are there stay. Returns whether there were new ones.

        Raises:
            StoreCorrupt: a vector is not of the embedder's dimensions.
        """
        held, few = self._held, most_exact(self._rows.dims)
        placed: list[Rows] = []
        waiting: list[tuple[Rows, _Decoded]] = []
        for rows, decoded in self._new(columns, iter(fresh)):
            placed.append(rows)
            waiting.append((rows, decoded))
            if rows[-1] >= few:  # until then they may all be few, which are held in another way
                self._place(waiting)
                waiting.clear()
        if placed:
            self._place(waiting)
            self._sign(np.concatenate(placed))
        return self._held is not held

    def lacking(self, rows: Rows) -> Rows:
        """Those of some rows, ascending, that have only signs here."""
        if self.fetched is None:
            return rows[:0]
        rows = rows[: rows.searchsorted(len(self.fetched))]
        return rows[~self.fetched[rows]]

    def fetch(self, columns: EntryColumns, rows: Rows, vector_rows: Iterable[VectorRow]) -> bool:
        """Take the vectors of rows that have only signs here; whether all of them were found.

        Raises:
            StoreCorrupt: a vector is not of the embedder's dimensions.
        """
        batch = sorted(vector_rows)
        if not batch:
            return not len(rows)
        vers, parts, halves = zip(*batch, strict=True)
        at = _rows_of(columns, np.array(vers, np.int64), np.array(parts, np.int64))
        asked = np.isin(at, rows)
        if np.count_nonzero(asked) < len(rows) or self.fetched is None:
            return False
        decoded = self._decoded(vers, halves).some(asked)
        self._rows.fill(at[asked], decoded.vectors)
        if decoded.traits is not None:
            self._traits[at[asked]] = decoded.traits
        self.fetched[at[asked]] = True
        return True

    def fill(self, rows: Rows, vectors: Halves) -> None:
        """Fill in rows, ascending, with vectors that have no traits."""
        self._place([(rows, _Decoded(vectors, None))])
        self._sign(rows)

    def _new(self, columns: EntryColumns, stream: Iterator[VectorRow]) -> Iterator[tuple[Rows, _Decoded]]:
        """Those vectors of entries that are not held yet, a few hundred at a time, with their rows."""
        while batch := list(islice(stream, _LOAD)):
            vers, parts, halves = zip(*batch, strict=True)
            decoded = self._decoded(vers, halves)
            rows = _rows_of(columns, np.array(vers, np.int64), np.array(parts, np.int64))
            new = (rows >= 0) & ~_at(self._held, rows)
            if new.all():
                yield rows, decoded
            elif new.any():
                yield rows[new], decoded.some(new)

    def _place(self, fresh: Sequence[tuple[Rows, _Decoded]]) -> None:
        if not fresh:
            return
        held = np.zeros(max(len(self._held), int(fresh[-1][0][-1]) + 1), np.bool_)
        held[: len(self._held)] = self._held
        if isinstance(self._rows, Single) and len(held) > most_exact(self._rows.dims):
            self._rows = Signed.of(self._rows.matrix[: len(self._held)], self._held)
        self._rows = self._rows.with_room(len(held))
        if len(held) > len(self._traits) and any(decoded.traits is not None for _, decoded in fresh):
            more = len(held) + len(held) // _SLACK - len(self._traits)
            self._traits = np.concatenate((self._traits, _without_traits(more)))
        for rows, decoded in fresh:
            self._rows.fill(rows, decoded.vectors)
            if decoded.traits is not None:
                self._traits[rows] = decoded.traits
            held[rows] = True
        self._held = held

    def _sign(self, rows: Rows) -> None:
        """Give rows that were placed their signs, where vectors have such: once for all that came together."""
        if isinstance(self._rows, Signed):
            self._rows = self._rows.signed(rows, self._held)

    def _decoded(self, vers: Sequence[int], rows: Sequence[bytes]) -> _Decoded:
        dims = self._rows.dims
        bare, whole = allowed_vector_sizes(dims)
        sizes = set(map(len, rows))
        if not sizes <= {bare, whole}:
            ver, size = next(
                (ver, len(row)) for ver, row in zip(vers, rows, strict=True) if len(row) not in (bare, whole)
            )
            problem = f"the vector of version {ver} has {size} bytes, not {bare} or {whole}"
            raise StoreCorrupt(f"{problem}; `mnemic reindex --embedder none`, and then one by name, make all anew")
        if sizes == {bare, whole}:
            rows = [row if len(row) == whole else row + _without_traits(1).tobytes() for row in rows]
        flat = np.frombuffer(b"".join(rows), np.uint8).reshape(len(rows), -1)
        vectors = np.ascontiguousarray(flat[:, :bare]).view("<f2").astype(np.float16, copy=False)
        return _Decoded(vectors, flat[:, bare:].view(np.int8) if whole in sizes else None)


class VisibleVectors:
    """What one reading sees of an embedder's vectors. Immutable: later vectors do not show in it."""

    def __init__(self, sight: VectorSight, place: Rows) -> None:
        """`place`: by row, its place in the reading, or -1 where it is not seen."""
        self._vectors, held, self._traits = sight
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

    def looked_at(self, query: Floats) -> Rows:
        """The rows whose vectors `similar` and `centrality` look at for a question, ascending."""
        if self._looks_at_all or not len(self._rows):
            return self._rows
        listed = self._shortlist(query)
        return np.unique(np.concatenate((listed, self._evenly(SAMPLE), self._evenly(self._central_count))))

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
            rows = self._shortlist(query)
            scores = self._vectors.cosines(rows, query)
            known = dots(self._sample, query)
        mean = float(known.sum()) / len(known)
        deviation = math.sqrt(max(0.0, float(known @ known) / len(known) - mean * mean))
        return Similarity(self._place[rows], scores, mean, deviation, self.pending)

    def of(self, rows: Rows) -> Floats:
        """The vectors of some rows; zeros where there is none yet, or none at hand."""
        vectors = np.zeros((len(rows), self._vectors.dims), np.float32)
        held = np.flatnonzero(_at(self._seen, rows))
        if len(held):
            held = held[np.argsort(rows[held])]  # ascending, as they are gathered
            vectors[held] = self._vectors.vectors(rows[held])
        return vectors

    def traits_of(self, rows: Rows) -> Floats:
        """The log odds of the traits of some rows: (n, `TRAITS`), not a number where there are none."""
        traits = _without_traits(len(rows))
        here = _at(self._seen[: len(self._traits)], rows)
        traits[here] = self._traits[rows[here]]
        return np.where(traits == _NO_TRAIT, np.float32(np.nan), traits.astype(np.float32) / _TRAIT_SCALE)

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
        centre: Floats = self._vectors.vectors(self._evenly(self._central_count)).mean(axis=0)
        return centre

    @property
    def _central_count(self) -> int:
        return min(SAMPLE, len(self._rows))

    def _evenly(self, count: int) -> Rows:
        """So many of the rows that are seen, evenly spread."""
        return self._rows[np.arange(count) * len(self._rows) // count]

    def _shortlist(self, query: Floats) -> Rows:
        assert isinstance(self._vectors, Signed)
        return self._vectors.shortlist(query, None if self._whole else self._seen, self._rows)

    @property
    def _looks_at_all(self) -> bool:
        few = max(short(len(self._rows), self._vectors.dims), len(self._seen) // _FEW)
        return isinstance(self._vectors, Single) or len(self._rows) <= few

    @cached_property
    def _sample(self) -> Floats:
        assert isinstance(self._vectors, Signed)
        return self._vectors.vectors(self._evenly(SAMPLE))


def _without_traits(count: int) -> NDArray[np.int8]:
    return np.full((count, len(TRAITS)), _NO_TRAIT, np.int8)


def stored_vectors(passages: Floats, dims: int) -> list[bytes]:
    """The store's form of what an embedder makes of passages: vectors, and the traits behind them if there are any."""
    halves, odds = passages[:, :dims].astype("<f2"), np.clip(passages[:, dims:], -MAX_LOG_ODDS, MAX_LOG_ODDS)
    traits = np.rint(odds * _TRAIT_SCALE).astype(np.int8)
    return [half.tobytes() + of_it.tobytes() for half, of_it in zip(halves, traits, strict=True)]


def most_exact(dims: int) -> int:
    """Rows up to which vectors are held in single precision."""
    return EXACT * max(1, ENOUGH // dims)


def _rows_of(columns: EntryColumns, vers: NDArray[np.int64], parts: NDArray[np.int64]) -> Rows:
    """The row of each vector's entry; -1 for none."""
    if not columns.rows:
        return np.full(len(vers), -1, np.intp)
    at = np.minimum(columns.column(Column.VER).searchsorted(vers) + parts, columns.rows - 1)
    matches = (columns.column(Column.VER)[at] == vers) & (columns.column(Column.PART)[at] == parts)
    return np.where(matches, at, -1)


def _at(held: NDArray[np.bool_], rows: Rows) -> NDArray[np.bool_]:
    """Which of some rows are held; one that is none, or past the end, is not."""
    inside = (rows >= 0) & (rows < len(held))
    known = np.zeros(len(rows), np.bool_)
    known[inside] = held[rows[inside]]
    return known
