"""A sliding window: the latest turns stay, whatever is read. The baseline of every chat."""

from __future__ import annotations

from typing import ClassVar

from mnemic.tiers.base import Page
from mnemic.tiers.policies.scored import Scored


class LatestTurns(Scored):
    """By birth: a page that was read back is as old as it was, and leaves next."""

    name: ClassVar[str] = "window"

    def worth(self, page: Page, now: int) -> float:
        """Return the more, the later the page was written."""
        return page.born
