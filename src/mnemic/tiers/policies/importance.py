"""Importance alone: the page whose text matters least leaves, however it is used."""

from __future__ import annotations

from typing import ClassVar

from mnemic.tiers.base import Page
from mnemic.tiers.policies.scored import Scored


class LeastImportant(Scored):
    """By `Page.importance`, as `tiers.features` reads it off the text."""

    name: ClassVar[str] = "importance"

    def worth(self, page: Page, now: int) -> float:
        """Return the page's importance, in [0, 1]."""
        return page.importance
