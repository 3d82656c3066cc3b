"""Titans: a small network that learns while it is read past, by its own gradient: what surprises it is written.

    k_t = W_K x_t / |W_K x_t|,  v_t = W_V x_t,  q_t = W_Q x_t / |W_Q x_t|        for each head
    ℓ(M; k, v) = c² (√(1 + |M(k) - v|² / c²) - 1)                    the surprise; ½ |M(k) - v|² where it is small
    S_t = η_t S_{t-1} - θ_t ∇ℓ(M; k_t, v_t)                            momentum: what surprised keeps being written
    M_t = (1 - α_t) M_{t-1} + S_t                                     forgetting
    o_t = W_O M(q_t)

M is one matrix, or a network of several with SiLU between them. θ_t, η_t and α_t are σ of x_t, each up to a most of its
own. Inside a chunk of C tokens every gradient is taken where the chunk began; then the two recurrences are sums, whose
weights depend on the gates alone (`gated_scan`). So a chunk costs two products of matrices, and C is a knob of quality:
two writes of one key in one chunk do not see each other. `written_by_definition` is the definition, one token at a time
by autograd.

Three ways to put it beside attention over segments, with persistent tokens P; ∘ is elementwise, a ⊗ m = a ∘ 2σ(m):

    as context   y = x + Attn([P ; M(x) ; x]),  M written with y,  o = y ⊗ M(y)
    as gate      y = x + Attn([P ; x]),         M written with x,  o = y ⊗ M(x)
    as layer     y = x + M(x),                  M written with x,  o = y + Attn([P ; y])

Source: Behrouz et al., Titans, arXiv:2501.00663, sections 3.1 to 3.3 and 4. What we do otherwise: the loss grows no
faster than linearly (theirs: the square), so no input can throw the memory out; no convolution before k, v and q; M
begins at zero, or with a last matrix of zeros, so that an empty memory reads zeros; each segment reads the memory as it
stood before that segment, or a position would see what comes behind it; a gate of 2σ(0) = 1 changes nothing; attention
ends at the edge of its segment in all three places (theirs slides a window in the gate and the layer).
Shapes: B rows, T time, D width, H heads, d width of a head, N = B·H, C chunk, (out, in) a matrix of the memory.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import ClassVar, Final, Literal, TypeAlias

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 - what everybody calls it

from mnemic.errors import Invalid
from mnemic.neural.base import Family, Identity, State, check_hidden, check_sizes, own_identity, rows_of
from mnemic.neural.gated_scan import ChunkWeights, Gates, chunk_weights
from mnemic.neural.unfilled_chunk import joined, unfilled

Place: TypeAlias = Literal["context", "gate", "layer"]

_BIASES: Final = {"rate": 2.0, "momentum": -3.0, "forgetting": -6.0}
"""Where the gates begin: a step that nearly replaces, little momentum, hardly anything forgotten."""


@dataclass(frozen=True, slots=True)
class TitansSettings:
    """The form of a memory, and the most of each gate.

    Attributes:
        rows: Rows of the empty state: that many are written and asked at once.
        layers: Matrices of the memory; of 2 and more the inner ones are `expansion` times as wide as a head.
        chunk: Tokens whose gradients are taken at once.
        rate: Most θ; above 1 / chunk a deep memory may overshoot.
        momentum: Most η; 0 is without.
        forgetting: Most α; 0 is without.
        clamp: c of the surprise.
        seed: Of the first weights.
    """

    width: int = 64
    rows: int = 1
    heads: int = 1
    layers: int = 1
    expansion: int = 2
    chunk: int = 1
    rate: float = 1.0
    momentum: float = 0.9
    forgetting: float = 1.0
    clamp: float = 10.0
    seed: int = 0

    def checked(self) -> TitansSettings:
        """The same settings.

        Raises:
            Invalid: one of them is out of range.
        """
        check_sizes(self, "width", "rows", "heads", "layers", "expansion", "chunk")
        if self.width % self.heads:
            raise Invalid("heads", f"{self.heads} do not divide a width of {self.width}", "Give a number that does.")
        for name, most in (("rate", 2.0), ("momentum", 0.99), ("forgetting", 1.0)):
            if not 0 <= getattr(self, name) <= most:
                raise Invalid(name, f"{getattr(self, name)} is out of range", f"Give 0 to {most:g}.")
        if not self.rate or not self.clamp > 0:
            raise Invalid("rate", "or clamp is nothing, so nothing would be written", "Give more than 0.")
        return self


def recalled(matrices: Sequence[Tensor], x: Tensor) -> Tensor:
    """What a memory, matrices (N, out, in), makes of keys (N, T, d)."""
    for matrix in matrices[:-1]:
        x = F.silu(x @ matrix.mT)
    return x @ matrices[-1].mT


def written_by_definition(
    matrices: Sequence[Tensor], surprise: Sequence[Tensor], k: Tensor, v: Tensor, gates: Gates, chunk: int, clamp: float
) -> tuple[list[Tensor], list[Tensor]]:
    """The definition, one token at a time by autograd. Slow on purpose: the faster form is tested against it.

    Args:
        matrices: The memory, (N, out, in) each.
        surprise: Its momentum S, likewise.
        k, v: (N, T, d).
    """
    memory, momenta = list(matrices), list(surprise)
    begin = memory
    for t in range(k.shape[1]):
        if t % chunk == 0:
            begin = memory
        at = [matrix if matrix.requires_grad else matrix.detach().requires_grad_() for matrix in begin]
        with torch.enable_grad():
            off = recalled(at, k[:, t : t + 1]) - v[:, t : t + 1]
            loss = (clamp**2 * ((1 + off.square().sum(-1) / clamp**2).sqrt() - 1)).sum()
            gradients = torch.autograd.grad(loss, at, create_graph=True)
        rate, momentum, kept, real = (
            part[:, t, None, None] for part in (gates.rate, gates.momentum, gates.kept, gates.real)
        )
        momenta = [momentum * s - rate * g for s, g in zip(momenta, gradients, strict=True)]
        memory = [kept * m + real * s for m, s in zip(memory, momenta, strict=True)]
    return memory, momenta


def surprises(matrices: Sequence[Tensor], k: Tensor, v: Tensor, clamp: float) -> list[tuple[Tensor, Tensor]]:
    """For each matrix δ (N, T, out) and a (N, T, in), so that token t's gradient is δ_t a_tᵀ."""
    inputs, sums = [k], []
    for matrix in matrices[:-1]:
        sums.append(inputs[-1] @ matrix.mT)
        inputs.append(F.silu(sums[-1]))
    off = inputs[-1] @ matrices[-1].mT - v
    delta = off * (1 + off.square().sum(-1, keepdim=True) / clamp**2).rsqrt()
    backward = [(delta, inputs[-1])]
    for n in range(len(sums) - 1, -1, -1):
        sigma = sums[n].sigmoid()
        delta = (delta @ matrices[n + 1]) * sigma * (1 + sums[n] * (1 - sigma))
        backward.append((delta, inputs[n]))
    return backward[::-1]


def written_chunk(
    matrices: Sequence[Tensor], surprise: Sequence[Tensor], k: Tensor, v: Tensor, weights: ChunkWeights, clamp: float
) -> tuple[list[Tensor], list[Tensor]]:
    """The fast form of one chunk; without momentum `surprise` is empty."""
    memory, momenta = [], []
    for n, (delta, a) in enumerate(surprises(matrices, k, v, clamp)):
        fresh = weights.kept * matrices[n]
        if surprise:
            step = (delta * -weights.to_surprise[..., None]).mT
            momenta.append(torch.baddbmm(weights.carried * surprise[n], step, a))
            if k.shape[1] == 1:  # S_1 is all there is to add
                memory.append(torch.addcmul(fresh, weights.real, momenta[n]))
                continue
            fresh = torch.addcmul(fresh, weights.added, surprise[n])
        memory.append(torch.baddbmm(fresh, (delta * -weights.to_memory[..., None]).mT, a))
    return memory, momenta


class Titans:
    """The memory alone. A state is M and S of each row and head, and what fills no chunk yet."""

    family: ClassVar[Family] = Family.SEQUENCE
    bounded: ClassVar[bool] = True

    def __init__(self, settings: TitansSettings | None = None, weights: Mapping[str, Tensor] | None = None) -> None:
        self.settings = (settings or TitansSettings()).checked()
        self._weights = dict(self._first() if weights is None else weights)

    @cached_property
    def identity(self) -> Identity:
        """Whose its states are."""
        return own_identity("titans", self._weights, self.settings)

    @property
    def weights(self) -> Mapping[str, Tensor]:
        """Projections, gates, and the inner matrices that a deep memory begins with."""
        return self._weights

    def empty(self, rows: int | None = None) -> State:
        """A memory that reads zeros, for the settings' rows or others."""
        s, rows = self.settings, rows or self.settings.rows
        like = self._weights["key"].detach()
        state = {"pending": like.new_zeros(rows, s.chunk - 1, s.width), "counts": torch.zeros(rows, dtype=torch.int64)}
        for n, shape in enumerate(self._shapes()):
            first = self._weights.get(f"first.{n}", like.new_zeros(shape))
            state[f"memory.{n}"] = first.expand(rows, s.heads, *shape).clone(memory_format=torch.contiguous_format)
            if s.momentum:
                state[f"surprise.{n}"] = like.new_zeros(rows, s.heads, *shape)
        return state

    def write(self, given: Tensor, state: State, real: Tensor | None = None) -> State:
        """Write hidden states (B, T, D), in chunks counted from a row's first token, however they come.

        Args:
            real: (B, T), False where a row is padded: nothing is written of that.

        Raises:
            Invalid: they are of another width, type or number of rows, no numbers, or threw the memory out of range.
            DamagedState: the state is none of this memory's.
        """
        self._check(given, state, "given")
        chunk = self.settings.chunk
        tokens, counts = joined(state, given, real)
        whole = counts // chunk * chunk
        state = self._updated(state, tokens, whole, int(whole.max()) // chunk) | unfilled(tokens, counts, whole, chunk)
        if not all(torch.isfinite(tensor).all() for tensor in state.values()):
            raise Invalid("given", "threw the memory out of range", "Nothing was written: lower `rate`, or scale it.")
        return state

    def read(self, asked: Tensor, state: State) -> Tensor:
        """What the memory makes of hidden states (B, T, D), what fills no chunk yet included.

        Raises:
            Invalid, DamagedState: as `write`.
        """
        self._check(asked, state, "asked")
        if self.settings.chunk > 1 and bool(state["counts"].any()):
            state = self._updated(state, state["pending"], state["counts"], 1)
        queries = self._heads(asked, "query")
        read = recalled(_parts(state, "memory"), F.normalize(queries, dim=-1))
        return read.unflatten(0, (len(asked), -1)).transpose(1, 2).flatten(2) @ self._weights["out"].mT

    def _updated(self, state: State, tokens: Tensor, counts: Tensor, chunks: int) -> State:
        """The state after each row's first tokens, in chunks."""
        s, rows = self.settings, tokens.shape[0]
        memory, surprise = _parts(state, "memory"), _parts(state, "surprise")
        k, v = F.normalize(self._heads(tokens, "key"), dim=-1), self._heads(tokens, "value")
        weights = chunk_weights(self._gates(tokens, torch.arange(tokens.shape[1]) < counts[:, None]), s.chunk)
        for keys, values, of in zip(k.split(s.chunk, 1), v.split(s.chunk, 1), weights[:chunks], strict=False):
            memory, surprise = written_chunk(memory, surprise, keys, values, of, s.clamp)
        fresh = {f"memory.{n}": part for n, part in enumerate(memory)}
        fresh |= {f"surprise.{n}": part for n, part in enumerate(surprise)}
        shaped = {name: part.unflatten(0, (rows, s.heads)).contiguous() for name, part in fresh.items()}
        return {"pending": state["pending"], "counts": state["counts"], **shaped}

    def _gates(self, x: Tensor, real: Tensor) -> Gates:
        s = self.settings
        there = real[..., None].expand(-1, -1, s.heads).transpose(1, 2).flatten(0, 1).to(x.dtype)

        def gate(name: str, most: float) -> Tensor:
            if not most:
                return torch.zeros_like(there)
            raw = x @ self._weights[f"{name}.matrix"].mT + self._weights[f"{name}.bias"]
            return most * raw.sigmoid().transpose(1, 2).flatten(0, 1)  # (B, H, T) as (N, T)

        return Gates(
            gate("rate", s.rate) * there, gate("momentum", s.momentum) * there + (1 - there),
            1 - gate("forgetting", s.forgetting) * there, there,
        )  # fmt: skip

    def _heads(self, x: Tensor, name: str) -> Tensor:
        """(B, T, D) as (N, T, d)."""
        made = x @ self._weights[name].mT
        return made.unflatten(2, (self.settings.heads, -1)).transpose(1, 2).flatten(0, 1)

    def _shapes(self) -> list[tuple[int, int]]:
        s, d = self.settings, self.settings.width // self.settings.heads
        widths = [d, *[d * s.expansion] * (s.layers - 1), d]
        return [(out, into) for into, out in pairwise(widths)]

    def _first(self) -> dict[str, Tensor]:
        s, draw = self.settings, torch.Generator().manual_seed(self.settings.seed)
        weights = {n: torch.randn(s.width, s.width, generator=draw) / s.width**0.5 for n in ("key", "value", "out")}
        weights["query"] = weights["key"].clone()  # what is asked begins by being looked for where it was written
        for name, bias in _BIASES.items():
            if getattr(s, name):
                weights[f"{name}.matrix"] = torch.randn(s.heads, s.width, generator=draw) * 0.1 / s.width**0.5
                weights[f"{name}.bias"] = torch.full((s.heads,), bias)
        for n, (out, into) in enumerate(self._shapes()[:-1]):
            weights[f"first.{n}"] = torch.randn(out, into, generator=draw) / into**0.5
        return weights

    def _check(self, x: Tensor, state: State, name: str) -> None:
        s, like = self.settings, self._weights["key"]
        parts = {f"memory.{n}": shape for n, shape in enumerate(self._shapes())}
        expected: dict[str, tuple[int, ...]] = {part: (s.heads, *shape) for part, shape in parts.items()}
        if s.momentum:
            expected |= {part.replace("memory", "surprise"): shape for part, shape in expected.items()}
        expected |= {"pending": (s.chunk - 1, s.width), "counts": ()}
        check_hidden(x, name, s.width, like, rows_of(state, expected))


def _parts(state: State, name: str) -> list[Tensor]:
    """The matrices of a state, a row for each head: (N, out, in)."""
    count = sum(part.startswith(f"{name}.") for part in state)
    return [state[f"{name}.{n}"].flatten(0, 1) for n in range(count)]


class TitansBlock:
    """Attention over segments with a memory across them, in one of three places.

    Args:
        place: Where the memory stands.
        segment: Tokens that attention sees at most, those of its own segment.
        persistent: Tokens P that every segment sees.
    """

    def __init__(self, settings: TitansSettings, place: Place, segment: int, persistent: int = 2) -> None:
        if place not in ("context", "gate", "layer"):
            raise Invalid("place", f"{place!r} is not known", "Use context, gate or layer.")
        self.memory, self.place, self.segment = Titans(settings), place, segment
        draw, width = torch.Generator().manual_seed(settings.seed + 1), settings.width
        self.weights = {f"memory.{name}": weight for name, weight in self.memory.weights.items()} | {
            name: torch.randn(width, width, generator=draw) / width**0.5 for name in ("q", "k", "v", "o")
        }
        self.weights["persistent"] = torch.randn(persistent, width, generator=draw)

    def run(self, x: Tensor, state: State, *, remembers: bool = True) -> tuple[Tensor, State]:
        """Read (B, T, D) segment by segment, and return what comes of it and the state behind it.

        Args:
            remembers: Whether anything is written; without, this is attention over segments alone.
        """
        made = []
        for part in x.split(self.segment, 1):
            match self.place:
                case "context":
                    within = torch.cat((self.memory.read(part, state), part), 1)
                    y = given = part + self._attended(part, within)
                    out = _gated(y, self.memory.read(y, state))
                case "gate":
                    given = part
                    out = _gated(part + self._attended(part, part), self.memory.read(part, state))
                case "layer":
                    given, y = part, part + self.memory.read(part, state)
                    out = y + self._attended(y, y)
            state = self.memory.write(given, state) if remembers else state
            made.append(out)
        return torch.cat(made, 1), state

    def _attended(self, asked: Tensor, within: Tensor) -> Tensor:
        """Attention of a segment's T positions over P and one or more runs of T, each up to its own place."""
        persistent = self.weights["persistent"].expand(len(asked), -1, -1)
        seen = torch.cat((persistent, within), 1)
        q, k, v = asked @ self.weights["q"].mT, seen @ self.weights["k"].mT, seen @ self.weights["v"].mT
        time = asked.shape[1]
        causal = torch.ones(time, time, dtype=torch.bool).tril().repeat(1, within.shape[1] // time)
        mask = torch.cat((torch.ones(time, persistent.shape[1], dtype=torch.bool), causal), 1)
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask) @ self.weights["o"].mT


def _gated(y: Tensor, recalled: Tensor) -> Tensor:
    return y * 2 * recalled.sigmoid()
