"""MCP over HTTP, asked by the SDK's own client, in both generations of the protocol."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from typing import Any, Literal

import httpx2
import pytest
from bearer_tokens import Tokens, principal_of
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client

from mnemic import Memory
from mnemic.credentials.authenticator import Authenticator
from mnemic.credentials.principal import Right
from mnemic.credentials.quotas import Quotas
from mnemic.faces.server.application import application
from mnemic.faces.server.service import Service
from mnemic.faces.server.verb_pool import VerbPool
from mnemic.memory import ScopedMemory
from patience import PATIENCE
from serving_app import serving_app

Mode = Literal["auto", "legacy"]
MODES: tuple[Mode, ...] = ("auto", "legacy")
TOKENS = Tokens(
    ada=principal_of("ada's laptop", Right.WRITE, user="ada"),
    bob=principal_of("bob's phone", Right.WRITE, user="bob"),
    reader=principal_of("a reader", Right.READ, user="ada"),
    agent=principal_of("an agent", Right.WRITE),
)


def talk(
    memory: Memory,
    say: Callable[[Client], Awaitable[Any]],
    *,
    token: str = "ada",
    path: str = "/mcp",
    mode: Mode = "auto",
    **headers: str,
) -> Any:
    """Have a client talk to a server of this memory."""

    async def run(address: str) -> Any:
        given = {"Authorization": f"Bearer {token}", **headers}
        async with (
            httpx2.AsyncClient(headers=given, timeout=PATIENCE) as http,
            Client(streamable_http_client(address + path, http_client=http), mode=mode) as client,
        ):
            return await say(client)

    with serving_app(application(Service(memory, TOKENS))) as address:
        return asyncio.run(run(address))


@pytest.mark.parametrize("mode", MODES)
def test_what_is_remembered_is_recalled(memory: Memory, mode: Mode) -> None:
    async def say(client: Client) -> str:
        await client.call_tool("remember", {"text": "Ada lives in Lisbon."})
        return str(await client.call_tool("recall", {"query": "Where does Ada live?"}))

    assert "Ada lives in Lisbon." in talk(memory, say, mode=mode)
    assert memory.scope(user="ada").log()[-1].actor == "ada's laptop"


@pytest.mark.parametrize("mode", MODES)
def test_a_token_says_whose_memory_it_is_and_no_argument_does(memory: Memory, mode: Mode) -> None:
    memory.scope(user="bob").observe("The canary of Bob.")

    async def say(client: Client) -> str:
        asked = [{"query": "canary"}, {"query": "canary", "user": "bob"}]
        return str([await client.call_tool("recall", arguments) for arguments in asked])

    came = talk(memory, say, mode=mode)
    assert "The canary" not in came
    assert "user" in came  # the second is refused: the tool takes no such argument


@pytest.mark.parametrize("mode", MODES)
def test_a_key_that_reads_is_offered_what_reads(memory: Memory, mode: Mode) -> None:
    async def say(client: Client) -> list[str]:
        return [tool.name for tool in (await client.list_tools()).tools]

    assert talk(memory, say, token="reader", mode=mode) == ["recall", "context", "history"]
    assert "remember" in talk(memory, say, mode=mode)


def test_a_key_of_any_user_names_one_in_a_header(memory: Memory) -> None:
    async def say(client: Client) -> Any:
        return await client.call_tool("remember", {"text": "Cleo keeps bees."})

    talk(memory, say, **{"token": "agent", "Mnemic-User": "cleo"})
    assert memory.scope(user="cleo").list()[0].item.text == "Cleo keeps bees."


@pytest.mark.parametrize("path", ["/mcp/reference", "/mcp/files"])
def test_other_profiles_have_paths_of_their_own(memory: Memory, path: str) -> None:
    async def say(client: Client) -> list[str]:
        return [tool.name for tool in (await client.list_tools()).tools]

    assert talk(memory, say, path=path)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 401),
        ({"Authorization": "Bearer nobody"}, 401),
        ({"Authorization": "Bearer agent"}, 400),
        ({"Authorization": "Bearer ada", "Mnemic-User": "bob"}, 403),
        ({"Authorization": "Bearer ada", "Host": "evil.example"}, 421),
        ({"Authorization": "Bearer ada", "Origin": "https://evil.example"}, 403),
    ],
)
def test_who_may_not_ask_gets_no_further(memory: Memory, headers: dict[str, str], status: int) -> None:
    with serving_app(application(Service(memory, TOKENS))) as address:
        answer = httpx2.post(
            f"{address}/mcp",
            json={"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
            headers={"Accept": "application/json, text/event-stream", **headers},
            timeout=PATIENCE,
        )
    assert answer.status_code == status


def test_an_answer_is_one_document_and_no_stream(memory: Memory) -> None:
    """A stream begun before a proxy has seen the request's end is cut by some (Caddy 2.6)."""
    asked = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    with serving_app(application(Service(memory, TOKENS))) as address:
        answer = httpx2.post(
            f"{address}/mcp",
            json={"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": asked},
            headers={"Accept": "application/json, text/event-stream", "Authorization": "Bearer ada"},
            timeout=PATIENCE,
        )
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json")
    assert answer.json()["result"]["protocolVersion"] == "2025-06-18"


@pytest.mark.parametrize("path", ["/mcp", "/mcp/reference", "/mcp/files"])
def test_nobody_hears_over_http_of_what_others_write(memory: Memory, path: str) -> None:
    async def say(client: Client) -> Any:
        return client.server_capabilities.resources, await client.list_tools()

    offered, _ = talk(memory, say, path=path)
    assert offered is None or not offered.subscribe


def test_tools_run_in_the_pool_of_all_verbs_and_an_overload_is_told_as_there(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool, going_on, recall = VerbPool(threads=2, waiting=1), threading.Event(), ScopedMemory.recall

    def waiting(*given: Any, **more: Any) -> Any:
        assert going_on.wait(PATIENCE)
        return recall(*given, **more)

    monkeypatch.setattr(ScopedMemory, "recall", waiting)

    async def scenario(address: str) -> None:
        asked = [asyncio.create_task(_recalled(address)) for _ in range(3)]
        while pool.inside < 3:
            await asyncio.sleep(0.01)
        refused = await _recalled(address)
        over_rest = await _post(address + "/v1/recall", {"query": "bees"})
        going_on.set()
        assert [(await one).status_code for one in asked] == [200, 200, 200]
        for answer in (refused, over_rest):
            assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
            assert answer.headers["content-type"] == "application/problem+json"

    with serving_app(application(Service(memory, TOKENS, pool=pool))) as address:
        asyncio.run(asyncio.wait_for(scenario(address), PATIENCE))
    assert pool.inside == 0


async def _recalled(address: str) -> httpx2.Response:
    call = {"name": "recall", "arguments": {"query": "bees"}}
    return await _post(address + "/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call})


async def _post(url: str, body: dict[str, Any]) -> httpx2.Response:
    headers = {"Authorization": "Bearer ada", "Accept": "application/json, text/event-stream"}
    async with httpx2.AsyncClient(headers=headers, timeout=PATIENCE) as http:
        return await http.post(url, json=body)


def test_one_memory_is_behind_all_who_ask_at_once(memory: Memory) -> None:
    async def say(client: Client) -> Any:
        every = (client.call_tool("remember", {"text": f"Fact number {n}.", "key": f"k{n}"}) for n in range(20))
        return await asyncio.gather(*every)

    talk(memory, say)
    assert memory.scope(user="ada").count() == 20


def test_a_write_is_charged_as_one_and_a_read_is_not(memory: Memory) -> None:
    key = memory.keys.create("ada's laptop", tenant="default", user="ada", right=Right.WRITE).text
    asked = Authenticator(memory.keys, quotas=Quotas(writes_a_day=1))

    async def run(address: str) -> list[bool]:
        async with (
            httpx2.AsyncClient(headers={"Authorization": f"Bearer {key}"}, timeout=PATIENCE) as http,
            Client(streamable_http_client(f"{address}/mcp", http_client=http)) as client,
        ):
            calls = [("remember", {"text": "one"}), ("recall", {"query": "one"}), ("remember", {"text": "two"})]
            return [bool((await client.call_tool(name, arguments)).is_error) for name, arguments in calls]

    with serving_app(application(Service(memory, asked))) as address:
        assert asyncio.run(run(address)) == [False, False, True]
