"""A strategy with a recall of its own keeps the contract."""

from __future__ import annotations

import pytest
from minding import Minding

from mnemic.strategies.base import Strategy
from mnemic.testing.strategy_contract import *  # noqa: F403


@pytest.fixture
def strategy() -> Strategy:
    return Minding()
