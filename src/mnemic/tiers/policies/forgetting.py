"""A forgetting curve: a page fades with the time since its last use, the slower the more it was used.

Source: Zhong et al., "MemoryBank: Enhancing Large Language Models with Long-Term Memory", arXiv:2305.10250, after
Ebbinghaus: R = exp(-t / S). The authors' code has it the other way round, exp(-(t / 5) S), by which what is recalled is
lost sooner; here it is the paper's, R = exp(-dt / (tau S)), S = 1 + uses.
Departures: time is counted in references, not days; the lowest leaves, where the paper draws at random.
"""

from __future__ import annotations

from math import exp
from typing import ClassVar

from mnemic.tiers.base import Page
from mnemic.tiers.policies.scored import Scored


class Forgetting(Scored):
    """`tau`: references after which a page never used has faded to 1 / e; no order depends on it."""

    name: ClassVar[str] = "forgetting"

    def __init__(self, *, tau: float = 100.0) -> None:
        self._tau = tau

    def retention(self, page: Page, now: int) -> float:
        """Compute a page's retention in (0, 1]: it falls with the time since the last use and rises with each use."""
        return exp(self.worth(page, now))

    def worth(self, page: Page, now: int) -> float:
        """Compute the logarithm of `retention`, which orders alike and does not underflow."""
        return -(now - page.last_use) / (self._tau * (1 + page.uses))
