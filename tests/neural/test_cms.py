"""The continuum of memories: update times to the token, the fast form against its definition, and input that is bad."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="needs torch: pip install torch==2.13.0")

from hypothesis import given as drawn  # noqa: E402
from hypothesis import settings as tries  # noqa: E402
from hypothesis import strategies as st  # noqa: E402
from torch.nn import functional as F  # noqa: E402

from mnemic.errors import DamagedState, Invalid  # noqa: E402
from mnemic.lab.tasks.neural.cms_experiment import (  # noqa: E402
    SYMBOLS,
    Learnt,
    OnlineLearner,
    language,
    less_the_best,
    off_time,
)
from mnemic.neural.cms import (  # noqa: E402
    Cms,
    CmsSettings,
    Level,
    Levels,
    chained,
    limited,
    written_by_definition,
)
from mnemic.testing.memory_module_contract import *  # noqa: E402, F403
from mnemic.testing.memory_module_contract import ModuleSubject, bits  # noqa: E402

WIDTH = 8
PERIODS = (2, 3, 8)
SMALL = CmsSettings(width=WIDTH, rows=2, expansion=2, periods=PERIODS, rates=(0.2, 0.1, 0.05), step=0.5)


def hidden(seed: int, time: int = 4, rows: int = 2, dtype: Any = torch.float32) -> Any:
    return torch.randn(rows, time, WIDTH, generator=torch.Generator().manual_seed(seed), dtype=dtype)


@pytest.fixture(params=[(2, 3, 4), (1,)], ids=["three", "one"])
def subject(request: pytest.FixtureRequest) -> ModuleSubject:
    settings = replace(SMALL, periods=request.param, rates=SMALL.rates[: len(request.param)])
    h = [hidden(n) for n in range(4)]
    return ModuleSubject(Cms(settings), h[:3], h[3], torch.zeros(2, 4, WIDTH), torch.cat(h[:2], 1))


def level(state: Any, n: int, row: int, of: str = "") -> Level:
    return Level(state[f"{of}up.{n}"][row], state[f"{of}down.{n}"][row])


def half_square(y: Any, target: Any) -> Any:
    return (y - target).square().sum(-1) / 2


def levels(state: Any, row: int) -> Levels:
    """One row of a state, as the definition takes it."""
    every = range(len(PERIODS))
    counts = torch.stack([state[f"count.{n}"][row] for n in every])
    return Levels([level(state, n, row) for n in every], [level(state, n, row, "sum.") for n in every], counts)


@pytest.mark.parametrize("time", [1, 7, 8, 9])
def test_the_fast_form_is_the_definition_in_value_state_and_gradient(time: int) -> None:
    weights = {name: weight.double().requires_grad_() for name, weight in Cms(SMALL).weights.items()}
    memory = Cms(SMALL, weights)
    texts = [hidden(n, time, dtype=torch.float64).requires_grad_() for n in range(3)]
    state = memory.empty()
    slow = [levels(state, row) for row in range(2)]
    for h in texts[:2]:
        state = memory.write(h, state)
        k, v = F.normalize(h @ weights["key"].mT, dim=-1), h @ weights["value"].mT
        slow = [
            written_by_definition(of, k[row], (k + v)[row], PERIODS, SMALL.rates, SMALL.step, half_square)
            for row, of in enumerate(slow)
        ]
    for row, of in enumerate(slow):
        for n in range(3):
            for fast, own in zip(level(state, n, row), of.weights[n], strict=True):
                assert torch.allclose(fast, own, atol=1e-10)
            for fast, own in zip(level(state, n, row, "sum."), of.sums[n], strict=True):
                assert torch.allclose(fast, own, atol=1e-10)
        assert (
            [int(state[f"count.{n}"][row]) for n in range(3)] == of.counts.tolist() == [2 * time % c for c in PERIODS]
        )
    q = F.normalize(texts[2] @ weights["query"].mT, dim=-1)
    slow_read = torch.stack([chained(of.weights, q[row]) - q[row] for row, of in enumerate(slow)]) @ weights["out"].mT
    fast_read = memory.read(texts[2], state)
    assert torch.allclose(slow_read, fast_read, atol=1e-10)
    inputs = [*weights.values(), *texts]
    for one, other in zip(
        *(torch.autograd.grad(x.square().sum(), inputs, allow_unused=True) for x in (slow_read, fast_read)), strict=True
    ):
        assert (one is None) == (other is None)
        assert one is None or torch.allclose(one, other, atol=1e-9)


@tries(max_examples=8, deadline=None)
@drawn(
    periods=st.lists(st.integers(1, 9), min_size=1, max_size=3),
    cuts=st.lists(st.integers(0, 7), min_size=1, max_size=5),
)
def test_each_level_moves_at_its_times_and_at_no_other_however_a_text_comes(
    periods: list[int], cuts: list[int]
) -> None:
    settings = replace(SMALL, periods=tuple(periods), rates=(0.1,) * len(periods))
    memory, h = Cms(settings), hidden(3, sum(cuts))
    assert off_time(memory, h, periods) == 0
    state = memory.empty()
    for part in h.split(cuts, 1):
        state = memory.write(part, state)
    whole = memory.write(h, memory.empty())
    for part in state:
        assert torch.allclose(state[part], whole[part], atol=1e-5)


def test_a_level_that_moves_too_late_is_counted() -> None:
    late = Cms(replace(SMALL, periods=(2, 4, 8)))
    assert off_time(late, hidden(3, 24), PERIODS) > 0


def test_one_level_whose_period_is_the_text_is_one_step_of_gradient_descent() -> None:
    memory = Cms(replace(SMALL, periods=(9,), rates=(0.1,), step=100.0))
    h = hidden(1, 9)
    after = memory.write(h, memory.empty())
    at = [memory.empty()[part].requires_grad_() for part in ("up.0", "down.0")]
    k, v = F.normalize(h @ memory.weights["key"].mT, dim=-1), h @ memory.weights["value"].mT
    lost = half_square(chained([Level(*at)], k), k + v).sum()
    for part, before, gradient in zip(("up.0", "down.0"), at, torch.autograd.grad(lost, at), strict=True):
        assert torch.allclose(after[part], before - 0.1 * gradient, atol=1e-6)
    assert not torch.equal(after["down.0"], at[1])


def test_a_step_is_no_longer_than_its_most_and_a_short_one_is_as_it_is() -> None:
    sums = Level(torch.full((1, 2, 2), 3.0), torch.full((1, 2, 2), 4.0))
    rate = torch.full((1, 1, 1), 0.1)
    short, cut = limited(sums, rate, 1.0), limited(sums, rate, 0.5)
    assert torch.equal(short.up, rate * sums.up)
    assert torch.allclose(torch.cat([part.flatten() for part in cut]).norm(), torch.tensor(0.5))
    assert torch.allclose(cut.up * 4, cut.down * 3)
    huge = limited(Level(*(part * 1e30 for part in sums)), rate, 0.5)  # whose square no float holds
    assert torch.allclose(huge.down, cut.down)
    nothing = limited(Level(*(torch.zeros_like(part).requires_grad_() for part in sums)), rate, 0.5)
    assert torch.equal(torch.autograd.grad(nothing.up.sum(), nothing.up)[0], torch.ones(1, 2, 2))


def test_levels_that_begin_anew_leave_the_others_to_the_bit() -> None:
    memory = Cms(SMALL)
    state = memory.write(hidden(1, 11), memory.empty())
    again, empty = memory.restarted(state, {0, 1}), memory.empty()
    for part in state:
        assert torch.equal(again[part], (state if part.endswith(".2") else empty)[part])
    assert not torch.equal(memory.read(hidden(2), again), memory.read(hidden(2), empty))
    with pytest.raises(Invalid, match="from 0"):
        memory.restarted(state, {3})


def test_rows_that_end_at_different_lengths_are_each_as_if_alone() -> None:
    memory = Cms(SMALL)
    h, real = hidden(6, 9), torch.ones(2, 9, dtype=torch.bool)
    real[1, 5:] = real[0, 2] = False  # padding in the middle too
    state = memory.write(hidden(7), memory.write(h, memory.empty(), real))
    for row in range(2):
        alone = memory.write(h[row : row + 1, real[row]], memory.empty(1))
        alone = memory.write(hidden(7)[row : row + 1], alone)
        for part in state:
            assert torch.allclose(state[part][row], alone[part][0], atol=1e-5)


def test_nothing_and_padding_alone_write_nothing() -> None:
    memory = Cms(SMALL)
    state = memory.write(hidden(1, 5), memory.empty())
    assert bits(memory.write(hidden(2, 0), state)) == bits(state)
    assert bits(memory.write(hidden(2), state, torch.zeros(2, 4, dtype=torch.bool))) == bits(state)


@pytest.mark.parametrize("size", [0.0, 1.0, 1e10])
def test_constant_and_huge_input_stays_finite(size: float) -> None:
    memory = Cms(SMALL)
    state = memory.empty()
    for _ in range(5):
        state = memory.write(torch.full((2, 40, WIDTH), size), state)
    assert torch.isfinite(memory.read(hidden(1), state)).all()


def test_what_this_module_cannot_take_is_refused_and_the_state_stays() -> None:
    memory = Cms(SMALL)
    state = memory.write(hidden(1), memory.empty())
    before = bits(state)
    with pytest.raises(Invalid, match="no float holds"):
        memory.write(torch.full((2, 40, WIDTH), 1e38), state)
    with pytest.raises(Invalid, match="bool"):
        memory.write(hidden(2), state, torch.ones(2, 4))
    with pytest.raises(DamagedState):
        memory.write(hidden(2), Cms(replace(SMALL, periods=(2,), rates=(0.1,))).empty())
    with pytest.raises(DamagedState, match="rows"):
        memory.read(hidden(2), {**state, "up.0": state["up.0"][:1]})
    with pytest.raises(DamagedState, match="waits for"):
        memory.write(hidden(2), {**state, "count.0": torch.tensor([0, 2])})
    assert bits(state) == before


@pytest.mark.parametrize(
    "wrong", [{"width": 0}, {"periods": ()}, {"periods": (2, 0, 8)}, {"rates": (0.1,)}, {"rates": (0.1, 0.1, 0.0)}]
)
def test_settings_out_of_range_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(Invalid):
        Cms(replace(SMALL, **wrong))


def test_the_experiment_learns_by_the_gradient_of_what_it_measures() -> None:
    learner = OnlineLearner((4, 8), torch.tensor([[0.1, 0.1], [0.2, 0.2]]), 0)
    y, after = torch.randn(2, 5, 32, requires_grad=True), torch.randint(2 * SYMBOLS, (2, 5))
    lost = F.cross_entropy((y @ learner.head.mT).flatten(0, 1), after.flatten(), reduction="sum")
    (expected,) = torch.autograd.grad(lost, y)
    assert torch.allclose(learner.pull(y, after), expected, atol=1e-6)
    source = language(0, torch.Generator().manual_seed(0))
    text = source.text(600, torch.Generator().manual_seed(1))
    before = learner.bits(text)
    learner.read(text)
    assert bool((learner.bits(text) < before - 0.3).all())


def learnt(*rates: tuple[float, float]) -> Learnt:
    """Of each rate: bits of B, and what A lost."""
    b, lost = torch.tensor(rates).unbind(1)
    return Learnt(b, lost, lost)


def test_what_has_periods_is_held_against_the_best_of_all_controls_at_its_best_rate() -> None:
    ours = learnt((2.0, 3.0), (3.0, 1.0))
    weak, strong = learnt((2.0, 5.0), (2.2, 4.0)), learnt((2.1, 2.5), (2.9, 0.5))
    assert less_the_best([ours], [weak], 1.2) == pytest.approx(3.0 - 4.0), "won against one control alone"
    assert less_the_best([ours], [weak, strong], 1.2) == pytest.approx(3.0 - 2.5)
    assert less_the_best([ours], [strong, weak], 1.5) == pytest.approx(1.0 - 0.5)
    assert less_the_best([weak, ours], [strong], 1.2) == pytest.approx(3.0 - 2.5), "the best of ours too"
    assert less_the_best([ours], [learnt((1.0, 2.0))], 1.5) == pytest.approx(10 - 2.0), "none of ours learns B so well"
