"""What a store says of itself: where journals and spaces stand, what is held, what there is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, NamedTuple

from mnemic.core.ids import ItemId
from mnemic.core.queries import View
from mnemic.core.scope import Shared
from mnemic.errors import StoreCorrupt


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """Where a tenant's journal stands: `seq` 0 and 32 zero bytes before the first commit."""

    seq: int
    at: int
    hash: bytes
    horizon: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SpaceHead:
    """Where one space stands.

    Attributes:
        id: The number that leads every key; never made from a user's text.
        seq: The last commit of the tenant that touched it.
        epoch: Raised whenever content is taken out of it that a cache could still show: caches start over. Compaction
            takes out only what no view shows; but what was closed before the horizon can no longer be told, so a cache
            that stands before it starts over too.
        user: Whose it is; `SHARED` for the tenant's common space; None once its user is erased, or the branch dropped.
        parent, base, branch: What a branch comes off, at which commit, and its name; 0, 0 and "" for none.
        lanes: Whether what is written here is understood.
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


@dataclass(frozen=True, slots=True)
class Layer:
    """One space that a read set looks into.

    Attributes:
        upto: The commit that it is read at; None for as it stands.
        nearer: The layers in front of it, whose items hide its own.
    """

    space: int
    upto: int | None = None
    nearer: tuple[Layer, ...] = ()

    def view(self, view: View) -> View:
        """What a view of the read set asks of this layer."""
        if self.upto is None:
            return view
        return replace(view, at=self.upto if view.at is None else min(view.at, self.upto))


@dataclass(frozen=True, slots=True, kw_only=True)
class Hold:
    """A legal hold: what may not be taken out, by erasing, collecting or compacting. All it names must agree.

    Attributes:
        user: Whose memory; None for the whole tenant.
        item, session: Only this one of theirs.
        reason: Why; it is content.
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


class CheckpointRow(NamedTuple):
    """A copy of the store that was made beside it: of which commit of a tenant, when, its state hash, its file."""

    tenant: int
    name: str
    seq: int
    at: int
    hash: str
    file: str

    def within(self, folder: Path) -> Path:
        """Where the copy lies in the folder of checkpoints: whoever can write the store must not name a file elsewhere.

        Raises:
            StoreCorrupt: what the store says is no bare name of a file there, or not this checkpoint's.
        """
        said: object = self.file  # a column of a file that somebody has changed holds anything
        bare = isinstance(said, str) and said not in (".", "..") and not _NOT_IN_NAMES.intersection(said)
        if not bare or f"-{self.name}" not in self.file or len(self.file.encode(errors="replace")) > _LONGEST_NAME:
            raise StoreCorrupt(
                f"the store has been changed: it says that checkpoint {self.name!r} is the file {said!r}, which is"
                f" no name of one in {folder}; nothing was touched, run `mnemic verify`"
            )
        return folder / self.file


class Wear(NamedTuple):
    """How many versions there are, and how many of them are closed, or stand retired."""

    versions: int
    closed: int
    retired: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Info:
    """What `doctor` prints about a store.

    Attributes:
        bytes: Of all its files together, the write-ahead log included.
        free: How many of its bytes hold nothing.
        folded: What the file comes to without a log: all that was committed, folded in.
        log: Bytes of what was committed and not folded in yet.
        beside: The folder in which its checkpoints lie; None for a store that keeps none.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing that `doctor` looked at."""

    name: str
    ok: bool
    found: str
    remedy: str = ""
