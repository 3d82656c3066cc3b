"""Schedule slices: which lane or job with waiting work runs next, every user in turn."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import Enum, auto
from functools import partial
from itertools import count
from math import inf
from typing import TYPE_CHECKING, Final

from mnemic.collecting.expiring import START, find_expired, retire_expired
from mnemic.core.clock import FOREVER
from mnemic.derive.runs import RunOptions, lane_name, run_versions
from mnemic.derive.strategy_lane import strategy_slice
from mnemic.errors import MnemicError, NoModel, OverQuota, UnusableModel
from mnemic.flow import Flow, run
from mnemic.index.packing_lane import pack_slice
from mnemic.index.sign_lane import sign_slice
from mnemic.lanes.embedding_slice import EMBED_PARTS, embed_slice
from mnemic.lanes.failures import report_failure, report_unreachable_embedder
from mnemic.lanes.slices import EMBED, EXPIRE, IDLE, JOBS, PACK, SLOTS, Slice, next_vers
from mnemic.models.chat.base import ChatMessage
from mnemic.models.model_requests import HARMLESS, ask, embed
from mnemic.store.engine.job_queue import LAPSED, claim, give_back, hasten
from mnemic.store.engine.slot_index import index_slot
from mnemic.store.requests import look, transact
from mnemic.store.values.drafts import JobStep
from mnemic.store.values.work import Job, embedding_lane, slot_lane
from mnemic.worker.job_types import (
    LEASE_SECONDS,
    NO_MODEL_SECONDS,
    TRIES,
    JobContext,
    JobSlice,
    embeds,
    end_slice,
    report_failed_job,
)

if TYPE_CHECKING:
    from mnemic.answering import Answering
    from mnemic.lanes.backlog import Backlog
    from mnemic.lanes.unpacked import UnpackedSpaces
    from mnemic.store.engine.snapshot import Snapshot
    from mnemic.strategies.base import Strategy
    from mnemic.writing import Desk

EMBED_SECONDS: Final = 0.02
"""How long one request to an embedder on this machine should take while verbs come: so long they have its company."""

QUIET_SECONDS: Final = 0.1
"""How long a slice of an embedder on this machine should take, so that a closing door need not wait longer; and one
request where no verb has come for a while: several texts for each core cost half of what they do one by one."""

_SHARE: Final = 0.2
"""How long a request may take, of the time for which no verb has come."""

_LEAST_PARTS: Final = 5
"""Passages of a slice where each takes long, so that there are not as many transactions."""

_FIRST_PARTS: Final = 8
"""Passages of the first slice, before the embedder's speed is known."""


@dataclass(frozen=True, slots=True)
class Task:
    """One slice to run: its lane and space, the work, and what to do if it fails.

    Attributes:
        owner: The name of this run, under which it leases what it needs: who comes back late has lost the lease.
        failed: Records its error; whether a version was given up.
        job: The job that it is a slice of; 0 for a lane's.
    """

    lane: str
    space: int
    owner: str
    flow: Callable[[], Flow[Slice]]
    failed: Callable[[MnemicError], Flow[bool]]
    job: int = 0


@dataclass(slots=True)
class Cycle:
    """One pass over all lanes and jobs: which lanes it covers, and counts of what it did.

    Attributes:
        force: Whatever the triggers say.
        hurried: Somebody waits for it, so that no text of many passages is begun.
        lanes: Only these; all when empty.
        on_slice: Called after each slice that did something or failed: its lane and space, how much it did, the error.
        did, busy, waits: Slices that did something, that were others', and that failed or wait after a failure.
        tried: Those of them that failed just now.
        later: Lanes and jobs whose time has not come.
        failed: The last error.
    """

    force: bool = False
    hurried: bool = False
    lanes: frozenset[str] = frozenset()
    on_slice: Callable[[str, int, int, MnemicError | None], None] = lambda lane, space, done, error: None
    did: int = 0
    busy: int = 0
    waits: int = 0
    tried: int = 0
    later: int = 0
    failed: MnemicError | None = None

    def takes(self, lane: str) -> bool:
        """Whether the cycle covers this lane."""
        return not self.lanes or lane in self.lanes

    def count(self, did: Slice) -> None:
        """Count what one slice did."""
        if did.waits:
            self.waits += 1
        elif did.busy:
            self.busy += 1
        elif did.done:
            self.did += 1
        elif not self.force:  # where triggers are not asked, it found nothing left
            self.later += 1

    @property
    def any(self) -> bool:
        """Whether there was anything to do."""
        return bool(self.did or self.busy or self.waits)


class JobsAhead(Enum):
    """Where a store's jobs stand: none waits, one is due, another worker does one, or all have time left."""

    NONE = auto()
    DUE = auto()
    RUNNING = auto()
    LATER = auto()


class Scheduler:
    """Orders the waiting slices of one process.

    Args:
        process: Its name among all that lease lanes; every run has a name of its own that begins with it.
        job_types: What a slice of a job of each name does.
        context: What runs and jobs need from this process, made when something is to be understood.
        closing: Whether the store is being closed, so that what takes long ends.
    """

    def __init__(
        self,
        process: str,
        backlog: Backlog,
        unpacked: UnpackedSpaces,
        answering: Answering,
        job_types: dict[str, JobSlice],
        context: Callable[[], JobContext],
        closing: Callable[[], bool],
    ) -> None:
        self._process, self._backlog, self._meaning = process, backlog, answering.meaning
        self._quiet = answering.yielding.quiet_seconds
        self._unpacked, self._closing = unpacked, closing
        self._job_types, self._context, self._perform = job_types, context, answering.perform
        self._runs = count(1)
        self._unended: dict[int, tuple[int, str]] = {}
        self._stranded: dict[str, int] = {}
        self._parts: dict[int, int] = {}
        self._modelless: dict[str, float] = {}
        self._over_quota: dict[tuple[str, int], float] = {}

    def tasks(self, cycle: Cycle) -> Iterator[Task]:
        """Yield the slices to run now, every user in turn: rules first, because they are quick, and again before each
        slice of meaning; jobs one slice at a time between those."""
        yield from self._strategy_tasks(cycle, quick=True)
        yield from self._job_task(cycle)
        yield from self._strategy_tasks(cycle, quick=False)
        yield from self._expiry_tasks(cycle)
        yield from self._pack_tasks(cycle)
        yield from self._slot_tasks(cycle)
        try:
            models = self._meaning.to_fill() if cycle.takes(EMBED) else []
        except MnemicError as error:
            cycle.failed = error
            cycle.on_slice(EMBED, 0, 0, error)
            self._note(error)
            return
        for model in models:
            for place, (space, epoch) in enumerate(self._backlog.behind(embedding_lane(model)).items()):
                if place:
                    yield from self._strategy_tasks(cycle, quick=True)
                    yield from self._job_task(cycle)
                yield self._embed_task(space, model, epoch, cycle)

    def _strategy_tasks(self, cycle: Cycle, *, quick: bool) -> Iterator[Task]:
        """Yield the runs of strategies: of those that ask no model, or of those that do."""
        context = self._context()
        now = FOREVER if cycle.force else context.desk.clock.now()
        for strategy in context.strategies:
            if (strategy.budget.calls == 0) is not quick or not cycle.takes(strategy.name):
                continue
            for maintain in (False, True) if strategy.maintain else (False,):
                options = RunOptions(
                    owner="",
                    force=cycle.force,
                    maintain=maintain,
                    after_writing=maintain,
                    keep_answers=context.keep_answers,
                )
                name = lane_name(strategy, maintain=maintain)
                for space, epoch in self._backlog.behind(name, now).items():
                    if self._modelless.get(name, 0.0) > time.monotonic():
                        cycle.later += cycle.force
                        break
                    if self._over_quota.get((name, space), 0.0) <= time.monotonic():
                        yield self._strategy_task(
                            context.desk, strategy, space, epoch, replace(options, owner=self._owner(space))
                        )
                    else:
                        cycle.later += 1
                cycle.later += not cycle.force and self._backlog.has_later(name)

    def _strategy_task(self, desk: Desk, strategy: Strategy, space: int, epoch: int, options: RunOptions) -> Task:
        name = lane_name(strategy, maintain=options.maintain)
        taken = partial(run_versions, strategy)

        def fail(error: MnemicError) -> Flow[bool]:
            return report_failure(space, name, options.owner, error, desk.clock.now(), _probe(), taken, epoch)

        return Task(name, space, options.owner, lambda: strategy_slice(desk, strategy, space, options), fail)

    def _embed_task(self, space: int, model: int, epoch: int, cycle: Cycle) -> Task:
        name, owner = embedding_lane(model), self._owner(space)
        parts, at_once = self.sizes(model)

        def fail(error: MnemicError) -> Flow[bool]:
            now = self._context().desk.clock.now()
            taken = partial(next_vers, limit=parts)
            return report_failure(space, name, owner, error, now, embed(model, ["hello"]), taken, epoch)

        def embed_next() -> Flow[Slice]:
            did = yield from embed_slice(space, model, owner, parts, at_once, hurried=cycle.hurried)
            cycle.later += cycle.hurried and did is IDLE
            self._unpacked.embedded(space, did.done)
            return did

        return Task(name, space, owner, embed_next, fail)

    def _expiry_tasks(self, cycle: Cycle) -> Iterator[Task]:
        """Yield a commit for each space in which something has expired."""
        after: tuple[int, int] | None = START if cycle.takes(EXPIRE) else None
        while after is not None:
            expired = run(look(partial(find_expired, after=after)), self._perform)
            for space, ids in expired.by_space.items():
                yield Task(EXPIRE, space, self._owner(), partial(retire_expired, space, ids), _leave)
            after = expired.last

    def _pack_tasks(self, cycle: Cycle) -> Iterator[Task]:
        """Yield the next pack of each space that has something to be packed."""
        if not cycle.takes(PACK):
            return
        for space in self._unpacked.known() if cycle.force else self._unpacked.waiting():  # who forces has looked
            yield Task(PACK, space, self._owner(space), partial(self._pack, space), partial(self._pack_later, space))

    def _pack(self, space: int) -> Flow[Slice]:
        did = yield from pack_slice(space, self._unpacked.least)
        if not did.done and not did.busy:
            did = yield from sign_slice(space, self._unpacked.least, self._closing)
        if not did.done and not did.busy:
            self._unpacked.done(space)
        return did

    def _pack_later(self, space: int, _error: MnemicError) -> Flow[bool]:
        """Leave a space that could not be packed until somebody writes in it, or reads it again."""
        self._unpacked.done(space)
        return (yield from _leave(_error))

    def _slot_tasks(self, cycle: Cycle) -> Iterator[Task]:
        """Yield a slice of each indexed slot in each space that has versions past what is indexed of it."""
        if not cycle.takes(SLOTS):
            return
        for slot in self._context().desk.settings.indexed:
            for space in self._backlog.behind(slot_lane(slot)):
                yield Task(SLOTS, space, self._owner(), partial(_index, space, slot), _leave)

    def _job_task(self, cycle: Cycle) -> Iterator[Task]:
        """Yield a slice of the most urgent job that is due; jobs whose time has not come wait as lanes do."""
        if not cycle.takes(JOBS):
            return
        owner, names, perform = self._owner(), tuple(self._job_types), self._perform
        with suppress(MnemicError):
            # Looking takes no lock: a worker with nothing to do keeps no writer waiting. It is one look: a job that
            # another worker finishes between two would be taken for one whose time has not come.
            ahead = run(look(partial(_jobs_ahead, names=names)), perform)
            job = run(transact(claim, names, owner, LEASE_SECONDS), perform) if ahead is JobsAhead.DUE else None
            if job is not None:
                self._unended[threading.get_ident()] = job.order.space, owner
                yield self._claimed_job(job, JobStep(job.id, owner))
            else:
                self.ended()
                cycle.busy += ahead in (JobsAhead.DUE, JobsAhead.RUNNING)  # one that was due is another's by now
                cycle.later += ahead is JobsAhead.LATER

    def _claimed_job(self, job: Job, step: JobStep) -> Task:
        def flow() -> Flow[Slice]:
            if job.error == LAPSED and job.attempts >= TRIES:
                raise MnemicError(LAPSED)
            more = yield from self._job_types[job.order.name](self._context(), job, step)
            yield from end_slice(step, more=more)
            return Slice(done=1)

        def fail(error: MnemicError) -> Flow[bool]:
            model = embeds(job)
            probe: Flow[object] = embed(model, ["hello"]) if model else _probe()
            yield from report_failed_job(self._context(), job, step, error, probe)
            return False

        return Task(job.order.name, job.order.space, step.owner, flow, fail, job.id)

    def _note(self, error: MnemicError) -> None:
        """Record that the embedder cannot be asked, on one of the spaces that wait for it."""
        with suppress(MnemicError):
            space, now = run(look(lambda s: s.first_waiting(EMBED)), self._perform), self._context().desk.clock.now()
            if space is not None:
                run(report_unreachable_embedder(space, self._owner(space), error, now), self._perform)
                self.ended()

    def _owner(self, space: int = 0) -> str:
        owner = f"{self._process}/{next(self._runs)}"
        self._unended[threading.get_ident()] = space, owner
        return owner

    def needs_model(self, lane: str, error: NoModel | UnusableModel) -> None:
        """Note that a lane cannot be gone on with in this process: it asks a language model, and none is set.

        One that cannot be opened is tried again after a while: its key may come in a file, its package be installed.
        """
        self._modelless[lane] = inf if isinstance(error, NoModel) else time.monotonic() + NO_MODEL_SECONDS

    def over_quota(self, lane: str, space: int, error: OverQuota) -> None:
        """Note that a lane cannot be gone on with in a space before its user's next hour of questions."""
        now = time.monotonic()
        self._over_quota = {waiting: until for waiting, until in self._over_quota.items() if until > now}
        self._over_quota[lane, space] = now + error.retry_after

    def try_models(self, jobs: Sequence[int]) -> None:
        """Have lanes, and these jobs, that wait until a language model can be asked be tried now: somebody waits."""
        self._modelless = {lane: until for lane, until in self._modelless.items() if until == inf}
        for number in jobs:
            run(transact(hasten, number), self._perform)

    def ended(self) -> None:
        """Note that the run which this thread has begun is over, and holds nothing."""
        self._unended.pop(threading.get_ident(), None)

    def strand(self) -> None:
        """Note that the run which this thread has begun failed, and that not even this could be written."""
        if (held := self._unended.get(threading.get_ident())) is not None:
            space, owner = held
            self._stranded[owner] = space

    def give_back(self) -> None:
        """Give back what stranded runs have leased, and this thread's last run, if an interrupt has cut it short."""
        for owner, space in self._stranded.copy().items():
            run(transact(give_back, space, owner), self._perform)
            self._stranded.pop(owner, None)
        if (held := self._unended.get(threading.get_ident())) is not None:
            run(transact(give_back, *held), self._perform)
            self.ended()

    def sizes(self, model: int) -> tuple[int, int]:
        """Choose how many passages the next slice of an embedder takes, and how many of them one request."""
        if self._meaning.is_remote(model):
            return EMBED_PARTS, EMBED_PARTS
        parts = self._parts.get(model, _FIRST_PARTS)
        seconds = min(max(EMBED_SECONDS, _SHARE * self._quiet()), QUIET_SECONDS)
        return max(_LEAST_PARTS, parts), max(1, int(parts * seconds / QUIET_SECONDS))

    def learn(self, model: int, seconds: float) -> None:
        """Adjust how many passages a slice takes by how long one took: at most doubled or halved."""
        parts = self._parts.get(model, _FIRST_PARTS)
        wanted = round(QUIET_SECONDS / max(seconds, 1e-6))
        self._parts[model] = max(1, min(EMBED_PARTS, 2 * parts, max(wanted, parts // 2)))


def _jobs_ahead(snapshot: Snapshot, names: Sequence[str]) -> JobsAhead:
    if not snapshot.has_waiting_job(names):
        return JobsAhead.NONE
    if snapshot.due_job(names) is not None:
        return JobsAhead.DUE
    return JobsAhead.RUNNING if snapshot.is_job_running(names) else JobsAhead.LATER


def _index(space: int, slot: str) -> Flow[Slice]:
    return Slice(done=(yield from transact(index_slot, space, slot)))


def _probe() -> Flow[str]:
    """Ask the language model what a healthy one has no trouble with."""
    return ask([ChatMessage("user", HARMLESS)], 8)


def _leave(_error: MnemicError) -> Flow[bool]:
    """Leave what could not be written as it was: it is found again by the next look."""
    yield from ()
    return False
