"""Group commit: callers queue, one of them writes for all who wait, and each gets its own answer.

Whoever finds nobody writing becomes the writer: a lone caller pays for no hand-over to another
thread. It takes what is waiting and what comes while it writes that, never waits for more, and names its successor
when it is done.
"""

from __future__ import annotations

import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from typing import Final

import apsw

from mnemic.core.events import Receipt
from mnemic.core.mutex import Mutex
from mnemic.core.scope import Shared
from mnemic.errors import MnemicError, StoreError
from mnemic.store.engine import ledger
from mnemic.store.engine.ledger import Prepared
from mnemic.store.engine.rows import Rows
from mnemic.store.sqlite import file_audit
from mnemic.store.sqlite.connections import translated
from mnemic.store.sqlite.disk import set_meta, small_fact
from mnemic.store.sqlite.secure_erase import SqliteErasing
from mnemic.store.sqlite.sqlite_relations import SqliteRelations
from mnemic.store.sqlite.sqlite_tables import SqliteJournal, SqliteLanes, SqliteNames, SqliteSpaces, rows_of
from mnemic.store.values.drafts import Draft
from mnemic.store.values.row_values import ChangeRow, NameRow, SpaceRow, TenantRow

BATCH: Final = 256
"""Most callers in one transaction."""

TURN_SECONDS: Final = 0.1
"""How long a caller waits to be woken before it looks whether anybody writes at all."""

KNOWN: Final = 10_000
"""Most names that a writer remembers from one transaction to the next."""


class Ticket:
    """One caller's place in the queue: its work, and what came of it.

    Attributes:
        gate: What its caller waits at, if it does; opened when the work is done, or when nobody writes and it is next.
    """

    __slots__ = ("error", "gate", "receipt", "work")

    def __init__(self, work: Prepared) -> None:
        self.work = work
        self.gate: threading.Lock | None = None
        self.receipt: Receipt | None = None
        self.error: BaseException | None = None

    @property
    def done(self) -> bool:
        return self.receipt is not None or self.error is not None

    def wait(self) -> None:
        """Wait to be woken, at most for `TURN_SECONDS`.

        The first time it only makes the gate, and all is to be looked at again: who came before it found none to open.
        """
        if self.gate is None:
            gate = threading.Lock()
            gate.acquire()
            self.gate = gate
        else:
            self.gate.acquire(timeout=TURN_SECONDS)

    def wake(self) -> None:
        """Have its caller look; to say so twice does no harm."""
        if self.gate is not None and self.gate.locked():
            with suppress(RuntimeError):  # somebody else has just done it
                self.gate.release()


class CommitQueue:
    """Callers in, batches out; `write` fills in a receipt or an error for every ticket it takes.

    `write` may leave tickets untouched at the end of its batch: they stay at the head of the queue. And it may have
    those go along who come while it writes (`join`): callers whose answers have just gone out come back one by one, and
    whoever comes first would have a group to itself, while the others wait for the next. Callers whose
    work has landed are woken by the next to write, at the latest when it calls `wake`, just before it waits for the
    disk: woken earlier, they would prepare their next work in its way, and have nothing left to do while it waits.

    Nothing here says who is to write but a lock that is free once its holder's call has ended, and a caller who waits
    looks from time to time: an interrupt at any moment costs the others a look, never their turn.
    """

    def __init__(self, write: Callable[[list[Ticket]], None]) -> None:
        self._write = write
        self._leading = Mutex()
        self._waiting: deque[Ticket] = deque()
        self._batch: list[Ticket] = []
        self._landed: deque[Ticket] = deque()

    def submit(self, work: Prepared) -> Receipt:
        """Have `work` committed; returns once it is on disk.

        Raises:
            MnemicError: what the writing of this one caller's work raised.
        """
        ticket = Ticket(work)
        try:
            self._waiting.append(ticket)
            while not ticket.done:
                if not self._leading.take(sys._getframe(), patience=0):
                    ticket.wait()
                    continue
                if not ticket.done:
                    self._lead()
                self._leading.give_back(sys._getframe())
                self._hand_over()
        except BaseException:  # an interrupt: leave the queue, and pass on the turn if it had come
            self._leading.give_back(sys._getframe())
            self._leave(ticket)
            self._hand_over()
            raise
        if ticket.error is not None:
            raise ticket.error
        assert ticket.receipt is not None
        return ticket.receipt

    def wake(self) -> None:
        """Let those go on whose work the batch before this one has brought to disk."""
        while self._landed:
            try:
                self._landed.popleft().wake()
            except IndexError:  # another thread wakes them too
                return

    def join(self, batch: list[Ticket]) -> None:
        """Add those who wait and are not in a batch yet, as far as it has room."""
        known = set(map(id, batch))
        fresh = (ticket for ticket in self._waiting.copy() if not ticket.done and id(ticket) not in known)
        batch.extend(islice(fresh, max(0, BATCH - len(batch))))

    def _lead(self) -> None:
        try:
            if self._batch:  # a leader before this one was cut short
                self._break_off()
            self._batch = []
            self.join(self._batch)
            self._write(self._batch)
            self.wake()
            for ticket in self._batch:
                if ticket.done:
                    self._leave(ticket)
                    self._landed.append(ticket)
            self._batch = []
        except BaseException:
            self._break_off()
            raise

    def _leave(self, ticket: Ticket) -> None:
        try:
            self._waiting.remove(ticket)
        except ValueError:  # it has left
            return

    def _break_off(self) -> None:
        """Tell those whose work a writer had taken, and who never heard of it, that nobody knows whether it landed."""
        for ticket in self._batch:
            if not ticket.done:
                ticket.error = StoreError("the write was interrupted and may have landed; retry with the same key")
            self._leave(ticket)
            ticket.wake()
        self._batch = []

    def _hand_over(self) -> None:
        """Have the next in line write; where there is none, those whose work has landed go on at once."""
        successor = (
            next((ticket for ticket in self._waiting.copy() if not ticket.done), None) if self._waiting else None
        )
        if successor is None:
            self.wake()
        else:
            successor.wake()


class GroupTables(SqliteSpaces, SqliteNames, SqliteJournal, SqliteLanes):
    """Spaces, names, journal and lanes of group commits: they look up each tenant, space and name once for all callers.

    Once every lane is to look at a space now, it is not written down again.

    Each space's head is written once, in `finish`. What was read holds until somebody else writes: another process, or
    this one beside the queue. SQLite's number for the state of the file tells; one per connection, it costs no look.
    """

    def __init__(self, relations: SqliteRelations) -> None:
        super().__init__(relations)
        self._state: int | None = None
        self.meta: Mapping[str, bytes] | None = None
        """The small facts of the file that every write looks at (`take_lease`), where they are known."""

    def begin(self) -> None:
        """Start on a transaction, with what is known from the one before if nobody has written since."""
        if self._state is None or self._state != self._db.data_version() or len(self._names) > KNOWN:
            self._tenants: dict[str, TenantRow] = {}
            self._tenant_names: dict[int, str] = {}
            self._spaces: dict[tuple[int, str | Shared, str], SpaceRow] = {}
            self._names: dict[tuple[int, str], NameRow] = {}
            self._due: set[int] = set()
            self.meta = None
        self._moved: dict[int, SpaceRow] = {}
        self._state = None

    def landed(self, meta: Mapping[str, bytes]) -> None:
        """Note that what was written since `begin` is on disk; without this the next transaction reads all anew."""
        self._state, self.meta = self._db.data_version(), meta

    def tenant(self, name: str) -> TenantRow | None:
        row = self._tenants.get(name) or super().tenant(name)
        if row is not None:
            self._tenants[name], self._tenant_names[row.id] = row, name
        return row

    def space(self, tenant: int, user: str | Shared, branch: str = "") -> SpaceRow | None:
        row = self._spaces.get((tenant, user, branch)) or super().space(tenant, user, branch)
        if row is not None:
            self._spaces[tenant, user, branch] = row
        return row

    def set_space(self, row: SpaceRow) -> None:
        assert row.user is not None
        self._spaces[row.tenant, row.user, row.branch] = self._moved[row.id] = row

    def name_row(self, space: int, text: str) -> NameRow | None:
        row = self._names.get((space, text)) or super().name_row(space, text)
        if row is not None:
            self._names[space, text] = row
        return row

    def add_name(self, space: int, text: str) -> NameRow:
        row = self._names[space, text] = super().add_name(space, text)
        return row

    def add_change(self, row: ChangeRow) -> None:
        super().add_change(row)
        if (name := self._tenant_names.get(row.tenant)) is not None:
            self._tenants[name] = self._tenants[name]._replace(seq=row.seq, at=row.at, hash=row.hash)

    def make_due(self, space: int) -> None:
        if space not in self._due:
            super().make_due(space)
            self._due.add(space)

    def put_off(self, name: str, space: int, at: int) -> None:
        self._due.discard(space)
        super().put_off(name, space, at)

    def drop_due(self, name: str, spaces: Sequence[int]) -> None:
        self._due.difference_update(spaces)
        super().drop_due(name, spaces)

    def finish(self) -> None:
        """Write the heads of the spaces that have moved; the last thing before the commit."""
        for row in self._moved.values():
            super().set_space(row)


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
        self._grouped: tuple[apsw.Connection, GroupTables, Rows] | None = None

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
                    ticket.error = _copy(error)
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
            tables = rows.spaces if isinstance(rows.spaces, GroupTables) else None
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
            tables = GroupTables(relations)
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


def _copy(error: MnemicError) -> MnemicError:
    """The same error for another caller: one exception object raised in two threads would mix their tracebacks."""
    twin = type(error).__new__(type(error), *error.args)
    twin.__dict__.update(error.__dict__)
    twin.args = error.args
    twin.__cause__ = error.__cause__
    return twin
