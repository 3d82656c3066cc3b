"""Many tenants who write and ask as they come: the schedule, what a stall costs, and each figure over either store."""

from __future__ import annotations

import io
import json
import threading
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from mnemic import Memory, Settings
from mnemic.errors import Invalid, StoreLocked
from mnemic.lab.kit.figures import Figure, Measurements, show
from mnemic.lab.tasks.load_bench import JUDGED_FROM, MadeUp, TenantLoad, _apart, bench_load, come, fill, tenant_name

SMALL = TenantLoad(tenants=5, items=20, rate=40, seconds=0.5, warm=3, further=2, threads=4)


class Stalling:
    """Serves one request at a time; the first waits until another thread has begun to wait for it."""

    def __init__(self) -> None:
        self.begun, self.lock = 0, threading.Lock()
        self.all_due = threading.Event()

    def observe(self, tenant: str, text: str) -> None:
        with self.lock:
            self.begun += 1
        if self.begun == 1:
            assert self.all_due.wait(30)

    def recall(self, tenant: str, question: str) -> None:
        raise StoreLocked("all connections were busy")


def test_the_same_seed_makes_the_same_requests_by_zipfs_law() -> None:
    load = TenantLoad(tenants=50, rate=1_000, seconds=5, reads=0.75, processes=2)
    schedule = MadeUp(load, 1).schedule()
    assert schedule == MadeUp(load, 1).schedule() != MadeUp(load, 0).schedule()
    assert [due for due, *_ in schedule] == sorted(due for due, *_ in schedule)
    assert len(schedule) == 2_500
    assert schedule[-1][0] == pytest.approx(5, rel=0.1)
    verbs = Counter(verb for _, verb, *_ in schedule)
    assert verbs["recall"] / len(schedule) == pytest.approx(0.75, abs=0.05)
    (_, first), (_, second), *_ = Counter(tenant for *_, tenant, _ in schedule).most_common()
    assert first / second == pytest.approx(2, rel=0.25)
    assert first / len(schedule) == pytest.approx(1 / sum(1 / rank for rank in range(1, 51)), rel=0.15)


def test_who_waits_behind_a_stall_is_counted_from_when_it_was_due() -> None:
    stalling = Stalling()
    threading.Timer(0.3, stalling.all_due.set).start()
    arrived = come(stalling, [(0.01 * n, "observe", "t", "") for n in range(10)], threads=1)
    due, sent = arrived.due["observe"], arrived.sent["observe"]
    assert arrived.answered == 10
    assert sent.percentile(50) < due.percentile(50), "nine came while the first was served"
    assert due.percentile(10) > 0.15
    assert arrived.errors == {}


def test_what_fails_is_counted_by_its_name_and_not_among_the_answered() -> None:
    arrived = come(Stalling(), [(0.0, "recall", "t", "q")] * 3, threads=2)
    assert (arrived.answered, arrived.errors) == (0, {"StoreLocked": 3})


def test_loading_goes_on_with_what_is_there(tmp_path: Path) -> None:
    where = str(tmp_path / "m.db")
    filled, each = fill(where, SMALL, lambda name, done, of: None)
    assert (filled, each > 0) == (5, True)
    assert fill(where, SMALL, lambda name, done, of: None) == (5, 0.0)
    with Memory(where, settings=Settings(background=False), embedder="none") as memory:
        held = [memory.scope(user="me", tenant=tenant_name(n)).list() for n in range(5)]
    assert [len(items) for items in held] == [4] * 5


def test_a_store_that_holds_something_else_is_refused(tmp_path: Path) -> None:
    with Memory(tmp_path / "m.db", settings=Settings(background=False), embedder="none") as memory:
        memory.scope(user="ada").observe("The cello has arrived.")
    with pytest.raises(Invalid, match="other tenants"):
        bench_load(SMALL, str(tmp_path / "m.db"))


def test_each_figure_is_measured_over_a_file(tmp_path: Path) -> None:
    figures = {figure.name: figure for figure in bench_load(SMALL).figures}
    assert figures["items loaded a second"].value > 0
    assert figures["requests that failed"].value == 0
    assert figures["a warm recall: p50"].value > 0
    assert figures["bytes an item takes"].value > 100
    made = figures["recall, from when it was due: p50"]
    assert made.histogram is not None
    assert sum(count for _, count in made.histogram) == int(made.detail.split("; ")[-1].split()[0])
    assert not SMALL.stated


def test_a_bar_is_missed_only_where_as_much_was_measured_as_it_is_stated_for() -> None:
    slow = Measurements(header={"file_system": "tmpfs"}, figures=(Figure(name="slow", value=2, unit="ms", bar=1),))
    small, large, machine = io.StringIO(), io.StringIO(), io.StringIO()
    show(slow, small, judged=False, judged_from=JUDGED_FROM)
    show(slow, large, judged=True, judged_from=JUDGED_FROM)
    show(slow, machine, as_json=True, judged=False)
    assert ("MISSED" in small.getvalue(), "MISSED" in large.getvalue()) == (False, True)
    assert "not judged at this size" in small.getvalue()
    assert "Bars are judged from 10,000 tenants with 1,000,000 items" in small.getvalue()
    assert json.loads(machine.getvalue())["judged"] is False
    assert TenantLoad().stated


def test_items_are_counted_as_they_were_loaded_where_loading_was_cut_short(tmp_path: Path) -> None:
    where = str(tmp_path / "m.db")
    fill(where, replace(SMALL, tenants=2, items=8), lambda name, done, of: None)
    figures = {figure.name: figure for figure in bench_load(replace(SMALL, fill_seconds=1e-9), where).figures}
    assert figures["bytes an item takes"].detail.startswith("8 items")


@pytest.mark.heavy
def test_a_server_on_postgresql_is_measured_beside_a_file(postgres_database: str) -> None:
    load = TenantLoad(tenants=4, items=8, rate=20, seconds=0.5, warm=3, further=3, threads=4, served=True)
    figures = {figure.name: figure for figure in bench_load(load, postgres_database, beside_file=True).figures}
    assert figures["relations that 3 tenants more have made"].value == 0
    assert figures["round trips of a warm recall: p50"].met
    assert figures["the same beside a file"].value > 0
    assert figures["requests that failed"].value == 0


@pytest.mark.heavy
def test_commits_of_processes_that_share_none_are_counted(tmp_path: Path) -> None:
    where = str(tmp_path / "m.db")
    load = replace(SMALL, processes=2)
    fill(where, SMALL, lambda name, done, of: None)
    figures = {figure.name: figure for figure in _apart(where, load, lambda name, done, of: None)}
    assert figures["commits a second, 2 processes, a tenant each"].value > 0
    assert figures["2 processes on one tenant beside one process"].value > 0
