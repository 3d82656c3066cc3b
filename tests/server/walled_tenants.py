"""Fifty tenants with a hundred canaries each, and what comes out of the doors for one that asks for another's."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from starlette.testclient import TestClient
from streams import listening

from mnemic import Memory, Settings
from mnemic.credentials.authenticator import Authenticator
from mnemic.credentials.principal import Right
from mnemic.faces.gateway.relay import GatewayOptions
from mnemic.faces.gateway.relay import application as gateway_application
from mnemic.faces.gateway.remembering import Remembering
from mnemic.faces.server.application import application
from mnemic.faces.server.service import Service
from mnemic.registry import TOOLS
from mnemic.testing.chat_server import serving
from mnemic.testing.replying import ReplyingChat

TENANTS: Final = 50
CANARIES: Final = 100
SETTINGS: Final = Settings(embedder="none", background=False)
MCP_PATHS: Final = ("/mcp", "/mcp/reference", "/mcp/files")
_CANARY: Final = re.compile(r"canary(\d+)x\d+")
_MCP_HEADERS: Final = {"Accept": "application/json, text/event-stream"}
_FILLED: Final = {"query": "what is in the vault", "path": "/memories", "k": 100, "task": "what is in the vault"}


def whose(text: str) -> set[int]:
    """The tenants whose canaries stand in a text."""
    return {int(one) for one in _CANARY.findall(text)}


@dataclass(frozen=True)
class World:
    """Tenants, the key of each, and the ids of what each holds."""

    client: TestClient
    memory: Memory
    keys: Mapping[int, str]
    ids: Mapping[int, list[str]]

    def headers(self, asker: int, victim: int, scheme: str = "Bearer") -> Iterator[dict[str, str]]:
        """What one tenant may send to mean another: nothing, its user, or its name."""
        own = {"Authorization": f"{scheme} {self.keys[asker]}"}
        yield from (own, {**own, "Mnemic-User": f"user{victim}"}, {**own, "Mnemic-Tenant": f"tenant{victim}"})

    def administrator(self, tenant: int) -> str:
        """A key that may administer a tenant."""
        name = f"chief {len(self.memory.keys.list(tenant=f'tenant{tenant}'))}"  # one name is of one key
        return self.memory.keys.create(name, tenant=f"tenant{tenant}", right=Right.ADMIN).text


@contextmanager
def walled() -> Iterator[World]:
    """Fill a store, and serve it until the block is left. Keys and holds bear canaries as well."""
    with Memory("memory:", settings=SETTINGS) as memory:
        keys, ids = {}, {}
        for tenant in range(TENANTS):
            name, user = f"tenant{tenant}", f"user{tenant}"
            said = [f"The vault holds canary{tenant}x{n}." for n in range(CANARIES)]
            receipt = memory.scope(tenant=name, user=user).observe(said)
            ids[tenant] = [str(id) for id in receipt.ids]
            keys[tenant] = memory.keys.create("asker", tenant=name, right=Right.WRITE, user=user).text
            memory.keys.create(f"canary{tenant}x0", tenant=name, right=Right.READ, user=user)
            memory.admin.hold(tenant=name, user=user, item=receipt.ids[0], reason=f"canary{tenant}x1")
        app = application(Service(memory, Authenticator(memory.keys)))
        with TestClient(app, base_url="http://localhost") as client:
            yield World(client, memory, keys, ids)


def from_mcp(world: World, asker: int, victim: int) -> Iterator[tuple[str, str]]:
    """Call every tool, read every resource and get every prompt of each profile; what was asked, and what came."""
    one = world.ids[victim][7]
    for path in MCP_PATHS:
        for headers in world.headers(asker, victim):

            def told(method: str, _path: str = path, _headers: Mapping[str, str] = headers, **params: Any) -> str:
                request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
                answer = world.client.post(_path, json=request, headers={**_MCP_HEADERS, **_headers})
                assert answer.status_code != 500, (method, params, answer.text)
                return answer.text

            tools = json.loads(told("tools/list")).get("result", {}).get("tools", [])
            for tool in tools:
                given = {name: _filled(name, shape, one) for name, shape in tool["inputSchema"]["properties"].items()}
                yield f"{path} {tool['name']}", told("tools/call", name=tool["name"], arguments=given)
            for uri in ("mnemic://always", "mnemic://recent", f"mnemic://items/{one}", "memory://knowledge-graph"):
                yield f"{path} {uri}", told("resources/read", uri=uri)
            for listing in ("resources/list", "resources/templates/list", "prompts/list"):
                yield f"{path} {listing}", told(listing)
            for prompt in json.loads(told("prompts/list")).get("result", {}).get("prompts", []):
                taken = {argument["name"]: "what is in the vault" for argument in prompt.get("arguments", ())}
                yield f"{path} {prompt['name']}", told("prompts/get", name=prompt["name"], arguments=taken)


def _filled(name: str, shape: Mapping[str, Any], one: str) -> Any:
    if shape.get("type") == "array":
        return [one]
    return _FILLED.get(name, one)


def from_feed(world: World, asker: int, victim: int) -> Iterator[tuple[str, str]]:
    """Listen from the first commit, and from another's mark, to all that there was."""
    app = application(Service(world.memory, Authenticator(world.memory.keys)))
    mark = world.memory.scope(tenant=f"tenant{victim}", user=f"user{victim}").changes()[-1].mark

    async def heard(query: str, headers: Mapping[str, str]) -> str:
        sent = {name.lower(): value for name, value in headers.items()}
        async with listening(app, query, sent) as stream:
            if stream.status != 200:
                return await stream.block()
            events = [await stream.event()]
            while (event := events[-1]) is not None and event.name != "live":
                events.append(await stream.event())
            return json.dumps([event.data for event in events if event is not None])

    for headers in world.headers(asker, victim):
        for query in ("after=0", f"after={mark}"):
            yield f"/v1/feed?{query}", asyncio.run(heard(query, headers))


def from_gateway(world: World, asker: int, victim: int) -> Iterator[tuple[str, str]]:
    """Talk through the gateway as one, naming another by header and field; what came, and what reached the upstream."""
    with serving(ReplyingChat(lambda ask: "Noted.")) as upstream:
        options = GatewayOptions(upstream=upstream.url, recall_seconds=30.0, upstream_key="u")
        remembering = Remembering(world.memory, budget=options.budget, cache=options.cache)
        app = gateway_application(remembering, options, Authenticator(world.memory.keys))
        with TestClient(app, base_url="http://localhost") as client:
            for headers in world.headers(asker, victim):
                named = {"Mnemic-Session": "vault", **headers}
                for user in ({}, {"user": f"user{victim}"}):
                    said = {"role": "user", "content": "What does the vault hold?"}
                    body = {"model": "m", "messages": [said], **user}
                    answer = client.post("/v1/chat/completions", json=body, headers=named)
                    assert answer.status_code != 500, answer.text
                    yield f"gateway {sorted(headers)} {user}", answer.text + str(dict(answer.headers))
        yield "upstream", json.dumps(upstream.asked)


assert set(TOOLS) == {"verbs", *(path.rpartition("/")[2] for path in MCP_PATHS[1:])}
