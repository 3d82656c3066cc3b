"""`Combined` for a talk that is asked about as it goes on, where questions bring what merely sounds alike as well.

There what a page says tells less of it, and how often it was asked for tells less the more often it was: a few turns
are brought up by many questions, the others by one or none. That it was read just now says nothing: the next question
is about something else (docs/decisions/0024).
"""

from __future__ import annotations

from math import log
from typing import ClassVar

from mnemic.tiers.base import Page
from mnemic.tiers.policies.scored import Scored


class Steady(Scored):
    """Rises with importance and uses, falls with age; by when a page was last used nothing is decided."""

    name: ClassVar[str] = "steady"

    def __init__(
        self,
        *,
        importance: float = 1.5,
        bend: float = 0.65,
        uses: float = 0.2,
        unused: float = 0.14,
        settled: float = 220.0,
    ) -> None:
        """Args: `bend` and `unused` are those of `Combined`, the others fitted on the same conversations.

        importance: How much it multiplies the rate, as a logarithm, from none to full.
        uses: The exponent of their count.
        settled: References before age counts in full.
        """
        self._importance, self._bend = importance, bend
        self._uses, self._unused, self._settled = uses, unused, settled

    def worth(self, page: Page, now: int) -> float:
        """Compute the logarithm of the rate at which a page is expected to be used."""
        said: float = page.importance**self._bend
        used = self._uses * log(page.uses + self._unused)
        return self._importance * said + used - log(now - page.born + self._settled)
