"""`/ready` asks the store; `/health` does not: a process whose store is gone lives, and is to get no requests."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from mnemic import Memory, Settings
from mnemic.admin import Admin
from mnemic.faces.server import readiness
from mnemic.faces.server.application import application
from mnemic.faces.server.service import LoopbackAuthenticator, Service
from mnemic.testing.postgres_server import PostgresServer
from patience import PATIENCE, eventually

SETTINGS = Settings(embedder="none", background=False)


@pytest.fixture
def asked() -> Iterator[Callable[[Memory], TestClient]]:
    clients: list[TestClient] = []

    def serve(memory: Memory) -> TestClient:
        app = application(Service(memory, LoopbackAuthenticator(SETTINGS)))
        clients.append(TestClient(app, base_url="http://localhost").__enter__())
        return clients[-1]

    yield serve
    for client in clients:
        client.__exit__()


def refused(client: TestClient, what: str) -> None:
    answer = client.get("/ready")
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
    assert answer.headers["content-type"] == "application/problem+json"
    assert what in answer.json()["detail"]
    assert client.get("/health").status_code == 200


def test_a_server_whose_file_was_taken_away_is_not_ready_and_is_again_when_it_is_back(
    asked: Callable[[Memory], TestClient], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "memory.db"
    with Memory(path, settings=SETTINGS) as memory:
        client = asked(memory)
        assert client.get("/ready").json()["status"] == "ready"
        path.rename(tmp_path / "away.db")
        refused(client, "The file of the store does not answer: the store failed")
        assert str(tmp_path) not in client.get("/ready").text
        assert f"{path} was deleted or moved away" in caplog.text
        (tmp_path / "away.db").rename(path)
        assert client.get("/ready").status_code == 200


@pytest.mark.heavy
def test_a_server_whose_database_lets_nobody_in_is_not_ready_and_is_again_when_it_does(
    asked: Callable[[Memory], TestClient], postgres: PostgresServer, postgres_database: str
) -> None:
    name = postgres_database.rpartition("/")[2].partition("?")[0]
    with Memory(postgres_database, settings=SETTINGS) as memory:
        client = asked(memory)
        assert client.get("/ready").status_code == 200
        postgres.sql(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS false')
        ended = f"SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = '{name}'"
        eventually(lambda: postgres.sql(ended) == "0")
        refused(client, "The PostgreSQL server of the store does not answer: the store failed")
        assert str(postgres.port) not in client.get("/ready").text
        postgres.sql(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS true')
        assert client.get("/ready").status_code == 200


def test_a_store_that_keeps_silent_is_waited_for_no_longer_than_a_probe_waits(
    asked: Callable[[Memory], TestClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    silent, inside = threading.Event(), threading.Semaphore(0)

    def ping(_: Admin) -> None:
        inside.release()
        silent.wait(PATIENCE)

    monkeypatch.setattr(readiness, "SECONDS", 0.02)
    with Memory("memory:", settings=SETTINGS) as memory:
        client = asked(memory)
        with monkeypatch.context() as patched:
            patched.setattr(Admin, "ping", ping)
            for _ in range(5):  # however often a probe asks, no more than a few threads wait with it
                refused(client, "does not answer within")
            asking = sum(inside.acquire(blocking=False) for _ in range(5))
        assert asking == readiness.THREADS
        silent.set()
        eventually(lambda: client.get("/ready").status_code == 200)


def test_probes_that_come_together_share_one_ping(monkeypatch: pytest.MonkeyPatch) -> None:
    """A third probe of a store that was only a little slow was refused: its server got no more requests."""
    answering, pings = threading.Event(), threading.Semaphore(0)

    def ping(_: Admin) -> None:
        pings.release()
        answering.wait(PATIENCE)

    async def answer() -> str:
        answering.set()
        return ""

    async def probed(asking: readiness.Readiness) -> list[str]:
        return await asyncio.gather(*(asking.failure(f"r{n}") for n in range(8)), answer())

    monkeypatch.setattr(readiness, "SECONDS", PATIENCE)
    monkeypatch.setattr(Admin, "ping", ping)
    with Memory("memory:", settings=SETTINGS) as memory:
        assert set(asyncio.run(probed(readiness.Readiness(memory.admin)))) == {""}
    assert sum(pings.acquire(blocking=False) for _ in range(8)) == 1
