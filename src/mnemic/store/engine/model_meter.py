"""Meter what language models take, for each user and for the whole installation, beside the journal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mnemic.store.values.spending import Spending, packed_spendings, summed, unpacked_spendings

if TYPE_CHECKING:
    from mnemic.store.engine.rows import Rows
    from mnemic.store.engine.snapshot import Snapshot

_ALL: Final = "models"
"""The memo with what all users of an installation have spent, those that were erased since included."""


def spend(rows: Rows, space: int, spending: Spending) -> None:
    """Add what a call for a space has taken to the meter of its user and of its installation."""
    for row in rows.spaces.space_rows((space,)):
        for name in (_ALL, _memo(row.number)):
            before = unpacked_spendings(rows.notes.memo(row.tenant, name) or b"[]")
            rows.notes.set_memo(row.tenant, name, packed_spendings(summed((*before, spending))))


def spendings_of(snapshot: Snapshot, tenant: int, space: int | None = None) -> list[Spending]:
    """List what an installation has spent on language models; or one of its spaces, by its number there."""
    return unpacked_spendings(snapshot.memo(tenant, _ALL if space is None else _memo(space)) or b"[]")


def _memo(number: int) -> str:
    return f"{_ALL} {number}"
