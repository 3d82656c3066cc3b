"""What needs an administrator is done for nobody else, whatever the door; erasing for good is no tool of a model."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, Final

import pytest
from bearer_tokens import Tokens, principal_of
from starlette.testclient import TestClient

from mnemic import Memory, Settings
from mnemic.credentials.principal import Right
from mnemic.faces.server.application import application
from mnemic.faces.server.mem0_surface import CALLS
from mnemic.faces.server.routes import addresses
from mnemic.faces.server.service import Service
from mnemic.operations.operation_table import OPERATIONS
from mnemic.registry import TOOLS, load
from mnemic.tools import Toolbox

Serving = Callable[..., TestClient]
NOT_FOR_A_MODEL: Final = {name for name, one in OPERATIONS.items() if one.right is Right.ADMIN or one.erases}
TOKENS: Final = Tokens(
    reader=principal_of("reader", Right.READ, user="ada"),
    writer=principal_of("writer", Right.WRITE, user="ada"),
    team=principal_of("team", Right.WRITE),
    chief=principal_of("chief", Right.ADMIN),
)
MCP: Final = {"accept": "application/json, text/event-stream"}


def bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}", "mnemic-user": "ada"}


def test_the_table_says_what_needs_an_administrator() -> None:
    assert {"create_key", "revoke_key", "keys", "users", "stats", "erase_user", "erase"} <= NOT_FOR_A_MODEL


@pytest.mark.parametrize("profile", TOOLS)
def test_a_model_has_no_tool_that_administers_or_erases_for_good(profile: str, memory: Memory) -> None:
    box = Toolbox(memory.scope(user="ada"), profile)
    assert not {tool.name for tool in (*load(TOOLS, profile), *box.tools)} & NOT_FOR_A_MODEL
    for name in NOT_FOR_A_MODEL:
        assert name not in box
        assert box.call(name, {}).failed


@pytest.mark.parametrize("path", ["/mcp", "/mcp/reference", "/mcp/files"])
def test_mcp_offers_an_administrator_too_nothing_that_administers_or_erases(serving: Serving, path: str) -> None:
    client, headers = serving(TOKENS), {**MCP, **bearer("chief")}

    def asked(method: str, params: dict[str, Any]) -> str:
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        return client.post(path, json=body, headers=headers).text

    assert '"tools"' in asked("tools/list", {})
    for name in NOT_FOR_A_MODEL:
        assert f'"{name}"' not in asked("tools/list", {})
        assert "Unknown tool" in asked("tools/call", {"name": name, "arguments": {}})


@pytest.mark.parametrize("token", ["reader", "writer", "team"])
def test_what_needs_an_administrator_is_refused_to_all_others_at_every_address(serving: Serving, token: str) -> None:
    client = serving(TOKENS)
    administering = [one for one in OPERATIONS.values() if one.right is Right.ADMIN]
    for _, method, path in addresses(administering):
        for headers in (bearer(token), {**bearer(token), "mnemic-shared": "yes"}):
            answer = client.request(method, path, headers=headers, **({} if method == "GET" else {"json": {}}))
            assert (answer.status_code, answer.json()["type"]) == (403, "urn:mnemic:problem:Refused"), (method, path)


@pytest.fixture
def careful() -> Iterator[TestClient]:
    with Memory("memory:", settings=Settings(embedder="none", background=False, erase_needs_admin=True)) as memory:
        app = application(Service(memory, TOKENS))
        with TestClient(app, base_url="http://localhost") as client:
            yield client


def test_where_erasing_needs_an_administrator_a_key_that_writes_only_hides(careful: TestClient) -> None:
    id = careful.post("/v1/write", json={"text": "Ada keeps bees."}, headers=bearer("writer")).json()["ids"][0]

    def status(token: str, method: str, path: str, body: Any = None) -> int:
        return careful.request(method, path, json=body, headers=bearer(token)).status_code

    erasing = [address.split() for call in CALLS if call.erases for address in call.addresses]
    assert len(erasing) == 8
    for method, address in erasing:
        path = re.sub(r"\{entity_type\}.*\}", "user/ada", address).format(memory_id=id)
        batch = {"memories": [{"memory_id": id}]} if "batch" in path else None
        named = "?user_id=ada" if path.endswith(("memories", "memories/")) else ""
        assert status("writer", method, path + named, batch) == 403, (method, path)
    assert status("writer", "POST", "/v1/erase", {"ids": [id]}) == 403
    assert status("writer", "POST", "/v1/forget", {"ids": [id]}) == 200
    assert status("writer", "POST", "/v1/undo", {"seq": 2}) == 200
    assert status("chief", "POST", "/v1/erase", {"ids": [id]}) == 200


def test_elsewhere_whoever_writes_a_memory_may_have_it_erased(serving: Serving) -> None:
    client = serving(TOKENS)
    first, second = client.post("/v1/observe", json={"messages": ["One.", "Two."]}, headers=bearer("writer")).json()[
        "ids"
    ]
    assert client.post("/v1/erase", json={"ids": [first]}, headers=bearer("reader")).status_code == 403
    assert client.post("/v1/erase", json={"ids": [first]}, headers=bearer("writer")).status_code == 200
    assert client.delete(f"/v1/memories/{second}/", headers=bearer("writer")).status_code == 200
