"""What a process measured of itself, carried into the store by writes that happen anyway."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

SECOND: Final = 1_000_000
PERIOD: Final = 2 * SECOND
"""Microseconds between two rows of one process."""
LIFE: Final = 3_600 * SECOND
"""Microseconds after which the row of a process that is gone is dropped."""


Figures = Callable[[], tuple[str, bytes] | None]
"""What gives the name of a process and its figures; None where there is nothing new."""


class MeterRow(NamedTuple):
    """What one process measured of itself: numbers only, as JSON; `at` in microseconds."""

    process: str
    at: int
    body: bytes
