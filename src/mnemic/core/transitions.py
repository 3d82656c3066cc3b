"""Change the state of an item: each transition that a commit can write, as a function of items."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from mnemic.core.events import Verb
from mnemic.core.ids import ItemId
from mnemic.core.items import Item, Link, Slot, State, Version

SUPERSEDES: Final = "supersedes"
"""The type of the link from an item to the one whose place it took, and from evidence to what it says has ended."""


def retired(item: Item, **marks: Slot) -> Item:
    """Retire an item: every view but the journal's past hides it. `marks` are added to its slots."""
    return replace(item, state=State.RETIRED, slots={**item.slots, **marks})


def superseded(older: Item, newer: Item) -> Item:
    """Close a statement whose place a newer one takes: known until the newer was said, valid until that began.

    An end that the older statement gave itself stays if it is the earlier one, and so do the ends of one that something
    newer still has superseded: whatever comes in between shortens it, in any order of arrival.
    """
    return ended(older, newer.valid_from or newer.said, newer.said)


def ended(item: Item, at: datetime, said: datetime) -> Item:
    """Close a statement that held until `at`, of which we were told at `said`; it keeps an earlier end."""
    known_to = said if item.known_to is None else min(said, item.known_to)
    valid_to = at if item.valid_to is None else min(at, item.valid_to)
    return replace(item, state=State.SUPERSEDED, known_to=known_to, valid_to=valid_to)


def outdated(late: Item, newer: Item) -> Item:
    """Close a statement that comes when a newer one has taken its place already: it was never the last word."""
    return ended(late, newer.valid_from or newer.said, max(late.said, newer.said))


def reopened(item: Item, versions: Sequence[Version]) -> Item:
    """Reopen a superseded item, with the end that it had before it was superseded.

    Args:
        item: What it says now; its words stay.
        versions: Its versions, oldest first. If it was superseded when it was first written, or its earlier versions
            are behind the horizon, its end is open.
    """
    former = last_open(versions)
    return replace(item, state=State.ACTIVE, known_to=None, valid_to=None if former is None else former.item.valid_to)


def last_open(versions: Sequence[Version]) -> Version | None:
    """Find the last of an item's versions, given oldest first, that nothing had superseded yet."""
    # One that was retired while it was superseded carries the clocks of that time: the state alone does not tell.
    return next((version for version in reversed(versions) if version.item.known_to is None), None)


def freed(links: Iterable[Link], items: Mapping[ItemId, Item], going: Collection[ItemId]) -> list[ItemId]:
    """Name the superseded items, in order of `links`, whose place nobody holds any more once `going` has gone.

    What goes hands nothing back while something that stays has taken its own place, directly or along a chain.

    Args:
        links: At least all links that supersede an item in question, or one of `going`.
        items: As they stand before anything goes; what is not among them is not there.
        going: What is retired or erased.
    """
    over: dict[ItemId, list[ItemId]] = {}
    for link in links:
        if link.type == SUPERSEDES:
            over.setdefault(link.dst, []).append(link.src)

    def holders(item: ItemId, seen: set[ItemId]) -> Iterable[ItemId]:
        """Those that hold an item's place: what supersedes it and stays, or holds the place of what does and goes."""
        for src in over.get(item, ()):
            if src in items and items[src].state is not State.RETIRED and src not in seen:
                seen.add(src)  # links are anybody's to tie, also in a circle
                if src in going:
                    yield from holders(src, seen)
                else:
                    yield src

    def lost(item: ItemId) -> bool:
        held = any(src in going and src in items and items[src].state is not State.RETIRED for src in over[item])
        return held and not any(True for _ in holders(item, {item}))

    return [i for i in over if i not in going and i in items and items[i].state is State.SUPERSEDED and lost(i)]


def transition(item: Item, now: Item | None) -> Verb:
    """Name what a commit does that makes an item be `item`, from what it is now; None where it is not there."""
    if now is None:
        return Verb.WROTE
    if item.state is now.state:
        return Verb.REVISED
    return {State.RETIRED: Verb.RETIRED, State.SUPERSEDED: Verb.SUPERSEDED}.get(item.state, Verb.REOPENED)
