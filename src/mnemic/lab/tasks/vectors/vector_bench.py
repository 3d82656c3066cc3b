"""Our vector index beside those that one would install for it, in one run over the same vectors.

Every system is built on one thread where that can be set, its search is given the cheapest setting that finds as much
as is asked for, and questions are put to all of them in turns, so that a busy machine weighs on all alike. Times are
CPU time of this process. Run as `python -m mnemic.lab.tasks.vectors.vector_bench`; the peers come with the extra
`bench`.
"""

from __future__ import annotations

import ctypes
import gc
import importlib
import json
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final, TextIO

import click
import numpy as np

from mnemic.lab.kit.log import provenance
from mnemic.lab.kit.tables import TextTable, aligned
from mnemic.lab.tasks.vectors.vector_data import (
    SHARES,
    Cloud,
    IndexMeasurement,
    SearchPoint,
    VectorRun,
    multiplied,
    synthetic,
)
from mnemic.lab.tasks.vectors.vector_peers import PEERS, Peer, Search

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

K: Final = 10
WANTED: Final = 0.98
"""The recall@10 that a search is set to reach."""

TUNING: Final = 100
TURN: Final = 20
"""Questions put to one system before the next has its turn."""

ADDED: Final = 50


@dataclass(slots=True)
class _Contestant:
    """One system under test: built, and set."""

    peer: Peer
    build: float
    megabytes: float | None
    curve: tuple[SearchPoint, ...] = ()
    width: int | None = None
    took: dict[str, list[float]] = field(default_factory=dict)
    hits: dict[str, int] = field(default_factory=dict)


def bench_vectors(clouds: Iterator[Cloud], progress: Callable[[str], None] = lambda _: None) -> VectorRun:
    """Measure every system that is installed on every cloud of vectors."""
    present = [make for make in PEERS if not make().package or find_spec(make().package)]
    missing = tuple(make().name for make in PEERS if make not in present)
    measurements: list[IndexMeasurement] = []
    recipes: set[str] = set()
    for cloud in clouds:
        recipes.add(cloud.recipe)
        measurements += _among(cloud, present, progress)
    header = {**provenance(), "vectors": sorted(recipes), "wanted": WANTED}
    return VectorRun(header=header, measurements=tuple(measurements), missing=missing)


def _among(
    cloud: Cloud, makes: Sequence[Callable[[], Peer]], progress: Callable[[str], None]
) -> list[IndexMeasurement]:
    contestants = []
    for make in makes:
        progress(f"{len(cloud.vectors):,} vectors: {make().name}")
        contestants.append(_built(make(), cloud))
        _set(contestants[-1], cloud)
    progress(f"{len(cloud.vectors):,} vectors: questions")
    tasks = [("all", 2), *SHARES.items()]
    for name, most in tasks:
        _ask(contestants, name, most, cloud)
    return [_measured(contestant, cloud) for contestant in contestants]


def _built(peer: Peer, cloud: Cloud) -> _Contestant:
    if peer.package:
        importlib.import_module(peer.package)  # what loading it takes is no part of building
    before, start = _resident(), time.process_time()
    peer.build(cloud.vectors, cloud.groups)
    build, after = time.process_time() - start, _resident()
    return _Contestant(peer, build, None if before is None or after is None else (after - before) / 1e6)


def _set(contestant: _Contestant, cloud: Cloud) -> None:
    """Find the cheapest setting that reaches the recall wanted; the widest if none does."""
    questions = cloud.questions[:TUNING]
    truth = _truth(cloud, questions, 2)
    points: list[SearchPoint] = []
    for width in contestant.peer.widths:
        contestant.peer.widen(width)
        start = time.process_time()
        answers = [contestant.peer.search(question, K) for question in questions]
        took = (time.process_time() - start) * 1000 / len(questions)
        points.append(SearchPoint(recall=_recall(answers, truth), milliseconds=took, width=width))
        contestant.width = width
        if points[-1].recall >= WANTED:
            break
    contestant.curve = tuple(points)


def _ask(contestants: Sequence[_Contestant], name: str, most: int, cloud: Cloud) -> None:
    """Put all questions to all systems, in turns."""
    truth = _truth(cloud, cloud.questions, most)
    searches = [c.peer.search if name == "all" else c.peer.among(most) for c in contestants]
    for search in searches:
        search(cloud.questions[0], K)
    for first in range(0, len(cloud.questions), TURN):
        turn = slice(first, first + TURN)
        for contestant, search in zip(contestants, searches, strict=True):
            took, right = _turn(search, cloud.questions[turn], truth[turn])
            contestant.took.setdefault(name, []).append(took)
            contestant.hits[name] = contestant.hits.get(name, 0) + right


def _turn(search: Search, questions: Floats, truth: Sequence[NDArray[np.intp]]) -> tuple[float, int]:
    start = time.process_time()
    answers = [search(question, K) for question in questions]
    took = (time.process_time() - start) * 1000 / len(questions)
    return took, sum(len(np.intersect1d(*pair)) for pair in zip(answers, truth, strict=True))


def _measured(contestant: _Contestant, cloud: Cloud) -> IndexMeasurement:
    peer, questions = contestant.peer, len(cloud.questions)
    points = {
        name: SearchPoint(
            recall=contestant.hits[name] / (questions * min(K, _left(cloud, name))),
            milliseconds=statistics.median(contestant.took[name]),
            width=contestant.width,
        )
        for name in contestant.took
    }
    return IndexMeasurement(
        name=peer.name,
        version=_version(peer.package),
        rows=len(cloud.vectors),
        build=contestant.build,
        megabytes=contestant.megabytes,
        add=_adding(peer, cloud) if peer.adds else None,
        all=points.pop("all"),
        filtered=points,
        filters=peer.filters,
        curve=contestant.curve,
    )


def _adding(peer: Peer, cloud: Cloud) -> float:
    start = time.process_time()
    for vector in cloud.vectors[:ADDED]:
        peer.add(vector)
    return (time.process_time() - start) * 1000 / min(ADDED, len(cloud.vectors))


def _truth(cloud: Cloud, questions: Floats, most: int) -> list[NDArray[np.intp]]:
    """The rows truly nearest to each question among those of groups 0 to `most`."""
    rows = np.flatnonzero(cloud.groups <= most)
    kept, k = cloud.vectors[rows], min(K, len(rows))
    return [rows[np.argpartition(-(kept @ question), k - 1)[:k]] for question in questions]


def _left(cloud: Cloud, name: str) -> int:
    return int(np.count_nonzero(cloud.groups <= SHARES.get(name, 2)))


def _recall(returned: Sequence[NDArray[np.intp]], truth: Sequence[NDArray[np.intp]]) -> float:
    hits = sum(len(np.intersect1d(*pair)) for pair in zip(returned, truth, strict=True))
    return hits / sum(len(rows) for rows in truth)


def _version(package: str) -> str:
    if not package:
        return ""
    names = metadata.packages_distributions().get(package, [package])
    return metadata.version(names[0])


def _resident() -> int | None:
    """Bytes of this process in memory, what was freed given back; None where the system does not say."""
    gc.collect()
    pages = Path("/proc/self/statm")
    if not pages.exists():
        return None
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
    return int(pages.read_text().split()[1]) * 4096


def table(run: VectorRun, rows: int) -> TextTable:
    """All systems among so many vectors; what takes a question's time is beside sqlite-vec's where that is there."""
    measurements = [measurement for measurement in run.measurements if measurement.rows == rows]
    beside = next(
        (measurement.all.milliseconds for measurement in measurements if measurement.name == "sqlite-vec"), None
    )
    cells = [_cells(measurement, beside) for measurement in measurements]
    cells += [(name, "not installed", *[""] * 9) for name in run.missing]
    columns = ("system", "recall@10", "ms", "x sqlite-vec", "build s", "MB", "add ms")
    filtered = tuple(column for share in SHARES for column in (f"{share}: recall", "ms"))
    return TextTable(f"Among {rows:,} vectors", (*columns, *filtered), tuple(cells))


def _cells(measured: IndexMeasurement, beside: float | None) -> tuple[str, ...]:
    width = "" if measured.all.width is None else f" @{measured.all.width}"
    filtered = [cell for share in SHARES for cell in _pair(measured.filtered[share])]
    return (
        measured.name + width,
        *_pair(measured.all),
        "" if beside is None else f"{beside / measured.all.milliseconds:.0f}",
        f"{measured.build:.1f}",
        "" if measured.megabytes is None else f"{measured.megabytes:.0f}",
        "rebuild" if measured.add is None else f"{measured.add:.2f}",
        *filtered,
    )


def _pair(point: SearchPoint) -> tuple[str, str]:
    return f"{point.recall:.3f}", f"{point.milliseconds:.3f}"


def show(run: VectorRun, stream: TextIO, *, as_json: bool = False) -> None:
    """Write the figures as tables, or as JSON."""
    if as_json:
        stream.write(json.dumps(asdict(run), indent=2) + "\n")
        return
    for rows in sorted({measurement.rows for measurement in run.measurements}):
        stream.write(aligned(table(run, rows)) + "\n\n")


@click.command()
@click.option("--rows", type=int, multiple=True, default=(1_000, 10_000, 100_000), show_default=True)
@click.option("--questions", type=int, default=300, show_default=True)
@click.option(
    "--vectors", type=click.Path(exists=True, path_type=Path), multiple=True, help="An embedder's own (.npz)."
)
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--plots", type=click.Path(file_okay=False, path_type=Path), help="A folder for the pictures.")
@click.option("--json", "as_json", is_flag=True, help="Everything measured, for machines.")
def main(
    rows: tuple[int, ...], questions: int, vectors: tuple[Path, ...], seed: int, plots: Path | None, as_json: bool
) -> None:
    """Compare vector indexes: what they find, what they cost, and what a filter does to them."""
    clouds = (
        multiplied(vectors, count, questions, seed) if vectors else synthetic(count, questions, seed=seed)
        for count in rows
    )
    run = bench_vectors(clouds, lambda part: click.echo(f"{part} ...", err=True))
    show(run, sys.stdout, as_json=as_json)
    if plots is not None:
        from mnemic.lab.tasks.vectors.vector_plots import draw

        draw(run, plots)


if __name__ == "__main__":
    main()
