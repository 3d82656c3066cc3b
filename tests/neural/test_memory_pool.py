"""The pool: the blocks against their definition, what is dropped and what stays, M+, and input that is bad."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="needs torch: pip install torch==2.13.0")

from hypothesis import given as drawn  # noqa: E402
from hypothesis import settings as tries  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from mnemic.errors import DamagedState, Invalid  # noqa: E402
from mnemic.neural import base  # noqa: E402
from mnemic.neural.memory_pool import MemoryPool, PoolSettings, block_by_definition, pool_by_definition  # noqa: E402
from mnemic.testing.memory_module_contract import *  # noqa: E402, F403
from mnemic.testing.memory_module_contract import ModuleSubject, bits  # noqa: E402

WIDTH = 8
SMALL = PoolSettings(width=WIDTH, rows=2, layers=2, slots=6, fresh=2)
PLUS = replace(SMALL, slots=4, retrieved=2)


def hidden(seed: int, time: int = 4, rows: int = 2, dtype: Any = torch.float32) -> Any:
    return torch.randn(rows, time, WIDTH, generator=torch.Generator().manual_seed(seed), dtype=dtype)


def written(pool: MemoryPool, count: int, state: Any = None) -> Any:
    state = pool.empty() if state is None else state
    for n in range(count):
        state = pool.write(hidden(n), state)
    return state


@pytest.fixture(params=["pool", "plus"])
def subject(request: pytest.FixtureRequest) -> ModuleSubject:
    settings = {"pool": SMALL, "plus": replace(SMALL, slots=2, retrieved=2)}[request.param]
    h = [hidden(n) for n in range(4)]
    pool = MemoryPool(settings)
    rows = []
    for row in h[3]:
        x = row
        for n in range(2):
            block = {name.partition(".")[2]: w for name, w in pool.weights.items() if name.startswith(f"{n}.")}
            x = block_by_definition(block, 2, x, torch.zeros(0, WIDTH))
        rows.append(x)
    bare = pool.read(h[3], pool.empty())
    assert torch.allclose(bare, torch.stack(rows), atol=1e-5)
    return ModuleSubject(pool, h[:3], h[3], bare)  # written in one it is one fact, in two it is two


@pytest.mark.parametrize("time", [1, 7, 2, 3])
@pytest.mark.parametrize("slots", [0, 5])
def test_a_block_is_its_definition_in_value_and_gradient(time: int, slots: int) -> None:
    pool = MemoryPool(replace(SMALL, layers=1), {n: w.double() for n, w in MemoryPool(SMALL).weights.items()})
    block = {name.partition(".")[2]: weight.requires_grad_() for name, weight in pool.weights.items() if "0." in name}
    h, memory = hidden(1, time, dtype=torch.float64).requires_grad_(), hidden(2, slots, dtype=torch.float64)
    memory.requires_grad_()
    slow = torch.stack([block_by_definition(block, 2, h[row], memory[row]) for row in range(2)])
    fast = pool._block(0, h, memory, torch.ones(2, slots, dtype=torch.bool), torch.ones(2, time, dtype=torch.bool))
    assert torch.allclose(slow, fast, atol=1e-10)
    inputs = [h, *([memory] if slots else []), *block.values()]
    for one, other in zip(*(torch.autograd.grad(x.square().sum(), inputs) for x in (slow, fast)), strict=True):
        assert torch.allclose(one, other, atol=1e-8)


@tries(max_examples=40, deadline=None)
@drawn(slots=st.integers(1, 9), fresh=st.integers(1, 9), writes=st.integers(1, 12), seed=st.integers(0, 99))
def test_survivors_keep_their_order_and_the_newest_are_always_there(
    slots: int, fresh: int, writes: int, seed: int
) -> None:
    fresh = min(fresh, slots)
    pool = MemoryPool(PoolSettings(width=WIDTH, layers=2, slots=slots, fresh=fresh, seed=seed))
    state = pool.empty()
    as_lists: list[list[Any]] = [[], []]
    for n in range(writes):
        before, state = state, pool.write(hidden(n, rows=1), state)
        _, gone = pool._choice(before)
        for layer in range(2):
            held = [n for n in range(slots) if int(before["born"][0, layer, n]) >= 0]
            positions = [held.index(int(at)) for at in gone[0, layer] if int(at) in held]
            as_lists[layer] = pool_by_definition(as_lists[layer], list(state["pool"][0, layer, -fresh:]), positions)
            here = state["pool"][0, layer][state["born"][0, layer] >= 0]
            assert torch.equal(here, torch.stack(as_lists[layer]))
            born = state["born"][0, layer].tolist()
            assert born == sorted(born)
            assert born[-fresh:] == [n] * fresh
            assert len(here) == min(slots, (n + 1) * fresh) or slots % fresh  # filled, before anything real goes


def test_slots_die_by_the_law_and_no_sooner() -> None:
    rows, slots, fresh = 400, 16, 2
    pool = MemoryPool(PoolSettings(width=2, heads=1, rows=rows, slots=slots, fresh=fresh))
    state = pool.empty()
    for _ in range(slots // fresh):
        state = pool.write(torch.ones(rows, 1, 2), state)
    marked = int(state["writes"][0]) - 1
    for t in range(1, 13):
        state = pool.write(torch.ones(rows, 1, 2), state)
        alive = float((state["born"] == marked).float().sum(2).mean()) / fresh
        expected = (1 - fresh / slots) ** t
        assert abs(alive - expected) < 4 * (expected * (1 - expected) / (rows * fresh)) ** 0.5 + 1e-3


def test_the_oldest_go_first_where_that_is_asked_for() -> None:
    pool = MemoryPool(replace(SMALL, dropped="oldest"))
    for count in range(1, 7):
        born = written(pool, count)["born"][0, 0].tolist()
        last = list(range(max(0, count - 3), count))
        assert [n for n in born if n >= 0] == [n for n in last for _ in range(2)]


def test_what_is_dropped_goes_to_the_long_term_and_is_seen_where_it_is_best() -> None:
    plus, plain = MemoryPool(PLUS), MemoryPool(replace(PLUS, retrieved=0))
    state, without = written(plus, 5), written(plain, 5)
    assert torch.equal(state["pool"], without["pool"])
    assert state["long_term_real"].sum(2).tolist() == [[6, 6], [6, 6]]  # 5 writes of 2, 4 of them in the pool
    assert not torch.allclose(plus.read(hidden(9), state), plain.read(hidden(9), without), atol=1e-4)
    every = MemoryPool(replace(PLUS, retrieved=100), plus.weights)
    few = {**state, "long_term": state["long_term"][:, :, 2:4], "long_term_real": state["long_term_real"][:, :, 2:4]}
    assert torch.equal(plus.read(hidden(9), few), every.read(hidden(9), few))  # k of all that is stored
    assert not torch.equal(plus.read(hidden(9), state), every.read(hidden(9), state))


def test_another_seed_drops_others_and_layers_drop_apart() -> None:
    states = [written(MemoryPool(replace(SMALL, seed=seed), MemoryPool(SMALL).weights), 9)["born"] for seed in (0, 1)]
    assert not torch.equal(*states)
    assert not torch.equal(states[0][:, 0], states[0][:, 1])


def test_gradients_of_a_whole_write_and_read_are_right() -> None:
    settings = PoolSettings(width=4, slots=4, fresh=2)
    weights = {name: weight.double().requires_grad_() for name, weight in MemoryPool(settings).weights.items()}
    h, asked = (hidden(n, 2, 1, torch.float64)[..., :4] for n in (1, 2))

    def read(*tensors: Any) -> Any:
        pool = MemoryPool(settings, dict(zip(weights, tensors, strict=True)))
        state = pool.empty()
        for _ in range(3):
            state = pool.write(h, state)
        return pool.read(asked, state)

    assert torch.autograd.gradcheck(read, tuple(weights.values()), atol=1e-6)


@pytest.mark.parametrize("settings", [SMALL, PLUS], ids=["pool", "plus"])
def test_rows_that_end_at_different_lengths_are_each_as_if_alone(settings: PoolSettings) -> None:
    pool = MemoryPool(settings)
    h, real = hidden(6, 7), torch.arange(7) < torch.tensor([7, 4])[:, None]
    read = pool.read(hidden(7), pool.write(h, pool.empty(), real))
    for row, length in enumerate((7, 4)):
        alone = pool.write(h[row : row + 1, :length], pool.empty(1))
        assert torch.allclose(read[row], pool.read(hidden(7)[row : row + 1], alone)[0], atol=1e-5)


@pytest.mark.parametrize("retrieved", [0, 2])
def test_a_row_drops_what_it_would_drop_alone_whatever_is_written_beside_it(retrieved: int) -> None:
    pool = MemoryPool(PoolSettings(width=WIDTH, rows=3, layers=2, slots=8, fresh=2, retrieved=retrieved))
    state = pool.empty()
    alone = [{name: tensor[row : row + 1] for name, tensor in state.items()} for row in range(3)]
    for n in range(7):
        h, real = hidden(n, rows=3), torch.ones(3, 4, dtype=torch.bool)
        real[1] = n != 2  # of the three rows this one is written once less
        state = pool.write(h, state, real)
        alone = [pool.write(h[r : r + 1], mine, real[r : r + 1]) for r, mine in enumerate(alone)]
    born = state["born"]
    assert not torch.equal(born[0], born[2])  # rows of one number of writes drop apart
    for row, mine in enumerate(alone):
        assert torch.equal(mine["born"][0], born[row])
        assert torch.allclose(mine["pool"][0], state["pool"][row], atol=1e-5)


def test_nothing_and_padding_alone_write_nothing() -> None:
    pool = MemoryPool(SMALL)
    state = written(pool, 2)
    assert bits(pool.write(hidden(2, 0), state)) == bits(state)
    assert bits(pool.write(hidden(2), state, torch.zeros(2, 4, dtype=torch.bool))) == bits(state)
    real = torch.tensor([[True] * 4, [False] * 4])
    one = pool.write(hidden(2), state, real)
    assert torch.equal(one["pool"][1], state["pool"][1])
    assert one["writes"].tolist() == [3, 2]
    assert torch.isfinite(pool.read(hidden(3, 1), one)).all()


@pytest.mark.parametrize("size", [0.0, 1.0, 1e30])
def test_constant_and_huge_input_stays_finite(size: float) -> None:
    pool = MemoryPool(SMALL)
    state = pool.empty()
    for _ in range(20):
        state = pool.write(torch.full((2, 3, WIDTH), size), state)
    assert torch.isfinite(pool.read(hidden(1), state)).all()


def test_what_this_module_cannot_take_is_refused_and_the_state_stays() -> None:
    pool = MemoryPool(SMALL)
    state = written(pool, 2)
    before = bits(state)
    with pytest.raises(Invalid, match="bool"):
        pool.write(hidden(2), state, torch.ones(2, 4))
    for other in (PLUS, replace(SMALL, slots=8), replace(SMALL, layers=1)):
        with pytest.raises(DamagedState):
            pool.write(hidden(2), MemoryPool(other).empty())
    assert base.state_bytes(state) == base.state_bytes(written(pool, 5))
    assert bits(state) == before


@pytest.mark.parametrize("wrong", [{"fresh": 7}, {"slots": 0}, {"heads": 3}, {"dropped": "newest"}, {"retrieved": -1}])
def test_settings_out_of_range_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(Invalid):
        MemoryPool(replace(SMALL, **wrong))
