"""Place and lift legal holds, and refuse to delete what they keep; find what else keeps the horizon where it is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from shlex import quote
from typing import Final

from mnemic.core.clock import FOREVER
from mnemic.core.events import Verb
from mnemic.core.ids import ItemId, from_bytes, to_bytes
from mnemic.errors import Invalid, NotFound, Refused
from mnemic.store.engine import ledger, lineage
from mnemic.store.engine.codec import canonical
from mnemic.store.engine.rows import Rows
from mnemic.store.values.heads import Hold
from mnemic.store.values.row_values import Descent, HoldRow, SpaceRow, TenantRow

REFUSAL: Final = "is under legal hold"


def place(rows: Rows, hold: Hold) -> int:
    """Write a hold, inside a transaction, and journal its number without what it says; returns that number.

    Raises:
        NotFound: the tenant, user, item or session that it names is not there.
        Invalid: it names an item or a session, and nobody whose it is.
    """
    tenant = rows.spaces.known_tenant(hold.tenant)
    if hold.user is None and (hold.item or hold.session):
        raise Invalid("user", "is missing", "Say whose item or session is to be held.")
    space = None if hold.user is None else rows.spaces.space(tenant.id, hold.user)
    if hold.user is not None and space is None:
        raise NotFound("nothing was ever remembered for this user")
    item = None if hold.item is None else to_bytes(hold.item)
    kin = [] if space is None else lineage.kin(rows, space)
    if item is not None and not any(rows.items.standing(relative.id, (item,)) for relative in kin):
        raise NotFound(f"no item {hold.item} here to hold")
    if hold.session and not any(_has(rows, relative, hold.session) for relative in kin):
        raise NotFound(f"no session {hold.session!r} here to hold")
    home = 0 if space is None else space.id
    row = HoldRow(0, tenant.id, home, item, hold.session or "", hold.reason, hold.actor, rows.now(), tenant.seq)
    number = rows.notes.add_hold(row)
    ledger.journal(rows, tenant, None, Verb.NOTED, canonical({"hold": number}))
    return number


def _has(rows: Rows, space: SpaceRow, session: str) -> bool:
    """Whether anything was ever said in a session of this name."""
    name = rows.names.name(space.id, session)
    return name is not None and any(version.session == name for version in rows.items.all_versions(space.id))


def lift(rows: Rows, name: str, hold: int) -> None:
    """Take a hold away.

    Raises:
        NotFound: this tenant has no such hold.
    """
    tenant = rows.spaces.tenant(name)
    if tenant is None or all(row.id != hold for row in rows.notes.holds(tenant.id)):
        raise NotFound(f"no hold {hold} here; `mnemic hold list` shows them")
    rows.notes.drop_hold(tenant.id, hold)
    ledger.journal(rows, tenant, None, Verb.NOTED, canonical({"released": hold}))


def listed(rows: Rows, tenant: TenantRow, after: int = 0, limit: int = 0) -> list[Hold]:
    """List the holds of a tenant numbered past `after`, the oldest first, at most `limit`; 0: all of them."""
    held_rows = rows.notes.holds(tenant.id, after, limit)
    users = {row.id: row.user for row in rows.spaces.space_rows(list({row.space for row in held_rows} - {0}))}
    return [
        Hold(
            id=row.id, tenant=tenant.name or "", user=users.get(row.space),
            item=None if row.item is None else from_bytes(row.item), session=row.session or None,
            reason=row.reason, actor=row.actor, at=row.at, seq=row.seq,
        )
        for row in held_rows
    ]  # fmt: skip


@dataclass(frozen=True, slots=True)
class TenantHolds:
    """Tells what the holds of a tenant keep.

    Attributes:
        trunks: For each space the one that it came off first: a hold on a user's memory keeps its branches too.
    """

    holds: tuple[HoldRow, ...]
    trunks: Mapping[int, int]

    def space(self, space: int) -> HoldRow | None:
        """Find a hold on any part of a space: who would delete all of it is refused."""
        return next((row for row in self.holds if row.space in (0, self.trunks[space])), None)

    def item(self, space: int, item: bytes, sessions: Iterable[str | None]) -> HoldRow | None:
        """Find the hold that keeps an item, known in these sessions."""
        named = {session for session in sessions if session}
        return next((row for row in self.holds if self._covers(row, space, item, named)), None)

    def _covers(self, row: HoldRow, space: int, item: bytes, sessions: set[str]) -> bool:
        if row.space not in (0, self.trunks[space]):
            return False
        if row.item is not None:
            return row.item == item
        return not row.session or row.session in sessions


def holds_of(rows: Rows, tenant: int) -> TenantHolds:
    """Read the holds of a tenant."""
    holds = tuple(rows.notes.holds(tenant))
    if not holds:
        return TenantHolds((), {})
    return TenantHolds(holds, trunks_of(rows.spaces.descents(tenant)))


def trunks_of(spaces: Sequence[Descent]) -> dict[int, int]:
    """Find for each space the one that it came off first; its own number where it came off none."""
    parents = {row.id: row.parent for row in spaces}
    return {space: _trunk(space, parents) for space in parents}


def _trunk(space: int, parents: Mapping[int, int]) -> int:
    while parents.get(space):
        space = parents[space]
    return space


def sessions_of(rows: Rows, space: int, items: Sequence[bytes]) -> dict[bytes, set[str]]:
    """Find the sessions that the versions of each of these items lie in."""
    stories = rows.items.item_rows(space, items)
    numbers = {row.session for versions in stories.values() for row in versions}
    names = {number: rows.names.name_text(number) for number in numbers - {0}}
    return {
        item: {name for name in (names.get(row.session) for row in stories.get(item, ())) if name} for item in items
    }


def _holding(rows: Rows, holds: TenantHolds, space: int, items: Sequence[bytes]) -> dict[bytes, HoldRow]:
    """Find the hold that keeps each of these items, where one does."""
    sessions = sessions_of(rows, space, items) if holds.holds else {}
    holding = ((item, holds.item(space, item, names)) for item, names in sessions.items())
    return {item: row for item, row in holding if row is not None}


def refuse_items(rows: Rows, tenant: int, going: Iterable[tuple[int, bytes]]) -> None:
    """Raise `Refused`, naming the hold, if one keeps any of these items."""
    holds, homes = holds_of(rows, tenant), dict[int, list[bytes]]()
    for space, item in going:
        homes.setdefault(space, []).append(item)
    for space, items in homes.items():
        for item, row in _holding(rows, holds, space, items).items():
            raise Refused(f"item {from_bytes(item)} {describe(row)}")


def reasons_to_keep(rows: Rows, tenant: int, space: int, items: Sequence[ItemId]) -> dict[ItemId, str]:
    """Find those of these items that a hold keeps, each with the reason to give."""
    holding = _holding(rows, holds_of(rows, tenant), space, [to_bytes(item) for item in items])
    return {from_bytes(item): describe(row) for item, row in holding.items()}


def refuse_spaces(rows: Rows, tenant: int, spaces: Iterable[int]) -> None:
    """Raise `Refused`, naming the hold, if one keeps anything of these spaces."""
    holds = holds_of(rows, tenant)
    for space in spaces:
        if (row := holds.space(space)) is not None:
            raise Refused(f"something of what would go {describe(row)}")


def describe(row: HoldRow) -> str:
    """Say of something that it is held, by which hold and why."""
    why = f" ({row.reason})" if row.reason else ""
    return f"{REFUSAL} {row.id}{why}, set by {row.actor}; `mnemic hold release {row.id}` lifts it"


@dataclass(frozen=True, slots=True, order=True)
class Floor:
    """The last commit that the horizon may move to, and on whose account."""

    seq: int
    why: str


def holders(rows: Rows, tenant: TenantRow) -> list[Floor]:
    """Find all that holds a tenant's horizon, the lowest first."""
    branches = [branch.id for branch in rows.spaces.descents(tenant.id) if branch.parent and branch.owned]
    items_held = [
        Floor(space.base, f"branch {space.branch!r} comes off commit {space.base}; merge or drop it")
        for space in rows.spaces.space_rows(branches)
    ]
    items_held += [
        Floor(
            row.seq,
            f"checkpoint {row.name!r} is of commit {row.seq}; `mnemic checkpoint --drop {quote(row.name)}` lets it go",
        )
        for row in rows.notes.checkpoints(tenant.id)
    ]
    items_held += [Floor(row.seq, f"something {describe(row)}") for row in rows.notes.holds(tenant.id)]
    items_held += [
        Floor(seq, f"lane {name!r} is at work and reads at commit {seq}; wait until it is done")
        for name, seq in rows.lanes.leased(tenant.id)
    ]
    return sorted(items_held)


def horizon_floor(rows: Rows, tenant: TenantRow) -> Floor:
    """Find the lowest of what holds a tenant's horizon; nothing does where its seq is `FOREVER`."""
    return next(iter(holders(rows, tenant)), Floor(FOREVER, "nothing holds it"))
