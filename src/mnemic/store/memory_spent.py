"""Rows in memory that lie behind the horizon: what `sqlite_spent` finds by index is found here by looking at all."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Final, TypeVar

from mnemic.core.clock import FOREVER
from mnemic.core.ids import ItemId, to_bytes
from mnemic.core.items import State
from mnemic.store.base import Wear
from mnemic.store.memory_tables import Tables
from mnemic.store.rows import Cursor, EventRow, HoldRow, LinkRow, Page, VersionRow

T = TypeVar("T")
_RETIRED: Final = int(State.RETIRED)


class MemorySpent:
    """The part of `store.rows.Rows` that compaction and legal holds need."""

    _tables: Tables

    # What is spent

    def closed_versions(self, space: int, horizon: int, after: Cursor, limit: int) -> Page[VersionRow]:
        rows = [row for row in self._tables.content(space).versions.values() if row.seq_to <= horizon]
        return _page(rows, after, limit, lambda row: (row.seq_to, row.ver))

    def retired_versions(self, space: int, horizon: int, after: Cursor, limit: int) -> Page[VersionRow]:
        rows = [row for row in self._tables.content(space).versions.values() if _retired(row)]
        spent = [row for row in rows if row.seq_from <= horizon]
        return _page(spent, after, limit, lambda row: (row.seq_from, row.ver))

    def spent_links(self, space: int, horizon: int, after: Cursor, limit: int) -> Page[LinkRow]:
        rows = [row for row in self._tables.content(space).links.values() if row.seq_from <= horizon]
        spent = [row for row in rows if row.seq_to <= horizon or (not row.open and row.seq_to == FOREVER)]
        return _page(spent, after, limit, lambda row: (row.seq_from, row.lver))

    def spent_events(self, tenant: int, horizon: int, after: Cursor, limit: int) -> Page[Cursor]:
        events = self._tables.journal(tenant).events
        rows = [row for seq, some in events.items() if seq <= horizon for row in some.values() if _bare(row)]
        return _page([(row.seq, row.n) for row in rows], after, limit, lambda key: key)

    def borne(self, space: int, after: int) -> tuple[set[int], int]:
        rows = [row for ver, row in self._tables.content(space).versions.items() if ver > after]
        return {name for row in rows for name in (row.agent, row.session)}, max([after, *(row.ver for row in rows)])

    def tied(self, after: int) -> tuple[set[int], set[bytes], int]:
        contents = [self._tables.content(space) for space in self._tables.spaces]
        rows = [row for content in contents for lver, row in content.links.items() if lver > after]
        standing = [row for row in rows if row.open and row.seq_to == FOREVER]
        cited = {to_bytes(ItemId(item)) for row in standing for item in json.loads(row.body).get("evidence", ())}
        return {row.type for row in rows}, cited, max([after, *(row.lver for row in rows)])

    def acted(self, tenant: int, after: int) -> tuple[set[int], int]:
        rows = [row for seq, row in self._tables.journal(tenant).changes.items() if seq > after]
        return {row.actor for row in rows}, max([after, *(row.seq for row in rows)])

    # Taking it out

    def drop_versions(self, tenant: int, horizon: int, versions: Sequence[VersionRow]) -> None:
        for row in versions:
            self._tables.content(row.space).drop_version(row)
        self.drop_events(tenant, horizon, [(row.seq_from, row.n) for row in versions])

    def drop_links(self, tenant: int, horizon: int, links: Sequence[LinkRow]) -> None:
        for row in links:
            self._tables.content(row.space).drop_link(row)
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

    def versions_of(self, space: int, items: Sequence[bytes]) -> list[VersionRow]:
        return [row for item in items for row in self._tables.content(space).rows_of(item)]

    def rested_on(self, space: int, items: Sequence[bytes]) -> set[bytes]:
        content = self._tables.content(space)
        return {item for item in items if content.derived.get(item) or content.ends.get(item)}

    def drop_traces(self, space: int, items: Sequence[bytes]) -> None:
        content = self._tables.content(space)
        for item in items:
            content.strengths.discard(item)
            content.derived.discard(item)
            content.drop_pages(item)

    def drop_derived(self, space: int, source: bytes, item: bytes) -> None:
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


def _page(rows: list[T], after: Cursor, limit: int, place: Callable[[T], Cursor]) -> Page[T]:
    found = sorted((row for row in rows if place(row) > after), key=place)[:limit]
    return found, place(found[-1]) if len(found) == limit else None
