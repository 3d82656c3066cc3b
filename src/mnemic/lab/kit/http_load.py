"""Sends requests over as many connections as are asked for, each its next as soon as the last is answered.

Requests are bytes that were made beforehand, and of an answer the status and the length are read: what a client costs
is not measured along with the server more than it must be.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from mnemic.errors import MnemicError

_END: Final = b"\r\n\r\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """What came of a load.

    Attributes:
        seconds: From the first request to the last answer.
        latencies: Seconds of each request, in the order they were answered.
        failed: How many were not answered with a status of 200 to 299.
        size: Bytes of the last body.
    """

    seconds: float
    latencies: Sequence[float]
    failed: int
    size: int

    @property
    def rate(self) -> float:
        """Requests a second."""
        return len(self.latencies) / self.seconds


def post(path: str, body: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> bytes:
    """Make the bytes of a request."""
    content, named = json_request(body, headers or {})
    lines = [f"POST {path} HTTP/1.1", "Host: localhost"]
    lines += [f"{name}: {value}" for name, value in named.items()]
    return "\r\n".join([*lines, f"Content-Length: {len(content)}", "", ""]).encode() + content


def json_request(body: Mapping[str, Any], headers: Mapping[str, str]) -> tuple[bytes, dict[str, str]]:
    """Make the body of a request, and its headers."""
    return json.dumps(body).encode(), {"Content-Type": "application/json", **headers}


def send_all(port: int, requests: Sequence[bytes], connections: int) -> Answered:
    """Send all requests, and wait for all answers."""
    return asyncio.run(_send_all(port, requests, connections))


async def _send_all(port: int, requests: Sequence[bytes], connections: int) -> Answered:
    waiting, latencies, statuses, sizes = iter(requests), [], [], [0]
    opened = [await asyncio.open_connection("127.0.0.1", port) for _ in range(connections)]

    async def client(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, waiting: Iterator[bytes]) -> None:
        for request in waiting:
            sent = time.perf_counter()
            writer.write(request)
            status, body = await read_answer(reader)
            latencies.append(time.perf_counter() - sent)
            statuses.append(status)
            sizes.append(len(body))
        writer.close()

    began = time.perf_counter()
    await asyncio.gather(*(client(reader, writer, waiting) for reader, writer in opened))
    seconds = time.perf_counter() - began
    failed = sum(not 200 <= status < 300 for status in statuses)
    return Answered(seconds=seconds, latencies=latencies, failed=failed, size=sizes[-1])


async def read_answer(reader: asyncio.StreamReader) -> tuple[int, bytes]:
    """Read the status and the body of an answer that has a length, or comes in chunks."""
    head = (await reader.readuntil(_END)).lower()
    status = int(head[9:12])
    if b"transfer-encoding: chunked" in head:
        return status, await _read_chunks(reader)
    name, field, rest = head.partition(b"content-length: ")
    if not field:
        raise MnemicError(f"an answer has no length: {name[:60]!r}")
    return status, await reader.readexactly(int(rest[: rest.index(b"\r")]))


async def _read_chunks(reader: asyncio.StreamReader) -> bytes:
    body = b""
    while size := int(await reader.readuntil(b"\r\n"), 16):
        body += (await reader.readexactly(size + 2))[:-2]
    await reader.readuntil(b"\r\n")
    return body
