"""Compacts a SQLite file in short slices under the write lock, folds the log and gives free pages back to the disk."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

import apsw

from mnemic.core.mutex import Mutex
from mnemic.store.engine.compaction import TenantSweep
from mnemic.store.sqlite.connections import SqliteFile, translated
from mnemic.store.values.receipts import Swept

SLACK: Final = 0.05
"""Share of the file that may stay free: the next writes fill it again."""

LOG_PAGES: Final = 1_000
"""How long the log may be before a sweep folds it into the file; at twice that a writer would have to."""

REST: Final = 0.004
"""Seconds that a slice leaves to others before the next: writers of other processes look every 3 ms."""

_NORMAL: Final = 1
"""SQLite's number for syncing the log when it is folded, and not at each commit."""


class SqliteSweeping(SqliteFile):
    """The part of `SqliteStore` that deletes what lies behind the horizon."""

    def renew(self) -> None:
        super().renew()
        self._sweeps: dict[str, TenantSweep] = {}
        self._sweeping = Mutex()
        self._log = _Log()
        self._sweeper: apsw.Connection | None = None

    def _let_go(self) -> None:
        super()._let_go()
        self._drop_sweeper()

    def _connections(self) -> Iterator[apsw.Connection]:
        yield from super()._connections()
        if self._sweeper is not None:
            yield self._sweeper

    def _end_transactions(self) -> None:
        super()._end_transactions()
        self._drop_sweeper()

    def _drop_sweeper(self) -> None:
        sweeper, self._sweeper = self._sweeper, None
        if sweeper is not None:
            sweeper.close(True)

    def sweep(self, tenant: str, seconds: float) -> Swept:
        with self._sweeping:
            sweep = self._sweeps.pop(tenant, None) or TenantSweep(tenant)
            swept = self._slice(sweep, seconds)  # one that fails is dropped: it has passed rows that are still there
            if not swept.more:
                sweep.end()
            self._sweeps[tenant] = sweep
            self._fold_log()
        time.sleep(REST if swept.more else 0)
        return swept

    def _slice(self, sweep: TenantSweep, seconds: float) -> Swept:
        self._refuse_closed()
        self._refuse_reading()
        with self._alone(), self._sweeping_connection() as db:
            with self._transaction(db):
                watch = _Watch(seconds, self._writing)
                self._probe("gc:slice-begin")
                self._take_lease(db)
                tally, more = sweep.slice(self._rows(db), watch.allows)
                pages = 0 if more else _give_back(db, watch.allows)
                more = more or _wasteful(db)
                self._probe("gc:before-commit")
            self._probe("gc:after-commit")
            passed = watch.passed
        return Swept(
            versions=tally.versions, links=tally.links, events=tally.events, names=tally.names, pages=pages,
            seconds=passed, more=more,
        )  # fmt: skip

    def _fold_log(self) -> None:
        """Fold the log's pages into the file, without the write lock: neither readers nor writers wait for it."""
        if self._log.pages < LOG_PAGES:
            return
        with self._gate.reading(), translated(self._location):
            self._refuse_closed()
            with self._sweeping_connection() as db:
                db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
        self._log.pages = 0

    @contextmanager
    def _sweeping_connection(self) -> Iterator[apsw.Connection]:
        """Lend the connection for slices; after an error it is closed, and the next slice opens another.

        Its commits are not synced: what a power cut brings back, the next sweep deletes again. Nor do they fold the
        log: that is done after the slice, when no writer waits for it.
        """
        try:
            if self._sweeper is None:
                self._sweeper = self._open()
                self._sweeper.pragma("synchronous", min(_NORMAL, self._sweeper.pragma("synchronous")))
                self._sweeper.set_wal_hook(self._log.grown)
            yield self._sweeper
        except BaseException:
            self._drop_sweeper()
            raise


class _Log:
    """Counts the pages in the log as of the last slice: the log's file keeps its longest size and does not show it."""

    def __init__(self) -> None:
        self.pages = 0

    def grown(self, db: apsw.Connection, name: str, pages: int) -> int:
        """Note the log's pages; SQLite calls this after each commit."""
        self.pages = pages
        return apsw.SQLITE_OK


class _Watch:
    """Measures how long a slice has had the write lock, not counting the time it waited for the lock."""

    def __init__(self, seconds: float, lock: Mutex) -> None:
        self._seconds, self._lock = seconds, lock
        self._begun, self._cpu_before = time.monotonic(), time.thread_time()

    @property
    def passed(self) -> float:
        """Seconds by the clock since the slice began."""
        return time.monotonic() - self._begun

    @property
    def worked(self) -> float:
        """Seconds of CPU time that this thread has used since."""
        return time.thread_time() - self._cpu_before

    def allows(self) -> bool:
        """Whether one step more may be begun.

        If other threads hold the interpreter, a slice lasts longer than it works; unless one of them waits to write,
        that harms nobody. Writers of other processes cannot be seen waiting, so the clock sets a bound too.
        """
        most = self._seconds
        return self.worked < most and self._lock.waited() < most / 3 and self.passed < 2 * most


def _give_back(db: apsw.Connection, allows: Callable[[], bool]) -> int:
    """Give free pages at the file's end back to the disk while `allows()`; return how many."""
    if not _wasteful(db):
        return 0
    pages = 0
    steps = db.execute("PRAGMA incremental_vacuum(1000)")
    for _ in steps:
        pages += 1
        if not allows():
            break
    steps.close(True)
    return pages


def _wasteful(db: apsw.Connection) -> bool:
    """Whether more of the file is free than its next writes will fill; an older file cannot give pages back."""
    if int(db.pragma("auto_vacuum")) != 2:
        return False
    return int(db.pragma("freelist_count")) > SLACK * int(db.pragma("page_count"))
