"""Titans: the fast form against the definition, the laws of the update, the three places, and input that is bad."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="needs torch: pip install torch==2.13.0")

from hypothesis import given as drawn  # noqa: E402
from hypothesis import settings as tries  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from mnemic.errors import DamagedState, ForeignState, Invalid  # noqa: E402
from mnemic.neural import base  # noqa: E402
from mnemic.neural.gated_scan import Gates, chunk_weights  # noqa: E402
from mnemic.neural.titans import (  # noqa: E402
    Titans,
    TitansBlock,
    TitansSettings,
    recalled,
    written_by_definition,
    written_chunk,
)
from mnemic.testing.memory_module_contract import *  # noqa: E402, F403
from mnemic.testing.memory_module_contract import ModuleSubject, bits  # noqa: E402

WIDTH = 8


def hidden(seed: int, time: int = 4, rows: int = 2, dtype: Any = torch.float32) -> Any:
    return torch.randn(rows, time, WIDTH, generator=torch.Generator().manual_seed(seed), dtype=dtype)


FORMS = {
    "linear": TitansSettings(width=WIDTH, rows=2),
    "deep": TitansSettings(width=WIDTH, rows=2, heads=2, layers=2, chunk=3, rate=0.5),
    "bare": TitansSettings(width=WIDTH, rows=2, momentum=0, forgetting=0),
}


@pytest.fixture(params=["linear", "deep"])
def subject(request: pytest.FixtureRequest) -> ModuleSubject:
    h = [hidden(n) for n in range(4)]
    return ModuleSubject(Titans(FORMS[request.param]), h[:3], h[3], torch.zeros(2, 4, WIDTH), torch.cat(h[:2], 1))


def numbers(layers: int, time: int, *, momentum: bool = True) -> tuple[list[Any], list[Any], Any, Any, Gates]:
    draw = torch.Generator().manual_seed(time)

    def made(*shape: int) -> Any:
        return torch.randn(*shape, generator=draw, dtype=torch.float64).requires_grad_()

    widths = [3, *[5] * (layers - 1), 3]
    shapes = [(2, out, into) for into, out in pairwise(widths)]
    eta = made(2, time).sigmoid() if momentum else torch.zeros(2, time, dtype=torch.float64)
    gates = Gates(made(2, time).sigmoid() / 2, eta, made(2, time).sigmoid(), torch.ones(2, time, dtype=torch.float64))
    surprise = [made(*shape) for shape in shapes]
    return [made(*shape) for shape in shapes], surprise, made(2, time, 3), made(2, time, 3), gates


@pytest.mark.parametrize("layers", [1, 2, 3])
@pytest.mark.parametrize("time", [1, 7, 4, 5])
def test_the_fast_form_is_the_definition_in_value_state_and_gradient(layers: int, time: int) -> None:
    chunk = 4
    memory, surprise, k, v, gates = numbers(layers, time)
    slow, slow_surprise = written_by_definition(memory, surprise, k, v, gates, chunk, 2.0)
    fast, fast_surprise = list(memory), list(surprise)
    for keys, values, weights in zip(k.split(chunk, 1), v.split(chunk, 1), chunk_weights(gates, chunk), strict=True):
        fast, fast_surprise = written_chunk(fast, fast_surprise, keys, values, weights, 2.0)
    for one, other in zip([*slow, *slow_surprise], [*fast, *fast_surprise], strict=True):
        assert torch.allclose(one, other, atol=1e-10)
    asked = torch.randn(2, 2, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(9))
    inputs = [*memory, *surprise, k, v, gates.rate, gates.momentum, gates.kept]
    gradients = [
        torch.autograd.grad(recalled(made, asked).square().sum() + s[0].square().sum(), inputs, allow_unused=True)
        for made, s in ((slow, slow_surprise), (fast, fast_surprise))
    ]
    for one, other in zip(*gradients, strict=True):
        assert (one is None) == (other is None)
        assert one is None or torch.allclose(one, other, atol=1e-8)


def test_without_momentum_forgetting_and_clamp_it_is_the_delta_rule() -> None:
    (memory,), _, k, v, gates = numbers(1, 5, momentum=False)
    gates = Gates(gates.rate, gates.momentum, gates.real, gates.real)
    fast = [memory]
    for t, weights in enumerate(chunk_weights(gates, 1)):
        fast, _ = written_chunk(fast, [], k[:, t : t + 1], v[:, t : t + 1], weights, 1e9)
        off = v[:, t] - torch.einsum("noi,ni->no", memory, k[:, t])
        memory = memory + gates.rate[:, t, None, None] * torch.einsum("no,ni->noi", off, k[:, t])
    assert torch.allclose(fast[0], memory, atol=1e-9)


def full_steps(keys: Any, values: Any, chunk: int) -> list[Any]:
    """A linear memory of nothing, written at θ = 1 without momentum and forgetting."""
    ones = torch.ones(keys.shape[:2], dtype=keys.dtype)
    made = [torch.zeros(len(keys), 3, 3, dtype=keys.dtype)]
    weights = chunk_weights(Gates(ones, ones * 0, ones, ones), chunk)
    for k, v, of in zip(keys.split(chunk, 1), values.split(chunk, 1), weights, strict=True):
        made, _ = written_chunk(made, [], k, v, of, 1e9)
    return made


def test_a_full_step_on_keys_at_right_angles_recalls_exactly() -> None:
    keys, values = torch.eye(3, dtype=torch.float64)[None], torch.randn(1, 3, 3, dtype=torch.float64)
    assert torch.allclose(recalled(full_steps(keys, values, 3), keys), values, atol=1e-9)


def test_two_writes_of_one_key_in_one_chunk_do_not_see_each_other() -> None:
    key = torch.tensor([[[1.0, 0, 0]]]).expand(1, 2, 3)
    values = torch.tensor([[[1.0, 0, 0], [0, 1.0, 0]]])
    assert torch.allclose(recalled(full_steps(key, values, 1), key[:, :1]), values[:, 1:])  # the later value alone
    assert torch.allclose(recalled(full_steps(key, values, 2), key[:, :1]), values.sum(1, keepdim=True))  # both


@pytest.mark.parametrize("name", FORMS)
def test_gradients_of_a_whole_write_and_read_are_right(name: str) -> None:
    settings = replace(FORMS[name], width=4, rows=1)
    weights = {key: weight.double().requires_grad_() for key, weight in Titans(settings).weights.items()}
    module = Titans(settings, weights)
    h, asked = (hidden(n, time, 1, torch.float64)[..., :4] for n, time in ((1, 5), (2, 2)))

    def read(*tensors: Any) -> Any:
        made = Titans(settings, dict(zip(weights, tensors, strict=True)))
        return made.read(asked, made.write(h, made.empty()))

    assert torch.autograd.gradcheck(read, tuple(weights.values()), atol=1e-6)
    assert torch.equal(read(*weights.values()), module.read(asked, module.write(h, module.empty())))


@pytest.mark.parametrize("name", FORMS)
@tries(max_examples=25, deadline=None)
@drawn(cuts=st.lists(st.integers(0, 5), min_size=1, max_size=5))
def test_however_a_text_is_cut_one_state_comes_of_it(name: str, cuts: list[int]) -> None:
    memory = Titans(FORMS[name])
    h = hidden(5, sum(cuts))
    state = memory.empty()
    for part in h.split(cuts, 1):
        state = memory.write(part, state)
    whole = memory.write(h, memory.empty())
    for part in state:
        assert torch.allclose(state[part], whole[part], atol=1e-5)


@pytest.mark.parametrize("name", FORMS)
def test_rows_that_end_at_different_lengths_are_each_as_if_alone(name: str) -> None:
    memory = Titans(FORMS[name])
    h, lengths = hidden(6, 7), (7, 4)
    real = torch.arange(7) < torch.tensor(lengths)[:, None]
    state = memory.write(hidden(8, 2), memory.write(h, memory.empty(), real))
    read = memory.read(hidden(7), state)
    for row, length in enumerate(lengths):
        alone = memory.write(h[row : row + 1, :length], memory.empty(1))
        alone = memory.write(hidden(8, 2)[row : row + 1], alone)
        assert torch.allclose(read[row], memory.read(hidden(7)[row : row + 1], alone)[0], atol=1e-5)


@pytest.mark.parametrize("name", FORMS)
def test_nothing_and_padding_alone_write_nothing(name: str) -> None:
    memory = Titans(FORMS[name])
    state = memory.write(hidden(1), memory.empty())
    assert bits(memory.write(hidden(2, 0), state)) == bits(state)
    assert bits(memory.write(hidden(2), state, torch.zeros(2, 4, dtype=torch.bool))) == bits(state)
    one = memory.write(hidden(2, 1), memory.empty())
    assert memory.read(hidden(3, 1), one).abs().sum() > 0


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("size", [0.0, 1.0, 1e4, 1e12])
def test_constant_and_huge_input_stays_finite(name: str, size: float) -> None:
    memory = Titans(FORMS[name])
    state = memory.empty()
    for _ in range(3):
        state = memory.write(torch.full((2, 40, WIDTH), size), state)
    assert torch.isfinite(memory.read(hidden(1), state)).all()


@pytest.mark.parametrize("layers", [1, 2])
def test_a_memory_that_is_driven_hard_never_makes_nan(layers: int) -> None:
    memory = Titans(TitansSettings(width=WIDTH, rows=2, layers=layers, chunk=4, rate=2.0, momentum=0.99))
    state = memory.empty()
    for n in range(25):
        state = memory.write(hidden(n, 40) * 100, state)
        assert all(torch.isfinite(part).all() for part in state.values())
    assert torch.isfinite(memory.read(hidden(1), state)).all()


def test_a_step_that_diverges_is_stopped_and_told_and_the_state_is_as_it_was() -> None:
    wild = TitansSettings(width=WIDTH, rows=2, layers=2, chunk=8, rate=2.0, momentum=0.0, forgetting=0.0, clamp=1e30)
    memory = Titans(wild)
    state = memory.write(hidden(1), memory.empty())
    before = bits(state)
    with pytest.raises(Invalid, match="lower `rate`"):
        memory.write(hidden(2, 400) * 1e4, state)
    assert bits(state) == before
    held = Titans(replace(wild, clamp=1.0))
    held.write(hidden(2, 400) * 1e4, held.empty())  # what the clamp is for


def test_what_this_module_cannot_take_is_refused_and_the_state_stays() -> None:
    memory = Titans(FORMS["linear"])
    state = memory.write(hidden(1), memory.empty())
    before = bits(state)
    with pytest.raises(Invalid, match="bool"):
        memory.write(hidden(2), state, torch.ones(2, 4))
    for other in ("deep", "bare"):
        with pytest.raises(DamagedState):
            memory.write(hidden(2), Titans(FORMS[other]).empty())
    with pytest.raises(ForeignState):
        base.unpacked(base.packed(state, memory.identity), Titans(TitansSettings(width=WIDTH, rows=2, seed=1)).identity)
    assert bits(state) == before


@pytest.mark.parametrize(
    "wrong",
    [{"width": 0}, {"heads": 3}, {"rate": 3.0}, {"rate": 0.0}, {"momentum": 1.0}, {"forgetting": -0.1}, {"chunk": 0}],
)
def test_settings_out_of_range_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(Invalid):
        Titans(TitansSettings(**{"width": WIDTH, **wrong}))


@pytest.mark.parametrize("place", ["context", "gate", "layer"])
def test_a_block_sees_nothing_of_what_comes_and_remembers_what_was_segments_ago(place: Any) -> None:
    block = TitansBlock(FORMS["linear"], place, segment=4)
    x = hidden(1, 14)
    made, _ = block.run(x, block.memory.empty())
    for t in (1, 5, 11):
        other = x.clone()
        other[:, t + 1 :] = hidden(2, 14)[:, t + 1 :]
        again, _ = block.run(other, block.memory.empty())
        assert torch.allclose(made[:, : t + 1], again[:, : t + 1], atol=1e-6)
    early = x.clone()
    early[:, :4] = hidden(3, 14)[:, :4]
    assert not torch.allclose(made[:, 8:], block.run(early, block.memory.empty())[0][:, 8:], atol=1e-4)
    without, bare = (block.run(h, block.memory.empty(), remembers=False)[0] for h in (x, early))
    assert torch.equal(without[:, 4:], bare[:, 4:])
    assert torch.allclose(made[:, :4], without[:, :4], atol=1e-6)  # nothing is remembered yet


@pytest.mark.parametrize("place", ["context", "gate", "layer"])
def test_a_block_that_goes_on_from_a_state_is_the_block_that_read_on(place: Any) -> None:
    block = TitansBlock(FORMS["deep"], place, segment=4)
    x = hidden(4, 12)
    whole, last = block.run(x, block.memory.empty())
    first, state = block.run(x[:, :8], block.memory.empty())
    second, state = block.run(x[:, 8:], state)
    assert torch.allclose(whole, torch.cat((first, second), 1), atol=1e-6)
    assert torch.allclose(state["memory.0"], last["memory.0"], atol=1e-6)


def test_an_unknown_place_is_refused() -> None:
    with pytest.raises(Invalid, match="context, gate or layer"):
        TitansBlock(FORMS["linear"], "beside", segment=4)  # type: ignore[arg-type]
