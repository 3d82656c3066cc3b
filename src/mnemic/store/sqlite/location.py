"""Where a SQLite store lies, in a file or in this process's memory, and what that asks of its connections."""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final, Protocol

import apsw

from mnemic.errors import StoreError, StoreForeign, StoreNewer, StoreReadOnly
from mnemic.store.sqlite.disk import can_write, prepare_file
from mnemic.store.sqlite.row_checksums import register
from mnemic.store.sqlite.schema import APPLICATION, FORMAT

CHECKPOINTS: Final = "checkpoints"
"""The folder of a store's checkpoints, beside its file."""

Patience = Callable[[int], bool]
"""What a connection asks while another has the lock: whether to try again, given how often it has asked."""


class Location(Protocol):
    """A place of a database, in a file or in memory: opens connections to it and checks that it is still there.

    Attributes:
        url: The name that a user is shown.
        closed: The error message for whoever uses the store after it was closed.
        readers_stay: Whether readers may go on while somebody writes, as only a file with a log lets them.
        writable: Whether anything can be written to it.
        frozen: Whether it is read without locks: it cannot be written, and nobody else has it open.
        beside: The folder for checkpoints; None in memory.
        key: What it is sealed with; empty for nothing.
    """

    url: str
    closed: str
    readers_stay: bool
    writable: bool
    frozen: bool
    beside: Path | None
    key: bytes

    @property
    def files(self) -> list[Path]:
        """The store's files that exist now."""
        ...

    def open(self, patience: Patience) -> apsw.Connection:
        """Open a connection with the pragmas that a store needs."""
        ...

    def refuse_foreign(self, busy_timeout: float) -> None:
        """Refuse a file that is no store of ours, before any pragma could change it.

        Raises:
            StoreForeign, StoreNewer: it is of another program, or of a later mnemic.
        """
        ...

    def refuse_overwritten(self) -> None:
        """Refuse to go on with a file that was replaced, or that holds another store by now; costs one `stat` mostly.

        Raises:
            StoreError: the file is gone, or holds something else.
        """
        ...

    def refuse_lost_log(self, db: apsw.Connection) -> None:
        """Refuse to write if the log beside the file was deleted, replaced or cut short; costs ten microseconds.

        Raises:
            StoreError: it was. What the deleted one held was brought into the file.
        """
        ...

    def note(self, db: apsw.Connection) -> None:
        """Remember what tells this store's file and log from others; `db` has it open, and has tables."""
        ...

    def log_may_be_folded(self, db: apsw.Connection) -> bool:
        """Whether the last connection to close may fold the log into the file that it has open, and delete it."""
        ...

    def let_go(self) -> None:
        """Release what is held beside the connections."""
        ...


class InMemory:
    """A database in this process's memory, by SQLite's own memory file system, that lives as long as its store.

    It has no log, so a writer waits until no reader is left; and it lives as long as any connection, so one is kept.
    """

    url = "memory:"
    closed = "the store in memory is closed, and what it held is gone; open another"
    readers_stay = False
    writable = True
    frozen = False
    beside: Path | None = None
    key = b""
    files: Final[list[Path]] = []

    def __init__(self) -> None:
        import ctypes  # which a file needs nothing of

        self._name = f"file:/mnemic-{uuid.uuid4().hex}?vfs=memdb"
        self._kept = self._connect()
        most = ctypes.c_int64(_MOST_IN_MEMORY)
        self._kept.file_control("main", apsw.SQLITE_FCNTL_SIZE_LIMIT, ctypes.addressof(most))

    def __str__(self) -> str:
        return self.url

    def _connect(self) -> apsw.Connection:
        flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE | apsw.SQLITE_OPEN_URI
        db = apsw.Connection(self._name, flags=flags)
        register(db)
        return db

    def open(self, patience: Patience) -> apsw.Connection:
        db = self._connect()
        db.set_busy_handler(patience)
        if not db.pragma("page_count"):
            db.pragma("auto_vacuum", "INCREMENTAL")
        db.pragma("secure_delete", "ON")
        db.pragma("temp_store", "MEMORY")
        return db

    def refuse_foreign(self, busy_timeout: float) -> None:
        """Do nothing: nobody else can have made it."""

    def refuse_overwritten(self) -> None:
        """Do nothing: nobody else can write to it."""

    def refuse_lost_log(self, db: apsw.Connection) -> None:
        """Do nothing: there is no log."""

    def note(self, db: apsw.Connection) -> None:
        """Do nothing: there is no file to remember."""

    def log_may_be_folded(self, db: apsw.Connection) -> bool:
        return True

    def let_go(self) -> None:
        self._kept.close(True)


class InFile:
    """A database in a file, in WAL mode.

    Args:
        vfs: The SQLite VFS to use in place of the system's.
        synchronous: SQLite's setting.
        create: Whether a missing file is made.
        key: What it is sealed with.

    Raises:
        StoreError: it is not there, and is not to be made.
        Invalid, StoreReadOnly: see `prepare_file`.
    """

    readers_stay = True

    def __init__(self, path: Path, *, vfs: str | None, synchronous: str, create: bool, key: bytes = b"") -> None:
        if not create and not path.exists():
            raise StoreError(f"there is no store at {path}")
        self.path, self.vfs, self._synchronous, self.key = path, vfs, synchronous, key
        self.url = f"sqlite:///{path}"
        self.closed = f"the store {path} is closed; open it again"
        self.beside: Path | None = path.parent / CHECKPOINTS
        prepare_file(path)
        self.writable = can_write(path)
        self.frozen = not self.writable and not self._logged()
        self._name = str(path)
        self._file = _identity(os.stat(path))
        self._log_file: tuple[int, int] | None = None
        self._written: tuple[int, int] | None = None
        self._frozen_at = self._times(os.stat(path))
        self._overwritten = False
        self._origin = b""
        self._page = 0
        self._aside = False

    def __str__(self) -> str:
        return str(self.path)

    @property
    def log(self) -> Path:
        """The write-ahead log beside the file, whether it is there or not."""
        return self.path.with_name(self.path.name + "-wal")

    @property
    def files(self) -> list[Path]:
        candidates = (self.path, *(self.path.with_name(self.path.name + end) for end in ("-wal", "-shm", "-journal")))
        return [f for f in candidates if f.exists()]

    def raw(self) -> apsw.VFSFile:
        """Open the file's bytes through SQLite's VFS: a plain `open` and `close` would drop SQLite's locks on it."""
        flags = apsw.SQLITE_OPEN_MAIN_DB | (apsw.SQLITE_OPEN_READWRITE if self.writable else apsw.SQLITE_OPEN_READONLY)
        return apsw.VFSFile(self.vfs or "", str(self.path), [flags, 0])

    def open(self, patience: Patience) -> apsw.Connection:
        self._look()
        if not self.writable:
            return self._open_to_read(patience)
        db = apsw.Connection(str(self.path), flags=apsw.SQLITE_OPEN_READWRITE, vfs=self.vfs)
        register(db, self.key)
        db.set_busy_handler(patience)
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

    def _open_to_read(self, patience: Patience) -> apsw.Connection:
        """Open a connection that writes nothing, not even beside the file.

        Raises:
            StoreReadOnly: its log holds commits, and nobody who could read them has it open.
        """
        name, flags = str(self.path), apsw.SQLITE_OPEN_READONLY
        if self.frozen:  # SQLite would want to make a log
            name, flags = self.path.as_uri() + "?immutable=1", flags | apsw.SQLITE_OPEN_URI
        try:
            db = apsw.Connection(name, flags=flags, vfs=self.vfs)
            register(db, self.key)
            db.set_busy_handler(patience)
            db.pragma("temp_store", "MEMORY")
            db.pragma("user_version")
        except (apsw.CantOpenError, apsw.ReadOnlyError) as error:
            raise StoreReadOnly(
                f"{self.log} holds commits that are not in the file yet, and nothing can be written here to read them;"
                " open it once where it can be written, or copy both elsewhere"
            ) from error
        return db

    def _logged(self) -> bool:
        return self.log.exists() and self.log.stat().st_size > 0

    def refuse_foreign(self, busy_timeout: float) -> None:
        """Refuse another program's file without changing a byte of it."""
        header = self._header()
        if not header:
            return
        application = version = 0
        if header[:16] == b"SQLite format 3\x00":
            application, version = int.from_bytes(header[68:72], "big"), int.from_bytes(header[60:64], "big")
        elif not self._unrecovered():
            raise StoreForeign(f"{self.path} is not a mnemic store (nor a SQLite file); name another file")
        if application == 0 and version == 0:
            self._refuse_unmarked(busy_timeout)
        elif application != APPLICATION:
            raise StoreForeign(f"{self.path} is a SQLite file of another program; name another file")
        if version > FORMAT:
            raise StoreNewer(f"{self.path} has format {version}, this mnemic knows up to {FORMAT}; upgrade mnemic")

    def settled_header(self) -> bytes:
        """The first bytes of the file; none while its log may hold truer ones."""
        return b"" if self._logged() else self._header()

    def _header(self) -> bytes:
        file = self.raw()
        try:
            return file.xRead(min(100, file.xFileSize()), 0)
        finally:
            file.xClose()

    def _unrecovered(self) -> bool:
        """Whether a log or journal may hold a truer first page than the file: then only SQLite can say whose it is."""
        beside = (self.path.with_name(self.path.name + end) for end in ("-wal", "-journal"))
        return any(f.exists() and f.stat().st_size for f in beside)

    def _refuse_unmarked(self, busy_timeout: float) -> None:
        # A crash before the first commit leaves a file of ours without its mark, and without a table.
        db = apsw.Connection(str(self.path), flags=apsw.SQLITE_OPEN_READWRITE, vfs=self.vfs)
        try:
            db.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)  # a stranger's log stays a log
            db.set_busy_timeout(int(busy_timeout * 1000))
            marked = db.pragma("application_id") == APPLICATION
            if not marked and db.execute("SELECT count(*) FROM sqlite_schema").get:
                raise StoreForeign(f"{self.path} is a SQLite file of another program; name another file")
            version = int(db.pragma("user_version"))
        finally:
            db.close()
        if marked and version > FORMAT:
            raise StoreNewer(f"{self.path} has format {version}, this mnemic knows up to {FORMAT}; upgrade mnemic")

    def _look(self) -> os.stat_result:
        try:
            status = os.stat(self._name)
        except (FileNotFoundError, NotADirectoryError) as error:
            raise StoreError(
                f"{self.path} was deleted or moved away while it was open; nothing was written since."
                " Put it back, or close this and open another"
            ) from error
        except OSError as error:
            raise StoreError(f"{self.path} cannot be looked at: {error.strerror}; nothing was written") from error
        if _identity(status) != self._file:
            raise StoreError(
                f"another file was put in the place of {self.path} while it was open; it was not touched."
                " Close this and open the store again"
            )
        return status

    def refuse_overwritten(self) -> None:
        status = self._look()
        written = self._times(status)
        if self.frozen and (written != self._frozen_at or self._logged()):
            raise StoreError(
                f"{self.path} is written by somebody else by now, and was being read as a file that nobody writes."
                " Close this and open the store again"
            )
        if written == self._written:
            return
        until = time.monotonic() + (0 if self._overwritten else FOLDING_SECONDS)
        while not self._bears_origin():
            # Another process may be folding the log just now, and the page be on its way to another place.
            if time.monotonic() > until:
                self._overwritten = True
                raise StoreError(
                    f"{self.path} was overwritten by something else than mnemic while it was open; it was not"
                    " touched. Close this and open the store again"
                )
            time.sleep(0.005)
        self._written, self._overwritten = written, False

    @staticmethod
    def _times(status: os.stat_result) -> tuple[int, int]:
        return status.st_mtime_ns, status.st_size

    def refuse_lost_log(self, db: apsw.Connection) -> None:
        if self._log_file is None:
            return
        if self._log_is_ours():
            if not self._log_is_cut(db):
                return
            raise StoreError(
                f"{self.log} was cut short while the store was open, and what it held is lost; nothing was written"
                " since. Close this and open the store again: it holds what was in the file and what is left"
            )
        if self.log.exists():
            raise StoreError(
                f"another log was put in the place of {self.log} while the store was open; it was not touched."
                " Close this and open the store again"
            )
        with suppress(apsw.Error):  # SQLite has the deleted one open still
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        raise StoreError(
            f"{self.log} was deleted while the store was open; what it held was brought into {self.path}, and nothing"
            " was written since. Close this and open the store again"
        )

    def _bears_origin(self) -> bool:
        """Whether the file holds the random word that this store was given when it was made: no other store does.

        An older copy of the same store does too, and passes: times of writing, and how far the log is folded, do not
        tell it from what other processes do meanwhile, or were killed amid, and kept writers out of sound stores.
        """
        file = self.raw()
        try:
            size, length = file.xFileSize(), len(self._origin)
            blocks = (file.xRead(min(_BLOCK + length, size - at), at) for at in range(0, size, _BLOCK))
            return any(self._origin in block for block in blocks)
        finally:
            file.xClose()

    def note(self, db: apsw.Connection) -> None:
        self._look()
        self._origin = bytes(db.execute("SELECT value FROM meta WHERE key = 'origin'").get or b"")
        if self.writable and not self._bears_origin():  # a store just made: what it is told by lies in its log
            db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
        if self.log.exists():
            self._log_file = _identity(os.stat(self.log))

    def log_may_be_folded(self, db: apsw.Connection) -> bool:
        if not self.writable:
            return True  # it cannot be
        try:
            self.refuse_overwritten()
            return self._log_file is None or not self._log_is_ours() or not self._log_is_cut(db)
        except StoreError:
            self._aside = True  # SQLite would fold it into what is there now
            if (
                not self._overwritten and self._log_is_ours()
            ):  # into the file that was moved away, where that is now, which SQLite leaves undone
                with suppress(apsw.Error):
                    db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        return False

    def _log_is_ours(self) -> bool:
        try:
            return _identity(os.stat(self.log)) == self._log_file
        except OSError:
            return False

    def _log_is_cut(self, db: apsw.Connection) -> bool:
        """Whether the log is shorter than the frames that SQLite knows it to hold: none once anybody folded it away."""
        frames = _frames(db)
        while frames:
            self._page = self._page or int(db.pragma("page_size"))  # asked once: it stays as the file was made
            cut = os.stat(self.log).st_size < _LOG_HEADER + frames * (self._page + _FRAME_HEADER)
            before, frames = frames, _frames(db)
            if not cut or frames == before:  # else another process wrote to the log or folded it meanwhile
                return cut
        return False

    def let_go(self) -> None:
        """Set our log aside if another file took our file's place: whoever opens that would fold the log into it.

        One that anybody else has open stays: to move it would take away what they write, and what they have written.
        """
        if not self._aside or not self._log_is_ours():
            return
        with suppress(OSError, apsw.Error):
            if not self.path.exists():
                self._put_log_aside()
                return
            file = self.raw()
            try:
                for lock in (apsw.SQLITE_LOCK_SHARED, apsw.SQLITE_LOCK_EXCLUSIVE):
                    file.xLock(lock)  # refused while another connection has the file open
                self._put_log_aside()
            finally:
                file.xClose()

    def _put_log_aside(self) -> None:
        if self.log.stat().st_size:
            self.log.replace(self.log.with_name(self.log.name + ".stale"))
        else:
            self.log.unlink()


def _identity(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino


def _frames(db: apsw.Connection) -> int:
    """How many pages the log holds, by the index that all processes share; nothing is folded for it."""
    _, frames, _ = db.execute("PRAGMA wal_checkpoint(NOOP)").fetchone() or (0, 0, 0)
    return int(frames)


_LOG_HEADER: Final = 32
_FRAME_HEADER: Final = 24
"""Bytes before the first frame of a log, and before the page of each."""

FOLDING_SECONDS: Final = 2.0
"""How long a file may lack the store's random word, as it may for a moment while another process folds the log."""

_BLOCK: Final = 65_536
"""Bytes of the file that are looked through at once."""

_MOST_IN_MEMORY: Final = 1 << 40
"""Bytes that a store in memory may come to; SQLite's own limit is a gigabyte."""
