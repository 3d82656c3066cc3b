"""What a verb or a lane may ask of the store: look at a snapshot, commit a draft, erase, lease a lane, keep vectors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from mnemic.core.events import Receipt, Verb
from mnemic.flow import Flow, Request
from mnemic.store.base import Store
from mnemic.store.drafts import Draft, Erasure, JobStep
from mnemic.store.following import Answer, Job, JobState, Lane, Order, Vectors
from mnemic.store.receipts import ErasureReceipt, Swept
from mnemic.store.snapshot import Snapshot

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Look(Request):
    """Apply a pure function to one snapshot; the read transaction ends before the answer comes back."""

    of: Callable[[Snapshot], Any]


@dataclass(frozen=True, slots=True)
class Commit(Request):
    """Write a draft."""

    draft: Draft


@dataclass(frozen=True, slots=True)
class Erase(Request):
    """Take content out for good."""

    erasure: Erasure


@dataclass(frozen=True, slots=True)
class Claim(Request):
    """Lease a lane for some seconds."""

    space: int
    lane: str
    owner: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Release(Request):
    """Give a lease back."""

    space: int
    lane: str
    owner: str
    error: str
    not_before: int
    stride: int = 0
    reach: int = 0


@dataclass(frozen=True, slots=True)
class Bury(Request):
    """Give up a version that a lane cannot digest."""

    space: int
    lane: str
    owner: str
    after: int
    ver: int
    error: str


@dataclass(frozen=True, slots=True)
class Keep(Request):
    """Write vectors and move their lane."""

    batch: Vectors


@dataclass(frozen=True, slots=True)
class Record(Request):
    """Keep what a model answered to a lane's run."""

    answer: Answer


@dataclass(frozen=True, slots=True)
class ClaimJob(Request):
    """Lease the most urgent job of these names."""

    names: tuple[str, ...]
    owner: str
    seconds: float


@dataclass(frozen=True, slots=True)
class EndJob(Request):
    """Say what became of a job."""

    step: JobStep
    state: JobState
    error: str = ""
    not_before: int = 0


@dataclass(frozen=True, slots=True)
class OrderJob(Request):
    """Have something done once."""

    order: Order


@dataclass(frozen=True, slots=True)
class MoveHorizon(Request):
    """Give up the past before a commit."""

    tenant: str
    horizon: int


@dataclass(frozen=True, slots=True)
class Sweep(Request):
    """Drop some of what lies behind the horizon."""

    tenant: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Jot(Request):
    """Keep small facts about the tenant, and journal nothing."""

    tenant: str
    memos: Mapping[str, bytes]


@dataclass(frozen=True, slots=True)
class Enter(Request):
    """Journal an event about the tenant, and keep small facts with it."""

    tenant: str
    verb: Verb
    payload: bytes
    memos: Mapping[str, bytes]


def look(of: Callable[[Snapshot], T]) -> Flow[T]:
    """What `of` makes of the store as it stands."""
    answer: T = yield Look(of)
    return answer


def commit(draft: Draft) -> Flow[Receipt]:
    """The receipt of a draft that is now on disk."""
    receipt: Receipt = yield Commit(draft)
    return receipt


def erase(erasure: Erasure) -> Flow[ErasureReceipt]:
    """The receipt of an erasure."""
    receipt: ErasureReceipt = yield Erase(erasure)
    return receipt


def claim(space: int, lane: str, owner: str, seconds: float) -> Flow[Lane | None]:
    """The lane, leased; None while it is another's or waits."""
    leased: Lane | None = yield Claim(space, lane, owner, seconds)
    return leased


def release(
    space: int, lane: str, owner: str, error: str = "", not_before: int = 0, stride: int = 0, reach: int = 0
) -> Flow[None]:
    """Give a lease back, with how the run failed if it did, and how far the next ones go carefully."""
    yield Release(space, lane, owner, error, not_before, stride, reach)


def bury(space: int, lane: str, owner: str, after: int, ver: int, error: str) -> Flow[int]:
    """The number of the dead job that keeps a version which a lane goes past."""
    number: int = yield Bury(space, lane, owner, after, ver, error)
    return number


def record(answer: Answer) -> Flow[bool]:
    """Whether the lease is held still under which an answer was kept; it is prolonged."""
    held: bool = yield Record(answer)
    return held


def claim_job(names: tuple[str, ...], owner: str, seconds: float) -> Flow[Job | None]:
    """The most urgent job, leased; None where there is none to do now."""
    job: Job | None = yield ClaimJob(names, owner, seconds)
    return job


def end_job(step: JobStep, state: JobState, error: str = "", not_before: int = 0) -> Flow[bool]:
    """Whether the job was still leased to who ends it."""
    ended: bool = yield EndJob(step, state, error, not_before)
    return ended


def keep(batch: Vectors) -> Flow[int]:
    """How many vectors of a batch are now on disk."""
    written: int = yield Keep(batch)
    return written


def move_horizon(tenant: str, horizon: int) -> Flow[int]:
    """Where the horizon was before it moved."""
    before: int = yield MoveHorizon(tenant, horizon)
    return before


def sweep(tenant: str, seconds: float) -> Flow[Swept]:
    """What one slice of a sweep did."""
    swept: Swept = yield Sweep(tenant, seconds)
    return swept


def enter(tenant: str, verb: Verb, payload: bytes, memos: Mapping[str, bytes]) -> Flow[int]:
    """The seq of an event about the tenant."""
    seq: int = yield Enter(tenant, verb, payload, memos)
    return seq


def jot(tenant: str, memos: Mapping[str, bytes]) -> Flow[None]:
    """Keep small facts about the tenant."""
    yield Jot(tenant, memos)


def answer(store: Store, request: Request) -> Any:
    """Answer one request from `store`: the only place where a verb's wish becomes a deed."""
    match request:
        case Look(of):
            with store.read() as snapshot:
                return of(snapshot)
        case Commit(draft):
            return store.commit(draft)
        case Erase(erasure):
            return store.erase(erasure)
        case Claim(space, lane, owner, seconds):
            return store.claim(space, lane, owner, seconds)
        case Release(space, lane, owner, error, not_before, stride, reach):
            store.release(space, lane, owner, error, not_before, stride, reach)
            return None
        case Bury(space, lane, owner, after, ver, error):
            return store.bury(space, lane, owner, after, ver, error)
        case Record(answered):
            return store.record(answered)
        case ClaimJob(names, owner, seconds):
            return store.claim_job(names, owner, seconds)
        case EndJob(step, state, error, not_before):
            return store.end_job(step, state, error, not_before)
        case OrderJob(order):
            return store.order(order)
        case Keep(batch):
            return store.keep(batch)
        case MoveHorizon(tenant, horizon):
            return store.move_horizon(tenant, horizon)
        case Sweep(tenant, seconds):
            return store.sweep(tenant, seconds)
        case Jot(tenant, memos):
            store.jot(tenant, memos)
            return None
        case Enter(tenant, verb, payload, memos):
            return store.enter(tenant, verb, payload, memos)
        case _:
            raise TypeError(f"no store answers {type(request).__name__}")
