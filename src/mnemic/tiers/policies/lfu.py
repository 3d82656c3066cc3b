"""Least frequently used, ageing: the page leaves that was used least, and old fame fades.

Source: ageing by the count of the last page evicted (LFU-DA), Arlitt et al., "Evaluating Content Management Techniques
for Web Proxy Caches", 2000. Without it a page much used once would never leave, and a new one never stay.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from mnemic.core.ids import ItemId
from mnemic.tiers.base import Page
from mnemic.tiers.policies.ordered import Heap


class Lfu:
    """By uses since the page was born, so that one which comes back is known again; ties go to the least recent."""

    name: ClassVar[str] = "lfu"

    def __init__(self, *, ageing: bool = True) -> None:
        self._ageing = ageing
        self._age = 0
        self._heap: Heap[int] = Heap()

    def admitted(self, page: Page, now: int) -> None:
        """It starts at the age of the window."""
        self._heap.put(page.id, page.uses + self._age)

    def used(self, page: Page, now: int) -> None:
        """It rises by one, and by what the window has aged."""
        self._heap.put(page.id, page.uses + self._age)

    def left(self, page: Page, now: int) -> None:
        """The window ages to the standing of what left."""
        standing = self._heap.discard(page.id)
        if self._ageing and standing is not None:
            self._age = max(self._age, standing)

    def victim(self, pages: Mapping[ItemId, Page], now: int) -> Page:
        """The lowest."""
        return pages[self._heap.lowest(pages)]
