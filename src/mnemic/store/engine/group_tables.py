"""What a group commit looks up once for all of its callers, and writes once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from mnemic.core.scope import Shared
from mnemic.store.engine.rows import JournalTables, LaneTables, NameTables, SpaceTables
from mnemic.store.values.row_values import ChangeRow, NameRow, SpaceRow, TenantRow

KNOWN: Final = 10_000
"""Most names that a writer remembers from one transaction to the next."""


class GroupTables(SpaceTables, NameTables, JournalTables, LaneTables):
    """Spaces, names, journal and lanes of group commits: they look up each tenant, space and name once for all callers.

    Once every lane is to look at a space now, it is not written down again.

    Each space's head is written once, in `finish`. What was read holds until somebody else writes: another process, or
    this one beside the queue; the store knows of it. A store mixes this in before groups of its own.
    """

    def forget(self) -> None:
        """Read all anew: somebody else may have written."""
        self._tenants: dict[str, TenantRow] = {}
        self._tenant_names: dict[int, str] = {}
        self._spaces: dict[tuple[int, str | Shared, str], SpaceRow] = {}
        self._names: dict[tuple[int, str], NameRow] = {}
        self._due: set[int] = set()

    def begin_group(self) -> None:
        """Start on a transaction, with what is known from the one before."""
        self._moved: dict[int, SpaceRow] = {}

    @property
    def knows_many(self) -> bool:
        """Whether it remembers more names than are worth it."""
        return len(self._names) > KNOWN

    def tenant(self, name: str) -> TenantRow | None:
        row = self._tenants.get(name) or super().tenant(name)
        if row is not None:
            self._tenants[name], self._tenant_names[row.id] = row, name
        return row

    def space(self, tenant: int, user: str | Shared, branch: str = "") -> SpaceRow | None:
        row = self._spaces.get((tenant, user, branch)) or super().space(tenant, user, branch)
        if row is not None:
            self._spaces[tenant, user, branch] = row
        return row

    def set_space(self, row: SpaceRow) -> None:
        assert row.user is not None
        self._spaces[row.tenant, row.user, row.branch] = self._moved[row.id] = row

    def name_row(self, space: int, text: str) -> NameRow | None:
        row = self._names.get((space, text)) or super().name_row(space, text)
        if row is not None:
            self._names[space, text] = row
        return row

    def add_name(self, space: int, text: str) -> NameRow:
        row = self._names[space, text] = super().add_name(space, text)
        return row

    def add_change(self, row: ChangeRow) -> None:
        super().add_change(row)
        if (name := self._tenant_names.get(row.tenant)) is not None:
            self._tenants[name] = self._tenants[name]._replace(seq=row.seq, at=row.at, hash=row.hash)

    def make_due(self, space: int) -> None:
        if space not in self._due:
            super().make_due(space)  # type: ignore[safe-super]  # a store mixes this in before its own
            self._due.add(space)

    def put_off(self, name: str, space: int, at: int) -> None:
        self._due.discard(space)
        super().put_off(name, space, at)

    def drop_due(self, name: str, spaces: Sequence[int]) -> None:
        self._due.difference_update(spaces)
        super().drop_due(name, spaces)

    def finish(self) -> None:
        """Write the heads of the spaces that have moved; the last thing before the commit."""
        for row in self._moved.values():
            super().set_space(row)
