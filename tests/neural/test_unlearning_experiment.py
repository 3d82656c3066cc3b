"""A question of the unlearning experiment is routed as the product routes it, over what was plainly said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="needs torch: pip install torch==2.13.0")

from mnemic import Memory, Settings
from mnemic.lab.tasks.neural.lora_unlearning_experiment import scope_with_shards, shard_named
from mnemic.lab.tasks.neural.personas import Persona
from mnemic.neural.lora_memory import LoraMemory, LoraSettings

LORA = LoraSettings(rank=2, first=1, shards=2, batch=2, others=1, sentences=1, passes=1, least=1)


def test_the_store_holds_what_was_said_and_no_question_and_names_the_shard_as_chat_does(
    tiny: Any, tmp_path: Path
) -> None:
    persona, memory = Persona("ines", 20), LoraMemory(tiny, LORA)
    said = {id: text for id, text in persona.said().items() if id.split(".")[1] in ("city", "allergy", "boss", "likes")}
    facts = [fact for fact in persona.facts() if fact.id in said and fact.id != "ines.likes"]
    state = memory.write(facts, memory.empty())
    assert len({memory.shard_of(fact.id) for fact in facts}) == 2
    with Memory(tmp_path / "m.db", settings=Settings(background=False)) as store:
        me = scope_with_shards(store, said, {"ines.likes"}, memory, state)
        texts = [hit.item.text for hit in me.recall("Where do I live?").items]
        assert "I live in Trondheim." in texts
        questions = {question for fact in persona.facts() for question in fact.questions}
        assert not [text for text in texts if "?" in text or "pancakes" in text or text in questions]
        for slot, question in (
            ("city", "Where do I live?"), ("allergy", "What am I allergic to?"), ("boss", "What is my boss's name?"),
        ):  # fmt: skip
            assert shard_named(me, question) == memory.shard_of(f"ines.{slot}"), question
        for question in ("What do I like?", "What is 9 times 6?", "Who is Ken's boss?"):
            assert shard_named(me, question) is None, question
