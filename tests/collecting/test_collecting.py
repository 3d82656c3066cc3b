"""Collecting through the front door: a run takes what it said, undo brings it back, and recall stays the same."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from random import Random

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemic.collecting import collection, surveying
from mnemic.collecting.collection import Collection, CollectionPlan, collect_slice, due, recalled
from mnemic.collecting.housekeeping import Collected, gc, plan_for
from mnemic.core.clock import moment
from mnemic.core.events import Verb
from mnemic.core.items import Kind
from mnemic.core.scope import SHARED
from mnemic.errors import Compacted, Invalid, NotFound, Refused, StoreError
from mnemic.flow import Request, run
from mnemic.memory import Memory, ScopedMemory
from mnemic.settings import Settings
from mnemic.store.offline import rebuild
from mnemic.testing.faults import largest_file
from mnemic.testing.generators import START, ManualClock, SeededEntropy
from mnemic.tiers.retention import RetainedPast

DAY = 86_400 * 1_000_000
SETTINGS = Settings(background=False, retention="ephemeral=1 day", retention_kinds="turn=normal")


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture(params=["memory:", "file"])
def memory(request: pytest.FixtureRequest, tmp_path: Path, clock: ManualClock) -> Iterator[Memory]:
    where = request.param if request.param == "memory:" else tmp_path / "memory.db"
    with Memory(where, settings=SETTINGS, clock=clock, embedder="none") as memory:
        yield memory


@pytest.fixture
def me(memory: Memory) -> ScopedMemory:
    return memory.scope(user="ada")


def test_by_default_all_of_the_past_is_kept(memory: Memory, me: ScopedMemory) -> None:
    item = me.observe("gone").id
    me.forget(item)
    done = memory.admin.gc()
    assert (done.versions, done.horizon, done.seq, done.taken) == (0, 0, None, ())
    assert me.at(1).get(item).item.text == "gone"


def test_what_outlived_its_class_is_hidden_with_its_reason_and_undo_brings_it_back(
    memory: Memory, me: ScopedMemory, clock: ManualClock
) -> None:
    item = me.observe("the code is 1234", tags=["retain:ephemeral"]).id
    kept = me.observe("we met in May").id
    clock.tick(2 * DAY)
    dry = memory.admin.gc(dry_run=True)
    assert [(one.id, one.collector) for one in dry.taken] == [(item, "ttl")]
    assert me.count() == 2
    done = memory.admin.gc()
    assert done.taken == dry.taken
    assert [v.item.id for v in me.list()] == [kept]
    change = next(c for c in me.log(limit=5) if any(e.verb is Verb.COLLECTED for e in c.events))
    told = json.loads(next(e.payload or b"" for e in change.events if e.verb is Verb.COLLECTED))
    assert told == {"collector": "ttl", "trigger": "asked", "items": 1, "reasons": {item: dry.taken[0].reason}}
    me.undo(change.seq)
    assert me.count() == 2
    assert memory.admin.verify() == []


def test_behind_the_horizon_it_is_gone_for_good(memory: Memory, me: ScopedMemory) -> None:
    item = me.observe("gone").id
    me.observe("stays")
    me.forget(item)
    done = memory.admin.gc(keep="0 commits")
    assert (done.versions, done.horizon_before, done.horizon) == (2, 0, 3)
    assert done.slices > 0
    with pytest.raises(NotFound):
        me.history(item)
    with pytest.raises(Compacted):
        me.at(1).list()
    assert memory.admin.verify() == []


def test_the_past_is_kept_by_time_too(memory: Memory, me: ScopedMemory, clock: ManualClock) -> None:
    me.forget(me.observe("old").id)
    clock.tick(10 * DAY)
    me.observe("new")
    clock.tick(DAY)
    assert memory.admin.gc(keep="5 days").horizon == 2
    assert memory.admin.gc(keep="5 days").versions == 0


def test_of_two_that_say_the_same_one_stays_with_the_evidence_of_both(memory: Memory, me: ScopedMemory) -> None:
    said = me.observe(["I live in Rome.", "I still live in Rome."]).ids
    first = me.write("Ada lives in Rome.", source=said[:1]).id
    second = me.write("Ada lives in  Rome.", source=said[1:]).id
    done = memory.admin.gc()
    assert [one.id for one in done.taken] == [second]
    assert set(me.get(first).item.source) == set(said)
    with pytest.raises(NotFound):
        me.get(second)
    assert memory.admin.verify() == []


def test_evidence_that_an_heir_takes_over_is_rested_on(memory: Memory, me: ScopedMemory, clock: ManualClock) -> None:
    said = [me.observe(text, tags=["retain:ephemeral"]).id for text in ("I live in Rome.", "I still live in Rome.")]
    first, second = (me.write("Ada lives in Rome.", source=[one]).id for one in said)
    clock.tick(2 * DAY)
    assert [one.id for one in memory.admin.gc().taken] == [second]
    assert me.get(first).item.source == tuple(me.get(one).item.id for one in said)


def test_shared_evidence_stays_while_something_of_a_user_rests_on_it(
    memory: Memory, me: ScopedMemory, clock: ManualClock
) -> None:
    every = memory.scope(user=SHARED)
    item, other = (every.observe(f"the code is {n}", tags=["retain:ephemeral"]).id for n in (1234, 99))
    fact = me.write("Ada's code is 1234.", source=[item]).id
    clock.tick(2 * DAY)
    assert [one.id for one in memory.admin.gc(dry_run=True).taken] == [other]
    assert [one.id for one in memory.admin.gc().taken] == [other]
    me.forget(fact)
    assert [one.id for one in memory.admin.gc().taken] == [item]


@pytest.fixture
def surveyed(memory: Memory) -> Iterator[Callable[..., Collection]]:
    """A run that has chosen what its collectors take; it goes on, to its end, when it is called again."""

    def go(work: Collection | str) -> Collection:
        fresh = isinstance(work, str)
        work = Collection(plan_for(SETTINGS, collectors=[work])) if isinstance(work, str) else work
        while not (work._batches if fresh else work.done):
            run(collect_slice(memory._opened.kernel.desk, work), memory._opened.answering.attend)
        return work

    yield go
    assert memory.admin.verify() == []


def test_what_somebody_came_to_rest_on_meanwhile_is_left(
    me: ScopedMemory, clock: ManualClock, surveyed: Callable[..., Collection]
) -> None:
    item = me.observe("the code is 1234", tags=["retain:ephemeral"]).id
    clock.tick(2 * DAY)
    work = surveyed("ttl")
    me.write("The code of Ada's door is 1234.", source=[item])
    assert surveyed(work).passed == 1
    assert me.get(item).item.text == "the code is 1234"


def test_what_somebody_came_to_rest_on_as_the_commit_was_made_is_left(
    me: ScopedMemory,
    clock: ManualClock,
    surveyed: Callable[..., Collection],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    item = me.observe("the code is 1234", tags=["retain:ephemeral"]).id
    clock.tick(2 * DAY)
    work = surveyed("ttl")
    me.write("The code of Ada's door is 1234.", source=[item])
    monkeypatch.setattr(collection, "rested_on", lambda *_: set())  # it looked just before
    assert surveyed(work).passed == 1
    assert me.get(item).item.text == "the code is 1234"


def test_what_is_kept_meanwhile_keeps_what_it_rests_on(
    me: ScopedMemory, clock: ManualClock, surveyed: Callable[..., Collection]
) -> None:
    item = me.observe("the code is 1234", tags=["retain:ephemeral"]).id
    fact = me.write("Ada's code is 1234.", source=[item], tags=["retain:ephemeral"]).id
    me.pin(item)
    me.unpin(item)
    clock.tick(2 * DAY)
    work = surveyed("ttl")
    me.pin(fact)
    assert surveyed(work).passed == 2
    assert me.get(fact).item.source == (me.get(item).item.id,)


def test_what_was_written_anew_meanwhile_is_left(
    me: ScopedMemory, clock: ManualClock, surveyed: Callable[..., Collection]
) -> None:
    item = me.write("Ada's code is 1234.", tags=["retain:ephemeral"]).id
    clock.tick(2 * DAY)
    work = surveyed("ttl")
    me.revise(item, tags=())
    assert surveyed(work).passed == 1
    assert me.get(item).item.tags == ()


def test_a_duplicate_stays_where_the_first_was_forgotten_meanwhile(
    me: ScopedMemory, surveyed: Callable[..., Collection]
) -> None:
    said = me.observe(["I live in Rome.", "I still live in Rome."]).ids
    first, second = (me.write("Ada lives in Rome.", source=[one]).id for one in said)
    work = surveyed("duplicates")
    me.forget(first)
    assert surveyed(work).passed == 1
    assert me.get(second).item.source == said[1:]


def test_duplicates_of_several_batches_have_one_heir(
    me: ScopedMemory, surveyed: Callable[..., Collection], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(collection, "BATCH", 2)
    said = me.observe([f"I live in Rome, I said {n} times." for n in range(6)]).ids
    first, *_ = (me.write("Ada lives in Rome.", source=[one]).id for one in said)
    assert surveyed(surveyed("duplicates")).passed == 0
    assert set(me.get(first).item.source) == set(said)


def test_a_hold_keeps_what_a_collector_would_take_and_what_a_run_would_drop(
    memory: Memory, me: ScopedMemory, clock: ManualClock
) -> None:
    item = me.observe("the code is 1234", tags=["retain:ephemeral"]).id
    number = memory.admin.hold(user="ada", item=item, reason="case 7")
    clock.tick(2 * DAY)
    me.forget(item)
    done = memory.admin.gc(keep="0 commits")
    assert f"hold {number}" in done.held_back
    assert done.taken == ()
    with pytest.raises(Refused, match="case 7"):
        me.erase(item)
    (hold,) = memory.admin.holds()
    assert (hold.id, hold.reason) == (number, "case 7")
    memory.admin.release_hold(number)
    assert memory.admin.gc(keep="0 commits").held_back == ""
    with pytest.raises(NotFound):
        me.history(item)


def test_an_unknown_collector_or_span_is_refused(memory: Memory) -> None:
    with pytest.raises(Invalid):
        memory.admin.gc(collectors=["dust"])
    with pytest.raises(Invalid):
        memory.admin.gc(keep="a while")


def test_a_run_goes_one_slice_at_a_time_and_others_write_in_between(memory: Memory, me: ScopedMemory) -> None:
    for n in range(20):
        me.forget(me.observe(f"gone {n}").id)
    work = Collection(plan_for(SETTINGS, keep=RetainedPast(commits=0), collectors=["ttl"]))
    steps = 0
    while not work.done:
        run(collect_slice(memory._opened.kernel.desk, work), memory._opened.answering.attend)
        me.observe(f"meanwhile {steps}")
        steps += 1
    assert steps > 3
    assert me.count() == steps
    assert memory.admin.verify() == []


def collected(memory: Memory, plan: CollectionPlan) -> Collected:
    opened = memory._opened
    return gc(opened.store, opened.kernel.desk, opened.answering.perform, plan)


def test_a_trigger_fires_once_much_is_dead_and_the_run_teaches_what_it_paid(memory: Memory, me: ScopedMemory) -> None:
    desk, perform = memory._opened.kernel.desk, memory._opened.answering.attend
    me.observe("stays")
    assert run(due(desk, "default", 100, 0, 0.0), perform) is None
    for n in range(5):
        me.forget(me.observe(f"gone {n}").id)
    trigger = run(due(desk, "default", 100, 0, 0.0), perform)
    assert trigger == "fragmentation"
    collected(memory, plan_for(SETTINGS, keep=RetainedPast(commits=0), trigger=trigger))
    record = run(recalled("default"), perform)
    assert record.bandit.runs == {"fragmentation": 1}
    assert run(due(desk, "default", 100, 0, 0.0), perform) is None


@settings(max_examples=15)
@given(seed=st.integers(0, 10_000))
def test_recall_of_what_stands_is_unchanged_and_a_dry_run_says_what_a_run_does(seed: int) -> None:
    draw, clock = Random(seed), ManualClock(START, step=1_000)
    with Memory("memory:", settings=SETTINGS, clock=clock, entropy=SeededEntropy(seed), embedder="none") as memory:
        me = memory.scope(user="ada")
        _live(me, draw)
        clock.tick(2 * DAY)
        dry = memory.admin.gc(dry_run=True)
        assert memory.admin.gc().taken == dry.taken
        before = [_answers(me), [v.item for v in me.list(limit=100)]]
        memory.admin.gc(keep="0 commits", collectors=[])
        assert [_answers(me), [v.item for v in me.list(limit=100)]] == before
        assert memory.admin.verify() == []


def _live(me: ScopedMemory, draw: Random) -> None:
    words = ["rome", "lisbon", "boat", "tea", "garden", "rain"]
    ids, facts = [], []
    for n in range(25):
        text = " ".join(draw.choices(words, k=4))
        tags = draw.choice(((), ("retain:ephemeral",), ("retain:keep",)))
        ids.append(me.observe(text, tags=tags, said=moment(START) + timedelta(hours=n)).id)
        if n % 3 == 0:
            facts.append(me.write(draw.choice(words), kind=Kind.FACT, source=[draw.choice(ids)]).id)
        if n % 5 == 4:
            me.forget(ids.pop(draw.randrange(len(ids))))
        if n % 7 == 6:
            me.pin(draw.choice(ids))


def _answers(me: ScopedMemory) -> list[list[tuple[str, float]]]:
    return [[(r.id, r.score) for r in me.recall(word).items] for word in ("rome", "tea garden", "boat rain")]


def test_an_older_file_gives_its_room_back_when_it_is_written_anew(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with Memory(path, settings=SETTINGS, embedder="none") as memory:
        me = memory.scope(user="ada")
        gone = me.observe([f"gone {n} " + "word " * 200 for n in range(200)]).ids
        me.observe("stays")
        me.forget(*gone)
        memory.admin.gc(keep="0 commits")
        state = memory.admin.state_hash()
    before, after = rebuild(path)
    assert after <= before
    with Memory(path, settings=SETTINGS, embedder="none") as memory:
        assert memory.admin.info().settings["auto_vacuum"] == "2"
        assert memory.admin.state_hash() == state
        assert memory.admin.verify() == []


def test_a_dry_run_says_how_much_of_the_past_would_go_and_then_just_that_goes(memory: Memory, me: ScopedMemory) -> None:
    fact = me.write("one").id
    me.revise(fact, text="two")
    me.forget(me.observe("gone").id)
    me.observe("stands")
    plan = memory.admin.gc(dry_run=True, keep="1 commits")
    assert (plan.horizon_before, plan.horizon, plan.versions) == (0, 4, 3)
    assert memory.admin.gc(dry_run=True, keep="1 commits").horizon_before == 0
    done = memory.admin.gc(keep="1 commits")
    assert (done.horizon, done.versions) == (4, 3)
    again = memory.admin.gc(dry_run=True, keep="1 commits")
    assert again.horizon_before == 4


@pytest.mark.parametrize("keep", ["0 commits", "0 days"])
def test_a_dry_run_says_that_what_is_taken_goes_for_good_where_no_past_is_kept(
    memory: Memory, me: ScopedMemory, clock: ManualClock, keep: str
) -> None:
    for n in range(70):
        me.observe(f"code {n}", tags=["retain:ephemeral"])
    clock.tick(2 * DAY)
    plan = memory.admin.gc(dry_run=True, keep=keep)
    done = memory.admin.gc(keep=keep)
    assert (plan.horizon, plan.versions) == (done.horizon, done.versions) == (72, 140)


def test_a_dry_run_counts_the_heirs_of_what_is_taken(memory: Memory, me: ScopedMemory) -> None:
    said = [me.observe("I moved to Lisbon.").id for _ in range(2)]
    for source in said:
        me.write("Ada lives in Lisbon.", source=[source])
    plan = memory.admin.gc(dry_run=True, collectors=["duplicates"], keep="0 commits")
    done = memory.admin.gc(collectors=["duplicates"], keep="0 commits")
    assert len(done.taken) == 1
    assert plan.versions >= done.versions > 0


def test_a_past_longer_than_there_is_keeps_all_of_it(memory: Memory, me: ScopedMemory) -> None:
    me.forget(me.observe("gone").id)
    done = memory.admin.gc(keep="999999999999999 days")
    assert (done.horizon, done.versions) == (0, 0)


def test_without_a_run_before_the_clock_counts_from_the_first_commit(
    memory: Memory, me: ScopedMemory, clock: ManualClock
) -> None:
    desk, perform = memory._opened.kernel.desk, memory._opened.answering.attend
    me.observe("stays")
    assert run(due(desk, "default", 100, 0, 0.0), perform) is None
    clock.tick(7 * 3600 * 1_000_000)
    assert run(due(desk, "default", 100, 0, 0.0), perform) == "periodic"


def test_a_triggered_run_that_did_nothing_is_remembered_and_not_journaled(memory: Memory, me: ScopedMemory) -> None:
    me.observe("stays")
    perform, changes = memory._opened.answering.attend, len(list(me.changes()))
    did = collected(memory, plan_for(SETTINGS, trigger="periodic"))
    assert did.seq is None
    assert len(list(me.changes())) == changes
    record = run(recalled("default"), perform)
    assert record.at > 0
    assert record.bandit.runs == {"periodic": 1}


def test_a_class_that_is_none_is_told_with_how_many_items_name_it(memory: Memory, me: ScopedMemory) -> None:
    me.observe(["one", "two"], tags=["retain:ephemral"])
    me.observe("three", tags=["retain:keep", "retain:ephemeral", "other"])
    me.observe("four", tags=["retain:unheard of"])
    assert memory.admin.gc(dry_run=True).unknown_classes == {"ephemral": 2, "unheard of": 1}
    assert memory.admin.gc().unknown_classes == {"ephemral": 2, "unheard of": 1}
    assert me.count() == 4


def test_writing_a_file_anew_opens_none_elsewhere(tmp_path: Path, opened: list[str | None]) -> None:
    path = tmp_path / "memory.db"
    with Memory(path, settings=SETTINGS, embedder="none") as memory:
        memory.scope(user="ada").observe([f"said {n} " + "x" * 40_000 for n in range(100)])
    opened.clear()
    rebuild(path)
    assert {Path(name).parent if name else name for name in opened} == {tmp_path}


def test_a_file_that_cannot_be_written_anew_is_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with Memory(path, settings=SETTINGS, embedder="none") as memory:
        me = memory.scope(user="ada")
        me.observe([f"said {n} " + "word " * 200 for n in range(200)])
        state = memory.admin.state_hash()
    with largest_file(path.stat().st_size // 2), pytest.raises(StoreError):
        rebuild(path)
    with Memory(path, settings=SETTINGS, embedder="none") as memory:
        assert memory.admin.state_hash() == state
        assert memory.admin.verify() == []


@pytest.fixture
def opened() -> Iterator[list[str | None]]:
    """The names of files that SQLite opens; None for one that it makes somewhere for itself."""
    names: list[str | None] = []
    before = apsw.vfs_names()[0]

    class Watching(apsw.VFS):
        def __init__(self) -> None:
            super().__init__("watching", base="")

        def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:
            names.append(name.filename() if isinstance(name, apsw.URIFilename) else name)
            return super().xOpen(name, flags)

    watching = Watching()
    apsw.set_default_vfs("watching")
    yield names
    apsw.set_default_vfs(before)
    watching.unregister()


def test_looking_over_a_space_takes_no_long_look(
    memory: Memory, me: ScopedMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(surveying, "PAGE", 5)
    said = me.observe([f"said {n}" for n in range(20)]).ids
    facts = [me.write(f"fact {n}", source=[item]).id for n, item in enumerate(said)]
    for fact, item in zip(facts, said, strict=True):
        me.link(fact, item, "about")
    me.forget(*said)
    looks: list[Request] = []

    def counted(request: Request) -> object:
        looks.append(request)
        return memory._opened.answering.attend(request)

    work = Collection(plan_for(SETTINGS, dry_run=True))
    while not work.done:
        run(collect_slice(memory._opened.kernel.desk, work), counted)
    pages = 5 + 4 + 4  # of what stands, the last one empty; of its sources; of what it is linked to
    assert len(looks) >= pages


def test_commits_of_the_collection_itself_do_not_count_among_those_that_are_kept(memory: Memory) -> None:
    me = memory.scope(user="ada")
    for text in ("one", "two", "three"):
        me.write(text)
    gone = me.forget(me.write("four").id)
    horizons = [memory.admin.gc(keep="1 commits").horizon for _ in range(3)]
    assert horizons == [gone.seq - 1] * 3
    me.undo(gone.seq)
    assert "four" in {version.item.text for version in me.list()}
    assert memory.admin.gc(keep="0 commits").horizon > gone.seq
