"""Workers in bad weather: models and jobs that fail, erasures and closing in the middle of a run, processes killed."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from waits import Waits, beside

from mnemic import Memory, ScopedMemory
from mnemic.core.items import Kind
from mnemic.core.queries import Filter
from mnemic.errors import Conflict, ModelError, StoreFull
from mnemic.flow import Flow
from mnemic.lanes.slices import LEASE_SECONDS
from mnemic.models.chat.base import Ask, ChatMessage
from mnemic.models.model_requests import ask
from mnemic.models.scripted_embedder import ScriptedEmbedder
from mnemic.registry import STRATEGIES
from mnemic.settings import Settings
from mnemic.store.engine import job_queue, lane_cursors
from mnemic.store.sqlite.sqlite_store import MemoryStore, SqliteStore
from mnemic.store.values.drafts import JobStep
from mnemic.store.values.work import Job, JobState, Order
from mnemic.testing.generators import ManualClock
from mnemic.testing.replying import replying
from mnemic.worker.gc_job import gc_order
from mnemic.worker.job_types import JobContext
from mnemic.worker.thread import Background

sys.path.insert(0, str(Path(__file__).parent.parent / "strategies"))
SECOND = 1_000_000
NOTES = Filter(kinds=(Kind.INSIGHT,))
PROFILE = Filter(kinds=(Kind.PROFILE,))


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture(autouse=True)
def _noting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(STRATEGIES, "noting", "noting:Noting")


class Ill(ScriptedEmbedder):
    def passages(self, texts: object) -> object:  # type: ignore[override]
        raise ModelError("it is ill")


def opened(clock: ManualClock, embedder: ScriptedEmbedder | str = "none", **settings: object) -> Memory:
    fields: dict[str, object] = {"background": False, **settings}
    return Memory(MemoryStore(clock=clock), settings=Settings(**fields), clock=clock, embedder=embedder)  # type: ignore[arg-type]


def facts(me: ScopedMemory) -> list[str]:
    return sorted(version.item.text for version in me.list(where=PROFILE))


def answering(memory: Memory, answer: Callable[[Ask], str]) -> Background:
    background = memory._opened.background
    background.answering.language_model.answer = replying(answer)  # type: ignore[method-assign]
    return background


def served(background: Background, *, once: bool = False, waits: int = 3, lanes: tuple[str, ...] = ()) -> Waits:
    stop = Waits(waits)
    background.serve(stop, once=once, lanes=lanes)  # type: ignore[arg-type]
    return stop


def doing(raises: Exception) -> Callable[[JobContext, Job, JobStep], Flow[bool]]:
    def work(bench: JobContext, job: Job, step: JobStep) -> Flow[bool]:
        yield from ()
        raise raises

    return work


def test_a_rerun_leaves_out_what_was_hidden_and_keeps_its_siblings(clock: ManualClock) -> None:
    with opened(clock) as memory:
        me = memory.scope(user="ada")
        me.observe("I live in Lisbon. I work as a baker. My name is Ada.", speaker="Ada")
        memory.flush()
        before = facts(me)
        (hidden,) = (v for v in me.list(where=PROFILE) if "baker" in v.item.text)
        me.forget(hidden.item.id)
        for days in (0, 40):  # keys are forgotten after thirty
            clock.tick(days * 86_400 * SECOND)
            memory.scope(user="bob").observe("hello")
            memory.admin.rerun("house", user="ada")
            assert memory.flush()
            assert facts(me) == [text for text in before if "baker" not in text]
        assert memory.admin.verify() == []


def test_a_worker_waits_where_its_embedder_cannot_be_opened(
    clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(clock) as memory:
        tried: list[int] = []

        def broken() -> list[int]:
            tried.append(1)
            raise ModelError("no such model")

        monkeypatch.setattr(memory._opened.background.answering.meaning, "to_fill", broken)
        served(memory._opened.background, waits=3)
        assert len(tried) == 1


def test_a_worker_asked_to_work_once_ends_though_its_embedder_is_ill(clock: ManualClock) -> None:
    with opened(clock, Ill()) as memory:
        memory.scope(user="ada").observe("hello there")
        assert served(memory._opened.background, once=True, waits=5).left > 0


def test_upkeep_that_another_worker_does_is_waited_for(clock: ManualClock) -> None:
    with opened(clock, strategies="noting") as memory:
        memory.scope(user="ada").observe("hello")
        assert memory._opened.store.transact(lane_cursors.claim, 1, "noting:maintain", "another", 60) is not None
        memory.admin.order(Order(name="maintain", key="k", space=1, payload=b'{"strategy": "noting"}'))
        served(memory._opened.background, waits=3, lanes=("jobs",))
        (job,) = (one for one in memory.admin.jobs() if one.id)
        assert (job.state, job.not_before is not None) == ("waiting", True)


def test_a_worker_that_finds_nothing_to_do_writes_nothing_and_wakes_nobody(clock: ManualClock) -> None:
    with opened(clock) as memory:
        before = memory._opened.store.moved()
        served(memory._opened.background, once=True)
        assert memory._opened.store.moved() == before


def recorded_answers(memory: Memory) -> list[bytes]:
    """The answers of models that the store in memory keeps."""
    assert isinstance(memory._opened.store, MemoryStore)
    with memory._opened.store._apart() as db:
        return [bytes(answer) for (answer,) in db.execute("SELECT answer FROM answer")]


def test_nothing_of_what_was_erased_during_a_run_is_kept_by_it(clock: ManualClock) -> None:
    for fails in (False, True):
        with opened(clock, strategies="noting") as memory:
            me = memory.scope(user="ada")
            gone, _ = me.observe("zebra").ids[0], me.observe("stays")

            def erasing(ask: Ask, me: ScopedMemory = me, gone: object = gone, fails: bool = fails) -> str:
                if "zebra" in ask.messages[-1].content:
                    me.erase(gone)  # type: ignore[arg-type]
                    if fails:
                        raise ModelError("cannot read zebra")
                return f"Noted: {ask.messages[-1].content}"

            served(answering(memory, erasing), once=True)
            with memory._opened.store.read() as snapshot:
                assert {lane.error for lane in snapshot.lanes()} == {""}
                assert snapshot.jobs(JobState.DEAD) == []
            assert recorded_answers(memory) == []
            clock.tick(120 * SECOND)
            memory.flush()
            assert [v.item.text for v in me.list(where=NOTES) if "notes" not in v.item.text] == ["Noted: stays"]


def test_a_slow_model_is_paid_once_for_each_answer(clock: ManualClock) -> None:
    with opened(clock, strategies="noting") as memory:
        memory.scope(user="ada").observe([f"turn {n}" for n in range(4)])
        two = beside(memory)
        heard: list[str] = []

        def fast(ask: Ask) -> str:
            heard.append(ask.messages[-1].content)
            return "x"

        def slow(ask: Ask) -> str:
            clock.tick(40 * SECOND)
            served(two, once=True, waits=1)
            return fast(ask)

        two.answering.language_model.answer = replying(fast)  # type: ignore[method-assign]
        served(answering(memory, slow), once=True)
        assert sorted(heard) == [f"turn {n}" for n in range(4)]


def test_a_job_to_collect_keeps_no_tenants_name(clock: ManualClock) -> None:
    with opened(clock) as memory:
        me = memory.scope(user="ada", tenant="acme")
        for n in range(4):
            me.forget(*me.observe(f"turn {n}").ids)
        memory.admin._opened.background.chores["gc"](0.0)
        number = memory.admin.order(gc_order(1, "later"))
        with memory._opened.store.read() as snapshot:
            assert len(snapshot.jobs()) == 2
            assert not any("acme" in f"{job.order.key}{job.order.payload!r}" for job in snapshot.jobs())
        memory.admin.erase_tenant("acme")
        assert memory.flush()
        assert [job.state for job in memory.admin.jobs(over=True) if job.id == number] == ["done"]


def test_a_flush_says_when_a_job_or_a_users_next_hour_is_waited_for(clock: ManualClock) -> None:
    with opened(clock) as memory:
        memory._opened.background.job_types["x"] = doing(Conflict("another has it"))
        memory.admin.order(Order(name="x", key="k"))
        assert not memory.flush()
    with opened(clock, strategies="noting", hour_calls=1) as memory:
        me = memory.scope(user="ada")
        answering(memory, lambda ask: "ok")
        me.observe("one")
        memory.flush()
        me.observe("two")
        assert not memory.flush()


def test_a_flush_waits_for_a_job_that_another_worker_does(clock: ManualClock) -> None:
    with opened(clock) as memory:
        memory.admin.order(Order(name="maintain", key="k", space=0, payload=b'{"strategy": "noting"}'))
        store, job_types = memory._opened.store, memory._opened.background.job_types
        job = store.transact(job_queue.claim, tuple(job_types), "another", 60)
        assert job is not None
        done: list[str] = []

        def another() -> None:
            done.append("by another")
            store.transact(job_queue.end, JobStep(job.id, "another"), JobState.DONE)

        timer = threading.Timer(0.2, another)
        timer.start()
        assert memory.flush()
        assert done == ["by another"]
        timer.join()


def test_a_flush_is_told_nothing_of_what_another_thread_looks_at_later(clock: ManualClock) -> None:
    with opened(clock, strategies="noting") as memory:
        memory.scope(user="ada").observe("one")
        background = memory._opened.background
        background.backlog.behind("noting")
        memory._opened.store.transact(lambda rows: rows.lanes.put_off("noting", 1, rows.now() + 60 * SECOND))
        background.backlog.behind("noting", clock.now())
        assert background.backlog.has_later("noting")
        assert background.backlog.behind("noting")
        assert background.backlog.has_later("noting")


def test_the_thread_stays_for_a_job_that_waits_after_a_failure(clock: ManualClock) -> None:
    from mnemic.worker.scheduling import Cycle

    with opened(clock) as memory:
        background = memory._opened.background
        background.job_types["x"] = doing(ModelError("not yet"))
        memory.admin.order(Order(name="x", key="k"))
        background._run(Cycle())
        later = Cycle()
        background._run(later)
        assert (later.any, later.later) == (False, 1)


def test_a_run_that_kills_its_process_is_halved_and_then_put_aside(clock: ManualClock) -> None:
    with opened(clock, strategies="noting") as memory:
        me = memory.scope(user="ada")
        me.observe([f"turn {n}" if n != 2 else "poison" for n in range(4)])

        class Killed(BaseException):
            """What no worker outlives."""

        def killing(ask: Ask) -> str:
            if "poison" in ask.messages[-1].content:
                raise Killed
            return f"Noted: {ask.messages[-1].content}"

        background = answering(memory, killing)
        for _ in range(30):
            clock.tick(120 * SECOND)
            background.renew()
            try:
                served(background, once=True)
            except Killed:
                continue
            break
        assert sorted(v.item.text for v in me.list(where=NOTES)) == [f"Noted: turn {n}" for n in (0, 1, 3)]
        assert [dead.name for dead in memory.admin.dead()] == ["noting"]


def test_closing_ends_a_strategy_that_would_go_on_without_its_model(
    clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    from noting import Noting

    from mnemic.errors import MnemicError
    from mnemic.strategies.base import Edits, Given

    real, made = Noting.on_write, []

    def lenient(self: Noting, given: Given) -> Flow[Edits]:
        try:
            return (yield from real(self, given))
        except MnemicError:
            made.append("something else")
            return Edits()

    monkeypatch.setattr(Noting, "on_write", lenient)
    with opened(clock, strategies="noting") as memory:
        memory.scope(user="ada").observe(["a", "b"])
        background = memory._opened.background

        def closing(ask: Ask) -> str:
            background.close()
            return "ok"

        served(answering(memory, closing), once=True, waits=1)
        assert made == []
        with memory._opened.store.read() as snapshot:
            assert [(lane.cursor, lane.owner) for lane in snapshot.lanes()] == [(0, "")]


def test_jobs_that_are_over_are_dropped_after_a_month(clock: ManualClock) -> None:
    with opened(clock) as memory:
        memory.admin.order(gc_order(1, "once"))
        assert memory.flush()
        assert [job.state for job in memory.admin.jobs(over=True)] == ["done"]
        clock.tick(40 * 86_400 * SECOND)
        memory.scope(user="ada").observe("hello")
        assert [job for job in memory.admin.jobs(over=True) if job.id] == []


def test_a_collection_that_ended_elsewhere_is_not_kept(clock: ManualClock) -> None:
    with opened(clock) as memory:
        me = memory.scope(user="ada")
        me.observe("hello")
        background = memory.admin._opened.background
        work = background.job_types["gc"]
        runs = next(c.cell_contents for c in work.__closure__ or () if isinstance(c.cell_contents, dict))
        first = memory.admin.order(gc_order(1, "first"))
        stop = threading.Event()
        background.serve(stop, lanes=("jobs",), progress=lambda *_: stop.set())
        assert list(runs) == [first]
        memory.admin.cancel(first)
        memory.admin.order(gc_order(1, "second"))
        assert memory.flush()
        assert runs == {}


class Unheard(ScriptedEmbedder):
    """An endpoint that has not answered yet: not even how long its vectors are is known."""

    down = True

    @property
    def dims(self) -> int:  # type: ignore[override]
        if self.down:
            raise ModelError("nobody answers there")
        return self._dims

    @dims.setter
    def dims(self, value: int) -> None:
        self._dims = value


def test_what_waits_for_an_embedder_that_never_answered_is_seen(clock: ManualClock) -> None:
    embedder = Unheard()
    with opened(clock, embedder) as memory:
        me = memory.scope(user="ada")
        assert [one.lane for one in memory.admin.behind()] == ["house"]
        me.observe(["one", "two"])
        (_, lane) = memory.admin.behind()
        assert (lane.lane, lane.embedder, lane.pending, lane.error) == ("embed", embedder.name, 2, "")
        with pytest.raises(ModelError):
            memory.flush()
        (_, lane) = memory.admin.behind()
        assert (lane.pending, lane.error) == (2, "nobody answers there")
        (entry,) = (one for one in memory.admin.jobs() if one.name == "embed")
        assert (entry.state, entry.user, entry.pending, entry.error) == ("failing", "ada", 2, "nobody answers there")
        embedder.down = False
        memory.flush()
        (_, lane) = memory.admin.behind()
        assert (lane.lane, lane.pending, lane.error) == ("embed:1", 0, "")
        assert [one.name for one in memory.admin.jobs()] == []


def test_why_an_embedder_cannot_be_opened_here_is_seen(clock: ManualClock) -> None:
    store = MemoryStore(clock=clock)
    settings = Settings(background=False)
    with Memory(store, settings=settings, clock=clock, embedder="scripted") as memory:
        memory.scope(user="ada").observe("one")
        memory.flush()
        name = memory.admin.behind()[-1].embedder
        with store.read() as snapshot:
            (row,) = snapshot.embedders()
        other = store.transact(lane_cursors.enlist, "far away", row.dims, row.state)
        memory.flush()
        found = {one.embedder: one for one in memory.admin.behind()}
        assert (found[name].pending, found[name].error) == (0, "")
        assert found["far away"].pending == 1
        assert "far away" in found["far away"].error
        (entry,) = memory.admin.jobs()
        assert (entry.name, entry.state) == (f"embed:{other}", "failing")


def test_every_strategy_that_is_followed_is_seen(clock: ManualClock) -> None:
    with opened(clock, strategies="house, noting") as memory:
        memory.scope(user="ada").observe("one")
        assert [(one.lane, one.pending) for one in memory.admin.behind()] == [("house", 1), ("noting", 1)]


def test_a_queue_of_erasures_has_no_answer_paid_for_twice(clock: ManualClock) -> None:
    with opened(clock, strategies="noting") as memory:
        me = memory.scope(user="ada")
        background = answering(memory, lambda ask: "a canary")
        going = list(me.observe([f"canary {n}" for n in range(6)]).ids)
        memory.flush()
        heard: list[str] = []

        def erasing(ask: Ask) -> str:
            heard.append(ask.messages[-1].content)
            if going:
                me.erase(going.pop())
            return f"Noted: {heard[-1]}"

        answering(memory, erasing)
        me.observe([f"turn {n}" for n in range(4)])
        for number in range(12):
            served(background, once=True)
            clock.tick(SECOND)
            me.observe(f"later {number}")  # a run that is pinned anew would take this in
        assert [text for text in heard if "turn" in text] == [f"turn {n}" for n in range(4)]
        assert len(heard) == len(set(heard))
        assert [v.item.text for v in me.list(where=NOTES) if "turn" in v.item.text] != []
        assert memory.admin.dead() == []


def test_an_erasure_of_what_a_run_was_given_takes_its_answers(clock: ManualClock) -> None:
    with opened(clock, strategies="noting") as memory:
        me = memory.scope(user="ada")
        ids = me.observe(["zebra", "horse", "foal"]).ids
        cut: list[str] = []

        def answer(ask: Ask) -> str:
            cut.append(ask.messages[-1].content)
            if cut[-1] == "foal":
                me.erase(ids[0])
            return f"Noted: {cut[-1]}"

        served(answering(memory, answer), once=True)
        assert recorded_answers(memory) == []
        clock.tick(120 * SECOND)
        memory.flush()
        texts = sorted(v.item.text for v in me.list(where=NOTES))
        assert [text for text in texts if "notes" not in text] == ["Noted: foal", "Noted: horse"]


def test_kept_answers_go_with_what_was_read_out_of_them(clock: ManualClock) -> None:
    with opened(clock, strategies="noting", keep_answers=True) as memory:
        me = memory.scope(user="ada")
        me.observe(["zebra", "horse"])
        answering(memory, lambda ask: f"Noted: {ask.messages[-1].content}")
        memory.flush()
        assert len(recorded_answers(memory)) == 2
        (note,) = (v.item.id for v in me.list(where=NOTES) if "zebra" in v.item.text)
        me.erase(note)
        assert not any(b"zebra" in said for said in recorded_answers(memory))


def test_a_model_slower_than_its_lease_is_paid_once(clock: ManualClock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mnemic.lanes.heartbeat.BEAT_SECONDS", 0.001)
    with opened(clock, strategies="noting") as memory:
        me = memory.scope(user="ada")
        me.observe("turn", slots={"outcome": "done"})
        two = beside(memory)
        heard: list[str] = []

        def fast(ask: Ask) -> str:
            heard.append(ask.messages[-1].content)
            return "x"

        def slow(ask: Ask) -> str:
            for _ in range(5):
                clock.tick(50 * SECOND)
                renewed = threading.Event()
                while not renewed.wait(0.001):
                    with memory._opened.store.read() as snapshot:
                        held = snapshot.lane(1, "noting")
                    if held.lease_until > clock.now() + 55 * SECOND:
                        renewed.set()
                served(two, once=True, waits=1)
            return fast(ask)

        two.answering.language_model.answer = replying(fast)  # type: ignore[method-assign]
        served(answering(memory, slow), once=True)
        assert heard == ["turn"]
        assert {v.item.text for v in me.list(where=NOTES)} >= {"x"}


def test_a_job_keeps_its_lease_while_its_model_thinks(clock: ManualClock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mnemic.lanes.heartbeat.BEAT_SECONDS", 0.001)
    with opened(clock) as memory:
        background, until = memory._opened.background, clock.now() + 100 * SECOND

        def slow(ask_: Ask) -> str:
            clock.tick(50 * SECOND)
            while True:
                (job,) = (one for one in _waiting(memory) if one.order.name == "x")
                if job.lease_until > until:
                    return "done"

        def work(bench: JobContext, job: Job, step: JobStep) -> Flow[bool]:
            yield from ask([ChatMessage("user", "think")])
            return False

        background.job_types["x"] = work
        memory.admin.order(Order(name="x", key="k"))
        served(answering(memory, slow), once=True)
        assert [one.state for one in memory.admin.jobs(over=True)] == ["done"]


def _waiting(memory: Memory) -> list[Job]:
    with memory._opened.store.read() as snapshot:
        return snapshot.jobs(JobState.WAITING)


def test_no_byte_of_an_answer_that_held_what_was_erased_is_left_in_any_file(tmp_path: Path) -> None:
    settings = Settings(background=False, strategies="noting", keep_answers=True)
    with Memory(tmp_path / "m.db", settings=settings, embedder="none") as memory:
        me = memory.scope(user="ada")
        gone = me.observe("a canary").ids
        answering(memory, lambda ask: f"Quoth {ask.messages[-1].content.replace('canary', 'kanarienvogel')}")
        memory.flush()
        me.observe("a sparrow")
        memory.flush()
        assert me.erase(*gone).status == "clean"
        held = b"".join(path.read_bytes() for path in tmp_path.iterdir())
        assert b"Quoth a sparrow" in held
        assert b"canary" not in held
        assert b"kanarienvogel" not in held


class Interrupted(ScriptedEmbedder):
    """An embedder amid whose first work Ctrl-C is pressed."""

    pressed = False

    def passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if not self.pressed:
            self.pressed = True
            raise KeyboardInterrupt
        return super().passages(texts)


def test_a_flush_that_was_interrupted_goes_on_at_once_and_counts_as_no_failure(clock: ManualClock) -> None:
    with opened(clock, Interrupted()) as memory:
        memory.scope(user="ada").observe("A heron stood in the river.")
        with pytest.raises(KeyboardInterrupt):
            memory.flush()
        assert memory.flush(seconds=LEASE_SECONDS / 2)
        with memory._opened.store.read() as snapshot:
            (space,) = (head.id for head in snapshot.all_spaces(1) if head.user == "ada")
            assert snapshot.lane(space, "embed:1").attempt == 0


class FullDisk(ScriptedEmbedder):
    """An embedder amid whose first work the disk fills up: not one write lands until somebody makes room."""

    worked, room = False, True

    def passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if not self.worked:
            self.worked, self.room = True, False
        return super().passages(texts)

    def probe(self, point: str, /) -> None:
        if not self.room and point.endswith(":before-commit"):
            raise StoreFull("there is no room")


@pytest.mark.parametrize("closes", [False, True])
def test_a_lane_whose_failure_could_not_be_written_goes_on_as_soon_as_it_can(
    clock: ManualClock, tmp_path: Path, closes: bool
) -> None:
    disk, path, settings = FullDisk(), tmp_path / "memory.db", Settings(background=False)
    store = SqliteStore(path, clock=clock, probe=disk.probe)
    with Memory(store, settings=settings, clock=clock, embedder=disk) as memory:
        memory.scope(user="ada").observe("A heron stood in the river.")
        memory.scope(user="bob").observe("A stork stood on the roof.")
        with pytest.raises(StoreFull):
            memory.flush()
        disk.room = True
        if not closes:
            assert memory.flush(seconds=LEASE_SECONDS / 2)
    with Memory(SqliteStore(path, clock=clock), settings=settings, clock=clock, embedder=ScriptedEmbedder()) as memory:
        assert memory.flush(seconds=LEASE_SECONDS / 2)


def test_a_memory_that_is_closed_after_an_interrupted_flush_leaves_no_lease(clock: ManualClock, tmp_path: Path) -> None:
    def again(embedder: ScriptedEmbedder) -> Memory:
        return Memory(tmp_path / "memory.db", settings=Settings(background=False), embedder=embedder)

    with again(Interrupted()) as memory:
        memory.scope(user="ada").observe("A heron stood in the river.")
        with pytest.raises(KeyboardInterrupt):
            memory.flush()
    with again(ScriptedEmbedder()) as memory:
        assert memory.flush(seconds=LEASE_SECONDS / 2)
