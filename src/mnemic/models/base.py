"""The port for embedders: text in, vectors of unit length out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Embedder(Protocol):
    """Turns texts into vectors whose dot product says how close they are in meaning.

    Attributes:
        name: Identity of weights and revision, kept with every vector; vectors of two names are never compared.
        dims: How many numbers a vector has.

    An embedder that works on another machine says so by `remote = True`: it is handed any number of texts at once.
    """

    name: str
    dims: int

    def passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of things to be found, one row each, in order; rows have unit length.

        Raises:
            ModelError: the model or its endpoint failed.
        """
        ...

    def query(self, text: str) -> NDArray[np.float32]:
        """The vector of a question, of unit length."""
        ...


class LayeredEmbedder(Embedder, Protocol):
    """An embedder of many layers that also hands out what its texts look like part of the way.

    Last layers bring together what is about the same; layers before them still tell how a thing is said, an order
    from a report, and so serve those who judge that. They cost less, too.
    """

    def intermediate(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of passages after an earlier layer, one row each, in order; rows have unit length.

        They are compared with one another alone, never with those of `passages`.
        """
        ...
