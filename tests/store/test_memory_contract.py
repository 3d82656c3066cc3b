"""The keeper in memory keeps the store contract."""

from collections.abc import Iterator

import pytest

from mnemic.store.contract import Store
from mnemic.store.sqlite.sqlite_store import MemoryStore
from mnemic.testing.generators import ManualClock, SeededEntropy
from mnemic.testing.store_contract import *  # noqa: F403


@pytest.fixture
def store(clock: ManualClock) -> Iterator[Store]:
    store = MemoryStore(clock=clock, entropy=SeededEntropy())
    yield store
    store.close()
