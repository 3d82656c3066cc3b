from __future__ import annotations

import json
from pathlib import Path

import pytest

from mnemic.lab.tasks.multihop_bench import MultihopRow, Untitled, bench_multihop, table

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


def test_rows_are_shown_in_per_cent() -> None:
    shown = table("set", [MultihopRow("all", 2, (0.5, 0.75, 1.0), 0.25)])
    assert shown.columns == ("questions", "n", "R@2", "R@5", "R@10", "all@5")
    assert shown.rows == (("all", "2", "50.0", "75.0", "100.0", "25.0"),)
