"""Garbage collection beside writers and readers: how large the file stays, who waits for it, and what recall says.

A million adds pass through a store that holds a hundred thousand: each commit adds a batch, revises some facts and
retires as many items as are too many, while the collector runs in a thread of the same process. Live data is what a
fresh store takes that holds just the items that stand, written once. Then single writes are timed with and without a
run beside them, reads too, and a fixed set of questions is asked before and after.

What a slice takes by the clock is not what a writer waits: while the writer makes its next commit ready it holds the
interpreter, so that a slice beside it gets on slowly, and keeps nobody out. Both are told, over all runs and of the
worst; the bar is for what writers wait.
"""

from __future__ import annotations

import random
import statistics
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Final

from mnemic.collecting.housekeeping import Collected
from mnemic.core.events import Verb
from mnemic.core.ids import ItemId, SystemEntropy, new_id
from mnemic.core.items import Item, Kind, State
from mnemic.core.mutex import Holder, Mutex
from mnemic.core.parts import entry_terms
from mnemic.ingest.message import Message
from mnemic.lab.kit.figures import Figure, Measurements
from mnemic.lab.kit.generate import Talk
from mnemic.lab.kit.log import provenance
from mnemic.lab.kit.run import Progress, silent
from mnemic.memory import Memory
from mnemic.settings import Settings
from mnemic.store.engine.compaction import SLICE_SECONDS
from mnemic.store.sqlite.disk import file_system
from mnemic.store.values.drafts import Draft, Put

USER: Final = "ada"
TENANT: Final = "default"
QUESTIONS: Final = 40
STATED: Final = 1_000_000
"""Adds that the bars for size and time are stated for."""
PAUSE: Final = 50.0
"""Milliseconds that a writer may wait at the 99th of a hundred."""
_COLLECTOR: Final = "collector"
_ENOUGH: Final = 100
"""Slices, or waits, that a run must have for its 99th of a hundred to mean anything."""
_EVERY: Final = 0.2
"""Seconds between two runs while the store fills."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GcSize:
    """How much is done; the defaults are what the bars are stated for.

    Attributes:
        keep: Commits of the past that are kept, of `adds / batch` in all.
        singles: Single writes that are timed with nothing beside them.
    """

    adds: int = 1_000_000
    live: int = 100_000
    batch: int = 100
    keep: int = 200
    singles: int = 1_000
    slice_seconds: float = SLICE_SECONDS
    seed: int = 0

    @property
    def stated(self) -> bool:
        """Whether it is as much as the bars are stated for."""
        return self.adds >= STATED and self.live >= STATED // 10


SHORT: Final = GcSize(adds=20_000, live=4_000, keep=50, singles=200)
"""A run of some seconds, to compare two states of the code by; no bar is stated for it."""


def bench_gc(size: GcSize = GcSize(), progress: Progress = silent, *, folder: Path | None = None) -> Measurements:
    """Measure collection beside writers and readers, in files that are gone afterwards.

    Args:
        progress: Called as it goes: what is going on, how much of it is done, and of how much.
        folder: On the disk to measure; the system's folder for temporary files when None.
    """
    with tempfile.TemporaryDirectory(prefix="mnemic-gc-", dir=folder) as fresh:
        figures = _Bench(Path(fresh), size, progress).figures()
    disk = file_system(Path(folder or tempfile.gettempdir()))
    return Measurements(header={**provenance(), "size": asdict(size), "file_system": disk}, figures=tuple(figures))


@dataclass(slots=True)
class _Timed:
    """Seconds that each of some calls took."""

    taken: list[float] = field(default_factory=list)

    @contextmanager
    def one(self) -> Iterator[None]:
        began = time.perf_counter()
        yield
        self.taken.append(time.perf_counter() - began)

    def ms(self, share: float) -> float:
        """A quantile, in milliseconds; 0 of nothing."""
        return 1000 * sorted(self.taken)[min(len(self.taken) - 1, int(share * len(self.taken)))] if self.taken else 0.0


class _Waits(Mutex):
    """A store's write lock, with a watch on how long whoever but the collector waits for it."""

    def __init__(self) -> None:
        super().__init__()
        self.taken: list[tuple[float, float]] = []
        """Since when somebody waited, and for how many seconds."""

    def take(self, call: Holder, patience: float | None = None) -> bool:
        began = time.monotonic()
        taken = super().take(call, patience)
        if threading.current_thread().name != _COLLECTOR:
            self.taken.append((began, time.monotonic() - began))
        return taken


@dataclass(frozen=True, slots=True)
class _Run:
    """One run of the collector, and when it went on."""

    did: Collected
    began: float
    ended: float

    def waits(self, waits: _Waits) -> _Timed:
        """What writers that came while it went on waited."""
        return _Timed([waited for at, waited in waits.taken if self.began <= at < self.ended])


class _Bench:
    def __init__(self, folder: Path, size: GcSize, progress: Progress) -> None:
        self.folder, self.size, self.progress = folder, size, progress
        self.random = random.Random(size.seed)  # noqa: S311 - a workload, not a secret
        self.talk = Talk(size.seed)
        self.live: list[Item] = []
        self.runs: list[_Run] = []
        self.peak = 0
        self.memory = self._open("memory.db")
        self.waits = self._store._writing = _Waits()

    def _open(self, name: str) -> Memory:
        return Memory(self.folder / name, settings=Settings(background=False), embedder="none")

    def figures(self) -> list[Figure]:
        began = time.perf_counter()
        self._fill()
        filled = time.perf_counter() - began
        quiet_writes, quiet_reads = self._probe(beside=False)
        busy_writes, busy_reads = self._probe(beside=True)
        before = self._answers()
        self._collect()
        same = before == self._answers()
        faults = len(self.memory.admin.verify())
        size = self.memory.admin.info().bytes
        self.memory.close()
        live = self._live_bytes()
        return [
            *self._space(size, live, filled),
            *_waits(self.size, self.runs, self.waits),
            *_slices(self.runs),
            _singles(self.size, quiet_writes, busy_writes),
            _reads(quiet_reads, busy_reads),
            Figure(name=f"{QUESTIONS} questions answered alike by a run", value=float(same), unit="", bar=1, more=True),
            Figure(name="faults that verify finds", value=faults, unit="", bar=0),
        ]

    def _space(self, size: int, live: int, filled: float) -> list[Figure]:
        dropped = sum(run.did.versions for run in self.runs)
        bar = 2.5 if self.size.stated else None
        detail = f"{size / 2**20:,.0f} MiB against {live / 2**20:,.0f} MiB, the last {self.size.keep} commits kept"
        return [
            Figure(name="files at the end, against live data", value=size / live, unit="x", bar=bar, detail=detail),
            Figure(name="files at their largest, against live data", value=self.peak / live, unit="x"),
            Figure(
                name=f"{self.size.adds:,} adds with updates and deletes",
                value=filled,
                unit="s",
                detail=f"{self.size.adds / filled:,.0f} adds/s; {len(self.runs)} runs dropped {dropped:,} versions",
            ),
        ]

    # The workload

    def _fill(self) -> None:
        stop = threading.Event()
        collector = threading.Thread(target=self._collecting, args=(stop,), name=_COLLECTOR)
        collector.start()
        facts: dict[ItemId, Item] = {}
        try:
            messages = self.talk.messages(self.size.adds)
            for done in range(0, self.size.adds, self.size.batch):
                self._round(list(islice(messages, self.size.batch)), facts)
                if done % (100 * self.size.batch) == 0:
                    self.peak = max(self.peak, self.memory.admin.info().bytes)
                    self.progress("adds", done, self.size.adds)
            self.progress("adds", self.size.adds, self.size.adds)
        finally:
            stop.set()
            collector.join()

    def _collecting(self, stop: threading.Event) -> None:
        while not stop.wait(_EVERY):
            self._collect()

    def _collect(self) -> None:
        keep = f"{self.size.keep} commits"
        began = time.monotonic()
        did = self.memory.admin.gc(collectors=(), keep=keep, slice_seconds=self.size.slice_seconds)
        self.runs.append(_Run(did, began, time.monotonic()))

    def _round(self, messages: list[Message], facts: dict[ItemId, Item]) -> None:
        """One commit: messages are added, every tenth as a fact; a tenth as many facts revised; too many retired."""
        fresh = [_item(message, Kind.FACT if n % 10 == 0 else Kind.TURN) for n, message in enumerate(messages)]
        gone = self._retired(len(self.live) + len(fresh) - self.size.live, facts)
        picked = self.random.sample(list(facts.values())[-2_000:], min(len(messages) // 10, len(facts)))
        revised = [replace(item, text=item.text + " Again.") for item in picked]
        facts.update((item.id, item) for item in (*(each for each in fresh if each.kind is Kind.FACT), *revised))
        self.live += fresh
        puts = [_put(Verb.WROTE, item) for item in fresh] + [_put(Verb.REVISED, item) for item in revised]
        puts += [Put(verb=Verb.RETIRED, item=replace(item, state=State.RETIRED), terms=None) for item in gone]
        self._store.commit(Draft(tenant=TENANT, user=USER, actor=USER, ops=tuple(puts)))

    def _retired(self, count: int, facts: dict[ItemId, Item]) -> list[Item]:
        """Any of those that stand, the old ones not more than the young."""
        gone = []
        for _ in range(count):
            place = self.random.randrange(len(self.live))
            item = self.live[place]
            self.live[place] = self.live[-1]
            self.live.pop()
            gone.append(facts.pop(item.id, item))
        return gone

    @property
    def _store(self):  # type: ignore[no-untyped-def]
        return self.memory._opened.store

    # What is measured

    def _probe(self, *, beside: bool) -> tuple[_Timed, _Timed]:
        """Single writes and reads, one after another in a thread each; beside a run, until it is over."""
        writes, reads, stop = _Timed(), _Timed(), threading.Event()
        ids = [item.id for item in self.random.sample(self.live, min(1000, len(self.live)))]
        reader = threading.Thread(target=self._reading, args=(ids, reads, stop), name="reader")
        if beside:  # garbage for one more run: retire a fifth of what stands, and put as much in its place
            self._churn()
            collector = threading.Thread(target=self._collect, name=_COLLECTOR)
            collector.start()
        reader.start()
        me = self.memory.scope(user=USER)
        done = 0
        while collector.is_alive() if beside else done < self.size.singles:
            with writes.one():
                me.observe("One more thing, said while others work.")
            done += 1
            time.sleep(0.002)
        stop.set()
        reader.join()
        return writes, reads

    def _churn(self) -> None:
        messages = Talk(self.size.seed + 1).messages(self.size.live // 5, prefix="churn")
        while batch := list(islice(messages, self.size.batch)):
            self._round(batch, {})
        me = self.memory.scope(user=USER)
        for _ in range(self.size.keep):  # the horizon passes what was retired
            me.observe("One more thing.")

    def _reading(self, ids: list[ItemId], reads: _Timed, stop: threading.Event) -> None:
        me, draw = self.memory.scope(user=USER), random.Random(self.size.seed)  # noqa: S311 - a workload
        while not stop.wait(0.002):
            with reads.one():
                me.list(limit=5)
                self._see(me, draw.choice(ids))

    @staticmethod
    def _see(me, item: ItemId) -> None:  # type: ignore[no-untyped-def]
        me.links(item)

    def _answers(self) -> list[tuple[tuple[str, float], ...]]:
        me = self.memory.scope(user=USER)
        return [tuple((r.id, r.score) for r in me.recall(question).items) for question in self._questions()]

    def _questions(self) -> list[str]:
        talk = Talk(self.size.seed + 7)
        messages = list(talk.messages(200))
        return [talk.question(messages).text for _ in range(QUESTIONS)]

    def _live_bytes(self) -> int:
        """What a fresh store takes that holds just what stands, each item written once."""
        with self._open("memory.db") as memory, memory._opened.store.read() as snapshot:
            head = snapshot.space(snapshot.tenant(TENANT) or 0, USER)
            assert head is not None
            versions = [v.item for _, v in snapshot.scan((head.id,), limit=10 * self.size.live)]
        with self._open("live.db") as fresh:
            for at in range(0, len(versions), self.size.batch):
                puts = tuple(_put(Verb.WROTE, item) for item in versions[at : at + self.size.batch])
                fresh._opened.store.commit(Draft(tenant=TENANT, user=USER, actor=USER, ops=puts))
                self.progress("live data", at, len(versions))
        return (self.folder / "live.db").stat().st_size


def _item(message: Message, kind: Kind) -> Item:
    assert message.said is not None
    return Item(
        id=new_id(time.time_ns() // 1000, SystemEntropy()), kind=kind, text=message.text, said=message.said,
        slots=dict(message.slots), session=message.session, pos=message.pos or 0,
    )  # fmt: skip


def _put(verb: Verb, item: Item) -> Put:
    return Put(verb=verb, item=item, terms=entry_terms(item))


def _waits(size: GcSize, runs: list[_Run], waits: _Waits) -> list[Figure]:
    each = [run.waits(waits) for run in runs]
    pooled = _Timed([waited for writer in each for waited in writer.taken])
    worst = max((writer.ms(0.99) for writer in each if len(writer.taken) >= _ENOUGH), default=pooled.ms(0.99))
    detail = (
        f"p50 {pooled.ms(0.5):.1f}, max {pooled.ms(1):.1f} ms over {len(pooled.taken):,} writes beside {len(runs)} runs"
    )
    name = "a writer's wait beside runs, p99"
    return [
        Figure(name=name, value=pooled.ms(0.99), unit="ms", bar=PAUSE if size.stated else None, detail=detail),
        Figure(name=f"{name} of the worst run", value=worst, unit="ms"),
    ]


def _slices(runs: list[_Run]) -> list[Figure]:
    pooled = _Timed([pause for run in runs for pause in run.did.pauses])
    worst = max((r.did.p99 for r in runs if r.did.slices >= _ENOUGH), default=1e-3 * pooled.ms(0.99))
    detail = f"p50 {pooled.ms(0.5):.1f}, max {pooled.ms(1):.1f} ms over {len(pooled.taken):,} slices"
    name = "a slice, p99"
    return [
        Figure(name=name, value=pooled.ms(0.99), unit="ms", detail=detail),
        Figure(name=f"{name} of the worst run", value=1000 * worst, unit="ms"),
    ]


def _singles(size: GcSize, quiet: _Timed, busy: _Timed) -> Figure:
    alone = f"alone p50 {quiet.ms(0.5):.1f}, p99 {quiet.ms(0.99):.1f}, max {quiet.ms(1):.1f} ms"
    return Figure(
        name="single durable write beside a run, p99",
        value=busy.ms(0.99),
        unit="ms",
        bar=PAUSE + quiet.ms(0.99) if size.stated else None,
        detail=f"p50 {busy.ms(0.5):.1f}, max {busy.ms(1):.1f} ms over {len(busy.taken):,}; {alone}",
    )


def _reads(quiet: _Timed, busy: _Timed) -> Figure:
    alone = f"alone p50 {quiet.ms(0.5):.1f}, p99 {quiet.ms(0.99):.1f}, max {quiet.ms(1):.1f} ms"
    summary = f"p50 {busy.ms(0.5):.1f}, mean {1000 * statistics.fmean(busy.taken or [0]):.1f}, max {busy.ms(1):.1f} ms"
    detail = f"{summary} over {len(busy.taken):,}; {alone}"
    return Figure(name="read beside a run, p99", value=busy.ms(0.99), unit="ms", detail=detail)
