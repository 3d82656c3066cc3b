"""Memories inside a model, each run over its seeds: what a run measured, kept as one line of an append-only file.

RESULTS/NAME.jsonl      a line a run: versions, threads, load before and after, seeds, processor and wall seconds,
                        every figure's value for every seed, every point of every curve
RESULTS/NAME.svg        the curves of the run that a page shows (`shown_run`)
"""

from __future__ import annotations

import json
import math
import multiprocessing
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import cache
from importlib import metadata
from multiprocessing import queues
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import TYPE_CHECKING, Any, Final

from mnemic.core.checking import did_you_mean
from mnemic.errors import Invalid
from mnemic.lab.kit.figures import Figure
from mnemic.lab.kit.log import provenance, records
from mnemic.lab.kit.tables import finite
from mnemic.lab.tasks.neural.experiment import (
    BY_NAME,
    EXPERIMENTS,
    CurvePoint,
    Experiment,
    ExperimentPlan,
    ExperimentYield,
    Remark,
)
from mnemic.models.chat.gguf import smollm2_weights
from mnemic.registry import load
from mnemic.scope_learning import require_torch

if TYPE_CHECKING:
    from mnemic.neural.gguf_weights import TextModel

FORMAT: Final = 1
FULL_SEEDS: Final = 3
QUICK_SEEDS: Final = 1
_LONG: Final = ("matrix", "lora_users", "lora_unlearning", "lora_character")
"""Experiments that a quick run has only where each is asked for: the matrix compares what the others measure, and that
adapters are learnt, weighed in and keep silent about others is measured of one user by `lora_memory`. That a shard is
learnt again as if it had never held what was erased, to the bit, the contract of memories tests on a tiny model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeededFigure:
    """One figure of an experiment, with its value for every seed.

    Attributes:
        figure: As the first seed gave it; its mean is what is judged.
        values: In the order of the seeds.
    """

    figure: Figure
    values: tuple[float, ...]

    @property
    def mean(self) -> Figure:
        """The figure as it is judged."""
        return replace(self.figure, value=fmean(self.values))


@dataclass(frozen=True, slots=True, kw_only=True)
class MechanismRun:
    """One run of one mechanism's experiment over its seeds.

    Attributes:
        header: Versions, machine, load, seconds: what a number needs beside it to be believed.
        points: In the order they came, each with its value for every seed.
        remarks: What happened that no figure says, by seed.
    """

    mechanism: str
    quick: bool
    seeds: tuple[int, ...]
    header: Mapping[str, Any]
    figures: tuple[SeededFigure, ...]
    points: tuple[tuple[CurvePoint, tuple[float, ...]], ...]
    remarks: tuple[str, ...] = ()

    @property
    def means(self) -> tuple[Figure, ...]:
        """The figures as they are judged."""
        return tuple(figure.mean for figure in self.figures)

    @property
    def curves(self) -> dict[str, dict[float | str, float]]:
        """Each curve's points, means over the seeds, by where they are."""
        curves: dict[str, dict[float | str, float]] = {}
        for point, values in self.points:
            curves.setdefault(point.curve, {})[point.at] = fmean(values)
        return curves

    @property
    def places(self) -> list[float | str]:
        """Where there are points, from left to right: numbers by size, names in the order they came."""
        at = list(dict.fromkeys(point.at for point, _ in self.points))
        numbers = [place for place in at if not isinstance(place, str)]
        return [*sorted(numbers)] if len(numbers) == len(at) else at


def bench_mechanisms(
    names: Sequence[str],
    *,
    quick: bool,
    seeds: int,
    results: Path,
    open_model: Callable[[], TextModel],
    progress: Callable[[str], None],
    processes: int = 1,
    cache: Path | None = None,
) -> Iterator[MechanismRun]:
    """Run experiments with one thread, and keep each one's result as soon as it is there.

    Interrupted or failed amid an experiment, it keeps the seeds that are done, and leaves the others. Where there are
    several processes, those that have begun go on to their end, and none begins any more.

    Args:
        names: Which; none means all, in a quick run all but long ones.
        seeds: From 0 on, so many.
        results: Folder of the result files.
        open_model: Can be pickled where there are several processes.
        processes: So many at once, the longest experiment first; each has one thread.
        cache: Folder for what later runs use too; None keeps nothing.

    Raises:
        Invalid: torch is missing, or an experiment is not known.
    """
    chosen = _checked(names, quick=quick)
    require_torch()
    known = {name: _seconds_a_seed(results / f"{name}.jsonl", quick=quick) for name in chosen}
    order = _Order(seeds=range(seeds), quick=quick, open_model=open_model, cache=cache, results=results)
    if processes > 1:
        longest = sorted(chosen, key=lambda name: -(known[name] or 0.0))
        made = _in_processes({name: known[name] for name in longest}, order, processes, progress)
    else:
        left = _TimeLeft(chosen, seeds, known)
        made = (_run(name, load(EXPERIMENTS, name), order, progress, left) for name in chosen)
    for run in made:
        yield run
        if len(run.seeds) < seeds:
            raise KeyboardInterrupt


@cache
def smollm2(converted: Path) -> TextModel:
    """Open the smallest real model, once in a process.

    Args:
        converted: The folder that it is converted to, once.
    """
    from mnemic.neural.gguf_weights import open_gguf

    return open_gguf(smollm2_weights(), converted)


def append(path: Path, run: MechanismRun) -> None:
    """Add a run as one line of a file.

    Raises:
        Invalid: it cannot be written.
    """
    line = json.dumps(finite(_record(run)), ensure_ascii=False, separators=(",", ":"))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as file:
            file.write(f"{line}\n")
    except OSError as error:
        problem = f"cannot write {path.name}: {error.strerror}"
        raise Invalid("results", problem, "Name a folder you can write.") from error


def runs(path: Path) -> list[MechanismRun]:
    """Read every run of a result file, the oldest first.

    Raises:
        NotFound: there is no such file.
        Invalid: a line is damaged, or of another format.
    """
    return [_read(record, path.name) for record in records(path)]


def shown_run(made: Sequence[MechanismRun]) -> MechanismRun:
    """The run that a page and its picture are made of: a full one before a quick one, then most seeds, then newest."""
    return max(enumerate(made), key=lambda at: (not at[1].quick, len(at[1].seeds), at[0]))[1]


def _checked(names: Sequence[str], *, quick: bool) -> tuple[str, ...]:
    for name in names:
        if name not in EXPERIMENTS:
            raise Invalid("name", f"{name!r} is not known", did_you_mean(name, sorted(EXPERIMENTS)))
    return tuple(dict.fromkeys(names)) or tuple(
        name for name in EXPERIMENTS if name not in BY_NAME and not (quick and name in _LONG)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Order:
    """How each experiment is run."""

    seeds: Sequence[int]
    quick: bool
    open_model: Callable[[], TextModel]
    cache: Path | None
    results: Path


def _in_processes(
    known: Mapping[str, float | None], order: _Order, processes: int, progress: Callable[[str], None]
) -> Iterator[MechanismRun]:
    """Run experiments in processes of their own, begun in the order given; each comes when it is done.

    A process keeps its own result, whatever becomes of this one; the first fault is raised behind what had begun.
    """
    context, faults = multiprocessing.get_context("spawn"), list[BaseException]()
    told: queues.Queue[str] = context.Queue()

    def tell_all() -> None:
        while not told.empty():
            progress(told.get())

    with ProcessPoolExecutor(processes, context, _tell_through, (told,)) as pool:
        waiting = {pool.submit(_run_apart, name, EXPERIMENTS[name], order, seconds) for name, seconds in known.items()}
        try:
            while waiting:
                done, waiting = wait(waiting, timeout=0.2, return_when=FIRST_COMPLETED)
                tell_all()
                for one in done:
                    if (fault := one.exception()) is None:
                        yield one.result()
                        continue
                    progress(f"failed: {fault!r}")
                    faults.append(fault)
                    waiting = {other for other in waiting if not other.cancel()}
        finally:
            waiting = {other for other in waiting if not other.cancel()}
            while waiting:  # a process that nobody listens to does not end
                _, waiting = wait(waiting, timeout=0.2)
                tell_all()
    tell_all()
    if faults:
        raise faults[0]


_told: queues.Queue[str] | None = None
"""Where a process of a pool says what it does."""


def _tell_through(told: queues.Queue[str]) -> None:
    global _told
    _told = told


def _run_apart(name: str, target: str, order: _Order, known: float | None) -> MechanismRun:
    """Run one experiment in a process of a pool; the time left is that of itself."""
    assert _told is not None, "a process of the pool was told where to tell"
    return _run(name, load({name: target}, name), order, _told.put, _TimeLeft([name], len(order.seeds), {name: known}))


def _run(
    name: str, measure: Experiment, order: _Order, progress: Callable[[str], None], left: _TimeLeft
) -> MechanismRun:
    load_before, began, spent = _load(), perf_counter(), process_time()
    measured: list[list[ExperimentYield]] = []
    cpu: list[float] = []
    try:
        for yields, seconds in _by_seed(name, measure, order, progress, left):
            _figures_over_seeds(name, [*measured, yields])  # a fault costs this seed, and none that comes after it
            _points_over_seeds(name, [*measured, yields])
            measured.append(yields)
            cpu.append(round(seconds, 2))
    except KeyboardInterrupt:
        if not measured:
            raise
    finally:  # hours may lie in the seeds that are done
        if measured:
            run = _over_seeds(name, order, measured, {
                "load_before": load_before,
                "load_after": _load(),
                "cpu_seconds": round(process_time() - spent, 2),
                "cpu_seconds_by_seed": cpu,
                "wall_seconds": round(perf_counter() - began, 2),
            })  # fmt: skip
            append(order.results / f"{name}.jsonl", run)
    return run


def _by_seed(
    name: str, measure: Experiment, order: _Order, progress: Callable[[str], None], left: _TimeLeft
) -> Iterator[tuple[list[ExperimentYield], float]]:
    """What each seed measured, and its processor seconds."""
    from mnemic.neural.gguf_weights import single_threaded

    for number, seed in enumerate(order.seeds, 1):
        left.begin(name)

        def tell(part: str, number: int = number) -> None:
            progress(f"{name}, seed {number} of {len(order.seeds)}: {part}{left.in_words()}")

        before = process_time()
        tell("begins")
        with single_threaded(), TemporaryDirectory(prefix="mnemic-neural-") as folder:
            plan = ExperimentPlan(
                seed=seed, quick=order.quick, folder=Path(folder), cache=order.cache, open_model=order.open_model,
                progress=tell,
            )  # fmt: skip
            yields: list[ExperimentYield] = []
            for one in measure(plan):
                yields.append(one)
                if isinstance(one, Figure):  # so a long run that is stopped has not been for nothing
                    progress(f"{name}, seed {number}: {one.name}: {one.value:.4g} {one.unit}".rstrip())
        left.end()
        yield yields, process_time() - before


def _over_seeds(
    name: str, order: _Order, measured: Sequence[Sequence[ExperimentYield]], costs: Mapping[str, object]
) -> MechanismRun:
    """A run of the seeds that are done."""
    header = {
        **provenance(),
        "torch": metadata.version("torch"),
        "threads": 1,
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        **costs,
    }
    return MechanismRun(
        mechanism=name, quick=order.quick, seeds=tuple(order.seeds[: len(measured)]), header=header,
        figures=_figures_over_seeds(name, measured), points=_points_over_seeds(name, measured),
        remarks=tuple(
            f"seed {seed}: {one.text}"
            for seed, of in zip(order.seeds, measured, strict=False) for one in of if isinstance(one, Remark)
        ),
    )  # fmt: skip


def _figures_over_seeds(name: str, measured: Sequence[Sequence[ExperimentYield]]) -> tuple[SeededFigure, ...]:
    by_seed = [{one.name: one for one in of if isinstance(one, Figure)} for of in measured]
    for figure in by_seed[0].values():
        others = [figures.get(figure.name, figure) for figures in by_seed]
        same = all(figures.keys() == by_seed[0].keys() for figures in by_seed)
        if not same or any((other.bar, other.detail) != (figure.bar, figure.detail) for other in others):
            raise ValueError(f"{name}: {figure.name!r} has another name, bar or detail for another seed")
    return tuple(
        SeededFigure(figure=figure, values=tuple(figures[figure.name].value for figures in by_seed))
        for figure in by_seed[0].values()
    )


def _points_over_seeds(
    name: str, measured: Sequence[Sequence[ExperimentYield]]
) -> tuple[tuple[CurvePoint, tuple[float, ...]], ...]:
    by_seed = [{(one.curve, one.at): one for one in of if isinstance(one, CurvePoint)} for of in measured]
    if any(points.keys() != by_seed[0].keys() for points in by_seed):
        raise ValueError(f"{name}: a curve has other points for another seed")
    return tuple((point, tuple(points[key].value for points in by_seed)) for key, point in by_seed[0].items())


class _TimeLeft:
    """What is left to do, in seconds, by how long each seed of each mechanism took before.

    Args:
        known: Seconds of a seed of each mechanism in an earlier run; None where there was none.
    """

    def __init__(self, names: Sequence[str], seeds: int, known: Mapping[str, float | None]) -> None:
        self._due = [name for name in names for _ in range(seeds)]
        self._known = {name: seconds for name, seconds in known.items() if seconds is not None}
        self._current, self._began = "", 0.0

    def begin(self, name: str) -> None:
        """One seed begins."""
        self._current, self._began = name, perf_counter()

    def end(self) -> None:
        """It has ended."""
        self._known[self._current] = perf_counter() - self._began
        self._due.remove(self._current)

    def in_words(self) -> str:
        """How long it may take yet; nothing where nobody knows."""
        if not self._known:
            return ""
        usual = fmean(self._known.values())
        due = sum(self._known.get(name, usual) for name in self._due)
        seconds = max(0.0, due - (perf_counter() - self._began))
        return f" (about {seconds / 60:.0f} min left)" if seconds >= 90 else f" (about {seconds:.0f} s left)"


def _seconds_a_seed(path: Path, *, quick: bool) -> float | None:
    if not path.exists():
        return None
    alike = [run for run in runs(path) if run.quick == quick]
    return alike[-1].header["wall_seconds"] / len(alike[-1].seeds) if alike else None


def _load() -> float | None:
    return round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None


def _record(run: MechanismRun) -> dict[str, object]:
    figures = [
        {**{k: v for k, v in asdict(one.figure).items() if k not in ("value", "histogram")}, "values": list(one.values)}
        for one in run.figures
    ]
    points = [{"curve": point.curve, "at": point.at, "values": list(values)} for point, values in run.points]
    return {
        "kind": "mechanism", "format": FORMAT, "mechanism": run.mechanism, "quick": run.quick,
        "seeds": list(run.seeds), **run.header, "figures": figures, "points": points,
        "remarks": list(run.remarks),
    }  # fmt: skip


def _read(record: dict[str, Any], file: str) -> MechanismRun:
    if record.pop("kind", None) != "mechanism" or record.pop("format", None) != FORMAT:
        raise Invalid("results", f"{file} is no result file of this format", "Name another folder.")
    figures = [
        SeededFigure(figure=Figure(value=values[0], **one), values=values)
        for one, values in ((one, _numbers(one.pop("values"))) for one in record.pop("figures"))
    ]
    points = [
        (CurvePoint(one["curve"], one["at"], one["values"][0]), _numbers(one["values"])) for one in record.pop("points")
    ]
    return MechanismRun(
        mechanism=record.pop("mechanism"), quick=record.pop("quick"), seeds=tuple(record.pop("seeds")),
        remarks=tuple(record.pop("remarks", ())), header=record, figures=tuple(figures), points=tuple(points),
    )  # fmt: skip


def _numbers(values: Sequence[float | None]) -> tuple[float, ...]:
    return tuple(math.nan if value is None else value for value in values)
