"""Care of a whole store: is it sound, how big is it, how is it copied, what may be dropped."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from mnemic.core.scope import Shared
from mnemic.errors import Invalid, StoreError
from mnemic.lanes import HOUSE
from mnemic.meaning import WORDS_ALONE
from mnemic.models.base import Embedder
from mnemic.opening import Opened, chosen_embedder
from mnemic.reindexing import Reindexed, reindex
from mnemic.store.base import Erasure, ErasureReceipt, Fault, Info, Snapshot, embedding_lane
from mnemic.store.place import file_system, free_bytes
from mnemic.store.requests import Erase


@dataclass(frozen=True, slots=True, kw_only=True)
class UserStats:
    """One user's part of a store; `user` is None for the shared space."""

    tenant: str
    user: str | None
    items: int
    commits: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Stats:
    """How big a store is."""

    url: str
    bytes: int
    format: int
    users: tuple[UserStats, ...]

    @property
    def items(self) -> int:
        return sum(user.items for user in self.users)


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing that `doctor` looked at."""

    name: str
    ok: bool
    found: str
    remedy: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Behind:
    """A lane that has work before it: `house` reads by rules, the others make an embedder's vectors.

    Attributes:
        embedder: Whose vectors it makes; "" for rules.
        pending: How many passages it has before it.
        error: How it failed last in some space, "" where it did not.
    """

    lane: str
    embedder: str
    pending: int
    error: str


class Admin:
    """The verbs on a store as a whole; whoever holds one sees every user's numbers, and nobody's words."""

    def __init__(self, opened: Opened) -> None:
        self._opened, self._store = opened, opened.store

    def info(self) -> Info:
        """What the store is and how it is set."""
        return self._store.info()

    def stats(self) -> Stats:
        """How many items and commits each user has, and how big the files are."""
        info = self._store.info()
        with self._store.read() as snapshot:
            users = [
                UserStats(
                    tenant=name,
                    user=None if isinstance(head.user, Shared) else head.user,
                    items=snapshot.count((head.id,)),
                    commits=head.seq,
                )
                for number, name in snapshot.tenants()
                for head in snapshot.all_spaces(number)
                if head.user is not None
            ]
        return Stats(url=info.url, bytes=info.bytes, format=info.format, users=tuple(users))

    def verify(self) -> list[Fault]:
        """Check everything against everything; what is wrong, and nothing if all is well."""
        return list(self._store.verify())

    def state_hash(self, tenant: str | None = None) -> str:
        """One hash of a tenant's retained versions and links."""
        return self._store.state_hash(tenant or self._opened.settings.tenant)

    def backup(self, dest: str | Path) -> Path:
        """A consistent copy, taken while writers go on; never overwrites."""
        self._opened.uses.flush()
        path = Path(dest).expanduser()
        self._store.backup(path)
        return path

    def export(self, tenant: str | None = None) -> Iterator[bytes]:
        """A tenant's journal as lines of JSON, with everything it holds."""
        return self._store.export(tenant or self._opened.settings.tenant)

    def load(self, lines: Iterable[bytes]) -> int:
        """Apply an exported journal to an empty store; returns how many commits it holds."""
        return self._store.load(iter(lines))

    def erase_tenant(self, tenant: str, *, reason: str = "") -> ErasureReceipt:
        """Take a whole tenant out for good."""
        erasure = Erasure(tenant=tenant, user=None, whole=True, actor="admin", reason=reason)
        receipt: ErasureReceipt = self._opened.perform(Erase(erasure))
        return receipt

    def behind(self) -> list[Behind]:
        """What has been written but not yet understood, lane by lane."""
        with self._store.read() as snapshot:
            lanes = [(HOUSE, "")] + [
                (embedding_lane(row.id), row.name) for row in snapshot.embedders() if row.name != WORDS_ALONE
            ]
            return [_behind(snapshot, lane, embedder) for lane, embedder in lanes]

    def reindex(self, embedder: str | Embedder, told: Callable[[int], None] = lambda done: None) -> Reindexed:
        """Make every vector anew with another embedder, or drop all for `none`; the old ones answer until it is done.

        Args:
            told: Called as it goes with how many passages were dealt with.

        Raises:
            Invalid: no embedder goes by that name.
            ModelError: the embedder failed; the old vectors still serve, and the next call goes on from there.
        """
        return reindex(self._opened, chosen_embedder(embedder, self._opened.settings), told)

    def settle(self) -> bool:
        """Whether every erasure has reached every file; tries once more if one is pending."""
        return self._store.settle()

    def compact(self, horizon: int, *, tenant: str | None = None) -> int:
        """Drop versions closed at or before commit `horizon`; the past behind it can no longer be asked for."""
        return self._store.compact(tenant or self._opened.settings.tenant, horizon)

    def doctor(self) -> list[Check]:
        """Look at what the store stands on: engine, settings, disk, permissions."""
        info = self._store.info()
        checks = [
            Check(name="engine", ok=True, found=info.engine),
            Check(name="format", ok=True, found=str(info.format)),
        ]
        if not info.url.startswith("sqlite:///"):
            return checks
        path = Path(info.url.removeprefix("sqlite://"))
        return [*checks, *_settings(info), *_disk(path), *_modes(path)]


def _behind(snapshot: Snapshot, lane: str, embedder: str) -> Behind:
    waiting = snapshot.backlog(lane)
    pending = sum(1 for space, cursor, _ in waiting for _ in snapshot.entries(space, cursor))
    errors = (snapshot.lane(space, lane).error for space, _, _ in waiting)
    return Behind(lane=lane, embedder=embedder, pending=pending, error=next(filter(None, errors), ""))


def _settings(info: Info) -> Iterator[Check]:
    for name, wanted in (("journal_mode", "wal"), ("synchronous", "2"), ("secure_delete", "1")):
        found = info.settings.get(name, "?")
        yield Check(
            name=name, ok=found == wanted, found=found, remedy=f"open it with mnemic, which sets {name}={wanted}"
        )


def _disk(path: Path) -> Iterator[Check]:
    kind, free = file_system(path.parent), free_bytes(path)
    yield Check(name="file system", ok=True, found=kind)
    yield Check(
        name="free space",
        ok=free > 100 * 1024 * 1024,
        found=f"{free / 2**30:.1f} GiB",
        remedy="make room: writes stop when the disk is full",
    )


def _modes(path: Path) -> Iterator[Check]:
    try:
        mode = stat.S_IMODE(path.stat().st_mode)
    except OSError as error:
        raise StoreError(f"cannot look at {path}: {error.strerror}") from error
    yield Check(
        name="file mode", ok=mode & 0o077 == 0 or os.name == "nt", found=f"{mode:04o}", remedy=f"chmod 600 {path}"
    )


def restore(backup: str | Path, into: str | Path, *, without_tombstones: bool = False) -> int:
    """Put a backup in a store's place and erase again what that store had erased since; returns how many items.

    Raises:
        Invalid: there is no store to take tombstones from, and `without_tombstones` does not say that this is known.
        StoreLocked: another process has the store open.
    """
    from mnemic.store.restoring import replace_store

    source, dest = Path(backup).expanduser().absolute(), Path(into).expanduser().absolute()
    if not source.is_file():
        raise Invalid("backup", f"there is no file {source}", "Name a file that `mnemic backup` made.")
    return replace_store(source, dest, without_tombstones=without_tombstones)
