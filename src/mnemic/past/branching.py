"""Branches as verbs need them: which commits a space reads, what stood at one of them, and what makes it so again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from mnemic.core.events import Change, Event, Verb
from mnemic.core.ids import ItemId
from mnemic.core.items import Item, Link, State, Version
from mnemic.core.parts import entry_terms
from mnemic.core.queries import Filter, View
from mnemic.core.transitions import transition
from mnemic.errors import Invalid
from mnemic.store.engine.codec import canonical
from mnemic.store.engine.snapshot import Snapshot
from mnemic.store.values.drafts import Draft, Fork, Note, Put, Tie
from mnemic.store.values.heads import Layer, SpaceHead

_PAGE = 200

Ends = tuple[ItemId, ItemId, str]
"""What a link is known by: from, to, type."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Branch:
    """One branch of a user's memory.

    Attributes:
        of: The branch that it comes off; "" for the user's own memory.
        base: The commit that it reads that one at.
        seq: The last commit on it.
        understood: Whether rules and embedders follow what is written to it.
    """

    name: str
    of: str
    base: int
    seq: int
    understood: bool


def forked(draft: Draft, name: str, base: int | None, *, lanes: bool) -> Draft:
    """The commit that makes a branch of what `draft` would write to."""
    note = Note(verb=Verb.BRANCHED, payload=canonical({}))
    return replace(draft, ops=(note,), branch=name, fork=Fork(of=draft.branch, base=base, lanes=lanes))


def branches_of(snapshot: Snapshot, own: SpaceHead, past: int = 0) -> list[tuple[int, Branch]]:
    """The branches of the owner of a space, past a number, in the order they were made, each with its own."""
    kin = snapshot.kin(own)
    names = {head.id: head.branch for head in kin}
    return [
        (h.number, Branch(name=h.branch, of=names[h.parent], base=h.base, seq=h.seq, understood=h.lanes))
        for h in kin
        if h.parent and h.number > past
    ]


def refuse_unborn(snapshot: Snapshot, space: int, at: int) -> None:
    """Refuse a commit at which nothing of a space was there yet, and say which was its first."""
    head = snapshot.head(snapshot.spaces((space,))[0].tenant)
    gone = at < head.horizon  # what there was by then cannot be told: the branch will not be made
    if gone or (at and snapshot.latest((space,), Filter(states=tuple(State)), View(at=at), limit=1)):
        return
    first = next(commits(snapshot, space, 0, head.seq), None)
    if first is not None and first.seq > at:
        remedy = f"The first commit is {first.seq}, of {first.at:%Y-%m-%d %H:%M} UTC."
        raise Invalid("at", "nothing was remembered here by then", remedy)


def shows(layers: Sequence[Layer], change: Change) -> bool:
    """Whether a commit is one of those that a space reads."""
    return any(change.space == x.space and (x.upto is None or change.seq <= x.upto) for x in layers)


def commits(snapshot: Snapshot, space: int, after: int, upto: int) -> Iterator[Change]:
    """The commits in `(after, upto]` that a space reads, ascending."""
    tenant, layers = snapshot.spaces((space,))[0].tenant, snapshot.layers((space,))
    while after < upto:
        changes = snapshot.changes(tenant, after, _PAGE)
        if not changes:
            return
        yield from (change for change in changes if change.seq <= upto and shows(layers, change))
        after = changes[-1].seq


def changed_links(snapshot: Snapshot, space: int, changes: Sequence[Change]) -> list[Ends]:
    """The links that some commits of a space tied or untied."""
    tied = [change.seq for change in changes if any(_ties(event) for event in change.events)]
    links = (link for seq in tied for link, _ in snapshot.links_written(space, seq))
    return list(dict.fromkeys((link.src, link.dst, link.type) for link in links))


def _ties(event: Event) -> bool:
    return event.verb in (Verb.LINKED, Verb.UNLINKED)


def stood(snapshot: Snapshot, space: int, item: ItemId, seq: int) -> Version | None:
    """The version of an item that stood after a commit, in whatever state; None where there was none."""
    return stood_among(snapshot.history((space,), item), seq)


def stood_among(versions: Iterable[Version], seq: int) -> Version | None:
    """That one of an item's versions that stood after a commit; None where there was none."""
    return next((v for v in versions if v.seq_from <= seq and (v.seq_to is None or seq < v.seq_to)), None)


def tied(snapshot: Snapshot, space: int, ends: Ends, seq: int | None) -> Link | None:
    """The link between two ends, after a commit or, with None, now."""
    if seq == 0:
        return None
    links = snapshot.links((space,), (ends[0],), View(at=seq))
    return next((link for link in links if (link.src, link.dst, link.type) == ends), None)


def put_of(item: Item, now: Item | None) -> Put:
    """Make an item be `item`, from what it is now; None for an item that is not there."""
    carried = now is not None and _worded(item) == _worded(now)
    return Put(verb=transition(item, now), item=item, terms=None if carried else entry_terms(item))


def _worded(item: Item) -> tuple[object, ...]:
    return item.text, item.key, item.slots, item.said


def retied(ends: Ends, link: Link | None, now: Link | None) -> Tie | None:
    """What makes a link be so, from what it is now; None if it is so already."""
    if link == now:
        return None
    if link is not None:
        return Tie(verb=Verb.LINKED, link=link)
    return Tie(verb=Verb.UNLINKED, link=now or Link(src=ends[0], dst=ends[1], type=ends[2]))
