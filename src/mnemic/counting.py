"""Count what recalls show: in memory, for all users of an open store, written at most once a second.

The counts stand beside the journal: no commit tells of them, and nobody who reads or waits is disturbed. A crash loses
those of the last seconds.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress

from mnemic.answering import Answering
from mnemic.core.clock import Clock
from mnemic.core.forking import renew_in_child
from mnemic.core.ids import ItemId
from mnemic.core.mutex import Flag, Mutex
from mnemic.errors import StoreError
from mnemic.store.engine.use_counters import Owner, Shown, count_shown
from mnemic.store.requests import Transact

_MICROSECONDS = 1_000_000


class UseCounts:
    """Counts which items recalls have shown. Safe for many threads.

    Args:
        seconds: How long a count waits to be written together with others.
        behind: Has somebody ask `write_due` from time to time; without it a thread of its own writes what is due, and
            ends, so that no recall waits for another process's write.
    """

    def __init__(
        self, answering: Answering, clock: Clock, seconds: float, behind: Callable[[], None] | None = None
    ) -> None:
        self._answering, self._clock, self._seconds, self._behind = answering, clock, seconds, behind
        self.renew()
        renew_in_child(self)

    def renew(self) -> None:
        """Start at zero; a forked child does so because its parent writes what was counted before."""
        self._lock = Mutex()
        self._writing = Mutex()
        self._ended = Flag()
        """Set when what is counted now is written, or about to be."""
        self._counts: dict[Owner, dict[ItemId, Shown]] = {}
        self._since = 0

    @property
    def waiting(self) -> bool:
        """Whether anything is counted that is not written."""
        return bool(self._counts)

    def count(self, owner: Owner, items: Iterable[ItemId]) -> None:
        """Count one recall that showed these items."""
        now = self._clock.now()
        with self._lock:
            first = not self._counts
            if first:
                self._since, self._ended = now, Flag()
            ended, counts = self._ended, self._counts.setdefault(owner, {})
            for item in items:
                before = counts.get(item)
                counts[item] = Shown(before.times + 1 if before else 1, now)
        if first and self._behind is not None:
            self._behind()
        elif first:
            threading.Thread(target=self._write_behind, args=(ended,), name="mnemic-use", daemon=True).start()

    def _write_behind(self, ended: Flag) -> None:
        """Write what has waited for its time, unless somebody else has by then."""
        if not ended.wait(self._seconds):
            self.flush()

    def write_due(self) -> float:
        """Write what has waited for its time; in how many seconds there will be more to write."""
        if not self._counts:
            return math.inf
        waited = (self._clock.now() - self._since) / _MICROSECONDS
        if 0 <= waited < self._seconds:
            return self._seconds - waited
        self.flush()
        return math.inf

    def flush(self) -> None:
        """Write what has been counted so far; if the store cannot be written, only that is lost, and nobody is told."""
        with self._writing:
            with self._lock:
                shown, self._counts = self._counts, {}
                self._ended.set()
            if shown:
                with suppress(StoreError):
                    self._answering.perform(Transact(count_shown, (shown,)))
