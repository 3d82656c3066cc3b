"""What a commit, a wall and a view promise, on the oldest PostgreSQL that is served, and through PgBouncer."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import NamedTuple

import psycopg
import pytest

from mnemic.memory import Memory
from mnemic.settings import Settings
from mnemic.store.contract import Store
from mnemic.store.postgres.postgres_store import PostgresStore
from mnemic.testing.generators import ManualClock
from mnemic.testing.pgbouncer import installed_pgbouncer, running_pgbouncer
from mnemic.testing.postgres_server import PostgresServer, emptied, running_postgres
from mnemic.testing.store_contract.commit_contract import *  # noqa: F403
from mnemic.testing.store_contract.concurrency_contract import *  # noqa: F403
from mnemic.testing.store_contract.contract_world import clock, world  # noqa: F401
from mnemic.testing.store_contract.wall_contract import *  # noqa: F403

pytestmark = pytest.mark.heavy


class Installation(NamedTuple):
    """A database, by the URL that is tried, and by that of the server itself."""

    url: str
    direct: str


KINDS = ("PostgreSQL 15", "PgBouncer by transaction", "PgBouncer by session")
"""By session, PgBouncer keeps less from a client than by transaction: the slow run tries the whole contract so."""


@pytest.fixture(scope="module", params=[*KINDS[:2], pytest.param(KINDS[2], marks=pytest.mark.slow)])
def installation(request: pytest.FixtureRequest) -> Iterator[Installation]:
    if request.param == "PostgreSQL 15":
        with running_postgres(request.getfixturevalue("oldest_postgres_programs")) as oldest:
            url = oldest.create_database("oldest")
            yield Installation(url, url)
        return
    program = installed_pgbouncer()
    if program is None:
        pytest.skip("no PgBouncer: install Debian's package pgbouncer")
    server: PostgresServer = request.getfixturevalue("postgres")
    direct = server.create_database("pooled")
    try:
        with running_pgbouncer(program, server, "pooled", request.param.rsplit(maxsplit=1)[1]) as url:
            yield Installation(url, direct)
    finally:
        server.drop_database("pooled")


@pytest.fixture(scope="module")
def emptying(installation: Installation) -> Iterator[psycopg.Connection]:
    with psycopg.connect(installation.direct, autocommit=True) as db:
        yield db


@pytest.fixture
def store(clock: ManualClock, installation: Installation, emptying: psycopg.Connection) -> Iterator[Store]:  # noqa: F811
    emptied(emptying)
    with closing(PostgresStore(installation.url, clock=clock)) as store:
        yield store


@pytest.mark.parametrize("installation", KINDS, indirect=True)
def test_a_memory_is_written_asked_erased_and_settled(installation: Installation, emptying: psycopg.Connection) -> None:
    emptied(emptying)
    with Memory(installation.url, settings=Settings(background=False, embedder="none")) as memory:
        me = memory.scope(user="ada")
        for number in range(12):  # often enough that a driver would prepare what comes again
            me.observe(f"The heron came {number} times.", key=f"{number}")
        secret = me.observe("My safe opens with 4711.").ids[0]
        assert "heron" in me.context("How often did the heron come?").text
        assert me.erase(secret).status == "pending"
        assert "4711" not in me.context("What opens my safe?").text
        assert list(memory.admin.verify()) == []
    with Memory(installation.direct, settings=Settings(background=False, embedder="none")) as memory:
        assert memory.admin.settle()
