"""Keys and values of a text: the longest common run, cutting, joining, checking."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="needs torch: pip install torch==2.13.0")

from mnemic.errors import DamagedState, InexactJoin, Invalid, TooLarge  # noqa: E402
from mnemic.neural.kv_memory import KVMemory, KVSettings, common_run, deviation  # noqa: E402

PRECISIONS = ("float32", "float16", "int8")
TEXT = "The hare sleeps in the barn, and rain falls on the roof. " * 4


@pytest.fixture(params=PRECISIONS)
def memory(request: pytest.FixtureRequest, tiny: Any) -> KVMemory:
    return KVMemory(tiny, KVSettings(request.param))


def test_a_question_is_answered_as_if_the_text_had_been_read(memory: KVMemory, tiny: Any) -> None:
    bars = {"float32": (1e-4, 1e-6), "float16": (2e-2, 1e-4), "int8": (0.5, 2e-2)}
    off = memory.deviation(memory.build(TEXT), memory.tokens(tiny.ids("where is the hare?")))
    logit, divergence = bars[memory.settings.precision]
    assert off.logit <= logit
    assert off.divergence <= divergence
    if memory.settings.precision == "float32":
        assert off.agreed == 1.0


def test_int8_is_a_quarter_and_float16_a_half_of_float32(tiny: Any) -> None:
    sizes = {}
    for precision in PRECISIONS:
        state = KVMemory(tiny, KVSettings(precision)).build(TEXT)
        sizes[precision] = sum(tensor.nbytes for tensor in state.values())
    assert sizes["float16"] < 0.55 * sizes["float32"]
    assert sizes["int8"] < 0.40 * sizes["float32"]  # 16 numbers a head here: scales weigh more than in a real model


def test_the_record_is_used_as_far_as_the_prompt_begins_with_it(memory: KVMemory, tiny: Any) -> None:
    state, decoder = memory.build(TEXT), tiny.decoder
    shared = tiny.ids(TEXT)[:20]
    prompt = [*shared, *tiny.ids("and now?")]
    entries, rest = memory.attach_prefix(prompt, state)
    assert entries.past[0][0].shape[2] == common_run(prompt, tiny.ids(TEXT))
    assert len(rest) == len(prompt) - entries.past[0][0].shape[2]
    tolerance = {"float32": 1e-4, "float16": 2e-2, "int8": 0.5}[memory.settings.precision]
    again = decoder.logits(torch.tensor([prompt]))[0, -len(rest) :]
    assert torch.allclose(decoder.logits(torch.tensor([rest]), entries)[0], again, atol=tolerance)


def test_a_prompt_that_is_the_record_leaves_one_token_and_another_text_nothing(memory: KVMemory, tiny: Any) -> None:
    state, prompt = memory.build(TEXT), tiny.ids(TEXT)
    assert memory.attach_prefix(prompt, state)[1] == prompt[-1:]
    entries, rest = memory.attach_prefix(tiny.ids("Quite another text"), state)
    assert not entries.past
    assert rest == tiny.ids("Quite another text")


def test_cut_and_written_on_it_is_the_record_of_what_it_holds(memory: KVMemory, tiny: Any) -> None:
    tokens = memory.tokens(tiny.ids(TEXT))
    whole = memory.write(tokens, memory.empty())
    for length in (0, 1, 63, 64, 65, 100):
        part = memory.cut(whole, length)
        assert part["tokens"].tolist() == tokens[:length].tolist()
        again = memory.write(tokens[length:], part)
        memory.verify(part)
        memory.verify(again)
        asked = memory.tokens(tiny.ids("where?"))
        tolerance = {"float32": 1e-4, "float16": 2e-2, "int8": 0.5}[memory.settings.precision]
        assert deviation(memory.read(asked[None], whole)[0], memory.read(asked[None], again)[0]).logit <= tolerance


def test_records_that_were_made_apart_are_not_joined_unless_asked(memory: KVMemory) -> None:
    halves = [memory.build("The hare sleeps in the barn."), memory.build(" Rain falls on the roof.")]
    with pytest.raises(InexactJoin, match="2 records were made apart"):
        memory.join(halves)
    assert memory.join([halves[0], memory.empty()]) is halves[0]
    joined = memory.join(halves, "positions")
    assert joined["tokens"].tolist() == [*halves[0]["tokens"].tolist(), *halves[1]["tokens"].tolist()]
    memory.verify(joined)


def test_turned_keys_stand_where_they_would_stand_in_the_first_layer(tiny: Any) -> None:
    """There nothing has been attended to yet, so turning is exact; behind it, it is not, and that is reported."""
    memory = KVMemory(tiny, KVSettings("float32"))
    texts = ["The hare sleeps in the barn.", " Rain falls on the roof."]
    tokens = [memory.tokens(tiny.ids(text)) for text in texts]
    together = memory.write(torch.cat(tokens), memory.empty())
    halves = [memory.write(part, memory.empty()) for part in tokens]
    turned, left = memory.join(halves, "positions"), memory.join(halves, "nothing")
    assert torch.allclose(turned["keys"][0], together["keys"][0], atol=1e-4)
    assert not torch.allclose(left["keys"][0], together["keys"][0], atol=1e-2)
    asked = memory.tokens(tiny.ids("where is the hare?"))
    exact, joined = memory.deviation(together, asked), memory.deviation(turned, asked)
    assert exact.logit < 1e-4 < joined.logit


def test_a_joined_record_is_not_taken_for_the_text_behind_its_first_part(tiny: Any) -> None:
    memory = KVMemory(tiny, KVSettings("float32"))
    joined = memory.join([memory.build("The hare sleeps."), memory.build(" It rains.")], "positions")
    prompt = [*joined["tokens"].tolist(), *tiny.ids("and now?")]
    _, rest = memory.attach_prefix(prompt, joined)
    assert len(prompt) - len(rest) == len(tiny.ids("The hare sleeps."))


def test_a_record_that_is_not_what_its_tokens_make_is_found_out(memory: KVMemory) -> None:
    state = memory.build(TEXT)
    memory.verify(state)
    memory.verify(memory.empty())
    other = state["tokens"].clone()
    other[-1] = other[0]
    harmed = [
        {**state, "tokens": other},
        {**state, "tokens": state["tokens"] * 0 - 1},
        {**state, "tokens": state["tokens"][:-1]},
        {**state, "keys": state["keys"].flip(2).contiguous()},
        {**state, "values": state["values"][:, :, :, :-1].contiguous()},
        {name: tensor for name, tensor in state.items() if name != "values"},
        {**state, "stray": state["tokens"]},
    ]
    if memory.settings.precision != "int8":
        harmed.append({**state, "keys": state["keys"] * float("nan")})
    for record in harmed:
        with pytest.raises(DamagedState):
            memory.verify(record)


def test_what_cannot_be_is_refused(tiny: Any) -> None:
    with pytest.raises(Invalid, match="float32"):
        KVMemory(tiny, KVSettings("float8"))  # type: ignore[arg-type]
    with pytest.raises(TooLarge):
        KVMemory(tiny).build("no " * 400)


def test_a_batch_of_questions_reads_one_record(tiny: Any) -> None:
    memory = KVMemory(tiny, KVSettings("float32"))
    state = memory.build(TEXT)
    asked = torch.tensor([tiny.ids("where is it"), tiny.ids("who was she")][:1] * 3)
    rows = memory.read(asked, state)
    assert torch.allclose(rows[0], rows[2], atol=1e-5)
