from __future__ import annotations

import json
from pathlib import Path

import pytest

from mnemic.errors import Invalid
from mnemic.lab.tasks.multihop_bench import MultihopRow, Untitled, bench_multihop, entrant, table

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


def test_a_set_is_scored_as_a_whole_and_by_category(passages: Path) -> None:
    rows = bench_multihop(passages).rows
    assert [(row.name, row.n) for row in rows] == [("all", 2), ("one", 1), ("two", 1)]
    assert rows[1].recall == (1.0, 1.0, 1.0)
    assert rows[0].recall[1] == (rows[1].recall[1] + rows[2].recall[1]) / 2
    assert rows[0].all_five == (rows[1].all_five + rows[2].all_five) / 2


def test_titles_can_be_left_out(passages: Path) -> None:
    assert [row.n for row in bench_multihop(passages, make=Untitled, limit=1).rows] == [1, 1]


def test_a_strategy_of_its_own_recall_or_a_baseline_is_asked(passages: Path) -> None:
    walked = bench_multihop(passages, make=entrant(None, by="hippo2"))
    assert walked.rows[0].recall == (1.0, 1.0, 1.0)
    assert walked.cost.startswith("a passage: ")
    assert "bytes on disk" in walked.cost
    by_words = bench_multihop(passages, make=entrant(None, by="BM25 turns"))
    assert by_words.passage_bytes is None
    assert by_words.rows[0].n == 2


def test_who_is_not_known_or_is_asked_too_much_is_refused() -> None:
    with pytest.raises(Invalid, match="hippo2"):
        entrant(None, by="hippo9")
    with pytest.raises(Invalid, match="--untitled"):
        entrant(None, by="hippo2", untitled=True)


def test_rows_are_shown_in_per_cent() -> None:
    shown = table("set", [MultihopRow("all", 2, (0.5, 0.75, 1.0), 0.25)])
    assert shown.columns == ("questions", "n", "R@2", "R@5", "R@10", "all@5")
    assert shown.rows == (("all", "2", "50.0", "75.0", "100.0", "25.0"),)
