"""Benchmark files become the same values whatever their format, and broken evidence is counted, not guessed."""

from __future__ import annotations

import gzip
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from mnemic.errors import Invalid
from mnemic.lab import entries
from mnemic.lab.kit.datasets import Dataset, evidence, load
from mnemic.lab.kit.run import RunPlan, run
from mnemic.lab.kit.run_report import plain, report

UNIFIED = [
    {
        "type": "doc",
        "ns": "ada",
        "id": "D1:1",
        "session": "S1",
        "pos": 0,
        "ts": "2023/05/30 (Tue) 21:48",
        "speaker": "Ada",
        "text": "I like tea.",
    },
    {
        "type": "query",
        "ns": "ada",
        "id": "q0",
        "text": "Tea?",
        "answer": "yes",
        "category": "single-hop",
        "gold": ["D1:1", "D9:9"],
        "gold_sessions": [],
    },
]


def written(path: Path, records: list[dict[str, object]]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def test_turns_keep_the_order_of_sessions_by_number_and_their_own_dates(pair: Dataset) -> None:
    (corpus,) = pair.corpora
    assert [doc.id for doc in corpus.docs] == ["D1:1", "D1:2", "D1:3", "D2:1", "D2:2", "D10:1"]
    assert corpus.docs[3].session == "S2"
    assert corpus.docs[3].said == datetime(2024, 3, 19, 18, 40, tzinfo=UTC)


def test_a_caption_stands_in_brackets_behind_the_text(pair: Dataset) -> None:
    assert pair.corpora[0].docs[2].text == "Look at this. [shared image: a photo of a blue glazed bowl]"


def test_misspelt_and_joined_evidence_is_mended_and_what_names_no_turn_is_dropped(pair: Dataset) -> None:
    gold = [question.gold for question in pair.questions]
    assert gold == [("D1:3",), ("D1:2",), ("D1:1", "D2:2"), ("D2:1", "D10:1"), ("D1:2",), ()]
    assert (pair.mended, pair.dropped, pair.unscorable) == (3, 2, 1)


def test_categories_carry_locomos_names_and_sessions_follow_the_gold(pair: Dataset) -> None:
    assert [q.category for q in pair.questions[:5]] == [
        "single-hop",
        "temporal",
        "multi-hop",
        "open-domain",
        "adversarial",
    ]
    assert pair.questions[3].sessions == ("S2", "S10")
    assert [q.answer for q in pair.questions[4:]] == ["Bergen", "7"]


@pytest.mark.parametrize(
    ("cited", "found", "mended", "dropped"),
    [
        (["D8:6; D9:17"], ("D8:6", "D9:17"), 2, []),
        (["D:11:26"], ("D11:26",), 1, []),
        (["D8:6 D8:6", "D8:6"], ("D8:6",), 2, []),
        (["D08:06"], ("D8:6",), 1, []),
        (["D", "", "D5:1"], (), 0, ["'D'", "''", "D5:1"]),
        (["D8:6, D5:1"], ("D8:6",), 1, ["D5:1"]),
    ],
)
def test_evidence_strings(cited: list[str], found: tuple[str, ...], mended: int, dropped: list[str]) -> None:
    known = {"D8:6": "S8", "D9:17": "S9", "D11:26": "S11"}
    assert evidence(cited, known) == (found, mended, dropped)


def test_unified_lines_are_read_plain_and_gzipped_alike(tmp_path: Path) -> None:
    plain = written(tmp_path / "a.jsonl", UNIFIED)
    packed = tmp_path / "b.jsonl.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    one, two = load(plain), load(packed)
    assert one.corpora == two.corpora
    assert one.questions == two.questions
    assert one.questions[0].gold == ("D1:1",)
    assert one.questions[0].sessions == ("S1",)
    assert one.dropped == 1
    assert one.sha256 != two.sha256


def test_a_limit_keeps_the_first_questions_and_only_the_corpora_they_need(tmp_path: Path) -> None:
    other = [{**UNIFIED[0], "ns": "bob"}]
    data = load(written(tmp_path / "a.jsonl", UNIFIED + other))
    assert [corpus.ns for corpus in data.corpora] == ["ada", "bob"]
    assert [corpus.ns for corpus in data.first(1).corpora] == ["ada"]
    assert data.first(None) is data


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff\xfe\x00",
        b"{}",
        b"[1, 2]",
        b"not json",
        b'[{"conversation": {}}]',
        b"\x1f\x8bbroken",
        b'{"type": "doc"}',
    ],
)
def test_a_file_of_another_kind_is_refused_with_the_field_named(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "strange.json"
    path.write_bytes(content)
    with pytest.raises(Invalid) as refused:
        load(path)
    assert refused.value.field == "path"


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="cannot read"):
        load(tmp_path / "nowhere.json")


def test_names_are_taken_without_the_blanks_round_them(tmp_path: Path) -> None:
    data = load(written(tmp_path / "a.jsonl", [{**UNIFIED[0], "ns": " ada "}, UNIFIED[1]]))
    assert [corpus.ns for corpus in data.corpora] == ["ada"]
    assert data.questions[0].gold == ("D1:1",)


def test_a_question_to_nobodys_documents_has_an_empty_corpus_and_is_not_scorable(tmp_path: Path) -> None:
    data = load(written(tmp_path / "a.jsonl", [UNIFIED[0], {**UNIFIED[1], "ns": "bob"}]))
    assert [(corpus.ns, len(corpus.docs)) for corpus in data.corpora] == [("ada", 1), ("bob", 0)]
    assert data.unscorable == 1


def test_what_is_wrong_in_a_file_is_listed_and_the_rest_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    written(path, [*UNIFIED, UNIFIED[0], UNIFIED[1], {"type": "note"}, {**UNIFIED[0], "id": 7}, {"type": "query"}])
    with path.open("a", encoding="utf-8") as file:
        file.write('[1]\n{"type": "do')
    data = load(path)
    assert [(len(corpus.docs), corpus.ns) for corpus in data.corpora] == [(1, "ada")]
    assert [question.id for question in data.questions] == ["q0"]
    told = {fault.where: fault.what for fault in data.faults if fault.where != "line 4"}
    assert told.keys() == {"line 2", "line 3", "line 5", "line 6", "line 7", "line 8", "line 9"}
    assert told["line 2"] == "evidence of q0 names no document: D9:9"
    assert told["line 3"] == "a second document D1:1 of ada"
    assert told["line 9"].startswith("is not JSON")
    assert "a second question q0" in {fault.what for fault in data.faults}


def test_of_a_file_that_was_cut_short_all_that_is_there_is_read(tmp_path: Path) -> None:
    many = [{**UNIFIED[0], "id": f"D1:{n}", "text": f"tea number {n} 茶"} for n in range(1, 400)]
    whole = gzip.compress("".join(json.dumps(r, ensure_ascii=False) + "\n" for r in (UNIFIED[1], *many)).encode())
    for cut in range(len(whole) // 2, len(whole) // 2 + 9):
        path = tmp_path / f"{cut}.jsonl.gz"
        path.write_bytes(whole[:cut])
        data = load(path)
        assert 0 < len(data.corpora[0].docs) < 399
        assert data.faults[0].what == "the file was cut short"


def test_of_plain_text_that_was_cut_within_a_character_what_is_before_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes("".join(json.dumps(record) + "\n" for record in UNIFIED).encode() + "茶".encode()[:2])
    data = load(path)
    assert [question.id for question in data.questions] == ["q0"]
    assert "the file was cut short" in {fault.what for fault in data.faults}


def test_every_member_of_a_gzip_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(b"".join(gzip.compress(json.dumps(record).encode() + b"\n") for record in UNIFIED))
    data = load(path)
    assert [question.id for question in data.questions] == ["q0"]
    assert len(data.corpora[0].docs) == 1


def test_a_session_that_points_nowhere_is_no_evidence(tmp_path: Path) -> None:
    data = load(written(tmp_path / "a.jsonl", [UNIFIED[0], {**UNIFIED[1], "gold_sessions": ["S1", "S7"]}]))
    assert data.questions[0].sessions == ("S1",)
    assert "evidence of q0 names no session: S7" in {fault.what for fault in data.faults}


def test_what_is_wrong_in_samples_is_listed_and_the_rest_is_read(tmp_path: Path, locomo_file: Path) -> None:
    (sample,) = json.loads(locomo_file.read_text(encoding="utf-8"))
    broken = {"sample_id": "pair-2", "conversation": {**sample["conversation"], "session_3": None}, "qa": None}
    path = tmp_path / "a.json"
    path.write_text(json.dumps([sample, sample, broken]), encoding="utf-8")
    data = load(path)
    assert [(corpus.ns, len(corpus.docs)) for corpus in data.corpora] == [("pair-1", 6), ("pair-2", 6)]
    told = {fault.where: fault.what for fault in data.faults}
    assert told["sample 1"] == "a second sample pair-1"
    assert told["sample 2"] == "has no questions"
    assert told["sample 2, session 3"] == "has no turns"


@pytest.mark.parametrize("category", [{}, {"category": None}, {"category": " "}])
def test_a_question_without_a_category_is_said_to_have_none(category: dict[str, str | None], tmp_path: Path) -> None:
    said = {"id": "D1:1", "session": "S1", "pos": 0, "ts": "", "speaker": "Ada", "text": "Hi."}
    asked = {"id": "q", "text": "Hi?", "gold": ["D1:1"], "gold_sessions": ["S1"], **category}
    lines = ({"type": "doc", "ns": "a", **said}, {"type": "query", "ns": "a", **asked})
    (path := tmp_path / "a.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    assert [question.category for question in load(path).questions] == ["no category"]


def test_a_category_that_is_none_of_locomos_is_told(tmp_path: Path, locomo_file: Path) -> None:
    samples = json.loads(locomo_file.read_text(encoding="utf-8"))
    samples[0]["qa"][0]["category"] = 9
    samples[0]["qa"][3]["category"] = None
    samples[0]["qa"][1]["question"] = None
    samples[0]["qa"][2]["question"] = "  "
    samples.append({"qa": []})
    path = tmp_path / "strange.json"
    path.write_text(json.dumps(samples), encoding="utf-8")
    data = load(path)
    told = [fault.what for fault in data.faults]
    assert {"no category of LoCoMo's: 9", "no category of LoCoMo's: None"} <= set(told)
    assert [question.category for question in data.questions][:2] == ["9", "no category"]
    assert "has no conversation" in told
    assert sum(what.startswith("a question that cannot be read") for what in told) == 2


def test_what_an_audit_doubts_is_counted_and_can_be_set_right(tmp_path: Path) -> None:
    second = {**UNIFIED[0], "id": "D1:2", "session": "S2", "text": "I like coffee."}
    doubted = {**UNIFIED[1], "audit": "WRONG_CITATION", "gold_audited": ["D1:2", "D9:9"], "audited_answer": "coffee"}
    path = written(tmp_path / "locomo.jsonl", [UNIFIED[0], second, doubted, {**UNIFIED[1], "id": "q1"}])
    (data, right) = (entries.task(name).read(path) for name in ("locomo", "locomo-audited"))
    assert (data.doubted, right.doubted) == (1, 0)
    assert [question.gold for question in data.questions] == [("D1:1",), ("D1:1",)]
    assert [(q.gold, q.sessions, q.answer) for q in right.questions] == [
        (("D1:2",), ("S2",), "coffee"),
        (("D1:1",), ("S1",), "yes"),
    ]
    log = run(RunPlan(tasks={"locomo": path}, rows=("BM25 turns",)), tmp_path / "run.jsonl")
    assert "1 questions have an answer or evidence that an audit doubts." in plain(report(log))
