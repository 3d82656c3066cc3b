"""A connection that sends no end of a head, or none at all, is cut before it costs memory or a place."""

from __future__ import annotations

import asyncio
import json
import socket
from contextlib import suppress
from functools import partial
from typing import Any

import pytest
import uvicorn
from uvicorn.server import ServerState

from mnemic.faces.server.bounded_protocol import BoundedHttpProtocol
from patience import PATIENCE

Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def _app(scope: Any, receive: Any, send: Any) -> None:
    body = b""
    if scope["path"] == "/large":
        return await _large(send)
    if scope["path"] == "/hasty":
        return await _ok(send)
    while (message := await receive())["type"] == "http.request":
        body += message["body"]
        if not message["more_body"]:
            break
    await _ok(send, dict(scope["headers"])[b"mnemic-user"] if scope["path"] == "/header" else b"ok")


async def _ok(send: Any, said: bytes = b"ok") -> None:
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(said))]})
    await send({"type": "http.response.body", "body": said})


async def _large(send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    for _ in range(64):
        await send({"type": "http.response.body", "body": b"x" * 1024 * 1024, "more_body": True})
    await send({"type": "http.response.body", "body": b""})


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
    flush_seconds = 0.05


def test_who_never_reads_an_answer_is_cut() -> None:
    async def scenario() -> None:
        config = uvicorn.Config(_app, lifespan="off", ws="none")
        config.load()
        state = ServerState()
        make = partial(Impatient, config=config, server_state=state, app_state={})
        server = await asyncio.get_running_loop().create_server(make, "127.0.0.1", 0)
        async with server, asyncio.timeout(PATIENCE):
            with socket.create_connection(server.sockets[0].getsockname()) as deaf:
                deaf.sendall(b"GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n")
                while not state.connections:
                    await asyncio.sleep(0.01)
                while state.connections or state.tasks:
                    await asyncio.sleep(0.01)

    asyncio.run(scenario())


def test_a_head_without_end_is_cut() -> None:
    endless = [b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Big: ", *[b"a" * 16_384] * 400]
    assert asyncio.run(_answered(BoundedHttpProtocol, *endless))[:12] in (b"HTTP/1.1 431", b"cut")


@pytest.mark.parametrize(("over", "status"), [(0, b"200"), (1, b"431")])
@pytest.mark.parametrize("body", [b"", b"x" * 8])
@pytest.mark.parametrize("before", [0, 1])
def test_a_head_has_so_many_bytes_and_not_one_more(over: int, status: bytes, body: bytes, before: int) -> None:
    """However it comes: at once, with a body behind it, or behind another request."""
    line = b"POST /hasty HTTP/1.1\r\nContent-Length: %d\r\nConnection: close\r\nX-Big: " % len(body)
    big = b"a" * (BoundedHttpProtocol.head_limit - len(line) - 4 + over)
    first = b"GET / HTTP/1.1\r\nX-Some: " + b"a" * 30_000 + b"\r\n\r\n"
    answers = asyncio.run(_answered(BoundedHttpProtocol, first * before + line + big + b"\r\n\r\n" + body))
    expected = [status] if not before else [b"200", b"200"] if not over else [b"200"]  # one is answered, then it is cut
    assert [answer[:3] for answer in answers.split(b"HTTP/1.1 ")[1:]] == expected


def test_many_requests_on_one_connection_are_no_long_head() -> None:
    one = b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Some: " + b"a" * 30_000 + b"\r\n"
    last = one + b"Connection: close\r\n\r\n"
    answers = asyncio.run(_answered(BoundedHttpProtocol, *[one + b"\r\n"] * 5, last))
    assert answers.count(b"HTTP/1.1 200") == 6


@pytest.mark.parametrize("white", [b"", b" ", b"\t", b" \t  "])
def test_white_space_round_a_headers_value_is_none_of_it(white: bytes) -> None:
    """RFC 9110, 5.5: else the same request would be of another user directly than through a proxy."""
    asked = b"GET /header HTTP/1.1\r\nMnemic-User:" + white + b"ada l" + white + b"\r\nConnection: close\r\n\r\n"
    assert asyncio.run(_answered(BoundedHttpProtocol, asked)).endswith(b"\r\n\r\nada l")


def test_what_stands_behind_a_body_is_no_header() -> None:
    """RFC 9110, 6.5.1: else it says who asks after hosts and origins were looked at, and past a proxy's own headers."""
    body = b"Transfer-Encoding: chunked\r\nMnemic-User: ada\r\n\r\n2\r\n{}\r\n0\r\nMnemic-User: bob\r\n\r\n"
    last = b"POST /header HTTP/1.1\r\nMnemic-User: cleo\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    answers = asyncio.run(_answered(BoundedHttpProtocol, b"POST /header HTTP/1.1\r\n" + body + last))
    assert [one[-4:].strip() for one in answers.split(b"HTTP/1.1 200")[1:]] == [b"ada", b"cleo"]


def test_who_says_nothing_is_cut() -> None:
    assert asyncio.run(_answered(Impatient, b"")) == b""


LATE = {
    "part of a line": b"GET / HT",
    "part of a head": b"GET / HTTP/1.1\r\nHost: localhost\r\n",
    "part of a body": b"POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\nabc",
    "part of a chunk": b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nabc",
}


@pytest.mark.parametrize("begun", LATE.values(), ids=LATE)
def test_what_does_not_come_in_time_is_told_so(begun: bytes) -> None:
    assert _problem(asyncio.run(_answered(Impatient, begun))) == 408


async def _until_closed(client: socket.socket) -> bytes:
    """What a server says before its connection ends, also by a reset, as where it is sent more than it reads."""
    said = b""
    with suppress(ConnectionError):
        while piece := await asyncio.get_running_loop().sock_recv(client, 65_536):
            said += piece
    return said


@pytest.mark.parametrize(
    "begun",
    [b"POST / HTTP/1.1\r\nContent-Length: 100000000\r\n\r\n", b"GET / HTTP/1.1\r\nAccept: "],
    ids=["body", "head"],
)
def test_what_drips_is_late_however_steadily_it_comes(begun: bytes) -> None:
    async def scenario() -> bytes:
        config = uvicorn.Config(_app, lifespan="off", ws="none")
        config.load()
        make = partial(Impatient, config=config, server_state=ServerState(), app_state={})
        server = await asyncio.get_running_loop().create_server(make, "127.0.0.1", 0)
        with socket.create_connection(server.sockets[0].getsockname()) as client:
            client.setblocking(False)
            async with server, asyncio.timeout(PATIENCE):
                loop = asyncio.get_running_loop()
                await loop.sock_sendall(client, begun)
                answer = asyncio.ensure_future(_until_closed(client))
                while not answer.done():
                    with suppress(ConnectionError):  # closed already: what was answered is still to be read
                        await loop.sock_sendall(client, b"x")
                    await asyncio.sleep(Impatient.body_seconds / 10)
                return await answer

    assert _problem(asyncio.run(scenario())) == 408


def test_a_request_that_comes_whole_is_waited_for_by_no_timer() -> None:
    waits: list[float | None] = []

    class Noting(BoundedHttpProtocol):
        def _expect_within(self, seconds: float | None) -> None:
            waits.append(seconds)
            super()._expect_within(seconds)

    whole = b"POST / HTTP/1.1\r\nConnection: close\r\nContent-Length: 4\r\n\r\nbody"
    assert asyncio.run(_answered(Noting, whole)).startswith(b"HTTP/1.1 200")
    assert waits == [Noting.head_seconds, None, None]  # as the connection begins, with the request, as it ends


def test_what_is_late_behind_an_answer_is_cut() -> None:
    """There is one answer to a request: nothing is written amid another, or behind it."""
    unfinished = b"POST /hasty HTTP/1.1\r\nContent-Length: 9\r\n\r\nabc"
    assert asyncio.run(_answered(Impatient, unfinished)).count(b"HTTP/1.1") == 1
    both = b"POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\nabcdefghiGET / HTT"
    answers = asyncio.run(_answered(Impatient, both))
    assert answers.startswith(b"HTTP/1.1 200")
    assert answers.count(b"HTTP/1.1 408") == 1


def test_what_follows_a_request_and_is_none_takes_no_answer_from_it() -> None:
    """A body longer than it said: what is behind it is no request, and the one before it is answered, alone."""
    longer = b'POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\n{"mes' + b'sages": 1}\r\n\r\n'
    answers = asyncio.run(_answered(BoundedHttpProtocol, longer))
    assert (answers[:12], answers.count(b"HTTP/1.1"), answers[-2:]) == (b"HTTP/1.1 200", 1, b"ok")


@pytest.mark.parametrize(
    "said",
    [
        b"CONNECT localhost:1 HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01",  # a TLS hello
        b"HELLO\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost localhost\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: -4\r\n\r\nabcd",
        b"POST / HTTP/1.1\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\nabcd",
        b"POST / HTTP/1.1\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\nabcd",
        b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
    ],
)
def test_what_is_no_http_is_told_so(said: bytes) -> None:
    assert _problem(asyncio.run(_answered(BoundedHttpProtocol, said))) == 400


def _problem(answer: bytes) -> int:
    """The status of an answer that is a problem document, and the only one."""
    head, _, body = answer.partition(b"\r\n\r\n")
    lines = head.decode().lower().split("\r\n")
    told = json.loads(body)
    assert {"content-type: application/problem+json", "connection: close", f"content-length: {len(body)}"} <= set(lines)
    assert f"x-request-id: {told['request_id']}" in lines
    assert told["detail"]
    assert lines[0].startswith(f"http/1.1 {told['status']} ")
    return int(told["status"])
