"""A hot tier of so many pages, under a policy: the session's own pager, with an archive behind it or alone.

With an archive, whatever a question brings is brought in: what was not there is a page fault. Alone, what has left is
lost, and only what stays can be used. Both are counted by the pager itself.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from heapq import heappop, heappush
from typing import ClassVar, Final

from mnemic.core.ids import ItemId
from mnemic.errors import Invalid
from mnemic.registry import POLICIES
from mnemic.tiers.base import Page, Policy
from mnemic.tiers.counters import Counters
from mnemic.tiers.pager import FIXED, Pager
from mnemic.tiers.policies import open_policy
from mnemic.tiers.policies.adaptive import Adaptive
from mnemic.tiers.policies.ordered import Heap
from mnemic.tiers.policies.scored import Scored

BELADY: Final = "belady"
BASELINES: Final = {"sliding window": "fifo", "reservoir": "reservoir"}
"""Rows that have no archive, and what keeps their pages. Alone, first in first out is the sliding window."""

UNTIMED: Final = frozenset({"window", "reservoir", "importance", "stay"})
"""Policies by worth that is the same whenever it is asked for, so that an order of it can be kept."""

_NEVER: Final = 1 << 60


class HotTier:
    """Pages within a capacity.

    Args:
        archive: Whether what has left can come back.
    """

    def __init__(self, policy: Policy, capacity: int, *, archive: bool) -> None:
        self._pager = Pager(policy, capacity, marks=FIXED, whole=True, remember=None)
        self.archive = archive

    @property
    def counters(self) -> Counters:
        return self._pager.counters

    @property
    def resident(self) -> Mapping[ItemId, Page]:
        """What is there now; not to be changed."""
        return self._pager.table.resident

    def arrive(self, page: Page) -> None:
        """A page that was just written comes in."""
        self._pager.admit(page)

    def use(self, pages: Sequence[Page]) -> int:
        """A question brought these pages: how many of them were there. With an archive the others come in after."""
        here = [page for page in pages if self._pager.use(page.id)]
        if self.archive:
            there = {page.id for page in here}
            for page in pages:
                if page.id not in there:
                    self._pager.fault(page)
        return len(here)


class SortedPolicy:
    """A policy of untimed worth, kept in order: it answers as the policy itself, without a look at every page."""

    name: ClassVar[str] = "standing"

    def __init__(self, inner: Scored) -> None:
        self._inner = inner
        self._heap: Heap[float] = Heap()

    def admitted(self, page: Page, now: int) -> None:
        """Find its place."""
        self._heap.put(page.id, self._inner.worth(page, now))

    def used(self, page: Page, now: int) -> None:
        """Its worth is as it was."""

    def left(self, page: Page, now: int) -> None:
        """Forget it."""
        self._heap.discard(page.id)

    def victim(self, pages: Mapping[ItemId, Page], now: int) -> Page:
        """The page worth least; of equal ones the one that came first."""
        return pages[self._heap.lowest(pages)]


class Foresight:
    """Belady's choice, knowing when each page is asked for: the page leaves that is needed latest, or never.

    Args:
        reads: The questions that ask for each page, ascending.
    """

    name: ClassVar[str] = BELADY

    def __init__(self, reads: Mapping[ItemId, Sequence[int]]) -> None:
        self._reads = reads
        self._asked = -1
        self._heap: list[tuple[int, ItemId]] = []
        self._known: dict[ItemId, int] = {}

    def asked(self, question: int, pages: Sequence[Page]) -> None:
        """A question is being asked, and these pages are what it needs: those before it are past."""
        self._asked = question
        for page in pages:
            if page.id in self._known:
                self._place(page.id)

    def admitted(self, page: Page, now: int) -> None:
        """Look up when it is needed next."""
        self._place(page.id)

    def used(self, page: Page, now: int) -> None:
        """Look up when it is needed next."""
        self._place(page.id)

    def left(self, page: Page, now: int) -> None:
        """Forget it."""
        self._known.pop(page.id, None)

    def victim(self, pages: Mapping[ItemId, Page], now: int) -> Page:
        """The one needed latest."""
        while True:
            when, id_ = self._heap[0]
            if self._known.get(id_) == -when:
                return pages[id_]
            heappop(self._heap)

    def _place(self, id_: ItemId) -> None:
        times = self._reads.get(id_, ())
        at = bisect_right(times, self._asked)
        self._known[id_] = when = times[at] if at < len(times) else _NEVER
        heappush(self._heap, (-when, id_))


def make_policy(name: str, seed: int, reads: Mapping[ItemId, Sequence[int]]) -> Policy:
    """A policy by the name of its row: one of the registry, a baseline, or Belady's.

    Args:
        reads: What Belady's may know, as `Foresight` takes it.
    """
    if name == BELADY:
        return Foresight(reads)
    opened = open_policy(BASELINES.get(name, name), seed=seed)
    return SortedPolicy(opened) if isinstance(opened, Scored) and opened.name in UNTIMED else opened


def weighs(name: str) -> bool:
    """Whether a row weighs every page anew for each that leaves, so that its time grows with the capacity."""
    return name != BELADY and isinstance(make_policy(name, 0, {}), (Scored, Adaptive))


def chosen_policies(names: Sequence[str] | None) -> tuple[str, ...]:
    """Rows of a table of policies: those named, or all; the baselines and Belady's are in it always.

    Raises:
        Invalid: a name that is no policy.
    """
    for name in names or ():
        if name not in POLICIES:
            raise Invalid("policies", f"{name!r} is not one", f"There are: {', '.join(POLICIES)}.")
    plain = [name for name in (POLICIES if names is None else names) if name not in ("window", "reservoir")]
    return (*BASELINES, *plain, BELADY)
