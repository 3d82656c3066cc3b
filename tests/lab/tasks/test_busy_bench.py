"""Writes beside a busy worker, and with meters and without: what is reported, not how long it takes."""

from __future__ import annotations

from pathlib import Path

from mnemic import Memory
from mnemic.lab.tasks.busy_bench import Burning, BusyLoad, bench_busy, metered, unmetered
from mnemic.settings import Settings


def test_a_small_load_gives_every_figure() -> None:
    found = bench_busy(BusyLoad(rounds=1, writes=3, gap=0.0), embedder=Burning(0.0))
    assert [figure.bar for figure in found.figures] == [2.0, None, None]
    assert all(figure.value > 0 for figure in found.figures)
    assert "3 writes each" in found.figures[2].detail


def test_writes_are_counted_with_meters_and_not_without(tmp_path: Path) -> None:
    with Memory(tmp_path / "m.db", settings=Settings(background=False), embedder="none") as memory:
        me, own = memory.scope(user="ada"), memory._opened.meters
        with unmetered(memory._opened.answering):
            me.observe("uncounted")
        assert own.measured().timed == {}
        me.observe("counted")
        assert own.measured().timed["verb", "observe"].count == 1


def test_both_sides_write_as_often(tmp_path: Path) -> None:
    figure = metered(tmp_path, 12, 0)
    assert figure.value > 0
    with Memory(tmp_path / "metered.db", embedder="none") as memory:
        assert memory.admin.stats().items >= 24
