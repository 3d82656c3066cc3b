"""A bounded pool of threads for verbs, which block; what comes while its queue is full is sent away at once."""

from __future__ import annotations

import asyncio
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from contextvars import copy_context
from functools import partial
from queue import SimpleQueue
from typing import Any, Final, NamedTuple, TypeVar

from starlette.exceptions import HTTPException

T = TypeVar("T")

THREADS: Final = 16
WAITING: Final = 256
"""Requests that may wait for a thread; the next one is told to come back."""


class VerbPool:
    """Runs blocking calls in at most so many threads. Used from one event loop.

    Each call is one step into a thread and one back, which calls that end together share: `anyio.to_thread` goes three
    times round the loop, and both it and `ThreadPoolExecutor` through locks written in Python, which threads that end
    together wait for. A queue in C is left. Its threads end with the pool.

    Args:
        waiting: Most calls that wait for a thread.
    """

    def __init__(self, threads: int = THREADS, waiting: int = WAITING) -> None:
        self._calls: SimpleQueue[Callable[[], object] | None] = SimpleQueue()
        self._threads, self._running = threads, list[threading.Thread]()
        self._ending = 0
        """How many of those running have been told to end."""
        self._most = threads + waiting
        self._inside = 0
        self._outcomes: deque[tuple[asyncio.Future[_Outcome], _Outcome]] = deque()
        self._woken: asyncio.AbstractEventLoop | None = None
        """The loop, once it has been told that there are outcomes and has not looked yet."""
        weakref.finalize(self, _end, self._calls, threads)

    @property
    def inside(self) -> int:
        """How many calls run or wait."""
        return self._inside

    async def run(self, work: Callable[[], T]) -> T:
        """Run `work` in a thread, and return what it returns; a caller that leaves does not end it.

        Raises:
            HTTPException: 503, the queue is full.
        """
        if self._inside >= self._most:
            raise HTTPException(503, "More requests wait than this server queues; come back.", {"Retry-After": "1"})
        return await self.run_admitted(work)

    async def run_admitted(self, work: Callable[[], T]) -> T:
        """Run what a request does after its first `run`: it was let in, so that no queue, however long, turns it away.

        It takes a thread and a place in the queue as any other call, at the cost of those who are not in yet.
        """
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[_Outcome] = loop.create_future()
        here = copy_context()  # a trace goes on in the thread
        if len(self._running) < min(self._inside + 1, self._threads):
            self._start_thread()
        self._calls.put(partial(here.run, self._attempt, work, loop, answer))
        self._inside += 1
        outcome = await answer
        if outcome.error is not None:
            raise outcome.error
        value: T = outcome.value
        return value

    def _start_thread(self) -> None:
        """Start one more thread, before a call is counted on it.

        Raises:
            HTTPException: 503, the system gives none, and there is no other to take the call.
        """
        thread = threading.Thread(target=_make, args=(self._calls,), name="mnemic-verb", daemon=True)
        try:
            thread.start()
        except RuntimeError as error:
            if not self._running:
                raise HTTPException(503, "This server gets no thread now; come back.", {"Retry-After": "1"}) from error
            return
        self._running.append(thread)

    def close(self, seconds: float) -> int:
        """Let the calls that are in end, those whose callers have left too, and then the threads; it blocks.

        A thread that still runs when the interpreter ends is cut wherever it is, in the midst of a write too.

        Args:
            seconds: Longest that all of them are waited for.

        Returns:
            How many threads still make a call.
        """
        until = time.monotonic() + seconds
        _end(self._calls, len(self._running) - self._ending)
        for thread in self._running:
            thread.join(max(0.0, until - time.monotonic()))
        self._running = [thread for thread in self._running if thread.is_alive()]
        self._ending = len(self._running)
        return len(self._running)

    def _attempt(
        self, work: Callable[[], object], loop: asyncio.AbstractEventLoop, answer: asyncio.Future[_Outcome]
    ) -> None:
        """Do the work, in a thread, and have the loop learn what came of it."""
        try:
            outcome = _Outcome(work(), None)
        except BaseException as error:  # noqa: BLE001 - whoever waits raises it
            outcome = _Outcome(None, error)
        self._outcomes.append((answer, outcome))
        if self._woken is loop:
            return  # it has not looked yet, and will find this too: verbs whose commits were one end together
        self._woken = loop
        with suppress(RuntimeError):  # the loop is closed, and nobody waits any more
            loop.call_soon_threadsafe(self._deliver)

    def _deliver(self) -> None:
        """Hand out all outcomes there are, in the loop."""
        self._woken = None
        while self._outcomes:
            answer, outcome = self._outcomes.popleft()
            self._inside -= 1
            if not answer.done():  # its caller has not left
                with suppress(RuntimeError):  # it waited in a loop that is closed
                    answer.set_result(outcome)


class _Outcome(NamedTuple):
    """What came of a call: what it returned, or the error that it raised."""

    value: Any
    error: BaseException | None


def _make(calls: SimpleQueue[Callable[[], object] | None]) -> None:
    """Make calls, in a thread, until there is None."""
    while (call := calls.get()) is not None:
        call()
        del call  # it would be kept, with the pool, until the next one comes


def _end(calls: SimpleQueue[Callable[[], object] | None], threads: int) -> None:
    """Have threads end once they have made the calls that wait."""
    for _ in range(threads):
        calls.put(None)
