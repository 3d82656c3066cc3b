from __future__ import annotations

import json
from pathlib import Path

import pytest

from mnemic.errors import Invalid
from mnemic.lab.entries import task
from mnemic.lab.kit.datasets import message
from mnemic.lab.kit.run import RunPlan, run
from mnemic.lab.kit.run_report import SystemRow, plain, report

PASSAGES = {
    "Hollow Reed": "Hollow Reed is a drama about two ferrymen, directed by Petra Lindqvale.",
    "Petra Lindqvale": "Petra Lindqvale grew up on a barge.",
    "Barges": "A barge is a flat boat.",
}
ASKED = [
    ("Who directed Hollow Reed?", "one", ["p0"]),
    ("Where did the director of Hollow Reed grow up?", "two", ["p0", "p1"]),
]


@pytest.fixture
def passages(tmp_path: Path) -> Path:
    docs = [
        {"type": "doc", "ns": "x", "id": f"p{i}", "session": title, "pos": 0, "ts": "", "speaker": title, "text": text}
        for i, (title, text) in enumerate(PASSAGES.items())
    ]
    questions = [
        {"type": "query", "ns": "x", "id": f"q{i}", "text": text, "category": kind, "gold": gold, "gold_sessions": []}
        for i, (text, kind, gold) in enumerate(ASKED)
    ]
    path = tmp_path / "set.jsonl"
    path.write_text("\n".join(json.dumps(record) for record in (*docs, *questions)))
    return path


def rows_of(passages: Path, *names: str, name: str = "multihop", limit: int | None = None) -> dict[str, SystemRow]:
    out = passages.with_name(f"{name}-{'-'.join(names)}-{limit}.jsonl").resolve()
    path = run(RunPlan(tasks={name: passages}, rows=names, limit=limit), out)
    return {row.system: row for row in report(path).tasks[0].rows}


@pytest.mark.parametrize("name", ["locomo", "locomo-audited"])
def test_a_task_about_talk_refuses_passages(passages: Path, name: str) -> None:
    with pytest.raises(Invalid, match=f"set holds no talk for {name}: it is passages"):
        run(RunPlan(tasks={name: passages}, rows=("BM25 turns",)), passages.with_name("n.jsonl"))


def test_its_notes_are_its_own(passages: Path) -> None:
    made = report(run(RunPlan(tasks={"multihop": passages}, rows=("BM25 turns",)), passages.with_name("n.jsonl")))
    notes = " ".join(made.tasks[0].notes)
    for of_locomo in ("Captions", "Weights", "Evidence mended", "AUROC", "adversarial"):
        assert of_locomo not in notes
    assert made.header["effective"]["multihop"].keys() == {"questions", "depth"}


def test_a_set_is_scored_as_a_whole_and_by_category(passages: Path) -> None:
    row = rows_of(passages, "mnemic")["mnemic"]
    assert row.asked == 2
    assert {name: scores["R@5"].n for name, scores in row.categories.items()} == {"one": 1, "two": 1}
    assert row.categories["one"]["R@2"].mean == row.categories["one"]["R@5"].mean == 1.0
    assert row.scores["all@5"].mean == sum(scores["all@5"].mean for scores in row.categories.values()) / 2


def test_titles_can_be_left_out(passages: Path) -> None:
    (corpus,) = task("multihop-untitled").read(passages).corpora
    assert [dict(message(doc).slots) for doc in corpus.docs] == [{"doc": f"p{n}"} for n in range(3)]
    assert message(corpus.docs[0]).kind is message(task("multihop").read(passages).corpora[0].docs[0]).kind
    assert rows_of(passages, "mnemic", name="multihop-untitled", limit=1)["mnemic"].asked == 1


def test_a_strategy_of_its_own_recall_or_a_baseline_is_asked(passages: Path) -> None:
    rows = rows_of(passages, "hippo2", "BM25 turns")
    assert rows["hippo2"].scores["R@5"].mean == 1.0
    assert rows["hippo2"].cost is not None
    assert rows["hippo2"].cost.bytes_per_message is not None
    assert rows["BM25 turns"].cost is not None
    assert rows["BM25 turns"].cost.bytes_per_message is None
    assert rows["hippo2"].gain is not None


def test_a_set_of_a_name_is_found_in_a_folder(passages: Path) -> None:
    named = passages.rename(passages.with_name("hotpotqa_mine.jsonl"))
    assert task("hotpotqa").read(named.parent).name == "hotpotqa_mine"
    with pytest.raises(Invalid, match="no file for musique"):
        task("musique").read(named.parent)
    with pytest.raises(Invalid, match="hotpotqa"):
        task("hotpotqo")


def test_a_single_row_is_shown_by_category(passages: Path) -> None:
    path = run(RunPlan(tasks={"multihop": passages}, rows=("mnemic",)), passages.with_name("a.jsonl"))
    shown = plain(report(path))
    assert "4. mnemic by category, %" in shown
    assert "two" in shown
