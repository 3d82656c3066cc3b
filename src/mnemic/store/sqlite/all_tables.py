"""The rows of a SQLite database: its relations, and the groups that are made over them."""

from __future__ import annotations

import apsw

from mnemic.core.clock import Clock
from mnemic.core.ids import Entropy
from mnemic.store.engine.rows import Links, Notes
from mnemic.store.sqlite.item_tables import SqliteItems
from mnemic.store.sqlite.past_tables import SqlitePast
from mnemic.store.sqlite.space_tables import SqliteNames, SqliteSpaces
from mnemic.store.sqlite.sqlite_relations import SqliteRelations
from mnemic.store.sqlite.work_tables import SqliteJournal, SqliteLanes, SqliteSessions, SqliteVectors
from mnemic.store.values.row_values import Rows


def sqlite_rows(db: apsw.Connection, clock: Clock, entropy: Entropy) -> Rows:
    """The rows of a database, inside the transaction that its connection has open."""
    relations = SqliteRelations(db)
    return rows_of(relations, SqliteSpaces(relations), SqliteNames(relations), SqliteJournal(relations), clock, entropy)


def rows_of(
    relations: SqliteRelations,
    spaces: SqliteSpaces,
    names: SqliteNames,
    journal: SqliteJournal,
    clock: Clock,
    entropy: Entropy,
) -> Rows:
    """Rows with these groups, and the others as they come."""
    return Rows(
        spaces=spaces,
        names=names,
        journal=journal,
        items=SqliteItems(relations),
        links=Links(relations),
        vectors=SqliteVectors(relations),
        lanes=SqliteLanes(relations),
        sessions=SqliteSessions(relations),
        past=SqlitePast(relations),
        notes=Notes(relations),
        clock=clock,
        entropy=entropy,
    )
