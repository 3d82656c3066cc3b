"""Care of a SQLite file: checking, carrying out and in, copies of it, going back in time."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import apsw

from mnemic.core.uninterrupted import import_whole
from mnemic.errors import Conflict, StoreCorrupt, StoreError, StoreReadOnly
from mnemic.store.sqlite import file_audit, handed_on, sealing
from mnemic.store.sqlite.connections import SqliteFile, translated
from mnemic.store.sqlite.disk import file_system, free_bytes, prepare_file
from mnemic.store.sqlite.location import InFile
from mnemic.store.sqlite.row_checksums import register
from mnemic.store.sqlite.schema import FORMAT, TABLES
from mnemic.store.values.heads import Check, Info
from mnemic.store.values.receipts import Fault


class SqliteCare(SqliteFile):
    """The part of `SqliteStore` that verifies, exports, backs up and describes a store."""

    # Each method imports what it needs: a process that only reads and writes never loads it.

    def verify(self) -> Iterator[Fault]:
        import_whole("mnemic.store.engine.audit")
        from mnemic.store.engine.audit import guarded, verify

        with self._apart() as db:
            yield from self._quick_faults(db)
            yield from guarded("pages", file_audit.damaged_pages(db), apsw.Error)
            yield from verify(self._rows(db), apsw.Error)

    def refuse_tampered(self) -> None:
        """Look at what is seen without reading the journal: declaration, checksums, counts.

        Raises:
            StoreCorrupt: something is not as we wrote it.
        """
        with self._apart() as db:
            for fault in self._quick_faults(db):
                raise StoreCorrupt(f"{self._location} is not as it was written: {fault.where}: {fault.problem}")

    def _quick_faults(self, db: apsw.Connection) -> Iterator[Fault]:
        """What can be seen without reading the journal."""
        import_whole("mnemic.store.engine.audit")
        from mnemic.store.engine.audit import guarded

        if isinstance(self._location, InFile) and (header := self._location.settled_header()):
            yield from guarded("header", file_audit.wrong_header(header))
        yield from guarded("schema", file_audit.foreign_words(db), apsw.Error)
        yield from guarded("seal", sealing.faults(db, self._location.key), apsw.Error)
        for table in TABLES if sealing.can_check(db, self._location.key) else ():
            if table.summed:
                yield from guarded(f"table {table.name}", file_audit.wrong_sums(db, table), apsw.Error)
        yield from guarded("counts", file_audit.wrong_counts(db), apsw.Error)

    def is_sealed(self) -> bool:
        """Whether the store has a seal."""
        with self._apart() as db:
            return sealing.is_sealed(db)

    def export(self, tenant: str) -> Iterator[bytes]:
        import_whole("mnemic.store.engine.journal_io")
        from mnemic.store.engine import journal_io

        with self._apart() as db:
            yield from journal_io.export(self._rows(db), tenant)

    def backup(self, dest: Path) -> None:
        self._refuse_closed()
        self._location.refuse_overwritten()
        dest = dest.expanduser().absolute()
        if dest.exists():
            raise Conflict(f"{dest} exists; a backup never overwrites, name another file")
        unfinished = dest.with_name(f"{dest.name}.{os.getpid()}.unfinished")
        prepare_file(unfinished)
        try:
            self._copy_to(unfinished)
            self._copied(unfinished, dest)
            self._probe("backup:copied")
            _publish(unfinished, dest)
            self._probe("backup:named")
        finally:
            unfinished.unlink(missing_ok=True)

    def _copied(self, unfinished: Path, dest: Path) -> None:
        """Bring what lies beside the store along with a copy that is whole, and has no name yet."""

    def _copy_to(self, unfinished: Path) -> None:
        with self._apart() as db:
            if not sealing.can_check(db, self._location.key):
                raise StoreReadOnly(f"{self._location} is sealed: a copy is made with its key; set MNEMIC_SEAL")
        with self._gate.reading(), translated(self._location):
            source, copy = self._open(), apsw.Connection(str(unfinished))
            register(copy, self._location.key)
            try:
                with copy.backup("main", source, "main") as run:
                    run.step(-1)  # all pages under one read lock: writers go on, and the copy is of one moment
                copy.execute("DELETE FROM meta WHERE key IN ('lease', 'copies')")
                copy.execute("DELETE FROM meter")
                copy.execute("UPDATE lane SET owner = '', lease_until = 0 WHERE owner <> ''")
                copy.execute("UPDATE job SET owner = '', lease_until = 0 WHERE owner <> ''")
                copy.execute("UPDATE session SET owner = '', lease_until = 0 WHERE owner <> ''")
                copy.pragma("journal_mode", "DELETE")
            finally:
                copy.close(True)
                source.close(True)

    def tombstones(self) -> list[tuple[str, str | None, list[bytes]]]:
        """List the ids of erased items, by space that still has an owner: tenant, user (None: shared), ids."""
        import_whole("mnemic.store.engine.journal_io")
        from mnemic.store.engine import journal_io

        with self._apart() as db:
            return journal_io.tombstones(self._rows(db))

    def handover(self) -> handed_on.Handover:
        """Read the holds and checkpoints that a backup which replaces this store must take over."""
        with self._apart() as db:
            return handed_on.handover(self._rows(db), self.origin())

    def origin(self) -> str:
        """Read the store's random name, which its backups share and no other store has."""
        with self._apart() as db:
            return str(bytes(db.execute("SELECT value FROM meta WHERE key = 'origin'").get).decode())

    def info(self) -> Info:
        with self._apart() as db:
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
            page = int(db.pragma("page_size"))
            free, folded = (int(db.pragma(name)) * page for name in ("freelist_count", "page_count"))
        return Info(
            url=self._location.url,
            engine=f"SQLite {apsw.sqlite_lib_version()}",
            format=FORMAT,
            bytes=sum(f.stat().st_size for f in self._location.files) or folded,
            settings=settings,
            free=free,
            folded=folded,
            log=sum(f.stat().st_size for f in self._location.files if f.name.endswith("-wal")),
            beside=self._location.beside,
            format_before=self._format_before,
        )

    def doctor(self) -> list[Check]:
        info = self.info()
        checks = [
            Check(name="engine", ok=True, found=info.engine),
            Check(name="format", ok=True, found=str(info.format)),
            *self._clock_check(),
        ]
        if not isinstance(self._location, InFile):
            return checks
        path = self._location.path
        if not self._location.writable:  # what a connection would set, and the room on the disk, is for writing
            return [*checks, Check(name="access", ok=True, found="read only"), *_modes(path)]
        return [*checks, *_settings(info), *_disk(path), *_modes(path)]

    def _clock_check(self) -> Iterator[Check]:
        """What is to be said where the newest commit lies ahead of the clock: later ones bear its time until then."""
        with self._apart() as db:
            ahead = (db.execute(_NEWEST).get or 0) - self._clock.now()
        if ahead > _AHEAD:
            yield Check(
                name="clock",
                ok=False,
                found=f"the newest commit lies {ahead // 1_000_000:,} seconds ahead of it",
                remedy="set the clock if it is slow; if it was once fast, commits bear that time until it has passed",
            )


_NEWEST: Final = (
    "SELECT max(c.at) FROM tenant t JOIN change c ON c.tenant = t.id"
    " AND c.seq = (SELECT max(seq) FROM change WHERE tenant = t.id)"
)
_AHEAD: Final = 60_000_000
"""Microseconds by which clocks differ that nobody has set wrong."""


def _settings(info: Info) -> Iterator[Check]:
    for name, wanted in (("journal_mode", "wal"), ("synchronous", "2"), ("secure_delete", "1")):
        value = info.settings.get(name, "?")
        yield Check(
            name=name, ok=value == wanted, found=value, remedy=f"open it with mnemic, which sets {name}={wanted}"
        )


def _disk(path: Path) -> Iterator[Check]:
    kind, free = file_system(path.parent), free_bytes(path)
    yield Check(name="file system", ok=True, found=kind)
    yield Check(
        name="free space",
        ok=free > 100 * 1024 * 1024,
        found=f"{free / 2**30:.1f} GiB",
        remedy="make room: writes stop when the disk is full",
    )


def _modes(path: Path) -> Iterator[Check]:
    try:
        mode = stat.S_IMODE(path.stat().st_mode)
    except OSError as error:
        raise StoreError(f"cannot look at {path}: {error.strerror}") from error
    yield Check(
        name="file mode", ok=mode & 0o077 == 0 or os.name == "nt", found=f"{mode:04o}", remedy=f"chmod 600 {path}"
    )


def _publish(finished: Path, dest: Path) -> None:
    """Link a finished copy to its name; refuse if a file of that name exists."""
    try:
        sync(finished)
        os.link(finished, dest)
        sync(dest.parent)
    except FileExistsError as error:
        raise Conflict(f"{dest} exists; a backup never overwrites, name another file") from error
    except OSError as error:
        raise StoreError(f"cannot put the backup at {dest}: {error.strerror}; choose another place") from error


def sync(path: Path) -> None:
    """Sync a file's bytes, or a folder's names, to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
