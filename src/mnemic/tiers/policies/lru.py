"""Least recently used: the page leaves that nobody has wanted for longest."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import ClassVar

from mnemic.core.ids import ItemId
from mnemic.tiers.base import Page
from mnemic.tiers.policies.ordered import Order, first, to_tail


class Lru:
    """By last use, coming in being one."""

    name: ClassVar[str] = "lru"

    def __init__(self) -> None:
        self._order: Order = OrderedDict()

    def admitted(self, page: Page, now: int) -> None:
        """Make the page the most recently used."""
        to_tail(self._order, page.id)

    def used(self, page: Page, now: int) -> None:
        """Make the page the most recently used."""
        to_tail(self._order, page.id)

    def left(self, page: Page, now: int) -> None:
        """Forget the page."""
        self._order.pop(page.id, None)

    def victim(self, pages: Mapping[ItemId, Page], now: int) -> Page:
        """Choose the page used longest ago."""
        page = first(self._order, pages)
        assert page is not None, "a victim is asked for among pages that were admitted"
        return page
