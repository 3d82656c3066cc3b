"""Our own questions are well formed, and the task that asks them counts right. Their data is not shipped."""

from __future__ import annotations

import gzip
import json
import math
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mnemic.errors import Invalid
from mnemic.lab.entries import task
from mnemic.lab.kit import log
from mnemic.lab.kit.answer_metrics import token_f1
from mnemic.lab.kit.metrics import DRAWS, auroc, auroc_estimate
from mnemic.lab.kit.run import RunPlan, run
from mnemic.lab.kit.run_report import plain, report
from mnemic.lab.tasks import asked_task
from mnemic.lab.tasks.asked_task import NEVER, SAID

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
    monkeypatch.setattr(asked_task, "_rows", lambda: ours)
    return ours


def _record(**fields: Any) -> dict[str, Any]:
    return {"type": "query", "category": "single-hop", "gold_sessions": [], **fields}


def _write(path: Path, records: list[dict[str, Any]]) -> None:
    path.write_bytes(gzip.compress("\n".join(map(json.dumps, records)).encode()))


def test_the_questions_are_as_many_and_as_varied_as_they_claim() -> None:
    rows = asked_task._rows()
    styles = Counter(row["style"] for row in rows)
    assert styles == {"plain": 26, "paraphrase": 14, "en to zh": 10, "zh to en": 10, NEVER: 40, SAID: 40}
    assert len({row["id"] for row in rows}) == len(rows)
    assert len({row["ns"] for row in rows if row["style"] in ("plain", "paraphrase")}) >= 10


def test_other_questions_are_another_run(folder: Path, rows: list[dict[str, Any]]) -> None:
    before = task("asked").read(folder).sha256
    assert task("asked").read(folder).sha256 == before
    rows[0]["text"] += "？"
    assert task("asked").read(folder).sha256 != before


def test_only_what_was_never_said_has_no_evidence() -> None:
    for row in asked_task._rows():
        assert bool(row.get("gold") or row.get("of")) == (row["style"] != NEVER)
        assert ("text" in row) != ("of" in row)


def test_beside_each_question_without_an_answer_stands_one_about_the_same_person() -> None:
    rows = asked_task._rows()
    owners = [[row["ns"] for row in rows if row["style"] == style] for style in (NEVER, SAID)]
    assert owners[0] == owners[1]


def test_every_question_goes_through_a_memory_and_is_answered(
    folder: Path, rows: list[dict[str, Any]], tmp_path: Path
) -> None:
    made = log.read(run(RunPlan(tasks={"asked": folder}), tmp_path / "a.jsonl"))
    by_id = {answer.question: answer for answer in made.answers["mnemic"]}
    assert list(by_id) == ["a", "b", "c"]
    assert by_id["a"].ranked[0] == "0u"
    assert by_id["c"].ranked[0] == "0u"
    assert by_id["c"].origin == "gvd_zh"
    assert made.questions["Mei", "c"] == "Which colour is my kayak?"
    given = by_id["c"].given
    assert given is not None
    assert given.known
    assert given.cited == ("0u",)
    (fault,) = made.header["data"]["asked"]["faults_listed"]
    assert fault == {"where": "gvd_en.jsonl.gz", "what": "is not there: 1 questions were not asked"}


def test_the_tables_say_what_was_found(folder: Path, rows: list[dict[str, Any]], tmp_path: Path) -> None:
    shown = plain(report(run(RunPlan(tasks={"asked": folder}), tmp_path / "a.jsonl")))
    lines = [line.split() for line in shown.splitlines()]
    assert ["plain", "1", "100.0", "[-]", "100.0", "[-]", "100.0", "[-]"] in lines
    assert ["across", "languages", "0", "-", "-", "-"] in lines
    assert "gvd_en.jsonl.gz: is not there: 1 questions were not asked" in shown


def test_a_baseline_is_asked_for_a_ranking_alone(folder: Path, rows: list[dict[str, Any]], tmp_path: Path) -> None:
    shown = plain(report(run(RunPlan(tasks={"asked": folder}, rows=("mnemic", "BM25 turns")), tmp_path / "a.jsonl")))
    assert "Evidence found, BM25 turns, %" in shown
    assert "Answers without a model, mnemic" in shown
    assert "Answers without a model, BM25 turns" not in shown


def test_a_folder_without_the_data_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="holds none of the data"):
        task("asked").read(tmp_path)


def test_another_edition_of_the_data_is_refused(folder: Path, rows: list[dict[str, Any]]) -> None:
    rows[0]["ns"] = "nobody"
    with pytest.raises(Invalid, match="another edition: a cannot be asked"):
        task("asked").read(folder)


def test_evidence_that_is_not_there_is_dropped_and_told(folder: Path, rows: list[dict[str, Any]]) -> None:
    rows[0]["gold"] = ["0u", "99u"]
    data = task("asked").read(folder)
    assert data.questions[0].gold == ("0u",)
    assert data.dropped == 1
    assert "evidence of a names no document: 99u" in {fault.what for fault in data.faults}


def test_the_chance_to_tell_two_sides_apart_has_an_interval() -> None:
    told = auroc_estimate([0.9, 0.8, 0.7, 0.4], [0.3, 0.5, 0.1], seed=0)
    assert told.mean == pytest.approx(11 / 12)
    assert told.low <= told.mean <= told.high <= 1
    assert told.n == 7
    assert math.isnan(auroc_estimate([], [0.5], seed=0).mean)


def test_its_interval_is_that_of_drawing_from_both_sides() -> None:
    positive, negative = [0.9, 0.8, 0.5, 0.5, 0.4], [0.5, 0.3, 0.5, 0.1]
    chance, drawn = np.random.default_rng(3), []
    for _ in range(DRAWS):
        drawn.append(auroc(list(chance.choice(positive, 5)), list(chance.choice(negative, 4))))
    told = auroc_estimate(positive, negative, seed=3)
    assert (told.low, told.high) == tuple(np.percentile(drawn, (2.5, 97.5)))


def test_the_overlap_of_two_answers_is_that_of_their_words() -> None:
    assert token_f1("a red kayak", "the red kayaks") == 1
    assert token_f1("7 May 2023", "May 2023") == pytest.approx(4 / 5)
    assert token_f1("", "red") == 0
