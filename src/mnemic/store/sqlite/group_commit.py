"""Commits of a SQLite file: the writer's transaction for all callers who wait (`engine.commit_queue`)."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

import apsw

from mnemic.core.events import Receipt
from mnemic.errors import MnemicError
from mnemic.store.engine import ledger
from mnemic.store.engine.commit_queue import CommitQueue, Ticket, copied
from mnemic.store.engine.group_tables import GroupTables
from mnemic.store.engine.rows import Rows
from mnemic.store.sqlite import file_audit
from mnemic.store.sqlite.connections import translated
from mnemic.store.sqlite.disk import set_meta, small_fact
from mnemic.store.sqlite.secure_erase import SqliteErasing
from mnemic.store.sqlite.sqlite_relations import SqliteRelations
from mnemic.store.sqlite.sqlite_tables import SqliteJournal, SqliteLanes, SqliteNames, SqliteSpaces, rows_of
from mnemic.store.values.drafts import Draft


class SqliteGroupTables(GroupTables, SqliteSpaces, SqliteNames, SqliteJournal, SqliteLanes):
    """Group commits' tables in SQLite: its number for the state of the file tells who else has written.

    There is one per connection: it costs no look.
    """

    def __init__(self, relations: SqliteRelations) -> None:
        super().__init__(relations)
        self._state: int | None = None
        self.meta: Mapping[str, bytes] | None = None
        """The small facts of the file that every write looks at (`take_lease`), where they are known."""

    def begin(self) -> None:
        """Start on a transaction, with what is known from the one before if nobody has written since."""
        if self._state is None or self._state != self._db.data_version() or self.knows_many:
            self.forget()
            self.meta = None
        self.begin_group()
        self._state = None

    def landed(self, meta: Mapping[str, bytes]) -> None:
        """Note that what was written since `begin` is on disk; without this the next transaction reads all anew."""
        self._state, self.meta = self._db.data_version(), meta


GROUP_SECONDS: Final = 0.05
"""Most work one group commit does before it syncs."""

WAKE_SECONDS: Final = 0.003
"""Longest that callers whose work has landed are kept for the sake of the next group."""

_DAY: Final = 86_400 * 1_000_000
"""In microseconds."""


class SqliteCommits(SqliteErasing):
    """The part of `SqliteStore` that commits."""

    def renew(self) -> None:
        super().renew()
        self._queue = CommitQueue(self._write)
        self._grouped: tuple[apsw.Connection, SqliteGroupTables, Rows] | None = None

    def commit(self, draft: Draft) -> Receipt:
        self._refuse_closed()
        self._refuse_reading()
        return self._queue.submit(ledger.prepare(draft, self._entropy))

    def _write(self, batch: list[Ticket]) -> None:
        try:
            with self._alone() as db:
                written = self._write_group(db, batch)
        except MnemicError as error:
            for ticket in batch:
                if ticket.error is None:
                    ticket.error = copied(error)
            return
        for ticket, receipt in written:
            ticket.receipt = receipt
        self._bell.ring()

    def _write_group(self, db: apsw.Connection, batch: list[Ticket]) -> list[tuple[Ticket, Receipt]]:
        self._probe("commit:begin")
        try:
            written, residue = self._attempt(db, batch)
        except _RefusedError as refused:
            if len(batch) == 1:
                raise refused.why from refused.why.__cause__
            # Somebody's work was refused, and took the transaction along: once more, each behind a savepoint.
            written, residue = self._attempt(db, batch, one_by_one=True)
        self._probe("commit:after-commit")
        if residue and self._gate.idle:
            self._truncate(db)
        return written

    def _attempt(
        self, db: apsw.Connection, batch: list[Ticket], *, one_by_one: bool = False
    ) -> tuple[list[tuple[Ticket, Receipt]], bool]:
        """One transaction for the batch and those who come meanwhile, or as much of that as fits the time.

        Returns what was written, and whether residue waits.
        """
        written: list[tuple[Ticket, Receipt]] = []
        started = time.monotonic()
        with self._transaction(db):
            rows = self._rows(db) if one_by_one else self._group_rows(db)
            tables = rows.spaces if isinstance(rows.spaces, SqliteGroupTables) else None
            meta = self._take_lease(db, None if tables is None else tables.meta)
            self._sweep_keys(db, rows, meta)
            for ticket in batch:
                if one_by_one:
                    self._write_one(db, rows, ticket, written)
                else:
                    written.append((ticket, _applied(rows, ticket)))
                taken = time.monotonic() - started
                if taken > WAKE_SECONDS:
                    self._queue.wake()
                if taken > GROUP_SECONDS:
                    break
                if ticket is batch[-1]:
                    self._queue.join(batch)
            if tables is not None:
                tables.finish()
            if any(receipt.seq <= 1 for _, receipt in written):  # a tenant may be new
                file_audit.count(db)
            self._write_figures(rows, self._clock.now())
            self._queue.wake()
            self._probe("commit:before-commit")
        if tables is not None:
            tables.landed(meta)
        return written, "residue" in meta

    def _group_rows(self, db: apsw.Connection) -> Rows:
        """The rows of a group commit over the writer's connection, made once for it."""
        if self._grouped is None or self._grouped[0] is not db:
            relations = SqliteRelations(db)
            tables = SqliteGroupTables(relations)
            rows = rows_of(relations, tables, tables, tables, self._clock, self._entropy)
            self._grouped = (db, tables, replace(rows, lanes=tables))
        _, tables, rows = self._grouped
        tables.begin()
        return rows

    def _sweep_keys(self, db: apsw.Connection, rows: Rows, meta: dict[str, bytes]) -> None:
        """Once a day, forget the idempotency keys that have lived their time."""
        now = self._clock.now()
        if now - small_fact("swept", meta.get("swept", b"0"), int) > _DAY:
            rows.journal.forget_keys(now - ledger.KEY_LIFE)
            meta["swept"] = b"%d" % now
            set_meta(db, "swept", meta["swept"])

    def _write_one(
        self, db: apsw.Connection, rows: Rows, ticket: Ticket, written: list[tuple[Ticket, Receipt]]
    ) -> None:
        """One caller's work behind a savepoint: a refusal is that caller's alone."""
        db.execute("SAVEPOINT caller")
        try:
            written.append((ticket, ledger.apply(rows, ticket.work)))
        except apsw.Error:
            raise
        except Exception as error:  # noqa: BLE001 - whatever it is, it is this caller's own
            db.execute("ROLLBACK TO caller")
            ticket.error = error
        db.execute("RELEASE caller")

    def wait(self, moved: tuple[int, ...], seconds: float) -> bool:
        until = time.monotonic() + seconds
        while True:
            rung = self._bell.count
            if self._version() != moved:
                return True
            left = until - time.monotonic()
            if left <= 0:
                return False
            self._bell.wait(rung, min(left, self._listener.pause))

    def moved(self) -> tuple[int, ...]:
        return self._version()

    def _version(self) -> tuple[int, int]:
        self._refuse_closed()
        with self._gate.reading(), translated(self._location):
            self._refuse_closed()
            return self._listener.version()


class _RefusedError(Exception):
    """One caller's work cannot be written; which of a group's it was does not matter yet."""

    def __init__(self, why: Exception) -> None:
        super().__init__(str(why))
        self.why = why


def _applied(rows: Rows, ticket: Ticket) -> Receipt:
    try:
        return ledger.apply(rows, ticket.work)
    except apsw.Error:
        raise  # the disk's or the lock's: everybody's
    except Exception as error:
        raise _RefusedError(error) from error
