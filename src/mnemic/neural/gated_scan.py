"""Two gated recurrences, one inside the other, whose additions all are known where a chunk begins: then they are sums.

    S_t = η_t S_{t-1} - θ_t g_t,      M_t = (1 - α_t) M_{t-1} + S_t
    S_C = E_0 S_0 - Σ e_t g_t,        M_C = D_0 M_0 + c_0 S_0 - Σ m_t g_t

No mechanism, but the arithmetic of one that takes every gradient g_t at the state before the chunk: the weights E, e,
D, c and m depend on the gates alone, and the sums are products of matrices.
Shapes: N rows, T time, C chunk.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 - what everybody calls it


@dataclass(frozen=True, slots=True)
class Gates:
    """How each token is written (N, T): its step θ, momentum η, and what is kept, 1 - α; of what is padded 0, 1 and 1.

    Attributes:
        real: 1 for a token, 0 for padding.
    """

    rate: Tensor
    momentum: Tensor
    kept: Tensor
    real: Tensor


@dataclass(frozen=True, slots=True)
class ChunkWeights:
    """What the gates of a chunk (N, C) come to.

    Attributes:
        to_memory, to_surprise: m and e (N, C): θ_t times what S_t adds to the end of each.
        kept, added, carried: D_0, c_0 and E_0 (N, 1, 1).
        real: Whether the first token is none of padding, likewise.
    """

    to_memory: Tensor
    to_surprise: Tensor
    kept: Tensor
    added: Tensor
    carried: Tensor
    real: Tensor


def chunk_weights(gates: Gates, chunk: int) -> list[ChunkWeights]:
    """The weights of each chunk of T tokens; the last one may be shorter.

    From the end: E_t and D_t are products of the η and 1 - α behind t, and c_t = D_t + η_{t+1} c_{t+1}.
    """
    count = gates.rate.shape[1]
    short = -count % chunk
    rate, eta, kept, real = (
        F.pad(part, (0, short), value=value).unflatten(1, (-1, chunk)).unbind(2)
        for part, value in ((gates.rate, 0), (gates.momentum, 1), (gates.kept, 1), (gates.real, 0))
    )
    carried = left = torch.ones_like(rate[0])  # (N, chunks)
    added = torch.zeros_like(carried)
    to_memory: list[Tensor] = []
    to_surprise: list[Tensor] = []
    for t in range(chunk - 1, -1, -1):
        added = added + real[t] * left
        to_memory.append(added * rate[t])
        to_surprise.append(carried * rate[t])
        added, carried, left = added * eta[t], carried * eta[t], left * kept[t]
    ends = [part.unsqueeze(2).unsqueeze(3).unbind(1) for part in (left, added, carried, real[0])]
    sums = [torch.stack(part[::-1], 2).unbind(1) for part in (to_memory, to_surprise)]
    weights = [ChunkWeights(*of) for of in zip(*sums, *ends, strict=True)]
    if short:
        last, size = weights[-1], chunk - short
        weights[-1] = replace(last, to_memory=last.to_memory[:, :size], to_surprise=last.to_surprise[:, :size])
    return weights
