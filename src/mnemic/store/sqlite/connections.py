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
from mnemic.errors import StoreCorrupt, StoreError, StoreForeign, StoreFull, StoreLocked, StoreReadOnly
from mnemic.store.engine.rows import Rows
from mnemic.store.engine.snapshot import Snapshot
from mnemic.store.sqlite import file_audit, migrations
from mnemic.store.sqlite.disk import take_lease
from mnemic.store.sqlite.location import Location
from mnemic.store.sqlite.notify import Listener
from mnemic.store.sqlite.sqlite_tables import sqlite_rows

PATIENCE: Final = 5.0
"""Seconds to wait for readers of this process to leave before going on without that."""

Probe = Callable[[str], None]
P = ParamSpec("P")
T = TypeVar("T")


class Gate:
    """Many may read; `alone` waits for them to finish and holds newcomers back meanwhile."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._readers = 0
        self._shut = False
        self._inside = threading.local()

    @property
    def idle(self) -> bool:
        """Whether nobody is inside just now."""
        return self._readers == 0

    @property
    def held(self) -> bool:
        """Whether the calling thread is reading."""
        return getattr(self._inside, "depth", 0) > 0

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Hold the gate open; a thread that already holds it goes straight in, so that nesting cannot deadlock."""
        depth = getattr(self._inside, "depth", 0)
        with self._changed:
            while self._shut and depth == 0:
                self._changed.wait()
            self._readers += 1
        self._inside.depth = depth + 1
        try:
            yield
        finally:
            self._inside.depth = depth
            with self._changed:
                self._readers -= 1
                if self._shut:
                    self._changed.notify_all()

    @contextmanager
    def alone(self, patience: float | None = None) -> Iterator[bool]:
        """Hold the gate shut with nobody else inside; what the calling thread itself reads does not count.

        Yields whether it came to that within `patience` seconds (None: however long); if not, the gate stays open.
        """
        own = getattr(self._inside, "depth", 0)
        with self._changed:
            shut = self._changed.wait_for(lambda: not self._shut, patience)
            self._shut = True
            quiet = shut and self._changed.wait_for(lambda: self._readers <= own, patience)
            if shut and not quiet:
                self._open()
        try:
            yield quiet
        finally:
            if quiet:
                with self._changed:
                    self._open()

    def _open(self) -> None:
        self._shut = False
        self._changed.notify_all()


class WriterQueue:
    """Those who have the write lock or wait for it, from before they ask for it until they have given it back.

    It stands beside the lock, not around it: an interrupt can do no worse here than leave a name too many.
    """

    def __init__(self) -> None:
        self._since: dict[int, float] = {}

    @property
    def seconds(self) -> float:
        """How long whoever else waits longest has waited, for the one who has the lock; 0 if nobody does."""
        me = threading.get_ident()
        others = [since for thread, since in self._since.copy().items() if thread != me]
        return time.monotonic() - min(others) if others else 0.0

    def __enter__(self) -> None:
        self._since[threading.get_ident()] = time.monotonic()

    def __exit__(self, *_: object) -> None:
        self._since.pop(threading.get_ident(), None)


class Bell:
    """Rung after every commit of this process; who waits for it hears each ring that came since `count` was read."""

    def __init__(self) -> None:
        self._rung = threading.Condition()
        self.count = 0

    def ring(self) -> None:
        """Something was committed."""
        with self._rung:
            self.count += 1
            self._rung.notify_all()

    def wait(self, heard: int, seconds: float) -> bool:
        """Whether it has been rung since `count` was `heard`; waits so long for that."""
        with self._rung:
            return self._rung.wait_for(lambda: self.count != heard, seconds)


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
        self.renew()
        try:
            with translated(location):
                location.refuse_foreign(busy_timeout)
                self._migrate()
        except BaseException:
            self._let_go()
            raise
        rest_for_forks(self)

    def renew(self) -> None:
        """Fresh locks, at birth and in a forked child; connections are opened as they are needed."""
        self._readers: list[tuple[apsw.Connection, Rows]] = []
        self._writer: apsw.Connection | None = None
        self._bell = Bell()
        self._listener = Listener(self._open)
        self._gate = Gate()
        self._writing = threading.Lock()
        self._waiting = WriterQueue()
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
                file_audit.count(db)
                self._probe("migrate:before-commit")
            self._probe("migrate:after-commit")
        # A trigger would run with our writes, an index that lies would answer our reads: not one statement more.
        for fault in file_audit.foreign_words(db):
            raise StoreCorrupt(
                f"{self._location}: {fault.where} {fault.problem}; somebody has changed it: restore a backup"
            )

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
                file_audit.count(db)
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


_OURS: Final[tuple[tuple[type[apsw.Error], type[StoreError], str], ...]] = (
    (apsw.FullError, StoreFull, "the disk is full; make room and retry with the same key"),
    (
        apsw.ReadOnlyError,
        StoreReadOnly,
        "it cannot be written; check the owner and mode of file and folder; from a read-only disk, copy it elsewhere",
    ),
    (
        apsw.CantOpenError,
        StoreReadOnly,
        "it cannot be opened; check the owner and mode of file and folder; from a read-only disk, copy it elsewhere",
    ),
    (
        apsw.PermissionsError,
        StoreReadOnly,
        "it cannot be written; check the owner and mode of file and folder; from a read-only disk, copy it elsewhere",
    ),
    (
        apsw.AuthError,
        StoreReadOnly,
        "it cannot be written; check the owner and mode of file and folder; from a read-only disk, copy it elsewhere",
    ),
    (apsw.NotADBError, StoreForeign, "it is not a mnemic store; name another file"),
    (
        apsw.CorruptError,
        StoreCorrupt,
        "its bytes are damaged; run `mnemic verify`, then `mnemic restore` from a backup",
    ),
    (
        apsw.BusyError,
        StoreLocked,
        "another process is writing without end; see `mnemic doctor`, then retry with the same key",
    ),
    (apsw.LockedError, StoreLocked, "another connection holds it; retry with the same key"),
    (apsw.IOError, StoreError, "the disk failed; nothing is half-written, check the disk and retry with the same key"),
)


_NOTHING_SAID: Final = "not an error"
"""What SQLite says of a failure that the connection does not remember."""


@contextmanager
def translated(where: object) -> Iterator[None]:
    """Raise our own error, naming `where` the store lies and the remedy, for whatever SQLite raises inside."""
    try:
        yield
    except apsw.Error as error:
        for theirs, ours, remedy in _OURS:
            if isinstance(error, theirs):
                theirs_says = "" if str(error) == _NOTHING_SAID else f" ({error})"
                raise ours(f"{where}: {remedy}{theirs_says}") from error
        raise StoreError(f"{where}: {error}") from error
