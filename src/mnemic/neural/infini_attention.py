"""Infini-attention: attention over a segment, and a sum of all earlier ones that never grows, mixed by a gate.

    A_mem = σ(Q) M / (σ(Q) z)                         read before the segment is written
    M ← M + σ(K)ᵀ V,    z ← z + Σ_t σ(K_t)             linear
    M ← M + σ(K)ᵀ (V - σ(K) M / (σ(K) z)),  z likewise   delta: only what it would not have said is added
    A = g A_mem + (1 - g) A_dot,  g = sigmoid(β)       for each head; A_dot is causal attention within the segment

Source: Munkhdalai et al., Leave No Context Behind, arXiv:2404.07143, section 2. There σ(x) = ELU(x) + 1, which has no
position in it, as here. The kernel is an option, for it decides what can be told apart: `elu` is the paper's, and
`unit_elu` takes it of keys of length one, where every product of two is large; `unit` is keys of length one and no
kernel, with nothing to divide by. What we do otherwise: an empty memory reads zeros, where 0 / 0 would stand; attention
within a segment has no positions either (theirs has), so what is near is told apart by the causal mask alone.
Shapes: B rows, T time, D width, H heads, d width of a head; M (B, H, d, d), z (B, H, d): H·(d² + d) numbers a row.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal, TypeAlias

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 - what everybody calls it

from mnemic.errors import Invalid
from mnemic.neural.base import (
    Family,
    Identity,
    State,
    check_hidden,
    check_real,
    check_sizes,
    form_of,
    own_identity,
    rows_of,
)

Kernel: TypeAlias = Literal["elu", "unit_elu", "unit"]
Rule: TypeAlias = Literal["linear", "delta"]


@dataclass(frozen=True, slots=True)
class InfiniSettings:
    """The form of a memory.

    Attributes:
        rows: Rows of the empty state.
        rule: What a segment adds.
        kernel: σ.
        seed: Of the first weights.
    """

    width: int = 64
    rows: int = 1
    heads: int = 1
    rule: Rule = "linear"
    kernel: Kernel = "elu"
    seed: int = 0

    def checked(self) -> InfiniSettings:
        """The same settings.

        Raises:
            Invalid: one of them is out of range.
        """
        check_sizes(self, "width", "rows", "heads")
        if self.width % self.heads:
            raise Invalid("heads", f"{self.heads} do not divide a width of {self.width}", "Give a number that does.")
        if self.rule not in ("linear", "delta"):
            raise Invalid("rule", f"{self.rule!r} is not known", "Use linear or delta.")
        if self.kernel not in ("elu", "unit_elu", "unit"):
            raise Invalid("kernel", f"{self.kernel!r} is not known", "Use elu, unit_elu or unit.")
        return self


def written_by_definition(
    memory: Tensor, z: Tensor, k: Tensor, v: Tensor, rule: Rule, *, divided: bool
) -> tuple[Tensor, Tensor]:
    """The definition of one segment, one token at a time, all against the memory as the segment found it.

    Args:
        memory, z: (d, d) and (d,).
        k, v: (T, d), the kernel taken already.
        divided: Whether what is read is divided by what z says; with the kernel `unit` it is not.
    """
    after, total = memory, z
    for key, value in zip(k, v, strict=True):
        said = recalled_by_definition(memory, z, key, divided=divided) if rule == "delta" else torch.zeros_like(value)
        after = after + torch.outer(key, value - said)
        total = total + key
    return after, total


def recalled_by_definition(memory: Tensor, z: Tensor, q: Tensor, *, divided: bool) -> Tensor:
    """What one query (d,) reads."""
    said = q @ memory
    if not divided:
        return said
    weight = q @ z
    return said / weight if weight > 0 else torch.zeros_like(said)


class InfiniAttention:
    """The memory alone. A state is M and z of each row and head."""

    family: ClassVar[Family] = Family.SEQUENCE
    bounded: ClassVar[bool] = True

    def __init__(self, settings: InfiniSettings | None = None, weights: Mapping[str, Tensor] | None = None) -> None:
        self.settings = (settings or InfiniSettings()).checked()
        self._weights = dict(self._first() if weights is None else weights)

    @cached_property
    def identity(self) -> Identity:
        """Whose its states are."""
        return own_identity("infini", self._weights, self.settings)

    @property
    def weights(self) -> Mapping[str, Tensor]:
        """The projections; attention within a segment shares them."""
        return self._weights

    def empty(self, rows: int | None = None) -> State:
        """A memory that reads zeros, for the settings' rows or others."""
        s, rows, d = self.settings, rows or self.settings.rows, self.settings.width // self.settings.heads
        like = self._weights["key"].detach()
        return {"memory": like.new_zeros(rows, s.heads, d, d), "z": like.new_zeros(rows, s.heads, d)}

    def write(self, given: Tensor, state: State, real: Tensor | None = None) -> State:
        """Write hidden states (B, T, D) as one segment; by the rule `delta` it matters what a segment is.

        Args:
            real: (B, T), False where a row is padded: nothing is written of that.

        Raises:
            Invalid: they are of another width, type or number of rows, no numbers, or threw the memory out of range.
            DamagedState: the state is none of this memory's.
        """
        self._check(given, state, "given")
        k, v = self._kernelled(self.heads(given, "key")), self.heads(given, "value")
        if real is not None:
            check_real(real, given)
            k = k * real[:, None, :, None]
        fresh = v - self._recalled(k, state) if self.settings.rule == "delta" else v
        made = {"memory": (state["memory"] + k.mT @ fresh).contiguous(), "z": (state["z"] + k.sum(2)).contiguous()}
        if not all(torch.isfinite(part).all() for part in made.values()):
            raise Invalid("given", "threw the memory out of range", "Nothing was written: scale what is written.")
        return made

    def read(self, asked: Tensor, state: State) -> Tensor:
        """What the memory makes of hidden states (B, T, D).

        Raises:
            Invalid, DamagedState: as `write`.
        """
        return self.joined_heads(self.recalled(asked, state)) @ self._weights["out"].mT

    def recalled(self, asked: Tensor, state: State) -> Tensor:
        """A_mem of each head (B, H, T, d)."""
        self._check(asked, state, "asked")
        return self._recalled(self._kernelled(self.heads(asked, "query")), state)

    def heads(self, x: Tensor, name: str) -> Tensor:
        """A projection of (B, T, D) for each head (B, H, T, d)."""
        return (x @ self._weights[name].mT).unflatten(2, (self.settings.heads, -1)).transpose(1, 2)

    def joined_heads(self, x: Tensor) -> Tensor:
        """(B, H, T, d) as (B, T, D)."""
        return x.transpose(1, 2).flatten(2)

    def _recalled(self, q: Tensor, state: State) -> Tensor:
        said = q @ state["memory"]
        if self.settings.kernel == "unit":
            return said
        weight = (q @ state["z"].unsqueeze(-1)).expand_as(said)
        there = weight > 0
        return torch.where(there, said / torch.where(there, weight, 1), 0)

    def _kernelled(self, x: Tensor) -> Tensor:
        match self.settings.kernel:
            case "elu":
                return F.elu(x) + 1
            case "unit_elu":
                return F.elu(F.normalize(x, dim=-1)) + 1
            case _:
                return F.normalize(x, dim=-1)

    def _first(self) -> dict[str, Tensor]:
        s, draw = self.settings, torch.Generator().manual_seed(self.settings.seed)
        weights = {n: torch.randn(s.width, s.width, generator=draw) / s.width**0.5 for n in ("key", "value", "out")}
        weights["query"] = weights["key"].clone()  # what is asked begins by being looked for where it was written
        return weights

    def _check(self, x: Tensor, state: State, name: str) -> None:
        s, like = self.settings, self._weights["key"]
        check_hidden(x, name, s.width, like, rows_of(state, form_of(self.empty(1))))


class InfiniBlock:
    """Attention over segments with that memory across them.

    Args:
        segment: Tokens that attention sees at most, those of its own segment.
    """

    def __init__(self, settings: InfiniSettings, segment: int) -> None:
        if segment < 1:
            raise Invalid("segment", f"{segment} is less than one", "Give 1 or more.")
        self.memory, self.segment = InfiniAttention(settings), segment
        self.weights = {**self.memory.weights, "gate": torch.zeros(settings.heads)}

    def run(self, x: Tensor, state: State, *, remembers: bool = True) -> tuple[Tensor, State]:
        """Read (B, T, D) segment by segment, and return what comes of it and the state behind it.

        Args:
            remembers: Whether anything is written; without, this is attention over segments alone.
        """
        memory, made = self.memory, []
        for part in x.split(self.segment, 1):
            q, k, v = (memory.heads(part, name) for name in ("query", "key", "value"))
            local = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            gate = self.weights["gate"].sigmoid()[:, None, None]
            mixed = gate * memory.recalled(part, state) + (1 - gate) * local if remembers else local
            made.append(memory.joined_heads(mixed) @ memory.weights["out"].mT)
            state = memory.write(part, state) if remembers else state
        return torch.cat(made, 1), state
