"""Fuse rankings, and choose for relevance against likeness: pure functions over ids."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

from mnemic.core.tokens import words

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

T = TypeVar("T")


def reciprocal_ranks(rankings: Mapping[str, Sequence[T]], constant: int) -> dict[T, dict[str, float]]:
    """What each ranking gives to what it ranks, 1 / (constant + place) with places from 0 (Cormack et al., SIGIR 2009).

    The sum is the fused score; the order is that of first appearance.
    """
    shares: dict[T, dict[str, float]] = {}
    for name, ranked in rankings.items():
        for place, candidate in enumerate(ranked):
            shares.setdefault(candidate, {})[name] = 1 / (constant + place)
    return shares


def diversified(
    scores: Mapping[T, float], likeness: Callable[[T, T], float], weight: float
) -> Iterator[tuple[T, float]]:
    """Choose one after the other what is relevant and unlike what was chosen before (Carbonell and Goldstein 1998).

    Args:
        scores: Above 0; relevance is their share of the highest.
        likeness: 0 to 1, so that it can be weighed against relevance.
        weight: Of relevance, 0 to 1; the rest is that of unlikeness.

    Yields:
        Each with its score when it was chosen: `weight * relevance - (1 - weight) * likeness to the nearest`.
    """
    left, nearest = list(scores), dict.fromkeys(scores, 0.0)
    highest = max(scores.values(), default=1.0)

    def score(candidate: T) -> float:
        return weight * scores[candidate] / highest - (1 - weight) * nearest[candidate]

    while left:
        best = max(left, key=score)
        yield best, score(best)
        left.remove(best)
        for candidate in left:
            nearest[candidate] = max(nearest[candidate], likeness(candidate, best))


def likeness_of(texts: Mapping[T, str], vectors: Sequence[NDArray[np.float32]]) -> Callable[[T, T], float]:
    """How like two texts are: by their vectors, in the order of the texts, or without any by the words they share."""
    if vectors:
        embedded = dict(zip(texts, vectors, strict=True))
        return lambda candidate, other: float(embedded[candidate] @ embedded[other])
    said = {candidate: set(words(text)) for candidate, text in texts.items()}
    return lambda candidate, other: len(said[candidate] & said[other]) / max(1, len(said[candidate] | said[other]))
