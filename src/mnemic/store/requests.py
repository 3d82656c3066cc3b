"""What a verb or a lane may ask of the store: look at a snapshot, commit a draft, erase, lease a lane, keep vectors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from mnemic.core.events import Receipt
from mnemic.flow import Flow, Request
from mnemic.store.base import Draft, Erasure, ErasureReceipt, Lane, Snapshot, Store, Vectors

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


@dataclass(frozen=True, slots=True)
class Keep(Request):
    """Write vectors and move their lane."""

    batch: Vectors


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


def release(space: int, lane: str, owner: str, error: str = "", not_before: int = 0) -> Flow[None]:
    """Give a lease back, with how the run failed if it did."""
    yield Release(space, lane, owner, error, not_before)


def keep(batch: Vectors) -> Flow[int]:
    """How many vectors of a batch are now on disk."""
    written: int = yield Keep(batch)
    return written


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
        case Release(space, lane, owner, error, not_before):
            store.release(space, lane, owner, error, not_before)
            return None
        case Keep(batch):
            return store.keep(batch)
        case _:
            raise TypeError(f"no store answers {type(request).__name__}")
