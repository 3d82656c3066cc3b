"""Generations: derived items that were never used while they were young. One that was used once is old, and stays."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from mnemic.core.items import Kind
from mnemic.tiers.collectors.base import Choice, Ground

_DAY = 86_400 * 1_000_000


class Generations:
    """Most of what is derived is never needed, and what is needed is soon (the weak generational hypothesis of
    Ungar 1984, taken for memories). The profile and standing instructions are at hand always, and so are never young.

    Args:
        days, commits: How old by the clock and by the journal; both must have passed, so that a quiet memory ages
            slowly.
    """

    name: ClassVar[str] = "generations"

    def __init__(self, days: float = 90, commits: int = 1_000) -> None:
        self._span, self._commits = round(days * _DAY), commits

    def choose(self, ground: Ground) -> Iterator[Choice]:
        for item in ground.free():
            if not item.derived or item.kind in (Kind.PROFILE, Kind.PROCEDURE) or item.uses or item.useful:
                continue
            age, commits = ground.now - item.written, ground.head - item.seq
            if age >= self._span and commits >= self._commits:
                yield Choice(item.id, f"derived {age // _DAY} days and {commits} commits ago, never used")
