"""Strategies, one to a file: each a pure flow from evidence to edits.

Here is all that a strategy of one's own needs; the setting `strategies` takes it as `package.module:Class`.
"""

from mnemic.flow import Flow
from mnemic.models.chat.base import ChatMessage
from mnemic.models.model_requests import ask
from mnemic.strategies.base import (
    Bond,
    Budget,
    Derivation,
    Edits,
    Given,
    Revision,
    Strategy,
    known,
    nothing,
    pause,
)
from mnemic.strategies.strategy_requests import SearchHit, fetch, keyed, linked, search
from mnemic.strategies.triggers import Buffer, EachEvent, Importance, Interval, OnQuestion, TaskEnd, Trigger, Waiting
from mnemic.strategies.units import ExchangeUnit, ImportanceUnit, SessionUnit, TokensUnit, TurnUnit, Unit

__all__ = [
    "Bond",
    "Budget",
    "Buffer",
    "ChatMessage",
    "Derivation",
    "EachEvent",
    "Edits",
    "ExchangeUnit",
    "Flow",
    "Given",
    "Importance",
    "ImportanceUnit",
    "Interval",
    "OnQuestion",
    "Revision",
    "SearchHit",
    "SessionUnit",
    "Strategy",
    "TaskEnd",
    "TokensUnit",
    "Trigger",
    "TurnUnit",
    "Unit",
    "Waiting",
    "ask",
    "fetch",
    "keyed",
    "known",
    "linked",
    "nothing",
    "pause",
    "search",
]
