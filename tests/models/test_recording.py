"""Recorded answers keep the contract of a model, and those of one model are never given for another."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from told import A_CALL, ANA_PLAYS

from mnemic.core.json_schema import shape, text
from mnemic.errors import Invalid, ModelError
from mnemic.models.chat.base import Ask, Chat, ChatMessage, Size, ToolCall, reply_of
from mnemic.models.chat.recording import RecordedChat, packed_reply, question_key, unpacked_reply
from mnemic.models.chat.scripted_chat import ScriptedChat
from mnemic.models.model_opening import open_chat
from mnemic.settings import Settings
from mnemic.testing.chat_contract import *  # noqa: F403
from mnemic.testing.chat_contract import CALLED, HELLO, PLAYS, TOOL, asked

ANSWER = "Hello Ana, what do you play on the cello today?"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "answers.jsonl"


@pytest.fixture
def chat(path: Path) -> Chat:
    return RecordedChat(path, ScriptedChat(ANSWER))


@pytest.fixture  # type: ignore[no-redef]
def json_chat(path: Path) -> Chat:
    return RecordedChat(path, ScriptedChat(ANA_PLAYS))


@pytest.fixture  # type: ignore[no-redef]
def calling_chat(path: Path) -> Chat:
    return RecordedChat(path, ScriptedChat(A_CALL))


def test_what_was_answered_is_given_again_and_nobody_is_asked(path: Path) -> None:
    model = ScriptedChat("One.", "Two.")
    recorded = RecordedChat(path, model)
    first = reply_of(recorded.stream(asked(HELLO)))
    assert reply_of(recorded.stream(asked(HELLO))) == first
    assert reply_of(RecordedChat(path).stream(asked(HELLO))) == first
    assert len(model.asked) == 1


def test_answers_of_one_model_are_never_given_for_another(path: Path) -> None:
    for answer in ("Small.", "Large."):
        for _ in range(2):
            assert reply_of(RecordedChat(path, ScriptedChat(answer)).stream(asked(HELLO))).text == answer


def test_what_was_never_asked_is_told(path: Path) -> None:
    reply_of(RecordedChat(path, ScriptedChat(ANSWER)).stream(asked(HELLO)))
    with pytest.raises(ModelError, match="was never asked this"):
        reply_of(RecordedChat(path).stream(asked(HELLO, 7)))


@pytest.mark.parametrize("bad", ["Sure! Here is the JSON.", "{}", '{"name": "Ana", "instrument": "drum"}'])
def test_an_answer_that_does_not_fit_is_given_once_and_not_kept(path: Path, bad: str) -> None:
    recorded, ask = RecordedChat(path, ScriptedChat(bad, ANA_PLAYS)), Ask(HELLO, schema=PLAYS)
    assert reply_of(recorded.stream(ask)).text == bad
    assert reply_of(recorded.stream(ask)).text == ANA_PLAYS
    assert len(path.read_text().splitlines()) == 1


def test_what_the_asker_finds_unsound_is_not_kept(path: Path) -> None:
    recorded = RecordedChat(path, ScriptedChat("no", "yes"))
    ask = Ask(HELLO, sound=lambda answer: answer == "yes")
    assert [reply_of(recorded.stream(ask)).text for _ in range(3)] == ["no", "yes", "yes"]


@pytest.mark.parametrize(
    "other",
    [
        replace(asked(HELLO), limit=7),
        replace(asked(HELLO), schema=PLAYS),
        replace(asked(HELLO), temperature=0.0),
        replace(asked(HELLO), tools=(TOOL,)),
        asked(CALLED),
    ],
)
def test_all_that_bears_on_an_answer_tells_questions_apart(other: Ask) -> None:
    assert question_key("m", other) != question_key("m", asked(HELLO))
    assert question_key("n", other) != question_key("m", other)


def test_what_a_question_is_for_and_who_checks_it_does_not() -> None:
    same = replace(asked(HELLO), task="greet", size=Size.SMALL, sound=bool)
    assert question_key("m", same) == question_key("m", asked(HELLO))


def test_a_schema_is_the_same_in_any_order() -> None:
    one = shape({"a": text(), "b": text()})
    two = {**one, "properties": dict(reversed(one["properties"].items()))}
    assert question_key("m", Ask(HELLO, schema=one)) == question_key("m", Ask(HELLO, schema=two))


def test_a_reply_comes_back_as_it_was() -> None:
    reply = replace(reply_of(ScriptedChat("Grüße, 你好 🧒").stream(asked(HELLO))), calls=(ToolCall("1", "x", "{}"),))
    assert unpacked_reply(packed_reply(reply)) == reply


def test_a_line_that_was_cut_short_costs_that_answer_alone(path: Path) -> None:
    recorded = RecordedChat(path, ScriptedChat("One.", "Two."))
    for messages in (HELLO, CALLED):
        reply_of(recorded.stream(asked(messages)))
    path.write_text(path.read_text()[:-20])
    again = RecordedChat(path)
    assert reply_of(again.stream(asked(HELLO))).text == "One."
    with pytest.raises(ModelError):
        reply_of(again.stream(asked(CALLED)))


def test_a_file_of_no_model_or_of_several_says_so(path: Path) -> None:
    with pytest.raises(Invalid, match="holds no answers"):
        RecordedChat(path)
    for answer in ("One.", "Two."):
        reply_of(RecordedChat(path, ScriptedChat(answer)).stream(asked(HELLO)))
    with pytest.raises(Invalid, match=r"holds answers of scripted:One\., scripted:Two\."):
        RecordedChat(path)


def test_settings_name_it(path: Path) -> None:
    settings = Settings()
    recording = open_chat(f"recorded:{path}=scripted:{ANSWER}", settings)
    assert recording is not None
    reply_of(recording.stream(asked(HELLO)))
    played = open_chat(f"recorded:{path}", settings)
    assert played is not None
    assert reply_of(played.stream(asked(HELLO))).text == ANSWER
    assert open_chat(recording.name, settings).name == recording.name  # type: ignore[union-attr]


def test_a_file_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="cannot be kept"):
        reply_of(RecordedChat(tmp_path / "nowhere" / "a.jsonl", ScriptedChat(ANSWER)).stream(asked(HELLO)))


def test_no_key_is_in_the_file(path: Path) -> None:
    reply_of(RecordedChat(path, ScriptedChat(ANSWER)).stream(Ask((ChatMessage("user", "Who?"),))))
    assert set(json.loads(path.read_text())) == {"model", "asked", "task", "reply"}
