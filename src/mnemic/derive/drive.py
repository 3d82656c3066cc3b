"""Drive a strategy's flow: reads pinned to a commit, model answers recorded and reused, the budget enforced."""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any, Final

from mnemic.core.clock import micros
from mnemic.derive.memory_reads import MemoryReads
from mnemic.errors import Conflict, Invalid, MnemicError, ModelError, OverBudget, OverQuota
from mnemic.flow import Flow, Request
from mnemic.lanes.slices import LEASE_SECONDS
from mnemic.models.chat.base import Ask, Reply, estimated_prompt
from mnemic.models.chat.recording import packed_reply, question_key, unpacked_reply
from mnemic.models.chat.soundness import is_sound
from mnemic.models.model_requests import AskEach, NameModel
from mnemic.store.engine.job_queue import record
from mnemic.store.requests import Transact, look
from mnemic.store.values.work import RecordedAnswer
from mnemic.strategies.base import Edits

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from mnemic.core.ids import ItemId
    from mnemic.core.items import Version
    from mnemic.derive.runs import StrategyRun
    from mnemic.strategies.base import Strategy
    from mnemic.writing import Desk

_REMEDY: Final = "Begin it with `yield from ()` if it asks for nothing, and end it with `return Edits(...)`."


def driven(
    desk: Desk, strategy: Strategy, run: StrategyRun, *, maintain: bool = False
) -> Flow[tuple[Edits, Mapping[ItemId, Version]]]:
    """Drive a strategy's flow to its edits: reads are as of the run's pin, model answers recorded, the budget enforced.

    Errors of a request are thrown in; what the strategy does not catch ends the run. Without evidence it is not called.

    Returns:
        What it wants done; and the versions that it was given as known or looked up, by id: what it may change.

    Raises:
        Invalid: it is no flow, or does not end in edits.
    """
    asking = _Asking(desk, strategy, run)
    if not run.given.evidence:
        return Edits(), asking.reads.shown
    flow = strategy.on_maintain(run.given) if maintain else strategy.on_write(run.given)
    step = f"{strategy.name}.{'on_maintain' if maintain else 'on_write'}"
    edits = yield from conversed(flow, asking.answered, step, _REMEDY)
    if not isinstance(edits, Edits):
        raise Invalid("strategies", f"{step} returned {type(edits).__name__}, not Edits", _REMEDY)
    return edits, asking.reads.shown


def conversed(flow: object, answered: Callable[[Request], Flow[Any]], step: str, remedy: str) -> Flow[object]:
    """Drive a strategy's flow to what it returns; errors of a request are thrown in, and one it lets through ends it.

    Args:
        answered: Answers its requests.
        step: Whose flow it is, for errors.

    Raises:
        Invalid: it is no flow, or yields what is no request.
        Conflict: the run is over: the lease has passed on, or the store is being closed.
        OverQuota: its user's hour of questions is used up; it is repeated, and goes on from its answers.
    """
    if not isinstance(flow, Generator):
        raise Invalid("strategies", f"{step} yields nothing and returned {type(flow).__name__}", remedy)
    try:
        request = next(flow)
        while True:
            if not isinstance(request, Request):
                raise Invalid("strategies", f"{step} yields {type(request).__name__}, which is no request", remedy)
            try:
                answer = yield from answered(request)
            except (Conflict, OverQuota):
                raise
            except MnemicError as error:
                request = flow.throw(error)
            else:
                request = flow.send(answer)
    except StopIteration as done:
        value: object = done.value
        return value
    finally:
        flow.close()


class _Asking:
    """Answers the requests of one run's strategy: by its memory, and by a model whose answers are recorded."""

    def __init__(self, desk: Desk, strategy: Strategy, run: StrategyRun) -> None:
        given = {item.id for item in run.given.evidence}
        self._run, self._meter = run, RunMeter(desk, strategy)
        self.reads = MemoryReads(
            strategy, (run.space,), run.view, micros(run.given.now), given=given, upto=run.upto, known=run.known
        )

    def answered(self, request: Request) -> Flow[Any]:
        """Answer one request."""
        match request:
            case Ask():
                return (yield from self._asked(request))
            case AskEach(asks):
                return (yield from self._asked_each(asks))
            case _:
                return (yield from self.reads.answered(request))

    def _asked(self, request: Ask) -> Flow[Reply]:
        """Ask the model, or give the answer that was recorded if the same model was asked the same before.

        What is no sound answer is the strategy's to mend, and is not recorded: who asks again may be answered better.

        Raises:
            Conflict: somebody else is to go on; what was answered is kept for them.
        """
        asked, before = yield from self._before(request)
        if before is not None:
            return before
        self._meter.count(request)
        reply: Reply = yield request
        yield from self._settled(request, asked, reply)
        return reply

    def _asked_each(self, requests: Sequence[Ask]) -> Flow[tuple[Reply | MnemicError, ...]]:
        """Ask the model side by side what it was not asked before; what is over the budget it is not asked.

        Raises:
            Conflict: as `_asked`; what was answered is recorded before.
        """
        answers: dict[int, Reply | MnemicError] = {}
        asking: dict[int, bytes] = {}
        for place, request in enumerate(requests):
            asked, before = yield from self._before(request)
            if before is not None:
                answers[place] = before
                continue
            try:
                self._meter.count(request)
                asking[place] = asked
            except OverBudget as over:
                answers[place] = over
        fresh: Sequence[Reply | MnemicError] = ()
        if asking:
            fresh = yield AskEach(tuple(requests[place] for place in asking))
        for (place, asked), answer in zip(asking.items(), fresh, strict=True):
            answers[place] = answer
            if isinstance(answer, Reply):
                yield from self._settled(requests[place], asked, answer)
        for answer in fresh:
            if isinstance(answer, MnemicError) and not isinstance(answer, ModelError):
                raise answer
        return tuple(answers[place] for place in range(len(requests)))

    def _before(self, request: Ask) -> Flow[tuple[bytes, Reply | None]]:
        """Write down a question and whom it is put to, with the answer that was recorded."""
        model: str = yield NameModel(request.size)
        asked, space, lane = question_key(model, request), self._run.space, self._run.lane.name
        before = yield from look(lambda s: s.recorded(space, lane, asked))
        return asked, None if before is None else unpacked_reply(before)

    def _settled(self, request: Ask, asked: bytes, reply: Reply) -> Flow[None]:
        """Count what an answer took, and record it if it is sound."""
        self._meter.settle(request, reply)
        if is_sound(request, reply):
            kept = self._kept(asked, packed_reply(reply))
            if not (yield Transact(record, (kept,), urgent=True)):
                raise Conflict("something was erased meanwhile; the run goes on from its answers")

    def _kept(self, asked: bytes, answered: bytes) -> RecordedAnswer:
        """Make the record of an answer under the run's lease: that of its lane, or of a dead letter's job."""
        run = self._run
        return RecordedAnswer(
            space=run.space,
            lane=run.lane.name,
            request=asked,
            answer=answered,
            owner=run.lane.owner if run.job is None else run.job.owner,
            job=0 if run.job is None else run.job.id,
            seconds=LEASE_SECONDS,
            inputs=tuple(dict.fromkeys((*(item.id for item in run.given.evidence), *self.reads.shown))),
            pin=run.lane.seq,
        )


class RunMeter:
    """Counts what one run, or one recall, has asked of models, against its strategy's budget."""

    def __init__(self, desk: Desk, strategy: Strategy) -> None:
        self._clock, self._name, self._budget = desk.clock, strategy.name, strategy.budget
        self._calls = self._tokens = self._began = 0

    def count(self, request: Ask) -> None:
        """Count one question.

        Raises:
            OverBudget: it is one too many, or too long; it is not asked and not counted, so a shorter one may be asked.
        """
        now, most = self._clock.now(), self._budget
        self._began = self._began or now
        calls, tokens = self._calls + 1, self._tokens + tokens_of(request)
        over = [
            name
            for name, used, limit in (
                ("calls", calls, most.calls),
                ("tokens", tokens, most.tokens or tokens),
                ("seconds", (now - self._began) / 1_000_000, most.seconds or float("inf")),
            )
            if used > limit
        ]
        if over:
            raise OverBudget(f"strategy {self._name}: this run is over its budget of {over[0]}")
        self._calls, self._tokens = calls, tokens

    def settle(self, request: Ask, reply: Reply) -> None:
        """Count what an answer took in place of what it might have taken."""
        self._tokens += reply.prompt_tokens + reply.answer_tokens - tokens_of(request)


def tokens_of(request: Ask) -> int:
    """Estimate the tokens that a question and its answer may cost."""
    return estimated_prompt(request) + request.limit
