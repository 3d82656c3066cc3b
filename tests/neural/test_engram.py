"""Engram: rows against their definition, streaming, the gate, gradients, and bad input."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="needs torch: pip install torch==2.13.0")

from mnemic.errors import DamagedState, Invalid  # noqa: E402
from mnemic.neural import base  # noqa: E402
from mnemic.neural.engram import Engram, EngramSettings, primes, rows_by_definition  # noqa: E402
from mnemic.testing.memory_module_contract import *  # noqa: E402, F403
from mnemic.testing.memory_module_contract import ModuleSubject, bits  # noqa: E402

SMALL = EngramSettings(width=8, longest=3, heads=2, rows=31, embedding=4)


def tokens(seed: int, time: int, rows: int = 2) -> Any:
    return torch.randint(256, (rows, time), generator=torch.Generator().manual_seed(seed))


def hidden(seed: int, time: int, rows: int = 2, dtype: Any = torch.float32) -> Any:
    return torch.randn(rows, time, 8, generator=torch.Generator().manual_seed(seed), dtype=dtype)


def with_a_convolution(settings: EngramSettings, dtype: Any = torch.float32) -> Engram:
    weights = {name: weight.to(dtype) for name, weight in Engram(settings).weights.items()}
    draw = torch.Generator().manual_seed(5)
    return Engram(settings, {**weights, "conv": torch.randn(8, 4, generator=draw, dtype=dtype)})


class Reading:
    """The layer as a memory of the text before: what was read is written; a token's id is made of its hidden state."""

    family, bounded = base.Family.SEQUENCE, True

    def __init__(self) -> None:
        self.layer = with_a_convolution(SMALL)
        self.identity, self.weights = self.layer.identity, self.layer.weights

    def empty(self) -> Any:
        return self.layer.empty(2)

    def write(self, given: Any, state: Any) -> Any:
        return self._read(given, state)[1]

    def read(self, asked: Any, state: Any) -> Any:
        return self._read(asked, state)[0]

    def _read(self, h: Any, state: Any) -> Any:
        return self.layer.read(h, (h[..., 0].nan_to_num() * 100).abs().to(torch.int64), state)


@pytest.fixture
def subject() -> ModuleSubject:
    h = [hidden(n, 4) for n in range(4)]
    return ModuleSubject(
        Reading(), h[:3], h[3], torch.zeros(2, 4, 8), torch.cat(h[:2], 1),
        not_promised={
            "test_an_empty_memory_is_the_bare_model": "its tables are weights, and are read from the first token on",
        },
    )  # fmt: skip


@pytest.mark.parametrize("time", [1, 2, 7, 64])
@pytest.mark.parametrize("longest", [2, 3, 5])
def test_rows_are_those_of_the_definition(time: int, longest: int) -> None:
    layer = Engram(replace(SMALL, longest=longest))
    ids = tokens(0, time)
    sizes = layer.sizes.tolist()
    slow = [rows_by_definition(row, longest, layer.multipliers.tolist(), sizes) for row in ids.tolist()]
    fast = layer.rows(ids, layer.empty(2)) - (layer.sizes.cumsum(0) - layer.sizes)
    assert fast.tolist() == slow
    assert (fast >= 0).all()
    assert (fast < layer.sizes).all()


def test_tables_are_of_different_primes() -> None:
    assert primes(31, 4) == [31, 37, 41, 43]
    assert len(set(Engram(SMALL).sizes.tolist())) == 4


def test_the_same_n_gram_reads_the_same_rows_anywhere_and_other_ones_collide_at_about_one_in_p() -> None:
    layer = Engram(replace(SMALL, rows=1009))
    ids = torch.tensor([[1, 2, 3, 9, 9, 1, 2, 3], [7, 1, 2, 3, 0, 0, 0, 0]])
    rows = layer.rows(ids, layer.empty(2))
    assert torch.equal(rows[0, 2], rows[0, 7])
    assert torch.equal(rows[0, 2], rows[1, 3])
    many = layer.rows(tokens(1, 4000, 1), layer.empty(1))[0, 2:, -1]
    shares = many[:, None] == many[None]
    assert float(shares.float().mean()) < 3 / 1009


@pytest.mark.parametrize("gate", [True, False])
def test_read_in_pieces_it_is_what_it_is_in_one(gate: bool) -> None:
    layer = with_a_convolution(replace(SMALL, gate=gate))
    h, ids = hidden(0, 23), tokens(0, 23)
    whole, end = layer.read(h, ids, layer.empty(2))
    for size in (1, 7, 22):
        state, made = layer.empty(2), []
        for x, some in zip(h.split(size, 1), ids.split(size, 1), strict=True):
            added, state = layer.read(x, some, state)
            made.append(added)
        assert torch.allclose(torch.cat(made, 1), whole, atol=1e-5)
        assert torch.equal(state["ids"], end["ids"])


def test_a_position_does_not_see_what_comes_behind_it_nor_another_row() -> None:
    layer = with_a_convolution(SMALL)
    h, ids = hidden(0, 9), tokens(0, 9)
    changed, other = ids.clone(), h.clone()
    changed[0, 6:], other[0, 6:] = 3, 1.0
    one, two = (layer.read(x, some, layer.empty(2))[0] for x, some in ((h, ids), (other, changed)))
    assert torch.equal(one[0, :6], two[0, :6])
    assert torch.equal(one[1], two[1])
    assert not torch.equal(one[0, 6:], two[0, 6:])


def test_gradients_are_right_and_reach_only_rows_that_were_read() -> None:
    layer = with_a_convolution(SMALL, torch.float64)
    weights = {name: weight.requires_grad_() for name, weight in layer.weights.items()}
    h, ids = hidden(0, 3, 1, torch.float64), tokens(0, 3, 1)

    def read(*tensors: Any) -> Any:
        fresh = Engram(SMALL, dict(zip(weights, tensors, strict=True)))
        return fresh.read(h, ids, fresh.empty())[0]

    small = {name: weight for name, weight in weights.items() if name != "tables"}
    tables = weights["tables"].detach()
    assert torch.autograd.gradcheck(
        lambda *rest: read(*[tables if name == "tables" else rest[list(small).index(name)] for name in weights]),
        tuple(small.values()),
    )
    read(*weights.values()).square().sum().backward()
    touched = weights["tables"].grad.abs().sum(1).nonzero()[:, 0]
    assert set(touched.tolist()) == set(layer.rows(ids, layer.empty()).flatten().tolist())
    assert all(weight.grad is not None and weight.grad.abs().sum() > 0 for weight in weights.values())


def test_nothing_one_token_and_huge_input() -> None:
    layer = with_a_convolution(SMALL)
    state = layer.read(hidden(0, 4), tokens(0, 4), layer.empty(2))[1]
    added, after = layer.read(hidden(0, 0), tokens(0, 0), state)
    assert added.shape == (2, 0, 8)
    assert bits(after) == bits(state)
    for size in (0.0, 1e15):
        ids = torch.full((2, 5), 2**40 if size else 0)
        assert torch.isfinite(layer.read(torch.full((2, 5, 8), size), ids, state)[0]).all()


def test_what_does_not_fit_is_refused() -> None:
    layer = Engram(SMALL)
    state = layer.empty(2)
    h, ids = hidden(0, 4), tokens(0, 4)
    for wrong, some in (
        (h[..., :4], ids), (h.double(), ids), (h * float("nan"), ids), (h, ids[:, :2]), (h, ids.float()),
        (h, ids - 300),
        (hidden(0, 4, 3), tokens(0, 4, 3)),
    ):  # fmt: skip
        with pytest.raises(Invalid):
            layer.read(wrong, some, state)
    for settings in (replace(SMALL, longest=5), replace(SMALL, width=4)):
        with pytest.raises(DamagedState):
            layer.read(h, ids, Engram(settings).empty(2))


@pytest.mark.parametrize("wrong", [{"longest": 1}, {"heads": 0}, {"rows": 1}, {"width": 0}])
def test_settings_out_of_range_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(Invalid):
        Engram(replace(SMALL, **wrong))
