"""Place a fact among those that it repeats or contradicts, so that facts make one history however they arrive.

Zep (arXiv:2501.13956, section 2.2.3): of two facts that cannot both hold the one that began earlier ends when the other
began, whichever of them arrives first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from mnemic.core.ids import ItemId
from mnemic.core.items import ENDED, Item
from mnemic.strategies.base import Ref
from mnemic.strategies.knowledge import Triple


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphEdge:
    """A fact as an edge with two times.

    Attributes:
        ref: The item that states it.
        said: When it was first said: the beginning of its time of transaction.
        start, end: When it holds, `[start, end)`; None for open.
        closing: It says no more than that the relation is over, since `start`.
        source: The episodes that say so, the first one first.
    """

    ref: Ref
    triple: Triple
    said: datetime
    start: datetime
    end: datetime | None
    closing: bool = False
    source: tuple[ItemId, ...] = ()

    @property
    def order(self) -> tuple[datetime, datetime]:
        """Its place in the history: by when it began, then by when that was said."""
        return self.start, self.said

    def meets(self, other: GraphEdge) -> bool:
        """Whether there is a moment at which both are to hold."""
        return (other.end is None or self.start < other.end) and (self.end is None or other.start < self.end)


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgePlace:
    """Where an edge belongs.

    Attributes:
        edge: As it is to be written.
        again: The edge that says so already; then nothing is to be written.
        ends: The edges that end when it begins.
        ended_by: The edge with which it ends itself, though that one is known already.
    """

    edge: GraphEdge
    again: GraphEdge | None = None
    ends: tuple[GraphEdge, ...] = ()
    ended_by: GraphEdge | None = None


def edge_stated(triple: Triple, ref: Ref, turn: Item) -> GraphEdge:
    """Make the edge that a turn states. Without a date it begins when it was said, or ended when it says it did."""
    said, until = turn.said, triple.until
    is_over = until is not None and until <= said
    start = triple.since or (until if is_over and until is not None else said)
    end = until if until is not None and start < until else None
    closing = is_over and end is None
    return GraphEdge(ref=ref, triple=triple, said=said, start=start, end=end, closing=closing, source=(turn.id,))


def edge_of(item: Item) -> GraphEdge:
    """Read an edge from the item that states it."""
    subject, relation, thing = (str(item.slots[part]) for part in ("subject", "relation", "object"))
    start, until = item.valid_from or item.said, item.valid_to
    return GraphEdge(
        ref=item.id,
        triple=Triple(
            subject=subject, predicate=relation, object=thing, fact=item.text, source=0, since=start, until=until
        ),
        said=item.said,
        start=start,
        end=until,
        closing=item.slots.get(ENDED) is True,
        source=item.source,
    )


def placed(edge: GraphEdge, same: Sequence[GraphEdge], over: Sequence[GraphEdge]) -> EdgePlace:
    """Place an edge among those that say the same and those that cannot hold with it.

    What says the same at the same time says it again; said of an earlier time, it is what was so before. An end that is
    told of an edge which still holds is where that one ends, whatever else is told of it.
    """
    if edge.end is not None and edge.end <= edge.said and any(_is_ended(one, edge.end) for one in same):
        edge = replace(edge, start=edge.end, end=None, closing=True)
    alike = [one for one in same if one.closing is edge.closing and one.meets(edge)]
    for one in alike:
        if one.start <= edge.start:
            return EdgePlace(edge=edge, again=one)
    against = [one for one in (*over, *same) if one not in alike and one.meets(edge)]
    later = [one for one in (*alike, *against) if one.order > edge.order]
    ends = tuple(one for one in against if one.order <= edge.order)
    return EdgePlace(edge=edge, ends=ends, ended_by=min(later, key=lambda one: one.order, default=None))


def _is_ended(edge: GraphEdge, at: datetime) -> bool:
    return not edge.closing and edge.start < at and edge.end is None
