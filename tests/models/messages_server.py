"""An endpoint that speaks Anthropic's Messages protocol, in this process, around any `Chat`; with faults on order.

The order of events and their fields are those that the company documents for streaming, and the types of its client.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from mnemic.models.chat.base import Ask, ChatMessage, CutOff, Reply, ToolCall, ToolOffer
from mnemic.models.chat.scripted_chat import ScriptedChat
from mnemic.testing.chat_server import Server, reply
from mnemic.testing.loopback import QuietRequestHandler, listening

Event = tuple[str, dict[str, Any]]


def asked_of(body: dict[str, Any]) -> Ask:
    """What a request asks; `AssertionError` for one that the protocol refuses."""
    messages = [ChatMessage("system", body["system"])] if "system" in body else []
    for one in body["messages"]:
        assert one["role"] in ("user", "assistant")
        texts = [block["text"] for block in one["content"] if block["type"] == "text"]
        assert all(text.strip() for text in texts), "text content blocks must be non-empty"
        calls = tuple(
            ToolCall(block["id"], block["name"], json.dumps(block["input"]))
            for block in one["content"]
            if block["type"] == "tool_use"
        )
        results = [block for block in one["content"] if block["type"] == "tool_result"]
        for block in results:
            messages.append(ChatMessage("tool", block["content"], answers=block["tool_use_id"]))
        if texts or calls:
            messages.append(ChatMessage(one["role"], "".join(texts), calls))
    offers = tuple(ToolOffer(one["name"], one["description"], one["input_schema"]) for one in body.get("tools", ()))
    schema = body.get("output_config", {}).get("format", {}).get("schema")
    return Ask(tuple(messages), body["max_tokens"], schema, temperature=body.get("temperature"), tools=offers)


def events_of(chat: ScriptedChat, body: dict[str, Any]) -> Iterator[Event]:
    """The events of an answer, in the documented order."""
    ask = asked_of(body)
    prompt = sum(len(message.content.split()) for message in ask.messages)
    usage = {"input_tokens": prompt, "cache_read_input_tokens": 0, "output_tokens": 1}
    message: dict[str, Any] = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "words-1-0823",
        "content": [],
    }
    yield "message_start", {"message": {**message, "stop_reason": None, "stop_sequence": None, "usage": usage}}
    yield "content_block_start", {"index": 0, "content_block": {"type": "text", "text": ""}}
    yield "ping", {}
    stopped, pieces = "end_turn", chat.stream(ask)
    try:
        while True:
            yield "content_block_delta", {"index": 0, "delta": {"type": "text_delta", "text": next(pieces)}}
    except StopIteration as done:
        said: Reply = done.value
    except CutOff as cut:
        stopped, said = "max_tokens", cut.reply
    yield "content_block_stop", {"index": 0}
    for place, call in enumerate(said.calls, start=1):
        stopped = "tool_use"
        block: dict[str, Any] = {"type": "tool_use", "id": call.id, "name": call.name, "input": {}}
        yield "content_block_start", {"index": place, "content_block": block}
        for part in (call.arguments[:5], call.arguments[5:]):
            delta = {"type": "input_json_delta", "partial_json": part}
            yield "content_block_delta", {"index": place, "delta": delta}
        yield "content_block_stop", {"index": place}
    ended: dict[str, Any] = {"stop_reason": stopped, "stop_sequence": None}
    yield "message_delta", {"delta": ended, "usage": {"output_tokens": said.answer_tokens}}
    yield "message_stop", {}


def written(event: Event) -> bytes:
    """An event as it stands in the stream."""
    name, data = event
    return f"event: {name}\ndata: {json.dumps({'type': name, **data})}\n\n".encode()


@contextmanager
def serving_messages(chat: ScriptedChat) -> Iterator[Server]:
    """A server on a free port of this machine."""
    server = Server(chat)

    class Answers(QuietRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            server.asked.append(body)
            server.headers.append({name.lower(): value for name, value in self.headers.items()})
            server.paths.append(self.path)
            if server.faults:
                server.faults.pop(0)(self)
                return
            try:
                asked_of(body)
            except AssertionError as error:
                reply(self, json.dumps({"type": "error", "error": {"message": str(error)}}).encode(), 400)
                return
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream; charset=utf-8")
            self.end_headers()
            try:
                for event in events_of(server.chat, body):  # type: ignore[arg-type]
                    self.wfile.write(written(event))
            except ConnectionError:
                self.close_connection = True

    with listening(Answers) as address:
        server.url = address
        yield server
