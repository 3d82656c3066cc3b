"""Foreground writes beside a busy worker in the same process: how much dearer one is than when nothing goes on behind.

Rounds alternate: in one the background has nothing before it, in the next it is busy all the time with the turns of
another user. Both write the same sort of messages at the same pace, so a busy machine weighs on both alike. Beside
that, what meters take from a write.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from mnemic.flow import Flow, Request, run
from mnemic.ingest.message import Message
from mnemic.lab.kit.figures import Figure, Measurements
from mnemic.lab.kit.generate import Talk
from mnemic.lab.kit.log import provenance
from mnemic.memory import Memory, ScopedMemory
from mnemic.models.scripted_embedder import ScriptedEmbedder
from mnemic.settings import Settings
from mnemic.store.sqlite.disk import file_system

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mnemic.answering import Answering
    from mnemic.models.base import Embedder
    from mnemic.watching.metering import Timed

BAR: Final = 2.0
"""How much dearer the middling write may be."""

BACKLOG: Final = 100
"""Turns that wait at least, all through a busy round."""

FULL: Final = 1_000
"""Turns that wait when one begins."""

TURN: Final = 10
"""Writes with meters, then as many without."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BusyLoad:
    """How much is measured.

    Attributes:
        rounds: Of each sort.
        writes: To a round.
        gap: Seconds between two writes, as of somebody who does something else too; 0 for none.
    """

    rounds: int = 10
    writes: int = 50
    gap: float = 0.005
    seed: int = 0

    @property
    def stated(self) -> bool:
        """Whether it is as much as the bars are stated for."""
        return self.rounds >= 10 and self.writes >= 50


class Burning(ScriptedEmbedder):
    """A local embedder for machines that have none: it takes a millisecond of this processor for each passage."""

    def __init__(self, seconds: float = 0.001) -> None:
        super().__init__()
        self.name = "burning"
        self._seconds = seconds

    def passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors, once the time has been burnt: half of it with the interpreter's lock held, half in numpy."""
        heat = np.ones((96, 96), np.float32)
        for _ in texts:
            until = time.perf_counter() + self._seconds
            while time.perf_counter() < until:
                heat = np.tanh(heat @ heat / 96)
        return super().passages(texts)


def bench_busy(
    load: BusyLoad = BusyLoad(), progress: Callable[[str], None] = lambda _: None, *, embedder: Embedder | None = None
) -> Measurements:
    """Measure, on a file that is gone afterwards.

    Args:
        embedder: What the worker is busy with; `Burning` when None.
    """
    chosen = embedder or Burning()
    with TemporaryDirectory(prefix="mnemic-busy-") as folder:
        idle, busy, did = busy_rounds(Path(folder) / "memory.db", load, progress, embedder=chosen)
        progress("meters on and off")
        meters = metered(Path(folder), load.rounds * load.writes, load.seed)
        disk = file_system(Path(folder))
    header = {**provenance(), "load": asdict(load), "embedder": chosen.name, "file_system": disk}
    return Measurements(header=header, figures=(*busy_figures(idle, busy, did, "a busy worker"), meters))


def busy_rounds(
    path: Path, load: BusyLoad, progress: Callable[[str], None], **opened: Any
) -> tuple[list[float], list[float], int]:
    """Measure writes beside an idle worker and beside a busy one, in turns.

    Args:
        opened: What the memory is opened with, and so what the worker is busy with.

    Returns:
        Milliseconds of each write beside the one and beside the other; how many versions the busy one dealt with.
    """
    settings = Settings(background=False, mask_secrets=False)
    mine, others = Talk(load.seed).messages(load.rounds * load.writes * 2 + 1), Talk(load.seed + 1).messages(1_000_000)
    idle: list[float] = []
    busy: list[float] = []
    with Memory(path, settings=settings, **opened) as memory:
        me, work = memory.scope(user="ada"), _Work(memory, others)
        me.observe(list(islice(mine, 1)))
        memory.flush()
        for number in range(load.rounds):
            progress(f"round {number + 1} of {load.rounds}")
            idle += _writes(me, list(islice(mine, load.writes)), load.gap)
            with work:
                busy += _writes(me, list(islice(mine, load.writes)), load.gap)
    return idle, busy, work.did


class _Work:
    """Another user's turns, and a worker that is never done with them; a context manager."""

    def __init__(self, memory: Memory, talk: Iterator[Message]) -> None:
        self._memory, self._talk = memory, talk
        self._other = memory.scope(user="bob")
        self.did = 0

    def __enter__(self) -> None:
        while self._left() < FULL:
            self._other.observe(list(islice(self._talk, BACKLOG)))
        self._stop = threading.Event()
        self._worker = threading.Thread(target=self._serve)
        self._worker.start()
        time.sleep(0.1)

    def _serve(self) -> None:
        def count(lane: str, space: int, done: int, error: object) -> None:
            self.did += done

        self._memory.admin.serve(self._stop, progress=count)

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._worker.join()
        if (left := self._left()) < BACKLOG:
            raise RuntimeError(f"the worker had {left} turns left: it was not busy all the time; measure fewer writes")

    def _left(self) -> int:
        """The turns that the worker has before it, or will have."""
        return max(lane.pending for lane in self._memory.admin.behind())


def _writes(me: ScopedMemory, messages: Sequence[Message], gap: float) -> list[float]:
    """Milliseconds of each write."""
    return list(_timed(me, messages, gap))


def _timed(me: ScopedMemory, messages: Sequence[Message], gap: float) -> Iterator[float]:
    for message in messages:
        began = time.perf_counter()
        me.observe([message])
        yield (time.perf_counter() - began) * 1000
        if gap:
            time.sleep(gap)


def busy_figures(idle: list[float], busy: list[float], did: int, beside: str) -> Iterator[Figure]:
    """Hold writes beside a busy worker against those beside an idle one."""
    for share, bar in ((50, BAR), (95, None)):
        quiet, loud = float(np.percentile(idle, share)), float(np.percentile(busy, share))
        yield Figure(
            name=f"single durable observe beside {beside}: p{share}, against an idle one",
            value=loud / quiet,
            unit="x",
            bar=bar,
            detail=f"{loud:.2f} ms against {quiet:.2f} ms, {len(idle)} writes each; the worker dealt with {did:,}",
        )


def metered(folder: Path, writes: int, seed: int) -> Figure:
    """How much dearer a single observe is with meters, in processor time of its thread.

    Args:
        writes: With meters, and as many without.
    """
    times: dict[bool, list[float]] = {True: [], False: []}
    talk = Talk(seed).messages(2 * writes + TURN)
    settings = Settings(background=False, mask_secrets=False)
    with Memory(folder / "metered.db", settings=settings, embedder="none") as memory:
        me = memory.scope(user="ada")
        me.observe(list(islice(talk, TURN)))
        for start in range(0, writes, TURN):
            for on in (True, False):
                messages = list(islice(talk, min(TURN, writes - start)))
                with nullcontext() if on else unmetered(memory._opened.answering):
                    times[on] += _processor_times(me, messages)
    # Other work on the machine only ever adds: the quicker half is what a write takes.
    with_, without = (float(np.percentile(times[on], 25)) for on in (True, False))
    return Figure(
        name="single durable observe: processor time with meters, against without",
        value=with_ / without,
        unit="x",
        bar=None,
        detail=f"first quartiles {with_:.3f} ms against {without:.3f} ms, {writes} writes each, in turns of {TURN}",
    )


@contextmanager
def unmetered(answering: Answering) -> Iterator[None]:
    """Have nothing counted and nothing timed for a while."""

    def drive(flow: Flow[Any], attend: Callable[[Request], Any], _: Timed) -> Any:
        return run(flow, attend)

    ways = {"drive": drive, "perform": answering.answer}
    for name, way in ways.items():
        setattr(answering, name, way)
    try:
        yield
    finally:
        for name in ways:
            delattr(answering, name)


def _processor_times(me: ScopedMemory, messages: Sequence[Message]) -> Iterator[float]:
    """Milliseconds of each write."""
    for message in messages:
        began = time.thread_time_ns()
        me.observe([message])
        yield (time.thread_time_ns() - began) / 1e6
