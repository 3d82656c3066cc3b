"""A user's facts learnt by a job: kept as artefacts with their sources, dropped with any of them, learnt again."""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="needs torch: pip install torch==2.13.0")

from mnemic.artefacts.artefact_files import ArtefactFolder
from mnemic.artefacts.artefact_records import ADAPTER_AUTHOR
from mnemic.core.ids import ItemId
from mnemic.errors import Conflict, Invalid, MnemicError
from mnemic.learnt_shards import (
    StaleReason,
    UnweighedReason,
    shard_details,
    shard_for,
    taught_questions,
    why_unweighed,
)
from mnemic.memory import Memory, ScopedMemory
from mnemic.neural import lora_memory
from mnemic.neural.fact_wordings import WORDINGS, fact_of, turned
from mnemic.neural.gguf_weights import single_threaded
from mnemic.neural.lora_memory import LoraSettings, TaughtFact
from mnemic.neural.shards import shard_of
from mnemic.scope_learning import (
    LEARN,
    LORA,
    LORA_GGUF,
    Learnable,
    LearningPlan,
    LeftOutReason,
    model_file,
    open_lora,
    require_torch,
)
from mnemic.settings import Settings
from mnemic.store.engine.job_queue import AGAIN
from mnemic.store.sqlite.sqlite_store import SqliteStore
from mnemic.store.values.work import JobState

TOLD = ("I live in Trondheim.", "My mother's name is Ingrid.", "I'm allergic to peanuts.")


@pytest.fixture(autouse=True)
def few_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tiny model learns a fact in a moment, and needs to be asked here whether it did once."""
    settings = LoraSettings(batch=4, others=2, sentences=2, rate=1e-2, passes=3, least=4)
    monkeypatch.setattr(lora_memory, "LoraSettings", lambda: settings)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path / "m.db", settings=Settings(background=False, home=tmp_path / "home")) as memory:
        yield memory


@pytest.fixture
def me(memory: Memory) -> ScopedMemory:
    me = memory.scope(user="ada")
    for text in TOLD:
        me.observe(text)
    memory.flush()
    return me


@pytest.fixture
def plan(tiny_gguf: Path) -> LearningPlan:
    return LearningPlan(model=str(tiny_gguf), shards=2)


def source(me: ScopedMemory, word: str) -> Any:
    return next(v.item.id for v in me.list(limit=20) if word in v.item.text and not v.item.source)


def do_jobs(
    memory: Memory, report: Callable[[int, int, int, int], None] = lambda shard, of, done, most: None
) -> list[str]:
    """Do what is ordered; the errors that were met."""
    errors: list[str] = []
    memory.learning_jobs.take(report)

    def note(lane: str, space: int, done: int, error: MnemicError | None) -> None:
        errors.extend([str(error)] if error else [])

    memory.admin.serve(threading.Event(), lanes=("jobs",), once=True, progress=note)
    return errors


def jobs(memory: Memory) -> dict[str, JobState]:
    with memory._opened.store.read() as snapshot:
        return {job.order.name: job.state for job in snapshot.jobs()}


def test_a_job_learns_the_profile_and_keeps_it_with_its_sources(
    memory: Memory, me: ScopedMemory, plan: LearningPlan
) -> None:
    learnable = me.learning.learnable()
    assert sorted(fact.id for fact in learnable.facts) == ["user/allergy", "user/city", "user/mother"]
    me.learning.order(plan)
    seen: list[int] = []
    assert do_jobs(memory, lambda shard, of, done, most: seen.append(shard)) == []
    assert jobs(memory) == {LEARN: JobState.DONE}
    shards = me.learning.shards()
    assert {shard.number for shard in shards} == set(seen)
    cited = {source for shard in shards for source in shard.sources}
    assert cited == {source for fact in learnable.facts for source in fact.sources}
    assert all(shard.stands and shard.kept.artefact.author == ADAPTER_AUTHOR for shard in shards)
    assert len(me.artefacts.kept(LORA_GGUF)) == len(shards)
    assert memory.scope(user="bob").artefacts.kept() == ()
    raw = b"".join(path.read_bytes() for path in memory._opened.store.artefacts.root.rglob("*") if path.is_file())  # type: ignore[union-attr]
    assert not [word for word in (b"Trondheim", b"Ingrid", b"peanuts") if word in raw]
    memory_of = open_lora(plan, memory.settings.home / "cache")
    state = me.learning.state(memory_of)
    assert memory_of.shards(state) == [shard.number for shard in shards]
    assert memory_of.attach(state).added
    assert not me.learning.learn_next(plan, lambda *_: pytest.fail("nothing has changed"))
    assert list(memory._opened.store.verify()) == []


def test_a_shard_is_named_for_what_it_learnt_and_for_nothing_else(
    memory: Memory, me: ScopedMemory, plan: LearningPlan
) -> None:
    me.learning.learn_next(LearningPlan(model=plan.model, shards=1), lambda *_: None)
    shards = me.learning.shards()
    for question in (
        "Where do I live?",
        "What is my mother's name?",
        "Tell me my mother's name.",
        "What am I allergic to?",
    ):
        assert shard_for(me.learning.named_for(question), shards) is shards[0], question
    for question in (
        "What is the capital of France?", "Who is the president?", "How do I boil an egg?", "How tall am I?",
        "Who is Ken's mother?", "In what city is the home of Dr. Lindqvist?",
    ):  # fmt: skip
        assert me.learning.named_for(question) == (), question


@pytest.fixture
def city(me: ScopedMemory, plan: LearningPlan) -> Any:
    """The fact of where the user lives, as a shard was taught it."""
    taught = next(fact for fact in me.learning.learnable().facts if fact.id == "user/city")
    me.learning.learn_next(LearningPlan(model=plan.model, shards=1), lambda *_: None)
    return taught


def test_a_question_in_taught_words_names_the_fact_and_not_what_recall_finds(me: ScopedMemory, city: Any) -> None:
    for question in city.questions:
        assert me.learning.named_for(question.upper()) == city.sources[:1], question
    details = me.learning.shards()[0].kept.artefact.details
    assert "live" not in json.dumps(details), "an artefact's item holds no word of what it was made of"


@pytest.mark.parametrize(
    "later",
    ["We packed everything up and Bergen is home now.", "I moved to Bergen.", "I no longer live in Trondheim."],
)
@pytest.mark.parametrize("is_written", [False, True])
def test_no_shard_is_named_by_taught_words_for_what_is_in_doubt_or_over(
    memory: Memory, me: ScopedMemory, city: Any, later: str, is_written: bool
) -> None:
    me.observe(later)
    if is_written:
        memory.flush()
    shards = me.learning.shards()
    assert [q for q in city.questions if shard_for(me.learning.named_for(q), shards) is not None] == []


@pytest.mark.parametrize(
    ("later", "reason"),
    [
        ("I moved to Madrid.", StaleReason.OVER),
        ("I no longer live in Trondheim.", StaleReason.OVER),
        ("We packed everything up and Bergen is home now.", StaleReason.IN_DOUBT),
    ],
)
def test_a_shard_is_set_aside_for_everything_with_the_write_that_ends_one_of_its_facts(
    memory: Memory, me: ScopedMemory, city: Any, later: str, reason: StaleReason
) -> None:
    """Neither a job nor who looks at the profile refreshes anything; once one does, the reason is the same."""
    me.observe(later)
    unwritten = me.learning.shards()[0].stale
    memory.flush()
    (shard,) = me.learning.shards()
    assert unwritten == shard.stale
    assert not shard.stands
    assert [(fact.reason, fact.text) for fact in shard.stale] == [(reason, "The user lives in Trondheim.")]
    assert (shard.stale[0].against == later) is (reason is StaleReason.IN_DOUBT)
    assert me.learning.engine_adapters(str(shard.kept.artefact.made_by["model"]), [shard]) == {}
    assert shard_for(me.learning.named_for("What is my mother's name?"), [shard]) is None


def test_a_shard_of_which_nothing_says_what_it_holds_is_not_used_and_is_learnt_again(
    me: ScopedMemory, city: Any, plan: LearningPlan
) -> None:
    (shard,) = me.learning.shards()
    kept = shard.kept
    unlisted = {name: value for name, value in kept.artefact.details.items() if name != "stated"}
    me.artefacts.put(
        me.artefacts.open(kept).read_bytes(), mechanism=LORA, made_by=kept.artefact.made_by,
        sources=kept.version.item.source, details=unlisted, replaces=kept.id,
    )  # fmt: skip
    (shard,) = me.learning.shards()
    assert [fact.reason for fact in shard.stale] == [StaleReason.UNLISTED]
    assert me.learning.learn_next(LearningPlan(model=plan.model, shards=1), lambda *_: None)
    (shard,) = me.learning.shards()
    assert shard.stands


def test_a_question_that_two_facts_answer_is_taught_by_neither() -> None:
    jose = TaughtFact("1", ("Where does José live?", "Which city is home to José?"), "Oslo.", sources=("a",))
    plain = TaughtFact("2", ("Where does Jose live?", "In which town is Jose?"), "Bergen.", sources=("b",))
    assert list(taught_questions([jose]).values()) == ["a", "a"]
    assert sorted(map(str, taught_questions([jose, plain]).values())) == ["a", "b"]


def test_an_erasure_drops_the_shard_at_once_and_orders_what_is_left(
    memory: Memory, me: ScopedMemory, plan: LearningPlan
) -> None:
    me.learning.order(plan)
    do_jobs(memory)
    memory_of = open_lora(plan, memory.settings.home / "cache")
    before = {shard.number: shard.kept.artefact.stored.sha256 for shard in me.learning.shards()}
    gone = memory_of.shard_of("user/city")
    assert any(memory_of.shard_of(f"user/{slot}") == gone for slot in ("mother", "allergy")), "something is left of it"
    receipt = me.erase(source(me, "Trondheim"))
    assert receipt.status == "clean"
    assert [shard.number for shard in me.learning.shards()] == [n for n in before if n != gone]
    assert not any(
        path.name == before[gone]
        for path in memory._opened.store.artefacts.root.rglob("*")  # type: ignore[union-attr]
    )
    assert jobs(memory)[AGAIN + ADAPTER_AUTHOR] is JobState.WAITING
    assert do_jobs(memory) == []
    after = {shard.number: shard.kept.artefact.stored.sha256 for shard in me.learning.shards()}
    assert {n: digest for n, digest in after.items() if n != gone} == {n: d for n, d in before.items() if n != gone}
    left = [fact for fact in me.learning.learnable().facts if memory_of.shard_of(fact.id) == gone]
    with single_threaded():  # as the job does: sums in one order
        never = memory_of.write(left, {})
    state = me.learning.state(memory_of)
    assert all(bool((state[name] == tensor).all()) for name, tensor in never.items())


def test_what_is_erased_while_a_job_learns_is_not_kept(memory: Memory, me: ScopedMemory, plan: LearningPlan) -> None:
    me.learning.order(LearningPlan(model=plan.model, shards=1))
    erased: list[object] = []

    def erase_amid(shard: int, of: int, done: int, most: int) -> None:
        if not erased:
            erased.append(me.erase(source(me, "Trondheim")))

    do_jobs(memory, erase_amid)
    assert erased
    for shard in me.learning.shards():  # nothing, or learnt again from what is left
        assert shard.stands
        assert shard.kept.artefact.details["facts"] == 2
    assert jobs(memory)[LEARN] in (JobState.WAITING, JobState.DONE)
    while me.learning.learn_next(LearningPlan(model=plan.model, shards=1), lambda *_: None):
        pass
    (shard,) = me.learning.shards()
    assert shard.kept.artefact.details["facts"] == 2


def test_a_source_that_goes_after_the_last_step_leaves_nothing(
    memory: Memory, me: ScopedMemory, plan: LearningPlan, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The bytes are made; only the commit is left."""
    from mnemic.neural import base

    packed = base.packed

    def late(*given: Any) -> bytes:
        raw = packed(*given)
        me.erase(source(me, "Trondheim"))
        return raw

    monkeypatch.setattr(base, "packed", late)
    with pytest.raises(Conflict, match="learnt again"):
        me.learning.learn_next(LearningPlan(model=plan.model, shards=1), lambda *_: None)
    assert me.artefacts.kept() == ()
    assert me.artefacts.stored_bytes() == 0


def test_a_fact_that_is_corrected_sets_its_shard_aside_though_it_keeps_its_id(
    memory: Memory, me: ScopedMemory, plan: LearningPlan
) -> None:
    me.learning.order(LearningPlan(model=plan.model, shards=1))
    do_jobs(memory)
    (shard,) = me.learning.shards()
    assert shard.stands
    fact = next(fact for belief in me.profile() for fact in belief.facts if "Trondheim" in fact.text)
    me.correct(fact.id, "The user lives in Bergen.", slots={**fact.slots, "value": "Bergen"})
    (shard,) = me.learning.shards()
    assert [(stale.reason, "Bergen" in stale.text) for stale in shard.stale] == [(StaleReason.CORRECTED, True)]
    assert shard_for(tuple(shard.stated), [shard]) is None


def test_a_fact_that_is_corrected_in_its_words_alone_is_learnt_again(
    memory: Memory, me: ScopedMemory, plan: LearningPlan
) -> None:
    """What is taught of it is the same, so that nothing else would have its shard stand again."""
    me.learning.order(LearningPlan(model=plan.model, shards=1))
    do_jobs(memory)
    fact = next(fact for belief in me.profile() for fact in belief.facts if "Trondheim" in fact.text)
    me.correct(fact.id, "The user lives in Trondheim, by the river.", slots=dict(fact.slots))
    assert [stale.reason for stale in me.learning.shards()[0].stale] == [StaleReason.CORRECTED]
    me.learning.order(LearningPlan(model=plan.model, shards=1))
    do_jobs(memory)
    assert me.learning.shards()[0].stands


def test_a_shard_that_rests_on_what_was_forgotten_is_not_used_and_is_learnt_again(
    memory: Memory, me: ScopedMemory, plan: LearningPlan
) -> None:
    whole = LearningPlan(model=plan.model, shards=1)
    me.learning.order(whole)
    do_jobs(memory)
    digest = str(me.learning.shards()[0].kept.artefact.made_by["model"])
    assert len(me.learning.engine_adapters(digest, me.learning.shards())) == 1
    me.forget(source(me, "Trondheim"))
    (shard,) = me.learning.shards()
    assert not shard.stands
    assert shard_for(tuple(shard.stated), [shard]) is None
    assert me.learning.engine_adapters(digest, me.learning.shards()) == {}
    memory.learning_jobs.take()
    memory._opened.background.chores[LEARN](60.0)  # as a worker does when nobody writes
    assert jobs(memory)[LEARN] is JobState.WAITING
    assert do_jobs(memory) == []
    (shard,) = me.learning.shards()
    assert shard.stands
    assert shard.kept.artefact.details["facts"] == 2
    memory._opened.background.chores[LEARN](60.0)
    assert jobs(memory)[LEARN] is JobState.DONE


def test_what_is_superseded_is_learnt_as_it_is_now(memory: Memory, me: ScopedMemory, plan: LearningPlan) -> None:
    whole = LearningPlan(model=plan.model, shards=1)
    assert me.learning.learn_next(whole, lambda *_: None)
    me.observe("I moved to Bergen.")
    memory.flush()
    assert not me.learning.shards()[0].stands
    assert me.learning.learn_next(whole, lambda *_: None)
    (shard,) = me.learning.shards()
    assert shard.stands
    assert any("Bergen" in fact.answer for fact in me.learning.learnable().facts)


def test_a_forgotten_adapter_takes_the_one_of_the_engine_along(
    memory: Memory, me: ScopedMemory, plan: LearningPlan
) -> None:
    me.learning.learn_next(LearningPlan(model=plan.model, shards=1), lambda *_: None)
    (shard,) = me.learning.shards()
    assert me.artefacts.forget(shard.kept.id) > 0
    assert me.artefacts.kept() == ()


def test_the_engines_adapter_is_made_again_where_its_bytes_are_gone(
    memory: Memory, me: ScopedMemory, plan: LearningPlan
) -> None:
    whole = LearningPlan(model=plan.model, shards=1)
    me.learning.learn_next(whole, lambda *_: None)
    (adapter,) = me.artefacts.kept(LORA_GGUF)
    before = me.artefacts.open(adapter).read_bytes()
    me.artefacts.drop_bytes(adapter)
    assert not me.learning.learn_next(whole, lambda *_: pytest.fail("the shard stands"))
    (adapter,) = me.artefacts.kept(LORA_GGUF)
    assert me.artefacts.open(adapter).read_bytes() == before


def test_another_plan_leaves_nothing_of_the_one_before(memory: Memory, me: ScopedMemory, plan: LearningPlan) -> None:
    me.learning.learn_next(LearningPlan(model=plan.model, shards=1), lambda *_: None)
    while me.learning.learn_next(plan, lambda *_: None):
        pass
    assert {shard.of for shard in me.learning.shards()} == {2}
    assert {one.artefact.mechanism for one in me.artefacts.kept()} == {LORA, LORA_GGUF}
    assert len(me.artefacts.kept(LORA)) == len(me.artefacts.kept(LORA_GGUF))


def test_a_job_that_is_to_stop_keeps_nothing_and_waits(memory: Memory, me: ScopedMemory, plan: LearningPlan) -> None:
    number = me.learning.order(plan)
    memory.learning_jobs.take(stopping=lambda: True)
    memory.admin.serve(threading.Event(), lanes=("jobs",), once=True)
    with memory._opened.store.read() as snapshot:
        job = next(job for job in snapshot.jobs() if job.id == number)
    assert (job.state, job.attempts) == (JobState.WAITING, 0)
    assert me.artefacts.kept() == ()


def test_no_other_process_takes_the_job(memory: Memory, me: ScopedMemory, plan: LearningPlan) -> None:
    me.learning.order(plan)
    memory.flush()
    assert jobs(memory)[LEARN] is JobState.WAITING


def test_what_cannot_be_learnt_says_so(memory: Memory, plan: LearningPlan, monkeypatch: pytest.MonkeyPatch) -> None:
    nobody = memory.scope(user="nobody")
    with pytest.raises(MnemicError, match="nothing has been remembered"):
        nobody.learning.order(plan)
    zh = memory.scope(user="li")
    zh.observe("我住在成都。")
    memory.flush()
    learnable = zh.learning.learnable()
    assert learnable.facts == ()
    assert [(one.matter, one.reason) for one in learnable.left_out] == [("city", LeftOutReason.IN_CHINESE)]
    assert not zh.learning.learn_next(plan, lambda *_: None)
    for wrong in (LearningPlan(preset="hero"), LearningPlan(shards=0)):
        with pytest.raises(Invalid):
            wrong.checked()
    with pytest.raises(Invalid, match="GGUF file, or smollm2"):
        model_file("openai:gpt")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(Invalid, match=r"pip install torch==2\.13\.0"):
        require_torch()


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("What is my sister called?", "sister"),
        ("What's the name of my sister?", "sister"),
        ("What's the cat's name?", "pet"),
        ("Where does Clara live?", ""),
        ("Where does my sister live?", ""),
        ("Who is Clara?", ""),
        ("What does Moss eat?", ""),
    ],
)
def test_a_shard_is_named_only_for_a_question_that_its_facts_answer(
    memory: Memory, plan: LearningPlan, question: str, named: str
) -> None:
    """One turn tells of a sister what is learnt, her name, and what is not, where she lives."""
    me = memory.scope(user="eve")
    for text in ("My sister Clara lives in Porto.", "My cat is called Moss.", "I work at Acme."):
        me.observe(text)
    memory.flush()
    learnable = me.learning.learnable()
    by_item = {source: fact.id for fact in learnable.facts for source in fact.sources if source in learnable.stated}
    keep_untrained(me, learnable)
    assert [by_item[item] for item in me.learning.named_for(question)] == ([f"user/{named}"] if named else [])


def keep_untrained(me: ScopedMemory, learnable: Learnable) -> None:
    """Keep a shard of facts whose weights nobody has learnt: which one is named is told without them."""
    sources = sorted({ItemId(source) for fact in learnable.facts for source in fact.sources})
    details = shard_details(0, 1, learnable.facts, learnable.stated)
    me.artefacts.put(b"none", mechanism=LORA, made_by={"model": "none"}, sources=sources, details=details)


def test_what_was_told_and_is_in_no_profile_is_named_too(memory: Memory) -> None:
    me = memory.scope(user="eve")
    for text in ("I live in Ghent.", "My sister Clara lives in Porto.", "The tram was late.", "Was it the rain?"):
        me.observe(text)
    me.observe("Shall I look it up?", role="assistant")
    me.write("Clara lives in Porto.", kind="fact")
    memory.flush()
    assert [(one.text, one.reason) for one in me.learning.unread()] == [
        ("Clara lives in Porto.", LeftOutReason.OF_OTHERS),
        ("The tram was late.", LeftOutReason.UNREAD),
        ("My sister Clara lives in Porto.", LeftOutReason.READ_IN_PART),
    ]
    me.observe("I moved to Bruges.")
    memory.flush()
    assert "I live in Ghent." not in [one.text for one in me.learning.unread()], "that was read, and is over"


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("I was born on 4 May 1988.", None),
        ("My birthday is May 4th, 1988.", None),
        ("I was born on 4 May 1988, weighing 3200 grams.", LeftOutReason.READ_IN_PART),
        ("Hello there.", None),
        ("Good morning! Thanks a lot.", None),
        ("Hello, the tram was late.", LeftOutReason.UNREAD),
    ],
)
def test_a_date_is_read_however_it_is_written_and_a_greeting_states_nothing(
    memory: Memory, said: str, reason: LeftOutReason | None
) -> None:
    me = memory.scope(user="eve")
    me.observe(said)
    memory.flush()
    assert [one.reason for one in me.learning.unread()] == ([] if reason is None else [reason])


def test_a_shard_of_which_a_byte_changed_is_learnt_again(me: ScopedMemory, city: Any, plan: LearningPlan) -> None:
    whole = LearningPlan(model=plan.model, shards=1)
    for kept in (me.learning.shards()[0].kept, *me.artefacts.kept(LORA_GGUF)):
        path = me.artefacts.open(kept)
        before = path.read_bytes()
        path.chmod(0o600)
        path.write_bytes(before[:-1] + bytes([before[-1] ^ 1]))
        is_shard = kept.artefact.mechanism == LORA
        assert me.learning.outlook(whole).due == ({0} if is_shard else set())
        while me.learning.learn_next(whole, lambda *_: None):
            pass
        assert [s.stands for s in me.learning.shards(checked=True)] == [True]
        assert all(me.artefacts.open(one) for one in me.artefacts.kept())


def test_a_question_of_a_shard_that_is_set_aside_says_just_that(me: ScopedMemory, city: Any) -> None:
    (shard,) = me.learning.shards()
    model = str(shard.kept.artefact.made_by["model"])
    me.observe("I moved to Bergen.")
    shards = me.learning.shards()
    for question in (
        "What is my mother's name?",
        "What am I allergic to?",
        "Tell me my mother's name.",
        city.questions[0],
    ):
        named = me.learning.named_for(question)
        assert shard_for(named, shards) is None
        why = why_unweighed(named, shards, model)
        assert (why.reason, why.shard) == (UnweighedReason.SET_ASIDE, shards[0]), question
    named = me.learning.named_for("What is the capital of France?")
    assert why_unweighed(named, shards, model).reason is UnweighedReason.NOT_NAMED
    assert why_unweighed((), (), model).reason is UnweighedReason.NOTHING_LEARNT


def test_where_nobody_says_so_one_moved_fact_sets_its_own_shard_aside_and_no_other(
    memory: Memory, plan: LearningPlan
) -> None:
    me, by_count = memory.scope(user="eve"), LearningPlan(model=plan.model)
    said = ("I live in Trondheim.", "My mother's name is Ingrid.", "I'm allergic to peanuts.", "I work at Acme.",
            "My cat is called Moss.", "My sister's name is Clara.", "My birthday is on 4 May.")  # fmt: skip
    for text in said:
        me.observe(text)
    memory.flush()
    facts = len(me.learning.learnable().facts)
    assert facts > 5
    while me.learning.learn_next(by_count, lambda *_: None):
        pass
    before = {shard.number: shard.kept.artefact.stored.sha256 for shard in me.learning.shards()}
    assert {shard.of for shard in me.learning.shards()} == {3}, "in two shards six of them would lie in one"
    assert len(before) == 3
    me.observe("I moved to Bergen.")
    (aside,) = (shard for shard in me.learning.shards() if not shard.stands)
    shards = me.learning.shards()
    named = [shard_for(me.learning.named_for(q), shards) for q in ("What is my mother's name?", "Where do I work?")]
    assert {None if shard is None else shard.stands for shard in named} <= {None, True}
    words = {"pet": "Moss", "birthday": "birthday", "allergy": "peanuts", "employer": "Acme", "mother": "Ingrid"}
    together = [word for slot, word in words.items() if shard_of(f"user/{slot}", 3) == shard_of("user/pet", 3)]
    me.erase(*(source(me, word) for word in together[:2]))
    assert len(me.learning.learnable().facts) <= facts - len(together[:2])
    while me.learning.learn_next(by_count, lambda *_: None):
        pass
    assert {shard.of for shard in me.learning.shards()} == {3}, "fewer facts are no reason to learn all of them again"
    assert all(shard.stands for shard in me.learning.shards())
    assert aside.kept.artefact.stored.sha256 not in {s.kept.artefact.stored.sha256 for s in me.learning.shards()}


def test_what_is_left_out_is_named_with_the_reason(memory: Memory) -> None:
    me = memory.scope(user="eve")
    texts = ("I live in Ghent.", "My blood type is O negative.", "I'm allergic to peanuts.")
    for text in (*texts, "I finally moved to a new house."):
        me.observe(text)
    memory.flush()
    learnable = me.learning.learnable()
    assert [fact.id for fact in learnable.facts] == ["user/allergy"]
    left_out = {one.matter: one for one in learnable.left_out}
    assert {matter: one.reason for matter, one in left_out.items()} == {
        "city": LeftOutReason.IN_DOUBT,
        "blood_type": LeftOutReason.UNWORDED,
    }
    assert (left_out["city"].text, left_out["city"].against) == (
        "The user lives in Ghent.",
        "I finally moved to a new house.",
    )


def test_a_character_is_asked_in_the_second_person_and_does_not_take_itself_for_who_asks() -> None:
    for slot, wording in WORDINGS.items():
        fact = fact_of("id", slot, "Rex", (), preset="character")
        assert fact is not None
        assert fact.answer.startswith(("I ", "My "))
        assert not [q for q in fact.questions if {"I", "my", "mine"} & set(q.replace("'", " ").split())]
        assert wording.questions[0] in fact.others
    assert turned("Tell me about my pet.") == "Tell me about your pet."
    maya = fact_of("id", "city", "Lisbon", (), subject="Maya", people=("Oliver",))
    assert maya is not None
    assert maya.answer == "Maya lives in Lisbon."
    assert maya.questions[0] == "Where does Maya live?"
    assert "Where do I live?" in maya.others


@pytest.mark.heavy
def test_a_job_that_is_killed_anywhere_leaves_nothing_half_written_and_is_done_by_the_next(
    tmp_path: Path, plan: LearningPlan, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed at each point that keeping the shard and the engine's adapter passes; the lease runs out by itself."""
    whole, settings = LearningPlan(model=plan.model, shards=1), Settings(background=False, home=tmp_path / "home")
    for point in range(20):
        store = tmp_path / f"{point}.db"
        with Memory(store, settings=settings) as memory:
            me = memory.scope(user="ada")
            for text in TOLD[:2]:
                me.observe(text)
            memory.flush()
            lora = open_lora(whole, settings.home / "cache")
            state = lora.write(me.learning.learnable().facts, lora.empty())
        # torch does not learn in a forked child: what it would have learnt is given to it
        monkeypatch.setattr(lora_memory.LoraMemory, "write", lambda *given, state=state: state)
        killed = _killed_at(store, settings, whole, point)
        monkeypatch.undo()
        monkeypatch.setattr(lora_memory, "LoraSettings", lambda lora=lora: lora.settings)
        with Memory(store, settings=settings) as memory:
            me = memory.scope(user="ada")
            assert list(memory._opened.store.verify()) == []
            while me.learning.learn_next(whole, lambda *_: None):
                pass
            (shard,), (adapter,) = me.learning.shards(), me.artefacts.kept(LORA_GGUF)
            assert me.artefacts.open(shard.kept).exists()
            assert me.artefacts.open(adapter).exists()
            me.artefacts.sweep()
        if not killed:
            break
    assert point >= 6, "every point was passed"
    assert not killed


def _killed_at(store: Path, settings: Settings, plan: LearningPlan, point: int) -> bool:
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            passed = count()

            def probe(name: str) -> None:
                if next(passed) == point:
                    os.kill(os.getpid(), signal.SIGKILL)

            opened = SqliteStore(store)
            opened.artefacts = ArtefactFolder.beside(store, probe)
            with Memory(opened, settings=settings) as memory:
                memory.scope(user="ada").learning.learn_next(plan, lambda *_: None)
            code = 0
        finally:
            os._exit(code)
    _, status = os.waitpid(pid, 0)
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0
    return os.WIFSIGNALED(status)
