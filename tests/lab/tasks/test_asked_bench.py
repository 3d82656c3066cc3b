"""Our own questions are well formed, and the task that asks them counts right. Their data is not shipped."""

from __future__ import annotations

import gzip
import io
import json
import math
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from mnemic.errors import Invalid
from mnemic.lab.kit.metrics import auroc_estimate
from mnemic.lab.tasks import asked_bench
from mnemic.lab.tasks.asked_bench import NEVER, SAID, bench_asked, show, token_f1

TALK = {
    "林": [
        ("0u", "林", "我周末在院子里种了两棵枇杷树"),
        ("0a", "assistant", "听起来真好，记得每天浇水"),
        ("1u", "林", "我弟弟送给我一把口琴"),
        ("1a", "assistant", "你可以先从短曲子学起"),
    ],
    "Mei": [
        ("0u", "Mei", "I bought a red kayak last week"),
        ("0a", "assistant", "Where will you paddle it?"),
        ("1u", "Mei", "On the lake behind the mill"),
    ],
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two people's chats of our own, under the name of a data set."""
    records: list[dict[str, Any]] = [
        {
            "type": "doc",
            "ns": ns,
            "id": id,
            "session": "s",
            "pos": pos,
            "ts": "2024-05-06",
            "speaker": who,
            "text": text,
        }
        for ns, turns in TALK.items()
        for pos, (id, who, text) in enumerate(turns)
    ]
    records += [_record(id="q0", ns="Mei", text="Which colour is my kayak?", answer="red", gold=["0u"])]
    _write(tmp_path / "gvd_zh.jsonl.gz", records)
    return tmp_path


@pytest.fixture
def rows(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Three questions asked of them, and one of data that is not there."""
    ours: list[dict[str, Any]] = [
        {"id": "a", "data": "gvd_zh", "ns": "林", "style": "plain", "text": "我在院子里种了什么树？", "gold": ["0u"]},
        {"id": "b", "data": "gvd_zh", "ns": "Mei", "style": NEVER, "text": "Which university did I attend?"},
        {"id": "c", "data": "gvd_zh", "ns": "Mei", "style": SAID, "of": "q0"},
        {"id": "d", "data": "gvd_en", "ns": "Mei", "style": "zh to en", "text": "我买了什么？", "gold": ["0u"]},
    ]
    monkeypatch.setattr(asked_bench, "_rows", lambda: ours)
    return ours


def _record(**fields: Any) -> dict[str, Any]:
    return {"type": "query", "category": "single-hop", "gold_sessions": [], **fields}


def _write(path: Path, records: list[dict[str, Any]]) -> None:
    path.write_bytes(gzip.compress("\n".join(map(json.dumps, records)).encode()))


def test_the_questions_are_as_many_and_as_varied_as_they_claim() -> None:
    rows = asked_bench._rows()
    styles = Counter(row["style"] for row in rows)
    assert styles == {"plain": 26, "paraphrase": 14, "en to zh": 10, "zh to en": 10, NEVER: 40, SAID: 40}
    assert len({row["id"] for row in rows}) == len(rows)
    assert len({row["ns"] for row in rows if row["style"] in ("plain", "paraphrase")}) >= 10


def test_only_what_was_never_said_has_no_evidence() -> None:
    for row in asked_bench._rows():
        assert bool(row.get("gold") or row.get("of")) == (row["style"] != NEVER)
        assert ("text" in row) != ("of" in row)


def test_beside_each_question_without_an_answer_stands_one_about_the_same_person() -> None:
    rows = asked_bench._rows()
    owners = [[row["ns"] for row in rows if row["style"] == style] for style in (NEVER, SAID)]
    assert owners[0] == owners[1]


def test_every_question_goes_through_a_memory_of_its_own_data(folder: Path, rows: list[dict[str, Any]]) -> None:
    found = bench_asked(folder)
    by_id = {outcome.question.id: outcome for outcome in found.outcomes}
    assert list(by_id) == ["a", "b", "c"]
    assert by_id["a"].ranked[0] == "0u"
    assert by_id["c"].ranked[0] == "0u"
    assert by_id["c"].question.text == "Which colour is my kayak?"
    assert found.notes == ("gvd_en.jsonl.gz is not there: 1 questions were not asked",)


def test_the_tables_say_what_was_found(folder: Path, rows: list[dict[str, Any]]) -> None:
    stream = io.StringIO()
    show(bench_asked(folder), stream)
    lines = [line.split() for line in stream.getvalue().splitlines()]
    assert ["plain", "1", "100.0", "[100,", "100]", "100.0", "[100,", "100]", "100.0", "[100,", "100]"] in lines
    assert ["across", "languages", "0", "-", "-", "-"] in lines
    assert stream.getvalue().endswith("* gvd_en.jsonl.gz is not there: 1 questions were not asked\n")


def test_a_folder_without_the_data_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="holds none of the data"):
        bench_asked(tmp_path)


def test_another_edition_of_the_data_is_refused(folder: Path, rows: list[dict[str, Any]]) -> None:
    rows[0]["ns"] = "nobody"
    with pytest.raises(Invalid, match="another edition: a cannot be asked"):
        bench_asked(folder)


def test_the_chance_to_tell_two_sides_apart_has_an_interval() -> None:
    told = auroc_estimate([0.9, 0.8, 0.7, 0.4], [0.3, 0.5, 0.1], seed=0)
    assert told.mean == pytest.approx(11 / 12)
    assert told.low <= told.mean <= told.high <= 1
    assert told.n == 7
    assert math.isnan(auroc_estimate([], [0.5], seed=0).mean)


def test_the_overlap_of_two_answers_is_that_of_their_words() -> None:
    assert token_f1("a red kayak", "the red kayaks") == 1
    assert token_f1("7 May 2023", "May 2023") == pytest.approx(4 / 5)
    assert token_f1("", "red") == 0
