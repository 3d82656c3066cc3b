"""What a catalogue keeps of each entry: a row of integers, a token stream, its neighbours; and which hold a token."""

from __future__ import annotations

import bisect
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Final

import numpy as np

from mnemic.core.queries import Entry

if TYPE_CHECKING:
    from numpy.typing import NDArray

FIELD_SHIFT: Final = np.uint64(62)
"""Where a token's field lies in its hash."""

_ROW_BITS: Final = np.uint64(20)
_ROW_MASK: Final = np.uint64((1 << 20) - 1)
SEGMENT_ROWS: Final = 1 << 20
"""Most rows in one segment."""


class Column(IntEnum):
    """The integers of a row; times are microseconds."""

    VER = 0
    PART = 1
    SEQ_FROM = 2
    SEQ_TO = 3
    STATE = 4
    KIND = 5
    SAID = 6
    KNOWN_TO = 7
    VALID_FROM = 8
    VALID_TO = 9
    AGENT = 10
    SESSION = 11
    POS = 12
    PINNED = 13
    LENGTH = 14
    GROUP = 15


@dataclass(frozen=True, slots=True)
class Layout:
    """All rows in reading order: by session and position in it; without a session, by when they were said.

    Attributes:
        rows: The row at each place.
        lengths, groups: Two columns, by place.
        sequential: Rows lie in order of arrival.
    """

    rows: NDArray[np.intp]
    lengths: NDArray[np.float32]
    groups: NDArray[np.intp]
    sequential: bool


class EntryColumns:
    """Rows in order of arrival, so ascending by (ver, part). Rows are only added; closing one sets its `SEQ_TO`.

    `LENGTH` is the number of text tokens, `GROUP` numbers the sessions 1, 2 ... as they appear (0: none).
    """

    def __init__(self) -> None:
        self.rows = 0
        self._table = np.empty((len(Column), 64), dtype=np.int64)
        self._tokens = np.empty(1024, dtype=np.uint64)
        self._starts = np.zeros(65, dtype=np.int64)
        self._groups: dict[int, int] = {0: 0}
        self._order = np.empty(0, dtype=np.intp)
        self._layout: Layout | None = None

    @property
    def groups(self) -> int:
        """The number of groups, group 0 (no session) among them."""
        return len(self._groups)

    @property
    def nbytes(self) -> int:
        return self._table.nbytes + self._tokens.nbytes + self._starts.nbytes + self._order.nbytes

    @property
    def last_ver(self) -> int:
        return int(self._table[Column.VER, self.rows - 1]) if self.rows else 0

    def column(self, which: Column) -> NDArray[np.int64]:
        """One column of all rows; a view that later additions leave as it is."""
        return self._table[which, : self.rows]

    @property
    def worded(self) -> NDArray[np.bool_]:
        """Which rows hold any token: what rules derived holds none, and is not searched."""
        worded: NDArray[np.bool_] = np.diff(self._starts[: self.rows + 1]) > 0
        return worded

    def stream(self, row: int) -> NDArray[np.uint64]:
        """The token stream of one row."""
        return self._tokens[self._starts[row] : self._starts[row + 1]]

    def streams(self, first: int, rows: int) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
        """The streams of some rows end to end, and their lengths."""
        bounds = self._starts[first : first + rows + 1]
        return self._tokens[bounds[0] : bounds[-1]], np.diff(bounds)

    def add(self, entries: Sequence[Entry]) -> None:
        """Add rows, ascending by (ver, part) and past all that are there."""
        first, count = self.rows, len(entries)
        self._reserve(count, sum(len(entry.terms) for entry in entries) // 8)
        fresh = np.frombuffer(b"".join([entry.terms for entry in entries]), dtype="<u8")
        sizes = np.fromiter((len(entry.terms) >> 3 for entry in entries), dtype=np.int64, count=count)
        begin = int(self._starts[first])
        self._tokens[begin : begin + len(fresh)] = fresh
        ends = begin + np.cumsum(sizes)
        self._starts[first + 1 : first + count + 1] = ends
        self._table[:, first : first + count] = self._integers(entries)
        texts = np.concatenate(([0], np.cumsum(fresh >> FIELD_SHIFT == 0)))
        self._table[Column.LENGTH, first : first + count] = texts[ends - begin] - texts[ends - begin - sizes]
        self.rows += count
        self._place(first)
        self._layout = None

    def close(self, ver: int, seq_to: int) -> None:
        """Set the `SEQ_TO` of all rows of a version."""
        vers = self.column(Column.VER)
        low, high = np.searchsorted(vers, ver, "left"), np.searchsorted(vers, ver, "right")
        self._table[Column.SEQ_TO, low:high] = seq_to

    def layout(self) -> Layout:
        """The rows in reading order; worked out once until rows are added."""
        if self._layout is None:
            order = self._order
            lengths = self.column(Column.LENGTH)[order].astype(np.float32)
            sequential = bool((order[1:] > order[:-1]).all())
            self._layout = Layout(order, lengths, self.column(Column.GROUP)[order], sequential)
        return self._layout

    def _integers(self, entries: Sequence[Entry]) -> NDArray[np.int64]:
        number = self._groups.setdefault
        rows = [
            (
                e.ver,
                e.part,
                e.seq_from,
                e.seq_to,
                e.state,
                e.kind,
                e.said,
                e.known_to,
                e.valid_from,
                e.valid_to,
                e.agent,
            )
            for e in entries
        ]
        places = [(e.session, e.pos, e.pinned, 0, number(e.session, len(self._groups))) for e in entries]
        return np.concatenate((np.array(rows, dtype=np.int64).T, np.array(places, dtype=np.int64).T))

    def _reserve(self, rows: int, tokens: int) -> None:
        if (need := self.rows + rows) > self._table.shape[1]:
            size = max(need, 2 * self._table.shape[1])
            table = np.empty((len(Column), size), dtype=np.int64)
            table[:, : self.rows] = self._table[:, : self.rows]
            starts = np.zeros(size + 1, dtype=np.int64)
            starts[: self.rows + 1] = self._starts[: self.rows + 1]
            self._table, self._starts = table, starts
        used = int(self._starts[self.rows])
        if used + tokens > len(self._tokens):
            grown = np.empty(max(used + tokens, 2 * len(self._tokens)), dtype=np.uint64)
            grown[:used] = self._tokens[:used]
            self._tokens = grown

    def _place(self, first: int) -> None:
        if self.rows - first > 32:
            self._order = self._sorted()
            return
        for row in range(first, self.rows):
            at = bisect.bisect_right(self._order, self._key(row), key=lambda other: self._key(int(other)))
            self._order = np.insert(self._order, at, row)

    def _key(self, row: int) -> tuple[int, int, int]:
        session = int(self._table[Column.SESSION, row])
        return session, int(self._table[Column.POS if session else Column.SAID, row]), row

    def _sorted(self) -> NDArray[np.intp]:
        session = self.column(Column.SESSION)
        within = np.where(session == 0, self.column(Column.SAID), self.column(Column.POS))
        return np.lexsort((within, session))  # stable, so rows of one place stay in order of arrival


@dataclass(frozen=True, slots=True)
class PostingsSegment:
    """Rows `[first, first + rows)`, compressed: sorted tokens, and for each its rows ascending with their counts.

    A token is kept as the top 44 bits of its hash; two tokens of a million share them with a chance of 3 in 100.
    """

    first: int
    rows: int
    tokens: NDArray[np.uint64]
    starts: NDArray[np.int64]
    where: NDArray[np.int32]
    counts: NDArray[np.float32]

    def find(self, token: int) -> tuple[NDArray[np.int32], NDArray[np.float32]] | None:
        """The rows that hold a token, ascending, and how often each does."""
        short = np.uint64(token >> 20)
        at = int(self.tokens.searchsorted(short))
        if at == len(self.tokens) or self.tokens[at] != short:
            return None
        start, end = self.starts[at], self.starts[at + 1]
        return self.where[start:end], self.counts[start:end]

    @property
    def nbytes(self) -> int:
        return self.tokens.nbytes + self.starts.nbytes + self.where.nbytes + self.counts.nbytes


def compress(first: int, tokens: NDArray[np.uint64], lengths: NDArray[np.int64]) -> PostingsSegment:
    """The segment of the rows from `first`, whose token streams lie end to end in `tokens`."""
    rows = np.repeat(np.arange(len(lengths), dtype=np.uint64), lengths)
    pairs = np.sort(
        tokens >> _ROW_BITS << _ROW_BITS | rows
    )  # one plain sort instead of an indirect one: ten times as fast
    new = np.flatnonzero(np.concatenate(([True], pairs[1:] != pairs[:-1]))) if len(pairs) else np.empty(0, np.int64)
    unique = pairs[new]
    heads = unique >> _ROW_BITS
    starts = np.flatnonzero(np.concatenate(([True], heads[1:] != heads[:-1]))) if len(heads) else np.empty(0, np.int64)
    return PostingsSegment(
        first=first,
        rows=len(lengths),
        tokens=heads[starts],
        starts=np.append(starts, len(unique)),
        where=(unique & _ROW_MASK).astype(np.int32) + np.int32(first),
        counts=np.diff(new, append=len(pairs)).astype(np.float32),
    )


class Tail:
    """Postings of the newest rows, uncompressed: cheap to add to. One thread adds while others find."""

    def __init__(self, first: int) -> None:
        self.first = first
        self.rows = 0
        self._lists: dict[int, tuple[list[int], list[int]]] = {}

    def add(self, tokens: list[int]) -> None:
        """Add the tokens of the next row."""
        row = self.first + self.rows
        for token, count in Counter(tokens).items():
            where, counts = self._lists.setdefault(token, ([], []))
            counts.append(count)
            where.append(row)  # last, so that whoever sees the row finds its count
        self.rows += 1

    def find(self, token: int) -> tuple[NDArray[np.int32], NDArray[np.float32]] | None:
        """As `PostingsSegment.find`; a row that is being added meanwhile may be among them."""
        lists = self._lists.get(token)
        if lists is None or not lists[0]:
            return None
        where = np.array(lists[0], dtype=np.int32)
        return where, np.array(lists[1][: len(where)], dtype=np.float32)
