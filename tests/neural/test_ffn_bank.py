"""A bank beside a feed-forward layer: against a wider one, deletion, gradients, routing, and bad input."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="needs torch: pip install torch==2.13.0")

from mnemic.errors import Invalid  # noqa: E402
from mnemic.neural import base  # noqa: E402
from mnemic.neural.ffn_bank import BankSettings, FfnBank, bank_by_definition, k_means, routed  # noqa: E402
from mnemic.testing.memory_module_contract import *  # noqa: E402, F403
from mnemic.testing.memory_module_contract import ModuleSubject, bits  # noqa: E402

SMALL = BankSettings(width=6, forward=5, clusters=(3, 4), units=(2, 3))
FETCHED = torch.tensor([[0, 3], [2, -1], [0, 1]])


def hidden(seed: int, time: int = 4, rows: int = 3, dtype: Any = torch.float32) -> Any:
    return torch.randn(rows, time, 6, generator=torch.Generator().manual_seed(seed), dtype=dtype)


def filled(dtype: Any = torch.float32) -> FfnBank:
    draw = torch.Generator().manual_seed(1)
    first = FfnBank(SMALL).weights.items()
    return FfnBank(SMALL, {name: torch.randn(w.shape, generator=draw, dtype=dtype) for name, w in first})


class TakenAway:
    """A bank as a memory of what was taken away from it: a write names a cluster of a level."""

    family, bounded = base.Family.SEQUENCE, True

    def __init__(self) -> None:
        self.bank = filled()
        self.identity, self.weights, self.empty = self.bank.identity, self.bank.weights, self.bank.empty

    def write(self, given: tuple[int, int], state: Any) -> Any:
        return self.bank.forget(*given, state)

    def read(self, asked: Any, state: Any) -> Any:
        return self.bank.read(asked, FETCHED, state)


@pytest.fixture
def subject() -> ModuleSubject:
    shipped = filled().without(FfnBank(SMALL).empty())
    return ModuleSubject(
        TakenAway(), [(0, 0), (0, 2), (1, 3)], hidden(9), shipped.read(hidden(9), FETCHED, shipped.empty()),
        not_promised={
            "test_a_row_of_hidden_states_reads_what_it_has_written_itself": "a cluster is taken away for all rows",
        },
    )  # fmt: skip


@pytest.mark.parametrize("time", [1, 7, 64])
def test_it_is_a_wider_layer_in_value_and_gradient(time: int) -> None:
    bank = filled(torch.float64)
    weights = [weight.requires_grad_() for weight in bank.weights.values()]
    x = hidden(0, time, dtype=torch.float64).requires_grad_()
    fast = bank.read(x, FETCHED, bank.empty())
    slow = torch.stack(
        [torch.stack([bank_by_definition(t, bank.weights, FETCHED[n].tolist()) for t in x[n]]) for n in range(3)]
    )
    assert torch.allclose(fast, slow, atol=1e-10)
    for one, other in zip(*(torch.autograd.grad(y.square().sum(), [x, *weights]) for y in (fast, slow)), strict=True):
        assert torch.allclose(one, other, atol=1e-8)


def test_a_block_that_is_not_fetched_has_a_gradient_of_exactly_zero() -> None:
    bank = filled()
    for weight in bank.weights.values():
        weight.requires_grad_()
    bank.read(hidden(0), FETCHED, bank.empty()).square().sum().backward()
    for level, used in enumerate(({0, 2}, {1, 3})):
        for side in ("up", "down"):
            grad = bank.weights[f"{side} {level}"].grad
            assert {n for n in range(len(grad)) if grad[n].abs().sum() > 0} == used


def test_a_new_bank_is_the_layer_alone() -> None:
    bank = FfnBank(SMALL)
    none = torch.full((3, 2), -1)
    assert torch.equal(bank.read(hidden(0), FETCHED, bank.empty()), bank.read(hidden(0), none, bank.empty()))
    assert not torch.equal(
        filled().read(hidden(0), FETCHED, bank.empty()), filled().read(hidden(0), none, bank.empty())
    )


def test_what_is_forgotten_is_as_if_it_had_never_been_and_the_others_stand_to_the_bit() -> None:
    bank = filled()
    state = bank.empty()
    before = bits(state)
    left = bank.forget(0, 0, state)
    assert bits(state) == before
    whole, less = (bank.read(hidden(0), FETCHED, s) for s in (state, left))
    assert torch.equal(whole[1], less[1])
    assert not torch.equal(whole[0], less[0])
    never = FETCHED.clone()
    never[never[:, 0] == 0, 0] = -1
    assert torch.equal(less, bank.read(hidden(0), never, state))
    shipped = bank.without(left)
    assert not shipped.weights["up 0"][0].any()
    assert torch.equal(shipped.weights["up 0"][1:], bank.weights["up 0"][1:])
    assert bank.weights["up 0"][0].any()
    assert torch.equal(shipped.read(hidden(0), FETCHED, state), less)


def test_rows_and_positions_do_not_see_each_other() -> None:
    bank = filled()
    x = hidden(0)
    other = x.clone()
    other[1, 2] += 1.0
    one, two = (bank.read(h, FETCHED, bank.empty()) for h in (x, other))
    changed = (one != two).any(-1)
    assert changed.nonzero().tolist() == [[1, 2]]


def test_k_means_finds_what_lies_together() -> None:
    draw = torch.Generator().manual_seed(0)
    centres = torch.randn(8, 5, generator=draw) * 10
    belongs = torch.arange(8).repeat(20)
    vectors = centres[belongs] + 0.1 * torch.randn(160, 5, generator=draw)
    made = routed(vectors, k_means(vectors, 8, 0))
    assert len({(a, b) for a, b in zip(made.tolist(), belongs.tolist(), strict=True)}) == 8
    assert torch.isfinite(k_means(torch.zeros(4, 2), 3, 0)).all()
    with pytest.raises(Invalid, match="fewer"):
        k_means(vectors[:3], 4, 0)


def test_nothing_and_huge_input() -> None:
    bank = filled()
    assert bank.read(hidden(0, 0), FETCHED, bank.empty()).shape == (3, 0, 6)
    assert torch.isfinite(bank.read(torch.full((3, 2, 6), 1e15), FETCHED, bank.empty())).all()


def test_what_does_not_fit_is_refused() -> None:
    bank, x = filled(), hidden(0)
    for wrong, fetched in (
        (x[..., :4], FETCHED), (x.double(), FETCHED), (x * float("nan"), FETCHED), (x, FETCHED[:2]), (x, FETCHED + 2),
        (x, FETCHED - 2), (x, FETCHED.float()),
    ):  # fmt: skip
        with pytest.raises(Invalid):
            bank.read(wrong, fetched, bank.empty())
    with pytest.raises(Invalid, match="another bank"):
        bank.read(x, FETCHED, FfnBank(replace(SMALL, clusters=(3, 5))).empty())
    with pytest.raises(Invalid):
        bank.forget(0, 3, bank.empty())


@pytest.mark.parametrize("wrong", [{"width": 0}, {"clusters": (3, 0)}, {"units": (2,)}])
def test_settings_out_of_range_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(Invalid):
        FfnBank(replace(SMALL, **wrong))
