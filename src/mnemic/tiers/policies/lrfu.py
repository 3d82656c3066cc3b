"""LRFU: every use counts, the older the less, on a scale from least recently to least frequently used.

Source: Lee et al., "LRFU: A Spectrum of Policies that Subsumes the Least Recently Used and Least Frequently Used
Policies", IEEE Transactions on Computers 50, 2001. Counts fade alike for every page, so that their order changes only
with a use, and a heap keeps it.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import exp, log
from typing import ClassVar

from mnemic.core.ids import ItemId
from mnemic.tiers.base import Page
from mnemic.tiers.policies.ordered import Ghosts, Heap


class Lrfu:
    """`half_life`: references after which a use counts half; 1 orders as LRU does. Ghosts keep their counts a while."""

    name: ClassVar[str] = "lrfu"

    def __init__(self, *, half_life: float = 300.0) -> None:
        self._rate = log(2) / half_life
        self._standing: dict[ItemId, float] = {}
        self._heap: Heap[float] = Heap()
        self._ghosts = Ghosts()

    def admitted(self, page: Page, now: int) -> None:
        """Count the arrival as a use."""
        self._ghosts.discard(page.id)
        self._use(page, now)

    def used(self, page: Page, now: int) -> None:
        """Count a use."""
        self._use(page, now)

    def left(self, page: Page, now: int) -> None:
        """Keep the page's count until twice a window's pages have left after it."""
        self._heap.discard(page.id)
        for forgotten in self._ghosts.add(page.id, 2 * len(self._heap) + 2):
            del self._standing[forgotten]

    def victim(self, pages: Mapping[ItemId, Page], now: int) -> Page:
        """Choose the page whose faded count of uses is least."""
        return pages[self._heap.lowest(pages)]

    def _use(self, page: Page, now: int) -> None:
        """Standing is the faded count at reference 0, as a logarithm: log sum exp(rate * use)."""
        before, use = self._standing.get(page.id), self._rate * now
        self._standing[page.id] = use if before is None else use + log(1 + exp(before - use))
        self._heap.put(page.id, self._standing[page.id])
