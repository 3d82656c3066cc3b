"""kNN attention: a layer attends to its segment, and to the k best of all keys that it has ever stored.

    q̂ = q/|q|,  k̂ = k/|k|                                            cosine attention; τ_h = exp(s_h) for each head
    A_c = softmax(τ q̂ K̂ᵀ + causal) V                                  the segment itself
    I = the k largest of q̂·m_j over the store,  A_m = softmax(τ q̂ M_k[I]ᵀ) M_v[I]
    y = W_o [σ(b_h) A_m + (1 - σ(b_h)) A_c]                           the paper's mix, a gate for each head
    y = W_o softmax over [I | segment] of both's values               `joint`, one softmax

A segment is read first and written afterwards, so nothing sees itself twice; no gradient enters the store. Keys have
unit norm, or those stored early, under other weights, would weigh more or less than those of today.

Source: Wu et al., Memorizing Transformers, arXiv:2203.08913, section 3. What we do otherwise: the search is exact, in
blocks, which up to some 100,000 keys is faster than an index; there is no relative bias and no cache of the segment
before; a row whose store is empty has its gate closed, so that it is local attention to the bit. The joint softmax is
that of lucidrains' port, without its shared head.

Forgetting is exact: a stored key belongs to one write, a write names its sources, and `forget` drops what came of them,
as long as no older key had to make room for it.
Shapes: B rows, T time, D width, H heads, d = D/H, N stored keys, k of them seen.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal, TypeAlias

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 - what everybody calls it

from mnemic.errors import DamagedState, Invalid
from mnemic.neural.base import (
    Family,
    Identity,
    State,
    check_hidden,
    check_real,
    check_sizes,
    own_identity,
    source_digests,
)

Mix: TypeAlias = Literal["gate", "joint"]


@dataclass(frozen=True, slots=True)
class KnnSettings:
    """The form of a layer and of its store.

    Attributes:
        rows: Rows of the empty state.
        nearest: k; more than are stored is all of them.
        slots: Most keys of a row's store; the oldest go first.
        mix: A gate for each head, as in the paper, or one softmax over both.
        block: Keys that are searched at once.
        seed: Of the first weights.
    """

    width: int = 64
    rows: int = 1
    heads: int = 2
    nearest: int = 8
    slots: int = 65_536
    mix: Mix = "gate"
    block: int = 4_096
    seed: int = 0

    def checked(self) -> KnnSettings:
        """The same settings.

        Raises:
            Invalid: one of them is out of range.
        """
        check_sizes(self, "width", "rows", "heads", "nearest", "slots", "block")
        if self.width % self.heads:
            raise Invalid("heads", f"{self.heads} do not divide a width of {self.width}", "Give a number that does.")
        if self.mix not in ("gate", "joint"):
            raise Invalid("mix", f"{self.mix!r} is not known", "Use gate or joint.")
        return self


@dataclass(frozen=True, slots=True)
class SourcedStates:
    """Hidden states with what they were read from, for a store that is to forget it.

    Attributes:
        h: (B, T, D).
        real: (B, T), False where a row is padded; None where none is.
    """

    h: Tensor
    sources: tuple[str, ...] = ()
    real: Tensor | None = None


def attention_by_definition(
    q: Tensor, k: Tensor, v: Tensor, stored: tuple[Tensor, Tensor], nearest: int, scale: Tensor, gate: Tensor | None
) -> Tensor:  # fmt: skip
    """What one row's heads make of a segment, one position and head at a time. Slow on purpose.

    Args:
        q, k, v: (H, T, d), q and k of unit norm.
        stored: Keys and values (H, N, d).
        scale, gate: (H,), τ and b; without a gate one softmax over both.
    """
    made = torch.zeros_like(q)
    for head in range(q.shape[0]):
        for t in range(q.shape[1]):
            likes = [float((q[head, t] * key).sum().detach()) for key in stored[0][head]]
            chosen = sorted(range(len(likes)), key=lambda n: -likes[n])[:nearest]
            seen_k, seen_v = k[head, : t + 1], v[head, : t + 1]
            far_k, far_v = stored[0][head, chosen], stored[1][head, chosen]
            if gate is None:
                seen_k, seen_v = torch.cat((far_k, seen_k)), torch.cat((far_v, seen_v))
            local = torch.softmax(scale[head] * seen_k @ q[head, t], 0) @ seen_v
            if gate is not None and chosen:
                far = torch.softmax(scale[head] * far_k @ q[head, t], 0) @ far_v
                local = torch.sigmoid(gate[head]) * far + (1 - torch.sigmoid(gate[head])) * local
            made[head, t] = local
    return made


class KnnAttention:
    """A layer with a store. A state is the keys and values of each row, the write each is of, and writes' sources."""

    family: ClassVar[Family] = Family.SEQUENCE
    bounded: ClassVar[bool] = False

    def __init__(self, settings: KnnSettings | None = None, weights: Mapping[str, Tensor] | None = None) -> None:
        self.settings = (settings or KnnSettings()).checked()
        self._weights = dict(self._first() if weights is None else weights)

    @cached_property
    def identity(self) -> Identity:
        """Whose its states are."""
        return own_identity("knn", self._weights, self.settings)

    @property
    def weights(self) -> Mapping[str, Tensor]:
        """Matrices q, k, v, o (D, D), the scale of each head, and with the paper's mix its gate."""
        return self._weights

    def empty(self, rows: int | None = None) -> State:
        """A store of nothing, for the settings' rows or others."""
        s, rows = self.settings, rows or self.settings.rows
        none = self._weights["q"].detach().new_zeros(rows, s.heads, 0, s.width // s.heads)
        return {
            "keys": none,
            "values": none.clone(),
            "real": torch.zeros(rows, 0, dtype=torch.bool),
            "write": torch.zeros(0, dtype=torch.int64),
            "sources": torch.zeros(0, 32, dtype=torch.uint8),
            "source_writes": torch.zeros(0, dtype=torch.int64),
        }

    def write(self, given: Tensor | SourcedStates, state: State) -> State:
        """Store the keys and values of hidden states (B, T, D); the oldest make room.

        Raises:
            Invalid: they are of another width, type or number of rows, or no numbers.
            DamagedState: the state is none of this layer's.
        """
        given = given if isinstance(given, SourcedStates) else SourcedStates(given)
        real = torch.ones(given.h.shape[:2], dtype=torch.bool) if given.real is None else given.real
        self._check(given.h, state, "given")
        check_real(real, given.h)
        if not real.any():
            return dict(state)
        with torch.no_grad():
            _, k, v = self._heads(given.h)
            shown = real[:, None, :, None]
            number = int(state["write"][-1]) + 1 if len(state["write"]) else 0
            cited = source_digests(given.sources)
            joined = {
                "keys": torch.cat((state["keys"], k * shown), 2),
                "values": torch.cat((state["values"], v * shown), 2),
                "real": torch.cat((state["real"], real), 1),
                "write": torch.cat((state["write"], torch.full((given.h.shape[1],), number))),
                "sources": torch.cat((state["sources"], cited)),
                "source_writes": torch.cat((state["source_writes"], torch.full((len(cited),), number))),
            }
        stored = len(joined["write"])
        return _kept(joined, torch.arange(max(0, stored - self.settings.slots), stored))

    def read(self, asked: Tensor, state: State) -> Tensor:
        """What the layer makes of a segment (B, T, D) with its store.

        Raises:
            Invalid, DamagedState: as `write`.
        """
        self._check(asked, state, "asked")
        q, k, v = self._heads(asked)
        scale = self._weights["scale"].exp()[:, None, None]
        hidden = torch.ones(asked.shape[1], asked.shape[1], dtype=torch.bool).triu(1)
        near = (scale * (q @ k.mT)).masked_fill(hidden, float("-inf"))  # (B, H, T, T)
        if not len(state["write"]) or not asked.shape[1]:
            return self._out(torch.softmax(near, -1) @ v)
        at = self._nearest(q.detach(), state)  # (B, H, T, k)
        far_k, far_v, there = _picked(state["keys"], at), _picked(state["values"], at), _there(state["real"], at)
        likes = scale * torch.einsum("bhtd,bhtkd->bhtk", q, far_k)
        if self.settings.mix == "joint":
            likes = likes.masked_fill(~there, float("-inf"))
            far, local = torch.softmax(torch.cat((likes, near), -1), -1).split((at.shape[-1], near.shape[-1]), -1)
            return self._out(torch.einsum("bhtk,bhtkd->bhtd", far, far_v) + local @ v)
        likes = likes.masked_fill(~there, torch.finfo(likes.dtype).min)
        stored = torch.einsum("bhtk,bhtkd->bhtd", torch.softmax(likes, -1), far_v)
        gate = torch.sigmoid(self._weights["gate"])[:, None, None] * there.any(-1, keepdim=True)
        return self._out(gate * stored + (1 - gate) * (torch.softmax(near, -1) @ v))

    def segments(self, h: Tensor, state: State, length: int) -> tuple[Tensor, State]:
        """Read a sequence (B, T, D) in segments, each before it is written; the last may be shorter."""
        made = []
        for segment in h.split(length, 1):
            made.append(self.read(segment, state))
            state = self.write(segment, state)
        return torch.cat(made, 1), state

    def forget(self, sources: Collection[str], state: State) -> State:
        """Drop every key of a write that one of these sources has a part in."""
        gone = (state["sources"][:, None] == source_digests(sources)[None]).all(2).any(1)
        writes = state["source_writes"][gone]
        return _kept(state, (~torch.isin(state["write"], writes)).nonzero()[:, 0])

    def _first(self) -> State:
        draw, s = torch.Generator().manual_seed(self.settings.seed), self.settings
        made = {name: torch.randn(s.width, s.width, generator=draw) / s.width**0.5 for name in ("q", "k", "v", "o")}
        made["scale"] = torch.full((s.heads,), 20.0).log()
        return made | ({"gate": torch.zeros(s.heads)} if s.mix == "gate" else {})

    def _heads(self, h: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Queries, keys and values (B, H, T, d); the first two of unit norm."""
        q, k, v = (
            (h @ self._weights[name].mT).unflatten(-1, (self.settings.heads, -1)).transpose(1, 2) for name in "qkv"
        )
        return F.normalize(q, dim=-1), F.normalize(k, dim=-1), v

    def _out(self, heads: Tensor) -> Tensor:
        return heads.transpose(1, 2).flatten(2) @ self._weights["o"].mT

    def _nearest(self, q: Tensor, state: State) -> Tensor:
        """Where the k keys lie that are likest to each query, found block by block."""
        likes, at, begin = q.new_zeros(*q.shape[:3], 0), torch.zeros(*q.shape[:3], 0, dtype=torch.int64), 0
        for keys, real in zip(
            state["keys"].split(self.settings.block, 2), state["real"].split(self.settings.block, 1), strict=True
        ):
            here = (q @ keys.mT).masked_fill(~real[:, None, None], float("-inf"))
            where = torch.arange(begin, begin + keys.shape[2]).expand(here.shape)
            likes, at = torch.cat((likes, here), -1), torch.cat((at, where), -1)
            likes, best = likes.topk(min(self.settings.nearest, likes.shape[-1]), -1)
            at, begin = at.gather(-1, best), begin + keys.shape[2]
        return at

    def _check(self, h: Tensor, state: State, name: str) -> None:
        s, like = self.settings, self._weights["q"]
        if state.keys() != {"keys", "values", "real", "write", "sources", "source_writes"}:
            raise DamagedState("the state has other parts than this layer writes. Start from an empty one.")
        rows, stored = state["real"].shape
        shape = (rows, s.heads, stored, s.width // s.heads)
        if state["keys"].shape != shape or state["values"].shape != shape or state["keys"].dtype != like.dtype:
            raise DamagedState("the state is of another width, type or number of heads. Start from an empty one.")
        check_hidden(h, name, s.width, like, rows)


def _kept(state: State, at: Tensor) -> State:
    """Some keys of a store, with the sources of their writes, which are counted anew."""
    writes, numbers = state["write"][at].unique(return_inverse=True)
    cited = torch.isin(state["source_writes"], writes)
    return {
        "keys": state["keys"][:, :, at].contiguous(),
        "values": state["values"][:, :, at].contiguous(),
        "real": state["real"][:, at].contiguous(),
        "write": numbers,
        "sources": state["sources"][cited],
        "source_writes": torch.searchsorted(writes, state["source_writes"][cited]),
    }


def _picked(stored: Tensor, at: Tensor) -> Tensor:
    """Of (B, H, N, d) those at (B, H, T, k): (B, H, T, k, d)."""
    index = at.flatten(2)[..., None].expand(-1, -1, -1, stored.shape[-1])
    return stored.gather(2, index).unflatten(2, at.shape[2:])


def _there(real: Tensor, at: Tensor) -> Tensor:
    return real[:, None].expand(-1, at.shape[1], -1).gather(2, at.flatten(2)).unflatten(2, at.shape[2:])
