"""A pack: the entries of a stretch of versions as a catalogue needs them, in bytes that are used where they lie.

Columns are written in as few bytes a row as they take, tokens as numbers in a directory, postings as rows within the
pack. A reader turns the columns into integers, which are few, and leaves streams and postings as they are: a question
looks at those of its own words only. The same entries make the same bytes: whoever doubts a pack makes it again.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from mnemic.core.clock import FOREVER
from mnemic.index.columns import PACKED_COLUMNS, EntryColumns, PackedStreams
from mnemic.index.reading import SHORT_BITS, PostingsSegment

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mnemic.store.values.work import PackRow

    Integers = NDArray[np.int64]

PACK_BUILD: Final = 4
"""The number of this layout; packs of any other are made anew."""

_DIGEST: Final = 16
_WIDEST: Final = 8
"""Bytes of the widest integer, which every section begins at a multiple of."""
_NARROW: Final = ("<u1", "<u2", "<u4", "<u8")


@dataclass(frozen=True, slots=True)
class PackedEntries:
    """The entries of one pack, over the bytes that they were read as."""

    rows: int
    nbytes: int
    streams: PackedStreams
    postings: PostingsSegment
    _columns: tuple[_Packed, ...]

    def fill(self, table: Integers) -> None:
        """Write the columns into the rows of a table, by `Column`; groups are left to who has the whole table."""
        for column, packed in zip(PACKED_COLUMNS, self._columns, strict=True):
            packed.fill(table[column])


def pack(columns: EntryColumns) -> bytes:
    """Write down all rows of `columns`."""
    lengths, tokens = columns.sizes, columns.tokens
    directory = np.sort(tokens)  # and not `unique`, which imports more, and takes twice as long to number them
    directory = directory[np.concatenate((directory[:1] == directory[:1], directory[1:] != directory[:-1]))]
    numbers = _narrow(directory.searchsorted(tokens))
    short, posted = directory >> SHORT_BITS, numbers
    shared = bool((short[1:] == short[:-1]).any())
    if shared:  # two tokens are one to a posting list, as one pair of thirty million is
        short, place = np.unique(short, return_inverse=True)
        posted = _narrow(place)[numbers]
    order = posted.argsort(kind="stable")  # within a token rows ascend already; two bytes are sorted without comparing
    holding, where = posted[order], np.repeat(_narrow(np.arange(columns.rows)), lengths)[order]
    begins = np.ones(len(order), np.bool_)
    begins[1:] = (holding[1:] != holding[:-1]) | (where[1:] != where[:-1])
    new = np.flatnonzero(begins)
    body = _Body()
    for column in PACKED_COLUMNS:
        body.add(columns.column(column))
    body.add(lengths)
    body.add_plain(directory)
    body.add_plain(numbers)
    body.add_plain(short if shared else short[:0])
    body.add(np.bincount(holding[new], minlength=len(short)))
    body.add_plain(_narrow(where[new]))
    body.add_plain(_narrow(np.diff(new, append=len(order))))
    return body.finished()


def unpack(body: NDArray[np.uint8], first: int = 0) -> PackedEntries:
    """Read what `pack` wrote, once its digest has been checked, as the rows from `first` on."""
    sections = _sections(body)
    columns, rest = sections[: len(PACKED_COLUMNS)], sections[len(PACKED_COLUMNS) :]
    lengths, directory, numbers, short, holders, where, counts = rest
    streams = PackedStreams(directory.numbers, numbers.numbers, _starts(lengths.integers()))
    postings = PostingsSegment(
        first=first,
        rows=lengths.count,
        tokens=short.numbers if short.count else directory.numbers >> SHORT_BITS,
        starts=_starts(holders.integers()),
        where=where.numbers,
        counts=counts.numbers,
    )
    return PackedEntries(lengths.count, body.nbytes, streams, postings, tuple(columns))


def digest_of(row: PackRow, body: bytes | bytearray) -> bytes:
    """What tells a pack that was torn or changed, bytes or what is known of them, from the one that was kept."""
    known = row.space, row.after, row.upto, row.seq, row.rows, row.build, row.model
    digest = blake2b(repr(known).encode(), digest_size=_DIGEST)
    digest.update(body)
    return digest.digest()


def sound_body(row: PackRow, body: bytearray | None, build: int = PACK_BUILD) -> NDArray[np.uint8] | None:
    """A pack's bytes for `unpack`; None where they are not there, not those that were kept, or of another build."""
    if body is None or row.build != build or digest_of(row, body) != row.digest:
        return None
    return np.frombuffer(body, np.uint8)


@dataclass(frozen=True, slots=True)
class _Packed:
    """Integers in few bytes: each is `base`, and so many times `step` more as its number says.

    Attributes:
        count: How many.
        numbers: Their numbers; none where all are `base`.
        climbs: Each but the first, which is `start`, is so much more than the one before it.
        ends: Number 0 stands for `FOREVER`, and `base` is for number 1.
    """

    count: int
    numbers: NDArray[Any]
    base: int = 0
    step: int = 1
    start: int = 0
    climbs: bool = False
    ends: bool = False

    def fill(self, row: Integers) -> None:
        """Write them into an array of their length."""
        if not len(self.numbers):
            row[:] = self.base
            return
        row[:] = self.numbers.view(np.int64) if self.numbers.itemsize == _WIDEST else self.numbers
        if self.step != 1:
            row *= self.step
        row += self.base
        if self.climbs:
            row[0] = self.start
            np.cumsum(row, out=row)
        if self.ends:
            row[self.numbers == 0] = FOREVER

    def integers(self) -> Integers:
        """All of them."""
        row = np.empty(self.count, np.int64)
        self.fill(row)
        return row

    @property
    def described(self) -> list[Any]:
        """What a header says of them beside how many bytes they take."""
        ways = [self.base, self.step, self.start, int(self.climbs), int(self.ends)]
        return [self.count, self.numbers.dtype.str, len(self.numbers), *ways]


def _packed(values: Integers) -> _Packed:
    """The narrower of the two ways in which integers can be written; they wrap around where they must."""
    if not len(values) or (values == values[0]).all():
        return _Packed(len(values), np.empty(0, "<u1"), int(values[0]) if len(values) else 0)
    ends = values == FOREVER
    any_end = bool(ends.any())
    base, step, numbers = _shrunk(values[~ends])
    if any_end:
        held, numbers = numbers, np.zeros(len(values), np.uint64)
        numbers[~ends] = held + np.uint64(1)
        base -= step
    plain = _Packed(len(values), _narrow(numbers), base, step, ends=any_end)
    if any_end or plain.numbers.itemsize == 1:
        return plain
    base, step, numbers = _shrunk(np.diff(values))
    numbers = np.concatenate((np.zeros(1, np.uint64), numbers))
    climbing = _Packed(len(values), _narrow(numbers), base, step, int(values[0]), climbs=True)
    return min(plain, climbing, key=lambda way: way.numbers.itemsize)


def _shrunk(values: Integers) -> tuple[int, int, NDArray[np.uint64]]:
    """The least of some integers, the largest step that all are apart, and how many steps each is from the least."""
    least = values.min()
    apart = (values - least).view(np.uint64)
    step = int(np.gcd.reduce(apart)) or 1
    return int(least), step, apart // np.uint64(step)


def _narrow(numbers: NDArray[Any]) -> NDArray[Any]:
    most = int(numbers.max(initial=0))
    return numbers.astype(next(kind for kind in _NARROW if most <= np.iinfo(kind).max))


def _starts(sizes: Integers) -> Integers:
    starts = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=starts[1:])
    return starts


class _Body:
    """Collects sections, and joins them behind a header that describes each."""

    def __init__(self) -> None:
        self._sections: list[_Packed] = []

    def add(self, values: NDArray[Any]) -> None:
        """Add integers, in few bytes."""
        self._sections.append(_packed(values.astype(np.int64, copy=False)))

    def add_plain(self, numbers: NDArray[Any]) -> None:
        """Add numbers that a reader uses as they lie."""
        self._sections.append(_Packed(len(numbers), numbers))

    def finished(self) -> bytes:
        header = json.dumps([section.described for section in self._sections], separators=(",", ":")).encode()
        parts = [len(header).to_bytes(_WIDEST, "little"), _padded(header)]
        return b"".join([*parts, *(_padded(section.numbers.tobytes()) for section in self._sections)])


def _padded(raw: bytes) -> bytes:
    return raw + bytes(-len(raw) % _WIDEST)


def _sections(body: NDArray[np.uint8]) -> list[_Packed]:
    size = int.from_bytes(body[:_WIDEST].tobytes(), "little")
    header = json.loads(body[_WIDEST : _WIDEST + size].tobytes())
    at, sections = _WIDEST + size + -size % _WIDEST, []
    for count, kind, held, base, step, start, climbs, ends in header:
        numbers = np.frombuffer(body, kind, held, at)
        at += numbers.nbytes + -numbers.nbytes % _WIDEST
        sections.append(_Packed(count, numbers, base, step, start, bool(climbs), bool(ends)))
    return sections
