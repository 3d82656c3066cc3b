"""Rows of SQLite: commits and events, idempotency keys and tombstones; holds, checkpoints, meters and small facts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from mnemic.store.groups import Journal
from mnemic.store.sqlite_binding import among
from mnemic.store.sqlite_relations import SqliteGroup


class SqliteJournal(SqliteGroup, Journal):
    """Statements of SQLite for what joins, counts, or walks by an index of its own."""

    def noted(self, tenant: int, verbs: Sequence[int], after: int) -> list[int]:
        statement = _NOTED + among("verb", len(verbs)) + " ORDER BY seq"
        return [seq for (seq,) in self._db.execute(statement, (tenant, after, *verbs))]


# What writes neither a version nor a link has an index of its own.
_NOTED: Final = (
    "SELECT DISTINCT seq FROM event INDEXED BY event_bare WHERE tenant = ? AND seq > ? AND ver = 0 AND lver = 0 AND "
)
