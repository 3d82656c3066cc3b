"""Strategies that leave some of what they ask a model to the rules of it, as where a budget is used up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from typing import TYPE_CHECKING, Any, Final

from mnemic.derive.drive import conversed
from mnemic.errors import OverBudget
from mnemic.models.chat.base import Ask
from mnemic.models.model_requests import AskEach

if TYPE_CHECKING:
    from mnemic.errors import MnemicError
    from mnemic.flow import Flow, Request
    from mnemic.models.chat.base import Reply
    from mnemic.strategies.base import Strategy

_STEPS: Final = ("on_write", "on_maintain", "on_recall")
_REMEDY: Final = "A step of a strategy is a generator of requests."


def asked_by(strategy: Strategy) -> tuple[str, ...]:
    """The tasks that a strategy states it puts to a model; none where it asks none, or does not say."""
    return tuple(getattr(strategy, "asks", ()))


def judged_by_rules(strategy: Strategy, tasks: frozenset[str]) -> Strategy:
    """Return a strategy that is the same, but that these tasks of it are put to no model: rules judge them.

    It is still told that there is a model, and asks it whatever else it asks.
    """
    kind = type(strategy)
    steps = {name: _answering(getattr(kind, name), tasks, name) for name in _STEPS if hasattr(kind, name)}
    made = copy(strategy)
    object.__setattr__(made, "__class__", type(kind.__name__, (kind,), {"__slots__": (), **steps}))  # it may be frozen
    return made


def _answering(step: Callable[..., Flow[Any]], tasks: frozenset[str], name: str) -> Callable[..., Flow[Any]]:
    def answering(self: Strategy, given: Any) -> Flow[Any]:
        return (yield from conversed(step(self, given), lambda request: _answered(request, tasks), name, _REMEDY))

    return answering


def _answered(request: Request, tasks: frozenset[str]) -> Flow[Any]:
    """Answer a request: what is left out as a budget that is used up does, all else by whoever drives the strategy."""
    match request:
        case Ask(task=task) if task in tasks:
            raise _left_out(task)
        case AskEach(asks):
            put = tuple(ask for ask in asks if ask.task not in tasks)
            answers: Sequence[Reply | MnemicError] = (yield AskEach(put)) if put else ()
            given = dict(zip(map(id, put), answers, strict=True))
            return tuple(given.get(id(ask), _left_out(ask.task)) for ask in asks)
        case _:
            return (yield request)


def _left_out(task: str) -> OverBudget:
    return OverBudget(f"{task} is left out")
