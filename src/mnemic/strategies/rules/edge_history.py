"""Place a fact among those that it repeats or contradicts, so that facts make one history however they arrive.

Zep (arXiv:2501.13956, section 2.2.3): of two facts that cannot both hold the one that began earlier ends when the other
began, whichever of them arrives first.

Of what is stated without a date it is not known when it began, but when it was so. Who says "I live in Paris" and then
"I moved to Lisbon last week" lives in Lisbon, though that began before Paris was said: what is said later and told to
have begun within the same present wins. Beyond `PRESENT` what is dated earlier is history that comes late.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from mnemic.core.ids import ItemId
from mnemic.core.items import ENDED, Item
from mnemic.strategies.base import Ref
from mnemic.strategies.knowledge import Triple
from mnemic.strategies.rules.fact_matching import joins_same

PRESENT: Final = timedelta(days=365)
"""How far the present reaches back for whoever states that something is so; ours. A year that is named and not the
current one begins further back, so that "in 2019" and "last year" are history."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphEdge:
    """A fact as an edge with two times.

    Attributes:
        ref: The item that states it.
        said: When it was first said: the beginning of its time of transaction.
        start, end: When it holds, `[start, end)`; None for open. What has no date starts when it was said, or where it
            ends, if that is earlier.
        dated: Its start is told.
        closing: It says no more than that the relation is over, since `start`.
        source: The episodes that say so, the first one first.
    """

    ref: Ref
    triple: Triple
    said: datetime
    start: datetime
    end: datetime | None
    dated: bool = True
    closing: bool = False
    source: tuple[ItemId, ...] = ()

    @property
    def order(self) -> tuple[datetime, datetime]:
        """Its place in the history: by when it began, then by when that was said."""
        return self.start, self.said

    def follows(self, other: GraphEdge) -> bool:
        """Whether of two that exclude each other it is the one that came after."""
        return not other._changes(self) and (self._changes(other) or self.order >= other.order)

    def until(self, at: datetime) -> GraphEdge:
        """End it when another begins, unless it has ended before."""
        end = at if self.end is None else min(at, self.end)
        return replace(self, start=min(self.start, end), end=end)

    def _changes(self, other: GraphEdge) -> bool:
        """Whether it is told, later than the other was stated without a date, to have begun in that same present."""
        is_news = self.dated and not self.closing and self.said > other.said
        return is_news and not other.dated and timedelta(0) <= other.said - self.start < PRESENT

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
    return GraphEdge(
        ref=ref,
        triple=triple,
        said=said,
        start=start,
        end=end,
        dated=start != said,
        closing=is_over and end is None,
        source=(turn.id,),
    )


def edge_of(item: Item) -> GraphEdge:
    """Read an edge from the item that states it."""
    subject, relation, thing = (str(item.slots[part]) for part in ("subject", "relation", "object"))
    start, until = item.valid_from or item.said, item.valid_to
    if until is not None and item.valid_from is None:
        start = min(start, until)
    return GraphEdge(
        ref=item.id,
        triple=Triple(
            subject=subject, predicate=relation, object=thing, fact=item.text, source=0, since=start, until=until
        ),
        said=item.said,
        start=start,
        end=until,
        dated=item.valid_from is not None,
        closing=item.slots.get(ENDED) is True,
        source=item.source,
    )


def placed(edge: GraphEdge, same: Sequence[GraphEdge], over: Sequence[GraphEdge]) -> EdgePlace:
    """Place an edge among those that say the same and those that cannot hold with it.

    What says the same at the same time says it again; said of an earlier time, it is what was so before. An end that is
    told of an edge which still holds is where that one ends, whatever else is told of it; it ends nothing else. It is
    told of what says the same, and of what it cannot hold with between the same two names.
    """
    if edge.end is not None and edge.end <= edge.said and any(_is_ended(other, edge.end) for other in same):
        edge = replace(edge, start=edge.end, end=None, closing=True)
    alike = [other for other in same if other.closing is edge.closing and other.meets(edge)]
    for other in alike:
        if other.start <= edge.start:
            return EdgePlace(edge=edge, again=other)
    stated = dict.fromkeys((*over, *same))  # one edge more than once, if the same turn has said it again
    against = [other for other in stated if other not in alike and other.meets(edge)]
    told_of = {other for other in stated if other in same or joins_same(edge.triple, other.triple)}
    ends = [other for other in against if edge.follows(other) and (other in told_of or not edge.closing)]
    later = [other for other in against if not edge.follows(other) and (other in told_of or not other.closing)]
    later += [other for other in alike if other.order > edge.order]
    first = min(later, key=lambda other: (other.start, not other.dated, other.said), default=None)
    return EdgePlace(edge=edge, ends=tuple(ends), ended_by=first)


def _is_ended(edge: GraphEdge, at: datetime) -> bool:
    return not edge.closing and edge.start < at and edge.end is None
