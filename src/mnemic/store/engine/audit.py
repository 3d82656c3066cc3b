"""Check a store against itself: chain, digests, projections, entries; compute the one hash of its state."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from itertools import groupby
from typing import Final

from mnemic.core.clock import FOREVER
from mnemic.core.events import Verb
from mnemic.core.ids import from_bytes, to_bytes
from mnemic.core.items import Item
from mnemic.core.queries import Entry
from mnemic.errors import StoreCorrupt
from mnemic.store.engine import codec
from mnemic.store.engine.ledger import chain, entries, seal
from mnemic.store.engine.rows import Rows
from mnemic.store.values.receipts import Fault
from mnemic.store.values.row_values import ChangeRow, EventRow, TenantRow, VersionRow

_PAGE: Final = 500


def verify(rows: Rows) -> Iterator[Fault]:
    """Yield every disagreement between the journal, its versions and links, and what is derived from them."""
    for tenant in rows.spaces.tenants():
        yield from _Journal(rows, tenant).faults()
        for space in rows.spaces.tenant_spaces(tenant.id):
            yield from _projections(rows, space.id)
            yield from _intervals(rows, space.id)
            yield from _vectors(rows, space.id)


class _Journal:
    """One pass over a tenant's journal, from its horizon."""

    def __init__(self, rows: Rows, tenant: TenantRow) -> None:
        self.rows, self.tenant = rows, tenant
        self.blank: list[tuple[EventRow, int]] = []
        self.erased_items: dict[bytes, int] = {}
        self.erased_spaces: dict[int, int] = {}
        self.erased_links: set[tuple[int, int]] = set()

    def faults(self) -> Iterator[Fault]:
        seq, at, previous = self.tenant.horizon, 0, self.tenant.horizon_hash
        for change, events in self._pages(self.tenant.horizon):
            where = f"commit {change.seq}"
            if change.seq != seq + 1:
                yield Fault(where=where, problem=f"follows commit {seq}: a commit is missing")
            if change.at < at:
                yield Fault(where=where, problem="was recorded before the one it follows")
            if chain(previous, change, events) != change.hash:
                yield Fault(
                    where=where, problem="its hash does not follow from the one before, its envelope and its digests"
                )
            seq, at, previous = change.seq, change.at, change.hash
            yield from self._contents(change, events)
        if (seq, previous) != (self.tenant.seq, self.tenant.hash):
            yield Fault(
                where=f"tenant {self.tenant.id}",
                problem=f"its head says commit {self.tenant.seq}, its journal ends at {seq}",
            )
        for space in self.rows.spaces.tenant_spaces(self.tenant.id):
            if space.seq > seq:
                yield Fault(
                    where=f"space {space.id}",
                    problem=f"was changed by commit {space.seq}, and the journal ends at {seq}",
                )
        for change, events in self._retained():
            yield from self._contents(change, events)
        yield from self._uncovered()

    def _pages(self, after: int) -> Iterator[tuple[ChangeRow, list[EventRow]]]:
        while changes := self.rows.journal.changes(self.tenant.id, after, _PAGE, False):
            after = changes[-1].seq
            events = self.rows.journal.events(self.tenant.id, changes[0].seq, after)
            by_seq = {seq: list(group) for seq, group in groupby(events, key=lambda event: event.seq)}
            yield from ((change, by_seq.get(change.seq, [])) for change in changes)

    def _retained(self) -> Iterator[tuple[ChangeRow, list[EventRow]]]:
        """Behind the horizon only what still stands has kept its event."""
        if self.tenant.horizon:
            for change, events in self._pages(0):
                if change.seq > self.tenant.horizon:
                    return
                yield change, events

    def _contents(self, change: ChangeRow, events: list[EventRow]) -> Iterator[Fault]:
        versions = {
            row.ver: row.body for row in self.rows.items.version_rows(change.space, [e.ver for e in events if e.ver])
        }
        links = (
            {row.lver: row.body for row in self.rows.links.links_written(change.space, change.seq)}
            if any(e.lver for e in events)
            else {}
        )
        for event in events:
            body = event.payload if not (event.ver or event.lver) else versions.get(event.ver) or links.get(event.lver)
            where = f"commit {change.seq}, event {event.n}"
            if event.salt is None or body is None:
                if event.salt is not None or body is not None:
                    yield Fault(where=where, problem="only one of its bytes and its salt is there")
                self.blank.append((event, change.space))
            elif seal(event.salt, body) != event.digest:
                yield Fault(where=where, problem="its bytes are not those that were digested")
            elif event.verb == Verb.ERASED:
                self._note_erasure(change.seq, body)

    def _note_erasure(self, seq: int, payload: bytes) -> None:
        record = json.loads(payload)
        self.erased_items.update((to_bytes(item), seq) for item in record.get("ids", ()))
        self.erased_spaces.update((space, seq) for space in record.get("spaces", ()))
        self.erased_links.update((tied, n) for tied, n in record.get("links", ()))

    def _uncovered(self) -> Iterator[Fault]:
        for event, space in self.blank:
            item = event.item
            by_item = 0 if item is None or self._ties(event) else self.erased_items.get(item, 0)
            by_link = (event.seq, event.n) in self.erased_links
            if not by_link and max(by_item, self.erased_spaces.get(space, 0)) < event.seq:
                name = from_bytes(item) if item is not None else "its event"
                yield Fault(
                    where=f"commit {event.seq}", problem=f"the bytes of {name} are gone, and no erasure says so"
                )

    @staticmethod
    def _ties(event: EventRow) -> bool:
        """A link goes with either of its ends, and its event names only one: the erasure lists it by itself."""
        return event.verb in (Verb.LINKED, Verb.UNLINKED)


def _projections(rows: Rows, space: int) -> Iterator[Fault]:
    names = dict(rows.names.names(space))
    parts = groupby(rows.items.entries(space, 0), key=lambda entry: entry.ver)
    ver, found = next(parts, (0, iter(())))
    for row in rows.items.all_versions(space):
        item = _decoded(row)
        yield from _reading(rows, row, item, names)
        if ver != row.ver:
            yield Fault(where=_named(row), problem="has no entry in the catalogue's table")
            continue
        yield from _entries(row, item, list(found))
        ver, found = next(parts, (0, iter(())))
    if ver:
        yield Fault(where=f"space {space}", problem=f"has entries of version {ver}, which is not there")


def _decoded(row: VersionRow) -> Item | None:
    try:
        return codec.decode_item(from_bytes(row.id), row.body)
    except StoreCorrupt:
        return None


def _reading(rows: Rows, row: VersionRow, item: Item | None, names: dict[int, str]) -> Iterator[Fault]:
    if item is None:
        yield Fault(where=_named(row), problem="its body cannot be read")
        return
    yield from _columns(row, item, names)
    yield from _provenance(rows, row, item)


def _columns(row: VersionRow, item: Item, names: dict[int, str]) -> Iterator[Fault]:
    stored = (row.state, row.kind, row.said, row.known_to, row.valid_from, row.valid_to, row.pos)
    if stored != codec.columns(item):
        yield Fault(where=_named(row), problem="its columns disagree with its body")
    if (names.get(row.agent), names.get(row.session)) != (item.agent, item.session):
        yield Fault(where=_named(row), problem="its agent or session disagrees with its body")


def _provenance(rows: Rows, row: VersionRow, item: Item) -> Iterator[Fault]:
    """An erasure follows `derived`, so what a version cites must stand there."""
    for source in item.source:
        if (to_bytes(source), row.id) not in rows.links.derived(row.space, (to_bytes(source),)):
            yield Fault(where=_named(row), problem=f"is not listed as derived from {source}")


def _entries(row: VersionRow, item: Item | None, found: list[Entry]) -> Iterator[Fault]:
    pinned = bool(found[0].pinned) if item is None else item.pinned
    if found != entries(row.ver, row, pinned, (entry.terms for entry in found)):
        yield Fault(where=_named(row), problem="its entries disagree with it")


def _intervals(rows: Rows, space: int) -> Iterator[Fault]:
    ends: dict[bytes, int] = {}
    for row in rows.items.all_versions(space):
        if ends.get(row.id, row.seq_from) > row.seq_from or row.seq_to <= row.seq_from:
            yield Fault(where=_named(row), problem="overlaps the version before it")
        if ends.get(row.id) not in (None, row.seq_from):
            yield Fault(where=_named(row), problem="does not begin where the version before it ends")
        ends[row.id] = row.seq_to
    for item, end in ends.items():
        if end != FOREVER:
            yield Fault(where=f"item {from_bytes(item)}", problem="has no standing version")


def _vectors(rows: Rows, space: int) -> Iterator[Fault]:
    dims = {row.id: row.dims for row in rows.vectors.embedders()}
    parts: set[tuple[int, int]] | None = None
    for model, ver, part, size in rows.vectors.vector_sizes(space):
        if parts is None:  # a space without vectors pays nothing
            parts = {(entry.ver, entry.part) for entry in rows.items.entries(space, 0)}
        where = f"space {space}, vector of version {ver}, part {part}"
        if (ver, part) not in parts:
            yield Fault(where=where, problem="is of no entry")
        if model not in dims:
            yield Fault(where=where, problem=f"is of embedder {model}, which is not there")
        elif size != 2 * dims[model]:
            yield Fault(where=where, problem=f"has {size} bytes, its embedder's have {2 * dims[model]}")


def _named(row: VersionRow) -> str:
    return f"item {from_bytes(row.id)}, version of commit {row.seq_from}"


def state_hash(rows: Rows, name: str) -> str:
    """Compute SHA-256 over ids, seqs and digests of the retained versions and links of a tenant, in hexadecimal.

    Raises:
        NotFound: there is no such tenant.
    """
    tenant = rows.spaces.known_tenant(name)
    digests = {(e.seq, e.n): e.digest for e in rows.journal.events(tenant.id, 0, tenant.seq)}
    lines: list[bytes] = []
    for space in rows.spaces.tenant_spaces(tenant.id):
        for v in rows.items.all_versions(space.id):
            lines.append(b"%d %s %d %d %s" % (space.id, v.id, v.seq_from, v.seq_to, digests[v.seq_from, v.n]))
        for ln in rows.links.all_links(space.id):
            lines.append(
                b"%d %s %s %d %d %s" % (space.id, ln.src, ln.dst, ln.seq_from, ln.seq_to, digests[ln.seq_from, ln.n])
            )
    return hashlib.sha256(b"\n".join(sorted(lines))).hexdigest()
