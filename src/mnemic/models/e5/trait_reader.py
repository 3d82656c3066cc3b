"""Tells the traits of a passage as its vector is made: whether it is so, whom it is about, and what it does.

Vectors of the last layer bring together what is about the same: "I live in Porto" and "I might move to Porto" are
neighbours. Some layers in the middle, with low-rank updates (`models.e5.adapter`), tell them apart; what is below them
is computed for the vector anyway. What was learned lies in `traits.npz`, beside this file, as `python -m
mnemic.lab.trait_training` makes it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mnemic.models.base import MAX_LOG_ODDS
from mnemic.models.e5.adapter import AdaptedReader

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]


class TraitReader(AdaptedReader):
    """What was learned to tell `TRAITS` by, in their order."""

    __slots__ = ()

    def log_odds(self, adapted: Floats) -> Floats:
        """What is told of passages, by their adapted vectors of unit length: (n, `TRAITS`)."""
        odds: Floats = np.clip(adapted @ self.weights + self.biases, -MAX_LOG_ODDS, MAX_LOG_ODDS)
        return odds
