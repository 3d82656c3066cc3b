"""2Q: a page must come back before it counts as hot.

Source: Johnson and Shasha, "2Q: A Low Overhead High Performance Buffer Management Replacement Algorithm", VLDB 1994,
the full version with its constants: a quarter of the window for what came once, ghosts for half a window.
Departure: the size of the window is what lies in it when something must leave.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import ClassVar

from mnemic.core.ids import ItemId
from mnemic.tiers.base import Page
from mnemic.tiers.policies.ordered import Ghosts, Order, first, to_tail


class TwoQueue:
    """New pages queue by arrival; one that comes back after it left that queue joins the hot ones, kept by last use."""

    name: ClassVar[str] = "two_queue"

    def __init__(self, *, new_share: float = 0.25, ghost_share: float = 0.5) -> None:
        self._new_share, self._ghost_share = new_share, ghost_share
        self._new: Order = OrderedDict()
        self._hot: Order = OrderedDict()
        self._ghosts = Ghosts()

    def admitted(self, page: Page, now: int) -> None:
        """Among the hot if it is known again, else among the new."""
        to_tail(self._hot if page.id in self._ghosts else self._new, page.id)
        self._ghosts.discard(page.id)

    def used(self, page: Page, now: int) -> None:
        """A hot page moves back; a new one stays where it is: uses close together count once."""
        if page.id in self._hot:
            self._hot.move_to_end(page.id)

    def left(self, page: Page, now: int) -> None:
        """One of the new is remembered for a while."""
        most = int((len(self._new) + len(self._hot)) * self._ghost_share)
        if page.id in self._new:
            del self._new[page.id]
            self._ghosts.add(page.id, max(most, 1))
        else:
            self._hot.pop(page.id, None)
            self._ghosts.trim(max(most, 1))

    def victim(self, pages: Mapping[ItemId, Page], now: int) -> Page:
        """The first of the new while they are more than their share, else the least recently used of the hot."""
        crowded = len(self._new) > self._new_share * (len(self._new) + len(self._hot))
        one, other = (self._new, self._hot) if crowded or not self._hot else (self._hot, self._new)
        page = first(one, pages) or first(other, pages)
        assert page is not None, "a victim is asked for among pages that were admitted"
        return page
