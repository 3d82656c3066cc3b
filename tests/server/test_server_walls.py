"""Fifty tenants with a hundred canaries each: whatever one asks of any route or tool, no other's comes out.

Every operation is asked with ids, names and cursors of another tenant, by a key that may do all its own tenant's key
may. A server in which one check of the scope was taken out must be caught: else this would prove nothing.
"""

from __future__ import annotations

import itertools
import os
import random
from collections.abc import Callable, Iterator
from typing import Any, Final

import pytest
from starlette.applications import Starlette
from walled_tenants import MCP_PATHS, TENANTS, World, from_feed, from_gateway, from_mcp, walled, whose

from mnemic.core.scope import Scope, Shared
from mnemic.credentials.principal import Principal, Right
from mnemic.faces.server.mem0_surface import CALLS, Mem0Call
from mnemic.faces.server.routes import ExactRoutes, addresses
from mnemic.operations.operation import Operation
from mnemic.operations.operation_table import OPERATIONS

Door = Callable[[World, int, int], Iterator[tuple[str, str]]]
ASKERS: Final = int(os.environ.get("MNEMIC_WALL_ASKERS", "3"))
"""How many of the tenants ask about others; all of them by `MNEMIC_WALL_ASKERS=50`."""
_OF_NOBODY: Final = ("/health", "/ready", "/openapi.json", "/metrics")
_ADMINISTERING: Final = frozenset(name for name, one in OPERATIONS.items() if one.right is Right.ADMIN)
"""Here everybody is refused it."""


def leaks(world: World, asker: int, victim: int, *, reads: bool = False, key: str = "") -> tuple[set[int], int]:
    """Ask every route for what is another's; whose canaries came out, and how many requests that took.

    Args:
        reads: Only routes that read: where walls are down, one that writes would take away what is looked for.
        key: In place of the asker's own, for any user of its tenant.
    """
    dice, found, asked = random.Random(asker * 1_000 + victim), set[int](), 0
    for operation, method, path in addresses(one for one in OPERATIONS.values() if one.read_only or not reads):
        for headers in world.headers(asker, victim):
            sent = {"Mnemic-User": f"user{asker}", **headers, "Authorization": f"Bearer {key}"} if key else headers
            given = _arguments(operation, world.ids[victim], victim, dice)
            url = path.replace("{id}", str(given.pop("id", ""))) if "{id}" in path else path
            if method == "GET":
                flat = {k: v for k, v in given.items() if not isinstance(v, list | dict)}
                answer = world.client.request(method, url, params=flat, headers=sent)
            else:
                answer = world.client.request(method, url, json=given, headers=sent)
            asked += 1
            assert answer.status_code != 500, (operation.name, answer.text)
            if operation.name in _ADMINISTERING:
                assert answer.status_code == 403, (operation.name, answer.text)
            found |= whose(answer.text)
    return found, asked


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
    with walled() as made:
        yield made


def test_no_route_gives_another_tenants_canary(world: World) -> None:
    dice = random.Random(7)
    for asker in range(TENANTS - ASKERS, TENANTS):
        victim = dice.choice([one for one in range(TENANTS) if one != asker])
        found, asked = leaks(world, asker, victim)
        assert found == {asker}, (asker, victim)
        assert asked > 200


def test_no_call_of_mem0s_surface_gives_another_tenants_canary(world: World) -> None:
    dice = random.Random(9)
    askers = max(1, ASKERS // 3)
    for asker in range(askers):
        victim = dice.choice([one for one in range(TENANTS) if one != asker])
        other, one = f"user{victim}", dice.choice(world.ids[victim])
        for call, (id, named) in itertools.product(CALLS, ((one, other), (f"{one}.{other}", None))):
            for address in call.addresses:
                method, _, path = address.partition(" ")
                path = path.replace("{memory_id}", id).replace("{entity_type}", "user")
                path = path.replace("{entity_id:path}", other)
                given = _mem0_arguments(call, address, id, named)
                how = {"params": given} if method == "GET" or call.name == "delete all" else {"json": given}
                for headers in world.headers(asker, victim, "Token"):
                    answer = world.client.request(method, path, headers=headers, **how)
                    assert answer.status_code != 500, (address, answer.text)
                    assert whose(answer.text) <= {asker}, (address, answer.text)
                    opens = call.name not in ("ping", "create export")
                    if ("Mnemic-Tenant" in headers and opens) or call.name in ("delete users", "reset"):
                        assert answer.status_code in (400, 401, 403, 404), (address, answer.text)
        untouched = world.memory.scope(tenant=f"tenant{victim}", user=other)
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


@pytest.mark.parametrize("door", [from_mcp, from_feed, from_gateway], ids=lambda door: door.__name__)
def test_no_other_door_gives_another_tenants_canary(world: World, door: Door) -> None:
    dice = random.Random(8)
    for asker in range(max(1, ASKERS // 3)):
        victim = dice.choice([one for one in range(TENANTS) if one != asker])
        own = set[int]()
        for asked, told in door(world, asker, victim):
            assert whose(told) <= {asker}, (asker, victim, asked)
            own |= whose(told)
        assert own == ({asker} if door is not from_feed else set()), "it gave what is the asker's own, or nothing"


def test_an_administrator_of_one_tenant_sees_nothing_of_another_and_of_the_whole_store(world: World) -> None:
    dice = random.Random(10)
    for asker in range(max(1, ASKERS // 3)):
        victim = dice.choice([one for one in range(TENANTS) if one != asker])
        found, _ = leaks(world, asker, victim, reads=True, key=world.administrator(asker))
        assert found == {asker}, (asker, victim)


def test_no_route_is_left_out(world: World) -> None:
    assert isinstance(world.client.app, Starlette)
    asked = {path for _, _, path in addresses(OPERATIONS.values())}
    asked |= {address.partition(" ")[2] for call in CALLS for address in call.addresses}
    asked |= {*MCP_PATHS, "/v1/feed", *_OF_NOBODY}
    key = world.administrator(3)
    for route in world.client.app.routes:
        for path in route._by_path if isinstance(route, ExactRoutes) else (getattr(route, "path", str(route)),):
            if path not in asked:
                answer = world.client.get(path, headers={"Authorization": f"Bearer {key}"})
                assert answer.status_code in (405, 501), f"no canary is looked for at {path}"
    for path in _OF_NOBODY:
        assert not whose(world.client.get(path, headers={"Authorization": f"Bearer {key}"}).text)


@pytest.mark.parametrize("door", ["routes", "mcp", "gateway"])
def test_a_server_without_one_check_of_the_scope_is_caught(
    world: World, monkeypatch: pytest.MonkeyPatch, door: str
) -> None:
    def unwalled(self: Principal, user: str | Shared | None = None, right: Right = Right.READ) -> Scope:
        named = user if isinstance(user, str) else self.user
        return Scope(user=named or "nobody", tenant=f"tenant{str(named).removeprefix('user')}")

    monkeypatch.setattr(Principal, "scope", unwalled)
    if door == "routes":
        found, _ = leaks(world, 30, 31, reads=True)
    else:
        told = from_mcp(world, 30, 31) if door == "mcp" else from_gateway(world, 30, 31)
        found = set[int]().union(*(whose(text) for _, text in told))
    assert 31 in found


def test_what_is_anothers_and_what_is_not_there_are_one_answer(world: World) -> None:
    own = {"Authorization": f"Bearer {world.keys[2]}"}
    never = "0" * 26
    answers = [world.client.get(f"/v1/items/{id}", headers=own) for id in (world.ids[3][0], never)]
    told = [{k: v for k, v in answer.json().items() if k != "request_id"} for answer in answers]
    assert [answer.status_code for answer in answers] == [404, 404]
    assert str(told[0]).replace(world.ids[3][0], never) == str(told[1])
