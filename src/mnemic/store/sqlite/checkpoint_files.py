"""Checkpoints: copies of a store in a folder beside it, taken while writers go on, known to it by name."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Final

import apsw

from mnemic.core.checking import clean_file_name
from mnemic.core.clock import SystemClock
from mnemic.core.ids import SystemEntropy
from mnemic.errors import Conflict, NotFound
from mnemic.store.contract import Store
from mnemic.store.engine.rows import Rows
from mnemic.store.sqlite.connections import translated
from mnemic.store.sqlite.location import CHECKPOINTS
from mnemic.store.sqlite.sqlite_tables import sqlite_rows
from mnemic.store.values.heads import CheckpointRow

_UNFINISHED: Final = re.compile(r".*\.(\d+)\.unfinished(-\w+)?", re.DOTALL)
"""A copy that a process is making, or was."""


def file_of(store: Path, name: str) -> Path:
    """Where a store's checkpoint of a name lies."""
    return store.parent / CHECKPOINTS / f"{store.stem}-{name}{store.suffix}"


def take(store: Store, path: Path, name: str, now: int, probe: Callable[[str], None]) -> None:
    """Copy the store, then make the copy known to it. Cut short between the two, the copy is whole and not listed.

    Raises:
        Invalid: the name cannot name a file.
        Conflict: there is a checkpoint, or a file, of that name.
    """
    name = clean_file_name("name", name)
    known, file = recorded(store), file_of(path, name)
    if file.exists() or any(row.name == name for row in known):
        raise Conflict(f"there is a checkpoint {name!r} already; give this one another name")
    file.parent.mkdir(mode=0o700, exist_ok=True)
    _clear_unfinished(file.parent, {row.file for row in known})
    store.backup(file)
    probe("checkpoint:copied")
    rows = _described(file, name, now)
    store.transact(_list, rows)
    probe("checkpoint:known")


def let_go(store: Store, path: Path, name: str) -> None:
    """Forget a checkpoint, then delete its file; a file that is there and not known goes too.

    Raises:
        NotFound: there is none of that name.
    """
    file = found(store, path, name)
    if file is None:
        raise NotFound(f"no checkpoint {name!r} here; `mnemic checkpoints` lists them")
    store.transact(_strike, spelled(name))
    file.unlink(missing_ok=True)


def _list(rows: Rows, made: list[CheckpointRow]) -> None:
    rows.notes.add_checkpoints(made)


def _strike(rows: Rows, name: str) -> None:
    rows.notes.drop_checkpoint(name)


def spelled(name: str) -> str:
    """A name in the one spelling of its letters that a checkpoint keeps it in."""
    return unicodedata.normalize("NFC", name)


def stray(store: Path, name: str) -> Path | None:
    """The file that a checkpoint of this name has beside a store, known to it or not; None where there is none."""
    if Path(name).name != name:
        return None
    file = file_of(store, spelled(name))
    return file if file.is_file() else None


def found(store: Store, path: Path, name: str) -> Path | None:
    """The file of a checkpoint that the store knows, or that lies beside it all the same; None for neither.

    Raises:
        StoreCorrupt: the store names a file elsewhere.
    """
    known = [row.within(path.parent / CHECKPOINTS) for row in recorded(store) if row.name == spelled(name)]
    return known[0] if known else stray(path, name)


def recorded(store: Store) -> list[CheckpointRow]:
    """Every checkpoint that the store knows, one row a tenant."""
    with store.read() as snapshot:
        return [row for tenant, _ in snapshot.tenants() for row in snapshot.checkpoints(tenant)]


def _described(file: Path, name: str, now: int) -> list[CheckpointRow]:
    """What the copy holds, read out of the copy: the store itself may have gone on."""
    from mnemic.store.engine.audit import state_hash  # which a store that only reads and writes has no use for

    with translated(file), closing(apsw.Connection(str(file), flags=apsw.SQLITE_OPEN_READONLY)) as db:
        rows = sqlite_rows(db, SystemClock(), SystemEntropy())
        return [
            CheckpointRow(tenant.id, name, tenant.seq, now, state_hash(rows, tenant.name), file.name)
            for tenant in rows.spaces.tenants()
            if tenant.name is not None
        ]


def _clear_unfinished(folder: Path, known: set[str]) -> None:
    """Take away what a process that is gone has left half copied; a checkpoint may be called what it likes."""
    for left in folder.iterdir():
        copying = _UNFINISHED.fullmatch(left.name)
        if copying and left.name not in known and not _alive(int(copying[1])):
            left.unlink(missing_ok=True)


def _alive(pid: int) -> bool:
    with suppress(PermissionError):  # somebody else's, and alive
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
    return True
