"""The PostgreSQL keeper keeps the store contract, on a real server."""

from collections.abc import Iterator

import psycopg
import pytest

from mnemic.core.clock import Clock
from mnemic.core.ids import Entropy
from mnemic.store.contract import Store
from mnemic.store.postgres.postgres_store import PostgresStore
from mnemic.testing.generators import ManualClock, SeededEntropy
from mnemic.testing.postgres_server import emptied
from mnemic.testing.store_contract import *  # noqa: F403

pytestmark = pytest.mark.heavy


class OfThisTest:
    """The clock and the randomness of the test that runs: connections are kept from one to the next."""

    clock: Clock
    entropy: Entropy

    def now(self) -> int:
        return self.clock.now()

    def bytes(self, n: int) -> bytes:
        return self.entropy.bytes(n)


_NOW = OfThisTest()


@pytest.fixture(scope="module")
def opened() -> Iterator[list[PostgresStore]]:
    """The store of the tests so far; none before the first."""
    stores: list[PostgresStore] = []
    yield stores
    for store in stores:
        store.close()


@pytest.fixture(scope="module")
def emptying(module_postgres_database: str) -> Iterator[psycopg.Connection]:
    with psycopg.connect(module_postgres_database, autocommit=True) as db:
        yield db


@pytest.fixture
def store(
    opened: list[PostgresStore], clock: ManualClock, module_postgres_database: str, emptying: psycopg.Connection
) -> Store:
    _NOW.clock, _NOW.entropy = clock, SeededEntropy()
    emptied(emptying)
    if not opened or opened[-1].closed:  # a test may have closed it
        opened.append(PostgresStore(module_postgres_database, clock=_NOW, entropy=_NOW))
    opened[-1].carry(lambda: None)  # what a test before this one gave it to carry
    return opened[-1]
