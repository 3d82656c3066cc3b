"""Replays a trace through a policy, in the session's own pager with a window of so many pages or tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

from mnemic.lab.tasks.paging.traces import PageTrace
from mnemic.tiers.base import Page, Policy
from mnemic.tiers.pager import FIXED, Pager


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayTally:
    """Counts of one replay.

    Attributes:
        prefetched: Pages brought in before anybody asked, and `prefetch_hits` the reads that found one so.
        written: Pages that came in new.
        through: Writes to the store, were each change of a page's state or use written at once.
        back: Writes to the store, were a changed page written only when it leaves, and at the end.
    """

    reads: int
    hits: int
    evictions: int
    prefetched: int
    prefetch_hits: int
    written: int
    through: int
    back: int

    @property
    def faults(self) -> int:
        """Reads that found nothing."""
        return self.reads - self.hits

    @property
    def hit_rate(self) -> float:
        """Hits of reads; 0 without reads."""
        return self.hits / self.reads if self.reads else 0.0


def replay(
    trace: PageTrace, policy: Policy, capacity: int, *, by_tokens: bool = False, prefetch: int = 0
) -> ReplayTally:
    """Refer to every page of `trace` in turn; what comes in may push others out, itself among them.

    Args:
        capacity: How many pages fit, or tokens if `by_tokens`.
        prefetch: On a fault, so many of the pages said next after it come in as well, pushing others out.
    """
    pager = Pager(policy, capacity, marks=FIXED, whole=not by_tokens, remember=None)
    said: dict[int, Page] = {}
    through = 0
    for reference in trace.references:
        page = trace.pages[reference.page]
        if reference.write:
            said[page.position] = page
            through += 1 + len(pager.admit(page).evicted)
            continue
        moved = pager.reference(page)
        through += 1 + len(moved.evicted)
        if not moved.hit:
            for beside in range(page.position + 1, page.position + 1 + prefetch):
                if beside in said:
                    through += len(pager.prefetch(said[beside], evicting=True).evicted)
    return _tally(pager, through)


def pooled(tallies: Sequence[ReplayTally]) -> ReplayTally:
    """The sums over several traces."""
    return ReplayTally(
        **{field.name: sum(getattr(tally, field.name) for tally in tallies) for field in fields(ReplayTally)}
    )


def _tally(pager: Pager, through: int) -> ReplayTally:
    counts = pager.counters
    return ReplayTally(
        reads=counts.references,
        hits=counts.hits,
        evictions=counts.evictions,
        prefetched=counts.prefetched,
        prefetch_hits=counts.prefetch_hits,
        written=counts.admitted,
        through=through,
        back=counts.write_backs + sum(page.dirty for page in pager.table.resident.values()),
    )
