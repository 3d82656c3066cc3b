"""One SQLite database as a store keeps it open: its connections and locks, reading, and writing alone."""

from __future__ import annotations

import gc
import os
import random
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, nullcontext, suppress
from typing import Concatenate, Final, ParamSpec, TypeVar

import apsw

from mnemic.core.clock import Clock, SystemClock
from mnemic.core.forking import rest_for_forks
from mnemic.core.ids import Entropy, SystemEntropy
from mnemic.core.mutex import LOOK_SECONDS, Holder, Mutex
from mnemic.errors import StoreCorrupt, StoreError, StoreForeign, StoreFull, StoreLocked, StoreReadOnly
from mnemic.store.engine.commit_queue import Bell
from mnemic.store.engine.rows import Rows
from mnemic.store.engine.snapshot import Snapshot
from mnemic.store.sqlite import file_audit, migrations, sealing
from mnemic.store.sqlite.disk import drop_lease, take_lease
from mnemic.store.sqlite.location import Location
from mnemic.store.sqlite.notify import Listener
from mnemic.store.sqlite.sqlite_tables import sqlite_rows
from mnemic.store.values.meters import PERIOD, Figures, MeterRow
from mnemic.store.values.receipts import Fault

PATIENCE: Final = 5.0
"""Seconds to wait for readers of this process to leave before going on without that."""

_COLLECT_SECONDS: Final = 0.25
"""How long readers are waited for before those are looked for that nobody knows any more."""

Probe = Callable[[str], None]
Reader = tuple[apsw.Connection, Rows]
P = ParamSpec("P")
T = TypeVar("T")


class Gate:
    """Many may read; who shuts it waits for them to finish and holds newcomers back meanwhile."""

    def __init__(self) -> None:
        self._inside: dict[int, tuple[weakref.ref[object], int, list[Reader]]] = {}
        self._shut = Mutex()
        self._last_leaves: threading.Lock | None = None

    @property
    def idle(self) -> bool:
        """Whether nobody is inside just now."""
        return not self._inside or not self._threads()

    @property
    def held(self) -> bool:
        """Whether the calling thread is reading."""
        return bool(self._inside) and threading.get_ident() in self._threads()

    def held_by_nobody(self) -> bool:
        """Whether the calling thread reads no more once what is kept alive by circles alone is gone.

        An interrupted call may be kept so, by the traceback of its own error.
        """
        gc.collect()
        return not self.held

    def _threads(self) -> list[int]:
        """The thread of each reader inside; one whose context was never left goes when nobody knows it any more."""
        inside = self._inside.copy()
        for reader, (known, _, left_open) in inside.items():
            if known() is None and self._inside.pop(reader, None) is not None:
                for db, _ in left_open:
                    db.close(True)
        return [thread for known, thread, _ in inside.values() if known() is not None]

    def enter(self, reader: object, opened: list[Reader]) -> None:
        """Let a reader in; a thread that is inside goes straight in again, so that nesting cannot deadlock.

        Args:
            opened: What is closed for a reader who is gone without having left.
        """
        entry = weakref.ref(reader), threading.get_ident(), opened
        if self.held:
            self._inside[id(reader)] = entry
        else:
            with self._shut:
                self._inside[id(reader)] = entry

    def leave(self, reader: object) -> None:
        """Let a reader out; to say so twice, or of one who never came in, does no harm."""
        self._inside.pop(id(reader), None)
        waiting = self._last_leaves
        if waiting is not None:
            with suppress(RuntimeError):  # somebody else has just released it
                waiting.release()

    def reading(self) -> Inside:
        """Hold the gate open for as long as this context lasts."""
        return Inside(self)

    def shut(self, call: Holder, patience: float) -> bool:
        """Have `call` hold it shut with nobody else inside; what the calling thread itself reads does not count.

        Returns whether it came to that within `patience` seconds; if not, the gate stays open.
        """
        until, collect_at = time.monotonic() + patience, time.monotonic() + _COLLECT_SECONDS
        if not self._shut.take(call, patience):
            return False
        while self._others():
            self._last_leaves = gate = threading.Lock()
            gate.acquire()
            left = until - time.monotonic()
            if left <= 0:
                self.open(call)
                return False
            if time.monotonic() > collect_at:
                collect_at = until + 1
                gc.collect()  # an interrupted call may be kept by the traceback of its own error
            if self._others():
                gate.acquire(timeout=min(left, LOOK_SECONDS))
        return True

    def open(self, call: Holder) -> None:
        """Open it again if `call` holds it shut."""
        self._last_leaves = None
        self._shut.give_back(call)

    def _others(self) -> bool:
        me = threading.get_ident()
        return any(thread != me for thread in self._threads())


class Inside:
    """One reader inside a gate, as a context."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate

    def __enter__(self) -> None:
        try:
            self._gate.enter(self, [])
        except BaseException:
            self._gate.leave(self)
            raise

    def __exit__(self, *_: object) -> None:
        self._gate.leave(self)


def _nothing(_point: str) -> None:
    return


class SqliteFile:
    """The part of a SQLite store that has the database open."""

    _let_all_go = _leased = False
    _sealed = False
    """Whether it has a seal, or had one that was taken off."""
    _figures: Figures | None = None
    _carried_at = 0
    _format_before = 0

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
            with suppress(apsw.Error):  # a disk that fails is told by what failed first
                self._let_go()
            raise
        rest_for_forks(self)

    def renew(self) -> None:
        """Fresh locks, at birth and in a forked child; connections are opened as they are needed."""
        self._readers: list[Reader] = []
        self._writer: apsw.Connection | None = None
        self._bell = Bell()
        self._listener = Listener(self._open)
        self._gate = Gate()
        self._writing = Mutex()
        self._right_to_write = _Alone(self)
        self._written: _Transaction | None = None
        self._closed = False

    def rest(self) -> None:
        """Close every connection before a fork: a child would inherit SQLite's own record of the locks they hold."""
        self._resting = _Resting()
        if not self._writing.take(self._resting, PATIENCE):
            return  # a write that takes this long keeps its connection; the child may find the store locked
        self._listener.rest(self._resting)
        self._gate.shut(self._resting, PATIENCE)
        self._let_go()

    def resume(self) -> None:
        """Go on after a fork, in the parent."""
        self._gate.open(self._resting)
        self._listener.resume(self._resting)
        self._writing.give_back(self._resting)

    def _let_go(self) -> None:
        self._close_readers()
        db, self._writer = self._writer, None
        if db is not None:
            db.close(True)

    def _close_readers(self) -> None:
        while self._readers:
            db, _ = self._readers.pop()
            db.close(True)

    def close(self) -> None:
        """Let go of everything; cut short, it is to be said again."""
        if self._closed and self._let_all_go:
            return
        with self._writing, translated(self._location):
            self._closed = True
            self._gate.shut(sys._getframe(), PATIENCE)
            self._part()
            self._let_go()
            self._listener.close()
            self._location.let_go()
            self._let_all_go = True
            self._gate.open(sys._getframe())
        self._bell.ring()

    def _part(self) -> None:
        """Before the last connection goes: drop the lease, or see that the log is folded into no foreign file."""
        with suppress(apsw.Error, StoreError):  # a disk that fails is told by closing itself
            if self._writer is None:
                return
            if self._location.log_may_be_folded(self._writer):
                self._drop_lease()
                return
            for db in self._connections():
                db.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)

    def _connections(self) -> Iterator[apsw.Connection]:
        """Every connection that is kept open."""
        yield from (db for db, _ in self._readers)
        yield from (db for db in (self._writer, self._listener.connection) if db is not None)

    def _take_lease(self, db: apsw.Connection, known: Mapping[str, bytes] | None = None) -> dict[str, bytes]:
        self._leased = True
        meta = take_lease(db, known=known)
        if not self._location.key and ("seal" in meta or self._sealed):
            raise StoreReadOnly(f"{self._location} is sealed, and is not written to without its key; set MNEMIC_SEAL")
        return meta

    def _drop_lease(self) -> None:
        """Let other machines write at once; where that cannot be written, the lease runs out by itself."""
        db, leased, self._leased = self._writer, self._leased, False
        if db is None or not leased or not self._location.readers_stay:
            return
        with suppress(apsw.Error, StoreCorrupt):
            db.set_busy_timeout(_DROP_MILLISECONDS)
            db.pragma("synchronous", "NORMAL")  # a power cut that takes this back costs another machine a minute
            with self._transaction(db):
                drop_lease(db)

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
        self._format_before = int(db.pragma("user_version"))
        # A trigger would run with our writes, an index that lies would answer our reads: not one statement more.
        self._refuse(file_audit.foreign_sorts(db))
        if not migrations.is_current(db):
            if not self._location.writable:
                raise StoreReadOnly(
                    f"{self._location} was written by an earlier mnemic and cannot be brought up to date here; open it"
                    " once where it can be written, or copy it there"
                )
            with self._transaction(db):
                migrations.migrate(db, self._location, self._entropy)
                file_audit.drop_statistics(db)
                self._refuse(file_audit.foreign_words(db))  # a file that is refused stays as it was
                file_audit.count(db)
                self._probe("migrate:before-commit")
            self._probe("migrate:after-commit")
        elif file_audit.has_statistics(db):
            with self._transaction(db):
                file_audit.drop_statistics(db)
                self._refuse(file_audit.foreign_words(db))
        else:
            self._refuse(file_audit.foreign_words(db))
        if self._location.key and sealing.is_due(db, self._location):
            with self._transaction(db):
                sealing.put_on(db, self._location.key)
        self._sealed = bool(self._location.key) or sealing.is_stripped(db)
        self._location.note(db)

    def _refuse(self, faults: Iterable[Fault]) -> None:
        for fault in faults:
            raise StoreCorrupt(
                f"{self._location}: {fault.where} {fault.problem}; somebody has changed it: restore a backup"
            )

    def read(self) -> SnapshotReading:
        return SnapshotReading(self)

    def _reader(self) -> Reader:
        """A connection to read on, which is nobody else's."""
        try:
            return self._readers.pop()
        except IndexError:
            db = self._open()
            return db, self._rows(db)

    @contextmanager
    def _apart(self) -> Iterator[apsw.Connection]:
        """A read transaction on a connection of its own: whoever leaves it half-way blocks nobody, but in memory."""
        self._refuse_closed()
        # Where writers pass by readers anyway it is outside the gate, so that no erasure waits for a long walk.
        inside = nullcontext() if self._location.readers_stay else self._gate.reading()
        with inside, translated(self._location):
            self._location.refuse_overwritten()
            with closing(self._open()) as db:
                db.execute("BEGIN")
                yield db

    def transact(self, work: Callable[Concatenate[Rows, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        self._refuse_closed()
        self._refuse_reading()
        with self._alone() as db, self._transaction(db):
            self._take_lease(db)
            rows = self._rows(db)
            answer = work(rows, *args, **kwargs)
            file_audit.count(db)
            self._write_figures(rows, self._clock.now())
            self._probe(f"{work.__name__}:before-commit")
        self._probe(f"{work.__name__}:after-commit")
        return answer

    def carry(self, figures: Figures) -> None:
        self._figures, self._carried_at = figures, self._clock.now()

    def _write_figures(self, rows: Rows, now: int) -> None:
        """Write what this process measured of itself, once a period, if there is anything new."""
        if self._figures is None or 0 <= now - self._carried_at < PERIOD:
            return
        self._carried_at = now
        if (measured := self._figures()) is not None:
            process, body = measured
            rows.notes.set_meter(MeterRow(process, now, body))

    def _rows(self, db: apsw.Connection) -> Rows:
        return sqlite_rows(db, self._clock, self._entropy)

    def _alone(self) -> _Alone:
        """The writer's connection, while nobody else of this process writes; for a function that is no generator."""
        return self._right_to_write

    def _writer_connection(self) -> apsw.Connection:
        if self._writer is not None and (self._writer.in_transaction or _reads(self._writer)):
            self._end_transactions()
        if self._writer is None:
            self._writer = self._open()
            self._location.note(self._writer)  # the log is another one by now
        return self._writer

    def _end_transactions(self) -> None:
        """Roll back what a write has left that was cut short, down to the step that would have ended it."""
        if self._writer is not None:
            self._roll_back(self._writer)
        if self._writer is not None and _reads(self._writer):
            # A statement that was cut short, kept by a traceback, reads on from before others wrote: while it does,
            # this connection may not write, and no log is emptied.
            db, self._writer = self._writer, None
            db.close(True)

    def _transaction(self, db: apsw.Connection) -> _Transaction:
        """Have what is written on `db` stand or fall as one; for a function that is no generator."""
        if self._written is None or self._written.db is not db:
            self._written = _Transaction(self, db)  # it keeps nothing from one time to the next
        return self._written

    def _refuse_reading(self) -> None:
        """Raise `StoreError` where this thread would wait for its own read to end before it may write."""
        if not self._location.readers_stay and self._gate.held and not self._gate.held_by_nobody():
            raise StoreError("this thread is reading the store in memory; end the read, then write")

    def _shut_out_readers(self, call: Holder) -> None:
        if not self._gate.shut(call, self._busy_timeout):
            raise StoreLocked(f"readers have held the store in memory for {self._busy_timeout:.0f} s; end them")

    def _roll_back(self, db: apsw.Connection) -> None:
        try:
            if db.in_transaction:
                db.execute("ROLLBACK")
        except apsw.Error:
            # A connection that cannot even roll back is not used again; the next write opens another.
            if db is self._writer:
                self._writer = None
            db.close(True)


def _reads(db: apsw.Connection) -> bool:
    """Whether a statement or a transaction holds what it reads."""
    return db.txn_state("main") != apsw.SQLITE_TXN_NONE


class _Resting:
    """Holds locks during a fork, when no call does."""

    def clear(self) -> None:
        raise RuntimeError("the fork is not over")


class SnapshotReading:
    """One read transaction of a store, as a context."""

    def __init__(self, file: SqliteFile) -> None:
        self._file = file
        self._reader: list[Reader] = []
        """The connection it is on, while it is."""

    def __enter__(self) -> Snapshot:
        file = self._file
        file._refuse_closed()
        try:
            file._location.refuse_overwritten()
            file._gate.enter(self, self._reader)
            file._refuse_closed()
            self._reader.append(file._reader())
            ((db, rows),) = self._reader
            db.execute("BEGIN")
            return Snapshot(rows)
        except BaseException as error:
            self._break_off()
            raise_ours(file._location, error)
            raise

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        file = self._file
        try:
            if error is None:
                (reader,) = self._reader
                reader[0].execute("COMMIT")
                if file._location.frozen:
                    file._location.refuse_overwritten()
                if file._closed:  # it has closed without us
                    self._break_off()
                    return
                self._reader.clear()
                file._readers.append(reader)
                file._gate.leave(self)
                return
        except BaseException as failure:
            self._break_off()
            raise_ours(file._location, failure)
            raise
        self._break_off()
        if error is not None:
            raise_ours(file._location, error)

    def _break_off(self) -> None:
        """Leave it without using the connection again; to say so twice does no harm."""
        for db, _ in self._reader:
            db.close(True)
        self._reader.clear()
        self._file._gate.leave(self)


class _Alone:
    """The right to write, as a context in a function that is no generator: nobody else of this process has it."""

    __slots__ = ("_file",)

    def __init__(self, file: SqliteFile) -> None:
        self._file = file

    def __enter__(self) -> apsw.Connection:
        file, call = self._file, sys._getframe(1)
        try:
            file._writing.take(call)
            file._refuse_closed()
            db = file._writer_connection()
            file._location.refuse_overwritten()
            file._location.refuse_lost_log(db)
            return db
        except BaseException as error:
            file._writing.give_back(call)
            raise_ours(file._location, error)
            raise

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        file = self._file
        if error is not None:  # an interrupt may have passed by the end of a transaction
            file._end_transactions()
        file._writing.give_back(sys._getframe(1))
        if error is not None:
            raise_ours(file._location, error)


class _Transaction:
    """What is written on a connection, as a context in a function that is no generator: all of it lands, or nothing."""

    __slots__ = ("_file", "db")

    def __init__(self, file: SqliteFile, db: apsw.Connection) -> None:
        self._file, self.db = file, db

    def __enter__(self) -> None:
        file, call = self._file, sys._getframe(1)
        try:
            if not file._location.readers_stay:
                file._shut_out_readers(call)
            self.db.execute("BEGIN IMMEDIATE")
            if file._location.key:
                sealing.refuse_broken(self.db, file._location, sealed=file._sealed)
        except BaseException:
            self._take_back(call)
            raise

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        file, call = self._file, sys._getframe(1)
        try:
            if error is None:
                if file._location.key:
                    sealing.seal(self.db, file._location.key)
                self.db.execute("COMMIT")
                if not file._location.readers_stay:
                    file._gate.open(call)
                return
        except BaseException:
            self._take_back(call)
            raise
        self._take_back(call)

    def _take_back(self, call: Holder) -> None:
        self._file._roll_back(self.db)
        if not self._file._location.readers_stay:
            self._file._gate.open(call)


_DROP_MILLISECONDS: Final = 100
"""How long closing waits for a writer of another process, only to drop a lease that this one holds by then."""

_patience = threading.local()


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


class translated:  # noqa: N801 - said like a function, and entered by every write
    """Raise our own error, naming `where` the store lies and the remedy, for whatever SQLite raises inside."""

    __slots__ = ("_where",)

    def __init__(self, where: object) -> None:
        self._where = where

    def __enter__(self) -> None:
        """Nothing is held."""

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if error is not None:
            raise_ours(self._where, error)


def raise_ours(where: object, error: BaseException) -> None:
    """Raise our own error for one of SQLite's; any other is left to who caught it."""
    if isinstance(error, UnicodeDecodeError):  # SQLite gives texts as they lie there
        raise StoreCorrupt(
            f"{where}: a text in it is damaged; run `mnemic verify`, then `mnemic restore` from a backup"
        ) from error
    if not isinstance(error, apsw.Error):
        return
    for theirs, ours, remedy in _OURS:
        if isinstance(error, theirs):
            theirs_says = "" if str(error) == _NOTHING_SAID else f" ({error})"
            raise ours(f"{where}: {remedy}{theirs_says}") from error
    raise StoreError(f"{where}: {error}") from error
