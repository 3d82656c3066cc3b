"""Erasing in a SQLite file: rows first, then every byte of them in the log, on free pages and between cells.

SQLite overwrites a deleted cell where it lies, but a page that it rebuilds keeps the old bytes between its pointers and
its first cell (sqlite.org/fileformat2.html, section 1.6). They belong to nobody, so a reader never sees them go.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

import apsw

from mnemic.core.ids import ItemId
from mnemic.errors import NotFound, StoreError, StoreLocked, StoreReadOnly
from mnemic.store.engine import erasure
from mnemic.store.sqlite import file_audit
from mnemic.store.sqlite.connections import PATIENCE, SqliteFile
from mnemic.store.sqlite.disk import set_meta
from mnemic.store.sqlite.location import InFile
from mnemic.store.values.drafts import Erasure
from mnemic.store.values.receipts import ErasureReceipt


@dataclass(frozen=True, slots=True, kw_only=True)
class Reached:
    """How far erasures have come in the copies beside a store.

    Attributes:
        ids: The items that went from them.
        cleaned: The files that hold no byte of them any more.
        left: The files that may, each with the reason.
    """

    ids: tuple[ItemId, ...] = ()
    cleaned: tuple[str, ...] = ()
    left: tuple[str, ...] = ()


class SqliteErasing(SqliteFile):
    """The part of `SqliteStore` that erases content for good."""

    _settles = True
    """Whether what an erasure that was cut short left behind goes as the file is opened."""

    def _migrate(self) -> None:
        super()._migrate()
        db = self._writer_connection()
        if self._settles and db.execute("SELECT count(*) FROM meta WHERE key IN ('residue', 'copies')").get:
            # An erasure that was cut short, in whatever process; it stays owed where this one may not write now.
            with suppress(StoreReadOnly, StoreLocked):
                self.settle()

    def erase(self, erasure_: Erasure) -> ErasureReceipt:
        self._refuse_closed()
        self._refuse_reading()
        with self._alone() as db:
            with self._transaction(db):
                self._take_lease(db)
                done: erasure.Erased | None = None
                try:
                    done = erasure.apply(self._rows(db), erasure_)
                    self._owe(db, erasure_, done.ids)
                except NotFound:
                    if not self._owe(db, erasure_, ()):  # copies may still know who is not here any more
                        raise
                file_audit.count(db)
                if isinstance(self._location, InFile):
                    set_meta(db, "residue", b"1")
                self._probe("erase:before-commit")
            self._probe("erase:after-commit")
            files_left = self._unlink_artefacts(db, erasure_)
            copies = self._reach_copies(db)
            clean = self._cleaned(db, files_left) and not copies.left
        if done is None and not (copies.ids or copies.left):
            raise NotFound("nothing was ever remembered for this user")
        return ErasureReceipt(
            seq=None if done is None else done.seq,
            ids=copies.ids if done is None else tuple(dict.fromkeys((*done.ids, *copies.ids))),
            versions=0 if done is None else done.versions,
            links=0 if done is None else done.links,
            status="clean" if clean else "pending",
            scanned=(*(str(f) for f in self._location.files), *copies.cleaned),
            outside=(*erasure.OUTSIDE, "backups taken before (restoring one here replays this erasure)"),
            left=(*files_left, *copies.left),
        )

    def settle(self) -> bool:
        """Clean the files once more of erased bytes, copies beside the store included; return whether none is left."""
        self._refuse_closed()
        self._refuse_reading()
        with self._alone() as db:
            files_left = self._unlink_artefacts(db, None)
            copies = self._reach_copies(db)
            return self._cleaned(db, files_left) and not copies.left

    def _cleaned(self, db: apsw.Connection, files_left: tuple[str, ...]) -> bool:
        """Clean log and file; where files of artefacts are left, whoever opens the store next is to try again."""
        clean = self._truncate(db)
        if not files_left:
            return clean
        with self._transaction(db):
            self._take_lease(db)
            set_meta(db, "residue", b"1")
        return False

    def _unlink_artefacts(self, db: apsw.Connection, erasure_: Erasure | None) -> tuple[str, ...]:
        """Unlink the artefacts that rows no longer name, behind the walls that an erasure has reached or (None) all.

        Returns:
            What could not be unlinked, with the reason.
        """
        return ()

    def _owe(self, db: apsw.Connection, erasure_: Erasure, ids: tuple[ItemId, ...]) -> bool:
        """Note, in the erasure's own transaction, which copies it has to reach; whether there is one."""
        return False

    def _reach_copies(self, db: apsw.Connection) -> Reached:
        """Erase from the copies beside the store what is still to be erased there."""
        return Reached()

    def _truncate(self, db: apsw.Connection) -> bool:
        """Clean log and file of erased bytes; return whether that succeeded. The erasure is committed already."""
        if not isinstance(self._location, InFile):
            return True  # a page in memory is overwritten where it lies, and no other copy of it is anywhere
        try:
            return self._emptied(db) and self._scrub(db, self._location)
        except (apsw.Error, StoreError):
            return False

    def _emptied(self, db: apsw.Connection) -> bool:
        """Fold the log into the file and empty it; return whether no reader prevented that."""
        try:
            if not self._gate.shut(sys._getframe(), PATIENCE):
                return False
            self._close_readers()
            db.set_busy_timeout(250)  # a reader of another process is not waited for: the receipt says so instead
            try:
                busy, _, _ = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone() or (1, 0, 0)
            except apsw.BusyError:
                busy = 1
            db.set_busy_handler(self._wait_a_little)
            self._gate.open(sys._getframe())
        except BaseException:
            self._gate.open(sys._getframe())
            self._writer = None  # it may have kept the short patience
            db.close(True)
            raise
        return bool(busy == 0)

    def _scrub(self, db: apsw.Connection, location: InFile) -> bool:
        """Wipe the file's free bytes under the write lock, unless another process has written to the log meanwhile."""
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


_INTERIOR: Final = (2, 5)
_LEAF: Final = (10, 13)
_FILE_HEADER: Final = 100
_PENDING_BYTE: Final = 1 << 30
"""The page with this byte is never used, and a map that would lie there lies on the next."""
_PAGES: Final = 1 << 24
"""Up to here the first byte of an overflow or free page, the top of a page number, is no kind of tree page."""


def scrub(file: apsw.VFSFile) -> int:
    """Zero the unused middle of every page of a database file, and sync it; returns how many pages needed it.

    The caller holds the write lock and has emptied the log, so that nobody else can write a page meanwhile.
    """
    size = file.xFileSize()
    head = file.xRead(100, 0) if size else bytes(100)
    width = int.from_bytes(head[16:18])
    width = 65_536 if width == 1 else width
    maps = _maps(head, width, size) if width else frozenset()
    if width and size // width >= _PAGES:
        raise StoreError("the file is too large to be wiped in place; VACUUM it with no other process open")
    wiped = 0
    for start in range(0, size, width or 1):
        if start in maps:
            continue
        begin, end = _unused(file.xRead(width, start), _FILE_HEADER if start == 0 else 0)
        if begin < end:
            file.xWrite(bytes(end - begin), start + begin)
            wiped += 1
    if wiped:
        file.xSync(apsw.SQLITE_SYNC_FULL)
    return wiped


def _maps(head: bytes, width: int, size: int) -> frozenset[int]:
    """Where the pages lie that say which page points to which (section 1.8): they look like any, and are no tree.

    Only a file that can give pages back has them: the first is page 2, one follows for all the pages that it maps.
    """
    if not int.from_bytes(head[52:56]):
        return frozenset()
    apart = (width - head[20]) // 5 + 1
    pending = _PENDING_BYTE // width + 1
    pages = range(2, size // width + 1, apart)
    return frozenset((page + (page == pending) - 1) * width for page in pages)


def _unused(page: bytes, header: int) -> tuple[int, int]:
    kind = page[header]
    if kind not in _INTERIOR and kind not in _LEAF:
        return 0, 0  # an overflow or free page: its first byte is the top of a page number
    cells, first = int.from_bytes(page[header + 3 : header + 5]), int.from_bytes(page[header + 5 : header + 7])
    begin, end = header + (12 if kind in _INTERIOR else 8) + 2 * cells, first or 65_536
    sound = begin < end <= len(page) and page.count(0, begin, end) < end - begin
    return (begin, end) if sound else (0, 0)
