"""A language model for measurements: it takes its time and none of the processor's, and answers soundly."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any, Final

from mnemic.models.chat.base import Ask, Pieces, estimated_reply

_LINE: Final = re.compile(r"^\[(\d+)\] (.*)$", re.MULTILINE)


class SlowChat:
    """Takes each turn for a fact and adds them all, after some seconds; safe for many threads.

    It knows the tasks of `mem0`: any other question it answers in prose.
    """

    def __init__(self, seconds: float) -> None:
        self.name, self._seconds = "slow", seconds

    def stream(self, ask: Ask) -> Pieces:
        """The answer, once the time is over."""
        time.sleep(self._seconds)
        text = _answer(ask)
        yield text
        return estimated_reply(ask, self.name, text)


def _answer(ask: Ask) -> str:
    shown = ask.messages[-1].content
    if ask.task == "extract_items":
        lines = _LINE.findall(shown)
        facts = [{"text": said[:200], "from": [int(n)], "since": "", "until": ""} for n, said in lines]
        return json.dumps({"reasoning": "As it stands there.", "facts": facts})
    if ask.task == "merge_decide":
        new = _LINE.findall(shown.partition("New facts:")[2].partition("</memory>")[0])
        decisions = [{"new": int(n), "do": "add", "old": 0, "text": ""} for n, _ in new]
        return json.dumps({"reasoning": "They are new.", "decisions": decisions})
    return "As you say, word for word."


@contextmanager
def slow_endpoint(seconds: float) -> Iterator[str]:
    """Have a process of its own answer OpenAI's chat protocol after some seconds; yields the URL of the API."""
    context = get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs, seconds), daemon=True)
    process.start()
    try:
        yield f"http://127.0.0.1:{ours.recv()}/v1"
    finally:
        process.terminate()
        process.join()


def _serve(port_pipe: Connection, seconds: float) -> None:
    class Answers(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:
            pass

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            time.sleep(seconds)
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.end_headers()
            for word in ("As ", "you ", "say."):
                self.wfile.write(_event({"content": word}, None))
            self.wfile.write(_event({}, "stop") + b"data: [DONE]\n\n")

    class Listening(ThreadingHTTPServer):
        request_queue_size = 64

    http = Listening(("127.0.0.1", 0), Answers)
    port_pipe.send(http.server_port)
    http.serve_forever()


def _event(delta: dict[str, Any], finish: str | None) -> bytes:
    chunk = {"model": "slow", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}
    return f"data: {json.dumps(chunk)}\n\n".encode()
