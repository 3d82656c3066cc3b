"""The feed: the commits of some spaces in the order they were made, resumable from any seq."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from mnemic.errors import Compacted
from mnemic.store.rows import ChangeRow, EventRow, Rows

PAGE: Final = 500
"""Commits of the tenant that are looked at in one go."""
MOST: Final = 20_000
"""Commits of the tenant that one reading looks at: whoever follows a quiet space among busy ones holds up nobody."""


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
    found: list[tuple[ChangeRow, list[EventRow]]] = []
    upto = first = max(after, horizon)
    while len(found) < limit and upto - first < MOST:
        page = rows.journal.changes(tenant, upto, PAGE, False)
        for change in page:
            if change.space in spaces:
                found.append((change, rows.journal.events(tenant, change.seq, change.seq)))
            upto = change.seq
            if len(found) == limit:
                break
        if len(page) < PAGE:
            break
    return found, upto
