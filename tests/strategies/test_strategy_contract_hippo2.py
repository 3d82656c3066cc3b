"""HippoRAG 2 keeps the contract: by rules, as no answer of this model is sound."""

from __future__ import annotations

import pytest

from mnemic.strategies.base import Strategy
from mnemic.strategies.hippo2 import Hippo2
from mnemic.testing.strategy_contract import *  # noqa: F403


@pytest.fixture
def strategy() -> Strategy:
    return Hippo2()
