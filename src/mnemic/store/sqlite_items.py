"""Rows of SQLite: versions of items, their entries in the catalogue, counters of use."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter
from typing import Any, Final

import apsw

from mnemic.core.clock import FOREVER
from mnemic.core.items import Kind
from mnemic.core.queries import Entry, Filter, View
from mnemic.store.codec import kind_number
from mnemic.store.rows import StrengthRow, VersionRow, Walk, shown_states
from mnemic.store.sqlite_binding import CHUNK, among


class SqliteItems:
    """The part of `store.rows.Rows` that holds items."""

    _db: apsw.Connection

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
        for start in range(0, len(vers), CHUNK):
            some = vers[start : start + CHUNK]
            # The plus keeps the planner from walking the whole space by its index: the numbers are row ids.
            statement = "SELECT * FROM version WHERE +space = ? AND " + among("ver", len(some))
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

    def ids(self, space: int, low: bytes, high: bytes, tail: bytes, limit: int) -> list[bytes]:
        bound = (space, low, high, 17 - len(tail), tail, limit)
        return [item for (item,) in self._db.execute(_IDS, bound)]

    def covered(self, space: int, below: int, at: int) -> list[bytes]:
        return [item for (item,) in self._db.execute(_COVERED, (space, at, below))]

    def visible(self, spaces: Sequence[int], items: Sequence[bytes] | None, walk: Walk) -> list[VersionRow]:
        if items is None:
            found = [row for space in spaces for row in self._page(space, walk)]
            return sorted(found, key=attrgetter("ver"), reverse=walk.newest)[: walk.limit]
        order = "ORDER BY v.ver LIMIT ?"
        found = []
        for start in range(0, len(items), CHUNK):
            clauses, bound = self._where(spaces, walk.where, walk.view)
            some = items[start : start + CHUNK]
            found += self._versions(
                [*clauses, among("v.id", len(some))], [*bound, *some], order, len(some) * max(1, len(spaces))
            )
        return found

    def _page(self, space: int, walk: Walk) -> list[VersionRow]:
        """Entries lie in order of space and version, so a walk over them ends where the page does."""
        clauses, bound = self._where((space,), walk.where, walk.view)
        entries = (
            "SELECT v.* FROM entry e CROSS JOIN version v ON v.ver = e.ver"
            " WHERE e.space = ? AND e.ver > ? AND e.part = 0"
        )
        order = "ORDER BY e.ver DESC LIMIT ?" if walk.newest else "ORDER BY e.ver LIMIT ?"
        statement = " ".join((" AND ".join((entries, *clauses)), order))
        rows = self._db.execute(statement, (space, walk.after, *bound, walk.limit))
        return [VersionRow._make(row) for row in rows]

    def _versions(self, clauses: list[str], bound: list[Any], order: str, limit: int) -> list[VersionRow]:
        statement = " ".join(("SELECT v.* FROM version v WHERE", " AND ".join(clauses), order))
        return [VersionRow._make(row) for row in self._db.execute(statement, (*bound, limit))]

    def count(self, spaces: Sequence[int], where: Filter, view: View) -> int:
        clauses, bound = self._where(spaces, where, view)
        statement = " ".join(("SELECT count(*) FROM version v WHERE", " AND ".join(clauses)))
        return int(self._db.execute(statement, bound).get)

    def _where(self, spaces: Sequence[int], where: Filter, view: View) -> tuple[list[str], list[Any]]:
        clauses: list[str] = [among("v.space", len(spaces))]
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
        also(among("v.state", len(states)), *(int(s) for s in states))
        if where.kinds:
            also(among("v.kind", len(where.kinds)), *(kind_number(k) for k in where.kinds))
        for column, name in (("v.agent", where.agent), ("v.session", where.session)):
            if name is not None:
                also(_NAMED[column], name)
        if where.said_from is not None:
            also("v.said >= ?", where.said_from)
        if where.said_to is not None:
            also("v.said < ?", where.said_to)
        if where.tags:
            tagged = among("t.value", len(where.tags))
            also(f"EXISTS (SELECT 1 FROM json_each(CAST(v.body AS TEXT), '$.tags') t WHERE {tagged})", *where.tags)
        return clauses, bound

    def all_versions(self, space: int) -> Iterator[VersionRow]:
        for row in self._db.execute("SELECT * FROM version WHERE space = ? ORDER BY ver", (space,)):
            yield VersionRow._make(row)

    def newest(self, space: int) -> int:
        return int(self._db.execute("SELECT ifnull(max(ver), 0) FROM entry WHERE space = ?", (space,)).get)

    def highest(self) -> int:
        return int(self._db.execute("SELECT ifnull(max(ver), 0) FROM version").get)

    def arrived(self, after: int) -> dict[int, int]:
        return dict(self._db.execute(_ARRIVED, (after,)))

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


_IDS: Final = (
    "SELECT DISTINCT id FROM version WHERE space = ? AND id BETWEEN ? AND ? AND substr(id, ?) = ? ORDER BY id LIMIT ?"
)
_COVERED: Final = (
    "SELECT DISTINCT v.id FROM version v WHERE v.space = ? AND v.seq_from <= ?"
    " AND EXISTS (SELECT 1 FROM version b WHERE b.space = ? AND b.id = v.id)"
)
_NAMED: Final = {
    "v.agent": "v.agent = (SELECT id FROM name WHERE space = v.space AND text = ?)",
    "v.session": "v.session = (SELECT id FROM name WHERE space = v.space AND text = ?)",
}
_CORE: Final = (
    "SELECT v.* FROM entry e INDEXED BY entry_core CROSS JOIN version v ON v.ver = e.ver"
    " WHERE e.space = ? AND e.seq_to > ? AND e.part = 0 AND (e.pinned OR e.kind IN (6, 7)) AND"
)
_ARRIVED: Final = (
    # The plus signs keep the planner from walking every space by its index: the numbers are row ids.
    "SELECT +space, max(+ver) FROM version NOT INDEXED WHERE ver > ? AND +space <> 0 GROUP BY +space"
)
_SPEND: Final = (
    "REPLACE INTO version SELECT :number, 0, x'', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, x''"
    " WHERE :number > (SELECT ifnull(max(ver), 0) FROM version)"
)


def spend(db: apsw.Connection, highest: int) -> None:
    """See that a version's number is never given again: a lane may have passed it, a batch of vectors name it.

    SQLite gives the number past the highest row; when that row has gone, a row of no space keeps its place. So
    nothing is paid for this by a write.
    """
    db.execute(_SPEND, {"number": highest})
