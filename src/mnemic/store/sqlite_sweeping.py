"""Compaction of a SQLite file: slices under the write lock, the log folded and free pages given back beside it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final, TypeVar

import apsw

from mnemic.core.clock import Clock
from mnemic.core.events import Verb
from mnemic.core.ids import Entropy
from mnemic.store import compaction, holds
from mnemic.store.base import Hold, Swept
from mnemic.store.compaction import Sweep, Tally
from mnemic.store.gate import Gate
from mnemic.store.place import take_lease
from mnemic.store.sqlite_errors import translated
from mnemic.store.sqlite_rows import SqliteRows

SLACK: Final = 0.05
"""Share of the file that may stay free: the next writes fill it again."""

LOG_BYTES: Final = 4 * 1024 * 1024
"""How long the log may be before a sweep folds it into the file; at twice that a writer would have to."""

_BREATH: Final = 0.001
T = TypeVar("T")


class SqliteSweeping:
    """The part of `SqliteStore` that drops what lies behind the horizon."""

    path: Path
    _clock: Clock
    _entropy: Entropy
    _gate: Gate
    _writing: threading.Lock
    _readers: list[apsw.Connection]
    _probe: Callable[[str], None]
    _alone: Callable[[Callable[[SqliteRows], object]], object]
    _open: Callable[[], apsw.Connection]
    _refuse_closed: Callable[[], None]
    _transaction: Callable[[apsw.Connection], AbstractContextManager[None]]
    _writer_connection: Callable[[], apsw.Connection]

    def _renew_sweeps(self) -> None:
        self._sweeps: dict[str, Sweep] = {}
        self._sweeping = threading.Lock()

    def compact(self, tenant: str, horizon: int) -> int:
        self.move_horizon(tenant, horizon)
        versions, swept = 0, Swept(more=True)
        while swept.more:
            swept = self.sweep(tenant, compaction.SLICE_SECONDS)
            versions += swept.versions
            time.sleep(max(_BREATH, swept.seconds / 2) if swept.more else 0)  # whoever waits to write gets the lock
        return versions

    def move_horizon(self, tenant: str, horizon: int) -> int:
        return self._done(lambda rows: compaction.move(rows, tenant, horizon, self._clock.now(), self._entropy))

    def jot(self, tenant: str, memos: Mapping[str, bytes]) -> None:
        self._alone(lambda rows: compaction.jot(rows, tenant, memos))

    def enter(self, tenant: str, verb: Verb, payload: bytes, memos: Mapping[str, bytes]) -> int:
        return self._done(
            lambda rows: compaction.enter(rows, tenant, verb, payload, memos, self._clock.now(), self._entropy)
        )

    def hold(self, hold: Hold) -> int:
        return self._done(lambda rows: holds.place(rows, hold, self._clock.now(), self._entropy))

    def lift(self, tenant: str, hold: int) -> None:
        self._done(lambda rows: holds.lift(rows, tenant, hold, self._clock.now(), self._entropy))

    def _done(self, work: Callable[[SqliteRows], T]) -> T:
        return self._alone(work)  # type: ignore[return-value]  # it returns what `work` does

    def sweep(self, tenant: str, seconds: float) -> Swept:
        with self._sweeping:
            sweep = self._sweeps.setdefault(tenant, Sweep(tenant))
            swept = self._slice(sweep, seconds)
            if not swept.more:
                del self._sweeps[tenant]
        self._fold_log()
        return swept

    def _slice(self, sweep: Sweep, seconds: float) -> Swept:
        self._refuse_closed()
        with self._writing, translated(self.path):
            begun, spent = time.monotonic(), time.thread_time()
            db = self._writer_connection()
            with _unfolded(db), self._transaction(db):
                self._probe("gc:slice-begin")
                take_lease(db)
                # By this thread's own time: on a busy machine the clock would stop a slice before it has done anything,
                # and its begin and end cost what they cost.
                tally, more = sweep.slice(SqliteRows(db), lambda: time.thread_time() - spent < seconds / 2)
                pages = 0 if more else _give_back(db, sweep.quota, spent + seconds / 2)
                worked = time.thread_time() - spent
                self._probe("gc:before-commit")
            self._probe("gc:after-commit")
            taken = time.monotonic() - begun
        if tally != Tally() or pages:
            sweep.took(2 * worked, seconds)
        swept = Swept(
            versions=tally.versions, links=tally.links, events=tally.events, names=tally.names, pages=pages,
            seconds=taken,
        )  # fmt: skip
        return replace(swept, more=more or _wasteful(db))

    def _fold_log(self) -> None:
        """Bring the log's pages into the file: it keeps neither readers nor writers out, only the disk busy."""
        log = self.path.with_name(self.path.name + "-wal")
        if not log.exists() or log.stat().st_size < LOG_BYTES:
            return
        with self._gate.reading(), translated(self.path):
            self._refuse_closed()
            db = self._readers.pop() if self._readers else self._open()
            db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
            self._readers.append(db)


@contextmanager
def _unfolded(db: apsw.Connection) -> Iterator[None]:
    """Leave the log as it is at this commit: folding it is done once nobody waits."""
    db.wal_autocheckpoint(0)
    try:
        yield
    finally:
        db.wal_autocheckpoint(2000)


def _give_back(db: apsw.Connection, most: int, until: float) -> int:
    """Move the file's last pages into free ones and cut it short, for a while; how many pages went."""
    if not _wasteful(db):
        return 0
    pages = 0
    steps = db.execute("PRAGMA incremental_vacuum(4000)")
    for pages, _ in enumerate(steps, 1):
        if pages >= most or time.thread_time() > until:
            break
    steps.close(True)
    return pages


def _wasteful(db: apsw.Connection) -> bool:
    """Whether more of the file is free than its next writes will fill; an older file cannot give pages back."""
    if int(db.pragma("auto_vacuum")) != 2:
        return False
    return int(db.pragma("freelist_count")) > SLACK * int(db.pragma("page_count"))
