"""Low-rank updates of the encoder's matrices: a question is read otherwise than a passage, by the same weights.

Source: Hu et al., "LoRA: Low-Rank Adaptation of Large Language Models", arXiv:2106.09685, section 4.1: beside a matrix
W lies a product A B of rank r, and x W becomes x W + (x A) B. What was learned lies in `questions.npz`, beside this
file, as `python -m mnemic.lab.question_training` makes it: of some upper layers, for questions alone. So vectors of
passages stay what they are, and a store that has them needs none anew.

That two different towers read question and passage is Karpukhin et al., "Dense Passage Retrieval", arXiv:2004.04906,
section 3.1; that half of what was learned is taken is Wortsman et al., "Robust fine-tuning of zero-shot models",
arXiv:2109.01903, section 3: it keeps what the encoder knew of texts of other kinds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

MATRICES: Final = ("mixed", "joined", "widen", "narrow")
"""The matrices of a layer that are updated, by their names in the encoder."""

_PREFIX: Final = "question."
"""What the arrays of the adapter are called by beside those of the encoder."""


@dataclass(frozen=True, slots=True, eq=False)
class LayerUpdate:
    """What is added to one layer's matrices: of each, by its name, A, (in, rank), and B, (rank, out)."""

    products: Mapping[str, tuple[Floats, Floats]]

    def add_to(self, result: Floats, x: Floats, matrix: str) -> None:
        """Add to `x` times a matrix, in place, what the update makes of `x`."""
        if (product := self.products.get(matrix)) is not None:
            into, out = product
            result += (x @ into) @ out


UNCHANGED: Final = LayerUpdate({})


@dataclass(frozen=True, slots=True, eq=False)
class Adapter:
    """The updates of an encoder, by the number of the layer, from 0."""

    layers: Mapping[int, LayerUpdate]

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, NDArray[np.generic]]) -> Adapter:
        """Read it from arrays by the names that `adapter_arrays` gives them, among any others."""
        layers: dict[int, dict[str, dict[str, Floats]]] = {}
        for name, array in arrays.items():
            if name.startswith(_PREFIX):
                layer, matrix, side = name.removeprefix(_PREFIX).split(".")
                layers.setdefault(int(layer), {}).setdefault(matrix, {})[side] = array.view(np.float32)
        updates = {
            layer: LayerUpdate({matrix: (sides["into"], sides["out"]) for matrix, sides in matrices.items()})
            for layer, matrices in layers.items()
        }
        return cls(updates)

    def of(self, layer: int) -> LayerUpdate:
        """What is added to a layer's matrices."""
        return self.layers.get(layer, UNCHANGED)


def adapter_arrays(stored: Mapping[str, NDArray[np.generic]]) -> dict[str, Floats]:
    """Widen what `questions.npz` holds, in half precision, to the arrays of an `Adapter`."""
    return {_PREFIX + name: array.astype(np.float32) for name, array in stored.items()}
