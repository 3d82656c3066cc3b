"""Rows in memory that lie behind the horizon: what `sqlite_spent` finds by index is found here by looking at all."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, TypeVar

from mnemic.core.clock import FOREVER
from mnemic.core.ids import to_bytes
from mnemic.core.items import State
from mnemic.core.scope import Shared
from mnemic.store.heads import Wear
from mnemic.store.memory_tables import Tables
from mnemic.store.rows import (
    Borne,
    Cursor,
    Descent,
    EventRow,
    HoldRow,
    LinkRow,
    Page,
    SpentLink,
    SpentVersion,
    VersionRow,
)

T = TypeVar("T")
_RETIRED: Final = int(State.RETIRED)


class MemorySpent:
    """The part of `store.rows.Rows` that compaction and legal holds need."""

    _tables: Tables

    # What is spent

    def descents(self, tenant: int) -> list[Descent]:
        rows = [row for row in self._tables.spaces.values() if row.tenant == tenant]
        return [Descent(row.id, row.parent, isinstance(row.user, Shared), row.user is not None) for row in rows]

    def leased(self, tenant: int) -> list[tuple[str, int]]:
        contents = [self._tables.content(one.id) for one in self.descents(tenant)]
        lanes = [lane for content in contents for lane in content.lanes.values()]
        return [(lane.name, lane.seq) for lane in lanes if lane.owner and lane.seq]

    def closed_versions(self, space: int, horizon: int, after: Cursor, limit: int) -> Page[SpentVersion]:
        rows = [row for row in self._tables.content(space).versions.values() if row.seq_to <= horizon]
        rows, last = _page(rows, after, limit, lambda row: (row.seq_to, row.ver))
        return [_version(row) for row in rows], last

    def retired_versions(self, space: int, horizon: int, after: Cursor, limit: int) -> Page[SpentVersion]:
        rows = [row for row in self._tables.content(space).versions.values() if _retired(row)]
        spent = [row for row in rows if row.seq_from <= horizon]
        rows, last = _page(spent, after, limit, lambda row: (row.seq_from, row.ver))
        return [_version(row) for row in rows], last

    def retired_among(self, space: int, horizon: int, items: Sequence[bytes]) -> list[SpentVersion]:
        rows = [row for item in items for row in self._tables.content(space).rows_of(item)]
        return [_version(row) for row in rows if _retired(row) and row.seq_from <= horizon]

    def versions_of(self, space: int, items: Sequence[bytes]) -> list[SpentVersion]:
        return [_version(row) for item in items for row in self._tables.content(space).rows_of(item)]

    def spent_links(self, space: int, horizon: int, after: Cursor, limit: int) -> Page[SpentLink]:
        rows = [row for row in self._tables.content(space).links.values() if row.seq_from <= horizon]
        spent = [row for row in rows if row.seq_to <= horizon or (not row.open and row.seq_to == FOREVER)]
        rows, last = _page(spent, after, limit, lambda row: (row.seq_from, row.lver))
        return [_link(row) for row in rows], last

    def links_among(self, spaces: Sequence[int], items: Sequence[bytes]) -> list[SpentLink]:
        return list({row.lver: _link(row) for row, _ in self._ties(spaces, items)}.values())

    def cited(self, spaces: Sequence[int], items: Sequence[bytes], *, live: bool = False) -> set[bytes]:
        contents = [self._tables.content(space) for space in spaces]
        pairs = [(content, item, by) for content in contents for item in items for by in content.derived.get(item, ())]
        rows = ((item, row) for content, item, by in pairs for row in content.rows_of(by))
        counted = (pair for pair in rows if not live or (pair[1].seq_to == FOREVER and pair[1].state != _RETIRED))
        return {item for item, row in counted if item in _sources(row)}

    def bound(self, spaces: Sequence[int], horizon: int, items: Sequence[bytes]) -> set[bytes]:
        return {item for row, item in self._ties(spaces, items) if self._binds(row, item, horizon)}

    def _ties(self, spaces: Sequence[int], items: Sequence[bytes]) -> Iterator[tuple[LinkRow, bytes]]:
        """Links that start or end at an item, each with that item."""
        contents = [self._tables.content(space) for space in spaces]
        return ((row, item) for content in contents for item in items for row in content.links_at(item))

    def _binds(self, link: LinkRow, item: bytes, horizon: int) -> bool:
        """Whether the journal still tells of a link that ends at an item, or something live points there."""
        if link.seq_from > horizon or horizon < link.seq_to < FOREVER:
            return True
        if not link.open or link.seq_to < FOREVER or link.dst != item or link.src == item:
            return False
        source = self._tables.content(link.space).standing(link.src)
        return source is not None and source.state != State.RETIRED

    def spent_events(self, tenant: int, horizon: int, after: Cursor, limit: int) -> Page[Cursor]:
        events = self._tables.journal(tenant).events
        rows = [row for seq, some in events.items() if seq <= horizon for row in some.values() if _bare(row)]
        return _page([(row.seq, row.n) for row in rows], after, limit, lambda key: key)

    def borne(self, space: int, after: int) -> Borne:
        rows = [row for ver, row in self._tables.content(space).versions.items() if ver > after]
        upto = max([after, *(row.ver for row in rows)])
        return Borne({name for row in rows for name in (row.agent, row.session)}, len(rows), upto, False)

    def tied(self, after: int) -> tuple[set[int], set[bytes], int, bool]:
        contents = [self._tables.content(space) for space in self._tables.spaces]
        rows = [row for content in contents for lver, row in content.links.items() if lver > after]
        standing = [row for row in rows if row.open and row.seq_to == FOREVER]
        return {row.type for row in rows}, _evidence(standing), max([after, *(row.lver for row in rows)]), False

    def tied_since(self, tenant: int, seq: int) -> tuple[set[int], set[bytes]]:
        spaces = [row.id for row in self._tables.spaces.values() if row.tenant == tenant]
        links = [row for space in spaces for row in self._tables.content(space).links.values() if row.seq_from > seq]
        return {row.type for row in links}, _evidence(links)

    def acted(self, tenant: int, after: int) -> tuple[set[int], int, bool]:
        rows = [row for seq, row in self._tables.journal(tenant).changes.items() if seq > after]
        return {row.actor for row in rows}, max([after, *(row.seq for row in rows)]), False

    def name_numbers(self, space: int, after: int, limit: int) -> list[int]:
        return sorted(number for number in self._tables.content(space).names.values() if number > after)[:limit]

    # Taking it out

    def drop_versions(self, tenant: int, horizon: int, versions: Sequence[SpentVersion]) -> None:
        for row in versions:
            content = self._tables.content(row.space)
            content.drop_version(content.versions[row.ver])
        self.drop_events(tenant, horizon, [(row.seq_from, row.n) for row in versions])

    def drop_links(self, tenant: int, horizon: int, links: Sequence[SpentLink]) -> None:
        for row in links:
            content = self._tables.content(row.space)
            content.drop_link(content.links[row.lver])
        self.drop_events(tenant, horizon, [(row.seq_from, row.n) for row in links])

    def drop_events(self, tenant: int, horizon: int, events: Iterable[tuple[int, int]]) -> None:
        keys = list(events)
        journal = self._tables.journal(tenant)
        for seq, n in keys:
            if seq in journal.events:
                journal.events[seq].discard(n)
        self.drop_changes(tenant, horizon, dict.fromkeys(seq for seq, _ in keys))

    def drop_changes(self, tenant: int, horizon: int, seqs: Iterable[int]) -> None:
        journal = self._tables.journal(tenant)
        for seq in seqs:
            if not journal.events.get(seq):
                journal.events.discard(seq)
                if seq < horizon:  # the horizon's own stays: a moment after it can be told from one before it
                    journal.changes.discard(seq)

    def drop_traces(self, spaces: Sequence[int], items: Sequence[bytes]) -> None:
        for content in [self._tables.content(space) for space in spaces]:
            for item in items:
                content.strengths.discard(item)
                content.derived.discard(item)
                content.drop_pages(item)

    def drop_derived(self, space: int, pairs: Sequence[tuple[bytes, bytes]]) -> None:
        for source, item in pairs:
            self._tables.content(space).derived.remove(source, item)

    def drop_names(self, space: int, names: Sequence[int]) -> None:
        content = self._tables.content(space)
        for number in [number for number in names if number not in content.sessions]:
            del content.names[self._tables.homes[number][1]]
            del self._tables.homes[number]

    def wear(self, spaces: Sequence[int]) -> Wear:
        rows = [row for space in spaces for row in self._tables.content(space).versions.values()]
        return Wear(len(rows), sum(row.seq_to < FOREVER for row in rows), sum(_retired(row) for row in rows))

    # Holds, and small facts

    def holds(self, tenant: int) -> list[HoldRow]:
        return [row for _, row in sorted(self._tables.holds.items()) if row.tenant == tenant]

    def add_hold(self, row: HoldRow) -> int:
        number = self._tables.number("hold")
        self._tables.holds[number] = row._replace(id=number)
        return number

    def drop_hold(self, hold: int) -> None:
        self._tables.holds.discard(hold)

    def memo(self, tenant: int, name: str) -> bytes | None:
        return self._tables.memos.get((tenant, name))

    def set_memo(self, tenant: int, name: str, value: bytes) -> None:
        self._tables.memos[tenant, name] = value


def _retired(row: VersionRow) -> bool:
    return row.state == _RETIRED and row.seq_to == FOREVER


def _bare(row: EventRow) -> bool:
    return not row.ver and not row.lver


def _version(row: VersionRow) -> SpentVersion:
    pinned = bool(json.loads(row.body).get("pinned"))
    facts = (row.ver, row.space, row.id, row.seq_from, row.seq_to, row.n, row.session)
    return SpentVersion(*facts, pinned, tuple(_sources(row)))


def _sources(row: VersionRow) -> list[bytes]:
    return [to_bytes(item) for item in json.loads(row.body).get("source", ())]


def _link(row: LinkRow) -> SpentLink:
    return SpentLink(row.lver, row.space, row.src, row.dst, row.seq_from, row.n)


def _evidence(links: Iterable[LinkRow]) -> set[bytes]:
    return {to_bytes(item) for row in links for item in json.loads(row.body).get("evidence", ())}


def _page(rows: list[T], after: Cursor, limit: int, place: Callable[[T], Cursor]) -> Page[T]:
    found = sorted((row for row in rows if place(row) > after), key=place)[:limit]
    return found, place(found[-1]) if len(found) == limit else None
