"""The bench of the collector measures what it says, at any size; no test here asserts how fast the machine is."""

from __future__ import annotations

from mnemic.lab.tasks.gc_bench import PAUSE, STATED, GcSize, bench_gc

SMALL = GcSize(adds=600, live=200, batch=50, keep=2, singles=5)


def test_a_small_run_gives_every_figure_and_holds_only_what_must_be_right_against_a_bar() -> None:
    told: list[tuple[str, int, int]] = []
    found = bench_gc(SMALL, lambda *said: told.append(said))
    figures = {figure.name: figure for figure in found.figures}
    assert {name for name, figure in figures.items() if figure.bar is not None} == {
        "40 questions answered alike by a run",
        "faults that verify finds",
    }
    assert all(figure.met is not False for figure in found.figures)
    for name in ("a writer's wait beside runs, p99", "a slice, p99", "single durable write beside a run, p99"):
        assert figures[name].value >= 0
        assert "p50" in figures[name].detail
    assert figures["a slice, p99"].value > 0
    assert ("adds", 600, 600) in told


def test_at_the_size_that_the_bars_are_stated_for_they_are_held() -> None:
    assert GcSize().stated
    assert GcSize(adds=STATED).live == STATED // 10
    assert not GcSize(adds=STATED - 1).stated
    assert not GcSize(live=99_999).stated
    assert PAUSE == 50
