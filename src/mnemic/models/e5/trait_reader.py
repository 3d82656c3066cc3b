"""Tells the traits of a passage as its vector is made: whether it is so, whom it is about, and what it does.

Vectors of the last layer bring together what is about the same: "I moved to Porto" and "we nearly moved to Porto" are
neighbours. Some layers in the middle, with low-rank updates (`models.e5.adapter`), tell them apart; what is below them
is computed for the vector anyway. What was learned lies in `traits.npz`, beside this file, as `python -m
mnemic.lab.trait_training` makes it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mnemic.models.base import MAX_LOG_ODDS
from mnemic.models.e5.adapter import Adapter

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class TraitReader:
    """What was learned: of the encoder, and behind it.

    Attributes:
        weights: Of the mean over the pieces, of unit length: (hidden, `TRAITS`).
        biases: One for each thing that is told.
    """

    adapter: Adapter
    weights: Floats
    biases: Floats

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, NDArray[np.float16]]) -> TraitReader:
        """Widen it from arrays, as `mnemic.lab.trait_training` wrote them."""
        weights, biases = (arrays[name].astype(np.float32) for name in ("head.weights", "head.biases"))
        return cls(Adapter.of_arrays(arrays), weights, biases)

    def log_odds(self, adapted: Floats) -> Floats:
        """What is told of passages, by their adapted vectors of unit length: (n, `TRAITS`)."""
        odds: Floats = np.clip(adapted @ self.weights + self.biases, -MAX_LOG_ODDS, MAX_LOG_ODDS)
        return odds
