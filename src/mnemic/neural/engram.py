"""Engram: vectors looked up by the last few tokens, in hashed tables, and weighed in by what the model is thinking.

    mix_{n,j} = ⊕_{i<n} id_{t-i} · m_{j,i}  (64 bits, m odd),      row_{n,j} = mix mod p_{n,j},   p different primes
    e_t = [E_{n,j}[row_{n,j}]  for n = 2 … N and heads j]
    g = σ(sgn(s) √|s|),   s = ⟨RMS(W_K e), RMS(h)⟩ / √D;      ṽ = g W_V e;      h ← h + ṽ + SiLU(conv(RMS ṽ))

What is to be recalled by rote is looked up, at the same price however large the tables, and layers are left to think.
Addresses depend on ids alone: who knows the text knows what will be read.

Source: Engram, arXiv:2601.07372, and its demonstration code. What we do otherwise: ids are taken as they are
(theirs are first mapped to a smaller vocabulary: bytes have nothing to map), one branch instead of four, and before
the beginning of a text stands id 0, kept apart from byte 0 by adding one to every id.

The tables are weights, which training writes; a state is what reading on needs, the last N - 1 ids and what the
convolution still sees. So it is no memory of a user's, and stands in no registry of these.
Shapes: B rows, T time, D width, N longest n-gram, J heads for each n, E width of a head's rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 - what everybody calls it

from mnemic.errors import DamagedState, Invalid
from mnemic.neural.base import Identity, State, own_identity

_TAPS: Final = 4
"""Of the convolution, N tokens apart."""


@dataclass(frozen=True, slots=True)
class EngramSettings:
    """The form of the tables.

    Attributes:
        longest: N; n-grams of 2 to N tokens are looked up.
        heads: J, tables for each n.
        rows: About how many rows a table has: the primes from there on.
        embedding: E.
        gate: Whether what is looked up is weighed by the hidden state; the paper does, the control does not.
        seed: Of multipliers and first weights.
    """

    width: int = 64
    longest: int = 3
    heads: int = 2
    rows: int = 8_191
    embedding: int = 16
    gate: bool = True
    seed: int = 0

    def checked(self) -> EngramSettings:
        """The same settings.

        Raises:
            Invalid: one of them is out of range.
        """
        for name, least in (("width", 1), ("longest", 2), ("heads", 1), ("rows", 2), ("embedding", 1)):
            if getattr(self, name) < least:
                raise Invalid(name, f"{getattr(self, name)} is less than {least}", f"Give {least} or more.")
        return self


def primes(first: int, count: int) -> list[int]:
    """The first primes from a number on."""
    found, n = list[int](), max(2, first)
    while len(found) < count:
        if all(n % d for d in range(2, int(n**0.5) + 1)):
            found.append(n)
        n += 1
    return found


def rows_by_definition(
    ids: Sequence[int], longest: int, multipliers: Sequence[Sequence[int]], sizes: Sequence[int]
) -> list[list[int]]:
    """Which row of each table each token reads, one n-gram at a time. Slow on purpose.

    Args:
        multipliers: For each head, of each of the last N tokens.
        sizes: Of the tables, by n and then by head.
    """
    made = []
    for t in range(len(ids)):
        last = [ids[t - i] + 1 if t >= i else 0 for i in range(longest)]
        rows = []
        for n in range(2, longest + 1):
            for head, factors in enumerate(multipliers):
                mix = 0
                for token, factor in zip(last[:n], factors, strict=False):
                    mix ^= (token * factor) & (2**64 - 1)
                signed = mix - 2**64 if mix >= 2**63 else mix
                rows.append(signed % sizes[(n - 2) * len(multipliers) + head])
        made.append(rows)
    return made


class Engram:
    """Tables, and what weighs them in. A state is what a text that goes on needs of what stood before."""

    def __init__(self, settings: EngramSettings | None = None, weights: Mapping[str, Tensor] | None = None) -> None:
        s = self.settings = (settings or EngramSettings()).checked()
        draw = torch.Generator().manual_seed(s.seed)
        self.multipliers = torch.randint(2**62, (s.heads, s.longest), generator=draw) * 2 + 1
        self.sizes = torch.tensor(primes(s.rows, (s.longest - 1) * s.heads))
        self._begins = self.sizes.cumsum(0) - self.sizes
        self._weights = dict(self._first(draw) if weights is None else weights)

    @cached_property
    def identity(self) -> Identity:
        """Whose its states are."""
        return own_identity("engram", self._weights, self.settings)

    @property
    def weights(self) -> Mapping[str, Tensor]:
        """The tables, one behind the other, matrices key and value, and the convolution (D, 4)."""
        return self._weights

    def empty(self, rows: int = 1) -> State:
        """The state before the beginning of texts."""
        s, like = self.settings, self._weights["tables"].detach()
        return {
            "ids": torch.zeros(rows, s.longest - 1, dtype=torch.int64),
            "seen": like.new_zeros(rows, (_TAPS - 1) * s.longest, s.width),
        }

    def rows(self, ids: Tensor, state: State) -> Tensor:
        """Which row each token reads (B, T, tables), counted through all tables."""
        s, time = self.settings, ids.shape[1]
        known = torch.cat((state["ids"], ids + 1), 1)
        mix = torch.zeros(*ids.shape, s.heads, dtype=torch.int64)
        made = []
        for n in range(s.longest):
            begin = s.longest - 1 - n
            mix = mix ^ (known[:, begin : begin + time, None] * self.multipliers[:, n])
            if n:
                of = slice((n - 1) * s.heads, n * s.heads)
                made.append(mix.remainder(self.sizes[of]) + self._begins[of])
        return torch.cat(made, -1)

    def read(self, h: Tensor, ids: Tensor, state: State) -> tuple[Tensor, State]:
        """What is added to hidden states (B, T, D) of tokens (B, T), and the state behind them.

        Raises:
            Invalid: they are of another width, type or shape, or no numbers.
            DamagedState: the state is none of this layer's.
        """
        self._check(h, ids, state)
        w, s = self._weights, self.settings
        e = F.embedding(self.rows(ids, state), w["tables"]).flatten(2)
        value = e @ w["value"].mT
        if s.gate:
            likes = (_normed(e @ w["key"].mT) * _normed(h)).sum(-1, keepdim=True) / s.width**0.5
            value = value * torch.sigmoid(likes.sign() * (likes.abs() + 1e-6).sqrt())
        seen = torch.cat((state["seen"], _normed(value)), 1)
        added = sum(seen[:, n * s.longest : n * s.longest + h.shape[1]] * w["conv"][:, n] for n in range(_TAPS))
        known = torch.cat((state["ids"], ids + 1), 1)
        kept = {
            "ids": known[:, known.shape[1] - (s.longest - 1) :].contiguous(),
            "seen": seen[:, seen.shape[1] - (_TAPS - 1) * s.longest :].detach().contiguous(),
        }
        return value + F.silu(torch.as_tensor(added)), kept

    def _first(self, draw: torch.Generator) -> State:
        s = self.settings
        wide = (s.longest - 1) * s.heads * s.embedding
        made = {
            "tables": torch.randn(int(self.sizes.sum()), s.embedding, generator=draw) * 0.1,
            "value": torch.randn(s.width, wide, generator=draw) / wide**0.5,
            "conv": torch.zeros(s.width, _TAPS),
        }
        return made | ({"key": torch.randn(s.width, wide, generator=draw) / wide**0.5} if s.gate else {})

    def _check(self, h: Tensor, ids: Tensor, state: State) -> None:
        s, like = self.settings, self._weights["tables"]
        if h.ndim != 3 or h.shape[2] != s.width or h.dtype != like.dtype:
            raise Invalid("h", f"is {tuple(h.shape)} of {h.dtype}", f"Give (rows, time, {s.width}) of {like.dtype}.")
        if ids.shape != h.shape[:2] or ids.dtype != torch.int64:
            raise Invalid("ids", f"are {tuple(ids.shape)} of {ids.dtype}", "Give an int64 for each hidden state.")
        if not torch.isfinite(h).all() or bool((ids < 0).any()):
            raise Invalid("h", "or ids are not all numbers", "Look where they come from.")
        if state.keys() != {"ids", "seen"} or state["ids"].shape[1:] != (s.longest - 1,):
            raise DamagedState("the state is none of this layer's. Start from an empty one.")
        if state["seen"].shape != (len(state["ids"]), (_TAPS - 1) * s.longest, s.width):
            raise DamagedState("the state is of another width. Start from an empty one.")
        if len(h) != len(state["ids"]):
            raise Invalid("h", f"has {len(h)} rows, the state {len(state['ids'])} rows", f"Give empty({len(h)}).")


def _normed(x: Tensor) -> Tensor:
    return F.rms_norm(x, x.shape[-1:], eps=1e-6)
