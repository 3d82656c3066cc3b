from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.register_assert_rewrite("mnemic.testing.store_contract")

from mnemic.store.sqlite.sqlite_store import SqliteStore  # noqa: E402 - what it brings in is rewritten only once that is said
from mnemic.testing.store_contract.contract_world import World  # noqa: E402


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


@pytest.fixture
def world(path: Path) -> Iterator[World]:
    world = World(SqliteStore(path))
    yield world
    world.store.close()
