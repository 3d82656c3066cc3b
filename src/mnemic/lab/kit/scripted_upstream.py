"""A small endpoint of OpenAI's chat protocol in a process of its own, for measurements that kill it amid an answer.

It answers every conversation with as many words as the request's `words` says, a chunk each `gap` milliseconds, and
gives back what it was asked at `/asked`. Run as `python -m mnemic.lab.kit.scripted_upstream`, it prints its port.
"""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from typing import Any, Final

_WORDS: Final = 8
_KEPT: Final = 64
"""Requests that are given back, the newest."""


@dataclass(frozen=True, slots=True)
class ScriptedUpstream:
    """An upstream that runs.

    Attributes:
        url: Where it answers, without a path.
        process: Its process.
    """

    url: str
    process: subprocess.Popen[str]

    def kill(self) -> None:
        """End it as a power cut would."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


@contextmanager
def scripted_upstream(port: int = 0) -> Iterator[ScriptedUpstream]:
    """Run one until the block is left.

    Args:
        port: Where; 0 for any that is free.
    """
    command = [sys.executable, "-m", "mnemic.lab.kit.scripted_upstream", str(port)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603 - our own module
        assert process.stdout is not None
        try:
            yield ScriptedUpstream(f"http://127.0.0.1:{process.stdout.readline().strip()}", process)
        finally:
            process.kill()


async def _serve(port: int) -> None:
    asked: list[dict[str, Any]] = []
    number = count(1)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while request := await _request(reader):
                path, body = request
                if path == "/asked":
                    _write(writer, json.dumps(asked).encode())
                else:
                    asked[:] = [*asked, body][-_KEPT:]
                    await _complete(writer, body, f"chat-{next(number)}")
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # who asked has gone
        finally:
            writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", port)
    print(server.sockets[0].getsockname()[1], flush=True)
    async with server:
        await server.serve_forever()


async def _request(reader: asyncio.StreamReader) -> tuple[str, dict[str, Any]] | None:
    """Read a request: its path, and its body as JSON; None where the connection has ended."""
    head = await reader.readuntil(b"\r\n\r\n") if not reader.at_eof() else b""
    if not head:
        return None
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    return first.split()[1], json.loads(body or b"{}")


async def _complete(writer: asyncio.StreamWriter, body: dict[str, Any], id: str) -> None:
    words = [f"word{n} " for n in range(body.get("words", _WORDS))]
    if not body.get("stream"):
        choice = {"index": 0, "message": {"role": "assistant", "content": "".join(words)}, "finish_reason": "stop"}
        _write(writer, json.dumps({"id": id, "object": "chat.completion", "choices": [choice]}).encode())
        return
    writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")
    for word in words:
        if writer.is_closing():
            return
        _write_event(writer, json.dumps(_chunk(id, {"content": word}, None)))
        await writer.drain()
        await asyncio.sleep(body.get("gap", 0) / 1_000)
    _write_event(writer, json.dumps(_chunk(id, {}, "stop")))
    _write_event(writer, "[DONE]")
    writer.write(b"0\r\n\r\n")


def _chunk(id: str, delta: dict[str, str], finish: str | None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"id": id, "object": "chat.completion.chunk", "choices": [choice]}


def _write(writer: asyncio.StreamWriter, body: bytes) -> None:
    head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
    writer.write(head.encode() + body)


def _write_event(writer: asyncio.StreamWriter, data: str) -> None:
    event = f"data: {data}\n\n".encode()
    writer.write(f"{len(event):x}\r\n".encode() + event + b"\r\n")


if __name__ == "__main__":
    asyncio.run(_serve(int(sys.argv[1])))
