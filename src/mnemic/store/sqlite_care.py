"""Care of a SQLite file: checking, carrying out and in, copies of it, going back in time."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import apsw

from mnemic.errors import Conflict, StoreError
from mnemic.store import checkpoints, keeping
from mnemic.store.heads import Info
from mnemic.store.place import prepare_file
from mnemic.store.receipts import Fault, Rewound
from mnemic.store.schema import FORMAT
from mnemic.store.sqlite_errors import translated
from mnemic.store.sqlite_file import SqliteFile
from mnemic.store.sqlite_rows import SqliteRows


class SqliteCare(SqliteFile):
    """The part of `SqliteStore` that looks after it."""

    # What each of these needs is imported in it: who only reads and writes goes through none of them.

    def verify(self) -> Iterator[Fault]:
        from mnemic.store import audit

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
        from mnemic.store import audit

        with self._rows() as rows:
            return audit.state_hash(rows, tenant)

    def export(self, tenant: str) -> Iterator[bytes]:
        from mnemic.store import transfer

        with self._rows() as rows:
            yield from transfer.export(rows, tenant)

    def load(self, lines: Iterator[bytes]) -> int:
        from mnemic.store import transfer

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

    def checkpoint(self, name: str) -> None:
        checkpoints.take(self, name, self._clock.now(), self._probe)

    def drop_checkpoint(self, name: str) -> None:
        checkpoints.let_go(self, name)

    def rewind(self, tenant: str, seq: int) -> Rewound:
        from mnemic.store import rewinding

        def work(rows: SqliteRows) -> Rewound:
            done = rewinding.rewind(rows, tenant, seq, self._clock.now(), self._entropy)
            self._probe("rewind:before-commit")
            return done

        rewound = self._alone(work)
        self._probe("rewind:after-commit")
        return rewound

    def tombstones(self) -> list[tuple[str, str | None, list[bytes]]]:
        """What was erased, per space still owned: tenant, user (None: shared), item ids."""
        from mnemic.store import transfer

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
                page = int(db.pragma("page_size"))
                free, folded = (int(db.pragma(name)) * page for name in ("freelist_count", "page_count"))
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
            folded=folded,
        )


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
