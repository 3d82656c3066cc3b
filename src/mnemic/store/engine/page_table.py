"""Write the page tables of sessions: who has a session open, and the pages of its window.

They are state beside the journal, and may be lost: a window is made again from its session's last turns.
"""

from __future__ import annotations

from typing import Final

from mnemic.core.clock import moment
from mnemic.core.ids import to_bytes
from mnemic.errors import Conflict
from mnemic.store.engine.rows import Rows
from mnemic.store.values.drafts import Paging
from mnemic.store.values.row_values import SessionRow

_LONGEST_LEASE: Final = 600 * 1_000_000
"""Microseconds; sessions are leased for a tenth of that."""


def write(rows: Rows, space: int, paging: Paging, *, making: bool) -> None:
    """Write a session's pages, and take or prolong its lease.

    Args:
        making: Whether a session of a new name is made: one that nothing was said in leaves no trace.

    Raises:
        Conflict: another has the session open, or has opened it since: who lost a session writes to it no more.
    """
    name, now = rows.names.name(space, paging.session), rows.now()
    before = None if name is None else rows.sessions.session(space, name)
    if name is None and not making:
        return
    if before is not None and before.owner != paging.owner:
        _refuse_other(before, paging, now)
    number = rows.names.add_name(space, paging.session).id if name is None else name
    leased = paging.seconds > 0
    until_us = now + round(paging.seconds * 1_000_000) if leased else 0
    owner = paging.owner if leased else ""
    rows.sessions.set_session(
        SessionRow(space, number, owner, until_us, paging.budget, paging.policy, paging.clock, paging.turns, paging.seq)
    )
    # A page of another space would outlive its item's erasure there; it is fetched anew when it is wanted.
    here = rows.items.standing(space, [to_bytes(row.item) for row in paging.rows])
    rows.sessions.put_pages(space, number, [row for row in paging.rows if to_bytes(row.item) in here])


def _refuse_other(before: SessionRow, paging: Paging, now: int) -> None:
    """Raise `Conflict` unless a session that is not this owner's may be taken."""
    # A lease that lasts longer than any is of a clock that went ahead, and holds nothing.
    if before.owner and 0 < before.lease_until - now <= _LONGEST_LEASE:
        until = moment(before.lease_until).isoformat(" ", "seconds")[:19]
        raise Conflict(
            f"session {paging.session!r} is open already, here or in another process, until {until} UTC; close it, or "
            "wait"
        )
    if not paging.taking:
        raise Conflict(f"session {paging.session!r} was opened elsewhere since; open it again")
