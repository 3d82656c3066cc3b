"""Group commit in a SQLite file, and hearing of what others have committed to it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Final

import apsw

from mnemic.core.events import Receipt
from mnemic.errors import MnemicError
from mnemic.store.engine import ledger
from mnemic.store.sqlite.commit_queue import CommitQueue, Ticket
from mnemic.store.sqlite.disk import set_meta, take_lease
from mnemic.store.sqlite.group_rows import GroupSpaces, group_rows
from mnemic.store.sqlite.secure_erase import SqliteErasing
from mnemic.store.sqlite.sqlite_errors import translated
from mnemic.store.values.drafts import Draft
from mnemic.store.values.row_values import Rows

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

    def commit(self, draft: Draft) -> Receipt:
        self._refuse_closed()
        self._refuse_reading()
        return self._queue.submit(ledger.prepare(draft, self._entropy))

    def _write(self, batch: Sequence[Ticket]) -> None:
        with self._waiting, self._writing:
            try:
                with translated(self._location):
                    self._refuse_closed()
                    db = self._writer_connection()
                    written = self._write_group(db, batch)
            except MnemicError as error:
                for ticket in batch:
                    if ticket.error is None:
                        ticket.error = _copy(error)
                return
        for ticket, receipt in written:
            ticket.receipt = receipt
        self._bell.ring()

    def _write_group(self, db: apsw.Connection, batch: Sequence[Ticket]) -> list[tuple[Ticket, Receipt]]:
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
        self, db: apsw.Connection, batch: Sequence[Ticket], *, one_by_one: bool = False
    ) -> tuple[list[tuple[Ticket, Receipt]], bool]:
        """One transaction for the batch, or as much of it as fits the time; what was written, and if residue waits."""
        written: list[tuple[Ticket, Receipt]] = []
        started = time.monotonic()
        with self._transaction(db):
            meta = take_lease(db)
            held: GroupSpaces | None = None
            if one_by_one:
                rows = self._rows(db)
            else:
                rows, held = group_rows(db, self._clock, self._entropy)
            self._sweep_keys(db, rows, int(meta.get("swept", 0)))
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
            if held is not None:
                held.finish()
            if (meter := self._carrier.due(self._clock.now())) is not None:
                rows.notes.set_meter(meter)
            self._queue.wake()
            self._probe("commit:before-commit")
        return written, "residue" in meta

    def _sweep_keys(self, db: apsw.Connection, rows: Rows, last: int) -> None:
        """Once a day, forget the idempotency keys that have lived their time."""
        now = self._clock.now()
        if now - last > _DAY:
            rows.journal.forget_keys(now - ledger.KEY_LIFE)
            set_meta(db, "swept", b"%d" % now)

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

    def wait(self, tenant: str, after: int, seconds: float) -> bool:
        until, seen = time.monotonic() + seconds, (-1, -1)
        while True:
            rung, version = self._bell.count, self._version()
            if version != seen and self._seq(tenant) > after:
                return True
            seen, left = version, until - time.monotonic()
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

    def _seq(self, tenant: str) -> int:
        with self.read() as snapshot:
            number = snapshot.tenant(tenant)
            return 0 if number is None else snapshot.head(number).seq

    def carry(self, told: Callable[[], tuple[str, bytes] | None]) -> None:
        self._carrier.give(told, self._clock.now())


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


def _copy(error: MnemicError) -> MnemicError:
    """The same error for another caller: one exception object raised in two threads would mix their tracebacks."""
    twin = type(error).__new__(type(error), *error.args)
    twin.__dict__.update(error.__dict__)
    twin.args = error.args
    twin.__cause__ = error.__cause__
    return twin
