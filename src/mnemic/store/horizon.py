"""What holds the horizon: nothing of the past goes that a branch, a checkpoint, a hold or a leased job still needs."""

from __future__ import annotations

from dataclasses import dataclass

from mnemic.core.clock import FOREVER
from mnemic.store.holds import told
from mnemic.store.rows import Rows, TenantRow


@dataclass(frozen=True, slots=True, order=True)
class Floor:
    """The last commit that the horizon may move to, and on whose account."""

    seq: int
    why: str


def holders(rows: Rows, tenant: TenantRow) -> list[Floor]:
    """All that holds a tenant's horizon, the lowest first."""
    found = [
        Floor(space.base, f"branch {space.branch!r} comes off commit {space.base}; merge or drop it")
        for space in rows.tenant_spaces(tenant.id)
        if space.parent and space.user is not None
    ]
    found += [
        Floor(row.seq, f"checkpoint {row.name!r} is of commit {row.seq}; `mnemic checkpoint --drop` lets it go")
        for row in rows.checkpoints(tenant.id)
    ]
    found += [Floor(row.seq, f"something {told(row)}") for row in rows.holds(tenant.id)]
    mine = {space.id for space in rows.tenant_spaces(tenant.id)}
    found += [
        Floor(lane.seq, f"lane {lane.name!r} is at work and reads at commit {lane.seq}; wait until it is done")
        for lane in rows.lanes()
        if lane.space in mine and lane.owner and lane.seq
    ]
    return sorted(found)


def horizon_floor(rows: Rows, tenant: TenantRow) -> Floor:
    """The lowest of what holds a tenant's horizon; nothing does where its seq is `FOREVER`."""
    return next(iter(holders(rows, tenant)), Floor(FOREVER, "nothing holds it"))
