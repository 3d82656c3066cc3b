"""The bench of what a store costs while nothing happens."""

from __future__ import annotations

from pathlib import Path

import pytest

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


@pytest.mark.heavy
def test_idle_spaces_of_a_server_are_looked_at_too(postgres_database: str) -> None:
    found = bench_idle(IdleLoad(spaces=20, watches=2, seconds=0.05, looks=2, writes=2), store=postgres_database)
    assert "20 idle spaces" in found.figures[1].name
    with Memory(postgres_database, settings=Settings(background=False), embedder="none") as memory:
        assert len(memory.admin.stats().users) == 20
        assert [version.item.text for version in memory.scope(user="user 20").list()] == ["The cello has arrived."]
        memory.scope(user="user 20").observe("Hello.")
        assert sorted(item.item.text for item in memory.scope(user="user 20").list()) == [
            "Hello.",
            "The cello has arrived.",
        ]
