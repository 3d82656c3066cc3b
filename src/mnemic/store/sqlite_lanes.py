"""Rows of SQLite: lanes, jobs, what models answered."""

from __future__ import annotations

from typing import Final

from mnemic.store.groups import Lanes
from mnemic.store.sqlite_relations import SqliteGroup


class SqliteLanes(SqliteGroup, Lanes):
    """Statements of SQLite for what joins, counts, or walks by an index of its own."""

    def backlog(self, name: str) -> list[tuple[int, int, int]]:
        return list(self._db.execute(_BACKLOG, (name,)))


_BACKLOG: Final = (
    "SELECT * FROM (SELECT s.id, ifnull(l.cursor, 0) AS done,"
    " ifnull((SELECT max(ver) FROM entry WHERE space = s.id), 0) AS newest"
    " FROM space s LEFT JOIN lane l ON l.space = s.id AND l.name = ?"
    " WHERE (s.user IS NOT NULL OR s.shared) AND s.lanes)"
    " WHERE newest > done ORDER BY id"
)
