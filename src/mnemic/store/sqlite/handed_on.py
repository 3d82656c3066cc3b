"""Restoring hands the legal holds, checkpoints and credentials of the store that is replaced on to the backup."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from mnemic.core.ids import from_bytes
from mnemic.core.scope import Shared
from mnemic.errors import Refused, StoreCorrupt
from mnemic.store.engine import holds
from mnemic.store.engine.rows import Rows
from mnemic.store.sqlite.location import CHECKPOINTS
from mnemic.store.values.heads import CheckpointRow
from mnemic.store.values.row_values import CredentialRow, HoldRow, TenantRow

Owner = tuple[str, str | Shared | None]
"""Tenant and user; None for the whole tenant."""
Written = tuple[bytes, ...]
"""The content of a version or a link: the ids it is about, then its body."""
_OR_LATER: Final = "or restore a backup that was taken later"


@dataclass(frozen=True, slots=True)
class Handover:
    """Hands the holds, checkpoints and credentials of a replaced store on to the copy that takes its place.

    Attributes:
        origin: The name that the store has in common with its copies.
        holds: Each hold with whose memory it is about.
        held_contents: The contents under a hold by owner, each with the reason to give for keeping it.
        checkpoints: Each with its tenant's name.
        credentials: All of them: what was revoked since the backup stays so, and what was made since still opens.
    """

    origin: str
    holds: tuple[tuple[Owner, HoldRow], ...]
    held_contents: dict[Owner, dict[Written, str]]
    checkpoints: tuple[tuple[str, CheckpointRow], ...]
    credentials: tuple[CredentialRow, ...]

    def lift(self, copy: Rows, origin: str) -> None:
        """Take the holds out of a copy of the same store: some may have been released since."""
        for row in (
            [row for tenant in copy.spaces.tenants() for row in copy.notes.holds(tenant.id)]
            if origin == self.origin
            else ()
        ):
            copy.notes.drop_hold(row.tenant, row.id)

    def hand_on(self, copy: Rows, origin: str, folder: Path) -> None:
        """Write it all to a copy that lies in `folder`; holds keep their numbers where it is one of the same store.

        Raises:
            Refused: the copy lacks some content that is under a hold, or the user whom a hold is about.
        """
        for owner, written in self.held_contents.items():
            there = set(_written_of(copy, owner))
            for content, reason in written.items():
                if content not in there:
                    raise Refused(
                        f"the backup lacks some of item {from_bytes(content[0])}, which {reason}; {_OR_LATER}"
                    )
        for owner, row in self.holds:
            moved = _moved(copy, owner, row)
            if origin == self.origin:
                copy.notes.set_hold(moved)
            else:
                copy.notes.add_hold(moved)
        self._list_checkpoints(copy, folder / CHECKPOINTS)
        copy.notes.drop_credentials()
        for credential in self.credentials:
            copy.notes.set_credential(credential)

    def _list_checkpoints(self, copy: Rows, folder: Path) -> None:
        tenants = {tenant.name: tenant.id for tenant in copy.spaces.tenants()}
        own = [row for tenant in tenants.values() for row in copy.notes.checkpoints(tenant)]
        known = {row.name for _, row in self.checkpoints}
        for name in {row.name for row in own if row.name in known or not row.within(folder).exists()}:
            copy.notes.drop_checkpoint(name)
        listed = ((tenants.get(name), row) for name, row in self.checkpoints)
        copy.notes.add_checkpoints([row._replace(tenant=tenant) for tenant, row in listed if tenant is not None])


def handover(rows: Rows, origin: str) -> Handover:
    """Read the holds, the contents under them, the sound checkpoints and the credentials of a store."""
    tenants = [(tenant, tenant.name) for tenant in rows.spaces.tenants() if tenant.name is not None]
    hold_rows = [(owner, row) for tenant, name in tenants for owner, row in _holds(rows, tenant, name)]
    held_contents: dict[Owner, dict[Written, str]] = {}
    for tenant, name in tenants:
        for owner, content, reason in _held(rows, tenant, name):
            held_contents.setdefault(owner, {})[content] = reason
    checkpoints = tuple((name, row) for tenant, name in tenants for row in _sound_checkpoints(rows, tenant.id))
    return Handover(origin, tuple(hold_rows), held_contents, checkpoints, tuple(rows.notes.credentials()))


def _sound_checkpoints(rows: Rows, tenant: int) -> Iterator[CheckpointRow]:
    """List a tenant's checkpoints without rows that name a file elsewhere: these must not block a restore."""
    for row in rows.notes.checkpoints(tenant):
        with suppress(StoreCorrupt):
            row.within(Path())
            yield row


def _holds(rows: Rows, tenant: TenantRow, name: str) -> Iterator[tuple[Owner, HoldRow]]:
    users = {row.id: row.user for row in rows.spaces.tenant_spaces(tenant.id)}
    for row in rows.notes.holds(tenant.id):
        yield (name, users.get(row.space)), row


def _held(rows: Rows, tenant: TenantRow, name: str) -> Iterator[tuple[Owner, Written, str]]:
    standing = holds.holds_of(rows, tenant.id)
    for space in rows.spaces.tenant_spaces(tenant.id) if standing.holds else ():
        by: dict[bytes, HoldRow | None] = {}
        for content in _written(rows, space.id):
            for item in content[:-1]:
                if item not in by:
                    by[item] = standing.item(space.id, item, holds.sessions_of(rows, space.id, [item])[item])
                if (row := by[item]) is not None:
                    yield (name, space.user), content, holds.describe(row)


def _written(rows: Rows, space: int) -> Iterator[Written]:
    for version in rows.items.all_versions(space):
        yield version.id, version.body
    for link in rows.links.all_links(space):
        yield link.src, link.dst, link.body


def _written_of(rows: Rows, owner: Owner) -> Iterator[Written]:
    tenant = rows.spaces.tenant(owner[0])
    for space in [] if tenant is None else rows.spaces.tenant_spaces(tenant.id):
        if space.user == owner[1]:
            yield from _written(rows, space.id)


def _moved(rows: Rows, owner: Owner, row: HoldRow) -> HoldRow:
    tenant = rows.spaces.tenant(owner[0])
    space = None if tenant is None or owner[1] is None else rows.spaces.space(tenant.id, owner[1])
    if tenant is None or (owner[1] is not None and space is None):
        raise Refused(f"somebody who is not in the backup has something that {holds.describe(row)}; {_OR_LATER}")
    return row._replace(tenant=tenant.id, space=0 if space is None else space.id, seq=min(row.seq, tenant.seq))
