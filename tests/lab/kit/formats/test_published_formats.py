"""Data sets in their published form: what is right becomes values, what is wrong is listed and costs nothing else."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from mnemic.errors import Invalid
from mnemic.lab.kit.datasets import Dataset
from mnemic.lab.kit.formats.beam_data import load_beam
from mnemic.lab.kit.formats.longmemeval_data import load_longmemeval
from mnemic.lab.kit.formats.memdaily_data import load_memdaily
from mnemic.lab.kit.formats.memory_agent_bench_data import load_memory_agent_bench
from mnemic.lab.kit.formats.memory_bank_data import load_memory_bank
from mnemic.lab.kit.formats.msc_data import load_msc
from mnemic.lab.kit.made_samples import write_samples


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("samples")
    write_samples(folder)
    return folder


def told(dataset: Dataset) -> list[str]:
    return [fault.what for fault in dataset.faults]


def written(path: Path, value: object) -> Path:
    path.write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")
    return path


def lines(path: Path, *records: object) -> Path:
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records), encoding="utf-8")
    return path


def test_the_same_seed_gives_the_same_samples_and_another_gives_others(tmp_path: Path, samples: Path) -> None:
    again, other = tmp_path / "again", tmp_path / "other"
    for path, changed in zip(write_samples(again), write_samples(other, seed=1), strict=True):
        same = samples / path.relative_to(again)
        assert path.read_bytes() == same.read_bytes()
        assert changed.read_bytes() != same.read_bytes()


# LongMemEval


@pytest.fixture
def entry() -> dict[str, Any]:
    return {
        "question_id": "q1",
        "question_type": "knowledge-update",
        "question": "How many kettles do I own?",
        "answer": 2,
        "question_date": "2024/03/20 (Wed) 10:00",
        "haystack_dates": ["2024/03/15 (Fri) 21:40", "2024/03/02 (Sat) 08:15"],
        "haystack_session_ids": ["answer_b", "a"],
        "haystack_sessions": [
            [
                {"role": "user", "content": "I bought a second kettle.", "has_answer": True},
                {"role": "assistant", "content": "Then there are two."},
            ],
            [{"role": "user", "content": "My only kettle leaks."}, {"role": "assistant", "content": "Where?"}],
        ],
        "answer_session_ids": ["answer_b"],
    }


def test_longmemeval_has_evidence_by_turn_and_by_session_in_the_order_of_dates(
    tmp_path: Path, entry: dict[str, Any]
) -> None:
    data = load_longmemeval(written(tmp_path / "longmemeval_s.json", [entry]))
    (corpus,), (question,) = data.corpora, data.questions
    assert [doc.id for doc in corpus.docs] == ["a:1", "a:2", "answer_b:1", "answer_b:2"]
    assert [doc.speaker for doc in corpus.docs[:2]] == ["user", "assistant"]
    assert (question.gold, question.sessions, question.answer) == (("answer_b:1",), ("answer_b",), "2")
    assert question.category == "knowledge-update"
    assert question.asked == datetime(2024, 3, 20, 10, tzinfo=UTC)
    assert data.undated == 0


def test_longmemeval_without_dates_stays_in_the_order_of_the_file(tmp_path: Path, entry: dict[str, Any]) -> None:
    data = load_longmemeval(written(tmp_path / "s.json", [{**entry, "haystack_dates": ["", "some day"]}]))
    assert [doc.session for doc in data.corpora[0].docs] == ["answer_b", "answer_b", "a", "a"]
    assert data.undated == 4


def test_longmemeval_abstention_has_no_evidence_whatever_is_named(tmp_path: Path, entry: dict[str, Any]) -> None:
    data = load_longmemeval(written(tmp_path / "s.json", [{**entry, "question_id": "q1_abs"}]))
    (question,) = data.questions
    assert (question.category, question.scorable) == ("abstention", False)
    assert data.faults == ()


def test_longmemeval_lists_what_is_wrong_and_reads_the_rest(tmp_path: Path, entry: dict[str, Any]) -> None:
    broken = {
        **entry,
        "question_id": "q2",
        "question_type": "riddle",
        "haystack_session_ids": ["a", "a", "c"],
        "haystack_sessions": [*entry["haystack_sessions"], "nothing"],
        "answer_session_ids": ["nowhere"],
    }
    blank = {**entry, "question_id": "q3", "haystack_sessions": [[{"role": "user", "content": " "}, "nothing"]]}
    data = load_longmemeval(
        written(tmp_path / "s.json", [entry, entry, 7, broken, blank, {**entry, "question_id": "q4"}])
    )
    assert [question.id for question in data.questions] == ["q1", "q2", "q3", "q4"]
    said = "\n".join(told(data))
    for part in (
        "a second question q1",
        "has no haystack",
        "3 sessions have 3 ids and 2 dates",
        "a second session a",
        "session c has no turns",
        "no question type of LongMemEval's: 'riddle'",
        "evidence of q2 names no session: nowhere",
        "turn a:1 is marked, and its session is no evidence",
        "a document that cannot be read",
    ):
        assert part in said
    assert data.dropped == 2  # `answer_b` is not in q3, either


def test_longmemeval_reads_only_as_many_questions_as_are_asked_for(tmp_path: Path, entry: dict[str, Any]) -> None:
    path = written(tmp_path / "longmemeval_m.json", [{**entry, "question_id": f"q{n}"} for n in range(5)])
    path.write_bytes(path.read_bytes()[:-100] + b"{{{ rubbish")
    assert len(load_longmemeval(path, 2).questions) == 2
    assert load_longmemeval(path, 2).faults == ()
    assert load_longmemeval(path, 2).questions == load_longmemeval(path).first(2).questions


@pytest.mark.parametrize("packed", [False, True])
def test_longmemeval_that_was_cut_short_keeps_the_questions_before(
    tmp_path: Path, entry: dict[str, Any], packed: bool
) -> None:
    path = written(tmp_path / "s.json", [{**entry, "question_id": f"q{n}"} for n in range(200)])
    raw = path.read_bytes()
    path.write_bytes(gzip.compress(raw)[:-30] if packed else raw[: len(raw) // 2])
    data = load_longmemeval(path)
    assert 0 < len(data.questions) < 200
    assert "cannot be read from here on" in told(data)[-1]


def test_texts_that_stand_in_many_haystacks_are_held_once(tmp_path: Path, entry: dict[str, Any]) -> None:
    data = load_longmemeval(written(tmp_path / "s.json", [entry, {**entry, "question_id": "q2"}]))
    one, two = (corpus.docs[0].text for corpus in data.corpora)
    assert one is two


# MemoryBank


@pytest.fixture
def bank(tmp_path: Path) -> Path:
    talk = {
        "2023-05-02": [{"query": "I ran ten miles.", "response": "Well done."}, {"query": "", "response": "Yes?"}],
        "2023-05-01": [{"query": "I have a cat.", "response": "Its name?"}],
        "2023-05-03": "nothing",
    }
    path = written(tmp_path / "memory_bank_en.json", {" Ada ": {"history": talk}, "Bo": {}})
    lines(
        tmp_path / "probing_questions_en.jsonl",
        {"Ada": ["How far did I run?", '"What did my cat eat?"', 7]},
        {"Cy": ["Who?"]},
    )
    lines(
        tmp_path / "evidence.jsonl",
        {"users": ["Ada"], "question": 0, "gold": ["2023-05-02#0u", "2023-05-09#0u"]},
        {"users": ["Ada"], "question": 1, "gold": []},
    )
    return path


def test_a_memory_bank_is_read_by_day_with_evidence_that_stands_beside_it(bank: Path) -> None:
    data = load_memory_bank(bank)
    assert [doc.id for doc in data.corpora[0].docs] == [
        "2023-05-01#0u", "2023-05-01#0a", "2023-05-02#0u", "2023-05-02#0a", "2023-05-02#1a",
    ]  # fmt: skip
    assert [doc.speaker for doc in data.corpora[0].docs[:2]] == ["Ada", "assistant"]
    run, cat = data.questions
    assert (run.text, run.gold, run.sessions) == ("How far did I run?", ("2023-05-02#0u",), ("2023-05-02",))
    assert (cat.text, cat.category, cat.gold) == ("What did my cat eat?", "abstention", ())
    assert data.dropped == 1
    assert sum("user Bo" in fault.where for fault in data.faults) == 1
    assert sum("asks of Cy, who is nobody" in what for what in told(data)) == 1


def test_a_memory_bank_that_was_cut_short_or_has_no_questions_is_read(bank: Path) -> None:
    digest = load_memory_bank(bank).sha256
    bank.write_text(bank.read_text()[:150])
    assert "the file was cut short" in told(load_memory_bank(bank))
    assert load_memory_bank(bank).sha256 != digest
    bank.with_name("probing_questions_en.jsonl").unlink()
    assert load_memory_bank(bank).questions == ()


# MSC


def test_deep_memory_retrieval_takes_the_turns_with_the_words_of_the_answer(tmp_path: Path) -> None:
    row = {
        "previous_dialogs": [{"dialog": [{"text": "I train falcons for a living."}, {"text": "How rare!"}]}, "odd"],
        "dialog": [{"text": "My best falcon is called Ziggy.", "id": "Speaker 2"}, {"id": "Speaker 1"}],
        "self_instruct": {"B": "What do I do for a living?", "A": "You train falcons."},
    }
    reworded = {**row, "self_instruct": {"B": "What do I do?", "A": "Falconry"}}
    path = lines(tmp_path / "msc_self_instruct.jsonl", row, reworded, row, {"dialog": []}, {**row, "self_instruct": {}})
    data = load_msc(path)
    first, second = data.questions
    assert (first.gold, first.sessions, first.category) == (("D1:1",), ("S1",), "in these words")
    assert (second.scorable, second.category) == (False, "in other words")
    assert [doc.speaker for doc in data.corpora[0].docs] == ["Speaker 1", "Speaker 2", "Speaker 2"]
    said = "\n".join(told(data))
    for part in ("session 2 has no turns", "is the same as line 1", "has no talk", "a question that cannot be read"):
        assert part in said


def test_an_answer_that_many_turns_hold_tells_nothing(tmp_path: Path) -> None:
    turns = [{"text": f"Red, and the {n}th time."} for n in range(6)]
    row = {"dialog": turns, "self_instruct": {"B": "Which colour?", "A": "Red"}}
    assert load_msc(lines(tmp_path / "a.jsonl", row)).unscorable == 1
    row["dialog"] = turns[:5]
    assert len(load_msc(lines(tmp_path / "a.jsonl", row)).questions[0].gold) == 5


# MemDaily


def daily(**changed: object) -> dict[str, Any]:
    qa = {"question": "论坛在哪里？", "answer": "北京", "target_step_id": [1], "choices": {}, "ground_truth": "A"}
    messages = [
        {"mid": 0, "message": "我要参加论坛。", "time": "2024年04月01日 周一 08:30", "place": "深圳"},
        {"mid": 1, "message": "论坛的地点是北京。", "time": "2024年04月02日 周二 07:08", "place": "深圳"},
    ]
    return {"tid": 0, "message_list": messages, "QA": {**qa, **changed}}


def test_memdaily_is_read_by_type_with_the_dates_of_messages(tmp_path: Path) -> None:
    data = load_memdaily(written(tmp_path / "memdaily.json", {"simple": {"events": [daily()]}}))
    (question,) = data.questions
    assert (question.category, question.gold, question.answer) == ("simple", ("m1",), "北京")
    assert [doc.when for doc in data.corpora[0].docs] == ["2024-04-01 08:30", "2024-04-02 07:08"]
    assert data.undated == 0
    assert question.sessions == ("2024-04-02",)


def test_memdaily_with_noise_and_in_parts_is_read_too(tmp_path: Path) -> None:
    noted = "论坛的地点是北京。 (消息地点 深圳, 消息时间 2024年04月02日 周二 07:08)"
    noisy = {**daily(target_step_id=1), "message_list": ["今天天气不错。", noted]}
    data = load_memdaily(written(tmp_path / "memdaily_9.json", {"noisy": {"roles": [noisy]}}))
    assert [doc.text for doc in data.corpora[0].docs] == ["今天天气不错。", "论坛的地点是北京。"]
    assert data.questions[0].gold == ("m1",)
    part = {key: value for key, value in daily().items() if key != "QA"} | {"question_list": [daily()["QA"]]}
    data = load_memdaily(written(tmp_path / "05_post_processing_items.json", [part]))
    assert (data.questions[0].category, data.questions[0].ns) == ("post_processing", "post_processing/items/0")


def test_memdaily_lists_what_is_wrong(tmp_path: Path) -> None:
    rows = [daily(), daily(), {**daily(question="[ERRORQ]"), "tid": 2}, {**daily(target_step_id=[1, 9]), "tid": 3}, 4]
    data = load_memdaily(written(tmp_path / "memdaily.json", {"riddles": {"events": rows}}))
    assert [question.gold for question in data.questions] == [("m1",), ("m1",)]
    said = "\n".join(told(data))
    for part in (
        "no type of MemDaily's",
        "a second trajectory",
        "its makers mark it [ERRORQ]",
        "names no message: 9",
        "trajectory 4 is none",
    ):
        assert part in said


# BEAM


def chat(folder: Path, batches: object, questions: object) -> Path:
    (folder / "probing_questions").mkdir(parents=True)
    written(folder / "chat.json", batches)
    written(folder / "probing_questions" / "probing_questions.json", questions)
    return folder


def batch(*ids: int, number: int = 1, anchor: str = "March-15-2024") -> dict[str, Any]:
    turns = [[{"role": "user", "id": id, "time_anchor": anchor, "content": f"word{id} ->-> 1,{id}"}] for id in ids]
    return {"batch_number": number, "turns": turns}


def test_beam_reads_the_chats_below_a_folder_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    asked = {
        "knowledge_update": [
            {"question": "Which?", "answer": "2", "source_chat_ids": {"original_info": [1], "updated_info": [2, 9]}}
        ],
        "abstention": [{"question": "Who?", "ideal_response": "Nobody.", "source_chat_ids": [1]}],
        "juggling": [{"question": "How?", "answer": "So", "source_chat_ids": None}],
    }
    for name in ("10", "2"):
        chat(tmp_path / name, [batch(1, 2), batch(3, number=2, anchor="April-01-2024")], asked)
    data = load_beam(tmp_path)
    assert [corpus.ns for corpus in data.corpora] == ["2", "10"]
    assert [(doc.text, doc.session, doc.when) for doc in data.corpora[0].docs] == [
        ("word1", "batch-1", "2024-03-15"), ("word2", "batch-1", "2024-03-15"), ("word3", "batch-2", "2024-04-01"),
    ]  # fmt: skip
    update, nobody, _ = data.questions[:3]
    assert (update.gold, update.category) == (("1", "2"), "knowledge_update")
    assert (nobody.gold, nobody.answer) == ((), "Nobody.")
    assert data.dropped == 2
    assert "no ability of BEAM's: 'juggling'" in told(data)
    assert load_beam(tmp_path / "2" / "chat.json").corpora == load_beam(tmp_path / "2").corpora


def test_beam_evidence_that_names_several_messages_of_many_plans_says_nothing(tmp_path: Path) -> None:
    plans = [{"plan-1": [batch(1, 2)]}, {"plan-2": [batch(2, 3)]}]
    asked = {"summarization": [{"question": "What?", "ideal_summary": "All.", "source_chat_ids": [[1], [2, 3]]}]}
    data = load_beam(chat(tmp_path / "1", plans, asked))
    assert [doc.id for doc in data.corpora[0].docs] == ["1", "2", "plan-2/batch-1/2", "3"]
    assert (data.questions[0].gold, data.questions[0].answer) == (("1", "3"), "All.")
    assert {"2 messages have the id 2", "evidence of 1-summarization-0 names no one message: 2"} <= set(told(data))


def test_beam_reads_rows_of_the_copy_with_questions_in_json_or_python(tmp_path: Path) -> None:
    message = {"role": "user", "id": 5, "content": "word5", "time_anchor": None}
    asked = {"temporal_reasoning": [{"question": "When?", "answer": "Then", "source_chat_ids": [5]}]}
    rows = [
        {"conversation_id": "a", "chat": [[message]], "probing_questions": json.dumps(asked)},
        {"conversation_id": "b", "chat": [[message]], "probing_questions": repr(asked)},
        {"conversation_id": "b", "chat": [], "probing_questions": None},
        {"conversation_id": "c", "chat": [[message]], "probing_questions": "{neither"},
    ]
    data = load_beam(lines(tmp_path / "beam.jsonl", *rows))
    assert [(question.ns, question.gold) for question in data.questions] == [("a", ("5",)), ("b", ("5",))]
    assert "a second conversation of this id" in told(data)
    assert any("neither JSON nor Python" in what for what in told(data))


def test_a_beam_chat_that_cannot_be_read_leaves_the_others(tmp_path: Path) -> None:
    asked = {"temporal_reasoning": [{"question": "When?", "answer": "Then", "source_chat_ids": [1]}]}
    chat(tmp_path / "1", [batch(1)], asked)
    (chat(tmp_path / "2", [batch(1)], asked) / "chat.json").write_text("rubbish")
    (chat(tmp_path / "3", [batch(1)], asked) / "probing_questions" / "probing_questions.json").unlink()
    data = load_beam(tmp_path)
    assert [question.gold for question in data.questions] == [("1",), ()]
    assert sum("cannot be read" in what for what in told(data)) == 2
    with pytest.raises(Invalid, match="holds no chat"):
        load_beam(tmp_path / "3" / "probing_questions")


# MemoryAgentBench


def row(source: str, context: str, *asked: tuple[str, object], **metadata: object) -> dict[str, Any]:
    return {
        "context": context,
        "questions": [question for question, _ in asked],
        "answers": [answer for _, answer in asked],
        "metadata": {"source": source, **metadata},
    }


def test_facts_are_one_document_each_and_the_latest_is_the_evidence(tmp_path: Path) -> None:
    facts = (
        "Here is a list of facts:\n0. The capital of Ruritania is Strelsau.\n1. Ada was born in the city of Zenda.\n"
        "2. The capital of Ruritania is Zenda.\n3. The capital of Ruritania is Zenda."
    )
    asked = ("What is the capital of Ruritania?", ["Zenda"])
    data = load_memory_agent_bench(lines(tmp_path / "a.jsonl", row("factconsolidation_sh_6k", facts, asked)))
    assert [doc.text[:2] for doc in data.corpora[0].docs] == ["0.", "1.", "2.", "3."]
    (question,) = data.questions
    assert (question.gold, question.category, question.origin) == (("3",), "conflict", "factconsolidation_sh_6k")
    assert question.key == {"outdated": ("0", "2")}


def test_examples_with_the_right_label_are_the_evidence(tmp_path: Path) -> None:
    shots = "lost my card\nlabel: 4\n\nwhat is my balance\nlabel: 11\n\ncard was stolen\nlabel: 4"
    data = load_memory_agent_bench(lines(tmp_path / "a.jsonl", row("icl_banking77", shots, ("card gone", ["4"]))))
    assert (data.questions[0].gold, data.questions[0].category) == (("0", "2"), "learning at test time")


def test_documents_that_hold_an_answer_as_a_phrase_are_the_evidence(tmp_path: Path) -> None:
    text = "Document 1:\nNew Yorkers walk.\n\nDocument 2:\nShe left New York, later.\n\nDocument 3:\nNothing."
    data = load_memory_agent_bench(
        lines(tmp_path / "a.jsonl", row("ruler_qa1_197K", text, ("Which city?", ["NYC", "New York"])))
    )
    assert (data.questions[0].gold, data.questions[0].answer) == (("1",), "NYC")


def test_running_text_is_cut_at_lines_and_sentences_into_chunks_and_keypoints_name_passages(tmp_path: Path) -> None:
    paragraphs = [f"Chapter {n}. " + f"The keeper of number{n} lit the lamp. " * 30 for n in range(6)]
    made = row(
        "infbench_sum_eng_shots2", "\n".join(paragraphs), ("Sum it up.", ["Lamps."]), keypoints=["number3 lamp", "x"]
    )
    data = load_memory_agent_bench(lines(tmp_path / "a.jsonl", made))
    docs = data.corpora[0].docs
    assert "".join("".join(doc.text.split()) for doc in docs) == "".join("".join(paragraphs).split())
    assert len({doc.session for doc in docs}) > 1
    (gold,) = data.questions[0].gold
    assert "number3" in docs[int(gold)].text


def test_sessions_of_its_longmemeval_rows_are_turns(tmp_path: Path) -> None:
    turns = [{"role": "user", "content": "I adopted Biscuit."}, {"role": "assistant", "content": "How nice."}]
    held = row("longmemeval_s*", "all of it", ("Which dog?", ["Biscuit"]), haystack_sessions=[[turns], [turns[1:]]])
    data = load_memory_agent_bench(lines(tmp_path / "a.jsonl", held))
    assert [(doc.session, doc.speaker) for doc in data.corpora[0].docs] == [
        ("session 1", "user"), ("session 1", "assistant"), ("session 2", "assistant"),
    ]  # fmt: skip
    assert data.questions[0].gold == ("0",)


def test_memory_agent_bench_lists_what_is_wrong(tmp_path: Path) -> None:
    good = row("eventqa_full", "It rained.", ("What then?", ["It rained."]))
    path = lines(
        tmp_path / "a.jsonl", good, row("riddles", "A.", ("B?", [])), {**good, "answers": []}, {**good, "context": None}
    )
    data = load_memory_agent_bench(path)
    assert [question.ns for question in data.questions] == ["eventqa_full-1", "eventqa_full-3"]
    said = "\n".join(told(data))
    for part in (
        "no source of MemoryAgentBench's: 'riddles'",
        "1 questions have 0 answers",
        "has no context",
        "a question that cannot be read",
    ):
        assert part in said
    parquet = tmp_path / "Accurate_Retrieval.parquet"
    parquet.write_bytes(b"PAR1\x00\xff\xfe")
    with pytest.raises(Invalid, match="Write it as lines"):
        load_memory_agent_bench(parquet)


# All of them


@pytest.mark.parametrize(
    "reader", [load_longmemeval, load_memory_bank, load_msc, load_memdaily, load_beam, load_memory_agent_bench]
)
@pytest.mark.parametrize("content", [b"[]", b"{}", b"[1, 2]", b"not json", b'"text"', b'[{"a": [{"b": ', b"\xff\xfe"])
def test_a_file_in_which_nothing_is_left_is_refused(
    tmp_path: Path, reader: Callable[[Path], Dataset], content: bytes
) -> None:
    path = tmp_path / "strange.json"
    path.write_bytes(content)
    with pytest.raises(Invalid) as refused:
        reader(path)
    assert refused.value.field == "path"
    with pytest.raises(Invalid, match="cannot read"):
        reader(tmp_path / "nowhere.json")


@pytest.mark.parametrize(
    "reader", [load_longmemeval, load_memory_bank, load_msc, load_memdaily, load_beam, load_memory_agent_bench]
)
def test_the_unified_form_is_read_by_every_reader(tmp_path: Path, reader: Callable[[Path], Dataset]) -> None:
    doc = {"type": "doc", "ns": "a", "id": "1", "session": "s", "pos": 0, "ts": "", "speaker": "A", "text": "Tea."}
    asked = {"type": "query", "ns": "a", "id": "q", "text": "Tea?", "answer": "", "category": "x", "gold": ["1"]}
    path = lines(tmp_path / "set.jsonl", doc, {**asked, "gold_sessions": []})
    (question,) = reader(path).questions
    assert (question.gold, question.sessions) == (("1",), ("s",))
