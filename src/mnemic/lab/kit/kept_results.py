"""The figures of a full run as they are kept in a repository: no question, no answer, no text of the data."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from mnemic.errors import Invalid
from mnemic.lab.kit.tables import finite

if TYPE_CHECKING:
    from mnemic.lab.kit.metrics import Estimate
    from mnemic.lab.kit.run_report import RunReport, SystemRow, TaskReport

_DIGITS: Final = 4


def keep(run_report: RunReport, folder: Path) -> list[Path]:
    """Write a file of figures for each task of a run, over that of the run before; return them.

    Raises:
        Invalid: the run was limited or cut short, somebody failed, or a file cannot be written.
    """
    settings = run_report.header["settings"]
    failed = [row.system for each in run_report.tasks for row in each.rows if row.failure]
    if settings["limit"] is not None or not run_report.complete or failed:
        why = f"limited to {settings['limit']} questions" if settings["limit"] is not None else "not whole"
        raise Invalid("log", f"is of a run that is {why}", "Only the figures of full runs are kept.")
    written = []
    for each in run_report.tasks:
        path = folder / f"{each.task.name}.json"
        text = json.dumps(finite(_of_task(run_report.header, each)), ensure_ascii=False, indent=1) + "\n"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
        except OSError as error:
            raise Invalid("folder", f"cannot be written: {error.strerror}", "Name one you can write.") from error
        written.append(path)
    return written


def kept(folder: Path) -> dict[str, dict[str, Any]]:
    """The figures that are kept, by task."""
    return {path.stem: json.loads(path.read_text("utf-8")) for path in sorted(folder.glob("*.json"))}


def _of_task(header: Mapping[str, Any], of: TaskReport) -> dict[str, object]:
    settings, git, data = header["settings"], header.get("git") or {}, header["data"][of.task.name]
    return {
        "task": of.task.name,
        "headline": of.task.headline,
        "started": header["started"],
        "mnemic": header["mnemic"],
        "commit": git.get("commit"),
        "dirty": git.get("dirty"),
        "embedder": settings["embedder"],
        "seed": settings["seed"],
        "answers": settings.get("answers"),
        "machine": header["machine"],
        "data": {name: data[name] for name in ("name", "sha256", "corpora", "docs", "questions", "unscorable")},
        "rows": {row.system: _of_row(row) for row in of.rows},
        **({} if of.answers is None else {"answered": _of_answers(of)}),
    }


def _of_row(row: SystemRow) -> dict[str, object]:
    return {
        "asked": row.asked,
        "scores": {name: _figures(score) for name, score in row.scores.items()},
        "by conversation": _figures(row.clustered),
        "categories": {
            category: {name: _figures(score) for name, score in scores.items()}
            for category, scores in row.categories.items()
        },
        "tokens": row.tokens,
        "p50_ms": row.p50_ms,
        "p95_ms": row.p95_ms,
        "cpu_ms": row.cpu_ms,
        "cost": None if row.cost is None else asdict(row.cost),
    }


def _of_answers(of: TaskReport) -> list[dict[str, object]]:
    assert of.answers is not None
    return [
        {
            "system": row.system,
            "reader": row.reader,
            "scores": {name: _figures(score) for name, score in row.scores.items()},
            "declined_wrongly": row.declined_wrongly,
            "declined_rightly": row.declined_rightly,
            "calls": row.calls,
            "judges": {
                judged.judge: _figures(judged.right)
                for judged in of.answers.judges
                if (judged.system, judged.reader) == (row.system, row.reader)
            },
        }
        for row in of.answers.rows
    ]


def _figures(score: Estimate) -> list[float | int]:
    """Mean, ends of the interval, and over how many questions."""
    return [*(round(value, _DIGITS) for value in (score.mean, score.low, score.high)), score.n]
