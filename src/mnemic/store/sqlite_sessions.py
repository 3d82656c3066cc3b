"""Rows of SQLite: sessions and the pages of their windows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from mnemic.core.ids import from_bytes, to_bytes
from mnemic.store.groups import Sessions
from mnemic.store.pages import PageRow
from mnemic.store.sqlite_relations import SqliteGroup


class SqliteSessions(SqliteGroup, Sessions):
    """Statements of SQLite for what joins, counts, or walks by an index of its own."""

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
