"""A strategy that asks a model keeps the contract, and lanes give it what design D9 promises."""

from __future__ import annotations

import pytest
from noting import Noting

from mnemic.strategies.base import Strategy
from mnemic.testing.strategy_contract import *  # noqa: F403


@pytest.fixture
def strategy() -> Strategy:
    return Noting()
