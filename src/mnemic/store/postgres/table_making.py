"""Make the tables of a PostgreSQL store, or bring them up to date; once, however many processes begin at a time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from enum import Enum, auto
from typing import TYPE_CHECKING, Any, Final

from mnemic.core.ids import Entropy, from_bytes
from mnemic.core.parts import entry_terms
from mnemic.errors import NotFound, StoreCorrupt, StoreForeign, StoreNewer, StoreReadOnly
from mnemic.store.engine import ledger
from mnemic.store.engine.codec import decode_item
from mnemic.store.engine.relations import ENTRY
from mnemic.store.engine.rows import Rows
from mnemic.store.postgres.postgres_schema import FORMAT, SCHEMA, UPGRADES, create_statements
from mnemic.store.postgres.server_connections import ServerAddress, driver

if TYPE_CHECKING:
    from psycopg import Connection

TOKENS: Final = 3
"""The number of the tokeniser whose streams entries hold (`core.parts.entry_terms`)."""
SLICE: Final = 500
"""Versions whose entries are made again in one transaction."""
_LOCK: Final = 0x6D6E656E
"""The number of the advisory lock under which tables and entries are made."""
_PAUSE: Final = 0.2
"""Seconds between two looks whether another has made the entries."""
LOCKED_MILLISECONDS: Final = 500
"""How long an upgrade waits for a table that somebody reads, and others for the upgrade, before it tries again."""
_STORE_ROW: Final = (
    f'INSERT INTO {SCHEMA}."tenant" ("id", "name", "horizon", "horizon_hash", "seq", "at", "hash", "vers", "links",'
    ' "spaces", "names", "jobs", "packs", "holds", "stamp", "xid")'
    " VALUES (0, NULL, 0, '', 0, 0, '', 0, 0, 0, 0, 0, 0, 0, 0, 0)"
)


def migrate(
    db: Connection[Any],
    where: ServerAddress,
    entropy: Entropy,
    retokenise: Callable[[], None],
    *,
    create: bool,
    pooled: bool,
) -> int:
    """Bring a database to this format and tokeniser; nothing if it is there already.

    Tables are made in one transaction. Entries are made again in many: cut short, whoever opens the store begins anew,
    and who opens it meanwhile waits. No transaction is open meanwhile: a server may end one that idles.

    Args:
        db: A connection in autocommit.
        retokenise: Makes all entries again; as often as it is called, by several at a time if it must be.
        pooled: Whether what is locked may be another's in the next statement: then several may do it at a time.

    Returns:
        The format that it had before; 0 where its tables were made now.

    Raises:
        NotFound: there is no store in it, and none is to be made.
        StoreNewer, StoreForeign, StoreReadOnly: it cannot be used; it was not touched.
    """
    state = _state(db, where)
    if state is _State.CURRENT:
        return FORMAT
    if not create and state is _State.NONE:
        raise NotFound(f"{where}: there is no memory in this database")
    if (
        db.info.parameter_status("in_hot_standby") == "on"
        or db.info.parameter_status("default_transaction_read_only") == "on"
    ):
        lacks = {
            _State.NONE: "there is no memory in this database",
            _State.OLDER: "its tables are of an older mnemic and are to be brought up to date",
        }.get(state, "its entries are to be made again")
        raise StoreReadOnly(f"{where}: {lacks}, and the server cannot be written to")
    if state is _State.NONE:
        with db.transaction():
            db.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
            if _state(db, where) is not _State.NONE:
                return FORMAT  # another process was quicker
            _make(db, entropy)
        return 0
    before = FORMAT
    if state is _State.OLDER:
        before = _format(db)
        _upgrade_between_readers(db)
        if _state(db, where) is _State.CURRENT:
            return before
    with nullcontext(True) if pooled else _alone(db, where) as wanted:
        if wanted:
            retokenise()
            db.execute(f'UPDATE {SCHEMA}."meta" SET "value" = %s WHERE "key" = \'tokens\'', (b"%d" % TOKENS,))
    return before


@contextmanager
def _alone(db: Connection[Any], where: ServerAddress) -> Iterator[bool]:
    """Keep others from making entries again; yields whether there are any to be made, or another has made them.

    It is asked for again and again: a statement that waits for a lock holds vacuum up.
    """
    while db.execute("SELECT pg_try_advisory_lock(%s)", (_LOCK,)).fetchone() != (True,):
        if _state(db, where) is _State.CURRENT:
            yield False
            return
        time.sleep(_PAUSE)
    try:
        yield _state(db, where) is not _State.CURRENT
    finally:
        with suppress(driver().Error):  # a connection that is lost holds no lock
            db.execute("SELECT pg_advisory_unlock(%s)", (_LOCK,))


def _make(db: Connection[Any], entropy: Entropy) -> None:
    for statement in create_statements():
        db.execute(statement.encode())
    db.execute(f"SET LOCAL {SCHEMA}.tenant = '0'")
    db.execute(_STORE_ROW)
    facts = {"format": b"%d" % FORMAT, "tokens": b"%d" % TOKENS, "origin": entropy.bytes(16).hex().encode()}
    for key, value in facts.items():
        db.execute(f'INSERT INTO {SCHEMA}."meta" VALUES (%s, %s)', (key, value))


def _upgrade_between_readers(db: Connection[Any]) -> None:
    """Upgrade in a moment in which nobody reads for long: who waits for a table has all who come later wait too."""
    while True:
        try:
            with db.transaction():
                db.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
                db.execute(f"SET LOCAL lock_timeout = '{LOCKED_MILLISECONDS}ms'")
                _upgrade(db)
        except driver().errors.LockNotAvailable:
            time.sleep(_PAUSE)
        else:
            return


def _upgrade(db: Connection[Any]) -> None:
    """Make the next formats of an older one; nothing if another process was quicker."""
    for format in range(_format(db), FORMAT):
        for statement in UPGRADES[format]:
            db.execute(statement.encode())
    db.execute(f'UPDATE {SCHEMA}."meta" SET "value" = %s WHERE "key" = \'format\'', (b"%d" % FORMAT,))


def _format(db: Connection[Any]) -> int:
    row = db.execute(f'SELECT "value" FROM {SCHEMA}."meta" WHERE "key" = \'format\'').fetchone()
    return int(bytes(row[0])) if row else FORMAT


class _State(Enum):
    """What a database is for this version of mnemic, where it can be served at all."""

    NONE = auto()
    CURRENT = auto()
    OLDER = auto()
    OTHER_TOKENS = auto()


def _state(db: Connection[Any], where: ServerAddress) -> _State:
    there = db.execute(f"SELECT to_regnamespace('{SCHEMA}') IS NOT NULL, to_regclass('{SCHEMA}.meta') IS NOT NULL")
    schema, meta = there.fetchone() or (False, False)
    if not schema:
        return _State.NONE
    if not meta:
        raise StoreForeign(f"{where}: has a schema {SCHEMA!r} that is not ours; name another database")
    facts = {key: bytes(value) for key, value in db.execute(f'SELECT "key", "value" FROM {SCHEMA}."meta"')}
    try:
        format, tokens = int(facts["format"]), int(facts["tokens"])
    except (KeyError, ValueError) as error:
        raise StoreCorrupt(f"{where}: does not say which format it is of; restore a backup") from error
    if format > FORMAT or tokens > TOKENS:
        raise StoreNewer(f"{where}: is of format {format}, and this mnemic knows {FORMAT}; upgrade mnemic")
    if format < FORMAT:
        return _State.OLDER
    return _State.CURRENT if tokens == TOKENS else _State.OTHER_TOKENS


def retokenise_slice(rows: Rows, space: int, after: int) -> int:
    """Make the entries of some versions of a space again from their items; the last of these, 0 when there were none.

    Catalogues start over, and packs, which are made of entries, go.

    Raises:
        StoreCorrupt: an item cannot be read.
    """
    versions = rows.items.versions_past(space, after, SLICE)
    if not after:
        rows.packs.drop_packs([pack.id for pack in rows.packs.all_packs(space)])
        rows.spaces.set_space(*[home._replace(epoch=home.epoch + 1) for home in rows.spaces.space_rows((space,))])
    for row in versions:
        item = decode_item(from_bytes(row.id), row.body)
        rows.spaces.relations.drop(ENTRY, space=space, ver=row.ver)
        rows.items.add_entries(space, ledger.entries(row.ver, row, item.pinned, entry_terms(item)))
    return versions[-1].ver if versions else 0
