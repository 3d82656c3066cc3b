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
from mnemic.lab.contestants.strategy_contestant import idle_over, learns_from_tries, offered
from mnemic.lab.entries import TASKS, task
from mnemic.lab.kit.contest import Limits
from mnemic.lab.kit.contestant import Means
from mnemic.lab.kit.log import bench_of, read_tasks
from mnemic.lab.kit.output_places import moved_aside, refuse_log
from mnemic.lab.kit.reckoning import Paces, TaskSize, added, paces_of, reckoning_table, spoken_time
from mnemic.lab.kit.run import RunPlan, contestants_of, refuse_jobs, run, usual_rows
from mnemic.lab.kit.run_report import RunReport, report
from mnemic.lab.kit.spoken_progress import SpokenProgress
from mnemic.lab.kit.stream_memories import rows as stream_rows
from mnemic.lab.kit.stream_run import StreamPlan
from mnemic.lab.kit.tables import aligned
from mnemic.lab.kit.task import RetrievalTask, SelfMadeTask, data_of
from mnemic.lab.quick import FILES, WHOLE_FOLDER, Besides, failures, measured_besides, write_report
from mnemic.lab.script_ends import StoppedScript, exit_code, when_stopped
from mnemic.lab.tasks.needles_bench import FULL
from mnemic.settings import Settings

LIMITS: Final = {"longmemeval-m": 50}
"""Questions of tasks whose data is some gigabytes."""

NAMED_ALONE: Final = frozenset({"multihop", "multihop-untitled"})
"""Tasks of whatever passages a file holds: `hotpotqa`, `2wiki` and `musique` are the same with data of their own."""

OUT: Final = Path("runs/full")

STREAM: Final = StreamPlan(rows=stream_rows(), seeds=12, tasks=24, tries=3)


@dataclass(frozen=True, slots=True)
class FullPlan:
    """Where each task has its data, how much it is, who runs, and why other tasks do not.

    Attributes:
        busy: Who of the rows has something to do there.
    """

    places: Mapping[str, Path]
    sizes: Mapping[str, TaskSize]
    rows: Mapping[str, tuple[str, ...]]
    left_out: Mapping[str, str] = field(default_factory=dict)
    busy: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


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
    """Find and count the data of every task; one whose data is not there or cannot be read is left out.

    Raises:
        Invalid: the folder is not there, or there is no such task or contestant.
    """
    if not data.is_dir():
        raise Invalid("data", f"{data} is not there, or no folder", "Name the folder of the data.")
    names = tuple(only) or tuple(name for name in TASKS if name not in NAMED_ALONE)
    rows = {name: _rows(name, means, beside) for name in names}
    makers = {
        name: contestants_of(RunPlan(tasks={name: data}, rows=rows[name], means=means))[name] for name in names
    }  # before the data, which may take minutes
    places: dict[str, Path] = {}
    sizes: dict[str, TaskSize] = {}
    left_out: dict[str, str] = {}
    busy: dict[str, tuple[str, ...]] = {}
    for name in names:
        try:
            place = place_of(name, data)
            read = data_of(task(name), place, LIMITS.get(name))
        except Invalid as error:
            source = getattr(task(name), "source", "")
            left_out[name] = f"{error.problem}. {source}".rstrip()
            continue
        places[name] = place
        sizes[name] = TaskSize(sum(len(corpus.docs) for corpus in read.corpora), len(read.questions))
        busy[name] = tuple(row for row, make in makers[name].items() if not idle_over(make, read))
    return FullPlan(places, sizes, {name: rows[name] for name in sizes}, left_out, busy)


def _rows(name: str, means: Means, beside: Sequence[str]) -> tuple[str, ...]:
    strategies = (row for row in offered() if not learns_from_tries(row))
    return tuple(dict.fromkeys((*usual_rows(name, means), *strategies, *beside)))


def main(given: Sequence[str] | None = None) -> int:
    """Run, and tell where the report is; 1 if a task had no data, or a task or a contestant failed."""
    return exit_code(_run, _options(given))


def _run(options: argparse.Namespace) -> int:
    out: Path = options.out
    if out == OUT:
        out.parent.mkdir(exist_ok=True)
    refuse_log(out)
    means = Means(embedder=options.embedder, settings=Settings(), cache=options.cache)
    refuse_jobs(options.jobs, means)
    with when_stopped(f"{out} is as it was" if out.exists() else "nothing is kept"):
        plan = planned(options.data, means, options.only, options.beside)
        logs = {name: out / f"{name}.jsonl" for name in plan.places}
        paces = paces_of([*options.by, *filter(_is_begun, logs.values())])
        left = rows_left(plan, logs)
    print(aligned(reckoning_table(paces, plan.sizes, left)), file=sys.stdout if options.count else sys.stderr)
    for name, why in plan.left_out.items():
        print(f"not run: {name}: {why}", file=sys.stderr)
    if options.count:
        return 0
    out.mkdir(exist_ok=True)
    for log in logs.values():
        if log.exists() and not _is_begun(log):
            moved_aside(log, "holds nothing yet")
    remaining = RowsLeft(plan.sizes, left, paces, options.jobs)
    try:
        failed = _tasks_run(plan, logs, means, options.jobs, remaining)
    except KeyboardInterrupt as stop:
        kept = f"what was measured is kept in {out}; the same command goes on from there"
        raise StoppedScript(kept if any(log.exists() for log in logs.values()) else "nothing is kept") from stop
    begun = [log for log in logs.values() if _is_begun(log)]
    if failed and not begun:
        return 1
    with when_stopped(f"the tasks are kept in {out}; with the same command a stream or needles cut short begin anew"):
        return _reported(plan, begun, failed, options)


def _is_begun(log: Path) -> bool:
    """Whether a log says of what run it is; power may go before that."""
    return log.exists() and bool(bench_of(log))


def rows_left(plan: FullPlan, logs: Mapping[str, Path]) -> dict[str, tuple[str, ...]]:
    """List who is still to run at each task: who has something to do there, and has not come to its end in the log."""
    left: dict[str, tuple[str, ...]] = {}
    for name, rows in plan.busy.items():
        logged = read_tasks(logs[name]).get(name) if _is_begun(logs[name]) else None
        left[name] = tuple(row for row in rows if logged is None or row not in logged.costs)
    return left


def _tasks_run(plan: FullPlan, logs: Mapping[str, Path], means: Means, jobs: int, remaining: RowsLeft) -> list[str]:
    """Run every task into its log; return those that could not be run, and why."""
    failed = []
    for name, place in plan.places.items():
        remaining.of(name)
        try:
            run(
                RunPlan(tasks={name: place}, rows=plan.rows[name], means=means, limit=LIMITS.get(name)),
                logs[name], resume=logs[name].exists(), apart=Limits(), at_once=jobs,
                progress=SpokenProgress(remaining, task=name),
            )  # fmt: skip
        except MnemicError as error:  # of one task: others run on
            failed.append(f"{name}: {error}")
            print(f"not run: {failed[-1]}", file=sys.stderr)
    return failed


def _reported(plan: FullPlan, logs: Sequence[Path], failed: Sequence[str], options: argparse.Namespace) -> int:
    """Measure what is beside the tasks, write the report, and tell where it is and how long all has taken."""
    made = together([report(log) for log in logs])
    besides = Besides() if options.only else measured_besides(options.out, lengths=FULL, stream=STREAM, kept=True)
    written = write_report(made, besides, options.out)
    known = paces_of(logs).known.items()
    took = added(pace.taken(plan.sizes[name]) for (name, _), pace in known if name in plan.sizes)
    times = f"{spoken_time(took.clock)} by the clock, {spoken_time(took.cpu)} of processors, reckoned from the logs"
    print(f"{len(made.tasks)} tasks, {times}: {', '.join(map(str, written))}")
    return int(bool(plan.left_out or failed or failures(made)))


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


class RowsLeft:
    """Says how long the rest may take, once a row is done."""

    def __init__(
        self, sizes: Mapping[str, TaskSize], rows: Mapping[str, Sequence[str]], paces: Paces, jobs: int
    ) -> None:
        self._jobs, self._task = jobs, ""
        self._times = {(name, row): paces.reckoned(name, row, sizes[name]) for name in rows for row in rows[name]}

    def of(self, task: str) -> None:
        """Take what is done from now on as rows of a task."""
        self._task = task

    def __call__(self, row: str) -> str:
        self._times.pop((self._task, row), None)
        known = [time.clock for time in self._times.values() if time is not None]
        strange = len(self._times) - len(known)
        beside = f" and {strange} contestant{'' if strange == 1 else 's'} of unknown pace" if strange else ""
        return f"; left, reckoned: {spoken_time(sum(known) / self._jobs)}{beside}" if self._times else ""


def _options(given: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/bench full", description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of the data, whole")
    parser.add_argument("--out", type=Path, default=OUT, help="folder of logs and report, gone on with")
    parser.add_argument(
        "--by", type=Path, action="append", default=[], metavar="LOG", help="a smaller run to reckon by"
    )
    parser.add_argument("--count", action="store_true", help="count and reckon on standard output, and run nothing")
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
