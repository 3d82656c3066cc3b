"""Side memories: the contract, the definitions, who is routed where, one more edit, what is refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="needs torch: pip install torch==2.13.0")

from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from mnemic.errors import DamagedState, Invalid, TooLarge  # noqa: E402
from mnemic.lab.tasks.neural import wise_experiment  # noqa: E402
from mnemic.neural.llama import Entries  # noqa: E402
from mnemic.neural.wise import (  # noqa: E402
    Edit,
    EditedLayer,
    PromptRows,
    WiseMemory,
    WiseSettings,
    distance,
    distance_by_definition,
    joined,
    merged,
    merged_by_definition,
)
from mnemic.testing.memory_module_contract import *  # noqa: E402, F403
from mnemic.testing.memory_module_contract import ModuleSubject, bits  # noqa: E402

FEW = WiseSettings(layer=1, shards=2, steps=4, unrelated=3, rate=1e-2)


def edits(count: int) -> list[Edit]:
    """The first edits of a few: the first two lie in both shards, the last two in one."""
    return [
        Edit(
            f"fact {n}",
            (f"where is {n}?", f"{n}: where?"),
            f"in {'abcdefg'[n]}",
            (f"where is she, {n}?",),
            (f"told {n}",),
        )
        for n in (0, 1, 2, 3, 4, 6)[:count]
    ]  # fmt: skip


def asked(tiny: Any, *prompts: str) -> Any:
    return torch.tensor([tiny.prompt(("user", prompt)) for prompt in prompts])


@pytest.fixture
def subject(tiny: Any) -> ModuleSubject:
    questions = asked(tiny, "where is 0?", "where is 1?")
    given = [edits(n) for n in (2, 4, 6)]
    bare = tiny.decoder.logits(questions)
    return ModuleSubject(WiseMemory(tiny, FEW), given, questions, bare, sources=("told 4", "told 6"))


@pytest.fixture(scope="module")
def learnt(tiny: Any) -> tuple[WiseMemory, Any]:
    memory = WiseMemory(tiny, replace(FEW, shards=1, steps=12))
    return memory, memory.write(edits(3), memory.empty())


@pytest.mark.parametrize("length", [1, 7, 16])
def test_distance_is_its_definition_in_value_and_gradient(length: int) -> None:
    draw = torch.Generator().manual_seed(length)
    given, delta = (torch.randn(*shape, generator=draw, dtype=torch.float64) for shape in ((length, 6), (4, 6)))
    made = []
    for form in ("slow", "fast"):
        a, d = given.clone().requires_grad_(), delta.clone().requires_grad_()
        if form == "slow":
            value = distance_by_definition(a, d)
        else:  # beside a longer row: padding counts for nothing
            mine = _rows(a[None], length)
            value = distance(joined([mine, _rows(torch.ones(1, length + 3, 6, dtype=torch.float64), 2)]), d)[0]
        value.backward()
        made.append((value.detach(), a.grad, d.grad))
    for slow, fast in zip(*made, strict=True):
        assert torch.allclose(slow, fast, atol=1e-12)


def _rows(given: Any, length: int) -> PromptRows:
    at = torch.arange(given.shape[1])[None] < length
    return PromptRows(given, given[..., :4], at, at, at.long())


def test_no_change_is_at_distance_zero_with_a_gradient_that_is_a_number() -> None:
    delta = torch.zeros(4, 6, requires_grad=True)
    distance(_rows(torch.randn(2, 3, 6, generator=torch.Generator().manual_seed(0)), 3), delta).sum().backward()
    assert torch.equal(delta.grad, torch.zeros(4, 6))


@given(st.integers(1, 4), st.integers(0, 30))
@settings(max_examples=30, deadline=None)
def test_merging_is_its_definition(copies: int, seed: int) -> None:
    draw = torch.Generator().manual_seed(seed)
    deltas = torch.randn(copies, 3, 4, generator=draw, dtype=torch.float64)
    deltas = deltas * (torch.rand(deltas.shape, generator=draw) < 0.6)
    assert torch.allclose(merged(deltas), merged_by_definition(list(deltas)), atol=1e-12)


def test_copies_of_disjoint_masks_merge_without_loss() -> None:
    draw = torch.Generator().manual_seed(0)
    whole = torch.randn(3, 4, generator=draw)
    which = torch.randint(0, 3, (3, 4), generator=draw)
    copies = torch.stack([whole * (which == n) for n in range(3)])
    assert torch.equal(merged(copies), whole)


def test_what_is_not_routed_is_the_bare_model_and_what_is_is_the_edited_one_to_the_bit(
    tiny: Any, learnt: tuple[WiseMemory, Any]
) -> None:
    memory, state = learnt
    delta = state["shard.0.delta"][0]
    edited = Entries(replaced={memory.place.name: memory.place.matrix + delta})
    reached = {}
    for prompt in ("where is 0?", "where is 1?", "What is the capital of Spain?", "zz zz zz"):
        ids = asked(tiny, prompt)
        bare, other, read = tiny.decoder.logits(ids), tiny.decoder.logits(ids, edited), memory.read(ids, state)
        route = memory.route(ids[0].tolist(), state)
        reached[prompt] = route
        assert torch.equal(read[0, -1], (bare if route is None else other)[0, -1])
        assert torch.equal(tiny.decoder.logits(ids, memory.attach(state, route)), bare if route is None else other)
    assert reached["where is 0?"] == reached["where is 1?"] == 0
    far = {**state, "shard.0.epsilon": state["shard.0.epsilon"] * 100}
    ids = asked(tiny, "where is 0?")
    assert torch.equal(memory.read(ids, far), tiny.decoder.logits(ids))


def test_every_edit_is_routed_for_epsilon_lies_below_the_smallest(tiny: Any, learnt: tuple[WiseMemory, Any]) -> None:
    memory, state = learnt
    for edit in edits(3):
        for prompt in edit.prompts:
            assert memory.route(tiny.prompt(("user", prompt)), state) == 0
    at_the_smallest = {**state, "shard.0.epsilon": state["shard.0.epsilon"] / memory.settings.ratio * 1.00001}
    routes = [memory.route(tiny.prompt(("user", p)), at_the_smallest) for edit in edits(3) for p in edit.prompts]
    assert None in routes, "the edit that set it is not routed: why there is a ratio"


def test_an_edit_makes_its_target_likelier(tiny: Any, learnt: tuple[WiseMemory, Any]) -> None:
    memory, state = learnt
    delta, rows = state["shard.0.delta"][0], joined([memory.place.rows(e.prompts[0], e.target) for e in edits(3)])
    before, after = (float(memory.place.loss(rows, d)[0]) for d in (torch.zeros_like(delta), delta))
    memory.place.clear()
    assert after < before - 0.1


def test_edits_one_by_one_are_the_edits_at_once_and_another_beginning_is_made_anew(tiny: Any) -> None:
    memory = WiseMemory(tiny, replace(FEW, shards=1))
    steps: list[int] = []
    state = memory.empty()
    for n in (1, 2, 3):
        state = memory.write(edits(n), state, lambda done, most: steps.append(most))
    assert steps == [1, 1, 1], "only what is new is edited"
    assert bits(state) == bits(memory.write(edits(3), {}))
    assert bits(memory.write(edits(3), state)) == bits(state)
    turned = list(reversed(edits(3)))
    assert bits(memory.write(turned, state)) == bits(memory.write(turned, {}))


def test_what_the_layers_above_make_is_what_the_whole_decoder_makes(tiny: Any, learnt: tuple[WiseMemory, Any]) -> None:
    memory, state = learnt
    delta, edit = state["shard.0.delta"][0], edits(1)[0]
    rows = memory.place.rows(edit.prompts[0], edit.target)
    prompt, said = tiny.prompt(("user", edit.prompts[0])), [*tiny.ids(edit.target), tiny.end]
    entries = Entries(replaced={memory.place.name: memory.place.matrix + delta})
    whole = tiny.decoder.logits(torch.tensor([[*prompt, *said]]), entries)[0, len(prompt) - 1 : -1]
    assert torch.allclose(memory.place.logits(rows, delta), whole, atol=1e-4)
    memory.place.clear()


def test_subspaces_change_their_own_entries_alone(tiny: Any) -> None:
    memory = WiseMemory(tiny, replace(FEW, shards=1, subspaces=2, density=0.3))
    state = memory.write(edits(3), {})
    deltas = state["shard.0.delta"]
    assert deltas.shape[0] == 2
    for n, delta in enumerate(deltas):
        mask = memory._mask(n)
        assert mask is not None
        assert delta.any()
        assert not delta[mask == 0].any()
    assert memory.read(asked(tiny, "where is 0?"), state).isfinite().all()


def test_the_largest_of_several_side_memories_answers(tiny: Any) -> None:
    memory = WiseMemory(tiny, FEW)
    state = memory.write(edits(2), {})
    assert memory.shards(state) == [0, 1]
    ids = tiny.prompt(("user", "where is 0?"))
    for number in (0, 1):
        near = {**state, f"shard.{number}.epsilon": state[f"shard.{number}.epsilon"] * 1e-3}
        assert memory.route(ids, near) == number


def test_what_cannot_be_edited_is_refused_and_nothing_is_changed(tiny: Any) -> None:
    memory = WiseMemory(tiny, replace(FEW, edits_limit=2))
    state = memory.write(edits(1), {})
    before = bits(state)
    for wrong, error in (
        ([*edits(1), Edit("x", (), "y")], Invalid),
        ([*edits(1), Edit("x", (" ",), "y")], Invalid),
        ([*edits(1), Edit("x", ("y",), " ")], Invalid),
        (edits(6), TooLarge),
    ):
        with pytest.raises(error):
            memory.write(wrong, state)
    assert bits(state) == before
    diverging = WiseMemory(tiny, replace(FEW, rate=float("inf")))
    with pytest.raises(Invalid, match="diverge"):
        diverging.write(edits(2), state)
    assert bits(state) == before


def test_odd_prompts_are_answered(tiny: Any, learnt: tuple[WiseMemory, Any]) -> None:
    memory, state = learnt
    for ids in ([5], [5, 5], [7] * 60, [*memory.place.opening], [*memory.place.opening, 9]):
        row = torch.tensor([ids])
        assert memory.read(row, state).isfinite().all()
    assert memory.route([], state) is None
    with pytest.raises(Invalid, match="no tokens"):
        memory.read(torch.zeros(1, 0, dtype=torch.int64), state)


def test_a_state_of_another_form_is_not_attached(tiny: Any, learnt: tuple[WiseMemory, Any]) -> None:
    memory, state = learnt
    for harmed in (
        {**state, "shard.0.delta": state["shard.0.delta"][:, :-1].contiguous()},
        {**state, "shard.0.delta": state["shard.0.delta"] * float("nan")},
        {name: tensor for name, tensor in state.items() if not name.endswith("epsilon")},
    ):
        with pytest.raises(DamagedState):
            memory.attach(harmed, 0)
        with pytest.raises(DamagedState):
            memory.route([1, 2, 3], harmed)


def test_settings_that_make_no_side_memory_are_refused(tiny: Any) -> None:
    for wrong in ({"layer": 99}, {"shards": 0}, {"subspaces": 0}, {"density": 0.0}, {"ratio": 1.0}):
        with pytest.raises(Invalid):
            WiseMemory(tiny, WiseSettings(**wrong))


def test_the_fair_control_has_the_replay_and_the_unrelated_prompts_of_the_side_memory(
    tiny: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    once = replace(FEW, shards=1, steps=1, wordings=1, unrelated=6, seed=0)
    memory = WiseMemory(tiny, once)
    known = [replace(edit, prompts=edit.prompts[:1]) for edit in edits(5)]
    state = memory.write(known[:4], memory.empty())
    replayed: list[int] = []
    rows_of, loss = EditedLayer.rows, EditedLayer.loss
    prompts: list[str] = []

    def noted_rows(self: Any, prompt: str, answer: str = "") -> Any:
        if not answer:
            prompts.append(prompt)
        return rows_of(self, prompt, answer)

    def noted_loss(self: Any, rows: Any, delta: Any) -> Any:
        replayed.append(len(rows.h) - 1)
        return loss(self, rows, delta)

    monkeypatch.setattr(EditedLayer, "rows", noted_rows)
    monkeypatch.setattr(EditedLayer, "loss", noted_loss)
    memory._unit  # noqa: B018 - computed once, from prompts of its own
    prompts.clear()
    memory.write(known, state)
    mine, prompts[:] = list(prompts), []
    wise_experiment._tune(memory.place, torch.zeros_like(memory.place.matrix), known, once, 4, fair=True)
    assert mine == prompts
    assert len(mine) == once.unrelated
    assert set(known[-1].near) <= set(mine)
    assert replayed == [once.replayed] * 2
