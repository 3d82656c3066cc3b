"""Learns that any process has committed, by polling the heads that have moved since it looked last.

A commit says nothing to anybody: `NOTIFY` in it would have all commits of a database wait for one another.
"""

from __future__ import annotations

import time
from typing import Final

from mnemic.core.mutex import Mutex
from mnemic.store.postgres.postgres_schema import SCHEMA
from mnemic.store.postgres.transaction import ACROSS, ServerTransaction

SHORTEST: Final = 0.005
"""Seconds between two looks just after something has moved."""
LONGEST: Final = 0.04
"""Seconds between two looks at a database that has been quiet for a while."""
_PATIENCE: Final = 8
"""The pause is this part of the time that it has been quiet."""
_MOVED: Final = (
    'SELECT w."xmin", t."id", t."stamp" FROM (SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint AS "xmin") w'
    f' LEFT JOIN {SCHEMA}."tenant" t ON t."xid" >= %s'
)
"""The oldest transaction that is not over, and every head that one which was not over at the last look has moved."""


class HeadPoll:
    """Counts the looks that found a head moved. Threads share it."""

    def __init__(self) -> None:
        self._lock = Mutex()
        self._watermark = 0
        self._stamps: dict[int, int] = {}
        self._count = 0
        self._moved_at = time.monotonic()

    def look(self, transaction: ServerTransaction) -> tuple[int, ...]:
        """A mark, which differs from the one before if anything was committed in between."""
        with self._lock:
            sent = transaction.send(ACROSS, _MOVED, (self._watermark,))
            transaction.end()  # in the same trip
            rows = sent.fetchall()
            stamps = {tenant: stamp for _, tenant, stamp in rows if tenant is not None}
            if any(self._stamps.get(tenant) != stamp for tenant, stamp in stamps.items()):
                self._count += 1
                self._moved_at = time.monotonic()
            # What a transaction before this one moved is not seen again, unless it moves once more.
            self._watermark, self._stamps = rows[0][0], stamps
            return (self._count,)

    @property
    def pause(self) -> float:
        """Seconds to wait before looking again: the longer it has been quiet, the longer."""
        return min(max((time.monotonic() - self._moved_at) / _PATIENCE, SHORTEST), LONGEST)
