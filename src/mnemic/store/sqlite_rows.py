"""Rows in SQLite: each method one statement with bound parameters, nothing of a user's ever in the statement."""

from __future__ import annotations

from typing import Final

import apsw

from mnemic.core.clock import Clock
from mnemic.core.ids import Entropy
from mnemic.store.schema import erase_item_statements, erase_name_statements, erase_space_statements
from mnemic.store.sqlite_items import SqliteItems, spend
from mnemic.store.sqlite_journal import SqliteJournal
from mnemic.store.sqlite_lanes import SqliteLanes
from mnemic.store.sqlite_links import SqliteLinks
from mnemic.store.sqlite_pages import SqlitePages
from mnemic.store.sqlite_rewind import SqliteRewound
from mnemic.store.sqlite_spaces import SqliteSpaces
from mnemic.store.sqlite_spent import SqliteSpent

_ERASE_ITEM: Final = tuple(erase_item_statements())
_ERASE_NAME: Final = erase_name_statements()
_ERASE_SPACE: Final = tuple(erase_space_statements())


class SqliteRows(
    SqliteSpaces,
    SqliteJournal,
    SqliteItems,
    SqliteLinks,
    SqliteLanes,
    SqlitePages,
    SqliteSpent,
    SqliteRewound,
):
    """`store.rows.Rows` over one connection, inside the transaction it has open."""

    def __init__(self, db: apsw.Connection, clock: Clock, entropy: Entropy) -> None:
        self._db, self._clock, self.entropy = db, clock, entropy

    def now(self) -> int:
        return self._clock.now()

    def drop_item(self, space: int, item: bytes, seq: int) -> tuple[int, int]:
        bound = {"space": space, "item": item}
        versions = self._db.execute("SELECT count(*) FROM version WHERE space = :space AND id = :item", bound).get
        links = self._db.execute(
            "SELECT count(*) FROM link WHERE space = :space AND (src = :item OR dst = :item)", bound
        ).get
        highest = self.highest()
        for statement in _ERASE_ITEM:
            self._db.execute(statement, bound)
        spend(self._db, highest)
        self.add_tomb(space, item, seq)
        return int(versions), int(links)

    def drop_bare_name(self, space: int, text: str) -> None:
        for statement in _ERASE_NAME:
            self._db.execute(statement, {"space": space, "text": text})

    def drop_space(self, space: int) -> tuple[int, int]:
        bound = {"space": space}
        versions = self._db.execute("SELECT count(*) FROM version WHERE space = :space", bound).get
        links = self._db.execute("SELECT count(*) FROM link WHERE space = :space", bound).get
        highest = self.highest()
        for statement in _ERASE_SPACE:
            self._db.execute(statement, bound)
        spend(self._db, highest)
        return int(versions), int(links)
