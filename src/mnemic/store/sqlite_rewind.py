"""Rows of SQLite that were written after a commit, taken out; and the checkpoints that were made of the file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import apsw

from mnemic.store.heads import CheckpointRow
from mnemic.store.rows import HoldRow, StrengthRow
from mnemic.store.schema import erase_space_statements
from mnemic.store.sqlite_items import spend


class SqliteRewound:
    """The part of `store.rows.Rows` that going back in time needs."""

    _db: apsw.Connection

    def checkpoints(self, tenant: int) -> list[CheckpointRow]:
        rows = self._db.execute("SELECT * FROM checkpoint WHERE tenant = ? ORDER BY seq, name", (tenant,))
        return [CheckpointRow._make(row) for row in rows]

    def add_checkpoints(self, rows: Sequence[CheckpointRow]) -> None:
        self._db.executemany("INSERT INTO checkpoint VALUES (?, ?, ?, ?, ?, ?)", rows)

    def drop_checkpoint(self, name: str) -> None:
        self._db.execute("DELETE FROM checkpoint WHERE name = ?", (name,))

    def set_strength(self, row: StrengthRow) -> None:
        self._db.execute("REPLACE INTO strength VALUES (?, ?, ?, ?, ?, ?)", tuple(row))

    def set_hold(self, row: HoldRow) -> None:
        self._db.execute("REPLACE INTO hold VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", tuple(row))

    def drop_after(self, tenant: int, seq: int) -> int:
        bound = {"tenant": tenant, "seq": seq}
        gone = self._db.execute("SELECT count(*) FROM version v WHERE " + _LATER, bound).get
        highest = int(self._db.execute("SELECT ifnull(max(ver), 0) FROM version").get)
        for statement in _DROP_AFTER:
            self._db.execute(statement, bound)
        spend(self._db, highest)
        return int(gone)

    def drop_spaces(self, spaces: Sequence[int]) -> None:
        for space in spaces:
            for statement in _DROP_SPACE:
                self._db.execute(statement, {"space": space})


_SPACES: Final = "(SELECT id FROM space WHERE tenant = :tenant)"
_LATER: Final = "v.space IN " + _SPACES + " AND v.seq_from > :seq"
_VERS: Final = "(SELECT v.space, v.ver FROM version v WHERE " + _LATER + ")"
_NEW: Final = (
    "(SELECT v.id FROM version v WHERE "
    + _LATER
    + " AND NOT EXISTS (SELECT 1 FROM version w WHERE w.space = v.space AND w.id = v.id AND w.seq_from <= :seq))"
)
_OPENED: Final = "seq_to > :seq AND seq_to < 9223372036854775807"
_WENT_ON: Final = "space IN " + _SPACES + " AND seq > :seq"
_DROP_AFTER: Final = (
    "DELETE FROM vector WHERE model IN (SELECT id FROM embedder) AND (space, ver) IN " + _VERS,
    "DELETE FROM job WHERE ver <> 0 AND (space, ver) IN " + _VERS,
    "DELETE FROM entry WHERE (space, ver) IN " + _VERS,
    "DELETE FROM page WHERE space IN " + _SPACES + " AND item IN " + _NEW,
    "DELETE FROM page WHERE (space, session) IN (SELECT space, session FROM session WHERE " + _WENT_ON + ")",
    "DELETE FROM derived WHERE space IN "
    + _SPACES
    + " AND NOT EXISTS (SELECT 1 FROM version v"
    + " WHERE v.space = derived.space AND v.id = derived.item AND v.seq_from <= :seq)",
    "DELETE FROM strength WHERE space IN " + _SPACES + " AND uses <= 0 AND useful <= 0 AND harms <= 0",
    # The key of an import that was erased stays, so that the same import run again brings nothing back.
    "DELETE FROM idem WHERE space IN "
    + _SPACES
    + " AND seq > :seq AND NOT (lasting AND EXISTS"
    + " (SELECT 1 FROM tomb t WHERE t.space = idem.space AND t.item = idem.item))",
    "DELETE FROM version WHERE space IN " + _SPACES + " AND seq_from > :seq",
    "UPDATE version SET seq_to = 9223372036854775807 WHERE space IN " + _SPACES + " AND " + _OPENED,
    "UPDATE entry SET seq_to = 9223372036854775807 WHERE space IN " + _SPACES + " AND " + _OPENED,
    "DELETE FROM link WHERE space IN " + _SPACES + " AND seq_from > :seq",
    "UPDATE link SET seq_to = 9223372036854775807 WHERE space IN " + _SPACES + " AND " + _OPENED,
    "DELETE FROM session WHERE "
    + _WENT_ON
    + " AND NOT EXISTS (SELECT 1 FROM version v WHERE v.space = session.space AND v.session = session.session)",
    # Its window as it was is not known: it is made again from its last turns, by whoever opens it next.
    "UPDATE session SET owner = '', lease_until = 0, clock = 0, turns = 0, seq = 0 WHERE " + _WENT_ON,
    "DELETE FROM event WHERE tenant = :tenant AND seq > :seq",
    "DELETE FROM change WHERE tenant = :tenant AND seq > :seq",
    "DELETE FROM name WHERE space IN "
    + _SPACES
    + " AND NOT EXISTS (SELECT 1 FROM version v WHERE v.space = name.space AND name.id IN (v.agent, v.session))"
    + " AND NOT EXISTS (SELECT 1 FROM link l WHERE l.space = name.space AND l.type = name.id)"
    + " AND NOT EXISTS (SELECT 1 FROM session s WHERE s.space = name.space AND s.session = name.id)"
    + " AND id NOT IN (SELECT actor FROM change WHERE tenant = :tenant)",
)
"""In this order: what is found through a version goes before it."""

_DROP_SPACE: Final = (
    *erase_space_statements(),
    # Its number is never given to another: a cache of some process may still hold what it held.
    "UPDATE space SET tenant = 0, parent = 0 WHERE id = :space",
)
