"""Measures the speed of writes and recall in one run, each figure beside its bar and a baseline of the same rounds.

A write is compared with append + fdatasync of the same bytes, sixteen callers with one, the past with
now, always interleaved, so that a busy machine weighs on both alike. Run as `python -m mnemic.lab.tasks.speed_bench`.
"""

from __future__ import annotations

import os
import random
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Final, TypeVar

import click
import numpy as np

from mnemic.core.queries import Filter
from mnemic.ingest.message import Message
from mnemic.lab.kit.figures import Figure, Measurements, show
from mnemic.lab.kit.generate import Talk
from mnemic.lab.kit.log import provenance
from mnemic.memory import Memory, ScopedMemory
from mnemic.store.sqlite.disk import file_system
from mnemic.store.sqlite.sqlite_store import SqliteStore

CALLERS: Final = 16
SLOW_SYNC: Final = 0.002
"""Seconds that one sync takes where group commit is measured."""
BATCH: Final = 100
"""Messages to an observe where many are taken in."""
TOPICS: Final = 100
"""Tags of which each message bears one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeedSize:
    """How much is measured; the defaults are what the bars are stated for."""

    items: int = 100_000
    users: int = 1_000
    turns: int = 10_000
    rounds: int = 30
    questions: int = 1_000
    seed: int = 0

    @property
    def stated(self) -> bool:
        """Whether it is as much as the bars are stated for."""
        ours, least = (self.items, self.turns, self.rounds, self.questions), (100_000, 10_000, 30, 1_000)
        return all(mine >= of for mine, of in zip(ours, least, strict=True))


T = TypeVar("T")
Part = Callable[[Path, SpeedSize], list[Figure]]


def bench_speed(
    size: SpeedSize = SpeedSize(), progress: Callable[[str], None] = lambda _: None, *, folder: Path | None = None
) -> Measurements:
    """Measure everything, on files that are gone afterwards.

    Args:
        progress: Called with the name of each part before it runs.
        folder: On the disk to measure; the system's folder for temporary files when None.
    """
    figures: list[Figure] = []
    for name, part in PARTS.items():
        progress(name)
        with tempfile.TemporaryDirectory(prefix="mnemic-speed-", dir=folder) as fresh:
            figures += part(Path(fresh), size)
    disk = file_system(Path(folder or tempfile.gettempdir()))
    return Measurements(header={**provenance(), "size": asdict(size), "file_system": disk}, figures=tuple(figures))


def single_writes(folder: Path, size: SpeedSize) -> list[Figure]:
    """One durable observe after another, against append + fdatasync of the same bytes."""
    each = 20
    messages = Talk(size.seed).messages((size.rounds + 1) * each)
    ours, theirs = _Meter(), _Meter()
    with Memory(folder / "memory.db") as memory, _appending(folder / "plain") as append:
        me = memory.scope(user="ada")
        me.observe(list(islice(messages, each)))
        for _ in range(size.rounds):
            batch = list(islice(messages, each))
            with ours.round(each):
                for message in batch:
                    me.observe([message])
            with theirs.round(each):
                for message in batch:
                    append(message.text.encode())
    cpu = float(np.median(np.subtract(ours.cpu, theirs.cpu)))
    wall, plain = float(np.median(ours.wall)), float(np.median(theirs.wall))
    return [
        Figure(
            name="single durable observe: CPU beyond append + fdatasync",
            value=cpu,
            unit="ms",
            bar=0.3,
            detail=f"wall {wall:.2f} ms against {plain:.2f} ms, median of {size.rounds} rounds of {each}",
        ),
        Figure(name="single durable observe: wall, against append + fdatasync", value=wall / plain, unit="x"),
    ]


def group_commit(folder: Path, size: SpeedSize) -> list[Figure]:
    """Sixteen callers against one, with a sync of 2 ms.

    The sync is a sleep at the point where the commit waits for the disk, and SQLite's own is off: a slow disk made of a
    VFS in Python would take the interpreter's lock for every page, and measure that.
    """
    each, ratios, alone, together = 25, [], [], []
    messages = Talk(size.seed).messages(5 * each * (CALLERS + 1))
    store = SqliteStore(folder / "memory.db", synchronous="OFF", probe=_slow_sync)
    with Memory(store) as memory:
        me = memory.scope(user="ada")
        for _ in range(5):
            rate = _rate(me, [list(islice(messages, each))])
            many = _rate(me, [list(islice(messages, each)) for _ in range(CALLERS)])
            alone.append(rate)
            together.append(many)
            ratios.append(many / rate)
    return [
        Figure(
            name=f"group commit: {CALLERS} callers against one, sync of {SLOW_SYNC * 1000:g} ms",
            value=float(np.median(ratios)),
            unit="x",
            bar=5,
            more=True,
            detail=f"{np.median(together):,.0f} against {np.median(alone):,.0f} writes/s",
        )
    ]


def bulk(folder: Path, size: SpeedSize) -> list[Figure]:
    """Ten thousand turns, durable and indexed: until the first recall has answered."""
    messages = list(Talk(size.seed).messages(size.turns))
    with Memory(folder / "memory.db") as memory:
        me = memory.scope(user="ada")
        began = time.perf_counter()
        _fill(me, messages)
        durable = time.perf_counter() - began
        me.recall("What did we plan for the summer?")
        took = time.perf_counter() - began
    return [
        Figure(
            name=f"{size.turns:,} turns durable and indexed",
            value=took,
            unit="s",
            bar=5,
            detail=f"{len(messages) / durable:,.0f} turns/s in batches of {BATCH}, index {took - durable:.2f} s",
        )
    ]


def many_users(folder: Path, size: SpeedSize) -> list[Figure]:
    """Recall over the items of a thousand users, one drawn at random each time, all warm."""
    draw = random.Random(size.seed)  # noqa: S311 - a workload, not a secret
    each = size.items // size.users
    talk = Talk(size.seed)
    asked: dict[str, list[str]] = {}
    with Memory(folder / "memory.db") as memory:
        for n in range(size.users):
            messages = list(talk.messages(each))
            asked[f"user-{n}"] = [talk.question(messages).text for _ in range(3)]
            _fill(memory.scope(user=f"user-{n}"), messages)
        for user, questions in asked.items():
            memory.scope(user=user).recall(questions[0])
        users = draw.choices(list(asked), k=size.questions)
        times = [_timed(memory.scope(user=user), draw.choice(asked[user])) for user in users]
    return _latency(f"recall over {size.items:,} items of {size.users:,} users", times, bar=5)


def one_user(folder: Path, size: SpeedSize) -> list[Figure]:
    """Recall over all items of one user, warm; then the same questions by tag and of the past, interleaved."""
    talk = Talk(size.seed)
    messages = [replace(m, tags=_tags(n)) for n, m in enumerate(talk.messages(size.items))]
    with Memory(folder / "memory.db") as memory:
        me = memory.scope(user="ada")
        seqs = _fill(me, messages)
        questions = [talk.question(messages).text for _ in range(size.questions)]
        _timed(me, questions[0])
        figures = _latency(f"recall over {size.items:,} items of one user", [_timed(me, q) for q in questions], bar=10)
        asked = questions[: max(size.questions // 4, 1)]
        return figures + _filtered(me, asked) + _past(me, asked, messages, seqs)


def _tags(place: int) -> tuple[str, ...]:
    """A tag that every other message bears, and one of a hundred."""
    return (f"topic {place % TOPICS}", "even") if place % 2 == 0 else (f"topic {place % TOPICS}",)


def _filtered(me: ScopedMemory, questions: Sequence[str]) -> list[Figure]:
    """One tag for all questions, then another tag for each; by CPU, each beside the same question of all items."""
    filters: dict[str, Callable[[int], str]] = {
        "one tag of half the items": lambda _: "even",
        "another tag each time": lambda n: f"topic {n % TOPICS}",
    }
    times: dict[str, list[float]] = {"none": [], **{name: [] for name in filters}}
    for n, question in enumerate(questions):
        asked = [("none", Filter()), *((name, Filter(tags=(tag(n),))) for name, tag in filters.items())]
        for name, where in asked[n % 3 :] + asked[: n % 3]:
            times[name].append(_timed(me, question, where).cpu)
    plain = float(np.median(times["none"]))
    return [
        Figure(
            name=f"filter by {name} against none, same questions interleaved",
            value=float(np.median(times[name])) / plain,
            unit="x",
            bar=2,
            detail=f"CPU p50 {np.median(times[name]):.2f} ms against {plain:.2f} ms",
        )
        for name in filters
    ]


def _past(me: ScopedMemory, questions: Sequence[str], messages: Sequence[Message], seqs: Sequence[int]) -> list[Figure]:
    """Another moment for each question, within the last tenth, so that as much lies before it as before now."""
    times: dict[str, list[float]] = {"now": [], "as_of": [], "at": []}
    for n, question in enumerate(questions):
        said = _late(messages, n, len(questions)).said
        assert said is not None
        views = [("now", me), ("as_of", me.as_of(said)), ("at", me.at(_late(seqs, n, len(questions))))]
        for name, view in views[n % 3 :] + views[: n % 3]:
            times[name].append(_timed(view, question).wall)
    now = float(np.median(times["now"]))
    return [
        Figure(
            name=f"{name} against now, same questions interleaved",
            value=float(np.median(times[name])) / now,
            unit="x",
            bar=1.3,
            detail=f"p50 {np.median(times[name]):.2f} ms against {now:.2f} ms, another moment for each question",
        )
        for name in ("as_of", "at")
    ]


def _late(history: Sequence[T], n: int, of: int) -> T:
    """The n-th of so many steps through the last tenth of a history."""
    start = len(history) * 9 // 10
    return history[start + (len(history) - start) * n // of]


PARTS: Final[Mapping[str, Part]] = {
    "single writes": single_writes,
    "group commit": group_commit,
    "bulk": bulk,
    "many users": many_users,
    "one user": one_user,
}


class _Meter:
    """CPU and wall milliseconds a write, one entry a round."""

    def __init__(self) -> None:
        self.cpu: list[float] = []
        self.wall: list[float] = []

    @contextmanager
    def round(self, writes: int) -> Iterator[None]:
        wall, cpu = time.perf_counter(), time.process_time()
        yield
        self.cpu.append((time.process_time() - cpu) * 1000 / writes)
        self.wall.append((time.perf_counter() - wall) * 1000 / writes)


def _slow_sync(point: str) -> None:
    if point == "commit:before-commit":
        time.sleep(SLOW_SYNC)


@contextmanager
def _appending(path: Path) -> Iterator[Callable[[bytes], None]]:
    sync = getattr(os, "fdatasync", os.fsync)  # macOS has no fdatasync
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def append(data: bytes) -> None:
        os.write(file, data)
        sync(file)

    try:
        yield append
    finally:
        os.close(file)


def _rate(me: ScopedMemory, shares: Sequence[Sequence[Message]]) -> float:
    """Durable writes a second, one thread to a share, one message to a write."""

    def write(share: Sequence[Message]) -> None:
        for message in share:
            me.observe([message])

    threads = [threading.Thread(target=write, args=(share,)) for share in shares]
    began = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(map(len, shares)) / (time.perf_counter() - began)


def _fill(me: ScopedMemory, messages: Sequence[Message]) -> list[int]:
    return [me.observe(messages[i : i + BATCH]).seq for i in range(0, len(messages), BATCH)]


@dataclass(frozen=True, slots=True)
class _Took:
    """Milliseconds of one call: by the wall, and by this thread's CPU, which a busy machine does not stretch."""

    wall: float
    cpu: float


def _timed(me: ScopedMemory, question: str, where: Filter = Filter()) -> _Took:
    wall, cpu = time.perf_counter(), time.thread_time()
    me.recall(question, where=where)
    return _Took((time.perf_counter() - wall) * 1000, (time.thread_time() - cpu) * 1000)


def _latency(name: str, took: Sequence[_Took], *, bar: float) -> list[Figure]:
    p50, p95 = (float(x) for x in np.percentile([t.wall for t in took], (50, 95)))
    cpu50, cpu95 = (float(x) for x in np.percentile([t.cpu for t in took], (50, 95)))
    return [
        Figure(
            name=f"{name}: p95",
            value=p95,
            unit="ms",
            bar=bar,
            detail=f"p50 {p50:.2f} ms; CPU p50 {cpu50:.2f}, p95 {cpu95:.2f}; {len(took):,} questions, warm",
        )
    ]


@click.command()
@click.option("--items", default=SpeedSize().items, show_default=True, help="Items recalled from.")
@click.option("--questions", default=SpeedSize().questions, show_default=True, help="Questions to each latency.")
@click.option("--seed", default=0, show_default=True, help="Of the made-up text.")
@click.option("--folder", type=click.Path(path_type=Path, exists=True), help="On the disk to measure.")
@click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")
def main(items: int, questions: int, seed: int, folder: Path | None, as_json: bool) -> None:
    """Measure writes, group commit, bulk intake and recall on made-up conversations."""
    size = SpeedSize(items=items, users=max(items // 100, 1), questions=questions, seed=seed)
    speed = bench_speed(size, lambda part: click.echo(f"{part} ...", err=True), folder=folder)
    show(speed, sys.stdout, as_json=as_json)


if __name__ == "__main__":
    main()
