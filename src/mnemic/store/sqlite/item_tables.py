"""Rows of SQLite: versions of items, their entries in the catalogue, counters of use."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import Any, Final

from mnemic.core.clock import FOREVER
from mnemic.core.items import Kind
from mnemic.core.queries import Filter, View
from mnemic.core.visibility import Condition, conditions
from mnemic.store.engine.codec import kind_number
from mnemic.store.engine.rows import Items
from mnemic.store.sqlite.binding import CHUNK, among, highest, spend
from mnemic.store.sqlite.schema import erase_item_statements
from mnemic.store.sqlite.sqlite_relations import SqliteGroup
from mnemic.store.values.row_values import VersionRow, Walk


class SqliteItems(SqliteGroup, Items):
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

    def count(self, spaces: Sequence[int], where: Filter, view: View) -> int:
        clauses, bound = self._where(spaces, where, view)
        statement = " ".join(("SELECT count(*) FROM version v WHERE", " AND ".join(clauses)))
        return int(self._db.execute(statement, bound).get)

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

    def core(self, space: int, view: View, limit: int) -> list[VersionRow]:
        at = FOREVER - 1 if view.at is None else view.at
        clauses, bound = self._where((space,), Filter(), view)
        statement = " ".join((_CORE, " AND ".join(clauses), "ORDER BY e.kind = ?, e.seq_from DESC, e.ver DESC LIMIT ?"))
        bound = [*bound, kind_number(Kind.PROFILE), limit]
        return [VersionRow._make(row) for row in self._db.execute(statement, (space, at, *bound))]

    def arrived(self, after: int) -> dict[int, int]:
        return dict(self._db.execute(_ARRIVED, (after,)))

    def drop_item(self, space: int, item: bytes, seq: int) -> tuple[int, int]:
        bound = {"space": space, "item": item}
        versions = self._db.execute("SELECT count(*) FROM version WHERE space = :space AND id = :item", bound).get
        links = self._db.execute(
            "SELECT count(*) FROM link WHERE space = :space AND (src = :item OR dst = :item)", bound
        ).get
        last = highest(self._db)
        for statement in _ERASE_ITEM:
            self._db.execute(statement, bound)
        spend(self._db, last)
        self._db.execute("INSERT INTO tomb VALUES (?, ?, ?) ON CONFLICT DO NOTHING", (space, item, seq))
        return int(versions), int(links)

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

    def _where(self, spaces: Sequence[int], where: Filter, view: View) -> tuple[list[str], list[Any]]:
        clauses: list[str] = [among("v.space", len(spaces))]
        bound: list[Any] = list(spaces)
        for clause in conditions(view, where):
            alternatives = " OR ".join(map(_compiled, clause))
            clauses.append(f"({alternatives})" if len(clause) > 1 else alternatives)
            values = (value for condition in clause for value in condition.values)
            bound += (kind_number(value) if isinstance(value, Kind) else value for value in values)
        return clauses, bound


def _compiled(condition: Condition) -> str:
    """Compile a condition to SQL over `version v`, with a parameter for each of its values."""
    column, values = f"v.{condition.column}", len(condition.values)
    if condition.column in ("agent", "session"):
        return f"{column} = (SELECT id FROM name WHERE space = v.space AND text = ?)"
    if condition.column == "tags":
        tagged = among("t.value", values)
        return f"EXISTS (SELECT 1 FROM json_each(CAST(v.body AS TEXT), '$.tags') t WHERE {tagged})"
    if condition.operator == "IN":
        return among(column, values) if values > 1 else f"{column} = ?"
    return f"{column} {condition.operator} ?"


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
_ARRIVED: Final = (
    # The plus signs keep the planner from walking every space by its index: the numbers are row ids.
    "SELECT +space, max(+ver) FROM version NOT INDEXED WHERE ver > ? AND +space <> 0 GROUP BY +space"
)
_ERASE_ITEM: Final = tuple(erase_item_statements())
