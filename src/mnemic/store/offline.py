"""Files that nobody has open: a backup put in a store's place without bringing back what was erased since, a file
written anew, a look at what a file holds.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Final

import apsw

from mnemic.artefacts.artefact_files import ArtefactFolder
from mnemic.core.clock import SystemClock
from mnemic.core.ids import SystemEntropy, from_bytes
from mnemic.core.scope import SHARED, Shared
from mnemic.errors import Invalid, NotFound, StoreCorrupt, StoreError, StoreForeign, StoreLocked
from mnemic.store.sqlite import artefact_care, checkpoint_files, migrations
from mnemic.store.sqlite.care import sync
from mnemic.store.sqlite.connections import translated
from mnemic.store.sqlite.disk import prepare_file
from mnemic.store.sqlite.handed_on import Handover
from mnemic.store.sqlite.row_checksums import register
from mnemic.store.sqlite.sealing import put_on
from mnemic.store.sqlite.sqlite_store import SqliteStore
from mnemic.store.sqlite.sqlite_tables import sqlite_rows
from mnemic.store.values.drafts import Erasure
from mnemic.store.values.receipts import Fault


def source_of(backup: str | Path, dest: Path) -> Path:
    """Find the file to restore by its path, or by the name of a checkpoint of the store at `dest`.

    Raises:
        NotFound: there is neither.
        Invalid: there are both; a path with a folder in it, such as ./NAME, is no name.
    """
    path, name = Path(backup).expanduser().absolute(), str(backup)
    beside = checkpoint_files.stray(dest, name)
    if path.is_file() and beside not in (None, path):
        raise Invalid("backup", f"{name!r} is both a file here and a checkpoint", f"Say ./{name}, or {beside}.")
    if path.is_file():
        return path
    copy = beside or _listed(name, dest)
    if copy is None or not copy.is_file():
        raise NotFound(f"there is no file {path}, and no checkpoint {name!r} that is still there; `mnemic checkpoints`")
    return copy


def _listed(name: str, dest: Path) -> Path | None:
    """Look a checkpoint's file up in the store's list: the store may have been renamed since; None if it cannot."""
    if not dest.is_file():
        return None
    with suppress(StoreError), closing(SqliteStore(dest, create=False)) as store:
        return checkpoint_files.find_file(store, store.path, name)
    return None


def rebuild(path: Path, seal: bytes = b"") -> tuple[int, int]:
    """Write a store's file anew, dense and able to give pages back from then on; its bytes before and after.

    Nobody may have it open, and while it runs it takes as much memory as is in it, and as much room on the disk again.
    Cut short, the file is as it was.

    Raises:
        StoreLocked: somebody has it open.
        StoreFull: there is no room for a second copy.
    """
    before = path.stat().st_size
    with translated(path), closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)) as db:
        register(db, seal)
        db.pragma("secure_delete", "ON")
        db.pragma("temp_store", "MEMORY")  # the copy would lie in the folder for temporary files, and be no more erased
        db.pragma("journal_mode", "DELETE")  # refused while another connection is there
        db.pragma("auto_vacuum", "INCREMENTAL")
        db.execute("VACUUM")
    return before, path.stat().st_size


def faults_of(path: Path, seal: bytes = b"") -> list[Fault]:
    """Everything that is wrong with a store's file, also with one that no `SqliteStore` opens for that.

    Raises:
        StoreForeign, StoreNewer: the file is not one of ours to judge.
    """
    try:
        with closing(_AsItStands(path, create=False, seal=seal)) as store:
            return list(store.verify())
    except StoreCorrupt as error:
        return [Fault(where="file", problem=str(error))]


class _AsItStands(SqliteStore):
    """A store that is opened to be looked at, whatever its file declares; nothing in it is migrated or run."""

    def _migrate(self) -> None:
        db = self._writer = self._open()
        migrations.refuse_newer(db, self._location)
        self._location.note(db)

    def _open(self) -> apsw.Connection:
        db = super()._open()
        for stranger in (apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, apsw.SQLITE_DBCONFIG_ENABLE_VIEW):
            db.config(stranger, 0)
        return db


def seal_store(path: Path, key: bytes) -> None:
    """Seal a store's file as it stands, if it is sound: from then on it is written to with this key alone.

    Raises:
        StoreCorrupt: something is wrong with it, or it is sealed already.
    """
    with closing(SqliteStore(path, create=False)) as store:
        if store.is_sealed():
            raise StoreCorrupt(f"{path} is sealed already")
        for fault in store.verify():
            raise StoreCorrupt(f"{path} is not sound, and not sealed: {fault.where}: {fault.problem}")
    flags = apsw.SQLITE_OPEN_READWRITE
    with translated(path), closing(apsw.Connection(str(path), flags=flags)) as db:
        register(db, key)
        db.set_busy_timeout(_PATIENCE)
        db.pragma("secure_delete", "ON")
        db.execute("BEGIN IMMEDIATE")
        put_on(db, key)
        db.execute("COMMIT")


_PATIENCE: Final = 10_000
"""Milliseconds to wait for who writes just now."""


def head_of(path: Path, tenant: str) -> int:
    """The last commit of a tenant in a store's file; 0 where it has none."""
    with closing(SqliteStore(path, create=False)) as store, store.read() as snapshot:
        number = snapshot.tenant(tenant)
        return 0 if number is None else snapshot.head(number).seq


def replace_store(
    backup: Path,
    dest: Path,
    *,
    without_tombstones: bool,
    then: Callable[[SqliteStore], None] | None = None,
    probe: Callable[[str], None] = lambda _: None,
    seal: bytes = b"",
) -> int:
    """Copy `backup`, do `then` to the copy, replay what `dest` has erased, check it, and move it in place in one step.

    A restore cut short leaves `dest` as it was; `probe` is called at its points (fault injection).
    The holds of `dest` stand afterwards, not those that the backup had; the checkpoints that `dest` knows are known.
    Returns how many items were erased again.

    Raises:
        Refused: `dest` holds something that the backup has not.
        Invalid: `dest` is not there, and the caller has not said that there are no tombstones to keep.
        StoreLocked: this process or another has `dest` open.
        StoreCorrupt, StoreForeign, StoreNewer: the backup cannot be served.
    """
    if not dest.exists() and not without_tombstones:
        raise Invalid(
            "into",
            f"there is no store at {dest} to take tombstones from",
            "Say so (--no-tombstones): what was erased since the backup would come back.",
        )
    if not backup.stat().st_size:
        raise StoreForeign(f"{backup} is empty, no store; name a file that `mnemic backup` made")
    fresh = dest.with_name(dest.name + ".restoring")
    _drop(fresh)
    try:
        prepare_file(fresh)
        _copy(backup, fresh)
        _copy_artefacts(backup, fresh)
        with closing(_Unsettled(fresh, create=False, seal=seal)) as copy:
            again = _brought_up(copy, dest, without_tombstones, then)
        probe("restore:ready")
        _copy_artefacts(fresh, dest)  # what nobody names there is swept, should this be cut short
        _quiet(fresh)
        _set_aside(dest)
        sync(fresh)
        probe("restore:aside")
        fresh.rename(dest)
        probe("restore:renamed")
        sync(dest.parent)
        _leave_named_artefacts(dest)
    finally:
        _drop(fresh)
    return again


def _copy_artefacts(source: Path, dest: Path) -> None:
    """Copy what lies beside one file of a store to lie beside another."""
    folder = ArtefactFolder.beside(source)
    folder.copy_to(ArtefactFolder.beside(dest), {wall: list(folder.kept(wall)) for wall in folder.walls()})


def _leave_named_artefacts(dest: Path) -> None:
    """Unlink the artefacts of the store that was there before, where the one that is there now does not name them."""
    folder = ArtefactFolder.beside(dest)
    if folder.root.is_dir():
        with translated(dest), closing(apsw.Connection(str(dest), flags=apsw.SQLITE_OPEN_READONLY)) as db:
            rows = sqlite_rows(db, SystemClock(), SystemEntropy())
            left = artefact_care.leave_named(rows, folder, folder.walls())
        if left:
            raise StoreError(f"restored; but files of the store that was there cannot be unlinked: {'; '.join(left)}")


class _Unsettled(SqliteStore):
    """A copy that is to take a store's place: opening it erases from no file beside it what its rows say is owed."""

    _settles = False


def _brought_up(
    copy: SqliteStore, dest: Path, without_tombstones: bool, then: Callable[[SqliteStore], None] | None
) -> int:
    """Have the copy hold what `dest` hands on, without what `dest` has erased, and check it; how much was erased."""
    copy.refuse_tampered()  # before a row of it is believed: what it says of files, holds and owners is acted on below
    copy.owe_nothing()
    handover = _handover(dest, without_tombstones) if dest.exists() else None
    if handover is not None:
        copy.transact(handover.lift, copy.origin())
    if then is not None:
        then(copy)
    again = _erase_again(copy, dest, without_tombstones) if dest.exists() else 0
    if handover is not None:
        copy.transact(handover.hand_on, copy.origin(), dest.parent)
    for fault in copy.verify():
        raise StoreCorrupt(f"the backup does not hold together: {fault.where}: {fault.problem}; use another")
    return again


def _copy(backup: Path, fresh: Path) -> None:
    """Copy pages, not bytes: a store that is still open has its latest ones in a log beside it."""
    with translated(backup):
        source = apsw.Connection(str(backup), flags=apsw.SQLITE_OPEN_READONLY)
        copy = apsw.Connection(str(fresh))
        try:
            with copy.backup("main", source, "main") as run:
                run.step(-1)
        finally:
            copy.close(True)
            source.close(True)


def _drop(fresh: Path) -> None:
    for end in ("", "-wal", "-shm", "-journal"):
        fresh.with_name(fresh.name + end).unlink(missing_ok=True)
    ArtefactFolder.beside(fresh).drop_all()


def _erase_again(copy: SqliteStore, dest: Path, without_tombstones: bool) -> int:
    try:
        with closing(SqliteStore(dest, create=False)) as old:
            items = sum(_erase_items(copy, *tombstone) for tombstone in old.tombstones() if tombstone[2])
            return items + sum(_erase_whole(copy, *owner) for owner in _erased_since(copy, old, without_tombstones))
    except StoreCorrupt as error:
        if without_tombstones:
            return 0
        raise _damaged(dest) from error


def _handover(dest: Path, without_tombstones: bool) -> Handover | None:
    """What the store hands on; None if it is too damaged to tell, and the caller knows."""
    try:
        with closing(SqliteStore(dest, create=False)) as old:
            return old.handover()
    except StoreCorrupt as error:
        if without_tombstones:
            return None
        raise _damaged(dest) from error


def _damaged(dest: Path) -> Invalid:
    return Invalid(
        "into",
        f"{dest} is damaged, its tombstones and holds cannot be read",
        "Say so (--no-tombstones): what was erased since the backup would come back, and holds would be gone.",
    )


def _erased_since(copy: SqliteStore, old: SqliteStore, without_tombstones: bool) -> list[tuple[str, str | Shared]]:
    """The spaces of the copy that have lost their owner in the store it replaces: tenant and user.

    A branch that was dropped there comes back: nobody asked for it to be erased.
    Spaces are compared by number, which means something only between a store and its own copies.

    Raises:
        Invalid: they are no copies of each other, and the store has erased users that nobody can tell any more.
    """
    with copy.read() as ours, old.read() as theirs:
        all_theirs = [h for tenant, _ in theirs.tenants() for h in theirs.all_spaces(tenant)]
        lost = {h.id for h in all_theirs if h.user is None and not h.parent}
        if not lost or (without_tombstones and copy.origin() != old.origin()):
            return []
        if copy.origin() != old.origin():
            raise Invalid(
                "into",
                "has erased users, and is no relative of the backup: whether they are in it cannot be told",
                "Say that you know (--no-tombstones), and erase them again yourself.",
            )
        owned = [(name, head) for tenant, name in ours.tenants() for head in ours.all_spaces(tenant)]
        return [(name, h.user) for name, h in owned if h.id in lost and h.user is not None and not h.parent]


def _erase_whole(store: SqliteStore, tenant: str, user: str | Shared) -> int:
    return len(store.erase(Erasure(tenant=tenant, user=user, whole=True, actor="restore")).ids)


def _erase_items(store: SqliteStore, tenant: str, user: str | None, items: list[bytes]) -> int:
    with store.read() as snapshot:
        number = snapshot.tenant(tenant)
        owner = SHARED if user is None else user
        if number is None or snapshot.space(number, owner) is None:
            return 0
    erasure = Erasure(tenant=tenant, user=owner, ids=tuple(from_bytes(i) for i in items), actor="restore")
    return len(store.erase(erasure).ids)


def _set_aside(dest: Path) -> None:
    """Leave nothing beside the place of the store that the next one there would take for its own."""
    with suppress(StoreCorrupt):
        if dest.exists():
            _quiet(dest)
    for end in ("-wal", "-shm"):
        dest.with_name(dest.name + end).unlink(missing_ok=True)


def _quiet(path: Path) -> None:
    """Fold the log into the file and see that nobody else has it open."""
    with translated(path):
        db = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
        try:
            db.pragma("journal_mode", "DELETE")
        except apsw.BusyError as error:
            raise StoreLocked(f"{path} is open, in this process or another; close it there and retry") from error
        finally:
            db.close(True)
