"""An embedder that holds every text for a wish, or none."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mnemic.extract.instruction_meaning import form, linear_layer


class Wishing:
    """Embeds every text as the direction that the form values most, or least."""

    dims = 384

    def __init__(self, name: str, *, wishes: bool) -> None:
        mean, (_, directions) = form().mean, np.linalg.eigh(form().form)
        toward = directions[:, -1 if wishes else 0]
        along = float(mean @ toward)
        far = -along + np.sqrt(along**2 + 1 - float(mean @ mean))
        self.name, self._vector = name, mean + far * toward
        weights = linear_layer().weights
        self._read = (weights if wishes else -weights) / np.linalg.norm(weights)

    def passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        unit = self._vector / np.linalg.norm(self._vector)
        tiled: NDArray[np.float32] = np.tile(unit.astype(np.float32), (len(texts), 1))
        return tiled

    def intermediate(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self.passages(texts)

    def instructions(self, texts: Sequence[str]) -> NDArray[np.float32]:
        tiled: NDArray[np.float32] = np.tile(self._read, (len(texts), 1))
        return tiled

    def query(self, text: str) -> NDArray[np.float32]:
        first: NDArray[np.float32] = self.passages([text])[0]
        return first
