"""A memory's past as its user is shown it: an item's story, the commits, what differs between two of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from mnemic.core.checking import whole
from mnemic.core.clock import FOREVER
from mnemic.core.events import Change, counts_reading
from mnemic.core.ids import ItemId
from mnemic.core.items import Item, Version
from mnemic.core.listing import Cursors, Listing, one_page
from mnemic.core.queries import View
from mnemic.core.transitions import SUPERSEDES
from mnemic.errors import Invalid
from mnemic.past.undoing import touched, visible_at
from mnemic.store.engine.snapshot import Snapshot

_LOOKED_AT: Final = 20
"""Commits that are read at once, at the least, where some may only count what was shown."""


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
    snapshot: Snapshot, own: tuple[int, ...], at: int | None, within: tuple[int, int], limit: int,
    *, newest: bool, every: bool,
) -> list[Change]:  # fmt: skip
    """Commits that `own`, a space or none, reads, after one and before another, the newest or the oldest first.

    What only counts that items were shown is left out, unless `every` one is asked for.
    """
    after, before = within
    before = before if at is None else min(before, at + 1)
    changes: list[Change] = []
    while own and len(changes) < limit:
        wanted = max(limit - len(changes), _LOOKED_AT)
        commits = snapshot.commits_of(own, (after, before), wanted, newest=newest)
        changes += [change for change in commits if every or not counts_reading(change)]
        if len(commits) < wanted:
            break
        after, before = (after, commits[-1].seq) if newest else (commits[-1].seq, before)
    return changes[:limit]


def log_page(
    commits: Callable[[tuple[int, int], int], list[Change]],
    limit: int,
    after: int | str,
    cursors: Cursors,
    *,
    newest: bool,
) -> Listing[Change]:
    """One page of a log: of the commits after a number, or from where the page before ended.

    Args:
        commits: Finds commits after one and before another, and how many at most, in the order of the log.
    """
    low, high = cursors.read(after) if isinstance(after, str) else (whole("after", after), FOREVER)
    changes = commits((low, high), limit + 1)
    return one_page(
        changes, limit, lambda last: cursors.write(low, last.seq) if newest else cursors.write(last.seq, high)
    )


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
    compared = [Difference(id=i, before=x.item if x else None, after=y.item if y else None) for i, x, y in pairs]
    return [d for d in compared if d.before != d.after]
