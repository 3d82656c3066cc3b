"""What is to be done next: a slice of every lane and job that has something before it, everybody in turn."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import count
from typing import TYPE_CHECKING, Any, Final

from mnemic.derive.runs import How, lane_name
from mnemic.derive.strategy_lane import strategy_slice
from mnemic.errors import MnemicError
from mnemic.flow import Flow, Request, run
from mnemic.lanes.slices import EMBED, EMBED_PARTS, JOBS, Slice, embed_slice, failed, unheard
from mnemic.models.chat.base import ChatMessage
from mnemic.models.model_requests import ask, embed
from mnemic.store.drafts import JobStep
from mnemic.store.following import Job, JobState, embedding_lane
from mnemic.store.jobs import LAPSED, claim
from mnemic.store.requests import look, transact
from mnemic.worker.job_types import LEASE_SECONDS, TRIES, Bench, Work, ended, missed

if TYPE_CHECKING:
    from mnemic.lanes.backlog import Lineup
    from mnemic.meaning import Meaning
    from mnemic.strategies.base import Strategy
    from mnemic.worker.model_budget import Thinking

EMBED_SECONDS: Final = 0.02
"""How long one request to an embedder on this machine should take: so long verbs, and a closing door, may wait."""

_REQUESTS: Final = 5
"""How many such requests a slice makes, so that there are not as many transactions."""

_FIRST_PARTS: Final = 8
"""Passages of the first such request, before the embedder's speed is known."""

_WELL: Final = "Are you there? Answer with one word."


@dataclass(frozen=True, slots=True)
class Task:
    """One slice to be run: of which lane and space, how, and what to do if it fails.

    Attributes:
        owner: The name of this run, under which it leases what it needs: who comes back late has lost the lease.
        failed: Given the error, and the epoch of the space when the slice began; whether a version was given up.
        job: The job that it is a slice of; 0 for a lane's.
    """

    lane: str
    space: int
    owner: str
    flow: Callable[[], Flow[Slice]]
    failed: Callable[[MnemicError, int], Flow[bool]]
    job: int = 0


@dataclass(slots=True)
class Pass:
    """What is wanted of one look at all lanes, and what became of it.

    Attributes:
        did, busy, waits: Slices that did something, that were others', and that failed or wait after a failure.
        tried: Those of them that failed just now.
        later: Lanes and jobs whose time has not come.
    """

    force: bool = False
    lanes: frozenset[str] = frozenset()
    told: Callable[[str, int, int, MnemicError | None], None] = lambda lane, space, done, error: None
    did: int = 0
    busy: int = 0
    waits: int = 0
    tried: int = 0
    later: int = 0
    failed: MnemicError | None = None

    def takes(self, lane: str) -> bool:
        """Whether this lane is wanted."""
        return not self.lanes or lane in self.lanes

    def count(self, one: Slice) -> None:
        """Count what one slice did."""
        if one.waits:
            self.waits += 1
        elif one.busy:
            self.busy += 1
        elif one.done:
            self.did += 1
        elif not self.force:  # where triggers are not asked, it found nothing left
            self.later += 1

    @property
    def any(self) -> bool:
        """Whether there was anything to do."""
        return bool(self.did or self.busy or self.waits)


class Agenda:
    """What one process has before it, in the order in which it is to be done.

    Args:
        name: Of the process among all that lease lanes; every run has a name of its own that begins with it.
        work: What jobs of each name do.
        bench: What work needs from this process, made when something is to be understood.
    """

    def __init__(
        self,
        name: str,
        lineup: Lineup,
        meaning: Meaning,
        thinking: Thinking,
        work: dict[str, Work],
        bench: Callable[[], Bench],
        perform: Callable[[Request], Any],
    ) -> None:
        self._name, self._lineup, self._meaning, self._thinking = name, lineup, meaning, thinking
        self._work, self._bench, self._perform = work, bench, perform
        self._runs = count(1)
        self._parts: dict[int, int] = {}

    def tasks(self, passed: Pass) -> Iterator[Task]:
        """What is to be done now, everybody in turn: rules first, because they are quick, and again before each slice
        of meaning; jobs one slice at a time between those."""
        yield from self._strategy_tasks(passed, quick=True)
        yield from self._job_task(passed)
        yield from self._strategy_tasks(passed, quick=False)
        try:
            models = self._meaning.to_fill() if passed.takes(EMBED) else []
        except MnemicError as error:
            passed.failed = error
            passed.told(EMBED, 0, 0, error)
            self._note(error)
            return
        for model in models:
            for place, space in enumerate(self._lineup.behind(embedding_lane(model))):
                if place:
                    yield from self._strategy_tasks(passed, quick=True)
                    yield from self._job_task(passed)
                yield self._embed_task(space, model)

    def _strategy_tasks(self, passed: Pass, *, quick: bool) -> Iterator[Task]:
        """Runs of strategies: of those that ask no model, or of those that do."""
        for strategy in self._bench().strategies:
            if (strategy.budget.calls == 0) is not quick or not passed.takes(strategy.name):
                continue
            for maintain in (False, True) if strategy.maintain else (False,):
                how = How(owner="", force=passed.force, maintain=maintain, keep_answers=self._bench().keep_answers)
                for space in self._lineup.behind(lane_name(strategy, how)):
                    if quick or self._thinking.has_room(space):
                        yield self._strategy_task(strategy, space, replace(how, owner=self._owner()))
                    else:
                        passed.later += 1

    def _strategy_task(self, strategy: Strategy, space: int, how: How) -> Task:
        desk, name = self._bench().desk, lane_name(strategy, how)

        def fail(error: MnemicError, epoch: int) -> Flow[bool]:
            probe = ask([ChatMessage("user", _WELL)], 8)
            return failed(space, name, how.owner, error, desk.clock.now(), probe, strategy.batch, epoch)

        return Task(name, space, how.owner, lambda: strategy_slice(desk, strategy, space, how), fail)

    def _embed_task(self, space: int, model: int) -> Task:
        name, owner = embedding_lane(model), self._owner()
        at_once = self._parts.get(model, _FIRST_PARTS)
        parts = min(EMBED_PARTS, _REQUESTS * at_once)

        def fail(error: MnemicError, epoch: int) -> Flow[bool]:
            now = self._bench().desk.clock.now()
            return failed(space, name, owner, error, now, embed(model, ["hello"]), parts, epoch)

        return Task(name, space, owner, lambda: embed_slice(space, model, owner, parts, at_once), fail)

    def _job_task(self, passed: Pass) -> Iterator[Task]:
        """One slice of the most urgent job, if there is one to do now; jobs whose time has not come wait like lanes."""
        if not passed.takes(JOBS):
            return
        owner, names, perform = self._owner(), tuple(self._work), self._perform
        with suppress(MnemicError):
            # Looking takes no lock: a worker with nothing to do keeps no writer waiting.
            waiting = run(look(lambda s: [one for one in s.jobs(JobState.WAITING) if one.order.name in names]), perform)
            job = run(transact(claim, names, owner, LEASE_SECONDS), perform) if waiting else None
            if job is not None:
                yield self._doing(job, JobStep(job.id, owner))
            else:
                passed.later += len(waiting)

    def _doing(self, job: Job, step: JobStep) -> Task:
        def flow() -> Flow[Slice]:
            if job.error == LAPSED and job.attempts >= TRIES:
                raise MnemicError(LAPSED)
            more = yield from self._work[job.order.name](self._bench(), job, step)
            yield from ended(step, more=more)
            self._lineup.again()
            return Slice(done=1)

        def fail(error: MnemicError, epoch: int) -> Flow[bool]:
            yield from missed(self._bench(), job, step, error)
            return False

        return Task(job.order.name, job.order.space, step.owner, flow, fail, job.id)

    def _note(self, error: MnemicError) -> None:
        """Write down that the embedder cannot be asked, with one space of those that wait for it."""
        for space in self._lineup.behind(EMBED)[:1]:
            with suppress(MnemicError):
                now = self._bench().desk.clock.now()
                run(unheard(space, self._owner(), error, now), self._perform)

    def _owner(self) -> str:
        return f"{self._name}/{next(self._runs)}"

    def learn(self, model: int, seconds: float) -> None:
        """Correct how many passages go to an embedder at once by how long one took, by no more than double or half."""
        if self._meaning.is_remote(model):
            self._parts[model] = EMBED_PARTS
            return
        parts = self._parts.get(model, _FIRST_PARTS)
        wanted = round(EMBED_SECONDS / max(seconds, 1e-6))
        self._parts[model] = max(1, min(EMBED_PARTS, 2 * parts, max(wanted, parts // 2)))
