"""Where a store may lie: a local disk, in a file and folder that only their owner reads, on one machine at a time."""

from __future__ import annotations

import hashlib
import os
import platform
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Final, TypeVar

import apsw

from mnemic.errors import Invalid, StoreCorrupt, StoreError, StoreLocked, StoreNewer, StoreReadOnly
from mnemic.store.sqlite.schema import TOKENS

T = TypeVar("T")

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
"""How long a machine that has written keeps others from it."""
SKEW_SECONDS: Final = 5.0
"""How far the clocks of two machines may be apart before a lease is taken for one of a clock that went wrong."""


def prepare_file(path: Path) -> None:
    """Make the folder (0700) and the empty file (0600) if they are not there yet, unless the file can only be read.

    Raises:
        Invalid: `path` is a folder, or lies on a network file system.
        StoreReadOnly: they cannot be made or written.
    """
    if "\x00" in str(path):
        raise Invalid("path", "holds a NUL", "Name a file.")
    if path.is_dir():
        raise Invalid("path", f"{path} is a folder", "Name a file, such as memory.db in it.")
    if not can_write(path):
        return  # it is read as it lies there, from whatever disk
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


def can_write(path: Path) -> bool:
    """Whether a file may be written by this process, or made where it is not there yet.

    SQLite makes its log beside a file, so that the folder counts too, unless a log is there already.
    """
    who = {"effective_ids": True} if os.access in os.supports_effective_ids else {}
    if not path.exists():
        return True  # whoever makes it is told
    beside = path.with_name(path.name + "-wal").exists() or os.access(path.parent, os.W_OK, **who)
    return beside and os.access(path, os.W_OK, **who)


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


@dataclass(frozen=True, slots=True)
class Host:
    """Who writes to a file, as its lease says it.

    Attributes:
        boot: One name per running kernel, which containers share, as they share its file locks; "" where it has none.
        name: One name per machine, which stays the same when it starts again.
    """

    boot: str
    name: str

    def lease(self, until: float) -> bytes:
        """Its lease, as it stands in a file."""
        return f"{self.boot} {self.name} {until:.0f}".encode()

    def shares_locks_with(self, other: Host) -> bool:
        """Whether SQLite's locks hold between the two, or one of them has gone with its kernel."""
        return self.name == other.name or (self.boot != "" and self.boot == other.boot)


@cache
def this_host() -> Host:
    """The machine that this process runs on."""
    boot, known = (_line(Path(place)) for place in ("/proc/sys/kernel/random/boot_id", "/etc/machine-id"))
    # Images of machines may share their id, so that the host's name belongs to it.
    identity = f"{known or format(uuid.getnode(), 'x')} {platform.node()}"
    return Host(boot, hashlib.sha256(identity.encode()).hexdigest()[:16])


def _line(file: Path) -> str:
    try:
        return file.read_text().strip()
    except (OSError, UnicodeDecodeError):
        return ""


def take_lease(
    db: apsw.Connection,
    here: Host | None = None,
    now: float | None = None,
    known: Mapping[str, bytes] | None = None,
) -> dict[str, bytes]:
    """Inside a write: note that this machine writes here, for the next minute.

    Returns the small facts that every write looks at: `residue` while an erasure waits for the log to be emptied,
    `swept`, when old idempotency keys were last forgotten, and the `seal` of a store that has one.

    Args:
        here, now: In place of this machine and its clock.
        known: What this returned before, where nobody has written to the file since: it is not read again.

    Raises:
        StoreLocked: another machine wrote within the last minute.
        StoreNewer: a later mnemic has taken the file over and made its token streams again.
        StoreCorrupt: what tells that is damaged.
    """
    here, now = here or this_host(), time.time() if now is None else now
    meta = dict(db.execute(_SMALL_FACTS) if known is None else known)
    if small_fact("tokens", meta.get("tokens", b""), int) != TOKENS:
        raise StoreNewer("a later mnemic has taken this file over; upgrade mnemic in this process, and retry")
    holder, until = _lease(meta.get("lease", b""))
    left = until - now
    if holder.boot != here.boot or holder.name != here.name:
        # One that ends later than any lease could is of a clock that went wrong: nobody can say when it was written.
        if not holder.shares_locks_with(here) and 0 < left <= LEASE_SECONDS + SKEW_SECONDS:
            raise StoreLocked(
                f"another machine ({(holder.boot or holder.name)[:13]}) is writing to this file;"
                f" retry in {left:.0f} s, or share PostgreSQL instead of a file"
            )
        left = 0
    if not LEASE_SECONDS / 2 <= left <= LEASE_SECONDS + 1:
        meta["lease"] = here.lease(now + LEASE_SECONDS)
        set_meta(db, "lease", meta["lease"])
    return meta


_SMALL_FACTS: Final = "SELECT key, value FROM meta WHERE key IN ('lease', 'residue', 'swept', 'tokens', 'seal')"


@lru_cache(maxsize=16)
def _lease(value: bytes) -> tuple[Host, float]:
    """Who holds a lease, and until when; none, and one that cannot be read, has run out long ago."""
    try:
        boot, *name, until = value.decode().split(" ")
        return Host(boot, " ".join(name)), float(until)
    except ValueError:
        return Host("", ""), 0.0


def small_fact(key: str, value: bytes, decode: Callable[[bytes], T]) -> T:
    """Decode a small fact about the file, which somebody may have changed.

    Raises:
        StoreCorrupt: it cannot be decoded.
    """
    try:
        return decode(value)
    except (ValueError, TypeError, LookupError, AttributeError) as error:
        raise StoreCorrupt(
            f"the file's own {key!r} (table meta) is damaged; run `mnemic verify`, then `mnemic restore` from a backup"
        ) from error


def drop_lease(db: apsw.Connection, here: Host | None = None) -> None:
    """Let other machines write at once, if this one holds the lease; whoever else writes here takes it again."""
    value = db.execute("SELECT value FROM meta WHERE key = 'lease'").get
    if value is not None and _lease(value)[0] == (here or this_host()):
        db.execute("DELETE FROM meta WHERE key = 'lease'")


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
