"""Duplicates: of derived items that say the same, the oldest stays and inherits the sources of the others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from mnemic.core.items import State
from mnemic.tiers.collectors.base import Choice, Ground, StandingItem


class Duplicates:
    """Chooses derived duplicates. Evidence is none: that the same was said twice is a fact. Linked items stay too."""

    name: ClassVar[str] = "duplicates"

    def choose(self, ground: Ground) -> Iterator[Choice]:
        first: dict[bytes, StandingItem] = {}
        linked = {end for edge in ground.edges for end in (edge.src, edge.dst)}
        for item in ground.items.values():
            if not item.derived or item.state is not State.ACTIVE or not item.digest:
                continue
            oldest = first.setdefault(item.digest, item)
            if oldest is not item and item.id not in linked and not ground.spared(item):
                yield Choice(item.id, f"says the same as {oldest.id}", oldest.id)
