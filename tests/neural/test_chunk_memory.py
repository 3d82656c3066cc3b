"""A window and a bank of chunks behind it: the contract, the definitions, what is retrieved and what makes room."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="needs torch: pip install torch==2.13.0")

from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from mnemic.errors import DamagedState, Invalid, TooLarge  # noqa: E402
from mnemic.neural.chunk_memory import (  # noqa: E402
    ChunkMemory,
    ChunkSettings,
    attended_by_definition,
    nearest,
    nearest_by_definition,
    survivors,
)
from mnemic.neural.llama import attend  # noqa: E402
from mnemic.testing.memory_module_contract import *  # noqa: E402, F403
from mnemic.testing.memory_module_contract import ModuleSubject, bits  # noqa: E402

SMALL = ChunkSettings(chunk=4, window=8, retrieved=2)


def tokens(count: int, seed: int = 0) -> Any:
    return torch.randint(3, 260, (count,), generator=torch.Generator().manual_seed(seed))


@pytest.fixture
def subject(tiny: Any) -> ModuleSubject:
    asked = torch.tensor([tiny.ids("where is it?"), tiny.ids("who was here")])
    given = [tokens(count, seed) for seed, count in enumerate((13, 11, 9))]  # no whole number of chunks
    bare = tiny.decoder.logits(asked)
    return ModuleSubject(ChunkMemory(tiny, SMALL), given, asked, bare, torch.cat(given[:2]))


@given(st.integers(1, 9), st.integers(1, 12), st.integers(0, 20))
@settings(max_examples=40, deadline=None)
def test_the_nearest_are_their_definition(stored: int, count: int, seed: int) -> None:
    draw = torch.Generator().manual_seed(seed)
    rows = torch.randint(-2, 3, (stored, 3), generator=draw).double()
    query = torch.randn(3, generator=draw, dtype=torch.float64)
    assert nearest(query, rows, count).tolist() == nearest_by_definition(query, rows, count)


@pytest.mark.parametrize("length", [1, 7])
def test_one_softmax_over_chunks_and_window_is_its_definition_in_value_and_gradient(length: int) -> None:
    draw = torch.Generator().manual_seed(length)

    def drawn(heads: int, count: int) -> Any:
        return torch.randn(heads, count, 4, generator=draw, dtype=torch.float64, requires_grad=True)

    q, k, v = drawn(4, length), drawn(2, length), drawn(2, length)
    chunks = [(drawn(2, 3), drawn(2, 3)) for _ in range(2)]
    keys, values = (torch.cat([*(pair[n] for pair in chunks), x], 1) for n, x in ((0, k), (1, v)))
    mask = torch.arange(6 + length) <= torch.arange(6, 6 + length)[:, None]
    slow = attended_by_definition(q, chunks, k, v)
    fast = attend(q[None], keys[None], values[None], mask[None, None])[0]
    leaves = [q, k, v, *(x for pair in chunks for x in pair)]
    assert torch.allclose(slow, fast, atol=1e-12)
    for one, other in zip(*(torch.autograd.grad(x.square().sum(), leaves) for x in (slow, fast)), strict=True):
        assert torch.allclose(one, other, atol=1e-12)


@given(st.lists(st.integers(0, 5), min_size=5, max_size=60))
@settings(max_examples=60, deadline=None)
def test_the_newest_stay_the_oldest_go_and_between_the_least_retrieved(counted: list[int]) -> None:
    capacity = len(counted) - 1
    kept, tenth = survivors(counted, capacity), max(1, capacity // 10)
    assert kept == sorted(set(kept))
    assert kept[-tenth:] == list(range(len(counted) - tenth, len(counted)))
    assert not set(range(tenth)) & set(kept)
    assert len(kept) == max(tenth, capacity // 2)
    between = range(tenth, len(counted) - tenth)
    gone = [counted[n] for n in between if n not in kept]
    stayed = [counted[n] for n in between if n in kept]
    assert not gone or not stayed or max(gone) <= min(stayed)


def test_while_all_is_in_the_window_it_is_the_bare_model_to_the_bit(tiny: Any) -> None:
    memory, asked = ChunkMemory(tiny, SMALL), tokens(5, 9)[None]
    state = memory.write(tokens(8), memory.empty())
    whole = tiny.decoder.logits(torch.cat((tokens(8)[None], asked), 1))[:, 8:]
    assert not len(state["counted"])
    assert torch.equal(memory.read(asked, state), whole)
    behind = memory.write(tokens(9), memory.empty())
    assert len(behind["counted"]) == 1
    assert len(behind["recent"]) == 5


def test_a_chunk_like_the_end_of_the_window_is_found_among_others(tiny: Any) -> None:
    memory = ChunkMemory(tiny, ChunkSettings(chunk=4, window=4, retrieved=1))
    parts = [tokens(4, seed) for seed in range(8)]
    state = memory.write(torch.cat([*parts, parts[3]]), memory.empty())
    assert memory.near(state) == [3]
    assert int(state["counted"].sum()) == len(parts) - 1, "each chunk but the first retrieved one when it was written"


def test_what_is_retrieved_changes_only_the_layers_that_attend_to_it(tiny: Any) -> None:
    memory, asked = ChunkMemory(tiny, ChunkSettings(chunk=4, window=8, layers=(2,))), tokens(5, 9)[None]
    state = memory.write(tokens(30), memory.empty())
    entries = memory.attach(state, memory.near(state))
    assert [pair[0].shape[2] for pair in entries.past] == [0, 0, 16]
    h = tiny.decoder.embed(asked)
    with_chunks, _ = tiny.decoder.run(h, entries, last=2)
    without, _ = tiny.decoder.run(h, last=2)
    assert torch.allclose(with_chunks, without, atol=1e-4), "angles are relative: where the window begins says nothing"
    assert not torch.allclose(tiny.decoder.run(h, entries)[0], tiny.decoder.run(h)[0], atol=1e-3)


def test_a_full_bank_makes_room_and_goes_on(tiny: Any) -> None:
    memory = ChunkMemory(tiny, ChunkSettings(chunk=2, window=2, capacity=6))
    state = memory.empty()
    for n in range(12):
        state = memory.write(tokens(2, n), state)
        assert len(state["counted"]) <= 6
    assert memory.read(tokens(3)[None], state).isfinite().all()


def test_odd_texts_are_read(tiny: Any) -> None:
    memory, asked = ChunkMemory(tiny, SMALL), tokens(3, 9)[None]
    for text in (tokens(0), tokens(1), torch.full((40,), 7)):
        assert memory.read(asked, memory.write(text, memory.empty())).isfinite().all()
    with pytest.raises(Invalid, match="no tokens"):
        memory.read(torch.zeros(1, 0, dtype=torch.int64), memory.empty())
    state = memory.write(tokens(20), memory.empty())
    before = bits(state)
    for wrong in (torch.tensor([-1]), torch.tensor([10**6])):
        with pytest.raises(Invalid):
            memory.write(wrong, state)
    assert bits(state) == before


def test_a_state_of_another_form_is_not_attached(tiny: Any) -> None:
    memory = ChunkMemory(tiny, SMALL)
    state = memory.write(tokens(20), memory.empty())
    for harmed in (
        {**state, "keys": state["keys"][..., :-1].contiguous()},
        {**state, "values": state["values"][:-1]},
        {**state, "embeddings": state["embeddings"] * float("nan")},
        {**state, "recent": tokens(40)},
        {name: tensor for name, tensor in state.items() if name != "counted"},
    ):
        with pytest.raises(DamagedState):
            memory.attach(harmed, [0])


def test_settings_that_make_no_bank_are_refused(tiny: Any) -> None:
    for wrong in ({"chunk": 1}, {"window": 100}, {"retrieved": 0}, {"capacity": 1}, {"layers": (3,)}):
        with pytest.raises(Invalid):
            ChunkMemory(tiny, ChunkSettings(**wrong))
    with pytest.raises(TooLarge):
        ChunkMemory(tiny, ChunkSettings(window=512))
