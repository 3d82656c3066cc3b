"""Background work yields to the foreground: it waits before each request while a verb runs, but never starves."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from mnemic.core.forking import renew_in_child

LINGER_SECONDS: Final = 0.003
"""How long it must have been quiet: verbs come in bursts, and a thread that wakes between two of them is in the way."""

PARKED_SECONDS: Final = 0.05
"""Longest that a request waits for verbs that do not cease; it waits twice as long as the last one took, if longer."""

BESIDE_SECONDS: Final = 0.002
"""How long work goes on beside such verbs before it waits again."""


class Yielding:
    """Tracks the verbs that run in front and holds background work back meanwhile. Safe for many threads.

    It is the context in which a request of a verb is answered: every verb pays for it, so it is no generator.
    """

    def __init__(self) -> None:
        self.renew()
        renew_in_child(self)

    def renew(self) -> None:
        """Start over with nobody in front, as a forked child must."""
        self._lock = threading.Lock()
        self._all = threading.Event()
        self._front = 0
        self._left_at = 0.0
        self._free_until = 0.0
        self._took = 0.0

    def __enter__(self) -> None:
        """Note that a verb runs in front."""
        with self._lock:
            self._front += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._front -= 1
            self._left_at = time.monotonic()

    def let_all(self) -> None:
        """Release all background work that waits."""
        self._all.set()

    def park(self) -> None:
        """Wait until no verb runs in front, at most for a fair time.

        It looks again after longer and longer: a thread that wakes takes the interpreter from the verbs it waits for.
        """
        now = time.monotonic()
        if now < self._free_until:
            return
        until, pause = now + max(PARKED_SECONDS, 2 * self._took), LINGER_SECONDS
        while not self._is_quiet(now) and not self._all.wait(min(pause, until - now)):
            now, pause = time.monotonic(), 2 * pause
            if now >= until:
                self._free_until = now + BESIDE_SECONDS
                return

    def _is_quiet(self, now: float) -> bool:
        return not self._front and now - self._left_at >= LINGER_SECONDS

    @contextmanager
    def working(self) -> Iterator[None]:
        """Time one request of the background: twice as long as it takes the next one may wait."""
        began = time.monotonic()
        try:
            yield
        finally:
            self._took = time.monotonic() - began
