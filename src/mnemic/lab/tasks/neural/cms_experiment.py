"""A continuum of memories learns two languages online, A, B, A: what B costs A, against how well B is learnt.

A language is a source of symbols of its own, each of which follows from the two before it; the two share no symbol, so
what one costs the other is interference alone. One pass, no replay: the chain of levels gets the gradient of what it
said of the next symbol, and nothing else learns. Every form has as many weights and sees the same stream, at as many
learning rates over as many octaves. Controls: one level of equal size at the shortest period and at the middle one, and
the same three levels which all move at the shortest period: were depth what helps, these would have it too. What is
compared is the best of the forms with periods and the best of all controls, each at the best of its rates.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 - what everybody calls it

from mnemic.lab.kit.figures import Figure
from mnemic.lab.tasks.neural.experiment import CurvePoint, ExperimentPlan
from mnemic.neural.base import State
from mnemic.neural.cms import Cms, CmsSettings, Level, Levels, chained, written

SYMBOLS: Final = 12
"""Of a language."""
_WIDTH: Final = 32
_UNITS: Final = 192
"""Hidden units of all levels together."""
_UNLIMITED: Final = 1e6
"""Length of a step: what is too high a rate is to show."""
_ABOVE: Final = (1.02, 1.05, 1.1, 1.2, 1.4, 1.7, 2.0)
"""Bits of B, over those of the best control, up to which forms are compared by what A lost."""
_LIMIT: Final = 10.0
"""Bits a symbol that are counted at most; what has diverged counts as that."""


@dataclass(frozen=True, slots=True)
class _Size:
    phase: int
    tested: int
    periods: tuple[int, int, int]
    finer: int
    """Rates an octave."""


_FULL: Final = _Size(16_384, 2_048, (32, 256, 2_048), 2)
_QUICK: Final = _Size(2_048, 512, (16, 64, 256), 1)
_OCTAVES: Final = 9
"""Of rates of every form, about where it learns and up to where it no longer does."""


@dataclass(frozen=True, slots=True)
class _Form:
    """How the weights are laid out, and when they move.

    Attributes:
        highest: Of the rates, as a power of two.
        slower: A level of a period n times as long has a rate by n to this power lower.
    """

    periods: tuple[int, ...]
    highest: int
    slower: float = 0.0


@dataclass(frozen=True, slots=True)
class Language:
    """A source of symbols: what comes after the two before (S, S, S), and the number of its first symbol.

    Attributes:
        entropy: Bits a symbol of who knows the source.
    """

    next: Tensor
    first: int
    entropy: float

    def text(self, length: int, draw: torch.Generator) -> Tensor:
        """So many symbols."""
        chances = torch.rand(length, generator=draw).tolist()
        sums = self.next.cumsum(-1).tolist()
        said = [0, 1]
        for chance in chances:
            row = sums[said[-2]][said[-1]]
            said.append(next((n for n, upto in enumerate(row) if chance < upto), SYMBOLS - 1))
        return torch.tensor(said[2:]) + self.first


def language(first: int, draw: torch.Generator) -> Language:
    """Draw a source: of each two symbols one follower has .75, two .1, the others the rest."""
    order = torch.rand(SYMBOLS, SYMBOLS, SYMBOLS, generator=draw).argsort(-1)
    shares = torch.tensor([0.75, 0.1, 0.1, *[0.05 / (SYMBOLS - 3)] * (SYMBOLS - 3)])
    return Language(torch.zeros(order.shape).scatter(-1, order, shares.expand(order.shape)), first, _bits(shares))


def _bits(shares: Tensor) -> float:
    return float(-(shares * shares.log2()).sum())


class OnlineLearner:
    """Levels that learn to say the next symbol, each row at a rate of its own; symbols and head stand still.

    Args:
        periods: Of each level.
        rates: Of each row and level (R, L).
    """

    def __init__(self, periods: Sequence[int], rates: Tensor, seed: int) -> None:
        draw, rows, units = torch.Generator().manual_seed(seed), len(rates), _UNITS // len(periods)
        self.symbols = F.normalize(torch.randn(2, 2 * SYMBOLS, _WIDTH, generator=draw), dim=-1)
        self.head = torch.randn(2 * SYMBOLS, _WIDTH, generator=draw) / _WIDTH**0.5
        self.periods, self.rates = tuple(periods), rates
        first = torch.randn(_UNITS, _WIDTH, generator=draw).chunk(len(periods))  # the same ones for every form
        weights = [Level(up.expand(rows, -1, -1), torch.zeros(rows, _WIDTH, units)) for up in first]
        sums = [Level(*(torch.zeros_like(w) for w in level)) for level in weights]
        self.levels = Levels(weights, sums, torch.zeros(rows, len(periods), dtype=torch.int64))

    def read(self, text: Tensor) -> None:
        """Learn a text (T,) while it goes by."""
        x, after = self._shown(text)
        rows = len(self.rates)
        lengths = torch.full((rows,), len(after))
        self.levels = written(
            self.levels, x.expand(rows, -1, -1), after.expand(rows, -1), lengths, self.periods, self.rates, _UNLIMITED,
            self.pull,
        )  # fmt: skip

    def bits(self, text: Tensor) -> Tensor:
        """Bits a symbol that each row would need of a text, which it does not learn; `_LIMIT` at most."""
        x, after = self._shown(text)
        logs = (chained(self.levels.weights, x.expand(len(self.rates), -1, -1)) @ self.head.mT).log_softmax(-1)
        said = logs.gather(-1, after.expand(len(self.rates), -1)[..., None])[..., 0]
        return (-said.mean(1) / torch.tensor(2.0).log()).nan_to_num(_LIMIT).clamp_max(_LIMIT)

    def pull(self, y: Tensor, after: Tensor) -> Tensor:
        """The gradient of the cross entropy by what the levels make."""
        return ((y @ self.head.mT).softmax(-1) - F.one_hot(after, 2 * SYMBOLS)) @ self.head

    def _shown(self, text: Tensor) -> tuple[Tensor, Tensor]:
        """Of each two symbols their vectors' sum, of length one, and what comes after them."""
        return F.normalize(self.symbols[0][text[:-2]] + self.symbols[1][text[1:-1]], dim=-1), text[2:]


@dataclass(frozen=True, slots=True)
class Learnt:
    """What came of a form, of each rate (R,): bits of B once learnt, what A needs more behind B, and what A needs soon
    after it returns."""

    b: Tensor
    lost: Tensor
    a_again: Tensor

    def least_lost(self, most: float) -> float:
        """What the rate that forgot least lost of A, of those that need no more bits for B; no number where none is."""
        return min(self.lost[self.b <= most].tolist(), default=math.nan)


def measure(plan: ExperimentPlan) -> Iterator[Figure | CurvePoint]:
    """When levels move; then A, B, A in every form at every rate."""
    yield from _update_times(plan)
    size = _QUICK if plan.quick else _FULL
    short, middle, _ = size.periods
    with_periods = {
        "a period each": _Form(size.periods, -2),
        "a period each, longer ones slower by the root": _Form(size.periods, -1, 0.5),
        "a period each, longer ones as much slower": _Form(size.periods, 0, 1.0),
    }
    controls = {
        "three that move together": _Form((short,) * 3, 0),
        "one level": _Form((short,), 3),
        f"one level, every {middle}": _Form((middle,), 2),
    }
    learnt = dict[str, Learnt]()
    for name, form in (with_periods | controls).items():
        plan.progress(name)
        learnt[name] = of = _a_b_a(form, size, plan.seed)
        best = int(of.b.argmin())
        yield Figure(name=f"bits of B: {name}", value=float(of.b[best]), unit="bits", detail="at the rate best for B")
        yield Figure(name=f"bits that A lost meanwhile: {name}", value=float(of.lost[best]), unit="bits")
        yield Figure(name=f"bits of A soon after it is back: {name}", value=float(of.a_again[best]), unit="bits")
    known = language(0, torch.Generator()).entropy
    yield Figure(name="bits of who knows the source", value=known, unit="bits")
    ours, theirs = ([learnt[name] for name in forms] for forms in (with_periods, controls))
    best_b = min(float(of.b.min()) for of in theirs)
    for name, of in learnt.items():
        yield from (CurvePoint(name, above, of.least_lost(above * best_b)) for above in _ABOVE)
    for above in (1.05, 1.4):
        yield Figure(
            name=f"least that A lost, B within {above:g} of the best control: periods less the best control",
            value=less_the_best(ours, theirs, above), unit="bits",
            detail=f"won below 0; {_LIMIT:g} less the control's where no rate learns B so well",
        )  # fmt: skip


def less_the_best(ours: Sequence[Learnt], controls: Sequence[Learnt], above: float) -> float:
    """Bits that A lost at least in the best of our forms, less those in the best of the controls, each at any rate.

    Args:
        above: Of rates that learn B within so many times the bits of the control that learns it best.
    """
    most = above * min(float(of.b.min()) for of in controls)
    best, control = (
        min((lost for of in forms if not math.isnan(lost := of.least_lost(most))), default=_LIMIT)
        for forms in (ours, controls)
    )
    return best - control


def _a_b_a(form: _Form, size: _Size, seed: int) -> Learnt:
    """Read A, then B, then a little of A."""
    draw = torch.Generator().manual_seed(seed + 1_000_003)
    a, b = language(0, draw), language(SYMBOLS, draw)
    told, other = a.text(size.tested, draw), b.text(size.tested, draw)
    highest = 2.0 ** (form.highest - torch.arange(_OCTAVES * size.finer) / size.finer)
    longer = torch.tensor(form.periods) / form.periods[0]
    learner = OnlineLearner(form.periods, highest[:, None] / longer**form.slower, seed)
    learner.read(a.text(size.phase, draw))
    bits_a = learner.bits(told)
    learner.read(b.text(size.phase, draw))
    bits_b, behind = learner.bits(other), learner.bits(told)
    learner.read(a.text(size.phase // 16, draw))
    return Learnt(bits_b, torch.where(bits_a < _LIMIT, behind - bits_a, _LIMIT), learner.bits(told))


def _update_times(plan: ExperimentPlan) -> Iterator[Figure]:
    """Watch each level's bits token by token, and hold when they change against its period."""
    settings = CmsSettings(width=8, expansion=1, periods=(3, 12, 48), rates=(0.1, 0.1, 0.1), seed=plan.seed)
    x = torch.randn(1, 150, 8, generator=torch.Generator().manual_seed(plan.seed))
    late = CmsSettings(width=8, expansion=1, periods=(3, 13, 48), rates=(0.1, 0.1, 0.1), seed=plan.seed)
    wrong = [off_time(Cms(of), x, settings.periods) for of in (settings, late)]
    yield Figure(name="levels that moved at another time than theirs, or not at theirs", value=wrong[0], unit="", bar=0)
    yield Figure(
        name="the same, one level a token late", value=wrong[1], unit="", bar=1, more=True,
        detail="what the count sees of a schedule that is wrong",
    )  # fmt: skip


def off_time(memory: Cms, x: Tensor, periods: Sequence[int]) -> float:
    """How often a level of a memory moved when it should not, or did not when it should, in so many tokens."""
    state, wrong = memory.empty(), 0
    for t in range(x.shape[1]):
        before, state = state, memory.write(x[:, t : t + 1], state)
        for n, period in enumerate(periods):
            wrong += _moved(before, state, n) != ((t + 1) % period == 0)
    return float(wrong)


def _moved(before: State, after: State, level: int) -> bool:
    return any(not torch.equal(before[f"{part}.{level}"], after[f"{part}.{level}"]) for part in ("up", "down"))
