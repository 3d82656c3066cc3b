"""The page worth least leaves: what every policy with a law of worth has in common."""

from __future__ import annotations

from collections.abc import Mapping

from mnemic.core.ids import ItemId
from mnemic.tiers.base import Page


class Scored:
    """A policy that remembers nothing: it weighs what is there each time it is asked, one look at each page."""

    def worth(self, page: Page, now: int) -> float:
        """What keeping the page is worth; a pure law, comparable between pages at one moment only."""
        raise NotImplementedError

    def admitted(self, page: Page, now: int) -> None:
        """Nothing is kept of it."""

    def used(self, page: Page, now: int) -> None:
        """Nothing is kept of it: the page counts its uses."""

    def left(self, page: Page, now: int) -> None:
        """Nothing was kept of it."""

    def victim(self, pages: Mapping[ItemId, Page], now: int) -> Page:
        """The page worth least."""
        worth = self.worth
        return min(pages.values(), key=lambda page: (worth(page, now), page.arrived, page.id))
