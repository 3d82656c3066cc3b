"""One space's index in memory: its columns, its postings, its vectors, and the readings made of them."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Final

import numpy as np

from mnemic.core.clock import FOREVER
from mnemic.core.items import State
from mnemic.core.queries import Filter, View
from mnemic.core.visibility import facet_clauses, sight_clauses
from mnemic.index.columns import Column, EntryColumns, Shelves, standing, visible
from mnemic.index.link_table import LinkTable
from mnemic.index.packing import pack, sound_body, unpack
from mnemic.index.packing_lane import entries_between
from mnemic.index.reading import SEGMENT_ROWS, PostingsSegment, Reading, RowsHolding, Tail, compress
from mnemic.index.sign_packing import packed_signs
from mnemic.index.vectors import VectorTable, most_exact
from mnemic.store.values.work import embedding_lane

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from mnemic.core.queries import Entry, LaterEvidence
    from mnemic.core.visibility import Condition
    from mnemic.index.link_table import SpaceLinks
    from mnemic.store.engine.snapshot import Snapshot
    from mnemic.store.values.heads import SpaceHead
    from mnemic.store.values.work import PackRow

    Floats = NDArray[np.float32]

_TAIL_ROWS: Final = 512
"""Most rows in the tail; with one more it is compressed."""

_TRICKLE: Final = 32
"""Most rows that come together and are not compressed at once: in the tail a row takes twenty times as much room."""

_GROWTH: Final = 4
"""A segment is merged with new rows unless it is so many times as large, so that each row is merged few times."""

_LOAD: Final = 10_000
"""Entries read at once, so that a large space is not in memory twice."""

_READINGS: Final = 4
"""Read sets kept: the present one, and those of pasts and filters that were asked for last."""

_ROW_BYTES: Final = 200
"""What a row of the tail takes beside its columns."""


_BEARERS: Final = 16
"""Conditions on tags, authors and slots of which is kept whom they are true of."""


@dataclass(frozen=True, slots=True)
class _Bearers:
    """The versions up to `upto`, as of commit `seq`, that a condition is true of, ascending."""

    seq: int
    upto: int
    vers: NDArray[np.int64]


class Catalogue:
    """All entries of one space. Not safe to share while it follows; its readings are.

    Attributes:
        nbytes: Memory taken as the last new reading was made, about.
        unpacked: How many rows were read as entries, or as vectors that should have signs, since somebody asked last.
        unsound: The packs that were found not to be what was kept, since somebody asked last.
    """

    def __init__(self, space: int, epoch: int, *, packs: bool = True) -> None:
        """`packs`: whether to read what was packed."""
        self.space = space
        self._packs = packs
        self.unpacked = 0
        self.unsound: tuple[PackRow, ...] = ()
        self.epoch = epoch
        self._horizon = 0
        self._begin()

    def _begin(self) -> None:
        self.seq = self.nbytes = self.unpacked = 0
        self.columns = EntryColumns()
        self._segments: tuple[PostingsSegment, ...] = ()
        self._tail = Tail(0)
        self._holding = RowsHolding()
        self._vectors: dict[int, VectorTable] = {}
        self._links: LinkTable | None = None
        self._bearers: dict[Condition, _Bearers] = {}
        self._expiries: list[int] = []
        """When any of its rows expire, ascending, each moment once."""
        self._readings: dict[tuple[int, View, Filter, Shelves], Reading] = {}
        self.changing = False
        """Whether it is, or was when it was interrupted, between two states."""

    def _weigh(self) -> None:
        held = sum(segment.nbytes for segment in self._segments) + sum(r.nbytes for r in self._readings.values())
        vectors = sum(table.nbytes for table in self._vectors.values())
        held += 0 if self._links is None else self._links.nbytes
        held += sum(bearers.vers.nbytes for bearers in self._bearers.values()) + self._holding.nbytes
        self.nbytes = self.columns.nbytes + vectors + held + self._tail.rows * _ROW_BYTES

    def follow(self, snapshot: Snapshot, head: SpaceHead) -> None:
        """Add the rows that were written, and close those that ended, up to a snapshot's head."""
        self._readings.clear()
        if self._outdated(snapshot, head):
            self._begin()
        whole, known = not self.columns.rows, self.columns.last_ver
        if whole and self._packs:
            known = self._take_packs(snapshot)
        fresh = iter(snapshot.entries(self.space, known))
        while batch := list(islice(fresh, _LOAD)):
            self._add(batch)
            self.unpacked += len(batch) if whole else 0
        if not whole:
            self.columns.close(snapshot.closed(self.space, self.seq))
        self.seq = head.seq

    def _take_packs(self, snapshot: Snapshot) -> int:
        """Begin with what is packed; the version that it reaches to. Entries that lie between packs are packed here."""
        bodies: list[NDArray[np.uint8]] = []
        reached, seq = 0, FOREVER
        for row in snapshot.packs(self.space):
            body = sound_body(row, snapshot.pack_body(row.id))
            if body is None:
                self.unsound += (row,)
            if body is None or row.after < reached:
                continue
            if row.after > reached:
                between = entries_between(snapshot, self.space, reached, row.after)
                self.unpacked += between.rows
                bodies.append(np.frombuffer(pack(between), np.uint8))
            bodies.append(body)
            reached, seq = row.upto, min(seq, row.seq)
        if bodies:
            packs, first = [], 0
            for body in bodies:
                packs.append(unpack(body, first))
                first += packs[-1].rows
            self.columns = EntryColumns(packs)
            self.columns.close(snapshot.closed(self.space, seq))
            self._segments = tuple(taken_pack.postings for taken_pack in packs if taken_pack.rows)
            self._tail = Tail(first)
            expiries = self.columns.column(Column.EXPIRES)
            self._expiries = np.unique(expiries[expiries > 0]).tolist() if expiries.any() else []
        return reached

    def _outdated(self, snapshot: Snapshot, head: SpaceHead) -> bool:
        """Whether to read all of the space anew: what was closed since may be gone, or most rows here are of the dead.

        What lies behind the horizon is shown by no view; its rows only take room, until they are more than the others.
        """
        known, self._horizon = self._horizon, snapshot.head(head.tenant).horizon
        if self._horizon == known or not self.columns.rows:
            return False
        ended = self.columns.column(Column.STATE) == int(State.RETIRED)
        ended &= self.columns.column(Column.SEQ_FROM) <= self._horizon
        ended |= self.columns.column(Column.SEQ_TO) <= self._horizon
        return self.seq < self._horizon or 2 * int(ended.sum()) > max(_LOAD, self.columns.rows)

    def follow_vectors(self, snapshot: Snapshot, head: SpaceHead, model: int, *, by_signs: bool = False) -> None:
        """Add an embedder's vectors, as far as a snapshot has them. Follow the snapshot first.

        Vectors come behind their rows, and move no seq: what says that there are more is the embedder's lane.

        Args:
            by_signs: Whether one question is to be answered, so that signs will do at first; `fetch` then brings the
                vectors that it looks at. Whoever comes next reads all of them.

        Raises:
            StoreCorrupt: a vector is not of the embedder's dimensions.
        """
        table = self._vectors.get(model)
        if table is None or table.fetched is not None:
            table = self._enlist(snapshot, model, by_signs=by_signs and table is None)
        if table is None:
            return
        cursor = snapshot.lane(self.space, embedding_lane(model)).cursor
        if cursor > table.cursor or head.seq > table.seq:
            if table.take(self.columns, snapshot.vectors(self.space, model, table.cursor)):
                self._readings.clear()
            table.cursor, table.seq = max(cursor, table.cursor), max(head.seq, table.seq)

    def reading(self, snapshot: Snapshot, seq: int, view: View, where: Filter, shelves: Shelves) -> Reading:
        """The read set of a reader whose head is `seq`; the last few are kept. Follow the snapshot first."""
        view = replace(view, moment=self._last_expiry(view.moment))
        key = (seq, view, where, shelves)
        if (reading := self._readings.pop(key, None)) is None:
            bearers = self._bearing(snapshot, seq, where, shelves.reader)
            shown = visible(self.columns, seq, view, where, shelves, bearers)
            parts: tuple[PostingsSegment | Tail, ...] = (*self._segments, self._tail)
            vectors = {model: table.sight() for model, table in self._vectors.items()}
            reading = Reading(self.space, self.columns, parts, self._holding, shown, vectors)
            while len(self._readings) >= _READINGS:
                del self._readings[next(iter(self._readings))]
            self._readings[key] = reading
            self._weigh()
        else:
            self._readings[key] = reading
        return reading

    def links(
        self, snapshot: Snapshot, seq: int, view: View, hidden: tuple[int, ...], later: LaterEvidence | None
    ) -> SpaceLinks:
        """The links and items that a view shows, whoever sees them in recall. Follow the snapshot first."""
        vers = self.columns.column(Column.VER)
        if self._links is None:
            self._links = LinkTable(self.space)
        if self._links.seq < self.seq:
            self._links.follow(snapshot, self.seq, np.unique(vers))
            self._weigh()
        at = seq if view.at is None else min(seq, view.at)
        shown = standing(self.columns, replace(view, at=at), hidden)
        if later is not None:
            own = self._bearing(snapshot, seq, Filter(), later.by)
            shown &= ~self._is_later(later, own)
        return self._links.shown(at, vers[shown])

    def _is_later(self, later: LaterEvidence, own: Mapping[Condition, NDArray[np.int64]]) -> NDArray[np.bool_]:
        """Which rows a strategy reads and was not given yet; `own` says which versions it derived."""
        read = self.columns.column(Column.VER) > later.upto
        read &= np.isin(self.columns.column(Column.KIND), later.kinds)
        for vers in own.values():
            read &= ~self.columns.of_versions(vers)
        return read

    def _last_expiry(self, moment: int | None) -> int | None:
        """When something expired last as of a moment, which shows the same; None where nothing has."""
        before = 0 if moment is None else bisect_right(self._expiries, moment)
        return self._expiries[before - 1] if before else None

    def _bearing(
        self, snapshot: Snapshot, seq: int, where: Filter, reader: str | None
    ) -> dict[Condition, NDArray[np.int64]]:
        """The versions that bear what is asked of tags, authors and slots; those of the last few conditions are kept.

        What a version bears never changes, so a condition that was asked before is asked of later versions only.
        """
        bearing: dict[Condition, NDArray[np.int64]] = {}
        own = (
            condition for clause in sight_clauses(where, reader) for condition in clause if condition.column == "author"
        )
        for asked in (*(clause[0] for clause in facet_clauses(where)), *own):
            known = self._bearers.pop(asked, _Bearers(0, 0, np.empty(0, np.int64)))
            if known.seq < seq:
                fresh = np.array(snapshot.bearers(self.space, asked, known.upto), np.int64)
                known = _Bearers(seq, self._last_ver(seq), np.concatenate((known.vers, fresh)))
            while len(self._bearers) >= _BEARERS:
                del self._bearers[next(iter(self._bearers))]
            self._bearers[asked] = known
            bearing[asked] = known.vers
        return bearing

    def _last_ver(self, seq: int) -> int:
        """The last version of commits up to one."""
        if seq >= self.seq:
            return self.columns.last_ver
        written = self.columns.column(Column.VER)[self.columns.column(Column.SEQ_FROM) <= seq]
        return int(written.max(initial=0))

    def fetch(self, snapshot: Snapshot, reading: Reading, questions: Mapping[int, Floats]) -> bool:
        """Bring the vectors that questions look at where there are only signs; whether all that is said to be is there.

        Raises:
            StoreCorrupt: a vector is not of the embedder's dimensions.
        """
        for model, question in questions.items():
            table = self._vectors.get(model)
            if table is None or table.fetched is None or question.shape != (table.dims,):
                continue
            rows = table.lacking(reading.looked_at(model, question))
            vers = np.unique(self.columns.column(Column.VER)[rows]).tolist()
            if not table.fetch(self.columns, rows, snapshot.vectors_of(self.space, model, vers)):
                return False
        return True

    def _enlist(self, snapshot: Snapshot, model: int, *, by_signs: bool) -> VectorTable | None:
        """Begin with an embedder's vectors, and let go of those of embedders that are gone."""
        known = {row.id: row for row in snapshot.embedders()}
        if model not in known:
            return None
        self._vectors = {held: table for held, table in self._vectors.items() if held in known}
        self._readings.clear()
        packed = None
        if by_signs and self._packs and self.columns.rows > most_exact(known[model].dims):
            packed = packed_signs(snapshot, self.space, known[model])
            covered = 0 if packed is None else int(self.columns.column(Column.VER).searchsorted(packed.upto, "right"))
            if packed is None or not packed.serves(covered, self.columns.rows - covered):
                self.unpacked += self.columns.rows
                self.unsound += () if packed else tuple(snapshot.packs(self.space, model))
                packed = None
        table = self._vectors[model] = VectorTable(known[model].dims, packed)
        return table

    def _add(self, batch: list[Entry]) -> None:
        first = self.columns.rows
        self.columns.add(batch)
        if fresh := {entry.expires for entry in batch if entry.expires}.difference(self._expiries):
            self._expiries = sorted([*self._expiries, *fresh])
        if len(batch) <= _TRICKLE and self._tail.rows + len(batch) < _TAIL_ROWS:
            for row in range(first, self.columns.rows):
                self._tail.add(self.columns.streams(row, 1)[0].tolist())
        else:
            self._compress(self._tail.first)

    def _compress(self, first: int) -> None:
        """Make the rows from `first` one segment, together with the segments before it that are not much larger.

        What came in packs stays as it is.
        """
        segments = list(self._segments)
        while (
            segments
            and segments[-1].first >= self.columns.packed
            and segments[-1].rows < _GROWTH * (self.columns.rows - first)
        ):
            if self.columns.rows - segments[-1].first > SEGMENT_ROWS:
                break
            first = segments.pop().first
        while first < self.columns.rows:
            rows = min(SEGMENT_ROWS, self.columns.rows - first)
            segments.append(compress(first, *self.columns.streams(first, rows)))
            first += rows
        self._segments = tuple(segments)
        self._tail = Tail(first)
