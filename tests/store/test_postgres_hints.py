"""Hints of another process's commit: heard before the next look at the heads, and never needed."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any

import psycopg
import pytest

from mnemic.errors import StoreError
from mnemic.store.postgres import hearing, hints
from mnemic.store.postgres.postgres_store import PostgresStore
from mnemic.store.postgres.server_connections import ServerAddress
from mnemic.testing.store_contract.contract_world import World


def until(holds: Callable[[], bool]) -> None:
    ends = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < ends
        time.sleep(0.005)


def listens(url: str) -> bool:
    with psycopg.connect(url) as db:
        return db.execute(hints.LISTENED).fetchone() == (True,)


def test_a_commit_of_another_process_is_hinted_at(postgres_database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hearing, "SHORTEST", 300.0)  # nobody looks again by themselves
    monkeypatch.setattr(hearing, "LONGEST", 300.0)
    with (
        closing(PostgresStore(postgres_database)) as here,
        closing(PostgresStore(postgres_database)) as there,
        ThreadPoolExecutor(1) as pool,
    ):
        mark = here.moved()
        waiting = pool.submit(here.wait, mark, 200.0)
        until(lambda: listens(postgres_database) and len(here._bell._waiting) > 0)
        World(there).commit("heard")
        assert waiting.result(timeout=100)


def test_nothing_is_said_where_nobody_listens(postgres_database: str) -> None:
    with closing(PostgresStore(postgres_database)) as store:
        World(store).commit("unheard")
        assert store._hints.process == 0
        assert "mnemic-hints" not in {thread.name for thread in threading.enumerate()}


def test_behind_a_pooler_nobody_listens(postgres_database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mnemic.store.postgres.postgres_store.is_pooled", lambda _db: True)
    with closing(PostgresStore(postgres_database)) as store:
        assert not store.wait(store.moved(), 0)
        World(store).commit("written")
        assert store._hearer._thread is None
        assert store._hints._asked == float("-inf")


def test_hints_go_on_after_a_server_had_no_connection_to_spare(
    postgres_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hints, "AGAIN_SECONDS", 0.0)
    connect, refused = ServerAddress.connect, {"mnemic-hints", "mnemic-listener"}

    def connect_later(where: ServerAddress, **options: Any) -> Any:
        if (name := threading.current_thread().name) in refused:
            refused.remove(name)
            raise StoreError("no connection to spare")
        return connect(where, **options)

    monkeypatch.setattr(ServerAddress, "connect", connect_later)
    with closing(PostgresStore(postgres_database)) as store:
        store._hints.learn(listened=True)
        until(lambda: bool(store._hearer.want() or listens(postgres_database)))
        until(lambda: bool(store._hints.committed() or store._hints.process))
    assert not refused
