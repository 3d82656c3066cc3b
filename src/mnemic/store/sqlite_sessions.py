"""Rows of SQLite: sessions and the pages of their windows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

import apsw

from mnemic.core.ids import from_bytes, to_bytes
from mnemic.store.pages import PageRow, SessionRow


class SqliteSessions:
    """`store.rows.SessionTables` over one connection."""

    def __init__(self, db: apsw.Connection) -> None:
        self._db = db

    def session(self, space: int, session: int) -> SessionRow | None:
        row = self._db.execute("SELECT * FROM session WHERE space = ? AND session = ?", (space, session)).fetchone()
        return None if row is None else SessionRow._make(row)

    def sessions(self, space: int) -> list[SessionRow]:
        return [SessionRow._make(row) for row in self._db.execute("SELECT * FROM session WHERE space = ?", (space,))]

    def set_session(self, row: SessionRow) -> None:
        self._db.execute("REPLACE INTO session VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", tuple(row))

    def pages(self, space: int, session: int, items: Sequence[bytes] | None) -> list[PageRow]:
        if items is None:
            found = list(self._db.execute(_PAGES + _AT_HAND, (space, session)))
        else:
            found = [row for item in items for row in self._db.execute(_PAGES + "AND item = ?", (space, session, item))]
        return sorted((_page(row) for row in found), key=lambda row: (row.arrived, row.position, row.item))

    def put_pages(self, space: int, session: int, pages: Iterable[PageRow]) -> None:
        rows = [(space, session, to_bytes(row.item), *row[1:]) for row in pages]
        self._db.executemany("REPLACE INTO page VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)


_PAGES: Final = (
    "SELECT item, resident, tokens, born, last_use, uses, arrived, pinned, position, segment, importance, novelty,"
    " entities FROM page WHERE space = ? AND session = ? "
)
_AT_HAND: Final = "AND (resident OR (segment < 0 AND position >= 0))"
"""As the index `page_at_hand` has it."""


def _page(row: Sequence[Any]) -> PageRow:
    return PageRow._make((from_bytes(row[0]), bool(row[1]), *row[2:7], bool(row[7]), *row[8:]))
