"""Low-rank updates of the encoder's matrices: a question is read otherwise than a passage, by the same weights; and a
question together with what was said to it otherwise again (`models.e5.answer_reader`), and so is a passage where it is
asked whether it instructs.

Source: Hu et al., "LoRA: Low-Rank Adaptation of Large Language Models", arXiv:2106.09685, section 4.1: beside a matrix
W lies a product A B of rank r, and x W becomes x W + (x A) B. What was learned lies in `questions.npz`, beside this
file, as `python -m mnemic.lab.question_training` makes it: of some upper layers, for questions alone. So vectors of
passages stay what they are, and a store that has them needs none anew. Of `instructions.npz`, by
`python -m mnemic.lab.instruction_reading_training`, come vectors that nothing stores.

That two different towers read question and passage is Karpukhin et al., "Dense Passage Retrieval", arXiv:2004.04906,
section 3.1; that half of what was learned is taken is Wortsman et al., "Robust fine-tuning of zero-shot models",
arXiv:2109.01903, section 3: it keeps what the encoder knew of texts of other kinds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Self, TypeVar
from zipfile import BadZipFile

import numpy as np

from mnemic.errors import ModelError

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

T = TypeVar("T")

MATRICES: Final = ("mixed", "joined", "widen", "narrow")
"""The matrices of a layer that are updated, by their names in the encoder."""


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
    def of_arrays(cls, arrays: Mapping[str, NDArray[np.float16]]) -> Adapter:
        """Widen it from arrays called by layer, matrix and side, as "6.mixed.into" and "6.mixed.out"."""
        layers: dict[int, dict[str, tuple[Floats, Floats]]] = {}
        for name in (name for name in arrays if name.endswith(".into")):
            layer, matrix, _ = name.split(".")
            sides = (arrays[f"{layer}.{matrix}.{side}"].astype(np.float32) for side in ("into", "out"))
            into, out = sides
            layers.setdefault(int(layer), {})[matrix] = (into, out)
        return cls({layer: LayerUpdate(products) for layer, products in layers.items()})

    def of(self, layer: int) -> LayerUpdate:
        """What is added to a layer's matrices."""
        return self.layers.get(layer, UNCHANGED)


@dataclass(frozen=True, slots=True, eq=False)
class AdaptedReader:
    """Updates of an encoder, and the linear layer that reads the mean over the pieces behind them.

    Attributes:
        weights: Of the mean, of unit length: (hidden, what is told).
        biases: One for each thing that is told.
    """

    adapter: Adapter
    weights: Floats
    biases: Floats

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, NDArray[np.float16]]) -> Self:
        """Widen it from arrays, as `mnemic.lab.adapted_layers` wrote them."""
        weights, biases = (arrays[name].astype(np.float32) for name in ("head.weights", "head.biases"))
        return cls(Adapter.of_arrays(arrays), weights, biases)


def read_adapter(file: Path) -> Adapter:
    """Read what a command of the laboratory wrote of updates alone.

    Raises:
        ModelError: the file is not there, or is none.
    """
    return read_learned(file, Adapter.of_arrays)


def read_learned(file: Path, of_arrays: Callable[[Mapping[str, NDArray[np.float16]]], T]) -> T:
    """Read what a command of the laboratory learned and wrote, as `of_arrays` makes it of the file's arrays.

    Raises:
        ModelError: the file is not there, or is none.
    """
    try:
        with file.open("rb") as stream, np.load(stream) as stored:
            return of_arrays(dict(stored))
    except (OSError, EOFError, ValueError, KeyError, BadZipFile) as error:
        raise ModelError(f"{file} cannot be read ({error}). Reinstall mnemic.") from error
