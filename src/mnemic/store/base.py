"""The store's promise: commit is the only way to write, and a snapshot the only way to read.

A store keeps and returns; it never scores. Ranking, fusion, decay and tokenising live above it, once.
Two keepers pass the one suite in `mnemic.testing.store_contract`: `sqlite` and `memory`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from enum import IntEnum
from pathlib import Path
from typing import NamedTuple, Protocol

from mnemic.core.events import Change, Receipt, Verb
from mnemic.core.ids import ItemId
from mnemic.core.items import Item, Link, Strength, Version
from mnemic.core.queries import Entry, Filter, View
from mnemic.core.scope import Shared
from mnemic.store.meters import MeterRow
from mnemic.store.pages import PageRow, Paging, SessionRow


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
        again: The step goes back, to digest once more what lies past `upto`; what the commit puts forgets the keys it
            was written under, so that the same may be derived under them again.
        keep_answers: What models answered in this run is kept, for a run that repeats it.
    """

    name: str
    owner: str
    after: int
    upto: int
    again: bool = False
    keep_answers: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a model answered to a lane's run.

    Attributes:
        owner: Under whose lease of the lane, or of the job `job` if that is not 0.
        seconds: For how long the lease is prolonged.
    """

    space: int
    lane: str
    asked: bytes
    answered: bytes
    owner: str = ""
    job: int = 0
    seconds: float = 60.0


@dataclass(frozen=True, slots=True)
class JobStep:
    """The job that a commit finishes, under the lease of `owner`."""

    id: int
    owner: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Fork:
    """A branch to be made by the commit that carries this.

    Attributes:
        of: The branch of the same user that it comes off; "" for the user's own space.
        base: The commit that it reads its parent at; None for the last one before it.
        lanes: Whether what is written to it is understood, by rules and by meaning, as in a space of its own.
    """

    of: str = ""
    base: int | None = None
    lanes: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """One commit before it is one: all of `ops`, or none.

    Attributes:
        expect: For an item that must not have changed: the `seq_from` of its standing version, 0 for "must not exist".
        used: Use to add to the counters of items.
        upon: The space's last commit as its author saw it (0 before the first): refused once the space has moved on.
        lane: The step of a lane that this commit is. Without ops it moves the cursor and is no commit: it gets no seq.
            With one, every source that an item cites must still be there.
        job: The job that this commit finishes. Without ops it is no commit either.
        paging: What a session writes of its window along with it. Without ops it is no commit either.
        branch: The branch that is written to; "" for the user's own space.
        fork: How that branch is made; None where it must be there.
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
    job: JobStep | None = None
    paging: Paging | None = None
    branch: str = ""
    fork: Fork | None = None


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
        owner: Who holds the lease, "" for nobody; it may be taken over once `lease_until` (microseconds) has passed,
            or the clock was set back behind `leased`, and that is a failure too. An erasure in the space takes it away.
        attempt: Failures in a row.
        not_before: Nobody may claim it earlier than this (microseconds).
        error: How the last run failed; "" when it did not. An erasure in the space empties it.
        seq: The tenant's commit at which the run that is under way was first leased, and to which its reads are
            pinned; 0 between runs.
        stride: The most versions that a run may take while the cursor lies before `reach`, because one of them fails;
            0 for as many as it likes.
        leased: When it was last leased (microseconds); 0 for never.
    """

    space: int
    name: str
    cursor: int = 0
    owner: str = ""
    lease_until: int = 0
    attempt: int = 0
    not_before: int = 0
    error: str = ""
    seq: int = 0
    stride: int = 0
    reach: int = 0
    leased: int = 0


class JobState(IntEnum):
    """Where a job stands. The numbers are part of the format."""

    WAITING = 1
    """To be done, or being done: then it has an owner."""
    DONE = 2
    DEAD = 3
    """It failed for good; whoever says `retry` has it done again."""
    CANCELLED = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """Work to be done once, for which no version of a space stands in line.

    Attributes:
        name: What is to be done, by a name of `jobs.WORK`.
        key: The same key of the same name and space is the same job, however often it is ordered.
        space: Whose; 0 for the store's own. It goes with the space.
        payload: What to do it with: names and numbers, never an item's words.
        ver: The version it is about, by its local number; 0 for none. It goes with the item.
        priority: Higher goes first.
        not_before: Nobody may begin earlier than this (microseconds).
    """

    name: str
    key: str
    space: int = 0
    payload: bytes = b""
    ver: int = 0
    priority: int = 0
    not_before: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """An order as it stands.

    Attributes:
        id: Never given to another.
        attempts: Failures so far.
        owner, leased, lease_until: Who does it, since when, and when somebody else may take over.
        error: How it failed last. An erasure in its space empties it, and takes the lease away.
        at: When it was ordered.
    """

    id: int
    order: Order
    state: JobState = JobState.WAITING
    attempts: int = 0
    owner: str = ""
    leased: int = 0
    lease_until: int = 0
    error: str = ""
    at: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Vectors:
    """Vectors of versions past `after`, up to `upto`, and the step of the embedder's lane that they are.

    Attributes:
        lane: `embedding_lane(model)`.
        owner: Who holds the lane's lease; "" while nobody does.
        job: The job that they finish, in place of a step: they lie behind the cursor, so caches start over.
    """

    space: int
    model: int
    rows: tuple[VectorRow, ...]
    lane: str
    owner: str
    after: int
    upto: int
    job: JobStep | None = None


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Swept:
    """What one slice of a sweep did.

    Attributes:
        versions, links, events, names: How many rows went: versions of items and of links, events, names.
        pages: Pages that were given back to the disk.
        seconds: How long it kept writers out, its sync included.
        more: Whether there may be more to do.
    """

    versions: int = 0
    links: int = 0
    events: int = 0
    names: int = 0
    pages: int = 0
    seconds: float = 0.0
    more: bool = False


class CheckpointRow(NamedTuple):
    """A copy of the store that was made beside it: of which commit of a tenant, when, its state hash, its file."""

    tenant: int
    name: str
    seq: int
    at: int
    hash: str
    file: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewound:
    """What going back in time did.

    Attributes:
        seq: The commit that the journal ends at: the one asked for or, where something had been erased since, a later
            one that erases it again.
        versions: How many versions went.
        erased: How many items had been erased since; they stay so.
    """

    seq: int
    versions: int
    erased: int


class Wear(NamedTuple):
    """How many versions there are, and how many of them are closed, or stand retired."""

    versions: int
    closed: int
    retired: int


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

    def space(self, tenant: int, user: str | Shared, branch: str = "") -> SpaceHead | None:
        """One user's space, or the shared one, if it has ever been written to; or one of their branches.

        Given to the methods below, a branch stands for itself and, behind it, its parent as of its base; `entries`,
        `closed`, `versions`, `newest`, `vectors`, `lane` and `name_id` are of one space alone.
        """
        ...

    def layers(self, spaces: Sequence[int]) -> tuple[Layer, ...]:
        """The spaces that a read set looks into, the nearest first."""
        ...

    def hidden(self, layer: Layer, view: View) -> tuple[int, ...]:
        """The versions of a layer whose items nearer ones have, as the view sees it, ascending."""
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

    def highest(self) -> int:
        """The highest version of all spaces; 0 for none."""
        ...

    def arrived(self, after: int) -> dict[int, int]:
        """The newest version of each space in which some are numbered past `after`."""
        ...

    def lanes(self) -> list[Lane]:
        """Every lane that ever ran, by space and name."""
        ...

    def jobs(self, *states: JobState) -> list[Job]:
        """Jobs in these states, all if none is named: the most urgent first, then by number."""
        ...

    def recorded(self, space: int, lane: str, asked: bytes) -> bytes | None:
        """What was answered when a run of this lane asked this before."""
        ...

    def keyed(self, space: int, key: str) -> ItemId | None:
        """What was written under an idempotency key that is still known."""
        ...

    def session(self, space: int, name: str) -> SessionRow | None:
        """The window of a session, if one was ever written."""
        ...

    def sessions(self, space: int) -> list[tuple[str, SessionRow]]:
        """The windows of a space with their sessions' names, by name."""
        ...

    def pages(self, space: int, session: int, ids: Sequence[ItemId] | None = None) -> list[PageRow]:
        """Pages of a session as they were written down, in the order they came in: these, or all that are at hand.

        At hand are its residents, and its turns that left the window and are in no segment yet.
        """
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

    def feed(self, tenant: int, spaces: Sequence[int], after: int = 0, limit: int = 100) -> tuple[list[Change], int]:
        """Commits of these spaces after seq `after`, ascending, and up to which seq these are all: next time's `after`.

        Of very many commits of other spaces it looks at some only: there is nothing more once the seq stays the same.

        Raises:
            Compacted: commits after `after` are gone, or the journal ends before it; 0 begins with the oldest kept.
        """
        ...

    def checkpoints(self, tenant: int) -> list[CheckpointRow]:
        """The copies that were made beside the store, by commit and name."""
        ...

    def meters(self) -> list[MeterRow]:
        """What processes that have this store open have said about themselves, the latest first."""
        ...

    def holds(self, tenant: int) -> list[Hold]:
        """The legal holds of a tenant, the oldest first."""
        ...

    def held(self, tenant: int, space: int, items: Sequence[ItemId]) -> dict[ItemId, str]:
        """Those of these items that a legal hold keeps, each with what to say about it."""
        ...

    def floor(self, tenant: int) -> tuple[int, str]:
        """The last commit that the horizon may reach, and what keeps it there."""
        ...

    def wear(self, tenant: int) -> Wear:
        """How many versions a tenant has, and how many of them nobody is shown."""
        ...

    def memo(self, tenant: int, name: str) -> bytes | None:
        """A small fact that was kept about a tenant by `enter`."""
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
        branch: The branch whose view reopens; with `whole`, the branch that is dropped. Items go from every branch.
    """

    tenant: str
    user: str | Shared | None
    ids: tuple[ItemId, ...] = ()
    whole: bool = False
    actor: str = "me"
    reason: str = ""
    reopen: tuple[Put, ...] = ()
    expect: Mapping[ItemId, int] = field(default_factory=dict)
    branch: str = ""


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
    """What `doctor` prints about a store; `free` is how many of its bytes hold nothing."""

    url: str
    engine: str
    format: int
    bytes: int
    settings: Mapping[str, str]
    free: int = 0


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

    def release(
        self, space: int, lane: str, owner: str, error: str = "", not_before: int = 0, stride: int = 0, reach: int = 0
    ) -> None:
        """Give a lease back; with an error, one more failed attempt. Without effect if the lease has passed on.

        A run that failed keeps the commit it is pinned to, so that the next one may repeat it.

        Args:
            stride, reach: With an error, the most versions that a run may take until the cursor has come to `reach`.
        """
        ...

    def bury(self, space: int, lane: str, owner: str, after: int, ver: int, error: str) -> int:
        """Give up a version: the lane goes past it, and a dead job keeps it. Returns the job's number.

        Raises:
            Conflict: the cursor or the lease is another's.
        """
        ...

    def record(self, answer: Answer) -> None:
        """Keep what a model answered, until the lane's run lands or something is erased in the space.

        Raises:
            Conflict: the lease has passed on, or an erasure in the space has taken it.
        """
        ...

    def order(self, order: Order) -> int:
        """The number of a job, ordered if it was not; durable when this returns.

        Raises:
            NotFound: its space is not here, or was erased.
        """
        ...

    def claim_job(self, names: Sequence[str], owner: str, seconds: float) -> Job | None:
        """Lease the most urgent job of these names that may be done now and that nobody does; None for none."""
        ...

    def end_job(self, step: JobStep, state: JobState, error: str = "", not_before: int = 0) -> bool:
        """Say what became of a job; with an error, one more failed attempt. False if the lease has passed on.

        `WAITING` gives it back to be gone on with, not before its time.
        """
        ...

    def steer_job(self, job: int, state: JobState) -> Job:
        """Cancel a job that waits, or have one done that is dead or was cancelled; others stay as they are.

        Raises:
            NotFound: there is no such job.
        """
        ...

    def moved(self) -> tuple[int, ...]:
        """Numbers that are others as soon as anybody, in whatever process, has written."""
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

    def wait(self, tenant: str, after: int, seconds: float) -> bool:
        """Whether the tenant's journal has gone past commit `after`; waits for that, but not longer than `seconds`.

        A commit of this process is heard at once, another process's within a fifth of a second.
        """
        ...

    def carry(self, told: Callable[[], tuple[str, bytes] | None]) -> None:
        """Write what `told` says, a process's name and its figures, along with commits, for others to see (`meters`).

        At most every two seconds, and without a transaction or a sync of its own: while nothing is committed nothing
        is written. `told` is called inside a commit: it must be quick, and must not use the store. None is nothing new.
        """
        ...

    def erase(self, erasure: Erasure) -> ErasureReceipt:
        """Take content out for good: bytes, tokens, salts, counters, and every cache of every process.

        Raises:
            NotFound: there is no such tenant or user.
            Refused: a legal hold keeps some of it; nothing was taken out.
        """
        ...

    def settle(self) -> bool:
        """Whether every erasure has reached every file; tries once more if one is pending."""
        ...

    def compact(self, tenant: str, horizon: int) -> int:
        """Move the horizon and sweep until nothing is left behind it; returns how many versions went.

        Raises:
            NotFound, Invalid, Refused: as `move_horizon` does.
        """
        ...

    def move_horizon(self, tenant: str, horizon: int) -> int:
        """Give up the past before commit `horizon`: reads there raise `Compacted`. Returns where the horizon was.

        Raises:
            NotFound: there is no such tenant.
            Invalid: it lies ahead of the journal, or behind the horizon.
            Refused: a branch, a checkpoint, a legal hold or a leased job still needs that past.
        """
        ...

    def sweep(self, tenant: str, seconds: float) -> Swept:
        """Drop some of what lies behind the horizon, keeping writers out for about `seconds`, and readers not at all.

        What goes: closed versions; items that were retired, unless something kept rests on them; links closed or
        untied; journal rows of which none is left; then free pages go back to the disk. Call it again while there is
        more, and let writers in between. Cut short at any moment, another sweep finds what is left.
        """
        ...

    def jot(self, tenant: str, memos: Mapping[str, bytes]) -> None:
        """Keep small facts about a tenant, and journal nothing.

        Raises:
            NotFound: there is no such tenant.
        """
        ...

    def enter(self, tenant: str, verb: Verb, payload: bytes, memos: Mapping[str, bytes]) -> int:
        """Journal an event about the tenant itself, and keep small facts with it; returns its seq.

        Raises:
            NotFound: there is no such tenant.
        """
        ...

    def hold(self, hold: Hold) -> int:
        """Set a legal hold, and return its number: from now on `erase` and `move_horizon` are refused, what it keeps
        is not swept.

        Raises:
            NotFound: there is no such tenant, user or item.
            Invalid: it names an item or a session, and no user.
        """
        ...

    def lift(self, tenant: str, hold: int) -> None:
        """Release a legal hold.

        Raises:
            NotFound: this tenant has no such hold.
        """
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

    def checkpoint(self, name: str) -> None:
        """A copy in the folder `checkpoints` beside the store, made while writers go on, and known to it by name.

        Raises:
            Conflict: there is one of that name.
        """
        ...

    def drop_checkpoint(self, name: str) -> None:
        """Let a checkpoint go, with its file; a file of that name that the store does not know goes too.

        Raises:
            NotFound: there is none of that name.
        """
        ...

    def rewind(self, tenant: str, seq: int) -> Rewound:
        """Bring a tenant back to exactly what it was after commit `seq`, in one transaction; caches start over.

        State hash and journal are those of then. What was erased since stays erased, which takes a commit more.

        Raises:
            NotFound: there is no such tenant.
            Invalid: there is no such commit.
            Compacted: it lies behind the horizon.
            Refused: something that would go is under legal hold.
        """
        ...

    def info(self) -> Info:
        """What it is and how it is set."""
        ...

    def close(self) -> None:
        """Finish what is under way and let go of every file."""
        ...
