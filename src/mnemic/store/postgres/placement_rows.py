"""Rows of `meta` about placement: which buckets this server keeps, and, on the first of them, the table of all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from mnemic.store.postgres.postgres_schema import SCHEMA
from mnemic.store.postgres.transaction import ACROSS, READ_META, ServerTransaction, elsewhere
from mnemic.store.values.buckets import Kept, Placement

if TYPE_CHECKING:
    from psycopg import Cursor

_KEPT: Final = "kept"
_PLACEMENT: Final = "placement"
_WRITE: Final = (
    f'INSERT INTO {SCHEMA}."meta" VALUES (%s, %s) ON CONFLICT ("key") DO UPDATE SET "value" = excluded."value"'
)


def kept(transaction: ServerTransaction) -> Kept | None:
    """What the server keeps; None where it is one of no placement, and keeps all."""
    value = _read(transaction, _KEPT)
    return None if value is None else Kept.read(value)


def set_kept(transaction: ServerTransaction, now: Kept) -> None:
    """Change what is kept, when nobody is under way to make a tenant."""
    transaction.alone()
    transaction.tell(ACROSS, _WRITE, (_KEPT, now.written()))


def placement(transaction: ServerTransaction) -> Placement | None:
    """The table; None where this server has none. A transaction that writes has it alone."""
    if transaction.writes:
        transaction.alone()
    value = _read(transaction, _PLACEMENT)
    return None if value is None else Placement.read(value)


def set_placement(transaction: ServerTransaction, table: Placement) -> None:
    transaction.tell(ACROSS, _WRITE, (_PLACEMENT, table.written()))


def ask_kept(transaction: ServerTransaction) -> Cursor[Any]:
    """Ask what the server keeps, without waiting for the answer (`refuse_elsewhere`)."""
    return transaction.send(ACROSS, READ_META, (_KEPT,))


def refuse_elsewhere(transaction: ServerTransaction, sent: Cursor[Any], tenant: str) -> None:
    """Refuse to look for, or to make, a tenant that is not here where this server does not keep its bucket.

    Args:
        sent: The question what is kept, which went out with others.

    Raises:
        TenantElsewhere: it is of another server.
    """
    rows = transaction.rows_of(sent)
    if rows and not Kept.read(bytes(rows[0][0])).has(tenant):
        raise elsewhere(transaction, "", tenant)


def _read(transaction: ServerTransaction, key: str) -> bytes | None:
    rows = transaction.ask(ACROSS, READ_META, (key,))
    return bytes(rows[0][0]) if rows else None
