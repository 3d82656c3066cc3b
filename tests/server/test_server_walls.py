"""Fifty tenants with a hundred canaries each: whatever one asks of any route or tool, no other's comes out.

Every operation is asked with ids, names and cursors of another tenant, by a key that may do all its own tenant's key
may. A server in which one check of the scope was taken out must be caught: else this would prove nothing.
"""

from __future__ import annotations

import itertools
import json
import os
import random
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import pytest
from starlette.testclient import TestClient

from mnemic import Memory, Settings
from mnemic.core.scope import Scope, Shared
from mnemic.credentials.authenticator import Authenticator
from mnemic.credentials.principal import Principal, Right
from mnemic.faces.server.application import application
from mnemic.faces.server.mem0_surface import CALLS, Mem0Call
from mnemic.faces.server.routes import addresses
from mnemic.faces.server.service import Service
from mnemic.operations.operation import Operation
from mnemic.operations.operation_table import OPERATIONS
from mnemic.registry import TOOLS, load
from mnemic.tools import Toolbox

TENANTS: Final = 50
CANARIES: Final = 100
ASKERS: Final = int(os.environ.get("MNEMIC_WALL_ASKERS", "3"))
"""How many of the tenants ask about others; all of them by `MNEMIC_WALL_ASKERS=50`."""
SETTINGS: Final = Settings(embedder="none", background=False)
_CANARY: Final = re.compile(r"canary(\d+)x\d+")
_ADMINISTERING: Final = frozenset(name for name, one in OPERATIONS.items() if one.right is Right.ADMIN)
"""Here everybody is refused it."""


@dataclass(frozen=True)
class World:
    """Tenants, the key of each, and the ids of what each holds."""

    client: TestClient
    memory: Memory
    keys: Mapping[int, str]
    ids: Mapping[int, list[str]]

    def leaks(self, asker: int, victim: int, *, reads: bool = False) -> tuple[set[int], int]:
        """Ask every route for what is another's; whose canaries came out, and how many requests that took.

        Args:
            reads: Only routes that read: where walls are down, one that writes would take away what is looked for.
        """
        own = {"Authorization": f"Bearer {self.keys[asker]}"}
        dice, found, asked = random.Random(asker * 1_000 + victim), set[int](), 0
        for operation, method, path in addresses(one for one in OPERATIONS.values() if one.read_only or not reads):
            for headers in (own, {**own, "Mnemic-User": f"user{victim}"}, {**own, "Mnemic-Tenant": f"tenant{victim}"}):
                given = _arguments(operation, self.ids[victim], victim, dice)
                url = path.replace("{id}", str(given.pop("id", ""))) if "{id}" in path else path
                if method == "GET":
                    flat = {k: v for k, v in given.items() if not isinstance(v, list | dict)}
                    answer = self.client.request(method, url, params=flat, headers=headers)
                else:
                    answer = self.client.request(method, url, json=given, headers=headers)
                asked += 1
                assert answer.status_code != 500, (operation.name, answer.text)
                if operation.name in _ADMINISTERING:
                    assert answer.status_code == 403, (operation.name, answer.text)
                found |= _whose(answer.text)
        return found, asked


def _whose(text: str) -> set[int]:
    return {int(one) for one in _CANARY.findall(text)}


def _arguments(operation: Operation, ids: list[str], victim: int, dice: random.Random) -> dict[str, Any]:
    """Arguments that ask for what is another's, as far as the operation has a parameter to ask by."""
    one = dice.choice(ids)
    known: dict[str, Any] = {
        "id": one, "ids": [one], "src": one, "dst": dice.choice(ids), "evidence": [one], "source": [one],
        "besides": [one], "typed": one[:8], "query": "what is in the vault", "text": "a text of my own", "seq": 1,
        "first": 1, "last": 3, "a": 1, "b": 2, "messages": "a message of my own", "name": "vault", "type": "about",
        "strategy": "house", "strategies": ["house"], "useful": True, "keep": True, "user": f"user{victim}",
        "tenant": f"tenant{victim}", "limit": 100, "k": 100, "replaced_by": one,
    }  # fmt: skip
    wanted = set(operation.parameters["properties"])
    dropped = {"source"} if operation.name in ("erase", "undo_import") else set()
    given = {name: value for name, value in known.items() if name in wanted - dropped}
    if operation.name == "undo_import":
        given["source"] = "letters"
    if operation.name == "settle":
        given.pop("replaced_by", None)
    return given


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with Memory("memory:", settings=SETTINGS) as memory:
        keys, ids = {}, {}
        for tenant in range(TENANTS):
            me = memory.scope(tenant=f"tenant{tenant}", user=f"user{tenant}")
            said = [f"The vault holds canary{tenant}x{n}." for n in range(CANARIES)]
            ids[tenant] = [str(id) for id in me.observe(said).ids]
            created = memory.keys.create("asker", tenant=f"tenant{tenant}", right=Right.WRITE, user=f"user{tenant}")
            keys[tenant] = created.text
        app = application(Service(memory, Authenticator(memory.keys)))
        with TestClient(app, base_url="http://localhost") as client:
            yield World(client, memory, keys, ids)


def test_no_route_gives_another_tenants_canary(world: World) -> None:
    dice = random.Random(7)
    for asker in range(TENANTS - ASKERS, TENANTS):
        victim = dice.choice([one for one in range(TENANTS) if one != asker])
        found, asked = world.leaks(asker, victim)
        assert found == {asker}, (asker, victim)
        assert asked > 200


def test_no_call_of_mem0s_surface_gives_another_tenants_canary(world: World) -> None:
    dice = random.Random(9)
    askers = max(1, ASKERS // 3)
    for asker in range(askers):
        victim = dice.choice([one for one in range(TENANTS) if one != asker])
        whose, one = f"user{victim}", dice.choice(world.ids[victim])
        own = {"Authorization": f"Token {world.keys[asker]}"}
        for call, (id, named) in itertools.product(CALLS, ((one, whose), (f"{one}.{whose}", None))):
            for address in call.addresses:
                method, _, path = address.partition(" ")
                path = path.replace("{memory_id}", id).replace("{entity_type}", "user")
                path = path.replace("{entity_id:path}", whose)
                given = _mem0_arguments(call, address, id, named)
                how = {"params": given} if method == "GET" or call.name == "delete all" else {"json": given}
                for headers in (own, {**own, "Mnemic-User": whose}, {**own, "Mnemic-Tenant": f"tenant{victim}"}):
                    answer = world.client.request(method, path, headers=headers, **how)
                    assert answer.status_code != 500, (address, answer.text)
                    assert _whose(answer.text) <= {asker}, (address, answer.text)
                    opens = call.name not in ("ping", "create export")
                    if ("Mnemic-Tenant" in headers and opens) or call.name in ("delete users", "reset"):
                        assert answer.status_code in (400, 401, 403, 404), (address, answer.text)
        untouched = world.memory.scope(tenant=f"tenant{victim}", user=whose)
        assert untouched.get(one).item.text.startswith(f"The vault holds canary{victim}x")


def _mem0_arguments(call: Mem0Call, address: str, id: str, user: str | None) -> dict[str, Any]:
    """Arguments that ask for what is another's, as far as the call takes them."""
    known: dict[str, Any] = {
        "messages": "a message of my own", "query": "what is in the vault", "text": "mine", "feedback": "POSITIVE",
        "memories": [{"memory_id": id, **({"text": "mine"} if call.name == "batch update" else {})}], "memory_id": id,
        "memory_export_id": "export-e30", "page_size": 100, "top_k": 100, "user_id": user, "app_id": "vault",
    }  # fmt: skip
    in_path = {name for name in known if f"{{{name}}}" in address}
    fields = set(call.fields) - in_path - ({"app_id"} if user else set())
    return {name: value for name, value in known.items() if name in fields and value is not None}


def test_no_tool_gives_another_tenants_canary(world: World) -> None:
    dice = random.Random(8)
    for asker in range(5):
        victim = asker + 10
        one = dice.choice(world.ids[victim])
        me = world.memory.scope(tenant=f"tenant{asker}", user=f"user{asker}")
        for profile in TOOLS:
            box = Toolbox(me, profile)
            for tool in load(TOOLS, profile):
                given = {
                    name: _tool_argument(name, shape, one) for name, shape in tool.parameters["properties"].items()
                }
                result = box.call(tool.name, given)
                assert _whose(result.text + json.dumps(result.data)) <= {asker}


def _tool_argument(name: str, shape: Mapping[str, Any], one: str) -> Any:
    if shape.get("type") == "array":
        return [one]
    return {"query": "what is in the vault", "path": f"/memories/{one}", "k": 100}.get(name, one)


def test_a_server_without_one_check_of_the_scope_is_caught(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def unwalled(self: Principal, user: str | Shared | None = None, right: Right = Right.READ) -> Scope:
        named = user if isinstance(user, str) else self.user
        return Scope(user=named or "nobody", tenant=f"tenant{str(named).removeprefix('user')}")

    monkeypatch.setattr(Principal, "scope", unwalled)
    found, _ = world.leaks(30, 31, reads=True)
    assert 31 in found


def test_what_is_anothers_and_what_is_not_there_are_one_answer(world: World) -> None:
    own = {"Authorization": f"Bearer {world.keys[2]}"}
    never = "0" * 26
    answers = [world.client.get(f"/v1/items/{id}", headers=own) for id in (world.ids[3][0], never)]
    told = [{k: v for k, v in answer.json().items() if k != "request_id"} for answer in answers]
    assert [answer.status_code for answer in answers] == [404, 404]
    assert str(told[0]).replace(world.ids[3][0], never) == str(told[1])
