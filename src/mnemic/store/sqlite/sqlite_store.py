"""The two stores on SQLite, one writer at a time: a file that many processes share, and this process's memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Final

import apsw

from mnemic.artefacts.artefact_files import ArtefactFolder
from mnemic.core.clock import Clock
from mnemic.core.ids import Entropy, ItemId
from mnemic.core.uninterrupted import import_whole
from mnemic.errors import Conflict, Invalid, NotFound, StoreReadOnly
from mnemic.store.sqlite import artefact_care, checkpoint_files, copies_beside, file_audit, sealing
from mnemic.store.sqlite.care import SqliteCare
from mnemic.store.sqlite.connections import Probe
from mnemic.store.sqlite.group_commit import SqliteCommits
from mnemic.store.sqlite.location import InFile, InMemory
from mnemic.store.sqlite.secure_erase import Reached
from mnemic.store.sqlite.sweeping import SqliteSweeping
from mnemic.store.urls import real_path
from mnemic.store.values.drafts import Erasure
from mnemic.store.values.receipts import Fault, Swept


class SqliteStore(SqliteCommits, SqliteSweeping, SqliteCare):
    """A store in one file, in WAL mode. Safe to share between threads; a forked child opens its own connections.

    Args:
        path: The file, or a link to it; made with mode 0600 if it is not there.
        vfs: A registered SQLite VFS to use in place of the system's (fault injection, slow disks).
        synchronous: SQLite's setting; anything but FULL can lose acknowledged writes and exists for tests of the tests.
        probe: Called with the name of each point of a commit and an erasure that it passes (fault injection).
        create: Whether a missing file is made.
        seal: The key that a store is sealed with (`sealing`): a new one is, one that is not is refused.

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
        seal: bytes = b"",
    ) -> None:
        self.path = real_path(path)
        location = InFile(self.path, vfs=vfs, synchronous=synchronous, create=create, key=seal)
        self.artefacts: ArtefactFolder | None = ArtefactFolder.beside(self.path, probe)
        super().__init__(location, clock=clock, entropy=entropy, busy_timeout=busy_timeout, probe=probe)

    def verify(self) -> Iterator[Fault]:
        import_whole("mnemic.store.engine.audit")
        from mnemic.store.engine.audit import guarded

        yield from super().verify()
        with self._apart() as db:
            found = artefact_care.faults(self._rows(db), ArtefactFolder.beside(self.path))
            yield from guarded("artefacts", found, apsw.Error)

    def backup(self, dest: Path) -> None:
        beside = ArtefactFolder.beside(dest.expanduser().absolute())
        if beside.root.exists():
            raise Conflict(f"{beside.root} exists; a backup never overwrites, name another file")
        try:
            super().backup(dest)
        except BaseException:
            beside.drop_all()
            raise

    def _copied(self, unfinished: Path, dest: Path) -> None:
        """Copy beside the copy what cannot be made again, by its rows and before it has its name."""
        folder = ArtefactFolder.beside(self.path)
        if folder.root.is_dir():
            with closing(apsw.Connection(str(unfinished), flags=apsw.SQLITE_OPEN_READONLY)) as db:
                artefact_care.copy_lasting(self._rows(db), folder, ArtefactFolder.beside(dest))

    def sweep(self, tenant: str, seconds: float) -> Swept:
        swept = super().sweep(tenant, seconds)
        folder = ArtefactFolder.beside(self.path)
        if not swept.more and folder.root.is_dir():
            with self._apart() as db:
                artefact_care.sweep_orphans(self._rows(db), folder)
        return swept

    def checkpoint(self, name: str) -> None:
        checkpoint_files.take(self, self.path, name, self._clock.now(), self._probe)

    def drop_checkpoint(self, name: str) -> None:
        checkpoint_files.let_go(self, self.path, self.origin(), name)

    def _owe(self, db: apsw.Connection, erasure_: Erasure, ids: tuple[ItemId, ...]) -> bool:
        return copies_beside.owe(db, self._rows(db), self.path, erasure_, ids)

    def _unlink_artefacts(self, db: apsw.Connection, erasure_: Erasure | None) -> tuple[str, ...]:
        folder = ArtefactFolder.beside(self.path, self._probe)
        if not folder.root.is_dir():
            return ()
        rows = self._rows(db)
        with self._transaction(db):  # nobody names a file between the look and its unlinking
            walls = folder.walls() if erasure_ is None else artefact_care.reached_walls(rows, folder, erasure_)
            left = artefact_care.leave_named(rows, folder, walls)
        self._probe("erase:artefacts-done")
        return tuple(left)

    def _reach_copies(self, db: apsw.Connection) -> Reached:
        if not copies_beside.owes(db):
            return Reached()
        if not sealing.can_check(db, self._location.key):
            raise StoreReadOnly(f"{self._location} is sealed: what it owes to copies cannot be read; set MNEMIC_SEAL")
        reached, rest, written = copies_beside.reach(
            db, self._rows(db), self.path, self.origin(), self._copy_at, self._probe
        )
        with self._transaction(db):
            self._take_lease(db)
            copies_beside.settled(db, self._rows(db), rest, written)
            file_audit.count(db)
        self._probe("erase:copies-done")
        return reached

    def owe_nothing(self) -> None:
        """Strike what is still to be erased from copies beside the store: it was said of another place than this."""
        with self._alone() as db, self._transaction(db):
            self._take_lease(db)
            copies_beside.settled(db, self._rows(db), (), ())

    def _copy_at(self, file: Path) -> SqliteStore:
        """A copy of this store beside it, opened for a moment: who reads it is not waited for."""
        return SqliteStore(
            file,
            clock=self._clock,
            entropy=self._entropy,
            busy_timeout=_BESIDE_SECONDS,
            create=False,
            seal=self._location.key,
        )


_BESIDE_SECONDS: Final = 1.0


class MemoryStore(SqliteCommits, SqliteSweeping, SqliteCare):
    """A store in this process's memory, which ends with it and shares nothing. Safe to share between threads.

    Memory has no log beside the pages: readers share it, a writer waits until they are done, and they wait for it. So
    a thread must end its read before it writes: a snapshot never changes under its reader.

    A forked child goes on with a copy of its own.
    """

    def __init__(
        self,
        *,
        clock: Clock | None = None,
        entropy: Entropy | None = None,
        busy_timeout: float = 30.0,
        probe: Probe | None = None,
    ) -> None:
        self.artefacts: ArtefactFolder | None = None
        super().__init__(InMemory(), clock=clock, entropy=entropy, busy_timeout=busy_timeout, probe=probe)

    def verify(self) -> Iterator[Fault]:
        yield from list(super().verify())  # at once: a generator left half-way would keep writers out

    def export(self, tenant: str) -> Iterator[bytes]:
        yield from list(super().export(tenant))

    def checkpoint(self, name: str) -> None:
        """Refuse, since a store in memory has no folder beside it.

        Raises:
            Invalid: always.
        """
        raise Invalid(
            "store", f"is in memory, a checkpoint {name!r} has no folder to lie in", "Make a backup, or use a file."
        )

    def drop_checkpoint(self, name: str) -> None:
        raise NotFound(f"no checkpoint {name!r} here; a store in memory has none")
