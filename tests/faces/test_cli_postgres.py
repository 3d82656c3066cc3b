"""The command line on a PostgreSQL store: a password is repeated by nothing, and a memory is moved there and back."""

from __future__ import annotations

import logging
import shlex

import pytest
from click.testing import CliRunner
from commandline import Run

from mnemic.faces.cli import cli
from mnemic.store.urls import shown
from mnemic.testing.postgres_server import APPLICATION, PostgresServer

COMMANDS = (
    ("add", "Ada lives in Lisbon."),
    ("recall", "Where does Ada live?"),
    ("list", "--json"),
    ("stats", "--json"),
    ("settings",),
    ("settings", "--json"),
    ("doctor",),
    ("doctor", "--json"),
    ("verify", "--json"),
    ("migrate", "--json"),
    ("jobs",),
    ("backup", "copy.db"),
    ("checkpoint", "before"),
    ("load", "nowhere.jsonl"),
    ("move", "nowhere.db"),
)


def said_by(*arguments: str) -> str:
    """What a command prints, and how it fails, however it ends."""
    ran = CliRunner().invoke(cli, list(arguments))
    return f"{ran.stdout}{ran.stderr}{ran.exception!r}"


@pytest.mark.heavy
@pytest.mark.usefixtures("home")
def test_no_command_repeats_a_password(
    postgres: PostgresServer, postgres_database: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    wrong = postgres_database.replace(postgres.password, "open-sesame")
    nowhere = postgres_database + "-nowhere"
    said = ""
    for where in (postgres_database, wrong, nowhere):
        for command in COMMANDS:
            said += said_by(*command, where) if command[0] == "move" else said_by("--store", where, *command)
        said += said_by("move", where, "copy.db", "--json")
    assert "Lisbon" in said
    assert "check the role and its password" in said
    everything = said + caplog.text
    assert postgres.password not in everything
    assert "open-sesame" not in everything


@pytest.mark.heavy
def test_a_memory_goes_to_a_server_and_comes_back(run: Run, postgres_database: str) -> None:
    run("--store", "old.db", "add", "Ada lives in Lisbon.")
    there = run("move", "old.db", postgres_database, "--json").json["tenants"]
    back = run("move", postgres_database, "new.db", "--json").json["tenants"]
    assert there[0]["state_hash"] == back[0]["state_hash"]
    for where in (postgres_database, "new.db"):
        assert run("--store", where, "log", "--json").out == run("--store", "old.db", "log", "--json").out
        assert run("--store", where, "verify").code == 0


@pytest.mark.heavy
def test_the_first_screen_names_the_server_and_how_all_of_it_becomes_a_file(run: Run, postgres_database: str) -> None:
    run("--store", postgres_database, "add", "Ada lives in Lisbon.")
    screen, shown_url = run("--store", postgres_database).out, shown(postgres_database)
    assert "on a PostgreSQL server" in screen
    assert f"mnemic move {shlex.quote(shown_url)} FILE" in screen
    assert "mnemic backup" not in screen
    assert "on your own disk" not in screen
    for command, what in (("backup", "mnemic move URL FILE"), ("checkpoint", "a restore point in the server's log")):
        assert what in " ".join(run(command, "--help").out.split())


@pytest.mark.heavy
def test_the_first_migration_of_an_empty_database_says_what_it_made(run: Run, postgres_database: str) -> None:
    assert "made the tables of a memory in" in run("--store", postgres_database, "migrate").out
    assert "up to date" in run("--store", postgres_database, "migrate").out


@pytest.mark.heavy
def test_a_checkpoint_on_a_server_is_a_restore_point_and_is_listed(
    run: Run, postgres: PostgresServer, postgres_database: str
) -> None:
    run("--store", postgres_database, "add", "Ada lives in Lisbon.")
    refused = run("--store", postgres_database, "checkpoint", "monthly", code=4)
    assert f"pg_create_restore_point(text) TO {APPLICATION};" in refused.err
    database = postgres_database.rpartition("/")[2].partition("?")[0]
    assert f"in database {database}" in refused.err
    postgres.sql(f"GRANT EXECUTE ON FUNCTION pg_create_restore_point(text) TO {APPLICATION}", database=database)
    made = run("--store", postgres_database, "checkpoint", "monthly")
    assert (made.code, "mnemic-monthly" in made.out) == (0, True)
    assert "mnemic-monthly" in run("--store", postgres_database, "checkpoints").out
