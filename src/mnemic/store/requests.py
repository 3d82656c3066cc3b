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
class Transact(Request):
    """Apply a function to the rows of one write transaction, beside the queue of commits.

    Attributes:
        given, named: What it takes after the rows.
        urgent: Whether it is done at once, though a verb in front may wait.
    """

    work: Callable[..., Any]
    given: tuple[Any, ...] = ()
    named: Mapping[str, Any] = field(default_factory=dict)
    urgent: bool = False


@dataclass(frozen=True, slots=True)
class Sweep(Request):
    """Drop some of what lies behind the horizon."""

    tenant: str
    seconds: float


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


def transact(work: Callable[Concatenate[Rows, P], T], *given: P.args, **named: P.kwargs) -> Flow[T]:
    """What `work` makes of the rows and of the rest that is given, once all that it wrote is on disk."""
    answer: T = yield Transact(work, given, named)
    return answer


def sweep(tenant: str, seconds: float) -> Flow[Swept]:
    """What one slice of a sweep did."""
    swept: Swept = yield Sweep(tenant, seconds)
    return swept
