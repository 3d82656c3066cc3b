"""Rows of SQLite: commits and events, idempotency keys and tombstones; holds, checkpoints, meters and small facts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import apsw

from mnemic.store.heads import CheckpointRow
from mnemic.store.meters import LIFE, MeterRow
from mnemic.store.rows import ChangeRow, EventRow, HoldRow, KeyRow
from mnemic.store.sqlite_binding import CHUNK, among


class SqliteJournal:
    """`store.rows.JournalTables` over one connection."""

    def __init__(self, db: apsw.Connection) -> None:
        self._db = db

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

    def noted(self, tenant: int, verbs: Sequence[int], after: int) -> list[int]:
        statement = _NOTED + among("verb", len(verbs)) + " ORDER BY seq"
        return [seq for (seq,) in self._db.execute(statement, (tenant, after, *verbs))]

    def seq_at(self, tenant: int, at: int) -> int:
        # `at` never decreases with seq, so the last row at or before it is found from the newest end.
        row = self._db.execute(
            "SELECT seq FROM change WHERE tenant = ? AND at <= ? ORDER BY seq DESC LIMIT 1", (tenant, at)
        ).fetchone()
        return 0 if row is None else int(row[0])

    def times(self, tenant: int, seqs: Sequence[int]) -> dict[int, int]:
        found: dict[int, int] = {}
        for start in range(0, len(seqs), CHUNK):
            some = seqs[start : start + CHUNK]
            statement = "SELECT seq, at FROM change WHERE tenant = ? AND " + among("seq", len(some))
            found.update(self._db.execute(statement, (tenant, *some)))
        return found

    def key(self, space: int, hashed: bytes) -> KeyRow | None:
        row = self._db.execute("SELECT * FROM idem WHERE space = ? AND hash = ?", (space, hashed)).fetchone()
        return None if row is None else _key(row)

    def add_key(self, row: KeyRow) -> None:
        self._db.execute("INSERT INTO idem VALUES (?, ?, ?, ?, ?, ?, ?, ?)", tuple(row))

    def keys(self, space: int) -> list[KeyRow]:
        return [_key(row) for row in self._db.execute("SELECT * FROM idem WHERE space = ? ORDER BY hash", (space,))]

    def drop_keys(self, space: int, item: bytes) -> None:
        self._db.execute("DELETE FROM idem WHERE space = ? AND item = ? AND NOT lasting", (space, item))

    def forget_keys(self, before: int) -> None:
        self._db.execute("DELETE FROM idem WHERE at < ? AND NOT lasting", (before,))
        self._db.execute("DELETE FROM job WHERE state IN (2, 4) AND at < ?", (before,))
        self._db.execute("UPDATE idem SET salt = x'', digest = x'' WHERE at < ? AND digest <> x''", (before,))

    def add_tomb(self, space: int, item: bytes, seq: int) -> None:
        self._db.execute("INSERT INTO tomb VALUES (?, ?, ?) ON CONFLICT DO NOTHING", (space, item, seq))

    def tombs(self, space: int) -> list[tuple[bytes, int]]:
        return list(self._db.execute("SELECT item, seq FROM tomb WHERE space = ? ORDER BY item", (space,)))


class SqliteNotes:
    """`store.rows.NoteTables` over one connection."""

    def __init__(self, db: apsw.Connection) -> None:
        self._db = db

    def meters(self) -> list[MeterRow]:
        return [MeterRow._make(row) for row in self._db.execute("SELECT * FROM meter ORDER BY at DESC, process")]

    def set_meter(self, row: MeterRow) -> None:
        self._db.execute("DELETE FROM meter WHERE at <= ?", (row.at - LIFE,))
        self._db.execute(
            "INSERT INTO meter(process, at, body) VALUES (?, ?, ?)"
            " ON CONFLICT(process) DO UPDATE SET at = excluded.at, body = excluded.body",
            row,
        )

    def checkpoints(self, tenant: int) -> list[CheckpointRow]:
        rows = self._db.execute("SELECT * FROM checkpoint WHERE tenant = ? ORDER BY seq, name", (tenant,))
        return [CheckpointRow._make(row) for row in rows]

    def add_checkpoints(self, rows: Sequence[CheckpointRow]) -> None:
        self._db.executemany("INSERT INTO checkpoint VALUES (?, ?, ?, ?, ?, ?)", rows)

    def drop_checkpoint(self, name: str) -> None:
        self._db.execute("DELETE FROM checkpoint WHERE name = ?", (name,))

    def holds(self, tenant: int) -> list[HoldRow]:
        rows = self._db.execute("SELECT * FROM hold WHERE tenant = ? ORDER BY id", (tenant,))
        return [HoldRow._make(row) for row in rows]

    def add_hold(self, row: HoldRow) -> int:
        self._db.execute("INSERT INTO hold VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?)", tuple(row)[1:])
        return self._db.last_insert_rowid()

    def set_hold(self, row: HoldRow) -> None:
        self._db.execute("REPLACE INTO hold VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", tuple(row))

    def drop_hold(self, hold: int) -> None:
        self._db.execute("DELETE FROM hold WHERE id = ?", (hold,))

    def memo(self, tenant: int, name: str) -> bytes | None:
        row = self._db.execute("SELECT value FROM memo WHERE tenant = ? AND name = ?", (tenant, name)).fetchone()
        return None if row is None else bytes(row[0])

    def set_memo(self, tenant: int, name: str, value: bytes) -> None:
        self._db.execute("REPLACE INTO memo VALUES (?, ?, ?)", (tenant, name, value))


# What writes neither a version nor a link has an index of its own.
_NOTED: Final = (
    "SELECT DISTINCT seq FROM event INDEXED BY event_bare WHERE tenant = ? AND seq > ? AND ver = 0 AND lver = 0 AND "
)
_CHANGES: Final = "SELECT * FROM change WHERE tenant = ? AND seq > ? ORDER BY seq LIMIT ?"
_CHANGES_NEWEST: Final = "SELECT * FROM change WHERE tenant = ? AND seq > ? ORDER BY seq DESC LIMIT ?"


def _key(row: Sequence[Any]) -> KeyRow:
    return KeyRow._make(row)._replace(lasting=bool(row[6]))
