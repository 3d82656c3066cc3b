"""The embedded keeper: one SQLite file in WAL mode with `synchronous=FULL`, many processes, one writer at a time."""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final, TypeVar

import apsw

from mnemic.core.clock import Clock, SystemClock
from mnemic.core.events import Receipt
from mnemic.core.forking import rest_for_forks
from mnemic.core.ids import Entropy, SystemEntropy
from mnemic.errors import Conflict, MnemicError, StoreError, StoreForeign, StoreNewer
from mnemic.store import audit, checkpoints, erasure, jobs, keeping, lanes, ledger, migrations, rewinding, transfer
from mnemic.store.base import (
    Answer,
    Draft,
    EmbedderState,
    Erasure,
    ErasureReceipt,
    Fault,
    Info,
    Job,
    JobState,
    JobStep,
    Lane,
    Order,
    Rewound,
    Snapshot,
    Vectors,
)
from mnemic.store.commits import CommitQueue, Ticket
from mnemic.store.gate import Gate
from mnemic.store.group_rows import GroupRows
from mnemic.store.listening import Bell, Listener
from mnemic.store.meters import Carrier
from mnemic.store.place import prepare_file, set_meta, take_lease
from mnemic.store.schema import APPLICATION, FORMAT
from mnemic.store.scrub import scrub
from mnemic.store.snapshot import RowsSnapshot
from mnemic.store.sqlite_errors import translated
from mnemic.store.sqlite_rows import SqliteRows
from mnemic.store.sqlite_sweeping import SqliteSweeping

PATIENCE: Final = 5.0
"""Seconds to wait for readers of this process to leave before going on without that."""
GROUP_SECONDS: Final = 0.05
"""Most work one group commit does before it syncs."""

WAKE_SECONDS: Final = 0.003
"""Longest that callers whose work has landed are kept for the sake of the next group."""
_DAY: Final = 86_400 * 1_000_000
"""In microseconds."""

Probe = Callable[[str], None]
T = TypeVar("T")


def _nothing(_point: str) -> None:
    return


class SqliteStore(SqliteSweeping):
    """A store in one file. Safe to share between threads; a forked child opens its own connections.

    Args:
        path: The file; made with mode 0600 if it is not there.
        vfs: A registered SQLite VFS to use in place of the system's (fault injection, slow disks).
        synchronous: SQLite's setting; anything but FULL can lose acknowledged writes and exists for tests of the tests.
        probe: Called with the name of each point of a commit and an erasure that it passes (fault injection).
        create: Whether a missing file is made.

    Raises:
        StoreForeign, StoreNewer, StoreCorrupt, StoreReadOnly: the file is not one we can serve; it was not touched.
        Invalid: `path` is a folder or lies on a network file system.
    """

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
        self._queue = CommitQueue(self._write)
        self._bell = Bell()
        self._listener = Listener(self._open)
        self._gate = Gate()
        self._renew_sweeps()
        self._writing = threading.Lock()
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

    # Opening

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

    # Writing

    def commit(self, draft: Draft) -> Receipt:
        self._refuse_closed()
        return self._queue.submit(ledger.prepare(draft, self._entropy))

    def _write(self, batch: Sequence[Ticket]) -> None:
        with self._writing:
            try:
                with translated(self.path):
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
            rows = SqliteRows(db) if one_by_one else GroupRows(db)
            self._sweep_keys(db, rows, int(meta.get("swept", 0)))
            for ticket in batch:
                if one_by_one:
                    self._write_one(db, rows, ticket, written)
                else:
                    written.append((ticket, _applied(rows, ticket, self._clock.now())))
                taken = time.monotonic() - started
                if taken > WAKE_SECONDS:
                    self._queue.wake()
                if taken > GROUP_SECONDS:
                    break
            if isinstance(rows, GroupRows):
                rows.finish()
            if (meter := self._carrier.due(self._clock.now())) is not None:
                rows.set_meter(meter)
            self._queue.wake()
            self._probe("commit:before-commit")
        return written, "residue" in meta

    def _sweep_keys(self, db: apsw.Connection, rows: SqliteRows, last: int) -> None:
        """Once a day, forget the idempotency keys that have lived their time."""
        now = self._clock.now()
        if now - last > _DAY:
            rows.forget_keys(now - ledger.KEY_LIFE)
            set_meta(db, "swept", b"%d" % now)

    def _write_one(
        self, db: apsw.Connection, rows: SqliteRows, ticket: Ticket, written: list[tuple[Ticket, Receipt]]
    ) -> None:
        """One caller's work behind a savepoint: a refusal is that caller's alone."""
        db.execute("SAVEPOINT caller")
        try:
            written.append((ticket, ledger.apply(rows, ticket.work, self._clock.now())))
        except apsw.Error:
            raise
        except Exception as error:  # noqa: BLE001 - whatever it is, it is this caller's own
            db.execute("ROLLBACK TO caller")
            ticket.error = error
        db.execute("RELEASE caller")

    def _alone(self, work: Callable[[SqliteRows], T]) -> T:
        """What `work` returns, in a transaction of its own beside the queue of commits."""
        self._refuse_closed()
        with self._writing, translated(self.path):
            db = self._writer_connection()
            with self._transaction(db):
                take_lease(db)
                return work(SqliteRows(db))

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
            self._writer = None
            db.close(True)

    # Lanes

    def enlist(self, name: str, dims: int, state: EmbedderState) -> int:
        return self._alone(lambda rows: lanes.enlist(rows, name, dims, state))

    def appoint(self, model: int, state: EmbedderState) -> None:
        self._alone(lambda rows: lanes.appoint(rows, model, state))

    def dismiss(self, model: int) -> None:
        while self._alone(lambda rows: lanes.dismiss(rows, model)):
            self._probe("dismiss:slice")

    def claim(self, space: int, lane: str, owner: str, seconds: float) -> Lane | None:
        return self._alone(lambda rows: lanes.claim(rows, space, lane, owner, seconds, self._clock.now()))

    def release(
        self, space: int, lane: str, owner: str, error: str = "", not_before: int = 0, stride: int = 0, reach: int = 0
    ) -> None:
        self._alone(lambda rows: lanes.release(rows, space, lane, owner, error, not_before, stride, reach))

    def bury(self, space: int, lane: str, owner: str, after: int, ver: int, error: str) -> int:
        return self._alone(lambda rows: lanes.bury(rows, space, lane, owner, after, ver, error, self._clock.now()))

    def record(self, answer: Answer) -> None:
        self._alone(lambda rows: jobs.record(rows, answer, self._clock.now()))
        self._probe("record:after-commit")

    def order(self, order: Order) -> int:
        return self._alone(lambda rows: jobs.order(rows, order, self._clock.now()))

    def claim_job(self, names: Sequence[str], owner: str, seconds: float) -> Job | None:
        if not self._has_job(names):
            return None  # looking takes no lock
        return self._alone(lambda rows: jobs.claim(rows, names, owner, seconds, self._clock.now()))

    def _has_job(self, names: Sequence[str]) -> bool:
        self._refuse_closed()
        with self.read() as snapshot:
            return bool(names) and any(job.order.name in names for job in snapshot.jobs(JobState.WAITING))

    def end_job(self, step: JobStep, state: JobState, error: str = "", not_before: int = 0) -> bool:
        ended = self._alone(lambda rows: jobs.end(rows, step, state, error, not_before))
        self._probe("job:after-end")
        return ended

    def steer_job(self, job: int, state: JobState) -> Job:
        return self._alone(lambda rows: jobs.steer(rows, job, state))

    def moved(self) -> tuple[int, ...]:
        return self._version()

    def keep(self, batch: Vectors) -> int:
        def work(rows: SqliteRows) -> int:
            count = lanes.keep(rows, batch)
            self._probe("keep:before-commit")
            return count

        written = self._alone(work)
        self._probe("keep:after-commit")
        return written

    # Hearing of others

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

    def _version(self) -> tuple[int, int]:
        self._refuse_closed()
        with self._gate.reading(), translated(self.path):
            self._refuse_closed()
            return self._listener.version()

    def _seq(self, tenant: str) -> int:
        with self.read() as snapshot:
            number = snapshot.tenant(tenant)
            return 0 if number is None else snapshot.head(number).seq

    def carry(self, told: Callable[[], tuple[str, bytes] | None]) -> None:
        self._carrier.give(told, self._clock.now())

    # Reading

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

    # Taking out

    def erase(self, erasure_: Erasure) -> ErasureReceipt:
        self._refuse_closed()
        with self._writing, translated(self.path):
            db = self._writer_connection()
            with self._transaction(db):
                take_lease(db)
                done = erasure.apply(SqliteRows(db), erasure_, self._clock.now(), self._entropy)
                set_meta(db, "residue", b"1")
                self._probe("erase:before-commit")
            self._probe("erase:after-commit")
            status = "clean" if self._truncate(db) else "pending"
        return ErasureReceipt(
            seq=done.seq,
            ids=done.ids,
            versions=done.versions,
            links=done.links,
            status=status,
            scanned=tuple(str(f) for f in self.files()),
            outside=erasure.OUTSIDE,
        )

    def settle(self) -> bool:
        """Whether no byte of what was erased is left in the log; tries once more to take it out."""
        self._refuse_closed()
        with self._writing, translated(self.path):
            return self._truncate(self._writer_connection())

    def _truncate(self, db: apsw.Connection) -> bool:
        """Take what was erased out of log and file; whether that came about: what landed before stays acknowledged."""
        try:
            return self._emptied(db) and self._scrub(db)
        except (apsw.Error, StoreError):
            return False

    def _emptied(self, db: apsw.Connection) -> bool:
        with self._gate.alone(PATIENCE) as quiet:
            if not quiet:
                return False
            for reader in self._readers:
                reader.close()
            self._readers.clear()
            db.set_busy_timeout(250)  # a reader of another process is not waited for: the receipt says so instead
            try:
                busy, _, _ = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone() or (1, 0, 0)
            except apsw.BusyError:
                busy = 1
            finally:
                db.set_busy_handler(self._wait_a_little)
        return busy == 0

    def _scrub(self, db: apsw.Connection) -> bool:
        """Wipe the file under the write lock, unless another process has written since the log was emptied."""
        db.release_memory()  # our own cached pages may hold what is wiped
        with self._transaction(db):
            log = self.path.with_name(self.path.name + "-wal")
            if log.exists() and log.stat().st_size:
                return False
            file = apsw.VFSFile(
                self._vfs or "", str(self.path), [apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_READWRITE, 0]
            )
            try:
                scrub(file)
            finally:
                file.xClose()
            # this commit also syncs the log, so that no power cut brings back what it held, and drops others' caches
            db.execute("DELETE FROM meta WHERE key = 'residue'")
        db.release_memory()
        return True

    # Care

    def verify(self) -> Iterator[Fault]:
        self._refuse_closed()
        # Outside the gate: whoever leaves this generator half-way delays an erasure's last step, and blocks nobody.
        with translated(self.path):
            db = self._open()
            try:
                db.execute("BEGIN")
                for (answer,) in db.execute("PRAGMA integrity_check(20)"):
                    if answer != "ok":
                        yield Fault(where=str(self.path), problem=str(answer))
                yield from audit.verify(SqliteRows(db))
            finally:
                db.close(True)

    def state_hash(self, tenant: str) -> str:
        with self._rows() as rows:
            return audit.state_hash(rows, tenant)

    def export(self, tenant: str) -> Iterator[bytes]:
        with self._rows() as rows:
            yield from transfer.export(rows, tenant)

    def load(self, lines: Iterator[bytes]) -> int:
        def work(rows: SqliteRows) -> int:
            commits = transfer.load(rows, lines)
            self._probe("load:before-commit")
            return commits

        loaded = self._alone(work)
        self._probe("load:after-commit")
        return loaded

    def backup(self, dest: Path) -> None:
        self._refuse_closed()
        dest = dest.expanduser().absolute()
        if dest.exists():
            raise Conflict(f"{dest} exists; a backup never overwrites, name another file")
        unfinished = dest.with_name(f"{dest.name}.{os.getpid()}.unfinished")
        prepare_file(unfinished)
        try:
            self._copy_to(unfinished)
            self._probe("backup:copied")
            _put(unfinished, dest)
            self._probe("backup:named")
        finally:
            unfinished.unlink(missing_ok=True)

    def checkpoint(self, name: str) -> None:
        checkpoints.take(self, name, self._clock.now(), self._probe)

    def drop_checkpoint(self, name: str) -> None:
        checkpoints.let_go(self, name)

    def note(self, work: Callable[[SqliteRows], T]) -> T:
        """What `work` writes beside the journal, in a transaction of its own."""
        return self._alone(work)

    def rewind(self, tenant: str, seq: int) -> Rewound:
        def work(rows: SqliteRows) -> Rewound:
            done = rewinding.rewind(rows, tenant, seq, self._clock.now(), self._entropy)
            self._probe("rewind:before-commit")
            return done

        rewound = self._alone(work)
        self._probe("rewind:after-commit")
        return rewound

    def _copy_to(self, unfinished: Path) -> None:
        with self._gate.reading(), translated(self.path):
            source, copy = self._open(), apsw.Connection(str(unfinished))
            try:
                with copy.backup("main", source, "main") as run:
                    run.step(-1)  # all pages under one read lock: writers go on, and the copy is of one moment
                copy.execute("DELETE FROM meta WHERE key = 'lease'")
                copy.execute("DELETE FROM meter")
                copy.execute("UPDATE lane SET owner = '', lease_until = 0 WHERE owner <> ''")
                copy.execute("UPDATE job SET owner = '', lease_until = 0 WHERE owner <> ''")
                copy.execute("UPDATE session SET owner = '', lease_until = 0 WHERE owner <> ''")
                copy.pragma("journal_mode", "DELETE")
            finally:
                copy.close(True)
                source.close(True)

    def tombstones(self) -> list[tuple[str, str | None, list[bytes]]]:
        """What was erased, per space still owned: tenant, user (None: shared), item ids."""
        with self._rows() as rows:
            return transfer.tombstones(rows)

    def kept(self) -> keeping.Kept:
        """What it hands on to a backup that is put in its place."""
        with self._rows() as rows:
            return keeping.kept(rows, self.origin())

    def origin(self) -> str:
        """What names this store and its copies, and no other: made with the file, kept by backups."""
        with translated(self.path):
            db = self._open()
            try:
                return str(bytes(db.execute("SELECT value FROM meta WHERE key = 'origin'").get).decode())
            finally:
                db.close(True)

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

    def files(self) -> list[Path]:
        """Every file of this store that is there now."""
        candidates = (self.path, *(self.path.with_name(self.path.name + end) for end in ("-wal", "-shm", "-journal")))
        return [f for f in candidates if f.exists()]

    def info(self) -> Info:
        with self._gate.reading(), translated(self.path):
            db = self._open()
            try:
                names = (
                    "journal_mode",
                    "synchronous",
                    "secure_delete",
                    "auto_vacuum",
                    "temp_store",
                    "page_size",
                    "application_id",
                    "user_version",
                )
                settings = {name: str(db.pragma(name)) for name in names}
                free = int(db.pragma("freelist_count")) * int(db.pragma("page_size"))
            finally:
                db.close(True)
        size = sum(f.stat().st_size for f in self.files())
        return Info(
            url=f"sqlite:///{self.path}",
            engine=f"SQLite {apsw.sqlite_lib_version()}",
            format=FORMAT,
            bytes=size,
            settings=settings,
            free=free,
        )

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


class _RefusedError(Exception):
    """One caller's work cannot be written; which of a group's it was does not matter yet."""

    def __init__(self, why: Exception) -> None:
        super().__init__(str(why))
        self.why = why


def _applied(rows: SqliteRows, ticket: Ticket, now: int) -> Receipt:
    try:
        return ledger.apply(rows, ticket.work, now)
    except apsw.Error:
        raise  # the disk's or the lock's: everybody's
    except Exception as error:
        raise _RefusedError(error) from error


_patience = threading.local()


def _copy(error: MnemicError) -> MnemicError:
    """The same error for another caller: one exception object raised in two threads would mix their tracebacks."""
    twin = type(error).__new__(type(error), *error.args)
    twin.__dict__.update(error.__dict__)
    twin.args = error.args
    twin.__cause__ = error.__cause__
    return twin


def _put(finished: Path, dest: Path) -> None:
    """Give a finished copy its name, never one that is taken."""
    try:
        sync(finished)
        os.link(finished, dest)
        sync(dest.parent)
    except FileExistsError as error:
        raise Conflict(f"{dest} exists; a backup never overwrites, name another file") from error
    except OSError as error:
        raise StoreError(f"cannot put the backup at {dest}: {error.strerror}; choose another place") from error


def sync(path: Path) -> None:
    """Have a file's bytes, or a folder's names, on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
