"""One look at a store: rates, windows, collections, and the processes that have it open."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from mnemic import Memory, Settings
from mnemic.store.values.meters import PERIOD, SECOND
from mnemic.testing.generators import ManualClock
from mnemic.watching.metering import Measured, Sort
from mnemic.watching.vitals import FRESH, QUIET

QUIETLY = Settings(background=False)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


def test_commits_a_second_are_those_of_the_last_ten(tmp_path: Path, clock: ManualClock) -> None:
    with Memory(tmp_path / "memory.db", clock=clock, settings=QUIETLY) as memory:
        for tenant in ("a", "b"):
            memory.scope(user="ada", tenant=tenant).observe("Long ago.")
        clock.tick(60 * SECOND)
        assert memory.admin.vitals().commits_per_second == 0
        for n in range(5):
            memory.scope(user="ada", tenant="ab"[n % 2]).observe(f"{n}")
        seen = memory.admin.vitals()
    assert (seen.commits, seen.commits_per_second) == (7, 0.5)


def test_this_process_is_seen_as_it_is_and_not_as_it_said(tmp_path: Path, clock: ManualClock) -> None:
    with Memory(tmp_path / "memory.db", clock=clock, settings=QUIETLY) as memory:
        assert memory.admin.vitals().processes == ()
        me = memory.scope(user="ada")
        for _ in range(3):
            clock.tick(PERIOD)
            me.observe("Hello.")
        (own,) = memory.admin.stats().vitals.processes
        assert own.measured.pid == os.getpid()
        assert own.measured.timed[Sort.VERB, "observe"].count == 3


def test_another_process_is_shown_while_it_runs_and_its_rates_while_they_are_new(
    tmp_path: Path, clock: ManualClock
) -> None:
    path = tmp_path / "memory.db"
    with Memory(path, clock=clock, settings=QUIETLY) as memory:
        me = memory.scope(user="ada")
        me.observe("Hello.")
        gone = Measured(
            process="gone", pid=2**22 + 1, seconds=9, recent=2, fresh={("verb", "get"): 8},
            timed=memory._opened.meters.measured().timed,
        )  # fmt: skip
        memory._opened.store.carry(lambda: ("gone", gone.packed()))
        clock.tick(PERIOD)
        me.observe("It is carried.")
        memory._opened.store.carry(lambda: None)

        def rates() -> list[float]:
            return [one.rate("observe") for one in memory.admin.vitals().processes if one.measured.process == "gone"]

        assert len(rates()) == 1
        clock.tick(int(FRESH + 1) * SECOND)
        assert rates() == [0.0]
        clock.tick(int(QUIET) * SECOND)
        assert rates() == []


def test_rows_of_processes_are_in_no_backup(tmp_path: Path, clock: ManualClock) -> None:
    with Memory(tmp_path / "memory.db", clock=clock, settings=QUIETLY) as memory:
        me = memory.scope(user="ada")
        for _ in range(2):
            clock.tick(PERIOD)
            me.observe("Hello.")
        with memory._opened.store.read() as snapshot:
            assert len(snapshot.meters()) == 1
        memory.admin.backup(tmp_path / "copy.db")
    with Memory(tmp_path / "copy.db", clock=clock, settings=QUIETLY) as copy, copy._opened.store.read() as snapshot:
        assert snapshot.meters() == []


def test_the_last_collection_is_told_of(tmp_path: Path, clock: ManualClock) -> None:
    with Memory(tmp_path / "memory.db", clock=clock, settings=QUIETLY) as memory:
        me = memory.scope(user="ada")
        assert memory.admin.vitals().collected is None
        me.write("The tea is in the tin.", tags=("retain:ephemeral",))
        clock.tick(86_400 * SECOND * 2)
        did = memory.admin.gc()
        assert did.seq is not None
        for n in range(3):
            clock.tick()
            me.observe(f"{n}")
        last = memory.admin.vitals().collected
    assert last is not None
    assert (last.seq, last.items, last.freed) == (did.seq, 1, did.freed)
    assert last.pause == pytest.approx(did.longest, abs=0.001)


def test_looking_writes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with Memory(path, settings=QUIETLY) as memory:
        memory.scope(user="ada").observe("Hello.")
        log = path.with_name("memory.db-wal")
        before = log.read_bytes()
        with memory.watch(user="ada", after=0) as watch:
            next(watch)
            assert not memory._opened.store.wait(memory._opened.store.moved(), 0.05)
        memory.admin.stats()
        assert log.read_bytes() == before


@pytest.mark.parametrize(
    "body", [b"\xff", b"[6,%7", b"{}", b'{"pid":1,"seconds":0,"recent":0,"timed":{"a b":[1]},"gauges":{}}']
)
def test_damaged_figures_of_another_process_are_passed_over(tmp_path: Path, body: bytes) -> None:
    with Memory(tmp_path / "memory.db", settings=QUIETLY) as memory:
        memory.scope(user="ada").observe("The cat is called Miso.")
        with memory._opened.store._alone() as db:  # type: ignore[attr-defined]
            db.execute("INSERT INTO meter(process, at, body) VALUES ('other', 0, ?)", (body,))
        assert [process.measured.pid for process in memory.admin.vitals().processes] == [os.getpid()]
        assert memory.admin.stats().items == 1
