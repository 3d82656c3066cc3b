"""2Q: a page must come back before it counts as hot.

Source: Johnson and Shasha, "2Q: A Low Overhead High Performance Buffer Management Replacement Algorithm", VLDB 1994,
the full version with its constants: a quarter of the window for what came once, ghosts for half a window.
Departure: the size of the window is what lies in it, for pages differ in tokens. A page comes in here before another
leaves, so the newcomer does not count while that one is chosen: over pages of one size it is the paper's, hit for hit.
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
        self._newest: ItemId | None = None

    def admitted(self, page: Page, now: int) -> None:
        """Admit a page to the hot ones if its ghost is remembered, else to the new ones."""
        self._forget_newest()
        to_tail(self._hot if page.id in self._ghosts else self._new, page.id)
        self._newest = page.id

    def used(self, page: Page, now: int) -> None:
        """Move a hot page to the end; a new one stays in its place, as uses close together count once."""
        if page.id in self._hot:
            self._hot.move_to_end(page.id)

    def left(self, page: Page, now: int) -> None:
        """Forget a page; of a new one the ghost is remembered for a while."""
        new = page.id in self._new
        (self._new if new else self._hot).pop(page.id, None)
        most = max(int((len(self._new) + len(self._hot)) * self._ghost_share), 1)
        if new:
            self._ghosts.add(page.id, most)
        else:
            self._ghosts.trim(most)
        self._forget_newest()

    def victim(self, pages: Mapping[ItemId, Page], now: int) -> Page:
        """Choose the first new page while these exceed their share, else the least recently used hot one."""
        new = len(self._new) - (self._newest in self._new)
        hot = len(self._hot) - (self._newest in self._hot)
        crowded = new > self._new_share * (new + hot)
        one, other = (self._new, self._hot) if crowded or not self._hot else (self._hot, self._new)
        page = first(one, pages) or first(other, pages)
        assert page is not None, "a victim is asked for among pages that were admitted"
        return page

    def _forget_newest(self) -> None:
        """A page that came back takes up a ghost's room until something has left for it, as in the paper's order."""
        if self._newest is not None and self._newest in self._hot:
            self._ghosts.discard(self._newest)
