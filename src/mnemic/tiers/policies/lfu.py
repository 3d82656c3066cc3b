"""Least frequently used, ageing: the page leaves that was used least, and old fame fades.

Source: ageing by the count of the last page evicted (LFU-DA), Arlitt et al., "Evaluating Content Management Techniques
for Web Proxy Caches", 2000. Without it a page much used once would never leave, and a new one never stay. A page that
comes back starts over, as there; over pages of one size it is the paper's, hit for hit.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from mnemic.core.ids import ItemId
from mnemic.tiers.base import Page
from mnemic.tiers.policies.ordered import Heap


class Lfu:
    """By uses since the page came in, that one included; ties go to the least recent. The newcomer stays."""

    name: ClassVar[str] = "lfu"

    def __init__(self, *, ageing: bool = True) -> None:
        self._ageing = ageing
        self._age = 0
        self._uses: dict[ItemId, int] = {}
        self._heap: Heap[int] = Heap()
        self._newest: ItemId | None = None

    def admitted(self, page: Page, now: int) -> None:
        """Note a newcomer; its standing is set once a page has left for it, from the window's age then."""
        self._place_newest()
        self._uses[page.id] = 1
        self._newest = page.id

    def used(self, page: Page, now: int) -> None:
        """Raise the page's standing by one and by the window's ageing."""
        self._place_newest()
        self._uses[page.id] += 1
        self._heap.put(page.id, self._uses[page.id] + self._age)

    def left(self, page: Page, now: int) -> None:
        """Age the window to the standing of the page that left."""
        self._uses.pop(page.id, None)
        if page.id == self._newest:
            self._newest = None
        standing = self._heap.discard(page.id)
        if self._ageing and standing is not None:
            self._age = max(self._age, standing)

    def victim(self, pages: Mapping[ItemId, Page], now: int) -> Page:
        """Choose the page of lowest standing; the newcomer only if no other may leave."""
        if len(pages) == 1:
            return next(iter(pages.values()))
        return pages[self._heap.lowest(pages)]

    def _place_newest(self) -> None:
        if self._newest is not None:
            self._heap.put(self._newest, self._uses[self._newest] + self._age)
            self._newest = None
