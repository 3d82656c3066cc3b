"""One SQLite database as a store keeps it open: its connections and locks, reading, and writing alone."""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from typing import Concatenate, Final, ParamSpec, TypeVar

import apsw

from mnemic.core.clock import Clock, SystemClock
from mnemic.core.forking import rest_for_forks
from mnemic.core.ids import Entropy, SystemEntropy
from mnemic.errors import StoreError, StoreLocked
from mnemic.store.engine.snapshot import Snapshot
from mnemic.store.sqlite import migrations
from mnemic.store.sqlite.all_tables import sqlite_rows
from mnemic.store.sqlite.disk import take_lease
from mnemic.store.sqlite.gate import Gate
from mnemic.store.sqlite.location import Location
from mnemic.store.sqlite.notify import Bell, Listener
from mnemic.store.sqlite.sqlite_errors import translated
from mnemic.store.sqlite.waiting import Waiting
from mnemic.store.values.meters import Carrier
from mnemic.store.values.row_values import Rows

PATIENCE: Final = 5.0
"""Seconds to wait for readers of this process to leave before going on without that."""

Probe = Callable[[str], None]
P = ParamSpec("P")
T = TypeVar("T")


def _nothing(_point: str) -> None:
    return


class SqliteFile:
    """The part of a SQLite store that has the database open."""

    def __init__(
        self,
        location: Location,
        *,
        clock: Clock | None = None,
        entropy: Entropy | None = None,
        busy_timeout: float = 30.0,
        probe: Probe | None = None,
    ) -> None:
        self._location = location
        self._clock, self._entropy = clock or SystemClock(), entropy or SystemEntropy()
        self._busy_timeout = busy_timeout
        self._probe = probe or _nothing
        self._random = random.Random(os.getpid() ^ time.time_ns())  # noqa: S311 - spreads waiting writers, guards nothing
        self._carrier = Carrier()
        self.renew()
        with translated(location):
            location.refuse_foreign(busy_timeout)
            self._migrate()
        rest_for_forks(self)

    def renew(self) -> None:
        """Fresh locks, at birth and in a forked child; connections are opened as they are needed."""
        self._readers: list[tuple[apsw.Connection, Rows]] = []
        self._writer: apsw.Connection | None = None
        self._bell = Bell()
        self._listener = Listener(self._open)
        self._gate = Gate()
        self._writing = threading.Lock()
        self._waiting = Waiting()
        self._closed = False

    def rest(self) -> None:
        """Close every connection before a fork: a child would inherit SQLite's own record of the locks they hold."""
        self._resting = ExitStack()
        if not self._writing.acquire(timeout=PATIENCE):
            return  # a write that takes this long keeps its connection; the child may find the store locked
        self._resting.callback(self._writing.release)
        self._resting.enter_context(self._listener.at_rest())
        self._resting.enter_context(self._gate.alone(PATIENCE))
        self._let_go()

    def resume(self) -> None:
        """Go on after a fork, in the parent."""
        self._resting.close()

    def _let_go(self) -> None:
        self._close_readers()
        if self._writer is not None:
            self._writer.close(True)
        self._writer = None

    def _close_readers(self) -> None:
        for db, _ in self._readers:
            db.close(True)
        self._readers.clear()

    def close(self) -> None:
        if self._closed:
            return
        with self._writing, self._gate.alone(PATIENCE), translated(self._location):
            self._closed = True
            self._let_go()
            self._listener.close()
            self._location.let_go()
        self._bell.ring()

    def _refuse_closed(self) -> None:
        if self._closed:
            raise StoreError(self._location.closed)

    def _open(self) -> apsw.Connection:
        return self._location.open(self._wait_a_little)

    def _wait_a_little(self, _calls: int) -> bool:
        now = time.monotonic()
        waiting = _patience.__dict__
        if _calls == 0:
            waiting["since"] = now
        time.sleep(0.0005 + self._random.random() * 0.0025)
        return bool(now - waiting.get("since", now) < self._busy_timeout)

    def _migrate(self) -> None:
        db = self._writer = self._open()
        migrations.refuse_newer(db, self._location)
        if not migrations.is_current(db):
            with self._transaction(db):
                migrations.migrate(db, self._location, self._entropy)
                self._probe("migrate:before-commit")
            self._probe("migrate:after-commit")

    @contextmanager
    def read(self) -> Iterator[Snapshot]:
        self._refuse_closed()
        with self._gate.reading(), translated(self._location):
            self._refuse_closed()
            reader = self._readers.pop() if self._readers else self._open_reader()
            db, rows = reader
            try:
                db.execute("BEGIN")
                yield Snapshot(rows)
                db.execute("COMMIT")
            except BaseException:
                db.close(True)
                raise
            self._readers.append(reader)

    def _open_reader(self) -> tuple[apsw.Connection, Rows]:
        db = self._open()
        return db, self._rows(db)

    @contextmanager
    def _apart(self) -> Iterator[apsw.Connection]:
        """A read transaction on a connection of its own: whoever leaves it half-way blocks nobody, but in memory."""
        self._refuse_closed()
        with self._beside_writers(), translated(self._location):
            db = self._open()
            try:
                db.execute("BEGIN")
                yield db
            finally:
                db.close(True)

    @contextmanager
    def _beside_writers(self) -> Iterator[None]:
        """Outside the gate where writers pass by readers anyway, so that no erasure waits for a long walk."""
        if self._location.readers_stay:
            yield
        else:
            with self._gate.reading():
                yield

    def transact(self, work: Callable[Concatenate[Rows, P], T], *given: P.args, **named: P.kwargs) -> T:
        self._refuse_closed()
        self._refuse_reading()
        with self._waiting, self._writing, translated(self._location):
            db = self._writer_connection()
            with self._transaction(db):
                take_lease(db)
                answer = work(self._rows(db), *given, **named)
                self._probe(f"{work.__name__}:before-commit")
        self._probe(f"{work.__name__}:after-commit")
        return answer

    def _rows(self, db: apsw.Connection) -> Rows:
        return sqlite_rows(db, self._clock, self._entropy)

    def _writer_connection(self) -> apsw.Connection:
        if self._writer is None:
            self._writer = self._open()
        return self._writer

    @contextmanager
    def _transaction(self, db: apsw.Connection) -> Iterator[None]:
        with _STAYING if self._location.readers_stay else self._readers_out():
            db.execute("BEGIN IMMEDIATE")
            try:
                yield
                db.execute("COMMIT")
            except BaseException:
                self._roll_back(db)
                raise

    @contextmanager
    def _readers_out(self) -> Iterator[None]:
        with self._gate.alone(self._busy_timeout) as alone:
            if not alone:
                raise StoreLocked(f"readers have held the store in memory for {self._busy_timeout:.0f} s; end them")
            yield

    def _refuse_reading(self) -> None:
        """Raise `StoreError` where this thread would wait for its own read to end before it may write."""
        if not self._location.readers_stay and self._gate.held:
            raise StoreError("this thread is reading the store in memory; end the read, then write")

    def _roll_back(self, db: apsw.Connection) -> None:
        try:
            if db.in_transaction:
                db.execute("ROLLBACK")
        except apsw.Error:
            # A connection that cannot even roll back is not used again; the next write opens another.
            if db is self._writer:
                self._writer = None
            db.close(True)


_patience = threading.local()
_STAYING: Final = nullcontext()
