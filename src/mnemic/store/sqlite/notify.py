"""Learns that another process has committed, by polling the file."""

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
    """Polls SQLite's `data_version`, which moves when any process commits, on a connection of its own.

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
        """Read a mark, which differs from the one read before if anything was committed in between."""
        with self._lock:
            if self._db is None:
                self._db = self._open()
                self._opened += 1
            mark = (self._opened, int(self._db.pragma("data_version")))
            if mark != self._seen:
                self._seen, self._moved = mark, time.monotonic()
            return mark

    @property
    def pause(self) -> float:
        """Seconds to wait before polling again: the longer the file has been quiet, the longer."""
        return min(max((time.monotonic() - self._moved) / _PATIENCE, SHORTEST), LONGEST)

    @property
    def connection(self) -> apsw.Connection | None:
        """Its open connection; None before the first poll."""
        return self._db

    def close(self) -> None:
        """Close the connection; the next poll opens another."""
        with self._lock:
            self._let_go()

    def rest(self, holder: Holder) -> None:
        """Close the connection, and let nobody open one until `resume`: a fork must not copy an open connection."""
        self._lock.take(holder)
        self._let_go()

    def resume(self, holder: Holder) -> None:
        """Let threads poll again after a fork."""
        self._lock.give_back(holder)

    def _let_go(self) -> None:
        db, self._db = self._db, None
        if db is not None:
            db.close(True)
