"""The SQLite keeper keeps the store contract."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from mnemic.store.contract import Store
from mnemic.store.sqlite.sqlite_store import SqliteStore
from mnemic.testing.generators import ManualClock, SeededEntropy
from mnemic.testing.store_contract import *  # noqa: F403


@pytest.fixture
def store(clock: ManualClock, tmp_path: Path) -> Iterator[Store]:
    store = SqliteStore(tmp_path / "memory.db", clock=clock, entropy=SeededEntropy())
    yield store
    store.close()
