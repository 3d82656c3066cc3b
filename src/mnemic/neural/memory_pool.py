"""MemoryLLM and M+: a pool of slots in every layer; a write adds some and drops as many at random.

    read     h_{l+1} = Block_l([θ_l ; h_l])[-T:]                     slots are keys and values, nothing else
    write    e_l = Block_l([θ_l[-K:] ; h_l ; r])[-K:]                 r_0: h_0's mean, plus K learned vectors
             θ_l = [θ_l without K of its N slots ; e_l]              the ones left keep their order
    M+       what is dropped goes to a long-term store, of which each position sees its k best by q·k beside the pool

Dropped uniformly at random, a slot lives through t writes with probability (1 - K/N)^t, whatever is written: slots die
slowly instead of all at once, as they do where the oldest go first. A fact lies in all K slots of its write; so
where one is enough it is found with 1 - (1 - (1 - K/N)^t)^K, which is what we measure, and not the slots' own law.
Layers drop independently of each other, and so do rows: what is drawn for one follows from the settings' seed, from
the number of the row's stream, which `empty` gives it, and from how often it was written, whatever rows are beside it.

Sources: Wang et al., MemoryLLM, arXiv:2402.04624, section 3; M+, arXiv:2502.00592. What we do otherwise: the
pool begins empty, so that it reads as the bare blocks do (theirs: filled at random); the K outputs that are kept are
those of K tokens behind the text that begin as its mean (theirs: of its own last K tokens), so that a write may be one
token long; M+'s retriever is the layer's own attention (theirs: trained). Nothing has a position: slots are a set.
Shapes: B rows, T time, D width, H heads, L layers, N slots, K fresh slots of a write, M slots of the long term.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
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

Dropped: TypeAlias = Literal["random", "oldest"]
Block: TypeAlias = Mapping[str, Tensor]
"""A block's matrices: q, k, v, o (D, D), up (2D, D), down (D, 2D)."""


@dataclass(frozen=True, slots=True)
class PoolSettings:
    """The form of a pool and of the blocks that it lies in.

    Attributes:
        rows: Rows of the empty state.
        slots: N, of each layer.
        fresh: K, of each write.
        dropped: Which slots go where there is no room: any at random, or the oldest, which is the control.
        retrieved: k of M+'s long-term store; 0 is MemoryLLM, whose state stays as large as it is.
        seed: Of the first weights, and of what is dropped.
    """

    width: int = 64
    rows: int = 1
    heads: int = 2
    layers: int = 1
    slots: int = 64
    fresh: int = 4
    dropped: Dropped = "random"
    retrieved: int = 0
    seed: int = 0

    def checked(self) -> PoolSettings:
        """The same settings.

        Raises:
            Invalid: one of them is out of range.
        """
        check_sizes(self, "width", "rows", "heads", "layers", "slots", "fresh")
        if self.width % self.heads:
            raise Invalid("heads", f"{self.heads} do not divide a width of {self.width}", "Give a number that does.")
        if self.fresh > self.slots:
            raise Invalid(
                "fresh", f"{self.fresh} are more than a pool of {self.slots} holds", "Give fewer, or more slots."
            )
        if self.dropped not in ("random", "oldest") or self.retrieved < 0:
            raise Invalid("dropped", f"{self.dropped!r} or retrieved is not known", "Use random or oldest; 0 or more.")
        return self


def block_by_definition(block: Block, heads: int, h: Tensor, memory: Tensor) -> Tensor:
    """A block over memory (M, D) and text (T, D), one position and head at a time. Slow on purpose."""
    made = []
    for t in range(len(h)):
        seen = _normed(torch.cat((memory, h[: t + 1])))
        q, k, v = block["q"] @ seen[-1], seen @ block["k"].mT, seen @ block["v"].mT
        heard = []
        for of in torch.arange(len(q)).chunk(heads):
            weights = torch.softmax(k[:, of] @ q[of] / len(of) ** 0.5, 0)
            heard.append(weights @ v[:, of])
        x = h[t] + block["o"] @ torch.cat(heard)
        made.append(x + block["down"] @ F.silu(block["up"] @ _normed(x)))
    return torch.stack(made) if made else h


def pool_by_definition(pool: Sequence[Tensor], fresh: Sequence[Tensor], gone: Sequence[int]) -> list[Tensor]:
    """The pool as a list: some slots go, the others keep their order, the fresh ones stand at the end."""
    return [slot for n, slot in enumerate(pool) if n not in gone] + list(fresh)


class MemoryPool:
    """Blocks with a pool in each. A state is the slots, in which write each was made, and of each row
    how often it was written and the stream that its draws are from."""

    family: ClassVar[Family] = Family.SEQUENCE

    def __init__(self, settings: PoolSettings | None = None, weights: Mapping[str, Tensor] | None = None) -> None:
        self.settings = (settings or PoolSettings()).checked()
        self._weights = dict(self._first() if weights is None else weights)

    @property
    def bounded(self) -> bool:
        """Whether a state stays as large as it is: M+'s long-term store grows."""
        return not self.settings.retrieved

    @cached_property
    def identity(self) -> Identity:
        """Whose its states are."""
        return own_identity("pool", self._weights, self.settings)

    @property
    def weights(self) -> Mapping[str, Tensor]:
        """The blocks' matrices, and the learned tokens whose outputs become slots."""
        return self._weights

    def empty(self, rows: int | None = None) -> State:
        """A pool of no slots, for the settings' rows or others."""
        s, rows = self.settings, rows or self.settings.rows
        like = self._weights["fresh"].detach()
        state = {
            "pool": like.new_zeros(rows, s.layers, s.slots, s.width),
            "born": torch.full((rows, s.layers, s.slots), -1),
            "writes": torch.zeros(rows, dtype=torch.int64),
            "stream": torch.arange(rows),
        }
        if s.retrieved:
            state["long_term"] = like.new_zeros(rows, s.layers, 0, s.width)
            state["long_term_real"] = torch.zeros(rows, s.layers, 0, dtype=torch.bool)
        return state

    def write(self, given: Tensor, state: State, real: Tensor | None = None) -> State:
        """Write hidden states (B, T, D), all as one fact: K fresh slots in every layer.

        Args:
            real: (B, T), False where a row is padded; a row of padding alone stays as it is.

        Raises:
            Invalid: they are of another width, type or number of rows, or no numbers.
            DamagedState: the state is none of this memory's.
        """
        s = self.settings
        there = torch.ones(given.shape[:2], dtype=torch.bool) if real is None else real
        self._check(given, state, "given")
        check_real(there, given)
        written = there.any(1)
        if not written.any():
            return dict(state)
        rows = len(given)
        h = given * there[..., None]
        mean = h.sum(1, keepdim=True) / there.sum(1).clamp_min(1)[:, None, None]
        h = torch.cat((h, mean + self._weights["fresh"]), 1)
        there = torch.cat((there, there.new_ones(rows, s.fresh)), 1)
        fresh = []
        for n in range(s.layers):
            newest, known = state["pool"][:, n, -s.fresh :], state["born"][:, n, -s.fresh :] >= 0
            h = self._block(n, h, newest, known, there)
            fresh.append(h[:, -s.fresh :])
        return self._added(torch.stack(fresh, 1), written, state)

    def read(self, asked: Tensor, state: State) -> Tensor:
        """What the blocks make of hidden states (B, T, D) with the pool before them.

        Raises:
            Invalid, DamagedState: as `write`.
        """
        self._check(asked, state, "asked")
        used = min(int(state["writes"].max()) * self.settings.fresh, self.settings.slots) if len(asked) else 0
        h, there = asked, torch.ones(asked.shape[:2], dtype=torch.bool)
        for n in range(self.settings.layers):
            slots = state["pool"][:, n, self.settings.slots - used :]
            real = state["born"][:, n, self.settings.slots - used :] >= 0
            if not self.settings.retrieved:
                h = self._block(n, h, slots, real, there)
                continue
            long_term, known = state["long_term"][:, n], state["long_term_real"][:, n]
            h = self._block(
                n, h, torch.cat((long_term, slots), 1), torch.cat((known, real), 1), there, len(long_term[0])
            )
        return h

    def _added(self, fresh: Tensor, written: Tensor, state: State) -> State:
        """The state with fresh slots (B, L, K, D) of the rows that were written."""
        s = self.settings
        keep, gone = self._choice(state)
        pool = torch.cat((_gathered(state["pool"], keep), fresh), 2)
        born = torch.cat((state["born"].gather(2, keep), state["writes"][:, None, None].expand(fresh.shape[:3])), 2)
        rows = written[:, None, None]
        made = {
            "pool": torch.where(rows[..., None], pool, state["pool"]).contiguous(),
            "born": torch.where(rows, born, state["born"]).contiguous(),
            "writes": state["writes"] + written,
            "stream": state["stream"],
        }
        if s.retrieved:
            lost, real = _gathered(state["pool"], gone), (state["born"].gather(2, gone) >= 0) & rows
            made["long_term"] = torch.cat((state["long_term"], lost * real[..., None]), 2).contiguous()
            made["long_term_real"] = torch.cat((state["long_term_real"], real), 2).contiguous()
        if not all(torch.isfinite(part).all() for part in made.values()):
            raise Invalid("given", "made slots that are no numbers", "Nothing was written: scale what is written.")
        return made

    def _choice(self, state: State) -> tuple[Tensor, Tensor]:
        """Which slots stay (B, L, N - K), in their order, and which go; empty ones go first."""
        s = self.settings
        age = torch.arange(s.slots).expand(state["born"].shape).to(torch.float64)
        order = age
        if s.dropped == "random" and len(age):
            rows = zip(state["stream"].tolist(), state["writes"].tolist(), strict=True)
            order = torch.stack([self._drawn(stream, writes) for stream, writes in rows])
        order = torch.where(state["born"] < 0, age - s.slots, order).argsort(2)
        return order[..., s.fresh :].sort(2).values, order[..., : s.fresh].sort(2).values

    def _drawn(self, stream: int, writes: int) -> Tensor:
        """A number for each slot (L, N) of one row at one write."""
        s = self.settings
        seed = hashlib.sha256(f"{s.seed} {stream} {writes}".encode()).digest()
        draw = torch.Generator().manual_seed(int.from_bytes(seed[:4]))  # of more than 32 bits the generator drops some
        return torch.rand(s.layers, s.slots, generator=draw, dtype=torch.float64)

    def _block(
        self, n: int, h: Tensor, memory: Tensor, known: Tensor, there: Tensor, long_term: int = 0
    ) -> Tensor:  # fmt: skip
        """A block over memory (B, M, D) and text (B, T, D), of which each position sees what stands before it.

        Args:
            known, there: (B, M) and (B, T), which of them are real.
            long_term: How many of the memory's slots, the first ones, are seen only as far as they are the best.
        """
        s, time = self.settings, h.shape[1]
        block = {name: self._weights[f"{n}.{name}"] for name in ("q", "k", "v", "o", "up", "down")}
        seen = _normed(torch.cat((memory, h), 1))
        q, k, v = (
            (x @ block[name].mT).unflatten(2, (s.heads, -1)).transpose(1, 2)
            for x, name in ((seen[:, memory.shape[1] :], "q"), (seen, "k"), (seen, "v"))
        )
        own = torch.eye(time, dtype=torch.bool)  # of a padded position too, so that nothing is divided by nothing
        causal = torch.ones(time, time, dtype=torch.bool).tril() & there[:, None] | own
        mask = torch.cat((known[:, None].expand(-1, time, -1), causal), 2)[:, None]
        scores = (q @ k.mT / q.shape[-1] ** 0.5).masked_fill(~mask, -torch.inf)
        if long_term > s.retrieved:
            least = scores[..., :long_term].topk(s.retrieved, -1).values[..., -1:]
            worse = scores[..., :long_term] < least
            scores = torch.cat((scores[..., :long_term].masked_fill(worse, -torch.inf), scores[..., long_term:]), -1)
        x = h + (scores.softmax(-1) @ v).transpose(1, 2).flatten(2) @ block["o"].mT
        return x + F.silu(_normed(x) @ block["up"].mT) @ block["down"].mT

    def _first(self) -> dict[str, Tensor]:
        s, draw = self.settings, torch.Generator().manual_seed(self.settings.seed)
        weights = {"fresh": torch.randn(s.fresh, s.width, generator=draw) * 0.1}
        for n in range(s.layers):
            for name in ("k", "v", "o"):
                weights[f"{n}.{name}"] = torch.randn(s.width, s.width, generator=draw) / s.width**0.5
            weights[f"{n}.q"] = weights[f"{n}.k"].clone()  # what is alike is looked at to begin with
            weights[f"{n}.up"] = torch.randn(2 * s.width, s.width, generator=draw) / s.width**0.5
            weights[f"{n}.down"] = torch.randn(s.width, 2 * s.width, generator=draw) / (2 * s.width) ** 0.5
        return weights

    def _check(self, x: Tensor, state: State, name: str) -> None:
        s, like = self.settings, self._weights["fresh"]
        expected = form_of(self.empty(1))
        if s.retrieved and "long_term" in state:  # it grows
            count = state["long_term"].shape[2]
            expected |= {"long_term": (s.layers, count, s.width), "long_term_real": (s.layers, count)}
        check_hidden(x, name, s.width, like, rows_of(state, expected))


def _normed(x: Tensor) -> Tensor:
    return F.rms_norm(x, (x.shape[-1],), eps=1e-6)


def _gathered(slots: Tensor, at: Tensor) -> Tensor:
    return slots.gather(2, at[..., None].expand(-1, -1, -1, slots.shape[3]))
