"""A clock for runs that tell when things were said: it stands where it is put."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

from mnemic.core.clock import micros

EARLY: Final = datetime(2000, 1, 1, tzinfo=UTC)


class SetClock:
    """Stands where it is put."""

    def __init__(self, when: datetime = EARLY) -> None:
        self._now = micros(when)

    def now(self) -> int:
        return self._now

    def put(self, when: datetime) -> None:
        """Move it, forward or back."""
        self._now = micros(when)
