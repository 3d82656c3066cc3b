"""Lanes and jobs as a program meets them: what is indigestible is put aside, nobody starves, nothing is paid twice."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from waits import Waits, beside

from mnemic import Memory, ScopedMemory
from mnemic.core.clock import moment
from mnemic.core.items import Item, Kind
from mnemic.core.queries import Filter
from mnemic.errors import Conflict, Invalid, MnemicError, ModelError, NotFound, UnusableModel
from mnemic.flow import run
from mnemic.lanes.failures import lease_denied
from mnemic.lanes.slices import BUSY, WAITS
from mnemic.models.chat.base import Ask
from mnemic.models.scripted_embedder import ScriptedEmbedder
from mnemic.registry import STRATEGIES
from mnemic.settings import Settings
from mnemic.store.engine import lane_cursors
from mnemic.store.engine.rows import Rows
from mnemic.store.engine.snapshot import Snapshot
from mnemic.store.requests import transact
from mnemic.store.sqlite.sqlite_store import MemoryStore
from mnemic.store.values.work import JobState, Order
from mnemic.testing.generators import ManualClock
from mnemic.testing.replying import ReplyingChat, replying
from mnemic.worker import model_budget, scheduling
from mnemic.worker.job_types import rerun_order
from mnemic.worker.model_budget import HOUR
from mnemic.worker.thread import Background
from patience import eventually

sys.path.insert(0, str(Path(__file__).parent.parent / "strategies"))
SECOND = 1_000_000
NOTES = Filter(kinds=(Kind.INSIGHT,))
PROFILE = Filter(kinds=(Kind.PROFILE,))


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


class Choking(ScriptedEmbedder):
    """An embedder that one passage makes choke, or all of them while it is ill."""

    def __init__(self) -> None:
        super().__init__()
        self.poison = "poison"
        self.ill = False
        self.batches: list[int] = []
        self.seen: list[str] = []

    def passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.batches.append(len(texts))
        if self.ill or any(self.poison in text for text in texts):
            raise ModelError("it chokes")
        self.seen += [text.removeprefix("user: ") for text in texts]
        return super().passages(texts)


def opened(clock: ManualClock, embedder: ScriptedEmbedder | str = "none", **settings: object) -> Memory:
    fields: dict[str, object] = {"background": False, **settings}
    return Memory(MemoryStore(clock=clock), settings=Settings(**fields), clock=clock, embedder=embedder)  # type: ignore[arg-type]


def worked(memory: Memory, clock: ManualClock, *lanes: str) -> list[str]:
    """Be a worker until nothing is left, letting every wait pass; what went wrong on the way."""
    wrong: list[str] = []
    background = memory._opened.background
    for _ in range(60):
        clock.tick(120 * SECOND)
        did: list[int] = []

        def told(lane: str, space: int, done: int, error: MnemicError | None) -> None:
            did.append(done)  # noqa: B023
            if error is not None:
                wrong.append(str(error))

        stop = Waits(2)
        background.serve(stop, lanes=lanes, once=True, progress=told)  # type: ignore[arg-type]
        if not did:
            return wrong
    raise AssertionError("it never ends")


def test_a_passage_that_chokes_the_embedder_is_put_aside_and_the_rest_goes_on(clock: ManualClock) -> None:
    embedder = Choking()
    with opened(clock, embedder) as memory:
        me = memory.scope(user="ada")
        me.observe([f"Item {n}" if n != 11 else "poison" for n in range(40)])
        wrong = worked(memory, clock)
        assert set(wrong) == {"it chokes"}
        assert sorted(t for t in embedder.seen if t != "hello") == sorted(f"Item {n}" for n in range(40) if n != 11)
        (dead,) = memory.admin.dead()
        assert (dead.state, dead.user, dead.error, dead.name) == ("dead", "ada", "it chokes", "embed:1")
        assert [one.dead for one in memory.admin.behind()] == [0, 1]
        assert len(wrong) <= 13
        assert "poison" in [one.text for one in me.recall("poison")]


def test_what_was_put_aside_is_digested_once_it_is_tried_again(clock: ManualClock) -> None:
    embedder = Choking()
    with opened(clock, embedder) as memory:
        me = memory.scope(user="ada")
        me.observe(["fine", "poison"])
        worked(memory, clock)
        (dead,) = memory.admin.dead()
        assert dead.id is not None
        memory.admin.retry(dead.id)
        worked(memory, clock)
        assert [one.id for one in memory.admin.dead()] == [dead.id]
        embedder.poison = "nothing"
        memory.admin.retry(dead.id)
        worked(memory, clock)
        assert memory.admin.dead() == []
        assert embedder.seen.count("poison") == 1
        assert "dense" in me.recall("poison").items[0].components
        assert memory.admin.verify() == []


def test_an_embedder_that_is_ill_loses_nothing_to_the_dead_letters(clock: ManualClock) -> None:
    embedder = Choking()
    with opened(clock, embedder) as memory:
        memory.scope(user="ada").observe([f"Item {n}" for n in range(5)])
        embedder.ill = True
        for _ in range(15):
            clock.tick(120 * SECOND)
            with pytest.raises(ModelError):
                memory.flush()
        assert memory.admin.dead() == []
        (entry,) = (one for one in memory.admin.jobs() if one.name == "embed:1")
        assert (entry.state, entry.pending, entry.attempts) == ("failing", 5, 15)
        embedder.ill = False
        clock.tick(120 * SECOND)
        assert memory.flush()
        assert sorted(embedder.seen) == sorted([*(f"Item {n}" for n in range(5))])


def test_a_turn_that_rules_cannot_read_is_put_aside(clock: ManualClock, monkeypatch: pytest.MonkeyPatch) -> None:
    from mnemic.strategies import house

    read = house._readings

    def faulty(item: Item, user: str) -> list[house._Reading]:
        if "poison" in item.text:
            raise RuntimeError("a fault in the rules")
        return read(item, user)

    with opened(clock) as memory, monkeypatch.context() as patch:
        patch.setattr(house, "_readings", faulty)
        me = memory.scope(user="ada")
        me.observe(["I live in Lisbon.", "poison. My name is Ada.", "I work as a baker."], speaker="Ada")
        worked(memory, clock)
        assert len(me.list(where=PROFILE)) >= 1
        before = {v.item.slots["slot"] for v in me.list(where=PROFILE)}
        (dead,) = memory.admin.dead()
        assert "a fault in the rules" in dead.error
        patch.undo()
        assert dead.id is not None
        memory.admin.retry(dead.id)
        worked(memory, clock)
        assert {v.item.slots["slot"] for v in me.list(where=PROFILE)} >= before | {"name"}
        assert memory.admin.dead() == []


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Callable[[Memory], list[str]]:
    """Have a memory's model answer, and note what it was asked."""
    monkeypatch.setitem(STRATEGIES, "noting", "noting:Noting")
    monkeypatch.setitem(STRATEGIES, "patient", "noting:Patient")

    def of(memory: Memory) -> list[str]:
        heard: list[str] = []

        def answer(ask: Ask) -> str:
            text = ask.messages[-1].content
            if text.startswith("Are you there"):
                return "yes"
            heard.append(text)
            if "poison" in text:
                raise ModelError("no answer to that")
            return f"Noted: {text}"

        monkeypatch.setattr(memory._opened.background.answering.language_model, "answer", replying(answer))
        return heard

    return of


def notes(me: ScopedMemory) -> list[str]:
    return sorted(version.item.text for version in me.list(where=NOTES, limit=1000))


def test_no_answer_is_paid_for_twice_however_often_a_run_is_cut_short(
    clock: ManualClock, asked: Callable[[Memory], list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(clock, strategies="noting") as memory:
        heard, me = asked(memory), memory.scope(user="ada")
        me.observe([f"turn {n}" for n in range(6)])
        real = memory._opened.background.answering.language_model.answer
        for cut in (2, 3):

            def cutting(ask: Ask, cut: int = cut) -> str:
                if len(heard) >= cut:
                    raise Conflict("cut short")
                return real(ask)

            monkeypatch.setattr(memory._opened.background.answering.language_model, "answer", cutting)
            memory._opened.background.serve(Waits(1), once=True)  # type: ignore[arg-type]
            clock.tick(120 * SECOND)
        monkeypatch.setattr(memory._opened.background.answering.language_model, "answer", real)
        worked(memory, clock)
        assert heard == [f"turn {n}" for n in range(6)]
        assert notes(me) == [f"Noted: turn {n}" for n in range(6)]
        with memory._opened.store.read() as snapshot:
            assert [lane.seq for lane in snapshot.lanes()] == [0]


def test_a_question_that_a_model_cannot_answer_is_put_aside(
    clock: ManualClock, asked: Callable[[Memory], list[str]]
) -> None:
    with opened(clock, strategies="noting") as memory:
        heard, me = asked(memory), memory.scope(user="ada")
        me.observe(["a", "b", "poison", "c", "d"])
        worked(memory, clock)
        assert notes(me) == [f"Noted: {text}" for text in "abcd"]
        assert [one.name for one in memory.admin.dead()] == ["noting"]
        assert sorted(set(heard)) == ["a", "b", "c", "d", "poison"]


def test_a_run_again_asks_only_what_was_not_kept(clock: ManualClock, asked: Callable[[Memory], list[str]]) -> None:
    for keep, times in ((True, 1), (False, 2)):
        with opened(clock, strategies="noting", keep_answers=keep) as memory:
            heard, me = asked(memory), memory.scope(user="ada")
            me.observe(["a", "b"])
            worked(memory, clock)
            kept = me.list(where=NOTES)
            memory.admin.rerun("noting", user="ada")
            worked(memory, clock)
            assert notes(me) == ["Noted: a", "Noted: b"]
            assert not {v.item.id for v in kept} & {v.item.id for v in me.list(where=NOTES)}
            assert len(heard) == 2 * times


def test_a_run_again_of_the_rules_changes_nothing_and_what_was_hidden_stays_hidden(clock: ManualClock) -> None:
    with opened(clock) as memory:
        me = memory.scope(user="ada")
        me.observe("I live in Paris.", speaker="Ada")
        worked(memory, clock)
        clock.tick(SECOND)
        me.observe(["I live in Lisbon.", "I work as a baker."], speaker="Ada")
        worked(memory, clock)
        before = {v.item.slots["slot"]: v.item.slots["value"] for v in me.list(where=PROFILE)}
        assert before["city"] == "Lisbon"
        hidden = next(v for v in me.list(where=PROFILE) if v.item.slots["slot"] != "city")
        me.forget(hidden.item.id)
        memory.admin.rerun("house", user="ada")
        worked(memory, clock)
        after = {v.item.slots["slot"]: v.item.slots["value"] for v in me.list(where=PROFILE)}
        assert after == {"city": "Lisbon"}
        assert memory.admin.verify() == []


def test_a_rerun_wants_a_strategy_that_is_followed_and_a_user_that_is_there(clock: ManualClock) -> None:
    with opened(clock) as memory:
        with pytest.raises(Invalid, match="not followed"):
            memory.admin.rerun("dreaming", user="ada")
        with pytest.raises(NotFound):
            memory.admin.rerun("house", user="ada")
        with pytest.raises(Invalid, match="no work"):
            memory.admin.order(Order(name="dancing", key="k"))


def test_a_strategy_waits_for_its_trigger_and_a_flush_does_not(
    clock: ManualClock, asked: Callable[[Memory], list[str]]
) -> None:
    with opened(clock, strategies="patient") as memory:
        asked(memory)
        me = memory.scope(user="ada")
        me.observe(["a", "b"])
        worked(memory, clock)
        assert notes(me) == []
        me.observe("c")
        worked(memory, clock)
        assert len(notes(me)) == 3
        me.observe("d")
        memory.flush()
        assert len(notes(me)) == 4


def test_upkeep_runs_at_the_end_of_a_task_and_when_it_is_ordered(
    clock: ManualClock, asked: Callable[[Memory], list[str]]
) -> None:
    with opened(clock, strategies="noting") as memory:
        asked(memory)
        me = memory.scope(user="ada")
        me.observe("a")
        worked(memory, clock)
        assert "1 notes" not in notes(me)
        me.observe("b", slots={"outcome": "done"})
        worked(memory, clock)
        assert "2 notes" in notes(me)
        me.observe("c")
        worked(memory, clock)
        with memory._opened.store.read() as snapshot:
            (space,) = (head.id for head in snapshot.all_spaces(1))
        order = Order(name="maintain", key="now", space=space, payload=b'{"strategy": "noting"}')
        memory.admin.order(order)
        worked(memory, clock)
        assert "4 notes" in notes(me)
        assert [one.state for one in memory.admin.jobs(over=True) if one.id] == ["done"]


def test_an_hours_share_of_questions_is_not_exceeded(clock: ManualClock, asked: Callable[[Memory], list[str]]) -> None:
    with opened(clock, strategies="noting", hour_calls=8) as memory:
        heard = asked(memory)
        memory.scope(user="ada").observe([f"turn {n}" for n in range(30)])
        memory.scope(user="bob").observe("hello")
        worked(memory, clock)
        assert len(heard) == 9
        assert "hello" in heard


def test_an_hours_share_ends_a_run_in_its_midst_and_says_when_it_goes_on(
    clock: ManualClock, asked: Callable[[Memory], list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    hours = [0.0]
    later = SimpleNamespace(monotonic=lambda: hours[0] * HOUR)
    monkeypatch.setattr(model_budget, "time", later)
    monkeypatch.setattr(scheduling, "time", later)
    turns = [f"turn {n}" for n in range(8)]
    with opened(clock, strategies="noting", hour_calls=5) as memory:
        heard = asked(memory)
        me = memory.scope(user="ada")
        me.observe(turns)
        assert not memory.flush()
        assert not memory.flush()
        assert (len(heard), notes(me)) == (5, [])
        (lane,) = (one for one in memory.admin.jobs() if one.name == "noting")
        goes_on = moment(clock.now() + round(HOUR * SECOND))
        assert lane.error.startswith("what it may ask a language model within an hour is used up (hour_calls=5")
        assert lane.error.endswith(f"goes on at {goes_on:%H:%M:%S} UTC")
        assert (lane.state, lane.attempts) == ("waiting", 0)
        assert memory.admin.behind()[0].error == lane.error
        hours[0] = 1.1
        assert memory.flush()
        assert sorted(heard) == turns, "nothing is asked twice"
        assert [note for note in notes(me) if note.startswith("Noted")] == [f"Noted: {turn}" for turn in turns]
        assert [(one.pending, one.error) for one in memory.admin.behind()] == [(0, "")]


def test_a_job_waits_for_the_next_hours_share_too(
    clock: ManualClock, asked: Callable[[Memory], list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(clock, strategies="noting", hour_calls=2) as memory:
        heard = asked(memory)
        memory.scope(user="ada").observe(["one", "two"])
        worked(memory, clock)
        with memory._opened.store.read() as snapshot:
            (space,) = (head.id for head in snapshot.all_spaces(1))
        memory.admin.order(rerun_order(space, "noting", "k"))
        worked(memory, clock)
        assert len(heard) == 2
        assert [one.state for one in memory.admin.jobs() if one.error] == ["waiting"]
        assert memory.admin.dead() == []


def test_a_run_over_its_budget_is_made_smaller(clock: ManualClock, asked: Callable[[Memory], list[str]]) -> None:
    from noting import Noting

    from mnemic.strategies.base import Budget

    with opened(clock, strategies="noting") as memory, pytest.MonkeyPatch.context() as patch:
        patch.setattr(Noting, "budget", Budget(calls=3))
        asked(memory)
        me = memory.scope(user="ada")
        me.observe([f"turn {n}" for n in range(8)])
        worked(memory, clock)
        assert len(notes(me)) == 8
        assert memory.admin.dead() == []


def test_one_users_flood_does_not_starve_the_others(clock: ManualClock) -> None:
    embedder = Choking()
    with opened(clock, embedder) as memory:
        memory.scope(user="ada").observe([f"flood {n}" for n in range(500)])
        for user in ("bob", "eve"):
            memory.scope(user=user).observe(f"hello from {user}")
        slices: list[tuple[str, int]] = []
        told = lambda lane, space, done, error: slices.append((lane, space))  # noqa: E731
        memory._opened.background.serve(Waits(1), once=True, progress=told)  # type: ignore[arg-type]
        served = [space for lane, space in slices if lane.startswith("embed")]
        assert served[:3] == sorted(set(served))
        assert len(served) > 6


def test_a_writer_is_told_of_a_backlog_and_never_held_up(clock: ManualClock) -> None:
    with opened(clock, "scripted", backlog_limit=10) as memory:
        me, bob = memory.scope(user="ada"), memory.scope(user="bob")
        assert me.observe([f"turn {n}" for n in range(10)]).behind == 0
        assert me.observe([f"turn {n}" for n in range(10, 30)]).behind == 30
        assert me.observe("more").behind == 31
        assert bob.observe("hello").behind == 0
        worked(memory, clock)
        memory.flush()
        assert me.observe("again").behind == 0


def test_a_receipt_counts_what_waits_however_small_the_limit_and_whoever_counts(clock: ManualClock) -> None:
    store = MemoryStore(clock=clock)
    fields = {"background": False, "backlog_limit": 1}
    with Memory(store, settings=Settings(**fields), clock=clock, embedder="none") as memory:  # type: ignore[arg-type]
        me = memory.scope(user="ada")
        assert [me.observe(f"turn {n}").behind for n in range(5)] == [0, 2, 3, 4, 5]
        assert me.observe([f"more {n}" for n in range(295)]).behind == 300
        assert memory.admin.behind()[0].pending == 300
        other = Memory(store, settings=Settings(**fields), clock=clock, embedder="none")  # type: ignore[arg-type]
        assert other.scope(user="ada").observe("from elsewhere").behind == 301
        memory.flush()
        assert me.observe("done").behind == 0


def test_an_embedder_that_cannot_be_reached_is_told_of_by_whoever_looks(clock: ManualClock) -> None:
    class Deaf(Choking):
        answers = False

        def __getattribute__(self, name: str) -> Any:
            if name == "dims" and not self.answers:
                raise ModelError("nobody answers there")
            return super().__getattribute__(name)

    store, deaf, settings = MemoryStore(clock=clock), Deaf(), Settings(background=False)
    memory, other = (Memory(store, settings=settings, clock=clock, embedder=deaf) for _ in range(2))
    memory.scope(user="ada").observe("hello")
    memory._opened.background.serve(Waits(3), once=True)  # type: ignore[arg-type]
    (entry,) = other.admin.jobs()
    assert (entry.name, entry.state, entry.error) == ("embed", "failing", "nobody answers there")
    assert [one.error for one in other.admin.behind()] == ["", "nobody answers there"]
    assert other.admin.verify() == []
    Deaf.answers = True
    worked(memory, clock)
    assert other.admin.jobs() == []
    assert [one.error for one in other.admin.behind()] == ["", ""]


def test_thousands_of_idle_spaces_cost_a_look_nothing(clock: ManualClock, monkeypatch: pytest.MonkeyPatch) -> None:
    from mnemic.store.engine.snapshot import Snapshot

    with opened(clock) as memory:
        for n in range(50):
            memory.scope(user=f"user {n}").observe("hello")
        worked(memory, clock)
        looked: list[int] = []
        newest = Snapshot.newest

        def counting(self: Snapshot, space: int) -> int:
            looked.append(space)
            return newest(self, space)

        monkeypatch.setattr(Snapshot, "newest", counting)
        monkeypatch.setattr(Snapshot, "backlog", None)
        assert memory._opened.background.backlog.behind("house") == {}
        memory.scope(user="user 7").observe("again")
        assert len(memory._opened.background.backlog.behind("house")) == 1
        assert len(looked) <= 2


def test_jobs_are_ordered_once_cancelled_and_listed(clock: ManualClock) -> None:
    with opened(clock) as memory:
        memory.scope(user="ada").observe("I live in Lisbon.")
        first = memory.admin.rerun("house", user="ada")
        assert memory.admin.rerun("house", user="ada") == first
        (lane, job) = memory.admin.jobs()
        assert (lane.name, lane.pending, lane.id) == ("house", 1, None)
        assert (job.name, job.state, job.user, job.tenant, job.id) == ("rerun", "waiting", "ada", "default", first)
        memory.admin.cancel(first)
        worked(memory, clock)
        assert [one.state for one in memory.admin.jobs(over=True)] == ["cancelled"]


def test_a_job_that_another_worker_finishes_while_a_flush_looks_for_it_is_not_taken_for_one_that_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Memory(tmp_path / "m.db", settings=Settings(background=False)) as memory:
        memory.scope(user="ada").observe("I live in Lisbon.")
        assert memory.flush()
        memory.admin.rerun("house", user="ada")
        other, has_waiting_job = beside(memory), Snapshot.has_waiting_job

        def overtaken_look(snapshot: Snapshot, names: Sequence[str] = ()) -> bool:
            waits = has_waiting_job(snapshot, names)
            if names:
                monkeypatch.setattr(Snapshot, "has_waiting_job", has_waiting_job)
                assert other.drain()
            return waits

        monkeypatch.setattr(Snapshot, "has_waiting_job", overtaken_look)
        assert memory.flush()
        assert [job.state for job in memory.admin.jobs(over=True)] == ["done"]


def test_a_lane_that_another_worker_gave_back_before_it_was_looked_at_is_not_taken_for_one_that_waits(
    clock: ManualClock,
) -> None:
    with opened(clock) as memory:
        memory.scope(user="ada").observe("I live in Lisbon.")
        perform = memory._opened.answering.perform
        assert run(lease_denied(1, "house"), perform) == BUSY
        later = clock.now() + SECOND
        assert run(transact(lane_cursors.claim, 1, "house", "worker", 60.0), perform) is not None
        assert run(lease_denied(1, "house"), perform) == BUSY
        run(transact(lane_cursors.release, 1, "house", "worker", "it failed", later), perform)
        assert run(lease_denied(1, "house"), perform) == WAITS
        clock.tick(2 * SECOND)
        assert run(lease_denied(1, "house"), perform) == BUSY


def test_a_job_that_keeps_failing_is_dead_after_three_tries(clock: ManualClock) -> None:
    with opened(clock) as memory:
        memory.scope(user="ada").observe("hello")
        order = Order(name="maintain", key="k", payload=b'{"strategy": "dreaming"}')
        number = memory.admin.order(order)
        wrong = worked(memory, clock)
        assert len(wrong) == 3
        (dead,) = memory.admin.dead()
        assert (dead.id, dead.attempts, dead.tenant) == (number, 3, "")
        assert "dreaming" in dead.error


def test_what_a_process_before_left_undone_is_picked_up_on_opening(tmp_path: Path) -> None:
    with Memory(tmp_path / "m.db", embedder="scripted", settings=Settings(background=False)) as memory:
        memory.scope(user="ada").observe("The cello arrived.")
    with Memory(tmp_path / "m.db", embedder="scripted", settings=Settings(background=True)) as memory:
        eventually(lambda: [one.pending for one in memory.admin.behind()] == [0, 0], "the thread's work")


def test_opening_an_empty_store_writes_nothing_to_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"{Background.__module__}.IDLE_SECONDS", 0.0)  # the thread looks once and ends
    with Memory(tmp_path / "m.db", embedder="scripted", settings=Settings(background=True)) as memory:
        for thread in threading.enumerate():
            if thread.name == "mnemic-worker":
                thread.join()
        with memory._opened.store.read() as snapshot:
            assert snapshot.embedders() == []


def test_a_run_whose_lease_was_lost_half_way_writes_nothing(
    clock: ManualClock, asked: Callable[[Memory], list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    store = MemoryStore(clock=clock)
    settings = Settings(background=False, strategies="noting")
    with Memory(store, settings=settings, clock=clock, embedder="none") as one:
        heard, me = asked(one), one.scope(user="ada")
        me.observe(["a", "b", "c"])
        two = beside(one)
        real = one._opened.background.answering.language_model.answer

        def slow(ask: Ask) -> str:
            if len(heard) == 1:
                clock.tick(120 * SECOND)
                monkeypatch.setattr(two.answering.language_model, "answer", real)
                two.serve(Waits(1), once=True)  # type: ignore[arg-type]
            return real(ask)

        monkeypatch.setattr(one._opened.background.answering.language_model, "answer", slow)
        one._opened.background.serve(Waits(1), once=True)  # type: ignore[arg-type]
        assert notes(me) == ["Noted: a", "Noted: b", "Noted: c"]
        assert one.admin.verify() == []


def test_a_clock_set_back_keeps_no_lane_for_a_worker_that_is_gone(
    clock: ManualClock, asked: Callable[[Memory], list[str]]
) -> None:
    with opened(clock, strategies="noting") as memory:
        asked(memory)
        me = memory.scope(user="ada")
        me.observe("a")
        space = 1
        assert memory._opened.store.transact(lane_cursors.claim, space, "noting", "somebody", 60) is not None
        clock.tick(-3600 * SECOND)
        memory._opened.background.serve(Waits(1), once=True)  # type: ignore[arg-type]
        assert notes(me) == ["Noted: a"]
        assert memory.admin.verify() == []


def test_closing_stops_a_run_before_it_asks_again(
    clock: ManualClock, asked: Callable[[Memory], list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(clock, strategies="noting") as memory:
        heard = asked(memory)
        memory.scope(user="ada").observe([f"turn {n}" for n in range(6)])
        background = memory._opened.background
        real = background.answering.language_model.answer

        def closing(ask: Ask) -> str:
            if len(heard) == 2:
                background.close()
            return real(ask)

        monkeypatch.setattr(background.answering.language_model, "answer", closing)
        background.serve(Waits(1), once=True)  # type: ignore[arg-type]
        assert len(heard) == 3
        with memory._opened.store.read() as snapshot:
            (lane,) = snapshot.lanes()
            assert (lane.owner, lane.cursor) == ("", 0)
            assert snapshot.jobs(JobState.DEAD) == []


def test_garbage_is_collected_by_a_job_between_everything_else(clock: ManualClock) -> None:
    from mnemic.worker.gc_job import gc_order

    with opened(clock) as memory:
        me = memory.scope(user="ada")
        receipt = me.observe("I live in Lisbon.")
        me.forget(*receipt.ids)
        number = memory.admin.order(gc_order(1, "tonight"))
        assert memory.admin.order(gc_order(1, "tonight")) == number
        worked(memory, clock)
        assert [one.state for one in memory.admin.jobs(over=True) if one.id == number] == ["done"]
        assert memory.admin.verify() == []


def test_a_worker_with_nothing_to_do_orders_a_collection_when_a_trigger_speaks(clock: ManualClock) -> None:
    with opened(clock) as memory:
        me = memory.scope(user="ada")
        chore = memory.admin._opened.background.chores["gc"]
        chore(0.0)
        assert [job for job in memory.admin.jobs(over=True) if job.name == "gc"] == []
        for n in range(4):
            me.forget(*me.observe(f"turn {n}").ids)
        chore(0.0)  # half of all versions are hidden ones or closed: fragmentation
        worked(memory, clock)
        assert [job.state for job in memory.admin.jobs(over=True) if job.name == "gc"] == ["done"]


@pytest.mark.parametrize("fields", [{"gc_auto": False}, {"gc_share": 0.0}])
def test_a_worker_orders_no_collection_that_was_set_off(clock: ManualClock, fields: dict[str, object]) -> None:
    with opened(clock, **fields) as memory:
        me = memory.scope(user="ada")
        for n in range(4):
            me.forget(*me.observe(f"turn {n}").ids)
        memory.admin._opened.background.chores["gc"](0.0)
        assert [job for job in memory.admin.jobs(over=True) if job.name == "gc"] == []


def test_a_job_whose_model_cannot_be_opened_waits_and_is_done_by_who_can_open_it(tmp_path: Path) -> None:
    from noting import Noting

    clock, chat = ManualClock(), ReplyingChat(lambda ask: "noted")

    def memory_with(model: str | ReplyingChat) -> Memory:
        settings = Settings(background=False, model=model if isinstance(model, str) else "")
        given = None if isinstance(model, str) else model
        path = tmp_path / "m.db"
        return Memory(path, settings=settings, clock=clock, embedder="none", strategies=[Noting()], model=given)

    with memory_with(chat) as memory:
        memory.scope(user="ada").observe("one")
        memory._opened.store.transact(give_up_first, "noting")
        (letter,) = memory.admin.dead()
        assert letter.id is not None
        memory.admin.retry(letter.id)
    for _ in range(5):
        with memory_with("opnai:gpt") as memory, pytest.raises(UnusableModel, match="'opnai' is not known"):
            memory.flush()
    with memory_with("opnai:gpt") as memory:
        (waiting,) = memory.admin.jobs()
        assert (waiting.id, waiting.state, waiting.attempts) == (letter.id, "failing", 0)
        assert "'opnai' is not known" in waiting.error
    with memory_with(chat) as memory:
        assert memory.flush()
        assert list(memory.admin.jobs()) == list(memory.admin.dead()) == []


def test_a_job_is_not_given_up_while_its_model_is_ill(clock: ManualClock) -> None:
    embedder = Choking()
    with opened(clock, embedder) as memory:
        memory.scope(user="ada").observe(["fine", "poison"])
        worked(memory, clock)
        (dead,) = memory.admin.dead()
        assert dead.id is not None
        embedder.ill = True
        memory.admin.retry(dead.id)
        stop = Waits(6)
        for _ in range(6):
            clock.tick(120 * SECOND)
            memory._opened.background.serve(stop, once=True)  # type: ignore[arg-type]
        assert list(memory.admin.dead()) == []
        embedder.ill, embedder.poison = False, "nothing"
        worked(memory, clock)
        assert list(memory.admin.dead()) == list(memory.admin.jobs()) == []
        assert embedder.seen.count("poison") == 1


def test_a_kill_after_an_hour_of_a_sick_model_gives_nothing_up(clock: ManualClock) -> None:
    from noting import Noting

    def answer(ask: Ask) -> str:
        if ill:
            raise ModelError("500 for an hour")
        return "noted"

    ill = True
    settings = Settings(background=False)
    chat = ReplyingChat(answer)
    with Memory(MemoryStore(clock=clock), settings=settings, clock=clock, embedder="none", strategies=[Noting()],
                model=chat) as memory:  # fmt: skip
        me = memory.scope(user="ada")
        me.observe("one")
        for _ in range(5):
            clock.tick(120 * SECOND)
            with pytest.raises(ModelError):
                memory.flush()
        clock.tick(120 * SECOND)
        memory._opened.store.transact(lane_cursors.claim, 1, "noting", "killed", 60)
        clock.tick(120 * SECOND)
        ill = False
        assert memory.flush()
        assert list(memory.admin.dead()) == []
        assert "noted" in [note.item.text for note in me.list(where=NOTES)]


def give_up_first(rows: Rows, lane: str) -> None:
    """Give up the first version of the first space, as a lane does."""
    lane_cursors.claim(rows, 1, lane, "test", 60)
    lane_cursors.bury(rows, 1, lane, "test", 0, 1, "it choked")
    lane_cursors.release(rows, 1, lane, "test")
