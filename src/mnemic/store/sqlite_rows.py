"""Rows in SQLite: each method one statement with bound parameters, nothing of a user's ever in the statement."""

from __future__ import annotations

import apsw

from mnemic.core.clock import Clock
from mnemic.core.ids import Entropy
from mnemic.store.rows import Rows
from mnemic.store.sqlite_items import SqliteItems
from mnemic.store.sqlite_journal import SqliteJournal, SqliteNotes
from mnemic.store.sqlite_lanes import SqliteLanes
from mnemic.store.sqlite_links import SqliteLinks
from mnemic.store.sqlite_past import SqlitePast
from mnemic.store.sqlite_sessions import SqliteSessions
from mnemic.store.sqlite_spaces import SqliteNames, SqliteSpaces
from mnemic.store.sqlite_vectors import SqliteVectors


def sqlite_rows(db: apsw.Connection, clock: Clock, entropy: Entropy) -> Rows:
    """The rows of a database, inside the transaction that its connection has open."""
    return Rows(
        spaces=SqliteSpaces(db),
        names=SqliteNames(db),
        journal=SqliteJournal(db),
        items=SqliteItems(db),
        links=SqliteLinks(db),
        vectors=SqliteVectors(db),
        lanes=SqliteLanes(db),
        sessions=SqliteSessions(db),
        past=SqlitePast(db),
        notes=SqliteNotes(db),
        clock=clock,
        entropy=entropy,
    )
