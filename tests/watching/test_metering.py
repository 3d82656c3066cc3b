"""Meters: what is counted, how exactly, and what other processes are told of it."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from mnemic import SHARED, Memory, NotFound, Settings
from mnemic.answering import Answering
from mnemic.flow import Flow, Pause
from mnemic.store.engine.rows import Rows
from mnemic.store.engine.snapshot import Snapshot
from mnemic.store.requests import look, transact
from mnemic.store.values.meters import PERIOD
from mnemic.testing.generators import ManualClock
from mnemic.watching.metering import WAITING, Histogram, Measured, Meters, Sort, Timed
from patience import PATIENCE


def filled(*seconds: float) -> Histogram:
    made = Histogram()
    for one in seconds:
        made.add(one)
    return made


def took(meters: Meters, seconds: float) -> None:
    meters.durations.append((Sort.VERB, "recall", seconds, False))
    if len(meters.durations) >= WAITING:
        meters.count()


def test_quantiles_are_off_by_at_most_a_tenth() -> None:
    draw = random.Random(7)
    seconds = sorted(draw.lognormvariate(-6, 1.5) for _ in range(5000))
    found = filled(*seconds)
    for share in (0.1, 0.5, 0.95, 0.99):
        assert found.quantile(share) == pytest.approx(seconds[int(share * len(seconds)) - 1], rel=0.1)
    assert found.quantile(1) == pytest.approx(seconds[-1], rel=0.1)
    assert found.longest == seconds[-1]
    assert found.total == pytest.approx(sum(seconds))


def test_an_empty_histogram_and_the_shortest_and_longest_durations_are_fine() -> None:
    assert Histogram().quantile(0.5) == 0
    found = filled(0.0, 1e-9, 1e5)
    assert found.count == 3
    assert found.quantile(0.5) <= 2e-6
    assert found.quantile(1) == pytest.approx(1e5, rel=0.1)


def test_two_histograms_make_one() -> None:
    second = filled(0.1, 0.2, 0.4)
    both = filled(0.001, 0.002)
    both.merge(second)
    assert both.packed() == filled(0.001, 0.002, 0.1, 0.2, 0.4).packed()
    assert Histogram.unpacked(both.packed()).packed() == both.packed()


@pytest.fixture
def answering() -> Iterator[Answering]:
    with Memory("memory:", settings=Settings(background=False), embedder="none") as memory:
        yield memory._opened.answering


def test_a_verb_is_timed_with_what_it_asked_for(answering: Answering) -> None:
    timed = Timed(Sort.VERB, "recall")
    found = answering.drive(look(lambda snapshot: 7), answering.perform, timed)
    assert found == timed.answer == 7
    assert [name for name, _ in timed.requests] == ["look"]
    assert 0 < timed.requests[0][1] <= timed.seconds
    measured = answering.meters.measured()
    assert {name: h.count for name, h in measured.timed.items()} == {("verb", "recall"): 1, ("request", "look"): 1}


def test_a_function_over_rows_is_timed_under_its_name(answering: Answering) -> None:
    def count(rows: Rows) -> int:
        return len(rows.spaces.tenants())

    assert answering.verb(transact(count), None) == 0
    assert {name for sort, name in answering.meters.measured().timed if sort == Sort.REQUEST} == {"count"}


def test_what_fails_is_counted_as_failed(answering: Answering) -> None:
    def refuse(snapshot: Snapshot) -> None:
        raise NotFound("nothing")

    timed = Timed(Sort.VERB, "get")
    with pytest.raises(NotFound):
        answering.drive(look(refuse), answering.perform, timed)
    assert isinstance(timed.error, NotFound)
    assert {name: (h.count, h.failed) for name, h in answering.meters.measured().timed.items()} == {
        ("verb", "get"): (1, 1),
        ("request", "look"): (1, 1),
    }


def test_no_more_durations_wait_than_are_allowed(answering: Answering) -> None:
    for _ in range(2 * WAITING):
        answering.perform(Pause())
        assert len(answering.meters.durations) < WAITING
    assert answering.meters.measured().timed["request", "pause"].count == 2 * WAITING


def test_threads_lose_no_count() -> None:
    meters = Meters()
    with ThreadPoolExecutor(8) as pool:
        for done in [pool.submit(lambda: [took(meters, 0.001) for _ in range(2000)]) for _ in range(8)]:
            done.result()
    assert meters.measured().timed["verb", "recall"].count == 16_000


def test_gauges_are_read_when_somebody_looks() -> None:
    meters = Meters()
    held = {"hits": 3.0}
    meters.gauge("session", lambda: held)
    assert meters.measured().gauges == {"session.hits": 3.0}
    held["hits"] = 4.0
    assert meters.measured().gauges == {"session.hits": 4.0}


def test_what_is_told_says_what_is_new_and_nothing_when_nothing_is() -> None:
    meters = Meters()
    assert meters.report() is None
    for _ in range(3):
        took(meters, 0.01)
    told = meters.report()
    assert told is not None
    again = Measured.unpacked(*told)
    assert again.fresh == {("verb", "recall"): 3}
    assert again.timed["verb", "recall"].packed() == filled(0.01, 0.01, 0.01).packed()
    assert meters.report() is None
    took(meters, 0.01)
    last = meters.report()
    assert last is not None
    assert Measured.unpacked(*last).fresh == {("verb", "recall"): 1}
    assert len(last[1]) < 300


def test_verbs_requests_and_runs_of_an_open_store_are_metered(tmp_path: Path) -> None:
    with Memory(tmp_path / "memory.db") as memory:
        me = memory.scope(user="ada")
        me.observe("I moved to Lisbon.")
        me.recall("Lisbon")
        memory.flush()
        timed = memory._opened.meters.measured().timed
    assert {name for sort, name in timed if sort == Sort.VERB} == {"observe", "recall"}
    assert {"look", "commit", "embedquestion"} <= {name for sort, name in timed if sort == Sort.REQUEST}
    assert timed["run", "house"].count >= 1


@pytest.mark.parametrize("where", ["memory:", "file"])
def test_a_process_says_what_it_measured_along_with_a_commit_and_nothing_of_what_was_said(
    tmp_path: Path, where: str
) -> None:
    clock = ManualClock()
    url = str(tmp_path / "memory.db") if where == "file" else where
    with Memory(url, clock=clock) as memory:
        me = memory.scope(user="ada")
        me.observe("I moved to Lisbon.")
        clock.tick(PERIOD)
        memory.scope(user=SHARED).observe("The office is closed.")
        with memory._opened.store.read() as snapshot:
            (row,) = snapshot.meters()
    told = Measured.unpacked(row.process, row.body)
    assert told.timed["verb", "observe"].count == 1  # the second is being written
    for word in (b"Lisbon", b"ada", b"office"):
        assert word not in row.body


def test_verbs_in_threads_keep_their_requests_apart(answering: Answering) -> None:
    both = threading.Barrier(2)

    def pauses(count: int) -> Flow[None]:
        both.wait(PATIENCE)
        for _ in range(count):
            yield Pause()

    def verb(count: int) -> list[str]:
        timed = Timed(Sort.VERB, "x")
        answering.drive(pauses(count), answering.perform, timed)
        return [name for name, _ in timed.requests]

    with ThreadPoolExecutor(2) as pool:
        found = [one.result(PATIENCE) for one in [pool.submit(verb, 1), pool.submit(verb, 3)]]
    assert found == [["pause"], ["pause"] * 3]


def test_what_is_gone_stays_counted() -> None:
    meters = Meters()
    first, second = {"hits": 1.0}, {"hits": 10.0, "faults": 2.0}
    leave = meters.windows.follow(lambda: first, lambda: {"pages": 5.0})
    meters.windows.follow(lambda: second, lambda: {"pages": 1.0})
    assert meters.measured().gauges == {"windows.hits": 11.0, "windows.faults": 2.0, "windows.pages": 6.0}
    first["hits"] = 3.0
    leave()
    leave()
    first["hits"] = 100.0
    assert meters.measured().gauges == {"windows.hits": 13.0, "windows.faults": 2.0, "windows.pages": 1.0}


def test_the_paging_of_sessions_is_metered(tmp_path: Path) -> None:
    with Memory(tmp_path / "memory.db", settings=Settings(background=False)) as memory:
        me = memory.scope(user="ada")
        with me.session("chat-1", budget=1000) as session:
            session.observe("I moved to Lisbon.")
            session.context("where is Lisbon?")
            counted = session.counters
            seen = memory.admin.vitals()
            assert (seen.windows.sessions, seen.windows.pages, seen.windows.budget) == (1, 1, 1000)
            assert seen.windows.tokens == 1000 - session.tokens["free"]
        seen = memory.admin.vitals()
    assert seen.gauge("windows.references") == counted.references >= 1
    assert seen.gauge("windows.hits") == counted.hits
    assert (seen.windows.sessions, seen.windows.known) == (0, 1)
    assert {"session.observe", "session.context"} <= set(seen.timed(Sort.VERB))
