"""Measures a new process: what its first reading of a user's memory costs in CPU, by words and with vectors.

Each reading is made by a process of its own, which has loaded what it needs before it is timed; `mnemic recall` is
timed whole. Vectors are made up, and read and compared as an embedder's are. Run as
`python -m mnemic.lab.tasks.cold_bench FILE`, it is such a process.
"""

from __future__ import annotations

import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

import numpy as np

from mnemic.core.queries import Filter, Query, View
from mnemic.flow import run
from mnemic.index.catalogues import Catalogues
from mnemic.index.sign_lane import sign_slice
from mnemic.lab.kit.figures import Figure, Measurements
from mnemic.lab.kit.generate import Talk
from mnemic.lab.kit.given_vectors import give_vectors
from mnemic.lab.kit.log import provenance
from mnemic.lab.kit.served_process import SAME_CODE
from mnemic.lab.tasks.vectors.vector_data import synthetic
from mnemic.lanes.slices import HOUSE
from mnemic.memory import Memory
from mnemic.settings import PACK_ROWS, Settings
from mnemic.store.engine import lane_cursors
from mnemic.store.engine.snapshot import Snapshot
from mnemic.store.sqlite.disk import file_system
from mnemic.store.sqlite.sqlite_store import SqliteStore
from mnemic.store.values.drafts import Advance

QUESTION: Final = "What did we plan for the summer?"
BATCH: Final = 100
"""Messages to an observe."""
_WORDS_ALONE: Final = {**SAME_CODE, "MNEMIC_EMBEDDER": "none", "MNEMIC_BACKGROUND": "false"}
"""The environment of the command: what it has left to understand is no part of its question."""
STATED: Final = 100_000
"""Items that the bars are stated for, beside a tenth of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ColdSize:
    """How much is measured; the defaults are what the bars are stated for."""

    items: int = STATED
    rounds: int = 5
    seed: int = 0

    @property
    def stated(self) -> bool:
        """Whether it is what the bars are stated for."""
        return self.items == STATED


def bench_cold(
    size: ColdSize = ColdSize(), progress: Callable[[str], None] = lambda _: None, *, folder: Path | None = None
) -> Measurements:
    """Measure first readings of a memory and of one with a tenth of its items, on files that are gone afterwards.

    Args:
        progress: Called with the name of each part before it runs.
        folder: On the disk to measure; the system's folder for temporary files when None.
    """
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory(prefix="mnemic-cold-", dir=folder) as fresh:
        for items, words_bar, vectors_bar in ((size.items, 0.15, 0.3), (size.items // 10, 0.02, None)):
            progress(f"{items:,} items")
            path = Path(fresh) / f"{items}.db"
            packed = _filled(path, items, size.seed)
            figures += _readings(path, items, size.rounds, words_bar)
            if items == size.items:
                figures.append(_room(packed, items))
                figures.append(_whole(path, items, size.rounds))
            progress(f"{items:,} items with vectors")
            taken = _with_vectors(path, items, size.seed)
            figures.append(_with_a_question(path, items, size.rounds, vectors_bar))
            if items == size.items:
                figures.append(Figure(name="vectors: bytes an item in the file", value=taken / items, unit="B"))
    disk = file_system(Path(folder or tempfile.gettempdir()))
    return Measurements(header={**provenance(), "size": asdict(size), "file_system": disk}, figures=tuple(figures))


def _filled(path: Path, items: int, seed: int) -> int:
    """Fill a store and pack it; how many bytes the packs take."""
    messages = list(Talk(seed).messages(items))
    with Memory(path, settings=Settings(background=False, embedder="none"), strategies=[]) as memory:
        me = memory.scope(user="me")
        for start in range(0, items, BATCH):
            me.observe(messages[start : start + BATCH])
        memory.flush()
        _mark_understood(memory)
        with memory._opened.store.read() as snapshot:
            rows = [row for space in _spaces(snapshot) for row in snapshot.packs(space)]
            return sum(len(snapshot.pack_body(row.id) or b"") for row in rows)


def _mark_understood(memory: Memory) -> None:
    """Have rules stand past all that was said, as in a memory that was lived with: the command would let them read."""
    store = memory._opened.store
    with store.read() as snapshot:
        newest = [(space, snapshot.newest(space)) for space in _spaces(snapshot)]
    for space, upto in newest:
        store.transact(lane_cursors.advance, space, Advance(name=HOUSE, owner="", after=0, upto=upto))


def _readings(path: Path, items: int, rounds: int, bar: float) -> list[Figure]:
    """With packs and without, in turn, so that a busy machine weighs on both alike."""
    took: dict[int, list[float]] = {PACK_ROWS: [], 0: []}
    for _ in range(rounds):
        for pack_rows, seconds in took.items():
            seconds.append(_in_new_process(path, pack_rows))
    packed, plain = (statistics.median(seconds) for seconds in took.values())
    shown = f"from entries {plain:.3f} s; median of {rounds} processes"
    return [Figure(name=f"first reading of {items:,} items: CPU", value=packed, unit="s", bar=bar, detail=shown)]


def _with_vectors(path: Path, items: int, seed: int) -> int:
    """Give every item a vector and pack their signs, and lay a question's vector beside the file; bytes it grew by."""
    made = synthetic(items, 1, seed=seed)
    np.save(_question(path), made.questions[0])
    before = path.stat().st_size
    with Memory(path, settings=Settings(background=False), embedder="none", strategies=[]) as memory:
        opened = memory._opened
        with opened.store.read() as snapshot:
            (space,) = _spaces(snapshot)
        give_vectors(opened.store, space, made.vectors.astype("<f2"))
        run(sign_slice(space, PACK_ROWS), opened.answering.perform)
    return path.stat().st_size - before


def _question(path: Path) -> Path:
    return path.with_suffix(".npy")


def _spaces(snapshot: Snapshot) -> list[int]:
    return [head.id for tenant, _ in snapshot.tenants() for head in snapshot.all_spaces(tenant)]


def _with_a_question(path: Path, items: int, rounds: int, bar: float | None) -> Figure:
    took: dict[int, list[float]] = {PACK_ROWS: [], 0: []}
    for _ in range(rounds):
        for pack_rows, seconds in took.items():
            seconds.append(_in_new_process(path, pack_rows, _question(path)))
    packed, plain = (statistics.median(seconds) for seconds in took.values())
    return Figure(
        name=f"first reading of {items:,} items and nearness to a question: CPU",
        value=packed,
        unit="s",
        bar=bar,
        detail=f"vectors of 384 dimensions; without packs {plain:.3f} s; median of {rounds} processes",
    )


def _in_new_process(path: Path, pack_rows: int, *question: Path) -> float:
    command = [sys.executable, "-m", "mnemic.lab.tasks.cold_bench", str(path), str(pack_rows), *map(str, question)]
    return float(json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout))  # noqa: S603 - ourselves


def _room(packed: int, items: int) -> Figure:
    return Figure(name="packs: bytes an item", value=packed / items, unit="B", bar=300)


def _whole(path: Path, items: int, rounds: int) -> Figure:
    """`mnemic recall` from the start of its process to the end."""
    command = [sys.executable, "-m", "mnemic", "--store", str(path), "recall", QUESTION]
    took = []
    for _ in range(rounds):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, check=True, capture_output=True, env=_WORDS_ALONE)  # noqa: S603 - ourselves
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        took.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return Figure(
        name=f"`mnemic recall` over {items:,} items: CPU whole",
        value=statistics.median(took),
        unit="s",
        bar=0.9,
        detail="by words, with nothing going on behind it",
    )


def read_once(path: Path, pack_rows: int, question: Path | None = None) -> float:
    """Seconds of CPU until everything is read that a first question needs.

    Args:
        question: Where its vector lies: the nearness of every entry to it is worked out too.
    """
    import mnemic.index.catalogue  # noqa: F401 - what a process loads once is not what a memory costs
    from mnemic.recall.dense import nearness

    store, catalogues = SqliteStore(path, create=False), Catalogues(1 << 32, pack_rows)
    try:
        with store.read() as snapshot:
            spaces = tuple(_spaces(snapshot))
            vectors = {row.id: np.load(question) for row in snapshot.embedders()} if question else {}
            asked = Query(text=QUESTION, now=0, spaces=spaces, vectors=vectors)
            began = time.process_time()
            readings = catalogues.readings(snapshot, spaces, View(), Filter(), asked.vectors)
            if question:
                nearness(asked, readings)
            return time.process_time() - began
    finally:
        store.close()


if __name__ == "__main__":
    print(json.dumps(read_once(Path(sys.argv[1]), int(sys.argv[2]), *map(Path, sys.argv[3:]))))
