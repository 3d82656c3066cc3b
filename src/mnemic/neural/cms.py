"""A continuum of memories (CMS): levels one behind the other, each of which learns at a period of its own.

    x_0 = k_t,   x_l = x_{l-1} + V_l φ(U_l x_{l-1}) / √E,   y_t = x_L     a chain of L residual layers
    g_t^l = ∇_{U_l, V_l} ℓ(y_t; k_t, v_t)                                as the whole chain stands at t
    (U_l, V_l) ← (U_l, V_l) - η_l Σ g^l over the last C_l tokens        at every C_l-th token, and at no other
    ℓ = ½ |y - k - v|²                                                  a step is no longer than s
    o_t = W_O (x_L(q_t) - q_t),   k, q = W x / |W x|,   v = W_V x

A level of a short period follows what is said now; one of a long period moves seldom, by the sum of all that it was
shown meanwhile, and is meant to keep what the short ones write over. Between two updates all weights stand still, so
gradients of the tokens between them are one product of matrices: `written` goes from update to update, the definition
from token to token by autograd.

Source: Behrouz et al., Nested Learning, arXiv:2512.24695: the continuum memory system of Hope. What we do otherwise:
inside a model it takes the place of the feed-forward layers and gets the model's own gradient; as a memory by itself it
learns values of keys, in steps of a limited length, so that weights grow no faster than linearly whatever comes. V
begins at zero, so that an empty memory reads zeros; √E makes what η does the same for every width. The other half of
Hope, Titans that write their own targets, is not here.
Shapes: B rows, T time, D width, L levels, E = D · expansion hidden units of a level; U (B, E, D), V (B, D, E).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, NamedTuple, TypeAlias

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 - what everybody calls it

from mnemic.errors import DamagedState, Invalid
from mnemic.neural.base import (
    Family,
    Identity,
    State,
    at_front,
    check_hidden,
    check_sizes,
    form_of,
    own_identity,
    rows_of,
)

Pull: TypeAlias = Callable[[Tensor, Tensor], Tensor]
"""The gradient of a loss by what the chain makes (B, T, D), given what is beside each token (B, T, ...)."""


@dataclass(frozen=True, slots=True)
class CmsSettings:
    """The form of a memory, and when and how far its levels move.

    Attributes:
        rows: Rows of the empty state.
        expansion: Hidden units of a level, as often as the width.
        periods: C of each level, in tokens.
        rates: η of each level: of a sum over C tokens, so more than 1 / C may overshoot.
        step: s, the longest step of a level, U and V together.
        seed: Of the first weights.
    """

    width: int = 64
    rows: int = 1
    expansion: int = 4
    periods: tuple[int, ...] = (16, 128, 1024)
    rates: tuple[float, ...] = (0.05, 0.01, 0.001)
    step: float = 1.0
    seed: int = 0

    def checked(self) -> CmsSettings:
        """The same settings.

        Raises:
            Invalid: one of them is out of range.
        """
        check_sizes(self, "width", "rows", "expansion")
        if not self.periods or min(self.periods) < 1:
            raise Invalid("periods", f"{self.periods} name no time", "Give 1 or more tokens for each level.")
        if len(self.rates) != len(self.periods):
            raise Invalid("rates", f"are {len(self.rates)}", f"Give one for each of {len(self.periods)} levels.")
        if not (min(self.rates) > 0 and self.step > 0):
            raise Invalid("rates", "or step is nothing, so nothing would be written", "Give more than 0.")
        return self


class Level(NamedTuple):
    """U and V of a level, or the sums of their gradients."""

    up: Tensor
    down: Tensor


class Levels(NamedTuple):
    """All levels in the midst of a text.

    Attributes:
        sums: Of gradients since each level's last update.
        counts: Tokens since then (B, L).
    """

    weights: Sequence[Level]
    sums: Sequence[Level]
    counts: Tensor


def chained(weights: Sequence[Level], x: Tensor) -> Tensor:
    """What the levels make of (..., T, D), one behind the other."""
    for up, down in weights:
        x = x + F.silu(x @ up.mT) @ down.mT / up.shape[-2] ** 0.5
    return x


def limited(sums: Level, rate: Tensor, most: float) -> Level:
    """The steps η Σ g of each row, no longer than so much."""
    up, down = (rate * part for part in sums)
    largest = torch.maximum(*(part.detach().abs().amax((-2, -1), keepdim=True) for part in (up, down))).clamp_min(most)
    square = (up / largest).square().sum((-2, -1), keepdim=True) + (down / largest).square().sum((-2, -1), keepdim=True)
    share = most / largest / square.clamp_min((most / largest) ** 2).sqrt()  # of a short one exactly 1
    return Level(share * up, share * down)


def written_by_definition(
    levels: Levels, x: Tensor, beside: Tensor, periods: Sequence[int], rates: Sequence[float], most: float,
    loss: Callable[[Tensor, Tensor], Tensor],
) -> Levels:  # fmt: skip
    """The definition for one row, one token at a time by autograd. Slow on purpose: the fast form is tested against it.

    Args:
        levels: Of one row: U (E, D), V (D, E), counts (L,).
        x: (T, D).
        beside: What the loss takes beside each token's y.
        most: Length of a step.
    """
    weights, sums, counts = list(levels.weights), list(levels.sums), levels.counts.tolist()
    for t in range(len(x)):
        at = [  # copies, or a level that another one's last step depends on would get that one's gradient too
            Level(*(w.clone() if w.requires_grad else w.detach().requires_grad_() for w in level)) for level in weights
        ]
        with torch.enable_grad():
            lost = loss(chained(at, x[t : t + 1]), beside[t : t + 1]).sum()
            gradients = torch.autograd.grad(lost, [w for level in at for w in level], create_graph=True)
        for n, period in enumerate(periods):
            sums[n] = Level(sums[n].up + gradients[2 * n], sums[n].down + gradients[2 * n + 1])
            counts[n] += 1
            if counts[n] == period:
                length = torch.cat([rates[n] * part.flatten() for part in sums[n]]).norm()
                rate = rates[n] if length <= most else rates[n] * most / length
                weights[n] = Level(*(w - rate * part for w, part in zip(weights[n], sums[n], strict=True)))
                sums[n], counts[n] = Level(*(torch.zeros_like(s) for s in sums[n])), 0
    return Levels(weights, sums, torch.tensor(counts))


def gradients(weights: Sequence[Level], x: Tensor, beside: Tensor, real: Tensor, pull: Pull) -> list[Level]:
    """The gradients of each level, summed over the tokens (B, T, D) that are real (B, T)."""
    inputs, hidden = [x], []
    for up, down in weights:
        hidden.append(inputs[-1] @ up.mT)
        inputs.append(inputs[-1] + F.silu(hidden[-1]) @ down.mT / up.shape[-2] ** 0.5)
    off = pull(inputs[-1], beside) * real[..., None]
    made = []
    for (up, down), u, into in zip(weights[::-1], hidden[::-1], inputs[-2::-1], strict=True):
        sigma, size = u.sigmoid(), up.shape[-2] ** -0.5
        back = (off @ down) * sigma * (1 + u * (1 - sigma)) * size
        made.append(Level(back.mT @ into, off.mT @ (u * sigma) * size))
        off = off + back @ up
    return made[::-1]


def written(
    levels: Levels, x: Tensor, beside: Tensor, lengths: Tensor, periods: Sequence[int], rates: Tensor, most: float,
    pull: Pull,
) -> Levels:  # fmt: skip
    """The fast form: from one update of any level to the next, each row by its own counts.

    Args:
        x: (B, T, D), each row's tokens at its beginning.
        beside: (B, T, ...), what the loss takes beside each token's y.
        lengths: Tokens of each row (B,).
        rates: η (B, L).
        most: Length of a step.
    """
    weights, sums, counts = list(levels.weights), list(levels.sums), levels.counts
    due_at, rows = torch.tensor(periods), torch.arange(len(x))[:, None]
    done = torch.zeros_like(lengths)
    while bool((done < lengths).any()):
        run = torch.minimum((due_at - counts).amin(1), lengths - done)
        ahead = torch.arange(int(run.max()))
        at = (done[:, None] + ahead).clamp_max(x.shape[1] - 1)
        shown = gradients(weights, x[rows, at], beside[rows, at], ahead < run[:, None], pull)
        counts, done = counts + run[:, None], done + run
        due = counts == due_at
        for n, fresh in enumerate(shown):
            sums[n] = Level(*(s + g for s, g in zip(sums[n], fresh, strict=True)))
            if bool(due[:, n].any()):
                now, steps = due[:, n, None, None], limited(sums[n], rates[:, n, None, None], most)
                weights[n] = Level(*(torch.where(now, w - d, w) for w, d in zip(weights[n], steps, strict=True)))
                sums[n] = Level(*(s.masked_fill(now, 0) for s in sums[n]))
        counts = counts.masked_fill(due, 0)
    return Levels(weights, sums, counts)


class Cms:
    """The memory alone. A state is each level's weights, what it was shown since it moved last, and when that was."""

    family: ClassVar[Family] = Family.SEQUENCE
    bounded: ClassVar[bool] = True

    def __init__(self, settings: CmsSettings | None = None, weights: Mapping[str, Tensor] | None = None) -> None:
        self.settings = (settings or CmsSettings()).checked()
        self._weights = dict(self._first() if weights is None else weights)

    @cached_property
    def identity(self) -> Identity:
        """Whose its states are."""
        return own_identity("cms", self._weights, self.settings)

    @property
    def weights(self) -> Mapping[str, Tensor]:
        """Projections, and the U that each level begins with."""
        return self._weights

    def empty(self, rows: int | None = None) -> State:
        """A memory that reads zeros, for the settings' rows or others."""
        rows = rows or self.settings.rows
        state: State = {}
        for n in range(len(self.settings.periods)):
            first = self._weights[f"first.{n}"]
            up = first.expand(rows, -1, -1).clone(memory_format=torch.contiguous_format)
            down = torch.zeros_like(up.detach().mT, memory_format=torch.contiguous_format)
            none = {f"sum.up.{n}": torch.zeros_like(up.detach()), f"sum.down.{n}": torch.zeros_like(down)}
            state |= {f"up.{n}": up, f"down.{n}": down, **none, f"count.{n}": torch.zeros(rows, dtype=torch.int64)}
        return state

    def restarted(self, state: State, levels: Collection[int]) -> State:
        """The state with these levels as they began, and the others to the bit as they were: a new session, say.

        Raises:
            Invalid: there is no such level.
            DamagedState: the state is none of this memory's.
        """
        rows = self._rows(state)
        if unknown := set(levels) - set(range(len(self.settings.periods))):
            raise Invalid("levels", f"{sorted(unknown)} are none of this memory's", "Count them from 0.")
        return {**state, **{part: t for part, t in self.empty(rows).items() if int(part.split(".")[-1]) in levels}}

    def write(self, given: Tensor, state: State, real: Tensor | None = None) -> State:
        """Write hidden states (B, T, D); a level moves at its own times, however they come.

        Args:
            real: (B, T), False where a row is padded: nothing is written of that.

        Raises:
            Invalid: they are of another width, type or number of rows, no numbers, or threw the memory out of range.
            DamagedState: the state is none of this memory's.
        """
        check_hidden(given, "given", self.settings.width, self._weights["key"], self._rows(state))
        given, lengths = at_front(given, real)
        k, v = self._unit(given, "key"), given @ self._weights["value"].mT
        after = written(
            self._levels(state), k, k + v, lengths, self.settings.periods,
            torch.tensor(self.settings.rates, dtype=given.dtype).expand(len(given), -1), self.settings.step, torch.sub,
        )  # fmt: skip
        made: State = {}
        for n, (level, sums) in enumerate(zip(after.weights, after.sums, strict=True)):
            made |= {f"up.{n}": level.up, f"down.{n}": level.down, f"sum.up.{n}": sums.up, f"sum.down.{n}": sums.down}
            made[f"count.{n}"] = after.counts[:, n]
        made = {part: tensor.contiguous() for part, tensor in made.items()}
        if not all(torch.isfinite(tensor).all() for tensor in made.values()):
            raise Invalid("given", "threw the memory out of range", "Nothing was written: lower `rates`, or scale it.")
        return made

    def read(self, asked: Tensor, state: State) -> Tensor:
        """What the memory makes of hidden states (B, T, D); of what no level has moved by yet it says nothing.

        Raises:
            Invalid, DamagedState: as `write`.
        """
        check_hidden(asked, "asked", self.settings.width, self._weights["key"], self._rows(state))
        q = self._unit(asked, "query")
        return (chained(self._levels(state).weights, q) - q) @ self._weights["out"].mT

    def _unit(self, x: Tensor, name: str) -> Tensor:
        """A projection of each token, of length one."""
        made = x @ self._weights[name].mT
        if not torch.isfinite(made.norm(dim=-1)).all():
            raise Invalid(name, "is of a length that no float holds", "Scale the hidden states; nothing was written.")
        return F.normalize(made, dim=-1)

    def _levels(self, state: State) -> Levels:
        count = range(len(self.settings.periods))
        weights, sums = (
            [Level(state[f"{of}up.{n}"], state[f"{of}down.{n}"]) for n in count] for of in ("", "sum.")
        )  # fmt: skip
        return Levels(weights, sums, torch.stack([state[f"count.{n}"] for n in count], 1))

    def _first(self) -> dict[str, Tensor]:
        s, draw = self.settings, torch.Generator().manual_seed(self.settings.seed)
        weights = {n: torch.randn(s.width, s.width, generator=draw) / s.width**0.5 for n in ("key", "value", "out")}
        weights["query"] = weights["key"].clone()  # what is asked begins by being looked for where it was written
        for n in range(len(s.periods)):
            weights[f"first.{n}"] = torch.randn(s.expansion * s.width, s.width, generator=draw)
        return weights

    def _rows(self, state: State) -> int:
        rows = rows_of(state, form_of(self.empty(1)))
        periods = torch.tensor(self.settings.periods)
        counts = torch.stack([state[f"count.{n}"] for n in range(len(periods))], 1)
        if bool(((counts < 0) | (counts >= periods)).any()):
            raise DamagedState("the state counts more tokens than a level waits for. Make it again from the text.")
        return rows
