"""What a verb may ask of the store: look at a snapshot, commit a draft, erase."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from mnemic.core.events import Receipt
from mnemic.flow import Flow, Request
from mnemic.store.base import Draft, Erasure, ErasureReceipt, Snapshot, Store

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
        case _:
            raise TypeError(f"no store answers {type(request).__name__}")
