"""The graph of dated facts keeps the contract."""

from __future__ import annotations

import pytest

from mnemic.strategies.base import Strategy
from mnemic.strategies.zep import Zep
from mnemic.testing.strategy_contract import *  # noqa: F403


@pytest.fixture
def strategy() -> Strategy:
    return Zep()
