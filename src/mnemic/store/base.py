"""The store's promise: commit is the only way to write, and a snapshot the only way to read.

A store keeps and returns; it never scores. Ranking, fusion, decay and tokenising live above it, once.
Two keepers pass the one suite in `mnemic.testing.store_contract`: `sqlite` and `memory`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path
from typing import NamedTuple, Protocol

from mnemic.core.events import Change, Receipt, Verb
from mnemic.core.ids import ItemId
from mnemic.core.items import Item, Link, Strength, Version
from mnemic.core.queries import Entry, Filter, View
from mnemic.core.scope import Shared


@dataclass(frozen=True, slots=True, kw_only=True)
class Put:
    """Write a version of an item.

    Attributes:
        terms: The token streams of its parts; None carries its predecessor's over, and its vectors with them (text and
            key unchanged).
        key: Idempotency key, unique in the space; the store keeps only a keyed hash of it.
        content: What the caller gave, canonically encoded; the same key with other content is a conflict.
        lasting: An import's key: it outlives the item's erasure, so that the same import run again brings nothing back.
    """

    verb: Verb
    item: Item
    terms: tuple[bytes, ...] | None
    key: str | None = None
    content: bytes = b""
    lasting: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Tie:
    """Write (`LINKED`) or close (`UNLINKED`) a link."""

    verb: Verb
    link: Link


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """An event that writes no version: it carries its payload in the journal itself."""

    verb: Verb
    payload: bytes
    item: ItemId | None = None


Op = Put | Tie | Note


@dataclass(frozen=True, slots=True, kw_only=True)
class Advance:
    """Move the cursor of a lane of the draft's space: what the commit writes is what came of `after` to `upto`.

    Attributes:
        owner: Who holds the lane's lease; "" while nobody does.
        after, upto: Where the cursor must stand, and where it stands then: versions' local numbers.
    """

    name: str
    owner: str
    after: int
    upto: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """One commit before it is one: all of `ops`, or none.

    Attributes:
        expect: For an item that must not have changed: the `seq_from` of its standing version, 0 for "must not exist".
        used: Use to add to the counters of items.
        upon: The space's last commit as its author saw it (0 before the first): refused once the space has moved on.
        lane: The step of a lane that this commit is. Without ops it moves the cursor and is no commit: it gets no seq.
            With one, every source that an item cites must still be there.
    """

    tenant: str
    user: str | Shared
    actor: str
    ops: tuple[Op, ...]
    cause: int | None = None
    expect: Mapping[ItemId, int] = field(default_factory=dict)
    used: Mapping[ItemId, Strength] = field(default_factory=dict)
    upon: int | None = None
    lane: Advance | None = None


class EmbedderState(IntEnum):
    """What an embedder's vectors are for just now. The numbers are part of the format."""

    SERVING = 1
    FILLING = 2
    RETIRING = 3


class EmbedderRow(NamedTuple):
    """An embedder whose vectors the store holds; `id` is never given to another, `name` says weights and revision."""

    id: int
    name: str
    dims: int
    state: EmbedderState


class VectorRow(NamedTuple):
    """The vector of one part of a version: `dims` half-precision numbers, little-endian."""

    ver: int
    part: int
    f16: bytes


def embedding_lane(model: int) -> str:
    """The name of the lane that fills an embedder's vectors; it goes when the embedder does."""
    return f"embed:{model}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """Work that follows a space's versions, in their order, each once.

    Attributes:
        cursor: The last version that was dealt with, by its local number; 0 before the first run.
        owner: Who holds the lease, "" for nobody; it may be taken over once `lease_until` (microseconds) has passed.
        attempt: Failures in a row.
        not_before: Nobody may claim it earlier than this (microseconds).
        error: How the last run failed; "" when it did not. An erasure in the space empties it.
    """

    space: int
    name: str
    cursor: int = 0
    owner: str = ""
    lease_until: int = 0
    attempt: int = 0
    not_before: int = 0
    error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Vectors:
    """Vectors of versions past `after`, up to `upto`, and the step of the embedder's lane that they are.

    Attributes:
        lane: `embedding_lane(model)`.
        owner: Who holds the lane's lease; "" while nobody does.
    """

    space: int
    model: int
    rows: tuple[VectorRow, ...]
    lane: str
    owner: str
    after: int
    upto: int


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
        epoch: Raised whenever content is taken out of it (erase, compaction): caches start over.
        user: Whose it is; `SHARED` for the tenant's common space; None once its user is erased.
    """

    id: int
    tenant: int
    user: str | Shared | None
    seq: int
    epoch: int


class Snapshot(Protocol):
    """One read transaction: everything it answers is of the same moment."""

    def tenant(self, name: str) -> int | None:
        """The number of a tenant, if it has ever been written to."""
        ...

    def tenants(self) -> list[tuple[int, str]]:
        """Every tenant, by number."""
        ...

    def head(self, tenant: int) -> Head:
        """Where the tenant's journal stands."""
        ...

    def space(self, tenant: int, user: str | Shared) -> SpaceHead | None:
        """One user's space, or the shared one, if it has ever been written to."""
        ...

    def spaces(self, ids: Sequence[int]) -> list[SpaceHead]:
        """Where these spaces stand, in the order given."""
        ...

    def all_spaces(self, tenant: int) -> list[SpaceHead]:
        """Every space of a tenant."""
        ...

    def name_id(self, space: int, name: str) -> int | None:
        """The number of an agent's or session's name in a space."""
        ...

    def get(self, spaces: Sequence[int], ids: Sequence[ItemId], view: View = View()) -> dict[ItemId, Version]:
        """The versions of these items that the view shows; absent ones are left out."""
        ...

    def standing(self, spaces: Sequence[int], ids: Sequence[ItemId]) -> dict[ItemId, Version]:
        """The standing version of each item in whatever state it is."""
        ...

    def versions(self, space: int, vers: Sequence[int]) -> dict[int, Version]:
        """Versions by their local number (`Entry.ver`)."""
        ...

    def history(self, spaces: Sequence[int], item: ItemId) -> list[Version]:
        """Every retained version of an item, oldest first."""
        ...

    def scan(
        self, spaces: Sequence[int], where: Filter = Filter(), view: View = View(), *, after: int = 0, limit: int = 100
    ) -> list[tuple[int, Version]]:
        """Versions with their local number, ascending from just past `after`: pass the last one on for more."""
        ...

    def latest(
        self, spaces: Sequence[int], where: Filter = Filter(), view: View = View(), *, limit: int = 100
    ) -> list[Version]:
        """The last `limit` versions written that the view shows, newest first."""
        ...

    def count(self, spaces: Sequence[int], where: Filter = Filter(), view: View = View()) -> int:
        """How many items the view shows."""
        ...

    def entries(self, space: int, after: int = 0) -> Iterator[Entry]:
        """Entries of versions numbered past `after`, ascending by (ver, part): all states, closed ones too."""
        ...

    def closed(self, space: int, after_seq: int) -> list[tuple[int, int]]:
        """(ver, seq_to) of versions closed by commits after `after_seq`."""
        ...

    def core(self, spaces: Sequence[int], view: View = View(), limit: int = 100) -> list[Version]:
        """What is always at hand: versions that are pinned, profile or procedure, ascending by (seq_from, ver).

        Of more than `limit`, the newest; what is of the profile goes first.
        """
        ...

    def newest(self, space: int) -> int:
        """The highest version of a space by its local number; 0 for none. No number is ever given twice."""
        ...

    def embedders(self) -> list[EmbedderRow]:
        """The embedders whose vectors are held, by id."""
        ...

    def vectors(self, space: int, model: int, after: int = 0) -> Iterator[VectorRow]:
        """One embedder's vectors of versions numbered past `after`, ascending by (ver, part).

        Complete up to the cursor of the embedder's lane. Past it there are some already, carried over with tokens:
        who follows reads from the cursor seen last, not from the last vector.
        """
        ...

    def lane(self, space: int, name: str) -> Lane:
        """How far a lane has come in a space; one that never ran stands at 0."""
        ...

    def backlog(self, name: str) -> list[tuple[int, int, int]]:
        """(space, cursor, newest version) of each space, not erased, in which a lane has work, by space."""
        ...

    def links(self, spaces: Sequence[int], ids: Sequence[ItemId], view: View = View()) -> list[Link]:
        """Links that start or end at these items."""
        ...

    def derived(self, space: int, ids: Sequence[ItemId]) -> list[ItemId]:
        """Items whose standing version cites one of these as its source."""
        ...

    def strength(self, space: int, ids: Sequence[ItemId]) -> dict[ItemId, Strength]:
        """Counters of use; items never used are left out."""
        ...

    def changes(self, tenant: int, after: int = 0, limit: int = 100, *, newest: bool = False) -> list[Change]:
        """Commits after seq `after`, ascending; with `newest`, the last ones, descending."""
        ...

    def written(self, space: int, seq: int) -> list[tuple[Version, Version | None]]:
        """What a commit wrote: each version, with the one it followed."""
        ...

    def ties(self, space: int, seq: int) -> list[tuple[Link, bool]]:
        """Links that a commit opened (True) or closed (False)."""
        ...

    def seq_at(self, tenant: int, at: int) -> int:
        """The last commit recorded at or before this moment (microseconds); 0 for none."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Erasure:
    """What to erase: items and all that was derived from them, or a whole user or tenant.

    Attributes:
        reopen: What stands again once these items are gone, written in the same commit.
        expect: For each of those, the `seq_from` of the version that must still stand.
    """

    tenant: str
    user: str | Shared | None
    ids: tuple[ItemId, ...] = ()
    whole: bool = False
    actor: str = "me"
    reason: str = ""
    reopen: tuple[Put, ...] = ()
    expect: Mapping[ItemId, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasureReceipt:
    """What an erasure did, and how far it has come.

    Attributes:
        seq: The commit that journals it, or None when there was nothing to erase.
        ids: The items that are gone, derived ones included.
        status: `clean` when no byte of it is left in any of our files, or `pending` while another process reads.
        scanned: The files that hold no byte of it.
        outside: What lies outside our hands.
    """

    seq: int | None
    ids: tuple[ItemId, ...]
    versions: int
    links: int
    status: str
    scanned: tuple[str, ...]
    outside: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Info:
    """What `doctor` prints about a store."""

    url: str
    engine: str
    format: int
    bytes: int
    settings: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One thing that `verify` found wrong."""

    where: str
    problem: str


class Store(Protocol):
    """A keeper of memory. All methods are safe to call from many threads."""

    def commit(self, draft: Draft) -> Receipt:
        """Write all of a draft, durably, or nothing.

        When every op of it has landed before under its key with the same content, nothing is written and the first
        receipt comes back.

        Raises:
            Conflict: a key came with other content, an item in `expect` has changed, the space has moved on from
                `upon`, the lane's cursor or lease is another's, or what its step cites has been erased; nothing was
                written.
            StoreError: the write may or may not have landed; the same keys make a retry safe.
        """
        ...

    def enlist(self, name: str, dims: int, state: EmbedderState) -> int:
        """The id of an embedder, made known if it is not; one that is known keeps its state, unless it was retiring.

        Raises:
            Conflict: an embedder of this name has other dimensions.
        """
        ...

    def appoint(self, model: int, state: EmbedderState) -> None:
        """Say what an embedder's vectors are for from now on.

        Raises:
            NotFound: there is no such embedder.
        """
        ...

    def dismiss(self, model: int) -> None:
        """Take out an embedder with its lanes and vectors, in slices that let writers through; cut short, it goes on
        when it is called again, and meanwhile the embedder is retiring. Nothing to do for one that is not there.
        """
        ...

    def claim(self, space: int, lane: str, owner: str, seconds: float) -> Lane | None:
        """Lease a lane, or prolong one's own lease; None while another's lives, before its time, in an erased space."""
        ...

    def release(self, space: int, lane: str, owner: str, error: str = "", not_before: int = 0) -> None:
        """Give a lease back; with an error, one more failed attempt. Without effect if the lease has passed on."""
        ...

    def keep(self, batch: Vectors) -> int:
        """Write vectors and move the lane's cursor in one transaction, durably; returns how many were written.

        A row whose part is gone, erased meanwhile, is left out.

        Raises:
            Conflict: the cursor is not where the batch begins, the lease is another's, or the embedder retires.
            NotFound: there is no such embedder, or the space was erased.
            Invalid: a row is of the wrong size or outside the step.
        """
        ...

    def read(self) -> AbstractContextManager[Snapshot]:
        """One read transaction; it belongs to the thread that opened it."""
        ...

    def erase(self, erasure: Erasure) -> ErasureReceipt:
        """Take content out for good: bytes, tokens, salts, counters, and every cache of every process."""
        ...

    def settle(self) -> bool:
        """Whether every erasure has reached every file; tries once more if one is pending."""
        ...

    def compact(self, tenant: str, horizon: int) -> int:
        """Drop versions closed, and journal rows written, at or before `horizon`; returns how many versions went."""
        ...

    def verify(self) -> Iterator[Fault]:
        """Check chain, digests, projections and entries against each other."""
        ...

    def state_hash(self, tenant: str) -> str:
        """SHA-256 over ids, seqs and digests of the retained versions and links."""
        ...

    def export(self, tenant: str) -> Iterator[bytes]:
        """The tenant's journal with its content, one JSON line a record, in an order that never varies."""
        ...

    def load(self, lines: Iterator[bytes]) -> int:
        """Apply an exported journal to a store that has no such tenant; ids, salts, seqs and hashes are kept."""
        ...

    def backup(self, dest: Path) -> None:
        """A consistent copy of the whole store, taken while writers go on."""
        ...

    def info(self) -> Info:
        """What it is and how it is set."""
        ...

    def close(self) -> None:
        """Finish what is under way and let go of every file."""
        ...
