"""The bench of what a store costs while nothing happens."""

from __future__ import annotations

from pathlib import Path

from mnemic import Memory, Settings
from mnemic.lab.tasks.idle_bench import IdleLoad, bench_idle, make_idle_spaces


def test_every_idle_space_is_there_and_has_nothing_before_its_lanes(tmp_path: Path) -> None:
    make_idle_spaces(tmp_path / "m.db", 30)
    with Memory(tmp_path / "m.db", settings=Settings(background=False), embedder="none") as memory:
        assert [one.user for one in memory.admin.stats().users] == [f"user {n}" for n in range(1, 31)]
        assert [one.pending for one in memory.admin.behind()] == [0]
        assert [item.item.text for item in memory.scope(user="user 30").list()] == ["The cello has arrived."]
        memory.scope(user="user 30").observe("Hello.")
        assert [one.pending for one in memory.admin.behind()] == [1]


def test_each_figure_is_measured(tmp_path: Path) -> None:
    found = bench_idle(IdleLoad(spaces=20, watches=3, seconds=0.05, looks=2, writes=3))
    look, worker, watches, p50, p95 = found.figures
    assert look.value > 0
    assert 0 <= p50.value <= p95.value
    assert "20 idle spaces" in worker.name
    assert "3 idle watches" in watches.name
    assert not IdleLoad(spaces=20).stated
