"""A model answers over what contestants recalled, and judges mark it: all in the log, nothing asked twice."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from mnemic.errors import Invalid, ModelError
from mnemic.lab.kit import answer_stage, log
from mnemic.lab.kit.answer_prompts import ANSWER_SHA256, JUDGE_SHA256, PAIR_SHA256
from mnemic.lab.kit.answer_stage import AnswerPlan
from mnemic.lab.kit.run import RunPlan, run
from mnemic.lab.kit.run_report import as_json, plain, report
from mnemic.lab.tasks.standing_task import StandingTask
from mnemic.models.chat.base import Ask, Chat, CutOff, Pieces, estimated_reply
from mnemic.settings import Settings

ROWS = ("BM25 turns", "recent window", "0.6 BM25+date + 0.4 window", "no memory")
_FIELD = re.compile(r"^(Question|Right answer|Answer to be marked|Answer A|Answer B): (.*)$", re.MULTILINE)


class Knowing:
    """Answers by all that it is shown, or says that there is nothing; judges by what is written.

    Args:
        name: `fair` marks by equality; `first` prefers what stands first; `mute` cannot be read; `down` fails.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.asked: list[Ask] = []

    def stream(self, ask: Ask) -> Pieces:
        self.asked.append(ask)
        text = self._answer(ask)
        yield text
        return estimated_reply(ask, self.name, text)

    def _answer(self, ask: Ask) -> str:
        shown = ask.messages[-1].content
        fields = dict(_FIELD.findall(shown))
        match self.name, ask.task:
            case "down", _:
                raise ModelError("down: it is")
            case "mute", _:
                return "Hard to say: RIGHT or WRONG?"
            case "lengthy", _:
                raise CutOff(self.name, ask.limit, estimated_reply(ask, self.name, "Lisbon and"))
            case _, "answer":
                found = " ".join(line for line in shown.splitlines() if line.startswith("- "))
                return found or "No information available."
            case _, "judge":
                same = fields["Right answer"] == fields["Answer to be marked"]
                return json.dumps({"reasoning": "", "label": "RIGHT" if same else "WRONG"})
            case "first", "prefer":
                return json.dumps({"reasoning": "", "label": "A"})
            case _:
                nearer = sorted("AB", key=lambda side: "No info" in fields[f"Answer {side}"])
                same = ("No info" in fields["Answer A"]) == ("No info" in fields["Answer B"])
                return json.dumps({"reasoning": "", "label": "SAME" if same else nearer[0]})


@pytest.fixture
def chats(monkeypatch: pytest.MonkeyPatch) -> dict[str, Knowing]:
    """Every name is a model that knows."""
    made: dict[str, Knowing] = {}

    def opened(name: str, settings: Settings) -> Chat | None:
        if name == "nobody":
            raise Invalid("model", "is not known", "")
        return made.setdefault(name, Knowing(name)) if name else None

    monkeypatch.setattr(answer_stage, "open_chat", opened)
    return made


def plan(path: Path, answers: AnswerPlan, rows: tuple[str, ...] = ROWS) -> RunPlan:
    return RunPlan(tasks={"locomo": path}, rows=rows, answers=answers)


JUDGED = AnswerPlan(model="reader", judges=("fair", "mute"), runs=2, pairwise=True)


def test_every_contestant_is_read_by_the_same_model_and_prompt(
    chats: dict[str, Knowing], locomo_file: Path, tmp_path: Path
) -> None:
    made = log.read(run(plan(locomo_file, AnswerPlan(model="reader")), tmp_path / "a.jsonl"))
    assert len(made.readings) == 6 * len(ROWS)
    assert made.header["settings"]["answers"] == {"model": "reader", "prompt": ANSWER_SHA256, "documents": 10}
    prompts = {ask.messages[0].content for ask in chats["reader"].asked}
    assert len(prompts) == 1
    assert all(ask.temperature == 0 for ask in chats["reader"].asked)


@pytest.mark.usefixtures("chats")
def test_what_asks_for_the_context_alone_is_put_to_no_model(tmp_path: Path) -> None:
    asked = RunPlan(
        tasks={"standing": Path()},
        variants={"standing": StandingTask(limit=1)},
        rows=("recent window",),
        answers=AnswerPlan(model="reader", full_context=True, judges=("fair",)),
    )
    path = run(asked, tmp_path / "a.jsonl")
    made = log.read(path)
    assert made.answers["recent window"]
    assert not any(made.spoken)
    (of,) = report(path).tasks
    assert of.answers is None


def test_what_was_recalled_is_shown_in_the_order_it_was_said(
    chats: dict[str, Knowing], locomo_file: Path, tmp_path: Path
) -> None:
    run(plan(locomo_file, AnswerPlan(model="reader"), ("recent window",)), tmp_path / "a.jsonl")
    shown = chats["reader"].asked[0].messages[-1].content
    turns = [line for line in shown.splitlines() if line.startswith("- ")]
    assert len(turns) == 6
    assert turns[0] == "- [9:05 am on 3 February, 2024] Noor: I signed up for a pottery class on Tuesdays."
    assert shown.endswith("\nAnswer:")


def test_the_same_question_over_the_same_memory_is_asked_once(
    chats: dict[str, Knowing], locomo_file: Path, tmp_path: Path
) -> None:
    path = run(plan(locomo_file, JUDGED), tmp_path / "a.jsonl")
    made = log.read(path)
    for name, chat in chats.items():
        put = Counter(ask.messages for ask in chat.asked if ask.task != "prefer")
        assert set(put.values()) == {1 if name == "reader" else 2}  # a judge is asked twice of each
    sent = [reading for reading in made.readings.values() if not reading.said.again]
    assert len(sent) == len(chats["reader"].asked) < len(made.readings)


def test_a_run_that_was_cut_short_asks_only_what_is_missing(
    chats: dict[str, Knowing], locomo_file: Path, tmp_path: Path
) -> None:
    whole = run(plan(locomo_file, JUDGED), tmp_path / "whole.jsonl")
    lines = whole.read_text("utf-8").splitlines(keepends=True)
    first = next(n for n, line in enumerate(lines) if line.startswith('{"kind":"read"'))
    for cut in (first - 1, first + 3, (first + len(lines)) // 2, len(lines) - 1):
        chats.clear()
        path = tmp_path / f"{cut}.jsonl"
        path.write_text("".join(lines[:cut]) + lines[cut][:20], "utf-8")
        assert not log.read(path).complete
        run(plan(locomo_file, JUDGED), path, resume=True)
        made, before = log.read(path), log.read(whole)
        assert (made.readings.keys(), made.marks.keys()) == (before.readings.keys(), before.marks.keys())
        assert made.preferences.keys() == before.preferences.keys()
        assert {key: reply.said.text for key, reply in made.marks.items()} == {
            key: reply.said.text for key, reply in before.marks.items()
        }
    assert not any(chat.asked for chat in chats.values())  # only the end was missing


@pytest.mark.parametrize(
    ("other", "told"),
    [
        (replace(JUDGED, model="another"), "answers model"),
        (replace(JUDGED, judges=("fair",)), "answers judges"),
        (replace(JUDGED, runs=3), "answers runs"),
        (replace(JUDGED, pairwise=False), "answers pair prompt"),
    ],
)
@pytest.mark.usefixtures("chats")
def test_a_run_is_not_gone_on_with_by_others(locomo_file: Path, tmp_path: Path, other: AnswerPlan, told: str) -> None:
    path = run(plan(locomo_file, JUDGED, ROWS[:2]), tmp_path / "a.jsonl")
    with pytest.raises(Invalid, match=told):
        run(plan(locomo_file, other, ROWS[:2]), path, resume=True)


@pytest.mark.usefixtures("chats")
def test_prompts_stand_in_the_log_by_their_hash(locomo_file: Path, tmp_path: Path) -> None:
    settings = log.read(run(plan(locomo_file, JUDGED), tmp_path / "a.jsonl")).header["settings"]["answers"]
    assert settings["judge prompt"] == JUDGE_SHA256
    assert settings["pair prompt"] == PAIR_SHA256
    assert settings["temperature"] == 0.7


@pytest.mark.usefixtures("chats")
def test_a_reply_that_cannot_be_read_is_counted_and_is_no_mark(locomo_file: Path, tmp_path: Path) -> None:
    (of,) = report(run(plan(locomo_file, JUDGED), tmp_path / "a.jsonl")).tasks
    assert of.answers is not None
    by = {(row.system, row.judge): row for row in of.answers.judges}
    mute, fair = by["BM25 turns", "mute"], by["BM25 turns", "fair"]
    assert (mute.unread, mute.replies, mute.right.n) == (10, 10, 0)
    assert (fair.unread, fair.replies, fair.right.n) == (0, 10, 5)
    assert of.answers.agreements["fair", "mute"].n == 0
    assert {row.unread for row in of.answers.pairs if row.judge == "mute"} == {5}


@pytest.mark.usefixtures("chats")
def test_a_judge_that_prefers_what_stands_first_prefers_nobody(locomo_file: Path, tmp_path: Path) -> None:
    asked = AnswerPlan(model="reader", judges=("first", "fair"), pairwise=True)
    (of,) = report(run(plan(locomo_file, asked), tmp_path / "a.jsonl")).tasks
    assert of.answers is not None
    by = {(row.system, row.judge): row for row in of.answers.pairs}
    partial, fair = by["no memory", "first"], by["no memory", "fair"]
    assert (partial.better, partial.worse, partial.same, partial.turned, partial.first) == (0, 0, 5, 5, 1)
    assert (fair.better, fair.worse, fair.same, fair.turned, fair.first) == (0, 5, 0, 0, 0.5)


@pytest.mark.usefixtures("chats")
def test_where_the_usual_row_takes_no_part_others_are_compared_with_the_first(
    locomo_file: Path, tmp_path: Path
) -> None:
    asked = AnswerPlan(model="reader", judges=("fair",), pairwise=True)
    (of,) = report(run(plan(locomo_file, asked, ("no memory", "BM25 turns")), tmp_path / "a.jsonl")).tasks
    assert of.answers is not None
    assert [(row.system, row.other, row.better) for row in of.answers.pairs] == [("BM25 turns", "no memory", 5)]
    with pytest.raises(Invalid, match="compares contestants, and locomo has one"):
        run(plan(locomo_file, asked, ("BM25 turns",)), tmp_path / "b.jsonl")


@pytest.mark.usefixtures("chats")
def test_adversarial_questions_are_counted_by_who_declines(locomo_file: Path, tmp_path: Path) -> None:
    (of,) = report(run(plan(locomo_file, JUDGED), tmp_path / "a.jsonl")).tasks
    assert of.answers is not None
    by = {row.system: row for row in of.answers.rows}
    assert by["no memory"].declined_rightly == by["no memory"].declined_wrongly == 1
    assert by["no memory"].categories["adversarial"].mean == 1
    assert by["BM25 turns"].declined_rightly == 0
    assert by["BM25 turns"].scores["LoCoMo F1"].n == 5
    assert by["0.6 BM25+date + 0.4 window"].gain is None
    gain = by["no memory"].gain
    assert gain is not None
    assert gain.mean < 0
    whole = by["0.6 BM25+date + 0.4 window"].scores["LoCoMo F1"].mean
    assert gain.mean == pytest.approx(by["no memory"].scores["LoCoMo F1"].mean - whole)
    assert gain.n == 5


def test_a_model_that_is_shown_everything_stands_beside_what_memories_recall(
    chats: dict[str, Knowing], locomo_file: Path, tmp_path: Path
) -> None:
    asked = AnswerPlan(model="reader", full_context=True, judges=("fair",), pairwise=True)
    made = report(run(plan(locomo_file, asked, ("no memory", "BM25 turns")), tmp_path / "a.jsonl"))
    (of,) = made.tasks
    assert of.answers is not None
    assert [row.system for row in of.answers.rows] == ["no memory", "BM25 turns", "full context"]
    shown = chats["reader"].asked[-1].messages[-1].content
    assert len([line for line in shown.splitlines() if line.startswith("- ")]) == 6
    by = {(row.system, row.other): row for row in of.answers.pairs}
    assert by["full context", "no memory"].better == 5
    assert [row.system for row in of.rows] == ["no memory", "BM25 turns"]
    assert "full context / reader" in plain(made)
    with pytest.raises(Invalid, match="full-context"):
        run(plan(locomo_file, AnswerPlan(full_context=True)), tmp_path / "b.jsonl")


@pytest.mark.usefixtures("chats")
def test_without_a_model_a_contestant_that_answers_is_the_lower_bound(locomo_file: Path, tmp_path: Path) -> None:
    made = report(run(plan(locomo_file, AnswerPlan(), ("mnemic", "BM25 turns")), tmp_path / "a.jsonl"))
    (of,) = made.tasks
    assert of.answers is not None
    assert [(row.system, row.reader, row.calls) for row in of.answers.rows] == [("mnemic", "", 0)]
    assert of.answers.rows[0].scores["LoCoMo F1"].mean > 0
    assert "mnemic / itself" in plain(made)


@pytest.mark.usefixtures("chats")
def test_a_model_that_is_down_ends_the_run_which_can_be_gone_on_with(
    chats: dict[str, Knowing], locomo_file: Path, tmp_path: Path
) -> None:
    path = tmp_path / "a.jsonl"
    down = AnswerPlan(model="down")
    with pytest.raises(ModelError, match="failed 5 times one after another"):
        run(plan(locomo_file, down, ("BM25 turns",)), path)
    assert len(log.read(path).readings) == 4  # each failure but the last is told in its place
    chats["down"].name = "down again"  # it has recovered
    run(plan(locomo_file, down, ("BM25 turns",)), path, resume=True)
    made = log.read(path)
    assert made.complete
    assert [reading.reader for reading in made.readings.values() if not reading.said.failed] == ["down again"] * 6


@pytest.mark.usefixtures("chats")
def test_an_answer_that_came_to_its_limit_counts_as_far_as_it_came(locomo_file: Path, tmp_path: Path) -> None:
    made = log.read(run(plan(locomo_file, AnswerPlan(model="lengthy"), ("BM25 turns",)), tmp_path / "a.jsonl"))
    assert {reading.said.text for reading in made.readings.values()} == {"Lisbon and"}


@pytest.mark.usefixtures("chats")
def test_models_are_looked_for_before_anybody_runs(locomo_file: Path, tmp_path: Path) -> None:
    for asked in (
        AnswerPlan(model="nobody"),
        AnswerPlan(judges=("a", "a")),
        AnswerPlan(runs=2),
        AnswerPlan(pairwise=True),
    ):
        with pytest.raises(Invalid):
            run(plan(locomo_file, asked), tmp_path / "a.jsonl")
    assert not (tmp_path / "a.jsonl").exists()


@pytest.mark.usefixtures("chats")
def test_a_right_answer_that_an_audit_disputes_is_counted_and_left_out_beside_the_whole(tmp_path: Path) -> None:
    docs = [
        {"type": "doc", "ns": "u", "id": f"d{n}", "session": "S1", "pos": n, "ts": "", "speaker": "Ann", "text": text}
        for n, text in enumerate(("I bought a kayak.", "I sold the tent."))
    ]
    asked = {"type": "query", "ns": "u", "category": "single-hop", "gold_sessions": []}
    questions = [
        {**asked, "id": "q0", "text": "What did Ann buy?", "answer": "a kayak", "gold": ["d0"]},
        {
            **asked,
            "id": "q1",
            "text": "What did Ann sell?",
            "answer": "a boat",
            "gold": ["d1"],
            "audit": "HALLUCINATION",
        },
        {**asked, "id": "q2", "text": "Who sold it?", "answer": "Ann", "gold": ["d0"], "audit": "WRONG_CITATION"},
    ]
    path = tmp_path / "three.jsonl"
    path.write_text("\n".join(map(json.dumps, [*docs, *questions])), "utf-8")
    made = report(run(plan(path, AnswerPlan(model="reader"), ("BM25 turns",)), tmp_path / "a.jsonl"))
    (of,) = made.tasks
    assert of.answers is not None
    assert of.answers.disputed == 1
    assert of.answers.rows[0].undisputed.n == 2
    assert of.answers.rows[0].scores["LoCoMo F1"].n == 3
    assert any("disputes the right answers of 1 questions" in note for note in of.notes)
    (task,) = json.loads(as_json(made))["tasks"].values()
    assert task["answers"]["disputed"] == 1


@pytest.mark.slow
@pytest.mark.model
def test_the_small_local_model_answers_and_judges(locomo_file: Path, tmp_path: Path) -> None:
    pytest.importorskip("xllamacpp")
    asked = AnswerPlan(model="smollm2", judges=("smollm2",), pairwise=True)
    rows = ("BM25 turns", "0.6 BM25+date + 0.4 window")
    try:
        asked.opened(Settings())
    except Invalid as missing:
        pytest.skip(str(missing))
    (of,) = report(run(plan(locomo_file, asked, rows), tmp_path / "a.jsonl")).tasks
    assert of.answers is not None
    assert all(row.failed == 0 and row.scores["LoCoMo F1"].n == 5 for row in of.answers.rows)
    for row in of.answers.judges:
        assert row.right.n + row.unread == row.replies == 5
