"""Clock, or second chance: a hand goes round, and takes the first page not used since it last came by.

Source: Corbato, "A Paging Experiment with the Multics System", 1968.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import ClassVar

from mnemic.core.ids import ItemId
from mnemic.tiers.base import Page


class SecondChance:
    """The head of the order is where the hand points; a page comes in marked, as it does with its use."""

    name: ClassVar[str] = "clock"

    def __init__(self) -> None:
        self._round: OrderedDict[ItemId, bool] = OrderedDict()

    def admitted(self, page: Page, now: int) -> None:
        """Put the page behind the hand, marked, so that it is not the first unmarked one the hand finds."""
        self._round[page.id] = True
        self._round.move_to_end(page.id)

    def used(self, page: Page, now: int) -> None:
        """Mark the page."""
        self._round[page.id] = True

    def left(self, page: Page, now: int) -> None:
        """Forget the page."""
        self._round.pop(page.id, None)

    def victim(self, pages: Mapping[ItemId, Page], now: int) -> Page:
        """Choose the first unmarked page the hand meets; it clears marks on its way, and skips what may not leave."""
        while True:
            id_, marked = next(iter(self._round.items()))
            if not marked and id_ in pages:
                return pages[id_]
            self._round[id_] = marked and id_ not in pages
            self._round.move_to_end(id_)
