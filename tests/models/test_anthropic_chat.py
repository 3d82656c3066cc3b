"""Anthropic's protocol, by its own client, keeps the contract; what goes wrong on the wire is met, or told as it is."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler

import pytest
from messages_server import Event, serving_messages, written
from told import A_CALL, ANA_PLAYS

from mnemic.errors import Invalid, ModelError
from mnemic.models.chat import anthropic_chat
from mnemic.models.chat.base import Ask, Chat, ChatMessage, CutOff, reply_of
from mnemic.models.chat.scripted_chat import ScriptedChat
from mnemic.models.model_opening import open_chat
from mnemic.models.patience import TRIES, Patience
from mnemic.settings import Settings
from mnemic.testing.chat_contract import *  # noqa: F403
from mnemic.testing.chat_contract import CALLED, HELLO, PLAYS, TOOL, asked, said
from mnemic.testing.chat_server import Fault, Server, status
from patience import PATIENCE

pytestmark = pytest.mark.skipif(importlib.util.find_spec("anthropic") is None, reason="anthropic is not installed")

KEY = "sk-ant-not-a-real-key/0123456789"
ANSWER = "Hello Ana, what do you play on the cello today?"
USAGE = {"input_tokens": 9, "cache_creation_input_tokens": 30, "cache_read_input_tokens": 2, "output_tokens": 1}
MESSAGE = {"id": "m", "type": "message", "role": "assistant", "model": "words-1", "content": [], "usage": USAGE}
START: Event = ("message_start", {"message": {**MESSAGE, "stop_reason": None, "stop_sequence": None}})
BLOCK: Event = ("content_block_start", {"index": 0, "content_block": {"type": "text", "text": ""}})
WORD: Event = ("content_block_delta", {"index": 0, "delta": {"type": "text_delta", "text": "Hello"}})


def end(reason: str = "end_turn") -> Event:
    delta = {"stop_reason": reason, "stop_sequence": None}
    return "message_delta", {"delta": delta, "usage": {"output_tokens": 4}}


@pytest.fixture
def server() -> Iterator[Server]:
    with serving_messages(ScriptedChat(ANSWER)) as server:
        yield server


@pytest.fixture
def chat(server: Server, patience: Patience) -> Chat:
    return anthropic_chat.AnthropicChat("words-1", server.url, key=KEY, timeout=PATIENCE, patience=patience)


@pytest.fixture  # type: ignore[no-redef]
def json_chat(chat: Chat, server: Server) -> Chat:
    server.chat = ScriptedChat(ANA_PLAYS)
    return chat


@pytest.fixture  # type: ignore[no-redef]
def calling_chat(chat: Chat, server: Server) -> Chat:
    server.chat = ScriptedChat(A_CALL)
    return chat


def stream(*events: Event, length: int | None = None) -> Fault:
    """The fault of a server that streams just this, and hangs up before all of it has come where a length is said."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        body = b"".join(map(written, events))
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.send_header("Content-Length", str(length or len(body)))
        handler.end_headers()
        handler.wfile.write(body)
        handler.close_connection = True

    return answer


def hang_up(handler: BaseHTTPRequestHandler) -> None:
    handler.close_connection = True


@pytest.mark.parametrize("fault", [status(429), status(500), status(529), hang_up])
def test_a_fault_that_passes_is_outlived(chat: Chat, server: Server, slept: list[float], fault: Fault) -> None:
    server.faults = [fault, fault]
    assert said(chat, HELLO)[1] == ""
    assert slept == [0.5, 1.0]


def test_a_server_that_asks_for_time_gets_it(chat: Chat, server: Server, slept: list[float]) -> None:
    server.faults = [status(429, Retry_After="7")]
    assert said(chat, HELLO)[1] == ""
    assert slept == [7.0]


def test_a_fault_that_stays_is_told(chat: Chat, server: Server) -> None:
    server.faults = [status(529, b'{"type":"error","error":{"type":"overloaded_error"}}')] * TRIES
    assert "answered 529" in said(chat, HELLO)[1]
    assert len(server.asked) == TRIES


@pytest.mark.parametrize("code", [400, 401, 404, 302])
def test_what_no_second_try_can_mend_is_told_at_once(chat: Chat, server: Server, code: int) -> None:
    server.faults = [status(code, b'{"error": "no such model"}', Location="http://elsewhere.invalid/")]
    assert f"answered {code}" in said(chat, HELLO)[1]
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        (stream(START, BLOCK, WORD), "the answer broke off"),
        (stream(START, BLOCK, WORD, length=9_000), "the answer broke off"),
        (stream(START, BLOCK, WORD, ("error", {"error": {"message": "Overloaded"}})), "Overloaded"),
        (stream(START, BLOCK, WORD, end("refusal")), "there is no answer (stop_reason refusal)"),
        (stream(START, BLOCK, WORD, end("max_tokens")), "was cut off"),
    ],
)  # fmt: skip
def test_an_answer_that_does_not_come_to_its_end_keeps_what_came(
    chat: Chat, server: Server, fault: Fault, told: str
) -> None:
    server.faults = [fault]
    pieces, error = said(chat, HELLO)
    assert pieces == ["Hello"]
    assert told in error
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    "fault",
    [
        status(200, b"<html>"),
        status(200, b"{}"),
        stream(),
        stream(("message_start", {})),
        stream(START, ("content_block_delta", {"index": 7, "delta": {"type": "input_json_delta", "partial_json": 3}})),
        stream(START, ("content_block_delta", {"index": 0, "delta": {"type": "text_delta", "text": 7}}), end()),
        stream(START, end()),
    ],
)
def test_an_answer_that_is_none_is_never_taken_for_one(chat: Chat, server: Server, fault: Fault) -> None:
    server.faults = [fault]
    with pytest.raises(ModelError):
        reply_of(chat.stream(asked(HELLO)))


def test_tokens_are_those_that_were_counted_with_what_came_from_a_cache(chat: Chat, server: Server) -> None:
    server.faults = [stream(START, BLOCK, WORD, end())]
    reply = reply_of(chat.stream(asked(HELLO)))
    assert (reply.text, reply.model, reply.estimated) == ("Hello", "words-1", False)
    assert (reply.prompt_tokens, reply.answer_tokens) == (41, 4)


def test_what_an_answer_took_that_was_cut_off_is_told(chat: Chat, server: Server) -> None:
    server.faults = [stream(START, BLOCK, WORD, end("max_tokens"))]
    with pytest.raises(CutOff) as raised:
        reply_of(chat.stream(asked(HELLO)))
    assert (raised.value.reply.prompt_tokens, raised.value.reply.answer_tokens) == (41, 4)


def test_a_schema_that_a_server_does_not_take_is_said_in_words_from_then_on(chat: Chat, server: Server) -> None:
    server.faults = [status(400, b"output_config.format: this model does not support structured outputs")]
    server.chat = ScriptedChat(ANA_PLAYS)
    for _ in range(2):
        assert reply_of(chat.stream(Ask(HELLO, schema=PLAYS))).text == ANA_PLAYS
    assert ["output_config" in sent for sent in server.asked] == [True, False, False]
    assert '"instrument"' in server.asked[-1]["system"]


def test_no_temperature_is_sent_for_the_api_refuses_one(chat: Chat, server: Server) -> None:
    reply_of(chat.stream(Ask(HELLO, temperature=1.0)))
    assert "temperature" not in server.asked[0]


def test_a_question_is_written_as_the_protocol_says(chat: Chat, server: Server) -> None:
    results = (*CALLED, ChatMessage("tool", "And Friday.", answers="call_2"))
    reply_of(chat.stream(Ask(results, 90, PLAYS, tools=(TOOL,))))
    (sent,) = server.asked
    assert server.paths == ["/v1/messages"]
    assert (sent["model"], sent["max_tokens"], sent["stream"]) == ("words-1", 90, True)
    assert sent["system"] == HELLO[0].content
    assert sent["messages"][1]["content"] == [
        {"type": "tool_use", "id": "call_1", "name": "look_up", "input": {"name": "Ana"}}
    ]
    assert [block["tool_use_id"] for block in sent["messages"][2]["content"]] == ["call_1", "call_2"]
    assert sent["tools"][0]["input_schema"] == TOOL.parameters
    assert sent["output_config"]["format"]["schema"] == PLAYS


def test_the_key_is_sent_and_shown_nowhere(chat: Chat, server: Server) -> None:
    for fault in (
        status(401, f"bad key {KEY}".encode()),
        status(400, f"{'x' * 190} {KEY}".encode()),
        stream(START, ("error", {"error": {"message": f"Incorrect key {KEY}"}})),
        stream(START, end(KEY)),
    ):
        server.faults = [fault]
        with pytest.raises(ModelError) as raised:
            reply_of(chat.stream(asked(HELLO)))
        told = str(raised.value) + repr(raised.value.__cause__) + repr(chat) + chat.name
        assert not any(part in told for part in (KEY, KEY[:12], KEY[-9:]))
    assert {one["authorization"] for one in server.headers} == {f"Bearer {KEY}"}


def test_a_proxy_of_the_environment_is_not_asked(chat: Chat, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "somebody-else-s")
    assert said(chat, HELLO)[1] == ""
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"


def test_a_model_alone_is_anthropic_s_own_with_its_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_BASE_URL", raising=False)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-own")
    opened = open_chat("anthropic:claude-x", Settings())
    assert opened is not None
    assert opened.name == "anthropic:claude-x@https://api.anthropic.com"
    assert opened._secret.key == "sk-own"  # type: ignore[attr-defined]
    elsewhere = open_chat("anthropic:claude-x@https://host.invalid", Settings())
    assert elsewhere._secret.key == ""  # type: ignore[union-attr]
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    with pytest.raises(Invalid, match="ANTHROPIC_API_KEY or MNEMIC_MODEL_KEY"):
        open_chat("anthropic:claude-x", Settings())


def test_a_client_that_is_not_installed_says_how_to_have_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(Invalid, match=r"pip install 'mnemic\[anthropic\]'"):
        anthropic_chat.AnthropicChat("claude-x", "https://host.invalid")


def test_opening_it_does_not_load_the_client() -> None:
    code = (
        "import sys\nfrom mnemic.models.model_opening import open_chat\nfrom mnemic.settings import Settings\n"
        "open_chat('anthropic:x@https://host.invalid', Settings())\nprint('anthropic' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_events_are_those_of_the_client_s_own_types() -> None:
    """The test's server is held to the types of the client, so that it does not speak a protocol of its own."""
    from anthropic.types import RawMessageStreamEvent
    from messages_server import events_of
    from pydantic import TypeAdapter

    body = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}]}
    adapter: TypeAdapter[object] = TypeAdapter(RawMessageStreamEvent)
    for name, data in events_of(ScriptedChat("Hello there."), body):
        if name != "ping":
            adapter.validate_python(json.loads(json.dumps({"type": name, **data})))
