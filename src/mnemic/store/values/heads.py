"""A store's description of itself: heads of journals and spaces, legal holds, checkpoints, sizes and checks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, NamedTuple, TypeGuard

from mnemic.core.ids import ItemId
from mnemic.core.queries import View
from mnemic.core.scope import Shared
from mnemic.errors import StoreCorrupt


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """The last commit of a tenant's journal: `seq` 0 and a hash of 32 zero bytes before the first."""

    seq: int
    at: int
    hash: bytes
    horizon: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SpaceHead:
    """One space and its last commit.

    Attributes:
        id: What leads every key in this store; never made from a user's text.
        seq: The last commit of the tenant that touched it.
        epoch: Raised whenever content is taken out of it that a cache could still show: caches start over. Compaction
            takes out only what no view shows, and does not raise it; but a cache that was last filled before the
            horizon cannot learn any more which versions were closed since, so it starts over too.
        user: Whose it is; `SHARED` for the tenant's common space; None once its user is erased, or the branch dropped.
        parent, base, branch: A branch's parent, the commit as of which it reads it, and its name; 0, 0 and "" for none.
        lanes: Whether strategies and embedders read what is written here.
        number: What the tenant's journal calls it, here and wherever that is loaded.
    """

    id: int
    tenant: int
    user: str | Shared | None
    seq: int
    epoch: int
    parent: int = 0
    base: int = 0
    branch: str = ""
    lanes: bool = True
    number: int = 0


@dataclass(frozen=True, slots=True)
class Layer:
    """One space among those that a read goes through: a branch, or the parent that it reads as of its base.

    Attributes:
        upto: The commit as of which it is read; None for as it stands.
        nearer: The layers in front of it, whose items hide its own of the same id.
    """

    space: int
    upto: int | None = None
    nearer: tuple[Layer, ...] = ()

    def view(self, view: View) -> View:
        """Narrow a view to the commit as of which this layer is read."""
        if self.upto is None:
            return view
        return replace(view, at=self.upto if view.at is None else min(view.at, self.upto))


@dataclass(frozen=True, slots=True, kw_only=True)
class Hold:
    """A legal hold: forbids to erase, collect or compact the items that agree with all it names.

    Attributes:
        user: Whose memory; None for the whole tenant.
        item, session: Only this one of theirs.
        reason: Why it was set; it may quote content, and is erased as content is.
        actor: Who set it.
        id, at, seq: Its number, when it was set (microseconds), and the tenant's last commit then; the store's to give.
    """

    tenant: str
    user: str | Shared | None = None
    item: ItemId | None = None
    session: str | None = None
    reason: str = ""
    actor: str = "admin"
    id: int = 0
    at: int = 0
    seq: int = 0


_NOT_IN_NAMES: Final = frozenset("/\\\0")
_LONGEST_NAME: Final = 255
"""Bytes in the name of a file, on the systems that we know."""


def is_bare_name(stored: object) -> TypeGuard[str]:
    """Whether what a store says is the name of a file in a folder, and leads nowhere else."""
    bare = isinstance(stored, str) and stored not in ("", ".", "..") and not _NOT_IN_NAMES.intersection(stored)
    return bare and len(str(stored).encode(errors="replace")) <= _LONGEST_NAME


class CheckpointRow(NamedTuple):
    """A checkpoint, as of one commit of one tenant: its name, its date, its state hash, and the copy's file."""

    tenant: int
    name: str
    seq: int
    at: int
    hash: str
    file: str

    def within(self, folder: Path) -> Path:
        """Return the copy's path in the folder of checkpoints; a changed store cannot make it name a file elsewhere.

        Raises:
            StoreCorrupt: the stored name is no bare name of a file there, or not this checkpoint's.
        """
        stored: object = self.file  # a column of a file that somebody has changed holds anything
        if not is_bare_name(stored) or f"-{self.name}" not in stored:
            raise StoreCorrupt(
                f"the store has been changed: it says that checkpoint {self.name!r} is the file {stored!r}, which is"
                f" no name of one in {folder}; nothing was touched, run `mnemic verify`"
            )
        return folder / self.file


class VersionCounts(NamedTuple):
    """Counts of a tenant's versions: all, those that are closed, and those that stand retired."""

    versions: int
    closed: int
    retired: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Info:
    """Describes a store's engine, settings and size, as `doctor` prints it.

    Attributes:
        bytes: The size of all its files together, the write-ahead log included.
        free: How many of these bytes lie on free pages.
        folded: The size of the database file once the whole log is folded into it.
        log: The size of the write-ahead log.
        beside: The folder in which its checkpoints lie; None for a store that keeps none.
        format_before: The format that it had before this process opened it; 0 if it was made then.
    """

    url: str
    engine: str
    format: int
    bytes: int
    settings: Mapping[str, str]
    free: int = 0
    folded: int = 0
    log: int = 0
    beside: Path | None = None
    format_before: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One check of `doctor`: what it is of, whether it passed, what was found, and what to do if it failed."""

    name: str
    ok: bool
    found: str
    remedy: str = ""
