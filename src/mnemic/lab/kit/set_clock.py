"""A clock for runs that tell when things were said: it stands where it is put."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

from mnemic.core.clock import SystemClock, micros

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


class TalkClock:
    """Tells the machine's time until it is put somewhere, as soon as something is told that has a time of its own."""

    def __init__(self) -> None:
        self._shown: SystemClock | SetClock = SystemClock()

    def now(self) -> int:
        return self._shown.now()

    def put(self, when: datetime) -> None:
        """Have it stand there from now on."""
        self._shown = SetClock(when)
