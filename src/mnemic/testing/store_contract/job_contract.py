"""Jobs, dead letters, recorded answers: ordered once, done by one at a time, gone with what they are of."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest

from mnemic.core.events import Verb
from mnemic.core.items import State
from mnemic.errors import Conflict, Invalid, NotFound
from mnemic.store.engine import compaction, job_queue, lane_cursors, rewinding
from mnemic.store.values.drafts import Advance, Draft, JobStep, Put
from mnemic.store.values.work import (
    EmbedderState,
    Job,
    JobState,
    Order,
    RecordedAnswer,
    VectorRow,
    Vectors,
    embedding_lane,
)
from mnemic.testing.deeds import state_hash
from mnemic.testing.generators import ManualClock
from mnemic.testing.store_contract.contract_world import TENANT, World

LANE = "house"
SECOND = 1_000_000
NAMES = ("sweep", "digest")


def ordered(world: World, key: str = "k", **fields: object) -> int:
    """A job's number."""
    return world.store.transact(job_queue.order, Order(name="sweep", key=key, **fields))  # type: ignore[arg-type]


def known_jobs(world: World, *states: JobState) -> list[Job]:
    """The jobs as they stand."""
    with world.store.read() as snapshot:
        return snapshot.jobs(*states)


def newest(world: World, user: str = "ada") -> int:
    """The last version of a space."""
    with world.store.read() as snapshot:
        return snapshot.newest(world.space(user))


def recorded(world: World, request: bytes, lane: str = LANE) -> bytes | None:
    """Read what a model answered to this request before."""
    with world.store.read() as snapshot:
        return snapshot.recorded(world.space(), lane, request)


def record(world: World, request: bytes, answer: bytes, **fields: object) -> bool:
    """Keep a model's answer; return whether its lease is held still."""
    columns: dict[str, object] = {} if "space" in fields else {"space": world.space()}
    columns |= {"lane": LANE, "request": request, "answer": answer, **fields}
    return world.store.transact(job_queue.record, RecordedAnswer(**columns))  # type: ignore[arg-type]


def test_a_job_is_running_while_its_lease_holds_and_for_those_who_ask_for_its_name(
    world: World, clock: ManualClock
) -> None:
    def running(*names: str) -> bool:
        with world.store.read() as snapshot:
            return snapshot.is_job_running(names)

    ordered(world)
    assert not running(*NAMES)
    world.store.transact(job_queue.claim, NAMES, "ada", 60)
    assert running(*NAMES)
    assert not running("digest")
    clock.tick(61 * SECOND)
    assert not running(*NAMES)


def test_a_job_of_the_same_key_is_the_same_job(world: World) -> None:
    world.commit("x")
    first = ordered(world)
    assert ordered(world, payload=b"other") == first
    assert len({first, ordered(world, "l"), ordered(world, space=world.space())}) == 3
    assert known_jobs(world)[0].order == Order(name="sweep", key="k")


def test_a_job_without_a_name_or_of_a_space_that_is_gone_is_refused(world: World) -> None:
    world.commit("x")
    space = world.space()
    with pytest.raises(Invalid):
        ordered(world, "")
    world.erase(whole=True)
    for gone in (space, 99):
        with pytest.raises(NotFound):
            ordered(world, space=gone)


def test_the_most_urgent_job_goes_first_and_none_before_its_time(world: World, clock: ManualClock) -> None:
    late = ordered(world, "late", not_before=clock.now() + 10 * SECOND, priority=9)
    plain, urgent = ordered(world, "plain"), ordered(world, "urgent", priority=1)
    claimed = [job.id for _ in range(3) if (job := world.store.transact(job_queue.claim, NAMES, "one", 60)) is not None]
    assert claimed == [urgent, plain]
    clock.tick(11 * SECOND)
    found = world.store.transact(job_queue.claim, NAMES, "one", 60)
    assert found is not None
    assert found.id == late


def test_only_jobs_that_were_named_are_leased_and_only_by_somebody(world: World) -> None:
    ordered(world)
    assert world.store.transact(job_queue.claim, ("other",), "one", 60) is None
    assert world.store.transact(job_queue.claim, (), "one", 60) is None
    with pytest.raises(Invalid):
        world.store.transact(job_queue.claim, NAMES, "", 60)


def test_a_jobs_lease_keeps_others_out_until_it_ends(world: World, clock: ManualClock) -> None:
    number = ordered(world)
    leased = world.store.transact(job_queue.claim, NAMES, "one", 60)
    assert leased is not None
    assert (leased.id, leased.owner, leased.leased) == (number, "one", clock.now())
    assert world.store.transact(job_queue.claim, NAMES, "two", 60) is None
    clock.tick(61 * SECOND)
    taken = world.store.transact(job_queue.claim, NAMES, "two", 60)
    assert taken is not None
    assert not world.store.transact(job_queue.end, JobStep(number, "one"), JobState.DONE)
    assert world.store.transact(job_queue.end, JobStep(number, "two"), JobState.DONE)
    assert not world.store.transact(job_queue.end, JobStep(number, "two"), JobState.DONE)
    assert not world.store.transact(job_queue.end, JobStep(99, "two"), JobState.DONE)
    assert [job.state for job in known_jobs(world)] == [JobState.DONE]


def test_a_job_that_failed_waits_and_counts(world: World, clock: ManualClock) -> None:
    number = ordered(world)
    world.store.transact(job_queue.claim, NAMES, "one", 60)
    step = JobStep(number, "one")
    assert world.store.transact(job_queue.end, step, JobState.WAITING, "no disk", clock.now() + SECOND)
    (job,) = known_jobs(world)
    assert (job.attempts, job.error, job.owner) == (1, "no disk", "")
    assert world.store.transact(job_queue.claim, NAMES, "two", 60) is None
    clock.tick(2 * SECOND)
    assert world.store.transact(job_queue.claim, NAMES, "two", 60) is not None


def test_what_fails_and_crashes_in_turn_comes_to_three_attempts(world: World, clock: ManualClock) -> None:
    """Else it is tried, and a model paid for it, for ever."""
    world.commit("x")
    space, number = world.space(), ordered(world)
    step = JobStep(number, "one")
    counts: list[tuple[int, int]] = []
    for _ in range(2):
        for owner, gives_back in (("one", True), ("two", False)):
            assert world.store.transact(lane_cursors.claim, space, LANE, owner, 60) is not None
            assert world.store.transact(job_queue.claim, NAMES, owner, 60) is not None
            if gives_back:
                world.store.transact(lane_cursors.release, space, LANE, owner, "no disk")
                world.store.transact(job_queue.end, step, JobState.WAITING, "no disk")
                (job,) = known_jobs(world)
                with world.store.read() as snapshot:
                    counts.append((snapshot.lane(space, LANE).attempt, job.attempts))
            clock.tick(61 * SECOND)
    assert counts == [(1, 1), (3, 3)]


def test_a_crash_after_many_failures_is_the_second_attempt(world: World, clock: ManualClock) -> None:
    """They may have been a model's that was ill for an hour: that says nothing against what it was asked."""
    world.commit("x")
    space, number = world.space(), ordered(world)
    for _ in range(5):
        world.store.transact(lane_cursors.claim, space, LANE, "one", 60)
        world.store.transact(lane_cursors.release, space, LANE, "one", "ill")
        world.store.transact(job_queue.claim, NAMES, "one", 60)
        world.store.transact(job_queue.end, JobStep(number, "one"), JobState.WAITING, "ill")
    for owner, attempts in (("two", 5), ("three", 2), ("four", 3)):
        leased = world.store.transact(lane_cursors.claim, space, LANE, owner, 60)
        taken = world.store.transact(job_queue.claim, NAMES, owner, 60)
        assert leased is not None
        assert taken is not None
        assert (leased.attempt, taken.attempts) == (attempts, attempts)
        clock.tick(61 * SECOND)


def test_a_person_cancels_what_waits_and_retries_what_is_dead(world: World) -> None:
    number = ordered(world)
    assert world.store.transact(job_queue.steer, number, JobState.CANCELLED).state is JobState.CANCELLED
    assert world.store.transact(job_queue.claim, NAMES, "one", 60) is None
    assert world.store.transact(job_queue.steer, number, JobState.WAITING).state is JobState.WAITING
    world.store.transact(job_queue.claim, NAMES, "one", 60)
    world.store.transact(job_queue.end, JobStep(number, "one"), JobState.DEAD, "never")
    assert world.store.transact(job_queue.steer, number, JobState.CANCELLED).state is JobState.DEAD
    again = world.store.transact(job_queue.steer, number, JobState.WAITING)
    assert (again.state, again.attempts, again.error) == (JobState.WAITING, 0, "never")
    world.store.transact(job_queue.claim, NAMES, "one", 60)
    world.store.transact(job_queue.end, JobStep(number, "one"), JobState.DONE)
    assert world.store.transact(job_queue.steer, number, JobState.WAITING).state is JobState.DONE
    with pytest.raises(NotFound):
        world.store.transact(job_queue.steer, 99, JobState.WAITING)
    with pytest.raises(Invalid):
        world.store.transact(job_queue.steer, number, JobState.DONE)


def test_a_commit_finishes_its_job_or_is_refused_with_it(world: World, clock: ManualClock) -> None:
    world.commit("x")
    number = ordered(world, space=world.space())
    world.store.transact(job_queue.claim, NAMES, "one", 60)
    clock.tick(61 * SECOND)
    world.store.transact(job_queue.claim, NAMES, "two", 60)
    late = Draft(tenant=TENANT, user="ada", actor="t", ops=(world.put("late"),), job=JobStep(number, "one"))
    with pytest.raises(Conflict, match="leased"):
        world.store.commit(late)
    world.store.commit(replace(late, ops=(world.put("once"),), job=JobStep(number, "two")))
    assert world.texts() == ["x", "once"]
    assert known_jobs(world)[0].state is JobState.DONE
    with pytest.raises(Conflict):
        world.store.commit(replace(late, ops=(world.put("twice"),), job=JobStep(number, "two")))
    assert world.faults() == []


def test_workers_who_race_do_every_job_once(world: World) -> None:
    world.commit("x")
    for n in range(30):
        ordered(world, f"{n}", space=world.space())
    done: list[int] = []

    def work(owner: str) -> None:
        while (job := world.store.transact(job_queue.claim, NAMES, owner, 60)) is not None:
            put = world.put(f"job {job.id}")
            world.store.commit(Draft(tenant=TENANT, user="ada", actor="t", ops=(put,), job=JobStep(job.id, owner)))
            done.append(job.id)

    workers = [threading.Thread(target=work, args=(f"worker {n}",)) for n in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert sorted(done) == sorted(job.id for job in known_jobs(world, JobState.DONE))
    assert len(done) == len(set(done)) == 30
    assert len(world.texts()) == 31


def test_a_lane_goes_past_what_it_gives_up_and_a_dead_job_keeps_it(world: World, clock: ManualClock) -> None:
    world.commit("x", "y")
    space = world.space()
    world.store.transact(lane_cursors.claim, space, LANE, "one", 60)
    first = newest(world) - 1
    number = world.store.transact(lane_cursors.bury, space, LANE, "one", 0, first, "it bites")
    (job,) = known_jobs(world, JobState.DEAD)
    assert (job.id, job.order.ver, job.order.payload, job.error) == (number, first, LANE.encode(), "it bites")
    with world.store.read() as snapshot:
        assert snapshot.lane(space, LANE).cursor == first
    with pytest.raises(Conflict):
        world.store.transact(lane_cursors.bury, space, LANE, "one", 0, first, "again")
    with pytest.raises(Conflict):
        world.store.transact(lane_cursors.bury, space, LANE, "two", first, first + 1, "not mine")


def test_the_vectors_of_a_dead_letter_come_behind_the_cursor_and_caches_start_over(world: World) -> None:
    world.commit("x", "y")
    space, end = world.space(), newest(world)
    model = world.store.transact(lane_cursors.enlist, "e", 1, EmbedderState.SERVING)
    lane = embedding_lane(model)
    world.store.transact(lane_cursors.claim, space, lane, "one", 60)
    number = world.store.transact(lane_cursors.bury, space, lane, "one", 0, end - 1, "it bites")
    world.store.transact(job_queue.steer, number, JobState.WAITING)
    world.store.transact(job_queue.claim, NAMES, "two", 60)
    epoch, row = world.epoch(), VectorRow(end - 1, 0, b"ab")
    batch = Vectors(space=space, model=model, rows=(row,), lane=lane, owner="two", after=end - 2, upto=end - 1)
    assert world.store.transact(lane_cursors.keep, replace(batch, job=JobStep(number, "two"))) == 1
    assert world.epoch() > epoch
    with world.store.read() as snapshot:
        assert (list(snapshot.vectors(space, model)), snapshot.lane(space, lane).cursor) == ([row], end - 1)
    with pytest.raises(Conflict):
        world.store.transact(lane_cursors.keep, replace(batch, job=JobStep(number, "two")))
    assert world.faults() == []


def test_a_run_stays_pinned_while_it_fails_and_is_pinned_anew_once_it_landed(world: World, clock: ManualClock) -> None:
    world.commit("x")
    space, pins = world.space(), []
    for _ in range(2):
        leased = world.store.transact(lane_cursors.claim, space, LANE, "one", 60)
        assert leased is not None
        pins.append(leased.seq)
        world.commit("more")
        world.store.transact(lane_cursors.release, space, LANE, "one", error="no model", stride=2, reach=9)
    assert pins == [1, 1]
    leased = world.store.transact(lane_cursors.claim, space, LANE, "two", 60)
    assert leased is not None
    assert (leased.seq, leased.stride, leased.reach, leased.attempt) == (1, 2, 9, 2)
    step = Advance(name=LANE, owner="two", after=0, upto=1)
    world.store.commit(Draft(tenant=TENANT, user="ada", actor="t", ops=(), lane=step))
    with world.store.read() as snapshot:
        moved = snapshot.lane(space, LANE)
        assert (moved.seq, moved.stride, moved.attempt) == (0, 2 if moved.cursor < 9 else 0, 0)
        assert [lane.name for lane in snapshot.lanes()] == [LANE]


def test_answers_last_until_the_run_lands_or_longer_if_that_is_wanted(world: World) -> None:
    world.commit("x", "y")
    end = newest(world)
    record(world, b"who?", b"ada")
    record(world, b"who?", b"Ada")
    record(world, b"who?", b"bob", lane="other")
    assert (recorded(world, b"who?"), recorded(world, b"what?")) == (b"Ada", None)
    kept = Advance(name=LANE, owner="", after=0, upto=end - 1, keep_answers=True)
    world.store.commit(Draft(tenant=TENANT, user="ada", actor="t", ops=(), lane=kept))
    assert recorded(world, b"who?") == b"Ada"
    step = Advance(name=LANE, owner="", after=end - 1, upto=end)
    world.store.commit(Draft(tenant=TENANT, user="ada", actor="t", ops=(), lane=step))
    assert (recorded(world, b"who?"), recorded(world, b"who?", "other")) == (None, b"bob")


def test_a_step_back_lets_the_same_be_derived_again(world: World) -> None:
    evidence = world.item("evidence")
    world.commit(world.put(evidence))
    derived = world.item("derived", source=(evidence.id,))
    end = newest(world)
    there = Advance(name=LANE, owner="", after=0, upto=end)
    put = world.put(derived, key="house:1")
    world.store.commit(Draft(tenant=TENANT, user="ada", actor="t", ops=(put,), lane=there))
    gone = Put(verb=Verb.RETIRED, item=replace(derived, state=State.RETIRED), terms=None)
    back = Advance(name=LANE, owner="", after=end, upto=0, again=True)
    world.store.commit(
        Draft(tenant=TENANT, user="ada", actor="t", ops=(gone,), unkeyed=frozenset({derived.id}), lane=back)
    )
    assert world.texts() == ["evidence"]
    again = world.put(world.item("derived anew", source=(evidence.id,)), key="house:1")
    world.store.commit(Draft(tenant=TENANT, user="ada", actor="t", ops=(again,), lane=there))
    assert world.texts() == ["evidence", "derived anew"]
    assert world.faults() == []


def test_an_erasure_takes_answers_errors_and_the_jobs_of_what_it_erases(world: World) -> None:
    item = world.item("zebra")
    world.commit(world.put(item), "stays")
    space, end = world.space(), newest(world)
    world.store.transact(lane_cursors.claim, space, LANE, "one", 60)
    world.store.transact(lane_cursors.bury, space, LANE, "one", 0, end - 1, "cannot read zebra")
    other = world.store.transact(lane_cursors.bury, space, LANE, "one", end - 1, end, "saw a zebra")
    record(world, b"zebra?", b"a zebra", owner="one")
    world.erase(item.id)
    (left,) = known_jobs(world)
    assert (left.id, left.error, recorded(world, b"zebra?")) == (other, "", None)
    stores = ordered(world)
    record(world, b"again?", b"yes")
    world.erase(whole=True)
    assert [job.id for job in known_jobs(world)] == [stores]
    with pytest.raises(Conflict):
        record(world, b"zebra?", b"a zebra", space=space)
    with world.store.read() as snapshot:
        assert snapshot.recorded(space, LANE, b"zebra?") is None


def test_an_erasure_takes_leases_so_that_nothing_said_before_it_is_kept_after(world: World) -> None:
    item = world.item("zebra")
    world.commit(world.put(item), "stays")
    space, end = world.space(), newest(world)
    world.store.transact(lane_cursors.claim, space, LANE, "one", 60)
    number = ordered(world, space=space)
    world.store.transact(job_queue.claim, NAMES, "one", 60)
    world.erase(item.id)
    for job in (0, number):
        with pytest.raises(Conflict):
            record(world, b"zebra?", b"a zebra", owner="one", job=job)
    world.store.transact(lane_cursors.release, space, LANE, "one", "saw a zebra")
    assert not world.store.transact(job_queue.end, JobStep(number, "one"), JobState.DEAD, "saw a zebra")
    with pytest.raises(Conflict):
        world.store.transact(lane_cursors.bury, space, LANE, "one", 0, end, "saw a zebra")
    with world.store.read() as snapshot:
        assert (snapshot.lane(space, LANE).error, snapshot.recorded(space, LANE, b"zebra?")) == ("", None)
        assert [job.error for job in snapshot.jobs()] == [""]


def test_an_erasure_leaves_the_answers_that_cannot_hold_what_it_erases(world: World) -> None:
    zebra, horse, foal = world.item("zebra"), world.item("horse"), world.item("foal")
    bird = world.item("bird", source=(horse.id,))
    world.commit(*map(world.put, (zebra, horse, foal, bird)))
    record(world, b"of zebra", b"1", inputs=(zebra.id, foal.id))
    record(world, b"of horse", b"2", inputs=(horse.id,))
    record(world, b"of foal", b"3", inputs=(foal.id,))
    record(world, b"of what?", b"4")
    world.erase(zebra.id)
    left = [recorded(world, asked) for asked in (b"of zebra", b"of horse", b"of foal", b"of what?")]
    assert left == [None, b"2", b"3", None]
    world.erase(bird.id)  # it may have been read out of what was answered about the horse
    assert [recorded(world, asked) for asked in (b"of horse", b"of foal")] == [None, b"3"]
    world.erase(whole=True)
    assert world.faults() == []


def test_an_answer_that_comes_after_an_erasure_is_kept_if_it_cannot_hold_what_was_erased(world: World) -> None:
    zebra, horse = world.item("zebra"), world.item("horse")
    world.commit(world.put(zebra), world.put(horse))
    space = world.space()
    leased = world.store.transact(lane_cursors.claim, space, LANE, "one", 60)
    assert leased is not None
    number = ordered(world, space=space)
    world.store.transact(job_queue.claim, NAMES, "one", 60)
    world.erase(zebra.id)
    with pytest.raises(Conflict):
        record(world, b"of zebra", b"1", owner="one", inputs=(horse.id, zebra.id), pin=leased.seq)
    with pytest.raises(Conflict):
        record(world, b"of horse", b"1", owner="one", inputs=(horse.id,), pin=leased.seq + 1)
    with pytest.raises(Conflict):
        record(world, b"of horse", b"1", owner="one", inputs=(horse.id,), pin=leased.seq, job=number)
    assert not record(world, b"of horse", b"2", owner="one", inputs=(horse.id,), pin=leased.seq)
    with world.store.read() as snapshot:
        lane = snapshot.lane(space, LANE)
        assert (lane.owner, lane.seq) == ("", leased.seq)
    assert (recorded(world, b"of zebra"), recorded(world, b"of horse")) == (None, b"2")
    world.store.transact(lane_cursors.claim, space, LANE, "two", 60)
    with pytest.raises(Conflict):
        record(world, b"of horse", b"3", owner="one", inputs=(horse.id,), pin=leased.seq)
    assert record(world, b"of horse", b"4", owner="two", inputs=(horse.id,), pin=leased.seq)


def test_what_an_answer_was_told_cannot_go_and_leave_it_behind(world: World) -> None:
    horse = world.item("horse")
    bird, fish = (world.item(name, source=(horse.id,)) for name in ("bird", "fish"))
    world.commit(*map(world.put, (horse, bird)))
    world.commit(world.put(fish))
    record(world, b"of fish", b"a horse", inputs=(fish.id,))
    world.store.transact(rewinding.rewind, TENANT, world.seq() - 1)
    assert recorded(world, b"of fish") is None  # an erasure of the horse would not find it by the fish any more
    with pytest.raises(Conflict):
        record(world, b"of fish", b"a horse", inputs=(fish.id,))
    record(world, b"of bird", b"a horse", inputs=(bird.id,))
    compaction.compact(world.store, TENANT, world.retire(bird).seq)
    assert recorded(world, b"of bird") is None
    with pytest.raises(Conflict):
        record(world, b"of bird", b"a horse", inputs=(bird.id,))


def test_a_run_that_read_what_was_taken_back_loses_its_lease_and_its_pin(world: World) -> None:
    world.commit("stays")
    space, seq = world.space(), world.seq()
    world.store.transact(lane_cursors.claim, space, "early", "one", 60)
    world.commit("goes")
    world.store.transact(lane_cursors.claim, space, LANE, "one", 60)
    world.store.transact(rewinding.rewind, TENANT, seq)
    with world.store.read() as snapshot:
        found = [snapshot.lane(space, name) for name in ("early", LANE)]
    assert [(lane.owner, lane.seq) for lane in found] == [("one", seq), ("", 0)]


def test_a_run_prolongs_the_leases_that_it_holds_and_no_others(world: World, clock: ManualClock) -> None:
    world.commit("x")
    world.commit("y", user="bob")
    space, other = world.space(), world.space("bob")
    for name, owner in ((LANE, "one"), ("second", "one"), ("third", "two")):
        world.store.transact(lane_cursors.claim, space, name, owner, 60)
    world.store.transact(lane_cursors.claim, other, LANE, "one", 60)
    number = ordered(world)
    world.store.transact(job_queue.claim, NAMES, "one", 60)
    clock.tick(40 * SECOND)
    assert world.store.transact(job_queue.prolong, space, "one", 60, number)
    clock.tick(40 * SECOND)
    assert [
        world.store.transact(lane_cursors.claim, space, name, "me", 60) is None for name in (LANE, "second", "third")
    ] == [
        True,
        True,
        False,
    ]
    assert world.store.transact(lane_cursors.claim, other, LANE, "me", 60) is not None
    assert world.store.transact(job_queue.claim, NAMES, "me", 60) is None


def test_a_lease_that_has_passed_on_is_not_prolonged(world: World, clock: ManualClock) -> None:
    item = world.item("zebra")
    world.commit(world.put(item), "stays")
    space = world.space()
    number = ordered(world, space=space)
    world.store.transact(lane_cursors.claim, space, LANE, "one", 60)
    world.store.transact(job_queue.claim, NAMES, "one", 60)
    world.erase(item.id)
    assert not world.store.transact(job_queue.prolong, space, "one", 60, number)
    assert not world.store.transact(job_queue.prolong, space, "", 60)
    assert not world.store.transact(job_queue.prolong, 99, "one", 60, 99)
    assert world.store.transact(lane_cursors.claim, space, LANE, "two", 60) is not None
    assert world.store.transact(job_queue.claim, NAMES, "two", 60) is not None
    assert not world.store.transact(job_queue.prolong, space, "one", 60, number)


def test_an_answer_prolongs_the_lease_it_was_asked_under(world: World, clock: ManualClock) -> None:
    world.commit("x")
    space = world.space()
    world.store.transact(lane_cursors.claim, space, LANE, "one", 60)
    number = ordered(world)
    world.store.transact(job_queue.claim, NAMES, "one", 60)
    for job in (0, number):
        clock.tick(25 * SECOND)
        record(world, b"who?", b"ada", owner="one", job=job)
    clock.tick(30 * SECOND)
    assert world.store.transact(lane_cursors.claim, space, LANE, "two", 60) is None
    assert world.store.transact(job_queue.claim, NAMES, "two", 60) is None
    clock.tick(60 * SECOND)
    lane = world.store.transact(lane_cursors.claim, space, LANE, "two", 60)
    job_ = world.store.transact(job_queue.claim, NAMES, "two", 60)
    assert lane is not None
    assert job_ is not None
    assert (lane.attempt, job_.attempts) == (1, 1)  # nobody gave them back
    with pytest.raises(Conflict):
        record(world, b"who?", b"bob", owner="one")


def test_a_clock_set_back_keeps_nothing_for_who_is_gone(world: World, clock: ManualClock) -> None:
    world.commit("x")
    space = world.space()
    world.store.transact(lane_cursors.claim, space, LANE, "one", 60)
    number = ordered(world)
    world.store.transact(job_queue.claim, NAMES, "one", 60)
    clock.tick(-3600 * SECOND)
    assert world.store.transact(lane_cursors.claim, space, LANE, "two", 60) is not None
    assert world.store.transact(job_queue.claim, NAMES, "two", 60) is not None
    world.store.transact(lane_cursors.release, space, LANE, "two", "ill", not_before=clock.now() + 50 * SECOND)
    world.store.transact(job_queue.end, JobStep(number, "two"), JobState.WAITING, "ill", clock.now() + 50 * SECOND)
    assert world.store.transact(lane_cursors.claim, space, LANE, "three", 60) is None
    assert world.store.transact(job_queue.claim, NAMES, "three", 60) is None
    clock.tick(-3600 * SECOND)
    assert world.store.transact(lane_cursors.claim, space, LANE, "three", 60) is not None
    assert world.store.transact(job_queue.claim, NAMES, "three", 60) is not None


def test_what_was_written_under_a_key_is_known_by_it(world: World) -> None:
    item = world.item("x")
    world.commit(world.put(item, key="k"))
    with world.store.read() as snapshot:
        assert snapshot.items_by_key(world.space(), ["k", "other"]) == {"k": item.id}
        assert snapshot.items_by_key(99, ["k"]) == {}


def test_the_store_says_that_it_has_moved(world: World) -> None:
    world.commit("x")
    before = world.store.moved()
    assert world.store.moved() == before
    world.commit("y")
    assert world.store.moved() != before
    before = world.store.moved()
    ordered(world)
    assert world.store.moved() != before


def test_jobs_and_answers_are_no_part_of_what_is_remembered(world: World) -> None:
    world.commit("x")
    before = state_hash(world.store, TENANT), list(world.store.export(TENANT))
    ordered(world)
    record(world, b"q", b"a")
    assert (state_hash(world.store, TENANT), list(world.store.export(TENANT))) == before
