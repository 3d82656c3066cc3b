"""Housekeeping of an open store in the caller's thread: a collection from end to end, legal holds."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mnemic.collecting.collection import (
    ASKED,
    Collection,
    CollectionPlan,
    Taken,
    collect_slice,
    collectors_named,
    conclude,
    recalled,
)
from mnemic.core.checking import clean_text
from mnemic.flow import Request, run
from mnemic.settings import Settings
from mnemic.store.contract import Store
from mnemic.store.engine.compaction import SLICE_SECONDS
from mnemic.store.engine.holds import place
from mnemic.store.values.heads import Hold
from mnemic.tiers.retention import RetainedPast, retention
from mnemic.tiers.retention import past as read_past
from mnemic.writing import Desk


@dataclass(frozen=True, slots=True, kw_only=True)
class Collected:
    """What a run of the garbage collection did, or with `dry_run` what it would do.

    Attributes:
        taken: What was retired: whose, by which collector, and why.
        passed: How many of those chosen were left, because they changed or were held meanwhile.
        unknown_classes: Retention classes that tags name and the settings do not, each with how many items name it;
            these are kept.
        horizon: The commit before which the past is gone; `horizon_before` is where that was before.
        held_back: What kept the horizon from going as far as the retention allows; "" for nothing.
        versions, links, events, names: Rows that went for good; with `dry_run`, at most so many versions would.
        pages: What went back to the disk.
        bytes_before, bytes_after: Of the store's file, with all of the log folded in.
        pauses: Seconds that each slice had the write lock, shortest first: at most so long it kept a writer waiting.
        seq: The commit that journals the run; None where it did nothing.
    """

    dry_run: bool
    taken: tuple[Taken, ...]
    passed: int
    unknown_classes: Mapping[str, int]
    horizon_before: int
    horizon: int
    held_back: str
    versions: int
    links: int
    events: int
    names: int
    pages: int
    bytes_before: int
    bytes_after: int
    pauses: tuple[float, ...]
    seconds: float
    seq: int | None

    @property
    def freed(self) -> int:
        """Bytes by which the files shrank; below 0 if writers added more meanwhile."""
        return self.bytes_before - self.bytes_after

    @property
    def slices(self) -> int:
        """How many slices the run took."""
        return len(self.pauses)

    @property
    def longest(self) -> float:
        """Seconds of the longest slice; 0 where there was none."""
        return self.pauses[-1] if self.pauses else 0.0

    @property
    def p99(self) -> float:
        """Seconds that 99 of a hundred slices did not pass; 0 where there was none."""
        return self.pauses[(len(self.pauses) - 1) * 99 // 100] if self.pauses else 0.0

    @property
    def by_collector(self) -> Mapping[str, int]:
        """How many items each collector took."""
        return Counter(taken.collector for taken in self.taken)


def plan_for(
    settings: Settings,
    tenant: str | None = None,
    *,
    collectors: Sequence[str] | None = None,
    keep: RetainedPast | None = None,
    trigger: str = ASKED,
    slice_seconds: float = SLICE_SECONDS,
    dry_run: bool = False,
) -> CollectionPlan:
    """Plan a garbage collection run; what is left out comes from the settings.

    Raises:
        Invalid: a setting or a collector's name cannot be taken.
    """
    named = [name.strip() for name in settings.collectors.split(",") if name.strip()]
    return CollectionPlan(
        tenant=tenant or settings.tenant,
        collectors=collectors_named(named if collectors is None else collectors),
        retention=retention(settings.retention, settings.retention_kinds),
        past=read_past(settings.keep_past) if keep is None else keep,
        trigger=trigger,
        seconds=slice_seconds,
        choose_only=dry_run,
    )


def gc(
    store: Store,
    desk: Desk,
    perform: Callable[[Request], Any],
    plan: CollectionPlan,
    on_slice: Callable[[int], None] = lambda done: None,
) -> Collected:
    """Run a plan to its end in slices; writers get in between them, readers are never kept out.

    Args:
        perform: Answers the requests of its flows.
        on_slice: Called after each slice with how many items or rows it dealt with.
    """
    began, before = time.monotonic(), store.info().folded
    work = Collection(plan)
    while not work.done:
        did = run(collect_slice(desk, work), perform)
        on_slice(did.done)
    after = store.info().folded
    if not plan.choose_only:
        record = run(recalled(plan.tenant), perform)
        run(conclude(desk, work, record, before, after), perform)
    return _collected(work, before, after, time.monotonic() - began)


def _collected(work: Collection, before: int, after: int, seconds: float) -> Collected:
    return Collected(
        dry_run=work.plan.choose_only,
        taken=tuple(work.taken),
        passed=work.passed,
        unknown_classes=dict(sorted(work.unknown.items())),
        horizon_before=work.horizon[0],
        horizon=work.horizon[1],
        held_back=work.held_back,
        versions=work.swept.versions,
        links=work.swept.links,
        events=work.swept.events,
        names=work.swept.names,
        pages=work.swept.pages,
        bytes_before=before,
        bytes_after=after,
        pauses=tuple(sorted(work.pauses)),
        seconds=seconds,
        seq=work.seq,
    )


def hold(store: Store, settings: Settings, order: Hold) -> int:
    """Set a legal hold and return its number.

    Raises:
        Invalid: the reason cannot be kept, or an item or session is named without its user.
        NotFound: there is no such user, item or session.
    """
    if order.reason:
        clean_text("reason", order.reason, settings.item_limit)
    return store.transact(place, order)


__all__ = ["Collected", "gc", "hold", "plan_for", "read_past"]
