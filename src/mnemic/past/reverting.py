"""Bringing a memory back to what it was after a commit, by one commit more: nothing is lost, and it can be undone."""

from __future__ import annotations

from dataclasses import replace

from mnemic.core.events import Verb
from mnemic.core.ids import ItemId
from mnemic.core.items import Item, State
from mnemic.errors import Compacted, Invalid
from mnemic.past.branching import brought, changed_links, commits, retied, stood, tied
from mnemic.store.base import Draft, Note, Op, Put, Snapshot
from mnemic.store.codec import canonical


def reverting(snapshot: Snapshot, space: int, seq: int, draft: Draft) -> Draft:
    """`draft` with what makes a space say again what it said after commit `seq`; without ops if it does already.

    What was written since is retired, what was changed is as it was, links likewise. What was erased does not come
    back, and counters stay. The commit is refused once the space has moved on from this snapshot.

    Raises:
        Invalid: there is no such commit yet.
        Compacted: it lies behind the horizon.
    """
    here = snapshot.spaces((space,))[0]
    head = snapshot.head(here.tenant)
    if seq > head.seq:
        raise Invalid("seq", f"commit {seq} is not between 1 and {head.seq}", "`mnemic log` shows the commits.")
    if seq < head.horizon:
        raise Compacted(f"commit {seq} lies behind the horizon, which is commit {head.horizon}")
    since = list(commits(snapshot, space, seq, head.seq))
    items = dict.fromkeys(event.item for change in since for event in change.events if event.item is not None)
    puts = (_restored(snapshot, space, item, seq) for item in items)
    links = changed_links(snapshot, space, since)
    ties = (retied(x, tied(snapshot, space, x, seq), tied(snapshot, space, x, None)) for x in links)
    ops: tuple[Op, ...] = (*(put for put in puts if put is not None), *(tie for tie in ties if tie is not None))
    if not ops:
        return replace(draft, ops=())
    note = Note(verb=Verb.REVERTED, payload=canonical({"seq": seq}))
    return replace(draft, ops=(*ops, note), cause=seq, upon=here.seq)


def _restored(snapshot: Snapshot, space: int, item: ItemId, seq: int) -> Put | None:
    now = snapshot.standing((space,), (item,)).get(item)
    if now is None:
        return None
    before = stood(snapshot, space, item, seq)
    wanted: Item = replace(now.item, state=State.RETIRED) if before is None else before.item
    return None if wanted == now.item else brought(wanted, now.item)
