"""Segments of dialogue, mid-term memory of MemoryOS (arXiv:2506.06326, section 3.3), and the items that hold them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import accumulate, chain, pairwise
from typing import TYPE_CHECKING, Any

from mnemic.core.clock import micros, moment
from mnemic.core.items import Item, Kind
from mnemic.strategies.base import Derivation, Revision

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from mnemic.core.ids import ItemId
    from mnemic.core.items import Slot, Strength


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TopicSegment:
    """Pages on one topic.

    Attributes:
        id: Of its item, or of its first turn while it has none.
        pages: The turns of each.
        chains: For each page the place of the first of its chain.
        context: The turns beside which new pages were read, which may have given the topic words.
        latest: When its last page was said; None for one that was written before this was kept.
        promoted, visits: How many pages it had, and how often these had been shown, when it was promoted last.
    """

    id: ItemId
    text: str
    said: datetime
    said_offset: int = 0
    latest: datetime | None = None
    keywords: tuple[str, ...] = ()
    pages: tuple[tuple[ItemId, ...], ...] = ()
    chains: tuple[int, ...] = ()
    context: tuple[ItemId, ...] = ()
    promoted: int = 0
    visits: int = 0
    item: Item | None = None

    @property
    def words(self) -> str:
        """What it is searched for by, and compared by."""
        return wording(self.text, self.keywords)

    @property
    def turns(self) -> tuple[ItemId, ...]:
        return tuple(chain.from_iterable(self.pages))

    def added(self) -> tuple[ItemId, ...]:
        """The turns that its item does not cite yet."""
        return self.turns if self.item is None else self.turns[len(self.item.source) :]

    def with_page(
        self,
        page: tuple[ItemId, ...],
        said: datetime,
        keywords: Iterable[str],
        follows: ItemId | None,
        beside: tuple[ItemId, ...],
    ) -> TopicSegment:
        """Add a page, read beside these turns, to the chain of the one with the turn that it takes up if it is here."""
        taken_up = (self.chains[place] for place, earlier_page in enumerate(self.pages) if follows in earlier_page)
        return replace(
            self,
            latest=max(said, self.latest or self.said),
            keywords=tuple(dict.fromkeys((*self.keywords, *keywords))),
            pages=(*self.pages, page),
            chains=(*self.chains, next(taken_up, len(self.pages))),
            context=(*self.context, *beside),
        )

    def chains_of(self) -> dict[ItemId, list[ItemId]]:
        """The other turns of each turn's chain."""
        members: dict[int, list[ItemId]] = {}
        for first, page in zip(self.chains, self.pages, strict=True):
            members.setdefault(first, []).extend(page)
        return {id: [other for other in turns if other != id] for turns in members.values() for id in turns}


def segment_of(item: Item) -> TopicSegment:
    """Read a segment out of its item: what its pages are says how many turns each has."""
    slots: Any = item.slots
    ends = [0, *accumulate(slots["pages"])]
    return TopicSegment(
        id=item.id,
        text=item.text,
        said=item.said,
        latest=moment(slots["latest"]) if "latest" in slots else None,
        keywords=tuple(slots["keywords"]),
        pages=tuple(item.source[start:end] for start, end in pairwise(ends)),
        chains=tuple(slots["chains"]),
        promoted=slots["promoted"],
        visits=slots["visits"],
        item=item,
    )


def derived_segment(segment: TopicSegment, strategy: str, tags: tuple[str, ...]) -> Derivation:
    """Make the item of a segment that has none."""
    return Derivation(
        key=f"{strategy}:{segment.id}:segment",
        kind=Kind.SUMMARY,
        text=segment.text,
        words=segment.words,
        slots={"by": strategy, **_slots(segment)},
        tags=tags,
        source=segment.turns,
        said=segment.said,
        said_offset=segment.said_offset,
        context=segment.context,
    )


def revised_segment(segment: TopicSegment, strategy: str) -> Revision:
    """Bring the item of a segment up to what it has become."""
    slots = {"by": strategy, **_slots(segment)}
    return Revision(id=segment.id, words=segment.words, source=segment.added(), context=segment.context, slots=slots)


def _slots(segment: TopicSegment) -> dict[str, Slot]:
    return {
        "latest": micros(segment.latest or segment.said),
        "pages": [len(page) for page in segment.pages],
        "chains": [*segment.chains],
        "keywords": [*segment.keywords],
        "promoted": segment.promoted,
        "visits": segment.visits,
    }


def wording(text: str, keywords: Iterable[str]) -> str:
    """The words by which a topic is searched for, and compared."""
    return f"{text}\n{', '.join(keywords)}"


def jaccard(terms: frozenset[str], others: frozenset[str]) -> float:
    """The share of the terms of two sets that both have."""
    return len(terms & others) / len(terms | others) if terms or others else 0.0


def visits_of(segment: TopicSegment, used: Mapping[ItemId, Strength]) -> int:
    """How often pages were shown: a page as often as the turn of it that was most."""
    return sum(max(used[id].uses for id in page) for page in segment.pages)


def hours_since_visit(segment: TopicSegment, used: Mapping[ItemId, Strength], now: datetime) -> float:
    """Since a segment's pages were last shown, or the last of them was said: a page that joins is a visit, too.

    What is said to be later than now counts only where there is nothing else.
    """
    shown = [at for id in segment.turns if (at := used[id].last_used) is not None]
    last = max((at for at in (segment.latest or segment.said, *shown) if at <= now), default=segment.said)
    return (now - last).total_seconds() / 3600
