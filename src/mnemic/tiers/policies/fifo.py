"""First in, first out: the page leaves that came in longest ago, used or not."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import ClassVar

from mnemic.core.ids import ItemId
from mnemic.tiers.base import Page
from mnemic.tiers.policies.ordered import Order, first, to_tail


class Fifo:
    """By arrival; a page that a fault brings back has arrived again."""

    name: ClassVar[str] = "fifo"

    def __init__(self) -> None:
        self._order: Order = OrderedDict()

    def admitted(self, page: Page, now: int) -> None:
        """Put the page at the end of the queue."""
        to_tail(self._order, page.id)

    def used(self, page: Page, now: int) -> None:
        """Do nothing: use does not count."""

    def left(self, page: Page, now: int) -> None:
        """Forget the page."""
        self._order.pop(page.id, None)

    def victim(self, pages: Mapping[ItemId, Page], now: int) -> Page:
        """Choose the page that arrived first."""
        page = first(self._order, pages)
        assert page is not None, "a victim is asked for among pages that were admitted"
        return page
