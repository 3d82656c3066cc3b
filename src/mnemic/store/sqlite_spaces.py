"""Rows of SQLite: tenants, their spaces, the names in a space."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

import apsw

from mnemic.core.scope import SHARED, Shared
from mnemic.store.ledger import GENESIS, space_owner
from mnemic.store.rows import TRUNK, Descent, Line, SpaceRow, TenantRow
from mnemic.store.schema import erase_name_statements, erase_space_statements
from mnemic.store.sqlite_binding import THESE, highest, read_json, spend


class SqliteSpaces:
    """`store.rows.SpaceTables` over one connection."""

    def __init__(self, db: apsw.Connection) -> None:
        self._db = db

    def tenant(self, name: str) -> TenantRow | None:
        return self._tenant(_TENANT + "WHERE t.name = ?", name)

    def tenant_row(self, tenant: int) -> TenantRow:
        row = self._tenant(_TENANT + "WHERE t.id = ?", tenant)
        assert row is not None
        return row

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

    def load_space(self, space: int, tenant: int, user: str | Shared | None, secret: bytes, line: Line = TRUNK) -> None:
        name, shared = (None, 0) if user is None else space_owner(user)
        self._db.execute(_ADD_SPACE, (space, tenant, name, shared, secret, *line))

    def descents(self, tenant: int) -> list[Descent]:
        found = read_json(self._db, _DESCENTS, (tenant,))
        return [Descent(space, parent, bool(shared), bool(owned)) for space, parent, shared, owned in found]

    def drop_space(self, space: int) -> tuple[int, int]:
        bound = {"space": space}
        versions = self._db.execute("SELECT count(*) FROM version WHERE space = :space", bound).get
        links = self._db.execute("SELECT count(*) FROM link WHERE space = :space", bound).get
        last = highest(self._db)
        for statement in _ERASE_SPACE:
            self._db.execute(statement, bound)
        spend(self._db, last)
        return int(versions), int(links)

    def drop_spaces(self, spaces: Sequence[int]) -> None:
        for space in spaces:
            for statement in _DROP_SPACE:
                self._db.execute(statement, {"space": space})

    def _tenant(self, statement: str, key: str | int) -> TenantRow | None:
        row = self._db.execute(statement, (key,)).fetchone()
        return None if row is None else TenantRow._make(row)


class SqliteNames:
    """`store.rows.NameTable` over one connection."""

    def __init__(self, db: apsw.Connection) -> None:
        self._db = db

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

    def load_name(self, name: int, space: int, text: str) -> None:
        self._db.execute("INSERT INTO name(id, space, text) VALUES (?, ?, ?)", (name, space, text))

    def name_numbers(self, space: int, after: int, limit: int) -> list[int]:
        return sorted(read_json(self._db, _NAME_NUMBERS, (space, after, limit)))

    def drop_names(self, space: int, names: Sequence[int]) -> None:
        self._db.execute(_DROP_NAMES, (space, json.dumps(list(names))))

    def drop_bare_name(self, space: int, text: str) -> None:
        for statement in _ERASE_NAME:
            self._db.execute(statement, {"space": space, "text": text})


_TENANT: Final = (
    "SELECT t.id, t.name, ifnull(c.seq, 0), ifnull(c.at, 0), ifnull(c.hash, zeroblob(32)), t.horizon, t.horizon_hash"
    " FROM tenant t LEFT JOIN change c"
    " ON c.tenant = t.id AND c.seq = (SELECT max(seq) FROM change WHERE tenant = t.id) "
)
_SPACE: Final = "SELECT id, tenant, user, shared, secret, seq, epoch, parent, base, branch, lanes FROM space "
_ADD_SPACE: Final = (
    "INSERT INTO space(id, tenant, user, shared, secret, seq, epoch, parent, base, branch, lanes)"
    " VALUES (?, ?, ?, ?, ?, 0, 0, ?, ?, ?, ?)"
)


def _space(row: Sequence[Any]) -> SpaceRow:
    space, tenant, user, shared, secret, seq, epoch, parent, base, branch, lanes = row
    owner = SHARED if shared else user
    return SpaceRow(space, tenant, owner, secret, seq, epoch, parent, base, branch, bool(lanes))


_DESCENTS: Final = (
    "SELECT json_group_array(json_array(id, parent, shared, user IS NOT NULL OR shared)) FROM space WHERE tenant = ?"
)
_NAME_NUMBERS: Final = (
    "SELECT json_group_array(id) FROM (SELECT id FROM name WHERE space = ? AND id > ? ORDER BY id LIMIT ?)"
)
# A session's page table is kept by its name's number, turns or not.
_DROP_NAMES: Final = (
    "DELETE FROM name WHERE +space = ?1 AND id"
    + THESE
    + " AND NOT EXISTS (SELECT 1 FROM session s WHERE s.space = name.space AND s.session = name.id)"
)
_DROP_SPACE: Final = (
    *erase_space_statements(),
    # Its number is never given to another: a cache of some process may still hold what it held.
    "UPDATE space SET tenant = 0, parent = 0 WHERE id = :space",
)
_ERASE_NAME: Final = erase_name_statements()
_ERASE_SPACE: Final = tuple(erase_space_statements())
