"""One SQLite file as a store keeps it open: its connections and locks, what it refuses, reading and writing alone."""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final, TypeVar

import apsw

from mnemic.core.clock import Clock, SystemClock
from mnemic.core.forking import rest_for_forks
from mnemic.core.ids import Entropy, SystemEntropy
from mnemic.errors import StoreError, StoreForeign, StoreNewer
from mnemic.store import migrations
from mnemic.store.gate import Gate
from mnemic.store.listening import Bell, Listener
from mnemic.store.meters import Carrier
from mnemic.store.place import prepare_file, take_lease
from mnemic.store.rows_snapshot import RowsSnapshot
from mnemic.store.schema import APPLICATION, FORMAT
from mnemic.store.snapshot import Snapshot
from mnemic.store.sqlite_errors import translated
from mnemic.store.sqlite_rows import SqliteRows
from mnemic.store.waiting import Waiting

PATIENCE: Final = 5.0
"""Seconds to wait for readers of this process to leave before going on without that."""

Probe = Callable[[str], None]
T = TypeVar("T")


def _nothing(_point: str) -> None:
    return


class SqliteFile:
    """The part of `SqliteStore` that has the file open."""

    def __init__(
        self,
        path: str | Path,
        *,
        clock: Clock | None = None,
        entropy: Entropy | None = None,
        busy_timeout: float = 30.0,
        vfs: str | None = None,
        synchronous: str = "FULL",
        probe: Probe | None = None,
        create: bool = True,
    ) -> None:
        self.path = Path(path).expanduser().absolute()
        if not create and not self.path.exists():
            raise StoreError(f"there is no store at {self.path}")
        self._clock, self._entropy = clock or SystemClock(), entropy or SystemEntropy()
        self._busy_timeout, self._vfs, self._synchronous = busy_timeout, vfs, synchronous
        self._probe = probe or _nothing
        self._random = random.Random(os.getpid() ^ time.time_ns())  # noqa: S311 - spreads waiting writers, guards nothing
        self._carrier = Carrier()
        prepare_file(self.path)
        self.renew()
        with translated(self.path):
            self._refuse_foreign()
            self._migrate()
        rest_for_forks(self)

    def renew(self) -> None:
        """Fresh locks, at birth and in a forked child; connections are opened as they are needed."""
        self._readers: list[apsw.Connection] = []
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
        for db in (*self._readers, *([self._writer] if self._writer else [])):
            db.close(True)
        self._readers.clear()
        self._writer = None

    def close(self) -> None:
        if self._closed:
            return
        with self._writing, self._gate.alone(PATIENCE), translated(self.path):
            self._closed = True
            self._let_go()
            self._listener.close()
        self._bell.ring()

    def _refuse_closed(self) -> None:
        if self._closed:
            raise StoreError(f"the store {self.path} is closed; open it again")

    def files(self) -> list[Path]:
        """Every file of this store that is there now."""
        candidates = (self.path, *(self.path.with_name(self.path.name + end) for end in ("-wal", "-shm", "-journal")))
        return [f for f in candidates if f.exists()]

    def _open(self) -> apsw.Connection:
        flags = apsw.SQLITE_OPEN_READWRITE
        db = apsw.Connection(str(self.path), flags=flags, vfs=self._vfs)
        db.set_busy_handler(self._wait_a_little)
        if not db.pragma("page_count"):  # of a file with pages this would be a write, each time anybody opens it
            db.pragma("auto_vacuum", "INCREMENTAL")
        for pragma, expected in (
            ("journal_mode=WAL", "wal"),
            (f"synchronous={self._synchronous}", None),
            ("secure_delete=ON", 1),
            ("temp_store=MEMORY", None),
            ("wal_autocheckpoint=2000", 2000),
            ("journal_size_limit=16777216", 16777216),
            ("fullfsync=ON", None),
            ("checkpoint_fullfsync=ON", None),
        ):
            answer = db.pragma(*pragma.split("=", 1))
            if expected is not None and answer != expected:
                raise StoreError(
                    f"SQLite refused PRAGMA {pragma} (it says {answer}); {self.path} cannot be kept safely"
                )
        return db

    def _wait_a_little(self, _calls: int) -> bool:
        now = time.monotonic()
        waiting = _patience.__dict__
        if _calls == 0:
            waiting["since"] = now
        time.sleep(0.0005 + self._random.random() * 0.0025)
        return bool(now - waiting.get("since", now) < self._busy_timeout)

    def _migrate(self) -> None:
        db = self._writer = self._open()
        migrations.refuse_newer(db, self.path)
        if not migrations.is_current(db):
            with self._transaction(db):
                migrations.migrate(db, self.path, self._entropy)
                self._probe("migrate:before-commit")
            self._probe("migrate:after-commit")

    def _refuse_foreign(self) -> None:
        """Look before any pragma could change the file: a stranger's file stays as it is, to the byte."""
        header = self._header()
        if not header:
            return
        application = version = 0
        if header[:16] == b"SQLite format 3\x00":
            application, version = int.from_bytes(header[68:72], "big"), int.from_bytes(header[60:64], "big")
        elif not self._unrecovered():
            raise StoreForeign(f"{self.path} is not a mnemic store (nor a SQLite file); name another file")
        if application == 0 and version == 0:
            self._refuse_unmarked()
        elif application != APPLICATION:
            raise StoreForeign(f"{self.path} is a SQLite file of another program; name another file")
        if version > FORMAT:
            raise StoreNewer(f"{self.path} has format {version}, this mnemic knows up to {FORMAT}; upgrade mnemic")

    def _header(self) -> bytes:
        """The file's first bytes, read through SQLite's own door: it alone keeps count of the locks on a file."""
        file = apsw.VFSFile(self._vfs or "", str(self.path), [apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_READWRITE, 0])
        try:
            return file.xRead(min(100, file.xFileSize()), 0)
        finally:
            file.xClose()

    def _unrecovered(self) -> bool:
        """Whether a log or journal may hold a truer first page than the file: then only SQLite can say whose it is."""
        beside = (self.path.with_name(self.path.name + end) for end in ("-wal", "-journal"))
        return any(f.exists() and f.stat().st_size for f in beside)

    def _refuse_unmarked(self) -> None:
        # A crash before the first commit leaves a file of ours without its mark, and without a table.
        db = apsw.Connection(str(self.path), flags=apsw.SQLITE_OPEN_READWRITE, vfs=self._vfs)
        try:
            db.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)  # a stranger's log stays a log
            db.set_busy_timeout(int(self._busy_timeout * 1000))
            marked = db.pragma("application_id") == APPLICATION
            if not marked and db.execute("SELECT count(*) FROM sqlite_schema").get:
                raise StoreForeign(f"{self.path} is a SQLite file of another program; name another file")
            version = int(db.pragma("user_version"))
        finally:
            db.close()
        if marked and version > FORMAT:
            raise StoreNewer(f"{self.path} has format {version}, this mnemic knows up to {FORMAT}; upgrade mnemic")

    @contextmanager
    def read(self) -> Iterator[Snapshot]:
        self._refuse_closed()
        with self._gate.reading(), translated(self.path):
            self._refuse_closed()
            db = self._readers.pop() if self._readers else self._open()
            try:
                db.execute("BEGIN")
                yield RowsSnapshot(SqliteRows(db))
                db.execute("COMMIT")
            except BaseException:
                db.close(True)
                raise
            self._readers.append(db)

    @contextmanager
    def _rows(self) -> Iterator[SqliteRows]:
        self._refuse_closed()
        with translated(self.path):
            db = self._open()
            try:
                db.execute("BEGIN")
                yield SqliteRows(db)
            finally:
                db.close(True)

    def _alone(self, work: Callable[[SqliteRows], T]) -> T:
        """What `work` returns, in a transaction of its own beside the queue of commits."""
        self._refuse_closed()
        with self._waiting, self._writing, translated(self.path):
            db = self._writer_connection()
            with self._transaction(db):
                take_lease(db)
                return work(SqliteRows(db))

    def note(self, work: Callable[[SqliteRows], T]) -> T:
        """What `work` writes beside the journal, in a transaction of its own."""
        return self._alone(work)

    def _writer_connection(self) -> apsw.Connection:
        if self._writer is None:
            self._writer = self._open()
        return self._writer

    @contextmanager
    def _transaction(self, db: apsw.Connection) -> Iterator[None]:
        db.execute("BEGIN IMMEDIATE")
        try:
            yield
            db.execute("COMMIT")
        except BaseException:
            self._roll_back(db)
            raise

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
