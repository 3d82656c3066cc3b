"""Which commits to undo, and in which order, so that some of a memory's commits have no effect any more."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from mnemic.core.events import Change, Receipt, Verb
from mnemic.core.ids import ItemId
from mnemic.core.items import Channel, State
from mnemic.core.queries import Filter
from mnemic.core.uninterrupted import import_whole
from mnemic.errors import Compacted, Conflict, NotFound
from mnemic.lanes.slices import DERIVER
from mnemic.past.branching import commits
from mnemic.past.undoing import CASCADING
from mnemic.store.engine.snapshot import Snapshot

LASTING: Final = frozenset(
    {Verb.USED, Verb.ERASED, Verb.COMPACTED, Verb.NOTED, Verb.BRANCHED, Verb.MERGED, Verb.REVERTED, Verb.COLLECTED}
)
"""What is never undone."""
_PAGE: Final = 1_000
_SHOWN: Final = 3
"""Commits in the way that an error names."""


@dataclass(frozen=True, slots=True)
class Undone:
    """A commit that was taken back, and the commit that did it.

    Attributes:
        seq: The commit that was taken back.
        receipt: Of the commit that takes it back; undoing that one is redo.
    """

    seq: int
    receipt: Receipt


def range_to_undo(snapshot: Snapshot, space: int, first: int, last: int, *, cascade: bool) -> tuple[int, ...]:
    """Plan to undo the commits `first` to `last` of a space: which to undo, in order.

    What was derived is passed over, as it goes with its evidence, unless nothing else lies in the range: a rerun is
    taken back so. What cannot be undone or has no effect is passed over too.

    Raises:
        NotFound: none of them could be undone, or the last is still to come.
        Compacted: one lies behind the horizon.
        Conflict: a later commit changed what one of them touched, and `cascade` is not set.
    """
    newest = snapshot.head(snapshot.spaces((space,))[0].tenant).seq
    if last > newest:
        raise NotFound(f"no commit {last} yet, the newest is {newest}; `mnemic log` shows them")
    _refuse_compacted(snapshot, space, first)
    every = _since(snapshot, space, first, derived=True)
    changes = [change for change in every if change.actor != DERIVER]
    if not any(change.seq <= last for change in changes):
        changes = every
    chosen = {change.seq for change in changes if change.seq <= last}
    seqs = _standing(changes, chosen)
    if not seqs:
        raise NotFound(f"nothing in commits {first} to {last} here could be undone; `mnemic log` shows them")
    if not cascade:
        _refuse_changed(changes, chosen, seqs)
    return seqs


def import_to_undo(snapshot: Snapshot, space: int, source: str, *, cascade: bool) -> tuple[int, ...]:
    """Plan to undo what imports brought into a space under the name of a source, as `range_to_undo` plans a range.

    Args:
        source: The name that was given, or the file's as it was given.
        cascade: Goes ahead where something of it was changed since.

    Raises:
        NotFound: nothing here came in under that name, or all of it has been taken back.
    """
    items, begun = _imported(snapshot, space, source)
    if not items:  # a file that was given no name goes by its own, without the extension
        import_whole("mnemic.ingest.source")
        from mnemic.ingest.source import stem_of

        items, begun = _imported(snapshot, space, stem_of(source))
    if not items:
        raise NotFound(f"no import {source!r} here; `mnemic list --channel import --json` shows names of sources")
    _refuse_compacted(snapshot, space, min(begun))
    changes = _since(snapshot, space, min(begun))
    chosen = {change.seq for change in changes if change.seq in begun or _ties(change, items)}
    seqs = _standing(changes, chosen)
    if not seqs:
        raise NotFound(f"all that was imported as {source!r} has been taken back already")
    if not cascade:
        _refuse_changed(changes, chosen, seqs)
    return seqs


def _refuse_compacted(snapshot: Snapshot, space: int, first: int) -> None:
    horizon = snapshot.head(snapshot.spaces((space,))[0].tenant).horizon
    if first <= horizon:
        raise Compacted(f"commit {first} lies behind the horizon, which is commit {horizon}")


def _since(snapshot: Snapshot, space: int, first: int, *, derived: bool = False) -> list[Change]:
    """The commits of a space from `first` on; what strategies derived only if that is asked for."""
    head = snapshot.head(snapshot.spaces((space,))[0].tenant).seq
    return [change for change in commits(snapshot, space, first - 1, head) if derived or change.actor != DERIVER]


def _imported(snapshot: Snapshot, space: int, source: str) -> tuple[set[ItemId], set[int]]:
    """The items that came in by imports of a source, and the commits that wrote them first."""
    where = Filter(channels=(Channel.IMPORT,), slots=(("source", source),), states=tuple(State))
    items: set[ItemId] = set()
    begun: set[int] = set()
    after = 0
    while page := snapshot.scan((space,), where, after=after, limit=_PAGE):
        after = page[-1][0]
        stories = snapshot.histories((space,), [version.item.id for _, version in page])
        items.update(stories)
        begun.update(story[0].seq_from for story in stories.values())
    return items, begun


def _ties(change: Change, items: Collection[ItemId]) -> bool:
    """Whether all that a commit does is to link some of these items."""
    return all(event.verb is Verb.LINKED and event.item in items for event in change.events)


def _standing(changes: Sequence[Change], chosen: Collection[int]) -> tuple[int, ...]:
    """The commits whose undoing, in this order, brings back what was so before the chosen ones.

    An undo and what it undid are links of a chain; each turns the effect of the first on or off. From the first chosen
    link on, an even number of links has changed nothing; after an odd number the last is undone.
    """
    last_links = []
    for chain in _chains(changes):
        begins = next((n for n, link in enumerate(chain) if link.seq in chosen), None)
        if begins is not None and (len(chain) - begins) % 2 and _could_be_undone(chain[-1]):
            last_links.append(chain[-1].seq)
    return tuple(sorted(last_links, reverse=True))


def _chains(changes: Sequence[Change]) -> list[list[Change]]:
    """Commits in order, each with the undos of it and of these behind it."""
    chains: dict[int, list[Change]] = {}
    for change in changes:
        undoes = change.cause if any(event.verb is Verb.UNDID for event in change.events) else None
        chain = chains.get(undoes, []) if undoes else []
        chain.append(change)
        chains[change.seq] = chain
    return list({id(chain): chain for chain in chains.values()}.values())


def _could_be_undone(change: Change) -> bool:
    return any(event.verb not in LASTING and not event.erased for event in change.events)


def _refuse_changed(changes: Sequence[Change], chosen: Collection[int], seqs: Collection[int]) -> None:
    """Raise if a later commit that has an effect changed what one of these touched."""
    last_change: dict[ItemId, int] = {}
    for change in _effective(changes, chosen):
        last_change.update(dict.fromkeys(_touched(change), change.seq))
    changed = [
        f"what commit {change.seq} touched was changed since, by commit {last_change[item]}"
        for change in changes
        if change.seq in seqs
        for item in dict.fromkeys(_touched(change))
        if last_change.get(item, 0) > change.seq
    ]
    if changed:
        more = f", and {len(changed) - _SHOWN:,} more" if len(changed) > _SHOWN else ""
        raise Conflict(f"{'; '.join(changed[:_SHOWN])}{more}; nothing was undone: {CASCADING}")


def _effective(changes: Sequence[Change], chosen: Collection[int]) -> Iterator[Change]:
    """The commits beside the chosen ones that stand, ascending: neither undone nor an undo of one that is here."""
    for chain in _chains(changes):
        if len(chain) % 2 and not any(link.seq in chosen for link in chain):
            yield chain[-1]


def _touched(change: Change) -> Iterator[ItemId]:
    return (event.item for event in change.events if event.item is not None)
