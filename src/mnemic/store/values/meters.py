"""What a process measured of itself, carried into the store by writes that happen anyway."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

SECOND: Final = 1_000_000
PERIOD: Final = 2 * SECOND
"""Microseconds between two rows of one process."""
LIFE: Final = 3_600 * SECOND
"""Microseconds after which the row of a process that is gone is dropped."""


class MeterRow(NamedTuple):
    """What one process measured of itself: numbers only, as JSON; `at` in microseconds."""

    process: str
    at: int
    body: bytes


class Carrier:
    """What a store was given to take along, and when it did so last."""

    def __init__(self) -> None:
        self._given: Callable[[], tuple[str, bytes] | None] | None = None
        self._last = 0

    def give(self, told: Callable[[], tuple[str, bytes] | None], now: int) -> None:
        """Take this along in place of what was given before, not before a period has passed since `now`."""
        self._given, self._last = told, now

    def due(self, now: int) -> MeterRow | None:
        """The row that a write at `now` is to take along, if it is time for one and there is anything new."""
        if self._given is None or 0 <= now - self._last < PERIOD:
            return None
        self._last = now
        told = self._given()
        return None if told is None else MeterRow(told[0], now, told[1])
