"""Collecting through the front door: a run takes what it said, undo brings it back, and recall stays the same."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemic.collecting.housekeeping import gc, plan_for, rebuild
from mnemic.collecting.slices import Collection, collect_slice, due, recalled
from mnemic.core.clock import moment
from mnemic.core.events import Verb
from mnemic.core.items import Kind
from mnemic.errors import Compacted, Invalid, NotFound, Refused
from mnemic.flow import run
from mnemic.memory import Memory, ScopedMemory
from mnemic.settings import Settings
from mnemic.testing.generators import START, ManualClock, SeededEntropy
from mnemic.tiers.retention import Past

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
    work = Collection(plan_for(SETTINGS, keep=Past(commits=0), collectors=["ttl"]))
    steps = 0
    while not work.done:
        run(collect_slice(memory._opened.kernel.desk, work), memory._opened.perform)
        me.observe(f"meanwhile {steps}")
        steps += 1
    assert steps > 3
    assert me.count() == steps
    assert memory.admin.verify() == []


def test_a_trigger_fires_once_much_is_dead_and_the_run_teaches_what_it_paid(memory: Memory, me: ScopedMemory) -> None:
    desk, perform = memory._opened.kernel.desk, memory._opened.perform
    me.observe("stays")
    assert run(due(desk, "default", 100, 0, 0.0), perform) is None
    for n in range(5):
        me.forget(me.observe(f"gone {n}").id)
    trigger = run(due(desk, "default", 100, 0, 0.0), perform)
    assert trigger == "fragmentation"
    gc(memory._opened, plan_for(SETTINGS, keep=Past(commits=0), trigger=trigger))
    record = run(recalled("default"), perform)
    assert record.bandit.runs == {"fragmentation": 1}
    assert run(due(desk, "default", 100, 0, 0.0), perform) is None


@settings(max_examples=15, deadline=None)
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


def test_a_past_longer_than_there_is_keeps_all_of_it(memory: Memory, me: ScopedMemory) -> None:
    me.forget(me.observe("gone").id)
    done = memory.admin.gc(keep="999999999999999 days")
    assert (done.horizon, done.versions) == (0, 0)


def test_without_a_run_before_the_clock_counts_from_the_first_commit(
    memory: Memory, me: ScopedMemory, clock: ManualClock
) -> None:
    desk, perform = memory._opened.kernel.desk, memory._opened.perform
    me.observe("stays")
    assert run(due(desk, "default", 100, 0, 0.0), perform) is None
    clock.tick(7 * 3600 * 1_000_000)
    assert run(due(desk, "default", 100, 0, 0.0), perform) == "periodic"


def test_a_triggered_run_that_did_nothing_is_remembered_and_not_journaled(memory: Memory, me: ScopedMemory) -> None:
    me.observe("stays")
    perform, changes = memory._opened.perform, len(list(me.changes()))
    did = gc(memory._opened, plan_for(SETTINGS, trigger="periodic"))
    assert did.seq is None
    assert len(list(me.changes())) == changes
    record = run(recalled("default"), perform)
    assert record.at > 0
    assert record.bandit.runs == {"periodic": 1}
