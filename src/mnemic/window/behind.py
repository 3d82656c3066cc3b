"""Page state written behind: it waits in memory and rides in the commit of a turn, with the lease on the session."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from mnemic.core.ids import ItemId
from mnemic.store.pages import Paging
from mnemic.window.session_state import as_row

if TYPE_CHECKING:
    from mnemic.window.contents import Contents
    from mnemic.window.session_state import Kept

LEASE_SECONDS: Final = 60.0
"""How long a session stays its process's own after the last write; another may take it over then."""


class WriteBehind:
    """What of a session's pages is written, how far, and by whom."""

    def __init__(self, name: str, owner: str, contents: Contents) -> None:
        self._name, self._owner, self._contents = name, owner, contents
        self._written = self._counted = 0

    @property
    def dirty(self) -> tuple[ItemId, ...]:
        """Pages whose state has changed since it was written."""
        return tuple(self._contents.pager.table.dirty)

    def paging(self, pages: Sequence[ItemId], seconds: float = LEASE_SECONDS, *, taking: bool = False) -> Paging:
        """What is written of these pages: all that have changed, or none, so that `seq` says how far they go."""
        pager = self._contents.pager
        known = ((page, page.id in pager.table.resident) for item in pages if (page := pager.table.find(item)))
        rows = tuple(as_row(page, here) for page, here in known)
        seq, turns = (self._contents.admitted, self._contents.turns) if pages else (self._written, self._counted)
        return Paging(
            self._name, self._owner, seconds, pager.budget, pager.policy.name, pager.now, turns, seq, rows, taking
        )

    def landed(self, paging: Paging) -> None:
        """It is in the store."""
        pager = self._contents.pager
        pager.table.clean(row.item for row in paging.rows)
        pager.counters.rows += len(paging.rows)
        self._written, self._counted = paging.seq, paging.turns

    def take_up(self, found: Kept) -> None:
        """Go on from what was written."""
        self._written, self._counted = found.seq, found.turns
