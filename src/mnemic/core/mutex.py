"""Locks that no interrupt can leave shut: each is held by a call, and is free once that call has ended, however it did.

An interrupt (Ctrl-C) is raised between any two steps of a program: also after a lock was taken and before anybody could
note it, and before the first step of what gives it back. `with` over a lock written in C closes most of that gap, not
all of it, and `threading.Condition` and `Event`, written in Python, have it open. So who holds a lock is not kept
beside it: taking it is one step of the interpreter, which sets the holding's frame into a chain, and whoever finds it
held asks that frame whether its call still runs.
"""

from __future__ import annotations

import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Final, Protocol

LOOK_SECONDS: Final = 0.02
"""How long one waits for a lock before asking again whether its holder still runs."""


class Holder(Protocol):
    """What holds a lock: the frame of a function that is not a generator, or a thing of the same manners."""

    def clear(self) -> None:
        """Let go of everything.

        Raises:
            RuntimeError: the call is not over.
        """
        ...


def is_over(call: Holder) -> bool:
    """Whether a call has ended, however it did, so that it holds nothing."""
    try:
        call.clear()  # of a call that runs this is refused, and one that is over has no use for what it held
    except RuntimeError:
        return False
    return True


class _Holding:
    """One time that a lock is held: by which call (None once it was given back), who waits, and who held it next."""

    __slots__ = ("after", "call", "waiting")

    def __init__(self, call: Holder | None) -> None:
        self.call = call
        self.waiting: list[tuple[float, threading.Lock]] = []
        self.after: dict[None, _Holding] = {}

    @property
    def over(self) -> bool:
        """Whether the lock is free as far as this holding goes."""
        call = self.call
        return call is None or is_over(call)


class Mutex:
    """Held by one call at a time: `with mutex:` in a function that is not a generator.

    Not to be taken twice by one call, nor by one that it calls.
    """

    __slots__ = ("_last",)

    def __init__(self) -> None:
        self._last = _Holding(None)

    def __enter__(self) -> None:
        self.take(sys._getframe(1))

    def __exit__(self, *_: object) -> None:
        self.give_back(sys._getframe(1))

    def take(self, call: Holder, patience: float | None = None) -> bool:
        """Have `call` hold it; whether that came about within so many seconds (None: however long)."""
        mine = _Holding(call)
        last = self._last  # looked up once: another may take it between two looks
        if last.call is None and last.after.setdefault(None, mine) is mine:  # as good as always
            self._last = mine
            return True
        since = time.monotonic()
        while (holding := self._follow(mine)) is not mine:
            left = LOOK_SECONDS if patience is None else since + patience - time.monotonic()
            if left <= 0:
                return False
            gate = threading.Lock()
            gate.acquire()
            holding.waiting.append((since, gate))
            if holding.call is not None:
                gate.acquire(timeout=min(left, LOOK_SECONDS))
        return True

    def give_back(self, call: Holder) -> None:
        """Let the next one have it, if `call` holds it: to say so twice does no harm."""
        held = self._last
        if held.call is call:
            held.call = None
            for _, gate in held.waiting:
                gate.release()

    def _follow(self, mine: _Holding) -> _Holding:
        """Take it if it is free; who has it now."""
        holding = self._last
        while holding is not mine and holding.over:
            holding = holding.after.setdefault(None, mine)
        if holding is mine:
            self._last = mine
        return holding

    @property
    def held(self) -> bool:
        """Whether a call that runs holds it just now."""
        return not self._last.over

    def waited(self) -> float:
        """Seconds for which whoever waits longest has waited."""
        waiting = self._last.waiting.copy()
        return time.monotonic() - min(since for since, _ in waiting) if waiting else 0.0


class Flag:
    """What `threading.Event` is, without the lock that an interrupt can leave shut."""

    def __init__(self) -> None:
        self._set = False
        self._waiting: deque[threading.Lock] = deque()

    def is_set(self) -> bool:
        """Whether it is up."""
        return self._set

    def set(self) -> None:
        """Put it up, and wake everybody who waits for that."""
        self._set = True
        wake_all(self._waiting)

    def clear(self) -> None:
        """Take it down."""
        self._set = False

    def wait(self, seconds: float | None = None) -> bool:
        """Whether it is up; waits so long for that."""
        if not self._set:
            wait_among(self._waiting, lambda: not self._set, seconds)
        return self._set


def wait_among(waiting: deque[threading.Lock], still: Callable[[], bool], seconds: float | None) -> None:
    """Wait, if that is `still` to be done, until `wake_all` is called with the same queue, or for so long."""
    gate = threading.Lock()
    gate.acquire()
    try:
        waiting.append(gate)
        if still():
            gate.acquire(timeout=-1 if seconds is None else max(seconds, 0))
    finally:
        with suppress(ValueError):  # it was woken
            waiting.remove(gate)


def wake_all(waiting: deque[threading.Lock]) -> None:
    """Wake everybody in a queue."""
    while waiting:
        try:
            waiting.popleft().release()
        except IndexError:  # the last has just gone by itself
            return
