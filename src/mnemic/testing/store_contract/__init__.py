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

from mnemic.testing.store_contract.carrying import *  # noqa: F403
from mnemic.testing.store_contract.commits import *  # noqa: F403
from mnemic.testing.store_contract.compaction import *  # noqa: F403
from mnemic.testing.store_contract.erasure import *  # noqa: F403
from mnemic.testing.store_contract.feed import *  # noqa: F403
from mnemic.testing.store_contract.jobs import *  # noqa: F403
from mnemic.testing.store_contract.journal import *  # noqa: F403
from mnemic.testing.store_contract.lanes import *  # noqa: F403
from mnemic.testing.store_contract.pages import *  # noqa: F403
from mnemic.testing.store_contract.together import *  # noqa: F403
from mnemic.testing.store_contract.vectors import *  # noqa: F403
from mnemic.testing.store_contract.views import *  # noqa: F403
from mnemic.testing.store_contract.views import moved
from mnemic.testing.store_contract.walls import *  # noqa: F403
from mnemic.testing.store_contract.world import clock, world

__all__ = ["clock", "moved", "world", *(name for name in dir() if name.startswith("test_"))]
