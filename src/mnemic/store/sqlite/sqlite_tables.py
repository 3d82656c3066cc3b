"""The tables of a SQLite database, group by group: the statements that only SQLite can make, and all groups as one."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Any, Final

import apsw

from mnemic.core.clock import FOREVER, Clock
from mnemic.core.facets import SlotValue, author_facet, slot_facet, tag_facet
from mnemic.core.ids import Entropy, from_bytes
from mnemic.core.items import Kind
from mnemic.core.queries import Filter, View
from mnemic.core.scope import SHARED, Shared
from mnemic.core.visibility import Condition, conditions, facet_clauses, sight_clauses
from mnemic.store.engine.codec import kind_number, number_of
from mnemic.store.engine.relations import JOB, LANE, LINK, PAGE, SPACE, VERSION
from mnemic.store.engine.rows import (
    ItemTables,
    JournalTables,
    LaneTables,
    LinkTables,
    NameTables,
    NoteTables,
    PackTables,
    Rows,
    SessionTables,
    SpaceTables,
    VectorTables,
    in_order,
)
from mnemic.store.sqlite.past_tables import SqlitePast
from mnemic.store.sqlite.schema import (
    RESTING,
    SPEND_NUMBERS,
    THESE_ITEMS,
    erase_items_statements,
    erase_name_statements,
    erase_space_statements,
)
from mnemic.store.sqlite.sqlite_relations import (
    CHUNK,
    THESE,
    SqliteGroup,
    SqliteRelations,
    among,
    hexed,
    highest,
    read_json,
    spend,
)
from mnemic.store.values.row_values import Descent, LinkRow, NameRow, PageRow, SpaceRow, TenantRow, VersionRow, Walk
from mnemic.store.values.work import Job, JobState, Lane, VectorRow, slot_lane


class SqliteSpaces(SqliteGroup, SpaceTables):
    """SQLite's own statements about tenants and spaces."""

    def tenants(self, *, name: str | None = None, number: int = 0) -> list[TenantRow]:
        if name is not None:
            rows = self._db.execute(_TENANT + "WHERE t.name = ?", (name,))
        elif number:
            rows = self._db.execute(_TENANT + "WHERE t.id = ?", (number,))
        else:
            rows = self._db.execute(_TENANT + "ORDER BY t.id")
        return [TenantRow._make(row) for row in rows]

    def owned(self, tenant: str, user: str | Shared, branch: str) -> tuple[SpaceRow | None, SpaceRow | None]:
        name = None if isinstance(user, Shared) else user
        rows = [SPACE.make(row) for row in self._db.execute(_OWNED, (tenant, name, branch))]
        by_owner = {(row.user, row.branch): row for row in rows}
        return by_owner.get((user, branch)), by_owner.get((SHARED, ""))

    def owner_count(self) -> int:
        return int(self._db.execute(_OWNER_COUNT).get)

    def branch_counts(self, owners: Sequence[int]) -> dict[int, int]:
        return dict(self._db.execute(_BRANCH_COUNTS, (json.dumps(list(owners)),)))

    def descents(self, tenant: int) -> list[Descent]:
        rows = read_json(self._db, _DESCENTS, (tenant,))
        return [Descent(space, parent, bool(shared), bool(owned)) for space, parent, shared, owned in rows]

    def drop_space(self, space: int) -> tuple[int, int]:
        bound = {"space": space}
        versions = self._db.execute("SELECT count(*) FROM version WHERE space = :space", bound).get
        links = self._db.execute("SELECT count(*) FROM link WHERE space = :space", bound).get
        last = highest(self._db)
        for statement in _ERASE_SPACE:
            self._db.execute(statement, bound)
        spend(self._db, last)
        return int(versions), int(links)


class SqliteNames(SqliteGroup, NameTables):
    """SQLite's own statements about names."""

    def add_name(self, space: int, text: str) -> NameRow:
        ((name, number),) = self._db.execute(_ADD_NAME, (space, text))
        return NameRow(name, space, number, text)

    def name_ids(self, space: int, after: int, limit: int) -> list[int]:
        return sorted(read_json(self._db, _NAME_IDS, (space, after, limit)))  # a slice asks this, for many at once

    def drop_names(self, space: int, names: Sequence[int]) -> None:
        self._db.execute(SPEND_NUMBERS, {"space": space})
        self._db.execute(_DROP_NAMES, (space, json.dumps(list(names))))

    def drop_bare_name(self, space: int, text: str) -> None:
        for statement in _ERASE_NAME:
            self._db.execute(statement, {"space": space, "text": text})


_TENANT: Final = (
    "SELECT t.id, t.name, ifnull(c.seq, 0), ifnull(c.at, 0), ifnull(c.hash, zeroblob(32)), t.horizon, t.horizon_hash"
    " FROM tenant t LEFT JOIN change c"
    " ON c.tenant = t.id AND c.seq = (SELECT max(seq) FROM change WHERE tenant = t.id) "
)


_OF_TENANT: Final = (
    "SELECT " + ", ".join(SPACE.columns) + " FROM space WHERE tenant = (SELECT id FROM tenant WHERE name = ?1) AND "
)
_OWNED: Final = _OF_TENANT + "user = ?2 AND branch = ?3 UNION ALL " + _OF_TENANT + "shared AND branch IN ('', ?3)"
_OWNER_COUNT: Final = (
    "SELECT (SELECT count(*) FROM space INDEXED BY space_owner WHERE user IS NOT NULL)"
    " + (SELECT count(*) FROM space INDEXED BY space_shared WHERE shared)"
    " - (SELECT count(*) FROM space INDEXED BY space_branch WHERE parent > 0 AND (user IS NOT NULL OR shared))"
)
_BRANCH_COUNTS: Final = (
    "SELECT s.id, CASE WHEN s.shared THEN"
    " (SELECT count(*) FROM space b INDEXED BY space_shared WHERE b.tenant = s.tenant AND b.shared) ELSE"
    " (SELECT count(*) FROM space b INDEXED BY space_owner WHERE b.tenant = s.tenant AND b.user = s.user) END - 1"
    " FROM json_each(?) j CROSS JOIN space s ON s.id = j.value"
)
_DESCENTS: Final = (
    "SELECT json_group_array(json_array(id, parent, shared, user IS NOT NULL OR shared)) FROM space WHERE tenant = ?"
)
_ADD_NAME: Final = (
    "INSERT INTO name(space, number, text)"
    " SELECT ?1, 1 + max(spent, ifnull((SELECT max(number) FROM name WHERE space = ?1), 0)), ?2"
    " FROM space WHERE id = ?1 RETURNING id, number"
)
_NAME_IDS: Final = (
    "SELECT json_group_array(id) FROM (SELECT id FROM name WHERE space = ? AND id > ? ORDER BY id LIMIT ?)"
)
# A session's page table is kept by its name's id, turns or not.
_DROP_NAMES: Final = (
    "DELETE FROM name WHERE +space = ?1 AND id"
    + THESE
    + " AND NOT EXISTS (SELECT 1 FROM session s WHERE s.space = name.space AND s.session = name.id)"
)
_ERASE_NAME: Final = erase_name_statements()
_ERASE_SPACE: Final = tuple(erase_space_statements())


class SqliteItems(SqliteGroup, ItemTables):
    """SQLite's own statements about items: what a view shows, what a cache asks for, taking one out."""

    def ids(self, space: int, low: bytes, high: bytes, tail: bytes, limit: int) -> list[bytes]:
        if not tail:
            return super().ids(space, low, high, tail, limit)
        bound = (space, low, high, 17 - len(tail), tail, limit)
        return [item for (item,) in self._db.execute(_IDS, bound)]

    def covered(self, space: int, below: int, at: int) -> list[bytes]:
        return [item for (item,) in self._db.execute(_COVERED, (space, at, below))]

    def visible(self, spaces: Sequence[int], items: Sequence[bytes] | None, walk: Walk) -> list[VersionRow]:
        if items is None:
            rows = [row for space in spaces for row in self._page(space, walk)]
            return sorted(rows, key=attrgetter("ver"), reverse=walk.newest)[: walk.limit]
        order = "ORDER BY +v.ver LIMIT ?"  # the sign: or SQLite reads a whole space by an index in order
        rows = []
        for start in range(0, len(items), CHUNK):
            clauses, bound = self._where(spaces, walk.where, walk.view)
            chunk = items[start : start + CHUNK]
            rows += self._versions(
                [*clauses, among("v.id", len(chunk))], [*bound, *chunk], order, len(chunk) * max(1, len(spaces))
            )
        return rows

    def expired(self, now: int, after: tuple[int, int], limit: int) -> list[tuple[int, int, int, bytes]]:
        return list(self._db.execute(_EXPIRED, (now, *after, limit)))

    def count(self, spaces: Sequence[int], where: Filter, view: View) -> int:
        if asked := _asked(where):
            return sum(self._count_bearers(space, asked, where, view) for space in spaces)
        clauses, bound = self._where(spaces, where, view)
        statement = " ".join(("SELECT count(*) FROM version v WHERE", " AND ".join(clauses)))
        return int(self._db.execute(statement, bound).get)

    def _count_bearers(self, space: int, asked: Condition, where: Filter, view: View) -> int:
        clauses, bound = self._where((space,), where, view, met=asked)
        counted = 0
        for bearing, first in self._bearing(space, asked, 0):
            statement = " ".join(("SELECT count(*) FROM (", bearing, ") e", _JOINED, "WHERE", " AND ".join(clauses)))
            counted += int(self._db.execute(statement, (*first, *bound)).get)
        return counted

    def shown_counts(self, spaces: Sequence[int], now: int) -> dict[int, int]:
        expired = self._expired_counts(now)
        rows = self._db.execute(_SHOWN_COUNTS, (json.dumps(list(spaces)),))
        return {space: count - expired.get(space, 0) for space, count in rows}

    def shown_total(self, now: int) -> int:
        shown = int(self._db.execute(_SHOWN).get) - sum(self._expired_counts(now).values())
        branches = [space for (space,) in self._db.execute(_BRANCH_SPACES)]
        return shown - (sum(self.shown_counts(branches, now).values()) if branches else 0)

    def _expired_counts(self, now: int) -> dict[int, int]:
        """How many items of each space are active, as it is written, and have expired."""
        return dict(self._db.execute(_EXPIRED_COUNTS, (now,)))

    def bearers(self, space: int, asked: Condition, after: int) -> list[int]:
        vers: list[int] = []
        for bearing, bound in self._bearing(space, asked, after):
            vers += read_json(
                self._db, "SELECT json_group_array(ver) FROM (" + bearing + " ORDER BY ver)", tuple(bound)
            )
        return vers

    def _bearing(self, space: int, asked: Condition, after: int, before: int = FOREVER) -> list[tuple[str, list[Any]]]:
        """Select the versions between two that a condition on tags, authors or a slot is true of, stretch by stretch.

        A slot's are found by their facets as far as its lane has come, and by their bodies past that.
        """
        if asked.column in _WRITTEN:
            facets = _facets_asked(asked)
            statement = (_TAGGED if len(facets) == 1 else _TAGGED_ONCE) + among("hash", len(facets))
            return [(statement, [space, after, before, *facets])]
        ((name, value),) = asked.slots
        reached = self._db.execute(_LANE_CURSOR, (space, slot_lane(name))).get or 0
        condition, bound = _slot_condition(name, value)
        return [
            (_INDEXED, [space, after, before, reached, slot_facet(name, value)]),
            (_UNINDEXED + condition, [space, max(after, reached), before, *bound]),
        ]

    def entry_count(self, space: int, after: int, upto: int, most: int) -> int:
        return int(self._db.execute(_ENTRY_COUNT, (space, after, upto, most)).get)

    def closed(self, space: int, after_seq: int) -> list[tuple[int, int]]:
        # The index `version_closed` holds closed versions only, so this reads nothing that still stands.
        rows = self._db.execute(
            "SELECT ver, seq_to FROM version WHERE space = ? AND seq_to > ? AND seq_to < 9223372036854775807",
            (space, after_seq),
        )
        return list(rows)

    def closed_by(self, space: int, seq: int) -> list[VersionRow]:
        statement = "SELECT * FROM version WHERE space = ? AND seq_to = ? AND seq_to < 9223372036854775807 ORDER BY ver"
        return [VersionRow._make(row) for row in self._db.execute(statement, (space, seq))]

    def core(self, space: int, view: View, limit: int, reader: str | None) -> list[VersionRow]:
        at = FOREVER - 1 if view.at is None else view.at
        clauses, bound = self._where((space,), Filter(), view)
        for clause in sight_clauses(Filter(), reader):  # what is pinned is shown to everybody, whoever derived it
            seen = [_compiled(condition) for condition in clause]
            clauses.append(f"(e.pinned OR {' OR '.join(alternative for alternative, _ in seen)})")
            bound += [value for _, values in seen for value in values]
        statement = " ".join((_CORE, " AND ".join(clauses), "ORDER BY e.kind = ?, e.seq_from DESC, e.ver DESC LIMIT ?"))
        bound = [*bound, kind_number(Kind.PROFILE), limit]
        return [VersionRow._make(row) for row in self._db.execute(statement, (space, at, *bound))]

    def recorded_rows(self, tenant: int, space: int, vers: Sequence[int]) -> list[tuple[VersionRow, int]]:
        recorded = []
        for start in range(0, len(vers), CHUNK):
            some = vers[start : start + CHUNK]
            statement = _RECORDED + among("v.ver", len(some))
            rows = self._db.execute(statement, (tenant, *some))
            recorded += [(VersionRow._make(row[:-1]), row[-1]) for row in rows]
        return [(row, at) for row, at in recorded if row.space == space]

    def spaces_since(self, after: int) -> list[int]:
        return [space for (space,) in self._db.execute(_SPACES_SINCE, (after,))]

    def drop_items(self, space: int, items: Sequence[bytes], links: Sequence[int], seq: int) -> int:
        bound = {"space": space, "items": hexed(items), "links": json.dumps(list(links))}
        versions = self._db.execute(_COUNT_GOING, bound).get
        last = highest(self._db)
        for statement in _ERASE_ITEMS:
            self._db.execute(statement, bound)
        spend(self._db, last)
        self._db.execute(_BURY, {**bound, "seq": seq})
        return int(versions)

    def _page(self, space: int, walk: Walk) -> list[VersionRow]:
        """Read one space's page of versions by its entries, which lie in order of version, so that no more are read."""
        stretches, asked = [(_ENTRIES, [space, walk.after, walk.before])], _asked(walk.where)
        if asked is not None and len(asked.values) > 1:  # which of several tags, is asked of one entry after the other
            asked = None
        if asked is not None:
            stretches = self._bearing(space, asked, walk.after, walk.before)
        clauses, bound = self._where((space,), walk.where, walk.view, met=asked)
        order = "ORDER BY e.ver DESC LIMIT ?" if walk.newest else "ORDER BY e.ver LIMIT ?"
        page: list[VersionRow] = []
        for source, first in reversed(stretches) if walk.newest else stretches:
            statement = " ".join(("SELECT v.* FROM (", source, ") e", _JOINED, "WHERE", " AND ".join(clauses), order))
            rows = self._db.execute(statement, (*first, *bound, walk.limit - len(page)))
            page += [VersionRow._make(row) for row in rows]
        return page

    def _versions(self, clauses: list[str], bound: list[Any], order: str, limit: int) -> list[VersionRow]:
        statement = " ".join(("SELECT v.* FROM version v WHERE", " AND ".join(clauses), order))
        return [VersionRow._make(row) for row in self._db.execute(statement, (*bound, limit))]

    def _where(
        self, spaces: Sequence[int], where: Filter, view: View, met: Condition | None = None
    ) -> tuple[list[str], list[Any]]:
        """Compile what a filter and a view ask; `met`: a condition that is true of all that is looked at."""
        clauses: list[str] = [among("v.space", len(spaces))]
        bound: list[Any] = list(spaces)
        for clause in conditions(view, where):
            if clause == (met,):
                continue
            alternatives = []
            for condition in clause:
                alternative, values = _compiled(condition)
                alternatives.append(alternative)
                bound += values
            clauses.append(f"({' OR '.join(alternatives)})" if len(clause) > 1 else alternatives[0])
        return clauses, bound


def _asked(where: Filter) -> Condition | None:
    """The condition of a filter by whose facets versions are found, if any: tags, authors, or else its first slot."""
    return next((clause[0] for clause in facet_clauses(where)), None)


def _compiled(condition: Condition) -> tuple[str, list[Any]]:
    """Compile a condition to SQL over `version v`, with the values that are bound to it."""
    column, values = f"v.{condition.column}", [number_of(value) for value in condition.values]
    if condition.column in ("agent", "session"):
        return f"{column} = (SELECT id FROM name WHERE space = v.space AND text = ?)", values
    if condition.column in _WRITTEN:
        return _FACET + among("f.hash", len(values)) + ")", list(_facets_asked(condition))
    if condition.column == "slots":
        ((name, value),) = condition.slots
        test, bound = _slot_condition(name, value)
        return _BY_FACET + test + " END", [slot_lane(name), slot_facet(name, value), *bound]
    if condition.operator == "IN":
        return among(column, len(values)) if len(values) > 1 else f"{column} = ?", values
    return f"{column} {condition.operator} ?", values


def _facets_asked(condition: Condition) -> list[bytes]:
    """The facets that a condition on tags or authors names."""
    return [_WRITTEN[condition.column](value) for value in condition.values if isinstance(value, str)]


def _slot_condition(name: str, value: SlotValue) -> tuple[str, list[Any]]:
    """Compile the question whether the body of `version v` has a slot of this value, as `core.facets` compares."""
    if value is None:
        return _SLOT + "t.type = 'null')", [name]
    if isinstance(value, str):
        return _SLOT + "t.type = 'text' AND t.value = ?)", [name, value]
    return _SLOT + "t.type IN ('integer', 'real', 'true', 'false') AND t.value = ?)", [name, int(value)]


_WRITTEN: Final[Mapping[str, Callable[[str], bytes]]] = {"tags": tag_facet, "author": author_facet}
"""Facets that are written with their version, so that there is nothing past them."""
_ENTRIES: Final = "SELECT ver FROM entry WHERE space = ? AND ver > ? AND ver < ? AND part = 0"
_JOINED: Final = "CROSS JOIN version v ON v.ver = e.ver"
_FACET: Final = "EXISTS (SELECT 1 FROM facet f WHERE f.space = v.space AND f.ver = v.ver AND "
_SLOT: Final = "EXISTS (SELECT 1 FROM json_each(CAST(v.body AS TEXT), '$.slots') t WHERE t.key = ? AND "
_LANE_CURSOR: Final = "SELECT cursor FROM lane WHERE space = ? AND name = ?"
_BY_FACET: Final = (
    "CASE WHEN v.ver <= ifnull((SELECT cursor FROM lane WHERE space = v.space AND name = ?), 0) THEN "
    + _FACET
    + "f.hash = ?) ELSE "
)
_FACETED: Final = "ver FROM facet INDEXED BY facet_hash WHERE space = ? AND ver > ? AND ver < ? AND "
_TAGGED: Final = "SELECT " + _FACETED
_TAGGED_ONCE: Final = "SELECT DISTINCT " + _FACETED
_INDEXED: Final = _TAGGED + "ver <= ? AND hash = ?"
_UNINDEXED: Final = (
    "SELECT e.ver AS ver FROM entry e " + _JOINED + " WHERE e.space = ? AND e.ver > ? AND e.ver < ? AND e.part = 0 AND "
)


_RECORDED: Final = (
    "SELECT " + ", ".join(f"v.{column}" for column in VERSION.columns) + ","
    " ifnull((SELECT at FROM change WHERE tenant = ? AND seq = v.seq_from), 0) FROM version v WHERE "
)
# The conditions are those of the index `version_expires`: nothing is looked at that has not expired.
_EXPIRED: Final = (
    "SELECT expires, ver, space, id FROM version WHERE expires > 0 AND state <> 3 AND seq_to = 9223372036854775807"
    " AND expires <= ? AND (expires, ver) > (?, ?) ORDER BY expires, ver LIMIT ?"
)
# What is shown is counted by an index that holds nothing else; what has expired of it, by that of what expires.
_SHOWN: Final = "SELECT count(*) FROM version INDEXED BY version_shown WHERE state = 1 AND seq_to = 9223372036854775807"
_SHOWN_COUNTS: Final = (
    "SELECT j.value, (SELECT count(*) FROM version INDEXED BY version_shown"
    " WHERE space = j.value AND state = 1 AND seq_to = 9223372036854775807) FROM json_each(?) j"
)
_EXPIRED_COUNTS: Final = (
    "SELECT space, count(*) FROM version INDEXED BY version_expires WHERE expires > 0 AND state <> 3"
    " AND seq_to = 9223372036854775807 AND expires <= ? AND state = 1 GROUP BY space"
)
_BRANCH_SPACES: Final = "SELECT id FROM space INDEXED BY space_branch WHERE parent > 0"
_ENTRY_COUNT: Final = "SELECT count(*) FROM (SELECT 1 FROM entry WHERE space = ? AND ver > ? AND ver <= ? LIMIT ?)"
_IDS: Final = (
    "SELECT DISTINCT id FROM version WHERE space = ? AND id BETWEEN ? AND ? AND substr(id, ?) = ? ORDER BY id LIMIT ?"
)
_COVERED: Final = (
    "SELECT DISTINCT v.id FROM version v WHERE v.space = ? AND v.seq_from <= ?"
    " AND EXISTS (SELECT 1 FROM version b WHERE b.space = ? AND b.id = v.id)"
)
_CORE: Final = (
    "SELECT v.* FROM entry e INDEXED BY entry_core CROSS JOIN version v ON v.ver = e.ver"
    " WHERE e.space = ? AND e.seq_to > ? AND e.part = 0 AND (e.pinned OR e.kind IN (6, 7)) AND"
)
_SPACES_SINCE: Final = (
    # The plus signs keep the planner from walking every space by its index: the numbers are row ids.
    "SELECT DISTINCT +space FROM version NOT INDEXED WHERE ver > ? AND +space <> 0"
)
_ERASE_ITEMS: Final = tuple(erase_items_statements())
_COUNT_GOING: Final = "SELECT count(*) FROM version WHERE space = :space AND id" + THESE_ITEMS
_BURY: Final = (
    "INSERT INTO tomb SELECT :space, unhex(value), :seq FROM json_each(:items) WHERE TRUE ON CONFLICT DO NOTHING"
)


class SqliteLinks(SqliteGroup, LinkTables):
    """SQLite's own statements about links."""

    def links_resting(self, space: int, items: Sequence[bytes]) -> list[LinkRow]:
        rows = self._db.execute(_RESTING, (space, json.dumps(list(map(from_bytes, items)))))
        return [LINK.make(row) for row in rows]


_RESTING: Final = (
    "SELECT "
    + ", ".join(LINK.columns)
    + " FROM link INDEXED BY link_resting WHERE space = ?1 AND "
    + RESTING
    + " AND json_valid(CAST(body AS TEXT)) AND EXISTS (SELECT 1 FROM json_each(CAST(link.body AS TEXT), '$.evidence') e"
    " WHERE e.value IN (SELECT value FROM json_each(?2))) ORDER BY lver"
)


class SqliteJournal(SqliteGroup, JournalTables):
    """SQLite's own statements about the journal."""

    def count_events(self, tenant: int, after: int, upto: int) -> int:
        return int(self._db.execute(_COUNT_EVENTS, (tenant, after, upto)).get)

    def noted(self, tenant: int, verbs: Sequence[int], after: int) -> list[int]:
        statement = _NOTED + among("verb", len(verbs)) + " ORDER BY seq"
        return [seq for (seq,) in self._db.execute(statement, (tenant, after, *verbs))]


_COUNT_EVENTS: Final = "SELECT count(*) FROM event WHERE tenant = ? AND seq > ? AND seq <= ?"
# What writes neither a version nor a link has an index of its own.
_NOTED: Final = (
    "SELECT DISTINCT seq FROM event INDEXED BY event_bare WHERE tenant = ? AND seq > ? AND ver = 0 AND lver = 0 AND "
)


class SqliteLanes(SqliteGroup, LaneTables):
    """SQLite's own statements about lanes and jobs."""

    def make_due(self, space: int) -> None:
        self._db.execute(_MAKE_DUE, (space,))

    def lane_and_newest(self, space: int, name: str) -> tuple[Lane, int]:
        ((newest, *row),) = self._db.execute(_LANE_AND_NEWEST, (space, name))
        return Lane(space=space, name=name) if row[0] is None else LANE.make(row), newest

    def waiting(self, name: str, spaces: Sequence[int]) -> list[tuple[int, int, int]]:
        return list(self._db.execute(_WAITING, (name, json.dumps(list(spaces)))))

    def pending(self, waiting: Sequence[tuple[int, int, int]]) -> dict[int, int]:
        # A pack says how many entries it holds: what is counted one by one is what lies beside packs.
        packs: dict[int, list[tuple[int, int, int]]] = {}
        for space, *pack in self._db.execute(_PACKED, (json.dumps([space for space, _, _ in waiting]),)):
            packs.setdefault(space, []).append((pack[0], pack[1], pack[2]))
        counts, beside = Counter[int](), list[tuple[int, int, int]]()
        for space, cursor, newest in waiting:
            for after, upto, rows in packs.get(space, ()):
                if after >= cursor:
                    beside.append((space, cursor, after))
                    counts[space], cursor = counts[space] + rows, upto
            beside.append((space, cursor, newest))
        stretches = [stretch for stretch in beside if stretch[1] < stretch[2]]
        for space, count in self._db.execute(_BESIDE, (json.dumps(stretches),)):
            counts[space] += count
        return dict(counts)

    def failing(self, name: str) -> Iterator[tuple[int, str]]:
        return self._db.execute(_FAILING, (name,))

    def failing_lanes(self) -> list[str]:
        return [name for (name,) in self._db.execute(_FAILING_LANES)]

    def job_counts(self) -> dict[int, int]:
        return dict(self._db.execute(_JOB_COUNTS))

    def dead_counts(self, name: str) -> dict[bytes, int]:
        return dict(self._db.execute(_DEAD_COUNTS, (int(JobState.DEAD), name)))

    def due_job(self, names: Sequence[str], now: int) -> Job | None:
        known = json.dumps(list(names))
        due_jobs = [JOB.make(row) for due in _DUE_JOBS for row in self._db.execute(due, (known, now))]
        return min(due_jobs, key=lambda job: (-job.order.priority, job.id), default=None)


_LANE_AND_NEWEST: Final = (
    "SELECT s.newest, " + ", ".join(f"l.{column}" for column in LANE.columns) + " FROM"
    " (SELECT ifnull((SELECT ver FROM entry WHERE space = ?1 ORDER BY ver DESC LIMIT 1), 0) AS newest) s"
    " LEFT JOIN lane l ON l.space = ?1 AND l.name = ?2"
)
_MAKE_DUE: Final = (
    "INSERT INTO due(name, space, at) SELECT name, ?, 0 FROM followed WHERE TRUE"
    " ON CONFLICT DO UPDATE SET at = 0 WHERE at <> 0"
)
_WAITING: Final = (
    "SELECT * FROM (SELECT s.id, ifnull(l.cursor, 0) AS done,"
    " ifnull((SELECT max(ver) FROM entry WHERE space = s.id), 0) AS newest"
    " FROM json_each(?2) j CROSS JOIN space s ON s.id = j.value LEFT JOIN lane l ON l.space = s.id AND l.name = ?1"
    " WHERE (s.user IS NOT NULL OR s.shared) AND s.lanes)"
    " WHERE newest > done ORDER BY id"
)
_PACKED: Final = (
    "SELECT p.space, p.after, p.upto, p.rows FROM json_each(?) j"
    " CROSS JOIN pack p ON p.space = j.value AND p.model = 0 ORDER BY p.space, p.after"
)
_BESIDE: Final = (
    "SELECT j.value ->> 0, (SELECT count(*) FROM entry"
    " WHERE space = j.value ->> 0 AND ver > j.value ->> 1 AND ver <= j.value ->> 2) FROM json_each(?) j"
)
_FAILING_LANES: Final = "SELECT DISTINCT name FROM lane INDEXED BY lane_failing WHERE error <> '' ORDER BY name"
_FAILING: Final = "SELECT space, error FROM lane INDEXED BY lane_failing WHERE name = ? AND error <> '' ORDER BY space"
_JOB_COUNTS: Final = "SELECT state, count(*) FROM job INDEXED BY job_listed GROUP BY state"
_DEAD_COUNTS: Final = "SELECT payload, count(*) FROM job WHERE state = ? AND name = ? GROUP BY payload"
_NAMED: Final = " AND name IN (SELECT value FROM json_each(?1))"
_READY: Final = "job_ready WHERE state = 1 AND not_before = 0 AND lease_until = 0"
_LATER: Final = "job_later WHERE state = 1 AND (not_before > 0 OR lease_until > 0)"
_LEASED: Final = "job_leased WHERE state = 1 AND leased > ?2"
_DUE_JOBS: Final = tuple(
    "SELECT " + ", ".join(JOB.columns) + " FROM job INDEXED BY " + one + _NAMED + " ORDER BY priority DESC, id LIMIT 1"
    for one in (_READY + " AND ?2 = ?2", _LATER + " AND max(not_before, lease_until) <= ?2", _LEASED)
)
"""Each by an index of its own: what waits for nothing, what has waited long enough, what a clock went back behind."""


class SqliteVectors(SqliteGroup, VectorTables):
    """SQLite's own statements about vectors."""

    def of_size(self, model: int, size: int) -> dict[int, int]:
        return dict(self._db.execute(_OF_SIZE, (model, size)))

    def add_vectors(self, space: int, model: int, vectors: Iterable[VectorRow]) -> int:
        before = self._db.total_changes()
        self._db.executemany(_ADD_VECTOR, [(space, model, *row) for row in vectors])
        return self._db.total_changes() - before

    def carry_vectors(self, home: int, space: int, moved: Sequence[tuple[int, int]]) -> None:
        self._db.executemany(
            _CARRY_VECTORS, [{"home": home, "ver": ver, "space": space, "to": to} for ver, to in moved]
        )

    def drop_vectors(self, model: int, limit: int) -> int:
        self._db.execute(_DROP_VECTORS, (model, limit))
        return self._db.changes()


_OF_SIZE: Final = (
    "SELECT v.space, count(*) FROM space s CROSS JOIN vector v ON v.space = s.id"
    " WHERE v.model = ? AND length(v.f16) = ? GROUP BY v.space"
)
_ADD_VECTOR: Final = (
    "REPLACE INTO vector SELECT space, ?2, ver, part, ?5 FROM entry WHERE space = ?1 AND ver = ?3 AND part = ?4"
)
_CARRY_VECTORS: Final = (
    "INSERT INTO vector SELECT :space, model, :to, part, f16 FROM vector"
    " WHERE space = :home AND model IN (SELECT id FROM embedder) AND ver = :ver"
)
_DROP_VECTORS: Final = (
    "DELETE FROM vector WHERE (space, model, ver, part) IN (SELECT v.space, v.model, v.ver, v.part"
    " FROM space s CROSS JOIN vector v ON v.space = s.id AND v.model = ? LIMIT ?)"
)


class SqlitePacks(SqliteGroup, PackTables):
    """SQLite's own ways to packs."""

    def body(self, pack: int) -> bytearray | None:
        # Read apart from its row, a body costs an eighth: a SELECT copies it twice, page by page.
        if self._db.execute("SELECT 1 FROM pack WHERE id = ?", (pack,)).get is None:
            return None
        blob = self._db.blob_open("main", "pack", "body", pack, False)
        body = bytearray(blob.length())
        blob.read_into(body)
        blob.close()
        return body

    def unpacked(self, least: int) -> list[int]:
        return [space for (space,) in self._db.execute(_UNPACKED, (least,))]


_UNPACKED: Final = (
    "SELECT s.id FROM space s WHERE (s.user IS NOT NULL OR s.shared) AND (EXISTS (SELECT 1 FROM pack p"
    " WHERE p.space = s.id AND p.model = 0 AND p.after > 0"
    " AND NOT EXISTS (SELECT 1 FROM pack q WHERE q.space = p.space AND q.model = 0 AND q.upto = p.after))"
    " OR (SELECT count(*) FROM (SELECT 1 FROM entry e WHERE e.space = s.id"
    " AND e.ver > ifnull((SELECT max(upto) FROM pack p WHERE p.space = s.id AND p.model = 0), 0) LIMIT ?1)) = ?1)"
    " ORDER BY s.id"
)


class SqliteSessions(SqliteGroup, SessionTables):
    """SQLite's own statements about pages."""

    def session_counts(self, now: int) -> tuple[int, int]:
        ((known, opened),) = self._db.execute(_SESSION_COUNTS, (now,))
        return known, opened

    def pages_at_hand(self, space: int, session: int) -> list[PageRow]:
        return in_order(map(PAGE.make, self._db.execute(_PAGES_AT_HAND, (space, session))))


_SESSION_COUNTS: Final = "SELECT count(*), ifnull(sum(owner <> '' AND lease_until > ?), 0) FROM session"
# The condition is that of the index `page_at_hand`.
_PAGES_AT_HAND: Final = (
    "SELECT "
    + ", ".join(PAGE.columns)
    + " FROM page WHERE space = ? AND session = ? AND (resident OR (segment < 0 AND position >= 0))"
)


def sqlite_rows(db: apsw.Connection, clock: Clock, entropy: Entropy) -> Rows:
    """Make the rows of a database, inside the transaction that its connection has open."""
    relations = SqliteRelations(db)
    return rows_of(relations, SqliteSpaces(relations), SqliteNames(relations), SqliteJournal(relations), clock, entropy)


def rows_of(
    relations: SqliteRelations,
    spaces: SqliteSpaces,
    names: SqliteNames,
    journal: SqliteJournal,
    clock: Clock,
    entropy: Entropy,
) -> Rows:
    """Rows with these groups, and the others as they come."""
    return Rows(
        spaces=spaces,
        names=names,
        journal=journal,
        items=SqliteItems(relations),
        links=SqliteLinks(relations),
        vectors=SqliteVectors(relations),
        packs=SqlitePacks(relations),
        lanes=SqliteLanes(relations),
        sessions=SqliteSessions(relations),
        past=SqlitePast(relations),
        notes=NoteTables(relations),
        clock=clock,
        entropy=entropy,
    )
