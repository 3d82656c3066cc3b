"""LoCoMo's, LongMemEval's and the unified files: turns, times, sessions and keys."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from mnemic.core.items import Kind
from mnemic.ingest import Message, Skipped, detect, read

Write = Callable[[str, str | bytes], Path]


def messages(path: Path, format: str | None = None) -> list[Message]:
    found = list(read(path, format))
    assert all(isinstance(m, Message) for m in found), found
    return [m for m in found if isinstance(m, Message)]


def test_locomo_turns_come_session_by_session_in_the_order_of_their_numbers(fixtures: Path) -> None:
    path = fixtures / "locomo_small.json"
    assert detect(path) == "locomo"
    turns = messages(path)
    assert len(turns) == 13
    assert [m.key for m in turns][4:6] == ["locomo:ours-1:D1:5", "locomo:ours-1:D2:1"]
    assert turns[9].key == "locomo:ours-1:D10:1"
    assert [m.session for m in turns][-3:] == ["ours-1/S10", "ours-2/S1", "ours-2/S1"]
    assert [m.pos for m in turns] == [0, 1, 2, 3, 4, 0, 1, 2, 3, 0, 1, 0, 1]


def test_locomo_times_are_those_of_the_session_in_utc(fixtures: Path) -> None:
    turns = messages(fixtures / "locomo_small.json")
    assert turns[0].said == datetime(2024, 4, 11, 19, 5, tzinfo=UTC)
    assert turns[9].said == datetime(2024, 12, 24, 0, 15, tzinfo=UTC)


def test_a_locomo_caption_is_a_slot_beside_the_speaker(fixtures: Path) -> None:
    turn = messages(fixtures / "locomo_small.json")[4]
    assert turn.slots == {
        "speaker": "Maro",
        "caption": "a yellow kayak tied to the roof of a small car",
        "conversation": "ours-1",
    }


def test_what_is_wrong_in_a_locomo_file_is_skipped_where_it_stands(write: Write) -> None:
    bad = [
        {"conversation": {"session_1": "no list", "session_2": [3, {"speaker": "A", "dia_id": "D2:2"}]}},
        {"conversation": {"session_1_date_time": "some day", "session_1": [{"speaker": "A", "text": "x"}]}},
        {"conversation": {"session_1": [{"speaker": "A", "text": "", "blip_caption": "a cat"}]}},
        "no sample",
    ]
    found = list(read(write("a.json", json.dumps(bad)), "locomo"))
    assert [(m.where if isinstance(m, Skipped) else m.text) for m in found] == [
        "sample-1, session 1",
        "sample-1, session 2, turn 1",
        "sample-1, session 2, turn 2",
        "sample-2, session 1, turn 1",
        "[a cat]",
        "sample 4",
    ]


def test_longmemeval_histories_are_kept_apart_by_question(fixtures: Path) -> None:
    path = fixtures / "longmemeval_small.json"
    assert detect(path) == "longmemeval"
    turns = messages(path)
    assert [m.key for m in turns] == [
        "longmemeval:ours-kettle:ours_a1:1",
        "longmemeval:ours-kettle:ours_a1:2",
        "longmemeval:ours-kettle:answer_ours_a2:1",
        "longmemeval:ours-kettle:answer_ours_a2:2",
        "longmemeval:ours-ferry_abs:ours_a1:1",
        "longmemeval:ours-ferry_abs:ours_a1:2",
    ]
    assert [m.session for m in turns][::2] == [
        "ours-kettle/ours_a1",
        "ours-kettle/answer_ours_a2",
        "ours-ferry_abs/ours_a1",
    ]
    assert turns[2].said == datetime(2024, 3, 15, 21, 40, tzinfo=UTC)


def test_longmemeval_evidence_marks_and_answers_never_enter_memory(fixtures: Path) -> None:
    turns = messages(fixtures / "longmemeval_small.json")
    assert {name for m in turns for name in m.slots} == {"role", "conversation"}


def test_unified_lines_give_turns_and_passages_and_no_questions(write: Write) -> None:
    rows = [
        {
            "type": "doc",
            "ns": "c1",
            "id": "D1:1",
            "session": "S1",
            "pos": 0,
            "ts": "1:56 pm on 8 May, 2023",
            "speaker": "A",
            "text": "hi",
        },
        {
            "type": "doc",
            "ns": "c1",
            "id": "p0",
            "session": "Oats",
            "pos": 0,
            "ts": "",
            "speaker": "Oats",
            "text": "Oats are a cereal.",
        },
        {"type": "query", "ns": "c1", "id": "q0", "text": "who?", "answer": "A", "gold": ["D1:1"]},
    ]
    packed = gzip.compress("".join(json.dumps(row) + "\n" for row in rows).encode())
    path = write("data.jsonl.gz", packed)
    assert detect(path) == "unified"
    turn, passage = messages(path)
    assert (turn.key, turn.session, turn.kind) == ("unified:c1:D1:1", "c1/S1", Kind.TURN)
    assert turn.said == datetime(2023, 5, 8, 13, 56, tzinfo=UTC)
    assert (passage.kind, passage.said, passage.slots["title"]) == (Kind.DOCUMENT, None, "Oats")
