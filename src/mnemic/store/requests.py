"""What a verb or a lane may ask of the store: look at a snapshot, commit a draft, erase, sweep, transact over rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Concatenate, ParamSpec, TypeVar

from mnemic.core.events import Receipt
from mnemic.flow import Flow, Request
from mnemic.store.engine.rows import Rows
from mnemic.store.engine.snapshot import Snapshot
from mnemic.store.values.drafts import Draft, Erasure
from mnemic.store.values.receipts import ErasureReceipt, Swept

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Look(Request):
    """Apply a pure function to one snapshot; the read transaction ends before the answer comes back."""

    read: Callable[[Snapshot], Any]


@dataclass(frozen=True, slots=True)
class Commit(Request):
    """Write a draft."""

    draft: Draft


@dataclass(frozen=True, slots=True)
class Erase(Request):
    """Take content out for good."""

    erasure: Erasure


@dataclass(frozen=True, slots=True)
class Transact(Request):
    """Apply a function to the rows of one write transaction, beside the queue of commits.

    Attributes:
        args, kwargs: What it takes after the rows.
        urgent: Whether it is done at once, though a verb in front may wait.
    """

    work: Callable[..., Any]
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    urgent: bool = False


@dataclass(frozen=True, slots=True)
class Sweep(Request):
    """Drop some of what lies behind the horizon."""

    tenant: str
    seconds: float


def look(read: Callable[[Snapshot], T]) -> Flow[T]:
    """Apply `read` to one snapshot of the store; its result."""
    answer: T = yield Look(read)
    return answer


def commit(draft: Draft) -> Flow[Receipt]:
    """Write a draft; its receipt, once it is on disk."""
    receipt: Receipt = yield Commit(draft)
    return receipt


def erase(erasure: Erasure) -> Flow[ErasureReceipt]:
    """Take content out for good; the receipt."""
    receipt: ErasureReceipt = yield Erase(erasure)
    return receipt


def transact(work: Callable[Concatenate[Rows, P], T], *args: P.args, **kwargs: P.kwargs) -> Flow[T]:
    """Apply `work` to the rows of one write transaction; its result, once all that it wrote is on disk."""
    answer: T = yield Transact(work, args, kwargs)
    return answer


def sweep(tenant: str, seconds: float) -> Flow[Swept]:
    """Sweep a tenant for some seconds; what went."""
    swept: Swept = yield Sweep(tenant, seconds)
    return swept
