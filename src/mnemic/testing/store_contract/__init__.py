"""The store contract as tests: what every keeper promises, one sentence to a test.

A backend proves itself with one import and one fixture, in a test file of its own::

    from mnemic.testing.store_contract import *


    @pytest.fixture
    def store(clock):
        store = MyStore(clock=clock)
        yield store
        store.close()

`clock` and `world` come with the import. Put `pytest.register_assert_rewrite("mnemic.testing.store_contract")` in
`conftest.py` to have pytest show the values of an assertion that fails.
"""

from mnemic.testing.store_contract.carrying_contract import *  # noqa: F403
from mnemic.testing.store_contract.commit_contract import *  # noqa: F403
from mnemic.testing.store_contract.compaction_contract import *  # noqa: F403
from mnemic.testing.store_contract.concurrency_contract import *  # noqa: F403
from mnemic.testing.store_contract.contract_world import clock, world
from mnemic.testing.store_contract.erasure_contract import *  # noqa: F403
from mnemic.testing.store_contract.feed_contract import *  # noqa: F403
from mnemic.testing.store_contract.job_contract import *  # noqa: F403
from mnemic.testing.store_contract.journal_contract import *  # noqa: F403
from mnemic.testing.store_contract.lane_contract import *  # noqa: F403
from mnemic.testing.store_contract.pack_contract import *  # noqa: F403
from mnemic.testing.store_contract.page_contract import *  # noqa: F403
from mnemic.testing.store_contract.vector_contract import *  # noqa: F403
from mnemic.testing.store_contract.view_contract import *  # noqa: F403
from mnemic.testing.store_contract.view_contract import moved
from mnemic.testing.store_contract.wall_contract import *  # noqa: F403

__all__ = ["clock", "moved", "world", *(name for name in dir() if name.startswith("test_"))]
