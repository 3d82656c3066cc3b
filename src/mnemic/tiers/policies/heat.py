"""Heat: visits, length and recency in one sum.

Source: Kang et al., "Memory OS of AI Agent", arXiv:2506.06326, its H = alpha N_visit + beta L + gamma exp(-dt / tau),
all three weights 1 as in the authors' package.
Departures: theirs is the heat of a segment of dialogue, L its pages; here it is a page's, and L its tokens in units of
`unit`. Their tau is a day; time here is counted in references.
"""

from __future__ import annotations

from math import exp
from typing import ClassVar

from mnemic.tiers.base import Page
from mnemic.tiers.policies.scored import Scored


class Heat(Scored):
    """Rises with uses and length, falls with the time since the last use."""

    name: ClassVar[str] = "heat"

    def __init__(
        self, *, visit: float = 1.0, length: float = 1.0, recency: float = 1.0, tau: float = 100.0, unit: float = 200.0
    ) -> None:
        self._visit, self._length, self._recency = visit, length / unit, recency
        self._tau = tau

    def worth(self, page: Page, now: int) -> float:
        """Compute a page's heat, 0 or more."""
        fresh = exp(-(now - page.last_use) / self._tau)
        return self._visit * page.uses + self._length * page.tokens + self._recency * fresh
