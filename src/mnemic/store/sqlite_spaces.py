"""Rows of SQLite: tenants, their spaces, the names in a space."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import apsw

from mnemic.core.scope import SHARED, Shared
from mnemic.store.ledger import GENESIS, space_owner
from mnemic.store.rows import (
    TRUNK,
    Line,
    SpaceRow,
    TenantRow,
)

_TENANT: Final = (
    "SELECT t.id, t.name, ifnull(c.seq, 0), ifnull(c.at, 0), ifnull(c.hash, zeroblob(32)), t.horizon, t.horizon_hash"
    " FROM tenant t LEFT JOIN change c"
    " ON c.tenant = t.id AND c.seq = (SELECT max(seq) FROM change WHERE tenant = t.id) "
)
_SPACE: Final = "SELECT id, tenant, user, shared, secret, seq, epoch, parent, base, branch, lanes FROM space "


class SqliteSpaces:
    """The part of `store.rows.Rows` that says whose memory it is."""

    _db: apsw.Connection

    def tenant(self, name: str) -> TenantRow | None:
        return self._tenant(_TENANT + "WHERE t.name = ?", name)

    def tenant_row(self, tenant: int) -> TenantRow:
        row = self._tenant(_TENANT + "WHERE t.id = ?", tenant)
        assert row is not None
        return row

    def _tenant(self, statement: str, key: str | int) -> TenantRow | None:
        row = self._db.execute(statement, (key,)).fetchone()
        return None if row is None else TenantRow._make(row)

    def tenants(self) -> list[TenantRow]:
        return [TenantRow._make(row) for row in self._db.execute(_TENANT + "ORDER BY t.id")]

    def add_tenant(self, name: str) -> TenantRow:
        self._db.execute("INSERT INTO tenant(name, horizon, horizon_hash) VALUES (?, 0, ?)", (name, GENESIS))
        return self.tenant_row(self._db.last_insert_rowid())

    def set_tenant(self, row: TenantRow) -> None:
        # The head of a journal is its last commit, read from there: a write more would dirty a page more.
        self._db.execute(
            "UPDATE tenant SET name = ?2, horizon = ?3, horizon_hash = ?4"
            " WHERE id = ?1 AND (name IS NOT ?2 OR horizon <> ?3)",
            (row.id, row.name, row.horizon, row.horizon_hash),
        )

    def space(self, tenant: int, user: str | Shared, branch: str = "") -> SpaceRow | None:
        if isinstance(user, Shared):
            row = self._db.execute(_SPACE + "WHERE tenant = ? AND branch = ? AND shared", (tenant, branch)).fetchone()
        else:
            found = self._db.execute(_SPACE + "WHERE tenant = ? AND user = ? AND branch = ?", (tenant, user, branch))
            row = found.fetchone()
        return None if row is None else _space(row)

    def space_rows(self, ids: Sequence[int]) -> list[SpaceRow]:
        return [_space(row) for space in ids for row in self._db.execute(_SPACE + "WHERE id = ?", (space,))]

    def tenant_spaces(self, tenant: int) -> list[SpaceRow]:
        return [_space(row) for row in self._db.execute(_SPACE + "WHERE tenant = ? ORDER BY id", (tenant,))]

    def add_space(self, tenant: int, user: str | Shared, secret: bytes, line: Line = TRUNK) -> SpaceRow:
        name, shared = space_owner(user)
        self._db.execute(_ADD_SPACE, (None, tenant, name, shared, secret, *line))
        return self.space_rows((self._db.last_insert_rowid(),))[0]

    def set_space(self, row: SpaceRow) -> None:
        self._db.execute("UPDATE space SET seq = ?2, epoch = ?3 WHERE id = ?1", (row.id, row.seq, row.epoch))

    def name(self, space: int, text: str) -> int | None:
        row = self._db.execute("SELECT id FROM name WHERE space = ? AND text = ?", (space, text)).fetchone()
        return None if row is None else int(row[0])

    def name_text(self, name: int) -> str | None:
        row = self._db.execute("SELECT text FROM name WHERE id = ?", (name,)).fetchone()
        return None if row is None else str(row[0])

    def names(self, space: int) -> list[tuple[int, str]]:
        return list(self._db.execute("SELECT id, text FROM name WHERE space = ? ORDER BY id", (space,)))

    def add_name(self, space: int, text: str) -> int:
        self._db.execute("INSERT INTO name(space, text) VALUES (?, ?)", (space, text))
        return self._db.last_insert_rowid()

    def load_space(self, space: int, tenant: int, user: str | Shared | None, secret: bytes, line: Line = TRUNK) -> None:
        name, shared = (None, 0) if user is None else space_owner(user)
        self._db.execute(_ADD_SPACE, (space, tenant, name, shared, secret, *line))

    def load_name(self, name: int, space: int, text: str) -> None:
        self._db.execute("INSERT INTO name(id, space, text) VALUES (?, ?, ?)", (name, space, text))


_ADD_SPACE: Final = (
    "INSERT INTO space(id, tenant, user, shared, secret, seq, epoch, parent, base, branch, lanes)"
    " VALUES (?, ?, ?, ?, ?, 0, 0, ?, ?, ?, ?)"
)


def _space(row: Sequence[Any]) -> SpaceRow:
    space, tenant, user, shared, secret, seq, epoch, parent, base, branch, lanes = row
    owner = SHARED if shared else user
    return SpaceRow(space, tenant, owner, secret, seq, epoch, parent, base, branch, bool(lanes))
