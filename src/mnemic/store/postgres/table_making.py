"""Make the tables of a PostgreSQL store, or bring them up to date; once, however many processes begin at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from mnemic.core.ids import Entropy
from mnemic.errors import NotFound, StoreCorrupt, StoreForeign, StoreNewer, StoreReadOnly
from mnemic.store.postgres.postgres_schema import FORMAT, SCHEMA, create_statements
from mnemic.store.postgres.server_connections import ServerAddress

if TYPE_CHECKING:
    from psycopg import Connection

TOKENS: Final = 3
"""The number of the tokeniser whose streams entries hold (`core.parts.entry_terms`)."""
_LOCK: Final = 0x6D6E656E
"""The number of the advisory lock under which tables are made."""
_STORE_ROW: Final = (
    f'INSERT INTO {SCHEMA}."tenant" ("id", "name", "horizon", "horizon_hash", "seq", "at", "hash", "vers", "links",'
    ' "spaces", "names", "jobs", "packs", "holds", "stamp", "xid")'
    " VALUES (0, NULL, 0, '', 0, 0, '', 0, 0, 0, 0, 0, 0, 0, 0, 0)"
)


def migrate(db: Connection[Any], where: ServerAddress, entropy: Entropy, *, create: bool) -> None:
    """Bring a database to this format, in one transaction; nothing if it is there already.

    Raises:
        NotFound: there is no store in it, and none is to be made.
        StoreNewer, StoreForeign, StoreReadOnly: it cannot be used; it was not touched.
    """
    if _is_current(db, where):
        return
    if not create:
        raise NotFound(f"{where}: there is no memory in this database")
    if (
        db.info.parameter_status("in_hot_standby") == "on"
        or db.info.parameter_status("default_transaction_read_only") == "on"
    ):
        raise StoreReadOnly(f"{where}: there is no memory in this database, and the server cannot be written to")
    with db.transaction():
        db.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
        if _is_current(db, where):
            return
        for statement in create_statements():
            db.execute(statement.encode())
        db.execute(f"SET LOCAL {SCHEMA}.tenant = '0'")
        db.execute(_STORE_ROW)
        facts = {"format": b"%d" % FORMAT, "tokens": b"%d" % TOKENS, "origin": entropy.bytes(16).hex().encode()}
        for key, value in facts.items():
            db.execute(f'INSERT INTO {SCHEMA}."meta" VALUES (%s, %s)', (key, value))


def _is_current(db: Connection[Any], where: ServerAddress) -> bool:
    there = db.execute(f"SELECT to_regnamespace('{SCHEMA}') IS NOT NULL, to_regclass('{SCHEMA}.meta') IS NOT NULL")
    schema, meta = there.fetchone() or (False, False)
    if not schema:
        return False
    if not meta:
        raise StoreForeign(f"{where}: has a schema {SCHEMA!r} that is not ours; name another database")
    facts = {key: bytes(value) for key, value in db.execute(f'SELECT "key", "value" FROM {SCHEMA}."meta"')}
    try:
        format, tokens = int(facts["format"]), int(facts["tokens"])
    except (KeyError, ValueError) as error:
        raise StoreCorrupt(f"{where}: does not say which format it is of; restore a backup") from error
    if format > FORMAT or tokens > TOKENS:
        raise StoreNewer(f"{where}: is of format {format}, and this mnemic knows {FORMAT}; upgrade mnemic")
    if format < FORMAT or tokens < TOKENS:
        raise StoreForeign(f"{where}: is of format {format}, which no released mnemic wrote; move it to a new one")
    return True
