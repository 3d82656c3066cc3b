"""The feed: the commits of some spaces in the order they were made, resumable from any seq."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter

from mnemic.errors import Compacted
from mnemic.store.engine.rows import Rows
from mnemic.store.values.row_values import ChangeRow, EventRow


def fed(
    rows: Rows, tenant: int, spaces: Sequence[int], after: int, limit: int
) -> tuple[list[tuple[ChangeRow, list[EventRow]]], int]:
    """At most `limit` commits of these spaces after `after`, each with its events, and the seq to go on from.

    All commits of these spaces up to that seq are among them; asked from there again, it stays until there is more.

    Raises:
        Compacted: commits after `after` lie behind the horizon and are gone (0 begins at the horizon), or the journal
            does not reach that far any more: it was brought back. What was written anew under numbers that somebody has
            read before cannot be told from what they read.
    """
    head = rows.spaces.tenant_row(tenant)
    horizon = head.horizon
    if after > head.seq:
        raise Compacted(f"commit {after} is not in the journal, which ends at commit {head.seq}; go on from there")
    if 0 < after < horizon:
        raise Compacted(f"commits after {after} lie behind the horizon, which is commit {horizon}; go on from there")
    first = max(after, horizon)
    each = (rows.journal.space_changes(space, first, limit) for space in spaces)
    mine = sorted((change for changes in each for change in changes), key=attrgetter("seq"))[:limit]
    events = rows.journal.events_of(tenant, [change.seq for change in mine])
    upto = mine[-1].seq if len(mine) == limit else head.seq
    return [(change, events.get(change.seq, [])) for change in mine], upto
