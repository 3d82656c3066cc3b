"""Each class of the tree of errors has its status, and the document says what is served."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from starlette.testclient import TestClient

from mnemic import errors
from mnemic.errors import Invalid, MnemicError, OverQuota
from mnemic.faces.server.openapi import document
from mnemic.faces.server.problems import STATUSES, logged_problem, problem_of
from mnemic.faces.server.routes import addresses
from mnemic.operations.operation_table import OPERATIONS


def tree(kind: type[MnemicError] = MnemicError) -> list[type[MnemicError]]:
    below = [one for one in kind.__subclasses__() if one.__module__ == errors.__name__]
    return [*below, *(deeper for one in below for deeper in tree(one))]


def made(kind: type[MnemicError]) -> MnemicError:
    if issubclass(kind, Invalid):
        return kind("k", "is 0", "Give 1.")
    return OverQuota("often enough", 1.2) if kind is OverQuota else kind("at /home/ada/memory.db")


def test_every_class_of_errors_has_a_status() -> None:
    assert set(STATUSES) == set(tree())


@pytest.mark.parametrize("kind", tree(), ids=lambda kind: kind.__name__)
def test_an_error_is_told_as_its_class(kind: type[MnemicError]) -> None:
    response = problem_of(made(kind), "r1")
    told: dict[str, Any] = json.loads(bytes(response.body))
    assert response.status_code == told["status"] == STATUSES[kind]
    assert told["type"] == f"urn:mnemic:problem:{kind.__name__}"
    assert told["request_id"] == "r1"
    assert told["title"]
    assert not told["title"].endswith(".")
    silent = issubclass(kind, Invalid | OverQuota | errors.StoreError)
    assert ("memory.db" in told["detail"]) == (response.status_code < 500 and not silent)
    assert ("retry-after" in response.headers) == (response.status_code in (429, 503, 507))
    assert ("www-authenticate" in response.headers) == (response.status_code == 401)


def test_who_asks_for_a_tenant_of_another_server_reads_no_address_which_is_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    at = "postgresql://admin@10.0.0.6:5433/mem"
    response = logged_problem(errors.TenantElsewhere(f"the tenant is moved to server 'b'; ask that one, at {at}"), "r1")
    assert response.status_code == 421
    assert b"10.0.0.6" not in response.body
    assert b"`mnemic place show`" in response.body
    assert at in caplog.text


def test_a_class_that_is_not_known_yet_is_told_as_its_parent() -> None:
    class Nearer(errors.NotFound):
        """Not there either."""

    assert problem_of(Nearer("gone"), "r").status_code == 404


def test_the_document_holds_every_address_and_no_other(client: TestClient) -> None:
    told = client.get("/openapi.json").json()
    assert told == json.loads(json.dumps(document()))
    served = {(method.lower(), path) for _, method, path in addresses(OPERATIONS.values())}
    served.add(("get", "/v1/feed"))
    assert {(method, path) for path, methods in told["paths"].items() for method in methods} == served
    assert set(told["paths"]["/v1/feed"]["get"]["responses"]["200"]["content"]) == {"text/event-stream"}
    ids = [one["operationId"] for methods in told["paths"].values() for one in methods.values()]
    assert len(set(ids)) == len(ids)


def test_the_schemas_of_the_document_are_sound_and_none_is_missing() -> None:
    told = document()
    text = json.dumps(told)
    for name, schema in told["components"]["schemas"].items():
        jsonschema.Draft202012Validator.check_schema(schema)
        assert f'"#/components/schemas/{name}"' in text
    wanted = {part.partition('"')[0] for part in text.split('"#/components/schemas/')[1:]}
    assert wanted == set(told["components"]["schemas"])


def test_an_answer_fits_the_document(client: TestClient) -> None:
    client.post("/v1/observe", json={"messages": "The ferry leaves at nine."})
    told = document()
    for name, arguments in (("recall", {"query": "ferry"}), ("list", {}), ("changes", {"items": True})):
        schema = told["paths"][f"/v1/{name}"]["post"]["responses"]["200"]["content"]["application/json"]["schema"]
        answer = client.post(f"/v1/{name}", json=arguments).json()
        jsonschema.validate(answer, {**schema, "components": told["components"]})


def test_what_is_not_there_is_told_with_where_to_look(client: TestClient) -> None:
    told = client.post("/v1/recal", json={}).json()["detail"]
    assert "Did you mean /v1/recall?" in told
    assert "/openapi.json" in told
    assert "Did you mean" not in client.get("/favicon.ico").json()["detail"]
    refused = client.delete("/v1/items/01m8gmt9dn6df621r0gsf80qn6")
    assert refused.status_code == 405
    assert all(name in refused.json()["detail"] for name in ("/v1/forget", "/v1/erase", "/openapi.json"))


def test_a_problem_names_addresses_and_no_command(client: TestClient) -> None:
    client.post("/v1/observe", json={"messages": "The ferry leaves at nine."})
    assert "`/v1/log` shows them" in client.post("/v1/undo", json={"seq": 99}).json()["detail"]
    assert client.post("/v1/recall", json={"query": "x", "k": "x"}).json()["remedy"] == "See /openapi.json."
    told = client.post("/v1/forget", json={"id": "01m8gmt9dn6df621r0gsf80qn6"}).json()
    assert (told["field"], told["remedy"]) == ("ids", "Needed: ids; id is not known.")


def test_a_note_of_a_recall_names_addresses_and_no_command(client: TestClient) -> None:
    client.post("/v1/observe", json={"messages": "The ferry leaves at nine."})
    for verb in ("recall", "context"):
        (note,) = client.post(f"/v1/{verb}", json={"query": "ferry", "by": "stream"}).json()["notes"]
        assert "`/v1/follow` (house, stream)" in note
        assert "mnemic " not in note
