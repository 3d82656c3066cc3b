"""A process's own measurements, which its commits carry into the store along with what they write."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

SECOND: Final = 1_000_000
PERIOD: Final = 2 * SECOND
"""Microseconds between two rows of one process."""
LIFE: Final = 3_600 * SECOND
"""Microseconds after which the row of a process that is gone is dropped."""


Figures = Callable[[], tuple[str, bytes] | None]
"""A function that returns the name of this process and its figures; None where there is nothing new."""


class MeterRow(NamedTuple):
    """The measurements of one process: numbers only, as JSON; `at` in microseconds."""

    process: str
    at: int
    body: bytes
