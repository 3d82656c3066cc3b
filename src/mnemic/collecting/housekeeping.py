"""Collecting an open store from one end to the other, in the caller's thread; holds."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from mnemic.collecting.collection import (
    ASKED,
    Collection,
    Plan,
    Taken,
    collect_slice,
    collectors_named,
    conclude,
    recalled,
)
from mnemic.core.text import clean_text
from mnemic.flow import run
from mnemic.opening import Opened
from mnemic.settings import Settings
from mnemic.store.compaction import SLICE_SECONDS
from mnemic.store.heads import Hold
from mnemic.store.holds import place
from mnemic.tiers.retention import RetainedPast, retention
from mnemic.tiers.retention import past as read_past


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
        """Bytes by which the file is smaller; below 0 if writers wrote more meanwhile."""
        return self.bytes_before - self.bytes_after

    @property
    def slices(self) -> int:
        """How many slices that took."""
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
        return Counter(one.collector for one in self.taken)


def plan_for(
    settings: Settings,
    tenant: str | None = None,
    *,
    collectors: Sequence[str] | None = None,
    keep: RetainedPast | None = None,
    trigger: str = ASKED,
    slice_seconds: float = SLICE_SECONDS,
    dry_run: bool = False,
) -> Plan:
    """What a run is to do, by the settings where nothing else is said.

    Raises:
        Invalid: a setting or a collector's name cannot be taken.
    """
    named = [name.strip() for name in settings.collectors.split(",") if name.strip()]
    return Plan(
        tenant=tenant or settings.tenant,
        collectors=collectors_named(named if collectors is None else collectors),
        retention=retention(settings.retention, settings.retention_kinds),
        past=read_past(settings.keep_past) if keep is None else keep,
        trigger=trigger,
        seconds=slice_seconds,
        choose_only=dry_run,
    )


def gc(opened: Opened, plan: Plan, told: Callable[[int], None] = lambda done: None) -> Collected:
    """Run a plan to its end; whoever writes gets in between slices, whoever reads is not kept out.

    Args:
        told: Called after each slice with how many items or rows it dealt with.
    """
    began, before = time.monotonic(), opened.store.info().folded
    desk, work = opened.kernel.desk, Collection(plan)
    while not work.done:
        did = run(collect_slice(desk, work), opened.background.perform)
        told(did.done)
    after = opened.store.info().folded
    if not plan.choose_only:
        record = run(recalled(plan.tenant), opened.background.perform)
        run(conclude(desk, work, record, before, after), opened.background.perform)
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


def hold(opened: Opened, order: Hold) -> int:
    """Set a legal hold and return its number.

    Raises:
        Invalid: the reason cannot be kept, or an item or session is named without its user.
        NotFound: there is no such user, item or session.
    """
    if order.reason:
        clean_text("reason", order.reason, opened.settings.item_limit)
    return opened.store.transact(place, order)


def holds(opened: Opened, tenant: str) -> list[Hold]:
    """The legal holds of a tenant, the oldest first."""
    with opened.store.read() as snapshot:
        number = snapshot.tenant(tenant)
        return [] if number is None else snapshot.holds(number)


__all__ = ["Collected", "gc", "hold", "holds", "plan_for", "read_past"]
