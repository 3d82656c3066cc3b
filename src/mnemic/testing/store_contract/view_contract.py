"""Three views of the past, which combine: the journal's, what was known, what held."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest

from mnemic.core.clock import FOREVER
from mnemic.core.events import Verb
from mnemic.core.ids import to_bytes
from mnemic.core.items import Item, Kind, Sight, State
from mnemic.core.queries import Filter, View
from mnemic.errors import Compacted
from mnemic.store.engine import compaction
from mnemic.testing.generators import TEXTS, ManualClock
from mnemic.testing.store_contract.contract_world import TENANT, World, day, texts_of, us


@pytest.fixture
def moved(world: World) -> World:
    """Said on day 10: lives in Paris, since day 0. Said on day 50: moved to Lisbon on day 30. Then other things."""
    paris = world.item("Paris", said=day(10), valid_from=day(0))
    lisbon = world.item("Lisbon", said=day(50), valid_from=day(30))
    world.commit(world.put(paris))  # 1
    world.commit(*world.superseding(paris, lisbon))  # 2
    plan = world.item("plan", said=day(20), valid_from=day(60), valid_to=day(70))
    world.commit(world.put(plan))  # 3
    world.retire(plan)  # 4
    world.commit(world.put(replace(lisbon, text="Lisboa"), Verb.REVISED))  # 5
    return world


def test_now_shows_what_stands_and_is_active(moved: World) -> None:
    assert moved.texts() == ["Lisboa"]


@pytest.mark.parametrize(
    ("seq", "texts"),
    [(0, []), (1, ["Paris"]), (2, ["Lisbon"]), (3, ["Lisbon", "plan"]), (4, ["Lisbon"]), (5, ["Lisboa"])],
)
def test_at_shows_the_journal_as_it_stood_after_a_commit(moved: World, seq: int, texts: list[str]) -> None:
    assert moved.texts(view=View(at=seq)) == texts


@pytest.mark.parametrize(
    ("when", "texts"),
    [(9, []), (10, ["Paris"]), (30, ["Paris"]), (49, ["Paris"]), (50, ["Lisboa"]), (1000, ["Lisboa"])],
)
def test_as_of_shows_what_was_known_then(moved: World, when: int, texts: list[str]) -> None:
    assert moved.texts(view=View(as_of=us(when))) == texts


@pytest.mark.parametrize(
    ("when", "texts"),
    [(-1, []), (0, ["Paris"]), (10, ["Paris"]), (29, ["Paris"]), (30, ["Lisboa"]), (65, ["Lisboa"])],
)
def test_valid_at_shows_what_we_now_believe_held_then(moved: World, when: int, texts: list[str]) -> None:
    assert moved.texts(view=View(valid_at=us(when))) == texts


def test_the_views_combine(moved: World) -> None:
    assert moved.texts(view=View(as_of=us(60), valid_at=us(20))) == ["Paris"]  # that it held then was still believed
    assert moved.texts(view=View(as_of=us(40), valid_at=us(40))) == ["Paris"]  # that it had ended was not yet known
    assert moved.texts(view=View(as_of=us(40), valid_at=us(20))) == ["Paris"]
    assert moved.texts(view=View(at=3, valid_at=us(65))) == ["Lisbon", "plan"]
    assert moved.texts(view=View(at=4, valid_at=us(65))) == ["Lisbon"]
    assert moved.texts(view=View(at=1, as_of=us(1000))) == ["Paris"]
    assert moved.texts(view=View(at=1, as_of=us(5))) == []


def test_every_way_of_reading_shows_the_same(moved: World) -> None:
    space = (moved.space(),)
    with moved.store.read() as snapshot:
        ids = {v.item.id for _, v in snapshot.scan(space, Filter(states=tuple(State)))}
        for at, as_of, valid_at in product((None, 1, 3, 5), (None, us(9), us(40), us(60)), (None, us(10), us(65))):
            view = View(at=at, as_of=as_of, valid_at=valid_at)
            scanned = [v for _, v in snapshot.scan(space, view=view)]
            assert snapshot.count(space, view=view) == len(scanned)
            assert snapshot.latest(space, view=view) == scanned[::-1]
            assert snapshot.get(space, list(ids), view) == {v.item.id: v for v in scanned}


def test_a_filter_may_ask_for_other_states(moved: World) -> None:
    assert moved.texts(Filter(states=(State.RETIRED,))) == ["plan"]
    assert moved.texts(Filter(states=(State.SUPERSEDED,))) == ["Paris"]
    assert sorted(moved.texts(Filter(states=tuple(State)))) == ["Lisboa", "Paris", "plan"]


def test_a_filter_means_all_of_its_fields_and_any_of_their_values(world: World) -> None:
    items = [
        world.item("a", kind=Kind.TURN, said=day(1), session="s", agent="x", tags=("red", "big")),
        world.item("b", kind=Kind.FACT, said=day(2), session="s", tags=("blue",)),
        world.item("c", kind=Kind.PLAN, said=day(3), agent="x", tags=("red",)),
    ]
    world.commit(*(world.put(item) for item in items))
    assert world.texts(Filter(kinds=(Kind.TURN, Kind.FACT))) == ["a", "b"]
    assert world.texts(Filter(tags=("red", "blue"))) == ["a", "b", "c"]
    assert world.texts(Filter(tags=("re", "RED", "red%"))) == []
    assert world.texts(Filter(session="s")) == ["a", "b"]
    assert world.texts(Filter(session="s", agent="x")) == ["a"]
    assert world.texts(Filter(said_from=us(2))) == ["b", "c"]
    assert world.texts(Filter(said_from=us(1), said_to=us(2))) == ["a"]
    assert world.texts(Filter(kinds=(Kind.PLAN,), tags=("red",), agent="x", said_to=us(4))) == ["c"]
    assert world.texts(Filter(agent="nobody")) == []


def test_an_author_is_who_derived_an_item_and_no_slot_alone(world: World) -> None:
    turn = world.item("turn", kind=Kind.TURN)
    derived = [
        world.item(f"{name} {sight}", slots={"by": name}, source=(turn.id,), sight=sight)
        for name in ("mem0", "zep")
        for sight in Sight
    ]
    forged = world.item("forged", slots={"by": "mem0"}, tags=("mem0",))
    world.commit(*(world.put(item) for item in (turn, *derived, forged)))
    assert world.texts(Filter(by=("mem0",))) == [f"mem0 {sight}" for sight in Sight]
    assert len(world.texts(Filter(by=("mem0", "zep")))) == 6
    assert world.texts(Filter(by=("zep",), tags=("mem0",))) == []
    assert world.texts(Filter(by=("mem0",), sights=(Sight.ALL, Sight.NONE))) == ["mem0 all", "mem0 none"]
    assert all(text.endswith(" own") for text in world.texts(Filter(sights=(Sight.OWN,))))
    with world.store.read() as snapshot:
        assert snapshot.count((world.space(),), Filter(by=("mem0", "none"))) == 3
    world.erase(turn.id)
    assert world.texts(Filter(by=("mem0", "zep"))) == []
    assert world.texts(Filter(states=tuple(State))) == ["forged"]


def test_latest_is_newest_first_and_bounded(world: World) -> None:
    world.commit(*(f"{n}" for n in range(7)))
    with world.store.read() as snapshot:
        assert texts_of(snapshot.latest((world.space(),), limit=3)) == ["6", "5", "4"]


def test_pages_join_without_gap_or_repeat(world: World) -> None:
    for n in range(10):
        world.commit(f"{n}", user="bob" if n % 3 else "ada")
    assert world.texts(user="bob") == ["1", "2", "4", "5", "7", "8"]


def test_history_is_every_version_oldest_first(world: World) -> None:
    item = world.item("one")
    world.commit(world.put(item))
    world.commit("between")
    world.commit(world.put(replace(item, text="two"), Verb.REVISED))
    world.retire(replace(item, text="two"))
    with world.store.read() as snapshot:
        history = snapshot.history((world.space(),), item.id)
        recorded = {change.seq: change.at for change in snapshot.changes(world.tenant(), 0, 100)}
    assert [(v.item.text, v.item.state, v.seq_from, v.seq_to) for v in history] == [
        ("one", State.ACTIVE, 1, 3),
        ("two", State.ACTIVE, 3, 4),
        ("two", State.RETIRED, 4, None),
    ]
    assert [v.recorded for v in history] == [recorded[v.seq_from] for v in history]


def test_the_extremes_of_time_are_kept(world: World) -> None:
    first, last = day(0).replace(year=1, month=1, day=2), day(0).replace(year=9999, month=12, day=30)
    item = world.item("always", said=first, valid_from=first, valid_to=last)
    world.commit(world.put(item))
    version = world.get(item.id)
    assert version is not None
    assert version.item == item
    assert world.texts(view=View(valid_at=us(0))) == ["always"]


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_any_text_comes_back_as_it_went_in(world: World, text: str) -> None:
    item = Item(id=world.item("").id, kind=Kind.TURN, text=text, said=day(0), slots={"speaker": text[:50]})
    world.commit(world.put(item))
    version = world.get(item.id)
    assert version is not None
    assert version.item == item
    assert world.faults() == []


def test_entries_tell_of_every_version_and_ascend(moved: World) -> None:
    space = moved.space()
    with moved.store.read() as snapshot:
        entries = list(snapshot.entries(space))
        versions = snapshot.versions(space, [entry.ver for entry in entries])
        middle = entries[len(entries) // 2].ver
        later = list(snapshot.entries(space, middle))
    assert [(e.ver, e.part) for e in entries] == sorted((e.ver, e.part) for e in entries)
    assert later == [entry for entry in entries if entry.ver > middle]
    assert len(entries) == 6
    for entry in entries:
        version = versions[entry.ver]
        assert (entry.seq_from, entry.seq_to) == (version.seq_from, version.seq_to or FOREVER)
        assert entry.state == version.item.state


def test_an_item_of_many_parts_has_an_entry_for_each(world: World) -> None:
    world.commit(world.put(world.item("short"), terms=(b"a" * 8, b"b" * 16, b"")))
    with world.store.read() as snapshot:
        entries = list(snapshot.entries(world.space()))
    assert [(entry.part, entry.terms) for entry in entries] == [(0, b"a" * 8), (1, b"b" * 16), (2, b"")]


def test_an_entry_numbers_the_shelf_of_its_item(world: World) -> None:
    world.commit(world.put(world.item("x", agent="bot", session="s")), "bare")
    with world.store.read() as snapshot:
        space = world.space()
        shelved, bare = snapshot.entries(space)
        assert (shelved.agent, shelved.session) == (snapshot.name_id(space, "bot"), snapshot.name_id(space, "s"))
        assert (bare.agent, bare.session) == (0, 0)


def test_closed_tells_what_commits_after_a_seq_have_closed(moved: World) -> None:
    space = moved.space()
    with moved.store.read() as snapshot:
        ends = {entry.ver: entry.seq_to for entry in snapshot.entries(space) if entry.seq_to != FOREVER}
        assert sorted(ends.values()) == [2, 4, 5]
        for seq in range(7):
            assert sorted(snapshot.closed(space, seq)) == sorted((v, to) for v, to in ends.items() if to > seq)


def test_a_moment_finds_the_last_commit_recorded_by_then(world: World) -> None:
    for _ in range(3):
        world.commit("x")
    at = [round(change.at.timestamp() * 1_000_000) for change in world.changes()]
    with world.store.read() as snapshot:
        number = snapshot.tenant(TENANT)
        assert number is not None
        assert snapshot.seq_at(number, at[0] - 1) == 0
        assert snapshot.seq_at(number, at[-1]) == 3
        assert snapshot.seq_at(number, FOREVER) == 3


def test_ids_are_found_by_their_range_and_their_end_whatever_their_number(world: World) -> None:
    items = [world.item(str(n)) for n in range(1_200)]
    for start in range(0, len(items), 400):
        world.commit(*(world.put(item) for item in items[start : start + 400]))
    world.retire(items[7])
    world.commit(world.put(replace(items[8], text="again"), Verb.REVISED))
    theirs = world.item("theirs")
    world.commit(world.put(theirs), user="ben")
    everything, ids = (bytes(16), b"\xff" * 16), sorted(item.id for item in items)
    shown, kept = [i for i in ids if i != items[7].id], Filter(states=tuple(State))
    with world.store.read() as snapshot:
        spaces = (world.space(),)
        assert list(snapshot.ids_between(spaces, *everything)) == shown
        assert list(snapshot.ids_between(spaces, *everything, where=kept)) == ids
        low, high = to_bytes(ids[100]), to_bytes(ids[900])
        assert list(snapshot.ids_between(spaces, low, high, where=kept)) == ids[100:901]
        assert list(snapshot.ids_between(spaces, high, low)) == []
        tail = to_bytes(ids[5])[-2:]
        assert list(snapshot.ids_between(spaces, *everything, tail, kept)) == [
            i for i in ids if to_bytes(i).endswith(tail)
        ]
        assert theirs.id not in shown


def test_behind_the_horizon_nothing_is_answered_in_part(moved: World) -> None:
    compaction.compact(moved.store, TENANT, 3)
    with moved.store.read() as snapshot:
        space = (moved.space(),)
        view = View(at=2)
        for read in (
            lambda: snapshot.scan(space, view=view),
            lambda: snapshot.latest(space, view=view),
            lambda: snapshot.count(space, view=view),
            lambda: snapshot.get(space, (moved.item("x").id,), view),
            lambda: snapshot.links(space, (moved.item("x").id,), view),
        ):
            with pytest.raises(Compacted, match="2"):
                read()
    assert moved.texts(view=View(at=3)) == ["Lisbon", "plan"]


def test_a_moment_at_the_horizon_can_still_be_asked_for(world: World, clock: ManualClock) -> None:
    item = world.item("one")
    world.commit(world.put(item))
    clock.tick()
    world.commit(world.put(replace(item, text="two"), Verb.REVISED))
    clock.tick()
    world.commit(world.put(replace(item, text="three"), Verb.REVISED))
    at = [round(change.at.timestamp() * 1_000_000) for change in world.changes()]
    for horizon in (2, 3):
        clock.tick()
        compaction.compact(world.store, TENANT, horizon)
    with world.store.read() as snapshot:
        assert [snapshot.seq_at(world.tenant(), moment_) for moment_ in at] == [0, 0, 3]
        assert snapshot.seq_at(world.tenant(), at[2] + 1) == 3
    assert world.faults() == []
