"""Run every task once, small, with mnemic, two baselines and every strategy: `scripts/bench quick`.

A task takes the first questions of its data where a folder holds it, with what answers them among as many other
documents as make it quick, else its made-up sample. All goes to one log, and ends in one page and one Markdown file.
Behind stand needles in a text of 8,000 tokens, and a short stream of tasks in each world, in which strategies of
experience take part: the tasks tell of no try. It tries the laboratory; the figures are of few questions.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from mnemic.lab.contestants.strategy_contestant import learns_from_tries, offered
from mnemic.lab.entries import TASKS, task
from mnemic.lab.kit.contest import Limits
from mnemic.lab.kit.contestant import Means
from mnemic.lab.kit.datasets import cited, opened
from mnemic.lab.kit.log import InterruptedRun, Log, records
from mnemic.lab.kit.made_samples import write_samples
from mnemic.lab.kit.output_places import moved_aside, refuse_log
from mnemic.lab.kit.run import RunPlan, run
from mnemic.lab.kit.run_page import tables_section, write_page
from mnemic.lab.kit.run_report import RunReport, markdown, report
from mnemic.lab.kit.spoken_progress import SpokenProgress
from mnemic.lab.kit.stream_memories import rows as stream_rows
from mnemic.lab.kit.stream_report import read_streams, stream_tables
from mnemic.lab.kit.stream_run import StreamPlan, run_streams
from mnemic.lab.kit.tables import TextTable, piped
from mnemic.lab.kit.task import SelfMadeTask
from mnemic.lab.script_ends import StoppedScript, exit_code, when_stopped
from mnemic.lab.stream_entries import WORLDS, world
from mnemic.lab.tasks.needles_bench import NeedlePlan, bench_needles
from mnemic.lab.tasks.needles_report import needle_rows, needles_section, read_needles, table
from mnemic.settings import Settings

BASELINES: Final = ("BM25 turns", "recent window")

FILES: Final = {
    "locomo": "locomo_dev6.jsonl.gz",
    "locomo-audited": "locomo_dev6.jsonl.gz",
    "longmemeval": "longmemeval_mini.jsonl.gz",
    "gvd-en": "gvd_en.jsonl.gz",
    "gvd-zh": "gvd_zh.jsonl.gz",
    "hotpotqa": "hotpotqa_train100.jsonl.gz",
    "2wiki": "2wiki_dev200.jsonl.gz",
    "musique": "musique_train100.jsonl.gz",
    "asked": "gvd_zh.jsonl.gz",
}
"""Data for development, by the name of its file in a folder."""

WHOLE_FOLDER: Final = frozenset({"asked"})
"""Tasks that read several files of the folder, of which the one that is named is the first."""

SAMPLES: Final = {
    "locomo-audited": "locomo",
    "multihop-untitled": "multihop",
    "hotpotqa": "multihop/multihop_made.jsonl",
    "2wiki": "multihop/multihop_made.jsonl",
    "musique": "multihop/multihop_made.jsonl",
}
"""Samples that are not called as their task is."""

OUT: Final = Path("runs/quick")

STREAM: Final = StreamPlan(rows=stream_rows(), seeds=1, tasks=4, tries=3)
"""What runs in each world."""


DOCS: Final = 200
"""Documents of a memory that are kept beside what answers the questions."""


@dataclass(frozen=True, slots=True)
class QuickPlan:
    """Where each task has its data, and the tasks that have none."""

    tasks: dict[str, Path]
    left_out: tuple[str, ...]


def planned(samples: Path, data: Path | None, only: Sequence[str] = (), limit: int = 20) -> QuickPlan:
    """Find the data of every task, and cut what is of the folder short.

    Args:
        samples: Where made-up samples are, and what is cut short goes.
        data: A folder of data for development.
        only: Just these tasks.
        limit: Questions of each.
    """
    places: dict[str, Path] = {}
    chosen = [name for name in TASKS if not only or name in only]
    for name in chosen:
        file = None if data is None or name not in FILES else data / FILES[name]
        sample = samples / SAMPLES.get(name, name)
        if file is not None and file.exists():
            places[name] = file.parent if name in WHOLE_FOLDER else shortened(file, samples / "short", limit)
        elif sample.exists():
            places[name] = sample
        elif isinstance(task(name), SelfMadeTask):
            places[name] = Path()
    return QuickPlan(places, tuple(name for name in chosen if name not in places))


def shortened(file: Path, folder: Path, limit: int) -> Path:
    """Write the first questions of a unified file, and of the documents of each memory the first and those wanted."""
    reading, text = opened(file)
    records = [record for _, record in reading.lines(text)]
    asked = [record for record in records if record["type"] == "query"][:limit]
    wanted = {(query["ns"], doc) for query in asked for doc in cited(query["gold"])}
    sessions = {
        (query["ns"], session) for query in asked if not query["gold"] for session in cited(query["gold_sessions"])
    }
    room = dict.fromkeys((query["ns"] for query in asked), DOCS)
    kept = []
    for doc in (record for record in records if record["type"] == "doc" and record["ns"] in room):
        needed = (doc["ns"], doc["id"]) in wanted or (doc["ns"], doc["session"]) in sessions
        if needed or room[doc["ns"]] > 0:
            room[doc["ns"]] -= not needed
            kept.append(doc)
    folder.mkdir(exist_ok=True)
    short = folder / file.name.removesuffix(".gz")
    short.write_text("".join(f"{json.dumps(record)}\n" for record in (*kept, *asked)), encoding="utf-8")
    return short


def rows() -> tuple[str, ...]:
    """Who runs: mnemic, two baselines, and every strategy with a recall of its own that does not wait for tries."""
    return ("mnemic", *BASELINES, *(name for name in offered() if not learns_from_tries(name)))


def main(given: Sequence[str] | None = None) -> int:
    """Run, and tell where the report is; 1 if a task had no data or a contestant failed."""
    return exit_code(_run, _options(given))


def _run(options: argparse.Namespace) -> int:
    began = time.monotonic()
    out: Path = options.out
    _refuse_unknown(options.only)
    if out == OUT:
        out.parent.mkdir(exist_ok=True)
    refuse_log(out)
    out.mkdir(exist_ok=True)
    with when_stopped(f"{options.resume} is as it was" if options.resume else "nothing is kept"):
        plan, log = _tasks_run(options)
    with when_stopped(f"the tasks are whole in {log}; what was beside them begins anew by --resume {log}"):
        made = report(log)
        besides = Besides() if options.only else measured_besides(out)
        page, text = write_report(made, besides, out)
    failed = failures(made)
    for line in (*(f"{name}: no data; give --data" for name in plan.left_out), *failed):
        print(f"not run: {line}", file=sys.stderr)
    took = f"{time.monotonic() - began:,.0f} s, of processors {_cpu_seconds():,.0f} s"
    print(f"{len(plan.tasks)} tasks, {len(rows())} contestants, {took}: {page}, {text}, {log}")
    return int(bool(plan.left_out or failed))


def _tasks_run(options: argparse.Namespace) -> tuple[QuickPlan, Path]:
    """Run every task that has data; return what was planned, and the log."""
    with tempfile.TemporaryDirectory(prefix="mnemic-samples-") as folder:
        write_samples(Path(folder))
        plan = planned(Path(folder), options.data, options.only, options.limit)
        try:
            log = run(
                RunPlan(
                    tasks=plan.tasks,
                    rows=rows(),
                    means=Means(embedder=options.embedder, settings=Settings()),
                    limit=options.limit,
                ),
                options.resume or options.out / f"quick-{time.strftime('%Y%m%dT%H%M%S')}.jsonl",
                resume=options.resume is not None,
                apart=Limits(silent_seconds=900.0),  # a full machine is no hung contestant
                at_once=options.jobs,
                progress=SpokenProgress(),
            )
        except InterruptedRun as stop:
            raise StoppedScript(f"what was measured is kept; go on by --resume {stop.log}") from stop
    return plan, log


def _refuse_unknown(only: Sequence[str]) -> None:
    """Refuse what is no task: it would not be missed."""
    for name in only:
        task(name)


def failures(made: RunReport) -> list[str]:
    """Who did not come to its end at which task, and why."""
    return [f"{each.task.name}: {row.system}: {row.failure}" for each in made.tasks for row in each.rows if row.failure]


def write_report(made: RunReport, besides: Besides, out: Path) -> tuple[Path, Path]:
    """Write the page and the Markdown file of a run to a folder."""
    page, text = write_page(made, out / "report.html", besides.html), out / "report.md"
    text.write_text("\n\n".join((markdown(made), *map(piped, besides.tables))) + "\n", encoding="utf-8")
    return page, text


@dataclass(frozen=True, slots=True)
class Besides:
    """What is no task with questions, as tables and as lines of the page."""

    tables: tuple[TextTable, ...] = ()
    html: tuple[str, ...] = ()


def measured_besides(
    out: Path, *, lengths: Sequence[int] = (8_000,), stream: StreamPlan = STREAM, kept: bool = False
) -> Besides:
    """Read needles, and run a stream in each world, whose logs go to a folder.

    Args:
        kept: What stands there whole already is not measured again; what was cut short begins anew.
    """
    needle_log = _log_of(out, "needles", kept=kept)
    if not _is_whole(needle_log):
        with Log(needle_log) as begun:
            bench_needles(NeedlePlan(lengths=tuple(lengths)), log=begun)
    _, readings = read_needles(needle_log)
    streams = []
    for name in WORLDS:
        log = _log_of(out, f"stream-{name}", kept=kept)
        if not _is_whole(log):
            run_streams(world(name), stream, log)
        streams += [replace(each, title=f"World {name}: {each.title}") for each in stream_tables(read_streams(log))]
    needles = table("Needles: evidence kept, in per cent", needle_rows(readings))
    return Besides((needles, *streams), (*needles_section(readings), *tables_section("Streams of tasks", streams)))


def _log_of(out: Path, name: str, *, kept: bool) -> Path:
    """Where the log of a measurement goes; of one that is kept, one that was cut short makes room."""
    log = out / (f"{name}.jsonl" if kept else f"{name}-{time.strftime('%Y%m%dT%H%M%S')}.jsonl")
    if log.exists() and not _is_whole(log):
        moved_aside(log, "was cut short")
    return log


def _is_whole(log: Path) -> bool:
    return log.exists() and any(record["kind"] == "end" for record in records(log))


def _cpu_seconds() -> float:
    """What this process and all that it has waited for have taken."""
    return sum(os.times()[:4])


def _options(given: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/bench quick", description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--data", type=Path, help="folder of development data")
    parser.add_argument("--out", type=Path, default=OUT, help="folder of the log and the report")
    parser.add_argument("--resume", type=Path, metavar="LOG", help="go on with the log of a run that was ended")
    parser.add_argument("--limit", type=int, default=20, help="questions of each task")
    parser.add_argument("--only", type=lambda names: names.split(","), default=(), help="just these tasks, by commas")
    parser.add_argument("--embedder", default="none", help="what meaning is read with")
    parser.add_argument("--jobs", type=int, default=2, help="contestants at once")
    return parser.parse_args(given)


if __name__ == "__main__":
    sys.exit(main())
