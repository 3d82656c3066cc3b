"""What a stranger sends over a socket, one connection each: one problem document says what it is, and none is a 500."""

from __future__ import annotations

import json
import logging
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

import jwt
import pytest
from malformed_json import MALFORMED

from mnemic import Memory, Settings
from mnemic.credentials.authenticator import Authenticator
from mnemic.credentials.principal import Right
from mnemic.faces.server.application import application
from mnemic.faces.server.bounded_protocol import BoundedHttpProtocol
from mnemic.faces.server.guards import BODY_LIMIT
from mnemic.faces.server.service import Service
from mnemic.testing.generators import ManualClock
from patience import PATIENCE
from serving_app import serving_app

ISSUER, AUDIENCE, HOUR = "https://id.example", "mnemic", 3_600
SECRET = "a secret that is shared with the provider, and long enough for any of its algorithms"
SETTINGS = Settings(
    embedder="none", background=False, jwt_issuer=ISSUER, jwt_audience=AUDIENCE, jwt_secret=SECRET
)  # fmt: skip


@dataclass(frozen=True)
class Served:
    """A server, and what is there to be misused."""

    port: int
    key: str
    expired: str
    revoked: str
    others: str
    item: str
    foreign: str
    erased: str
    now: int

    def ask(self, *pieces: bytes) -> bytes:
        """All that comes back on a connection of its own."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE) as connection:
            for piece in pieces:
                connection.sendall(piece)
            answer = b""
            while came := connection.recv(65_536):
                answer += came
            return answer

    def post(self, name: str, arguments: Any = None, *headers: str, key: str | None = None) -> bytes:
        """Ask for an operation with a key, by default the good one."""
        body = arguments if isinstance(arguments, bytes) else json.dumps(arguments or {}).encode()
        return self.ask(request(f"/v1/{name}", body, f"Authorization: Bearer {key or self.key}", *headers))

    def token(self, algorithm: str = "HS256", **changed: Any) -> str:
        """A token of the identity provider, with what is wrong about it."""
        said = {"iss": ISSUER, "aud": AUDIENCE, "sub": "ada", "mnemic_right": "write"}
        times = {"iat": self.now, "exp": self.now + 600}
        return jwt.encode({**said, **times, **changed}, None if algorithm == "none" else SECRET, algorithm)


def request(path: str, body: bytes, *headers: str, host: str = "Host: localhost", method: str = "POST") -> bytes:
    kind = () if any(one.lower().startswith("content-type") for one in headers) else ("Content-Type: application/json",)
    length = () if any(one.startswith("Transfer-Encoding") for one in headers) else (f"Content-Length: {len(body)}",)
    lines = [f"{method} {path} HTTP/1.1", *filter(None, [host]), "Connection: close", *kind, *length, *headers]
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + body


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    clock = ManualClock()
    with Memory("memory:", settings=SETTINGS, clock=clock) as memory:
        made = {name: memory.keys.create(name, tenant="default", user="ada") for name in ("good", "revoked")}
        others = memory.keys.create("others", tenant="default", user="bob", right=Right.WRITE)
        expired = memory.keys.create("expired", tenant="default", user="ada", expires=timedelta(seconds=1))
        memory.keys.revoke(made["revoked"].key.id, tenant="default")
        clock.tick(2_000_000)
        ada, bob = memory.scope(user="ada"), memory.scope(user="bob")
        for scope in (ada, bob):
            scope.observe([f"Line {number}." for number in range(3)])
        gone = ada.write("To be erased.").id
        ada.erase(gone)
        app = application(Service(memory, Authenticator.from_settings(memory.keys, SETTINGS)))
        with serving_app(app, http=BoundedHttpProtocol) as address:
            yield Served(
                port=urlsplit(address).port or 0, key=made["good"].text, expired=expired.text,
                revoked=made["revoked"].text, others=others.text, item=ada.write("Ada reads.").id,
                foreign=bob.list()[0].item.id, erased=gone, now=clock.now() // 1_000_000,
            )  # fmt: skip


@pytest.fixture(autouse=True)
def quiet(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    with caplog.at_level(logging.WARNING):
        yield
    assert [one.message for one in caplog.records if one.name in ("mnemic.server", "uvicorn.error")] == []


def problem(answer: bytes) -> tuple[int, dict[str, Any]]:
    """The one answer of a connection, which is a problem document and nothing behind it."""
    head, _, body = answer.partition(b"\r\n\r\n")
    lines = head.decode().split("\r\n")
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines[1:])}
    told = json.loads(body)
    assert headers["content-type"] == "application/problem+json"
    assert int(headers["content-length"]) == len(body)
    assert headers["x-request-id"] == told["request_id"]
    assert {"type", "title", "detail"} <= set(told)
    assert lines[0].startswith(f"HTTP/1.1 {told['status']} ")
    return told["status"], told


def test_what_is_sound_is_answered(served: Served) -> None:
    for key in (served.key, served.token()):
        assert served.post("count", key=key).startswith(b"HTTP/1.1 200 OK")


@pytest.mark.parametrize("body", MALFORMED.values(), ids=list(MALFORMED))
def test_malformed_json(served: Served, body: bytes) -> None:
    status, told = problem(served.post("recall", body))
    assert (status, told["type"]) == (400, "urn:mnemic:problem:Invalid")


def test_bodies_that_are_huge(served: Served) -> None:
    said = f"Authorization: Bearer {served.key}"
    huge = request("/v1/recall", b"", said).replace(b"Content-Length: 0", b"Content-Length: %d" % (BODY_LIMIT + 1))
    assert problem(served.ask(huge))[0] == 413
    chunked = request("/v1/recall", b"", said, "Transfer-Encoding: chunked")
    piece = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
    assert problem(served.ask(chunked, *[piece] * (BODY_LIMIT // 0x10000), b"1\r\n \r\n"))[0] == 413


def test_whoever_reads_only_when_all_of_a_huge_body_is_sent_hears_the_answer(served: Served) -> None:
    said = f"Authorization: Bearer {served.key}"
    whole = request("/v1/recall", b" " * (3 * BODY_LIMIT), said)  # it closes the connection behind its answer
    assert problem(served.ask(whole))[0] == 413


def test_bodies_in_another_form(served: Served) -> None:
    for header in (
        "Content-Type: text/plain",
        "Content-Type: application/json; charset=utf-16",
        "Content-Encoding: br",
    ):
        assert problem(served.post("count", None, header))[0] == 415, header


CREDENTIALS = {
    "none": lambda _: (),
    "no scheme": lambda served: (f"Authorization: {served.key}",),
    "another scheme": lambda _: ("Authorization: Basic YWRhOmFkYQ==",),
    "nothing behind it": lambda _: ("Authorization: Bearer",),
    "expired": lambda served: (f"Authorization: Bearer {served.expired}",),
    "revoked": lambda served: (f"Authorization: Bearer {served.revoked}",),
    "truncated": lambda served: (f"Authorization: Bearer {served.key[:-1]}",),
    "only its id": lambda served: (f"Authorization: Bearer {served.key.rpartition('_')[0]}",),
    "of two keys": lambda s: (f"Authorization: Bearer {s.key.rpartition('_')[0]}_{s.others.rpartition('_')[2]}",),
    "not ASCII": lambda served: (f"Authorization: Bearer {served.key}\xe9",),
    "a bad key beside a cookie": lambda _: ("Authorization: Bearer mk_x_y", "Cookie: mnemic_session=ms_x_y"),
    "a token of no algorithm": lambda served: (f"Authorization: Bearer {served.token('none')}",),
    "of another algorithm": lambda served: (f"Authorization: Bearer {served.token('HS512')}",),
    "of another issuer": lambda served: (f"Authorization: Bearer {served.token(iss='https://evil.example')}",),
    "for another audience": lambda served: (f"Authorization: Bearer {served.token(aud='other')}",),
    "of an hour ago": lambda s: (f"Authorization: Bearer {s.token(iat=s.now - 2 * HOUR, exp=s.now - HOUR)}",),
    "of an hour ahead": lambda s: (f"Authorization: Bearer {s.token(nbf=s.now + HOUR, exp=s.now + 2 * HOUR)}",),
    "cut short": lambda served: (f"Authorization: Bearer {served.token()[:-9]}",),
    "without a signature": lambda served: (f"Authorization: Bearer {served.token().rpartition('.')[0]}.",),
}


@pytest.mark.parametrize("which", CREDENTIALS)
def test_credentials_that_prove_nobody(served: Served, which: str) -> None:
    status, told = problem(served.ask(request("/v1/count", b"{}", *CREDENTIALS[which](served))))
    assert (status, told["type"]) == (401, "urn:mnemic:problem:Unauthenticated")


def test_credentials_that_come_twice_or_open_elsewhere(served: Served) -> None:
    assert problem(served.post("count", None, f"Authorization: Bearer {served.others}"))[0] == 400
    for header in ("Mnemic-User: bob", "Mnemic-Tenant: other"):
        assert problem(served.post("count", None, header))[0] == 403, header
    status, _ = problem(served.post("write", {"text": "Ours."}, "Mnemic-Shared: yes"))
    assert status == 403


@pytest.mark.parametrize(
    "host", ["", "Host: evil.example", "Host: localhost.evil.example", "Host: localhost\r\nHost: x"]
)
def test_hosts_of_a_stranger(served: Served, host: str) -> None:
    assert problem(served.ask(request("/v1/count", b"{}", f"Authorization: Bearer {served.key}", host=host)))[0] == 421


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "null", "http://localhost.evil.example", "http://localhost:1"]
)
def test_origins_of_a_stranger(served: Served, origin: str) -> None:
    assert problem(served.post("count", None, f"Origin: {origin}"))[0] == 403


def test_ids_that_are_anothers_erased_or_malformed_are_one_answer(served: Served) -> None:
    answers = [problem(served.post("get", {"id": id})) for id in (served.foreign, served.erased, "0" * 26)]
    told = [{name: said for name, said in one.items() if name not in ("request_id", "detail")} for _, one in answers]
    assert [status for status, _ in answers] == [404] * 3
    assert told == told[:1] * 3
    assert problem(served.post("get", {"id": "\x00"}))[0] == 400
    assert (
        problem(served.ask(request("/v1/items/%ff", b"", f"Authorization: Bearer {served.key}", method="GET")))[0]
        == 404
    )


def test_versions_keys_and_cursors_that_are_stale_or_anothers(served: Served) -> None:
    change = {"id": served.item, "text": "Ada writes."}
    assert problem(served.post("revise", change, 'If-Match: "1"'))[0] == 412
    for tag in ('W/"1"', "1", '"x"', '"1", "2"'):
        assert problem(served.post("revise", change, f"If-Match: {tag}"))[0] in (400, 412), tag
    assert served.post("write", {"text": "Once."}, "Idempotency-Key: k").startswith(b"HTTP/1.1 200")
    assert problem(served.post("write", {"text": "Twice."}, "Idempotency-Key: k"))[0] == 409
    page = json.loads(served.post("list", {"limit": 1}).partition(b"\r\n\r\n")[2])
    status, told = problem(served.post("list", {"limit": 1, "after": page["next"]}, key=served.others))
    assert (status, told["field"]) == (400, "after")
