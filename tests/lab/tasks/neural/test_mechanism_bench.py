"""Experiments run over seeds: means judged, ranges kept, files only ever added to, pages held to the files."""

from __future__ import annotations

import importlib.util
import json
import math
import os
import runpy
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from mnemic.errors import Invalid, NotFound
from mnemic.faces.cli import cli
from mnemic.lab.kit.figures import Figure
from mnemic.lab.tasks.neural import mechanism_bench, mechanism_report
from mnemic.lab.tasks.neural.experiment import EXPERIMENTS, CurvePoint
from mnemic.lab.tasks.neural.grid_report import short
from mnemic.lab.tasks.neural.mechanism_bench import (
    MechanismRun,
    SeededFigure,
    bench_mechanisms,
    runs,
    shown_run,
    smollm2,
)
from mnemic.lab.tasks.neural.mechanism_report import draw, page_block, table, unflattering_first

ROOT = Path(__file__).parents[4]
SCRIPT = runpy.run_path(str(ROOT / "scripts" / "neural_pages.py"))
EXPERIMENT = """
from mnemic.lab.kit.figures import Figure
from mnemic.lab.tasks.neural.experiment import CurvePoint, Remark

def measure(plan):
    import torch
    assert torch.get_num_threads() == 1
    assert plan.folder.is_dir()
    plan.progress("learns")
    more = 0.5 if plan.quick else 0.9
    yield Figure(name="kept", value=0.8 + 0.1 * plan.seed, unit="", bar=more, more=True, detail="of 4")
    yield Figure(name="control", value=0.25, unit="")
    for at in (1, 2, 64):
        yield CurvePoint("memory", at, 1 / at + plan.seed)
        yield CurvePoint("none", at, 0.0)

def lost(plan):
    yield Figure(name="lost", value=float("nan"), unit="", bar=0.5)

def fickle(plan):
    yield Figure(name=f"of seed {plan.seed}", value=1, unit="")

def interrupted(plan):
    if plan.seed == 2:
        raise KeyboardInterrupt
    yield Figure(name="kept", value=plan.seed, unit="")

def beside(plan):
    yield Remark(f"the third cannot be run: no wheel for {plan.seed}")
    for way, share in (("first way", 0.5), ("second way", 0.75)):
        yield Figure(name=f"{way}: recall", value=share + 0.1 * plan.seed, unit="", bar=0.6, more=True)
        yield Figure(name=f"{way}: to write", value=100 * share, unit="CPU-s")
    yield Figure(name="third: recall", value=float("nan"), unit="")

def failing(plan):
    if plan.seed == 1:
        raise RuntimeError("at the second seed")
    yield Figure(name="kept", value=plan.seed, unit="")

def hiding(plan):
    plan.progress("learns")
    yield Figure(name="kept", value=1, unit="", detail=f"control {plan.seed}")
"""


def no_model() -> Any:
    raise AssertionError("nothing here works in the real model")


@pytest.fixture
def experiments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch", reason="needs torch: pip install torch==2.13.0")
    (tmp_path / "made_up_experiment.py").write_text(EXPERIMENT)
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("measure", "lost", "fickle", "hiding", "interrupted", "beside", "failing"):
        monkeypatch.setitem(EXPERIMENTS, name, f"made_up_experiment:{name}")


def ran(*names: str, results: Path, quick: bool = False, seeds: int = 3, told: list[str] | None = None) -> Any:
    note: Callable[[str], None] = (lambda part: None) if told is None else told.append
    return list(bench_mechanisms(names, quick=quick, seeds=seeds, results=results, open_model=no_model, progress=note))


@pytest.mark.usefixtures("experiments")
def test_the_mean_is_judged_and_every_seed_is_kept(tmp_path: Path) -> None:
    (done,) = ran("measure", results=tmp_path / "new" / "results")
    kept, control = done.figures
    assert kept.values == pytest.approx((0.8, 0.9, 1.0))
    assert kept.mean.value == pytest.approx(0.9)
    assert [figure.met for figure in done.means] == [kept.mean.value >= 0.9, None]
    assert control.figure.bar is None
    assert done.curves == {
        "memory": {1: 2.0, 2: 1.5, 64: pytest.approx(1 / 64 + 1)},
        "none": {1: 0, 2: 0, 64: 0},
    }
    assert done.places == [1, 2, 64]
    assert {"torch", "threads", "load_before", "load_after", "cpu_seconds", "wall_seconds", "git"} <= done.header.keys()
    assert len(done.header["cpu_seconds_by_seed"]) == 3


@pytest.mark.usefixtures("experiments")
def test_a_result_file_is_only_ever_added_to_and_reads_as_it_was_written(tmp_path: Path) -> None:
    (first,) = ran("measure", results=tmp_path)
    before = (tmp_path / "measure.jsonl").read_bytes()
    (second,) = ran("measure", results=tmp_path, quick=True, seeds=1)
    after = (tmp_path / "measure.jsonl").read_bytes()
    assert after.startswith(before)
    assert len(after.splitlines()) == 2
    assert runs(tmp_path / "measure.jsonl") == [first, second]
    assert [run.quick for run in runs(tmp_path / "measure.jsonl")] == [False, True]


@pytest.mark.usefixtures("experiments")
def test_what_is_no_number_misses_its_bar_and_is_null_in_the_file(tmp_path: Path) -> None:
    (done,) = ran("lost", results=tmp_path, seeds=1)
    assert done.means[0].met is False
    assert json.loads((tmp_path / "lost.jsonl").read_text())["figures"][0]["values"] == [None]
    assert math.isnan(runs(tmp_path / "lost.jsonl")[0].figures[0].values[0])


@pytest.mark.usefixtures("experiments")
def test_an_experiment_that_measures_something_else_for_another_seed_is_caught(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="of seed 0"):
        ran("fickle", results=tmp_path)
    (kept,) = runs(tmp_path / "fickle.jsonl")
    assert kept.seeds == (0,)


@pytest.mark.usefixtures("experiments")
def test_it_is_said_what_is_done_and_how_long_it_may_take_yet(tmp_path: Path) -> None:
    told: list[str] = []
    ran("measure", results=tmp_path, told=told)
    assert told[0] == "measure, seed 1 of 3: begins"  # nobody knows yet
    assert told[1] == "measure, seed 1 of 3: learns"
    assert any("seed 3 of 3: learns (about 0 s left)" in each for each in told)
    assert told[-2:] == ["measure, seed 3: kept: 1", "measure, seed 3: control: 0.25"]  # told as it is measured
    again: list[str] = []
    ran("measure", results=tmp_path, told=again)
    assert "left)" in again[0]  # known from the file


@pytest.mark.usefixtures("experiments")
def test_a_name_that_is_not_known_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="Did you mean 'measure'"):
        ran("measur", results=tmp_path)


@pytest.mark.usefixtures("experiments")
def test_a_control_that_hides_in_a_detail_is_caught_at_the_second_seed(tmp_path: Path) -> None:
    told: list[str] = []
    with pytest.raises(ValueError, match="bar or detail for another seed"):
        ran("hiding", results=tmp_path, told=told)
    assert not any("seed 3" in each for each in told)


@pytest.mark.usefixtures("experiments")
def test_interrupted_it_keeps_the_seeds_that_are_done(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        ran("interrupted", "measure", results=tmp_path)
    (kept,) = runs(tmp_path / "interrupted.jsonl")
    assert kept.seeds == (0, 1)
    assert kept.figures[0].values == (0, 1)
    assert not (tmp_path / "measure.jsonl").exists()


@pytest.mark.usefixtures("experiments")
def test_a_fault_in_one_seed_costs_none_that_is_done(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="at the second seed"):
        ran("failing", results=tmp_path)
    (kept,) = runs(tmp_path / "failing.jsonl")
    assert kept.seeds == (0,)
    assert kept.figures[0].values == (0,)


def test_a_file_that_is_none_of_results_is_refused(tmp_path: Path) -> None:
    (tmp_path / "other.jsonl").write_text('{"kind": "run", "format": 1}\n')
    with pytest.raises(Invalid, match="no result file"):
        runs(tmp_path / "other.jsonl")
    with pytest.raises(NotFound):
        runs(tmp_path / "none.jsonl")


@pytest.mark.usefixtures("experiments")
def test_the_command_shows_judges_and_keeps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MNEMIC_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(cli, ["neural", "bench", "measure", "--quick"])
    assert done.exit_code == 0, done.output
    assert "≥ 0.5" in done.output
    assert (tmp_path / "runs" / "neural" / "measure.jsonl").exists()
    assert (tmp_path / "runs" / "neural" / "measure.svg").exists() == bool(importlib.util.find_spec("matplotlib"))
    done = CliRunner().invoke(
        cli, ["neural", "bench", "measure", "lost", "--json", "--results", "here", "--seeds", "2"]
    )
    assert done.exit_code == 8, done.output
    told = json.loads(done.stdout)["runs"]
    assert [run["mechanism"] for run in told] == ["measure", "lost"]
    assert told[0]["figures"][0]["values"] == pytest.approx([0.8, 0.9])
    assert told[1]["figures"][0]["met"] is False
    assert os.listdir("here").count("lost.jsonl") == 1


@pytest.mark.usefixtures("experiments")
def test_several_processes_say_what_they_do_and_keep_what_they_measured_though_one_fails(tmp_path: Path) -> None:
    """One pool, for each of its processes imports torch; one in which nobody fails is what `scripts/test` ends with."""
    told: list[str] = []
    done: list[MechanismRun] = []
    with pytest.raises(RuntimeError, match="at the second seed"):
        done += bench_mechanisms(
            ["failing", "measure"], quick=True, seeds=2, results=tmp_path, open_model=partial(smollm2, tmp_path),
            progress=told.append, processes=2,
        )  # fmt: skip
    (alone,) = ran("measure", results=tmp_path / "alone", quick=True, seeds=2)
    assert [(run.mechanism, run.figures) for run in done] == [("measure", alone.figures)]
    assert runs(tmp_path / "measure.jsonl") == done
    assert {path.stem: runs(path)[0].seeds for path in tmp_path.glob("*.jsonl")} == {"failing": (0,), "measure": (0, 1)}
    assert any(part.startswith("measure, seed 2 of 2: learns") for part in told)
    assert any("at the second seed" in part for part in told)


@pytest.mark.usefixtures("experiments")
def test_a_quick_run_of_all_leaves_long_ones_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in EXPERIMENTS if name not in ("measure", *mechanism_bench._LONG)]:
        monkeypatch.delitem(EXPERIMENTS, name)
    assert [run.mechanism for run in ran(results=tmp_path, quick=True, seeds=1)] == ["measure"]


def test_without_torch_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(Invalid, match=r"pip install torch==2.13.0"):
        ran(results=tmp_path)


@pytest.mark.usefixtures("experiments")
def test_a_page_has_the_figures_of_the_full_run_of_most_seeds_and_says_so(tmp_path: Path) -> None:
    page = tmp_path / "measure.md"
    page.write_text("# Measure\n\n<!-- measured -->\nold\n<!-- /measured -->\n\nThe end.\n")
    (tmp_path / "other.md").write_text("# No block\n")
    empty = f"# Measure\n\n<!-- measured -->\n\n{SCRIPT['UNMEASURED']}\n\n<!-- /measured -->\n\nThe end.\n"
    assert SCRIPT["pages"](tmp_path) == {page: empty}
    (full,) = ran("measure", results=tmp_path / "results")
    only = SCRIPT["pages"](tmp_path)[page]
    assert "Full mode, 3 seeds, one thread" in only
    assert "The only run in its file." in only
    ran("measure", results=tmp_path / "results", seeds=1)
    ran("measure", results=tmp_path / "results", quick=True, seeds=1)
    text = SCRIPT["pages"](tmp_path)[page]
    assert page_block(full, among=3) in text
    assert "Of the 3 runs in its file: full mode before quick, then most seeds, then the newest." in text
    assert text.endswith("<!-- /measured -->\n\nThe end.\n")
    assert "| kept | 0.900 | 0.800 to 1.000 | ≥ 0.9 |" in text
    assert "| memory | 2.000 | 1.500 | 1.016 |" in text
    assert len(table(full).rows) == 2


def test_the_run_that_is_shown_is_a_full_one_then_of_most_seeds_then_the_newest() -> None:
    def made(quick: bool, seeds: int, started: str) -> MechanismRun:
        return MechanismRun(
            mechanism="m", quick=quick, seeds=tuple(range(seeds)), header={"started": started}, figures=(), points=()
        )

    old, new, one = made(False, 3, "old"), made(False, 3, "new"), made(False, 1, "newest")
    many = made(True, 9, "quick")
    assert shown_run([old, new, one, many]) is new
    assert shown_run([old, one, many]) is old
    assert shown_run([many, one]) is one
    assert shown_run([many, made(True, 1, "quick too")]) is many


def test_what_is_unflattering_stands_first_on_a_page() -> None:
    def figure(name: str, value: float, bar: float | None = None, *, more: bool = True) -> SeededFigure:
        return SeededFigure(
            figure=Figure(name=name, value=value, unit="", bar=bar, more=more and bar is not None), values=(value,)
        )

    figures = [
        figure("learnt", 1), figure("way: recall", 0.9, 0.8), figure("way: leaks", 0.2, 0.1, more=False),
        figure("none: recall", 0.1), figure("none: leaks", 0.5), figure("prompt: recall", 0.82),
        figure("prompt: leaks", 0.21), figure("size", 2, 3, more=False), figure("prompt: of something else", 0.9),
    ]  # fmt: skip
    assert [(one.figure.name, near) for one, near in unflattering_first(figures)] == [
        ("way: leaks", False), ("prompt: recall", True), ("prompt: leaks", True), ("learnt", False),
        ("way: recall", False), ("none: recall", False), ("none: leaks", False), ("size", False),
        ("prompt: of something else", False),
    ]  # fmt: skip
    run = MechanismRun(
        mechanism="m", quick=False, seeds=(0,), figures=tuple(figures), points=(),
        header={"cpu_seconds": 1, "wall_seconds": 1, "load_before": 1, "load_after": 1, "torch": "2", "started": "now"},
    )  # fmt: skip
    rows = [line for line in page_block(run).splitlines() if line.startswith("| ") and "measured" not in line]
    assert "**missed**" in rows[0]
    assert "near ours, or better" in rows[1]


def test_where_a_figure_or_a_point_has_no_number_a_page_has_a_dash() -> None:
    points = (("memory", 1, 0.5), ("memory", 2, math.nan), ("none", 1, 0.25))
    run = MechanismRun(
        mechanism="m", quick=False, seeds=(0, 1),
        header={"cpu_seconds": 1, "wall_seconds": 1, "load_before": 1, "load_after": 1, "torch": "2", "started": "now"},
        figures=(
            SeededFigure(figure=Figure(name="lost", value=math.nan, unit="bits", bar=0.5), values=(math.nan, 1.0)),
        ),
        points=tuple((CurvePoint(curve, at, value), (value,)) for curve, at, value in points),
    )  # fmt: skip
    lines = page_block(run).splitlines()
    assert "| lost | - |  | ≤ 0.5 | **missed** |" in lines
    assert "| memory | 0.500 | - |" in lines
    assert "| none | 0.250 | - |" in lines


@pytest.mark.usefixtures("experiments")
def test_what_lies_side_by_side_has_a_column_each_and_what_could_not_be_run_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mechanism_report, "SIDE_BY_SIDE", frozenset({"beside"}))
    ran("beside", results=tmp_path, seeds=2)
    (done,) = runs(tmp_path / "beside.jsonl")
    lines = page_block(done, "beside.svg").splitlines()
    assert "| | first way | second way | third |" in lines
    assert "| recall | **0.55 (0.50 to 0.60), missed** | 0.80 (0.75 to 0.85) | - |" in lines
    assert "| to write | 50 CPU-s | 75 CPU-s | - |" in lines
    assert lines[-1] == "- seed 1: the third cannot be run: no wheel for 1"
    pytest.importorskip("matplotlib", reason="needs matplotlib: pip install 'mnemic[bench]'")
    assert draw(done, tmp_path / "beside.svg")
    assert "recall" in (tmp_path / "beside.svg").read_text()


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.0, "0.00"), (8e-8, "about 0"), (0.004, "0.004"), (0.5, "0.50"), (52.71, "52.7"), (1234, "1,234")],
)
def test_numbers_of_a_table_are_short(value: float, shown: str) -> None:
    assert short(value) == shown


@pytest.mark.usefixtures("experiments")
def test_curves_are_drawn_the_same_from_the_same_figures(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="needs matplotlib: pip install 'mnemic[bench]'")
    (done,) = ran("measure", results=tmp_path)
    assert draw(done, tmp_path / "one.svg")
    assert draw(runs(tmp_path / "measure.jsonl")[0], tmp_path / "other.svg")
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "other.svg").read_bytes()


def test_the_pages_of_mechanisms_are_current() -> None:
    for page, text in SCRIPT["pages"]().items():
        assert page.read_text("utf-8") == text, f"{page.name}: run scripts/neural_pages.py"


def test_every_experiment_has_a_block_on_some_page() -> None:
    assert EXPERIMENTS.keys() <= {*SCRIPT["measured_names"]()}
