"""A store's answers to a caller: the receipts of an erasure, a slice of a sweep and a rewind, and faults found."""

from __future__ import annotations

from dataclasses import dataclass

from mnemic.core.ids import ItemId


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasureReceipt:
    """Says what an erasure took out, and whether any byte of it may be left on disk.

    Attributes:
        seq: The commit that journals it, or None when there was nothing to erase
            here; where checkpoints held some, `ids` has it.
        ids: The items that are gone, derived ones included.
        status: `clean` when no byte of it is left in any of our files, or `pending` while another process reads or a
            copy beside the store could not be reached.
        scanned: The files that were searched and hold no byte of it.
        left: The files beside the store that may still hold some, each with the reason.
        outside: Where copies may lie that a store cannot reach, such as backups.
    """

    seq: int | None
    ids: tuple[ItemId, ...]
    versions: int
    links: int
    status: str
    scanned: tuple[str, ...]
    outside: tuple[str, ...]
    left: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Swept:
    """Counts what one slice of a sweep deleted.

    Attributes:
        versions, links, events, names: How many rows went: versions of items and of links, events, names.
        pages: Pages that were given back to the disk.
        seconds: How long it had the write lock, by the clock: the longest that a writer may have waited for it.
        more: Whether there may be more to do.
    """

    versions: int = 0
    links: int = 0
    events: int = 0
    names: int = 0
    pages: int = 0
    seconds: float = 0.0
    more: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class MovedTenant:
    """A tenant that was moved into another store.

    Attributes:
        commits: How many this run has copied; an earlier one may have copied others.
        state_hash: Of what it holds, in both stores.
        there: Whether it had been moved before, and nothing was to do.
    """

    tenant: str
    commits: int
    state_hash: str
    there: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """Says what an exported journal became: the tenant's name here, and how many commits it holds."""

    tenant: str
    commits: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewound:
    """Says where a rewind left the journal, and how much it deleted.

    Attributes:
        seq: The commit that the journal ends at: the one asked for or, where something had been erased since, a later
            one that erases it again.
        versions: How many versions were deleted.
        erased: How many items had been erased since the commit asked for; they stay erased.
    """

    seq: int
    versions: int
    erased: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One thing that `verify` found wrong, and where."""

    where: str
    problem: str
