"""An endpoint that speaks OpenAI's chat protocol, in this process, around any `Chat`; with faults on order."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

from mnemic.models.chat.base import LIMIT, Ask, Chat, ChatMessage, CutOff, Reply, ToolCall, ToolOffer, reply_of
from mnemic.testing.loopback import QuietRequestHandler, listening

Fault = Callable[[BaseHTTPRequestHandler], None]


@dataclass
class Server:
    """What was asked, and what goes wrong next.

    Attributes:
        chat: Who answers.
        url: Of the API, with its version.
        faults: One for each request to come, first first; a fault answers in place of the model.
        asked: The bodies of all requests.
        raw: The same, as bytes.
        headers: Their headers.
        paths: Where they went.
        model: What it says that it is.
    """

    chat: Chat
    url: str = ""
    faults: list[Fault] = field(default_factory=list)
    asked: list[dict[str, Any]] = field(default_factory=list)
    raw: list[bytes] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    model: str = "scripted"

    def chunks(self, body: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """The answer to a request, chunk by chunk; last the reason of its end and, if asked for, what it took."""
        finish, pieces = "stop", self.chat.stream(_ask(body))
        try:
            while True:
                yield self._chunk({"content": next(pieces)}, None)
        except StopIteration as done:
            said: Reply = done.value
        except CutOff as cut:
            finish, said = "length", cut.reply
        if said.calls:
            finish = "tool_calls"
            yield self._chunk(
                {"tool_calls": [{"index": n, **_written(call)} for n, call in enumerate(said.calls)]}, None
            )
        yield self._chunk({}, finish)
        if body.get("stream_options", {}).get("include_usage"):
            yield {**self._chunk({}, None), "choices": [], "usage": _usage(said)}

    def _chunk(self, delta: dict[str, Any], finish: str | None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        document = {"id": "chat-1", "object": "chat.completion.chunk", "created": 0, "model": self.model}
        return {**document, "choices": [choice]}

    def whole(self, body: dict[str, Any]) -> dict[str, Any]:
        """The answer to a request in one document."""
        finish = "stop"
        try:
            said = reply_of(self.chat.stream(_ask(body)))
        except CutOff as cut:
            finish, said = "length", cut.reply
        message: dict[str, Any] = {"role": "assistant", "content": said.text}
        if said.calls:
            finish, message["tool_calls"] = "tool_calls", [_written(call) for call in said.calls]
        choice = {"index": 0, "message": message, "finish_reason": finish}
        document = {"id": "chat-1", "object": "chat.completion", "created": 0, "model": body["model"]}
        return {**document, "choices": [choice], "usage": _usage(said)}


def _ask(body: dict[str, Any]) -> Ask:
    messages = []
    for message in body["messages"]:
        calls = (ToolCall(call["id"], **call["function"]) for call in message.get("tool_calls", ()))
        messages.append(
            ChatMessage(message["role"], _words(message["content"]), tuple(calls), message.get("tool_call_id", ""))
        )
    tools = (tool["function"] for tool in body.get("tools", ()))
    wanted = body.get("response_format", {}).get("json_schema", {})
    return Ask(
        tuple(messages),
        body.get("max_completion_tokens", body.get("max_tokens", LIMIT)),
        schema=wanted.get("schema"),
        task=wanted.get("name", ""),
        temperature=body.get("temperature"),
        tools=tuple(ToolOffer(tool["name"], tool["description"], tool["parameters"]) for tool in tools),
    )


def _words(content: str | list[dict[str, Any]] | None) -> str:
    """The words of a message: what is an image says nothing."""
    parts = [content] if isinstance(content, str) else [part.get("text", "") for part in content or ()]
    return "\n".join(parts)


def _usage(said: Reply) -> dict[str, int]:
    total = said.prompt_tokens + said.answer_tokens
    return {"prompt_tokens": said.prompt_tokens, "completion_tokens": said.answer_tokens, "total_tokens": total}


def _written(call: ToolCall) -> dict[str, Any]:
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}


def reply(
    handler: BaseHTTPRequestHandler, body: bytes, status: int = 200, kind: str = "application/json", **headers: str
) -> None:
    """Send a whole answer."""
    handler.send_response(status)
    for name, value in {"Content-Type": kind, "Content-Length": str(len(body)), **headers}.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.end_headers()
    handler.wfile.write(body)


def status(code: int, body: bytes = b"{}", **headers: str) -> Fault:
    """The fault of a server that refuses."""
    return lambda handler: reply(handler, body, code, **headers)


def events(*data: str) -> Fault:
    """The fault of a server that streams just this, each part an event."""
    return lambda handler: reply(
        handler, "".join(f"data: {event}\n\n" for event in data).encode(), kind="text/event-stream"
    )


@contextmanager
def serving(chat: Chat) -> Iterator[Server]:
    """A server on a free port of this machine."""
    server = Server(chat)

    class Answers(QuietRequestHandler):
        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers["Content-Length"]))
            body = json.loads(raw)
            server.raw.append(raw)
            server.asked.append(body)
            server.headers.append(dict(self.headers))
            server.paths.append(self.path)
            if server.faults:
                server.faults.pop(0)(self)
            elif body.get("stream"):
                self._stream(body)
            else:
                reply(self, json.dumps(server.whole(body)).encode())

        def _stream(self, body: dict[str, Any]) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.end_headers()
            try:
                for chunk in server.chunks(body):
                    self.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())
                self.wfile.write(b"data: [DONE]\n\n")
            except ConnectionError:
                self.close_connection = True

    with listening(Answers) as address:
        server.url = f"{address}/v1"
        yield server
