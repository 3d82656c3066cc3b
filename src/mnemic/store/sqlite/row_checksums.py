"""A checksum of each row that the journal does not vouch for, kept by SQLite itself in a column that it generates.

Events, versions and entries are checked against each other and against the chain of commits. All else (owners, holds,
keys, lanes, vectors, commits behind the horizon ...) is said only once, so each of its rows carries a checksum of all
that it says. Whoever changes a row without this function leaves one that does not fit, as a damaged disk does; whoever
has it can make one that fits, unless the store is sealed: then nobody can who has not the key.
"""

from __future__ import annotations

from functools import partial
from hashlib import blake2b
from typing import Final

import apsw

FUNCTION: Final = "mnemic_checksum"
"""What the tables call it: the name is part of the format."""


def register(db: apsw.Connection, key: bytes = b"") -> None:
    """Give a connection the function, without which it can write none of these rows."""
    db.create_scalar_function(FUNCTION, partial(checksum, key), deterministic=True, flags=apsw.SQLITE_INNOCUOUS)


def checksum(key: bytes, table: str, *values: int | float | bytes | None) -> int:
    """Digest the values of a row, texts as their bytes, to 64 bits with a sign.

    The digest is part of the format: each value goes in with its type and, where that varies, its length.
    """
    parts = [table.encode()]
    for value in values:
        if type(value) is bytes:
            parts.append(b"%d:" % len(value))
            parts.append(value)
        else:
            parts.append(repr(value).encode())
    digest = blake2b(b"\0".join(parts), digest_size=8, key=key).digest()
    return int.from_bytes(digest, "big", signed=True)
