"""A bench that misses a bar shows it and leaves with an exit code of its own."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest
from commandline import Run

from mnemic.faces.cli.bars import MISSED, progress_lines
from mnemic.lab.kit.figures import Figure, Measurements
from mnemic.lab.tasks import gc_bench
from mnemic.lab.tasks.gc_bench import GcSize

SMALL = ("bench", "gc", "--adds", "100", "--live", "50", "--keep-commits", "1", "--singles", "2")


def found(value: float) -> Measurements:
    figures = (Figure(name="a wait", value=value, unit="ms", bar=50), Figure(name="beside it", value=99, unit="ms"))
    return Measurements(header={"file_system": "none"}, figures=figures)


@pytest.mark.parametrize(("value", "code", "told"), [(50, 0, "met"), (51, MISSED, "MISSED")])
def test_a_missed_bar_is_told_by_the_exit_code(
    run: Run, monkeypatch: pytest.MonkeyPatch, value: float, code: int, told: str
) -> None:
    monkeypatch.setattr(gc_bench, "bench_gc", lambda size, told, folder: found(value))
    assert told in run(*SMALL, code=code).out
    assert run(*SMALL, "--json", code=code).json["figures"][0]["met"] is (code == 0)


def test_the_sizes_of_gc_are_taken_as_said(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[GcSize] = []

    def noted(size: GcSize, told: object, folder: object) -> Measurements:
        asked.append(size)
        return found(1)

    monkeypatch.setattr(gc_bench, "bench_gc", noted)
    run("bench", "gc")
    run(*SMALL)
    assert asked == [GcSize(), GcSize(adds=100, live=50, keep=1, singles=2)]
    assert asked[0].stated
    assert not asked[1].stated


def test_in_a_pipe_lines_tell_how_far_it_is_and_none_comes_soon_after_another() -> None:
    clock, lines = SimpleNamespace(now=0.0), list[str]()
    report = progress_lines(lines.append, lambda: clock.now, apart=10.0)
    for clock.now, done in ((1, 0), (9, 40), (11, 50), (12, 60), (22, 60), (33, 70), (80, 70), (84, 70)):
        report("mnemic", done, 100)
    assert [line.partition(",")[0] for line in lines] == ["mnemic: 50 of 100", "mnemic: 60 of 100", "mnemic: 70 of 100"]
    assert "s left at most" in lines[0]
    clock.now = 93.5
    report("mnemic", 70, 100)  # nothing new, but a minute without a word
    assert lines[-1].startswith("mnemic: 70 of 100")
    assert len(lines) == 4


def test_each_of_several_has_lines_of_its_own() -> None:
    clock, lines = SimpleNamespace(now=0.0), list[str]()
    report = progress_lines(lines.append, lambda: clock.now, apart=10.0)
    for clock.now, done in ((1, 0), (11, 30), (12, 30), (75, 30)):
        report("mnemic", done, 100)
        report("mem0", done, 100)
    assert [line.partition(":")[0] for line in lines] == ["mnemic", "mem0"] * 2


def test_the_end_is_told_of_what_a_line_has_told_of() -> None:
    clock, lines = SimpleNamespace(now=0.0), list[str]()
    report = progress_lines(lines.append, lambda: clock.now, apart=10.0)
    for clock.now, done in ((1, 0), (11, 53), (19, 100), (19.5, 100)):
        report("mnemic", done, 100)
    report("soon over", 5, 5)
    assert [line.partition(",")[0] for line in lines] == ["mnemic: 53 of 100", "mnemic: 100 of 100"]


def test_lines_say_what_is_counted() -> None:
    lines = list[str]()
    report = progress_lines(lines.append, lambda: 0.0, unit="bytes")
    report("importing", 10_485_760, 104_857_600)
    progress_lines(lines.append, lambda: 0.0, unit="items and rows")("collecting", 1_200, None)
    assert lines == ["importing: 10,485,760 of 104,857,600 bytes", "collecting: 1,200 items and rows"]


def test_the_exit_code_is_documented(run: Run) -> None:
    assert f"  {MISSED}  " in run("--help").out


def test_an_interrupt_before_a_run_goes_on_says_that_its_log_is_as_it_was(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def stopped(*given: object, **how: object) -> Path:
        raise KeyboardInterrupt

    monkeypatch.setattr("mnemic.lab.kit.run.run", stopped)
    asked = ("bench", "run", "small", "--with", "BM25 found", "--embedder", "none", "--out", str(tmp_path / "a.jsonl"))
    assert "nothing is kept" in run(*asked, code=130).err
    assert f"{tmp_path / 'a.jsonl'} is as it was" in run(*asked, "--resume", code=130).err
