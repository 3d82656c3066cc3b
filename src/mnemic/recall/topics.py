"""Tells by their vectors whether a statement can be on the topic that a question asks about: a blood type, a mother's
name, a salary.

Of what was never said, something always stands nearest: "My doctor says my blood pressure is high" to "What is my blood
type?". A linear classifier over the local embedder's vectors knows some 120 topics of which people ask their own
memory, and one more for all else. Where a question is plainly on one of them and a statement plainly on others, `ask`
does not hold the statement for an answer. It was learned from `topics_training` by
`python -m mnemic.lab.topic_training`; of a topic that it does not know it says nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from mnemic.extract.small_products import small_product

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

PLAINLY: Final = 0.97
"""How likely a question must be on one topic for anything to be said of it."""

OFF_TOPIC: Final = 0.05
"""The likelihood of being on the topic of a question below which a statement is plainly on others."""

ON_TOPIC: Final = 0.5
"""The likelihood from which it is plainly on that topic."""


@dataclass(frozen=True, slots=True)
class TopicWeights:
    """A linear classifier: one slope for passages and for questions, whose vectors lie apart, and a bias for each.

    Attributes:
        embedder: Whose vectors it reads.
        names: The topics; the last is all else.
        slopes: (dims, topics).
        said, asked: The biases of passages and of questions, (topics,).
    """

    embedder: str
    names: tuple[str, ...]
    slopes: Floats
    said: Floats
    asked: Floats

    def of_passages(self, vectors: Floats) -> Floats:
        """The likelihood of each topic for each passage: (n, topics)."""
        return _softmax(small_product(vectors, self.slopes) + self.said)

    def of_question(self, vector: Floats) -> Floats:
        """The likelihood of each topic for a question: (topics,)."""
        return _softmax(vector @ self.slopes + self.asked)

    def same_topic(self, vectors: Floats, asked: Floats) -> Floats | None:
        """How likely each passage is on the topic of a question, (n,); None where the question is plainly on none.

        A passage without a vector, all zeros, may be on any.
        """
        wanted = self.of_question(asked)
        if wanted[:-1].max() < PLAINLY:
            return None
        likely: Floats = (self.of_passages(vectors)[:, :-1] * wanted[:-1]).sum(axis=1)
        likely[~vectors.any(axis=1)] = 1.0
        return likely


@lru_cache(maxsize=1)
def topic_weights() -> TopicWeights:
    """Load what was learned."""
    with resources.files("mnemic.recall").joinpath("topics.npz").open("rb") as file, np.load(file) as arrays:
        return topic_weights_in(arrays)


def topic_weights_in(arrays: Mapping[str, NDArray[Any]]) -> TopicWeights:
    """Read what was learned out of the arrays of its file."""
    slopes, said, asked = (arrays[name].astype(np.float32) for name in ("slopes", "said", "asked"))
    return TopicWeights(str(arrays["embedder"]), tuple(map(str, arrays["names"])), slopes, said, asked)


def _softmax(odds: Floats) -> Floats:
    odds = np.exp(odds - odds.max(axis=-1, keepdims=True))
    likely: Floats = odds / odds.sum(axis=-1, keepdims=True)
    return likely
