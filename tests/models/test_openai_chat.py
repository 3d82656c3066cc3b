"""A chat endpoint keeps the contract, and what goes wrong on the wire is met, or told as it is."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler

import pytest
from told import A_CALL, ANA_PLAYS

from mnemic.core.json_schema import shape, text
from mnemic.errors import Invalid, ModelError
from mnemic.models.chat.base import Ask, Chat, ToolCall, reply_of
from mnemic.models.chat.openai_chat import ChatEndpoint
from mnemic.models.chat.scripted_chat import ScriptedChat
from mnemic.models.patience import TRIES, Patience
from mnemic.settings import Settings
from mnemic.testing.chat_contract import *  # noqa: F403
from mnemic.testing.chat_contract import CALLED, HELLO, PLAYS, TOOL, asked, said
from mnemic.testing.chat_server import Fault, Server, events, reply, serving, status
from patience import PATIENCE

KEY = "sk-not-a-real-key/0123456789"
WORD = json.dumps({"choices": [{"index": 0, "delta": {"content": "Hello"}, "finish_reason": None}]})
END = json.dumps({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
ANSWER = "Hello Ana, what do you play on the cello today?"
COST = json.dumps({"choices": [], "usage": {"total_tokens": 3}})


@pytest.fixture
def server() -> Iterator[Server]:
    with serving(ScriptedChat(ANSWER)) as server:
        yield server


@pytest.fixture
def chat(server: Server, patience: Patience) -> Chat:
    return ChatEndpoint("words-1", server.url, key=KEY, timeout=PATIENCE, patience=patience)


@pytest.fixture  # type: ignore[no-redef]
def json_chat(chat: Chat, server: Server) -> Chat:
    server.chat = ScriptedChat(ANA_PLAYS)
    return chat


@pytest.fixture  # type: ignore[no-redef]
def calling_chat(chat: Chat, server: Server) -> Chat:
    server.chat = ScriptedChat(A_CALL)
    return chat


def hang_up(handler: BaseHTTPRequestHandler) -> None:
    handler.close_connection = True


def half_a_stream(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.send_header("Content-Type", "text/event-stream")
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(f"data: {WORD}\n\ndata: {{".encode())
    handler.close_connection = True


def say_back(handler: BaseHTTPRequestHandler, text: str) -> None:
    handler.wfile.write(text.encode())
    handler.close_connection = True


def silence_after_a_word(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.send_header("Content-Type", "text/event-stream")
    handler.end_headers()
    handler.wfile.write(f"data: {WORD}\n\n".encode())
    handler.connection.settimeout(PATIENCE)
    handler.rfile.read(1)  # until the caller gives up


@pytest.mark.parametrize("fault", [status(429), status(500), status(503), hang_up])
def test_a_fault_that_passes_is_outlived(chat: Chat, server: Server, slept: list[float], fault: Fault) -> None:
    server.faults = [fault, fault]
    assert said(chat, HELLO) == (list(ScriptedChat(ANSWER).stream(asked(HELLO))), "")
    assert slept == [0.5, 1.0]


def test_a_fault_that_stays_is_told(chat: Chat, server: Server) -> None:
    server.faults = [status(503, b"overloaded")] * TRIES
    assert said(chat, HELLO) == ([], f"{chat.name}: answered 503 overloaded, 4 times in a row")


def test_nobody_at_the_address_is_told(patience: Patience) -> None:
    with serving(ScriptedChat("Yes.")) as gone:
        pass
    pieces, error = said(ChatEndpoint("words-1", gone.url, patience=patience), HELLO)
    assert pieces == []
    assert "no answer (ConnectionRefusedError" in error


@pytest.mark.parametrize("code", [400, 401, 404, 302])
def test_what_no_second_try_can_mend_is_told_at_once(chat: Chat, server: Server, code: int) -> None:
    server.faults = [status(code, b'{"error": "no such model"}', Location="http://elsewhere.invalid/")]
    assert f'answered {code} {{"error": "no such model"}}' in said(chat, HELLO)[1]
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    ("fault", "timeout"), [(half_a_stream, PATIENCE), (silence_after_a_word, 2.0), (events(WORD), PATIENCE)]
)
def test_an_answer_that_breaks_off_keeps_what_came(server: Server, fault: Fault, timeout: float) -> None:
    server.faults = [fault]
    pieces, error = said(ChatEndpoint("words-1", server.url, timeout=timeout), HELLO)
    assert pieces == ["Hello"]
    assert "the answer broke off" in error or "is no JSON" in error
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        (events("{nonsense"), "is no JSON: {nonsense"),
        (events("[]"), "the answer is none"),
        (events('{"choices": 7}'), "holds no words"),
        (events('{"choices": [{"delta": {"content": 7}}]}'), "holds no words"),
        (events('{"choices": [null]}'), "holds no words"),
        (events('{"error": {"message": "model not\\nloaded"}}'), "model not loaded"),
        (events('{"error": "out of memory"}'), "out of memory"),
        (events(END), "there is no answer (finish_reason stop)"),
        (events(WORD, END.replace("stop", "content_filter")), "finish_reason content_filter"),
        (status(200, b"<html>"), "is no JSON: <html>"),
        (status(200, b"{}"), "holds no words"),
        (status(200, b""), "is no JSON"),
    ],
)
def test_an_answer_that_is_none_is_never_taken_for_one(chat: Chat, server: Server, fault: Fault, told: str) -> None:
    server.faults = [fault]
    with pytest.raises(ModelError) as raised:
        "".join(chat.stream(asked(HELLO)))
    assert told in str(raised.value)


@pytest.mark.parametrize(
    "fault",
    [
        events(WORD, END),
        events(WORD, END, "[DONE]"),
        events(COST, WORD, END, COST, "[DONE]", "{nonsense"),
        lambda handler: reply(
            handler, f": a comment\r\nevent: x\r\ndata:{WORD}\r\n\r\ndata: {END}".encode(), kind="text/event-stream"
        ),
        status(200, END.replace('"delta": {}', '"message": {"content": "Hello"}').encode()),
    ],
)
def test_what_servers_do_otherwise_is_understood(chat: Chat, server: Server, fault: Fault) -> None:
    server.faults = [fault]
    assert said(chat, HELLO) == (["Hello"], "")


def test_a_server_that_wants_the_limit_called_otherwise_gets_it_so(chat: Chat, server: Server) -> None:
    server.faults = [status(400, b"Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.")]
    assert said(chat, HELLO, 40)[1] == ""
    assert said(chat, HELLO, 41)[1] == ""
    assert [one.get("max_completion_tokens") for one in server.asked] == [None, 40, 41]
    assert "max_tokens" not in server.asked[2]


def test_the_key_is_sent_and_shown_nowhere(chat: Chat, server: Server) -> None:
    server.faults = [status(401, f"bad key {KEY}".encode())]
    _, error = said(chat, HELLO)
    assert server.headers[0]["Authorization"] == f"Bearer {KEY}"
    assert "MNEMIC_MODEL_KEY" in error
    assert KEY not in error + repr(chat) + chat.name


LONG = "x" * 190  # so that what is shown of a text ends within the key


@pytest.mark.parametrize(
    "fault",
    [
        events(WORD, json.dumps({"error": {"message": f"Incorrect API key provided: {KEY}"}})),
        events(json.dumps({"error": f"{LONG} {KEY}"})),
        events(json.dumps({"error": {"key": KEY}})),
        events(json.dumps(KEY)),
        events(f"{{nonsense {KEY}"),
        events(json.dumps({"choices": [{"delta": {}, "finish_reason": KEY}]})),
        status(200, json.dumps({"error": {"message": f"bad key {KEY}"}}).encode()),
        status(200, json.dumps([KEY]).encode()),
        status(400, f"{LONG} {KEY}".encode()),
        status(400, KEY.replace("/", "\\/").encode()),
    ],
)
def test_a_key_that_the_server_says_back_is_masked(server: Server, fault: Fault) -> None:
    server.faults = [fault]
    _, error = said(ChatEndpoint("words-1", server.url, key=KEY), HELLO)
    assert "***" in error or LONG in error
    assert not any(part in error for part in (KEY, KEY[:9], KEY[-9:]))


def test_a_status_line_with_the_key_in_it_is_masked(server: Server, patience: Patience) -> None:
    server.faults = [lambda handler: say_back(handler, f"nonsense {KEY}\r\n\r\n")] * TRIES
    _, error = said(ChatEndpoint("words-1", server.url, key=KEY, patience=patience), HELLO)
    assert "BadStatusLine: nonsense ***" in error


@pytest.mark.parametrize("key", ["sk-secret\n", "sk-“secret”", "sk secret"])
def test_a_key_that_no_header_can_hold_is_refused_and_not_shown(key: str) -> None:
    with pytest.raises(Invalid) as raised:
        ChatEndpoint("words-1", "https://host.invalid/v1", key=key)
    assert raised.value.field == "model_key"
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize("deep", ["[" * 100_000, '{"error":' * 100_000])
@pytest.mark.parametrize("kind", ["text/event-stream", "application/json"])
def test_an_answer_nested_too_deep_is_told(chat: Chat, server: Server, deep: str, kind: str) -> None:
    body = f"data: {deep}\n\n" if kind == "text/event-stream" else deep
    server.faults = [lambda handler: reply(handler, body.encode(), kind=kind)]
    _, error = said(chat, HELLO)
    assert "is no JSON" in error


def test_without_a_key_none_is_sent(server: Server) -> None:
    said(ChatEndpoint("words-1", server.url), HELLO)
    assert "Authorization" not in server.headers[0]


def test_the_model_and_the_whole_conversation_are_sent(chat: Chat, server: Server) -> None:
    said(chat, HELLO, 7)
    (sent,) = server.asked
    messages = [{"role": one.role, "content": one.content} for one in HELLO]
    usage = {"include_usage": True}
    assert sent == {"model": "words-1", "messages": messages, "stream": True, "stream_options": usage, "max_tokens": 7}
    assert server.paths == ["/v1/chat/completions"]


@pytest.mark.parametrize(
    "rest",
    [
        "",
        "words",
        "@https://host/v1",
        "words@https://",
        "words@https://me:secret@host/v1",
        "words@https://me:secret@host:port/v1",
        "words@https://secret@host/v1",
        "words@https://me:secret/more@host/v1",
        "words@https://me:secret@https://host/v1",
        "words@https://host/v1?api_key=secret",
        "words@https://host:port/v1?api_key=secret",
        "words@https://[secret/v1",
        "words@me:secret@host/v1",
        "https://me:secret@host/v1",
        "https://host/v1?api_key=secret",
    ],
)
def test_what_names_no_endpoint_is_refused(rest: str) -> None:
    with pytest.raises(Invalid) as raised:
        ChatEndpoint.opened(rest, Settings())
    assert raised.value.field == "model"
    assert "secret" not in str(raised.value)


REFUSALS = {
    "temperature": b"Unsupported value: 'temperature' does not support 0 with this model.",
    "stream_options": b'{"detail": [{"loc": ["body", "stream_options"], "msg": "extra fields not permitted"}]}',
    "response_format": b"This response_format type is unavailable now",
    "tools": b"registry.ollama.ai/library/words:1 does not support tools",
}


@pytest.mark.parametrize(("part", "told"), REFUSALS.items())
def test_a_part_that_a_server_refuses_by_name_is_left_out_from_then_on(
    chat: Chat, server: Server, part: str, told: bytes
) -> None:
    server.faults = [status(400, told)]
    server.chat = ScriptedChat(ANA_PLAYS)
    ask = Ask(HELLO, 90, schema=PLAYS, temperature=0.0, tools=(TOOL,))
    for _ in range(2):
        reply_of(chat.stream(ask))
    assert [part in sent for sent in server.asked] == [True, False, False]


def test_a_schema_that_a_server_does_not_know_is_said_in_words(chat: Chat, server: Server) -> None:
    server.faults = [status(400, REFUSALS["response_format"])]
    server.chat = ScriptedChat(ANA_PLAYS)
    assert reply_of(chat.stream(Ask(HELLO, schema=PLAYS))).text == ANA_PLAYS
    system = server.asked[1]["messages"][0]
    assert system["role"] == "system"
    assert system["content"].startswith(HELLO[0].content)
    assert '"instrument"' in system["content"]


def test_tools_that_a_server_does_not_know_are_asked_for_by_json(chat: Chat, server: Server) -> None:
    server.faults = [status(400, REFUSALS["tools"])]
    server.chat = ScriptedChat(A_CALL, '{"thought": "Known.", "action": {"answer": "On Monday."}}')
    (call,) = reply_of(chat.stream(Ask(HELLO, tools=(TOOL,)))).calls
    assert (call.name, call.arguments) == ("look_up", '{"name": "Ana"}')
    assert reply_of(chat.stream(Ask(CALLED, tools=(TOOL,)))).text == "On Monday."
    assert server.asked[-1]["response_format"]["json_schema"]["strict"] is True
    assert "Result of call_1:\nOn Monday." in [one["content"] for one in server.asked[-1]["messages"]]


def test_a_schema_is_strict_only_where_openai_would_take_it_so(chat: Chat, server: Server) -> None:
    server.chat = ScriptedChat(ANA_PLAYS)
    for schema in (PLAYS, shape({"name": text()})):
        reply_of(chat.stream(Ask(HELLO, schema=schema, task="play")))
    sent = [one["response_format"]["json_schema"] for one in server.asked]
    assert [(one["name"], one["strict"]) for one in sent] == [("play", False), ("play", True)]


def test_tokens_are_those_that_the_server_counted_or_a_guess_that_says_so(chat: Chat, server: Server) -> None:
    usage = {"prompt_tokens": 41, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 32}}
    server.faults = [events(WORD, END, json.dumps({"model": "words-1-0823", "choices": [], "usage": usage}), "[DONE]")]
    counted = reply_of(chat.stream(asked(HELLO)))
    assert (counted.prompt_tokens, counted.answer_tokens, counted.estimated) == (41, 3, False)
    assert counted.model == "words-1-0823"
    for broken in ({}, {"prompt_tokens": "many"}, {"prompt_tokens": -1, "completion_tokens": 2}, None):
        server.faults = [events(WORD, END, json.dumps({"choices": [], "usage": broken}))]
        guessed = reply_of(chat.stream(asked(HELLO)))
        assert guessed.estimated
        assert guessed.prompt_tokens > 0


def test_a_call_that_comes_in_parts_is_put_together(chat: Chat, server: Server) -> None:
    def delta(arguments: str) -> str:
        call = {"index": 0, "function": {"arguments": arguments}}
        return json.dumps({"choices": [{"delta": {"tool_calls": [call]}, "finish_reason": None}]})

    first = {"index": 0, "id": "call_9", "function": {"name": "look_up", "arguments": ""}}
    begun = json.dumps({"choices": [{"delta": {"tool_calls": [first]}, "finish_reason": None}]})
    server.faults = [events(begun, delta('{"name"'), delta(': "Ana"}'), END.replace("stop", "tool_calls"))]
    assert reply_of(chat.stream(Ask(HELLO, tools=(TOOL,)))).calls == (ToolCall("call_9", "look_up", '{"name": "Ana"}'),)


@pytest.mark.parametrize("calls", ["7", "[7]", '[{"function": 7}]', '[{"function": {"name": 7}}]', '[{"index": []}]'])
def test_a_call_that_is_none_is_told(chat: Chat, server: Server, calls: str) -> None:
    server.faults = [events(f'{{"choices": [{{"delta": {{"tool_calls": {calls}}}, "finish_reason": "stop"}}]}}')]
    with pytest.raises(ModelError, match="holds no words"):
        reply_of(chat.stream(Ask(HELLO, tools=(TOOL,))))
