"""What a catalogue keeps of each entry: a row of integers and a token stream; and which rows a view shows."""

from __future__ import annotations

import bisect
from dataclasses import dataclass, replace
from enum import IntEnum
from itertools import accumulate
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np

from mnemic.core.clock import FOREVER
from mnemic.core.queries import Filter
from mnemic.core.visibility import conditions, sight_clauses
from mnemic.store.engine.codec import number_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from mnemic.core.queries import Entry, View
    from mnemic.core.visibility import ColumnName, Condition, Operator

FIELD_SHIFT: Final = np.uint64(62)
"""Where a token's field lies in its hash."""


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
    CHANNEL = 14
    EXPIRES = 15
    SIGHT = 16
    LENGTH = 17
    GROUP = 18


PACKED_COLUMNS: Final = tuple(column for column in Column if column is not Column.GROUP)
"""Those that a pack of rows holds: groups are numbered over all rows of a space."""

_STORED: Final = tuple(column for column in PACKED_COLUMNS if column is not Column.LENGTH)
"""Those that an entry begins with, in its order."""

_SLACK: Final = 16
"""Where rows come in packs, one in so many more may be added before the table is moved."""


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


@dataclass(frozen=True, slots=True)
class Shelves:
    """A filter whose names are resolved to the ids of names in one space.

    Attributes:
        agent, session: The id of a name, or None for any; -1 matches nothing.
        hidden: Versions that a branch in front of the space has others of, ascending.
        reader: The strategy that asks.
    """

    agent: int | None = None
    session: int | None = None
    hidden: tuple[int, ...] = ()
    reader: str | None = None


@dataclass(frozen=True, slots=True)
class PackedStreams:
    """The token streams of some rows, as numbers in a directory of tokens.

    Attributes:
        starts: Where the stream of each row begins in `numbers`, and where the last one ends.
    """

    directory: NDArray[np.uint64]
    numbers: NDArray[Any]
    starts: NDArray[np.int64]

    @property
    def rows(self) -> int:
        return len(self.starts) - 1

    def stream(self, row: int) -> NDArray[np.uint64]:
        """The stream of one row."""
        stream: NDArray[np.uint64] = self.directory[self.numbers[self.starts[row] : self.starts[row + 1]]]
        return stream


@dataclass(frozen=True, slots=True)
class TokenStreams:
    """The token streams of all rows: those of packs first, the others end to end in `tokens`.

    Attributes:
        bounds: The row at which each pack ends.
        starts: Where the stream of each other row begins.
    """

    packed: tuple[PackedStreams, ...]
    bounds: tuple[int, ...]
    tokens: NDArray[np.uint64]
    starts: NDArray[np.int64]

    def stream(self, row: int) -> NDArray[np.uint64]:
        """The stream of one row."""
        which = bisect.bisect_right(self.bounds, row)
        within = row - self.bounds[which - 1] if which else row
        if which < len(self.packed):
            return self.packed[which].stream(within)
        return self.tokens[self.starts[within] : self.starts[within + 1]]

    def end_to_end(self, rows: NDArray[np.intp]) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
        """The streams of some rows, end to end, and how many tokens each has."""
        held = self.bounds[-1] if self.bounds else 0
        if not len(rows) or rows.min() < held:
            streams = [self.stream(row) for row in rows.tolist()]
            sizes = np.fromiter(map(len, streams), np.int64, len(streams))
            return np.concatenate(streams) if streams else np.empty(0, np.uint64), sizes
        begins = self.starts[rows - held]
        sizes = self.starts[rows - held + 1] - begins
        ends = sizes.cumsum()
        return self.tokens[np.arange(ends[-1]) + (begins - ends + sizes).repeat(sizes)], sizes


class PackOfRows(Protocol):
    """Rows that come together, with their streams."""

    @property
    def rows(self) -> int:
        """How many."""
        ...

    @property
    def streams(self) -> PackedStreams:
        """Their token streams."""
        ...

    @property
    def nbytes(self) -> int:
        """Memory taken."""
        ...

    def fill(self, table: NDArray[np.int64]) -> None:
        """Write their columns, but for the group, into a table by `Column`."""
        ...


class EntryColumns:
    """Rows in order of arrival, so ascending by (ver, part). Rows are only added; closing one sets its `SEQ_TO`.

    `LENGTH` is the number of text tokens, `GROUP` numbers the sessions 1, 2 ... as they appear (0: none).
    """

    def __init__(self, packs: Sequence[PackOfRows] = ()) -> None:
        """`packs`: what it begins with, in order."""
        self._packed = tuple(pack.streams for pack in packs)
        self._bounds = tuple(accumulate(pack.rows for pack in packs))
        self._packed_bytes = sum(pack.nbytes for pack in packs)
        self.rows = rows = self._bounds[-1] if packs else 0
        self._table = np.empty((len(Column), rows + max(64, rows // _SLACK)), dtype=np.int64)
        self._tokens = np.empty(1024, dtype=np.uint64)
        self._starts = np.zeros(self._table.shape[1] - rows + 1, dtype=np.int64)
        self._groups: dict[int, int] = {0: 0}
        self._order = np.empty(0, dtype=np.intp)
        self._layout: Layout | None = None
        self._worded: NDArray[np.bool_] | None = None
        for pack, end in zip(packs, self._bounds, strict=True):
            pack.fill(self._table[:, end - pack.rows : end])
        if packs:
            self._number_groups()
            self._order = self._sorted()

    @property
    def groups(self) -> int:
        """The number of groups, group 0 (no session) among them."""
        return len(self._groups)

    @property
    def packed(self) -> int:
        """How many rows came in packs."""
        return self._bounds[-1] if self._bounds else 0

    @property
    def nbytes(self) -> int:
        held = self._table.nbytes + self._tokens.nbytes + self._starts.nbytes + self._order.nbytes
        return held + self._packed_bytes

    @property
    def last_ver(self) -> int:
        return int(self._table[Column.VER, self.rows - 1]) if self.rows else 0

    def column(self, which: Column) -> NDArray[np.int64]:
        """One column of all rows; a view that later additions leave as it is."""
        return self._table[which, : self.rows]

    @property
    def arrays(self) -> tuple[NDArray[np.int64], TokenStreams]:
        """All columns by `Column`, and all token streams.

        Views of the rows that there are: later additions leave them as they are.
        """
        return self._table[:, : self.rows], TokenStreams(self._packed, self._bounds, self._tokens, self._starts)

    @property
    def sizes(self) -> NDArray[np.int64]:
        """How many tokens the stream of each row has."""
        own = np.diff(self._starts[: self.rows - self.packed + 1])
        return np.concatenate([*(np.diff(streams.starts) for streams in self._packed), own])

    @property
    def tokens(self) -> NDArray[np.uint64]:
        """All streams end to end."""
        own = self._tokens[: self._starts[self.rows - self.packed]]
        return np.concatenate([*(streams.directory[streams.numbers] for streams in self._packed), own])

    @property
    def worded(self) -> NDArray[np.bool_]:
        """Which rows hold any token: what rules derived holds none, and is not searched; kept until rows are added."""
        if self._worded is None:
            self._worded = self.sizes > 0
            self._worded.setflags(write=False)
        return self._worded

    def streams(self, first: int, rows: int) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
        """The streams of some rows that came in no pack, end to end, and their lengths."""
        bounds = self._starts[first - self.packed : first - self.packed + rows + 1]
        return self._tokens[bounds[0] : bounds[-1]], np.diff(bounds)

    def add(self, entries: Sequence[Entry]) -> None:
        """Add rows, ascending by (ver, part) and past all that are there."""
        first, count = self.rows, len(entries)
        streams = [entry.terms for entry in entries]
        fresh = np.frombuffer(b"".join(streams), dtype="<u8")
        sizes = np.fromiter(map(len, streams), dtype=np.int64, count=count) >> 3
        self._reserve(count, len(fresh))
        place = first - self.packed
        begin = int(self._starts[place])
        self._tokens[begin : begin + len(fresh)] = fresh
        ends = begin + np.cumsum(sizes)
        self._starts[place + 1 : place + count + 1] = ends
        self._table[:, first : first + count] = self._integers(entries)
        texts = np.concatenate(([0], np.cumsum(fresh >> FIELD_SHIFT == 0)))
        self._table[Column.LENGTH, first : first + count] = texts[ends - begin] - texts[ends - begin - sizes]
        self.rows += count
        self._place(first)
        self._layout = self._worded = None

    def close(self, closed: Sequence[tuple[int, int]]) -> None:
        """Set the `SEQ_TO` of all rows of versions: (version, commit) of each."""
        if not closed:
            return
        vers, seqs = (np.array(column, dtype=np.int64) for column in zip(*closed, strict=True))
        first, end = self._stretches(vers)
        sizes = end - first
        within = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        self._table[Column.SEQ_TO, np.repeat(first, sizes) + within] = np.repeat(seqs, sizes)

    def reopen(self, seq: int) -> None:
        """Have what was closed by later commits than this stand open."""
        ends = self.column(Column.SEQ_TO)
        ends[ends > seq] = FOREVER

    def of_versions(self, vers: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Mark the rows of some versions, each given once."""
        first, end = self._stretches(vers)
        steps = np.zeros(self.rows + 1, dtype=np.int8)
        here = first < end
        steps[first[here]] = 1
        steps[end[here]] -= 1
        marked: NDArray[np.bool_] = np.cumsum(steps[:-1], dtype=np.int8).astype(np.bool_)
        return marked

    def _stretches(self, vers: NDArray[np.int64]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Where the rows of each version begin and end: nowhere for one that has none."""
        held = self.column(Column.VER)
        return held.searchsorted(vers, "left"), held.searchsorted(vers, "right")

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
        integers = np.zeros((len(Column), len(entries)), dtype=np.int64)
        integers[: len(_STORED)] = np.array([entry[: len(_STORED)] for entry in entries], dtype=np.int64).T
        integers[Column.GROUP] = [number(entry.session, len(self._groups)) for entry in entries]
        return integers

    def _reserve(self, rows: int, tokens: int) -> None:
        if (need := self.rows + rows) > self._table.shape[1]:
            size = max(need, 2 * self._table.shape[1])
            table = np.empty((len(Column), size), dtype=np.int64)
            table[:, : self.rows] = self._table[:, : self.rows]
            starts, own = np.zeros(size - self.packed + 1, dtype=np.int64), self.rows - self.packed
            starts[: own + 1] = self._starts[: own + 1]
            self._table, self._starts = table, starts
        used = int(self._starts[self.rows - self.packed])
        if used + tokens > len(self._tokens):
            grown = np.empty(max(used + tokens, 2 * len(self._tokens)), dtype=np.uint64)
            grown[:used] = self._tokens[:used]
            self._tokens = grown

    def _number_groups(self) -> None:
        """Number the sessions of all rows as they appear."""
        session = self.column(Column.SESSION)
        begins = np.flatnonzero(np.diff(session, prepend=session[:1] - 1))
        named, firsts, runs = np.unique(session[begins], return_index=True, return_inverse=True)
        for number in session[begins[np.sort(firsts)]].tolist():
            self._groups.setdefault(number, len(self._groups))
        numbers = np.array([self._groups[number] for number in named.tolist()], dtype=np.int64)
        self._table[Column.GROUP, : self.rows] = np.repeat(numbers[runs], np.diff(begins, append=self.rows))

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
        later = (session[1:] > session[:-1]) | ((session[1:] == session[:-1]) & (within[1:] >= within[:-1]))
        if later.all():
            return np.arange(self.rows, dtype=np.intp)
        return np.lexsort((within, session))  # stable, so rows of one place stay in order of arrival


def visible(
    columns: EntryColumns,
    seq: int,
    view: View,
    where: Filter,
    shelves: Shelves,
    bearers: Mapping[Condition, NDArray[np.int64]] = MappingProxyType({}),
) -> NDArray[np.bool_]:
    """Mark the rows that a view and a filter show to a reader whose head is `seq`: (rows,), in their order.

    The filter's agent and session are taken from `shelves`, and which versions bear its tags, authors and slots from
    `bearers`.
    """
    at = seq if view.at is None else min(seq, view.at)
    shown = columns.worded.copy()
    for clause in (*conditions(replace(view, at=at), where), *sight_clauses(where, shelves.reader)):
        if clause[0].column in _SHELVED:
            continue
        held = _mask(columns, clause[0], bearers)
        for other in clause[1:]:
            held |= _mask(columns, other, bearers)
        shown &= held
    if shelves.agent is not None:
        shown &= columns.column(Column.AGENT) == shelves.agent
    if shelves.session is not None:
        shown &= columns.column(Column.SESSION) == shelves.session
    if shelves.hidden:
        shown &= ~np.isin(columns.column(Column.VER), shelves.hidden)
    return shown


def standing(columns: EntryColumns, view: View, hidden: tuple[int, ...]) -> NDArray[np.bool_]:
    """Mark the rows that a view shows in listings, of items that nobody searches too: (rows,), in their order."""
    shown = np.ones(columns.rows, np.bool_)
    for clause in conditions(view, Filter()):
        held = _mask(columns, clause[0], {})
        for other in clause[1:]:
            held |= _mask(columns, other, {})
        shown &= held
    if hidden:
        shown &= ~np.isin(columns.column(Column.VER), hidden)
    return shown


def _mask(
    columns: EntryColumns, condition: Condition, bearers: Mapping[Condition, NDArray[np.int64]]
) -> NDArray[np.bool_]:
    """Compile a condition to a mask over all rows."""
    if condition in bearers:
        return columns.of_versions(bearers[condition])
    column = columns.column(_COLUMNS[condition.column])
    values = [number_of(value) for value in condition.values]
    if condition.operator == "IN":
        return _any_of(column, values)
    mask: NDArray[np.bool_] = _COMPARED[condition.operator](column, values[0])
    return mask


_COLUMNS: Final[Mapping[ColumnName, Column]] = {
    "seq_from": Column.SEQ_FROM,
    "seq_to": Column.SEQ_TO,
    "state": Column.STATE,
    "kind": Column.KIND,
    "channel": Column.CHANNEL,
    "sight": Column.SIGHT,
    "said": Column.SAID,
    "known_to": Column.KNOWN_TO,
    "valid_from": Column.VALID_FROM,
    "valid_to": Column.VALID_TO,
    "expires": Column.EXPIRES,
}
"""Those that say in every space what they say here; of the others, `Shelves` has what a filter means in one space."""
_SHELVED: Final = frozenset({"agent", "session"})
_COMPARED: Final[Mapping[Operator, np.ufunc]] = {
    "<": np.less,
    "<=": np.less_equal,
    ">=": np.greater_equal,
    ">": np.greater,
}


def _any_of(column: NDArray[np.int64], values: list[int]) -> NDArray[np.bool_]:
    matched: NDArray[np.bool_] = column == values[0]
    for value in values[1:]:
        matched |= column == value
    return matched
