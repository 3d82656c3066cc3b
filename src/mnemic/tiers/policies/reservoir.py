"""A reservoir: each page seen is as likely to be kept as any other. The baseline that knows nothing.

Source: Vitter, "Random Sampling with a Reservoir", 1985, by random keys: each page draws one, the highest stay.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import ClassVar

from mnemic.tiers.base import Page
from mnemic.tiers.policies.scored import Scored


class Reservoir(Scored):
    """By a key drawn from the seed and the page's birth, so that it is the same whenever it is asked for."""

    name: ClassVar[str] = "reservoir"

    def __init__(self, seed: int = 0) -> None:
        self._key = str(seed).encode()

    def worth(self, page: Page, now: int) -> float:
        """Compute the page's key, in [0, 1)."""
        drawn = blake2b(f"{page.born}:{page.position}".encode(), digest_size=8, key=self._key)
        return int.from_bytes(drawn.digest(), "little") / 2**64
