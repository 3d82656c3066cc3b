"""Last in, first out: the page leaves that came last. Best where the same pages come round in a loop."""

from __future__ import annotations

from typing import ClassVar

from mnemic.tiers.base import Page
from mnemic.tiers.policies.scored import Scored


class Stay(Scored):
    """By arrival, last in, first out, which keeps as much of a loop as fits; one of those `Adaptive` follows."""

    name: ClassVar[str] = "stay"

    def worth(self, page: Page, now: int) -> float:
        """Return the more, the earlier the page arrived."""
        return -page.arrived
