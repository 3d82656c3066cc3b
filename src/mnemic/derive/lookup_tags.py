"""Fill in, once for each space, the tags by which a strategy looks up what it derived: older items lack them.

A strategy that finds what it knows by tags says with `lookup_tags` which an item of its own bears. What an earlier
version derived, in a file or an export, may lack them, and what is not found is derived twice. So before the first run
over a space in which something of the strategy's own stands, whatever lacks such tags is revised to bear them, beside
those that it has: by commits like any other, which the past does not show. A row among the lanes notes that it is done.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

from mnemic.core.events import Verb
from mnemic.core.items import State
from mnemic.core.queries import Filter
from mnemic.errors import Conflict
from mnemic.lanes.slices import BUSY, DERIVER, Slice
from mnemic.store.engine.lane_cursors import advance
from mnemic.store.requests import commit, look, transact
from mnemic.store.values.drafts import Advance, Draft
from mnemic.store.values.work import FILLED_TAGS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mnemic.core.items import Item, Version
    from mnemic.flow import Flow
    from mnemic.store.engine.snapshot import Snapshot
    from mnemic.strategies.base import Strategy
    from mnemic.writing import Desk

_PAGE: Final = 500
"""Items of one commit."""


def filled_tags(desk: Desk, strategy: Strategy, space: int) -> Flow[Slice | None]:
    """Fill in the lookup tags of what a strategy derived in a space, if that was not done yet.

    Returns:
        What was done, or None if there was nothing to do, and a run may follow.
    """
    tags_of: Callable[[Item], Sequence[str]] | None = getattr(strategy, "lookup_tags", None)
    if tags_of is None:
        return None
    name = strategy.name + FILLED_TAGS
    if (yield from look(lambda s: s.lane(space, name).cursor)):
        return None
    after = filled = looked = 0
    try:
        while page := (yield from look(partial(_own, strategy=strategy, space=space, after=after))):
            after, looked = page[-1][0], looked + len(page)
            lacking = [version for _, version in page if not set(tags_of(version.item)).issubset(version.item.tags)]
            if lacking:
                yield from commit((yield from look(partial(_draft, desk, tags_of, lacking, space=space))))
                filled += len(lacking)
        if looked:
            newest = yield from look(lambda s: s.newest(space))
            yield from transact(advance, space, Advance(name=name, owner="", after=0, upto=newest))
    except Conflict:
        return BUSY  # somebody else fills them in, or changed one: what still lacks tags is found by the next slice
    return Slice(done=filled) if filled else None


def _own(snapshot: Snapshot, strategy: Strategy, space: int, after: int) -> list[tuple[int, Version]]:
    """A page of what stands of a strategy's own, what has been superseded among it, past a version."""
    (head,) = snapshot.spaces((space,))
    if head.user is None or not head.lanes:
        return []
    where = Filter(by=(strategy.by,), states=(State.ACTIVE, State.SUPERSEDED))
    return snapshot.scan((space,), where, after=after, limit=_PAGE)


def _draft(
    desk: Desk, tags_of: Callable[[Item], Sequence[str]], lacking: Sequence[Version], snapshot: Snapshot, space: int
) -> Draft:
    (head,) = snapshot.spaces((space,))
    tagged = (
        replace(version.item, tags=tuple(dict.fromkeys((*version.item.tags, *tags_of(version.item)))))
        for version in lacking
    )  # fmt: skip
    assert head.user is not None
    return Draft(
        tenant=snapshot.tenant_name(head.tenant),
        user=head.user,
        branch=head.branch,
        actor=DERIVER,
        ops=tuple(desk.put(Verb.REVISED, item) for item in tagged),
        expect={version.item.id: version.seq_from for version in lacking},
    )
