"""What an erasure leaves in a PostgreSQL server's files, what its receipt says, and what settling takes away."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from mnemic.store.postgres.postgres_store import PostgresStore
from mnemic.testing.postgres_server import PostgresServer
from mnemic.testing.store_contract.contract_world import World

CANARY = "canary-in-a-coal-mine"


@pytest.fixture
def world(postgres_database: str) -> Iterator[World]:
    with closing(PostgresStore(postgres_database)) as store:
        yield World(store)


def files_with(postgres: PostgresServer, word: str) -> list[str]:
    """The files of tables that hold a word, once all of them are written out."""
    postgres.sql("CHECKPOINT")
    files = [path for path in (postgres.data / "base").rglob("*") if path.is_file()]
    return [path.name for path in files if word.encode() in _bytes_of(path)]


def _bytes_of(path: Path) -> bytes:
    """What a file holds; one that another test's server process has taken away meanwhile holds nothing."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""


def erasures(world: World) -> tuple[bool, str]:
    """What `doctor` says of erasures."""
    (check,) = [check for check in world.store.doctor() if check.name == "erasures"]
    return check.ok, check.found


def test_settling_takes_every_byte_from_the_tables(
    world: World, postgres: PostgresServer, postgres_database: str
) -> None:
    item = world.item(CANARY, session=CANARY, agent=CANARY)
    world.commit("other", world.put(item))
    world.tie(item.id, item.id, CANARY)
    postgres.sql("ANALYZE", database=postgres_database.rsplit("/", 1)[1])  # which samples what rows say
    assert files_with(postgres, CANARY)
    receipt = world.erase(item.id, reason="")
    assert receipt.status == "pending"
    assert any("mnemic verify" in where for where in receipt.left)
    assert files_with(postgres, CANARY)  # what is deleted stays in its page
    assert erasures(world) == (False, "tables are to be rewritten")
    assert world.store.settle()
    assert erasures(world) == (True, "settled")
    assert files_with(postgres, CANARY) == []
    assert world.texts() == ["other"]
    assert world.faults() == []


def test_what_cannot_be_reached_is_named(world: World) -> None:
    item = world.item("x")
    world.commit(world.put(item))
    outside = " ".join(world.erase(item.id).outside)
    assert all(word in outside for word in ("write-ahead log", "archived", "replicas", "base backups"))
    assert "replays this erasure" not in outside  # which is a file's


def test_nothing_is_owed_where_nothing_was_erased(world: World) -> None:
    world.commit("x")
    assert world.store.settle()
