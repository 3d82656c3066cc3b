"""What holds the horizon: nothing of the past goes that a branch, a checkpoint, a hold or a leased job still needs."""

from __future__ import annotations

from dataclasses import dataclass
from shlex import quote

from mnemic.core.clock import FOREVER
from mnemic.store.engine.holds import told
from mnemic.store.values.row_values import Rows, TenantRow


@dataclass(frozen=True, slots=True, order=True)
class Floor:
    """The last commit that the horizon may move to, and on whose account."""

    seq: int
    why: str


def holders(rows: Rows, tenant: TenantRow) -> list[Floor]:
    """All that holds a tenant's horizon, the lowest first."""
    branches = [one.id for one in rows.spaces.descents(tenant.id) if one.parent and one.owned]
    found = [
        Floor(space.base, f"branch {space.branch!r} comes off commit {space.base}; merge or drop it")
        for space in rows.spaces.space_rows(branches)
    ]
    found += [
        Floor(
            row.seq,
            f"checkpoint {row.name!r} is of commit {row.seq}; `mnemic checkpoint --drop {quote(row.name)}` lets it go",
        )
        for row in rows.notes.checkpoints(tenant.id)
    ]
    found += [Floor(row.seq, f"something {told(row)}") for row in rows.notes.holds(tenant.id)]
    found += [
        Floor(seq, f"lane {name!r} is at work and reads at commit {seq}; wait until it is done")
        for name, seq in rows.lanes.leased(tenant.id)
    ]
    return sorted(found)


def horizon_floor(rows: Rows, tenant: TenantRow) -> Floor:
    """The lowest of what holds a tenant's horizon; nothing does where its seq is `FOREVER`."""
    return next(iter(holders(rows, tenant)), Floor(FOREVER, "nothing holds it"))
