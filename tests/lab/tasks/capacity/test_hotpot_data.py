"""Multi-hop questions are read in the formats they are published in."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from mnemic.errors import Invalid
from mnemic.lab.tasks.capacity.hotpot_data import read_passages

HOTPOT = [
    {
        "_id": "h1",
        "question": "Who skippers the ferry to Vellamo?",
        "answer": "Ida Strand",
        "type": "bridge",
        "supporting_facts": [["Vellamo", 1], ["MS Tern", 0], ["Vellamo", 9]],
        "context": [
            ["Vellamo", ["Vellamo is an island.", " Its ferry is MS Tern."]],
            ["MS Tern", ["MS Tern is skippered by Ida Strand."]],
            ["Herring", ["A herring is a fish.", ""]],
        ],
    },
    {
        "_id": "h2",
        "question": "Is a herring a fish?",
        "answer": "yes",
        "type": "comparison",
        "supporting_facts": [["Herring", 0]],
        "context": [["Herring", ["A herring is a fish.", ""]], ["Cod", ["So is a cod."]]],
    },
]
MUSIQUE = {
    "id": "2hop__1_2",
    "question": "Where was the skipper of MS Tern born?",
    "answer": "Harrow Quay",
    "paragraphs": [
        {"idx": 0, "title": "MS Tern", "paragraph_text": "Ida Strand skippers it.", "is_supporting": True},
        {"idx": 1, "title": "Cod", "paragraph_text": "A fish.", "is_supporting": False},
        {"idx": 2, "title": "Ida Strand", "paragraph_text": "Born at Harrow Quay.", "is_supporting": True},
    ],
}


@pytest.fixture
def hotpot(tmp_path: Path) -> Path:
    path = tmp_path / "hotpot_train_v1.1.json"
    path.write_text(json.dumps(HOTPOT))
    return path


def test_hotpotqa_in_paragraphs(hotpot: Path) -> None:
    read = read_passages(hotpot)
    assert [(doc.id, doc.session, doc.text) for doc in read.docs] == [
        ("p0", "Vellamo", "Vellamo is an island. Its ferry is MS Tern."),
        ("p1", "MS Tern", "MS Tern is skippered by Ida Strand."),
        ("p2", "Herring", "A herring is a fish."),
        ("p3", "Cod", "So is a cod."),
    ]
    assert [(q.id, q.category, q.gold) for q in read.questions] == [
        ("h1", "bridge", ("p0", "p1")),
        ("h2", "comparison", ("p2",)),
    ]
    assert read.needed == {"h1": ("p0", "p1", "p2"), "h2": ("p2", "p3")}
    assert read.dropped == 1


def test_hotpotqa_in_sentences(hotpot: Path) -> None:
    read = read_passages(hotpot, unit="sentence", limit=1)
    assert [(doc.pos, doc.text) for doc in read.docs] == [
        (0, "Vellamo is an island."),
        (1, "Its ferry is MS Tern."),
        (0, "MS Tern is skippered by Ida Strand."),
        (0, "A herring is a fish."),
    ]
    assert read.questions[0].gold == ("p1", "p2")


def test_the_edition_with_columns_for_lists_is_the_same(hotpot: Path, tmp_path: Path) -> None:
    rows = [
        {
            **{key: value for key, value in row.items() if key != "_id"},
            "id": row["_id"],
            "supporting_facts": {
                "title": [title for title, _ in row["supporting_facts"]],
                "sent_id": [number for _, number in row["supporting_facts"]],
            },
            "context": {
                "title": [title for title, _ in row["context"]],
                "sentences": [sentences for _, sentences in row["context"]],
            },
        }
        for row in HOTPOT
    ]
    path = tmp_path / "hotpot_train_v1.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    one, other = read_passages(hotpot), read_passages(path)
    assert [q.gold for q in one.questions] == [q.gold for q in other.questions]
    assert [doc.text for doc in one.docs] == [doc.text for doc in other.docs]


def test_musique(tmp_path: Path) -> None:
    path = tmp_path / "musique_ans_v1.0_train.jsonl.gz"
    path.write_bytes(gzip.compress((json.dumps(MUSIQUE) + "\n").encode()))
    read = read_passages(path)
    assert [doc.session for doc in read.docs] == ["MS Tern", "Cod", "Ida Strand"]
    assert [(q.id, q.category, q.gold) for q in read.questions] == [("2hop__1_2", "2hop", ("p0", "p2"))]
    assert read.needed == {"2hop__1_2": ("p0", "p1", "p2")}


def test_unified_says_what_answers_and_not_what_was_asked_over(tmp_path: Path) -> None:
    docs = [
        {"type": "doc", "ns": "n", "id": f"p{n}", "session": t, "pos": 0, "ts": "", "speaker": t, "text": t * 2}
        for n, t in enumerate(("one", "two", "three"))
    ]
    asked = [
        {"type": "query", "ns": "n", "id": f"q{n}", "text": "?", "gold": gold, "gold_sessions": []}
        for n, gold in enumerate((["p1"], ["p2"]))
    ]
    path = tmp_path / "pool.jsonl"
    path.write_text("\n".join(map(json.dumps, (*docs, *asked))))
    read = read_passages(path)
    assert (len(read.docs), read.needed) == (3, {"q0": ("p1",), "q1": ("p2",)})
    assert [doc.id for doc in read_passages(path, limit=1).docs] == ["p0", "p1"]
    with pytest.raises(Invalid, match="whole paragraphs"):
        read_passages(path, unit="sentence")


def test_what_is_no_such_file_is_said_so(tmp_path: Path, hotpot: Path) -> None:
    for name, content in (("a.json", "[1]"), ("b.json", "{"), ("c.json", "[]"), ("d.jsonl", '{"id": "x"}')):
        (tmp_path / name).write_text(content)
        with pytest.raises(Invalid):
            read_passages(tmp_path / name)
    with pytest.raises(Invalid, match="cannot read"):
        read_passages(tmp_path / "none.json")
    with pytest.raises(Invalid, match="paragraph, sentence"):
        read_passages(hotpot, unit="page")
