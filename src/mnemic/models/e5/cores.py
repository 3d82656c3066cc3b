"""Splits work over cores: threads of our own, each matrix product kept to the thread that calls it.

A BLAS that shares each product among all cores makes them wait for each other thousands of times a second. On a machine
that has other things to do that costs more than it gains; whole texts for each core need no waiting.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Final, TypeVar

from mnemic.core.forking import renew_in_child

T = TypeVar("T")
R = TypeVar("R")

_MOST: Final = 4
"""Cores that are used at most: each takes some 40 MB."""


def hands() -> int:
    """Count the cores that this process may use."""
    return min(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1, _MOST)


def at_once(work: Callable[[T], R], shares: Sequence[T]) -> list[R]:
    """Run `work` on each share, each on a core of its own; return the results in order."""
    with _blas.alone():
        if len(shares) < 2:
            return [work(share) for share in shares]
        from concurrent.futures import ThreadPoolExecutor  # with logging: 8 ms that a single question is spared

        with ThreadPoolExecutor(len(shares), "mnemic-e5") as pool:
            return list(pool.map(work, shares))


class _Blas:
    """Keeps numpy's BLAS to one thread while anybody of this process is inside, and gives the others back after.

    Without the package threadpoolctl it is left as it is: slower, with the same vectors.
    """

    def __init__(self) -> None:
        self._limit: AbstractContextManager[object] = nullcontext()
        self.renew()
        renew_in_child(self)

    def renew(self) -> None:
        """Begin with nobody inside, as a forked child must."""
        self._lock, self._inside = threading.Lock(), 0

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep matrix products to their thread inside the block."""
        with self._lock:
            if self._inside == 0:
                self._limit = _limited()
                self._limit.__enter__()
            self._inside += 1
        try:
            yield
        finally:
            with self._lock:
                self._inside -= 1
                if self._inside == 0:
                    self._limit.__exit__(None, None, None)


def _limited() -> AbstractContextManager[object]:
    try:
        import threadpoolctl
    except ImportError:
        return nullcontext()
    limit: AbstractContextManager[object] = threadpoolctl.threadpool_limits(1, user_api="blas")
    return limit


_blas: Final = _Blas()
