"""Rows in SQLite: each method one statement with bound parameters, nothing of a user's ever in the statement."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter
from typing import Any, Final

import apsw

from mnemic.core.clock import FOREVER
from mnemic.core.ids import from_bytes, to_bytes
from mnemic.core.items import Kind
from mnemic.core.queries import Entry, Filter, View
from mnemic.core.scope import SHARED, Shared
from mnemic.store.base import EmbedderRow, EmbedderState, Job, JobState, Lane, Order, VectorRow
from mnemic.store.codec import kind_number
from mnemic.store.ledger import GENESIS, space_owner
from mnemic.store.meters import LIFE, MeterRow
from mnemic.store.pages import PageRow, SessionRow
from mnemic.store.rows import (
    TRUNK,
    ChangeRow,
    EventRow,
    KeyRow,
    Line,
    LinkRow,
    SpaceRow,
    StrengthRow,
    TenantRow,
    VersionRow,
    shown_states,
)
from mnemic.store.schema import erase_item_statements, erase_space_statements
from mnemic.store.sqlite_rewind import SqliteRewound
from mnemic.store.sqlite_spent import SqliteSpent

_TENANT: Final = (
    "SELECT t.id, t.name, ifnull(c.seq, 0), ifnull(c.at, 0), ifnull(c.hash, zeroblob(32)), t.horizon, t.horizon_hash"
    " FROM tenant t LEFT JOIN change c"
    " ON c.tenant = t.id AND c.seq = (SELECT max(seq) FROM change WHERE tenant = t.id) "
)
_SPACE: Final = "SELECT id, tenant, user, shared, secret, seq, epoch, parent, base, branch, lanes FROM space "
_ERASE_ITEM: Final = tuple(erase_item_statements())
_ERASE_SPACE: Final = tuple(erase_space_statements())
_CHUNK: Final = 500
"""Ids bound to one statement."""


class SqliteRows(SqliteSpent, SqliteRewound):
    """`store.rows.Rows` over one connection, inside the transaction it has open."""

    def __init__(self, db: apsw.Connection) -> None:
        self._db = db

    def tenant(self, name: str) -> TenantRow | None:
        return self._tenant(_TENANT + "WHERE t.name = ?", name)

    def tenant_row(self, tenant: int) -> TenantRow:
        row = self._tenant(_TENANT + "WHERE t.id = ?", tenant)
        assert row is not None
        return row

    def _tenant(self, statement: str, key: str | int) -> TenantRow | None:
        row = self._db.execute(statement, (key,)).fetchone()
        return None if row is None else TenantRow._make(row)

    def tenants(self) -> list[TenantRow]:
        return [TenantRow._make(row) for row in self._db.execute(_TENANT + "ORDER BY t.id")]

    def add_tenant(self, name: str) -> TenantRow:
        self._db.execute("INSERT INTO tenant(name, horizon, horizon_hash) VALUES (?, 0, ?)", (name, GENESIS))
        return self.tenant_row(self._db.last_insert_rowid())

    def set_tenant(self, row: TenantRow) -> None:
        # The head of a journal is its last commit, read from there: a write more would dirty a page more.
        self._db.execute(
            "UPDATE tenant SET name = ?2, horizon = ?3, horizon_hash = ?4"
            " WHERE id = ?1 AND (name IS NOT ?2 OR horizon <> ?3)",
            (row.id, row.name, row.horizon, row.horizon_hash),
        )

    def space(self, tenant: int, user: str | Shared, branch: str = "") -> SpaceRow | None:
        if isinstance(user, Shared):
            row = self._db.execute(_SPACE + "WHERE tenant = ? AND branch = ? AND shared", (tenant, branch)).fetchone()
        else:
            found = self._db.execute(_SPACE + "WHERE tenant = ? AND user = ? AND branch = ?", (tenant, user, branch))
            row = found.fetchone()
        return None if row is None else _space(row)

    def space_rows(self, ids: Sequence[int]) -> list[SpaceRow]:
        return [_space(row) for space in ids for row in self._db.execute(_SPACE + "WHERE id = ?", (space,))]

    def tenant_spaces(self, tenant: int) -> list[SpaceRow]:
        return [_space(row) for row in self._db.execute(_SPACE + "WHERE tenant = ? ORDER BY id", (tenant,))]

    def add_space(self, tenant: int, user: str | Shared, secret: bytes, line: Line = TRUNK) -> SpaceRow:
        name, shared = space_owner(user)
        self._db.execute(_ADD_SPACE, (None, tenant, name, shared, secret, *line))
        return self.space_rows((self._db.last_insert_rowid(),))[0]

    def set_space(self, row: SpaceRow) -> None:
        self._db.execute("UPDATE space SET seq = ?2, epoch = ?3 WHERE id = ?1", (row.id, row.seq, row.epoch))

    def name(self, space: int, text: str) -> int | None:
        row = self._db.execute("SELECT id FROM name WHERE space = ? AND text = ?", (space, text)).fetchone()
        return None if row is None else int(row[0])

    def name_text(self, name: int) -> str | None:
        row = self._db.execute("SELECT text FROM name WHERE id = ?", (name,)).fetchone()
        return None if row is None else str(row[0])

    def names(self, space: int) -> list[tuple[int, str]]:
        return list(self._db.execute("SELECT id, text FROM name WHERE space = ? ORDER BY id", (space,)))

    def add_name(self, space: int, text: str) -> int:
        self._db.execute("INSERT INTO name(space, text) VALUES (?, ?)", (space, text))
        return self._db.last_insert_rowid()

    def load_space(self, space: int, tenant: int, user: str | Shared | None, secret: bytes, line: Line = TRUNK) -> None:
        name, shared = (None, 0) if user is None else space_owner(user)
        self._db.execute(_ADD_SPACE, (space, tenant, name, shared, secret, *line))

    def load_name(self, name: int, space: int, text: str) -> None:
        self._db.execute("INSERT INTO name(id, space, text) VALUES (?, ?, ?)", (name, space, text))

    # The journal

    def add_change(self, row: ChangeRow) -> None:
        self._db.execute("INSERT INTO change VALUES (?, ?, ?, ?, ?, ?, ?)", tuple(row))

    def add_event(self, row: EventRow) -> None:
        self._db.execute("INSERT INTO event VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", tuple(row))

    def changes(self, tenant: int, after: int, limit: int, newest: bool) -> list[ChangeRow]:
        statement = _CHANGES_NEWEST if newest else _CHANGES
        return [ChangeRow._make(row) for row in self._db.execute(statement, (tenant, after, limit))]

    def events(self, tenant: int, first: int, last: int) -> list[EventRow]:
        rows = self._db.execute(
            "SELECT * FROM event WHERE tenant = ? AND seq BETWEEN ? AND ? ORDER BY seq, n", (tenant, first, last)
        )
        return [EventRow._make(row) for row in rows]

    def seq_at(self, tenant: int, at: int) -> int:
        # `at` never decreases with seq, so the last row at or before it is found from the newest end.
        row = self._db.execute(
            "SELECT seq FROM change WHERE tenant = ? AND at <= ? ORDER BY seq DESC LIMIT 1", (tenant, at)
        ).fetchone()
        return 0 if row is None else int(row[0])

    def meters(self) -> list[MeterRow]:
        return [MeterRow._make(row) for row in self._db.execute("SELECT * FROM meter ORDER BY at DESC, process")]

    def set_meter(self, row: MeterRow) -> None:
        self._db.execute("DELETE FROM meter WHERE at <= ?", (row.at - LIFE,))
        self._db.execute(
            "INSERT INTO meter(process, at, body) VALUES (?, ?, ?)"
            " ON CONFLICT(process) DO UPDATE SET at = excluded.at, body = excluded.body",
            row,
        )

    def times(self, tenant: int, seqs: Sequence[int]) -> dict[int, int]:
        found: dict[int, int] = {}
        for start in range(0, len(seqs), _CHUNK):
            some = seqs[start : start + _CHUNK]
            statement = "SELECT seq, at FROM change WHERE tenant = ? AND " + _among("seq", len(some))
            found.update(self._db.execute(statement, (tenant, *some)))
        return found

    # Versions, entries, links

    def add_version(self, row: VersionRow) -> int:
        self._db.execute(
            "INSERT INTO version VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", tuple(row)[1:]
        )
        return self._db.last_insert_rowid()

    def close_version(self, row: VersionRow, seq_to: int) -> None:
        self._db.execute("UPDATE version SET seq_to = ? WHERE ver = ?", (seq_to, row.ver))
        self._db.execute("UPDATE entry SET seq_to = ? WHERE space = ? AND ver = ?", (seq_to, row.space, row.ver))

    def standing(self, space: int, item: bytes) -> VersionRow | None:
        row = self._db.execute(
            "SELECT * FROM version WHERE space = ? AND id = ? AND seq_to = ?", (space, item, FOREVER)
        ).fetchone()
        return None if row is None else VersionRow._make(row)

    def version_rows(self, space: int, vers: Sequence[int]) -> list[VersionRow]:
        found: list[VersionRow] = []
        for start in range(0, len(vers), _CHUNK):
            some = vers[start : start + _CHUNK]
            # The plus keeps the planner from walking the whole space by its index: the numbers are row ids.
            statement = "SELECT * FROM version WHERE +space = ? AND " + _among("ver", len(some))
            found += [VersionRow._make(row) for row in self._db.execute(statement, (space, *some))]
        return found

    def written(self, space: int, seq: int) -> list[VersionRow]:
        statement = (
            "SELECT v.* FROM space s JOIN event e ON e.tenant = s.tenant AND e.seq = ?2 JOIN version v ON v.ver = e.ver"
            " WHERE s.id = ?1 AND v.space = ?1 AND v.seq_from = ?2 ORDER BY e.n"
        )
        return [VersionRow._make(row) for row in self._db.execute(statement, (space, seq))]

    def item_rows(self, space: int, item: bytes) -> list[VersionRow]:
        rows = self._db.execute("SELECT * FROM version WHERE space = ? AND id = ? ORDER BY seq_from", (space, item))
        return [VersionRow._make(row) for row in rows]

    def covered(self, space: int, below: int, at: int) -> list[bytes]:
        return [item for (item,) in self._db.execute(_COVERED, (space, at, below))]

    def visible(
        self,
        spaces: Sequence[int],
        items: Sequence[bytes] | None,
        where: Filter,
        view: View,
        after: int,
        limit: int,
        newest: bool,
    ) -> list[VersionRow]:
        if items is None:
            pages = [self._page(space, where, view, after, limit, newest) for space in spaces]
            return sorted((row for page in pages for row in page), key=attrgetter("ver"), reverse=newest)[:limit]
        order = "ORDER BY v.ver LIMIT ?"
        found: list[VersionRow] = []
        for start in range(0, len(items), _CHUNK):
            clauses, bound = self._where(spaces, where, view)
            some = items[start : start + _CHUNK]
            found += self._versions(
                [*clauses, _among("v.id", len(some))], [*bound, *some], order, len(some) * max(1, len(spaces))
            )
        return found

    def _page(self, space: int, where: Filter, view: View, after: int, limit: int, newest: bool) -> list[VersionRow]:
        """Entries lie in order of space and version, so a walk over them ends where the page does."""
        clauses, bound = self._where((space,), where, view)
        walk = (
            "SELECT v.* FROM entry e CROSS JOIN version v ON v.ver = e.ver"
            " WHERE e.space = ? AND e.ver > ? AND e.part = 0"
        )
        order = "ORDER BY e.ver DESC LIMIT ?" if newest else "ORDER BY e.ver LIMIT ?"
        statement = " ".join((" AND ".join((walk, *clauses)), order))
        rows = self._db.execute(statement, (space, after, *bound, limit))
        return [VersionRow._make(row) for row in rows]

    def _versions(self, clauses: list[str], bound: list[Any], order: str, limit: int) -> list[VersionRow]:
        statement = " ".join(("SELECT v.* FROM version v WHERE", " AND ".join(clauses), order))
        return [VersionRow._make(row) for row in self._db.execute(statement, (*bound, limit))]

    def count(self, spaces: Sequence[int], where: Filter, view: View) -> int:
        clauses, bound = self._where(spaces, where, view)
        statement = " ".join(("SELECT count(*) FROM version v WHERE", " AND ".join(clauses)))
        return int(self._db.execute(statement, bound).get)

    def _where(self, spaces: Sequence[int], where: Filter, view: View) -> tuple[list[str], list[Any]]:
        clauses: list[str] = [_among("v.space", len(spaces))]
        bound: list[Any] = list(spaces)

        def also(clause: str, *values: Any) -> None:
            clauses.append(clause)
            bound.extend(values)

        if view.at is None:
            also("v.seq_to = ?", FOREVER)
        else:
            also("v.seq_from <= ? AND v.seq_to > ?", view.at, view.at)
        if view.as_of is not None:
            also("v.said <= ?", view.as_of)
            if view.valid_at is None:
                also("v.known_to > ?", view.as_of)
        if view.valid_at is not None:
            also("v.valid_from <= ?", view.valid_at)
            if view.as_of is None:
                also("v.valid_to > ?", view.valid_at)
            else:  # what was superseded later than that was open then: its end was not known yet
                also("(v.valid_to > ? OR (v.known_to > ? AND v.known_to < ?))", view.valid_at, view.as_of, FOREVER)
        states = where.states or shown_states(view)
        also(_among("v.state", len(states)), *(int(s) for s in states))
        if where.kinds:
            also(_among("v.kind", len(where.kinds)), *(kind_number(k) for k in where.kinds))
        for column, name in (("v.agent", where.agent), ("v.session", where.session)):
            if name is not None:
                also(_NAMED[column], name)
        if where.said_from is not None:
            also("v.said >= ?", where.said_from)
        if where.said_to is not None:
            also("v.said < ?", where.said_to)
        if where.tags:
            tagged = _among("t.value", len(where.tags))
            also(f"EXISTS (SELECT 1 FROM json_each(CAST(v.body AS TEXT), '$.tags') t WHERE {tagged})", *where.tags)
        return clauses, bound

    def all_versions(self, space: int) -> Iterator[VersionRow]:
        for row in self._db.execute("SELECT * FROM version WHERE space = ? ORDER BY ver", (space,)):
            yield VersionRow._make(row)

    def add_entries(self, space: int, entries: Iterable[Entry]) -> None:
        for entry in entries:
            self._db.execute(
                "INSERT INTO entry VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", (space, *entry)
            )

    def entries(self, space: int, after: int) -> Iterator[Entry]:
        statement = (
            "SELECT ver, part, seq_from, seq_to, state, kind, said, known_to, valid_from, valid_to,"
            " agent, session, pos, pinned, terms"
            " FROM entry WHERE space = ? AND ver > ? ORDER BY ver, part"
        )
        return map(Entry._make, self._db.execute(statement, (space, after)))

    def entry_terms(self, space: int, ver: int) -> tuple[bytes, ...]:
        return tuple(
            row[0]
            for row in self._db.execute(
                "SELECT terms FROM entry WHERE space = ? AND ver = ? ORDER BY part", (space, ver)
            )
        )

    def closed(self, space: int, after_seq: int) -> list[tuple[int, int]]:
        # The index `version_closed` holds closed versions only, so this reads nothing that still stands.
        rows = self._db.execute(
            "SELECT ver, seq_to FROM version WHERE space = ? AND seq_to > ? AND seq_to < 9223372036854775807",
            (space, after_seq),
        )
        return list(rows)

    def core(self, space: int, view: View, limit: int) -> list[VersionRow]:
        at = FOREVER - 1 if view.at is None else view.at
        clauses, bound = self._where((space,), Filter(), view)
        statement = " ".join((_CORE, " AND ".join(clauses), "ORDER BY e.kind = ?, e.seq_from DESC, e.ver DESC LIMIT ?"))
        bound = [*bound, kind_number(Kind.PROFILE), limit]
        return [VersionRow._make(row) for row in self._db.execute(statement, (space, at, *bound))]

    def newest(self, space: int) -> int:
        return int(self._db.execute("SELECT ifnull(max(ver), 0) FROM entry WHERE space = ?", (space,)).get)

    def add_link(self, row: LinkRow) -> int:
        self._db.execute("INSERT INTO link VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?)", tuple(row)[1:])
        return self._db.last_insert_rowid()

    def close_link(self, row: LinkRow, seq_to: int) -> None:
        self._db.execute("UPDATE link SET seq_to = ? WHERE lver = ?", (seq_to, row.lver))

    def standing_link(self, space: int, src: bytes, dst: bytes, type_: int) -> LinkRow | None:
        rows = self._links(
            "WHERE space = ? AND src = ? AND dst = ? AND type = ? AND seq_to = ?", (space, src, dst, type_, FOREVER)
        )
        return rows[0] if rows else None

    def links_of(self, space: int, item: bytes) -> list[LinkRow]:
        starting = self._links("WHERE space = ? AND src = ? ORDER BY lver", (space, item))
        return starting + self._links("WHERE space = ? AND dst = ? AND src <> dst ORDER BY lver", (space, item))

    def links_written(self, space: int, seq: int) -> list[LinkRow]:
        return self._links(
            "WHERE space = ?1 AND seq_from = ?2"
            " AND lver IN (SELECT e.lver FROM space s JOIN event e ON e.tenant = s.tenant"
            " WHERE s.id = ?1 AND e.seq = ?2) ORDER BY n",
            (space, seq),
        )

    def all_links(self, space: int) -> Iterator[LinkRow]:
        return iter(self._links("WHERE space = ? ORDER BY lver", (space,)))

    def _links(self, tail: str, bound: tuple[Any, ...]) -> list[LinkRow]:
        return [LinkRow._make(row) for row in self._db.execute("SELECT * FROM link " + tail, bound)]

    def add_derived(self, space: int, source: bytes, item: bytes) -> None:
        self._db.execute("INSERT INTO derived VALUES (?, ?, ?) ON CONFLICT DO NOTHING", (space, source, item))

    def derived(self, space: int, source: bytes) -> list[bytes]:
        return [
            row[0]
            for row in self._db.execute(
                "SELECT item FROM derived WHERE space = ? AND source = ? ORDER BY item", (space, source)
            )
        ]

    def add_strength(self, row: StrengthRow) -> None:
        self._db.execute(
            "INSERT INTO strength VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT(space, id) DO UPDATE"
            " SET uses = uses + excluded.uses, useful = useful + excluded.useful,"
            " harms = harms + excluded.harms, last_used = max(last_used, excluded.last_used)",
            tuple(row),
        )

    def strength(self, space: int, item: bytes) -> StrengthRow | None:
        row = self._db.execute("SELECT * FROM strength WHERE space = ? AND id = ?", (space, item)).fetchone()
        return None if row is None else StrengthRow._make(row)

    def strengths(self, space: int) -> list[StrengthRow]:
        return [
            StrengthRow._make(row)
            for row in self._db.execute("SELECT * FROM strength WHERE space = ? ORDER BY id", (space,))
        ]

    # Embedders, vectors, lanes

    def embedders(self) -> list[EmbedderRow]:
        rows = self._db.execute("SELECT id, name, dims, state FROM embedder ORDER BY id")
        return [EmbedderRow(model, name, dims, EmbedderState(state)) for model, name, dims, state in rows]

    def add_embedder(self, name: str, dims: int, state: EmbedderState) -> int:
        self._db.execute("INSERT INTO embedder(name, dims, state) VALUES (?, ?, ?)", (name, dims, int(state)))
        return self._db.last_insert_rowid()

    def set_embedder(self, row: EmbedderRow) -> None:
        self._db.execute("UPDATE embedder SET state = ?2 WHERE id = ?1", (row.id, int(row.state)))

    def drop_embedder(self, model: int) -> None:
        self._db.execute("DELETE FROM embedder WHERE id = ?", (model,))

    def vectors(self, space: int, model: int, after: int) -> Iterator[VectorRow]:
        statement = "SELECT ver, part, f16 FROM vector WHERE space = ? AND model = ? AND ver > ? ORDER BY ver, part"
        return map(VectorRow._make, self._db.execute(statement, (space, model, after)))

    def vector_sizes(self, space: int) -> Iterator[tuple[int, int, int, int]]:
        statement = "SELECT model, ver, part, length(f16) FROM vector WHERE space = ? ORDER BY model, ver, part"
        yield from self._db.execute(statement, (space,))

    def add_vectors(self, space: int, model: int, vectors: Iterable[VectorRow]) -> int:
        before = self._db.total_changes()
        self._db.executemany(_ADD_VECTOR, [(space, model, *row) for row in vectors])
        return self._db.total_changes() - before

    def carry_vectors(self, home: int, ver: int, space: int, to: int) -> None:
        self._db.execute(_CARRY_VECTORS, {"home": home, "ver": ver, "space": space, "to": to})

    def drop_vectors(self, model: int, limit: int) -> int:
        self._db.execute(_DROP_VECTORS, (model, limit))
        return self._db.changes()

    def lane(self, space: int, name: str) -> Lane:
        row = self._db.execute("SELECT * FROM lane WHERE space = ? AND name = ?", (space, name)).fetchone()
        return Lane(space=space, name=name) if row is None else _lane(row)

    def set_lane(self, lane: Lane) -> None:
        values = (lane.space, lane.name, lane.cursor, lane.owner, lane.lease_until, lane.attempt, lane.not_before)
        run = (lane.error, lane.seq, lane.stride, lane.reach, lane.leased)
        self._db.execute("REPLACE INTO lane VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", (*values, *run))

    def drop_lanes(self, name: str) -> None:
        self._db.execute("DELETE FROM lane WHERE name = ?", (name,))

    def backlog(self, name: str) -> list[tuple[int, int, int]]:
        return list(self._db.execute(_BACKLOG, (name,)))

    def highest(self) -> int:
        return int(self._db.execute("SELECT ifnull(max(ver), 0) FROM version").get)

    def arrived(self, after: int) -> dict[int, int]:
        return dict(self._db.execute(_ARRIVED, (after,)))

    def lanes(self) -> list[Lane]:
        return [_lane(row) for row in self._db.execute("SELECT * FROM lane ORDER BY space, name")]

    def jobs(self, states: Sequence[int]) -> list[Job]:
        statement = "SELECT * FROM job WHERE " + _among("state", len(states)) + " ORDER BY priority DESC, id"
        return [_job(row) for row in self._db.execute(statement, tuple(states))]

    def job(self, number: int) -> Job | None:
        row = self._db.execute("SELECT * FROM job WHERE id = ?", (number,)).fetchone()
        return None if row is None else _job(row)

    def find_job(self, space: int, name: str, key: str) -> Job | None:
        row = self._db.execute("SELECT * FROM job WHERE space = ? AND name = ? AND key = ?", (space, name, key))
        found = row.fetchone()
        return None if found is None else _job(found)

    def due_job(self, names: Sequence[str], now: int) -> Job | None:
        statement = _DUE_JOB + _among("name", len(names)) + " ORDER BY priority DESC, id LIMIT 1"
        row = self._db.execute(statement, (now, now, now, *names)).fetchone()
        return None if row is None else _job(row)

    def add_job(self, order: Order, at: int) -> int:
        values = (order.space, order.name, order.key, order.payload, order.ver, order.priority, order.not_before)
        self._db.execute(_ADD_JOB, (*values, int(JobState.WAITING), at))
        return self._db.last_insert_rowid()

    def set_job(self, job: Job) -> None:
        values = (int(job.state), job.attempts, job.owner, job.leased, job.lease_until, job.error, job.at)
        self._db.execute(_SET_JOB, (job.id, job.order.payload, job.order.not_before, *values))

    def answer(self, space: int, lane: str, hashed: bytes) -> bytes | None:
        statement = "SELECT answer FROM answer WHERE space = ? AND lane = ? AND hash = ?"
        row = self._db.execute(statement, (space, lane, hashed)).fetchone()
        return None if row is None else bytes(row[0])

    def add_answer(self, space: int, lane: str, hashed: bytes, answered: bytes) -> None:
        self._db.execute("REPLACE INTO answer VALUES (?, ?, ?, ?)", (space, lane, hashed, answered))

    def drop_answers(self, space: int, lane: str) -> None:
        self._db.execute("DELETE FROM answer WHERE space = ? AND lane = ?", (space, lane))

    def drop_keys(self, space: int, item: bytes) -> None:
        self._db.execute("DELETE FROM idem WHERE space = ? AND item = ? AND NOT lasting", (space, item))

    # Sessions and their pages

    def session(self, space: int, session: int) -> SessionRow | None:
        row = self._db.execute("SELECT * FROM session WHERE space = ? AND session = ?", (space, session)).fetchone()
        return None if row is None else SessionRow._make(row)

    def sessions(self, space: int) -> list[SessionRow]:
        return [SessionRow._make(row) for row in self._db.execute("SELECT * FROM session WHERE space = ?", (space,))]

    def set_session(self, row: SessionRow) -> None:
        self._db.execute("REPLACE INTO session VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", tuple(row))

    def pages(self, space: int, session: int, items: Sequence[bytes] | None) -> list[PageRow]:
        if items is None:
            found = list(self._db.execute(_PAGES + _AT_HAND, (space, session)))
        else:
            found = [row for item in items for row in self._db.execute(_PAGES + "AND item = ?", (space, session, item))]
        return sorted((_page(row) for row in found), key=lambda row: (row.arrived, row.position, row.item))

    def put_pages(self, space: int, session: int, pages: Iterable[PageRow]) -> None:
        rows = [(space, session, to_bytes(row.item), *row[1:]) for row in pages]
        self._db.executemany("REPLACE INTO page VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)

    # Keys and tombstones

    def key(self, space: int, hashed: bytes) -> KeyRow | None:
        row = self._db.execute("SELECT * FROM idem WHERE space = ? AND hash = ?", (space, hashed)).fetchone()
        return None if row is None else _key(row)

    def add_key(self, row: KeyRow) -> None:
        self._db.execute("INSERT INTO idem VALUES (?, ?, ?, ?, ?, ?, ?, ?)", tuple(row))

    def keys(self, space: int) -> list[KeyRow]:
        return [_key(row) for row in self._db.execute("SELECT * FROM idem WHERE space = ? ORDER BY hash", (space,))]

    def forget_keys(self, before: int) -> None:
        self._db.execute("DELETE FROM idem WHERE at < ? AND NOT lasting", (before,))
        self._db.execute("DELETE FROM job WHERE state IN (2, 4) AND at < ?", (before,))
        self._db.execute("UPDATE idem SET salt = x'', digest = x'' WHERE at < ? AND digest <> x''", (before,))

    def add_tomb(self, space: int, item: bytes, seq: int) -> None:
        self._db.execute("INSERT INTO tomb VALUES (?, ?, ?) ON CONFLICT DO NOTHING", (space, item, seq))

    def tombs(self, space: int) -> list[tuple[bytes, int]]:
        return list(self._db.execute("SELECT item, seq FROM tomb WHERE space = ? ORDER BY item", (space,)))

    # Taking out

    def drop_item(self, space: int, item: bytes, seq: int) -> tuple[int, int]:
        bound = {"space": space, "item": item}
        versions = self._db.execute("SELECT count(*) FROM version WHERE space = :space AND id = :item", bound).get
        links = self._db.execute(
            "SELECT count(*) FROM link WHERE space = :space AND (src = :item OR dst = :item)", bound
        ).get
        highest = self.highest()
        for statement in _ERASE_ITEM:
            self._db.execute(statement, bound)
        self._spend(highest)
        self.add_tomb(space, item, seq)
        return int(versions), int(links)

    def drop_space(self, space: int) -> tuple[int, int]:
        bound = {"space": space}
        versions = self._db.execute("SELECT count(*) FROM version WHERE space = :space", bound).get
        links = self._db.execute("SELECT count(*) FROM link WHERE space = :space", bound).get
        highest = self.highest()
        for statement in _ERASE_SPACE:
            self._db.execute(statement, bound)
        self._spend(highest)
        return int(versions), int(links)

    def _spend(self, number: int) -> None:
        """See that a version's number is never given again: a lane may have passed it, a batch of vectors name it.

        SQLite gives the number past the highest row; when that row has gone, a row of no space keeps its place. So
        nothing is paid for this by a write.
        """
        self._db.execute(_SPEND, {"number": number})

    def blank_event(self, tenant: int, seq: int, n: int) -> None:
        self._db.execute(
            "UPDATE event SET salt = NULL, payload = NULL, ver = 0, lver = 0 WHERE tenant = ? AND seq = ? AND n = ?",
            (tenant, seq, n),
        )


_ADD_SPACE: Final = (
    "INSERT INTO space(id, tenant, user, shared, secret, seq, epoch, parent, base, branch, lanes)"
    " VALUES (?, ?, ?, ?, ?, 0, 0, ?, ?, ?, ?)"
)
_COVERED: Final = (
    "SELECT DISTINCT v.id FROM version v WHERE v.space = ? AND v.seq_from <= ?"
    " AND EXISTS (SELECT 1 FROM version b WHERE b.space = ? AND b.id = v.id)"
)
_CHANGES: Final = "SELECT * FROM change WHERE tenant = ? AND seq > ? ORDER BY seq LIMIT ?"
_CHANGES_NEWEST: Final = "SELECT * FROM change WHERE tenant = ? AND seq > ? ORDER BY seq DESC LIMIT ?"
_NAMED: Final = {
    "v.agent": "v.agent = (SELECT id FROM name WHERE space = v.space AND text = ?)",
    "v.session": "v.session = (SELECT id FROM name WHERE space = v.space AND text = ?)",
}
_CORE: Final = (
    "SELECT v.* FROM entry e INDEXED BY entry_core CROSS JOIN version v ON v.ver = e.ver"
    " WHERE e.space = ? AND e.seq_to > ? AND e.part = 0 AND (e.pinned OR e.kind IN (6, 7)) AND"
)
_PAGES: Final = (
    "SELECT item, resident, tokens, born, last_use, uses, arrived, pinned, position, segment, importance, novelty,"
    " entities FROM page WHERE space = ? AND session = ? "
)
_AT_HAND: Final = "AND (resident OR (segment < 0 AND position >= 0))"
"""As the index `page_at_hand` has it."""
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
_BACKLOG: Final = (
    "SELECT * FROM (SELECT s.id, ifnull(l.cursor, 0) AS done,"
    " ifnull((SELECT max(ver) FROM entry WHERE space = s.id), 0) AS newest"
    " FROM space s LEFT JOIN lane l ON l.space = s.id AND l.name = ?"
    " WHERE (s.user IS NOT NULL OR s.shared) AND s.lanes)"
    " WHERE newest > done ORDER BY id"
)
_ARRIVED: Final = (
    # The plus signs keep the planner from walking every space by its index: the numbers are row ids.
    "SELECT +space, max(+ver) FROM version NOT INDEXED WHERE ver > ? AND +space <> 0 GROUP BY +space"
)
_DUE_JOB: Final = "SELECT * FROM job WHERE state = 1 AND (leased > ? OR (not_before <= ? AND lease_until <= ?)) AND "
_ADD_JOB: Final = (
    "INSERT INTO job(space, name, key, payload, ver, priority, not_before, state, attempts, owner, leased, lease_until,"
    " error, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0, '', 0, 0, '', ?)"
)
_SET_JOB: Final = (
    "UPDATE job SET payload = ?2, not_before = ?3, state = ?4, attempts = ?5, owner = ?6, leased = ?7,"
    " lease_until = ?8, error = ?9, at = ?10 WHERE id = ?1"
)
_SPEND: Final = (
    "REPLACE INTO version SELECT :number, 0, x'', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, x''"
    " WHERE :number > (SELECT ifnull(max(ver), 0) FROM version)"
)


def _among(column: str, n: int) -> str:
    return f"{column} IN ({','.join('?' * n)})"


def _space(row: Sequence[Any]) -> SpaceRow:
    space, tenant, user, shared, secret, seq, epoch, parent, base, branch, lanes = row
    owner = SHARED if shared else user
    return SpaceRow(space, tenant, owner, secret, seq, epoch, parent, base, branch, bool(lanes))


def _page(row: Sequence[Any]) -> PageRow:
    return PageRow._make((from_bytes(row[0]), bool(row[1]), *row[2:7], bool(row[7]), *row[8:]))


def _lane(row: Sequence[Any]) -> Lane:
    space, name, cursor, owner, lease_until, attempt, not_before, error, seq, stride, reach, leased = row
    return Lane(
        seq=seq,
        stride=stride,
        reach=reach,
        leased=leased,
        space=space,
        name=name,
        cursor=cursor,
        owner=owner,
        lease_until=lease_until,
        attempt=attempt,
        not_before=not_before,
        error=error,
    )


def _key(row: Sequence[Any]) -> KeyRow:
    return KeyRow._make(row)._replace(lasting=bool(row[6]))


def _job(row: Sequence[Any]) -> Job:
    number, space, name, key, payload, ver, priority, not_before, *run = row
    state, attempts, owner, leased, lease_until, error, at = run
    order = Order(space=space, name=name, key=key, payload=payload, ver=ver, priority=priority, not_before=not_before)
    return Job(
        id=number,
        order=order,
        state=JobState(state),
        attempts=attempts,
        owner=owner,
        leased=leased,
        lease_until=lease_until,
        error=error,
        at=at,
    )
