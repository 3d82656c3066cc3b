"""Checkpoints: copies of a store in a folder beside it, taken while writers go on, known to it by name."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

import apsw

from mnemic.errors import Conflict, Invalid, NotFound
from mnemic.store import audit
from mnemic.store.base import CheckpointRow
from mnemic.store.sqlite_errors import translated
from mnemic.store.sqlite_rows import SqliteRows

if TYPE_CHECKING:
    from mnemic.store.sqlite import SqliteStore

FOLDER: Final = "checkpoints"
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")


def file_of(store: Path, name: str) -> Path:
    """Where a store's checkpoint of a name lies."""
    return store.parent / FOLDER / f"{store.stem}-{name}{store.suffix}"


def take(store: SqliteStore, name: str, now: int, probe: Callable[[str], None]) -> None:
    """Copy the store, then make the copy known to it. Cut short between the two, the copy is whole and not listed.

    Raises:
        Invalid: the name cannot name a file.
        Conflict: there is a checkpoint, or a file, of that name.
    """
    if not _NAME.fullmatch(name):
        raise Invalid("name", f"{name!r} cannot name a file", "Use letters, digits, '.', '-' and '_'.")
    file = file_of(store.path, name)
    if file.exists():
        raise Conflict(f"{file} is there already; give this checkpoint another name")
    file.parent.mkdir(mode=0o700, exist_ok=True)
    _clear_unfinished(file.parent)
    store.backup(file)
    probe("checkpoint:copied")
    rows = _described(file, name, now)
    store.note(lambda live: live.add_checkpoints(rows))
    probe("checkpoint:known")


def let_go(store: SqliteStore, name: str) -> None:
    """Forget a checkpoint, then delete its file; a file that is there and not known goes too.

    Raises:
        NotFound: there is none of that name.
    """
    found = [row for row in recorded(store) if row.name == name]
    if not found and not (_NAME.fullmatch(name) and file_of(store.path, name).is_file()):
        raise NotFound(f"no checkpoint {name!r} here; `mnemic checkpoints` lists them")
    store.note(lambda live: live.drop_checkpoint(name))
    file = store.path.parent / FOLDER / found[0].file if found else file_of(store.path, name)
    file.unlink(missing_ok=True)


def recorded(store: SqliteStore) -> list[CheckpointRow]:
    """Every checkpoint that the store knows, one row a tenant."""
    with store.read() as snapshot:
        return [row for tenant, _ in snapshot.tenants() for row in snapshot.checkpoints(tenant)]


def _described(file: Path, name: str, now: int) -> list[CheckpointRow]:
    """What the copy holds, read out of the copy: the store itself may have gone on."""
    with translated(file), closing(apsw.Connection(str(file), flags=apsw.SQLITE_OPEN_READONLY)) as db:
        rows = SqliteRows(db)
        return [
            CheckpointRow(tenant.id, name, tenant.seq, now, audit.state_hash(rows, tenant.name), file.name)
            for tenant in rows.tenants()
            if tenant.name is not None
        ]


def _clear_unfinished(folder: Path) -> None:
    """Take away what a process that is gone has left half copied."""
    for left in folder.glob("*.unfinished*"):
        pid = left.name.partition(".unfinished")[0].rpartition(".")[2]
        if not (pid.isdigit() and _alive(int(pid))):
            left.unlink(missing_ok=True)


def _alive(pid: int) -> bool:
    with suppress(PermissionError):  # somebody else's, and alive
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
    return True
