"""Rows of SQLite: links between items, and which item was derived from which."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import apsw

from mnemic.core.clock import FOREVER
from mnemic.store.rows import LinkRow


class SqliteLinks:
    """`store.rows.LinkTables` over one connection."""

    def __init__(self, db: apsw.Connection) -> None:
        self._db = db

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

    def add_derived(self, space: int, source: bytes, item: bytes) -> None:
        self._db.execute("INSERT INTO derived VALUES (?, ?, ?) ON CONFLICT DO NOTHING", (space, source, item))

    def derived(self, space: int, source: bytes) -> list[bytes]:
        return [
            row[0]
            for row in self._db.execute(
                "SELECT item FROM derived WHERE space = ? AND source = ? ORDER BY item", (space, source)
            )
        ]

    def _links(self, tail: str, bound: tuple[Any, ...]) -> list[LinkRow]:
        return [LinkRow._make(row) for row in self._db.execute("SELECT * FROM link " + tail, bound)]
