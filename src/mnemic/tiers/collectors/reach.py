"""Mark and sweep: derived items that can no longer be reached from any root."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from mnemic.core.ids import ItemId
from mnemic.core.items import EVIDENCE, Kind
from mnemic.tiers.collectors.base import Choice, Ground, StandingItem


class MarkAndSweep:
    """Marks from the roots - what is pinned, held or kept, the profile, evidence, what was stated without any, and
    whatever has a source that stands - along sources and links; what is derived and was not reached may go.

    An entity that nobody stated anything about any more, because every other end of its links is gone, goes too.
    """

    name: ClassVar[str] = "sweep"

    def choose(self, ground: Ground) -> Iterator[Choice]:
        lonely = _lonely(ground)
        reached = _marked(ground, [item for item in ground.items.values() if _is_root(item, ground, lonely)])
        for item in ground.free():
            if item.id in lonely and item.id not in reached:
                yield Choice(item.id, f"nothing is left of the {lonely[item.id]} it was linked to")
            elif item.derived and item.id not in reached:
                yield Choice(item.id, f"none of its {len(item.source)} sources stands, and nothing live leads to it")


def _is_root(item: StandingItem, ground: Ground, lonely: dict[ItemId, int]) -> bool:
    if ground.spared(item) or item.kind in EVIDENCE or item.kind in (Kind.PROFILE, Kind.PROCEDURE):
        return True
    if not item.source:
        return item.id not in lonely
    return any(source in ground.shared_sources or source in ground.items for source in item.source)


def _lonely(ground: Ground) -> dict[ItemId, int]:
    """Count, for entities without a source whose links all lead to items that are gone, those links."""
    ends: dict[ItemId, list[bool]] = {}
    for edge in ground.edges:
        for one, other in ((edge.src, edge.dst), (edge.dst, edge.src)):
            ends.setdefault(one, []).append(other in ground.gone_ends)
    return {
        item.id: len(ends[item.id])
        for item in ground.items.values()
        if item.kind is Kind.ENTITY and not item.source and item.id in ends and all(ends[item.id])
    }


def _marked(ground: Ground, roots: list[StandingItem]) -> set[ItemId]:
    leads: dict[ItemId, list[ItemId]] = {}
    for edge in ground.edges:
        leads.setdefault(edge.src, []).append(edge.dst)
    reached = {item.id for item in roots}
    queue = list(roots)
    while queue:
        item = queue.pop()
        for other in (*item.source, *leads.get(item.id, ())):
            if other in ground.items and other not in reached:
                reached.add(other)
                queue.append(ground.items[other])
    return reached
