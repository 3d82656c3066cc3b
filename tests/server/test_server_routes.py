"""Verbs over HTTP: what was written is read again, pages reach the end, keys and tags hold, walls stand."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import replace
from typing import Any
from urllib.parse import quote

import pytest
from bearer_tokens import Tokens, principal_of
from starlette.testclient import TestClient

from mnemic import Memory
from mnemic.credentials.authenticator import Authenticator
from mnemic.credentials.principal import Right
from mnemic.faces.server.application import application
from mnemic.faces.server.routes import addresses
from mnemic.faces.server.service import LoopbackAuthenticator, Service
from mnemic.faces.server.verb_pool import VerbPool
from mnemic.operations.operation_table import OPERATIONS
from patience import PATIENCE

Serving = Callable[..., TestClient]


def said(client: TestClient, text: str, **more: Any) -> dict[str, Any]:
    response = client.post("/v1/observe", json={"messages": text, **more})
    assert response.status_code == 200, response.text
    receipt: dict[str, Any] = response.json()
    return receipt


def test_what_was_said_is_recalled(client: TestClient, memory: Memory) -> None:
    id = said(client, "The ferry to Oban leaves at nine.", speaker="Ben", tags=["trip"])["ids"][0]
    found = client.post("/v1/recall", json={"query": "When does the ferry leave?"}).json()
    assert found["items"][0]["item"]["id"] == id
    assert "ferry" in found["text"]
    by_url = client.get("/v1/recall", params={"query": "When does the ferry leave?", "k": 1, "explain": "true"}).json()
    assert [one["item"]["id"] for one in by_url["items"]] == [id]
    assert by_url["stages"]
    assert memory.scope(user="me").get(id).item.slots["speaker"] == "Ben"


def test_items_have_addresses(client: TestClient) -> None:
    id = client.post("/v1/write", json={"text": "Ada likes tea."}).json()["ids"][0]
    assert client.get(f"/v1/items/{id}").json()["text"] == "Ada likes tea."
    assert client.patch(f"/v1/items/{id}", json={"text": "Ada likes coffee."}).status_code == 200
    versions = client.get(f"/v1/items/{id}/history").json()["versions"]
    assert [one["text"] for one in versions] == ["Ada likes tea.", "Ada likes coffee."]
    assert client.get(f"/v1/items/{id}", params={"at": 1}).json()["text"] == "Ada likes tea."
    assert client.get(f"/v1/items/{id}/links").json() == {"links": []}
    assert client.get("/v1/items", params={"where": '{"kinds": ["fact"]}'}).json()["items"][0]["id"] == id


def test_pages_reach_the_last_item(client: TestClient) -> None:
    ids = [said(client, f"Line {n}.")["ids"][0] for n in range(7)]
    asked: dict[str, Any] = {"limit": 3, "where": {"kinds": ["turn"]}}
    page = client.post("/v1/list", json=asked).json()
    found = [one["id"] for one in page["items"]]
    while page["next"] is not None:
        page = client.post("/v1/list", json={**asked, "after": page["next"]}).json()
        found += [one["id"] for one in page["items"]]
    assert found == ids[::-1]


def test_the_feed_goes_on_where_it_was(client: TestClient) -> None:
    said(client, "One.")
    page = client.get("/v1/changes", params={"items": "true"}).json()
    assert [one["items"][0]["text"] for one in page["notices"]] == ["One."]
    again = client.get("/v1/changes", params={"after": page["next"]}).json()
    assert again == {"notices": [], "next": page["next"]}
    said(client, "Two.")
    assert len(client.get("/v1/changes", params={"after": page["next"]}).json()["notices"]) == 1


def test_a_key_writes_once(client: TestClient) -> None:
    key = {"Idempotency-Key": '"letter-1"'}
    first = client.post("/v1/observe", json={"messages": "Once."}, headers=key)
    again = client.post("/v1/observe", json={"messages": "Once."}, headers={"Idempotency-Key": "letter-1"})
    assert (again.json()["ids"], again.json()["repeated"]) == (first.json()["ids"], 1)
    other = client.post("/v1/observe", json={"messages": "Twice."}, headers=key)
    assert (other.status_code, other.json()["type"]) == (409, "urn:mnemic:problem:Conflict")
    both = client.post("/v1/observe", json={"messages": "Once.", "key": "another"}, headers=key)
    assert (both.status_code, both.json()["field"]) == (400, "Idempotency-Key")
    not_kept = client.post("/v1/undo", json={"seq": 1}, headers=key)
    assert (not_kept.status_code, not_kept.json()["field"]) == (400, "Idempotency-Key")
    assert client.post("/v1/pin", json={"ids": first.json()["ids"]}, headers=key).status_code == 200


def test_a_stale_tag_changes_nothing(client: TestClient) -> None:
    id = client.post("/v1/write", json={"text": "Ada likes tea."}).json()["ids"][0]
    tag = client.get(f"/v1/items/{id}").headers["etag"]
    assert client.get(f"/v1/items/{id}", headers={"If-None-Match": tag}).status_code == 304
    new = client.patch(f"/v1/items/{id}", json={"text": "Ada likes coffee."}, headers={"If-Match": tag})
    assert (new.status_code, new.headers["etag"]) == (200, client.get(f"/v1/items/{id}").headers["etag"])
    assert client.get(f"/v1/items/{id}", headers={"If-None-Match": tag}).status_code == 200
    changes: tuple[tuple[str, dict[str, Any]], ...] = (
        ("revise", {"id": id, "text": "Ada likes water."}),
        ("revise", {"id": id, "expires": "3 days"}),
        ("supersede", {"id": id, "text": "Ada likes water."}),
        ("supersede", {"id": id, "text": "Ada likes water.", "key": "k"}),
        ("correct", {"id": id, "text": "Ada likes water."}),
        ("correct", {"id": id, "text": "Ada likes water.", "key": "k"}),
        ("pin", {"ids": [id]}),
        ("unpin", {"ids": [id]}),
        ("forget", {"ids": [id]}),
    )
    for name, arguments in changes:
        response = client.post(f"/v1/{name}", json=arguments, headers={"If-Match": tag})
        assert (response.status_code, response.json()["type"]) == (412, "urn:mnemic:problem:Stale"), name
    assert client.get(f"/v1/items/{id}").json()["text"] == "Ada likes coffee."
    assert client.get(f"/v1/items/{id}").headers["etag"] == new.headers["etag"]
    for name in ("W/" + tag, "12", '"1", "2"'):
        response = client.post("/v1/forget", json={"ids": [id]}, headers={"If-Match": name})
        assert (response.status_code, response.json()["field"]) == (400, "If-Match")
    assert client.post("/v1/feedback", json={"ids": [id], "useful": True}, headers={"If-Match": tag}).status_code == 400
    assert client.post("/v1/forget", json={"ids": [id]}, headers={"If-Match": "*"}).status_code == 200


def test_a_retry_with_its_key_is_answered_though_its_tag_is_stale_by_itself(client: TestClient) -> None:
    id = client.post("/v1/write", json={"text": "Ada likes tea."}).json()["ids"][0]
    asked = {"id": id, "text": "Ada likes coffee.", "key": "k", "expect": 1}
    first = client.post("/v1/supersede", json=asked).json()
    again = client.post("/v1/supersede", json=asked).json()
    assert (again["seq"], again["ids"][0], again["repeated"]) == (first["seq"], first["ids"][0], 1)


def test_each_request_names_its_user_and_the_walls_stand(client: TestClient) -> None:
    names = {"小林": quote("小林"), "Zoë": quote("Zoë"), "50%": "50%25"}
    for name, header in names.items():
        receipt = client.post("/v1/observe", json={"messages": f"I am {name}."}, headers={"Mnemic-User": header})
        id = receipt.json()["ids"][0]
        assert client.get(f"/v1/items/{id}", headers={"Mnemic-User": header}).status_code == 200
        assert client.get(f"/v1/items/{id}").status_code == 404
        other = {"Mnemic-User": header, "Mnemic-Tenant": "elsewhere"}
        assert client.get(f"/v1/items/{id}", headers=other).status_code == 404
    assert {one["user"] for one in client.get("/v1/users").json()["users"]} == set(names)


def test_what_a_tenant_shares_is_written_where_it_is_said_so(client: TestClient) -> None:
    shared = client.post(
        "/v1/observe", json={"messages": "The office closes at six."}, headers={"Mnemic-Shared": "yes"}
    )
    assert shared.status_code == 200
    found = client.post("/v1/recall", json={"query": "When does the office close?"}, headers={"Mnemic-User": "bob"})
    assert [one["item"]["id"] for one in found.json()["items"]] == shared.json()["ids"]


_KEYS = {
    "reader": principal_of("reader", Right.READ, user="ada"),
    "writer": principal_of("writer", Right.WRITE, user="ada"),
    "owner": principal_of("owner", Right.ADMIN),
    "foreign": principal_of("foreign", Right.ADMIN, tenant="elsewhere"),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_every_address_of_an_operation_asks_for_its_right(serving: Serving, name: str) -> None:
    client = serving(Tokens(**_KEYS))
    operation = OPERATIONS[name]
    for _, method, path in addresses([operation]):
        where = path.format(id="0" * 26)
        anonymous = client.request(method, where)
        assert (anonymous.status_code, anonymous.headers["www-authenticate"][:6]) == (401, "Bearer")
        for key, principal in _KEYS.items():
            headers = {"Authorization": f"Bearer {key}"} | ({"Mnemic-User": "ada"} if principal.user is None else {})
            status = client.request(method, where, headers=headers).status_code
            allowed = principal.right >= operation.right and not (operation.of_store and principal.tenant != "default")
            assert (status != 403) == allowed, (key, method, path)
            assert status != 401


def test_a_credential_of_one_user_opens_no_other(serving: Serving) -> None:
    client = serving(Tokens(**_KEYS))
    asked = {"Authorization": "Bearer writer", "Mnemic-User": "bob"}
    assert client.post("/v1/observe", json={"messages": "Hi."}, headers=asked).status_code == 403
    nobody = client.post("/v1/observe", json={"messages": "Hi."}, headers={"Authorization": "Bearer owner"})
    assert (nobody.status_code, nobody.json()["field"]) == (400, "user")
    elsewhere = {"Authorization": "Bearer writer", "Mnemic-Tenant": "elsewhere"}
    assert client.post("/v1/count", headers=elsewhere).status_code == 403
    shared = {"Authorization": "Bearer writer", "Mnemic-Shared": "yes"}
    assert client.post("/v1/observe", json={"messages": "Hi."}, headers=shared).status_code == 403


def test_keys_of_the_store_open_it(serving: Serving, memory: Memory) -> None:
    settings = replace(memory.settings, key_requests=4)
    client = serving(Authenticator.from_settings(memory.keys, settings))
    key = memory.keys.create("phone", tenant="default", user="ada", right=Right.WRITE)
    asked = {"Authorization": f"Bearer {key.text}"}
    assert client.post("/v1/observe", json={"messages": "Hi."}).status_code == 401
    assert client.post("/v1/observe", json={"messages": "Hi."}, headers=asked).status_code == 200
    assert client.get("/v1/count", headers=asked).json() == {"count": 1}
    assert client.get("/v1/stats", headers=asked).status_code == 403
    statuses = [client.get("/v1/count", headers=asked) for _ in range(4)]
    assert [one.status_code for one in statuses][-1] == 429
    assert int(statuses[-1].headers["retry-after"]) >= 1
    memory.keys.revoke(key.key.id, tenant="default")


def test_the_journal_names_whom_the_credential_is_of(serving: Serving) -> None:
    client = serving(Tokens(**_KEYS))
    client.post("/v1/observe", json={"messages": "Hi."}, headers={"Authorization": "Bearer writer"})
    log = client.get("/v1/log", headers={"Authorization": "Bearer reader"}).json()
    assert [one["actor"] for one in log["changes"]] == ["writer"]


def test_who_only_reads_writes_nothing(serving: Serving) -> None:
    client = serving(read_only=True)
    refused = client.post("/v1/observe", json={"messages": "Hi."})
    assert (refused.status_code, refused.json()["type"]) == (403, "urn:mnemic:problem:Refused")
    assert client.post("/v1/cancel", json={"id": 1}).status_code == 403
    assert client.post("/v1/count").json() == {"count": 0}
    assert client.get("/v1/stats").status_code == 200


def test_a_full_queue_sends_away(serving: Serving, memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    client = serving(pool=VerbPool(threads=1, waiting=1))
    begun, go_on = threading.Semaphore(0), threading.Event()
    plain = memory.scope

    def slow(**fields: Any) -> Any:
        begun.release()
        go_on.wait(PATIENCE)
        return plain(**fields)

    monkeypatch.setattr(memory, "scope", slow)
    statuses: list[int] = []

    def ask() -> None:
        statuses.append(client.post("/v1/count").status_code)

    first, second = threading.Thread(target=ask), threading.Thread(target=ask)
    first.start()
    assert begun.acquire(timeout=PATIENCE)
    second.start()
    pool = client.app.state.service.pool  # type: ignore[attr-defined]
    while pool.inside < 2:
        threading.Event().wait(0.001)
    refused = client.post("/v1/count")
    assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")
    assert client.get("/health").status_code == 200
    go_on.set()
    first.join()
    second.join()
    assert statuses == [200, 200]


def test_a_verb_runs_in_the_context_of_its_request() -> None:
    asking: ContextVar[str] = ContextVar("asking", default="nobody")

    async def request() -> str:
        asking.set("ada")
        return await VerbPool(threads=1).run(asking.get)

    assert asyncio.run(request()) == "ada"


def test_no_verb_runs_on_when_the_application_has_ended(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else it would be cut where it is, inside the store's own code too, once the interpreter ends."""
    begun, go_on, threads = threading.Event(), threading.Event(), list[threading.Thread]()
    plain = memory.scope

    def slow(**fields: Any) -> Any:
        threads.append(threading.current_thread())
        begun.set()
        go_on.wait(PATIENCE)
        return plain(**fields)

    monkeypatch.setattr(memory, "scope", slow)
    service = Service(memory, LoopbackAuthenticator(memory.settings))
    app = application(service)

    async def leave() -> None:
        """Ask as somebody who leaves before the answer, and have the application end."""
        async with app.router.lifespan_context(app):
            asked = asyncio.create_task(service.pool.run(lambda: service.scoped({})))
            await asyncio.to_thread(begun.wait, PATIENCE)
            asked.cancel()
            asyncio.get_running_loop().call_later(0.05, go_on.set)

    asyncio.run(leave())
    assert [thread.is_alive() for thread in threads] == [False]
