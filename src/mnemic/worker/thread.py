"""The background: one thread that runs what lanes and jobs have before them, and ends when there is nothing."""

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

from mnemic.core.forking import renew_in_child
from mnemic.errors import Conflict, MnemicError
from mnemic.flow import Pause, Request, run
from mnemic.kernel import Kernel
from mnemic.lanes.backlog import Lineup, Owner
from mnemic.lanes.heartbeat import beating
from mnemic.lanes.slices import BUSY, JOBS, LEASE_SECONDS, WAITS, Slice, epoch_of
from mnemic.meaning import Meaning
from mnemic.models.model_requests import Ask, Embed, EmbedQuestion
from mnemic.store.base import Store
from mnemic.store.following import JobState
from mnemic.store.jobs import prolong
from mnemic.store.requests import Transact, answer, look
from mnemic.strategies.loading import followed, lane_of, strategies
from mnemic.watching.metering import Meters
from mnemic.worker.model_budget import Thinking
from mnemic.worker.yielding import Pacing

if TYPE_CHECKING:
    from mnemic.strategies.base import Strategy
    from mnemic.worker.job_types import Bench, Work
    from mnemic.worker.scheduling import Agenda, Pass, Task

IDLE_SECONDS: Final = 2.0
"""How long the thread waits for more before it ends; the next write starts another."""

_RETRY_SECONDS: Final = 0.5
"""How long it waits for a lane that another worker has, that waits after a failure, or whose time will come."""

LOOK_SECONDS: Final = 5.0
"""How often a worker looks for what is due by the clock alone, though nobody has written."""

CHORE_SECONDS: Final = 60.0
"""How often a worker with nothing to do asks its chores whether one is due."""


class Background:
    """Runs slices of lanes until there are none: in a thread behind the caller or, in `drain`, in the caller's own.

    Args:
        given: The strategies to follow; None for those that the settings name.

    Attributes:
        pacing: What a verb's request is answered in, so that what runs behind waits before its next.
        chores: What a worker asks from time to time, saying for how long nobody has written; each orders its own jobs.
    """

    def __init__(
        self, store: Store, kernel: Kernel, meaning: Meaning, given: Sequence[str | Strategy] | None = None
    ) -> None:
        self._store, self._kernel, self._meaning = store, kernel, meaning
        self.meters = Meters()
        settings = kernel.settings
        self._followed = followed(settings.strategies if given is None else given)
        self.thinking = Thinking(settings)
        self.pacing = Pacing()
        self.chores: dict[str, Callable[[float], None]] = {}
        self.renew()
        renew_in_child(self)

    @cached_property
    def strategies(self) -> tuple[Strategy, ...]:
        """Those that were given, or that the settings name; ours are loaded when something is to be understood."""
        return strategies(self._followed)

    @property
    def strategy_lanes(self) -> tuple[str, ...]:
        """The names of their lanes."""
        return tuple(lane_of(one) for one in self._followed)

    @cached_property
    def work(self) -> dict[str, Work]:
        """What jobs of each name do; floors above add theirs."""
        from mnemic.worker.job_types import WORK

        return dict(WORK)

    @cached_property
    def bench(self) -> Bench:
        """What work needs from this process."""
        from mnemic.worker.job_types import Bench

        return Bench(self._kernel.desk, self.strategies, self._kernel.settings.keep_answers)

    def renew(self) -> None:
        """Start over without a thread, as a forked child must."""
        self._lock = threading.Lock()
        self._working = threading.Lock()
        self._wake = threading.Event()
        self._thread: threading.Thread | None = None
        self._closed = False
        self._asked = False
        name = f"{socket.gethostname()} {os.getpid()} {uuid.uuid4().hex[:8]}"
        self.lineup = Lineup(
            self._store,
            self._kernel.settings.backlog_limit,
            lambda: [*self.strategy_lanes, *self._meaning.lanes()],
        )
        self._name = name
        self._planned: Agenda | None = None

    @property
    def _agenda(self) -> Agenda:
        """The one agenda of this process, whose runs are numbered, made for its first slice."""
        from mnemic.worker.scheduling import Agenda

        with self._lock:
            if self._planned is None:
                self._planned = Agenda(
                    self._name, self.lineup, self._meaning, self.thinking, self.work, lambda: self.bench, self.perform
                )
            return self._planned

    def _pass(self, **wanted: Any) -> Pass:
        from mnemic.worker.scheduling import Pass

        return Pass(**wanted)

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

    def crowd(self, owner: Owner, written: int) -> int:
        """How many passages of a user wait, if they are more than the setting `backlog_limit`; else 0."""
        return self.lineup.crowd(owner, written)

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
        if self._idle():
            self.lineup.recount()
            return True
        while True:
            passed = self._pass(force=True)
            for lane, did in self._slices(passed):
                if told is not None and did.done:
                    told(lane, did.done)
                if until is not None and time.monotonic() >= until:
                    return False
            error = passed.failed or error
            if error is not None and not passed.did:
                raise error
            if not passed.any:
                self.lineup.recount()
                return not passed.later
            if not passed.did:
                time.sleep(_RETRY_SECONDS / 10)
            if until is not None and time.monotonic() >= until:
                return False

    def _idle(self) -> bool:
        """Whether nothing waits, seen without the machinery that does it: so it is before most questions."""
        if any(one.maintain for one in self.strategies):
            return False
        lanes = [*self.strategy_lanes, *self._meaning.lanes()]
        with self._store.read() as snapshot:
            jobs = snapshot.jobs(JobState.WAITING)
        return not jobs and not any(map(self.lineup.behind, lanes))

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
            passed = self._pass(lanes=frozenset(lanes), told=told)
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

    def _slices(self, passed: Pass) -> Iterator[tuple[str, Slice]]:
        """One slice of every lane that has something before it, each run when it is asked for.

        One that fails waits by itself, and the others go on.
        """
        for task in self._agenda.tasks(passed):
            with self._working:
                did = self._attempt(task, passed)
            passed.count(did)
            yield task.lane, did

    def _attempt(self, task: Task, passed: Pass) -> Slice:
        attend = partial(self._attend, task)
        error: MnemicError | None = None
        did, epoch = BUSY, 0
        try:
            epoch = run(look(lambda s: epoch_of(s, task.space)), self.perform)
            with self.meters.run(task.lane) as timed:
                did = timed(run(task.flow(), attend))
        except MnemicError as wrong:
            error = wrong
        except Exception as wrong:  # noqa: BLE001 - a worker loop: one space's fault must not stop the others
            error = MnemicError(f"lane {task.lane}: {type(wrong).__name__}: {wrong}")
        if error is not None:
            with suppress(MnemicError):
                did = Slice(done=1) if run(task.failed(error, epoch), attend) else WAITS
            if not did.done and not isinstance(error, Conflict):
                passed.tried += 1
                passed.failed = error
        if did.done or error is not None:
            passed.told(task.lane, task.space, did.done, error)
        return did

    def _attend(self, task: Task, request: Request) -> Any:
        """Answer a request of a slice once nobody is in front; an answer in hand is put down at once."""
        if not (isinstance(request, Transact) and request.urgent):
            self.pacing.park()
        match request:
            case Pause():
                return None
            case Ask():
                return self._think(task, request)
            case Embed(texts=[_, *_]):
                return self._embed(task, request)
        with self.pacing.working():
            return self.perform(request)

    def _think(self, task: Task, request: Ask) -> Any:
        if self._closed:
            raise Conflict("the store is being closed; the run goes on from its answers")
        self.thinking.count(task.space, request)
        with self._held(task):
            return self.perform(request)

    def _embed(self, task: Task, request: Embed) -> Any:
        if self._meaning.is_remote(request.model):
            with self._held(task):
                return self.perform(request)
        with self.pacing.working():
            began = time.monotonic()
            answered = self.perform(request)
        self._agenda.learn(request.model, (time.monotonic() - began) / len(request.texts))
        return answered

    def _held(self, task: Task) -> AbstractContextManager[None]:
        """While a model is waited for, which may take longer than a lease."""
        return beating(lambda: self._store.transact(prolong, task.space, task.owner, LEASE_SECONDS, task.job))

    def behind(self, lane: str) -> list[int]:
        """The spaces in which a lane has something before it."""
        return self.lineup.behind(lane)

    def _follow(self) -> None:
        while not self._closed:
            self._wake.clear()
            passed = self._pass()
            try:
                self._run(passed)
            except Exception:  # noqa: BLE001 - a worker loop: what a store cannot do now it may do later
                passed.count(BUSY)
            if passed.did or self._wake.wait(_RETRY_SECONDS if passed.any or passed.later else IDLE_SECONDS):
                continue
            if not passed.any and not passed.later and self._ended():
                return

    def _run(self, passed: Pass) -> None:
        for _ in self._slices(passed):
            if self._closed:
                return

    def _ended(self) -> bool:
        with self._lock:
            if self._wake.is_set():
                return False
            self._thread = None
            return True
