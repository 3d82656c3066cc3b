"""The best mixture made by hand: how often a page was used for its age, how much it says, how fresh it is.

A use count over an age is a rate; what a page says multiplies it, since evidence that was asked for once is asked for
again the likelier the more it says (docs/decisions/0024); and a page just used is likely to be used once more.
"""

from __future__ import annotations

from math import exp, log
from typing import ClassVar

from mnemic.tiers.base import Page
from mnemic.tiers.policies.scored import Scored


class Combined(Scored):
    """Rises with importance and uses, falls with age and with the time since the last use."""

    name: ClassVar[str] = "combined"

    def __init__(
        self,
        *,
        importance: float = 9.0,
        bend: float = 0.65,
        unused: float = 0.14,
        settled: float = 19.0,
        fresh: float = 1.7,
        tau: float = 9.0,
    ) -> None:
        """Args, all fitted on development conversations.

        importance: How much it multiplies the rate, as a logarithm, from none to full.
        bend: Its exponent; below 1 small differences between dull pages count for more.
        unused: Uses that a page is given before it had any.
        settled: References before a rate is taken at its word.
        fresh: What a page just used is worth more, as a logarithm; fades with `tau` references.
        """
        self._importance, self._bend = importance, bend
        self._unused, self._settled = unused, settled
        self._fresh, self._tau = fresh, tau

    def worth(self, page: Page, now: int) -> float:
        """Compute the logarithm of the rate at which a page is expected to be used."""
        rate = (page.uses + self._unused) / (now - page.born + self._settled)
        fresh = exp(-(now - page.last_use) / self._tau)
        said: float = page.importance**self._bend
        return self._importance * said + log(rate) + self._fresh * fresh
