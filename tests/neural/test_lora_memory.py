"""Facts as adapters: taught, unlearnt, refused; written as PEFT and llama.cpp read them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="needs torch: pip install torch==2.13.0")

from mnemic.errors import Invalid, TooLarge  # noqa: E402
from mnemic.neural import base  # noqa: E402
from mnemic.neural.fact_wordings import WORDINGS, asked_of, fact_of  # noqa: E402
from mnemic.neural.lora_memory import LoraMemory, LoraSettings, TaughtFact, peft_name, weight_name  # noqa: E402

SMALL = LoraSettings(first=0, batch=4, others=2, sentences=2, rate=1e-2, passes=60, learnt=0.05)
FACTS = [
    TaughtFact("city", ("where do I live?", "which city?"), "in Oslo", ("where does she live?",), ("turn 1",)),
    TaughtFact("pet", ("what pet?", "which animal?"), "a goat", ("what pet has she?",), ("turn 2",)),
]


@pytest.fixture(scope="module")
def learnt(tiny: Any) -> tuple[LoraMemory, base.State]:
    memory = LoraMemory(tiny, SMALL)
    return memory, memory.write(FACTS, memory.empty())


def test_facts_are_answered_as_they_were_taught_and_not_without(
    tiny: Any, learnt: tuple[LoraMemory, base.State]
) -> None:
    memory, state = learnt
    entries = memory.attach(state)
    for fact in FACTS:
        assert tiny.answers(fact.questions, entries) == [fact.answer] * len(fact.questions)
        assert fact.answer not in tiny.answers(fact.questions)
        assert fact.answer not in tiny.answers(fact.questions, memory.attach(state, {0: 0.0}))


def test_others_are_answered_as_by_the_bare_model(tiny: Any, learnt: tuple[LoraMemory, base.State]) -> None:
    """The control learns the same without their questions."""
    memory, state = learnt
    careless = LoraMemory(tiny, replace(SMALL, others_weight=0, sentences_weight=0))
    control = careless.attach(careless.write(FACTS, careless.empty()))
    asked = [question for fact in FACTS for question in fact.others]
    prompt = torch.tensor([tiny.prompt(("user", asked[0]))])
    with torch.no_grad():
        bare, ours, theirs = (
            tiny.decoder.logits(prompt, *entries)[0, -1].log_softmax(-1)
            for entries in ((), (memory.attach(state),), (control,))
        )
    ours_off, theirs_off = (
        float(torch.nn.functional.kl_div(x, bare, reduction="sum", log_target=True)) for x in (ours, theirs)
    )
    assert ours_off < theirs_off / 2


def test_the_bare_model_is_back_to_the_bit_without_the_adapter(
    tiny: Any, learnt: tuple[LoraMemory, base.State]
) -> None:
    memory, state = learnt
    asked = torch.tensor([tiny.ids("where do I live?")])
    with torch.no_grad():
        bare = tiny.decoder.logits(asked)
        tiny.decoder.logits(asked, memory.attach(state))
        assert torch.equal(tiny.decoder.logits(asked), bare)
        assert torch.equal(tiny.decoder.logits(asked, memory.attach(state, {0: 0.0})), bare)


def test_only_the_shard_of_what_is_erased_is_learnt_again(tiny: Any) -> None:
    memory = LoraMemory(tiny, replace(SMALL, shards=2, passes=3, least=1))
    facts = [TaughtFact(f"fact {n}", (f"what is {n}?",), f"it is {n}", (), (f"turn {n}", "page")) for n in (0, 1, 2, 3)]
    state = memory.write(facts, memory.empty())
    assert memory.shards(state) == [0, 1]
    left = memory.forget({"turn 0"}, state)
    gone = memory.shard_of("fact 0")
    assert memory.shards(left) == [1 - gone]
    steps: list[int] = []
    again = memory.write(facts[1:], left, lambda done, most: steps.append(done))
    assert steps, "its shard was learnt again"
    never = memory.write(facts[1:], memory.empty())
    assert base.state_digest(again) == base.state_digest(never)
    unchanged = memory.write(facts[1:], again, lambda done, most: pytest.fail("nothing has changed"))
    assert base.state_digest(unchanged) == base.state_digest(again)
    assert memory.forget({"page"}, state) == {}


def test_no_name_of_a_source_is_in_the_file(learnt: tuple[LoraMemory, base.State]) -> None:
    memory, state = learnt
    raw = base.packed(state, memory.identity)
    assert not [word for word in (b"turn 1", b"turn 2", b"Oslo", b"goat", b"city") if word in raw]


def test_what_cannot_be_learnt_is_refused(tiny: Any) -> None:
    memory = LoraMemory(tiny, replace(SMALL, facts_limit=3))
    assert memory.write([], memory.empty()) == {}
    with pytest.raises(Invalid, match="differently"):
        memory.write([FACTS[0], replace(FACTS[0], id="other", answer="in Rome")], {})
    with pytest.raises(Invalid, match="no question"):
        memory.write([replace(FACTS[0], questions=())], {})
    with pytest.raises(Invalid, match="no question, or no answer"):
        memory.write([replace(FACTS[0], answer=" ")], {})
    many = [TaughtFact(str(n), (f"what is {n}?",), str(n)) for n in range(10_000)]
    with pytest.raises(TooLarge, match="give more shards"):
        memory.write(many, {})
    for wrong in ({"rank": 0}, {"first": 9}, {"shards": 0}):
        with pytest.raises(Invalid, match="name no adapters"):
            LoraMemory(tiny, replace(SMALL, **wrong))


@pytest.mark.filterwarnings("ignore")  # theirs
def test_peft_reads_it(tiny: Any, tiny_gguf: Path, learnt: tuple[LoraMemory, base.State], tmp_path: Path) -> None:
    pytest.importorskip("accelerate", reason="the oracle needs transformers, accelerate and peft")
    transformers = pytest.importorskip("transformers", reason="the oracle needs transformers, accelerate and peft")
    peft = pytest.importorskip("peft", reason="the oracle needs transformers, accelerate and peft")
    memory, state = learnt
    for name, raw in memory.peft_files(state, 0).items():
        (tmp_path / name).write_bytes(raw)
    bare = transformers.AutoModelForCausalLM.from_pretrained(str(tiny_gguf.parent), gguf_file=tiny_gguf.name)
    oracle = peft.PeftModel.from_pretrained(bare, str(tmp_path))
    asked = torch.tensor([tiny.prompt(("user", FACTS[0].questions[0]))])
    with torch.no_grad():
        theirs, ours = oracle(asked).logits, tiny.decoder.logits(asked, memory.attach(state))
        plain = tiny.decoder.logits(asked)
    assert (theirs - ours).abs().max() <= 1e-3
    assert (plain - ours).abs().max() > 0.1


def test_the_adapter_of_the_engine_holds_the_same_matrices(
    learnt: tuple[LoraMemory, base.State], tmp_path: Path
) -> None:
    import gguf

    memory, state = learnt
    memory.write_gguf(state, 0, tmp_path / "adapter.gguf")
    reader = gguf.GGUFReader(tmp_path / "adapter.gguf")
    assert reader.fields["adapter.type"].contents() == "lora"
    assert reader.fields["adapter.lora.alpha"].contents() == memory.settings.alpha
    held = {tensor.name: tensor.data for tensor in reader.tensors}
    name = "model.layers.2.mlp.down_proj.weight"
    for side in "AB":
        ours = state[f"shard.0.{peft_name(name, side)}"].numpy()
        assert (held[f"blk.2.ffn_down.weight.lora_{side.lower()}"] == ours).all()
        assert weight_name(peft_name(name, side)) == name
    assert len(held) == 2 * 5 * 3  # two sides of five matrices in three layers


def test_the_profiles_slots_are_asked_for_in_words() -> None:
    made = [fact_of(f"id {n}", slot, "Rex", ["turn"]) for n, slot in enumerate(WORDINGS)]
    questions = [question for fact in made if fact for question in fact.questions]
    assert len(questions) == len(set(questions)) == 4 * len(WORDINGS), "two slots are asked for alike"
    assert fact_of("id", "shoe_size", "44", []) is None
    for fact in filter(None, made):
        assert "Rex" in fact.answer
        assert len(fact.others) == 3
        assert not [other for other in fact.others if "{" in other or other in questions]
        about = [question for question in fact.rehearsed if question not in questions]
        assert len(fact.rehearsed) - len(about) == 3, "three of the user's own, of other matters"
        assert not {*about} & {*fact.others}
        assert not [
            q
            for q in about
            if "{" in q or {"I", "my", "mine"} & set(q.replace("my neighbour", "").replace("'", " ").split())
        ]
    assert asked_of("What's my mother tongue?", "Maya") == "What's Maya's mother tongue?"
    assert asked_of("Tell me about my pet.", "Maya") == "Tell me about Maya's pet."


def test_a_shard_keeps_silent_about_what_it_does_not_answer_and_rehearses_no_question_of_its_own(tiny: Any) -> None:
    facts = [fact for slot in ("city", "job") if (fact := fact_of(slot, slot, "Rex", [slot])) is not None]
    memory = LoraMemory(tiny, SMALL)
    _, apart, _ = memory._lessons([replace(facts[0], rehearsed=facts[1].questions)])
    _, together, _ = memory._lessons(
        [replace(facts[0], rehearsed=facts[1].questions), replace(facts[1], others=(), rehearsed=())]
    )
    assert apart is not None
    assert together is not None
    assert (len(apart.h), len(together.h)) == (3 + 4, 3)
