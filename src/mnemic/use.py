"""Counters of use, gathered in memory and written in batches: recall itself never writes."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable

from mnemic.core.clock import moment
from mnemic.core.ids import ItemId
from mnemic.core.items import Strength
from mnemic.core.scope import Scope


class UseCounts:
    """What was shown since the last batch; a crash loses at most that."""

    def __init__(self, every_seconds: float, every_recalls: int) -> None:
        self._seconds, self._recalls = every_seconds, every_recalls
        self._lock = threading.Lock()
        self._counts: dict[Scope, dict[ItemId, Strength]] = {}
        self._seen, self._since = 0, time.monotonic()

    def shown(self, scope: Scope, items: Iterable[ItemId], now: int) -> bool:
        """Count one recall; returns whether a batch is due."""
        owner = Scope(tenant=scope.tenant, user=scope.user)
        when = moment(now)
        with self._lock:
            counts = self._counts.setdefault(owner, {})
            for item in items:
                counts[item] = Strength(uses=counts.get(item, Strength()).uses + 1, last_used=when)
            self._seen += 1
            return self._seen >= self._recalls or time.monotonic() - self._since >= self._seconds

    def take(self) -> dict[Scope, dict[ItemId, Strength]]:
        """The batch, by user; the counting starts over."""
        with self._lock:
            taken, self._counts = self._counts, {}
            self._seen, self._since = 0, time.monotonic()
        return {scope: counts for scope, counts in taken.items() if counts}
