"""Tokens that wait until they fill a chunk, counted from each row's first one, however they come.

They are parts of a state: `pending` (B, C - 1, D), each row's tokens at its beginning, and `counts`, how many.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 - what everybody calls it

from mnemic.neural.base import State, at_front


def joined(state: State, given: Tensor, real: Tensor | None) -> tuple[Tensor, Tensor]:
    """What waits and what is given (B, T, D), each row's tokens at its beginning, and how many these are (B,).

    Raises:
        Invalid: `real` does not say of each token whether it is one.
    """
    given, lengths = at_front(given, real)
    parts = (state["pending"], state["counts"]), (given, lengths)
    there = torch.cat([torch.arange(part.shape[1]) < count[:, None] for part, count in parts], 1)
    return at_front(torch.cat([part for part, _ in parts], 1), there)


def unfilled(tokens: Tensor, counts: Tensor, whole: Tensor, chunk: int) -> State:
    """The parts of a state in which each row's tokens wait from a place on: `whole` (B,), up to `counts`."""
    left = torch.arange(chunk - 1) + whole[:, None]
    padded = F.pad(tokens, (0, 0, 0, chunk))
    pending = padded.gather(1, left[..., None].expand(-1, -1, tokens.shape[2]))
    return {"pending": (pending * (left < counts[:, None])[..., None]).contiguous(), "counts": counts - whole}
