"""ARC: pages used once and pages used again share the window; the border between them moves to where the faults are.

Source: Megiddo and Modha, "ARC: A Self-Tuning, Low Overhead Replacement Cache", FAST 2003.
Departure: the size of the window is what lies in it once something has left, for pages differ in tokens. A page comes
in here before another leaves, so the newcomer does not count as one of those used once while that one is chosen: over
pages of one size it is the paper's Figure 4, hit for hit.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import ClassVar

from mnemic.core.ids import ItemId
from mnemic.tiers.base import Page
from mnemic.tiers.policies.ordered import Ghosts, Order, first, to_tail


class Arc:
    """T1 and T2 of the paper are `_once` and `_again`, B1 and B2 their ghosts, p is `_border`."""

    name: ClassVar[str] = "arc"

    def __init__(self) -> None:
        self._once: Order = OrderedDict()
        self._again: Order = OrderedDict()
        self._once_ghosts, self._again_ghosts = Ghosts(), Ghosts()
        self._border = 0.0
        self._newest: ItemId | None = None
        self._known_again = False

    def admitted(self, page: Page, now: int) -> None:
        """Admit a page; one that a ghost list remembers moves the border towards the list that lost it."""
        self._known_again = page.id in self._again_ghosts
        known = self._known_again or page.id in self._once_ghosts
        if known:
            self._move_border()
        to_tail(self._again if known else self._once, page.id)
        self._once_ghosts.discard(page.id)
        self._again_ghosts.discard(page.id)
        self._newest = page.id

    def used(self, page: Page, now: int) -> None:
        """Move a used page to the list of pages used again."""
        self._once.pop(page.id, None)
        to_tail(self._again, page.id)

    def left(self, page: Page, now: int) -> None:
        """Remember a page in the ghosts of its list: T1 and B1 hold at most a window, all four lists two."""
        for order, ghosts in ((self._once, self._once_ghosts), (self._again, self._again_ghosts)):
            if page.id in order:
                del order[page.id]
                ghosts.add(page.id, self._size)
        self._once_ghosts.trim(self._size - len(self._once))
        self._again_ghosts.trim(self._size - len(self._once_ghosts))

    def victim(self, pages: Mapping[ItemId, Page], now: int) -> Page:
        """Choose the least recently used page of the list that is over the border."""
        once = [self._once, self._again]
        order = once if self._beyond_border() else once[::-1]
        page = first(order[0], pages) or first(order[1], pages)
        assert page is not None, "a victim is asked for among pages that were admitted"
        return page

    @property
    def _size(self) -> int:
        return len(self._once) + len(self._again)

    def _beyond_border(self) -> bool:
        """REPLACE of the paper."""
        once = len(self._once) - (self._newest in self._once)
        return once > 0 and (once > self._border or (self._known_again and once >= self._border))

    def _move_border(self) -> None:
        once, again = max(len(self._once_ghosts), 1), max(len(self._again_ghosts), 1)
        step = -max(once / again, 1.0) if self._known_again else max(again / once, 1.0)
        self._border = min(max(self._border + step, 0.0), float(self._size))
