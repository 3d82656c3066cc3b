"""Infini-attention: the memory against its definition, its laws, the block over segments, and input that is bad."""

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
from mnemic.neural.infini_attention import (  # noqa: E402
    InfiniAttention,
    InfiniBlock,
    InfiniSettings,
    recalled_by_definition,
    written_by_definition,
)
from mnemic.testing.memory_module_contract import *  # noqa: E402, F403
from mnemic.testing.memory_module_contract import ModuleSubject, bits  # noqa: E402

WIDTH = 8
LINEAR = InfiniSettings(width=WIDTH, rows=2, heads=2)
FORMS = {
    f"{rule}-{kernel}": replace(LINEAR, rule=rule, kernel=kernel)
    for rule in ("linear", "delta")
    for kernel in ("elu", "unit_elu", "unit")
}


def hidden(seed: int, time: int = 4, rows: int = 2, dtype: Any = torch.float32) -> Any:
    return torch.randn(rows, time, WIDTH, generator=torch.Generator().manual_seed(seed), dtype=dtype)


@pytest.fixture(params=["linear-elu", "delta-unit"])
def subject(request: pytest.FixtureRequest) -> ModuleSubject:
    h = [hidden(n) for n in range(4)]
    joined = torch.cat(h[:2], 1) if request.param == "linear-elu" else None  # by delta a segment is what is written
    return ModuleSubject(InfiniAttention(FORMS[request.param]), h[:3], h[3], torch.zeros(2, 4, WIDTH), joined)


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("time", [1, 7, 4, 5])
def test_the_fast_form_is_the_definition_in_value_state_and_gradient(name: str, time: int) -> None:
    settings = FORMS[name]
    weights = {n: w.double().requires_grad_() for n, w in InfiniAttention(settings).weights.items()}
    memory = InfiniAttention(settings, weights)
    segments = [hidden(n, time, dtype=torch.float64).requires_grad_() for n in range(3)]
    divided = settings.kernel != "unit"
    state = memory.empty()
    m, z = state["memory"].unbind(0), state["z"].unbind(0)
    slow = [[(m[row][head], z[row][head]) for head in range(2)] for row in range(2)]
    for h in segments[:2]:
        state = memory.write(h, state)
        k, v = memory._kernelled(memory.heads(h, "key")), memory.heads(h, "value")
        slow = [
            [
                written_by_definition(*slow[r][n], k[r, n], v[r, n], settings.rule, divided=divided)
                for n in range(2)
            ]
            for r in range(2)
        ]  # fmt: skip
    for part, at in (("memory", 0), ("z", 1)):
        assert torch.allclose(
            state[part], torch.stack([torch.stack([one[at] for one in row]) for row in slow]), atol=1e-9
        )
    q = memory._kernelled(memory.heads(segments[2], "query"))
    each = [(*slow[r][n], one) for r in range(2) for n in range(2) for one in q[r, n]]
    made = [recalled_by_definition(*one, divided=divided) for one in each]
    read = torch.stack(made).view_as(q)
    slow_read = memory.joined_heads(read) @ weights["out"].mT
    fast_read = memory.read(segments[2], state)
    assert torch.allclose(slow_read, fast_read, atol=1e-9)
    inputs = [*weights.values(), *segments]
    for one, other in zip(
        *(torch.autograd.grad(x.square().sum(), inputs) for x in (slow_read, fast_read)), strict=True
    ):
        assert torch.allclose(one, other, atol=1e-7)


def test_the_linear_form_is_linear_attention_over_all_that_was_written() -> None:
    memory = InfiniAttention(LINEAR)
    h, asked = hidden(1, 9), hidden(2)
    state = memory.write(h[:, 5:], memory.write(h[:, :5], memory.empty()))
    k, v = F.elu(memory.heads(h, "key")) + 1, memory.heads(h, "value")
    q = F.elu(memory.heads(asked, "query")) + 1
    weights = q @ k.mT
    expected = (weights / weights.sum(-1, keepdim=True)) @ v
    assert torch.allclose(memory.recalled(asked, state), expected, atol=1e-5)


@tries(max_examples=25, deadline=None)
@drawn(cuts=st.lists(st.integers(0, 5), min_size=1, max_size=5))
def test_however_a_text_is_cut_the_linear_sum_is_the_same(cuts: list[int]) -> None:
    memory = InfiniAttention(LINEAR)
    h = hidden(5, sum(cuts))
    state = memory.empty()
    for part in h.split(cuts, 1):
        state = memory.write(part, state)
    whole = memory.write(h, memory.empty())
    for part in state:
        assert torch.allclose(state[part], whole[part], atol=1e-5)


def test_delta_adds_nothing_where_the_memory_would_have_said_it() -> None:
    memory = InfiniAttention(FORMS["delta-unit"])
    h = hidden(1, 1)
    once = memory.write(h, memory.empty())
    assert torch.allclose(memory.write(h, once)["memory"], once["memory"], atol=1e-5)
    linear = InfiniAttention(FORMS["linear-unit"])
    once = linear.write(h, linear.empty())
    assert not torch.allclose(linear.write(h, once)["memory"], once["memory"], atol=1e-2)


@pytest.mark.parametrize("name", FORMS)
def test_a_block_sees_nothing_of_what_comes_and_remembers_what_was_segments_ago(name: str) -> None:
    block = InfiniBlock(FORMS[name], segment=4)
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
    first, state = block.run(x[:, :8], block.memory.empty())
    second, _ = block.run(x[:, 8:], state)
    assert torch.allclose(made, torch.cat((first, second), 1), atol=1e-6)


def test_a_closed_gate_is_local_attention_and_the_first_segment_reads_zeros() -> None:
    block = InfiniBlock(LINEAR, segment=4)
    x = hidden(1, 8)
    nothing, state = block.run(x[:, :0], block.memory.empty())
    assert nothing.shape == (2, 0, WIDTH)
    assert bits(state) == bits(block.memory.empty())
    block.weights["gate"] = torch.full((2,), -1e9)
    closed, _ = block.run(x, block.memory.empty())
    local, _ = block.run(x, block.memory.empty(), remembers=False)
    assert torch.allclose(closed, local, atol=1e-6)
    assert torch.equal(block.memory.recalled(x[:, :4], block.memory.empty()), torch.zeros(2, 2, 4, 4))


def test_rows_that_end_at_different_lengths_are_each_as_if_alone() -> None:
    for settings in FORMS.values():
        memory = InfiniAttention(settings)
        h, real = hidden(6, 7), torch.arange(7) < torch.tensor([7, 4])[:, None]
        first = memory.write(hidden(8), memory.empty())
        read = memory.read(hidden(7), memory.write(h, first, real))
        for row, length in enumerate((7, 4)):
            alone = memory.write(hidden(8)[row : row + 1], memory.empty(1))
            alone = memory.write(h[row : row + 1, :length], alone)
            assert torch.allclose(read[row], memory.read(hidden(7)[row : row + 1], alone)[0], atol=1e-5)


@pytest.mark.parametrize("name", FORMS)
def test_nothing_and_padding_alone_write_nothing(name: str) -> None:
    memory = InfiniAttention(FORMS[name])
    state = memory.write(hidden(1), memory.empty())
    assert bits(memory.write(hidden(2, 0), state)) == bits(state)
    assert bits(memory.write(hidden(2), state, torch.zeros(2, 4, dtype=torch.bool))) == bits(state)


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("size", [0.0, 1.0, 1e10])
def test_constant_and_huge_input_stays_finite(name: str, size: float) -> None:
    memory = InfiniAttention(FORMS[name])
    state = memory.empty()
    for _ in range(5):
        state = memory.write(torch.full((2, 40, WIDTH), size), state)
    assert torch.isfinite(memory.read(hidden(1), state)).all()


def test_what_this_module_cannot_take_is_refused_and_the_state_stays() -> None:
    memory = InfiniAttention(LINEAR)
    state = memory.write(hidden(1), memory.empty())
    before = bits(state)
    with pytest.raises(Invalid, match="scale what is written"):
        memory.write(torch.full((2, 40, WIDTH), 1e38), state)
    with pytest.raises(Invalid, match="bool"):
        memory.write(hidden(2), state, torch.ones(2, 4))
    with pytest.raises(DamagedState):
        memory.write(hidden(2), InfiniAttention(replace(LINEAR, heads=1)).empty())
    assert bits(state) == before


@pytest.mark.parametrize("wrong", [{"width": 0}, {"heads": 3}, {"rule": "gated"}, {"kernel": "relu"}])
def test_settings_out_of_range_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(Invalid):
        InfiniAttention(replace(LINEAR, **wrong))
    with pytest.raises(Invalid):
        InfiniBlock(LINEAR, segment=0)
