"""Rows of SQLite: links between items, and which item was derived from which."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import apsw

from mnemic.core.clock import FOREVER
from mnemic.store.rows import (
    LinkRow,
)
from mnemic.store.sqlite_binding import CHUNK, among


class SqliteLinks:
    """The part of `store.rows.Rows` that ties items."""

    _db: apsw.Connection

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

    def links_of(self, space: int, items: Sequence[bytes]) -> list[LinkRow]:
        found: dict[int, LinkRow] = {}
        for start in range(0, len(items), CHUNK):
            some = items[start : start + CHUNK]
            for end in ("src", "dst"):
                rows = self._links("WHERE space = ? AND " + among(end, len(some)), (space, *some))
                found.update((row.lver, row) for row in rows)
        return [found[lver] for lver in sorted(found)]

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

    def add_derived(self, space: int, pairs: Sequence[tuple[bytes, bytes]]) -> None:
        self._db.executemany(
            "INSERT INTO derived VALUES (?, ?, ?) ON CONFLICT DO NOTHING", ((space, *pair) for pair in pairs)
        )

    def derived(self, space: int, sources: Sequence[bytes]) -> list[tuple[bytes, bytes]]:
        found: list[tuple[bytes, bytes]] = []
        for start in range(0, len(sources), CHUNK):
            some = sources[start : start + CHUNK]
            statement = "SELECT source, item FROM derived WHERE space = ? AND " + among("source", len(some))
            found += self._db.execute(statement + " ORDER BY source, item", (space, *some))
        return found
