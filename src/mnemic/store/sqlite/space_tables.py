"""Rows of SQLite: tenants, their spaces, the names in a space."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

from mnemic.store.engine.rows import Names, Spaces
from mnemic.store.sqlite.binding import THESE, highest, read_json, spend
from mnemic.store.sqlite.schema import erase_name_statements, erase_space_statements
from mnemic.store.sqlite.sqlite_relations import SqliteGroup
from mnemic.store.values.row_values import Descent, TenantRow


class SqliteSpaces(SqliteGroup, Spaces):
    """SQLite's own statements about tenants and spaces."""

    def tenants(self, *, name: str | None = None, number: int = 0) -> list[TenantRow]:
        if name is not None:
            found = self._db.execute(_TENANT + "WHERE t.name = ?", (name,))
        elif number:
            found = self._db.execute(_TENANT + "WHERE t.id = ?", (number,))
        else:
            found = self._db.execute(_TENANT + "ORDER BY t.id")
        return [TenantRow._make(row) for row in found]

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


class SqliteNames(SqliteGroup, Names):
    """SQLite's own statements about names."""

    def name_numbers(self, space: int, after: int, limit: int) -> list[int]:
        return sorted(read_json(self._db, _NAME_NUMBERS, (space, after, limit)))  # a slice asks this, for many at once

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
_ERASE_NAME: Final = erase_name_statements()
_ERASE_SPACE: Final = tuple(erase_space_statements())
