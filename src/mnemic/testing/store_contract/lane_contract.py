"""Lanes: leased to one at a time, their cursors move once, in the commit that says what came of it."""

from __future__ import annotations

import random
import threading
from dataclasses import replace
from itertools import pairwise

import pytest

from mnemic.core.clock import FOREVER
from mnemic.core.events import Verb
from mnemic.core.items import Strength
from mnemic.core.scope import SHARED
from mnemic.errors import Conflict, Invalid
from mnemic.store.engine import journal_io, lane_cursors, rewinding
from mnemic.store.sqlite.sqlite_store import MemoryStore
from mnemic.store.values.drafts import Advance, Draft, Fork, Note, Op
from mnemic.store.values.work import DueSpaces, Lane
from mnemic.testing.deeds import state_hash
from mnemic.testing.generators import ManualClock
from mnemic.testing.store_contract.contract_world import TENANT, World

LANE = "house"
SECOND = 1_000_000


def lane(world: World, user: str = "ada") -> Lane:
    """The lane as it stands."""
    with world.store.read() as snapshot:
        return snapshot.lane(world.space(user), LANE)


def newest(world: World, user: str = "ada") -> int:
    """The last version of a space."""
    with world.store.read() as snapshot:
        return snapshot.newest(world.space(user))


def step(world: World, *ops: Op, after: int, upto: int, owner: str = "", user: str = "ada") -> int:
    """Commit ops as a step of the lane; returns the seq it answers."""
    advance = Advance(name=LANE, owner=owner, after=after, upto=upto)
    return world.store.commit(Draft(tenant=TENANT, user=user, actor="tester", ops=ops, lane=advance)).seq


def follow(world: World) -> None:
    """Have the lane followed from now on."""
    while world.store.transact(lane_cursors.follow, LANE):
        pass


def due(world: World, now: int = FOREVER) -> list[int]:
    """The spaces that the lane is to look at."""
    with world.store.read() as snapshot:
        return snapshot.due(LANE, now)


def test_a_lane_that_never_ran_stands_at_the_beginning(world: World) -> None:
    world.commit("x")
    assert lane(world) == Lane(space=world.space(), name=LANE)


def test_the_newest_version_of_a_space_is_known(world: World) -> None:
    world.commit("x")
    first = newest(world)
    world.commit("y", user="bob")
    assert newest(world) == first
    world.commit("z")
    assert newest(world) > newest(world, "bob") > first
    with world.store.read() as snapshot:
        assert snapshot.newest(99) == 0


def test_the_number_of_an_erased_version_is_never_given_again(world: World) -> None:
    world.commit("x")
    for text in ("y", "z"):
        last = world.commit(text).ids[0]
        number = newest(world)
        world.erase(last)
        assert newest(world) < number
        world.commit("another")
        assert newest(world) > number
    number = newest(world)
    world.erase(whole=True)
    world.commit("a stranger")
    assert newest(world) > number
    assert world.faults() == []


def test_a_step_moves_the_cursor_in_the_commit(world: World) -> None:
    world.commit("x")
    end = newest(world)
    seq = step(world, world.put("derived"), after=0, upto=end)
    assert (lane(world).cursor, seq) == (end, 2)
    assert world.texts() == ["x", "derived"]


def test_a_step_without_ops_is_no_commit(world: World) -> None:
    world.commit("x")
    before = world.changes()
    assert step(world, after=0, upto=newest(world)) == world.seq()
    assert lane(world).cursor == newest(world)
    assert world.changes() == before
    assert world.faults() == []


def test_a_step_from_elsewhere_is_refused_and_nothing_is_written(world: World) -> None:
    world.commit("x", "y")
    end = newest(world)
    step(world, after=0, upto=end)
    for after in (0, end - 1, end + 1):
        with pytest.raises(Conflict, match=LANE):
            step(world, world.put("twice"), after=after, upto=end + 1)
        with pytest.raises(Conflict):
            step(world, after=after, upto=end + 1)
    assert world.texts() == ["x", "y"]
    assert (lane(world).cursor, world.seq()) == (end, 1)


def test_a_refused_commit_leaves_the_cursor_where_it_was(world: World) -> None:
    item = world.item("x")
    world.commit(world.put(item))
    advance = Advance(name=LANE, owner="", after=0, upto=newest(world))
    draft = Draft(tenant=TENANT, user="ada", actor="t", ops=(world.put("y"),), expect={item.id: 9}, lane=advance)
    with pytest.raises(Conflict):
        world.store.commit(draft)
    assert lane(world).cursor == 0


def test_a_lane_never_goes_back(world: World) -> None:
    world.commit("x")
    step(world, after=0, upto=newest(world))
    with pytest.raises(Invalid):
        step(world, after=newest(world), upto=0)


def test_a_step_that_has_landed_is_not_made_twice(world: World) -> None:
    world.commit("x")
    put, end = world.put("derived", key="house:x"), newest(world)
    first = step(world, put, after=0, upto=end)
    assert step(world, put, after=0, upto=end) == first
    assert (lane(world).cursor, world.texts()) == (end, ["x", "derived"])


def test_a_step_whose_items_came_by_another_way_still_moves_the_cursor(world: World) -> None:
    world.commit("x")
    put, end = world.put("derived", key="house:x"), newest(world)
    world.commit(put)
    step(world, put, after=0, upto=end)
    assert (lane(world).cursor, world.texts()) == (end, ["x", "derived"])


def test_nothing_is_derived_from_what_was_erased_meanwhile(world: World) -> None:
    evidence, common = world.item("evidence"), world.item("common")
    world.commit(world.put(evidence), "stays")
    world.commit(world.put(common), user=SHARED)
    end = newest(world)
    first = world.item("of both", source=(evidence.id, common.id))
    step(world, world.put(first), world.put(world.item("of that", source=(first.id,))), after=0, upto=end)
    world.erase(evidence.id)
    with pytest.raises(Conflict, match="erased meanwhile"):
        step(world, world.put(world.item("again", source=(evidence.id,))), after=end, upto=end + 1)
    assert world.texts() == ["stays"]
    assert lane(world).cursor == end


def test_a_step_never_brings_an_erased_user_back(world: World) -> None:
    world.commit("x")
    world.commit("y", user="bob")
    world.erase(whole=True)
    with pytest.raises(Conflict):
        step(world, world.put("derived"), after=0, upto=1)
    with world.store.read() as snapshot:
        assert snapshot.space(world.tenant(), "ada") is None


def test_counters_of_use_are_no_step(world: World) -> None:
    item = world.item("x")
    world.commit(world.put(item))
    note = Note(verb=Verb.USED, payload=b"{}")
    advance = Advance(name=LANE, owner="", after=0, upto=1)
    used = {item.id: Strength(uses=1)}
    with pytest.raises(Invalid):
        world.store.commit(Draft(tenant=TENANT, user="ada", actor="t", ops=(note,), used=used, lane=advance))


def test_a_lease_keeps_others_out_until_it_ends(world: World, clock: ManualClock) -> None:
    world.commit("x")
    space = world.space()
    leased = world.store.transact(lane_cursors.claim, space, LANE, "one", 60)
    assert leased is not None
    assert (leased.owner, leased.cursor, leased.lease_until) == ("one", 0, clock.now() + 60 * SECOND)
    assert world.store.transact(lane_cursors.claim, space, LANE, "two", 60) is None
    clock.tick(59 * SECOND)
    assert world.store.transact(lane_cursors.claim, space, LANE, "two", 60) is None
    clock.tick(2 * SECOND)
    taken = world.store.transact(lane_cursors.claim, space, LANE, "two", 60)
    assert taken is not None
    assert taken.owner == "two"
    assert world.store.transact(lane_cursors.claim, space, LANE, "one", 60) is None


def test_one_may_prolong_ones_own_lease(world: World, clock: ManualClock) -> None:
    world.commit("x")
    world.store.transact(lane_cursors.claim, world.space(), LANE, "one", 60)
    clock.tick(50 * SECOND)
    again = world.store.transact(lane_cursors.claim, world.space(), LANE, "one", 60)
    assert again is not None
    assert again.lease_until == clock.now() + 60 * SECOND


def test_lanes_are_leased_one_by_one(world: World) -> None:
    world.commit("x")
    world.commit("y", user="bob")
    assert world.store.transact(lane_cursors.claim, world.space(), LANE, "one", 60) is not None
    assert world.store.transact(lane_cursors.claim, world.space(), "other", "two", 60) is not None
    assert world.store.transact(lane_cursors.claim, world.space("bob"), LANE, "three", 60) is not None


def test_who_has_no_name_leases_nothing_and_an_unknown_space_has_no_lanes(world: World) -> None:
    world.commit("x")
    with pytest.raises(Invalid):
        world.store.transact(lane_cursors.claim, world.space(), LANE, "", 60)
    assert world.store.transact(lane_cursors.claim, 99, LANE, "one", 60) is None


def test_only_who_holds_the_lease_moves_the_lane(world: World, clock: ManualClock) -> None:
    world.commit("x")
    end, space = newest(world), world.space()
    world.store.transact(lane_cursors.claim, space, LANE, "one", 60)
    for owner in ("two", ""):
        with pytest.raises(Conflict, match="leased"):
            step(world, world.put("y"), after=0, upto=end, owner=owner)
    clock.tick(61 * SECOND)
    world.store.transact(lane_cursors.claim, space, LANE, "two", 60)
    with pytest.raises(Conflict, match="leased"):
        step(world, after=0, upto=end, owner="one")
    step(world, after=0, upto=end, owner="two")
    assert lane(world).cursor == end


def test_a_lease_that_ran_out_and_nobody_took_still_moves_the_lane(world: World, clock: ManualClock) -> None:
    world.commit("x")
    world.store.transact(lane_cursors.claim, world.space(), LANE, "one", 60)
    clock.tick(61 * SECOND)
    step(world, after=0, upto=newest(world), owner="one")
    assert lane(world).cursor == newest(world)


def test_failures_are_counted_and_waited_for_until_one_run_succeeds(world: World, clock: ManualClock) -> None:
    world.commit("x")
    space = world.space()
    for attempt in (1, 2):
        assert world.store.transact(lane_cursors.claim, space, LANE, "one", 60) is not None
        world.store.transact(
            lane_cursors.release, space, LANE, "one", error="no model", not_before=clock.now() + 5 * SECOND
        )
        stands = lane(world)
        assert (stands.attempt, stands.error, stands.owner, stands.cursor) == (attempt, "no model", "", 0)
        assert world.store.transact(lane_cursors.claim, space, LANE, "one", 60) is None
        clock.tick(6 * SECOND)
    world.store.transact(lane_cursors.claim, space, LANE, "two", 60)
    world.store.transact(lane_cursors.release, space, LANE, "two")
    assert lane(world) == Lane(space=space, name=LANE, leased=clock.now())


def test_a_lease_that_has_passed_on_cannot_be_given_back(world: World, clock: ManualClock) -> None:
    world.commit("x")
    space = world.space()
    world.store.transact(lane_cursors.claim, space, LANE, "one", 1)
    clock.tick(2 * SECOND)
    world.store.transact(lane_cursors.claim, space, LANE, "two", 60)
    world.store.transact(lane_cursors.release, space, LANE, "one", error="late")
    assert lane(world).owner == "two"
    assert lane(world).error != "late"
    world.store.transact(lane_cursors.release, 99, LANE, "one", error="nowhere")


def test_the_backlog_names_the_spaces_with_work(world: World) -> None:
    world.commit("x")
    world.commit("y", user="bob")
    world.commit("z", user=SHARED)
    world.commit("gone", user="eve")
    world.erase(user="eve", whole=True)
    ada, bob, shared = world.space(), world.space("bob"), world.space(SHARED)
    with world.store.read() as snapshot:
        assert snapshot.backlog(LANE) == sorted((s, 0, snapshot.newest(s)) for s in (ada, bob, shared))
    step(world, after=0, upto=newest(world))
    with world.store.read() as snapshot:
        assert [space for space, _, _ in snapshot.backlog(LANE)] == sorted((bob, shared))
        assert len(snapshot.backlog("another")) == 3
    cursor = newest(world)
    world.commit("more")
    with world.store.read() as snapshot:
        assert (ada, cursor, snapshot.newest(ada)) in snapshot.backlog(LANE)


def test_what_is_due_stands_in_a_row_from_the_commit_that_makes_work_to_the_step_that_leaves_none(world: World) -> None:
    world.commit("x")
    world.commit("y", user="bob")
    ada, bob = world.space(), world.space("bob")
    assert due(world) == []
    follow(world)
    assert due(world) == [ada, bob]
    step(world, after=0, upto=newest(world))
    assert due(world) == [bob]
    cursor = newest(world)
    world.commit("one", "two")
    assert due(world) == [ada, bob]
    step(world, after=cursor, upto=newest(world) - 1)
    assert due(world) == [ada, bob]
    cursor, end = newest(world) - 1, newest(world)
    step(world, world.put("made of it"), after=cursor, upto=end)
    assert due(world) == [ada, bob]  # what it wrote is before it
    step(world, after=end, upto=newest(world))
    assert due(world) == [bob]
    back = Advance(name=LANE, owner="", after=newest(world), upto=0, again=True)
    world.store.transact(lane_cursors.advance, ada, back)
    assert due(world) == [ada, bob]


def test_a_lane_is_followed_in_slices_and_misses_nothing_meanwhile(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lane_cursors, "FOLLOW_SPACES", 2)
    users = [f"user {n}" for n in range(5)]
    for user in users:
        world.commit("x", user=user)
    assert world.store.transact(lane_cursors.follow, LANE)
    world.commit("y", user="newcomer")
    with world.store.read() as snapshot:
        assert not snapshot.followed(LANE)
        assert len(snapshot.backlog(LANE)) == 6
    follow(world)
    with world.store.read() as snapshot:
        assert snapshot.followed(LANE)
        assert len(snapshot.backlog(LANE)) == 6
    assert due(world) == sorted(map(world.space, [*users, "newcomer"]))
    assert not world.store.transact(lane_cursors.follow, LANE)


def test_what_is_put_off_is_due_at_its_time_or_once_something_is_written(world: World, clock: ManualClock) -> None:
    follow(world)
    item = world.item("x")
    world.commit(world.put(item))
    space, seen, last = world.space(), lane(world), world.seq()
    later = clock.now() + 60 * SECOND
    world.store.transact(lane_cursors.put_off, seen, last, later)
    assert due(world, later - 1) == []
    assert due(world, later) == [space]
    with world.store.read() as snapshot:
        assert snapshot.due_spaces(LANE, later - 1, resting=False).later
        assert not snapshot.due_spaces(LANE, later, resting=False).later
        assert snapshot.due_spaces(LANE, later, resting=True) == DueSpaces(True, [space], [], False)
        assert snapshot.due_spaces("another", later, resting=True) == DueSpaces(False, [], [], False)
    world.commit("y")
    assert due(world, later - 1) == [space]
    world.store.transact(lane_cursors.put_off, seen, last, later)
    assert due(world, later - 1) == [space]  # that was thought before something was written
    last = world.seq()
    world.store.transact(lane_cursors.put_off, seen, last, later)
    assert due(world, later - 1) == []
    world.commit(Note(verb=Verb.USED, payload=b"{}"), used={item.id: Strength(useful=1)})
    assert due(world, later - 1) == [space]  # feedback wakes strategies that wait for it
    world.store.transact(lane_cursors.put_off, seen, last, later)
    assert due(world, later - 1) == [space]
    world.store.transact(lane_cursors.put_off, seen, world.seq(), later)
    world.store.transact(lane_cursors.claim, space, LANE, "one", 60)
    assert due(world, later - 1) == [space]


def test_what_is_erased_is_due_no_more(world: World) -> None:
    follow(world)
    item = world.item("x")
    world.commit(world.put(item))
    space = world.space()
    world.store.transact(lane_cursors.rest, LANE, {space: 0})
    assert due(world) == [space]  # something was written since
    world.erase(item.id)
    world.store.transact(lane_cursors.rest, LANE, {space: 0})
    assert due(world) == []
    world.commit("stays")
    world.erase(whole=True)
    assert due(world) == []


def test_what_nobody_is_to_do_in_a_space_is_due_no_more_until_something_is_written(world: World) -> None:
    follow(world)
    world.commit("x")
    space = world.space()
    world.store.transact(lane_cursors.rest, LANE, {space: newest(world)})
    assert due(world) == []
    world.commit("y")
    assert due(world) == [space]


def test_a_rewind_has_lanes_look_again_at_what_they_had_read(world: World) -> None:
    follow(world)
    item = world.item("x")
    world.commit(world.put(item))
    step(world, world.put(world.item("made of it", source=(item.id,))), after=0, upto=newest(world))
    step(world, after=lane(world).cursor, upto=newest(world))
    assert due(world) == []
    world.store.transact(rewinding.rewind, TENANT, 1)
    assert due(world) == [world.space()]


def test_work_of_which_no_row_tells_is_a_fault(world: World) -> None:
    follow(world)
    world.commit("x")
    assert world.faults() == []
    space = world.space()
    world.store.transact(lambda rows: rows.lanes.drop_due(LANE, (space,)))
    (fault,) = world.faults()
    assert "no row says that it is due" in fault
    world.store.transact(lambda rows: rows.lanes.make_due(space))
    assert world.faults() == []


def test_what_is_loaded_is_due(world: World) -> None:
    other = World(MemoryStore())
    other.commit("x")
    follow(world)
    world.store.transact(journal_io.load, other.store.export(TENANT))
    assert due(world) == [world.space()]


def test_a_branch_that_is_not_to_be_understood_is_never_due(world: World) -> None:
    world.commit("x")
    follow(world)
    fork = Draft(tenant=TENANT, user="ada", actor="tester", ops=(world.put("y"),), branch="try", fork=Fork())
    world.store.commit(fork)
    assert due(world) == [world.space()]


def test_an_erasure_takes_what_a_lane_says_went_wrong_and_a_whole_user_the_lane(world: World) -> None:
    item = world.item("zebra")
    world.commit(world.put(item), "stays")
    space = world.space()
    step(world, after=0, upto=newest(world))
    world.store.transact(lane_cursors.claim, space, LANE, "one", 60)
    world.store.transact(lane_cursors.release, space, LANE, "one", error="cannot read zebra")
    world.erase(item.id)
    assert (lane(world).error, lane(world).attempt) == ("", 1)
    world.erase(whole=True)
    with world.store.read() as snapshot:
        assert snapshot.lane(space, LANE) == Lane(space=space, name=LANE)
        assert snapshot.backlog(LANE) == []
    assert world.store.transact(lane_cursors.claim, space, LANE, "one", 60) is None


def test_workers_who_race_digest_everything_once(world: World, clock: ManualClock) -> None:
    world.commit(*(f"turn {n}" for n in range(40)))
    space, end, made = world.space(), newest(world), []

    def work(owner: str) -> None:
        while lane(world).cursor < end:
            leased = world.store.transact(lane_cursors.claim, space, LANE, owner, 60)
            if leased is None:
                continue
            upto = min(leased.cursor + 3, end)
            try:
                step(world, world.put(f"{leased.cursor}-{upto}"), after=leased.cursor, upto=upto, owner=owner)
                made.append((leased.cursor, upto))
            except Conflict:
                continue
            finally:
                world.store.transact(lane_cursors.release, space, LANE, owner)

    workers = [threading.Thread(target=work, args=(f"worker {n}",)) for n in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    made.sort()
    assert [upto for _, upto in made] == [after for after, _ in made[1:]] + [end]
    assert world.texts()[40:] == [f"{after}-{upto}" for after, upto in made]
    assert world.faults() == []


@pytest.mark.parametrize("seed", range(5))
def test_whatever_order_things_come_in_each_version_is_digested_at_most_once(
    world: World, clock: ManualClock, seed: int
) -> None:
    chance = random.Random(seed)
    world.commit("first")
    digested: list[range] = []
    for _ in range(60):
        owner = chance.choice(("one", "two"))
        match chance.randrange(6):
            case 0 | 1:
                world.commit(*("text" for _ in range(chance.randint(1, 3))))
            case 2 if len(found := world.versions()) > 2:
                world.erase(chance.choice(found).item.id)
            case 3:
                clock.tick(chance.choice((1, 30, 90)) * SECOND)
            case _:
                world.store.transact(lane_cursors.claim, world.space(), LANE, owner, 60)
                after = chance.choice((lane(world).cursor, 0))
                upto = chance.randint(after, max(after, newest(world)))
                try:
                    step(world, after=after, upto=upto, owner=owner)
                    digested.append(range(after, upto))
                except Conflict:
                    pass
    assert all(one.stop == two.start for one, two in pairwise(digested))
    assert world.faults() == []


def test_a_lane_is_no_part_of_what_is_remembered(world: World) -> None:
    item = world.item("x")
    world.commit(world.put(item))
    before = state_hash(world.store, TENANT), list(world.store.export(TENANT))
    world.store.transact(lane_cursors.claim, world.space(), LANE, "one", 60)
    step(world, after=0, upto=newest(world), owner="one")
    assert (state_hash(world.store, TENANT), list(world.store.export(TENANT))) == before
    world.commit(world.put(replace(item, text="y"), Verb.REVISED))
    assert lane(world).cursor == newest(world) - 1
