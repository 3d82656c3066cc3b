"""The embedded keeper: one SQLite file in WAL mode with `synchronous=FULL`, many processes, one writer at a time."""

from __future__ import annotations

from mnemic.store.sqlite_care import SqliteCare
from mnemic.store.sqlite_commits import SqliteCommits
from mnemic.store.sqlite_sweeping import SqliteSweeping
from mnemic.store.sqlite_work import SqliteWork


class SqliteStore(SqliteCommits, SqliteWork, SqliteSweeping, SqliteCare):
    """A store in one file. Safe to share between threads; a forked child opens its own connections.

    Args:
        path: The file; made with mode 0600 if it is not there.
        vfs: A registered SQLite VFS to use in place of the system's (fault injection, slow disks).
        synchronous: SQLite's setting; anything but FULL can lose acknowledged writes and exists for tests of the tests.
        probe: Called with the name of each point of a commit and an erasure that it passes (fault injection).
        create: Whether a missing file is made.

    Raises:
        StoreForeign, StoreNewer, StoreCorrupt, StoreReadOnly: the file is not one we can serve; it was not touched.
        Invalid: `path` is a folder or lies on a network file system.
    """
