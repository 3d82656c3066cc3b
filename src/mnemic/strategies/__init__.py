"""Strategies, one to a file: each a pure flow from evidence to edits.

Here is all that a strategy of one's own needs; the setting `strategies` takes it as `package.module:Class`. What it
may have a model judge is in `mnemic.strategies.tasks`.
"""

from mnemic.core.items import Sight
from mnemic.flow import Flow
from mnemic.models.chat.base import ChatMessage
from mnemic.models.model_requests import ask
from mnemic.strategies.base import (
    Asked,
    Bond,
    Budget,
    Derivation,
    Edits,
    End,
    Given,
    Pick,
    Revision,
    Strategy,
    known,
    nothing,
    pause,
)
from mnemic.strategies.judging import JudgeTask, judged, judged_each
from mnemic.strategies.knowledge import Passage, passage_of
from mnemic.strategies.strategy_requests import (
    SearchHit,
    fetch,
    keyed,
    linked,
    scored,
    search,
    spread,
    strengths,
    vectors,
)
from mnemic.strategies.triggers import (
    Buffer,
    EachEvent,
    Feedback,
    Importance,
    Interval,
    OnQuestion,
    TaskEnd,
    Trigger,
    Waiting,
)
from mnemic.strategies.units import ExchangeUnit, ImportanceUnit, SessionUnit, TokensUnit, TurnUnit, Unit

__all__ = [
    "Asked",
    "Bond",
    "Budget",
    "Buffer",
    "ChatMessage",
    "Derivation",
    "EachEvent",
    "Edits",
    "End",
    "ExchangeUnit",
    "Feedback",
    "Flow",
    "Given",
    "Importance",
    "ImportanceUnit",
    "Interval",
    "JudgeTask",
    "OnQuestion",
    "Passage",
    "Pick",
    "Revision",
    "SearchHit",
    "SessionUnit",
    "Sight",
    "Strategy",
    "TaskEnd",
    "TokensUnit",
    "Trigger",
    "TurnUnit",
    "Unit",
    "Waiting",
    "ask",
    "fetch",
    "judged",
    "judged_each",
    "keyed",
    "known",
    "linked",
    "nothing",
    "passage_of",
    "pause",
    "scored",
    "search",
    "spread",
    "strengths",
    "vectors",
]
