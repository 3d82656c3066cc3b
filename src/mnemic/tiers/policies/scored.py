"""The page worth least leaves: what every policy with a law of worth has in common."""

from __future__ import annotations

from collections.abc import Mapping

from mnemic.core.ids import ItemId
from mnemic.tiers.base import Page


class Scored:
    """A policy without state: it computes the worth of every resident page each time it is asked."""

    def worth(self, page: Page, now: int) -> float:
        """Compute what keeping a page is worth: a pure function, comparable between pages at one moment only."""
        raise NotImplementedError

    def admitted(self, page: Page, now: int) -> None:
        """Do nothing: the policy has no state."""

    def used(self, page: Page, now: int) -> None:
        """Do nothing: the page itself counts its uses."""

    def left(self, page: Page, now: int) -> None:
        """Do nothing: the policy has no state."""

    def victim(self, pages: Mapping[ItemId, Page], now: int) -> Page:
        """Choose the page worth least."""
        worth = self.worth
        return min(pages.values(), key=lambda page: (worth(page, now), page.arrived, page.id))
