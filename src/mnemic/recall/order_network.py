"""The small network that `recall.currency` puts candidates in order by, and its arithmetic.

For a question with n candidates: where there are vectors, that of the question, v, and that of each candidate, w(i),
meet in a few learned directions,

    m(i) = [(Q v + e) * (S w(i) + f), the half of its sum]

which stand behind what is known of the candidate, x(i). A hidden layer reads it with what is known of the question, q,

    h(i) = relu(A [x(i), q] + a),    bears(i) = b h(i) + c [x(i), q] + d

and a second one reads each pair of them, with what the two have in common, p(i, j),

    k(i, j) = relu(P [p(i, j), U h(i), V h(j), q] + p),    replaced(i, j) = r k(i, j),  same(i, j) = s k(i, j)

as log odds. Where j may take the place of i, it has with the likelihood G(i, j) = sigmoid(replaced(i, j)). What answers
either bears on the question or has taken the place of what does, and nothing has taken its own; what stands first is
the largest

    max(bears(i), max over h of bears(h) + log G(h, i)) + min over j of log(1 - G(i, j))

in which only the likeliest of the others counts: were it the chance that none has, much talk of like things would bury
what it leaves as it was.

Several networks that learned from different talk err in different places, so that the means of their log odds are taken
(Lakshminarayanan et al., "Simple and Scalable Predictive Uncertainty Estimation using Deep Ensembles",
arXiv:1612.01474, section 2.4, who take those of likelihoods, of networks that differ by chance alone).
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from mnemic.extract.small_products import small_product

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

FARTHEST: Final = np.float32(3.0)
"""Deviations that an input counts for at most: in a memory of three items an arm may give what it never gave before."""

NEVER_SURE: Final = np.float32(0.995)
"""The most that the likelihood of having been replaced by another one counts for."""


@dataclass(frozen=True, slots=True)
class OrderNetwork:
    """What was learned; the last row of each matrix is its bias, but for `before` and `behind`, which have none.

    Attributes:
        mean, deviation: Of the inputs of candidates in the training set.
        hidden: A; (inputs + flags + 1, hidden).
        direct: c and d; (inputs + flags + 1,).
        bearing: b; (hidden,).
        before, behind: U and V; (hidden + 1, shared).
        pairs: P; (pair inputs + 2 * shared + flags + 1, pair hidden).
        verdicts: r and s; (pair hidden + 1, 2).
        asked_into, said_into: Q with e, and S with f; (dims + 1, directions), none where there are no vectors.
    """

    mean: Floats
    deviation: Floats
    hidden: Floats
    direct: Floats
    bearing: Floats
    before: Floats
    behind: Floats
    pairs: Floats
    verdicts: Floats
    asked_into: Floats
    said_into: Floats

    @classmethod
    def of(cls, arrays: Mapping[str, NDArray[Any]], prefix: str) -> OrderNetwork:
        """Read it out of the arrays of a file, in which its own have a prefix."""
        return cls(**{field.name: arrays[prefix + field.name].astype(np.float32) for field in fields(cls)})

    def weigh(self, inputs: Floats, pairs: Floats, flags: Floats, vectors: Floats, asked: Floats) -> OrderOdds:
        """Weigh candidates for a question.

        Args:
            inputs: What is known of each; (n, inputs), not a number where it is not known.
            pairs: What each two have in common; (n, n, pair inputs).
            flags: What is known of the question; (flags,).
            vectors: Of each, zeros where it has none; (n, dims), none by words.
            asked: The question's; (dims,), none by words.
        """
        scaled = scaled_inputs(inputs, self.mean, self.deviation)
        if self.said_into.size:
            scaled = np.concatenate((scaled, self._met(vectors, asked)), axis=1)
        known = scaled.shape[1]
        of_question = flags @ self.hidden[known:-1] + self.hidden[-1]
        hidden = np.maximum(scaled @ self.hidden[:known] + of_question, 0)
        bearing = hidden @ self.bearing + scaled @ self.direct[:known]
        bearing += flags @ self.direct[known:-1] + self.direct[-1]
        replaced, other = (hidden @ side[:-1] + side[-1] for side in (self.before, self.behind))
        shared, width = other.shape[1], pairs.shape[2]
        layer = pairs @ self.pairs[:width]
        layer += (replaced @ self.pairs[width : width + shared])[:, None]
        layer += (other @ self.pairs[width + shared : width + 2 * shared])[None]
        layer += flags @ self.pairs[width + 2 * shared : -1] + self.pairs[-1]
        verdicts = np.maximum(layer, 0, out=layer) @ self.verdicts[:-1] + self.verdicts[-1]
        return OrderOdds(bearing, verdicts[..., 0], verdicts[..., 1])

    def _met(self, vectors: Floats, asked: Floats) -> Floats:
        """How the question's vector and those of candidates meet: (n, directions + 1); what has none meets nothing."""
        said = small_product(vectors, self.said_into[:-1]) + self.said_into[-1]
        met = said * (asked @ self.asked_into[:-1] + self.asked_into[-1])
        met[~vectors.any(axis=1)] = 0
        both = np.column_stack((met, met.sum(axis=1) / 2))
        return np.clip(both, -FARTHEST, FARTHEST, out=both)


def scaled_inputs(inputs: Floats, mean: Floats, deviation: Floats) -> Floats:
    """Scale what is known of candidates to deviations from the mean; what is not known is as it is on average."""
    scaled = (inputs - mean) / deviation
    np.clip(scaled, -FARTHEST, FARTHEST, out=scaled)
    scaled[np.isnan(scaled)] = 0
    return scaled


@dataclass(frozen=True, slots=True)
class OrderOdds:
    """What a network, or several in the mean, make of the candidates for a question, as log odds.

    Attributes:
        bearing: That each bears on it; (n,).
        replaced: That the second of two has taken the place of the first, if it may; (n, n).
        same: That both are of one matter; (n, n).
    """

    bearing: Floats
    replaced: Floats
    same: Floats

    @classmethod
    def mean_of(cls, several: Sequence[OrderOdds]) -> OrderOdds:
        """The means of what several networks make of the same candidates."""
        first, *others = several
        share = np.float32(1 / len(several))
        return cls(
            sum((odds.bearing for odds in others), first.bearing) * share,
            sum((odds.replaced for odds in others), first.replaced) * share,
            sum((odds.same for odds in others), first.same) * share,
        )

    def standing(self, allowed: NDArray[np.bool_]) -> Floats:
        """How well each stands, where the second of two may have taken the place of the first, (n, n)."""
        unlikely = np.exp(-np.clip(self.replaced, -30, 30))
        taken = np.where(allowed, self.bearing[:, None] - np.log1p(unlikely), -np.inf).max(axis=0)
        left: Floats = np.log1p(-NEVER_SURE / (1 + unlikely) * allowed).min(axis=1)
        answers: Floats = np.maximum(self.bearing, taken)
        return answers + left
