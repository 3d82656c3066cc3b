"""What one recall may see of a catalogue: which rows hold a token, laid out so that neighbours lie side by side."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from mnemic.core.items import Kind
from mnemic.index.columns import Column, EntryColumns
from mnemic.index.vectors import VisibleVectors
from mnemic.store.engine.codec import kind_number

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from mnemic.index.vectors import Similarity, VectorSight

NEAR: Final = 3_600_000_000
"""Items of no session are neighbours if said within this many microseconds."""

BEFORE: Final = (1.0, 0.5)
AFTER: Final = (0.5, 0.25)
"""What a word one and two turns before, or after, counts in a turn's window. A question stands before its answer."""


SHORT_BITS: Final = np.uint64(20)
"""Bits that a token is cut short by where rows are listed for it: a row's number takes their place in a sort."""
_ROW_MASK: Final = np.uint64((1 << 20) - 1)
SEGMENT_ROWS: Final = 1 << 20
"""Most rows in one segment."""

REACH: Final = len(BEFORE)
"""How far neighbours reach."""

KEPT_TOKENS: Final = 64
KEPT_PLACES: Final = 262_144
"""Most words whose places a reading keeps, and most places of all of them: some 3 MB at worst."""

_NO_ROWS: Final = np.empty(0, np.bool_)
TokenPostings: TypeAlias = "tuple[NDArray[np.intp], NDArray[np.float32]]"

_NOWHERE: Final = (np.empty(0, np.intp), np.empty(0, np.float32))


@dataclass(frozen=True, slots=True)
class PostingsSegment:
    """Rows `[first, first + rows)`, compressed: sorted tokens, and for each its rows ascending with their counts.

    A token is kept as the top 44 bits of its hash; two tokens of a million share them with a chance of 3 in 100. Rows
    are counted from `first`; they and the counts are integers of any width.
    """

    first: int
    rows: int
    tokens: NDArray[np.uint64]
    starts: NDArray[np.int64]
    where: NDArray[Any]
    counts: NDArray[Any]

    def find(self, token: int) -> tuple[NDArray[np.int32], NDArray[np.float32]] | None:
        """The rows that hold a token, ascending, and how often each does."""
        short = np.uint64(token >> 20)
        at = int(self.tokens.searchsorted(short))
        if at == len(self.tokens) or self.tokens[at] != short:
            return None
        start, end = self.starts[at], self.starts[at + 1]
        return self.rows_at(slice(start, end)), self.counts[start:end].astype(np.float32)

    def find_any(self, tokens: NDArray[np.uint64]) -> NDArray[np.int32]:
        """The rows that hold any of some tokens, token by token; one that holds two stands twice."""
        short = tokens >> SHORT_BITS
        at = self.tokens.searchsorted(short)
        here = at < len(self.tokens)
        at = at[here]
        at = at[self.tokens[at] == short[here]]
        rows = [self.rows_at(slice(self.starts[i], self.starts[i + 1])) for i in at.tolist()]
        return np.concatenate(rows) if rows else np.empty(0, np.int32)

    def rows_at(self, at: slice | NDArray[np.int64]) -> NDArray[np.int32]:
        """The rows at some positions of the lists, which lie end to end."""
        where: NDArray[np.int32] = self.where[at].astype(np.int32)
        where += np.int32(self.first)
        return where

    @property
    def nbytes(self) -> int:
        return self.tokens.nbytes + self.starts.nbytes + self.where.nbytes + self.counts.nbytes


def compress(first: int, tokens: NDArray[np.uint64], lengths: NDArray[np.int64]) -> PostingsSegment:
    """The segment of the rows from `first`, whose token streams lie end to end in `tokens`."""
    rows = np.repeat(np.arange(len(lengths), dtype=np.uint64), lengths)
    pairs = np.sort(
        tokens >> SHORT_BITS << SHORT_BITS | rows
    )  # one plain sort instead of an indirect one: ten times as fast
    new = np.flatnonzero(np.concatenate(([True], pairs[1:] != pairs[:-1]))) if len(pairs) else np.empty(0, np.int64)
    unique = pairs[new]
    heads = unique >> SHORT_BITS
    starts = np.flatnonzero(np.concatenate(([True], heads[1:] != heads[:-1]))) if len(heads) else np.empty(0, np.int64)
    return PostingsSegment(
        first=first,
        rows=len(lengths),
        tokens=heads[starts],
        starts=np.append(starts, len(unique)),
        where=(unique & _ROW_MASK).astype(np.int32),
        counts=np.diff(new, append=len(pairs)).astype(np.uint32),
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

    def find_any(self, tokens: NDArray[np.uint64]) -> NDArray[np.int32]:
        """As `PostingsSegment.find_any`."""
        rows = [np.array(lists[0], np.int32) for token in tokens.tolist() if (lists := self._lists.get(token))]
        return np.concatenate(rows) if rows else np.empty(0, np.int32)


class RowsHolding:
    """Which rows of a catalogue hold any word of a list, for lists that questions ask for again and again.

    Rows are only added, so a list that was looked up before is looked up in later rows only. For many threads.
    """

    def __init__(self) -> None:
        self._known: dict[tuple[int, ...], NDArray[np.bool_]] = {}

    @property
    def nbytes(self) -> int:
        return sum(held.nbytes for held in list(self._known.values()))

    def any_of(
        self, tokens: tuple[int, ...], parts: tuple[PostingsSegment | Tail, ...], rows: int
    ) -> NDArray[np.bool_]:
        """Which of the first `rows` rows hold any of some tokens, by the postings of all of them."""
        known = self._known.get(tokens, _NO_ROWS)
        if len(known) < rows:
            wanted = np.array(tokens, np.uint64)
            held = np.zeros(rows, np.bool_)
            held[: len(known)] = known
            for part in parts:
                if part.first + part.rows > len(known):
                    rows_of_any = part.find_any(wanted)
                    held[rows_of_any[rows_of_any < rows]] = True
            held.setflags(write=False)
            self._known[tokens] = known = held
        return known[:rows]


class Reading:
    """The read set of one catalogue for one view and filter. Immutable: later writes do not show in it.

    Places number the visible rows 0, 1 ... so that turns of a session are consecutive. All arrays are by place.

    Attributes:
        space: Whose rows these are.
        rows: The row at each place.
        lengths: Text tokens of each.
        window: Tokens of each with its neighbours', weighed as their words are.
        joined: `joined[d][p]`: there is a place p + d, and it is a neighbour of p (d = 1, 2). Two places longer than
            the others, so that p may be -1 or -2, and join nothing.
        groups: The session's group of each; 0 for none.
        size: How many entries can be seen.
    """

    def __init__(
        self,
        space: int,
        columns: EntryColumns,
        parts: tuple[PostingsSegment | Tail, ...],
        holding: RowsHolding,
        visible: NDArray[np.bool_],
        vectors: Mapping[int, VectorSight],
    ) -> None:
        """`holding`: of the same rows as `parts`; `vectors`: by embedder."""
        self.space = space
        self._table, self._streams = columns.arrays
        self._parts, self._holding = parts, holding
        layout = columns.layout()
        kept = visible if layout.sequential else visible[layout.rows]
        count = int(np.count_nonzero(kept))
        # A past most often shows the first so many places: a slice of the layout needs no copy.
        shown = slice(count) if kept[:count].all() else kept
        self.rows = layout.rows[shown]
        self._shown = shown if layout.sequential and isinstance(shown, slice) else self.rows
        self.lengths = layout.lengths[shown]
        self.groups = layout.groups[shown]
        self.size = len(self.rows)
        self._place = np.full(len(visible), -1, dtype=np.intp)
        self._place[self._shown] = np.arange(len(self.rows))
        self._sights = {model: VisibleVectors(sight, self._place) for model, sight in vectors.items()}
        self._found: dict[int, TokenPostings] = {}
        self._kept = 0
        self.joined = {1: self._neighbours(1), 2: self._neighbours(2)}
        self.window = self._windows()
        self.group_count = columns.groups
        self.group_lengths = np.bincount(self.groups, self.lengths, minlength=self.group_count).astype(np.float32)
        own = self._place.nbytes + self.rows.nbytes + self.lengths.nbytes * 2 + self.groups.nbytes + 2 * self.size
        self._nbytes = own + sum(sight.nbytes for sight in self._sights.values())

    @property
    def nbytes(self) -> int:
        """Memory taken beside the columns, about."""
        looked_up = sum(places.nbytes + counts.nbytes for places, counts in list(self._found.values()))
        return self._nbytes + looked_up

    @property
    def parts(self) -> tuple[PostingsSegment | Tail, ...]:
        """The postings of all rows, seen or not, the oldest first."""
        return self._parts

    @cached_property
    def totals(self) -> tuple[float, float, int, float]:
        """The sums of `lengths` and of `window`, how many sessions can be seen, and the sum of their lengths."""
        sessions = self.group_lengths[1:]
        counts = int(np.count_nonzero(sessions)), float(sessions.sum())
        return float(self.lengths.sum()), float(self.window.sum()), *counts

    @cached_property
    def said(self) -> NDArray[np.int64]:
        """When each was said, microseconds."""
        said: NDArray[np.int64] = self._table[Column.SAID, self._shown]
        return said

    @cached_property
    def lengthy(self) -> NDArray[np.bool_]:
        """Which belong to documents, as wholes or as chunks."""
        kinds = self._kinds
        lengthy: NDArray[np.bool_] = (kinds == kind_number(Kind.DOCUMENT)) | (kinds == kind_number(Kind.CHUNK))
        return lengthy

    @cached_property
    def heads(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The documents that were split, and for each where its chunks end, which follow it."""
        chunks = self._kinds == kind_number(Kind.CHUNK)
        if not chunks.any():
            return _NOWHERE[0], _NOWHERE[0]
        heads = np.flatnonzero((self._kinds[:-1] == kind_number(Kind.DOCUMENT)) & chunks[1:])
        others = np.append(np.flatnonzero(~chunks), self.size)
        return heads, others[others.searchsorted(heads, "right")]

    @cached_property
    def runs(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Where the places of each session begin, one after the other, and how many there are."""
        starts = np.flatnonzero(np.append(True, self.groups[1:] != self.groups[:-1]))
        return starts, np.diff(starts, append=self.size)

    @property
    def _kinds(self) -> NDArray[np.int64]:
        kinds: NDArray[np.int64] = self._table[Column.KIND, self._shown]
        return kinds

    def similar(self, model: int, query: NDArray[np.float32]) -> Similarity | None:
        """How near a question is by an embedder's vectors; None if the reading was not asked for with that embedder.

        `query`: (dims,), of unit length.

        Raises:
            Invalid: the question's vector is not of the embedder's dimensions.
        """
        sight = self._sights.get(model)
        return None if sight is None else sight.similar(query)

    def looked_at(self, model: int, query: NDArray[np.float32]) -> NDArray[np.intp]:
        """The rows whose vectors a question is compared with, ascending, for an embedder that the reading has."""
        return self._sights[model].looked_at(query)

    def vectors(self, model: int, places: NDArray[np.intp]) -> NDArray[np.float32]:
        """The vectors of some places by an embedder that the reading has; zeros where there is none yet."""
        return self._sights[model].of(self.rows[places])

    def traits(self, model: int, places: NDArray[np.intp]) -> NDArray[np.float32]:
        """What an embedder that the reading has tells of some places: see `VisibleVectors.traits_of`."""
        return self._sights[model].traits_of(self.rows[places])

    def centrality(self, model: int, places: NDArray[np.intp]) -> NDArray[np.float32]:
        """How near some places of a `similar` are to the mean of all: such a place is near to every question."""
        return self._sights[model].centrality(self.rows[places])

    def values(self, which: Column, places: NDArray[np.intp]) -> NDArray[np.int64]:
        """One column, at some places."""
        values: NDArray[np.int64] = self._table[which, self.rows[places]]
        return values

    def value(self, which: Column, place: int) -> int:
        """One integer of one row."""
        return int(self._table[which, self.rows[place]])

    def of_commit(self, seq: int) -> list[int]:
        """The numbers of the versions that a commit made and that can be seen, each once."""
        made = self._table[Column.SEQ_FROM, self.rows] == seq
        return sorted(set(self._table[Column.VER, self.rows[made]].tolist()))

    def part(self, place: int) -> int:
        """Which part of its version the entry at a place is."""
        return self.value(Column.PART, place)

    def stream(self, place: int) -> NDArray[np.uint64]:
        """The token stream at a place."""
        return self._streams.stream(int(self.rows[place]))

    def streams(self, places: NDArray[np.intp]) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
        """The token streams of some places, end to end, and how many tokens each has."""
        return self._streams.end_to_end(self.rows[places])

    def says(self, place: int, phrase: Sequence[int]) -> bool:
        """Whether the entry at a place holds these tokens one after the other."""
        stream = self.stream(place).tolist()
        starts = (i for i, token in enumerate(stream) if token == phrase[0])
        return any(stream[i : i + len(phrase)] == list(phrase) for i in starts)

    def placed(self, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        """Where some rows of `parts` lie; -1 for those that cannot be seen, the tail's newest among them."""
        placed = np.full(len(rows), -1, dtype=np.intp)
        known = rows < len(self._place)
        placed[known] = self._place[rows[known]]
        return placed

    def find(self, token: int) -> TokenPostings:
        """The places that hold a token, each once, and how often each does.

        One recall looks a word up once for each stage and hit: what there is room for is kept for the next.
        """
        postings = self._found.get(token)
        if postings is None:
            postings = self._looked_up(token)
            if len(postings[0]) <= KEPT_PLACES:
                if len(self._found) >= KEPT_TOKENS or self._kept + len(postings[0]) > KEPT_PLACES:
                    self._found.clear()
                    self._kept = 0
                self._found[token] = postings
                self._kept += len(postings[0])
        return postings

    def _looked_up(self, token: int) -> TokenPostings:
        hits = [hit for part in self._parts if (hit := part.find(token)) is not None]
        if not hits:
            return _NOWHERE
        rows, counts = hits[0] if len(hits) == 1 else (np.concatenate(column) for column in zip(*hits, strict=True))
        if rows[-1] >= len(self._place):  # rows are ascending, and the tail may have grown
            known = int(rows.searchsorted(len(self._place)))
            rows, counts = rows[:known], counts[:known]
        places = self._place[rows]
        if self.size == len(self._place):
            return places, counts
        seen = places >= 0
        return places[seen], counts[seen]

    def holding_any(self, tokens: tuple[int, ...]) -> NDArray[np.bool_]:
        """Which places hold any of some tokens; what was looked up is kept, so for lists that are always the same."""
        held: NDArray[np.bool_] = self._holding.any_of(tokens, self._parts, len(self._place))[self._shown]
        return held

    def holds(self, token: int, places: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Which of some places hold a token."""
        holders, _ = self.find(token)
        if not len(holders):
            return np.zeros(places.shape, dtype=np.bool_)
        held = np.zeros(self.size, dtype=np.bool_)
        held[holders] = True
        return held[places]

    def neighbours(self, places: NDArray[np.intp]) -> NDArray[np.intp]:
        """The places within two turns of each in its session: four columns; its own place where there is none."""
        near = np.empty((4, len(places)), dtype=np.intp)
        for i, distance in enumerate((1, 2)):
            joined = self.joined[distance]
            near[i] = places + distance * joined[places]
            near[i + 2] = places - distance * joined[places - distance]
        return near.T

    def _neighbours(self, distance: int) -> NDArray[np.bool_]:
        joined = np.zeros(self.size + REACH, dtype=np.bool_)
        ahead = joined[: max(0, self.size - distance)]
        ahead[:] = self.groups[distance:] == self.groups[:-distance]
        loose = self.groups[distance:] == 0
        if loose.any():
            near = self.said[distance:] - self.said[:-distance] <= NEAR
            if self.lengthy.any():  # what was taken in together is not one text: each document begins anew
                begun = np.cumsum(self._kinds == kind_number(Kind.DOCUMENT))
                near &= begun[distance:] == begun[:-distance]
            ahead &= ~loose | near
        return joined

    def _windows(self) -> NDArray[np.float32]:
        total = self.lengths.copy()
        for distance, before, after in zip((1, 2), BEFORE, AFTER, strict=True):
            linked = self.joined[distance][: max(0, self.size - distance)]
            total[distance:] += np.float32(before) * self.lengths[:-distance] * linked
            total[:-distance] += np.float32(after) * self.lengths[distance:] * linked
        return total
