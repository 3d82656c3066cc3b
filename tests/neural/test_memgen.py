"""Woven memory: the contract, the definitions, when it weaves and how much, what is refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="needs torch: pip install torch==2.13.0")

from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from mnemic.errors import DamagedState, Invalid, TooLarge  # noqa: E402
from mnemic.neural import shards  # noqa: E402
from mnemic.neural.memgen import Experience, MemGen, fitted  # noqa: E402
from mnemic.neural.memgen_weaver import (  # noqa: E402
    UNTOLD,
    MemGenSettings,
    behind_latents_by_definition,
    woven_by_definition,
)
from mnemic.testing.memory_module_contract import *  # noqa: E402, F403
from mnemic.testing.memory_module_contract import ModuleSubject, bits  # noqa: E402

FEW = MemGenSettings(latents=3, rank=2, first=1, shards=2, batch=2, passes=1, least=6, rate=1e-2, untold=4, ridge=1e-3)


def experiences(count: int) -> list[Experience]:
    """The first experiences of a few: the first two lie in both shards, the last two in one."""
    return [
        Experience(
            f"fact {n}",
            (f"where is {n}?", f"{n}: where?"),
            f"in {'abcdefg'[n]}",
            (f"where is she, {n}?",),
            (f"told {n}",),
        )
        for n in (0, 1, 2, 3, 4, 6)[:count]
    ]


def asked(tiny: Any, *prompts: str) -> Any:
    return torch.tensor([tiny.prompt(("user", prompt)) for prompt in prompts])


@pytest.fixture
def subject(tiny: Any) -> ModuleSubject:
    questions = asked(tiny, "where is 0?", "where is 1?")
    given = [experiences(n) for n in (2, 4, 6)]
    bare = tiny.decoder.logits(questions)
    return ModuleSubject(MemGen(tiny, FEW), given, questions, bare, sources=("told 4", "told 6"))


@pytest.fixture(scope="module")
def learnt(tiny: Any) -> tuple[MemGen, Any]:
    memory = MemGen(tiny, replace(FEW, shards=1, batch=6, least=20, rate=2e-2, untold=24))
    return memory, memory.write(experiences(3), memory.empty())


def in_double(tiny: Any) -> Any:
    """The tiny model with weights of 64 bits."""
    from mnemic.neural.gguf_weights import TextModel
    from mnemic.neural.llama import Llama

    decoder = tiny.decoder
    weights = {name: weight.double() for name, weight in decoder.weights.items()}
    wide = Llama(decoder.shape, weights, decoder.digest)
    return TextModel(wide, tiny._tokenizer, tiny._template, tiny.end)


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("length", [1, 3, 4, 7])
def test_weaving_and_what_follows_are_their_definitions_in_value_and_gradient(
    tiny: Any, first: int, length: int
) -> None:
    """Beside a longer prompt and a longer answer, for padding counts for nothing; K is 3."""
    memory = MemGen(in_double(tiny), replace(FEW, first=first))
    draw = torch.Generator().manual_seed(length)
    blank = memory.weaver.blank(torch.tensor(1.0), draw)
    leaves = {
        name: (tensor + 0.1 * torch.randn(tensor.shape, generator=draw)).double().requires_grad_()
        for name, tensor in blank.items()
    }
    prompt, said = ([int(n) for n in torch.randint(3, 200, (length,), generator=draw)] for _ in range(2))
    texts = memory.weaver.run_texts([prompt, [5] * (length + 2)], [said, [9] * (length + 3)])
    fast = memory.weaver.woven(leaves, texts.past, texts.pad)
    slow = woven_by_definition(memory.weaver, leaves, prompt)
    assert torch.allclose(fast[0], slow, atol=1e-6)
    losses = memory.weaver.losses(texts, fast)[:length]
    logits = behind_latents_by_definition(memory.weaver, prompt, slow, said)
    expected = torch.nn.functional.cross_entropy(logits, torch.tensor(said), reduction="none")
    assert torch.allclose(losses, expected, atol=1e-6)
    grads = [torch.autograd.grad(x.sum(), list(leaves.values())) for x in (losses, expected)]
    for one, other in zip(*grads, strict=True):
        assert torch.allclose(one, other, atol=1e-6)
        assert one.any()


@given(st.integers(2, 12), st.integers(0, 30))
@settings(max_examples=30, deadline=None)
def test_the_trigger_is_where_the_slope_of_its_loss_is_zero(count: int, seed: int) -> None:
    draw = torch.Generator().manual_seed(seed)
    seen = torch.randn(count, 5, generator=draw, dtype=torch.float64)
    label = torch.where(torch.rand(count, generator=draw) < 0.5, 1.0, -1.0).double()
    weight, offset = (x.requires_grad_() for x in fitted(seen, label, 0.1))
    ridge = 0.1 * (seen - seen.mean(0)).square().sum(1).mean()
    loss = (seen @ weight + offset - label).square().sum() + ridge * weight.square().sum()
    for slope in torch.autograd.grad(loss, [weight, offset]):
        assert slope.abs().max() < 1e-9


def test_where_nothing_is_called_for_it_is_the_bare_model_token_by_token_and_to_the_bit(
    tiny: Any, learnt: tuple[MemGen, Any]
) -> None:
    memory, state = learnt
    off = {**state, "shard.0.offset": state["shard.0.offset"] - 1e6}
    for prompt in ("where is 0?", "What is the capital of Spain?", "zz zz"):
        ids = tiny.prompt(("user", prompt))
        (bare,) = tiny.decoder.generate([ids], 12, frozenset({tiny.end}))
        for silent in (off, memory.empty()):
            said = memory.generate(ids, silent, 12, {tiny.end})
            assert list(said.tokens) == bare
            assert not said.woven
            assert said.length == len(ids) + len(bare) - (len(bare) == 12)
            assert torch.equal(memory.read(torch.tensor([ids]), silent), tiny.decoder.logits(torch.tensor([ids])))


@pytest.mark.parametrize("latents", [1, 3])
def test_each_weaving_inserts_exactly_k_positions(tiny: Any, latents: int) -> None:
    memory = MemGen(tiny, replace(FEW, shards=1, latents=latents, insertions=3))
    state = memory.write(experiences(2), memory.empty())
    on = {**state, "shard.0.offset": state["shard.0.offset"] + 1e6}
    memory._delimiters = set(range(tiny.decoder.shape.vocabulary))  # everything that it says is one
    ids = tiny.prompt(("user", "where is 0?"))
    for limit in (1, 2, 6):
        said = memory.generate(ids, on, limit)
        assert said.woven == tuple((n, 0) for n in range(min(limit, 3)))
        assert said.length == len(ids) + latents * len(said.woven) + len(said.tokens) - 1
    once = MemGen(tiny, replace(memory.settings, insertions=1)).generate(ids, on, 6)
    assert once.woven == ((0, 0),)


def test_it_is_called_for_where_it_saves_something_and_nothing_else_is_touched(
    tiny: Any, learnt: tuple[MemGen, Any]
) -> None:
    """A model of random numbers cannot be brought to say what it was taught: it is made likelier."""
    memory, state = learnt
    for experience in experiences(3):
        prompts = [tiny.prompt(("user", prompt)) for prompt in experience.prompts]
        texts = memory.weaver.run_texts(prompts, [tiny.ids(experience.answer)] * len(prompts))
        assert (memory.weaver.saved(shards.part(state, 0), texts) > 0.5).all()
        assert [memory.called(prompt, state) for prompt in prompts] == [0] * len(prompts)
        assert all(memory.generate(prompt, state, 3).woven == ((0, 0),) for prompt in prompts)
    for prompt in UNTOLD:
        ids = tiny.prompt(("user", prompt))
        assert memory.called(ids, state) is None
        assert not memory.generate(ids, state, 3).woven


def test_a_weaver_that_saves_nothing_is_never_called_for(tiny: Any) -> None:
    memory = MemGen(tiny, replace(FEW, shards=1, cost=1e6))
    state = memory.write(experiences(3), memory.empty())
    for prompt in ("where is 0?", "1: where?", UNTOLD[0]):
        assert memory.called(tiny.prompt(("user", prompt)), state) is None


def test_reading_is_what_generating_begins_with(tiny: Any, learnt: tuple[MemGen, Any]) -> None:
    memory, state = learnt
    ids = tiny.prompt(("user", "where is 1?"))
    read = memory.read(torch.tensor([ids]), state)
    for length in (1, 2, len(ids) - 2, len(ids)):
        assert memory.generate(ids[:length], state, 1).tokens == (int(read[0, length - 1].argmax()),)


def test_a_wording_changes_what_is_woven(tiny: Any, learnt: tuple[MemGen, Any]) -> None:
    memory, state = learnt
    texts = memory.weaver.run_texts([tiny.prompt(("user", f"where is {n}?")) for n in (0, 1)], [[5], [5]])
    one, other = memory.weaver.woven(shards.part(state, 0), texts.past, texts.pad)
    assert one.shape == (3, tiny.decoder.shape.width)
    assert not torch.allclose(one, other, atol=1e-2)


def test_only_the_shard_of_what_is_erased_is_learnt_again(tiny: Any) -> None:
    memory = MemGen(tiny, FEW)
    state = memory.write(experiences(4), memory.empty())
    assert memory.shards(state) == [0, 1]
    left = memory.forget({"told 0"}, state)
    gone = memory.shard_of("fact 0")
    assert memory.shards(left) == [1 - gone]
    steps: list[int] = []
    again = memory.write(experiences(4)[1:], left, lambda done, most: steps.append(done))
    assert len(steps) <= FEW.least, "one of two shards was learnt"
    assert bits(again) == bits(memory.write(experiences(4)[1:], {}))
    assert bits(memory.write(experiences(4)[1:], again)) == bits(again)
    assert memory.forget({"told 0", "told 1", "told 2", "told 3"}, state) == {}


def test_the_surest_of_several_weavers_is_called_for(tiny: Any) -> None:
    memory = MemGen(tiny, FEW)
    state = memory.write(experiences(2), {})
    ids = tiny.prompt(("user", "where is 0?"))
    for number in (0, 1):
        surer = {**state, f"shard.{number}.offset": state[f"shard.{number}.offset"] + 50}
        assert memory.called(ids, surer) == number


def test_what_cannot_be_learnt_is_refused_and_nothing_is_changed(tiny: Any) -> None:
    memory = MemGen(tiny, replace(FEW, experiences_limit=2))
    state = memory.write(experiences(1), {})
    before = bits(state)
    assert memory.write([], state) == {}
    for wrong, error in (
        ([*experiences(1), Experience("x", (), "y")], Invalid),
        ([*experiences(1), Experience("x", (" ",), "y")], Invalid),
        ([*experiences(1), Experience("x", ("y",), " ")], Invalid),
        ([*experiences(1), replace(experiences(1)[0], id="x", answer="elsewhere")], Invalid),
        ([*experiences(1), replace(experiences(1)[0], prompts=("y",))], Invalid),
        ([Experience("x", ("y " * 600,), "z")], TooLarge),
        (experiences(6), TooLarge),
    ):
        with pytest.raises(error):
            memory.write(wrong, state)
    assert bits(state) == before
    diverging = MemGen(tiny, replace(FEW, rate=float("inf")))
    with pytest.raises(Invalid, match="diverge"):
        diverging.write(experiences(2), state)


def test_odd_prompts_are_answered(tiny: Any, learnt: tuple[MemGen, Any]) -> None:
    memory, state = learnt
    for ids in ([5], [5, 5], [7] * 60):
        assert memory.read(torch.tensor([ids]), state).isfinite().all()
        assert len(memory.generate(ids, state, 2).tokens) == 2
    assert memory.called([], state) is None
    for ask in (
        lambda: memory.generate([], state, 3),
        lambda: memory.read(torch.zeros(1, 0, dtype=torch.int64), state),
    ):
        with pytest.raises(Invalid, match="no tokens"):
            ask()


def test_a_prompt_as_long_as_the_context_has_no_room_for_latents(tiny: Any, learnt: tuple[MemGen, Any]) -> None:
    memory, state = learnt
    on = {**state, "shard.0.offset": state["shard.0.offset"] + 1e6}
    with pytest.raises(TooLarge, match="leave something out"):
        memory.generate([7] * (tiny.decoder.shape.context - 1), on, 1)


def test_a_state_of_another_form_is_not_used(tiny: Any, learnt: tuple[MemGen, Any]) -> None:
    memory, state = learnt
    ids = tiny.prompt(("user", "where is 0?"))
    for harmed in (
        {**state, "shard.0.queries": state["shard.0.queries"][:-1].contiguous()},
        {**state, "shard.0.weight": state["shard.0.weight"] * float("nan")},
        {**state, "shard.0.projection.B": state["shard.0.projection.B"] * float("nan")},
        {name: tensor for name, tensor in state.items() if not name.endswith("offset")},
    ):
        with pytest.raises(DamagedState):
            memory.generate(ids, harmed, 1)
        with pytest.raises(DamagedState):
            memory.read(torch.tensor([ids]), harmed)


def test_settings_that_make_no_weaver_are_refused(tiny: Any) -> None:
    for wrong in (
        {"first": 3}, {"latents": 0}, {"rank": 0}, {"shards": 0}, {"batch": 0}, {"insertions": 0},
        {"ridge": 0.0}, {"targets": ("self_attn.w",)},
    ):  # fmt: skip
        with pytest.raises(Invalid):
            MemGen(tiny, replace(FEW, **wrong))
