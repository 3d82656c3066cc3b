"""Where a store may lie: a local disk, in a file and folder that only their owner reads, on one machine at a time."""

from __future__ import annotations

import os
import platform
import time
import uuid
from functools import cache
from pathlib import Path
from typing import Final

import apsw

from mnemic.errors import Invalid, StoreError, StoreLocked, StoreNewer, StoreReadOnly
from mnemic.store.sqlite.schema import TOKENS

NETWORK: Final = frozenset(
    {
        "nfs",
        "nfs4",
        "cifs",
        "smb3",
        "smbfs",
        "9p",
        "afs",
        "ceph",
        "fuse.sshfs",
        "fuse.glusterfs",
        "lustre",
        "ncpfs",
        "vboxsf",
    }
)
"""File systems on which locks or shared memory between machines cannot be trusted."""
LEASE_SECONDS: Final = 60.0


def prepare_file(path: Path) -> None:
    """Make the folder (0700) and the empty file (0600) if they are not there yet.

    Raises:
        Invalid: `path` is a folder, or lies on a network file system.
        StoreReadOnly: they cannot be made or written.
    """
    if "\x00" in str(path):
        raise Invalid("path", "holds a NUL", "Name a file.")
    if path.is_dir():
        raise Invalid("path", f"{path} is a folder", "Name a file, such as memory.db in it.")
    try:
        path.parent.mkdir(exist_ok=True, mode=0o700)  # one folder, not a path: a mistyped one is told, not made
    except OSError as error:
        raise StoreReadOnly(
            f"cannot make the folder {path.parent}: {error.strerror}; make its parent, or name another file"
        ) from error
    refuse_network(path.parent)
    try:
        # Only a new file is opened here: closing a second handle on an open store would drop our locks on it.
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        return
    except OSError as error:
        raise StoreReadOnly(
            f"cannot write {path}: {error.strerror}; check its owner and mode, or copy it elsewhere"
        ) from error


def refuse_network(folder: Path, mounts: str | None = None) -> None:
    """Refuse a folder on a network file system, by the table of mounts (Linux; elsewhere nothing is known).

    Raises:
        Invalid: it lies on one.
    """
    kind = file_system(folder, mounts)
    if kind in NETWORK:
        raise Invalid(
            "path",
            f"{folder} is on a network file system ({kind}), whose locks lose writes",
            "Use a local disk, or PostgreSQL.",
        )


def file_system(folder: Path, mounts: str | None = None) -> str:
    """The type of the file system that holds a folder, or "unknown"."""
    table = Path("/proc/self/mounts")
    if mounts is None:
        try:
            mounts = table.read_text(errors="replace")
        except OSError:  # no such table here, or no file handle left: what opens the store next will say so
            mounts = ""
    best, kind = -1, "unknown"
    where = str(folder.resolve())
    for line in mounts.splitlines():
        parts = line.split(" ")
        point = parts[1].replace("\\040", " ").rstrip("/") if len(parts) > 2 else None
        if point is not None and (where == point or where.startswith(point + "/")) and len(point) >= best:
            best, kind = len(point), parts[2]
    return kind


@cache
def machine() -> str:
    """One name per running kernel: processes that share it share its file locks, containers included."""
    boot = Path("/proc/sys/kernel/random/boot_id")
    try:
        return boot.read_text().strip()
    except OSError:
        return f"{platform.node()}-{uuid.getnode():x}"


def take_lease(db: apsw.Connection) -> dict[str, bytes]:
    """Inside a write: note that this machine writes here, for the next minute.

    Returns the small facts that every write looks at: `residue` while an erasure waits for the log to be emptied, and
    `swept`, when old idempotency keys were last forgotten.

    Raises:
        StoreLocked: another machine wrote within the last minute.
        StoreNewer: a later mnemic has taken the file over and made its token streams again.
    """
    now = time.time()
    meta = dict(db.execute("SELECT key, value FROM meta WHERE key IN ('lease', 'residue', 'swept', 'tokens')"))
    if int(meta["tokens"]) != TOKENS:
        raise StoreNewer("a later mnemic has taken this file over; upgrade mnemic in this process, and retry")
    holder, until = meta["lease"].decode().rsplit(" ", 1) if "lease" in meta else ("", "0")
    if holder not in ("", machine()) and float(until) > now:
        wait = float(until) - now
        raise StoreLocked(
            f"another machine ({holder[:13]}) is writing to this file;"
            f" retry in {wait:.0f} s, or share PostgreSQL instead of a file"
        )
    if holder != machine() or float(until) - now < LEASE_SECONDS / 2:
        set_meta(db, "lease", f"{machine()} {now + LEASE_SECONDS:.0f}".encode())
    return meta


def set_meta(db: apsw.Connection, key: str, value: bytes) -> None:
    """Keep one small fact about the file in it."""
    db.execute(
        "INSERT INTO meta(key, value) VALUES (?, ?) ON CONFLICT(key) DO UPDATE SET value = excluded.value", (key, value)
    )


def free_bytes(path: Path) -> int:
    """Bytes left for us on the disk that holds `path`."""
    try:
        stats = os.statvfs(path.parent)
    except OSError as error:
        raise StoreError(f"cannot ask the disk of {path}: {error.strerror}") from error
    return stats.f_bavail * stats.f_frsize
