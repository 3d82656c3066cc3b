"""An embedder for tests: words in common are closeness, and any answer can be set beforehand."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from mnemic.core.tokens import tokenise
from mnemic.core.uninterrupted import import_whole
from mnemic.errors import Invalid

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from mnemic.settings import Settings

DIMS: Final = 256


class ScriptedEmbedder:
    """A text's vector is the sum of its tokens' random ones, the same on every machine. Safe for many threads.

    Texts are as close as the words that they share; for unrelated ones the cosine is 0, give or take 1 / sqrt(dims).

    Args:
        dims: How many numbers a vector has.
        answers: The vectors of certain texts, as passages and as questions; scaled to unit length.
    """

    def __init__(self, dims: int = DIMS, answers: Mapping[str, Sequence[float]] | None = None) -> None:
        self.dims = dims
        self.name = f"scripted:{dims}"
        self._answers = dict(answers or {})

    @classmethod
    def opened(cls, details: str, settings: Settings) -> ScriptedEmbedder:
        """From `scripted` or `scripted:DIMS`."""
        if details and not (details.isdecimal() and int(details)):
            raise Invalid("embedder", f"scripted:{details} has no number of dimensions", "Write scripted:256.")
        return cls(int(details or DIMS))

    def passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One row of unit length a text, in order."""
        import_whole("numpy")
        import numpy as np

        return np.array([self._vector(text) for text in texts], np.float32).reshape(len(texts), self.dims)

    def query(self, text: str) -> NDArray[np.float32]:
        """The same vector that `text` has as a passage."""
        return self._vector(text)

    def _vector(self, text: str) -> NDArray[np.float32]:
        import_whole("numpy")
        import numpy as np

        if text in self._answers:
            vector = np.array(self._answers[text], np.float32)
        else:
            vector = np.sum([_of_token(token, self.dims) for token in tokenise(text) or [""]], axis=0, dtype=np.float32)
        unit: NDArray[np.float32] = vector / np.linalg.norm(vector)
        return unit


@lru_cache(4096)
def _of_token(token: str, dims: int) -> NDArray[np.float32]:
    """Ones and minus ones, drawn by the token's hash."""
    import_whole("numpy")
    import numpy as np

    drawn = hashlib.shake_128(token.encode("utf-8", "surrogatepass")).digest((dims + 7) // 8)
    return np.unpackbits(np.frombuffer(drawn, np.uint8))[:dims].astype(np.float32) * 2 - 1
