"""`stream` keeps the contract of strategies, each turn by itself: how it is cut changes nothing about that."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from mnemic.strategies.base import Strategy
from mnemic.strategies.stream import Stream
from mnemic.strategies.units import TurnUnit, Unit
from mnemic.testing.strategy_contract import *  # noqa: F403


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamByTurn(Stream):
    unit: Unit = TurnUnit()  # noqa: RUF009 - it is frozen


@pytest.fixture
def strategy() -> Strategy:
    return StreamByTurn()
