"""A listener hears that another process has committed, by asking the file."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

import apsw

from mnemic.core.mutex import Holder, Mutex

SHORTEST: Final = 0.005
"""Seconds between two questions to the file just after it has changed."""
LONGEST: Final = 0.2
"""Seconds between two questions to a file that has been quiet for a while."""
_PATIENCE: Final = 8
"""The pause is this part of the time that the file has been quiet."""


class Listener:
    """Whether the file has changed, by any process: SQLite's `data_version`, read on a connection kept for that.

    Threads share it. The connection is never inside a transaction, so it holds up no checkpoint and no erasure.
    """

    def __init__(self, open: Callable[[], apsw.Connection]) -> None:
        self._open = open
        self._lock = Mutex()
        self._db: apsw.Connection | None = None
        self._opened = 0
        self._seen = (0, 0)
        self._moved = time.monotonic()

    def version(self) -> tuple[int, int]:
        """A mark that differs from the one before if anything was committed in between."""
        with self._lock:
            if self._db is None:
                self._db = self._open()
                self._opened += 1
            now = (self._opened, int(self._db.pragma("data_version")))
            if now != self._seen:
                self._seen, self._moved = now, time.monotonic()
            return now

    @property
    def pause(self) -> float:
        """Seconds to wait before asking again: the longer it has been quiet, the longer."""
        return min(max((time.monotonic() - self._moved) / _PATIENCE, SHORTEST), LONGEST)

    @property
    def connection(self) -> apsw.Connection | None:
        """The connection it has open, if it has."""
        return self._db

    def close(self) -> None:
        """Let go of the file; asked again, it opens anew."""
        with self._lock:
            self._let_go()

    def rest(self, holder: Holder) -> None:
        """Let go of the file, and have nobody open it, until `resume`, as a fork needs it."""
        self._lock.take(holder)
        self._let_go()

    def resume(self, holder: Holder) -> None:
        """Go on after a fork."""
        self._lock.give_back(holder)

    def _let_go(self) -> None:
        db, self._db = self._db, None
        if db is not None:
            db.close(True)
