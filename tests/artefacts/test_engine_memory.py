"""A real small engine's keys and values: restored after a restart, behind walls, never from bytes that were changed."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from mnemic.engine_memory import KV, EngineMemory
from mnemic.faces.chat.conversation import Conversation
from mnemic.memory import Memory, ScopedMemory
from mnemic.models.chat import gguf
from mnemic.models.chat.base import Ask, ChatMessage, CutOff, reply_of
from mnemic.models.chat.engine_slot import saved_tokens
from mnemic.models.chat.gguf import ENGINE, SMOLLM2_PACKAGE, SmolLM2
from mnemic.settings import Settings
from patience import PATIENCE


def absent() -> str:
    """What the real engine lacks here."""
    if importlib.util.find_spec(ENGINE) is None:
        return f"{ENGINE} is not installed"
    if not any(importlib.metadata.distributions(name=SMOLLM2_PACKAGE)):
        return f"{SMOLLM2_PACKAGE}, which holds the weights, is not installed"
    return ""


pytestmark = [pytest.mark.heavy, pytest.mark.model, pytest.mark.skipif(bool(absent()), reason=absent())]

QUIET = Settings(background=False)


@pytest.fixture(autouse=True, scope="module")
def one_thread() -> Iterator[None]:
    """Several threads of an engine wait for each other at every step, which takes minutes on a busy machine."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gguf, "THREADS", 1)
        yield


@pytest.fixture(scope="module")
def engine(one_thread: None) -> SmolLM2:
    return SmolLM2()


@pytest.fixture
def memory(tmp_path: Path, engine: SmolLM2) -> Iterator[Memory]:
    engine.empty()
    with Memory(tmp_path / "m.db", settings=QUIET) as memory:
        yield memory


def told(memory: Memory, user: str = "ada") -> tuple[ScopedMemory, str]:
    me = memory.scope(user=user)
    return me, me.observe("I keep a tuatara named Quill.").id


def prompt(question: str = "What do I keep?", who: str = "Ada") -> list[ChatMessage]:
    told = f"{who} keeps a tuatara named Quill, has lived in Lisbon since May, and is badly allergic to cashews. "
    return [ChatMessage("system", told * 2), ChatMessage("user", question)]


def answer(engine: SmolLM2, kept: EngineMemory, messages: list[ChatMessage], sources: tuple[str, ...]) -> str:
    attached = kept.attach(messages, sources)  # type: ignore[arg-type]
    said = reply(engine, messages)
    work = kept.answered(0.1)
    assert work.prefilled + work.reused == attached.tokens
    return said


def reply(engine: SmolLM2, messages: list[ChatMessage]) -> str:
    """The first word of an answer."""
    try:
        return reply_of(engine.stream(Ask(tuple(messages), 1))).text
    except CutOff as cut:
        return cut.reply.text


def test_what_was_computed_is_restored_after_a_restart_and_answers_the_same(
    memory: Memory, engine: SmolLM2, tmp_path: Path
) -> None:
    me, source = told(memory)
    kept = EngineMemory(me.artefacts, "talk", engine)
    first = answer(engine, kept, prompt(), (source,))
    kept.close()
    assert engine.owner is None
    assert kept.counts()["missed none"] == 1
    memory.close()
    with Memory(tmp_path / "m.db", settings=QUIET) as later:
        fresh = SmolLM2()  # another engine, as another process would have
        me = later.scope(user="ada")
        restored = EngineMemory(me.artefacts, "talk", fresh)
        attached = restored.attach(prompt(), (source,))  # type: ignore[arg-type]
        assert attached.restored > 0.9 * attached.tokens
        again = reply(fresh, prompt())
        assert fresh.work.prefilled <= 2
        assert again == first
        restored.close()
        (artefact,) = me.artefacts.kept(KV)
        assert artefact.artefact.details["tokens"] == len(saved_tokens(me.artefacts.open(artefact)))
        assert artefact.version.item.source == (source,)


def test_the_longest_run_of_equal_tokens_counts_and_not_likeness(memory: Memory, engine: SmolLM2) -> None:
    me, source = told(memory)
    kept = EngineMemory(me.artefacts, "talk", engine)
    answer(engine, kept, prompt(), (source,))
    kept.close()
    other = EngineMemory(me.artefacts, "another talk", engine)
    likely = other.attach(prompt("Who is Quill?"), (source,))  # type: ignore[arg-type]
    assert 0 < likely.restored < likely.tokens
    other.close()
    unlike = EngineMemory(me.artefacts, "third talk", engine)
    assert unlike.attach(prompt(who="She"), (source,)).miss == "shorter"  # type: ignore[arg-type]
    unlike.close()


def test_nothing_crosses_a_wall_and_each_keeps_what_is_theirs_when_another_comes(
    memory: Memory, engine: SmolLM2
) -> None:
    ada, hers = told(memory)
    bob, his = told(memory, "bob")
    first, second = EngineMemory(ada.artefacts, "talk", engine), EngineMemory(bob.artefacts, "talk", engine)
    answer(engine, first, prompt(), (hers,))
    attached = second.attach(prompt(), (his,))  # type: ignore[arg-type]
    assert (attached.restored, attached.held, attached.miss) == (0, 0, "none")
    assert len(ada.artefacts.kept(KV)) == 1  # kept before the slot was emptied for another
    reply(engine, prompt())
    assert engine.work.reused == 0
    second.answered(0.1)
    back = first.attach(prompt("Who is Quill?"), (hers,))  # type: ignore[arg-type]
    assert back.restored > 0
    first.close()
    assert len(bob.artefacts.kept(KV)) == 1


def test_a_prompt_that_nobody_claims_finds_nothing_of_one_that_somebody_did(memory: Memory, engine: SmolLM2) -> None:
    me, source = told(memory)
    kept = EngineMemory(me.artefacts, "talk", engine)
    answer(engine, kept, prompt(), (source,))
    reply(engine, prompt())
    assert engine.work.reused == 0
    assert kept.keep() is None


def test_what_was_restored_and_not_read_again_is_not_kept_for_another_talk(memory: Memory, engine: SmolLM2) -> None:
    me, source = told(memory)
    other = me.observe("Something that another talk shows.").id
    kept = EngineMemory(me.artefacts, "talk", engine)
    answer(engine, kept, prompt(), (source,))
    kept.close()
    another = EngineMemory(me.artefacts, "another talk", engine)
    assert another.attach(prompt("Who is Quill?"), (other,)).restored > 0  # type: ignore[arg-type]
    another.close()  # before anything was asked: the slot holds what the first talk showed
    assert [kept.version.item.source for kept in me.artefacts.kept(KV)] == [(source,)]


@pytest.mark.parametrize("harm", ["flipped", "cut", "empty", "longer", "gone"])
def test_changed_bytes_never_reach_the_engine(
    memory: Memory, engine: SmolLM2, harm: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    me, source = told(memory)
    kept = EngineMemory(me.artefacts, "talk", engine)
    answer(engine, kept, prompt(), (source,))
    kept.close()
    (artefact,) = me.artefacts.kept(KV)
    path = me.artefacts.open(artefact)
    harmed(path, harm)
    monkeypatch.setattr(engine.slot(), "restore", pytest.fail)
    after = EngineMemory(me.artefacts, "talk", engine)
    attached = after.attach(prompt(), (source,))  # type: ignore[arg-type]
    assert attached.restored == 0
    assert attached.miss in ("damaged", "gone", "shorter")
    assert harm != "flipped" or not path.exists()
    after.close()


def harmed(path: Path, harm: str) -> None:
    whole = path.read_bytes()
    match harm:
        case "flipped":
            path.write_bytes(whole[:9000] + bytes(byte ^ 255 for byte in whole[9000:13000]) + whole[13000:])
        case "cut":
            path.write_bytes(whole[: len(whole) // 2])
        case "empty":
            path.write_bytes(b"")
        case "longer":
            path.write_bytes(whole + bytes(100))
        case "gone":
            path.unlink()


def test_without_the_check_an_engine_dies_of_a_file_that_is_cut_short(
    memory: Memory, engine: SmolLM2, tmp_path: Path
) -> None:
    me, source = told(memory)
    kept = EngineMemory(me.artefacts, "talk", engine)
    answer(engine, kept, prompt(), (source,))
    kept.close()
    path = me.artefacts.open(me.artefacts.kept(KV)[0])
    harmed(path, "cut")
    script = "import sys; from pathlib import Path; from mnemic.models.chat.gguf import SmolLM2; "
    script += "model = SmolLM2(); model.slot().restore(Path(sys.argv[1])); print('alive')"
    env = {**os.environ, "GGML_NO_BACKTRACE": "1"}  # else it has a debugger look at itself, if there is one
    call = [sys.executable, "-c", script, path]
    done = subprocess.run(call, env=env, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode < 0
    assert "alive" not in done.stdout


def test_another_model_another_build_or_other_settings_fit_nothing(
    memory: Memory, engine: SmolLM2, monkeypatch: pytest.MonkeyPatch
) -> None:
    me, source = told(memory)
    kept = EngineMemory(me.artefacts, "talk", engine)
    answer(engine, kept, prompt(), (source,))
    kept.close()
    identity = engine.identity
    for name in ("model", "engine", "settings"):
        monkeypatch.setattr(type(engine), "identity", property(lambda self, name=name: {**identity, name: "other"}))
        after = EngineMemory(me.artefacts, "talk", engine)
        assert after.attach(prompt(), (source,)).miss == f"another {name}"  # type: ignore[arg-type]
        engine.empty()


def test_erasing_empties_the_engine_and_the_disk(memory: Memory, engine: SmolLM2, tmp_path: Path) -> None:
    me, source = told(memory)
    other = me.observe("Something else that stays.").id
    kept = EngineMemory(me.artefacts, "talk", engine)
    answer(engine, kept, prompt(), (source, other))
    kept.keep()
    tokens = engine.slot().tokens_of([{"role": "user", "content": "tuatara named Quill"}])
    assert me.artefacts.stored_bytes() > 0
    receipt = me.erase(source)
    assert receipt.status == "clean"
    assert me.artefacts.stored_bytes() == 0
    run = b"".join(token.to_bytes(4, "little") for token in tokens[-8:-5])
    for path in tmp_path.rglob("*"):
        if path.is_file():
            held = path.read_bytes()
            assert b"tuatara" not in held
            assert run not in held
    assert kept.keep() is None  # the slot still held it, and it is not kept again
    assert kept.counts()["missed erased"] == 1
    answer(engine, kept, prompt("What else?"), (other,))
    assert engine.work.reused == 0
    kept.close()


def test_the_budget_evicts_what_takes_most_and_was_of_use_longest_ago(tmp_path: Path, engine: SmolLM2) -> None:
    engine.empty()
    with Memory(tmp_path / "m.db", settings=Settings(background=False, kv_bytes=2_500_000)) as memory:
        me, source = told(memory)
        for session in ("one", "two"):
            kept = EngineMemory(me.artefacts, session, engine)
            answer(engine, kept, prompt(), (source,))
            kept.close()
        assert kept.counts()["evicted"] == 1
        assert me.artefacts.stored_bytes() <= 2_500_000
        there = [k.version.item.session for k in me.artefacts.kept(KV) if me.artefacts.unchecked(k)]
        assert there == ["two"]
        tiny = Settings(background=False, kv_bytes=1_000)
    with Memory(tmp_path / "n.db", settings=tiny) as memory:
        me, source = told(memory)
        kept = EngineMemory(me.artefacts, "one", engine)
        answer(engine, kept, prompt(), (source,))
        assert kept.keep() is None
        kept.close()
        assert me.artefacts.stored_bytes() == 0


def test_a_full_disk_leaves_nothing_and_the_talk_goes_on(
    memory: Memory, engine: SmolLM2, monkeypatch: pytest.MonkeyPatch
) -> None:
    me, source = told(memory)
    kept = EngineMemory(me.artefacts, "talk", engine)
    answer(engine, kept, prompt(), (source,))

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    kept.close()
    monkeypatch.undo()
    assert type(kept.failure).__name__ == "StoreFull"
    assert kept.counts()["missed full"] == 1
    folder = memory._opened.store.artefacts
    assert folder is not None
    assert [path for path in folder.root.rglob("*") if path.is_file()] == []


def test_a_chat_reads_ahead_and_tells_what_it_had(memory: Memory, engine: SmolLM2) -> None:
    me = memory.scope(user="ada")
    with me.session("talk") as session:
        kept = EngineMemory(me.artefacts, "talk", engine)
        talk = Conversation(memory, me, session, engine, 2, kept)
        turn = talk.begin("I keep a tuatara named Quill.")
        talk.answer(turn, lambda piece: None)
        assert turn.attached is not None
        assert turn.attached.miss == "none"
        assert talk.prefill() < 20
        turn = talk.begin("What do I keep?")
        talk.answer(turn, lambda piece: None)
        assert turn.work is not None
        assert turn.work.reused > turn.work.prefilled
        talk.close()
    sources = set(me.artefacts.kept(KV)[0].version.item.source)
    assert sources >= {turn.written.id for turn in talk.turns}
    assert sources >= {turn.reply.id for turn in talk.turns if turn.reply is not None}
    assert memory._opened.meters.measured().gauges["kv.prompts"] == 2


def test_what_another_asked_of_the_engine_meanwhile_is_not_kept(memory: Memory, engine: SmolLM2) -> None:
    """Somebody has the engine answer past its slot's owner, between a question and keeping."""
    me, source = told(memory)
    kept = EngineMemory(me.artefacts, "talk", engine)
    answer(engine, kept, prompt(), (source,))
    engine.slot().prefill(
        engine.slot().tokens_of([{"role": "user", "content": "What has Bob told you in private? " * 9}])
    )
    assert kept.keep() is None
    assert kept.counts()["missed another's"] == 1
    assert me.artefacts.kept(KV) == ()
    engine.empty()
