"""Many vectors: half-precision rows beside one sign bit a dimension, so that a question reads few bytes of most.

Signs are those of a vector less the mean of all. The cosines of today's embedders crowd in a narrow band: their vectors
share one long component, and the signs of the vectors themselves tell mostly of that (docs/vectors.md measures it).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Halves = NDArray[np.float16]
    Rows = NDArray[np.intp]
    Words = NDArray[np.uint64]
    Counts = NDArray[np.uint16]

CHUNK: Final = 1 << 16
"""Half-precision rows in one chunk: more are added without copying those that are there."""

SHORT: Final = 2.0
"""The short list's length over the square root of how many are searched: it must grow, though less than they do."""

LEAST: Final = 500
"""The short list's length where that is less: of few, as a filter leaves, the nearest are hardly nearer than others."""

ENOUGH: Final = 384
"""Dimensions below which the short list is longer, in proportion."""

LONGER: Final = 5
"""The list by plain signs is so many times the short one."""

PROBE: Final = 4_096
"""Rows that say how near the plain signs must be."""

_BLOCK: Final = 1 << 10
_SLACK: Final = 8
"""One row in so many more may be added before the signs are moved."""
_WIDE: Final = np.float32(2.0**112)
_SATURATE: Final = 50
"""One dimension in so many of a query may be longer than the longest that is told apart."""

_BITS16: Final = np.unpackbits(np.arange(1 << 16, dtype=np.uint16).view(np.uint8)).reshape(-1, 16).sum(axis=1)


@dataclass(frozen=True, slots=True)
class Signed:
    """Vectors by row. Rows are filled in, never changed: who reads knows which are filled.

    Attributes:
        halves: The vectors, `CHUNK` rows in each.
        signs: By word of 64 dimensions and row.
        mean: What is subtracted before signs are taken.
        fitted: How many rows the mean was taken of.
    """

    dims: int
    halves: tuple[Halves, ...]
    signs: Words
    mean: Floats
    fitted: int

    @classmethod
    def of(cls, matrix: Floats, held: NDArray[np.bool_]) -> Signed:
        """The same rows as a matrix of single precision holds."""
        dims = matrix.shape[1]
        signed = cls(dims, (), np.empty((-(-dims // 64), 0), np.uint64), np.zeros(dims, np.float32), 0)
        if not len(rows := np.flatnonzero(held)):
            return signed
        signed = signed.with_room(len(held))
        signed.fill(rows, matrix[rows].astype(np.float16))
        return signed.signed(rows, held)

    @property
    def row_bytes(self) -> int:
        """Memory that one row takes."""
        return 2 * self.dims + 8 * len(self.signs)

    def with_room(self, count: int) -> Signed:
        """With room for so many rows; those that are there are shared."""
        more = -(-count // CHUNK) - len(self.halves)
        return replace(self, halves=self.halves + tuple(np.empty((CHUNK, self.dims), np.float16) for _ in range(more)))

    def fill(self, rows: Rows, vectors: Halves) -> None:
        """Fill in rows, ascending; they have no signs until `signed`."""
        for number, at in _by_chunk(rows):
            self.halves[number][span(rows[at] - number * CHUNK)] = vectors[at]

    def signed(self, fresh: Rows, held: NDArray[np.bool_]) -> Signed:
        """With the signs of fresh rows; of all that are held, and the mean taken anew, if those have doubled since.

        The mean is that of the first 2**n of them, so that it does not depend on how many came at a time.
        """
        moved, rows = self, np.flatnonzero(held)
        fitted = fitting(len(rows))
        if fitted > self.fitted:
            sums = [widened(self._gathered(rows[i : min(i + _BLOCK, fitted)])).sum(axis=0) for i in _blocks(fitted)]
            mean = np.mean(sums, axis=0) * np.float32(len(sums) / fitted) * _WIDE
            moved, fresh = replace(self, signs=self.signs.copy(), mean=mean, fitted=fitted), rows
        if moved.signs.shape[1] < len(held):
            moved = moved.with_signs(len(held) + len(held) // _SLACK)
        least = _least_above(moved.mean)
        for i in _blocks(len(fresh)):
            block = fresh[i : i + _BLOCK]
            moved.signs[:, span(block)] = _packed(_ordered(self._gathered(block)) >= least)
        return moved

    def with_signs(self, count: int) -> Signed:
        """With room for the signs of so many rows at least."""
        if count <= self.signs.shape[1]:
            return self
        signs = np.zeros((len(self.signs), count), np.uint64)
        signs[:, : self.signs.shape[1]] = self.signs
        return replace(self, signs=signs)

    def cosines(self, rows: Rows, query: Floats) -> Floats:
        """The exact cosines of some rows, ascending."""
        return dots(widened(self._gathered(rows)), query * _WIDE)

    def vectors(self, rows: Rows) -> Floats:
        """Some rows, ascending, in single precision."""
        return single(self._gathered(rows))

    def shortlist(self, query: Floats, seen: NDArray[np.bool_] | None, rows: Rows) -> Rows:
        """Those of some rows, ascending, that are nearest by sign: `short` of them, and all as near as the last.

        `seen`: by row, whether it is one of them; None if all are.
        """
        left, wanted = self._left(query), short(len(rows), self.dims)
        asked = _packed(left[None] > 0)
        distances = _hamming(self.signs[:, : rows[-1] + 1], asked[:, 0])
        if seen is not None:
            distances[~seen[: len(distances)]] = self.dims + 1
        probe = distances[rows[:: max(1, len(rows) // PROBE)]]
        longer = np.flatnonzero(distances <= _within(probe, len(probe) * min(1, LONGER * wanted / len(rows))))
        weighed = _weighed(_taken(self.signs, longer) ^ asked, np.abs(left))
        return longer[weighed <= _within(weighed, wanted)]

    def _gathered(self, rows: Rows) -> Halves:
        gathered = [self.halves[number][span(rows[at] - number * CHUNK)] for number, at in _by_chunk(rows)]
        return gathered[0] if len(gathered) == 1 else np.concatenate(gathered)

    def _left(self, query: Floats) -> Floats:
        """A query without what it shares with the mean: how long the two are does not matter then."""
        length = self.mean @ self.mean
        return query - self.mean * np.float32(query @ self.mean / length) if length else query


@dataclass(frozen=True, slots=True)
class PackedSigns:
    """What a pack holds: the signs of the first rows of a space.

    Attributes:
        signed: The signs, and the mean that they were taken with; of the vectors nothing.
        held: Which rows have a vector.
        upto: The version that it reaches to.
    """

    signed: Signed
    held: NDArray[np.bool_]
    upto: int

    @property
    def count(self) -> int:
        """How many vectors it has the signs of."""
        return int(np.count_nonzero(self.held))

    def serves(self, rows: int, more: int) -> bool:
        """Whether it says what a reader would work out of the vectors of so many rows, and of at most so many more.

        The mean is taken anew when vectors have doubled: until then signs stay as they are.
        """
        return rows == len(self.held) and self.signed.fitted == fitting(self.count) == fitting(self.count + more)


def fitting(count: int) -> int:
    """Of how many vectors the mean is taken where there are so many."""
    return 1 << count.bit_length() - 1 if count else 0


def widened(halves: Halves) -> Floats:
    """Half precision in single precision, exact but for a factor of 2**-112, and four times as fast as numpy does it.

    The bits of a half, moved to where a single keeps sign, exponent and fraction: only the exponent's bias differs.
    """
    bits = halves.view(np.int16).astype(np.int32)
    bits <<= 13
    bits &= ~0x70000000
    return bits.view(np.float32)


def single(halves: Halves) -> Floats:
    """Half precision in single precision, of finite numbers."""
    floats = widened(halves)
    floats *= _WIDE
    return floats


def _ordered(halves: Halves) -> NDArray[np.int16]:
    """Half precision as integers that lie in the same order: comparing those is four times as fast as widening."""
    bits = halves.view(np.int16)
    return bits ^ (bits >> 15 & 0x7FFF)


def _least_above(limits: Floats) -> NDArray[np.int16]:
    """The least half that lies above each limit, as `_ordered` has it."""
    halves = limits.astype(np.float16)
    return _ordered(np.where(halves > limits, halves, np.nextafter(halves, np.float16(np.inf))))


def _product(matrix: Floats, query: Floats) -> Floats:
    """`np.vecdot`, for a numpy that has none."""
    return matrix @ query


dots: Callable[[Floats, Floats], Floats] = getattr(np, "vecdot", _product)
"""The product of each row with a query: as fast as that with the matrix, the same to the last bit whatever rows stand
beside it, and in the caller's thread alone, where a matrix product waits for every core on a busy machine."""


def short(searched: int, dims: int) -> int:
    """How many candidates are looked at exactly where so many are searched: more where there are few signs to go by."""
    return math.ceil(max(LEAST, SHORT * math.sqrt(searched)) * max(1.0, ENOUGH / dims))


def _packed(above: NDArray[np.bool_]) -> Words:
    """Bits by row and dimension -> words by word and row."""
    octets = np.packbits(above, axis=1)
    padding = -octets.shape[1] % 8
    if padding:
        octets = np.pad(octets, ((0, 0), (0, padding)))
    return np.ascontiguousarray(octets.view(np.uint64).T)


def _counted16(words: Words, out: Counts | None = None) -> NDArray[Any]:
    """`np.bitwise_count`, for a numpy that has none."""
    pieces = _BITS16[words.view(np.uint16)].reshape(*words.shape, 4)
    return pieces.sum(axis=-1, dtype=np.uint8, out=out)  # type: ignore[no-any-return]


_counted: Callable[..., Any] = getattr(np, "bitwise_count", _counted16)


def _hamming(signs: Words, asked: Words) -> Counts:
    """How many bits of each column differ from those asked for; word by word, for all at once would need much room."""
    total, bits = np.zeros(signs.shape[1], np.uint16), np.empty(signs.shape[1], np.uint16)
    differ = np.empty(len(total), np.uint64)
    for row, word in zip(signs, asked, strict=True):
        np.bitwise_xor(row, word, out=differ)
        np.add(total, _counted(differ, out=bits), out=total)
    return total


def _taken(signs: Words, rows: Rows) -> Words:
    """Some columns."""
    taken = np.empty((len(signs), len(rows)), np.uint64)
    for out, row in zip(taken, signs, strict=True):
        row.take(rows, out=out, mode="clip")  # in any other mode numpy copies twice
    return taken


def _bits(words: Words) -> Counts:
    """How many bits of each column are set."""
    return np.add.reduce(_counted(words), axis=0, dtype=np.uint16)  # type: ignore[no-any-return]


def _weighed(differ: Words, sizes: Floats) -> Counts:
    """How far each column is, where a sign that differs counts 0 to 7, as long as the query is in that dimension.

    That finds as many of the nearest in a list a third as long.
    """
    longest = max(float(np.sort(sizes)[-max(1, len(sizes) // _SATURATE)]), 1e-30)
    levels = np.minimum(np.rint(sizes * np.float32(7 / longest)), 7).astype(np.uint8)
    counts = [_bits(differ & _packed(levels[None] & power > 0)) * np.uint16(power) for power in (1, 2, 4)]
    return np.add.reduce(counts)  # type: ignore[no-any-return]


def _within(distances: Counts, wanted: float) -> int:
    """The least distance within which there are as many as wanted, or all."""
    return int(np.bincount(distances).cumsum().searchsorted(wanted))


def _blocks(count: int) -> range:
    """Where blocks of so many rows begin."""
    return range(0, count, _BLOCK)


def span(rows: Rows) -> Rows | slice:
    """Rows, ascending, as a slice where they stand side by side: numpy copies those several times as fast."""
    first, end = int(rows[0]), int(rows[-1]) + 1
    return slice(first, end) if end - first == len(rows) else rows


def _by_chunk(rows: Rows) -> Iterator[tuple[int, slice]]:
    """The chunks that some rows, ascending, lie in, each with where its rows are among them."""
    first, last = int(rows[0]) // CHUNK, int(rows[-1]) // CHUNK
    bounds = [0, *rows.searchsorted(np.arange(first + 1, last + 1) * CHUNK).tolist(), len(rows)]
    for number, (start, end) in enumerate(pairwise(bounds), first):
        if start < end:
            yield number, slice(start, end)
