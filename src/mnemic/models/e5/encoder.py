"""The encoder's forward pass in numpy: texts one behind the other in one matrix, without padding.

Source: Devlin et al., "BERT", arXiv:1810.04805, with the mean over a text's pieces that E5 takes. Departures, each
without effect on the result beyond rounding: the biases of keys fall out of the softmax, those of values go through it
and join the projection's; the scale of attention is in the queries' weights; GELU is its tanh form.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import groupby
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from mnemic.models.e5.adapter import UNCHANGED, Adapter, LayerUpdate
from mnemic.models.e5.weights import Shape, Weights, widened

Floats = NDArray[np.float32]

_Runs: TypeAlias = Sequence[tuple[int, int]]
"""How long texts are, and how many of that length follow one another."""

_ROWS = 64
"""Rows that go through GELU together: what stays in a core's cache."""


@dataclass(frozen=True, slots=True, eq=False)
class EncoderLayer:
    """One block's weights: matrices, biases, and the scales and shifts of its two norms.

    Matrices lie (in, out), only `narrow` (out, in): so BLAS is quickest with a question's dozen rows.
    """

    mixed: Floats  # queries, keys and values beside each other, (hidden, 3 * hidden)
    query_bias: Floats
    joined: Floats
    joined_bias: Floats
    joined_norm: Floats  # scales, then shifts, (2, hidden)
    widen: Floats
    widen_bias: Floats
    narrow: Floats
    narrow_bias: Floats
    narrow_norm: Floats


class Encoder:
    """Multilingual-e5-small, its matrices in single precision (85 MB). Safe for many threads.

    Args:
        words: The vectors of pieces in 4 bits, of which only the rows that a text has are read.
        arrays: All else, as `encoder_arrays` makes it; it may be read-only.
    """

    def __init__(self, shape: Shape, words: NDArray[np.uint8], arrays: Mapping[str, NDArray[np.generic]]) -> None:
        self.shape, self._words = shape, words
        floats = {name: array.view(np.float32) for name, array in arrays.items() if array.dtype == np.float32}
        self._places, self._norm = floats["places"], floats["norm"]
        names = [field.name for field in fields(EncoderLayer)]
        self.layers = [EncoderLayer(*(floats[f"l{n}.{name}"] for name in names)) for n in range(shape.layers)]

    def means(
        self, texts: Sequence[Sequence[int]], layers: int | None = None, adapter: Adapter | None = None
    ) -> Floats:
        """Compute the mean over the pieces of each text, (n, hidden), in order.

        Args:
            layers: After so many layers; after the last one if left out.
            adapter: What is added to the matrices; none if left out.
            texts: Ids with those of begin and end, at most `shape.positions` a text. Neighbours of one length share
                their work. Memory is about 15 KB for each id, and 48 bytes for the square of the longest.
        """
        return _means_of(self.states(texts, layers, adapter), texts)

    def means_beside(self, texts: Sequence[Sequence[int]], adapter: Adapter) -> Floats:
        """Compute the means as `means` does, and beside them those behind the last layer that an adapter updates.

        Returns:
            (n, 2 * hidden). What lies below the first of the updated layers is computed once.
        """
        first, behind = min(adapter.layers), max(adapter.layers) + 1
        x, runs = self._begun(texts), _runs_of(texts)
        self._go_through(x, runs, range(first))
        adapted = x.copy()
        self._go_through(adapted, runs, range(first, behind), adapter)
        self._go_through(x, runs, range(first, len(self.layers)))
        return np.concatenate((_means_of(x, texts), _means_of(adapted, texts)), axis=1)

    def states(
        self, texts: Sequence[Sequence[int]], layers: int | None = None, adapter: Adapter | None = None
    ) -> Floats:
        """Compute what stands at each piece of the texts, one behind the other: (pieces, hidden); see `means`."""
        x = self._begun(texts)
        self._go_through(x, _runs_of(texts), range(len(self.layers) if layers is None else layers), adapter)
        return x

    def _begun(self, texts: Sequence[Sequence[int]]) -> Floats:
        """What stands at each piece before the first layer."""
        x = widened(self._words[np.concatenate([np.asarray(ids) for ids in texts])])
        x += self._places[np.concatenate([np.arange(len(ids)) for ids in texts])]
        self._normalise(x, self._norm)
        return x

    def _go_through(self, x: Floats, runs: _Runs, numbers: range, adapter: Adapter | None = None) -> None:
        """Apply layers; in place."""
        for number in numbers:
            update = UNCHANGED if adapter is None else adapter.of(number)
            self._attend(x, self.layers[number], runs, update)
            self._think(x, self.layers[number], update)

    def _attend(self, x: Floats, layer: EncoderLayer, runs: _Runs, update: LayerUpdate) -> None:
        """Apply attention: each piece to all pieces of its text; in place."""
        heads, width = self.shape.heads, self.shape.hidden // self.shape.heads
        mixed = x @ layer.mixed
        update.add_to(mixed, x, "mixed")
        mixed[:, : self.shape.hidden] += layer.query_bias
        seen = np.empty_like(x)
        start = 0
        for length, count in runs:
            stop = start + length * count
            query, key, value = mixed[start:stop].reshape(count, length, 3, heads, width).transpose(2, 0, 3, 1, 4)
            near = query @ key.swapaxes(2, 3)
            near -= near.max(axis=-1, keepdims=True)
            np.exp(near, out=near)
            looked = near @ value
            looked /= near.sum(axis=-1, keepdims=True)
            seen[start:stop].reshape(count, length, heads, width)[...] = looked.swapaxes(1, 2)
            start = stop
        joined: Floats = seen @ layer.joined
        update.add_to(joined, seen, "joined")
        x += joined
        x += layer.joined_bias
        self._normalise(x, layer.joined_norm)

    def _think(self, x: Floats, layer: EncoderLayer, update: LayerUpdate) -> None:
        """Apply the feed-forward part to each piece; in place."""
        wide = x @ layer.widen
        update.add_to(wide, x, "widen")
        for start in range(0, len(wide), _ROWS):
            rows = wide[start : start + _ROWS]
            rows += layer.widen_bias
            _gelu(rows)
        narrow: Floats = np.dot(wide, layer.narrow.T)
        update.add_to(narrow, wide, "narrow")
        x += narrow
        x += layer.narrow_bias
        self._normalise(x, layer.narrow_norm)

    def _normalise(self, x: Floats, norm: Floats) -> None:
        """Normalise each row to mean 0 and variance 1, then scale and shift it; in place."""
        scale, shift = norm
        x -= x.mean(axis=1, keepdims=True)
        variance = np.einsum("ij,ij->i", x, x) / np.float32(x.shape[1])
        x *= (1 / np.sqrt(variance + np.float32(self.shape.epsilon)))[:, None]
        x *= scale
        x += shift


def _runs_of(texts: Sequence[Sequence[int]]) -> _Runs:
    return [(length, len(list(run))) for length, run in groupby(map(len, texts))]


def _means_of(states: Floats, texts: Sequence[Sequence[int]]) -> Floats:
    """The mean over the pieces of each text, from what stands at them, one behind the other."""
    lengths = np.array([len(ids) for ids in texts])
    means: Floats = np.add.reduceat(states, np.cumsum(lengths) - lengths, axis=0)
    means /= lengths[:, None]
    return means


def _gelu(x: Floats) -> None:
    """x / (1 + exp(-2 sqrt(2 / pi) (x + 0.044715 x^3))), in place."""
    power = x * x
    power *= np.float32(-0.07135481627)
    power -= np.float32(1.595769122)
    power *= x
    with np.errstate(over="ignore"):  # far below 0 the power is infinite, and the result 0
        np.exp(power, out=power)
    power += 1
    x /= power


def encoder_arrays(weights: Weights) -> dict[str, Floats]:
    """Widen the weights to the matrices and biases that an `Encoder` multiplies with, each by its name."""
    shape = weights.shape
    places = weights.floats("emb.pos", shape.positions, shape.hidden)
    places += weights.floats("emb.type", shape.types, shape.hidden)[0]
    arrays = {"places": places, "norm": _norm(weights, "emb.ln")}
    for number in range(shape.layers):
        layer = _layer(weights, f"l{number}")
        arrays |= {f"l{number}.{field.name}": getattr(layer, field.name) for field in fields(EncoderLayer)}
    return arrays


def _norm(weights: Weights, name: str) -> Floats:
    hidden = weights.shape.hidden
    return np.stack([weights.floats(f"{name}.w", hidden), weights.floats(f"{name}.b", hidden)])


def _layer(weights: Weights, name: str) -> EncoderLayer:
    hidden, inner = weights.shape.hidden, weights.shape.inner
    scale = np.float32((hidden // weights.shape.heads) ** -0.5)
    mixed = np.concatenate([weights.matrix(f"{name}.{part}.w", hidden, hidden) for part in "qkv"])
    mixed[:hidden] *= scale
    joined = weights.matrix(f"{name}.ao.w", hidden, hidden)
    return EncoderLayer(
        mixed=np.ascontiguousarray(mixed.T),
        query_bias=weights.floats(f"{name}.q.b", hidden) * scale,
        joined=np.ascontiguousarray(joined.T),
        joined_bias=weights.floats(f"{name}.ao.b", hidden) + joined @ weights.floats(f"{name}.v.b", hidden),
        joined_norm=_norm(weights, f"{name}.aln"),
        widen=np.ascontiguousarray(weights.matrix(f"{name}.fi.w", inner, hidden).T),
        widen_bias=weights.floats(f"{name}.fi.b", inner),
        narrow=weights.matrix(f"{name}.fo.w", hidden, inner),
        narrow_bias=weights.floats(f"{name}.fo.b", hidden),
        narrow_norm=_norm(weights, f"{name}.oln"),
    )
