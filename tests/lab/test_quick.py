from __future__ import annotations

import json
from pathlib import Path

import pytest

from mnemic.faces.cli.bench.command import bench
from mnemic.lab import quick
from mnemic.lab.entries import MEASUREMENTS, TASKS
from mnemic.lab.kit.made_samples import write_samples
from mnemic.registry import STRATEGIES


def test_every_task_has_data_but_the_one_whose_dialogues_are_not_ours(tmp_path: Path) -> None:
    write_samples(tmp_path / "samples")
    plan = quick.planned(tmp_path / "samples", None)
    assert plan.left_out == ("asked",)
    assert {*plan.tasks, "asked"} == set(TASKS)
    data = tmp_path / "data"
    data.mkdir()
    for file in ("gvd_en.jsonl.gz", "gvd_zh.jsonl.gz"):
        (data / file).touch()
    with_data = quick.planned(tmp_path / "samples", data)
    assert with_data.left_out == ()
    assert {name: place.name for name, place in with_data.tasks.items() if place.is_relative_to(data)} == {
        "asked": "data",
        "gvd-en": "gvd_en.jsonl.gz",
        "gvd-zh": "gvd_zh.jsonl.gz",
    }
    assert list(quick.planned(tmp_path / "samples", None, ["dmr"]).tasks) == ["dmr"]


def test_who_runs_is_mnemic_two_baselines_and_every_strategy() -> None:
    assert quick.rows()[:3] == ("mnemic", "BM25 turns", "recent window")
    assert {"mem0", "zep", "hippo2", "memoryos", "stream"} <= set(quick.rows())
    assert {"house", *quick.rows(), *quick.STREAM.rows} >= set(STRATEGIES)


@pytest.mark.heavy
def test_a_quick_run_ends_in_a_page_and_tells_what_had_no_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(quick, "rows", lambda: ("BM25 turns",))
    assert quick.main(["--only", "dmr,asked", "--out", str(tmp_path), "--limit", "2"]) == 1
    told = capsys.readouterr()
    assert "not run: asked: no data" in told.err
    assert "1 tasks, 1 contestants" in told.out
    assert "BM25 turns" in (tmp_path / "report.md").read_text()
    assert "<table" in (tmp_path / "report.html").read_text()
    (log,) = tmp_path.glob("quick-*.jsonl")
    assert json.loads(log.read_text().splitlines()[0])["tasks"] == ["dmr"]


def test_what_is_measured_otherwise_is_named_by_commands_that_there_are() -> None:
    for command in MEASUREMENTS:
        words = command.split()
        assert words[:2] == ["mnemic", "bench"]
        assert words[2] in bench.commands
