"""What an erasure leaves in a PostgreSQL server's files, and rewriting tables so that it goes from them.

A row that was deleted stays in its page, and a long value in its TOAST table, until the table is rewritten: VACUUM
alone removes no byte. Every change of it stands in the write-ahead log besides, until its segment is used again.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

from mnemic.store.postgres.postgres_schema import BY_NAME, PARTITIONS, SCHEMA, TABLES
from mnemic.store.postgres.server_connections import driver
from mnemic.store.postgres.transaction import ACROSS, ServerTransaction

if TYPE_CHECKING:
    from psycopg import Connection

OUTSIDE: Final = (
    "the server's write-ahead log until its segments are used again, and what was archived of it",
    "replicas, until they have replayed the rewriting",
    "base backups and dumps of the database (what is brought back from one is to be erased again)",
    "another server that the tenant is being moved to: a copy that is not whole, until the move is run again",
    "servers that the tenant was moved from: its name, until its bucket comes back",
)
"""What no rewriting reaches, for the receipt."""
LEFT: Final = ("tables of the database: rewritten by `mnemic verify`, which locks each meanwhile",)

_OWED: Final = "residue:"
_KEYS: Final = f'SELECT "key" FROM {SCHEMA}."meta" WHERE "key" LIKE %s'
_PATIENCE: Final = "5s"
"""How long a table is waited for, while nobody may use it, before it is left for another time."""


def owe(transaction: ServerTransaction, tenants: Iterable[int]) -> None:
    """Note, in the erasure's own transaction, that the tables with rows of these tenants are to be rewritten."""
    for number in sorted(tenants):
        transaction.tell(
            ACROSS,
            f'INSERT INTO {SCHEMA}."meta" VALUES (%s, %s) ON CONFLICT ("key") DO NOTHING',
            (f"{_OWED}{number}", b"1"),
        )


def is_owed(transaction: ServerTransaction) -> bool:
    """Whether tables are still to be rewritten."""
    return bool(transaction.ask(ACROSS, _KEYS, (_OWED + "%",)))


def settle(db: Connection[Any]) -> bool:
    """Rewrite every table that an erasure left bytes in; whether all were, and nothing is owed any more.

    Args:
        db: A connection of its own, outside of any transaction.
    """
    errors = driver().errors
    keys = db.execute(_KEYS, (_OWED + "%",)).fetchall()
    owed = {int(key.removeprefix(_OWED)): key for (key,) in keys}
    if not owed:
        return True
    db.execute("SELECT set_config('lock_timeout', %s, false)", (_PATIENCE,))
    try:
        for relation in _relations(db, sorted(owed)):
            db.execute(f"VACUUM FULL {relation}".encode())
    except (errors.LockNotAvailable, errors.InsufficientPrivilege):
        return False
    for key in owed.values():
        db.execute(f'DELETE FROM {SCHEMA}."meta" WHERE "key" = %s', (key,))
    return True


def _relations(db: Connection[Any], tenants: list[int]) -> list[str]:
    """The tables, and of large ones the partitions, that hold rows of these tenants."""
    names = [table.full_name for table in TABLES if not table.large]
    for name in (table.name for table in TABLES if table.large):
        rows = db.execute(
            f"SELECT DISTINCT p FROM generate_series(0, {PARTITIONS - 1}) p, unnest(%s::bigint[]) t"
            f" WHERE satisfies_hash_partition(to_regclass('{BY_NAME[name].full_name}'), {PARTITIONS}, p, t)",
            (tenants,),
        )
        names += [f'{SCHEMA}."{name}_{part:02}"' for (part,) in rows]
    return names
