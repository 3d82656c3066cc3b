"""A connection that sends no end of a head, or none at all, is cut before it costs memory or a place."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
import uvicorn
from uvicorn.server import ServerState

from mnemic.faces.server.bounded_protocol import BoundedHttpProtocol

Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def _app(scope: Any, receive: Any, send: Any) -> None:
    body = b""
    while (message := await receive())["type"] == "http.request":
        body += message["body"]
        if not message["more_body"]:
            break
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"ok"})


async def _answered(kind: type[BoundedHttpProtocol], *pieces: bytes) -> bytes:
    """All that comes back until the server has cut the connection."""
    config = uvicorn.Config(_app, lifespan="off", ws="none")
    config.load()
    state = ServerState()
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: kind(config=config, server_state=state, app_state={}), "127.0.0.1", 0)
    async with server:
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
        try:
            for piece in pieces:
                writer.write(piece)
                await writer.drain()
            return await reader.read()
        except ConnectionError:
            return b"cut"
        finally:
            writer.close()


class Impatient(BoundedHttpProtocol):
    head_seconds = 0.05
    body_seconds = 0.05


def test_a_head_without_end_is_cut() -> None:
    endless = [b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Big: ", *[b"a" * 16_384] * 400]
    assert asyncio.run(_answered(BoundedHttpProtocol, *endless))[:12] in (b"HTTP/1.1 431", b"cut")


def test_many_requests_on_one_connection_are_no_long_head() -> None:
    one = b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Some: " + b"a" * 30_000 + b"\r\n"
    last = one + b"Connection: close\r\n\r\n"
    answers = asyncio.run(_answered(BoundedHttpProtocol, *[one + b"\r\n"] * 5, last))
    assert answers.count(b"HTTP/1.1 200") == 6


@pytest.mark.parametrize(
    "begun",
    [b"", b"GET / HT", b"GET / HTTP/1.1\r\nHost: localhost\r\n", b"POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\nabc"],
    ids=["nothing", "part of a line", "part of a head", "part of a body"],
)
def test_what_does_not_come_in_time_is_cut(begun: bytes) -> None:
    assert b"200" not in asyncio.run(_answered(Impatient, begun))
