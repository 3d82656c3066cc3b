"""Rows of SQLite: embedders and their vectors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import apsw

from mnemic.store.following import EmbedderRow, EmbedderState, VectorRow


class SqliteVectors:
    """`store.rows.VectorTables` over one connection."""

    def __init__(self, db: apsw.Connection) -> None:
        self._db = db

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
