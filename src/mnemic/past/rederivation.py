"""What a rerun derived anew: where what it had taken back comes back, that goes, and nobody has rejected it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from mnemic.core.events import Verb
from mnemic.core.ids import ItemId
from mnemic.core.items import RERUN, Item, State, Version
from mnemic.core.queries import Filter
from mnemic.core.transitions import retired
from mnemic.past.branching import stood
from mnemic.store.engine.snapshot import Snapshot
from mnemic.store.values.drafts import Put

_PAGE = 1_000


def is_taken_back(now: Item, before: Item | None) -> bool:
    """Whether a rerun has taken an item back that was there before."""
    return before is not None and bool(now.slots.get(RERUN)) and not before.slots.get(RERUN)


def derived_anew(snapshot: Snapshot, space: int, back: Sequence[Item], since: int) -> dict[ItemId, Version]:
    """Find what the authors of items that come back derived since a commit of what they had read before it.

    What they first read since then is no second reading, and stays; what its owner hid by itself is theirs.

    Args:
        back: What a rerun after commit `since` took back.

    Returns:
        Standing versions, by item; of what an undo or a revert has taken back already, too.
    """
    first_said = _first_commits(snapshot, space, {source for item in back for source in item.source})
    read: dict[str, int] = {}
    for item in back:
        if item.author is not None:
            read[item.author] = max(read.get(item.author, 0), *(first_said.get(source, 0) for source in item.source))
    if not read:
        return {}
    derived = {version.item.id: version for version in _derived_by(snapshot, space, tuple(read))}
    first = _first_commits(snapshot, space, derived)
    first_said |= _first_commits(
        snapshot, space, {version.item.source[0] for version in derived.values()} - first_said.keys()
    )
    return {
        id: version
        for id, version in derived.items()
        if first[id] > since
        and first_said.get(version.item.source[0], 0) <= read[str(version.item.author)]
        and not _is_hidden(snapshot, space, version)
    }


def taken_back_again(item: Item) -> Put:
    """Retire what a rerun derived, as a rerun would: not as what its owner hid, which the next one leaves out."""
    return Put(verb=Verb.RETIRED, item=retired(item, **{RERUN: True}), terms=None)


def unwritten(snapshot: Snapshot, space: int, version: Version) -> bool:
    """Whether an item is retired as if it had never been written, by an undo or a revert, and not by being forgotten.

    One that brought back an older version means by it what that one meant.
    """
    tenant = snapshot.spaces((space,))[0].tenant
    former: Version | None = version
    while former is not None and former.item.state is State.RETIRED:
        change = snapshot.changes(tenant, former.seq_from - 1, 1)[0]
        verbs = {event.verb for event in change.events}
        if verbs.isdisjoint({Verb.UNDID, Verb.REVERTED}):
            return False
        seq = change.cause or 0
        if Verb.REVERTED in verbs:
            former = stood(snapshot, space, version.item.id, seq)
        else:
            former = next((v for v in snapshot.history((space,), version.item.id) if v.seq_to == seq), None)
    return former is None


def _derived_by(snapshot: Snapshot, space: int, authors: tuple[str, ...]) -> Iterator[Version]:
    where = Filter(by=authors, states=(State.ACTIVE, State.SUPERSEDED, State.RETIRED))
    after = 0
    while page := snapshot.scan((space,), where, after=after, limit=_PAGE):
        after = page[-1][0]
        yield from (version for _, version in page if version.item.author in authors and version.item.source)


def _first_commits(snapshot: Snapshot, space: int, items: Iterable[ItemId]) -> dict[ItemId, int]:
    """The commits that wrote items first; of what is not here, nothing."""
    stories = snapshot.histories((space,), sorted(items))
    return {item: story[0].seq_from for item, story in stories.items() if story}


def _is_hidden(snapshot: Snapshot, space: int, version: Version) -> bool:
    gone = version.item.state is State.RETIRED and not version.item.slots.get(RERUN)
    return gone and not unwritten(snapshot, space, version)
