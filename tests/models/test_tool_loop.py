"""A model works with tools until it answers, and is told what it does wrong; every model, in its own way or by JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import pytest

from mnemic.core.json_schema import shape, text
from mnemic.errors import ModelError, NotFound
from mnemic.flow import Flow, run
from mnemic.models.chat.base import Ask, Chat, ChatMessage, ToolOffer, reply_of
from mnemic.models.chat.openai_chat import ChatEndpoint
from mnemic.models.chat.scripted_chat import ScriptedChat
from mnemic.models.tool_loop import ModelTool, Worked, with_tools
from mnemic.testing.chat_server import serving, status

QUESTION = Ask((ChatMessage("user", "When does Ana have her lesson?"),), task="lesson")
OFFER = ToolOffer("look_up", "Looks up a lesson.", shape({"name": text()}))
ANSWER = '{"thought": "I know.", "action": {"answer": "On Monday."}}'


def call(arguments: str = '{"name": "Ana"}', tool: str = "look_up") -> str:
    return f'{{"thought": "I look it up.", "action": {{"tool": "{tool}", "arguments": {arguments}}}}}'


def look_up(arguments: Mapping[str, Any]) -> Flow[str]:
    yield from ()
    if arguments["name"] != "Ana":
        raise NotFound(f"nobody is called {arguments['name']}")
    return "Monday"


def worked(chat: Chat, *, steps: int = 8) -> Worked:
    return run(
        with_tools(QUESTION, [ModelTool(OFFER, look_up)], steps=steps),
        lambda request: reply_of(chat.stream(cast(Ask, request))),
    )


def results(done: Worked) -> list[str]:
    return [message.content for message in done.messages if message.role == "tool"]


def test_a_tool_is_run_and_its_result_answered() -> None:
    done = worked(ScriptedChat(call(), ANSWER))
    assert (results(done), done.reply.text) == (["Monday"], "On Monday.")
    assert [message.role for message in done.messages] == ["user", "assistant", "tool"]


def test_a_model_that_needs_no_tool_just_answers() -> None:
    assert worked(ScriptedChat(ANSWER)).reply.text == "On Monday."
    assert worked(ScriptedChat("On Monday, I think.")).reply.text == "On Monday, I think."


@pytest.mark.parametrize("refuses", [False, True])
def test_it_is_the_same_over_the_wire_natively_and_by_json(refuses: bool) -> None:
    with serving(ScriptedChat(call(), ANSWER)) as server:
        server.faults = [status(400, b"this model does not support tools")] * refuses
        done = worked(ChatEndpoint("words-1", server.url))
    assert (results(done), done.reply.text) == (["Monday"], "On Monday.")
    assert ("tools" in server.asked[-1]) is not refuses


def test_what_a_tool_refuses_the_model_is_told_and_does_better() -> None:
    done = worked(ScriptedChat(call('{"name": "Eve"}'), call(), ANSWER))
    assert results(done) == ["error: nobody is called Eve", "Monday"]


def test_wrong_arguments_and_unknown_tools_run_nothing_and_are_told() -> None:
    with serving(ScriptedChat("x")) as server:
        chat = ChatEndpoint("words-1", server.url)
        from json import dumps

        from mnemic.testing.chat_server import events

        def asks(name: str, arguments: str) -> str:
            function = {"name": name, "arguments": arguments}
            delta = {"tool_calls": [{"index": 0, "id": "c", "function": function}]}
            return dumps({"choices": [{"delta": delta, "finish_reason": "tool_calls"}]})

        odd = [("look_up", "{"), ("look_up", '{"user": "bob"}'), ("look_up", "[]"), ("erase", "{}")]
        server.faults = [events(asks(*one)) for one in odd]
        told = results(worked(chat))
    assert told[0] == "error: the arguments are no JSON"
    assert "name" in told[1]
    assert "arguments: is array" in told[2]
    assert told[3] == "error: there is no tool 'erase'; there are look_up"


def test_a_model_that_never_stops_has_to_answer_the_last_time() -> None:
    chat = ScriptedChat(call())
    done = worked(chat, steps=3)
    assert len(chat.asked) == 3
    assert [bool(ask.tools) for ask in chat.asked] == [True, True, False]
    assert done.reply.text == call()


def test_the_model_s_own_failure_ends_it() -> None:
    with serving(ScriptedChat("x")) as server:
        server.faults = [status(400, b"no such model")]
        with pytest.raises(ModelError, match="no such model"):
            worked(ChatEndpoint("words-1", server.url))
