"""The background: one thread that runs what lanes and jobs have before them, and ends when there is nothing."""

from __future__ import annotations

import os
import socket
import threading
import time
import uuid
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import count
from typing import Any, Final

from mnemic.core.forking import renew_in_child
from mnemic.errors import Conflict, MnemicError
from mnemic.flow import Flow, Request, run
from mnemic.kernel import Kernel
from mnemic.meaning import Meaning
from mnemic.models.chat.base import ChatMessage
from mnemic.models.requests import Ask, Embed, EmbedQuestion, ask, embed
from mnemic.store.base import Job, JobState, JobStep, Store, embedding_lane
from mnemic.store.jobs import LAPSED
from mnemic.store.requests import answer, claim_job, look
from mnemic.strategies.base import Pause, Strategy
from mnemic.watching.metering import Meters
from mnemic.work.deriving import How, followed, lane_name, strategies, strategy_slice
from mnemic.work.jobs import LEASE_SECONDS, TRIES, WORK, Bench, Work, ended, missed
from mnemic.work.lanes import BUSY, EMBED_PARTS, WAITS, Slice, embed_slice, epoch_of, failed
from mnemic.work.lineup import Lineup, Owner
from mnemic.work.pacing import Pacing
from mnemic.work.thinking import Thinking

IDLE_SECONDS: Final = 2.0
"""How long the thread waits for more before it ends; the next write starts another."""

_RETRY_SECONDS: Final = 0.5
"""How long it waits for a lane that another worker has, that waits after a failure, or whose time will come."""

EMBED_SECONDS: Final = 0.1
"""How long one request to an embedder on this machine should take: so long a question or a closing door may wait."""

_FIRST_PARTS: Final = 8
"""Passages of the first such request, before the embedder's speed is known."""

LOOK_SECONDS: Final = 5.0
"""How often a worker looks for what is due by the clock alone, though nobody has written."""

CHORE_SECONDS: Final = 60.0
"""How often a worker with nothing to do asks its chores whether one is due."""

JOBS: Final = "jobs"
"""What a worker calls jobs among the lanes it does."""

_WELL: Final = "Are you there? Answer with one word."


@dataclass(frozen=True, slots=True)
class _Task:
    """One slice to be run: of which lane and space, how, and what to do if it fails."""

    lane: str
    space: int
    flow: Callable[[str], Flow[Slice]]
    failed: Callable[[str, MnemicError, int], Flow[bool]]


class Background:
    """Runs slices of lanes until there are none: in a thread behind the caller or, in `drain`, in the caller's own.

    Attributes:
        work: What jobs of each name do; floors above add theirs.
        chores: What a worker asks from time to time, saying for how long nobody has written; each orders its own jobs.
    """

    def __init__(self, store: Store, kernel: Kernel, meaning: Meaning) -> None:
        self._store, self._kernel, self._meaning = store, kernel, meaning
        self.meters = Meters()
        settings = kernel.settings
        followed(settings.strategies)  # a name that is none is refused now; reading a store loads no strategy
        self.thinking = Thinking(settings)
        self.pacing = Pacing()
        self.work: dict[str, Work] = dict(WORK)
        self.chores: dict[str, Callable[[float], None]] = {}
        self.renew()
        renew_in_child(self)

    @cached_property
    def strategies(self) -> tuple[Strategy, ...]:
        """Those that the settings name, loaded when something is to be understood."""
        return tuple(strategies(self._kernel.settings.strategies))

    @cached_property
    def bench(self) -> Bench:
        """What work needs from this process."""
        return Bench(self._kernel.desk, self.strategies, self._kernel.settings.keep_answers)

    def renew(self) -> None:
        """Start over without a thread, as a forked child must."""
        self._lock = threading.Lock()
        self._working = threading.Lock()
        self._wake = threading.Event()
        self._thread: threading.Thread | None = None
        self._closed = False
        self._asked = False
        self._name = f"{socket.gethostname()} {os.getpid()} {uuid.uuid4().hex[:8]}"
        self._runs = count(1)
        self._parts: dict[int, int] = {}
        self.lineup = Lineup(self._store, self._kernel.settings.backlog_limit)

    def perform(self, request: Request) -> Any:
        """Answer one request of a flow, and time it."""
        return self.meters.answered(request, self._answered)

    def _answered(self, request: Request) -> Any:
        match request:
            case Embed(model, texts):
                return self._meaning.passages(model, texts)
            case EmbedQuestion(text):
                return self._meaning.question(text)
            case Ask():
                return self.thinking.answer(request)
            case Pause():
                return None
            case _:
                return answer(self._store, request)

    def notify(self) -> None:
        """Something was written."""
        with self._lock:
            if self._closed:
                return
            self._wake.set()
            if self._thread is None:
                self._thread = threading.Thread(target=self._follow, name="mnemic-worker", daemon=True)
                self._thread.start()

    def asked(self) -> None:
        """A question was asked: the first one wakes the thread, for what a process before this one left undone."""
        if not self._asked:
            self._asked = True
            self.notify()

    def crowd(self, owner: Owner) -> int:
        """How many passages of a user wait, if they are more than the setting `backlog_limit`; else 0."""
        return self.lineup.crowd(owner)

    @contextmanager
    def foreground(self) -> Iterator[None]:
        """While a verb runs, what runs behind waits before its next request."""
        with self.pacing.foreground():
            yield

    def drain(self, told: Callable[[str, int], None] | None = None, seconds: float | None = None) -> bool:
        """Run slices in this thread until nothing is left, whatever the triggers say; whether that was reached.

        It is not where a job waits to be tried again, or a lane for its user's next hour of questions.

        Args:
            told: Called after each slice with its lane and how much it did.
            seconds: Longest to go on; None for as long as it takes. A lane that another worker has is waited for.

        Raises:
            MnemicError: a slice failed, once the other lanes have nothing left; what was done is kept.
        """
        until = None if seconds is None else time.monotonic() + seconds
        error: MnemicError | None = None
        self.lineup.again()
        while True:
            passed = _Pass(force=True)
            for lane, did in self._slices(passed):
                if told is not None and did.done:
                    told(lane, did.done)
                if until is not None and time.monotonic() >= until:
                    return False
            error = passed.failed or error
            if error is not None and not passed.did:
                raise error
            if not passed.any:
                return not passed.later
            if not passed.did:
                time.sleep(_RETRY_SECONDS / 10)
            if until is not None and time.monotonic() >= until:
                return False

    def serve(
        self,
        stop: threading.Event,
        *,
        lanes: Collection[str] = (),
        poll: float = _RETRY_SECONDS,
        once: bool = False,
        told: Callable[[str, int, int, MnemicError | None], None] = lambda lane, space, done, error: None,
    ) -> None:
        """Be a worker: run slices of every user's lanes, and jobs, until `stop` is set; then finish the one that runs.

        Others' writes are noticed by asking the store every `poll` seconds whether it has moved.

        Args:
            lanes: Only these (`house`, `embed`, `jobs` ...); all when empty.
            once: Return when nothing is left that can be done now; what another worker does is waited for.
            told: Called after each slice that did something or failed.
        """
        seen: tuple[int, ...] = ()
        looked = float("-inf")
        quiet = done = time.monotonic()
        while not stop.is_set():
            moved = self._store.moved()
            if moved == seen and time.monotonic() - looked < LOOK_SECONDS:
                if time.monotonic() - done >= CHORE_SECONDS and (not lanes or JOBS in lanes):
                    done = time.monotonic()
                    self._ask_chores(done - quiet)
                stop.wait(poll)
                continue
            if moved != seen:
                quiet = time.monotonic()
            passed = _Pass(lanes=frozenset(lanes), told=told)
            for _ in self._slices(passed):
                if stop.is_set():
                    return
            seen, looked = (() if passed.any else moved), time.monotonic()
            if once and not (passed.did or passed.busy or passed.tried):
                return
            if not passed.did and passed.any:
                stop.wait(_RETRY_SECONDS)

    def _ask_chores(self, idle: float) -> None:
        for chore in self.chores.values():
            with suppress(MnemicError):
                chore(idle)

    def close(self) -> None:
        """Let the slice that runs finish, and begin no other; one that would ask a model stops before that."""
        with self._lock:
            self._closed = True
            thread, self._thread = self._thread, None
            self._wake.set()
            self.pacing.let_all()
        if thread is not None and thread is not threading.current_thread():
            thread.join()

    def _slices(self, passed: _Pass) -> Iterator[tuple[str, Slice]]:
        """One slice of every lane that has something before it, each run when it is asked for.

        One that fails waits by itself, and the others go on.
        """
        for task in self._tasks(passed):
            with self._working:
                did = self._attempt(task, passed)
            passed.count(did)
            yield task.lane, did

    def _attempt(self, task: _Task, passed: _Pass) -> Slice:
        owner = f"{self._name}/{next(self._runs)}"  # one name a run: who comes back late has lost the lease
        attend = partial(self._attend, task.space)
        error: MnemicError | None = None
        did, epoch = BUSY, 0
        try:
            epoch = run(look(lambda s: epoch_of(s, task.space)), self.perform)
            with self.meters.run(task.lane) as timed:
                did = timed(run(task.flow(owner), attend))
        except MnemicError as wrong:
            error = wrong
        except Exception as wrong:  # noqa: BLE001 - a worker loop: one space's fault must not stop the others
            error = MnemicError(f"lane {task.lane}: {type(wrong).__name__}: {wrong}")
        if error is not None:
            with suppress(MnemicError):
                did = Slice(done=1) if run(task.failed(owner, error, epoch), attend) else WAITS
            if not did.done and not isinstance(error, Conflict):
                passed.tried += 1
                passed.failed = error
        if did.done or error is not None:
            passed.told(task.lane, task.space, did.done, error)
        return did

    def _attend(self, space: int, request: Request) -> Any:
        """Answer a request of a slice once nobody is in front."""
        self.pacing.park()
        if isinstance(request, Pause):
            return None
        if isinstance(request, Ask):
            if self._closed:
                raise Conflict("the store is being closed; the run goes on from its answers")
            self.thinking.count(space, request)
        with self.pacing.working():
            began = time.monotonic()
            answered = self.perform(request)
        if isinstance(request, Embed) and request.texts:
            self._learn(request.model, (time.monotonic() - began) / len(request.texts))
        return answered

    def _learn(self, model: int, seconds: float) -> None:
        """Correct how many passages go to an embedder at once by how long one took, by no more than double or half."""
        if self._meaning.is_remote(model):
            self._parts[model] = EMBED_PARTS
            return
        parts = self._parts.get(model, _FIRST_PARTS)
        wanted = round(EMBED_SECONDS / max(seconds, 1e-6))
        self._parts[model] = max(1, min(EMBED_PARTS, 2 * parts, max(wanted, parts // 2)))

    def _tasks(self, passed: _Pass) -> Iterator[_Task]:
        """What is to be done now, everybody in turn: rules first, because they are quick, and again before each slice
        of meaning; jobs one slice at a time between those."""
        yield from self._strategy_tasks(passed, quick=True)
        yield from self._job_task(passed)
        yield from self._strategy_tasks(passed, quick=False)
        try:
            models = self._meaning.to_fill() if passed.takes("embed") else []
        except MnemicError as error:
            passed.failed = error
            passed.told("embed", 0, 0, error)
            return
        for model in models:
            for place, space in enumerate(self.behind(embedding_lane(model))):
                if place:
                    yield from self._strategy_tasks(passed, quick=True)
                    yield from self._job_task(passed)
                yield self._embed_task(space, model)

    def _strategy_tasks(self, passed: _Pass, *, quick: bool) -> Iterator[_Task]:
        """Runs of strategies: of those that ask no model, or of those that do."""
        for strategy in self.strategies:
            if (strategy.budget.calls == 0) is not quick or not passed.takes(strategy.name):
                continue
            for maintain in (False, True) if strategy.maintain else (False,):
                how = How(owner="", force=passed.force, maintain=maintain, keep_answers=self.bench.keep_answers)
                for space in self.behind(lane_name(strategy, how)):
                    if quick or self.thinking.has_room(space):
                        yield self._strategy_task(strategy, space, how)
                    else:
                        passed.later += 1

    def _strategy_task(self, strategy: Strategy, space: int, how: How) -> _Task:
        desk, name = self._kernel.desk, lane_name(strategy, how)

        def flow(owner: str) -> Flow[Slice]:
            return strategy_slice(desk, strategy, space, replace(how, owner=owner))

        def fail(owner: str, error: MnemicError, epoch: int) -> Flow[bool]:
            probe = ask([ChatMessage("user", _WELL)], 8)
            return failed(space, name, owner, error, desk.clock.now(), probe, strategy.batch, epoch)

        return _Task(name, space, flow, fail)

    def _embed_task(self, space: int, model: int) -> _Task:
        name, parts = embedding_lane(model), self._parts.get(model, _FIRST_PARTS)

        def fail(owner: str, error: MnemicError, epoch: int) -> Flow[bool]:
            now = self._kernel.desk.clock.now()
            return failed(space, name, owner, error, now, embed(model, ["hello"]), parts, epoch)

        return _Task(name, space, lambda owner: embed_slice(space, model, owner, parts), fail)

    def _job_task(self, passed: _Pass) -> Iterator[_Task]:
        """One slice of the most urgent job, if there is one to do now; jobs whose time has not come wait like lanes."""
        if not passed.takes(JOBS):
            return
        owner = f"{self._name}/{next(self._runs)}"
        with suppress(MnemicError):
            job: Job | None = run(claim_job(tuple(self.work), owner, LEASE_SECONDS), self.perform)
            if job is not None:
                yield self._doing(job, JobStep(job.id, owner))
            else:
                waiting = run(look(lambda s: s.jobs(JobState.WAITING)), self.perform)
                passed.later += sum(job.order.name in self.work for job in waiting)

    def _doing(self, job: Job, step: JobStep) -> _Task:
        def flow(_: str) -> Flow[Slice]:
            if job.error == LAPSED and job.attempts >= TRIES:
                raise MnemicError(LAPSED)
            more = yield from self.work[job.order.name](self.bench, job, step)
            yield from ended(step, more=more)
            self.lineup.again()
            return Slice(done=1)

        def fail(_: str, error: MnemicError, epoch: int) -> Flow[bool]:
            yield from missed(self.bench, job, step, error)
            return False

        return _Task(job.order.name, job.order.space, flow, fail)

    def behind(self, lane: str) -> list[int]:
        """The spaces in which a lane has something before it."""
        return self.lineup.behind(lane)

    def _follow(self) -> None:
        while not self._closed:
            self._wake.clear()
            passed = _Pass()
            try:
                self._run(passed)
            except Exception:  # noqa: BLE001 - a worker loop: what a store cannot do now it may do later
                passed.count(BUSY)
            if passed.did or self._wake.wait(_RETRY_SECONDS if passed.any or passed.later else IDLE_SECONDS):
                continue
            if not passed.any and not passed.later and self._ended():
                return

    def _run(self, passed: _Pass) -> None:
        for _ in self._slices(passed):
            if self._closed:
                return

    def _ended(self) -> bool:
        with self._lock:
            if self._wake.is_set():
                return False
            self._thread = None
            return True


@dataclass(slots=True)
class _Pass:
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
