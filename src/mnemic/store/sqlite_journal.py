"""Rows of SQLite: commits and events, idempotency keys, tombstones, and the meters of processes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import apsw

from mnemic.store.meters import LIFE, MeterRow
from mnemic.store.rows import (
    ChangeRow,
    EventRow,
    KeyRow,
)
from mnemic.store.sqlite_binding import CHUNK, among


class SqliteJournal:
    """The part of `store.rows.Rows` that is the journal, and what is known by it."""

    _db: apsw.Connection

    def add_change(self, row: ChangeRow) -> None:
        self._db.execute("INSERT INTO change VALUES (?, ?, ?, ?, ?, ?, ?)", tuple(row))

    def add_events(self, rows: Sequence[EventRow]) -> None:
        self._db.executemany("INSERT INTO event VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)

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

    def blank_event(self, tenant: int, seq: int, n: int) -> None:
        self._db.execute(
            "UPDATE event SET salt = NULL, payload = NULL, ver = 0, lver = 0 WHERE tenant = ? AND seq = ? AND n = ?",
            (tenant, seq, n),
        )

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

    def keyed(self, space: int, hashes: Sequence[bytes]) -> dict[bytes, KeyRow]:
        found: dict[bytes, KeyRow] = {}
        for start in range(0, len(hashes), CHUNK):
            some = hashes[start : start + CHUNK]
            statement = "SELECT * FROM idem WHERE space = ? AND " + among("hash", len(some))
            found.update((row[1], _key(row)) for row in self._db.execute(statement, (space, *some)))
        return found

    def add_keys(self, rows: Sequence[KeyRow]) -> None:
        self._db.executemany("INSERT INTO idem VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)

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

    def meters(self) -> list[MeterRow]:
        return [MeterRow._make(row) for row in self._db.execute("SELECT * FROM meter ORDER BY at DESC, process")]

    def set_meter(self, row: MeterRow) -> None:
        self._db.execute("DELETE FROM meter WHERE at <= ?", (row.at - LIFE,))
        self._db.execute(
            "INSERT INTO meter(process, at, body) VALUES (?, ?, ?)"
            " ON CONFLICT(process) DO UPDATE SET at = excluded.at, body = excluded.body",
            row,
        )


# What writes neither a version nor a link has an index of its own.
_NOTED: Final = (
    "SELECT DISTINCT seq FROM event INDEXED BY event_bare WHERE tenant = ? AND seq > ? AND ver = 0 AND lver = 0 AND "
)
_CHANGES: Final = "SELECT * FROM change WHERE tenant = ? AND seq > ? ORDER BY seq LIMIT ?"
_CHANGES_NEWEST: Final = "SELECT * FROM change WHERE tenant = ? AND seq > ? ORDER BY seq DESC LIMIT ?"


def _key(row: Sequence[Any]) -> KeyRow:
    return KeyRow._make(row)._replace(lasting=bool(row[6]))
