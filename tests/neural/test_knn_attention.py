"""kNN attention: the fast form against the definition, what is seen of the store, and bad input."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="needs torch: pip install torch==2.13.0")

from mnemic.errors import DamagedState, Invalid  # noqa: E402
from mnemic.neural.knn_attention import (  # noqa: E402
    KnnAttention,
    KnnSettings,
    SourcedStates,
    attention_by_definition,
)
from mnemic.testing.memory_module_contract import *  # noqa: E402, F403
from mnemic.testing.memory_module_contract import ModuleSubject, bits  # noqa: E402

WIDTH = 8
SMALL = KnnSettings(width=WIDTH, rows=2, nearest=3, block=4)


def hidden(seed: int, time: int = 4, rows: int = 2, dtype: Any = torch.float32) -> Any:
    return torch.randn(rows, time, WIDTH, generator=torch.Generator().manual_seed(seed), dtype=dtype)


@pytest.fixture(params=["gate", "joint"])
def settings(request: pytest.FixtureRequest) -> KnnSettings:
    return replace(SMALL, mix=request.param)


@pytest.fixture
def subject(settings: KnnSettings) -> ModuleSubject:
    layer = KnnAttention(settings)
    given = [hidden(0), hidden(1), SourcedStates(hidden(2), ("a letter", "a call"))]
    asked = hidden(3)
    local = layer.read(asked, layer.empty())
    return ModuleSubject(layer, given, asked, local, torch.cat(given[:2], 1), sources=("a letter",))


@pytest.mark.parametrize("stored", [0, 1, 3, 4, 5, 9])
@pytest.mark.parametrize("time", [1, 7])
def test_the_fast_form_is_the_definition_in_value_and_gradient(settings: KnnSettings, stored: int, time: int) -> None:
    plain = KnnAttention(settings)
    weights = {name: weight.double().requires_grad_() for name, weight in plain.weights.items()}
    layer = KnnAttention(settings, weights)
    state = layer.write(hidden(1, stored, dtype=torch.float64), layer.empty())
    h = hidden(2, time, dtype=torch.float64).requires_grad_()
    fast = layer.read(h, state)
    q, k, v = layer._heads(h)
    slow = torch.stack(
        [
            attention_by_definition(
                q[n], k[n], v[n], (state["keys"][n], state["values"][n]), 3, weights["scale"].exp(), weights.get("gate")
            )
            for n in range(2)
        ]
    )
    slow = layer._out(slow)
    assert torch.allclose(fast, slow, atol=1e-10)
    inputs = [h, *(weight for name, weight in weights.items() if stored or name != "gate")]
    for one, other in zip(*(torch.autograd.grad(x.square().sum(), inputs) for x in (fast, slow)), strict=True):
        assert torch.allclose(one, other, atol=1e-8)


def test_what_is_searched_in_blocks_is_what_is_searched_at_once(settings: KnnSettings) -> None:
    once, blocks = (KnnAttention(replace(settings, block=size)) for size in (100, 3))
    h = hidden(1, 10)
    read = [layer.read(hidden(2), layer.write(h, layer.empty())) for layer in (once, blocks)]
    assert torch.equal(*read)


def test_k_of_all_that_is_stored_is_attention_to_all_and_fewer_drop_the_smallest_weights() -> None:
    joint = replace(SMALL, mix="joint", nearest=50)
    layer = KnnAttention(joint)
    before, segment = hidden(1, 6), hidden(2, 4)
    whole = layer.read(torch.cat((before, segment), 1), layer.empty())[:, 6:]
    state = layer.write(before, layer.empty())
    assert torch.allclose(layer.read(segment, state), whole, atol=1e-6)
    off = [float((KnnAttention(replace(joint, nearest=k)).read(segment, state) - whole).abs().max()) for k in (1, 5, 6)]
    assert off[0] > off[1] > off[2]
    likes = layer._heads(segment)[0] @ state["keys"].mT
    at = KnnAttention(replace(joint, nearest=2))._nearest(layer._heads(segment)[0], state)
    kept = likes.gather(-1, at).min(-1).values
    dropped = likes.scatter(-1, at, float("-inf")).max(-1).values
    assert (kept >= dropped).all()


def test_a_segment_is_read_before_it_is_written_and_a_length_that_does_not_divide_is_fine(
    settings: KnnSettings,
) -> None:
    layer = KnnAttention(settings)
    h = hidden(4, 10)
    read, state = layer.segments(h, layer.empty(), 4)
    other = h.clone()
    other[:, 6:] += 1.0
    again, _ = layer.segments(other, layer.empty(), 4)
    assert torch.equal(read[:, :4], again[:, :4])
    assert torch.allclose(read[:, :6], again[:, :6], atol=1e-6)
    assert not torch.allclose(read[:, 6:], again[:, 6:], atol=1e-3)
    assert len(state["write"]) == 10
    halves, carried = [], layer.empty()
    for part in h.split((8, 2), 1):
        made, carried = layer.segments(part, carried, 4)
        halves.append(made)
    assert torch.equal(torch.cat(halves, 1), read)


def test_a_layer_that_writes_before_it_reads_is_caught(settings: KnnSettings) -> None:
    layer = KnnAttention(replace(settings, nearest=50))
    h = hidden(4, 6)
    other = h.clone()
    other[:, -1] += 1.0
    peeked = [layer.read(x, layer.write(x, layer.empty()))[:, :5] for x in (h, other)]
    assert not torch.allclose(*peeked, atol=1e-4)


def test_the_oldest_make_room(settings: KnnSettings) -> None:
    few = KnnAttention(replace(settings, slots=6))
    state = few.empty()
    for n in range(4):
        state = few.write(SourcedStates(hidden(n), (f"source {n}",)), state)
    last = few.write(hidden(3), few.write(hidden(2)[:, 2:], few.empty()))
    assert torch.allclose(state["keys"], last["keys"], atol=1e-6)
    assert state["write"].tolist() == [0, 0, 1, 1, 1, 1]
    assert len(state["sources"]) == 2  # of writes that are gone nothing is said
    assert bits(few.forget(("source 0",), state)) == bits(state)


def test_what_is_forgotten_in_the_middle_is_as_if_it_had_never_been(settings: KnnSettings) -> None:
    layer = KnnAttention(settings)
    writes = [SourcedStates(hidden(n), (f"source {n}", "odd" if n % 2 else "even")) for n in range(5)]
    state, never = layer.empty(), layer.empty()
    for n, one in enumerate(writes):
        state = layer.write(one, state)
        never = never if n % 2 else layer.write(one, never)
    left = layer.forget(("odd",), state)
    assert bits(left) == bits(never)
    assert torch.equal(layer.read(hidden(9), left), layer.read(hidden(9), never))
    assert bits(layer.forget(("odd", "even"), state)) == bits(layer.empty())


def test_rows_that_end_at_different_lengths_are_each_as_if_alone(settings: KnnSettings) -> None:
    layer = KnnAttention(settings)
    h, real = hidden(6, 7), torch.arange(7) < torch.tensor([7, 2])[:, None]
    read = layer.read(hidden(7), layer.write(SourcedStates(h, real=real), layer.empty()))
    for row, length in enumerate((7, 2)):
        alone = layer.write(h[row : row + 1, :length], layer.empty(1))
        assert torch.allclose(read[row], layer.read(hidden(7)[row : row + 1], alone)[0], atol=1e-6)


def test_nothing_and_padding_alone_write_nothing_and_a_row_of_padding_is_local(settings: KnnSettings) -> None:
    layer = KnnAttention(settings)
    state = layer.write(hidden(1), layer.empty())
    assert bits(layer.write(hidden(2, 0), state)) == bits(state)
    assert bits(layer.write(SourcedStates(hidden(2), ("s",), torch.zeros(2, 4, dtype=torch.bool)), state)) == bits(
        state
    )
    one = layer.write(SourcedStates(hidden(2), real=torch.tensor([[True] * 4, [False] * 4])), layer.empty())
    asked = hidden(3)
    assert torch.allclose(layer.read(asked, one)[1], layer.read(asked, layer.empty())[1], atol=1e-6)
    assert layer.read(hidden(3, 0), one).shape == (2, 0, WIDTH)
    assert torch.isfinite(layer.read(hidden(3, 1), one)).all()


@pytest.mark.parametrize("size", [0.0, 1.0, 1e15])
def test_constant_and_huge_input_stays_finite(settings: KnnSettings, size: float) -> None:
    layer = KnnAttention(settings)
    state = layer.empty()
    for _ in range(5):
        state = layer.write(torch.full((2, 3, WIDTH), size), layer.write(hidden(1) * size, state))
    assert torch.isfinite(layer.read(hidden(1) * size, state)).all()


def test_what_this_module_cannot_take_is_refused_and_the_state_stays(settings: KnnSettings) -> None:
    layer = KnnAttention(settings)
    state = layer.write(hidden(1), layer.empty())
    before = bits(state)
    with pytest.raises(Invalid, match="bool"):
        layer.write(SourcedStates(hidden(2), real=torch.ones(2, 4)), state)
    other = KnnAttention(replace(settings, heads=4))
    for foreign in (other.write(hidden(1), other.empty()), {"keys": state["keys"]}):
        with pytest.raises(DamagedState):
            layer.read(hidden(2), foreign)
    assert bits(state) == before


@pytest.mark.parametrize("wrong", [{"nearest": 0}, {"slots": 0}, {"heads": 3}, {"mix": "tanh"}, {"block": 0}])
def test_settings_out_of_range_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(Invalid):
        KnnAttention(replace(SMALL, **wrong))
