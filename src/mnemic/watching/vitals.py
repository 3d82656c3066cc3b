"""The vitals of an open store: what its processes measured, what waits, what windows and files hold.

Whatever is not in the store itself comes from what each process says of itself (`Store.carry`), numbers only.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from mnemic.collecting.collection import MEMO
from mnemic.core.clock import micros
from mnemic.core.events import Verb
from mnemic.errors import StoreCorrupt
from mnemic.store.contract import Store
from mnemic.store.engine.snapshot import Snapshot
from mnemic.store.values.heads import Info
from mnemic.store.values.meters import PERIOD, SECOND, MeterRow
from mnemic.watching.metering import Histogram, Measured, Meters, Sort

RECENT: Final = 10
"""Seconds that a rate is taken over."""
FRESH: Final = 5 * PERIOD / SECOND
"""Seconds after which what a process said of its rates is no longer of now."""
_NEAR: Final = 100
"""Commits within which a run that was noted is journalled: others may get in between."""
QUIET: Final = 60.0
"""Seconds after which a process that says nothing is only shown if it still runs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Process:
    """The measures of one process that has the store open, as of its last commit.

    Attributes:
        age: Seconds since it said so.
    """

    age: float
    measured: Measured

    def rate(self, name: str, sort: str = Sort.VERB) -> float:
        """How many of these a second the process did just before it reported; 0 once that is too long ago."""
        if self.age > FRESH or self.measured.recent <= 0:
            return 0.0
        return self.measured.fresh.get((sort, name), 0) / self.measured.recent


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowUse:
    """The use of session windows, summed over processes.

    Attributes:
        sessions: How many are open just now, by their leases; `known` counts those that are closed as well.
        pages, tokens, budget: What the open ones hold and may hold, as their processes said.
    """

    sessions: int = 0
    known: int = 0
    pages: int = 0
    tokens: int = 0
    budget: int = 0

    @property
    def share(self) -> float:
        """How full they are; 0 without one."""
        return self.tokens / self.budget if self.budget else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class LastCollection:
    """The last run of the garbage collection in the journal.

    Attributes:
        seq, at: The commit that says so, and when that was (microseconds).
        trigger: What set it off.
        items: How many were retired.
        freed: Bytes by which the files were smaller after it; below 0 if writers wrote more meanwhile.
        pause: Seconds of its longest slice: the most that it may have kept a writer waiting.
    """

    seq: int
    at: int
    trigger: str
    items: int
    freed: int
    pause: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Vitals:
    """The vitals of a store at one moment.

    Attributes:
        at: When (microseconds).
        commits: How many there have been, over all tenants; `commits_per_second` is over the last ten seconds.
        jobs: How many jobs there are in each state.
        bytes, free, log: Bytes of the files, of pages in them that hold nothing, and of the write-ahead log.
        collected: The last collection; None before the first.
        processes: Those that have it open and have said something, the latest first.
    """

    at: int
    commits: int
    commits_per_second: float
    jobs: Mapping[str, int]
    windows: WindowUse
    bytes: int
    free: int
    log: int
    collected: LastCollection | None
    processes: tuple[Process, ...]

    def timed(self, sort: str) -> dict[str, Histogram]:
        """Merge what all processes have timed of a sort, by name, since they opened the store."""
        histograms: dict[str, Histogram] = {}
        for process in self.processes:
            for (kind, name), histogram in process.measured.timed.items():
                if kind == sort:
                    histograms.setdefault(name, Histogram()).merge(histogram)
        return histograms

    def rate(self, name: str, sort: str = Sort.VERB) -> float:
        """How many of these a second all processes do."""
        return sum(process.rate(name, sort) for process in self.processes)

    def gauge(self, name: str) -> float:
        """Sum a gauge over all processes."""
        return sum(process.measured.gauges.get(name, 0.0) for process in self.processes)


def vitals(store: Store, meters: Meters, now: int) -> Vitals:
    """Read a store's vitals; nothing is written.

    Args:
        meters: What this process has measured.
        now: Microseconds.
    """
    info = store.info()
    with store.read() as snapshot:
        return vitals_of(snapshot, info, meters, now)


def vitals_of(snapshot: Snapshot, info: Info, meters: Meters, now: int) -> Vitals:
    """Compute a store's vitals from a snapshot and the state of its files."""
    heads = {tenant: snapshot.head(tenant) for tenant, _ in snapshot.tenants()}
    then = now - RECENT * SECOND
    fresh = sum(head.seq - snapshot.seq_at(tenant, then) for tenant, head in heads.items() if head.at > then)
    jobs = {state.name.lower(): count for state, count in snapshot.job_counts().items()}
    runs = [run for tenant, noted in snapshot.memos(MEMO).items() for run in _collected(snapshot, tenant, noted)]
    processes = tuple(_processes(snapshot.meters(), meters.measured(), now))
    return Vitals(
        at=now,
        commits=sum(head.seq for head in heads.values()),
        commits_per_second=fresh / RECENT,
        jobs=jobs,
        windows=_windows(*snapshot.session_counts(), processes),
        bytes=info.bytes,
        free=info.free,
        log=info.log,
        collected=max(runs, key=lambda run: run.at, default=None),
        processes=processes,
    )


def _processes(rows: Sequence[MeterRow], own: Measured, now: int) -> Iterable[Process]:
    """List this process as it is now, if it has done anything, and the others as they last reported."""
    if own.timed:
        yield Process(age=0.0, measured=own)
    for row in rows:
        try:
            measured, age = Measured.unpacked(row.process, row.body), max(now - row.at, 0) / SECOND
        except StoreCorrupt:  # figures of an hour at most, and `verify` tells of it: the others are shown
            continue
        if row.process != own.process and (age <= QUIET or _runs(measured.pid)):
            yield Process(age=age, measured=measured)


def _runs(pid: int) -> bool:
    """Whether a process of this machine still runs; where that cannot be asked without harm, it does not."""
    if os.name == "nt":
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:  # it is another user's
        return True
    return True


def _collected(snapshot: Snapshot, tenant: int, noted: bytes) -> Iterator[LastCollection]:
    """Find the tenant's last collection, from the time that was noted just before it was journaled."""
    after = snapshot.seq_at(tenant, json.loads(noted)["at"] - 1)
    for change in snapshot.changes(tenant, after, _NEAR):
        for event in change.events:
            figures = json.loads(event.payload) if event.verb is Verb.COLLECTED and event.payload else {}
            if "freed" in figures:
                yield LastCollection(
                    seq=change.seq,
                    at=micros(change.at),
                    trigger=figures["trigger"],
                    items=sum(figures["collected"].values()),
                    freed=figures["freed"],
                    pause=figures["pause_ms"] / 1000,
                )
                return


def _windows(known: int, opened: int, processes: Iterable[Process]) -> WindowUse:
    held: Counter[str] = Counter()
    for process in processes:
        gauges = process.measured.gauges
        held.update({name: int(gauges.get(f"windows.{name}", 0)) for name in ("pages", "tokens", "budget")})
    return WindowUse(sessions=opened, known=known, **held)
