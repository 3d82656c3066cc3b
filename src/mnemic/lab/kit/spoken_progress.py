"""Progress in lines, for scripts that run for long: who is done, how far who runs is, and what is left."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Final

_SILENT: Final = 60.0
"""Seconds after which a line says how far it is, though nobody is done."""


class SpokenProgress:
    """Tells on standard error when each contestant has answered its last question, and each minute how far
    each that runs is.

    Args:
        left: What follows a line: how long the rest may take, once this row is done; "" for nothing.
        task: What stands before each row.
    """

    def __init__(
        self,
        left: Callable[[str], str] = lambda row: "",
        *,
        task: str = "",
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._left, self._task, self._clock = left, f"{task}: " if task else "", clock
        self._newest, self._last = clock(), dict[str, float]()
        self._rows: set[str] = set()

    def __call__(self, row: str, done: int, total: int) -> None:
        last = self._last.setdefault(row, self._newest)
        over = done == total and row not in self._rows
        if over:
            self._rows.add(row)
        elif done == total or self._clock() - last < _SILENT:
            return
        self._newest = self._last[row] = self._clock()
        what = row if over else f"{row}: {done:,} of {total:,}"
        print(f"{time.strftime('%H:%M:%S')} {self._task}{what}{self._left(row) if over else ''}", file=sys.stderr)
