"""A bounded pool of threads for verbs, which block; what comes while its queue is full is sent away at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar

from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from starlette.exceptions import HTTPException

T = TypeVar("T")

THREADS: Final = 16
WAITING: Final = 256
"""Requests that may wait for a thread; the next one is told to come back."""


class VerbPool:
    """Runs blocking calls in at most so many threads. Used from one event loop.

    Args:
        waiting: Most calls that wait for a thread.
    """

    def __init__(self, threads: int = THREADS, waiting: int = WAITING) -> None:
        self._limiter = CapacityLimiter(threads)
        self._most = threads + waiting
        self._inside = 0

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
        self._inside += 1
        try:
            return await run_sync(work, limiter=self._limiter)
        finally:
            self._inside -= 1
