"""Counters of use, gathered in memory and written in batches behind the caller: recall itself never writes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable

from mnemic.core.clock import moment
from mnemic.core.forking import renew_in_child
from mnemic.core.ids import ItemId
from mnemic.core.items import Strength
from mnemic.core.scope import Scope

Counts = dict[ItemId, Strength]


class UseCounts:
    """What was shown since the last batch; a crash loses at most that.

    Args:
        seconds: How long a count may wait.
        recalls: After how many recalls a batch is written, whatever the time.
        write: Writes the counts of one user.
    """

    def __init__(self, seconds: float, recalls: int, write: Callable[[Scope, Counts], None]) -> None:
        self._seconds, self._recalls, self._write = seconds, recalls, write
        self.renew()
        renew_in_child(self)

    def renew(self) -> None:
        """Start over with nothing counted; in a forked child the parent writes what it has counted."""
        self._lock = threading.Lock()
        self._writing = threading.Lock()
        self._wake = threading.Event()
        self._thread: threading.Thread | None = None
        self._counts: dict[Scope, Counts] = {}
        self._seen = 0

    def shown(self, scope: Scope, items: Iterable[ItemId], now: int) -> None:
        """Count one recall."""
        owner, when = Scope(tenant=scope.tenant, user=scope.user), moment(now)
        with self._lock:
            counts = self._counts.setdefault(owner, {})
            for item in items:
                before = counts.get(item)
                counts[item] = Strength(uses=before.uses + 1 if before else 1, last_used=when)
            self._seen += 1
            if self._thread is None:
                self._thread = threading.Thread(target=self._write_behind, name="mnemic-use", daemon=True)
                self._thread.start()
            if self._seen >= self._recalls:
                self._wake.set()

    def flush(self) -> None:
        """Write what has been counted so far."""
        with self._writing:
            with self._lock:
                taken, self._counts, self._seen = self._counts, {}, 0
            for scope, counts in taken.items():
                self._write(scope, counts)

    def _write_behind(self) -> None:
        """Write batches as they come due, and end when there is nothing left to write."""
        while True:
            self._wake.wait(self._seconds)
            self._wake.clear()
            with self._lock:
                if not self._counts:
                    self._thread = None
                    return
            self.flush()
