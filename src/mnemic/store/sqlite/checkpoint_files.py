"""Checkpoints: copies of a store in a folder beside it, taken while writers go on, and listed in the store by name."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Final

import apsw

from mnemic.artefacts.artefact_files import ArtefactFolder
from mnemic.core.checking import clean_file_name
from mnemic.core.clock import SystemClock
from mnemic.core.events import Verb
from mnemic.core.ids import SystemEntropy
from mnemic.core.uninterrupted import import_whole
from mnemic.errors import Conflict, NotFound, StoreReadOnly
from mnemic.store.contract import Store
from mnemic.store.engine.rows import Rows
from mnemic.store.sqlite.connections import translated
from mnemic.store.sqlite.location import CHECKPOINTS
from mnemic.store.sqlite.sqlite_tables import sqlite_rows
from mnemic.store.values.heads import CheckpointRow

_UNFINISHED: Final = re.compile(r".*\.(\d+)\.unfinished(-\w+)?", re.DOTALL)
"""A copy that a process is making, or was."""


def file_of(store: Path, name: str) -> Path:
    """Return the path of a store's checkpoint of this name."""
    return store.parent / CHECKPOINTS / f"{store.stem}-{name}{store.suffix}"


def take(store: Store, path: Path, name: str, now: int, probe: Callable[[str], None]) -> None:
    """Copy the store, then list the copy in it. Cut short between the two, the copy is whole and not listed.

    Raises:
        Invalid: the name cannot name a file.
        Conflict: there is a checkpoint, or a file, of that name; or something was erased while it was copied.
        StoreReadOnly: nothing can be written beside the store, or to it.
    """
    name = clean_file_name("name", name)
    listed, file = listed_checkpoints(store), file_of(path, name)
    if file.exists() or any(row.name == name for row in listed):
        raise Conflict(f"there is a checkpoint {name!r} already; give this one another name")
    try:
        file.parent.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        problem = f"cannot make the folder {file.parent}: {error.strerror}; make a backup elsewhere"
        raise StoreReadOnly(problem) from error
    _clear_unfinished(file.parent, {row.file for row in listed})
    store.backup(file)
    probe("checkpoint:copied")
    rows = described(file, name, now)
    try:
        store.transact(_add, rows)
    except (Conflict, StoreReadOnly):
        file.unlink(missing_ok=True)
        ArtefactFolder.beside(file).drop_all()
        raise
    probe("checkpoint:known")


def let_go(store: Store, path: Path, origin: str, name: str) -> None:
    """Take a checkpoint off the store's list, then delete its file; one that is not listed is deleted too.

    Args:
        origin: What the store and its copies call it; names of files alone do not tell stores of one folder apart.

    Raises:
        NotFound: there is none of that name.
        Conflict: the file of that name is a copy of another store.
    """
    file = find_file(store, path, name)
    if file is None:
        raise NotFound(f"no checkpoint {name!r} here; `mnemic checkpoints` lists them")
    if (copied := _origin_of(file)) is not None and copied != origin:
        raise Conflict(f"{file} is another store's; nothing was touched, delete it yourself if it is to go")
    store.transact(_strike, spelled(name))
    file.unlink(missing_ok=True)
    ArtefactFolder.beside(file).drop_all()


def _origin_of(file: Path) -> str | None:
    """Read what store a file is a copy of; None if there is no such file, or it is damaged past telling."""
    if not file.is_file():
        return None
    try:
        with closing(apsw.Connection(str(file), flags=apsw.SQLITE_OPEN_READONLY)) as db:
            origin = db.execute("SELECT value FROM meta WHERE key = 'origin'").get
    except (apsw.NotADBError, apsw.CorruptError, apsw.SQLError):
        return None
    return origin.decode(errors="replace") if isinstance(origin, bytes) else None


def _add(rows: Rows, checkpoints: list[CheckpointRow]) -> None:
    for row in checkpoints:
        since = rows.journal.events(row.tenant, row.seq + 1, rows.spaces.tenant_row(row.tenant).seq)
        if any(event.verb == Verb.ERASED for event in since):  # which did not find the copy yet
            raise Conflict(
                f"something was erased while checkpoint {row.name!r} was copied; nothing was kept, try again"
            )
    rows.notes.add_checkpoints(checkpoints)


def _strike(rows: Rows, name: str) -> None:
    rows.notes.drop_checkpoint(name)


def spelled(name: str) -> str:
    """Normalise a name (NFC), so that the same letters always name the same checkpoint."""
    return unicodedata.normalize("NFC", name)


def stray(store: Path, name: str) -> Path | None:
    """Find the file of a checkpoint of this name beside a store, listed in it or not; None where there is none."""
    if Path(name).name != name:
        return None
    file = file_of(store, spelled(name))
    return file if file.is_file() else None


def find_file(store: Store, path: Path, name: str) -> Path | None:
    """Find the file of a checkpoint that the store lists, or that lies beside it unlisted; None for neither.

    Raises:
        StoreCorrupt: the store names a file elsewhere.
    """
    rows = [row for row in listed_checkpoints(store) if row.name == spelled(name)]
    listed = [row.within(path.parent / CHECKPOINTS) for row in rows]
    return listed[0] if listed else stray(path, name)


def listed_checkpoints(store: Store) -> list[CheckpointRow]:
    """Read every checkpoint that the store lists, one row a tenant."""
    with store.read() as snapshot:
        return [row for tenant, _ in snapshot.tenants() for row in snapshot.checkpoints(tenant)]


def described(file: Path, name: str, now: int) -> list[CheckpointRow]:
    """Describe each tenant of a copy by rows read from the copy: the store itself may have gone on."""
    import_whole("mnemic.store.engine.audit")
    from mnemic.store.engine.audit import state_hash  # here, so that only who takes checkpoints loads it

    with translated(file), closing(apsw.Connection(str(file), flags=apsw.SQLITE_OPEN_READONLY)) as db:
        rows = sqlite_rows(db, SystemClock(), SystemEntropy())
        return [
            CheckpointRow(tenant.id, name, tenant.seq, now, state_hash(rows, tenant.name), file.name)
            for tenant in rows.spaces.tenants()
            if tenant.name is not None
        ]


def _clear_unfinished(folder: Path, listed: set[str]) -> None:
    """Delete half-made copies of processes that are gone, but no listed checkpoint whose name looks like theirs."""
    for file in folder.iterdir():
        copying = _UNFINISHED.fullmatch(file.name)
        if copying and file.name not in listed and not _alive(int(copying[1])):
            file.unlink(missing_ok=True)


def copied_by(name: str) -> str:
    """The name that a half-made copy is to have; that of any other file is its own."""
    copying = _UNFINISHED.fullmatch(name)
    return name[: copying.start(1) - 1] if copying else name


def being_copied(file: Path) -> list[Path]:
    """Half-made copies that are to become a file, while who makes them lives; others are taken away."""
    halves = [half for half in file.parent.iterdir() if half != file and copied_by(half.name) == file.name]
    for half in halves:
        if (copying := _UNFINISHED.fullmatch(half.name)) and not _alive(int(copying[1])):
            half.unlink(missing_ok=True)
    return [half for half in halves if half.exists()]


def _alive(pid: int) -> bool:
    with suppress(PermissionError):  # somebody else's, and alive
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
    return True
