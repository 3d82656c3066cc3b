"""Rows of a group commit: what many callers look up and move alike is held for the length of the transaction."""

from __future__ import annotations

import apsw

from mnemic.core.clock import Clock
from mnemic.core.ids import Entropy
from mnemic.core.scope import Shared
from mnemic.store.rows import ChangeRow, SpaceRow, TenantRow
from mnemic.store.sqlite_rows import SqliteRows


class GroupRows(SqliteRows):
    """`SqliteRows` that asks once for each tenant, space and name, and writes each space's head once, in `finish`.

    Nobody else writes meanwhile, so nothing held can go stale; a transaction that is rolled back takes its rows along.
    """

    def __init__(self, db: apsw.Connection, clock: Clock, entropy: Entropy) -> None:
        super().__init__(db, clock, entropy)
        self._tenants: dict[str, TenantRow] = {}
        self._spaces: dict[tuple[int, str | Shared, str], SpaceRow] = {}
        self._moved: dict[int, SpaceRow] = {}
        self._numbers: dict[tuple[int, str], int] = {}

    def tenant(self, name: str) -> TenantRow | None:
        row = self._tenants.get(name) or super().tenant(name)
        if row is not None:
            self._tenants[name] = row
        return row

    def space(self, tenant: int, user: str | Shared, branch: str = "") -> SpaceRow | None:
        row = self._spaces.get((tenant, user, branch)) or super().space(tenant, user, branch)
        if row is not None:
            self._spaces[tenant, user, branch] = row
        return row

    def set_space(self, row: SpaceRow) -> None:
        assert row.user is not None
        self._spaces[row.tenant, row.user, row.branch] = self._moved[row.id] = row

    def name(self, space: int, text: str) -> int | None:
        number = self._numbers.get((space, text)) or super().name(space, text)
        if number is not None:
            self._numbers[space, text] = number
        return number

    def add_change(self, row: ChangeRow) -> None:
        super().add_change(row)
        for name, tenant in self._tenants.items():
            if tenant.id == row.tenant:
                self._tenants[name] = tenant._replace(seq=row.seq, at=row.at, hash=row.hash)

    def finish(self) -> None:
        """Write what has been held back; the last thing before the commit."""
        for row in self._moved.values():
            super().set_space(row)
