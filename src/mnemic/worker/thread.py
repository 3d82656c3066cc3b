"""Run waiting slices of lanes and jobs: in a background thread, in the caller's (`drain`), as a worker (`serve`)."""

from __future__ import annotations

import os
import socket
import threading
import time
import uuid
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Final

from mnemic.answering import Answering, answered_each
from mnemic.core.forking import renew_in_child
from mnemic.core.mutex import Flag, Mutex
from mnemic.core.uninterrupted import import_whole
from mnemic.counting import UseCounts
from mnemic.errors import Conflict, MnemicError, NoModel, OverQuota, UnusableModel
from mnemic.flow import Pause, Request, run
from mnemic.lanes.backlog import Backlog
from mnemic.lanes.following import lost_lanes
from mnemic.lanes.heartbeat import beating
from mnemic.lanes.slices import BUSY, IDLE, JOBS, LEASE_SECONDS, WAITS, Slice
from mnemic.lanes.unpacked import UnpackedSpaces
from mnemic.models.chat.base import Ask, CutOff, Reply
from mnemic.models.model_requests import AskEach, Embed
from mnemic.registry import STRATEGIES
from mnemic.store.engine.job_queue import NO_MODEL, prolong
from mnemic.store.engine.pack_rows import drop_unsound
from mnemic.store.requests import Transact
from mnemic.store.values.work import JobState, slot_lane
from mnemic.strategies.loading import followed, lane_of, strategies
from mnemic.watching.metering import Sort, Timed
from mnemic.worker.model_budget import ModelBudget
from mnemic.writing import Desk

if TYPE_CHECKING:
    from mnemic.store.engine.snapshot import Snapshot
    from mnemic.store.values.work import PackRow
    from mnemic.strategies.base import Strategy
    from mnemic.worker.job_types import JobContext, JobSlice
    from mnemic.worker.scheduling import Cycle, Scheduler, Task

IDLE_SECONDS: Final = 2.0
"""How long the thread waits for more before it ends; the next write starts another."""

ENDING_SECONDS: Final = 5.0
"""Longest that closing waits for the thread once no slice runs: an interrupted import may hold it for ever."""

UNHURRIED_SECONDS: Final = 15.0
"""How long a flush must have left to begin a text of many passages, which is embedded as one."""

_RETRY_SECONDS: Final = 0.5
"""How long it waits for a lane that another worker has, that waits after a failure, or whose time will come."""

LOOK_SECONDS: Final = 5.0
"""How often a worker looks for what is due by the clock alone, though nobody has written."""

CHORE_SECONDS: Final = 60.0
"""How often a worker with nothing to do asks its chores whether one is due."""


class Background:
    """Runs slices of lanes until there are none: in a thread behind the caller or, in `drain`, in the caller's own.

    Args:
        chosen: The strategies to follow for users who have chosen none; None for those that the settings name.

    Attributes:
        by_default: The names of those strategies.
        backlog: The spaces that have something before a lane.
        unpacked: The spaces of which something should be packed.
        uses: What recalls have shown; the thread writes it down, if the settings have one.
        chores: What a worker asks from time to time, saying for how long nobody has written; each orders its own jobs.
    """

    def __init__(self, answering: Answering, desk: Desk, chosen: Sequence[str | Strategy] | None = None) -> None:
        self.answering, self._desk = answering, desk
        self._followed = followed(desk.settings.strategies if chosen is None else chosen)
        self.by_default = tuple(lane_of(strategy) for strategy in self._followed)
        self._loaded: dict[str, Strategy] = {}
        self._budget = ModelBudget(desk.settings)
        self.chores: dict[str, Callable[[float], None]] = {}
        clock, settings = desk.clock, desk.settings
        self.uses = UseCounts(
            answering, clock, settings.use_flush_seconds, self._linger if settings.background else None
        )
        self.renew()
        renew_in_child(self)

    def strategies(self, snapshot: Snapshot) -> tuple[Strategy, ...]:
        """Look which strategies are followed, by default or by users who have chosen them; load those that are not yet.

        One that was followed once stays.
        """
        chosen = (name for name in snapshot.followed_lanes() if name in STRATEGIES)
        if missing := [name for name in dict.fromkeys((*self.by_default, *chosen)) if name not in self._loaded]:
            own = {lane_of(strategy): strategy for strategy in self._followed}
            fresh = strategies([own.get(name, name) for name in missing])
            import_whole("mnemic.worker.job_types")
            from mnemic.worker.job_types import strategies_job_types

            self.job_types.update(strategies_job_types(fresh))
            self._loaded.update(zip(missing, fresh, strict=True))
        return tuple(self._loaded.values())

    @cached_property
    def job_types(self) -> dict[str, JobSlice]:
        """The slice function of each job type by name; packages above add theirs."""
        import_whole("mnemic.worker.job_types")
        from mnemic.worker.job_types import JOB_TYPES

        return dict(JOB_TYPES)

    @property
    def context(self) -> JobContext:
        """What a run or a job's slice needs from this process, with the strategies that it has loaded."""
        import_whole("mnemic.worker.job_types")
        from mnemic.worker.job_types import JobContext

        return JobContext(self._desk, tuple(self._loaded.values()), self._desk.settings.keep_answers)

    def renew(self) -> None:
        """Start over without a thread, as a forked child must."""
        self._lock = Mutex()
        self._working = Mutex()
        self._wake = Flag()
        self._thread: threading.Thread | None = None
        self._closed = False
        self._asked = False
        self._process = f"{socket.gethostname()} {os.getpid()} {uuid.uuid4().hex[:8]}"
        answering = self.answering
        self.backlog = Backlog(
            answering.store,
            self._desk.settings.backlog_limit,
            self.by_default,
            answering.meaning.lanes,
        )
        self.unpacked = UnpackedSpaces(answering.store, self._desk.settings.pack_rows, _most_exact)
        self._scheduler: Scheduler | None = None

    @property
    def _schedule(self) -> Scheduler:
        """The one schedule of this process, whose runs are numbered, made for its first slice."""
        import_whole("mnemic.worker.scheduling")
        from mnemic.worker.scheduling import Scheduler

        with self._lock:
            if self._scheduler is None:
                self._scheduler = Scheduler(
                    self._process, self.backlog, self.unpacked, self.answering, self.job_types,
                    lambda: self.context, lambda: self._closed,
                )  # fmt: skip
            return self._scheduler

    def notify(self) -> None:
        """Wake the thread, or start it: something was written."""
        with self._lock:
            if self._closed:
                return
            self._wake.set()
            self._begin()

    def _linger(self) -> None:
        """Have the thread there, without waking it: it has something to do in a while."""
        with self._lock:
            if not self._closed:
                self._begin()

    def _begin(self) -> None:
        if self._thread is None or not self._thread.is_alive():  # it was cut short, amid its start or by an error
            self._thread = threading.Thread(target=self._follow, name="mnemic-worker", daemon=True)
            with suppress(RuntimeError):  # none is to be had now: the next write asks again
                self._thread.start()

    def want_packs(self, space: int, unsound: Sequence[PackRow] = ()) -> None:
        """Have a space packed of which many entries had to be read one by one, or whose packs are not sound."""
        self.unpacked.want(space)
        self.unpacked.distrust(unsound)
        if self._desk.settings.background:
            self.notify()

    def asked(self) -> None:
        """Wake the thread at the first read, for work that an earlier process left undone."""
        if not self._asked:
            self._asked = True
            self.notify()

    def drain(self, on_slice: Callable[[str, int], None] | None = None, seconds: float | None = None) -> bool:
        """Run slices in this thread until nothing is left, whatever the triggers say; return whether that was reached.

        It is not where a job waits to be tried again, or a lane for its user's next hour of questions.

        Args:
            on_slice: Called after each slice with its lane and how much it did.
            seconds: Longest to go on; None for as long as it takes. A lane that another worker has is waited for.

        Raises:
            MnemicError: a slice failed, once the other lanes have nothing left; what was done is kept.
        """
        until = None if seconds is None else time.monotonic() + seconds
        error: MnemicError | None = None
        self.backlog.settle(self._desk.settings.indexed)
        packed = not self.unpacked.waiting(every=True)
        with self.answering.store.read() as snapshot:
            lost = lost_lanes(snapshot, self.by_default)
            modelless = [job.id for job in snapshot.jobs(JobState.WAITING) if job.error.startswith(NO_MODEL)]
        if packed and not lost and self._idle():
            self.backlog.recount()
            return True
        import_whole("mnemic.worker.scheduling")
        from mnemic.worker.scheduling import Cycle

        self._schedule.try_models(modelless)
        while True:
            cycle = Cycle(force=True, hurried=until is not None and until - time.monotonic() < UNHURRIED_SECONDS)
            for lane, did in self._slices(cycle):
                if on_slice is not None and did.done:
                    on_slice(lane, did.done)
                if until is not None and time.monotonic() >= until:
                    return False
            error = cycle.failed or error
            if error is not None and not cycle.did:
                raise error
            if not cycle.any:
                self.backlog.recount()
                return not cycle.later and not any(map(self.backlog.behind, lost))
            if not cycle.did:
                time.sleep(_RETRY_SECONDS / 10)
            if until is not None and time.monotonic() >= until:
                return False

    def _idle(self) -> bool:
        """Whether nothing waits, told without loading the scheduler: so it is before most reads."""
        with self.answering.store.read() as snapshot:
            if any(strategy.maintain for strategy in self.strategies(snapshot)):
                return False
            jobs = snapshot.has_waiting_job() or bool(snapshot.expired(limit=1))
            lanes = [*self._loaded, *self.answering.meaning.lanes(snapshot)]
        lanes += map(slot_lane, self._desk.settings.indexed)
        return not jobs and not any(map(self.backlog.behind, lanes))

    def serve(
        self,
        stop: threading.Event,
        *,
        lanes: Collection[str] = (),
        poll: float = _RETRY_SECONDS,
        once: bool = False,
        progress: Callable[[str, int, int, MnemicError | None], None] = lambda lane, space, done, error: None,
    ) -> None:
        """Be a worker: run slices of every user's lanes, and jobs, until `stop` is set; then finish the one that runs.

        Others' writes are noticed by asking the store every `poll` seconds whether it has moved.

        Args:
            lanes: Only these (`house`, `embed`, `jobs` ...); all when empty.
            once: Return when nothing is left that can be done now; what another worker does is waited for.
            progress: Called after each slice that did something or failed.
        """
        import_whole("mnemic.worker.scheduling")
        from mnemic.worker.scheduling import Cycle

        self.backlog.settle(self._desk.settings.indexed)
        self.unpacked.waiting(every=True)
        seen: tuple[int, ...] = ()
        looked = float("-inf")
        quiet = done = time.monotonic()
        while not stop.is_set():
            moved = self.answering.store.moved()
            if moved == seen and time.monotonic() - looked < LOOK_SECONDS:
                if time.monotonic() - done >= CHORE_SECONDS and (not lanes or JOBS in lanes):
                    done = time.monotonic()
                    self._ask_chores(done - quiet)
                stop.wait(poll)
                continue
            if moved != seen:
                quiet = time.monotonic()
            cycle = Cycle(lanes=frozenset(lanes), on_slice=progress)
            for _ in self._slices(cycle):
                if stop.is_set():
                    return
            seen, looked = (() if cycle.any else moved), time.monotonic()
            if once and not (cycle.did or cycle.busy or cycle.tried):
                return
            if not cycle.did and cycle.any:
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
            self.answering.yielding.let_all()
        if thread is not None and thread is not threading.current_thread():
            with self._working:  # the slice that runs, however long it takes
                pass
            if thread.is_alive():  # a start that was cut short left none to wait for
                thread.join(ENDING_SECONDS)
        if self._scheduler is not None:
            with suppress(MnemicError):  # the lease runs out by itself
                self._scheduler.give_back()
        if unsound := self.unpacked.unsound():
            with suppress(MnemicError):  # the next reader sees them too
                self.answering.store.transact(drop_unsound, unsound)

    def _slices(self, cycle: Cycle) -> Iterator[tuple[str, Slice]]:
        """Run one slice of every lane that has something before it, each when it is asked for.

        One that fails waits by itself, and the others go on.
        """
        schedule = self._schedule
        schedule.give_back()
        with self.answering.store.read() as snapshot:
            self.strategies(snapshot)
        for task in schedule.tasks(cycle):
            did = self._attempt(task, cycle)
            schedule.ended()
            cycle.count(did)
            yield task.lane, did

    def _attempt(self, task: Task, cycle: Cycle) -> Slice:
        """Run a slice, which whoever closes waits for; in a call, since a generator may stop while it holds a lock."""
        with self._working:
            return self._run_slice(task, cycle)

    def _run_slice(self, task: Task, cycle: Cycle) -> Slice:
        """Run a slice; record a failure on its lane or job, and count it."""
        attend = partial(self._attend, task)
        error: MnemicError | None = None
        did = BUSY
        try:
            did = self.answering.drive(task.flow(), attend, Timed(Sort.RUN, task.lane))
        except MnemicError as expected:
            error = expected
        except Exception as unexpected:  # noqa: BLE001 - a worker loop: one space's fault must not stop the others
            error = MnemicError(f"lane {task.lane}: {type(unexpected).__name__}: {unexpected}")
        if error is not None:
            try:
                did = Slice(done=1) if run(task.failed(error), attend) else WAITS
            except MnemicError:
                self._schedule.strand()
            if isinstance(error, NoModel | UnusableModel):
                if not task.job:
                    self._schedule.needs_model(task.lane, error)
                did = IDLE
                cycle.later += cycle.force
                if isinstance(error, UnusableModel):
                    cycle.failed = error
            elif isinstance(error, OverQuota):
                if not task.job:
                    self._schedule.over_quota(task.lane, task.space, error)
                did = IDLE
                cycle.later += cycle.force
            elif not did.done and not isinstance(error, Conflict):
                cycle.tried += 1
                cycle.failed = error
        if did.done or error is not None:
            cycle.on_slice(task.lane, task.space, did.done, error)
        return did

    def _attend(self, task: Task, request: Request) -> Any:
        """Answer a request of a slice once no verb runs in front; writes of an answer already in hand do not wait."""
        if not (isinstance(request, Transact) and request.urgent):
            self.answering.yielding.park()
        match request:
            case Pause():
                return None
            case Ask():
                with self._lease_kept(task):
                    return self._ask_model(task, request)
            case AskEach(asks):
                with self._lease_kept(task):
                    return answered_each(asks, partial(self._ask_model, task))
            case Embed(texts=[_, *_]):
                return self._embed(task, request)
        with self.answering.yielding.working():
            return self.answering.perform(request)

    def _ask_model(self, task: Task, request: Ask) -> Reply:
        if self._closed:
            raise Conflict("the store is being closed; the run goes on from its answers")
        asked = self._budget.count(task.space, request)
        try:
            reply = self.answering.ask_metered(task.lane, task.space, request)
        except CutOff as cut_off:
            asked.tokens = cut_off.reply.prompt_tokens + cut_off.reply.answer_tokens
            raise
        except MnemicError:
            self._budget.take_back(task.space, asked)
            raise
        asked.tokens = reply.prompt_tokens + reply.answer_tokens
        return reply

    def _embed(self, task: Task, request: Embed) -> Any:
        if self.answering.meaning.is_remote(request.model):
            with self._lease_kept(task):
                return self.answering.perform(request)
        with self.answering.yielding.working():
            began = time.monotonic()
            answered = self.answering.perform(request)
        self._schedule.learn(request.model, (time.monotonic() - began) / len(request.texts))
        return answered

    def _lease_kept(self, task: Task) -> AbstractContextManager[None]:
        """Prolong a task's lease while a model is waited for, which may take longer than the lease."""
        store = self.answering.store
        return beating(lambda: store.transact(prolong, task.space, task.owner, LEASE_SECONDS, task.job))

    def _follow(self) -> None:
        import_whole("mnemic.worker.scheduling")
        from mnemic.worker.scheduling import Cycle

        while not self._closed:
            self._wake.clear()
            cycle = Cycle()
            try:
                self._run(cycle)
                if cycle.did:
                    continue
                waits = cycle.any or cycle.later
                if not self._woken(_RETRY_SECONDS if waits else IDLE_SECONDS) and not waits and self._ended():
                    return
            except Exception:  # noqa: BLE001 - a worker loop: what a store cannot do now it may do later
                self._wake.wait(_RETRY_SECONDS)

    def _woken(self, seconds: float) -> bool:
        """Wait to be woken, so many seconds at most, and write what was counted as it comes due."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            if self._wake.wait(min(left, self.uses.write_due())):
                return True
        return False

    def _run(self, cycle: Cycle) -> None:
        for _ in self._slices(cycle):
            self.uses.write_due()
            if self._closed:
                return

    def _ended(self) -> bool:
        """End the thread unless something was written just now; return whether it ends."""
        with self._lock:
            if self._wake.is_set() or self.uses.waiting:
                return False
            if (
                self._thread is threading.current_thread()
            ):  # not one that was begun because this one's start was cut short
                self._thread = None
            return True


def _most_exact(dims: int) -> int:
    import_whole("mnemic.index.vectors")
    from mnemic.index.vectors import most_exact  # only for a store that has packs: it brings numpy

    return most_exact(dims)
