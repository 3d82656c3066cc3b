"""`mnemic neural`: what is ordered, learnt and asked, and what is said where it cannot be."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest
from commandline import Run

from mnemic.artefacts.artefact_records import ADAPTER_AUTHOR
from mnemic.core.ids import ItemId
from mnemic.learnt_shards import shard_details
from mnemic.memory import Memory
from mnemic.scope_learning import LORA, LORA_GGUF


@pytest.fixture
def told(run: Run) -> None:
    run("add", "I live in Trondheim.", "--role", "user")


def test_a_job_may_only_be_ordered(run: Run, told: None) -> None:
    number = json.loads(run("neural", "learn", "--behind", "--json").out)["job"]
    assert number > 0
    assert "learn" in run("jobs").out


def test_without_torch_it_says_what_to_install(run: Run, told: None, monkeypatch: pytest.MonkeyPatch) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "torch" else found(name))
    for command in (("learn",), ("ask", "Where do I live?")):
        assert "pip install torch==2.13.0" in run("neural", *command, code=2).err
    assert "shard" not in run("jobs").out


def test_what_was_learnt_is_asked_with_and_without(
    run: Run, told: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("torch", reason="needs torch: pip install torch==2.13.0")
    from mnemic.neural import lora_memory
    from mnemic.testing.tiny_llama import write_tiny_llama

    model = str(write_tiny_llama(tmp_path / "tiny.gguf"))
    settings = lora_memory.LoraSettings(batch=4, others=2, sentences=2, rate=2e-2, passes=2, least=6)
    monkeypatch.setattr(lora_memory, "LoraSettings", lambda: settings)
    for said in ("I work at Acme.", "I handed in my badge at Acme on Friday.", "My blood type is O negative."):
        run("add", said, "--role", "user")
    first = run("neural", "learn", "--model", model)
    assert "no model" not in first.err
    assert "1 fact in 1 shard" in first.out
    assert "1 learnt anew, none stood" in first.out
    assert "The user's blood type is O negative. (nobody has said how it is asked for)" in first.out
    assert 'Acme. (in doubt, since "I handed in my badge at Acme on Friday." was said later)' in first.out
    assert "shard 1 of 1: 1 of 6 steps" in first.err, "a pipe is told too"
    assert first.err.count("shard 1 of 1: ") > 1
    again = run("neural", "learn", "--model", model)
    assert "none learnt anew, 1 stood" in again.out
    assert "learning" not in again.err, "nothing is learnt that would take minutes"
    record = json.loads(run("neural", "learn", "--model", model, "--json").out)
    assert [shard["anew"] for shard in record["shards"]] == [False]
    left_out = record["left_out"]
    assert {one["text"]: one["reason"] for one in left_out} == {
        "The user works for Acme.": "in_doubt",
        "The user's blood type is O negative.": "unworded",
        "I handed in my badge at Acme on Friday.": "unread",
    }
    listed: dict[str, Any] = json.loads(run("neural", "list", "--json").out)
    assert {one["mechanism"] for one in listed["artefacts"]} == {"lora", "lora-gguf"}
    asked = json.loads(run("neural", "ask", "Where do I live?", "--json").out)
    assert asked["shard"] == 0
    assert asked["with"] != asked["without"]
    assert set(json.loads(run("neural", "ask", "Where do I live?", "--without", "--json").out)) >= {"without"}
    other = json.loads(run("neural", "ask", "What is the capital of France?", "--json").out)
    assert other["shard"] is None
    assert other["with"] == other["without"]
    assert other["unweighed"]["reason"] == "not_named"
    assert asked["unweighed"] is None
    home = run("neural", "ask", "Which city is my home in?").out
    assert "recall names none of what was learnt for it; `mnemic ask` answers" in " ".join(home.split())
    write_tiny_llama(tmp_path / "other.gguf", seed=5)
    of_another = run("neural", "ask", "Where do I live?", "--model", str(tmp_path / "other.gguf")).out
    assert "shard 1 of 1 is set aside (another model learnt it); `mnemic neural learn --model" in of_another
    both = run("neural", "ask", "x", "--with", "--without", code=2).err
    assert "Leave both out" in both
    assert "is blank" in run("neural", "ask", " ", code=2).err
    shard = next(one["id"] for one in listed["artefacts"] if one["mechanism"] == "lora")
    shown = json.loads(run("neural", "show", shard, "--json").out)
    assert "I live in Trondheim." in {one["text"] for one in shown["made_of"]}
    assert shown["set_aside"] == []
    assert "I live in Trondheim." in run("neural", "show", shard).out
    run("add", "I moved to Madrid.", "--role", "user")
    why = 'shard 1 of 1 is set aside ("The user lives in Trondheim." holds no longer); `mnemic neural learn`'
    for command in (("list",), ("show", shard), ("ask", "Where do I live?"), ("ask", "What is my name?")):
        assert why in " ".join(run("neural", *command).out.split()), command
    aside = json.loads(run("neural", "ask", "Where do I live?", "--json").out)
    assert (aside["shard"], aside["with"]) == (None, aside["without"])
    assert [(one["id"], one["why"][0]["reason"]) for one in aside["set_aside"]] == [(shard, "over")]
    assert why in run("neural", "ask", "Where do I live?", "--with", code=3).err
    run("neural", "forget", shard)
    assert json.loads(run("neural", "list", "--json").out)["artefacts"] == []
    assert "mnemic neural learn" in run("neural", "ask", "Where do I live?", "--with", code=3).err
    assert "nothing is learnt yet; `mnemic neural learn`" in run("neural", "ask", "Where do I live?").out
    for words in (("ask", "Where do I live?", "--with"), ("show", "last"), ("show", "abcdefgh"), ("forget", "last")):
        error = json.loads(run("neural", *words, "--json", code=3).err)["error"]
        assert error["remedy"] in error["message"]


def kept_untrained(home: Path) -> dict[str, str]:
    """Keep a shard of the profile, and its copy for an engine, whose weights nobody has learnt; the id of each."""
    with Memory(home / "memory.db") as memory:
        me = memory.scope(user="me")
        learnable = me.learning.learnable()
        shard = me.artefacts.put(
            b"matrices", mechanism=LORA, made_by={"model": "none"},
            sources=sorted({ItemId(source) for fact in learnable.facts for source in fact.sources}),
            details=shard_details(0, 1, learnable.facts, learnable.stated),
        )  # fmt: skip
        copy = me.artefacts.put(b"copy", mechanism=LORA_GGUF, made_by={}, sources=(shard.id,), remade=True)
        return {LORA: shard.id, LORA_GGUF: copy.id}


@pytest.mark.parametrize("mechanism", [LORA, LORA_GGUF, "last", "both"])
def test_a_shard_is_forgotten_whole_whichever_of_its_two_is_named(
    run: Run, told: None, home: Path, mechanism: str
) -> None:
    pytest.importorskip("torch", reason="needs torch: pip install torch==2.13.0")
    run("flush")
    ids = kept_untrained(home)
    named = tuple(ids.values()) if mechanism == "both" else (ids.get(mechanism, "last"),)
    done = json.loads(run("neural", "forget", *named, "--json").out)
    assert sorted(done["forgotten"]) == sorted(ids.values())
    assert json.loads(run("neural", "list", "--json").out)["artefacts"] == []


def test_a_changed_byte_of_a_shard_is_seen_where_shards_are_listed(run: Run, told: None, home: Path) -> None:
    pytest.importorskip("torch", reason="needs torch: pip install torch==2.13.0")
    run("flush")
    ids = kept_untrained(home)
    assert all(one["stands"] for one in json.loads(run("neural", "list", "--json").out)["artefacts"])
    with Memory(home / "memory.db") as memory:
        artefacts = memory.scope(user="me").artefacts
        path, copy = (artefacts.open(artefacts.get(ItemId(ids[name]))) for name in (LORA, LORA_GGUF))
    for file in (path, copy):
        file.chmod(0o600)
    copy.write_bytes(b"copX")
    listed = {one["mechanism"]: one for one in json.loads(run("neural", "list", "--json").out)["artefacts"]}
    assert (listed[LORA]["stands"], listed[LORA_GGUF]["there"], listed[LORA_GGUF]["stands"]) == (True, True, False)
    path.write_bytes(b"matriceS")
    listed = {one["mechanism"]: one for one in json.loads(run("neural", "list", "--json").out)["artefacts"]}
    assert not listed[LORA]["stands"]
    assert (
        "shard 1 of 1 is set aside (its bytes are not what was kept); `mnemic neural learn`"
        in run("neural", "list").out
    )
    path.write_bytes(b"cut")
    listed = {one["mechanism"]: one for one in json.loads(run("neural", "list", "--json").out)["artefacts"]}
    assert (listed[LORA]["there"], listed[LORA]["stands"]) == (False, False)


def test_where_there_is_no_fact_to_learn_it_says_what_to_do(run: Run, tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="needs torch: pip install torch==2.13.0")
    from mnemic.testing.tiny_llama import write_tiny_llama

    model = str(write_tiny_llama(tmp_path / "tiny.gguf"))
    for said in ("Hello there.", "My blood type is O negative."):
        run("add", said, "--role", "user")
    error = json.loads(run("neural", "learn", "--model", model, "--json", code=3).err)["error"]
    assert error["type"] == "NotFound"
    assert "mnemic add" in error["remedy"]
    assert "blood type" in error["message"]
    assert "Hello" not in error["message"]
    assert "learn" not in run("jobs").out


def test_a_receipt_names_the_artefacts_that_went(run: Run, told: None, home: Path) -> None:
    listed = [json.loads(line) for line in run("list", "--json").out.splitlines()]
    turn = next(one["id"] for one in listed if one["text"] == "I live in Trondheim.")
    with Memory(home / "memory.db") as memory:
        me = memory.scope(user="me")
        for name in (b"one", b"other"):
            me.artefacts.put(
                name, mechanism="lora", made_by={}, sources=(turn,), text="1 fact learnt", author=ADAPTER_AUTHOR
            )
        ids = {kept.id for kept in me.artefacts.kept()}
    words = run("erase", turn, "--yes").out
    assert "2 artefacts of models went with it" in words
    assert "`mnemic neural learn` learns again from what is left" in words
    assert all(id in words for id in ids)


@pytest.mark.parametrize("name", ["missing.gguf", "cut.gguf"])
def test_a_file_that_is_no_model_orders_nothing(run: Run, told: None, tmp_path: Path, name: str) -> None:
    pytest.importorskip("torch", reason="needs torch: pip install torch==2.13.0")
    if name == "cut.gguf":
        (tmp_path / name).write_bytes(b"GGUF\x03\x00")
    assert name in run("neural", "learn", "--model", str(tmp_path / name), code=2).err
    assert "learn" not in run("jobs").out


def test_sparse_keys_and_a_side_memory_are_attached_and_go_with_their_source(
    run: Run, told: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("torch", reason="needs torch: pip install torch==2.13.0")
    from mnemic.neural import wise
    from mnemic.testing.tiny_llama import write_tiny_llama

    model = str(write_tiny_llama(tmp_path / "tiny.gguf"))
    few = wise.WiseSettings(layer=1, steps=6, rate=2e-2)
    monkeypatch.setattr(wise, "WiseSettings", lambda: few)
    question = ("neural", "ask", "Where do I live?", "--model", model, "--json")
    sparse, side = (json.loads(run(*question, "--by", by).out) for by in ("sparse", "side"))
    assert sparse["attached"].startswith("1 text,")
    assert sparse["with"] != sparse["without"] == side["without"]
    assert side["attached"] == "1 fact; the side memory answers"
    assert side["with"] != side["without"]

    def kept() -> dict[str, list[str]]:
        listed = json.loads(run("neural", "list", "--json").out)["artefacts"]
        return {one["mechanism"]: [one["id"], one["sha256"]] for one in listed}

    made = kept()
    assert set(made) == {"explicit", "wise"}
    for by, before in (("sparse", sparse), ("side", side)):
        assert json.loads(run(*question, "--by", by).out) == before
    assert kept() == made, "what is there is used, not made again"
    assert set(json.loads(run(*question, "--by", "side", "--without").out)) >= {"without"}
    listed = [json.loads(line) for line in run("list", "--json").out.splitlines()]
    run("erase", next(one["id"] for one in listed if one["text"] == "I live in Trondheim."), "--yes")
    assert kept() == {}
    assert json.loads(run(*question, "--by", "sparse").out)["with"] == sparse["without"]
