"""Finds and deletes rows behind the horizon or after a commit in SQLite, by index or in short stretches."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, Final

from mnemic.core.ids import from_bytes, to_bytes
from mnemic.store.engine.rows import PastTables
from mnemic.store.sqlite.sqlite_relations import (
    STRETCH,
    THESE,
    SqliteGroup,
    hexed,
    highest,
    paged,
    read_json,
    spend,
    stretch,
)
from mnemic.store.values.heads import VersionCounts
from mnemic.store.values.row_values import CompactionLink, CompactionVersion, Cursor, EntryNames, Page


class SqlitePast(SqliteGroup, PastTables):
    """Finds and deletes in SQLite what compaction and going back take out."""

    def closed_versions(self, space: int, horizon: int, after: Cursor, limit: int) -> Page[CompactionVersion]:
        rows = [_version(row) for row in read_json(self._db, _CLOSED_VERSIONS, (space, horizon, *after, limit))]
        return paged(rows, limit, lambda row: (row.seq_to, row.ver))

    def retired_versions(self, space: int, horizon: int, after: Cursor, limit: int) -> Page[CompactionVersion]:
        rows = [_version(row) for row in read_json(self._db, _RETIRED_VERSIONS, (space, horizon, *after, limit))]
        return paged(rows, limit, lambda row: (row.seq_from, row.ver))

    def versions_of(self, space: int, items: Sequence[bytes]) -> list[CompactionVersion]:
        return [_version(row) for row in read_json(self._db, _VERSIONS_OF, (space, hexed(items)))]

    def closed_links(self, space: int, horizon: int, after: Cursor, limit: int) -> Page[CompactionLink]:
        rows = [_link(row) for row in read_json(self._db, _CLOSED_LINKS, (space, horizon, *after, limit))]
        return paged(rows, limit, lambda row: (row.seq_from, row.lver))

    def links_among(self, spaces: Sequence[int], items: Sequence[bytes]) -> list[CompactionLink]:
        return [_link(row) for row in read_json(self._db, _LINKS_AMONG, (json.dumps(list(spaces)), hexed(items)))]

    def cited(self, spaces: Sequence[int], items: Sequence[bytes], *, live: bool = False) -> set[bytes]:
        pairs = json.dumps([(item.hex(), from_bytes(item)) for item in items])
        cited_items = read_json(self._db, _CITED_LIVE if live else _CITED, (json.dumps(list(spaces)), pairs))
        return {bytes.fromhex(item) for item in cited_items}

    def linked(self, spaces: Sequence[int], horizon: int, items: Sequence[bytes]) -> set[bytes]:
        where = (json.dumps(list(spaces)), hexed(items), horizon)
        return {
            bytes.fromhex(item)
            for statement in (_LINKED_FROM, _LINKED_TO)
            for item in read_json(self._db, statement, where)
        }

    def entry_names(self, space: int, after: int) -> EntryNames:
        upto, count = stretch(self._db, _ENTRY_STRETCH, (space, after, STRETCH), after)
        names = {name for row in read_json(self._db, _ENTRY_NAMES, (space, after, upto)) for name in row}
        return EntryNames(names, count, upto, count == STRETCH)

    def link_uses(self, tenant: int, after: int) -> tuple[set[int], set[bytes], int, bool]:
        upto, count = stretch(self._db, _LINK_STRETCH, (after, STRETCH), after)
        types, cited = read_json(self._db, _TYPES, (after, upto)), read_json(self._db, _EVIDENCE, (after, upto))
        return set(types), {to_bytes(item) for item in cited}, upto, count == STRETCH

    def link_uses_since(self, tenant: int, seq: int) -> tuple[set[int], set[bytes]]:
        types, cited = (
            read_json(self._db, _TYPES_SINCE, (tenant, seq)),
            read_json(self._db, _EVIDENCE_SINCE, (tenant, seq)),
        )
        return set(types), {to_bytes(item) for item in cited}

    def drop_versions(self, tenant: int, horizon: int, versions: Sequence[CompactionVersion]) -> None:
        if not versions:
            return
        last = highest(self._db)
        for space, vers in _by_space(versions).items():
            bound = (space, json.dumps(vers))
            for statement in _DROP_VERSIONS:
                self._db.execute(statement, bound)
        if any(row.ver == last for row in versions):
            spend(self._db, last)
        self.drop_events(tenant, horizon, [(row.seq_from, row.n) for row in versions])

    def drop_traces(self, spaces: Sequence[int], items: Sequence[bytes]) -> None:
        bound = (json.dumps(list(spaces)), hexed(items))
        for statement in _DROP_TRACES:
            self._db.execute(statement, bound)

    def drop_after(self, tenant: int, seq: int) -> int:
        bound = {"tenant": tenant, "seq": seq}
        versions = self._db.execute("SELECT count(*) FROM version v WHERE " + _LATER, bound).get
        last = highest(self._db)
        for statement in _DROP_AFTER:
            self._db.execute(statement, bound)
        spend(self._db, last)
        return int(versions)

    def version_counts(self, spaces: Sequence[int]) -> VersionCounts:
        counts = [
            [int(self._db.execute(statement, (space,)).get) for statement in (_COUNT, _COUNT_CLOSED, _COUNT_RETIRED)]
            for space in spaces
        ]
        return (
            VersionCounts(*(sum(column) for column in zip(*counts, strict=True))) if counts else VersionCounts(0, 0, 0)
        )

    def bare_events(self, tenant: int, horizon: int, after: Cursor, limit: int) -> Page[Cursor]:
        rows = read_json(self._db, _BARE_EVENTS, (tenant, horizon, *after, limit))
        return paged([(seq, n) for seq, n in rows], limit, lambda key: key)

    def actors(self, tenant: int, after: int) -> tuple[set[int], int, bool]:
        upto, count = stretch(self._db, _CHANGE_STRETCH, (tenant, after, STRETCH), after)
        return set(read_json(self._db, _ACTORS, (tenant, after, upto))), upto, count == STRETCH

    def drop_events(self, tenant: int, horizon: int, events: Iterable[tuple[int, int]]) -> None:
        if keys := list(events):
            self._db.execute(_DROP_EVENTS, (tenant, json.dumps(keys)))
            self._db.execute(_COUNT_OFF, (self._db.changes(), tenant))
            self.drop_changes(tenant, horizon, dict.fromkeys(seq for seq, _ in keys))

    def drop_changes(self, tenant: int, horizon: int, seqs: Iterable[int]) -> None:
        self._db.execute(_DROP_CHANGES, (tenant, json.dumps(list(seqs)), horizon))


_VERSION: Final = (
    "SELECT json_group_array(json_array(ver, space, hex(id), seq_from, seq_to, n, session, state = 3,"
    " json_extract(CAST(body AS TEXT), '$.pinned'), json_extract(CAST(body AS TEXT), '$.source'),"
    " json_extract(CAST(body AS TEXT), '$.context'))) FROM "
)
_CLOSED_VERSIONS: Final = (
    _VERSION
    + "(SELECT * FROM version WHERE space = ?1 AND seq_to < 9223372036854775807 AND seq_to <= ?2 AND seq_to >= ?3"
    " AND (seq_to, ver) > (?3, ?4) ORDER BY seq_to, ver LIMIT ?5)"
)
_RETIRED_VERSIONS: Final = (
    _VERSION
    + "(SELECT * FROM version WHERE space = ?1 AND state = 3 AND seq_to = 9223372036854775807 AND seq_from <= ?2"
    " AND seq_from >= ?3 AND (seq_from, ver) > (?3, ?4) ORDER BY seq_from, ver LIMIT ?5)"
)
_THOSE: Final = " IN (SELECT unhex(value) FROM json_each(?2))"
_VERSIONS_OF: Final = _VERSION + "version WHERE space = ?1 AND id" + _THOSE
_LINK: Final = "SELECT json_group_array(json_array(lver, space, hex(src), hex(dst), seq_from, n)) FROM "
_CLOSED_LINKS: Final = (
    _LINK + "(SELECT * FROM link WHERE space = ?1 AND (NOT open OR seq_to < 9223372036854775807) AND seq_from <= ?2"
    " AND (seq_to <= ?2 OR (NOT open AND seq_to = 9223372036854775807))"
    " AND seq_from >= ?3 AND (seq_from, lver) > (?3, ?4) ORDER BY seq_from, lver LIMIT ?5)"
)
# The cross joins keep the order: each space and item in turn, and what hangs on it by index.
_EACH: Final = "json_each(?1) h CROSS JOIN json_each(?2) i CROSS JOIN "
_LINKS_AMONG: Final = (
    _LINK
    + "(SELECT l.* FROM "
    + _EACH
    + "link l ON l.space = h.value AND l.src = unhex(i.value) UNION SELECT l.* FROM "
    + _EACH
    + "link l ON l.space = h.value AND l.dst = unhex(i.value))"
)
_CITERS: Final = (
    "SELECT json_group_array(DISTINCT i.value ->> 0) FROM "
    + _EACH
    + "derived d ON d.space = h.value AND d.source = unhex(i.value ->> 0)"
    " WHERE EXISTS (SELECT 1 FROM version v WHERE v.space = d.space AND v.id = d.item"
    " AND (EXISTS (SELECT 1 FROM json_each(CAST(v.body AS TEXT), '$.source') s WHERE s.value = i.value ->> 1)"
    " OR EXISTS (SELECT 1 FROM json_each(CAST(v.body AS TEXT), '$.context') s WHERE s.value = i.value ->> 1))"
)
_CITED: Final = _CITERS + ")"
_CITED_LIVE: Final = _CITERS + " AND v.seq_to = 9223372036854775807 AND v.state <> 3)"
# What the journal still tells of keeps both ends; what something live points to stays.
_LINKED_FROM: Final = (
    "SELECT json_group_array(DISTINCT i.value) FROM " + _EACH + "link l ON l.space = h.value AND l.src = unhex(i.value)"
    " AND (l.seq_from > ?3 OR (l.seq_to > ?3 AND l.seq_to < 9223372036854775807))"
)
_LINKED_TO: Final = (
    "SELECT json_group_array(DISTINCT i.value) FROM " + _EACH + "link l ON l.space = h.value AND l.dst = unhex(i.value)"
    " AND (l.seq_from > ?3 OR (l.seq_to > ?3 AND l.seq_to < 9223372036854775807)"
    " OR (l.open AND l.seq_to = 9223372036854775807 AND l.src <> l.dst AND EXISTS (SELECT 1 FROM version v"
    " WHERE v.space = l.space AND v.id = l.src AND v.seq_to = 9223372036854775807 AND v.state <> 3)))"
)
_BARE_EVENTS: Final = (
    "SELECT json_group_array(json_array(seq, n)) FROM (SELECT seq, n FROM event"
    " WHERE tenant = ?1 AND ver = 0 AND lver = 0 AND seq <= ?2 AND seq >= ?3"
    " AND (seq, n) > (?3, ?4) ORDER BY seq, n LIMIT ?5)"
)
_DROP_VERSIONS: Final = (
    "DELETE FROM pack WHERE space = ?1 AND EXISTS"
    " (SELECT 1 FROM json_each(?2) j WHERE j.value > pack.after AND j.value <= pack.upto)",
    "DELETE FROM entry WHERE space = ?1 AND ver" + THESE,
    "DELETE FROM facet WHERE space = ?1 AND ver" + THESE,
    "DELETE FROM vector WHERE model IN (SELECT id FROM embedder) AND space = ?1 AND ver" + THESE,
    "DELETE FROM version WHERE +space = ?1 AND ver" + THESE,
)
_DROP_EVENTS: Final = (
    "DELETE FROM event WHERE tenant = ?1 AND (seq, n) IN (SELECT value ->> 0, value ->> 1 FROM json_each(?2))"
)
_COUNT_OFF: Final = (
    "UPDATE memo SET value = CAST(CAST(CAST(value AS TEXT) AS INTEGER) - ? || '' AS BLOB)"
    " WHERE tenant = ? AND name = 'behind'"
)
# The horizon's own commit stays, so that a moment after it can be told from one before it.
_DROP_CHANGES: Final = (
    "DELETE FROM change WHERE tenant = ?1 AND seq" + THESE + " AND seq < ?3"
    " AND NOT EXISTS (SELECT 1 FROM event e WHERE e.tenant = change.tenant AND e.seq = change.seq)"
)
_PAIRED: Final = " IN (SELECT h.value, unhex(i.value) FROM json_each(?1) h CROSS JOIN json_each(?2) i)"
_DROP_TRACES: Final = (
    "DELETE FROM strength WHERE (space, id)" + _PAIRED,
    "DELETE FROM derived WHERE (space, source)" + _PAIRED,
    "DELETE FROM page INDEXED BY page_item WHERE (space, item)" + _PAIRED,
)
_ENTRY_STRETCH: Final = (
    "SELECT json_array(max(ver), count(*)) FROM"
    " (SELECT ver FROM entry WHERE space = ? AND ver > ? ORDER BY ver LIMIT ?)"
)
_ENTRY_NAMES: Final = (
    "SELECT json_group_array(json_array(agent, session)) FROM"
    " (SELECT DISTINCT agent, session FROM entry WHERE space = ? AND ver > ? AND ver <= ?)"
)
_LINK_STRETCH: Final = (
    "SELECT json_array(max(lver), count(*)) FROM (SELECT lver FROM link WHERE lver > ? ORDER BY lver LIMIT ?)"
)
_TYPES: Final = "SELECT json_group_array(DISTINCT type) FROM link WHERE lver > ? AND lver <= ?"
_EVIDENCE: Final = (
    "SELECT json_group_array(e.value) FROM link l, json_each(CAST(l.body AS TEXT), '$.evidence') e"
    " WHERE l.lver > ? AND l.lver <= ? AND l.open AND l.seq_to = 9223372036854775807"
)
_SINCE: Final = "FROM event j CROSS JOIN link l ON l.lver = j.lver"
_TYPES_SINCE: Final = (
    "SELECT json_group_array(DISTINCT l.type) " + _SINCE + " WHERE j.tenant = ?1 AND j.seq > ?2 AND j.lver <> 0"
)
_EVIDENCE_SINCE: Final = (
    "SELECT json_group_array(e.value) "
    + _SINCE
    + " CROSS JOIN json_each(CAST(l.body AS TEXT), '$.evidence') e WHERE j.tenant = ?1 AND j.seq > ?2 AND j.lver <> 0"
)
_CHANGE_STRETCH: Final = (
    "SELECT json_array(max(seq), count(*)) FROM"
    " (SELECT seq FROM change WHERE tenant = ? AND seq > ? ORDER BY seq LIMIT ?)"
)
_ACTORS: Final = (
    "SELECT json_group_array(n.id) FROM"
    " (SELECT DISTINCT space, actor FROM change WHERE tenant = ? AND seq > ? AND seq <= ?) c"
    " CROSS JOIN name n ON n.space = c.space AND n.number = c.actor"
)
_COUNT: Final = "SELECT count(*) FROM version WHERE space = ?"
_COUNT_CLOSED: Final = "SELECT count(*) FROM version WHERE space = ? AND seq_to < 9223372036854775807"
_COUNT_RETIRED: Final = "SELECT count(*) FROM version WHERE space = ? AND state = 3 AND seq_to = 9223372036854775807"


def _version(row: list[Any]) -> CompactionVersion:
    ver, space, item, seq_from, seq_to, n, session, retired, pinned, source, context = row
    cited = tuple(map(to_bytes, (*(source or ()), *(context or ()))))
    return CompactionVersion(
        ver, space, bytes.fromhex(item), seq_from, seq_to, n, session, bool(retired), bool(pinned), cited
    )


def _link(row: list[Any]) -> CompactionLink:
    lver, space, src, dst, seq_from, n = row
    return CompactionLink(lver, space, bytes.fromhex(src), bytes.fromhex(dst), seq_from, n)


def _by_space(versions: Sequence[CompactionVersion]) -> dict[int, list[int]]:
    by_space: dict[int, list[int]] = {}
    for row in versions:
        by_space.setdefault(row.space, []).append(row.ver)
    return by_space


_SPACES: Final = "(SELECT id FROM space WHERE tenant = :tenant)"
_LATER: Final = "v.space IN " + _SPACES + " AND v.seq_from > :seq"
_VERS: Final = "(SELECT v.space, v.ver FROM version v WHERE " + _LATER + ")"
_FIRST_SEEN: Final = (
    "FROM version v WHERE "
    + _LATER
    + " AND NOT EXISTS (SELECT 1 FROM version w WHERE w.space = v.space AND w.id = v.id AND w.seq_from <= :seq)"
)
_NEW: Final = "(SELECT v.id " + _FIRST_SEEN + ")"
_OPENED: Final = "seq_to > :seq AND seq_to < 9223372036854775807"
_WENT_ON: Final = "space IN " + _SPACES + " AND seq > :seq"
_DROP_AFTER: Final = (
    # One that was made before knows of no version written since, and of none closed since.
    "DELETE FROM pack WHERE space IN " + _SPACES + " AND seq > :seq",
    "DELETE FROM vector WHERE model IN (SELECT id FROM embedder) AND (space, ver) IN " + _VERS,
    "DELETE FROM job WHERE ver <> 0 AND (space, ver) IN " + _VERS,
    "DELETE FROM entry WHERE (space, ver) IN " + _VERS,
    "DELETE FROM facet WHERE (space, ver) IN " + _VERS,
    "DELETE FROM page WHERE space IN " + _SPACES + " AND item IN " + _NEW,
    "DELETE FROM page WHERE (space, session) IN (SELECT space, session FROM session WHERE " + _WENT_ON + ")",
    "DELETE FROM derived WHERE space IN "
    + _SPACES
    + " AND NOT EXISTS (SELECT 1 FROM version v"
    + " WHERE v.space = derived.space AND v.id = derived.item AND v.seq_from <= :seq)",
    # How often something was shown has no past: it goes with what was not there yet.
    "DELETE FROM strength WHERE space IN "
    + _SPACES
    + " AND useful <= 0 AND harms <= 0 AND (uses <= 0 OR (space, id) IN (SELECT v.space, v.id "
    + _FIRST_SEEN
    + "))",
    # The key of an import that was erased stays, so that the same import run again brings nothing back.
    "DELETE FROM idem WHERE space IN "
    + _SPACES
    + " AND seq > :seq AND NOT (lasting AND EXISTS"
    + " (SELECT 1 FROM tomb t WHERE t.space = idem.space AND t.item = idem.item))",
    "DELETE FROM version WHERE space IN " + _SPACES + " AND seq_from > :seq",
    "UPDATE version SET seq_to = 9223372036854775807 WHERE space IN " + _SPACES + " AND " + _OPENED,
    "UPDATE entry SET seq_to = 9223372036854775807 WHERE space IN " + _SPACES + " AND " + _OPENED,
    "DELETE FROM link WHERE space IN " + _SPACES + " AND seq_from > :seq",
    "UPDATE link SET seq_to = 9223372036854775807 WHERE space IN " + _SPACES + " AND " + _OPENED,
    "DELETE FROM session WHERE "
    + _WENT_ON
    + " AND NOT EXISTS (SELECT 1 FROM version v WHERE v.space = session.space AND v.session = session.session)",
    # Its window as it was is not known: it is made again from its last turns, by whoever opens it next.
    "UPDATE session SET owner = '', lease_until = 0, clock = 0, turns = 0, seq = 0 WHERE " + _WENT_ON,
    "DELETE FROM event WHERE tenant = :tenant AND seq > :seq",
    "DELETE FROM change WHERE tenant = :tenant AND seq > :seq",
    "DELETE FROM name WHERE space IN "
    + _SPACES
    + " AND NOT EXISTS (SELECT 1 FROM version v WHERE v.space = name.space AND name.id IN (v.agent, v.session))"
    + " AND NOT EXISTS (SELECT 1 FROM link l WHERE l.space = name.space AND l.type = name.id)"
    + " AND NOT EXISTS (SELECT 1 FROM session s WHERE s.space = name.space AND s.session = name.id)"
    + " AND (space, number) NOT IN (SELECT space, actor FROM change WHERE tenant = :tenant)",
)
"""In this order: what is found through a version goes before it."""
