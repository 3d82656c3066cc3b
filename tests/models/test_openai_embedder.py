"""An endpoint keeps the contract, and what goes wrong on the wire is met, or told as it is."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from typing import Any

import numpy as np
import pytest
from endpoint_server import Server, reply, serving
from told import set_patience

from mnemic.errors import Invalid, ModelError
from mnemic.models.base import Embedder
from mnemic.models.model_opening import named_embedder, open_embedder
from mnemic.models.openai_embedder import EmbeddingEndpoint, EndpointOptions
from mnemic.models.patience import TRIES
from mnemic.settings import Settings
from mnemic.testing.embedder_contract import *  # noqa: F403
from patience import PATIENCE

KEY = "sk-not-a-real-key-0123456789"


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as server:
        yield server


@pytest.fixture
def embedder(server: Server, slept: list[float]) -> Embedder:
    return EmbeddingEndpoint("words-1", server.url, key=KEY, timeout=PATIENCE, patience=set_patience(slept))


def status(code: int, body: bytes = b"{}", **headers: str) -> Any:
    return lambda handler, right: reply(handler, body, code, **headers)


def half(handler: BaseHTTPRequestHandler, right: dict[str, Any]) -> None:
    body = json.dumps(right).encode()
    reply(handler, body[: len(body) // 2])


def cut_off(handler: BaseHTTPRequestHandler, right: dict[str, Any]) -> None:
    body = json.dumps(right).encode()
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body[: len(body) // 2])
    handler.close_connection = True


def hang_up(handler: BaseHTTPRequestHandler, right: dict[str, Any]) -> None:
    handler.connection.shutdown(socket.SHUT_RDWR)
    handler.close_connection = True


def silence(handler: BaseHTTPRequestHandler, right: dict[str, Any]) -> None:
    handler.connection.settimeout(PATIENCE)
    handler.rfile.read(1)  # until the caller gives up
    handler.close_connection = True


@pytest.mark.parametrize("fault", [status(429), status(500), status(503), half, cut_off, hang_up])
def test_a_fault_that_passes_is_outlived(embedder: Embedder, server: Server, slept: list[float], fault: Any) -> None:
    server.faults = [fault, fault]
    assert np.linalg.norm(embedder.query("cello")) == pytest.approx(1, abs=1e-4)
    assert slept == [0.5, 1.0]


def test_a_silent_server_is_given_up_on(server: Server, slept: list[float]) -> None:
    server.faults = [silence] * TRIES
    embedder = EmbeddingEndpoint("words-1", server.url, timeout=0.1, patience=set_patience(slept))
    with pytest.raises(ModelError, match=f"{TRIES} times in a row"):
        embedder.query("cello")
    assert len(slept) == TRIES - 1


def test_a_fault_that_stays_is_told(embedder: Embedder, server: Server, slept: list[float]) -> None:
    server.faults = [status(503, b"overloaded")] * TRIES
    with pytest.raises(ModelError, match="answered 503 overloaded, 4 times in a row"):
        embedder.query("cello")
    assert len(slept) == TRIES - 1


def test_a_server_that_asks_for_time_gets_it_within_reason(
    embedder: Embedder, server: Server, slept: list[float]
) -> None:
    server.faults = [status(429, Retry_After=said) for said in ("7", "Monday", "2")]
    embedder.query("cello")
    assert slept == [7.0, 1.0, 2.0]


def test_a_server_that_asks_for_more_time_than_a_call_waits_gets_it_and_the_calls_fail_at_once(
    embedder: Embedder, server: Server, slept: list[float]
) -> None:
    server.faults = [status(429, Retry_After="86400")]
    for _ in range(3):
        with pytest.raises(ModelError, match="wants to be left alone for another 3,600 s"):
            embedder.query("cello")
    assert len(server.asked) == 1
    assert slept == []


@pytest.mark.parametrize("code", [400, 401, 404, 302])
def test_what_no_second_try_can_mend_is_told_at_once(embedder: Embedder, server: Server, code: int) -> None:
    server.faults = [status(code, b'{"error": "no such model"}', Location="http://elsewhere.invalid/")]
    with pytest.raises(ModelError, match=f"answered {code} .*no such model"):
        embedder.query("cello")
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    "wrong",
    [
        lambda right: right | {"data": right["data"][1:]},
        lambda right: right | {"data": right["data"] * 2},
        lambda right: right | {"data": [row | {"index": 0} for row in right["data"]]},
        lambda right: right | {"data": [row | {"embedding": "AAAA"} for row in right["data"]]},
        lambda right: right | {"data": [row | {"embedding": [0.0] * 64} for row in right["data"]]},
        lambda right: right | {"data": [row | {"embedding": [float("nan")] * 64} for row in right["data"]]},
        lambda right: right | {"data": [row | {"embedding": [1.0] * (64 + row["index"])} for row in right["data"]]},
        lambda right: {"data": None},
        lambda right: {},
        lambda right: [],
    ],
)
def test_an_answer_that_is_none_is_never_taken_for_one(embedder: Embedder, server: Server, wrong: Any) -> None:
    server.faults = [lambda handler, right: reply(handler, json.dumps(wrong(right)).encode())]
    with pytest.raises(ModelError):
        embedder.passages(["one", "two"])


def test_vectors_of_another_size_than_before_are_refused(embedder: Embedder, server: Server) -> None:
    embedder.query("cello")
    server.dims = 32
    with pytest.raises(ModelError, match="of 32 numbers, and of 64 before"):
        embedder.query("cello")


def test_the_key_is_sent_and_shown_nowhere(embedder: Embedder, server: Server) -> None:
    server.faults = [status(401, f"bad key {KEY}".encode())]
    with pytest.raises(ModelError) as raised:
        embedder.query("cello")
    assert server.headers[0]["Authorization"] == f"Bearer {KEY}"
    assert "MNEMIC_EMBEDDER_KEY" in str(raised.value)
    assert KEY not in str(raised.value) + repr(embedder) + embedder.name


@pytest.mark.parametrize(
    "body",
    [
        json.dumps({"data": [{"index": KEY, "embedding": [1.0]}]}),
        json.dumps({"data": [{"index": 0, "embedding": [KEY]}]}),
        json.dumps({"data": [{"index": 0, "embedding": [f"{'x' * 150} {KEY}"]}]}),
    ],
)
def test_a_key_that_the_server_says_back_is_masked(embedder: Embedder, server: Server, body: str) -> None:
    server.faults = [lambda handler, right: reply(handler, body.encode())]
    with pytest.raises(ModelError, match="holds no vectors") as raised:
        embedder.query("cello")
    assert KEY[:9] not in str(raised.value)


@pytest.mark.parametrize(
    "body",
    [
        "[" * 100_000,
        '{"data": [{"index": Infinity, "embedding": [1.0]}]}',
        '{"data": [{"index": 0, "embedding": [1' + "0" * 400 + "]}]}",
    ],
)
def test_an_answer_that_python_cannot_hold_is_told(embedder: Embedder, server: Server, body: str) -> None:
    server.faults = [lambda handler, right: reply(handler, body.encode())]
    with pytest.raises(ModelError, match="holds no vectors"):
        embedder.query("cello")


def test_without_a_key_none_is_sent(server: Server) -> None:
    EmbeddingEndpoint("words-1", server.url).query("cello")
    assert "Authorization" not in server.headers[0]


def test_many_texts_go_in_several_requests(embedder: Embedder, server: Server) -> None:
    assert embedder.passages([f"text {n}" for n in range(150)]).shape == (150, 64)
    assert [len(asked["input"]) for asked in server.asked] == [64, 64, 22]
    embedder.passages(["word " * 20_000] * 2)
    assert len(server.asked) > 4


def test_a_text_over_the_limit_goes_in_pieces_and_whole(server: Server) -> None:
    embedder = EmbeddingEndpoint("words-1", server.url, options=EndpointOptions(tokens=20))
    embedder.passages(["The quick brown fox jumps over the lazy dog. " * 10])
    (asked,) = server.asked
    assert len(asked["input"]) > 3
    assert "".join(asked["input"]) == "The quick brown fox jumps over the lazy dog. " * 10


def test_a_name_opens_the_same_embedder_again(server: Server) -> None:
    spec = f"openai:acme/words@{server.url}#query=query%3A+&passage=passage%3A+&dimensions=32&tokens=500"
    embedder = open_embedder(spec, Settings(embedder_key=KEY))
    assert embedder is not None
    assert embedder.name == spec
    assert named_embedder(embedder.name, Settings()).name == spec
    assert embedder.dims == 32
    embedder.query("who?")
    embedder.passages(["Ana"])
    assert [asked["input"] for asked in server.asked] == [["query: dimensions"], ["query: who?"], ["passage: Ana"]]
    assert {asked["model"] for asked in server.asked} == {"acme/words"}
    assert set(server.paths) == {"/v1/embeddings"}


@pytest.mark.parametrize(
    "rest",
    [
        "",
        "words",
        "words@host/v1",
        "@https://host/v1",
        "words@https://",
        "words@https://host:port/v1",
        "words@https://me:secret@host/v1",
        "words@https://me:secret/more@host/v1",
        "words@https://host/v1?api_key=secret",
        "words@https://[secret/v1",
        "https://me:secret@host/v1",
        "https://host/v1?api_key=secret",
        "words@https://host/v1?x=1",
        "words@https://host/v1#colour=red",
        "words@https://host/v1#tokens=0",
        "words@https://host/v1#dimensions=many",
        "words@https://host/v1#tokens",
    ],
)
def test_what_names_no_endpoint_is_refused(rest: str) -> None:
    with pytest.raises(Invalid) as raised:
        EmbeddingEndpoint.opened(rest, Settings())
    assert "secret" not in str(raised.value)
