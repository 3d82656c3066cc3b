"""Background work as a store keeps it: embedders and their vectors, lanes, jobs, recorded answers of models."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Final, NamedTuple

from mnemic.core.ids import ItemId
from mnemic.models.base import TRAITS
from mnemic.store.values.drafts import JobStep


class EmbedderState(IntEnum):
    """Whether an embedder's vectors answer, are being made, or will be dropped. The numbers are part of the format."""

    SERVING = 1
    FILLING = 2
    RETIRING = 3


class EmbedderRow(NamedTuple):
    """An embedder whose vectors the store holds; `id` is never used again, `name` names weights and revision."""

    id: int
    name: str
    dims: int
    state: EmbedderState


class VectorRow(NamedTuple):
    """The vector of one part of a version: `dims` half-precision numbers, little-endian, and its traits if it has any.

    Those are a signed byte for each of `models.base.TRAITS`, as `index.vectors` writes and reads them.
    """

    ver: int
    part: int
    f16: bytes


def allowed_vector_sizes(dims: int) -> tuple[int, int]:
    """How many bytes a vector of so many numbers may take: alone, and with its traits."""
    return 2 * dims, 2 * dims + len(TRAITS)


class PackRow(NamedTuple):
    """What is known of a pack: the entries of a space with versions past `after`, up to `upto`, in bytes of its own.

    `rows` says how many there are, `seq` at which commit the space stood when it was made: of versions that were closed
    since, it does not know. The store keeps the bytes and never reads them: `build` says which layout they have,
    `digest` what they were, `model` of which embedder's vectors they are made; 0 for what entries say by themselves.
    """

    id: int
    space: int
    after: int
    upto: int
    seq: int
    rows: int
    build: int
    digest: bytes
    model: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class NewPack:
    """A pack to be kept in place of others.

    Attributes:
        row: What is known of it; its number is given by the store.
        epoch: That of the space when its entries were read.
        instead: The numbers of the packs that go.
    """

    row: PackRow
    body: bytes
    epoch: int
    instead: tuple[int, ...] = ()


SLOT_LANE: Final = "slot:"
"""How the names of lanes begin that index slots."""


FILLED_TAGS: Final = ":tags"
"""What follows a strategy's name in the row that notes that what it derived bears the tags by which it is looked up."""


def embedding_lane(model: int) -> str:
    """Name the lane that makes an embedder's vectors; it is dropped with the embedder."""
    return f"embed:{model}"


def slot_lane(slot: str) -> str:
    """Name the lane that indexes a slot: versions up to its cursor are found by their facets, later ones by bodies."""
    return SLOT_LANE + slot


def indexed_slot(lane: str) -> str | None:
    """The slot that a lane indexes; None if it does something else."""
    return lane.removeprefix(SLOT_LANE) if lane.startswith(SLOT_LANE) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Vectors:
    """Vectors of the versions past `after`, up to `upto`; storing them moves the embedder's lane to `upto`.

    Attributes:
        lane: `embedding_lane(model)`.
        owner: Who holds the lane's lease; "" while nobody does.
        job: The job that they finish, and the lane stays: they lie behind its cursor, so caches start over.
    """

    space: int
    model: int
    rows: tuple[VectorRow, ...]
    lane: str
    owner: str
    after: int
    upto: int
    job: JobStep | None = None


@dataclass(frozen=True, slots=True)
class DueSpaces:
    """What a followed lane is to look at, as its rows of what is due say.

    Attributes:
        complete: Whether these rows tell all: the lane is followed, and they have been written for every space.
        now: Spaces that it is to look at by the time that was asked for, by number.
        resting: Spaces in which it rests until something is written there, if they were asked for.
        later: Whether it is to look at some space later.
    """

    complete: bool
    now: list[int]
    resting: list[int]
    later: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """One worker's place in a space: a strategy or embedder handles its versions in order, each once.

    Attributes:
        cursor: The last version that was handled, by its local number; 0 before the first run.
        owner: Who holds the lease, "" for nobody; it may be taken over once `lease_until` (microseconds) has passed,
            or the clock was set back behind `leased`, and that counts as a failure. An erasure in the space ends it.
        attempt: Failures in a row.
        not_before: Nobody may claim it earlier than this (microseconds).
        error: How the last run failed; "" when it did not. An erasure in the space empties it.
        seq: The tenant's commit at which the run that is under way was first leased, and to which its reads are
            pinned; 0 between runs.
        stride: The most versions that a run may take while the cursor lies before `reach`, because one of them fails;
            0 for no limit.
        leased: When it was last leased, or ran without a lease (microseconds); 0 for never.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedAnswer:
    """A model's answer to a request of a lane's run, kept for a run that repeats it.

    Attributes:
        owner: Who holds the lease of the lane, or of the job `job` if that is not 0.
        seconds: For how long the lease is prolonged.
        inputs: The items that the run had read when it asked. An erasure of one of them, or of what was derived
            from one, takes the answer along; where none is named, any erasure in the space does.
        pin: The commit to which the run is pinned.
    """

    space: int
    lane: str
    request: bytes
    answer: bytes
    owner: str = ""
    job: int = 0
    seconds: float = 60.0
    inputs: tuple[ItemId, ...] = ()
    pin: int = 0


class JobState(IntEnum):
    """Whether a job waits or how it ended. The numbers are part of the format."""

    WAITING = 1
    """Not ended yet; while somebody works on it, it has an owner."""
    DONE = 2
    DEAD = 3
    """It failed too often and was given up; `retry` has it done again."""
    CANCELLED = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """A request for a job: work to be done once, outside the lanes.

    Attributes:
        name: The type of job, as the worker knows it (`worker.job_types`).
        key: The same key of the same name and space is the same job, however often it is ordered.
        space: Whose; 0 for the store's own. It goes with the space.
        payload: Its arguments: names and numbers, never an item's words.
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
    """An order with its state: who works on it, and how it failed.

    Attributes:
        id: Its number, which is never used again.
        attempts: Failures so far.
        owner, leased, lease_until: Who works on it, since when, and when somebody else may take over.
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

    def is_running(self, now: int) -> bool:
        """Whether somebody works on it by this time (microseconds); a clock set back behind the lease ends that."""
        return self.state is JobState.WAITING and bool(self.owner) and self.leased <= now < self.lease_until
