"""Memory on two servers: found by the table, followed while it moves, and moved by the command line."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from typing import Any

import pytest
from click.testing import CliRunner
from starlette.testclient import TestClient

from mnemic.errors import Invalid, NotFound, TenantElsewhere
from mnemic.faces.cli import cli
from mnemic.faces.server.application import application
from mnemic.faces.server.service import LoopbackAuthenticator, Service
from mnemic.memory import Memory
from mnemic.placement import PlacedMemory, add_server, move_bucket, read_servers
from mnemic.settings import Settings
from mnemic.store.moving import tenants_of
from mnemic.store.postgres.postgres_store import PostgresStore
from mnemic.store.values.buckets import bucket_of
from mnemic.testing.postgres_server import PostgresServer
from patience import eventually

pytestmark = pytest.mark.heavy

SETTINGS = Settings(background=False, embedder="none")
ACME = bucket_of("acme")


@pytest.fixture(scope="module")
def urls(new_postgres_database: Callable[..., str], postgres: PostgresServer) -> tuple[str, str]:
    """Two servers with a placement, by URLs without a password."""
    one, two = (postgres.url(new_postgres_database().rsplit("/", 1)[1], unix=True) for _ in range(2))
    add_server(one, "one", one)
    add_server(one, "two", two)
    return one, two


@pytest.fixture
def placed(urls: tuple[str, str]) -> Iterator[PlacedMemory]:
    with PlacedMemory(urls[0], settings=SETTINGS) as memory:
        yield memory


def test_a_handle_follows_a_tenant_while_it_moves(urls: tuple[str, str], placed: PlacedMemory) -> None:
    said: list[str] = []
    stop = threading.Event()

    def talk() -> None:
        while not stop.is_set():
            text = f"I saw bird {len(said)}."
            placed.run(lambda me: me.observe(text), user="ada", tenant="acme")  # noqa: B023 - runs before it goes on
            said.append(text)
            read = placed.run(lambda me: [each.item.text for each in me.list(limit=1)], user="ada", tenant="acme")
            assert read == [text]  # never older than what was just written, on whichever server

    talking = threading.Thread(target=talk)
    talking.start()
    eventually(lambda: len(said) >= 3 or not talking.is_alive())
    (moved,) = move_bucket(urls[0], ACME, "two")
    until = len(said) + 3
    eventually(lambda: len(said) >= until or not talking.is_alive())
    stop.set()
    talking.join()
    assert len(said) >= until
    with Memory(urls[1], settings=SETTINGS) as two:
        there = [each.item.text for each in two.scope(user="ada", tenant="acme").list(limit=1000)]
    assert (moved.tenant, sorted(there)) == ("acme", sorted(said))
    assert placed.refresh().server_of(ACME) == "two"
    assert placed.memory("acme") is not placed.memory("acme-2") or bucket_of("acme-2") == ACME


def test_one_server_alone_refuses_what_the_other_keeps(urls: tuple[str, str]) -> None:
    list(move_bucket(urls[0], bucket_of("refused"), "two"))
    with Memory(urls[0], settings=SETTINGS) as one:
        me = one.scope(user="ada", tenant="refused")
        for ask in (lambda: me.observe("No."), lambda: me.recall("No?"), lambda: me.list(), lambda: me.context("No?")):
            with pytest.raises(TenantElsewhere, match=f"'two'; ask that one, at {re.escape(urls[1])}"):
                ask()
    list(move_bucket(urls[0], bucket_of("refused"), "one"))
    with Memory(urls[1], settings=SETTINGS) as two:  # which has no table
        me = two.scope(user="ada", tenant="refused")
        for ask in (lambda: me.observe("No."), lambda: me.recall("No?")):
            with pytest.raises(TenantElsewhere, match=r"another server; .* `mnemic --store URL place show refused`"):
                ask()


def test_a_server_answers_whoever_asks_for_what_another_keeps_and_shows_no_address(
    urls: tuple[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    with Memory(urls[0], settings=SETTINGS) as one:
        one.scope(user="ada", tenant="asked").observe("Here.")
        list(move_bucket(urls[0], bucket_of("asked"), "two"))
        with TestClient(
            application(Service(one, LoopbackAuthenticator(SETTINGS))), base_url="http://localhost"
        ) as asks:
            headers = {"Mnemic-User": "ada", "Mnemic-Tenant": "asked"}
            answer = asks.post("/v1/recall", json={"query": "Where?"}, headers=headers)
    assert answer.status_code == 421
    assert "mnemic place show" in answer.json()["detail"]
    assert urls[1] not in answer.text
    assert urls[1] in caplog.text  # for whoever keeps the servers


def run_place(url: str, *words: str) -> Any:
    ran = CliRunner().invoke(cli, ["--store", url, "place", *words, "--json"])
    assert ran.exit_code == 0, ran.output
    return json.loads(ran.output)


def test_the_command_line_shows_and_moves(urls: tuple[str, str], placed: PlacedMemory) -> None:
    one, two = urls
    bucket = bucket_of("shown")
    placed.run(lambda me: me.observe("Here."), user="ada", tenant="shown")
    assert run_place(one, "show", "shown") == {
        "tenant": "shown", "bucket": bucket, "server": "one", "url": one, "moving_to": None,
    }  # fmt: skip
    moved = run_place(one, "move", str(bucket), "two")
    assert [each["tenant"] for each in moved["tenants"]] == ["shown"]
    listed = run_place(one, "list")
    assert ([server["name"] for server in listed["servers"]], listed["moving"]) == (["one", "two"], [])
    assert sum(server["buckets"] for server in listed["servers"]) == 4096
    assert run_place(one, "show", "shown")["url"] == two
    with ExitStack() as opened:
        stores = [opened.enter_context(closing(PostgresStore(url))) for url in urls]
        assert ["shown" in tenants_of(store) for store in stores] == [False, True]
    assert run_place(one, "move", str(bucket), "two")["tenants"] == []


def test_what_cannot_be_placed_is_told(urls: tuple[str, str], postgres: PostgresServer) -> None:
    with pytest.raises(Invalid, match="has a password"):
        add_server(urls[0], "three", "postgresql://mnemic:secret@three/memory")
    with pytest.raises(NotFound, match="no server 'three'"):
        list(move_bucket(urls[0], 1, "three"))
    with pytest.raises(Invalid, match="Buckets are 0 to 4095"):
        list(move_bucket(urls[0], 4096, "two"))
    with pytest.raises(Invalid, match="names a file"):
        read_servers("memory.db")
    with pytest.raises(NotFound, match="no placement"):
        read_servers(urls[1])
