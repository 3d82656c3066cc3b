"""A memory's past as its user is shown it: an item's story, the commits, what differs between two of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from mnemic.core.events import Change, counts_reading
from mnemic.core.ids import ItemId
from mnemic.core.items import Item, Version
from mnemic.core.queries import View
from mnemic.core.transitions import SUPERSEDES
from mnemic.errors import Invalid
from mnemic.past.branching import shows
from mnemic.past.undoing import touched, visible_at
from mnemic.store.engine.snapshot import Snapshot


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One item that differs between two commits; None where it is not visible."""

    id: ItemId
    before: Item | None
    after: Item | None


def story(snapshot: Snapshot, spaces: tuple[int, ...], item: ItemId, view: View) -> list[Version]:
    """The versions of an item and of every item tied to it by supersession, in order of commit, as far as `at` goes."""
    stories: dict[ItemId, list[Version]] = {}
    queue = [item]
    while queue:
        tied = queue.pop()
        if tied in stories:
            continue
        stories[tied] = [v for v in snapshot.history(spaces, tied) if view.at is None or v.seq_from <= view.at]
        links = snapshot.links(spaces, [tied], View(at=view.at)) if stories[tied] else []
        queue += [end for link in links if link.type == SUPERSEDES for end in (link.src, link.dst)]
    return sorted((v for versions in stories.values() for v in versions), key=lambda v: (v.seq_from, v.item.said))


def commits_shown(
    snapshot: Snapshot, own: tuple[int, ...], at: int | None, limit: int, after: int, *, newest: bool, every: bool
) -> list[Change]:
    """Commits of the whole tenant are numbered together; only those that `own`, a space or none, reads are shown.

    What only counts that items were shown is left out, unless `every` one is asked for.
    """
    if not own:
        return []
    tenant, layers = snapshot.spaces(own)[0].tenant, snapshot.layers(own)

    def shown(change: Change) -> bool:
        return shows(layers, change) and (every or not counts_reading(change))

    return _commits(snapshot, tenant, shown, at, limit, after, newest=newest)


def store_commits(snapshot: Snapshot, tenant: int, limit: int, after: int, *, newest: bool) -> list[Change]:
    """A tenant's commits that are in no user's space: runs of collecting, the horizon, what was erased whole."""
    return _commits(snapshot, tenant, lambda change: not change.space, None, limit, after, newest=newest)


def _commits(
    snapshot: Snapshot,
    tenant: int,
    shown: Callable[[Change], bool],
    at: int | None,
    limit: int,
    after: int,
    *,
    newest: bool,
) -> list[Change]:
    found: list[Change] = []
    head = snapshot.head(tenant).seq if at is None else min(at, snapshot.head(tenant).seq)
    start, page = (head, 200) if newest else (after, 200)
    while len(found) < limit and (start > after if newest else start < head):
        low = max(after, start - page) if newest else start
        changes = snapshot.changes(tenant, low, page)
        if newest:
            changes = [c for c in reversed(changes) if c.seq <= start]
        found += [c for c in changes if shown(c) and c.seq <= head]
        start = low if newest else (changes[-1].seq if changes else head)
    return found[:limit]


def differences(snapshot: Snapshot, space: int, a: int, b: int | None) -> list[Difference]:
    """What a space shows otherwise after commit `b` (None: the head) than after commit `a`, in order of change.

    Raises:
        Invalid: there is no such commit.
    """
    head = snapshot.head(snapshot.spaces((space,))[0].tenant).seq
    first, last = a, head if b is None else b
    for name, seq in (("a", first), ("b", last)):
        if not 0 <= seq <= head:
            raise Invalid(name, f"commit {seq} is not between 0 and {head}", "`mnemic log` shows the commits.")
    ids = touched(snapshot, space, min(first, last), max(first, last))
    before, after = visible_at(snapshot, space, ids, first), visible_at(snapshot, space, ids, last)
    pairs = ((i, before.get(i), after.get(i)) for i in ids)
    found = [Difference(id=i, before=x.item if x else None, after=y.item if y else None) for i, x, y in pairs]
    return [d for d in found if d.before != d.after]
