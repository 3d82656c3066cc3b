"""A seal on a store: whoever has not the key can change nothing of it without breaking that.

With a key the checksums of rows are made with it, and each write ends by sealing where the journals stand: an HMAC over
the last commit of every tenant, its hash, its horizon, and the account of small tables. A whole chain that is written
anew fits itself, and no seal. An older copy of the sealed file fits too: that nobody can see who has only the file.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import apsw

from mnemic.errors import StoreCorrupt
from mnemic.store.sqlite.disk import set_meta
from mnemic.store.sqlite.file_audit import count
from mnemic.store.sqlite.row_checksums import FUNCTION
from mnemic.store.sqlite.schema import TABLES
from mnemic.store.values.receipts import Fault

if TYPE_CHECKING:
    from mnemic.store.sqlite.location import Location

_SEAL: Final = "seal"
_ORIGIN: Final = "origin"
_SEALED: Final = "SELECT value FROM meta WHERE key = 'seal'"
_FITS: Final = "SELECT checksum IS " + FUNCTION + "('meta', CAST(key AS BLOB), value) FROM meta WHERE key = ?"
_WRITTEN: Final = (
    "SELECT EXISTS (SELECT 1 FROM tenant) OR EXISTS (SELECT 1 FROM change) OR EXISTS (SELECT 1 FROM version)"
)
_COUNTS: Final = "SELECT value FROM meta WHERE key = 'counts'"
_HEADS: Final = (
    "SELECT t.id, t.horizon, t.horizon_hash, c.seq, c.hash FROM tenant t LEFT JOIN change c ON c.tenant = t.id"
    " AND c.seq = (SELECT max(seq) FROM change WHERE tenant = t.id) ORDER BY t.id"
)

_RESUM: Final = tuple(
    "UPDATE " + table.name + " SET " + table.columns[-1][0] + " = " + table.columns[-1][0]
    for table in TABLES
    if table.summed
)


def is_due(db: apsw.Connection, where: Location) -> bool:
    """Whether a store that a key was given for has yet to be sealed: one in which nothing was written.

    Raises:
        StoreCorrupt: it is not sealed, or with another key.
    """
    fits = db.execute(_FITS, (_SEAL,)).get
    if fits is None and db.execute(_WRITTEN).get:
        raise StoreCorrupt(f"{where} has no seal, and a key was given: `mnemic seal` seals it, if it never had one")
    if fits is not None and not fits:
        raise StoreCorrupt(f"{where} is sealed with another key, or was changed by somebody without it")
    return fits is None


def is_sealed(db: apsw.Connection) -> bool:
    """Whether a store has a seal."""
    return db.execute(_SEALED).get is not None


def is_stripped(db: apsw.Connection) -> bool:
    """Whether a store without a seal carries the checksums of a key, which is not here: its seal was taken off."""
    return db.execute(_SEALED).get is None and db.execute(_FITS, (_ORIGIN,)).get == 0


def refuse_broken(db: apsw.Connection, where: Location, *, sealed: bool) -> None:
    """See, as a write begins, that the journals stand where the last write sealed them: else this one would seal more.

    Args:
        sealed: Whether it had a seal when it was opened.

    Raises:
        StoreCorrupt: they do not.
    """
    said = db.execute(_SEALED).get if db.table_exists("main", "meta") else None  # a new file has no tables yet
    if said is None and sealed:
        raise StoreCorrupt(f"{where}: its seal was taken off, somebody without the key wrote to it; restore a backup")
    if said is not None and not hmac.compare_digest(bytes(said), _mac(db, where.key)):
        raise StoreCorrupt(f"{where}: its seal does not fit, somebody without the key wrote to it; restore a backup")


def seal(db: apsw.Connection, key: bytes) -> None:
    """Seal what a write leaves, as its last step; a store without a seal stays so."""
    before = db.execute(_SEALED).get
    if before is not None and before != (mac := _mac(db, key)):
        set_meta(db, _SEAL, mac)


def put_on(db: apsw.Connection, key: bytes) -> None:
    """Seal a store as it is, inside a write of a connection that sums with this key."""
    for statement in _RESUM:
        db.execute(statement)
    count(db)
    set_meta(db, _SEAL, _mac(db, key))


def faults(db: apsw.Connection, key: bytes) -> Iterator[Fault]:
    """What is wrong with the seal; of a sealed store without its key, that it was not checked."""
    said = db.execute(_SEALED).get
    if said is not None and not key:
        yield Fault(
            where="seal", problem="the store is sealed, and was not checked against that: its key was not given"
        )
    elif key and not _is_summed_with_it(db):
        problem = "is missing" if said is None else "is of another key: checksums are not looked at"
        yield Fault(where="seal", problem=problem)
    elif said is not None and not hmac.compare_digest(bytes(said), _mac(db, key)):
        yield Fault(where="seal", problem="does not fit: journals were written by somebody who has not the key")
    elif said is None and key:
        yield Fault(where="seal", problem="is missing")


def can_check(db: apsw.Connection, key: bytes) -> bool:
    """Whether the checksums of rows were made with the key that there is."""
    return _is_summed_with_it(db) if key else db.execute(_SEALED).get is None


def _is_summed_with_it(db: apsw.Connection) -> bool:
    """Whether the key of a connection made the checksum of either row that every sealed store has."""
    return any(db.execute(_FITS, (name,)).get for name in (_SEAL, _ORIGIN))


def _mac(db: apsw.Connection, key: bytes) -> bytes:
    lines = [repr(row).encode() for row in db.execute(_HEADS)]
    lines.append(bytes(db.execute(_COUNTS).get or b""))
    return hmac.new(key, b"\n".join(lines), hashlib.sha256).hexdigest().encode()
