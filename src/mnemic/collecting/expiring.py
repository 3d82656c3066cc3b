"""Retire what has expired: found by the index of what expires, in ordinary commits that say so, and can be undone.

Nobody is shown it from its moment on, whether this has been by or not; retired, it is one of the dead that compaction
drops behind the horizon, and the journal says when and why it went.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Final, NamedTuple

from mnemic.core.events import Verb
from mnemic.core.ids import ItemId
from mnemic.core.items import State
from mnemic.core.transitions import retired
from mnemic.core.visibility import has_expired
from mnemic.flow import Flow
from mnemic.lanes.slices import DERIVER, IDLE, Slice
from mnemic.store.engine.codec import canonical
from mnemic.store.engine.snapshot import Snapshot
from mnemic.store.requests import commit, look
from mnemic.store.values.drafts import Draft, Note, Put

LOOKED: Final = 64
"""Items of one look and, of one space, of one commit: some milliseconds of the writer's time."""

START: Final = (0, 0)
"""Where a look begins: before the first moment."""


class ExpiredItems(NamedTuple):
    """What a look found: by space what is to be retired, and where the next look goes on; None at the end."""

    by_space: Mapping[int, Sequence[ItemId]]
    last: tuple[int, int] | None


def find_expired(snapshot: Snapshot, after: tuple[int, int] = START) -> ExpiredItems:
    """Find what has expired and is not retired, past a place in the order of their moments; what a hold keeps stays."""
    rows = snapshot.expired(after, LOOKED)
    by_space: dict[int, Sequence[ItemId]] = {}
    for space, of_space in groupby(sorted(rows, key=itemgetter(2)), key=itemgetter(2)):
        (head,) = snapshot.spaces((space,))
        if head.user is not None and (free := _free(snapshot, head.tenant, space, [item for *_, item in of_space])):
            by_space[space] = free
    return ExpiredItems(by_space, rows[-1][:2] if len(rows) == LOOKED else None)


def retire_expired(space: int, ids: Sequence[ItemId]) -> Flow[Slice]:
    """Retire these items of a space in one commit, as far as they still stand, have expired and are not held.

    Raises:
        Conflict: somebody changed one of them meanwhile.
    """
    draft = yield from look(lambda s: _draft(s, space, ids))
    if draft is None:
        return IDLE
    yield from commit(draft)
    return Slice(done=len(draft.expect))


def _draft(snapshot: Snapshot, space: int, ids: Sequence[ItemId]) -> Draft | None:
    (head,) = snapshot.spaces((space,)) or (None,)
    if head is None or head.user is None:
        return None
    standing = snapshot.standing((space,), _free(snapshot, head.tenant, space, ids))
    live = {item: version for item, version in standing.items() if version.item.state is not State.RETIRED}
    going = {item: version for item, version in live.items() if has_expired(version.item, snapshot.now)}
    if not going:
        return None
    ends = {item: version.item.expires for item, version in going.items()}
    reasons = {item: f"expired {end:%Y-%m-%d %H:%M}" for item, end in ends.items()}
    payload = {"collector": "expires", "trigger": "expiry", "items": len(going), "reasons": reasons}
    puts = (Put(verb=Verb.RETIRED, item=retired(version.item), terms=None) for version in going.values())
    return Draft(
        tenant=snapshot.tenant_name(head.tenant), user=head.user, branch=head.branch, actor=DERIVER,
        ops=(*puts, Note(verb=Verb.COLLECTED, payload=canonical(payload))),
        expect={item: version.seq_from for item, version in going.items()},
    )  # fmt: skip


def _free(snapshot: Snapshot, tenant: int, space: int, ids: Sequence[ItemId]) -> list[ItemId]:
    kept = snapshot.reasons_to_keep(tenant, space, ids)
    return [item for item in ids if item not in kept]
