"""One pass over a tenant's journal: its chain, what each event says it wrote, and what it tells about the rows."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby
from typing import Final

from mnemic.core.events import Verb
from mnemic.core.ids import from_bytes, to_bytes
from mnemic.store.engine.ledger import GENESIS, chain, seal
from mnemic.store.engine.rows import Rows
from mnemic.store.values.receipts import Fault
from mnemic.store.values.row_values import BEHIND, ChangeRow, EventRow, SpaceRow, TenantRow, WrittenRow

_PAGE: Final = 500
_NOTHING: Final = (False, False)
_WRITES: Final[dict[int, tuple[bool, bool]]] = {
    **{verb: (True, False) for verb in Verb if verb <= Verb.UNPINNED},
    **dict.fromkeys((Verb.LINKED, Verb.UNLINKED), (False, True)),
}
"""Whether an event writes a version, and whether it writes a link; others do neither."""


@dataclass(slots=True)
class Chronicle:
    """What a journal tells about the rows that must be there, and those that must not.

    Attributes:
        horizon, seq: Where what it tells begins and ends.
        versions, links: The numbers of the rows that its events wrote.
        erased_items, erased_spaces: Of what was erased, the commit that did it.
        erased_links: Links that were erased, by commit and place.
        moved: For each space the last commit that its readers see.
        kept: For each space the last commit with bytes that are there.
    """

    horizon: int
    seq: int
    versions: set[int] = field(default_factory=set)
    links: set[int] = field(default_factory=set)
    erased_items: dict[bytes, int] = field(default_factory=dict)
    erased_spaces: dict[int, int] = field(default_factory=dict)
    erased_links: set[tuple[int, int]] = field(default_factory=set)
    moved: dict[int, int] = field(default_factory=dict)
    kept: dict[int, int] = field(default_factory=dict)


class JournalAudit:
    """Goes over a tenant's journal, from its horizon and then over what is left behind that."""

    def __init__(self, rows: Rows, tenant: TenantRow) -> None:
        self.rows, self.tenant = rows, tenant
        self.chronicle = Chronicle(tenant.horizon, tenant.seq)
        self._blank: list[tuple[EventRow, int]] = []
        self._compacted = 0
        self._spaces: dict[int, SpaceRow] = {}
        self._numbered: dict[int, int] = {}
        self._given: dict[int, int] = {}

    def faults(self) -> Iterator[Fault]:
        """What is wrong with it; read to the end, `chronicle` is whole."""
        self._spaces = {space.id: space for space in self.rows.spaces.tenant_spaces(self.tenant.id)}
        self._numbered = {space.number: space.id for space in self._spaces.values()}
        for space in self._spaces.values():
            self._given[space.id] = max((space.spent, *(name.number for name in self.rows.names.names(space.id))))
        yield from self._chain()
        if self.tenant.horizon:
            yield from self._behind()
        yield from self._horizon()
        yield from self._uncovered()
        yield from self._heads()

    def _chain(self) -> Iterator[Fault]:
        seq, at, previous = self.tenant.horizon, 0, self.tenant.horizon_hash
        for change, events, written in self._pages(self.tenant.horizon):
            where = f"commit {change.seq}"
            if change.seq != seq + 1:
                yield Fault(where=where, problem=f"follows commit {seq}: a commit is missing")
            if change.at < at:
                yield Fault(where=where, problem="was recorded before the one it follows")
            home = self._spaces.get(change.space)
            if chain(previous, change, 0 if home is None else home.number, events) != change.hash:
                yield Fault(
                    where=where, problem="its hash does not follow from the one before, its envelope and its digests"
                )
            seq, at, previous = change.seq, change.at, change.hash
            yield from self._contents(change, events, written)
        if (seq, previous) != (self.tenant.seq, self.tenant.hash):
            yield Fault(
                where=f"tenant {self.tenant.id}",
                problem=f"its head says commit {self.tenant.seq}, its journal ends at {seq}",
            )

    def _behind(self) -> Iterator[Fault]:
        """Behind the horizon only what still stands has kept its event."""
        events_seen = 0
        for change, events, written in self._pages(0):
            if change.seq > self.tenant.horizon:
                break
            events_seen += len(events)
            yield from self._contents(change, events, written)
        kept = int(self.rows.notes.memo(self.tenant.id, BEHIND) or 0)
        if events_seen != kept:
            yield Fault(
                where=f"tenant {self.tenant.id}",
                problem=f"has {events_seen} events behind its horizon, and kept {kept}",
            )

    def _pages(self, after: int) -> Iterator[tuple[ChangeRow, list[EventRow], _Written]]:
        while changes := self.rows.journal.changes(self.tenant.id, after, _PAGE, False):
            first, after = changes[0].seq, changes[-1].seq
            events = self.rows.journal.events(self.tenant.id, first, after)
            written = _Written(self.rows, events)
            by_seq = {seq: list(group) for seq, group in groupby(events, key=lambda event: event.seq)}
            for change in changes:
                yield change, by_seq.pop(change.seq, []), written
            yield from ((_no_commit(seq, rest), rest, written) for seq, rest in by_seq.items())
        last = self.rows.journal.events(self.tenant.id, after + 1, 2**63 - 1)
        if last:
            yield _no_commit(last[0].seq, last), last, _Written(self.rows, last)

    def _contents(self, change: ChangeRow, events: list[EventRow], written: _Written) -> Iterator[Fault]:
        where, chronicle = f"commit {change.seq}", self.chronicle
        if change.space and change.space not in self._spaces:
            yield Fault(where=where, problem=f"is of space {change.space}, which the tenant has not")
        if not 0 <= change.actor <= self._given.get(change.space, 0):
            yield Fault(where=where, problem="its actor has a number that no name of its space was given")
        moves = not events
        for event in events:
            moves = moves or event.verb != Verb.USED  # of mnemic 0.1, a commit of those left its space where it stood
            for problem in self._problems(change, event, written.row(event)):
                yield Fault(where=f"{where}, event {event.n}", problem=problem)
        if moves:
            chronicle.moved[change.space] = max(change.seq, chronicle.moved.get(change.space, 0))

    def _problems(self, change: ChangeRow, event: EventRow, row: WrittenRow | None) -> list[str]:
        """What is wrong with an event and the row that it says it wrote; learns what they tell."""
        problems: list[str] = []
        named, salt, payload = (event.ver != 0, event.lver != 0), event.salt, event.payload
        body = payload if named == _NOTHING else None if row is None else row.body
        if salt is not None and named != _WRITES.get(event.verb, _NOTHING):
            problems.append("names a row of another sort than its verb writes")
        if payload is not None and named != _NOTHING:
            problems.append("has bytes beside those of its row")
        if salt is None or body is None:
            if salt is not None or body is not None:
                problems.append("only one of its bytes and its salt is there")
            self._blank.append((event, change.space))
            return problems
        if seal(salt, body) != event.digest:
            problems.append("its bytes are not those that were digested")
        elif row is None:
            self._note(change, event, body)
        if row is not None:
            problems += self._claim(change, event, row)
        if event.verb != Verb.ERASED:
            self.chronicle.kept[change.space] = change.seq
        return problems

    def _claim(self, change: ChangeRow, event: EventRow, row: WrittenRow) -> Iterator[str]:
        """A row is written by one event, which says the same of it."""
        claimed = self.chronicle.versions if event.ver else self.chronicle.links
        if row.number in claimed:
            yield "names a row that another event wrote"
        claimed.add(row.number)
        if row[1:5] != (change.space, event.item, event.seq, event.n):
            yield "its row is of another space, commit, place or item"
        if not event.ver and bool(row.open) != (event.verb == Verb.LINKED):
            yield "its link is open where it was untied, or the other way round"

    def _note(self, change: ChangeRow, event: EventRow, payload: bytes) -> None:
        """Learn what an event tells about other rows."""
        if event.verb == Verb.ERASED:
            record, chronicle = json.loads(payload), self.chronicle
            chronicle.erased_items.update((to_bytes(item), change.seq) for item in record.get("ids", ()))
            known = (self._numbered[number] for number in record.get("spaces", ()) if number in self._numbered)
            chronicle.erased_spaces.update((space, change.seq) for space in known)
            chronicle.erased_links.update((tied, n) for tied, n in record.get("links", ()))
        elif event.verb == Verb.COMPACTED:
            self._compacted = json.loads(payload)["horizon"]

    def _horizon(self) -> Iterator[Fault]:
        where, horizon = f"tenant {self.tenant.id}", self.tenant.horizon
        if self._compacted > horizon:
            yield Fault(where=where, problem=f"its horizon is {horizon}, and was moved to {self._compacted}")
        if not horizon:
            if self.tenant.horizon_hash != GENESIS:
                yield Fault(where=where, problem="has no horizon, and a hash of one")
            return
        kept = self.rows.journal.changes(self.tenant.id, horizon - 1, 1, False)
        if not kept or (kept[0].seq, kept[0].hash) != (horizon, self.tenant.horizon_hash):
            yield Fault(where=where, problem=f"its horizon is {horizon}, and that commit is not there as it was")

    def _uncovered(self) -> Iterator[Fault]:
        chronicle = self.chronicle
        for event, space in self._blank:
            item = event.item
            by_item = 0 if item is None or _ties(event) else chronicle.erased_items.get(item, 0)
            by_link = (event.seq, event.n) in chronicle.erased_links
            if not by_link and max(by_item, chronicle.erased_spaces.get(space, 0)) < event.seq:
                name = from_bytes(item) if item is not None else "its event"
                yield Fault(
                    where=f"commit {event.seq}", problem=f"the bytes of {name} are gone, and no erasure says so"
                )

    def _heads(self) -> Iterator[Fault]:
        chronicle = self.chronicle
        for space in self._spaces.values():
            where, moved = f"space {space.id}", chronicle.moved.get(space.id, 0)
            if space.seq > self.tenant.seq:
                yield Fault(
                    where=where, problem=f"was changed by commit {space.seq}, and the journal ends at {self.tenant.seq}"
                )
            if space.seq < moved:
                yield Fault(where=where, problem=f"stands at commit {space.seq}, and commit {moved} changed it")
            erased = chronicle.erased_spaces.get(space.id, 0)
            if erased and space.user is not None:
                yield Fault(where=where, problem=f"was erased by commit {erased}, and has an owner")
            if erased and chronicle.kept.get(space.id, 0) > erased:  # the erasure itself may say why
                yield Fault(where=where, problem=f"was erased by commit {erased}, and its journal has bytes")

    def unmarked(self) -> Iterator[Fault]:
        """Items whose erasure is told, and that have no tombstone."""
        tombs = {item for space in self._spaces for item, _ in self.rows.journal.tombs(space)}
        for item, seq in self.chronicle.erased_items.items():
            if item not in tombs:
                yield Fault(where=f"item {from_bytes(item)}", problem=f"was erased by commit {seq}, has no tombstone")


class _Written:
    """The versions and links that some events say they wrote, read at once."""

    def __init__(self, rows: Rows, events: list[EventRow]) -> None:
        vers, lvers = [e.ver for e in events if e.ver], [e.lver for e in events if e.lver]
        tenant = events[0].tenant if events else 0
        self._versions = rows.items.written_versions(tenant, vers)
        self._links = rows.links.written_links(tenant, lvers)

    def row(self, event: EventRow) -> WrittenRow | None:
        return self._versions.get(event.ver) if event.ver else self._links.get(event.lver)


def _no_commit(seq: int, events: list[EventRow]) -> ChangeRow:
    """What stands for a commit that events are of and that is not there: no hash follows from it."""
    return ChangeRow(events[0].tenant, seq, 0, 0, 0, 0, b"")


def _ties(event: EventRow) -> bool:
    """A link goes with either of its ends, and its event names only one: the erasure lists it by itself."""
    return event.verb in (Verb.LINKED, Verb.UNLINKED)
