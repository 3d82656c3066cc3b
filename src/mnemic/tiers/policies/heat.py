"""Heat: visits, length and recency in one sum.

Source: Kang et al., "Memory OS of AI Agent", arXiv:2506.06326, its H = alpha N_visit + beta L + gamma exp(-dt / tau),
all three weights 1 as in the authors' package.
Theirs is the heat of a segment of dialogue, L its pages, tau a day: that of the strategy `memoryos`. The policy's is of
a page, L its tokens in units of `unit`, and its time is counted in references.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp
from typing import ClassVar

from mnemic.tiers.base import Page
from mnemic.tiers.policies.scored import Scored


@dataclass(frozen=True, slots=True, kw_only=True)
class HeatWeights:
    """What the parts of a heat count for.

    Attributes:
        visit, length, recency: The paper's alpha, beta and gamma.
        tau: The time after which recency has fallen to 1/e, in the unit in which time is counted.
    """

    visit: float = 1.0
    length: float = 1.0
    recency: float = 1.0
    tau: float = 24.0


def heat(visits: float, length: float, since: float, weights: HeatWeights = HeatWeights()) -> float:
    """How hot something is, 0 or more: it rises with visits and length, and falls with the time since its last use.

    Args:
        since: Times before the last use count as that moment.
    """
    fresh = exp(-max(0.0, since) / weights.tau)
    return weights.visit * visits + weights.length * length + weights.recency * fresh


class Heat(Scored):
    """Rises with uses and length, falls with the time since the last use."""

    name: ClassVar[str] = "heat"

    def __init__(
        self, *, visit: float = 1.0, length: float = 1.0, recency: float = 1.0, tau: float = 100.0, unit: float = 200.0
    ) -> None:
        self._weights = HeatWeights(visit=visit, length=length / unit, recency=recency, tau=tau)

    def worth(self, page: Page, now: int) -> float:
        """Compute a page's heat, 0 or more."""
        return heat(page.uses, page.tokens, now - page.last_use, self._weights)
