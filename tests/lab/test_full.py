"""A full run takes every task whole, goes on where it was ended, and says how long the rest may take."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mnemic.lab import full, quick
from mnemic.lab.kit import reckoning
from mnemic.lab.kit.contestant import Means
from mnemic.lab.kit.log import Cost, Log, LoggedAnswer
from mnemic.lab.kit.made_samples import write_samples
from mnemic.lab.kit.reckoning import Paces, TaskSize, paces_of, reckoning_table, spoken_time
from mnemic.lab.kit.spoken_progress import SpokenProgress
from mnemic.lab.script_ends import INTERRUPTED


def logged(path: Path, row: str, *, documents: int, took: float, milliseconds: float) -> Path:
    with Log(path) as log:
        log.header(bench="run", tasks=["dmr"])
        log.of_task("dmr")
        for n in range(2):
            log.answer(
                LoggedAnswer(
                    system=row, ns="a", question=f"q{n}", category="", gold=(), sessions=(), ranked=(), scores=(),
                    tokens=0, milliseconds=milliseconds, cpu_ms=milliseconds / 2,
                )
            )  # fmt: skip
        log.cost(
            Cost(system=row, messages=documents, ingest_seconds=took, ingest_cpu_seconds=took / 2, start_seconds=1.0)
        )
        log.end()
    return path


def test_a_whole_run_is_reckoned_by_counts(tmp_path: Path) -> None:
    paces = paces_of([logged(tmp_path / "a.jsonl", "mnemic", documents=10, took=2.0, milliseconds=50.0)])
    asked = 2  # more than ten documents are asked for, once more
    here = paces.reckoned("dmr", "mnemic", TaskSize(100, 40))
    assert here is not None
    assert here.clock == pytest.approx(1 + 100 * 0.2 + asked * 40 * 0.05)
    assert here.cpu == pytest.approx(100 * 0.1 + asked * 40 * 0.025)
    assert paces.reckoned("beam", "mnemic", TaskSize(100, 40)) == here  # at the pace it has elsewhere
    assert paces.reckoned("dmr", "mem0", TaskSize(100, 40)) is None
    table = reckoning_table(paces, {"dmr": TaskSize(100, 40)}, {"dmr": ("mnemic", "mem0")})
    assert table.rows[0] == ("dmr", "100", "40", "2", "1", "at least 25 s", "at least 12 s")
    assert table.rows[-1] == ("all", "100", "40", "", "1", "at least 25 s", "at least 12 s")
    alone = reckoning_table(paces, {"dmr": TaskSize(100, 40)}, {"dmr": ("mnemic",)})
    assert alone.rows[-1] == ("all", "100", "40", "", "", "25 s", "12 s")
    assert "reckoned" in table.title


@pytest.mark.parametrize(("seconds", "said"), [(12, "12 s"), (300, "5 min"), (9_000, "2.5 h")])
def test_times_are_said_as_a_person_says_them(seconds: float, said: str) -> None:
    assert spoken_time(seconds) == said


def test_the_data_of_each_task_is_found_whole_and_what_is_missing_is_said_with_where_it_is(tmp_path: Path) -> None:
    write_samples(tmp_path)
    plan = full.planned(tmp_path, Means(), ["dmr", "locomo", "asked", "small"])
    assert set(plan.sizes) == {"dmr", "locomo", "small"}
    assert plan.sizes["dmr"].documents > plan.sizes["dmr"].questions > 0
    assert "mem0" in plan.rows["dmr"]
    assert "holds nothing for asked" in plan.left_out["asked"]
    assert "Hugging Face" in full.planned(tmp_path / "dmr", Means(), ["beam", "longmemeval"]).left_out["longmemeval"]


@pytest.mark.heavy
def test_the_same_command_goes_on_and_runs_nothing_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_samples(tmp_path / "data")
    monkeypatch.setattr(full, "usual_rows", lambda name, means: ["BM25 turns"])
    monkeypatch.setattr(full, "offered", dict)
    given = ["--data", str(tmp_path / "data"), "--only", "dmr,locomo", "--out", str(tmp_path / "out")]
    given += ["--embedder", "none"]
    assert full.main([*given, "--count"]) == 0
    assert not (tmp_path / "out").exists()
    assert "of unknown pace" in capsys.readouterr().out
    assert full.main(given) == 0
    told = capsys.readouterr()
    assert "dmr: BM25 turns; left, reckoned" in told.err
    assert "2 tasks" in told.out
    assert "of processors, reckoned from the logs" in told.out
    logs = {log: log.read_text() for log in (tmp_path / "out").glob("*.jsonl")}
    assert {log.name for log in logs} == {"dmr.jsonl", "locomo.jsonl"}
    assert "Every task at a glance" in (tmp_path / "out" / "report.html").read_text()
    cut = tmp_path / "out" / "dmr.jsonl"
    cut.write_text("".join(logs[cut].splitlines(keepends=True)[:-2]))
    assert full.main(given) == 0
    assert [json.loads(line)["kind"] for line in cut.read_text().splitlines()[-3:]] == ["resumed", "cost", "end"]
    assert (tmp_path / "out" / "locomo.jsonl").read_text() == logs[tmp_path / "out" / "locomo.jsonl"]


@pytest.fixture
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """One task by two contestants, one of which has nothing to do there."""
    write_samples(tmp_path / "data")
    monkeypatch.setattr(full, "usual_rows", lambda name, means: ["BM25 turns"])
    monkeypatch.setattr(full, "offered", lambda: {"memoryos": None})
    return [
        "--data",
        str(tmp_path / "data"),
        "--only",
        "hotpotqa",
        "--out",
        str(tmp_path / "out"),
        "--embedder",
        "none",
    ]


@pytest.mark.parametrize(
    ("more", "why"),
    [
        (["--beside", "nosuch"], "'nosuch' is no contestant"),
        (["--jobs", "2", "--cache", "c"], "does not go with a cache"),
        (["--jobs", "0"], "jobs: is 0"),
        (["--data", "nowhere"], "nowhere is not there"),
    ],
)
def test_what_no_task_could_run_with_is_refused_before_anything_is_counted(
    alone: list[str], more: list[str], why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert full.main([*alone, "--count", *more]) == 2
    told = capsys.readouterr()
    assert why in told.err
    assert "contestants" not in told.out


def test_what_is_counted_is_the_result(alone: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    (Path(alone[1]) / "hotpotqa").symlink_to(Path(alone[1]) / "multihop" / "multihop_made.jsonl")
    assert full.main([*alone, "--count"]) == 0
    (line,) = (line for line in capsys.readouterr().out.splitlines() if line.startswith("hotpotqa"))
    assert line.split()[3] == "1"  # the other has nothing to do


def test_the_rest_is_of_rows_that_are_not_whole(tmp_path: Path) -> None:
    log = logged(tmp_path / "dmr.jsonl", "mnemic", documents=10, took=2.0, milliseconds=50.0)
    all_rows = {"dmr": ("mnemic", "mem0", "zep")}
    plan = full.FullPlan({"dmr": tmp_path}, {"dmr": TaskSize(100, 40)}, all_rows, busy={"dmr": ("mnemic", "mem0")})
    assert full.rows_left(plan, {"dmr": log}) == {"dmr": ("mem0",)}
    sizes, rows = {**plan.sizes, "beam": TaskSize(1, 1)}, {"dmr": ("mem0", "mnemic"), "beam": ("zep",)}
    left = full.RowsLeft(sizes, rows, paces_of([log]), jobs=1)
    left.of("dmr")
    assert left("mnemic") == "; left, reckoned: 0 s and 2 contestants of unknown pace"
    assert left("mem0") == "; left, reckoned: 0 s and 1 contestant of unknown pace"


@pytest.mark.parametrize("text", ["", '{"kind":"ru'])
def test_a_log_that_holds_nothing_yet_is_begun_anew(
    tmp_path: Path, alone: list[str], text: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(full, "offered", dict)  # one contestant is enough: each loads all it needs by itself
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "dmr.jsonl").write_text(text)
    given = [*alone, "--only", "dmr"]
    assert full.main([*given, "--count"]) == 0
    assert [log.name for log in (tmp_path / "out").iterdir()] == ["dmr.jsonl"]
    capsys.readouterr()
    assert full.main(given) == 0
    assert "dmr.jsonl holds nothing yet" in capsys.readouterr().err
    assert json.loads((tmp_path / "out" / "dmr.jsonl").read_text().splitlines()[-1])["kind"] == "end"
    (aside,) = (tmp_path / "out").glob("dmr-*-cut.jsonl")
    assert aside.read_text() == text


def test_an_interrupt_of_a_full_run_says_how_to_go_on(
    alone: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stopped(*given: object, **how: object) -> Path:
        raise KeyboardInterrupt

    def begun(plan: object, log: Path, **how: object) -> Path:
        with Log(log):
            raise KeyboardInterrupt

    out = tmp_path / "out"
    for ends, said in (
        (stopped, "nothing is kept"),
        (begun, f"what was measured is kept in {out}; the same command goes on from there"),
    ):
        monkeypatch.setattr(full, "run", ends)
        assert full.main([*alone, "--only", "dmr"]) == INTERRUPTED
        assert capsys.readouterr().err.splitlines()[-1] == f"interrupted: {said}"


def test_what_is_beside_the_tasks_and_was_cut_short_begins_anew_and_is_not_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stopped(*given: object, **how: object) -> None:
        raise KeyboardInterrupt

    (tmp_path / "needles.jsonl").write_text('{"kind":"run"}\n')
    monkeypatch.setattr(quick, "bench_needles", stopped)
    with pytest.raises(KeyboardInterrupt):
        quick.measured_besides(tmp_path, kept=True)
    assert "needles.jsonl was cut short" in capsys.readouterr().err
    (aside,) = tmp_path.glob("needles-*-cut.jsonl")
    assert aside.read_text() == '{"kind":"run"}\n'


def test_lines_tell_who_is_done_and_once_a_minute_how_far_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    now = [0.0]
    spoken = SpokenProgress(lambda row: "; left: 1 min", task="dmr", clock=lambda: now[0])
    for now[0], done in ((10.0, 1), (70.0, 2), (80.0, 3), (90.0, 4), (200.0, 4)):
        spoken("mnemic", done, 4)
    lines = [line.partition(" ")[2] for line in capsys.readouterr().err.splitlines()]
    assert lines == ["dmr: mnemic: 2 of 4", "dmr: mnemic; left: 1 min"]


def test_each_row_that_runs_has_a_line_of_its_own_each_minute(capsys: pytest.CaptureFixture[str]) -> None:
    now = [0.0]
    spoken = SpokenProgress(clock=lambda: now[0])
    for now[0] in (10.0, 70.0, 131.0):
        for row in ("mnemic", "mem0"):
            spoken(row, 1, 4)
    lines = [line.partition(" ")[2] for line in capsys.readouterr().err.splitlines()]
    assert lines == ["mnemic: 1 of 4", "mem0: 1 of 4"] * 2


def test_there_is_no_pace_without_a_log() -> None:
    assert Paces({}).reckoned("dmr", "mnemic", TaskSize(1, 1)) is None
    assert reckoning.added([]).clock == 0
