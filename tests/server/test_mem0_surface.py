"""mem0's calls as its clients send them, by plain HTTP: what they answer, and what differs from mem0 on purpose."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pytest
from bearer_tokens import Tokens, principal_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient

from mnemic import Memory
from mnemic.credentials.principal import Right
from mnemic.faces.server.mem0_surface import CALLS
from mnemic.faces.server.routes import addresses
from mnemic.operations.operation_table import OPERATIONS

Serving = Callable[..., TestClient]
Record = dict[str, Any]


def added(client: TestClient, text: str, user: str = "ada", **more: Any) -> list[Record]:
    body = {"messages": [{"role": "user", "content": text}], "user_id": user, **more}
    response = client.post("/v3/memories/add/", json=body)
    assert response.status_code == 200, response.text
    results: list[Record] = response.json()["results"]
    return results


def stated(client: TestClient, text: str, user: str = "ada", **more: Any) -> Record:
    (record,) = added(client, text, user, infer=False, **more)
    return record


def listed(client: TestClient, filters: Any, **more: Any) -> list[str]:
    response = client.post("/v3/memories/", json={"filters": filters, **more})
    assert response.status_code == 200, response.text
    told = response.json()
    assert told["count"] == len(told["results"])
    return sorted(one["memory"] for one in told["results"])


def test_no_address_of_mem0_is_one_of_ours(client: TestClient) -> None:
    ours = {(method, path) for _, method, path in addresses(OPERATIONS.values())}
    theirs = {tuple(one.split(" ")) for call in CALLS for one in call.addresses}
    assert not ours & theirs
    assert all(path.endswith("/") for _, path in theirs if path.startswith(("/v1/", "/v2/", "/v3/")))
    assert set(client.patch("/v1/batch/").headers["allow"].split(", ")) == {"PUT", "DELETE"}


def test_whole_numbers_may_be_written_with_a_point(client: TestClient) -> None:
    stated(client, "x")
    body, kind = b'{"user_id": "ada", "page_size": 50.0}', {"Content-Type": "application/json"}
    answer = client.post("/v2/memories/", content=body, headers=kind)
    assert answer.status_code == 200, answer.text


def test_what_is_wrong_with_a_user_is_told_by_their_name_for_it(serving: Serving) -> None:
    anybody = serving(Tokens(app=principal_of("app", Right.WRITE)))
    anybody.headers["Authorization"] = "Bearer app"
    told = anybody.post("/v3/memories/add/", json={"messages": "hello"}).json()
    assert told["field"] == "user_id"
    assert "header" not in told["detail"].lower()
    told = anybody.post("/v3/memories/add/", json={"messages": "hello", "user_id": "a\u0001"}).json()
    assert told["field"] == "user_id"


def test_what_is_said_twice_is_refused(client: TestClient) -> None:
    assert client.post("/v3/memories/?page=1", json={"page": 2}).status_code == 400
    twice = [("x-api-key", "a"), ("x-api-key", "b")]
    assert client.get("/v1/ping/", headers=twice).status_code == 400
    id = stated(client, "x")["id"]
    assert client.put(f"/v1/memories/{id}/", json={"memory_id": id, "text": "y"}).status_code == 400


def test_a_ping_tells_what_the_client_needs_to_start(client: TestClient) -> None:
    told = client.get("/v1/ping/", headers={"authorization": "Token anything"}).json()
    assert told["user_email"] == "loopback"
    assert told["org_id"]
    assert told["project_id"]


def test_what_is_added_is_read_found_and_listed(client: TestClient, memory: Memory) -> None:
    (record,) = added(client, "I prefer window seats.", agent_id="travel", run_id="trip", app_id="web",
                      metadata={"topic": "seats", "n": 2}, timestamp=1_700_000_000)  # fmt: skip
    assert record["event"] == "ADD"
    read = client.get(f"/v1/memories/{record['id']}/").json()
    assert {**read, "event": "ADD"} == record
    wanted = {
        "memory": "I prefer window seats.", "user_id": "ada", "agent_id": "travel", "run_id": "trip", "app_id": "web",
        "metadata": {"topic": "seats", "n": 2}, "categories": [], "created_at": "2023-11-14T22:13:20+00:00",
        "expiration_date": None,
    }  # fmt: skip
    assert {name: read[name] for name in wanted} == wanted
    found = client.post("/v3/memories/search/", json={"query": "which seats?", "filters": {"user_id": "ada"}}).json()
    assert [(one["id"], one["score"]) for one in found["results"]] == [(record["id"], 1.0)]
    assert listed(client, {"user_id": "ada"}) == ["I prefer window seats."]
    item = memory.scope(user="ada").list()[0].item
    assert (item.agent, item.session, record["id"].partition(".")[0]) == ("travel", "trip", item.id)


def test_messages_are_turns_and_what_is_not_to_be_inferred_from_is_a_statement(
    client: TestClient, memory: Memory
) -> None:
    talk = [{"role": "user", "content": "Hello."}, {"role": "assistant", "content": "Good day."}]
    for infer, kind in ((True, "turn"), (False, "fact")):
        body = {"messages": talk, "user_id": kind, "infer": infer}
        results = client.post("/v3/memories/add/", json=body).json()["results"]
        assert [(one["memory"], one["kind"]) for one in results] == [("Hello.", kind), ("Good day.", kind)]
        assert memory.scope(user=kind).count() == 2


def test_what_is_derived_by_then_is_told_beside_the_messages(client: TestClient, memory: Memory) -> None:
    once = {"idempotency-key": "k1"}
    body = {"messages": "My name is Ada Lovelace and I live in Berlin.", "user_id": "ada"}
    first = client.post("/v3/memories/add/", json=body, headers=once).json()["results"]
    memory.flush()
    again = client.post("/v3/memories/add/", json=body, headers=once).json()["results"]
    assert [one["kind"] for one in first] == ["turn"]
    assert again[0]["id"] == first[0]["id"]
    assert {one["kind"] for one in again[1:]} == {"profile"}


def test_pages_go_past_the_twentieth_and_the_count_is_true(client: TestClient) -> None:
    for number in range(45):
        stated(client, f"note {number}")
    stated(client, "not ada's", "bob")
    seen: list[str] = []
    page: str | None = "/v3/memories/?page=1&page_size=20"
    while page is not None:
        told = client.post(page, json={"filters": {"user_id": "ada"}}).json()
        assert told["count"] == 45
        seen += [one["memory"] for one in told["results"]]
        page = told["next"]
    assert seen == [f"note {number}" for number in reversed(range(45))]
    last = client.post("/v3/memories/?page=3&page_size=20", json={"filters": {"user_id": "ada"}}).json()
    assert (len(last["results"]), "page=2" in last["previous"]) == (5, True)
    outside = {"X-Forwarded-Proto": "https", "Host": "localhost:8443"}  # of a proxy that speaks TLS
    first = client.get("/v1/memories/?user_id=ada&page_size=20", headers=outside).json()
    assert first["next"].startswith("https://localhost:8443/v1/memories/?")
    beyond = client.post("/v3/memories/?page=4&page_size=20", json={"filters": {"user_id": "ada"}}).json()
    assert (beyond["count"], beyond["results"], beyond["next"]) == (45, [], None)
    nobody = client.post("/v3/memories/search/", json={"query": "note", "filters": {"user_id": "nobody"}})
    assert (nobody.json()["results"], listed(client, {"user_id": "nobody"})) == ([], [])
    most = client.post("/v3/memories/search/", json={"query": "note", "filters": {"user_id": "ada"}, "top_k": 40})
    assert len(most.json()["results"]) == 40


def test_filters_are_honoured(client: TestClient) -> None:
    stated(client, "a", agent_id="x", metadata={"topic": "tea"}, timestamp="2026-03-01T10:00:00Z")
    stated(client, "b", agent_id="y", metadata={"topic": "tea", "cups": 2}, timestamp="2026-03-02T10:00:00Z")
    stated(client, "c", run_id="r", metadata={"topic": "coffee"}, timestamp="2026-03-03T10:00:00Z")
    stated(client, "d", "bob", agent_id="x", app_id="web", metadata={"topic": "tea"})
    ada = {"user_id": "ada"}
    wanted: list[tuple[Any, str]] = [
        (ada, "abc"),
        ({"AND": [ada, {"agent_id": "x"}]}, "a"),
        ({"AND": [ada, {"OR": [{"agent_id": "x"}, {"run_id": "r"}]}]}, "ac"),
        ({"OR": [{**ada, "agent_id": "y"}, {"user_id": "bob"}]}, "bd"),
        ({"user_id": {"in": ["ada", "bob"]}, "agent_id": "x"}, "ad"),
        ({**ada, "metadata": {"topic": "tea"}}, "ab"),
        ({**ada, "metadata": {"topic": {"in": ["tea", "coffee"]}, "cups": 2}}, "b"),
        ({**ada, "topic": "coffee"}, "c"),
        ({"user_id": "bob", "app_id": "web"}, "d"),
        ({**ada, "created_at": {"gte": "2026-03-02", "lte": "2026-03-03"}}, "bc"),
        ({**ada, "created_at": {"gt": "2026-03-01", "lt": "2026-03-03"}}, "b"),
        ({"AND": [ada, {"agent_id": "x"}, {"agent_id": "y"}]}, ""),
        ({"AND": [ada, {"user_id": "bob"}]}, ""),
    ]
    for filters, words in wanted:
        assert listed(client, filters) == list(words), filters
        found = client.post("/v3/memories/search/", json={"query": "tea coffee a b c d", "filters": filters}).json()
        assert {one["memory"] for one in found["results"]} <= set(words), filters


@pytest.mark.parametrize(
    "filters",
    [
        {"NOT": [{"user_id": "ada"}]},
        {"AND": []},
        {"OR": {"user_id": "ada"}},
        {"user_id": "*"},
        {"user_id": {"ne": "ada"}},
        {"user_id": 7},
        {"user_id": "ada", "metadata": {"n": {"gt": 3}}},
        {"user_id": "ada", "metadata": {"n": 1.5}},
        {"user_id": "ada", "created_at": "yesterday-ish"},
        {"user_id": "ada", "created_at": {"gte": "the day before"}},
        {"user_id": "ada", "created_at": {"gte": 1e300}},
        {"user_id": "ada", "keywords": {"icontains": "x"}},
        {"AND": [{"user_id": "ada"}, {"categories": {"in": ["a"]}}, {"categories": {"in": ["b"]}}]},
        {"AND": [{"user_id": "ada"}, *({"metadata": {str(n): {"in": [0, 1]}}} for n in range(9))]},
        {"user_id": {"in": ["u"] * 1000}},
        {"user_id": "ada", "metadata": {"n": 2**63}},
        ["ada"],
    ],
)
def test_a_filter_that_cannot_be_honoured_is_refused(client: TestClient, filters: Any) -> None:
    for path, more in (("/v3/memories/", {}), ("/v3/memories/search/", {"query": "x"})):
        response = client.post(path, json={**more, "filters": filters})
        assert (response.status_code, response.headers["content-type"]) == (400, "application/json")
        assert response.json()["remedy"]


@pytest.mark.parametrize(
    "filters",
    [{"user_id": "*"}, {"OR": [{"user_id": "*"}, {"run_id": "r"}]}, {"AND": [{"user_id": "*"}, {"run_id": "r"}]}],
)
def test_any_user_is_the_one_whom_a_key_is_of_and_is_refused_where_that_is_anybody(
    serving: Serving, filters: Any
) -> None:
    """In mem0 `*` is any value; a key of one user sees no others."""
    client = serving(Tokens(one=principal_of("one", Right.WRITE, user="ada"), any=principal_of("any", Right.WRITE)))
    client.headers["Authorization"] = "Bearer any"
    for user in ("ada", "bob"):
        stated(client, f"{user}'s tea", user, run_id="r")
    for path, more in (("/v3/memories/", {}), ("/v3/memories/search/", {"query": "tea"})):
        refused = client.post(path, json={**more, "filters": filters})
        assert (refused.status_code, refused.json()["field"]) == (400, "user_id")
        assert "`*`" in refused.json()["detail"]
        assert "`in`" in refused.json()["remedy"]
        answer = client.post(path, json={**more, "filters": filters}, headers={"Authorization": "Bearer one"})
        assert {one["memory"] for one in answer.json()["results"]} == {"ada's tea"}
    refused = client.delete("/v1/memories/", params={"user_id": "*"})
    assert (refused.status_code, refused.json()["field"]) == (400, "user_id")
    named = {"AND": [{"user_id": "*"}, {"user_id": {"in": ["ada", "bob"]}}]}
    assert listed(client, named) == ["ada's tea", "bob's tea"]


@pytest.mark.parametrize("name", ["user_id", "agent_id", "run_id", "app_id"])
def test_nothing_is_written_to_any(client: TestClient, name: str) -> None:
    refused = client.post("/v3/memories/add/", json={"messages": "hello", "user_id": "ada", name: "*"})
    assert (refused.status_code, refused.json()["field"]) == (400, name)


@pytest.mark.parametrize("infer", [True, False])
def test_an_update_keeps_the_id_and_history_keeps_the_words(client: TestClient, infer: bool) -> None:
    (record,) = added(client, "Tea at five.", infer=infer, metadata={"a": 1}, run_id="r", agent_id="x")
    path = f"/v1/memories/{record['id']}/"
    assert client.put(path, json={"text": "Tea at six."}).json()["memory"] == "Tea at six."
    client.put(path, json={"metadata": {"b": 2}, "expiration_date": "2099-01-01"})
    read = client.get(path).json()
    wanted = {"memory": "Tea at six.", "metadata": {"b": 2}, "expiration_date": "2099-01-01", "run_id": "r"}
    assert {name: read[name] for name in wanted} == wanted
    assert (read["id"], read["agent_id"]) == (record["id"], "x")
    assert client.put(path, json={"expiration_date": None}).json()["expiration_date"] is None
    told = client.get(f"{path}history/").json()
    assert [one["event"] for one in told] == ["ADD", "UPDATE", "UPDATE", "UPDATE"]
    assert [one["new_memory"] for one in told] == ["Tea at five."] + ["Tea at six."] * 3
    assert {one["memory_id"] for one in told} == {record["id"]}
    assert listed(client, {"user_id": "ada"}) == ["Tea at six."]


def test_what_is_deleted_is_erased(client: TestClient, memory: Memory) -> None:
    (record,) = added(client, "The code is heron.")
    path = f"/v1/memories/{record['id']}/"
    client.put(path, json={"text": "The code is egret."})
    assert client.delete(path).status_code == 200
    assert [client.get(one).status_code for one in (path, f"{path}history/")] == [404, 404]
    assert client.delete(path).status_code == 404
    assert list(memory.scope(user="ada").holdings()) == []


@pytest.mark.parametrize("linked", [False, True])
def test_what_was_superseded_goes_too_only_if_it_is_asked_for(client: TestClient, memory: Memory, linked: bool) -> None:
    ada = memory.scope(user="ada")
    ada.supersede(stated(client, "Ada lives in Rome.")["id"].partition(".")[0], "Ada lives in Oslo.")
    (record,) = client.post("/v3/memories/", json={"filters": {"user_id": "ada"}}).json()["results"]
    assert record["memory"] == "Ada lives in Oslo."
    client.delete(f"/v1/memories/{record['id']}/", params={"delete_linked": "true"} if linked else {})
    assert [one.version.item.text for one in ada.holdings()] == ([] if linked else ["Ada lives in Rome."])


def test_batches_change_and_erase_after_all_were_found(client: TestClient) -> None:
    ids = [stated(client, f"note {number}", user)["id"] for number, user in enumerate(["ada", "bob", "ada"])]
    gone = stated(client, "gone")["id"]
    client.delete(f"/v1/memories/{gone}/")
    half = {"memories": [{"memory_id": ids[0], "text": "new"}, {"memory_id": gone, "text": "new"}]}
    assert client.put("/v1/batch/", json=half).status_code == 404
    doomed = {"memories": [{"memory_id": ids[0]}, {"memory_id": gone}]}
    assert client.request("DELETE", "/v1/batch/", json=doomed).status_code == 404
    assert client.get(f"/v1/memories/{ids[0]}/").json()["memory"] == "note 0"
    changes = {"memories": [{"memory_id": ids[0], "text": "new"}, {"memory_id": ids[1], "metadata": {"a": 1}}]}
    assert client.put("/v1/batch/", json=changes).status_code == 200
    assert client.get(f"/v1/memories/{ids[1]}/").json()["metadata"] == {"a": 1}
    every = {"memories": [{"memory_id": id} for id in ids]}
    assert client.request("DELETE", "/v1/batch/", json=every).status_code == 200
    assert {client.get(f"/v1/memories/{id}/").status_code for id in ids} == {404}


def test_a_batch_that_cannot_be_done_as_a_whole_changes_nothing(client: TestClient) -> None:
    ids = [stated(client, f"note {number}")["id"] for number in range(2)]
    empty = {"memories": [{"memory_id": ids[0], "text": "new"}, {"memory_id": ids[1]}]}
    assert client.put("/v1/batch/", json=empty).status_code == 400
    assert client.get(f"/v1/memories/{ids[0]}/").json()["memory"] == "note 0"
    twice = {"memories": [{"memory_id": ids[0], "text": "new"}, {"memory_id": ids[0], "text": "newer"}]}
    assert client.put("/v1/batch/", json=twice).status_code == 200
    assert client.get(f"/v1/memories/{ids[0]}/").json()["memory"] == "newer"
    same = {"memories": [{"memory_id": ids[0]}, {"memory_id": ids[0]}]}
    assert client.request("DELETE", "/v1/batch/", json=same).status_code == 200


def test_a_request_is_charged_once_for_each_user(serving: Serving) -> None:
    charged: list[str] = []

    class Charging(Tokens):
        def authorize(self, *args: Any, **more: Any) -> Any:
            charged.append(more["operation"])
            return super().authorize(*args, **more)

    client = serving(Charging(team=principal_of("team", Right.WRITE)))
    client.headers["authorization"] = "Bearer team"
    ids = [stated(client, f"note {number}", user)["id"] for number, user in enumerate(["ada", "bob", "ada"])]
    charged.clear()
    client.put("/v1/batch/", json={"memories": [{"memory_id": id, "text": "new"} for id in ids]})
    assert charged == ["mem0 batch update"] * 2


def test_delete_all_takes_what_is_named_and_no_more(client: TestClient, memory: Memory) -> None:
    stated(client, "kept", "bob")
    hidden = stated(client, "hidden", run_id="r")["id"].partition(".")[0]
    stated(client, "of the run", run_id="r")
    stated(client, "of none")
    memory.scope(user="ada").forget(hidden)
    assert client.delete("/v1/memories/").status_code == 400
    assert client.delete("/v1/memories/", params={"user_id": "ada", "run_id": "r"}).status_code == 200
    assert [one.version.item.text for one in memory.scope(user="ada").holdings()] == ["of none"]
    assert client.delete("/v1/memories/", params={"filters": "{'user_id': 'ada'}"}).status_code == 200
    for nonsense in (
        "{'user_id': open('x')}",
        "(" * 4000,
        "(" * 9000,
        r"{'user_id': '\ud83d'}",
        "{b'user_id': 1e999}",
        "{1}",
    ):
        assert client.delete("/v1/memories/", params={"filters": nonsense}).status_code == 400, nonsense[:30]
    assert (listed(client, {"user_id": "ada"}), listed(client, {"user_id": "bob"})) == ([], ["kept"])


def test_users_are_listed_and_erased(client: TestClient) -> None:
    stated(client, "one", "ada")
    stated(client, "two", "小/明")
    told = client.get("/v1/entities/").json()
    assert [(one["type"], one["name"], one["total_memories"]) for one in told["results"]] == [
        ("user", "ada", 1), ("user", "小/明", 1),
    ]  # fmt: skip
    assert client.delete(f"/v2/entities/user/{quote('小/明', safe='')}/").status_code == 200
    assert client.delete("/v2/entities/user/ada/").status_code == 200
    assert client.delete("/v2/entities/user/ada/").status_code == 404
    assert client.delete("/v2/entities/planet/mars/").status_code == 404
    assert client.delete("/v2/entities/run/none/").status_code == 404
    stated(client, "of the run", "me", run_id="r")
    assert client.post("/reset").json() == {"message": "All memories reset"}
    assert client.get("/v1/entities/").json()["count"] == 0


def test_feedback_is_counted(client: TestClient, memory: Memory) -> None:
    record = stated(client, "Tea.")
    item = record["id"].partition(".")[0]
    for judged in ("POSITIVE", "VERY_NEGATIVE", "NEGATIVE"):
        body = {"memory_id": record["id"], "feedback": judged, "feedback_reason": "so"}
        assert client.post("/v1/feedback/", json=body).json()["notes"] == ["feedback_reason has no effect here"]
    strength = memory.scope(user="ada").strength(item)
    assert (strength.useful, strength.harms) == (1, 2)
    assert client.post("/v1/feedback/", json={"memory_id": record["id"], "feedback": None}).status_code == 400


def test_an_export_has_all_that_its_filters_name(client: TestClient) -> None:
    for number in range(3):
        stated(client, f"note {number}", run_id="r" if number else None)
    made = client.post("/v1/exports/", json={"schema": "{}", "user_id": "ada", "filters": {"run_id": "r"}}).json()
    got = client.post("/v1/exports/get/", json={"memory_export_id": made["id"]}).json()
    assert sorted(one["memory"] for one in got["memories"]) == ["note 1", "note 2"]
    for id in ("export-", "export-W", "nonsense", "export-\N{SNOWMAN}"):
        assert client.post("/v1/exports/get/", json={"memory_export_id": id}).status_code == 404


def test_mem0s_own_server_is_served_too(client: TestClient) -> None:
    key = {"x-api-key": "anything"}
    body = {"messages": [{"role": "user", "content": "I like tea."}], "user_id": "ada"}
    (record,) = client.post("/memories", json=body, headers=key).json()["results"]
    path = f"/memories/{record['id']}"
    assert client.get("/memories", params={"user_id": "ada"}).json()["results"][0]["id"] == record["id"]
    assert client.get(path).json()["memory"] == "I like tea."
    found = client.post("/search", json={"query": "tea", "user_id": "ada", "limit": 5}).json()["results"]
    assert [one["id"] for one in found] == [record["id"]]
    assert client.put(path, json={"text": "I like coffee."}).json()["memory"] == "I like coffee."
    assert [one["event"] for one in client.get(f"{path}/history").json()] == ["ADD", "UPDATE"]
    assert client.delete(path).status_code == 200
    assert client.delete("/memories", params={"user_id": "ada"}).status_code == 200
    assert client.get("/entities").json()["results"][0]["total_memories"] == 0


def test_an_id_that_leads_nowhere_is_absent_whatever_is_wrong_with_it(serving: Serving) -> None:
    client = serving(
        Tokens(
            ada=principal_of("ada", Right.WRITE, user="ada"),
            bob=principal_of("bob", Right.WRITE, user="bob"),
            far=principal_of("far", Right.ADMIN, tenant="elsewhere"),
        )
    )

    def by(token: str) -> dict[str, str]:
        return {"authorization": f"Bearer {token}"}

    def write(token: str, user: str) -> str:
        body = {"messages": "mine", "user_id": user, "infer": False}
        id: str = client.post("/v3/memories/add/", json=body, headers=by(token)).json()["results"][0]["id"]
        return id

    others, elsewhere, erased = write("bob", "bob"), write("far", "ada"), write("ada", "ada")
    client.delete(f"/v1/memories/{erased}/", headers=by("ada"))
    item, dot, _ = others.partition(".")
    for id in (
        others,
        item,
        elsewhere,
        erased,
        f"{item}.YWRh",
        "x",
        "0" * 26,
        f"{item}{dot}",
        f"{item}.%",
        "小",
        "a.b.c",
    ):
        path = f"/v1/memories/{quote(id)}/"
        calls = [
            client.get(path, headers=by("ada")),
            client.put(path, json={"text": "x"}, headers=by("ada")),
            client.delete(path, headers=by("ada")),
            client.get(f"{path}history/", headers=by("ada")),
            client.post("/v1/feedback/", json={"memory_id": id, "feedback": "POSITIVE"}, headers=by("ada")),
            client.put("/v1/batch/", json={"memories": [{"memory_id": id, "text": "x"}]}, headers=by("ada")),
        ]
        assert [one.status_code for one in calls] == [404] * len(calls), id
    assert client.get(f"/v1/memories/{others}/", headers=by("bob")).json()["memory"] == "mine"


def test_rights_and_walls_are_those_of_the_operations(serving: Serving) -> None:
    client = serving(
        Tokens(
            none=principal_of("none", Right.WRITE, user="new"),
            reader=principal_of("reader", Right.READ, user="ada"),
            writer=principal_of("writer", Right.WRITE, user="ada"),
            team=principal_of("team", Right.WRITE),
        )
    )
    body = {"messages": "x", "user_id": "ada"}

    def status(token: str, method: str, path: str, **more: Any) -> int:
        return client.request(method, path, headers={"authorization": f"Bearer {token}"}, **more).status_code

    assert status("nobody", "POST", "/v3/memories/add/", json=body) == 401
    assert status("nobody", "POST", "/v3/memories/add/", content=b"{") == 401
    assert status("reader", "POST", "/v3/memories/add/", json=body) == 403
    assert status("writer", "POST", "/v3/memories/add/", json=body) == 200
    assert status("writer", "POST", "/v3/memories/add/", json={**body, "user_id": "bob"}) == 403
    assert status("writer", "POST", "/v3/memories/", json={"filters": {"user_id": "bob"}}) == 403
    assert status("reader", "POST", "/v3/memories/", json={}) == 200
    assert status("reader", "GET", "/v1/entities/") == 200
    assert status("team", "POST", "/v3/memories/", json={"filters": {"agent_id": "x"}}) == 400
    assert status("writer", "DELETE", "/v2/entities/user/ada/") == 403
    assert status("writer", "POST", "/reset") == 403
    assert status("none", "POST", "/reset") == 403


def test_a_server_that_only_reads_changes_nothing(serving: Serving) -> None:
    client = serving(read_only=True)
    assert client.post("/v3/memories/add/", json={"messages": "x", "user_id": "ada"}).status_code == 403
    assert client.delete("/v1/memories/", params={"user_id": "ada"}).status_code == 403
    assert client.post("/reset").status_code == 403
    assert client.post("/v3/memories/", json={"filters": {"user_id": "ada"}}).status_code == 200


@pytest.mark.parametrize(
    ("address", "bodies"),
    [
        ("POST /v3/memories/add/", [{}, {"messages": []}, {"messages": 7}, {"messages": [{"role": 3}]},
                                    {"messages": "x", "nonsense": 1}, {"messages": " ", "infer": False},
                                    {"messages": "x", "metadata": []}, {"messages": "x", "timestamp": 1e300},
                                    {"messages": "x", "expiration_date": "2001-01-01"},
                                    {"messages": "x", "user_id": "a\x00"},
                                    {"messages": "x", "user_id": "a", "filters": {"user_id": "b"}},
                                    {"messages": "x", "filters": {"AND": []}}, {"messages": [None]}]),
        ("POST /v3/memories/search/", [{}, {"query": ""}, {"query": "x", "top_k": 0}, {"query": "x", "top_k": 201},
                                       {"query": "x", "threshold": 2}, {"query": "x", "show_expired": True},
                                       {"query": "x", "reference_date": "soon"}, {"query": 5}]),
        ("POST /v3/memories/?page=0", [{}]),
        ("POST /v3/memories/?page=-1", [{}]),
        ("POST /v3/memories/?page=99999999999999999999", [{}]),
        ("POST /v3/memories/?page_size=1001", [{}]),
        ("POST /v3/memories/?page=x", [{}]),
        ("PUT /v1/batch/", [{}, {"memories": []}, {"memories": [{"memory_id": 1}]}, {"memories": "all"}]),
        ("POST /v1/feedback/", [{}, {"memory_id": 1, "feedback": "POSITIVE"}, {"memory_id": "x", "feedback": "SO SO"}]),
        ("POST /v1/exports/", [{"filters": {"NOT": []}}]),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(client: TestClient, address: str, bodies: list[Any]) -> None:
    method, _, path = address.partition(" ")
    for body in bodies:
        response = client.request(method, path, json=body)
        assert response.status_code == 400, (body, response.text)
        assert {"detail", "field", "remedy"} <= set(response.json())


def test_an_update_of_nothing_or_of_when_it_was_said_is_refused(client: TestClient) -> None:
    path = f"/v1/memories/{stated(client, 'x')['id']}/"
    for body in ({}, {"text": ""}, {"timestamp": 3}, {"metadata": None}, {"expiration_date": "2001-01-01"}):
        assert client.put(path, json=body).status_code == 400, body


def test_what_is_not_served_says_so(client: TestClient) -> None:
    for address in ("POST /configure", "POST /v1/summary/", "GET /v2/profiles/settings/",
                    "GET /api/v1/webhooks/projects/p/",
                    "GET /v2/entities/user/ada/profile/"):  # fmt: skip
        method, _, path = address.partition(" ")
        response = client.request(method, path, json={})
        assert (response.status_code, "mem0-surface" in response.json()["detail"]) == (501, True)


def test_what_nothing_goes_by_is_told(client: TestClient) -> None:
    body = {"query": "x", "filters": {"user_id": "ada"}, "rerank": True, "keyword_search": None}
    assert client.post("/v3/memories/search/", json=body).json()["notes"] == ["rerank has no effect here"]


def test_every_call_answers_malformed_json_alike(client: TestClient) -> None:
    for call in CALLS:
        for address in call.addresses:
            method, _, path = address.partition(" ")
            response = client.request(method, path, content=b'{"a":', headers={"content-type": "application/json"})
            assert response.status_code == 400, address


_VALUES = st.recursive(
    st.sampled_from([None, True, 0, -1, 1e9, 1.5, "", " ", "x", "*", "ada", "2026-01-01", "\x00", "小", "a.b"]),
    lambda below: st.lists(below, max_size=2)
    | st.dictionaries(st.sampled_from(["role", "content", "AND", "OR", "in", "gte", "user_id", "memory_id", "text"]),
                      below, max_size=2),
    max_leaves=4,
)  # fmt: skip
_BODIES = st.sampled_from([call for call in CALLS if call.fields]).flatmap(
    lambda call: st.tuples(
        st.sampled_from(call.addresses), st.dictionaries(st.sampled_from(sorted(call.fields)), _VALUES, max_size=4)
    )
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(sent=_BODIES)
def test_whatever_is_sent_is_answered_or_refused(client: TestClient, sent: tuple[str, Record]) -> None:
    (method, _, path), body = sent[0].partition(" "), sent[1]
    path = path.replace("{memory_id}", "0" * 26).replace("{entity_type}", "run").replace("{entity_id:path}", "x")
    response = client.request(method, path, json=body)
    assert response.status_code in (200, 400, 404, 413), (sent, response.text)


def test_a_list_that_may_be_left_out_comes_in_an_address_too(client: TestClient) -> None:
    client.post("/v3/memories/add/", json={"messages": "The ferry leaves at nine.", "user_id": "ada"})
    for query, status in (("categories=travel&categories=work", 200), ("categories=travel", 200), ("categories=", 400)):
        answer = client.get(f"/v1/memories/?user_id=ada&{query}")
        assert answer.status_code == status, answer.text
        assert status == 400 or answer.json()["results"] == []


def test_what_is_wrong_is_told_by_the_name_that_was_sent(client: TestClient) -> None:
    for path, said, field in (
        ("/v3/memories/add/", {"messages": "x", "user_id": "ada", "timestamp": ""}, "timestamp"),
        ("/v3/memories/add/", {"messages": "x", "user_id": "ada", "expiration_date": "soonish"}, "expiration_date"),
        ("/v3/memories/add/", {"messages": "x", "user_id": "ada", "agent_id": "a\0b"}, "agent_id"),
        ("/v3/memories/add/", {"messages": "x", "user_id": "ada", "run_id": "a\0b"}, "run_id"),
        ("/v2/memories/search/", {"query": "x", "user_id": "ada", "agent_id": "a\0b"}, "agent_id"),
        ("/v3/memories/add/", {"messages": "x", "user_id": "ada", "expiration_date": "2001-01-01"}, "expiration_date"),
        ("/v2/memories/search/", {"query": "x", "user_id": "ada", "reference_date": "soonish"}, "reference_date"),
        ("/v3/memories/", {"user_id": "ada", "categories": [" "]}, "categories[0]"),
        ("/v3/memories/", {"user_id": "ada", "show_expired": 0}, "show_expired"),
    ):
        answer = client.post(path, json=said)
        told = answer.json()
        assert (answer.status_code, told["field"]) == (400, field), answer.text
        assert told["detail"].startswith(f"{field}: ")
