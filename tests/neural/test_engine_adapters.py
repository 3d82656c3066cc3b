"""What was learnt, in the engine that talks: loaded, weighed for each question, gone with what it was learnt from."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="needs torch: pip install torch==2.13.0")
if importlib.util.find_spec("xllamacpp") is None:
    pytest.skip("xllamacpp is not installed", allow_module_level=True)

from mnemic.engine_adapters import EngineAdapters
from mnemic.engine_memory import KV, EngineMemory
from mnemic.faces.chat.conversation import Conversation, Turn
from mnemic.faces.chat.turn_views import learnt_rows
from mnemic.faces.set_aside import set_aside_lines
from mnemic.learnt_shards import UnweighedReason
from mnemic.memory import Memory, ScopedMemory
from mnemic.models.chat import gguf
from mnemic.models.chat.base import Ask, ChatMessage, CutOff, reply_of
from mnemic.models.chat.gguf import Gguf
from mnemic.neural import lora_memory
from mnemic.neural.lora_memory import LoraSettings
from mnemic.scope_learning import LearningPlan
from mnemic.settings import Settings
from mnemic.testing.tiny_llama import write_tiny_llama

pytestmark = pytest.mark.model
PROMPT = [ChatMessage("system", "You are told nothing. " * 12), ChatMessage("user", "Where do I live?")]


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = LoraSettings(batch=4, others=2, sentences=2, rate=2e-2, passes=3, least=8)
    monkeypatch.setattr(lora_memory, "LoraSettings", lambda: settings)
    monkeypatch.setattr(gguf, "THREADS", 1)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path / "m.db", settings=Settings(background=False, home=tmp_path / "home")) as memory:
        yield memory


def learnt(memory: Memory, model: Path, user: str = "ada") -> ScopedMemory:
    me = memory.scope(user=user)
    for text in ("I live in Trondheim.", "My mother's name is Ingrid."):
        me.observe(text)
    memory.flush()
    me.learning.learn_next(LearningPlan(model=str(model)), lambda *_: None)
    return me


def told(me: ScopedMemory) -> str:
    return next(v.item.id for v in me.list(limit=20) if "Trondheim" in v.item.text and not v.item.source)


def said(engine: Gguf) -> str:
    try:
        return reply_of(engine.stream(Ask(tuple(PROMPT), 6))).text
    except CutOff as cut:
        return cut.reply.text


def test_an_adapter_is_weighed_for_one_question_and_not_for_the_next(memory: Memory, tiny_gguf: Path) -> None:
    me, engine = learnt(memory, tiny_gguf), Gguf(tiny_gguf)
    kept = EngineMemory(me.artefacts, "talk", engine)
    source = told(me)
    kept.attach(PROMPT, (source,))
    bare = said(engine)
    adapters = EngineAdapters(me.learning, engine)
    adapters.refresh()
    weights, shard = adapters.weights_for(sorted(me.learning.shards()[0].stated))
    assert shard is not None
    assert adapters.weights_for(["somebody else's"]) == ({}, None)
    kept.attach(PROMPT, (source, shard.kept.id), weights)
    weighed = said(engine)
    assert engine.work.reused == 0, "what was computed without is of no use"
    kept.attach(PROMPT, (source,), {})
    assert said(engine) == bare
    assert weighed != bare
    kept.close()


def test_keys_and_values_are_restored_to_the_weights_that_made_them_alone(memory: Memory, tiny_gguf: Path) -> None:
    me, engine = learnt(memory, tiny_gguf), Gguf(tiny_gguf)
    source = told(me)
    adapters = EngineAdapters(me.learning, engine)
    adapters.refresh()
    weights, shard = adapters.weights_for(sorted(me.learning.shards()[0].stated))
    assert shard is not None
    kept = EngineMemory(me.artefacts, "talk", engine)
    kept.attach(PROMPT, (source, shard.kept.id), weights)
    first = said(engine)
    kept.answered(0.1)
    kept.close()
    (artefact,) = me.artefacts.kept(KV)
    assert len(artefact.artefact.made_by["adapters"]) == 1  # type: ignore[arg-type]
    fresh = Gguf(tiny_gguf)
    again = EngineAdapters(me.learning, fresh)
    again.refresh()
    later = EngineMemory(me.artefacts, "talk", fresh)
    assert later.attach(PROMPT, (source,), {}).miss == "another adapters"
    restored = later.attach(PROMPT, (source, shard.kept.id), again.weights_for(sorted(shard.stated))[0])
    assert restored.restored > 0
    assert said(fresh) == first
    assert fresh.work.reused >= restored.restored - 1
    later.close()


def test_an_erased_source_takes_the_adapter_out_of_the_engine_and_its_prompts_off_the_disk(
    memory: Memory, tiny_gguf: Path
) -> None:
    me, engine = learnt(memory, tiny_gguf), Gguf(tiny_gguf)
    source, adapters = told(me), EngineAdapters(me.learning, engine)
    adapters.refresh()
    weights, shard = adapters.weights_for(sorted(me.learning.shards()[0].stated))
    assert shard is not None
    kept = EngineMemory(me.artefacts, "talk", engine)
    kept.attach(PROMPT, (shard.kept.id,), weights)
    said(engine)
    kept.answered(0.1)
    kept.close()
    me.erase(source)
    assert me.artefacts.kept() == ()
    adapters.refresh()
    assert adapters.shards == ()
    assert not engine.is_loaded
    assert adapters.weights_for(sorted(shard.stated)) == ({}, None)


def test_who_asks_the_same_engine_next_has_nobodys_adapter(memory: Memory, tiny_gguf: Path) -> None:
    me, engine = learnt(memory, tiny_gguf), Gguf(tiny_gguf)
    source, adapters = told(me), EngineAdapters(me.learning, engine)
    adapters.refresh()
    kept = EngineMemory(me.artefacts, "talk", engine)
    weights, _ = adapters.weights_for(sorted(me.learning.shards()[0].stated))
    kept.attach(PROMPT, (source,), weights)
    weighed = said(engine)
    bare = said(engine)  # nobody claims this one
    assert weighed != bare
    bob = memory.scope(user="bob")
    other = EngineMemory(bob.artefacts, "talk", engine)
    other.attach(PROMPT, (bob.observe("Hello.").id,))
    assert said(engine) == bare
    other.close()
    kept.close()


def rows(turn: Turn) -> list[str]:
    """What is shown of why nothing was weighed in."""
    return [row.text for row in learnt_rows(turn)]


def test_a_talk_says_that_another_model_learnt(memory: Memory, tiny_gguf: Path, tmp_path: Path) -> None:
    me = learnt(memory, tiny_gguf)
    engine = Gguf(write_tiny_llama(tmp_path / "other.gguf", seed=5))
    adapters = EngineAdapters(me.learning, engine)
    adapters.refresh()
    named = adapters.named_for("Where do I live?")
    assert adapters.weights_for(named) == ({}, None)
    why = adapters.why_unweighed(named)
    assert why is not None
    assert why.reason is UnweighedReason.OTHER_MODEL
    nobody = EngineAdapters(memory.scope(user="bob").learning, engine)
    nobody.refresh()
    assert nobody.why_unweighed(()) is None


def test_a_talk_weighs_in_what_was_learnt_for_questions_of_it_alone(memory: Memory, tiny_gguf: Path) -> None:
    me, engine = learnt(memory, tiny_gguf), Gguf(tiny_gguf)
    adapters = EngineAdapters(me.learning, engine)
    adapters.refresh()
    with me.session("talk") as window:
        kept = EngineMemory(me.artefacts, "talk", engine)
        talk = Conversation(memory, me, window, engine, limit=4, engine=kept, adapters=adapters)
        turns = [talk.begin(message) for message in ("What is the capital of France?",)]
        talk.answer(turns[0], lambda piece: None)
        turns.append(talk.begin("What is my mother's name?"))
        talk.answer(turns[1], lambda piece: None)
        assert turns[1].learnt is not None
        assert turns[1].unweighed is None
        assert rows(turns[0]) == [
            "recall names none of what was learnt for it; `mnemic ask` answers out of memory itself"
        ]
        moved = talk.begin("I moved to Bergen.")
        talk.answer(moved, lambda piece: None)
        asked = talk.begin("What is my mother's name?")
        talk.answer(asked, lambda piece: None)
        for turn in (moved, asked):
            assert turn.learnt is None
            (line,) = set_aside_lines(turn.set_aside)
            assert 'set aside ("The user lives in Trondheim." holds no longer); `mnemic neural learn`' in line
        assert rows(asked) == [line], "it is of this shard, and nothing else is said"
        talk.close()
