"""Reading through: a branch shows its own rows, and those of its parent as of its base, as one space.

A read set is a row of layers, the nearest first. An id that a nearer layer has hides it in those behind, at whatever
past is asked for; a version that the parent closed after the base stands in the branch until the branch follows it.
"""

from __future__ import annotations

from collections.abc import Sequence

from mnemic.core.clock import FOREVER
from mnemic.errors import Compacted, Conflict, Invalid, NotFound
from mnemic.store.engine.rows import Rows
from mnemic.store.values.drafts import Draft, Fork
from mnemic.store.values.heads import Layer
from mnemic.store.values.row_values import BranchPoint, SpaceRow, TenantRow, VersionRow


def lineage(rows: Rows, space: SpaceRow) -> tuple[Layer, ...]:
    """A space, and for a branch what lies behind it: its parent as of its base, that one's parent, and so on."""
    layers: tuple[Layer, ...] = (Layer(space.id),)
    upto = FOREVER
    while space.parent:
        upto = min(upto, space.base)
        (space,) = rows.spaces.space_rows((space.parent,))
        layers = (*layers, Layer(space.id, upto, layers))
    return layers


def standing(rows: Rows, space: SpaceRow, items: Sequence[bytes]) -> dict[bytes, VersionRow]:
    """The standing versions of items as a space reads them; of a branch they may lie in its parent."""
    rows_standing = rows.items.standing(space.id, items)
    if not space.parent:
        return rows_standing
    for layer in lineage(rows, space)[1:]:
        rows_standing.update(stood(rows, layer, [item for item in items if item not in rows_standing]))
    return rows_standing


def stood(rows: Rows, layer: Layer, items: Sequence[bytes]) -> dict[bytes, VersionRow]:
    """The versions of items that stand in a layer as it is read."""
    at, known = read_at(layer, None), rows.items.item_rows(layer.space, items)
    return {item: row for item, versions in known.items() for row in versions if row.seq_from <= at < row.seq_to}


def read_at(layer: Layer, at: int | None) -> int:
    """The commit that a layer is read at, for a reader who asks for `at`; one below `FOREVER` for now."""
    return min((bound for bound in (layer.upto, at) if bound is not None), default=FOREVER - 1)


def fork(rows: Rows, tenant: TenantRow, draft: Draft, made: Fork, secret: bytes) -> SpaceRow:
    """The space of a new branch, in the commit that makes it.

    Raises:
        NotFound: there is nothing to branch from.
        Invalid, Compacted: the base lies ahead of the journal, or behind its horizon.
    """
    parent = rows.spaces.space(tenant.id, draft.user, made.of)
    if parent is None:
        raise NotFound("nothing has been remembered for this user yet, so there is nothing to branch from")
    base = tenant.seq if made.base is None else made.base
    if not 0 <= base <= tenant.seq:
        raise Invalid("base", f"commit {base} is not between 0 and {tenant.seq}", "`mnemic log` shows the commits.")
    if base < tenant.horizon:
        raise Compacted(f"commit {base} lies behind the horizon, which is commit {tenant.horizon}")
    return rows.spaces.add_space(tenant.id, draft.user, secret, BranchPoint(parent.id, base, draft.branch, made.lanes))


def named(rows: Rows, tenant: TenantRow, draft: Draft, secret: bytes) -> SpaceRow:
    """The space that a draft writes to, made if it is to be.

    Raises:
        NotFound: it names a branch that is not there.
        Conflict: it makes a branch that is there.
    """
    space = rows.spaces.space(tenant.id, draft.user, draft.branch)
    if space is None and draft.fork is not None:
        return fork(rows, tenant, draft, draft.fork, secret)
    if space is None and draft.branch:
        raise NotFound(f"no branch {draft.branch!r} here")
    if space is not None and draft.fork is not None:
        raise Conflict(f"there is a branch {draft.branch!r} already")
    return space or rows.spaces.add_space(tenant.id, draft.user, secret)


def children(rows: Rows, space: SpaceRow) -> list[SpaceRow]:
    """The branches that come off a space and are still there."""
    return [row for row in rows.spaces.tenant_spaces(space.tenant) if row.parent == space.id and row.user is not None]


def kin(rows: Rows, space: SpaceRow) -> list[SpaceRow]:
    """All spaces of the same owner: their own, and every branch."""
    return [row for row in rows.spaces.tenant_spaces(space.tenant) if row.user == space.user]
