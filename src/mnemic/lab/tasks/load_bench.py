"""Many tenants who write and ask at once, as they come and not as they are served, over either store.

Requests come at times drawn beforehand (a Poisson process), whether those before have been answered or not; each
latency counts from when the request was due, so that a stall is seen by all who came meanwhile. Tenants are drawn by
Zipf's law. What else is measured, on the same store: loading, warm recall (in turn with a file that holds the same, if
one stands beside it), commits of all tenants against those of one, by callers of one process and by processes of one
caller, and what further tenants add to the database.
"""

from __future__ import annotations

import multiprocessing
import queue
import random
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from http.client import HTTPConnection
from itertools import islice
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final, Protocol
from urllib.parse import quote

import numpy as np

from mnemic.errors import Invalid, MnemicError
from mnemic.lab.kit.figures import Figure, Measurements
from mnemic.lab.kit.generate import Talk
from mnemic.lab.kit.http_load import json_request
from mnemic.lab.kit.latency_histogram import LatencyHistogram
from mnemic.lab.kit.log import provenance
from mnemic.lab.kit.served_process import mnemic_server
from mnemic.memory import Memory
from mnemic.settings import Settings
from mnemic.store.moving import tenants_of
from mnemic.store.sqlite.disk import file_system
from mnemic.store.urls import path_of, shown

if TYPE_CHECKING:
    from multiprocessing.synchronize import Barrier

LOADED: Final = 5_000.0
"""Items a second that are to be loaded."""
WARM_SHARE: Final = 2.0
"""How much longer a warm recall may take than on a file."""
WARM_TRIPS: Final = 4.0
"""Round trips of a warm recall."""
SIDE_BY_SIDE: Final = 3.0
"""How many more commits all tenants are to make than one does."""
KEPT_UP: Final = 0.95
"""Of the requests that came in a second, those that must have been answered."""

JUDGED_FROM: Final = "10,000 tenants with 1,000,000 items, 2,500 further tenants and 30 seconds of requests"
"""As much as the bars are stated for (`TenantLoad.stated`)."""

_BATCH: Final = 500
_POOL: Final = 4_000
"""Texts that are made up; what is written and asked is drawn from them."""
_HITS: Final = 10
_TOGETHER_SECONDS: Final = 120.0
"""Most seconds that processes wait for one another; then one has failed."""
_OURS: Final = "load "
"""How the names of the tenants begin."""
_SETTINGS: Final = Settings(embedder="none", background=False)

Progress = Callable[[str, int, int | None], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantLoad:
    """How much is measured; the defaults are what bars are stated for.

    Attributes:
        tenants: Each has as many items as the others, and one user.
        fill_seconds: After so long loading stops, wherever it is; None for never.
        rate: Requests that come in a second.
        reads: The share of them that are recalls; the others are `observe`, of one message.
        zipf: The exponent of the law by which tenants come.
        threads: That make requests, in each process.
        processes: That make them, and that load.
        warm: Tenants of whom warm recall is measured.
        further: Tenants that come at last, with an item each.
        served: Whether requests go to `mnemic serve`, over HTTP.
    """

    tenants: int = 10_000
    items: int = 1_000_000
    fill_seconds: float | None = None
    rate: float = 100.0
    seconds: float = 60.0
    reads: float = 0.8
    zipf: float = 1.0
    threads: int = 16
    processes: int = 1
    warm: int = 200
    further: int = 2_500
    served: bool = False
    seed: int = 0

    @property
    def stated(self) -> bool:
        """Whether it is as much as the bars are stated for."""
        return self.tenants >= 10_000 and self.items >= 1_000_000 and self.further >= 2_500 and self.seconds >= 30


@dataclass(slots=True)
class Arrived:
    """What came of requests that arrived.

    Attributes:
        due: Latencies from when each request was due, by verb.
        sent: The same from when it was made.
        seconds: From the first that was due to the last answer.
        errors: What failed, by the name of its error.
    """

    due: dict[str, LatencyHistogram] = field(default_factory=dict)
    sent: dict[str, LatencyHistogram] = field(default_factory=dict)
    seconds: float = 0.0
    errors: dict[str, int] = field(default_factory=dict)

    def record(self, verb: str, due: float, sent: float) -> None:
        self.due.setdefault(verb, LatencyHistogram()).record(due)
        self.sent.setdefault(verb, LatencyHistogram()).record(sent)

    def fail(self, error: Exception) -> None:
        name = type(error).__name__
        self.errors[name] = self.errors.get(name, 0) + 1

    def add(self, other: Arrived) -> None:
        for mine, theirs in ((self.due, other.due), (self.sent, other.sent)):
            for verb, histogram in theirs.items():
                mine.setdefault(verb, LatencyHistogram()).add([histogram])
        for name, count in other.errors.items():
            self.errors[name] = self.errors.get(name, 0) + count
        self.seconds = max(self.seconds, other.seconds)

    @property
    def answered(self) -> int:
        return sum(histogram.count for histogram in self.due.values())


class Target(Protocol):
    """Where requests go. Safe for many threads."""

    def observe(self, tenant: str, text: str) -> None: ...

    def recall(self, tenant: str, question: str) -> None: ...


class LibraryTarget:
    """The verbs in this process."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    def observe(self, tenant: str, text: str) -> None:
        self._memory.scope(user="me", tenant=tenant).observe(text)

    def recall(self, tenant: str, question: str) -> None:
        self._memory.scope(user="me", tenant=tenant).recall(question, k=_HITS)


class ServedTarget:
    """The same verbs of a server on this machine, each thread over a connection of its own."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._kept = threading.local()
        self._opened: list[HTTPConnection] = []

    def close(self) -> None:
        """Close the connections of all threads."""
        for connection in self._opened:
            connection.close()

    def observe(self, tenant: str, text: str) -> None:
        self._post(tenant, "observe", {"messages": text})

    def recall(self, tenant: str, question: str) -> None:
        self._post(tenant, "recall", {"query": question, "k": _HITS})

    def _post(self, tenant: str, verb: str, body: dict[str, Any]) -> None:
        if not hasattr(self._kept, "connection"):
            self._kept.connection = HTTPConnection("127.0.0.1", self._port, timeout=60)
            self._opened.append(self._kept.connection)
        connection: HTTPConnection = self._kept.connection
        content, headers = json_request(body, {"Mnemic-User": "me", "Mnemic-Tenant": quote(tenant)})
        try:
            connection.request("POST", f"/v1/{verb}", content, headers)
            answer = connection.getresponse()
            answer.read()
        except OSError as error:
            connection.close()
            raise MnemicError(f"the server did not answer: {type(error).__name__}") from error
        if not 200 <= answer.status < 300:
            raise MnemicError(f"the server answered {answer.status}")


def tenant_name(number: int) -> str:
    return f"{_OURS}{number:07d}"


class MadeUp:
    """The texts of a load, the schedule by which requests come, and who makes them; the same seed makes the same."""

    def __init__(self, load: TenantLoad, part: int = 0) -> None:
        self.load, self.part = load, part

    @cached_property
    def texts(self) -> list[str]:
        return [message.text for message in islice(Talk(self.load.seed).messages(_POOL), _POOL)]

    def question(self, dice: random.Random) -> str:
        words = dice.choice(self.texts).split()
        start = dice.randrange(max(1, len(words) - 4))
        return " ".join(words[start : start + 5])

    def tenants(self, count: int) -> list[int]:
        """Draw tenants by Zipf's law; who is first in it is nobody in particular."""
        ranks = np.arange(1, self.load.tenants + 1, dtype=np.float64)
        shares = ranks**-self.load.zipf
        order = np.random.default_rng(self.load.seed).permutation(self.load.tenants)
        dice = np.random.default_rng([self.load.seed, 1, self.part])
        return [int(order[rank]) for rank in dice.choice(self.load.tenants, count, p=shares / shares.sum())]

    def schedule(self) -> list[tuple[float, str, str, str]]:
        """When each request is due, its verb, its tenant and what it says: a process's part of the whole."""
        rate = self.load.rate / self.load.processes
        count = max(1, round(rate * self.load.seconds))
        dice = random.Random(f"{self.load.seed} {self.part}")  # noqa: S311 - a load, not a secret
        due, made = 0.0, []
        for tenant in self.tenants(count):
            due += dice.expovariate(rate)
            verb = "recall" if dice.random() < self.load.reads else "observe"
            text = self.question(dice) if verb == "recall" else dice.choice(self.texts)
            made.append((due, verb, tenant_name(tenant), text))
        return made


def come(target: Target, schedule: Sequence[tuple[float, str, str, str]], threads: int) -> Arrived:
    """Make each request when it is due, or as soon after that as a thread is free; latencies count from when it was."""
    waiting: queue.SimpleQueue[tuple[float, str, str, str] | None] = queue.SimpleQueue()
    arrived, recording = Arrived(), threading.Lock()
    began = time.perf_counter()

    def serve() -> None:
        while (request := waiting.get()) is not None:
            due, verb, tenant, text = request
            sent = time.perf_counter()
            try:
                target.recall(tenant, text) if verb == "recall" else target.observe(tenant, text)
            except MnemicError as error:
                with recording:
                    arrived.fail(error)
                continue
            done = time.perf_counter()
            with recording:
                arrived.record(verb, done - began - due, done - sent)

    with ThreadPoolExecutor(threads) as pool:
        serving = [pool.submit(serve) for _ in range(threads)]
        for request in schedule:
            time.sleep(max(0.0, began + request[0] - time.perf_counter()))
            waiting.put(request)
        for _ in serving:
            waiting.put(None)
        for each in serving:
            each.result()
    arrived.seconds = time.perf_counter() - began
    return arrived


def bench_load(
    load: TenantLoad = TenantLoad(),
    store: str | None = None,
    progress: Progress = lambda name, done, of: None,
    *,
    beside_file: bool = False,
) -> Measurements:
    """Fill a store and measure it.

    Args:
        store: A path or a URL, which holds nothing but what a run of this bench has put there, and keeps it; left
            out, a file that is gone afterwards.
        beside_file: Fill a file with the tenants of whom warm recall is measured, and have it recall in turn; it
            holds less, which is in its favour.

    Raises:
        Invalid: the store holds something else.
    """
    with TemporaryDirectory(prefix="mnemic-load-") as folder:
        where = store or str(Path(folder) / "memory.db")
        _refuse_others(where)
        filled, seconds = fill(where, load, progress)
        figures = [_loading(load, filled, seconds)]
        each = max(1, load.items // load.tenants)
        load = replace(load, tenants=max(1, filled), items=max(1, filled) * each)  # what there is, if time ran out
        with ExitStack() as opened:
            memories = [opened.enter_context(_memory(where))]
            if beside_file:
                other = str(Path(folder) / "beside.db")
                alike = replace(load, fill_seconds=None, processes=1)
                fill(other, alike, lambda name, done, of: progress(f"{name}, beside", done, of), _warm_tenants(load))
                memories.append(opened.enter_context(_memory(other)))
            figures += _warm(memories, load, progress)
            figures += _side_by_side(memories[0], load, progress)
        if load.processes > 1:
            figures += _apart(where, load, progress)
        figures += _arrivals(where, load, progress)
        figures += _further(where, load, progress)
        path = path_of(where)
        disk = shown(where) if path is None else file_system(path.parent)
        header = {**provenance(), "load": asdict(load), "file_system": disk}
    return Measurements(header=header, figures=tuple(figures))


@contextmanager
def _memory(where: str) -> Iterator[Memory]:
    with Memory(
        where, settings=_SETTINGS, strategies=[]
    ) as memory:  # nothing waits to be understood, as in a lived one
        yield memory


def _refuse_others(where: str) -> None:
    path = path_of(where)
    if path is not None and not path.exists():
        return
    with _memory(where) as memory:
        others = [name for name in tenants_of(memory._opened.store) if not name.startswith(_OURS)]
    if others:
        raise Invalid("store", "holds other tenants than those of this bench", "Name one that holds nothing.")


# Loading


def fill(where: str, load: TenantLoad, progress: Progress, only: Sequence[int] | None = None) -> tuple[int, float]:
    """Have every tenant have its items, as far as the time goes; who is there already is left as it is.

    Args:
        only: Some of the tenants; left out, all.

    Returns:
        How many tenants there are, from the first on; and the seconds that each item took which was loaded now.
    """
    with _memory(where) as memory:
        there = set(tenants_of(memory._opened.store))
    wanted = range(load.tenants) if only is None else only
    missing = [number for number in wanted if tenant_name(number) not in there]
    parts = [missing[part :: load.processes] for part in range(load.processes)]
    began = time.perf_counter()
    if load.processes == 1:
        items = _fill_part(where, load, parts[0], lambda done: progress("tenants loaded", done, len(missing)))
    else:
        progress("tenants loaded", 0, None)
        with _processes(load) as pool:
            items = sum(pool.map(_fill_part, [where] * len(parts), [load] * len(parts), parts))
    took = time.perf_counter() - began
    with _memory(where) as memory:
        there = set(tenants_of(memory._opened.store))
    filled = next((n for n in range(load.tenants) if tenant_name(n) not in there), load.tenants)
    return filled, took / items if items else 0.0


def _fill_part(
    where: str, load: TenantLoad, tenants: Sequence[int], advance: Callable[[int], None] = lambda _: None
) -> int:
    """TenantLoad tenants, each in commits of up to 500 items; how many items there were."""
    made, dice = MadeUp(load), random.Random(load.seed)  # noqa: S311 - a load, not a secret
    each = max(1, load.items // load.tenants)
    until = time.perf_counter() + (load.fill_seconds or float("inf"))
    texts = made.texts
    with _memory(where) as memory:
        for done, number in enumerate(tenants):
            if time.perf_counter() > until:
                return done * each
            scope = memory.scope(user="me", tenant=tenant_name(number))
            for start in range(0, each, _BATCH):
                scope.observe(dice.choices(texts, k=min(_BATCH, each - start)))
            advance(done + 1)
    return len(tenants) * each


@contextmanager
def _processes(load: TenantLoad) -> Iterator[ProcessPoolExecutor]:
    with ProcessPoolExecutor(load.processes, multiprocessing.get_context("spawn")) as pool:
        yield pool


def _loading(load: TenantLoad, filled: int, each: float) -> Figure:
    wanted = f"{filled:,} of {load.tenants:,} tenants with {max(1, load.items // load.tenants):,} items each"
    by = f"{load.processes} processes" if load.processes > 1 else "one process"
    if not each:
        return Figure(name="items loaded a second", value=0.0, unit="", detail=f"{wanted}, there before")
    return Figure(
        name="items loaded a second", value=1 / each, unit="", bar=LOADED, more=True, detail=f"{wanted}, by {by}"
    )


# Recall, warm


def _warm_tenants(load: TenantLoad) -> list[int]:
    return sorted(set(MadeUp(load).tenants(load.warm)))


def _warm(memories: Sequence[Memory], load: TenantLoad, progress: Progress) -> list[Figure]:
    """Time recalls of tenants whose catalogues are at hand, in turn over each store."""
    made, dice = MadeUp(load), random.Random(load.seed)  # noqa: S311 - a load, not a secret
    tenants = _warm_tenants(load)
    times: list[list[float]] = [[] for _ in memories]
    trips: list[list[int]] = [[] for _ in memories]
    for done, number in enumerate(tenants):
        progress("warm recalls", done + 1, len(tenants))
        asked = made.question(dice)
        for place, memory in enumerate(memories):
            scope = memory.scope(user="me", tenant=tenant_name(number))
            scope.recall(made.question(dice), k=_HITS)
            before, began = getattr(memory._opened.store, "trips", 0), time.perf_counter()
            scope.recall(asked, k=_HITS)
            times[place].append(time.perf_counter() - began)
            trips[place].append(getattr(memory._opened.store, "trips", 0) - before)
    medians = [median(taken) * 1_000 for taken in times]
    detail = f"{len(tenants):,} tenants, p95 {np.percentile(times[0], 95) * 1_000:.1f} ms"
    figures = [Figure(name="a warm recall: p50", value=medians[0], unit="ms", detail=detail)]
    if len(memories) > 1:
        beside = f"a file takes {medians[1]:.2f} ms, in turn"
        figures.append(
            Figure(
                name="the same beside a file", value=medians[0] / medians[1], unit="x", bar=WARM_SHARE, detail=beside
            )
        )
    if hasattr(memories[0]._opened.store, "trips"):
        figures.append(
            Figure(name="round trips of a warm recall: p50", value=median(trips[0]), unit="", bar=WARM_TRIPS)
        )
    return figures


# Commits of many tenants, and of one


def _side_by_side(memory: Memory, load: TenantLoad, progress: Progress) -> list[Figure]:
    """Count commits a second, each caller's next as soon as its last is done: all tenants, against one; in turn."""
    texts = MadeUp(load).texts
    seconds = min(5.0, max(0.2, load.seconds / 10))
    rates: dict[str, list[float]] = {"all": [], "one": []}
    for turn in range(3):
        for whose, rate in rates.items():
            progress(f"commits of {whose} tenants" if whose == "all" else "commits of one tenant", turn + 1, 3)
            last = load.tenants if whose == "all" else 1
            rate.append(_commit_rate(memory, load, last, texts, seconds))
    many, one = median(rates["all"]), median(rates["one"])
    return [
        Figure(name="commits a second, all tenants", value=many, unit="", more=True, detail=f"{load.threads} callers"),
        Figure(
            name="the same beside one tenant's", value=many / one, unit="x", bar=SIDE_BY_SIDE, more=True,
            detail=f"{one:,.0f} a second, written together",
        ),
    ]  # fmt: skip


def _commit_rate(memory: Memory, load: TenantLoad, tenants: int, texts: Sequence[str], seconds: float) -> float:
    began = time.perf_counter()
    until = began + seconds

    def call(caller: int) -> int:
        dice, done = random.Random(f"{load.seed} {caller}"), 0  # noqa: S311 - a load, not a secret
        while time.perf_counter() < until:
            scope = memory.scope(user="me", tenant=tenant_name(dice.randrange(tenants)))
            scope.observe(dice.choice(texts))
            done += 1
        return done

    with ThreadPoolExecutor(load.threads) as pool:
        done = sum(pool.map(call, range(load.threads)))
    return done / (time.perf_counter() - began)


# Commits of many processes

_ready: Barrier | None = None
"""What processes wait at until all are there."""


def _wait_at(barrier: Barrier) -> None:
    global _ready
    _ready = barrier


def _apart(where: str, load: TenantLoad, progress: Progress) -> list[Figure]:
    """Count commits of several processes, each with one caller, so that none shares another's: of one tenant, and of
    as many tenants; and those of one such process. In turn.
    """
    spawn = multiprocessing.get_context("spawn")
    count = min(load.processes, load.tenants)
    barrier = spawn.Barrier(count)
    rates: dict[str, list[float]] = {"own": [], "one": [], "alone": []}
    seconds = min(5.0, max(0.2, load.seconds / 10))
    with ProcessPoolExecutor(count, spawn, initializer=_wait_at, initargs=(barrier,)) as pool:
        for turn in range(3):
            progress("commits of many processes", turn + 1, 3)
            for how, rate in rates.items():
                parts = [(0 if how == "one" else part, how != "alone" or part == 0) for part in range(count)]
                calls = [pool.submit(_commits_of_process, where, load, seconds, *part) for part in parts]
                rate.append(sum(call.result() for call in calls))
    own, one, alone = (median(each) for each in rates.values())
    return [
        Figure(
            name=f"commits a second, {count} processes, a tenant each", value=own, unit="", more=True,
            detail=f"one caller in each; one process alone {alone:,.0f}",
        ),
        Figure(name="the same beside all on one tenant", value=own / one, unit="x", more=True),
        Figure(
            name=f"{count} processes on one tenant beside one process", value=one / alone, unit="x", bar=1.0, more=True,
            detail=f"{one:,.0f} a second",
        ),
    ]  # fmt: skip


def _commits_of_process(where: str, load: TenantLoad, seconds: float, tenant: int, commits: bool) -> float:
    """Commit one after the other from when all processes are ready; how many a second."""
    assert _ready is not None
    texts, done = MadeUp(load).texts, 0
    with _memory(where) as memory:
        scope = memory.scope(user="me", tenant=tenant_name(tenant))
        scope.observe(texts[0])
        _ready.wait(_TOGETHER_SECONDS)
        began = time.perf_counter()
        while commits and time.perf_counter() < began + seconds:
            scope.observe(texts[done % len(texts)])
            done += 1
        took = time.perf_counter() - began
        _ready.wait(_TOGETHER_SECONDS)  # nobody opens or closes while others commit
    return done / took


# Requests that come by themselves


def _arrivals(where: str, load: TenantLoad, progress: Progress) -> list[Figure]:
    progress("requests that come", 0, None)
    with ExitStack() as running:
        port = running.enter_context(mnemic_server(where, background=False)).port if load.served else 0
        if load.processes == 1:
            arrived = _arrive(where, load, 0, port)
        else:
            arrived = Arrived()
            with _processes(load) as pool:
                for each in [pool.submit(_arrive, where, load, part, port) for part in range(load.processes)]:
                    arrived.add(each.result())
    return _arrived_figures(load, arrived)


def _arrive(where: str, load: TenantLoad, part: int, port: int) -> Arrived:
    """Make a process's part of the requests."""
    schedule = MadeUp(load, part).schedule()
    if port:
        with closing(ServedTarget(port)) as target:
            return come(target, schedule, load.threads)
    with _memory(where) as memory:
        return come(LibraryTarget(memory), schedule, load.threads)


def _arrived_figures(load: TenantLoad, arrived: Arrived) -> list[Figure]:
    failed = sum(arrived.errors.values())
    over = "a server" if load.served else "the library"
    span = max(arrived.seconds, load.seconds)
    figures = [
        Figure(
            name="requests answered, of those that came", value=arrived.answered / span / load.rate, unit="",
            bar=KEPT_UP, more=True, detail=f"{load.rate:,.0f} a second for {load.seconds:g} s over {over}",
        ),
        Figure(name="requests that failed", value=failed, unit="", bar=0, detail=_told(arrived.errors)),
    ]  # fmt: skip
    for verb in sorted(arrived.due):
        due, sent = arrived.due[verb], arrived.sent[verb]
        beside = ", ".join(f"p{share:g} {due.percentile(share) * 1_000:,.1f}" for share in (90, 99, 99.9))
        figures.append(
            Figure(
                name=f"{verb}, from when it was due: p50", value=due.percentile(50) * 1_000, unit="ms",
                detail=f"{beside}; from when it was sent p50 {sent.percentile(50) * 1_000:,.1f},"
                f" p99 {sent.percentile(99) * 1_000:,.1f}; {due.count:,} of them",
                histogram=tuple(due.rows()),
            )
        )  # fmt: skip
    return figures


def _told(errors: dict[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in sorted(errors.items()))


# Tenants that come later


def _further(where: str, load: TenantLoad, progress: Progress) -> list[Figure]:
    """Have further tenants come, and look how the store has grown."""
    with _memory(where) as memory:
        store = memory._opened.store
        items = load.tenants * max(1, load.items // load.tenants)
        before = _relations(store)
        size = store.info().bytes
        for number in range(load.further):
            progress("further tenants", number + 1, load.further)
            memory.scope(user="me", tenant=f"{_OURS}further {load.seed} {number}").observe("The cello has arrived.")
        after = _relations(store)
    figures = [Figure(name="bytes an item takes", value=size / items, unit="B", detail=f"{items:,} items, all tables")]
    if before is not None and after is not None:
        figures.append(
            Figure(
                name=f"relations that {load.further:,} tenants more have made", value=after - before, unit="", bar=0,
                detail=f"{after:,} in all",
            )
        )  # fmt: skip
    return figures


def _relations(store: Any) -> int | None:
    """How many relations the database has; None for a file."""
    return store.relation_count() if hasattr(store, "relation_count") else None
