"""Rows of SQLite: embedders and their vectors."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from mnemic.store.following import VectorRow
from mnemic.store.groups import VectorGroup
from mnemic.store.sqlite_relations import SqliteGroup


class SqliteVectors(SqliteGroup, VectorGroup):
    """Statements of SQLite for what joins, counts, or walks by an index of its own."""

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
