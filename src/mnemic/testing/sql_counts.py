"""What a verb asks of SQLite: statements and transactions, counted on every connection that is opened meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

import apsw

_ROWS: Final = ("INSERT", "REPLACE")


@dataclass
class Statements:
    """The statements that ran since the last `reset`, in order.

    Attributes:
        reads: Transactions that only read.
        writes: Transactions that may write, among them those of lanes and leases, which are no commits of the journal.
        commits: Journal commits, by any user: rows of the table `change`.
    """

    ran: list[str] = field(default_factory=list)
    reads: int = 0
    writes: int = 0
    commits: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def reset(self) -> None:
        """Count from here on."""
        with self._lock:
            self.ran.clear()
            self.reads = self.writes = self.commits = 0

    @property
    def transactions(self) -> int:
        """How many there were, reading or writing."""
        return self.reads + self.writes

    @property
    def count(self) -> int:
        """How many statements ran inside transactions; rows that one statement inserts one after another are one."""
        return sum(
            1
            for before, now in zip(["", *self.ran], self.ran, strict=False)
            if now != before or not now.startswith(_ROWS)
        )

    def took(self, cursor: apsw.Cursor, sql: str, bindings: object) -> bool:
        """Note a statement, for SQLite to go on with."""
        text = " ".join(sql.split())
        with self._lock:
            if text == "BEGIN":
                self.reads += 1
            elif text == "BEGIN IMMEDIATE":
                self.writes += 1
            elif not text.startswith(("COMMIT", "ROLLBACK", "PRAGMA", "SAVEPOINT", "RELEASE")):
                self.ran.append(text)
                self.commits += text.startswith("INSERT INTO change(")
        return True


@contextmanager
def counted() -> Iterator[Statements]:
    """Count what SQLite is asked by every connection that is opened in here."""
    statements = Statements()

    def follow(db: apsw.Connection) -> None:
        db.exec_trace = statements.took

    apsw.connection_hooks.append(follow)
    try:
        yield statements
    finally:
        apsw.connection_hooks.remove(follow)
