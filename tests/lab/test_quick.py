from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from mnemic.faces.cli.bench.command import bench
from mnemic.lab import quick
from mnemic.lab.entries import MEASUREMENTS, TASKS
from mnemic.lab.kit.datasets import load
from mnemic.lab.kit.log import Log
from mnemic.lab.kit.made_samples import write_samples
from mnemic.lab.script_ends import INTERRUPTED
from mnemic.registry import STRATEGIES


def test_every_task_has_data_but_the_one_whose_dialogues_are_not_ours(tmp_path: Path) -> None:
    write_samples(tmp_path / "samples")
    plan = quick.planned(tmp_path / "samples", None)
    assert plan.left_out == ("asked",)
    assert {*plan.tasks, "asked"} == set(TASKS)
    data = tmp_path / "data"
    data.mkdir()
    for file in ("gvd_en.jsonl.gz", "gvd_zh.jsonl.gz"):
        (data / file).write_text(unified(1, 1, "S1"))
    with_data = quick.planned(tmp_path / "samples", data)
    assert with_data.left_out == ()
    assert {
        name: place.name for name, place in with_data.tasks.items() if not place.is_relative_to(tmp_path / "samples")
    } == {
        "asked": "data",
        **dict.fromkeys(("current", "standing", "small", "everyday"), ""),
    }
    assert with_data.tasks["gvd-en"] == tmp_path / "samples" / "short" / "gvd_en.jsonl"
    assert list(quick.planned(tmp_path / "samples", None, ["dmr"]).tasks) == ["dmr"]


def unified(docs: int, questions: int, session: str) -> str:
    """Documents of two memories, and questions to one, that the last document answers, or its session."""
    told = [
        {
            "type": "doc",
            "ns": ns,
            "id": f"d{n}",
            "session": f"S{n}",
            "pos": 0,
            "ts": "",
            "speaker": "A",
            "text": f"t {n}",
        }
        for ns in ("a", "b")
        for n in range(docs)
    ]
    gold = [] if session else [f"d{docs - 1}"]
    asked = [
        {
            "type": "query",
            "ns": "a",
            "id": f"q{n}",
            "text": "what?",
            "gold": gold,
            "gold_sessions": [session][: bool(session)],
        }
        for n in range(questions)
    ]
    return "".join(f"{json.dumps(record)}\n" for record in (*told, *asked))


@pytest.mark.parametrize("by_itself", [False, True])
@pytest.mark.parametrize("session", ["", "S599"])
def test_data_that_is_cut_short_keeps_what_answers_the_questions(tmp_path: Path, session: str, by_itself: bool) -> None:
    """Evidence may be one name by itself, and no list."""
    data = unified(600, 9, session)
    if by_itself:
        data = data.replace('["d599"]', '"d599"').replace('["S599"]', '"S599"')
    (file := tmp_path / "x.jsonl.gz").write_bytes(gzip.compress(data.encode()))
    short = load(quick.shortened(file, tmp_path / "short", 4))
    assert not short.faults
    assert [question.id for question in short.questions] == ["q0", "q1", "q2", "q3"]
    assert all(question.scorable for question in short.questions)
    (corpus,) = short.corpora
    assert [doc.id for doc in corpus.docs] == [*(f"d{n}" for n in range(quick.DOCS)), "d599"]


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
    whole = log.read_text()
    log.write_text("".join(whole.splitlines(keepends=True)[:-2]))  # ended before the cost of the contestant
    assert quick.main(["--only", "dmr", "--out", str(tmp_path), "--limit", "2", "--resume", str(log)]) == 0
    assert [json.loads(line)["kind"] for line in log.read_text().splitlines()[-3:]] == ["resumed", "cost", "end"]


def test_what_is_measured_otherwise_is_named_by_commands_that_there_are() -> None:
    for command in MEASUREMENTS:
        words = command.split()
        assert words[:2] == ["mnemic", "bench"]
        assert words[2] in bench.commands


def test_an_interrupt_says_what_can_be_gone_on_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stopped(*given: object, **how: object) -> None:
        raise KeyboardInterrupt

    def begun(plan: object, log: Path, **how: object) -> Path:
        with Log(log):
            raise KeyboardInterrupt

    def said(*more: str) -> str:
        assert quick.main(["--only", "dmr", "--out", str(tmp_path), *more]) == INTERRUPTED
        return capsys.readouterr().err.splitlines()[-1]

    log = tmp_path / "a.jsonl"
    monkeypatch.setattr(quick, "run", stopped)
    assert said() == "interrupted: nothing is kept"
    assert said("--resume", str(log)) == f"interrupted: {log} is as it was"
    monkeypatch.setattr(quick, "run", begun)
    assert said("--resume", str(log)) == f"interrupted: what was measured is kept; go on by --resume {log}"
    monkeypatch.setattr(quick, "run", lambda *given, **how: log)
    monkeypatch.setattr(quick, "report", stopped)
    assert said() == f"interrupted: the tasks are whole in {log}; what was beside them begins anew by --resume {log}"
