"""Rows of SQLite: notes in the journal, lanes that have work, vectors, pages of sessions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from mnemic.core.ids import from_bytes, to_bytes
from mnemic.store.engine.page_table import PageRow
from mnemic.store.engine.rows import Journal, Lanes, Sessions, VectorGroup
from mnemic.store.sqlite.binding import among
from mnemic.store.sqlite.sqlite_relations import SqliteGroup
from mnemic.store.values.work import VectorRow


class SqliteJournal(SqliteGroup, Journal):
    """SQLite's own statements about the journal."""

    def noted(self, tenant: int, verbs: Sequence[int], after: int) -> list[int]:
        statement = _NOTED + among("verb", len(verbs)) + " ORDER BY seq"
        return [seq for (seq,) in self._db.execute(statement, (tenant, after, *verbs))]


# What writes neither a version nor a link has an index of its own.
_NOTED: Final = (
    "SELECT DISTINCT seq FROM event INDEXED BY event_bare WHERE tenant = ? AND seq > ? AND ver = 0 AND lver = 0 AND "
)


class SqliteLanes(SqliteGroup, Lanes):
    """SQLite's own statements about lanes."""

    def backlog(self, name: str) -> list[tuple[int, int, int]]:
        return list(self._db.execute(_BACKLOG, (name,)))


_BACKLOG: Final = (
    "SELECT * FROM (SELECT s.id, ifnull(l.cursor, 0) AS done,"
    " ifnull((SELECT max(ver) FROM entry WHERE space = s.id), 0) AS newest"
    " FROM space s LEFT JOIN lane l ON l.space = s.id AND l.name = ?"
    " WHERE (s.user IS NOT NULL OR s.shared) AND s.lanes)"
    " WHERE newest > done ORDER BY id"
)


class SqliteVectors(SqliteGroup, VectorGroup):
    """SQLite's own statements about vectors."""

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


class SqliteSessions(SqliteGroup, Sessions):
    """SQLite's own statements about pages."""

    def pages(self, space: int, session: int, items: Sequence[bytes] | None) -> list[PageRow]:
        if items is None:
            found = list(self._db.execute(_PAGES + _AT_HAND, (space, session)))
        else:
            found = [row for item in items for row in self._db.execute(_PAGES + "AND item = ?", (space, session, item))]
        return sorted((_page(row) for row in found), key=lambda row: (row.arrived, row.position, row.item))

    def put_pages(self, space: int, session: int, pages: Iterable[PageRow]) -> None:
        rows = [(space, session, to_bytes(row.item), *row[1:]) for row in pages]
        self._db.executemany("REPLACE INTO page VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)


_PAGES: Final = (
    "SELECT item, resident, tokens, born, last_use, uses, arrived, pinned, position, segment, importance, novelty,"
    " entities FROM page WHERE space = ? AND session = ? "
)
_AT_HAND: Final = "AND (resident OR (segment < 0 AND position >= 0))"
"""As the index `page_at_hand` has it."""


def _page(row: Sequence[Any]) -> PageRow:
    return PageRow._make((from_bytes(row[0]), bool(row[1]), *row[2:7], bool(row[7]), *row[8:]))
