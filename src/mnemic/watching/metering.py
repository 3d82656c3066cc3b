"""Meter a store: count and time every verb, every request and every run of a lane.

A duration is noted without a lock and counted when somebody looks, or when a report is made along with a commit: what
this takes from a verb is in docs/watching.md.
"""

from __future__ import annotations

import json
import math
import os
import time
import uuid
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from mnemic.core.forking import renew_in_child
from mnemic.core.mutex import Mutex
from mnemic.errors import StoreCorrupt
from mnemic.flow import Request

WAITING: Final = 256
"""Most durations that wait to be counted."""

STEPS: Final = 4
"""Buckets to a doubling: a quantile is off by at most a tenth."""
_MICRO: Final = 1e6
_LEAST: Final = 1e-6

Gauge = Callable[[], Mapping[str, float]]


class Histogram:
    """Counts durations in buckets from a microsecond up, each 19 % wider than the one before.

    Attributes:
        count, failed: How many there were, and how many of them ended in an error.
        total, longest: Seconds.
    """

    __slots__ = ("buckets", "count", "failed", "longest", "total")

    def __init__(self) -> None:
        self.count = self.failed = 0
        self.total = self.longest = 0.0
        self.buckets: dict[int, int] = {}

    def add(self, seconds: float, *, failed: bool = False) -> None:
        """Count a duration."""
        bucket = int(math.log2(seconds * _MICRO) * STEPS) if seconds > _LEAST else 0
        self.buckets[bucket] = self.buckets.get(bucket, 0) + 1
        self.count += 1
        self.failed += failed
        self.total += seconds
        if seconds > self.longest:
            self.longest = seconds

    def quantile(self, share: float) -> float:
        """Return the seconds that this share of durations did not exceed, to the width of a bucket; 0 for none."""
        left = share * self.count
        for bucket in sorted(self.buckets):
            left -= self.buckets[bucket]
            if left <= 0:
                return min(2 ** ((bucket + 0.5) / STEPS) / _MICRO, self.longest)
        return self.longest

    def merge(self, other: Histogram) -> None:
        """Add the counts of another histogram."""
        for bucket, count in other.buckets.items():
            self.buckets[bucket] = self.buckets.get(bucket, 0) + count
        self.count, self.failed = self.count + other.count, self.failed + other.failed
        self.total, self.longest = self.total + other.total, max(self.longest, other.longest)

    def packed(self) -> list[Any]:
        """Return the histogram as a JSON value."""
        pairs = [number for pair in sorted(self.buckets.items()) for number in pair]
        return [self.count, self.failed, round(self.total, 6), round(self.longest, 6), pairs]

    @classmethod
    def unpacked(cls, value: Sequence[Any]) -> Histogram:
        """Restore what `packed` returned."""
        made = cls()
        made.count, made.failed, made.total, made.longest, pairs = value
        made.buckets = dict(zip(pairs[::2], pairs[1::2], strict=True))
        return made


class Sort:
    """What a meter times: the first word of its name; `HTTP` is a server's, named `OPERATION STATUS`."""

    VERB: Final = "verb"
    REQUEST: Final = "request"
    RUN: Final = "run"
    HTTP: Final = "http"


@dataclass(slots=True)
class Timed:
    """The times of one verb or one run of a lane, noted by whoever drives its flow.

    Attributes:
        sort, name: What it is: `Sort.VERB` and `recall`, say.
        who: For whom, as the kernel says it; None for what nobody asked for.
        asked: The words of a question; "" for all else.
        requests: What it asked for and how many seconds each took, in order.
        answer: What it returned; None before it did, and if it failed.
        error: How it failed.
        seconds: How long it took; 0 while it goes on.
    """

    sort: str
    name: str
    who: object = None
    asked: str = ""
    requests: list[tuple[str, float]] = field(default_factory=list)
    answer: Any = None
    error: BaseException | None = None
    seconds: float = 0.0


timed_here: Final[ContextVar[Timed | None]] = ContextVar("mnemic_timed", default=None)
"""What is being timed in this context: requests that are answered in it are noted there."""


class Observer(Protocol):
    """Observes verbs, runs and requests as they begin: a profiler, a tracer."""

    def began(self, timed: Timed) -> Callable[[], None] | None:
        """Observe the begin of a verb or run; the returned function is called at its end."""
        ...

    def asks(self, request: Request) -> Callable[[Any, BaseException | None], None] | None:
        """Observe a request; the returned function is called with its answer, or with its error."""
        ...

    def committed(self) -> None:
        """Observe that a verb has committed, for lanes to go on from."""
        ...

    def close(self) -> None:
        """End: nothing more will be observed."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """The measures of one process since it opened the store.

    Attributes:
        pid: Its number; `process` also tells apart those that open the store twice.
        seconds: How long it has been open.
        recent: Seconds that `fresh` speaks of: since it said so before.
        timed: By sort and name.
        fresh: How many of each were counted in that time.
        gauges: What else it says of itself, by name.
    """

    process: str
    pid: int
    seconds: float
    recent: float
    timed: Mapping[tuple[str, str], Histogram] = field(default_factory=dict)
    fresh: Mapping[tuple[str, str], int] = field(default_factory=dict)
    gauges: Mapping[str, float] = field(default_factory=dict)

    def packed(self) -> bytes:
        """Encode the measures as JSON: numbers and the names of verbs, requests and gauges."""
        timed = {" ".join(name): [*h.packed(), self.fresh.get(name, 0)] for name, h in self.timed.items()}
        body = {"pid": self.pid, "seconds": round(self.seconds, 3), "recent": round(self.recent, 3), "timed": timed}
        return json.dumps({**body, "gauges": dict(self.gauges)}, separators=(",", ":")).encode()

    @classmethod
    def unpacked(cls, process: str, body: bytes) -> Measured:
        """Restore what `packed` returned.

        Raises:
            StoreCorrupt: it returned no such thing.
        """
        try:
            packed = json.loads(body)
            names = {name: (name.partition(" ")[0], name.partition(" ")[2]) for name in packed["timed"]}
            return cls(
                process=process,
                pid=int(packed["pid"]),
                seconds=float(packed["seconds"]),
                recent=float(packed["recent"]),
                timed={names[name]: Histogram.unpacked(value[:-1]) for name, value in packed["timed"].items()},
                fresh={names[name]: int(value[-1]) for name, value in packed["timed"].items()},
                gauges={str(name): float(value) for name, value in packed["gauges"].items()},
            )
        except (ValueError, KeyError, TypeError, AttributeError, IndexError, OverflowError) as error:
            raise StoreCorrupt(
                f"the figures of process {process} cannot be read; `mnemic verify` tells more"
            ) from error


class Sums:
    """A gauge that sums the counters of things that come and go; it keeps the counts of those that are gone."""

    def __init__(self) -> None:
        self._lock = Mutex()
        self._gone: Counter[str] = Counter()
        self._here: dict[int, tuple[Gauge, Gauge]] = {}

    def follow(self, counters: Gauge, levels: Gauge) -> Callable[[], None]:
        """Include a thing's counters, and its gauges while it lasts; the returned function ends that, once."""
        key = id(counters)
        with self._lock:
            self._here[key] = counters, levels

        def leave() -> None:
            with self._lock:
                if self._here.pop(key, None) is not None:
                    self._gone.update(counters())

        return leave

    def __call__(self) -> Mapping[str, float]:
        with self._lock:
            total = Counter(self._gone)
            for counters, levels in self._here.values():
                total.update(counters())
                total.update(levels())
        return total


class Meters:
    """The meters of one open store. Safe to share between threads; a forked child starts over at nought.

    Attributes:
        observers: The profiler and the tracer, where they are on.
        windows: The counters of all sessions' paging, summed.
        prompts: What local engines read of prompts and what was restored of them, likewise.
        durations: Those that wait to be counted: sort, name, seconds, whether it failed. Whoever adds one calls `count`
            once `WAITING` of them wait.
    """

    def __init__(self) -> None:
        self.observers: tuple[Observer, ...] = ()
        self.renew()
        renew_in_child(self)

    def renew(self) -> None:
        """Start over, as a forked child must."""
        self._lock = Mutex()
        self.durations: deque[tuple[str, str, float, bool]] = deque()
        self._timed: dict[tuple[str, str], Histogram] = {}
        self._reported: dict[tuple[str, str], int] = {}
        self._opened = self._reported_at = time.monotonic()
        self._process = f"{os.getpid()}-{uuid.uuid4().hex[:8]}"
        self.windows = Sums()
        self._judged: Counter[str] = Counter()
        self.prompts = Sums()
        self._gauges: dict[str, Gauge] = {"windows": self.windows, "judged": self._judged.copy, "kv": self.prompts}

    def begun(self, timed: Timed) -> list[Callable[[], None]]:
        """Tell the observers that a verb or a run begins; what to call at its end."""
        return [close for observer in self.observers if (close := observer.began(timed)) is not None]

    def asked(self, request: Request) -> list[Callable[[Any, BaseException | None], None]]:
        """Tell the observers of a request; what to call with its answer, or with its error."""
        return [close for observer in self.observers if (close := observer.asks(request)) is not None]

    def count(self) -> None:
        """Count the durations that wait."""
        with self._lock:
            for _ in range(len(self.durations)):
                sort, name, seconds, failed = self.durations.popleft()
                histogram = self._timed.get((sort, name))
                if histogram is None:
                    histogram = self._timed[sort, name] = Histogram()
                histogram.add(seconds, failed=failed)

    def count_judged(self, task: str, by: str) -> None:
        """Count that a task was judged: the gauge `judged.TASK.BY` says how often, since the store was opened."""
        with self._lock:
            self._judged[f"{task}.{by}"] += 1

    def gauge(self, name: str, read: Gauge) -> None:
        """Register a gauge that is read at every look; its numbers are called `name.key`. The same name replaces it."""
        with self._lock:
            self._gauges[name] = read

    def measured(self) -> Measured:
        """Return all measures as they stand."""
        now = time.monotonic()
        gauges = self._read_gauges()
        self.count()
        with self._lock:
            timed = {name: _copy(histogram) for name, histogram in self._timed.items()}
            reported, reported_at = dict(self._reported), self._reported_at
        return Measured(
            process=self._process,
            pid=os.getpid(),
            seconds=now - self._opened,
            recent=now - reported_at,
            timed=timed,
            fresh={name: histogram.count - reported.get(name, 0) for name, histogram in timed.items()},
            gauges=gauges,
        )

    def report(self) -> tuple[str, bytes] | None:
        """Return what the store is to carry along with a commit; None if nothing was measured since the last report."""
        measured = self.measured()
        if not any(measured.fresh.values()):
            return None
        with self._lock:
            self._reported = {name: histogram.count for name, histogram in measured.timed.items()}
            self._reported_at = time.monotonic()
        return measured.process, measured.packed()

    def committed(self) -> None:
        """Tell the observers that a verb has written something."""
        for observer in self.observers:
            observer.committed()

    def close(self) -> None:
        """Let the observers finish."""
        for observer in self.observers:
            observer.close()

    def _read_gauges(self) -> dict[str, float]:
        with self._lock:
            gauges = list(self._gauges.items())
        return {f"{name}.{key}": value for name, read in gauges for key, value in read().items()}


def _copy(histogram: Histogram) -> Histogram:
    copied = Histogram()
    copied.merge(histogram)
    return copied
