"""The gateway before upstreams that are slow, broken, endless or wrong, and what passes it byte for byte."""

from __future__ import annotations

import json
import socket
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import httpx2
import openai
import pytest

from mnemic import Memory, Settings
from mnemic.faces.gateway.relay import GatewayOptions, application
from mnemic.faces.gateway.remembering import Remembering
from mnemic.faces.server.guards import LOOPBACK_HOSTS, Guards
from patience import eventually
from serving_app import serving_app

PATH = "/v1/chat/completions"
BODY: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "I sold my car."}]}


class RawUpstream:
    """An upstream of plain sockets: it notes each request as it came, and answers as it is told."""

    def __init__(self, answer: Callable[[socket.socket], None]) -> None:
        self.answer, self.requests = answer, list[bytes]()
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listening.getsockname()[1]}"
        self.gone = threading.Event()

    def serve(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self.listening.accept()
                threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        with connection, suppress(ConnectionError):
            request = b""
            while b"\r\n\r\n" not in request:
                request += connection.recv(65_536)
            head, _, body = request.partition(b"\r\n\r\n")
            length = next((int(x.split(b":")[1]) for x in head.split(b"\r\n") if x.lower().startswith(b"content-l")), 0)
            while len(body) < length:
                body += connection.recv(65_536)
            self.requests.append(head + b"\r\n\r\n" + body)
            self.answer(connection)

    @property
    def headers(self) -> list[str]:
        """The lines of the last request's head, less the first."""
        return self.requests[-1].partition(b"\r\n\r\n")[0].decode("latin-1").split("\r\n")[1:]

    @property
    def body(self) -> bytes:
        return self.requests[-1].partition(b"\r\n\r\n")[2]


class Between:
    def __init__(self, memory: Memory, upstream: RawUpstream, address: str) -> None:
        self.me, self.upstream, self.address = memory.scope(user="me"), upstream, address

    def post(self, body: Any = BODY, path: str = PATH, **headers: str) -> httpx2.Response:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        return httpx2.post(f"{self.address}{path}", content=content, headers=headers, timeout=60)

    def kept(self) -> list[str]:
        return [version.item.text for version in reversed(self.me.list())]


@contextmanager
def between(answer: Callable[[socket.socket], None], **options: Any) -> Iterator[Between]:
    upstream = RawUpstream(answer)
    threading.Thread(target=upstream.serve, daemon=True).start()
    with Memory("memory:", settings=Settings(embedder="none", background=False)) as memory:
        given = GatewayOptions(upstream=upstream.url, user="me", **{"recall_seconds": 30.0, **options})
        app = application(Remembering(memory, budget=given.budget, cache=given.cache), given)
        with serving_app(Guards(app, LOOPBACK_HOSTS, given.body_limit, own=False)) as address:
            yield Between(memory, upstream, address)
    upstream.listening.close()


def whole(body: bytes, *lines: str, status: str = "200 OK", kind: str = "application/json") -> Callable[..., None]:
    head = "\r\n".join((f"HTTP/1.1 {status}", f"Content-Type: {kind}", f"Content-Length: {len(body)}", *lines, "", ""))
    return lambda connection: connection.sendall(head.encode() + body)


def begin_stream(connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")


def chunk(words: str, finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": {"content": words}, "finish_reason": finish}
    return f"data: {json.dumps({'id': 'chat-1', 'choices': [choice]})}\n\n".encode()


STREAMED = {**BODY, "stream": True}
ANSWER = json.dumps({"id": "chat-1", "choices": [{"index": 0, "message": {"content": "Noted."}}]}).encode()


def test_an_upstream_that_does_not_answer_is_said_to_be_late() -> None:
    hold = threading.Event()
    with between(lambda connection: hold.wait(60) and None, answer_seconds=0.2) as it:
        response = it.post()
        hold.set()
    assert (response.status_code, response.json()["error"]["code"]) == (504, "upstream")


def test_an_upstream_that_falls_silent_amid_a_stream_ends_it_and_what_came_is_kept() -> None:
    hold = threading.Event()

    def answer(connection: socket.socket) -> None:
        begin_stream(connection)
        connection.sendall(chunk("No"))
        hold.wait(60)

    with between(answer, answer_seconds=0.3) as it:
        response = it.post(STREAMED)
        hold.set()
        assert '"code": "upstream"' in response.text
        assert it.kept() == ["I sold my car.", "No"]


def test_an_upstream_that_hangs_up_at_once_is_told_and_nothing_is_kept() -> None:
    with between(lambda connection: None) as it:
        assert it.post().status_code == 502
        assert it.kept() == []


def reset(connection: socket.socket) -> None:
    time.sleep(0.2)  # what lies in the buffers of a connection that is reset is lost
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")


@pytest.mark.parametrize("ending", [reset, lambda connection: None])
def test_half_an_event_is_withheld_and_the_words_before_it_are_kept_as_unfinished(
    ending: Callable[[socket.socket], None],
) -> None:
    def answer(connection: socket.socket) -> None:
        begin_stream(connection)
        connection.sendall(chunk("You sold") + chunk(" your car")[:40])
        ending(connection)

    with between(answer) as it:
        response = it.post(STREAMED)
        first, error, *_ = response.content.split(b"\n\n")
        assert first + b"\n\n" == chunk("You sold")
        assert json.loads(error.removeprefix(b"data: "))["error"]["code"] == "upstream"
        assert it.kept() == ["I sold my car.", "You sold"]
        assert it.me.list()[0].item.slots["unfinished"] is True


@pytest.mark.parametrize("ending", [reset, lambda connection: None])
@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_openais_client_hears_of_a_stream_that_was_cut_amid_an_event(
    ending: Callable[[socket.socket], None], end: bytes
) -> None:
    delta = {"type": "response.output_text.delta", "item_id": "m", "output_index": 0, "content_index": 0}
    told = json.dumps({**delta, "delta": "You sold", "logprobs": [], "sequence_number": 1}).encode()
    halves = {
        PATH: chunk("You sold") + chunk(" your car")[:40],
        "/v1/responses": b"event: response.output_text.delta\ndata: " + told + b"\n\nevent: response.output_te",
    }

    def answer(connection: socket.socket) -> None:
        begin_stream(connection)
        path = it.upstream.requests[-1].split(b" ")[1].decode()
        connection.sendall(halves[path].replace(b"\n", end))
        ending(connection)

    with between(answer) as it, openai.OpenAI(base_url=f"{it.address}/v1", api_key="k", max_retries=0) as client:
        asked: list[Any] = BODY["messages"]
        chunks: Any = client.chat.completions.create(model="m", messages=asked, stream=True)
        assert next(chunks).choices[0].delta.content == "You sold"
        with pytest.raises(openai.APIError, match="the upstream broke off"):
            next(chunks)
        events: Any = client.responses.create(model="m", input="I sold my bicycle.", stream=True)
        assert next(events).delta == "You sold"
        with pytest.raises(openai.APIError, match="the upstream broke off"):
            next(events)
        said = ["I sold my car.", "You sold", "I sold my bicycle.", "You sold"]
        eventually(lambda: it.kept() == said, "both answers are kept as far as they came")


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_a_last_event_that_lacks_only_the_empty_line_behind_it_is_whole(end: bytes) -> None:
    def answer(connection: socket.socket) -> None:
        begin_stream(connection)
        connection.sendall((chunk("Noted.", "stop") + b"data: [DONE]\n").replace(b"\n", end))

    with between(answer) as it, openai.OpenAI(base_url=f"{it.address}/v1", api_key="k", max_retries=0) as client:
        asked: list[Any] = BODY["messages"]
        chunks = client.chat.completions.create(model="m", messages=asked, stream=True)
        assert [chunk.choices[0].delta.content for chunk in chunks] == ["Noted."]
        assert b": mnemic-write ok" in it.post(STREAMED).content.splitlines()[-2]
        assert it.kept()[:2] == ["I sold my car.", "Noted."]


def test_a_comment_that_keeps_a_connection_alive_goes_on_at_once() -> None:
    heard = threading.Event()

    def answer(connection: socket.socket) -> None:
        begin_stream(connection)
        connection.sendall(b": still here\n")
        assert heard.wait(60)
        connection.sendall(chunk("Noted.", "stop"))

    with between(answer) as it, httpx2.stream("POST", f"{it.address}{PATH}", json=STREAMED, timeout=60) as response:
        pieces = response.iter_raw()
        assert next(pieces) == b": still here\n"
        heard.set()
        assert chunk("Noted.", "stop") in b"".join(pieces)


@pytest.mark.parametrize("end", [chunk("", "stop"), b"data: [DONE]\n\n"])
def test_a_stream_that_says_where_it_ends_is_finished(end: bytes) -> None:
    def answer(connection: socket.socket) -> None:
        begin_stream(connection)
        connection.sendall(chunk("Noted.") + end)

    with between(answer) as it:
        it.post(STREAMED)
        assert "unfinished" not in it.me.list()[0].item.slots


MEGABYTES = 100
MEGABYTE = b"x" * 1_000_000


def _many_megabytes(connection: socket.socket) -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % (MEGABYTES * 1_000_000)
    connection.sendall(head)
    for _ in range(MEGABYTES):
        connection.sendall(MEGABYTE)


def _one_event_of_many_megabytes(connection: socket.socket) -> None:
    begin_stream(connection)
    connection.sendall(chunk("Noted.") + b"data: ")
    for _ in range(MEGABYTES):
        connection.sendall(MEGABYTE)
    connection.sendall(b"\n\n" + chunk(" That is all.", "stop"))


@pytest.mark.parametrize(
    ("answer", "kept"),
    [(_many_megabytes, None), (_one_event_of_many_megabytes, "Noted. That is all.")],
)
def test_a_hundred_megabytes_pass_and_take_no_such_memory(answer: Callable[..., None], kept: str | None) -> None:
    with between(answer) as it:
        it.post(b'{"messages": []}')  # what is loaded once is loaded
        tracemalloc.start()
        try:
            with httpx2.stream("POST", f"{it.address}{PATH}", json=STREAMED, timeout=60) as response:
                size = sum(len(piece) for piece in response.iter_raw())
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert size >= MEGABYTES * 1_000_000
        assert peak < 24_000_000
        if kept is None:
            assert response.headers["mnemic-write"].startswith("failed: the answer is too long")
        else:
            eventually(lambda: kept in it.kept())


def test_a_page_in_place_of_an_answer_passes_and_is_told() -> None:
    page = b"<html>Sign in to the network</html>"
    with between(whole(page, kind="text/html")) as it:
        for body in (BODY, STREAMED):
            response = it.post(body)
            assert (response.content, response.headers["content-type"]) == (page, "text/html")
            assert response.headers["mnemic-write"].startswith("failed: the answer")
        assert it.kept() == []


@pytest.mark.parametrize("status", ["429 Too Many Requests", "500 Internal Server Error"])
@pytest.mark.parametrize("body", [BODY, STREAMED])
def test_an_error_passes_as_it_is_with_what_memory_did(status: str, body: Any) -> None:
    error = b'{"error" : {"message":"no","type":"t"}}'
    with between(whole(error, "Retry-After: 7", "X-Request-Id: r-1", status=status)) as it:
        response = it.post(body)
        assert (response.status_code, response.content) == (int(status[:3]), error)
        assert (response.headers["retry-after"], response.headers["x-request-id"]) == ("7", "r-1")
        assert response.headers["mnemic-recall"].startswith("ok")
        assert response.headers["mnemic-write"] == f"nothing: the upstream answered {status[:3]}"
        assert it.kept() == []


def test_who_goes_away_amid_a_stream_has_what_came_kept_and_the_upstream_closed() -> None:
    closed = threading.Event()

    def answer(connection: socket.socket) -> None:
        begin_stream(connection)
        connection.sendall(chunk("You sold"))
        try:
            while connection.recv(1):  # nothing comes: it ends when the other side closes
                pass
        except ConnectionError:
            pass
        closed.set()

    with between(answer) as it:
        with httpx2.stream("POST", f"{it.address}{PATH}", json=STREAMED) as response:
            next(response.iter_raw())
        assert closed.wait(30)
        eventually(lambda: it.kept() == ["I sold my car.", "You sold"])


ODD = (
    b'{ "model":"m", "seed":1.50e0, "twin":1,"twin" :2, "big":12345678901234567890123, "tools" : [{"f":null} ],\n'
    b'  "messages":[{"role":"system","content":"caf\\u00e9"},{"role":"user","content":[{"type":"text","text":"Whose is '
    b'the red house?"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AA=="}} ],"name" : "\xc3\xa9"}] }'
)


def test_a_block_is_all_that_is_put_into_a_request() -> None:
    with between(whole(ANSWER)) as it:
        it.me.observe("The red house is Ada's.")
        it.post(ODD)
        at = ODD.index(b'],"name"')
        sent = it.upstream.body
        assert sent.startswith(ODD[:at] + b", {")
        assert sent.endswith(ODD[at:])
        added = json.loads(sent[at + 2 : -len(ODD[at:])])
        assert added["type"] == "text"
        assert "Ada" in added["text"]


def test_without_a_block_a_request_goes_on_as_it_came() -> None:
    with between(whole(ANSWER)) as it:
        it.post(ODD)
        assert it.upstream.body == ODD


PASSING = {
    "authorization": "Bearer sk-upstream",
    "openai-organization": "org",
    "x-thing": "1",
    "user-agent": "an application",
}


def test_with_memory_off_headers_and_bodies_are_the_same_on_both_sides() -> None:
    lines = ("Set-Cookie: a=1; Path=/", "Set-Cookie: b=2; Path=/", "X-Request-Id: r-1", "openai-version: 2020-10-01")
    body = b'{"id":"q" , "choices":[ ]}'
    with between(whole(body, *lines, kind="application/json; charset=utf-8")) as it:
        for _ in range(2):
            content = {"content-type": "application/json", "mnemic-memory": "off"}
            request = httpx2.Request("POST", f"{it.address}{PATH}", content=ODD, headers={**PASSING, **content})
            with httpx2.Client() as client:
                response = client.send(request)
            assert it.upstream.body == ODD
            sent = dict(line.split(": ", 1) for line in it.upstream.headers)
            assert {name.lower(): value for name, value in sent.items() if name.lower() != "host"} == {
                **PASSING, "content-type": "application/json", "content-length": str(len(ODD)),
            }  # fmt: skip
            assert response.content == body
            came = [(name.decode().lower(), value.decode()) for name, value in response.headers.raw]
            expected = [
                ("content-type", "application/json; charset=utf-8"), ("content-length", str(len(body))),
                ("set-cookie", "a=1; Path=/"), ("set-cookie", "b=2; Path=/"), ("x-request-id", "r-1"),
                ("openai-version", "2020-10-01"),
            ]  # fmt: skip
            assert [pair for pair in came if pair[0] not in ("date", "server")] == expected


def test_what_is_compressed_passes_compressed_where_memory_does_not_read_it() -> None:
    import gzip

    packed = gzip.compress(b'{"data": []}')
    with between(whole(packed, "Content-Encoding: gzip")) as it:
        with httpx2.stream("POST", f"{it.address}/v1/embeddings", json={}) as response:
            assert b"".join(response.iter_raw()) == packed
        assert it.post(**{"Accept-Encoding": "gzip, br"}).status_code == 200
        assert [line for line in it.upstream.headers if "encoding" in line.lower()] == ["accept-encoding: identity"]
