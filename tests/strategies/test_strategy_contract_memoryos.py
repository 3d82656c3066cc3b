"""`memoryos` keeps the contract of strategies, each turn by itself: how it is cut changes nothing about that."""

from __future__ import annotations

import json
from dataclasses import dataclass

import pytest

from mnemic.lab.kit.scripted_readers import terse
from mnemic.strategies.base import Strategy
from mnemic.strategies.memoryos import MemoryOS
from mnemic.strategies.units import TurnUnit, Unit
from mnemic.testing.strategy_contract import *  # noqa: F403
from mnemic.testing.strategy_contract import Model


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryOSByTurn(MemoryOS):
    unit: Unit = TurnUnit()  # noqa: RUF009 - it is frozen
    hot: float = 2.0


@pytest.fixture
def strategy() -> Strategy:
    return MemoryOSByTurn()


@pytest.fixture
def model() -> Model:  # type: ignore[no-redef]  # it takes the place of the suite's
    return lambda ask: json.dumps({"reasoning": "So it says.", **terse(ask)})
