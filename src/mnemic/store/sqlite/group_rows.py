"""Rows of a group commit: what many callers look up and move alike is held for the length of the transaction."""

from __future__ import annotations

import apsw

from mnemic.core.clock import Clock
from mnemic.core.ids import Entropy
from mnemic.core.scope import Shared
from mnemic.store.sqlite.all_tables import rows_of
from mnemic.store.sqlite.space_tables import SqliteNames, SqliteSpaces
from mnemic.store.sqlite.sqlite_relations import SqliteRelations
from mnemic.store.sqlite.work_tables import SqliteJournal
from mnemic.store.values.row_values import ChangeRow, Rows, SpaceRow, TenantRow


class GroupSpaces(SqliteSpaces):
    """Asks once for each tenant and space, and writes each space's head once, in `finish`.

    Nobody else writes meanwhile, so nothing held can go stale; a transaction that is rolled back takes its rows along.
    """

    def __init__(self, relations: SqliteRelations) -> None:
        super().__init__(relations)
        self._held: dict[str, TenantRow] = {}
        self._spaces: dict[tuple[int, str | Shared, str], SpaceRow] = {}
        self._moved: dict[int, SpaceRow] = {}

    def tenant(self, name: str) -> TenantRow | None:
        row = self._held.get(name) or super().tenant(name)
        if row is not None:
            self._held[name] = row
        return row

    def space(self, tenant: int, user: str | Shared, branch: str = "") -> SpaceRow | None:
        row = self._spaces.get((tenant, user, branch)) or super().space(tenant, user, branch)
        if row is not None:
            self._spaces[tenant, user, branch] = row
        return row

    def set_space(self, row: SpaceRow) -> None:
        assert row.user is not None
        self._spaces[row.tenant, row.user, row.branch] = self._moved[row.id] = row

    def follow(self, change: ChangeRow) -> None:
        """Move the head of a tenant that is held."""
        for name, tenant in self._held.items():
            if tenant.id == change.tenant:
                self._held[name] = tenant._replace(seq=change.seq, at=change.at, hash=change.hash)

    def finish(self) -> None:
        """Write what has been held back; the last thing before the commit."""
        for row in self._moved.values():
            super().set_space(row)


class GroupNames(SqliteNames):
    """Asks once for each name."""

    def __init__(self, relations: SqliteRelations) -> None:
        super().__init__(relations)
        self._numbers: dict[tuple[int, str], int] = {}

    def name(self, space: int, text: str) -> int | None:
        number = self._numbers.get((space, text)) or super().name(space, text)
        if number is not None:
            self._numbers[space, text] = number
        return number


class GroupJournal(SqliteJournal):
    """Tells the spaces of each commit."""

    def __init__(self, relations: SqliteRelations, spaces: GroupSpaces) -> None:
        super().__init__(relations)
        self._spaces = spaces

    def add_change(self, row: ChangeRow) -> None:
        super().add_change(row)
        self._spaces.follow(row)


def group_rows(db: apsw.Connection, clock: Clock, entropy: Entropy) -> tuple[Rows, GroupSpaces]:
    """The rows of a group commit, and what is to be finished before it ends."""
    relations = SqliteRelations(db)
    spaces = GroupSpaces(relations)
    rows = rows_of(relations, spaces, GroupNames(relations), GroupJournal(relations, spaces), clock, entropy)
    return rows, spaces
