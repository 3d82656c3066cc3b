"""A store's file opened by SQLite alone, behind the store's back, for tests that look into it or change it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import apsw

from mnemic.store.sqlite.row_checksums import FUNCTION, register


@contextmanager
def raw_store(path: Path, *, knowing: bool = False) -> Iterator[apsw.Connection]:
    """Open a file for who can write SQL; `knowing` is one who has our code, and leaves checksums that fit."""
    with closing(apsw.Connection(str(path))) as db:
        db.set_busy_timeout(1000)
        if knowing:
            register(db)
        else:  # SQLite itself asks for the function, so that whoever changes a row has to give it some
            db.create_scalar_function(FUNCTION, lambda *_: 0, deterministic=True, flags=apsw.SQLITE_INNOCUOUS)
        yield db
