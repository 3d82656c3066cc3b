"""The most hits that any policy could have had, knowing the future.

For pages of equal size it is exact: MIN (Belady, "A study of replacement algorithms for a virtual-storage computer",
1966) where a page need not stay for having come, that is with bypass, so that it bounds policies which refuse a page as
well as those which may not. For pages of unequal size the optimum is NP-hard, and what is computed is a bound that may
lie above it: PFOO-U (Berger, Beckmann, Harchol-Balter, "Practical Bounds on Optimal Caching with Variable Object
Sizes", 2018): each hit costs its page's size for as long as it waits, and the cheapest are taken until the window is
used up over the whole of the trace.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush
from itertools import accumulate

from mnemic.lab.tasks.paging.traces import PageTrace

NEVER = 1 << 60


def next_reads(trace: PageTrace) -> list[int]:
    """For each reference, when its page is read next; `NEVER` if it is not."""
    upcoming: dict[int, int] = {}
    next_read = [NEVER] * len(trace.references)
    for now in range(len(trace.references) - 1, -1, -1):
        reference = trace.references[now]
        next_read[now] = upcoming.get(reference.page, NEVER)
        if not reference.write:
            upcoming[reference.page] = now
    return next_read


def optimum(trace: PageTrace, capacity: int) -> int:
    """Most hits with room for `capacity` pages: the one read farthest in the future leaves."""
    following = next_reads(trace)
    wanted: dict[int, int] = {}
    farthest: list[tuple[int, int]] = []
    hits = 0
    for now, reference in enumerate(trace.references):
        hits += not reference.write and wanted.pop(reference.page, None) is not None
        if following[now] == NEVER:
            continue
        wanted[reference.page] = following[now]
        heappush(farthest, (-following[now], reference.page))
        while len(wanted) > capacity:
            when, page = heappop(farthest)
            if wanted.get(page) == -when:
                del wanted[page]
    return hits


def bound(trace: PageTrace, budget: int) -> int:
    """An upper bound on the hits with room for `budget` tokens (PFOO-U)."""
    costs = sorted(_costs(trace, next_reads(trace), budget))
    room = budget * max(len(trace.references) - 1, 0)
    return sum(1 for total in accumulate(costs) if total <= room)


def _costs(trace: PageTrace, following: Sequence[int], budget: int) -> list[int]:
    """Tokens times references waited, for each read that could be a hit; a page larger than the window never is."""
    return [
        trace.pages[reference.page].tokens * (following[now] - now)
        for now, reference in enumerate(trace.references)
        if following[now] < NEVER and trace.pages[reference.page].tokens <= budget
    ]
