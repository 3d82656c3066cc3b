"""Splits work over cores: threads of our own, each matrix product kept to the thread that calls it.

A BLAS that shares each product among all cores makes them wait for each other thousands of times a second. On a machine
that has other things to do that costs more than it gains; whole texts for each core need no waiting.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Final, TypeVar

from mnemic.core.forking import renew_in_child
from mnemic.core.mutex import Mutex
from mnemic.core.uninterrupted import import_whole, run_uninterrupted

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

T = TypeVar("T")
R = TypeVar("R")

_MOST: Final = 4
"""Cores that are used at most: each takes some 40 MB."""


def hands() -> int:
    """Count the cores that this process may use."""
    return min(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1, _MOST)


def at_once(work: Callable[[T], R], shares: Sequence[T]) -> list[R]:
    """Run `work` on each share, each on a core of its own; return the results in order."""
    try:
        _blas.keep_to_threads()
        if len(shares) < 2:
            return [work(share) for share in shares]
        import_whole("concurrent.futures.thread")
        from concurrent.futures import ThreadPoolExecutor  # with logging: 8 ms that a single question is spared

        with ThreadPoolExecutor(len(shares), "mnemic-e5") as pool:
            return list(pool.map(work, shares))
    finally:
        _blas.give_back()


class _Blas:
    """Keeps numpy's BLAS to one thread while anybody of this process is inside, and gives the others back after.

    Without the package threadpoolctl it is left as it is: slower, with the same vectors.
    """

    def __init__(self) -> None:
        self.renew()
        renew_in_child(self)

    def renew(self) -> None:
        """Begin with nobody inside, as a forked child must."""
        self._lock = Mutex()
        self._inside: set[int] = set()
        self._controllers: list[ThreadpoolController] | None = None
        self._limits: list[AbstractContextManager[object]] = []

    def keep_to_threads(self) -> None:
        """Keep matrix products to the thread that calls them, until every thread that said this has given that back."""
        with self._lock:
            self._inside.add(threading.get_ident())  # what an interrupt leaves, the thread's next call takes away
            if self._controllers is None:
                self._controllers = run_uninterrupted(_found_controllers)
            if self._limits:
                return
            for controller in self._controllers:
                before = controller.limit(limits=None)  # it notes what there is: cut short after this, that comes back
                self._limits.append(before)
                before.__enter__()
                controller.limit(limits=1, user_api="blas")

    def give_back(self) -> None:
        """Let matrix products have all cores again, if nobody else is inside."""
        with self._lock:
            self._inside.discard(threading.get_ident())
            while self._limits and not self._inside:
                self._limits[-1].__exit__(None, None, None)
                self._limits.pop()


def _found_controllers() -> list[ThreadpoolController]:
    """Find the libraries of this process that share work among cores; none without the package that does it.

    It has the system call Python back for each library, and an interrupt in there would be swallowed.
    """
    try:
        import_whole("threadpoolctl")
        import threadpoolctl
    except ImportError:
        return []
    return [threadpoolctl.ThreadpoolController()]


_blas: Final = _Blas()
