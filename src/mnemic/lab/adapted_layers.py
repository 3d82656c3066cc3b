"""Layers of the encoder in torch, with low-rank updates that learn: by them questions are read, answers, and orders.

What is below them stays as it is, and is computed once for each text by `models.e5.encoder`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from mnemic.models.e5.adapter import MATRICES

if TYPE_CHECKING:
    from pathlib import Path

    import torch

    from mnemic.models.e5.encoder import Encoder

Floats = NDArray[np.float32]

DECAY: Final = 0.01
_UNLIKELY: Final = -1e4
_LENGTHS: Final = 12.0
"""By how many pieces texts of one batch may differ, about."""


class AdaptedLayers:
    """Layers of an encoder, each with low-rank updates of its matrices, which begin as no change at all.

    Args:
        first: The first of them, from 0.
        behind: The one behind the last; all are left out above it. To the end if left out.

    Attributes:
        updates: What learns, by layer, matrix and side, as `models.e5.adapter` reads it.
    """

    def __init__(self, encoder: Encoder, first: int, rank: int, behind: int | None = None) -> None:
        import torch

        self._encoder, self._first = encoder, first
        self._layers = [
            {field.name: torch.tensor(getattr(layer, field.name)) for field in fields(layer)}
            for layer in encoder.layers[first:behind]
        ]
        self.updates: dict[str, torch.Tensor] = {}
        for number, layer in enumerate(self._layers):
            layer["narrow"] = layer["narrow"].T.contiguous()
            for name in MATRICES:
                rows, columns = layer[name].shape
                key = f"{number + self._first}.{name}"
                self.updates[f"{key}.into"] = (torch.randn(rows, rank) / rows**0.5).requires_grad_()
                self.updates[f"{key}.out"] = torch.zeros(rank, columns, requires_grad=True)

    def lower(self, ids: Sequence[int]) -> Floats:
        """What stands at each piece of a text below the layers that learn, (pieces, hidden)."""
        return self._encoder.states([ids], self._first)

    def vectors(self, lower: Sequence[Floats]) -> torch.Tensor:
        """Vectors of texts of unit length, (n, hidden), in order, from what `lower` made of them."""
        import torch
        from torch.nn.functional import gelu, normalize

        sizes = torch.tensor([len(states) for states in lower])
        text = torch.repeat_interleave(torch.arange(len(lower)), sizes)
        place = torch.cat([torch.arange(int(size)) for size in sizes])
        x = torch.from_numpy(np.concatenate(lower))
        hidden, heads = x.shape[1], self._encoder.shape.heads
        beyond = torch.arange(int(sizes.max())) >= sizes[:, None]
        for number, layer in enumerate(self._layers):
            mixed = x @ self._whole(number, "mixed")
            mixed = torch.cat((mixed[:, :hidden] + layer["query_bias"], mixed[:, hidden:]), 1)
            padded = torch.zeros(*beyond.shape, 3 * hidden)
            padded[text, place] = mixed
            query, key, value = padded.view(*beyond.shape, 3, heads, hidden // heads).permute(2, 0, 3, 1, 4)
            near = (query @ key.transpose(2, 3)).masked_fill(beyond[:, None, None], _UNLIKELY).softmax(-1)
            seen = (near @ value).transpose(1, 2).reshape(*beyond.shape, hidden)[text, place]
            x = self._normalised(x + seen @ self._whole(number, "joined") + layer["joined_bias"], layer["joined_norm"])
            wide = gelu(x @ self._whole(number, "widen") + layer["widen_bias"], approximate="tanh")
            x = self._normalised(x + wide @ self._whole(number, "narrow") + layer["narrow_bias"], layer["narrow_norm"])
        return normalize(torch.zeros(len(lower), hidden).index_add(0, text, x) / sizes[:, None], dim=1)

    def learn(
        self,
        loss: Callable[[Sequence[int]], torch.Tensor],
        lengths: Sequence[int],
        *,
        head: Sequence[torch.Tensor],
        epochs: int,
        batch: int,
        rate: float,
    ) -> None:
        """Learn from texts, in batches of like length, and say after each round what the loss was.

        Args:
            loss: What the texts of a batch, by their places, are wrong by.
            lengths: Of all texts that it is learned from, in pieces.
            head: What stands behind the layers, and learns with them.
            rate: The highest of a cycle.
        """
        import torch

        learning = [*self.updates.values(), *head]
        optimiser = torch.optim.AdamW(
            [
                {"params": list(self.updates.values()), "weight_decay": DECAY},
                {"params": list(head), "weight_decay": 0.0},
            ],
            lr=rate,
        )
        steps = max(1, len(lengths) // batch)
        schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, rate, total_steps=epochs * steps + 1, pct_start=0.1)
        draw = np.random.default_rng(0)
        for epoch in range(epochs):
            losses = []
            for places in _batches(lengths, steps, batch, draw):
                wrong = loss(places)
                optimiser.zero_grad()
                wrong.backward()
                torch.nn.utils.clip_grad_norm_(learning, 1.0)
                optimiser.step()
                schedule.step()
                losses.append(wrong.item())
            figures = {"epoch": epoch + 1, "loss": round(float(np.mean(losses)), 3)}
            print(json.dumps(figures), file=sys.stderr, flush=True)

    def arrays(self, share: float) -> dict[str, NDArray[np.float16]]:
        """What was learned, or a share of it, as it is written."""
        return {
            name: (update.detach().numpy() * (share if name.endswith(".out") else 1)).astype(np.float16)
            for name, update in self.updates.items()
        }

    def with_head(self, weights: torch.Tensor, biases: torch.Tensor) -> dict[str, NDArray[np.float16]]:
        """What was learned and the linear layer behind it, as `models.e5.adapter.AdaptedReader` reads it."""
        head = {"head.weights": weights, "head.biases": biases}
        return {**self.arrays(1.0), **{name: array.detach().numpy().astype(np.float16) for name, array in head.items()}}

    def _whole(self, number: int, name: str) -> torch.Tensor:
        key = f"{number + self._first}.{name}"
        return self._layers[number][name] + self.updates[f"{key}.into"] @ self.updates[f"{key}.out"]

    def _normalised(self, x: torch.Tensor, norm: torch.Tensor) -> torch.Tensor:
        from torch.nn.functional import layer_norm

        return layer_norm(x, x.shape[1:], norm[0], norm[1], self._encoder.shape.epsilon)


@contextmanager
def repeatable(threads: int) -> Iterator[None]:
    """Learn within it the same from the same, on one build of torch and so many threads."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        with torch.random.fork_rng():
            torch.manual_seed(0)
            yield
    finally:
        torch.set_num_threads(before)


def write_learned(file: Path, arrays: Mapping[str, NDArray[np.generic]]) -> None:
    """Write what was learned to a file, whole or not at all: other processes may be reading it."""
    part = file.with_suffix(".part")
    with part.open("wb") as stream:
        np.savez_compressed(stream, **arrays)  # type: ignore[arg-type]
    part.replace(file)


def _batches(lengths: Sequence[int], count: int, size: int, draw: np.random.Generator) -> Iterable[list[int]]:
    """So many batches of texts of like length, in any order."""
    order = np.argsort(np.array(lengths) + _LENGTHS * draw.random(len(lengths)))
    batches = [order[n * size : (n + 1) * size].tolist() for n in range(count)]
    draw.shuffle(batches)
    return batches
