"""A strategy's flow, driven: its reads pinned, its models' answers found again or recorded, its budget kept."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from mnemic.errors import Conflict, MnemicError, OverBudget
from mnemic.flow import All, Flow, Request
from mnemic.models.model_requests import Ask
from mnemic.store.following import Answer
from mnemic.store.requests import look, record
from mnemic.strategies.base import Edits, Known
from mnemic.work.hidden import spared
from mnemic.work.lanes import LEASE_SECONDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mnemic.core.items import Item
    from mnemic.strategies.base import Strategy
    from mnemic.work.gathering import Run
    from mnemic.writing import Desk

BYTES_A_TOKEN: Final = 4


def driven(desk: Desk, strategy: Strategy, run: Run, *, maintain: bool = False) -> Flow[Edits]:
    """What a strategy's flow returns: its reads answered as of the run's pin, its models' answers recorded, its budget
    kept, and what its owner hid left out. Errors of a request are thrown in; what it does not catch ends the run."""
    flow = strategy.on_maintain(run.given) if maintain else strategy.on_write(run.given)
    asking = _Asking(run, _Meter(desk, strategy))
    try:
        request = next(flow)
        while True:
            try:
                answer = yield from asking.answered(request)
            except Conflict:
                raise  # the run is over: the lease has passed on, or the store is being closed
            except MnemicError as error:
                request = flow.throw(error)
            else:
                request = flow.send(answer)
    except StopIteration as done:
        edits: Edits = done.value
        return (yield from spared(run.space, run.hidden, edits))
    finally:
        flow.close()


class _Asking:
    """Answers what one run asks for, and knows what it was given so far: all that a model may have been told."""

    def __init__(self, run: Run, meter: _Meter) -> None:
        self._run, self._meter = run, meter
        self._given = dict.fromkeys(item.id for item in (*run.given.evidence, *run.given.known))

    def answered(self, request: Request) -> Flow[Any]:
        """The answer to one request."""
        match request:
            case All(requests):
                return (yield from self._each(requests))
            case Known():
                return (yield from self._known(request))
            case Ask():
                return (yield from self._asked(request))
            case _:
                return (yield request)

    def _each(self, requests: Sequence[Request]) -> Flow[list[Any]]:
        """The answers, and in the place of one that failed its error."""
        outcomes: list[Any] = []
        for one in requests:
            try:
                outcomes.append((yield from self.answered(one)))
            except Conflict:
                raise
            except MnemicError as error:
                outcomes.append(error)
        return outcomes

    def _known(self, request: Known) -> Flow[list[Item]]:
        run = self._run
        found = yield from look(lambda s: s.latest((run.space,), request.where, run.view, limit=request.limit))
        items = [version.item for version in found]
        self._given |= dict.fromkeys(item.id for item in items)
        return items

    def _asked(self, request: Ask) -> Flow[str]:
        """A model's answer; the one that was recorded, if this was asked before.

        Raises:
            Conflict: somebody else is to go on; what was answered is kept for them.
        """
        space, lane = self._run.space, self._run.lane.name
        asked = json.dumps([request.limit, *((m.role, m.content) for m in request.messages)]).encode()
        before = yield from look(lambda s: s.recorded(space, lane, asked))
        if before is not None:
            return before.decode()
        self._meter.count(request)
        answer: str = yield request
        if not (yield from record(self._kept(asked, answer.encode()))):
            raise Conflict("something was erased meanwhile; the run goes on from its answers")
        return answer

    def _kept(self, asked: bytes, answered: bytes) -> Answer:
        """The answer under the lease of the run: of its lane, or of a dead letter's job."""
        run = self._run
        return Answer(
            space=run.space,
            lane=run.lane.name,
            asked=asked,
            answered=answered,
            owner=run.lane.owner if run.job is None else run.job.owner,
            job=0 if run.job is None else run.job.id,
            seconds=LEASE_SECONDS,
            given=tuple(self._given),
            pin=run.lane.seq,
        )


class _Meter:
    """What one run has asked of models."""

    def __init__(self, desk: Desk, strategy: Strategy) -> None:
        self._clock, self._name, self._budget = desk.clock, strategy.name, strategy.budget
        self._calls = self._tokens = self._began = 0

    def count(self, request: Ask) -> None:
        """Count one question.

        Raises:
            OverBudget: it is one too many.
        """
        now, most = self._clock.now(), self._budget
        self._began = self._began or now
        self._calls += 1
        self._tokens += tokens_of(request)
        over = [
            name
            for name, spent, limit in (
                ("calls", self._calls, most.calls),
                ("tokens", self._tokens, most.tokens or self._tokens),
                ("seconds", (now - self._began) / 1_000_000, most.seconds or float("inf")),
            )
            if spent > limit
        ]
        if over:
            raise OverBudget(f"strategy {self._name}: this run is over its budget of {over[0]}")


def tokens_of(request: Ask) -> int:
    """About how many tokens a question and its answer may cost."""
    return sum(len(m.content.encode()) for m in request.messages) // BYTES_A_TOKEN + request.limit
