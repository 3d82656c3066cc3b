"""Add what recalls have shown to the counters of use: sums beside the journal, of which no commit tells."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from mnemic.core.ids import ItemId, to_bytes
from mnemic.core.scope import Shared
from mnemic.errors import TenantElsewhere
from mnemic.store.engine.rows import Rows
from mnemic.store.values.row_values import StrengthRow

Owner = tuple[str, str | Shared]
"""A tenant and a user."""


class Shown(NamedTuple):
    """How often an item was shown, and when last (microseconds)."""

    times: int
    last: int


def count_shown(rows: Rows, shown: Mapping[Owner, Mapping[ItemId, Shown]]) -> None:
    """Count what was shown to each user, inside a transaction.

    Nothing is made for it, no tenant and no space: what was erased meanwhile, or is not the user's own, is left out,
    and so is a tenant that has gone to another server.
    """
    for (tenant, user), items in shown.items():
        try:
            space, _ = rows.spaces.owned(tenant, user, "")
        except TenantElsewhere:
            continue
        if space is not None:
            counted = {to_bytes(item): use for item, use in items.items()}
            stand = rows.items.standing(space.id, list(counted))
            added = [
                StrengthRow(space.id, item, use.times, 0, 0, use.last) for item, use in counted.items() if item in stand
            ]
            rows.items.add_strengths(space.id, added)
