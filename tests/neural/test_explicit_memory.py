"""Sparse keys and values of references: the contract, the definitions, what is kept, what is refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="needs torch: pip install torch==2.13.0")

from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from mnemic.errors import DamagedState, Invalid, TooLarge  # noqa: E402
from mnemic.neural.explicit_memory import (  # noqa: E402
    CHUNK,
    ExplicitMemory,
    ExplicitSettings,
    TextReference,
    attended_by_definition,
    kept,
    kept_by_definition,
    received,
    received_by_definition,
    references,
)
from mnemic.neural.kv_memory import KVMemory, KVSettings  # noqa: E402
from mnemic.neural.llama import Llama, attend  # noqa: E402
from mnemic.testing.memory_module_contract import *  # noqa: E402, F403
from mnemic.testing.memory_module_contract import ModuleSubject, bits  # noqa: E402

TEXTS = ("The hare sleeps in the barn.", " Rain falls on the roof, and on the fen.", " Nobody is there at noon.")
WHOLE = ExplicitSettings(kept=CHUNK, precision="float32")


def told(tiny: Any, number: int) -> TextReference:
    return TextReference(tuple(tiny.ids(TEXTS[number])), (f"told {number}",))


@pytest.fixture(params=["few", "half precision, one layer"])
def subject(request: pytest.FixtureRequest, tiny: Any) -> ModuleSubject:
    options = {
        "few": ExplicitSettings(kept=5, precision="float32"),
        "half precision, one layer": ExplicitSettings(kept=5, layers=1),
    }[request.param]
    asked = torch.tensor([tiny.ids("where is it?"), tiny.ids("who was here")])
    given = [[told(tiny, n)] for n in range(3)]
    memory = ExplicitMemory(tiny, options)
    bare = tiny.decoder.logits(asked)
    return ModuleSubject(memory, given, asked, bare, [*given[0], *given[1]], sources=("told 2",))


@pytest.mark.parametrize("length", [1, 7, 20])
def test_attention_received_is_its_definition_in_value_and_gradient(length: int) -> None:
    draw = torch.Generator().manual_seed(length)
    q, k = (torch.randn(heads, length, 4, generator=draw, dtype=torch.float64) for heads in (4, 2))
    made = []
    for form in (received_by_definition, received):
        leaves = [x.clone().requires_grad_() for x in (q, k)]
        weight = form(*leaves)
        weight.square().sum().backward()
        made.append((weight.detach(), *(leaf.grad for leaf in leaves)))
    for slow, fast in zip(*made, strict=True):
        assert torch.allclose(slow, fast, atol=1e-12)
    assert torch.allclose(made[0][0].sum(), torch.tensor(4.0 * length, dtype=torch.float64))


@given(st.integers(1, 12), st.integers(1, 15), st.integers(0, 5))
@settings(max_examples=40, deadline=None)
def test_what_is_kept_is_its_definition_ties_and_too_many_included(length: int, count: int, seed: int) -> None:
    draw = torch.Generator().manual_seed(seed)
    k, v = (torch.randn(2, length, 3, generator=draw, dtype=torch.float64, requires_grad=True) for _ in range(2))
    weight = torch.randint(0, 4, (2, length), generator=draw).double()
    slow, fast = kept_by_definition(k, v, weight, count), kept(k, v, weight, count)
    for one, other in zip(slow, fast, strict=True):
        assert torch.equal(one, other)
    grads = [torch.autograd.grad(sum(x.square().sum() for x in form), (k, v)) for form in (slow, fast)]
    for one, other in zip(*grads, strict=True):
        assert torch.equal(one, other)


@pytest.mark.parametrize("length", [1, 7])
def test_reading_behind_memories_is_its_definition_in_value_and_gradient(length: int) -> None:
    draw = torch.Generator().manual_seed(length)

    def drawn(heads: int, tokens: int) -> Any:
        return torch.randn(heads, tokens, 4, generator=draw, dtype=torch.float64, requires_grad=True)

    q, k, v = drawn(4, length), drawn(2, length), drawn(2, length)
    memories = [(drawn(2, n), drawn(2, n)) for n in (3, 1)]
    keys, values = (torch.cat([*(pair[n] for pair in memories), x], 1) for n, x in ((0, k), (1, v)))
    earlier = keys.shape[1] - length
    mask = torch.arange(keys.shape[1]) <= torch.arange(earlier, earlier + length)[:, None]
    slow = attended_by_definition(q, memories, k, v)
    fast = attend(q[None], keys[None], values[None], mask[None, None])[0]
    leaves = [q, k, v, *(x for pair in memories for x in pair)]
    assert torch.allclose(slow, fast, atol=1e-12)
    grads = [torch.autograd.grad(form.square().sum(), leaves) for form in (slow, fast)]
    for one, other in zip(*grads, strict=True):
        assert torch.allclose(one, other, atol=1e-12)


def test_a_whole_reference_is_the_prompt_and_the_kept_keys_of_it(tiny: Any) -> None:
    memory, asked = ExplicitMemory(tiny, WHOLE), torch.tensor([tiny.ids("where is it?")])
    reference = told(tiny, 0)
    state = memory.write([reference], {})
    read = memory.read(asked, state)
    anew = tiny.decoder.logits(torch.tensor([[*reference.tokens, *asked[0].tolist()]]))[:, len(reference.tokens) :]
    assert torch.allclose(read, anew, atol=1e-4)
    cache = KVMemory(tiny, KVSettings("float32"))
    assert torch.allclose(read, cache.read(asked, cache.build(TEXTS[0])), atol=1e-4)


def test_fewer_tokens_stand_where_they_stood_and_the_question_behind_the_reference(tiny: Any) -> None:
    reference = told(tiny, 1)
    whole, few = ExplicitMemory(tiny, WHOLE), ExplicitMemory(tiny, ExplicitSettings(kept=4, precision="float32"))
    all_keys, some = (m.write([reference], {})[f"{reference.name}.keys"] for m in (whole, few))
    assert some.shape[2] == 4
    for layer, heads in enumerate(some):
        for head, rows in enumerate(heads):
            assert all((all_keys[layer, head] == row).all(-1).any() for row in rows)
    assert few.attach(few.write([reference], {})).position == len(reference.tokens)


def test_the_order_of_writing_says_nothing(tiny: Any) -> None:
    memory, asked = ExplicitMemory(tiny, WHOLE), torch.tensor([tiny.ids("where?")])
    first = memory.write([told(tiny, n) for n in (0, 1, 2)], {})
    second = memory.write([told(tiny, 0)], memory.write([told(tiny, n) for n in (2, 1)], {}))
    assert bits(first) == bits(second)
    assert torch.equal(memory.read(asked, first), memory.read(asked, second))
    assert bits(memory.write([told(tiny, 1)], first)) == bits(first), "written again it is no second one"


def test_generation_goes_on_behind_the_question(tiny: Any) -> None:
    """Each next token stands one further, as it does if all is read anew."""
    memory, reference, asked = ExplicitMemory(tiny, WHOLE), told(tiny, 0), tiny.ids("where is it?")
    entries = memory.attach(memory.write([reference], {}))
    spoken = tiny.decoder.generate([asked], 8, entries=entries)
    assert spoken == tiny.decoder.generate([[*reference.tokens, *asked]], 8)


def test_a_text_that_is_told_and_the_question_behind_it_are_the_prompt(tiny: Any) -> None:
    memory, text, question = ExplicitMemory(tiny, WHOLE), "The hare sleeps in the barn.", "where is it?"
    (reference,) = memory.system_references(text, ("a",))
    prompt = tiny.prompt(("system", text), ("user", question))
    assert [*reference.tokens, *memory.question(question)] == prompt
    (spoken,) = tiny.decoder.generate([prompt], 6, frozenset({tiny.end}))
    entries = memory.attach(memory.write([reference], {}))
    assert memory.answer(question, entries, 6) == tiny.answer(spoken)
    assert memory.answer(question, memory.attach({}), 6) == tiny.answers([question], limit=6)[0]


def test_only_what_is_named_is_attached_and_the_rest_is_as_if_never_written(tiny: Any) -> None:
    memory, asked = ExplicitMemory(tiny, WHOLE), torch.tensor([tiny.ids("where?")])
    state = memory.write([told(tiny, n) for n in (0, 1, 2)], {})
    named = memory.of_sources(["told 1", "nobody"], state)
    assert named == [told(tiny, 1).name]
    alone = memory.read(asked, memory.write([told(tiny, 1)], {}))
    assert torch.equal(tiny.decoder.logits(asked, memory.attach(state, named)), alone)
    assert torch.equal(memory.read(asked, memory.forget(["told 0", "told 2"], state)), alone)
    assert not memory.attach(state, ["no such name"]).past


def test_a_reference_of_two_sources_goes_with_either(tiny: Any) -> None:
    memory = ExplicitMemory(tiny, WHOLE)
    state = memory.write([replace(told(tiny, 0), sources=("a", "b")), told(tiny, 1)], {})
    assert memory.names(memory.forget(["b"], state)) == [told(tiny, 1).name]


@pytest.mark.parametrize("tokens", [[5], [7] * CHUNK], ids=["one token", "all the same"])
def test_odd_references_stay_finite(tiny: Any, tokens: list[int]) -> None:
    memory = ExplicitMemory(tiny, ExplicitSettings(kept=500))  # more than is there
    state = memory.write(references(tokens), {})
    assert memory.read(torch.tensor([[1, 2]]), state).isfinite().all()
    with pytest.raises(Invalid, match="no tokens"):
        memory.read(torch.zeros(1, 0, dtype=torch.int64), state)


def test_a_text_is_cut_where_it_is_too_long_and_refused_whole(tiny: Any) -> None:
    memory = ExplicitMemory(tiny)
    tokens = [5] * (2 * CHUNK + 3)
    assert [len(part.tokens) for part in references(tokens, ["x"])] == [CHUNK, CHUNK, 3]
    state = memory.write([told(tiny, 0)], {})
    before = bits(state)
    for wrong, error in ((tokens, TooLarge), ([], Invalid), ([-1], Invalid), ([10**6], Invalid)):
        with pytest.raises(error):
            memory.write([told(tiny, 1), TextReference(tuple(wrong))], state)
    assert bits(state) == before


def test_a_state_of_another_form_is_not_attached(tiny: Any) -> None:
    memory, reference = ExplicitMemory(tiny, WHOLE), told(tiny, 0)
    state = memory.write([reference], {})
    keys = f"{reference.name}.keys"
    harmed = [
        {**state, keys: state[keys][:, :, :-1].contiguous()},
        {**state, keys: state[keys][:, :1].contiguous()},
        {**state, keys: state[keys] * float("nan")},
        {**state, f"{reference.name}.extent": torch.tensor([10**9])},
        {name: tensor for name, tensor in state.items() if not name.endswith("values")},
    ]
    for one in harmed:
        with pytest.raises(DamagedState):
            memory.attach(one)


def test_settings_that_keep_nothing_are_refused(tiny: Any) -> None:
    for wrong in ({"kept": 0}, {"layers": 99}, {"layers": -1}, {"precision": "int3"}):
        with pytest.raises(Invalid):
            ExplicitMemory(tiny, ExplicitSettings(**wrong))


def test_a_reader_whose_question_stands_elsewhere_is_caught(tiny: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The test that whole is the prompt fails where positions go by what was kept rather than by what was read."""
    memory, asked = ExplicitMemory(tiny, ExplicitSettings(kept=4, precision="float32")), torch.tensor([[5, 6, 7]])
    state = memory.write([told(tiny, 0)], {})
    right = memory.read(asked, state)
    monkeypatch.setattr(Llama, "_start", lambda self, entries: entries.past[0][0].shape[2] if entries.past else 0)
    assert not torch.allclose(memory.read(asked, state), right, atol=1e-3)
