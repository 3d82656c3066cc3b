"""Strategies, one to a file: each a pure flow from evidence to edits.

Here is all that a strategy of one's own needs; the setting `strategies` takes it as `package.module:Class`. What it
may have a model judge is in `mnemic.strategies.tasks`.
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
from mnemic.strategies.judging import JudgeTask, judged, judged_each
from mnemic.strategies.knowledge import Passage, passage_of
from mnemic.strategies.triggers import Buffer, EachEvent, Importance, Interval, OnQuestion, TaskEnd, Trigger, Waiting

__all__ = [
    "Bond",
    "Budget",
    "Buffer",
    "ChatMessage",
    "Derivation",
    "EachEvent",
    "Edits",
    "Flow",
    "Given",
    "Importance",
    "Interval",
    "JudgeTask",
    "OnQuestion",
    "Passage",
    "Revision",
    "Strategy",
    "TaskEnd",
    "Trigger",
    "Waiting",
    "ask",
    "judged",
    "judged_each",
    "known",
    "nothing",
    "passage_of",
    "pause",
]
