"""Where a SQLite store lies, in a file or in this process's memory, and what that asks of its connections."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Final, Protocol

import apsw

from mnemic.errors import StoreError, StoreForeign, StoreNewer
from mnemic.store.sqlite.disk import prepare_file
from mnemic.store.sqlite.row_checksums import register
from mnemic.store.sqlite.schema import APPLICATION, FORMAT

CHECKPOINTS: Final = "checkpoints"
"""The folder of a store's checkpoints, beside its file."""

Patience = Callable[[int], bool]
"""What a connection asks while another has the lock: whether to try again, given how often it has asked."""


class Location(Protocol):
    """Where a database lies.

    Attributes:
        url: What it is called to a user.
        closed: What is said to who uses a store that was closed.
        readers_stay: Whether readers may go on while somebody writes, as only a file with a log lets them.
        beside: The folder for checkpoints; None in memory.
        key: What it is sealed with; empty for nothing.
    """

    url: str
    closed: str
    readers_stay: bool
    beside: Path | None
    key: bytes

    @property
    def files(self) -> list[Path]:
        """Every file of the store that is there now."""
        ...

    def open(self, patience: Patience) -> apsw.Connection:
        """A new connection, set as a store needs it."""
        ...

    def refuse_foreign(self, busy_timeout: float) -> None:
        """Look, before any pragma could change it, whether it is ours.

        Raises:
            StoreForeign, StoreNewer: it is not, or is of a later mnemic.
        """
        ...

    def let_go(self) -> None:
        """Give back what is held beside the connections."""
        ...


class InMemory:
    """A database of SQLite's own memory file system: in this process, of one store, gone with it.

    It has no log, so a writer needs every reader out; and it lives as long as any connection, so one is kept.
    """

    url = "memory:"
    closed = "the store in memory is closed, and what it held is gone; open another"
    readers_stay = False
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
        """Nobody else can have made it."""

    def let_go(self) -> None:
        self._kept.close(True)


class InFile:
    """A file in WAL mode.

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
        """The file's bytes, through SQLite's own door: it alone keeps count of the locks on a file."""
        flags = apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_READWRITE
        return apsw.VFSFile(self.vfs or "", str(self.path), [flags, 0])

    def open(self, patience: Patience) -> apsw.Connection:
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

    def refuse_foreign(self, busy_timeout: float) -> None:
        """A stranger's file stays as it is, to the byte."""
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
        return b"" if self.log.exists() and self.log.stat().st_size else self._header()

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

    def let_go(self) -> None:
        """Nothing is held."""


_MOST_IN_MEMORY: Final = 1 << 40
"""Bytes that a store in memory may come to; SQLite's own limit is a gigabyte."""
