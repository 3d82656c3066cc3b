"""SQLite's errors, translated into ours at the one boundary."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import apsw

from mnemic.errors import StoreCorrupt, StoreError, StoreForeign, StoreFull, StoreLocked, StoreReadOnly

_OURS: Final[tuple[tuple[type[apsw.Error], type[StoreError], str], ...]] = (
    (apsw.FullError, StoreFull, "the disk is full; make room and retry with the same key"),
    (
        apsw.ReadOnlyError,
        StoreReadOnly,
        "it cannot be written; check the owner and mode of file and folder; from a read-only disk, copy it elsewhere",
    ),
    (
        apsw.CantOpenError,
        StoreReadOnly,
        "it cannot be opened; check the owner and mode of file and folder; from a read-only disk, copy it elsewhere",
    ),
    (
        apsw.PermissionsError,
        StoreReadOnly,
        "it cannot be written; check the owner and mode of file and folder; from a read-only disk, copy it elsewhere",
    ),
    (
        apsw.AuthError,
        StoreReadOnly,
        "it cannot be written; check the owner and mode of file and folder; from a read-only disk, copy it elsewhere",
    ),
    (apsw.NotADBError, StoreForeign, "it is not a mnemic store; name another file"),
    (
        apsw.CorruptError,
        StoreCorrupt,
        "its bytes are damaged; run `mnemic verify`, then `mnemic restore` from a backup",
    ),
    (
        apsw.BusyError,
        StoreLocked,
        "another process is writing without end; see `mnemic doctor`, then retry with the same key",
    ),
    (apsw.LockedError, StoreLocked, "another connection holds it; retry with the same key"),
    (apsw.IOError, StoreError, "the disk failed; nothing is half-written, check the disk and retry with the same key"),
)


_NOTHING_SAID: Final = "not an error"
"""What SQLite says of a failure that the connection does not remember."""


@contextmanager
def translated(where: object) -> Iterator[None]:
    """Raise our own error, naming `where` the store lies and the remedy, for whatever SQLite raises inside."""
    try:
        yield
    except apsw.Error as error:
        for theirs, ours, remedy in _OURS:
            if isinstance(error, theirs):
                theirs_says = "" if str(error) == _NOTHING_SAID else f" ({error})"
                raise ours(f"{where}: {remedy}{theirs_says}") from error
        raise StoreError(f"{where}: {error}") from error
