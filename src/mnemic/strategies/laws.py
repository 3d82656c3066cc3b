"""Laws of forgetting and ranking that strategies share: pure, and monotone where their papers say so."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

HOURLY: Final = 0.995
"""What is left after an hour (Park et al., arXiv:2304.03442, section 4.1)."""
EQUAL: Final = 0.5
"""What `min_max` gives to values that do not differ."""


def recency(hours: float, decay: float = HOURLY) -> float:
    """How present something still is so many hours after its last use, by exponential decay: 1 at once, falling.

    The published code of Generative Agents decays by rank, and from the wrong end: there what is oldest counts as new.
    """
    return float(decay ** max(0.0, hours))


def min_max(values: Sequence[float]) -> list[float]:
    """Scale values to 0 for the least and 1 for the greatest, in order; where they do not differ, all to `EQUAL`."""
    least, greatest = min(values, default=0.0), max(values, default=0.0)
    span = greatest - least
    return [(value - least) / span if span > 0 else EQUAL for value in values]
