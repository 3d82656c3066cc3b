from __future__ import annotations

import pytest
from told import set_patience

from mnemic.models.patience import Patience

pytest.register_assert_rewrite("mnemic.testing.embedder_contract", "mnemic.testing.chat_contract")


@pytest.fixture
def slept() -> list[float]:
    """The pauses that a `patience` has taken, in seconds."""
    return []


@pytest.fixture
def patience(slept: list[float]) -> Patience:
    return set_patience(slept)
