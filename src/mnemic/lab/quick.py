"""Run every task once, small, with mnemic, two baselines and every strategy: `scripts/bench quick`.

A task takes the first questions of its data where a folder holds it, else its made-up sample. All goes to one log, and
ends in one page and one Markdown file, with needles in texts of 8,000 tokens behind. It tries the laboratory; the
figures are of few questions.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from mnemic.lab.contestants import strategy_contestant
from mnemic.lab.entries import TASKS
from mnemic.lab.kit.contest import Limits
from mnemic.lab.kit.contestant import Means
from mnemic.lab.kit.made_samples import write_samples
from mnemic.lab.kit.run import RunPlan, run
from mnemic.lab.kit.run_page import write_page
from mnemic.lab.kit.run_report import markdown, report
from mnemic.lab.kit.tables import piped
from mnemic.lab.tasks.needles_bench import NeedlePlan, bench_needles
from mnemic.lab.tasks.needles_report import needle_rows, needles_section, table
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

BUILT_IN: Final = frozenset({"current", "standing", "small", "everyday"})
"""Tasks that make their own questions."""


@dataclass(frozen=True, slots=True)
class QuickPlan:
    """Where each task has its data, and the tasks that have none."""

    tasks: dict[str, Path]
    left_out: tuple[str, ...]


def planned(samples: Path, data: Path | None, only: Sequence[str] = ()) -> QuickPlan:
    """Find the data of every task.

    Args:
        samples: Where made-up samples are.
        data: A folder of data for development.
        only: Just these tasks.
    """
    found: dict[str, Path] = {}
    chosen = [name for name in TASKS if not only or name in only]
    for name in chosen:
        file = None if data is None or name not in FILES else data / FILES[name]
        sample = samples / SAMPLES.get(name, name)
        if file is not None and file.exists():
            found[name] = file.parent if name in WHOLE_FOLDER else file
        elif sample.exists():
            found[name] = sample
        elif name in BUILT_IN:
            found[name] = Path()
    return QuickPlan(found, tuple(name for name in chosen if name not in found))


def rows() -> tuple[str, ...]:
    """Who runs: mnemic, two baselines, and every strategy that has a recall of its own."""
    return ("mnemic", *BASELINES, *strategy_contestant.offered())


def main(given: Sequence[str] | None = None) -> int:
    """Run, and tell where the report is; 1 if a task had no data or a contestant failed."""
    options = _options(given)
    began = time.monotonic()
    out: Path = options.out
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="mnemic-samples-") as folder:
        write_samples(Path(folder))
        plan = planned(Path(folder), options.data, options.only)
        log = run(
            RunPlan(
                tasks=plan.tasks,
                rows=rows(),
                means=Means(embedder=options.embedder, settings=Settings()),
                limit=options.limit,
            ),
            out / f"quick-{time.strftime('%Y%m%dT%H%M%S')}.jsonl",
            apart=Limits(silent_seconds=300.0),
            at_once=options.jobs,
            progress=_told,
        )
    made = report(log)
    readings = () if options.only else bench_needles(NeedlePlan(lengths=(8_000,)))
    needles = piped(table("Needles: evidence kept, in per cent", needle_rows(readings))) if readings else ""
    page = write_page(made, out / "report.html", needles_section(readings) if readings else ())
    text = out / "report.md"
    text.write_text("\n\n".join(part for part in (markdown(made), needles) if part) + "\n", encoding="utf-8")
    failed = [
        f"{each.task.name}: {row.system}: {row.failure}" for each in made.tasks for row in each.rows if row.failure
    ]
    for line in (*(f"{name}: no data; give --data" for name in plan.left_out), *failed):
        print(f"not run: {line}", file=sys.stderr)
    print(
        f"{len(plan.tasks)} tasks, {len(rows())} contestants, {time.monotonic() - began:,.0f} s: {page}, {text}, {log}"
    )
    return int(bool(plan.left_out or failed))


def _options(given: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/bench quick", description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--data", type=Path, help="folder of development data")
    parser.add_argument("--out", type=Path, default=Path("runs/quick"), help="folder of the log and the report")
    parser.add_argument("--limit", type=int, default=20, help="questions of each task")
    parser.add_argument("--only", type=lambda names: names.split(","), default=(), help="just these tasks, by commas")
    parser.add_argument("--embedder", default="none", help="what meaning is read with")
    parser.add_argument("--jobs", type=int, default=2, help="contestants at once")
    return parser.parse_args(given)


def _told(row: str, done: int, total: int) -> None:
    if done == total:
        print(f"{time.strftime('%H:%M:%S')} {row}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
