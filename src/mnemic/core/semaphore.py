"""A semaphore that no interrupt can leave shut: so many threads at a time, whoever came first goes first.

It knows who is inside by the call that came in, as `core.mutex` does: a call that is over holds no place, however it
ended. `threading.Semaphore` is written in Python over a condition, has neither promise, and wakes in no order.
"""

from __future__ import annotations

import sys
import threading
from collections import deque
from contextlib import suppress
from typing import Final

from mnemic.core.forking import renew_in_child
from mnemic.core.mutex import LOOK_SECONDS, Holder, Mutex, is_over

TURN_SECONDS: Final = 10 * LOOK_SECONDS
"""How long who is not first in line waits before looking whether anybody is left who lets others in."""


class _Visit:
    """One time that a thread comes in, or waits for that."""

    __slots__ = ("call", "gate", "thread")

    def __init__(self, call: Holder) -> None:
        self.call, self.thread = call, threading.get_ident()
        self.gate = threading.Lock()
        self.gate.acquire()

    @property
    def over(self) -> bool:
        return is_over(self.call)

    def wake(self) -> None:
        """Have its thread look; to say so twice does no harm."""
        with suppress(RuntimeError):
            self.gate.release()


class FairSemaphore:
    """Lets so many threads in at a time, in the order in which they came: `with semaphore:` in a function that is no
    generator, once to a call.

    A thread that is inside comes in again at once, so that nesting cannot deadlock. What is done inside waits for no
    lock that is held while somebody waits to come in.

    Args:
        places: How many threads may be inside.
    """

    def __init__(self, places: int) -> None:
        self._places = places
        self.renew()
        renew_in_child(self)

    def renew(self) -> None:
        """Start over with nobody inside, as a forked child must."""
        self._admitting = Mutex()
        self._inside: dict[_Visit, None] = {}
        self._waiting: deque[_Visit] = deque()

    @property
    def inside(self) -> int:
        """How many threads are inside."""
        return sum(not visit.over for visit in self._inside.copy())

    @property
    def waiting(self) -> int:
        """How many threads wait to come in."""
        return sum(not visit.over for visit in self._waiting.copy())

    def __enter__(self) -> None:
        thread = threading.get_ident()
        if any(visit.thread == thread and not visit.over for visit in self._inside.copy()):
            return
        visit = _Visit(sys._getframe(1))
        try:
            self._waiting.append(visit)
            self._admit()
            while visit not in self._inside:
                first = next(iter(self._waiting.copy()), None)
                visit.gate.acquire(timeout=LOOK_SECONDS if visit is first else TURN_SECONDS)
                self._admit()
        except BaseException:  # an interrupt: leave the line, or the place if it had come to that
            self._leave(visit)
            raise

    def __exit__(self, *_: object) -> None:
        call = sys._getframe(1)
        for visit in self._inside.copy():
            if visit.call is call:
                self._leave(visit)
        if self._waiting:
            self._admit()

    def _leave(self, visit: _Visit) -> None:
        self._inside.pop(visit, None)
        if self._waiting:  # it may stand in line still, though it was let in, if who let it in was cut short
            with suppress(ValueError):
                self._waiting.remove(visit)

    def _admit(self) -> None:
        """Let in whoever is first in line, as far as there is room. Cut short anywhere, it is only to be done again."""
        with self._admitting:
            for visit in self._inside.copy():
                if visit.over:
                    self._inside.pop(visit, None)
            while self._waiting and len(self._inside) < self._places:
                try:
                    visit = self._waiting[0]
                except IndexError:  # it has just left by itself
                    return
                if not visit.over:
                    self._inside[visit] = None
                with suppress(ValueError):
                    self._waiting.remove(visit)
                visit.wake()
