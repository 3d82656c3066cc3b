"""What no honest client sends: each is answered with a problem that says what is wrong, and none is a 500."""

from __future__ import annotations

import gzip
import json
import logging
import re
from collections.abc import Callable, Iterator
from http import HTTPStatus
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from malformed_json import MALFORMED
from starlette.testclient import TestClient

from mnemic import Memory
from mnemic.errors import ModelError, StoreFull
from mnemic.faces.server.guards import host_name
from mnemic.faces.server.strict_json import MOST_NESTED, read_json
from mnemic.operations.operation_table import OPERATIONS

Serving = Callable[..., TestClient]
JSON = {"content-type": "application/json"}


@pytest.mark.parametrize("body", MALFORMED.values(), ids=list(MALFORMED))
def test_malformed_json_is_refused(client: TestClient, body: bytes) -> None:
    response = client.post("/v1/recall", content=body, headers=JSON)
    told = response.json()
    assert (response.status_code, response.headers["content-type"]) == (400, "application/problem+json")
    assert (told["type"], told["status"]) == ("urn:mnemic:problem:Invalid", 400)
    assert {"title", "detail", "field", "remedy", "request_id"} <= set(told)


def test_what_is_sound_is_read() -> None:
    deep: Any = "x"
    for _ in range(MOST_NESTED - 1):
        deep = [deep]
    sound = {"a": deep, "b": "\N{GRINNING FACE}", "c": [-(2**63) + 1, 2**63 - 1, 1.5e300], "d": {}}
    assert read_json(json.dumps(sound).encode()) == sound


@pytest.mark.parametrize(
    "content_type",
    ["text/plain", "application/x-www-form-urlencoded", "", "application/json; charset=utf-16", "multipart/form-data"],
)
def test_what_is_not_json_is_not_read(client: TestClient, content_type: str) -> None:
    response = client.post("/v1/recall", content=b'{"query": "x"}', headers={"content-type": content_type})
    assert response.status_code == 415


def test_a_body_that_is_packed_is_told_to_come_as_it_is(client: TestClient) -> None:
    packed = gzip.compress(b'{"messages": "The ferry leaves at nine."}')
    response = client.post("/v1/observe", content=packed, headers={**JSON, "Content-Encoding": "gzip"})
    assert (response.status_code, "Content-Encoding" in response.json()["detail"]) == (415, True)
    plain = client.post("/v1/observe", json={"messages": "Nine."}, headers={"Content-Encoding": "identity"})
    assert plain.status_code == 200


def test_json_may_name_its_charset(client: TestClient) -> None:
    headers = {"content-type": 'Application/JSON; charset="UTF-8"'}
    assert client.post("/v1/recall", content=b'{"query": "x"}', headers=headers).status_code == 200


BAD_ARGUMENTS: dict[str, tuple[str, dict[str, Any], str]] = {
    "missing": ("recall", {}, "query"),
    "unknown": ("recall", {"query": "x", "user": "bob"}, "user"),
    "k too large": ("recall", {"query": "x", "k": 201}, "k"),
    "k too small": ("recall", {"query": "x", "k": 0}, "k"),
    "k a text": ("recall", {"query": "x", "k": "10"}, "k"),
    "k true": ("recall", {"query": "x", "k": True}, "k"),
    "null": ("recall", {"query": None}, "query"),
    "blank": ("recall", {"query": " "}, "query"),
    "no such strategy": ("recall", {"query": "x", "by": "nobody"}, "by"),
    "unknown below": ("recall", {"query": "x", "where": {"colour": "red"}}, "where.colour"),
    "no such kind": ("recall", {"query": "x", "where": {"kinds": ["thing"]}}, "where.kinds[0]"),
    "no time": ("recall", {"query": "x", "where": {"said_from": "soonish"}}, "where.said_from"),
    "no time to look from": ("recall", {"query": "x", "as_of": "soonish"}, "as_of"),
    "a slot that is a list": ("list", {"where": {"slots": {"a": [1]}}}, "where.slots[0]"),
    "a page too long": ("list", {"limit": 1001}, "limit"),
    "no cursor": ("list", {"after": "c???"}, "after"),
    "an id too short": ("get", {"id": "abc"}, "id"),
    "an id that is none": ("get", {"id": "u" * 26}, "id"),
    "an id of a number": ("get", {"id": 3}, "id"),
    "a commit to come": ("get", {"id": "0" * 26, "at": 99}, "at"),
    "no messages": ("observe", {"messages": []}, "messages"),
    "a message with more": ("observe", {"messages": {"role": "user", "text": "x"}}, "messages"),
    "an empty text": ("observe", {"messages": ""}, "messages"),
    "a channel of ours": ("observe", {"messages": "x", "channel": "import"}, "channel"),
    "a tag that is none": ("observe", {"messages": "x", "tags": ["\n"]}, "tags[0]"),
    "a blank session": ("observe", {"messages": "x", "session": ""}, "session"),
    "an expiry gone by": ("observe", {"messages": "x", "expires": "2001-01-01"}, "messages[0].expires"),
    "evidence stated": ("write", {"text": "x", "kind": "turn"}, "kind"),
    "no outcome": ("settle", {"id": "0" * 26}, "outcome"),
    "nothing named": ("forget", {"ids": []}, "ids"),
    "nothing to erase": ("erase", {}, "ids"),
    "a range backwards": ("undo_range", {"first": 3, "last": 1}, "last"),
    "no such side": ("merge", {"name": "x", "prefer": "mine"}, "prefer"),
}


@pytest.mark.parametrize("case", BAD_ARGUMENTS.values(), ids=list(BAD_ARGUMENTS))
def test_an_argument_that_does_not_fit_is_named(client: TestClient, case: tuple[str, dict[str, Any], str]) -> None:
    name, arguments, field = case
    response = client.post(f"/v1/{name}", json=arguments)
    assert (response.status_code, response.json()["field"].split(".")[0]) == (400, field.split(".")[0]), response.text


FIELDS = [(name, field) for name, one in sorted(OPERATIONS.items()) for field in one.parameters["properties"]]


@pytest.mark.parametrize(("name", "field"), FIELDS, ids=lambda one: str(one))
def test_every_field_of_every_operation_is_held_to_its_schema(client: TestClient, name: str, field: str) -> None:
    """None takes a list of a list of an object: it is refused by its name, whatever else is missing."""
    if field == "slots":
        pytest.skip("any JSON is a slot")
    needed = dict.fromkeys(OPERATIONS[name].parameters["required"], "x")
    response = client.post(f"/v1/{name}", json={**needed, field: [[{"x": 1}]]})
    assert response.status_code == 400, response.text
    refused = response.json()["field"].partition("[")[0].partition(".")[0]
    assert refused == field or refused in needed, response.text


BAD_QUERIES = {
    "unknown": "query=x&user=bob",
    "twice": "query=x&query=y",
    "no number": "query=x&k=ten",
    "no flag": "query=x&explain=maybe",
    "no JSON": "query=x&where={kinds}",
    "not UTF-8": "query=%ff",
    "half a character": "query=%ed%a0%bd",
    "a NUL": "query=%00",
    "too many": "&".join(["query=x"] * 2000),
}


@pytest.mark.parametrize("query", BAD_QUERIES.values(), ids=list(BAD_QUERIES))
def test_a_query_that_does_not_fit_is_refused(client: TestClient, query: str) -> None:
    response = client.get(f"/v1/recall?{query}")
    assert (response.status_code, response.json()["type"]) == (400, "urn:mnemic:problem:Invalid")


def test_ids_that_are_none_foreign_or_gone_are_answered_alike(client: TestClient) -> None:
    def written(headers: dict[str, str]) -> str:
        id: str = client.post("/v1/write", json={"text": "Mine."}, headers=headers).json()["ids"][0]
        return id

    elsewhere, hers, erased = written({"Mnemic-Tenant": "elsewhere"}), written({"Mnemic-User": "ada"}), written({})
    assert client.post("/v1/erase", json={"ids": [erased]}).status_code == 200
    told = []
    for id in ("abc", "u" * 26, "0" * 26, elsewhere, hers, erased, "%00", "a" * 5000, "%ff"):
        response = client.get(f"/v1/items/{id}")
        assert (response.status_code, response.json()["type"]) == (404, "urn:mnemic:problem:NotFound")
        told.append({name: one for name, one in response.json().items() if name not in ("request_id", "detail")})
        assert response.json()["detail"].startswith("no item ")
    assert told == told[:1] * len(told)
    for id in (elsewhere, hers, erased):
        for name, arguments in (
            ("revise", {"id": id, "text": "x"}),
            ("forget", {"ids": [id]}),
            ("history", {"id": id}),
        ):
            assert client.post(f"/v1/{name}", json=arguments).status_code == 404
        assert client.post("/v1/links", json={"id": id}).json() == {"links": []}


def test_addresses_and_methods_that_are_none(client: TestClient) -> None:
    for method, path, status in (
        ("GET", "/", 404), ("GET", "/v1", 404), ("GET", "/v1/recall/", 404), ("GET", "/v2/recall", 404),
        ("POST", "/v1/nothing", 404), ("GET", "/v1/observe", 405), ("DELETE", "/v1/recall", 405),
        ("PUT", "/v1/items/x", 405), ("POST", "/health", 405), ("OPTIONS", "/v1/recall", 405),
        ("TRACE", "/v1/recall", 405),
    ):  # fmt: skip
        response = client.request(method, path)
        assert response.status_code == status, (method, path)
        assert response.headers["content-type"] == "application/problem+json"
        told = response.json()
        assert (told["type"], told["title"]) == ("about:blank", HTTPStatus(status).phrase)
        assert status != 405 or response.headers["allow"] in told["detail"]


def test_a_method_that_is_none_is_told_of_all_that_are(client: TestClient) -> None:
    document = client.get("/openapi.json").json()
    for path, methods in document["paths"].items():
        allowed = client.options(path.replace("{id}", "0" * 26)).headers["allow"].lower().split(", ")
        assert set(allowed) - {"head"} == set(methods), path


def test_a_whole_number_may_be_written_as_a_float(client: TestClient) -> None:
    client.post("/v1/observe", json={"messages": "The ferry leaves at nine.", "slots": {"weight": 2.0, "deck": 3}})
    body = b'{"query": "ferry", "k": 1.0, "where": {"slots": {"deck": 3.0}}}'
    assert len(client.post("/v1/recall", content=body, headers=JSON).json()["items"]) == 1
    assert client.get("/v1/recall?query=ferry&k=1.0").status_code == 200
    for body in (b'{"query": "ferry", "k": 1.5}', b'{"query": "ferry", "k": 1e300}'):
        assert client.post("/v1/recall", content=body, headers=JSON).json()["field"] == "k"


def test_a_name_in_a_header_is_wholly_percent_encoded(client: TestClient) -> None:
    for name in (b"100%", b"%2", b"%zz", "J\u00fcrgen".encode(), "J\u00fcrgen".encode("latin-1"), b"%ff"):
        response = client.post("/v1/count", headers={b"Mnemic-User": name})
        assert (response.status_code, response.json()["field"]) == (400, "mnemic-user"), name
    for name in (b"100%25", b"J%C3%BCrgen", b"ada of york"):
        assert client.post("/v1/count", headers={b"Mnemic-User": name}).status_code == 200


@pytest.mark.parametrize("shared", [{}, {"Mnemic-Shared": "yes"}], ids=["", "shared"])
def test_a_name_that_can_be_nobodys_is_refused_by_its_header(client: TestClient, shared: dict[str, str]) -> None:
    for name, status in (("", 400), (" ", 400), ("%20", 400), ("%00", 400), ("a%0Ab", 400), ("a" * 257, 413)):
        for header in ("Mnemic-User", "Mnemic-Tenant"):
            response = client.post("/v1/count", headers={header: name, **shared})
            assert (response.status_code, response.json()["field"]) == (status, header.lower()), (name, response.text)


def test_a_cursor_is_read_also_beside_a_user(client: TestClient) -> None:
    response = client.post("/v1/users", json={"user": "ada", "after": "c" + "0" * 30})
    assert (response.status_code, response.json()["field"]) == (400, "after")


def test_a_key_may_end_on_a_day(client: TestClient) -> None:
    made = client.post("/v1/create_key", json={"name": "ci", "any_user": True, "expires": "2999-01-01"}).json()
    assert made["key"]["expires"] == "2999-01-01T00:00:00+00:00"


CHAT_MESSAGES: dict[str, tuple[dict[str, Any], str]] = {
    "says nothing": ({"role": "user", "content": ""}, "messages.content"),
    "has no content": ({"role": "user"}, "messages.content"),
    "calls no tool": ({"role": "assistant", "tool_calls": []}, "messages.content"),
    "has a part without a type": ({"content": [{"text": "Hi."}]}, "messages.content[0].type"),
    "has a result of nothing": ({"content": [{"type": "tool_result"}]}, "messages.content[0].tool_use_id"),
}


@pytest.mark.parametrize("case", CHAT_MESSAGES.values(), ids=list(CHAT_MESSAGES))
def test_a_chat_message_that_does_not_fit_is_told_by_its_field(
    client: TestClient, case: tuple[dict[str, Any], str]
) -> None:
    message, field = case
    response = client.post("/v1/observe", json={"messages": message})
    assert (response.status_code, response.json()["field"]) == (400, field), response.text


def test_a_body_over_the_limit_is_not_read_whole(serving: Serving) -> None:
    client = serving(body_limit=10_000)
    sent = 0

    def chunks() -> Iterator[bytes]:
        nonlocal sent
        for _ in range(100):
            sent += 1
            yield b" " * 1000

    assert client.post("/v1/recall", content=b" " * 10_001, headers=JSON).status_code == 413
    response = client.post("/v1/recall", content=chunks(), headers=JSON)
    assert (response.status_code, response.json()["type"]) == (413, "urn:mnemic:problem:TooLarge")
    assert client.post("/v1/recall", content=b"{}", headers={**JSON, "content-length": "-3"}).status_code == 413
    assert client.post("/v1/observe", json={"messages": "x" * 9_000}).status_code == 200


def test_foreign_hosts_and_origins_are_sent_away(serving: Serving) -> None:
    client = serving(hosts=("localhost", "127.0.0.1", "::1", "memory.example"))
    for host, status in (
        ("localhost", 200), ("LOCALHOST:8080", 200), ("127.0.0.1:1", 200), ("[::1]:7077", 200), ("memory.example", 200),
        ("evil.example", 421), ("localhost.evil.example", 421), ("127.0.0.1.evil.example", 421), ("", 421),
        ("localhost@evil.example", 421), ("localhost:80:80", 421),
    ):  # fmt: skip
        assert client.get("/health", headers={"host": host}).status_code == status, host
    for origin, status in (
        ("http://localhost", 200), ("https://LOCALHOST", 200), ("http://localhost:3000", 403),
        ("https://memory.example", 403), ("http://127.0.0.1", 403),
        ("http://evil.example", 403), ("null", 403), ("http://localhost.evil.example", 403), ("", 403),
        ("http://[", 403), ("localhost", 403),
    ):  # fmt: skip
        assert client.post("/v1/count", headers={"origin": origin}).status_code == status, origin


def test_a_request_that_names_no_host_is_told_so(client: TestClient) -> None:
    response = client.get("/health", headers={"host": ""})
    assert response.status_code == 421
    assert "names no host" in response.json()["detail"]


def test_what_says_who_asks_is_said_once(client: TestClient) -> None:
    for name in ("Mnemic-User", "Mnemic-Tenant", "Idempotency-Key", "If-Match", "Authorization"):
        response = client.post("/v1/count", headers=[(name, "ada"), (name, "bob")])
        assert (response.status_code, response.json()["field"]) == (400, name.lower())
    assert client.get("/health", headers=[("Host", "localhost"), ("Host", "localhost")]).status_code == 421
    origins = [("Origin", "http://localhost"), ("Origin", "http://evil.example")]
    assert client.get("/health", headers=origins).status_code == 403


def test_whether_the_shared_memory_is_meant_is_never_guessed(client: TestClient) -> None:
    said_and_status = (
        ("yes", 200), ("YES", 200), ("true", 200), ("1", 200), ("no", 200), ("False", 200), ("0", 200),
        ("on", 400), ("ja", 400), ("", 400), ("yes, no", 400),
    )  # fmt: skip
    for said, status in said_and_status:
        response = client.post("/v1/write", json={"text": f"Said {said}."}, headers={"Mnemic-Shared": said})
        assert response.status_code == status, said
        assert status == 200 or response.json()["field"] == "mnemic-shared"
    assert client.post("/v1/count", headers={"Mnemic-Shared": "yes"}).json() == {"count": 4}
    (header,) = (
        header
        for header in client.get("/openapi.json").json()["paths"]["/v1/write"]["post"]["parameters"]
        if header["name"] == "Mnemic-Shared"
    )
    for said, status in said_and_status:
        assert bool(re.search(header["schema"]["pattern"], said)) == (status == 200), said


def test_an_argument_stands_in_one_place(client: TestClient) -> None:
    id = client.post("/v1/write", json={"text": "Mine."}).json()["ids"][0]
    assert client.post("/v1/recall?query=x", json={"query": "y"}).json()["field"] == "query"
    assert client.request("GET", "/v1/recall?query=x", json={"query": "y"}).json()["field"] == "body"
    other = client.patch(f"/v1/items/{id}", json={"id": "0" * 26, "text": "Yours."})
    assert (other.status_code, other.json()["field"]) == (400, "id")
    assert client.patch(f"/v1/items/{id}", json={"id": id, "text": "Ours."}).status_code == 200


def test_a_hosts_name_is_read_without_its_port() -> None:
    assert [host_name(one) for one in ("A:1", "[::1]:1", "::1", " a ", "")] == ["a", "::1", "::1", "a", ""]


def test_the_id_of_a_request_is_given_back(client: TestClient) -> None:
    response = client.get("/v1/items/x", headers={"X-Request-Id": "trace-1"})
    assert (response.headers["x-request-id"], response.json()["request_id"]) == ("trace-1", "trace-1")
    for odd in ("a b", "x" * 200, "\tq", ""):
        given = client.get("/health", headers={"X-Request-Id": odd}).headers["x-request-id"]
        assert given != odd
        assert len(given) == 32
    assert client.get("/health").headers["x-content-type-options"] == "nosniff"


_ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=20)
    | st.sampled_from(["0" * 26, "2024-01-01", "c" * 30]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), name=st.sampled_from(sorted(OPERATIONS)))
def test_no_arguments_bring_the_server_down(client: TestClient, data: st.DataObject, name: str) -> None:
    fields = st.sampled_from(sorted(OPERATIONS[name].parameters["properties"]) or ["x"])
    arguments = data.draw(st.dictionaries(fields, _ANY, max_size=5))
    response = client.post(f"/v1/{name}", content=json.dumps(arguments).encode(), headers=JSON)
    assert response.status_code < 500, (name, arguments, response.text)
    text = data.draw(st.text(st.characters(codec="latin-1", exclude_categories=["Cc"]), max_size=30))
    asked = {"mnemic-user": text.encode("latin-1"), "idempotency-key": text.encode("latin-1")}
    assert client.post(f"/v1/{name}", json={}, headers=asked).status_code < 500


def test_what_nobody_expected_is_told_without_its_words(
    serving: Serving, memory: Memory, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    client = serving()

    def broken(**_: object) -> None:
        raise ZeroDivisionError("Ada's secret")

    monkeypatch.setattr(memory, "scope", broken)
    with caplog.at_level(logging.ERROR, "mnemic.server"):
        response = client.post("/v1/count", headers={"X-Request-Id": "trace-2"})
    assert (response.status_code, response.json()["request_id"]) == (500, "trace-2")
    assert "secret" not in response.text
    (line,) = [one.message for one in caplog.records if one.name == "mnemic.server"]
    assert "trace-2" in line
    assert "ZeroDivisionError" in line
    assert "secret" not in line
    caplog.clear()


@pytest.mark.parametrize(
    ("error", "status", "logged"),
    [
        (StoreFull("no space left at /srv/memory.db"), 507, "/srv/memory.db"),
        (ModelError("it said: Ada"), 502, "ModelError"),
    ],
    ids=["a store", "a model"],
)
def test_what_is_wrong_here_is_told_without_its_words(
    serving: Serving,
    memory: Memory,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    error: Exception,
    status: int,
    logged: str,
) -> None:
    client = serving()

    def failing(**_: object) -> None:
        raise error

    monkeypatch.setattr(memory, "scope", failing)
    with caplog.at_level(logging.ERROR, "mnemic.server"):
        response = client.post("/v1/count")
    assert response.status_code == status
    (line,) = [one.message for one in caplog.records if one.name == "mnemic.server"]
    assert logged in line
    assert response.json()["request_id"] in line
    assert str(error) not in response.text
    assert "Ada" not in line
    caplog.clear()


def test_a_cursor_of_another_leads_to_nothing_of_theirs(client: TestClient) -> None:
    ada, bob = {"mnemic-user": "ada"}, {"mnemic-user": "bob"}
    for whose in (ada, bob):
        said = [f"a line of {whose['mnemic-user']}, number {n}" for n in range(3)]
        assert client.post("/v1/observe", json={"messages": said}, headers=whose).status_code == 200
    cursor = client.post("/v1/list", json={"limit": 1}, headers=ada).json()["next"]
    refused = client.post("/v1/list", json={"limit": 1, "after": cursor}, headers=bob)
    assert (refused.status_code, refused.json()["field"]) == (400, "after")
    mark = client.post("/v1/changes", json={"limit": 1}, headers=ada).json()["next"]
    heard = client.post("/v1/changes", json={"after": mark, "items": True}, headers=bob)
    assert heard.status_code == 200
    assert "of bob" in heard.text
    assert "of ada" not in heard.text
