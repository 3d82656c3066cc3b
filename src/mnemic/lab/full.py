"""Run every task whole, one after the other, each with a log of its own: `scripts/bench full`.

What was run is not run again: the same command goes on where it was ended. Before it begins it counts what there is and
says how long that may take, from the log of a small run (`--by`) or from what stands in its folder already. It ends in
one page and one Markdown file, with needles to 4,000,000 tokens and whole streams behind the tasks.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from mnemic.errors import Invalid, MnemicError
from mnemic.lab.contestants.strategy_contestant import learns_from_tries, offered
from mnemic.lab.entries import TASKS, task
from mnemic.lab.kit.contest import Limits
from mnemic.lab.kit.contestant import Means
from mnemic.lab.kit.output_places import refuse_log
from mnemic.lab.kit.reckoning import Paces, TaskSize, added, paces_of, reckoning_table, spoken_time
from mnemic.lab.kit.run import RunPlan, run, usual_rows
from mnemic.lab.kit.run_report import RunReport, report
from mnemic.lab.kit.spoken_progress import SpokenProgress
from mnemic.lab.kit.stream_memories import rows as stream_rows
from mnemic.lab.kit.stream_run import StreamPlan
from mnemic.lab.kit.tables import aligned
from mnemic.lab.kit.task import RetrievalTask, SelfMadeTask, data_of
from mnemic.lab.quick import FILES, WHOLE_FOLDER, Besides, failures, measured_besides, write_report
from mnemic.lab.tasks.needles_bench import FULL
from mnemic.settings import Settings

INTERRUPTED: Final = 130

LIMITS: Final = {"longmemeval-m": 50}
"""Questions of tasks whose data is some gigabytes."""

NAMED_ALONE: Final = frozenset({"multihop", "multihop-untitled"})
"""Tasks of whatever passages a file holds: `hotpotqa`, `2wiki` and `musique` are the same with data of their own."""

OUT: Final = Path("runs/full")

STREAM: Final = StreamPlan(rows=stream_rows(), seeds=12, tasks=24, tries=3)


@dataclass(frozen=True, slots=True)
class FullPlan:
    """Where each task has its data, how much it is, who runs, and why other tasks do not."""

    places: Mapping[str, Path]
    sizes: Mapping[str, TaskSize]
    rows: Mapping[str, tuple[str, ...]]
    left_out: Mapping[str, str] = field(default_factory=dict)


def place_of(name: str, data: Path) -> Path:
    """Where the data of a task lies in a folder: a development file, a folder of its name, or its usual file.

    Raises:
        Invalid: it is not there.
    """
    chosen = task(name)
    if isinstance(chosen, SelfMadeTask):
        return Path()
    if name in FILES and (data / FILES[name]).exists():
        return data if name in WHOLE_FOLDER else data / FILES[name]
    if (data / name).exists():
        return data / name
    if isinstance(chosen, RetrievalTask):
        return chosen.file(data)
    raise Invalid("data", f"holds nothing for {name}", f"Put it into a folder {name} there.")


def planned(data: Path, means: Means, only: Sequence[str] = (), beside: Sequence[str] = ()) -> FullPlan:
    """Find and count the data of every task; one whose data is not there or cannot be read is left out."""
    places: dict[str, Path] = {}
    sizes: dict[str, TaskSize] = {}
    left_out: dict[str, str] = {}
    for name in only or (name for name in TASKS if name not in NAMED_ALONE):
        try:
            places[name] = place_of(name, data)
            read = data_of(task(name), places[name], LIMITS.get(name))
        except Invalid as error:
            source = getattr(task(name), "source", "")
            left_out[name] = f"{error.problem}. {source}".rstrip()
            continue
        sizes[name] = TaskSize(sum(len(corpus.docs) for corpus in read.corpora), len(read.questions))
    strategies = [name for name in offered() if not learns_from_tries(name)]
    rows = {name: tuple(dict.fromkeys((*usual_rows(name, means), *strategies, *beside))) for name in sizes}
    return FullPlan({name: places[name] for name in sizes}, sizes, rows, left_out)


def main(given: Sequence[str] | None = None) -> int:
    """Run, and tell where the report is; 1 if a task had no data, or a task or a contestant failed."""
    options = _options(given)
    try:
        return _run(options)
    except KeyboardInterrupt:
        print(
            f"interrupted: what was measured is kept in {options.out}; the same command goes on from there",
            file=sys.stderr,
        )
        return INTERRUPTED
    except MnemicError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


def _run(options: argparse.Namespace) -> int:
    out: Path = options.out
    if out == OUT:
        out.parent.mkdir(exist_ok=True)
    refuse_log(out)
    means = Means(embedder=options.embedder, settings=Settings(), cache=options.cache)
    plan = planned(options.data, means, options.only, options.beside)
    logs = {name: out / f"{name}.jsonl" for name in plan.places}
    paces = paces_of([*options.by, *(log for log in logs.values() if log.exists())])
    print(aligned(reckoning_table(paces, plan.sizes, plan.rows)), file=sys.stderr)
    for name, why in plan.left_out.items():
        print(f"not run: {name}: {why}", file=sys.stderr)
    if options.count:
        return 0
    out.mkdir(exist_ok=True)
    failed = []
    for nth, name in enumerate(plan.places):
        left = _Left(plan, paces, list(plan.places)[nth:], options.jobs)
        try:
            run(
                RunPlan(
                    tasks={name: plan.places[name]}, rows=plan.rows[name], means=means, limit=LIMITS.get(name)
                ),
                logs[name], resume=logs[name].exists(), apart=Limits(), at_once=options.jobs,
                progress=SpokenProgress(left, task=name),
            )  # fmt: skip
        except MnemicError as error:  # of one task: others run on
            failed.append(f"{name}: {error}")
            print(f"not run: {failed[-1]}", file=sys.stderr)
    made = together([report(log) for log in logs.values() if log.exists()])
    besides = Besides() if options.only else measured_besides(out, lengths=FULL, stream=STREAM, kept=True)
    written = write_report(made, besides, out)
    failed += failures(made)
    took = paces_of(log for log in logs.values() if log.exists())
    whole = added(pace.taken(plan.sizes[name]) for (name, _), pace in took.known.items() if name in plan.sizes)
    times = f"{spoken_time(whole.clock)} by the clock, {spoken_time(whole.cpu)} of processors, by the logs"
    print(f"{len(made.tasks)} tasks, {times}: {', '.join(map(str, written))}")
    return int(bool(plan.left_out or failed))


def together(reports: Sequence[RunReport]) -> RunReport:
    """One report of the tasks of several runs, as the first of them says where it is from.

    Raises:
        Invalid: there is none.
    """
    if not reports:
        raise Invalid("data", "holds no task that could be run", "Name a folder that holds some, with --data.")
    tasks = tuple(each for made in reports for each in made.tasks)
    complete = all(made.complete for made in reports)
    return RunReport(header=reports[0].header, complete=complete, tasks=tasks, seed=reports[0].seed)


class _Left:
    """Says how long the rest may take, once a row is done."""

    def __init__(self, plan: FullPlan, paces: Paces, tasks: Sequence[str], jobs: int) -> None:
        self._jobs = jobs
        self._times = {
            (name, row): paces.reckoned(name, row, plan.sizes[name]) for name in tasks for row in plan.rows[name]
        }
        self._now = tasks[0]

    def __call__(self, row: str) -> str:
        self._times.pop((self._now, row), None)
        known = [time.clock for time in self._times.values() if time is not None]
        strange = len(self._times) - len(known)
        beside = f" and {strange} contestants of unknown pace" if strange else ""
        return f"; left, reckoned: {spoken_time(sum(known) / self._jobs)}{beside}" if self._times else ""


def _options(given: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/bench full", description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of the data, whole")
    parser.add_argument("--out", type=Path, default=OUT, help="folder of logs and report, gone on with")
    parser.add_argument(
        "--by", type=Path, action="append", default=[], metavar="LOG", help="a smaller run to reckon by"
    )
    parser.add_argument("--count", action="store_true", help="count and reckon, and run nothing")
    parser.add_argument("--only", type=lambda names: names.split(","), default=(), help="just these tasks, by commas")
    parser.add_argument(
        "--beside", type=lambda names: names.split(","), default=(), help="contestants besides, as peers"
    )
    parser.add_argument("--embedder", default="auto", help="what meaning is read with")
    parser.add_argument("--cache", type=Path, help="folder that keeps vectors from run to run")
    parser.add_argument(
        "--jobs", type=int, default=1, help="contestants at once; times are then not what they are alone"
    )
    return parser.parse_args(given)


if __name__ == "__main__":
    sys.exit(main())
