"""Drive a strategy's own recall to its picks: it reads one commit, may ask a model, and writes nothing."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from mnemic.derive.drive import RunMeter, conversed
from mnemic.errors import Invalid, MnemicError, OverBudget
from mnemic.models.chat.base import Ask, Reply
from mnemic.models.model_requests import AskEach, AskMetered
from mnemic.strategies.base import Pick

if TYPE_CHECKING:
    from mnemic.derive.memory_reads import MemoryReads
    from mnemic.flow import Flow, Request
    from mnemic.strategies.base import Asked, Strategy
    from mnemic.writing import Desk

RECALL: Final = ":recall"
"""What follows a strategy's name in the meter of what its recall asks of models."""

_ENDS: Final = "End it with `return [Pick(...), ...]`; one that asks for nothing begins with `yield from ()`."
_REMEDY: Final = "Mend the strategy, or ask without `by`."


def has_own_recall(strategy: Strategy) -> bool:
    """Whether a strategy has a recall of its own."""
    return callable(getattr(strategy, "on_recall", None))


def own_picks(desk: Desk, strategy: Strategy, asked: Asked, reads: MemoryReads, space: int) -> Flow[list[Pick]]:
    """Drive a strategy's `on_recall` to its picks, best first, each of them something that it was shown.

    What a model answers is not recorded; what it took is metered beside the journal. Errors of a request are thrown in.

    Args:
        reads: Answers what it asks of its memory.
        space: Whose meter counts what models take.

    Raises:
        Invalid: it failed, is no flow, or returned something else than picks of what it was shown.
        ModelError: a model failed, and it did not go on without; `NoModel`: there is none; `OverBudget`: it asked for
            more than its budget.
    """
    step = f"{strategy.name}.on_recall"
    answering = _RecallAnswers(desk, strategy, reads, space)
    on_recall: Any = strategy.on_recall  # type: ignore[attr-defined]  # the protocol leaves it out: one need not have it
    try:
        picks = yield from conversed(on_recall(asked), answering.answered, step, _ENDS)
    except MnemicError:
        raise
    except Exception as error:  # somebody else's code: whoever asks is told whose it is
        raise Invalid("by", f"{step} failed: {type(error).__name__}: {error}", _REMEDY) from error
    return [_checked(step, pick, reads) for pick in _listed(step, picks)]


class _RecallAnswers:
    """Answers the requests of one recall: by its memory, and by a model within the strategy's budget."""

    def __init__(self, desk: Desk, strategy: Strategy, reads: MemoryReads, space: int) -> None:
        self._meter, self._reads = RunMeter(desk, strategy), reads
        self._name, self._space = strategy.name + RECALL, space

    def answered(self, request: Request) -> Flow[Any]:
        """Answer one request."""
        match request:
            case Ask():
                (answer,) = yield from self._asked((request,))
                if isinstance(answer, MnemicError):
                    raise answer
                return answer
            case AskEach(asks):
                return (yield from self._asked(asks))
            case _:
                return (yield from self._reads.answered(request))

    def _asked(self, asks: Sequence[Ask]) -> Flow[tuple[Reply | MnemicError, ...]]:
        """Ask the model side by side; what is over the budget it is not asked."""
        answers: dict[int, Reply | MnemicError] = {}
        within: dict[int, Ask] = {}
        for place, ask in enumerate(asks):
            try:
                self._meter.count(ask)
                within[place] = ask
            except OverBudget as over:
                answers[place] = over
        fresh: Sequence[Reply | MnemicError] = ()
        if within:
            fresh = yield AskMetered(self._name, self._space, tuple(within.values()))
        for (place, ask), answer in zip(within.items(), fresh, strict=True):
            answers[place] = answer
            if isinstance(answer, Reply):
                self._meter.settle(ask, answer)
        return tuple(answers[place] for place in range(len(asks)))


def _listed(step: str, picks: object) -> Sequence[object]:
    if isinstance(picks, str | bytes) or not isinstance(picks, Sequence):
        raise Invalid("by", f"{step} returned {type(picks).__name__}, no list of picks", _ENDS)
    return picks


def _checked(step: str, pick: object, reads: MemoryReads) -> Pick:
    """Return a pick that can be shown: of an item that the strategy was shown, with figures that can be compared."""
    if not isinstance(pick, Pick):
        raise Invalid("by", f"{step} returned a list with {type(pick).__name__} in it, which is no pick", _ENDS)
    shown = reads.shown.get(getattr(pick.item, "id", None))  # type: ignore[arg-type]  # whatever it put there
    if shown is None:
        problem = f"{step} picks {getattr(pick.item, 'id', pick.item)!r}, which it was not shown"
        raise Invalid("by", problem, "Pick what `search`, `fetch`, `keyed` or `known` returned.")
    figures = pick.components if isinstance(pick.components, Mapping) else {"components": None}
    for name, value in (("score", pick.score), *figures.items()):
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            raise Invalid(
                "by", f"{step} picks {shown.item.id} with {name} {value!r}, which is no finite number", _REMEDY
            )
    return Pick(item=shown.item, score=float(pick.score), components=dict(figures), why=str(pick.why))
