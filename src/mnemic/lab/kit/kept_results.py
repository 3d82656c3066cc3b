"""The figures of a full run as they are kept in a repository: no question, no answer, no text of the data."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from mnemic.errors import Invalid
from mnemic.lab.kit.tables import finite
from mnemic.models.model_opening import NONE

if TYPE_CHECKING:
    from mnemic.lab.kit.metrics import Estimate
    from mnemic.lab.kit.run_report import RunReport, SystemRow, TaskReport

_DIGITS: Final = 4


@dataclass(frozen=True, slots=True)
class KeptFigures:
    """The files that were written, and why other tasks of the run were left as they were."""

    written: tuple[Path, ...]
    left: Mapping[str, str]


def keep(run_report: RunReport, folder: Path) -> KeptFigures:
    """Write a file of figures for each task of a run that was run in full, over that of the run before.

    Raises:
        Invalid: no task was, or a file cannot be written.
    """
    left = {each.task.name: why for each in run_report.tasks if (why := _why_not(run_report, each))}
    if len(left) == len(run_report.tasks):
        name, why = next(iter(left.items()))
        raise Invalid("log", f"holds no task that was run in full ({name}: {why})", "Only such figures are kept.")
    written = []
    for each in run_report.tasks:
        if each.task.name in left:
            continue
        path = folder / f"{each.task.name}.json"
        text = json.dumps(finite(_of_task(run_report.header, each)), ensure_ascii=False, indent=1) + "\n"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
        except OSError as error:
            raise Invalid("folder", f"cannot be written: {error.strerror}", "Name one you can write.") from error
        written.append(path)
    return KeptFigures(tuple(written), left)


def _why_not(run_report: RunReport, of: TaskReport) -> str:
    """Why a task was not run in full; "" if it was, even where the run goes on with others."""
    settings = run_report.header["settings"]
    if settings["limit"] is not None:
        return f"limited to {settings['limit']} questions"
    came = {row.system for row in of.rows if row.cost is not None and not row.failure}
    if missing := [name for name in settings["contestants"][of.task.name] if name not in came]:
        return f"{missing[0]} did not come to its end"
    asked = settings.get("answers") or {}
    if not run_report.complete and (asked.get("model", NONE) not in ("", NONE) or asked.get("judges")):
        return "models were still to be asked"
    return ""


def kept(folder: Path) -> dict[str, dict[str, Any]]:
    """The figures that are kept, by task."""
    return {path.stem: json.loads(path.read_text("utf-8")) for path in sorted(folder.glob("*.json"))}


def _of_task(header: Mapping[str, Any], of: TaskReport) -> dict[str, object]:
    return {
        **run_facts(header, of),
        "rows": {row.system: _of_row(row) for row in of.rows},
        **({} if of.answers is None else {"answered": _of_answers(of)}),
    }


def run_facts(header: Mapping[str, Any], of: TaskReport) -> dict[str, object]:
    """What ran at a task, on what and with what."""
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
