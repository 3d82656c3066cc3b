"""Putting a backup in a store's place without bringing back what was erased since it was taken."""

from __future__ import annotations

import shutil
from pathlib import Path

import apsw

from mnemic.core.ids import from_bytes
from mnemic.core.scope import SHARED
from mnemic.errors import Invalid, StoreLocked
from mnemic.store.base import Erasure
from mnemic.store.place import prepare_file
from mnemic.store.sqlite import SqliteStore
from mnemic.store.sqlite_errors import translated


def replace_store(backup: Path, dest: Path, *, without_tombstones: bool) -> int:
    """Copy `backup`, replay on the copy what `dest` has erased, check it, and move it into place in one step.

    A restore cut short leaves `dest` as it was. Returns how many items were erased again.

    Raises:
        Invalid: `dest` is not there, and the caller has not said that there are no tombstones to keep.
        StoreLocked: another process has `dest` open.
        StoreCorrupt, StoreForeign, StoreNewer: the backup cannot be served.
    """
    if not dest.exists() and not without_tombstones:
        raise Invalid(
            "into",
            f"there is no store at {dest} to take tombstones from",
            "Say so (--no-tombstones): what was erased since the backup would come back.",
        )
    tombstones = _tombstones(dest) if dest.exists() else []
    fresh = dest.with_name(dest.name + ".restoring")
    fresh.unlink(missing_ok=True)
    prepare_file(fresh)
    shutil.copyfile(backup, fresh)
    again = _erase_again(fresh, tombstones)
    _quiet(fresh)
    if dest.exists():
        _quiet(dest)
    fresh.rename(dest)
    return again


def _tombstones(dest: Path) -> list[tuple[str, str | None, list[bytes]]]:
    store = SqliteStore(dest, create=False)
    try:
        return store.tombstones()
    finally:
        store.close()


def _erase_again(path: Path, tombstones: list[tuple[str, str | None, list[bytes]]]) -> int:
    store = SqliteStore(path, create=False)
    try:
        owners = {(tenant, user) for tenant, user, _ in tombstones}
        again = sum(_erase_items(store, *tombstone) for tombstone in tombstones if tombstone[2])
        for tenant, user, _ in store.tombstones() if owners else []:
            if (tenant, user) not in owners and user is not None:  # a whole user that was erased since
                again += len(store.erase(Erasure(tenant=tenant, user=user, whole=True, actor="restore")).ids)
        return again
    finally:
        store.close()


def _erase_items(store: SqliteStore, tenant: str, user: str | None, items: list[bytes]) -> int:
    with store.read() as snapshot:
        number = snapshot.tenant(tenant)
        owner = SHARED if user is None else user
        if number is None or snapshot.space(number, owner) is None:
            return 0
    erasure = Erasure(tenant=tenant, user=owner, ids=tuple(from_bytes(i) for i in items), actor="restore")
    return len(store.erase(erasure).ids)


def _quiet(path: Path) -> None:
    """Fold the log into the file and see that nobody else has it open."""
    with translated(path):
        db = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
        try:
            db.pragma("journal_mode", "DELETE")
        except apsw.BusyError as error:
            raise StoreLocked(f"{path} is open in another process; close it and retry") from error
        finally:
            db.close(True)
