"""Rows of SQLite that lie behind the horizon: found by index or in short stretches, and taken out with what hangs on
them. Legal holds and small facts about a tenant are here too.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Final, TypeVar

import apsw

from mnemic.core.ids import ItemId, to_bytes
from mnemic.store.base import Wear
from mnemic.store.rows import Cursor, HoldRow, LinkRow, Page, VersionRow

STRETCH: Final = 2_000
"""Most rows that one look walks over, where no index leads to what is asked for."""


T = TypeVar("T")


class SqliteSpent:
    """The part of `store.rows.Rows` that compaction and legal holds need."""

    _db: apsw.Connection

    # What is spent

    def closed_versions(self, space: int, horizon: int, after: Cursor, limit: int) -> Page[VersionRow]:
        rows = self._db.execute(_CLOSED_VERSIONS, (space, horizon, *after, limit))
        return _page([VersionRow._make(row) for row in rows], limit, lambda row: (row.seq_to, row.ver))

    def retired_versions(self, space: int, horizon: int, after: Cursor, limit: int) -> Page[VersionRow]:
        rows = self._db.execute(_RETIRED_VERSIONS, (space, horizon, *after, limit))
        return _page([VersionRow._make(row) for row in rows], limit, lambda row: (row.seq_from, row.ver))

    def spent_links(self, space: int, horizon: int, after: Cursor, limit: int) -> Page[LinkRow]:
        rows = self._db.execute(_SPENT_LINKS, (space, horizon, *after, limit))
        return _page([LinkRow._make(row) for row in rows], limit, lambda row: (row.seq_from, row.lver))

    def spent_events(self, tenant: int, horizon: int, after: Cursor, limit: int) -> Page[Cursor]:
        rows = self._db.execute(_SPENT_EVENTS, (tenant, horizon, *after, limit))
        return _page([(seq, n) for seq, n in rows], limit, lambda key: key)

    def borne(self, space: int, after: int) -> tuple[set[int], int]:
        upto = self._stretch(_ENTRY_STRETCH, (space, after, STRETCH), after)
        rows = self._db.execute(_BORNE_BY_ITEMS, (space, after, upto))
        return {name for row in rows for name in row}, upto

    def tied(self, after: int) -> tuple[set[int], set[bytes], int]:
        upto = self._stretch(_LINK_STRETCH, (after, STRETCH), after)
        types = {name for (name,) in self._db.execute(_TYPES, (after, upto))}
        cited = {to_bytes(ItemId(item)) for (item,) in self._db.execute(_EVIDENCE, (after, upto))}
        return types, cited, upto

    def acted(self, tenant: int, after: int) -> tuple[set[int], int]:
        upto = self._stretch(_CHANGE_STRETCH, (tenant, after, STRETCH), after)
        return {actor for (actor,) in self._db.execute(_ACTORS, (tenant, after, upto))}, upto

    def _stretch(self, statement: str, bound: tuple[int, ...], after: int) -> int:
        last = self._db.execute(statement, bound).get
        return after if last is None else int(last)

    # Taking it out

    # Each statement deals with all of a batch: between two of them another thread may hold the interpreter for long.

    def drop_versions(self, tenant: int, horizon: int, versions: Sequence[VersionRow]) -> None:
        if not versions:
            return
        highest = int(self._db.execute("SELECT ifnull(max(ver), 0) FROM version").get)
        for space, vers in _by_space(versions).items():
            bound = (space, json.dumps(vers))
            for statement in _DROP_VERSIONS:
                self._db.execute(statement, bound)
        if any(row.ver == highest for row in versions):
            self._db.execute(_SPEND, {"number": highest})
        self.drop_events(tenant, horizon, [(row.seq_from, row.n) for row in versions])

    def drop_links(self, tenant: int, horizon: int, links: Sequence[LinkRow]) -> None:
        if links:
            self._db.execute(_DROP_LINKS, (json.dumps([row.lver for row in links]),))
            self.drop_events(tenant, horizon, [(row.seq_from, row.n) for row in links])

    def drop_events(self, tenant: int, horizon: int, events: Iterable[tuple[int, int]]) -> None:
        if keys := list(events):
            self._db.execute(_DROP_EVENTS, (tenant, json.dumps(keys)))
            self.drop_changes(tenant, horizon, dict.fromkeys(seq for seq, _ in keys))

    def drop_changes(self, tenant: int, horizon: int, seqs: Iterable[int]) -> None:
        self._db.execute(_DROP_CHANGES, (tenant, json.dumps(list(seqs)), horizon))

    def versions_of(self, space: int, items: Sequence[bytes]) -> list[VersionRow]:
        return [VersionRow._make(row) for row in self._db.execute(_VERSIONS_OF, (space, _hex(items)))]

    def rested_on(self, space: int, items: Sequence[bytes]) -> set[bytes]:
        return {item for (item,) in self._db.execute(_RESTED_ON, (space, _hex(items)))}

    def drop_traces(self, space: int, items: Sequence[bytes]) -> None:
        bound = (space, _hex(items))
        for statement in _DROP_TRACES:
            self._db.execute(statement, bound)

    def drop_derived(self, space: int, source: bytes, item: bytes) -> None:
        self._db.execute("DELETE FROM derived WHERE space = ? AND source = ? AND item = ?", (space, source, item))

    def drop_names(self, space: int, names: Sequence[int]) -> None:
        self._db.executemany(_DROP_NAME, [(space, name) for name in names])

    def wear(self, spaces: Sequence[int]) -> Wear:
        counts = [
            [int(self._db.execute(statement, (space,)).get) for statement in (_COUNT, _COUNT_CLOSED, _COUNT_RETIRED)]
            for space in spaces
        ]
        return Wear(*(sum(column) for column in zip(*counts, strict=True))) if counts else Wear(0, 0, 0)

    # Holds, and small facts

    def holds(self, tenant: int) -> list[HoldRow]:
        rows = self._db.execute("SELECT * FROM hold WHERE tenant = ? ORDER BY id", (tenant,))
        return [HoldRow._make(row) for row in rows]

    def add_hold(self, row: HoldRow) -> int:
        self._db.execute("INSERT INTO hold VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?)", tuple(row)[1:])
        return self._db.last_insert_rowid()

    def drop_hold(self, hold: int) -> None:
        self._db.execute("DELETE FROM hold WHERE id = ?", (hold,))

    def memo(self, tenant: int, name: str) -> bytes | None:
        row = self._db.execute("SELECT value FROM memo WHERE tenant = ? AND name = ?", (tenant, name)).fetchone()
        return None if row is None else bytes(row[0])

    def set_memo(self, tenant: int, name: str, value: bytes) -> None:
        self._db.execute("REPLACE INTO memo VALUES (?, ?, ?)", (tenant, name, value))


_CLOSED_VERSIONS: Final = (
    "SELECT * FROM version WHERE space = ?1 AND seq_to < 9223372036854775807 AND seq_to <= ?2 AND seq_to >= ?3"
    " AND (seq_to, ver) > (?3, ?4) ORDER BY seq_to, ver LIMIT ?5"
)
_RETIRED_VERSIONS: Final = (
    "SELECT * FROM version WHERE space = ?1 AND state = 3 AND seq_to = 9223372036854775807 AND seq_from <= ?2"
    " AND seq_from >= ?3 AND (seq_from, ver) > (?3, ?4) ORDER BY seq_from, ver LIMIT ?5"
)
_SPENT_LINKS: Final = (
    "SELECT * FROM link WHERE space = ?1 AND (NOT open OR seq_to < 9223372036854775807) AND seq_from <= ?2"
    " AND (seq_to <= ?2 OR (NOT open AND seq_to = 9223372036854775807))"
    " AND seq_from >= ?3 AND (seq_from, lver) > (?3, ?4) ORDER BY seq_from, lver LIMIT ?5"
)
_SPENT_EVENTS: Final = (
    "SELECT seq, n FROM event WHERE tenant = ?1 AND ver = 0 AND lver = 0 AND seq <= ?2 AND seq >= ?3"
    " AND (seq, n) > (?3, ?4) ORDER BY seq, n LIMIT ?5"
)
_THESE: Final = " IN (SELECT value FROM json_each(?2))"
_THOSE: Final = " IN (SELECT unhex(value) FROM json_each(?2))"
_DROP_VERSIONS: Final = (
    "DELETE FROM entry WHERE space = ?1 AND ver" + _THESE,
    "DELETE FROM vector WHERE model IN (SELECT id FROM embedder) AND space = ?1 AND ver" + _THESE,
    "DELETE FROM version WHERE +space = ?1 AND ver" + _THESE,
)
_DROP_LINKS: Final = "DELETE FROM link WHERE lver IN (SELECT value FROM json_each(?))"
_DROP_EVENTS: Final = (
    "DELETE FROM event WHERE tenant = ?1 AND (seq, n) IN (SELECT value ->> 0, value ->> 1 FROM json_each(?2))"
)
# The horizon's own commit stays, so that a moment after it can be told from one before it.
_DROP_CHANGES: Final = (
    "DELETE FROM change WHERE tenant = ?1 AND seq" + _THESE + " AND seq < ?3"
    " AND NOT EXISTS (SELECT 1 FROM event e WHERE e.tenant = change.tenant AND e.seq = change.seq)"
)
_VERSIONS_OF: Final = "SELECT * FROM version WHERE space = ?1 AND id" + _THOSE
_RESTED_ON: Final = (
    "SELECT source FROM derived WHERE space = ?1 AND source"
    + _THOSE
    + " UNION SELECT src FROM link WHERE space = ?1 AND src"
    + _THOSE
    + " UNION SELECT dst FROM link WHERE space = ?1 AND dst"
    + _THOSE
)
_DROP_TRACES: Final = (
    "DELETE FROM strength WHERE space = ?1 AND id" + _THOSE,
    "DELETE FROM derived WHERE space = ?1 AND source" + _THOSE,
    "DELETE FROM page WHERE space = ?1 AND item" + _THOSE,
)
_ENTRY_STRETCH: Final = "SELECT max(ver) FROM (SELECT ver FROM entry WHERE space = ? AND ver > ? ORDER BY ver LIMIT ?)"
_BORNE_BY_ITEMS: Final = "SELECT DISTINCT agent, session FROM entry WHERE space = ? AND ver > ? AND ver <= ?"
_LINK_STRETCH: Final = "SELECT max(lver) FROM (SELECT lver FROM link WHERE lver > ? ORDER BY lver LIMIT ?)"
_TYPES: Final = "SELECT DISTINCT type FROM link WHERE lver > ? AND lver <= ?"
_EVIDENCE: Final = (
    "SELECT e.value FROM link l, json_each(CAST(l.body AS TEXT), '$.evidence') e"
    " WHERE l.lver > ? AND l.lver <= ? AND l.open AND l.seq_to = 9223372036854775807"
)
_CHANGE_STRETCH: Final = (
    "SELECT max(seq) FROM (SELECT seq FROM change WHERE tenant = ? AND seq > ? ORDER BY seq LIMIT ?)"
)
_ACTORS: Final = "SELECT DISTINCT actor FROM change WHERE tenant = ? AND seq > ? AND seq <= ?"
# A session's page table is kept by its name's number, turns or not.
_DROP_NAME: Final = (
    "DELETE FROM name WHERE space = ?1 AND id = ?2"
    " AND NOT EXISTS (SELECT 1 FROM session WHERE space = ?1 AND session = ?2)"
)
_SPEND: Final = (
    "REPLACE INTO version SELECT :number, 0, x'', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, x''"
    " WHERE :number > (SELECT ifnull(max(ver), 0) FROM version)"
)
_COUNT: Final = "SELECT count(*) FROM version WHERE space = ?"
_COUNT_CLOSED: Final = "SELECT count(*) FROM version WHERE space = ? AND seq_to < 9223372036854775807"
_COUNT_RETIRED: Final = "SELECT count(*) FROM version WHERE space = ? AND state = 3 AND seq_to = 9223372036854775807"


def _page(rows: list[T], limit: int, place: Callable[[T], Cursor]) -> Page[T]:
    return rows, place(rows[-1]) if len(rows) == limit else None


def _hex(items: Sequence[bytes]) -> str:
    return json.dumps([item.hex() for item in items])


def _by_space(versions: Sequence[VersionRow]) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for row in versions:
        found.setdefault(row.space, []).append(row.ver)
    return found
