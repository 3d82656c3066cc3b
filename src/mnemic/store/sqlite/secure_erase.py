"""Erasing in a SQLite file: rows first, then every byte of them in the log and on free pages."""

from __future__ import annotations

import apsw

from mnemic.errors import StoreError
from mnemic.store.engine import erasure
from mnemic.store.sqlite.connections import PATIENCE, SqliteFile
from mnemic.store.sqlite.disk import set_meta, take_lease
from mnemic.store.sqlite.location import InFile
from mnemic.store.sqlite.scrub import scrub
from mnemic.store.sqlite.sqlite_errors import translated
from mnemic.store.values.drafts import Erasure
from mnemic.store.values.receipts import ErasureReceipt


class SqliteErasing(SqliteFile):
    """The part of `SqliteStore` that takes out for good."""

    def erase(self, erasure_: Erasure) -> ErasureReceipt:
        self._refuse_closed()
        self._refuse_reading()
        with self._waiting, self._writing, translated(self._location):
            db = self._writer_connection()
            with self._transaction(db):
                take_lease(db)
                done = erasure.apply(self._rows(db), erasure_)
                if isinstance(self._location, InFile):
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
            scanned=tuple(str(f) for f in self._location.files),
            outside=erasure.OUTSIDE,
        )

    def settle(self) -> bool:
        """Whether no byte of what was erased is left in the log; tries once more to take it out."""
        self._refuse_closed()
        self._refuse_reading()
        with self._waiting, self._writing, translated(self._location):
            return self._truncate(self._writer_connection())

    def _truncate(self, db: apsw.Connection) -> bool:
        """Take what was erased out of log and file; whether that came about: what landed before stays acknowledged."""
        if not isinstance(self._location, InFile):
            return True  # a page in memory is overwritten where it lies, and no other copy of it is anywhere
        try:
            return self._emptied(db) and self._scrub(db, self._location)
        except (apsw.Error, StoreError):
            return False

    def _emptied(self, db: apsw.Connection) -> bool:
        with self._gate.alone(PATIENCE) as quiet:
            if not quiet:
                return False
            self._close_readers()
            db.set_busy_timeout(250)  # a reader of another process is not waited for: the receipt says so instead
            try:
                busy, _, _ = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone() or (1, 0, 0)
            except apsw.BusyError:
                busy = 1
            finally:
                db.set_busy_handler(self._wait_a_little)
        return busy == 0

    def _scrub(self, db: apsw.Connection, location: InFile) -> bool:
        """Wipe the file under the write lock, unless another process has written since the log was emptied."""
        db.release_memory()  # our own cached pages may hold what is wiped
        with self._transaction(db):
            if location.log.exists() and location.log.stat().st_size:
                return False
            file = location.raw()
            try:
                scrub(file)
            finally:
                file.xClose()
            # this commit also syncs the log, so that no power cut brings back what it held, and drops others' caches
            db.execute("DELETE FROM meta WHERE key = 'residue'")
        db.release_memory()
        return True
