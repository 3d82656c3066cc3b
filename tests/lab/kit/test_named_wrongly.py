"""What a user names wrongly is refused before anything is read, with what to name instead."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mnemic.errors import Invalid
from mnemic.faces.cli.bench import bench_runs
from mnemic.lab.kit import log
from mnemic.lab.kit.comparison import settings_that_differ
from mnemic.lab.kit.datasets import load
from mnemic.lab.kit.run import RunPlan, run
from mnemic.lab.kit.run_report import plain, report
from mnemic.lab.kit.stream_memories import memory_of

LOCOMO = Path(__file__).parent.with_name("two_people.json")
ROWS = ("BM25 turns", "recent window")


def refused(plan: RunPlan, out: Path) -> str:
    with pytest.raises(Invalid) as caught:
        run(plan, out / "a.jsonl")
    assert not list(out.iterdir())
    return str(caught.value)


def test_no_task_at_all(tmp_path: Path) -> None:
    assert "mnemic bench tasks" in refused(RunPlan(tasks={}), tmp_path)


def test_a_contestant_at_a_place_where_nothing_is_is_told_before_the_data_is_read(tmp_path: Path) -> None:
    plan = RunPlan(tasks={"locomo": Path("nowhere.json")}, rows=("BM25 turns", "no_such_module:Memory"))
    told = refused(plan, tmp_path)
    assert "there is no module 'no_such_module'" in told
    assert "PYTHONPATH" in told
    plan = RunPlan(tasks={"locomo": Path("nowhere.json")}, rows=(f"{__name__}:Nobody",))
    assert f"'{__name__}' has no 'Nobody'" in refused(plan, tmp_path)


def test_a_contestant_that_is_misspelt_is_guessed_before_the_data_is_read(tmp_path: Path) -> None:
    plan = RunPlan(tasks={"locomo": Path("nowhere.json")}, rows=("mnemc",))
    assert "Did you mean 'mnemic'?" in refused(plan, tmp_path)
    plan = RunPlan(tasks={"locomo": Path("nowhere.json")}, rows=("without dens",))
    assert "Did you mean 'dense'?" in refused(plan, tmp_path)
    plan = RunPlan(tasks={"locomo": Path("nowhere.json")}, rows=("mem0+zepp",))
    assert "Did you mean 'zep'?" in refused(plan, tmp_path)


def test_who_needs_vectors_is_refused_before_its_environment_is_made(tmp_path: Path) -> None:
    for row in ("dense turns", "chromadb"):
        plan = RunPlan(tasks={"locomo": Path("nowhere.json")}, rows=(row,))
        assert f"{row!r} needs an embedder" in refused(plan, tmp_path)


def test_passages_are_no_talk_and_what_is_called_gzip_is_one(tmp_path: Path) -> None:
    doc = {"type": "doc", "ns": "a", "id": "p0", "session": "Reed", "pos": 0, "ts": "", "speaker": "Reed", "text": "x"}
    asked = {"type": "query", "ns": "a", "id": "q0", "text": "What?", "gold": ["p0"]}
    lines = "".join(f"{json.dumps(record)}\n" for record in (doc, asked))
    (passages := tmp_path / "passages.jsonl").write_text(lines)
    (none := tmp_path / "passages.jsonl.gz").write_text("words")
    (tmp_path / "out").mkdir()
    for name in ("locomo", "dmr", "gvd-en", "memdaily", "longmemeval"):
        told = refused(RunPlan(tasks={name: passages}, rows=ROWS), tmp_path / "out")
        assert f"passages holds no talk for {name}: it is passages" in told
    told = refused(RunPlan(tasks={"hotpotqa": none}, rows=ROWS), tmp_path / "out")
    assert "holds no document (the file: is no gzip, though it is called one)" in told


def test_where_all_evidence_points_nowhere_nothing_is_run(tmp_path: Path) -> None:
    doc = {"type": "doc", "ns": "a", "id": "p0", "session": "Reed", "pos": 0, "ts": "", "speaker": "Reed", "text": "x"}
    asked = {"type": "query", "ns": "a", "id": "q0", "text": "What?", "gold": ["p7"]}
    (unread := tmp_path / "unread.jsonl").write_text("".join(f"{json.dumps(record)}\n" for record in (doc, asked)))
    asked["gold_sessions"] = []
    (lost := tmp_path / "lost.jsonl").write_text("".join(f"{json.dumps(record)}\n" for record in (doc, asked)))
    (tmp_path / "out").mkdir()
    told = refused(RunPlan(tasks={"hotpotqa": lost}, rows=ROWS), tmp_path / "out")
    told_unread = refused(RunPlan(tasks={"hotpotqa": unread}, rows=ROWS), tmp_path / "out")
    assert "line 2: a question that cannot be read (it has no 'gold_sessions')" in told_unread
    assert "all evidence of them points nowhere (line 2: evidence of q0 names no document: p7)" in told


def test_a_memory_of_streams_that_is_misspelt_is_guessed() -> None:
    with pytest.raises(Invalid, match="Did you mean 'reflexion'"):
        memory_of("reflexio")


def test_data_that_is_not_there_says_where_it_would_be_named_and_had(tmp_path: Path) -> None:
    said = refused(RunPlan(tasks={"locomo": Path("data")}, rows=ROWS), tmp_path)
    assert "locomo=FILE" in said
    assert "--data FOLDER" in said


def test_a_file_for_a_task_that_makes_its_own_questions(tmp_path: Path) -> None:
    plan = RunPlan(tasks={"small": Path("mine.json")}, rows=ROWS)
    assert "small makes its own questions, and reads no mine.json" in refused(plan, tmp_path)
    assert bench_runs._placed("small", Path("data")) == ("small", Path())
    assert bench_runs._placed("locomo", Path("data")) == ("locomo", Path("data"))
    assert bench_runs._placed("small=x.json", Path("data")) == ("small", Path("x.json"))


def test_talk_for_a_task_of_passages(tmp_path: Path) -> None:
    assert "holds no passage" in refused(RunPlan(tasks={"hotpotqa": LOCOMO}, rows=ROWS), tmp_path)


def test_a_file_for_a_task_that_reads_a_folder(tmp_path: Path) -> None:
    assert "asked reads a folder" in refused(RunPlan(tasks={"asked": LOCOMO}, rows=ROWS), tmp_path)


def test_a_file_that_was_cut_before_its_questions_says_so(tmp_path: Path) -> None:
    whole = LOCOMO.read_text("utf-8")
    (cut := tmp_path / "cut.json").write_text(whole[: whole.index('"qa"')], encoding="utf-8")
    (out := tmp_path / "out").mkdir()
    said = refused(RunPlan(tasks={"locomo": cut}, rows=ROWS), out)
    assert "has no question in cut.json (the end: the file was cut short)" in said


def test_evidence_that_is_one_string_and_no_list_is_one_piece(tmp_path: Path) -> None:
    samples = json.loads(LOCOMO.read_text("utf-8"))
    asked = next(q for q in samples[0]["qa"] if len(q["evidence"]) == 1)
    (asked["evidence"],) = asked["evidence"]
    (as_text := tmp_path / "as_text.json").write_text(json.dumps(samples), encoding="utf-8")
    assert load(as_text).questions == load(LOCOMO).questions


def test_what_another_run_was_set_to_is_told_in_words(tmp_path: Path) -> None:
    tasks = {"locomo": LOCOMO}
    was = run(RunPlan(tasks=tasks, rows=ROWS), tmp_path / "a.jsonl")
    now = run(RunPlan(tasks=tasks, rows=ROWS[:1], limit=2), tmp_path / "b.jsonl")
    differing = [
        line for line in settings_that_differ(report(was), report(now)) if "commit" not in line
    ]  # a checkout may change meanwhile
    assert differing == [
        "contestants locomo: BM25 turns, recent window before, BM25 turns after",
        "limit: none before, 2 after",
    ]
    with pytest.raises(
        Invalid, match="contestants locomo: BM25 turns, recent window then, BM25 turns now; limit: none"
    ):
        run(RunPlan(tasks=tasks, rows=ROWS[:1], limit=2), was, resume=True)
    assert log.read(was).is_whole


def test_columns_of_a_row_that_took_no_part_are_left_out(tmp_path: Path) -> None:
    shown = plain(report(run(RunPlan(tasks={"locomo": LOCOMO}, rows=ROWS[:1]), tmp_path / "a.jsonl")))
    assert "beside" not in shown
    assert "Differences are from" not in shown
    small = plain(report(run(RunPlan(tasks={"small": Path()}, rows=("recent window",), limit=1), tmp_path / "b.jsonl")))
    assert "BM25" not in small
    assert "Chinese" not in small
