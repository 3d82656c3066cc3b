"""From the log of a run to its tables: every figure is recomputed from the answers, none is read back."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, TextIO, TypeAlias

import numpy as np
import numpy.typing as npt

from mnemic.lab.kit import log, metrics
from mnemic.lab.kit.baselines import BAR
from mnemic.lab.kit.datasets import UNANSWERABLE
from mnemic.lab.kit.log import Cost, LoggedAnswer, LoggedRun
from mnemic.lab.kit.metrics import Array, Estimate
from mnemic.lab.kit.tables import TextTable, aligned, bar, display_width, finite, piped

Mask: TypeAlias = npt.NDArray[np.bool_]

HEADLINE: Final = "R@10"
_SHOWN: Final = (
    ("R@1", "R@1"),
    ("R@5", "R@5"),
    ("R@10", "R@10"),
    ("R@20", "R@20"),
    ("R@50", "R@50"),
    ("any@5", "any@5"),
    ("session any@5", "ses any@5"),
    ("session any@10", "ses any@10"),
    ("R@1k tokens", "1k"),
    ("R@2k tokens", "2k"),
    ("R@4k tokens", "4k"),
)
_INSTANT: Final = 1e6
_WITH_INTERVAL: Final = frozenset({"R@5", "R@10"})
_ORDER: Final = ("single-hop", "multi-hop", "temporal", "open-domain", "adversarial")


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemRow:
    """One system.

    Attributes:
        asked: Questions it answered, scorable or not.
        scores: Every metric over all questions.
        answerable: The same without adversarial and abstention questions.
        categories: The headline metric by category.
        gain: The headline metric minus the bar's on the same questions; None for the bar itself, or without it.
        auroc: How well the best score tells answerable questions from the others; NaN without scores or without others.
        p50_ms, p95_ms: Recall latency.
        cost: None when the run was cut short before it was measured.
    """

    system: str
    asked: int
    scores: Mapping[str, Estimate]
    answerable: Mapping[str, Estimate]
    categories: Mapping[str, Estimate]
    gain: Estimate | None
    auroc: float
    p50_ms: float
    p95_ms: float
    tokens: float
    cost: Cost | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunReport:
    """A run's tables as values."""

    header: Mapping[str, Any]
    complete: bool
    rows: tuple[SystemRow, ...]
    notes: tuple[str, ...]


def report(log_path: Path, *, seed: int | None = None) -> RunReport:
    """Compute every figure of a run from its log.

    Args:
        seed: Of the bootstrap; the run's own when None.

    Raises:
        NotFound: no such log.
        Invalid: not a log of a run.
    """
    run = log.read(log_path)
    seed = int(run.header.get("seed", 0)) if seed is None else seed
    rows = tuple(_row(run, system, answers, seed) for system, answers in run.answers.items())
    return RunReport(header=run.header, complete=run.complete, rows=rows, notes=_notes(run))


def as_json(run_report: RunReport) -> str:
    """The report for machines: every metric with its interval; what cannot be had is null."""
    record = {
        "header": dict(run_report.header),
        "complete": run_report.complete,
        "rows": [asdict(row) for row in run_report.rows],
        "notes": list(run_report.notes),
    }
    return json.dumps(finite(record), ensure_ascii=False, indent=2)


def _row(run: LoggedRun, system: str, answers: Sequence[LoggedAnswer], seed: int) -> SystemRow:
    outcomes = [run.outcome(answer) for answer in answers]
    values = metrics.measure(outcomes)
    categories = np.array([answer.category for answer in answers])
    latencies = [answer.milliseconds for answer in answers]
    return SystemRow(
        system=system,
        asked=len(answers),
        scores=metrics.estimates(values, seed),
        answerable=_estimates(values, ~np.isin(categories, list(UNANSWERABLE)), seed),
        categories={
            name: _estimates({HEADLINE: values[HEADLINE]}, categories == name, seed)[HEADLINE]
            for name in _ordered({answer.category for answer in answers})
        },
        gain=_gain(run, system, values[HEADLINE], seed),
        auroc=_answerability(outcomes),
        p50_ms=float(np.percentile(latencies, 50)),
        p95_ms=float(np.percentile(latencies, 95)),
        tokens=float(np.mean([answer.tokens for answer in answers])),
        cost=run.costs.get(system),
    )


def _estimates(values: Mapping[str, Array], chosen: Mask, seed: int) -> dict[str, Estimate]:
    return metrics.estimates({name: column[chosen] for name, column in values.items()}, seed)


def _gain(run: LoggedRun, system: str, values: Array, seed: int) -> Estimate | None:
    if system == BAR or BAR not in run.answers:
        return None
    headline = metrics.METRICS[HEADLINE]
    bar = {answer.question: headline(run.outcome(answer)) for answer in run.answers[BAR]}
    against = np.array([bar.get(answer.question, math.nan) for answer in run.answers[system]])
    return metrics.difference(values, against, seed)


def _answerability(outcomes: Sequence[metrics.Outcome]) -> float:
    scored = [o for o in outcomes if not math.isnan(o.score)]
    return metrics.auroc(
        [o.score for o in scored if o.category not in UNANSWERABLE],
        [o.score for o in scored if o.category in UNANSWERABLE],
    )


def _ordered(categories: set[str]) -> list[str]:
    return [name for name in _ORDER if name in categories] + sorted(categories - set(_ORDER))


def _notes(run: LoggedRun) -> tuple[str, ...]:
    data, effective = run.header["data"], run.header["effective"]
    notes = [
        f"{data['name']}, sha256 {data['sha256'][:12]}: {data['docs']:,} turns ({data['undated']} undated), "
        f"{data['questions']:,} questions, {data['unscorable']} without evidence and left out. "
        f"Evidence mended {data['evidence_mended']}, naming no turn {data['evidence_dropped']}.",
        "Turn level, captions in the text, adversarial questions in (table 2 has them apart), no language model, "
        f"weights set on its development part (LOG.md). 95 % intervals: percentile bootstrap, {metrics.DRAWS:,} draws, "
        f"seed {run.header['seed']}.",
        "R@k = gold found / gold. 1k, 2k, 4k = gold within the first so many tokens. "
        "A session ranks where its best turn does.",
        f"The bar is `{BAR}`; differences from it are paired, in points, with their 95 % interval. "
        "AUROC: how well the best score tells answerable questions from the others; 0.5 is chance.",
    ]
    if effective["embedder"] is None:
        notes.append("The rows `dense turns` and `hybrid` need an embedder; none was given, so they are not here.")
    if not run.complete:
        notes.append("The run was cut short: figures cover the questions answered until then.")
    return tuple(notes)


def tables(run_report: RunReport) -> tuple[TextTable, ...]:
    """What was found, by category, and what it cost."""
    return _recall_table(run_report), _by_category(run_report), _costs(run_report)


def plain(run_report: RunReport) -> str:
    """Aligned text without colour."""
    return _stacked(run_report, aligned)


def markdown(run_report: RunReport) -> str:
    """The same for a page."""
    return _stacked(run_report, piped)


def show(run_report: RunReport, stream: TextIO, form: str | None = None) -> None:
    """Write the report: as `json`, `markdown` or `plain`, or when None as the stream suits it best.

    A terminal narrower than the widest table gets aligned text, which it can scroll, not folded cells.
    """
    if form == "json":
        stream.write(as_json(run_report) + "\n")
    elif form == "markdown":
        stream.write(markdown(run_report) + "\n")
    elif form == "plain" or not stream.isatty():
        stream.write(plain(run_report) + "\n")
    else:
        _rich(run_report, stream)


def _recall_table(run_report: RunReport) -> TextTable:
    header = ("system", "n", *(short for _, short in _SHOWN), HEADLINE)
    return TextTable("1. Evidence found, %", header, tuple(_found_cells(row) for row in run_report.rows))


def _found_cells(row: SystemRow) -> tuple[str, ...]:
    scores = row.scores
    cells = (_percent(scores[name], name in _WITH_INTERVAL) for name, _ in _SHOWN)
    counted = max(scores[HEADLINE].n, scores["session any@5"].n)
    return row.system, f"{counted:,}", *cells, bar(scores[HEADLINE].mean)


def _by_category(run_report: RunReport) -> TextTable:
    names = list(dict.fromkeys(name for row in run_report.rows for name in row.categories))
    sizes = {name: max(row.categories[name].n for row in run_report.rows if name in row.categories) for name in names}
    header = (
        "system",
        *(f"{name} ({sizes[name]})" for name in names),
        "answerable only",
        "all, beside the bar",
        "AUROC",
    )
    return TextTable(
        f"2. {HEADLINE} by category, %", header, tuple(_category_cells(row, names) for row in run_report.rows)
    )


def _category_cells(row: SystemRow, names: Sequence[str]) -> tuple[str, ...]:
    nothing = Estimate(math.nan, math.nan, math.nan, 0)
    return (
        row.system,
        *(_percent(row.categories.get(name, nothing), True) for name in names),
        _percent(row.answerable[HEADLINE], True),
        _signed(row.gain),
        _number(row.auroc, 2),
    )


def _costs(run_report: RunReport) -> TextTable:
    header = (
        "system",
        "ingest turns/s",
        "bytes/message",
        "write to recall ms",
        "recall p50 ms",
        "p95 ms",
        "tokens/question",
        "model calls/message",
    )
    return TextTable(
        "3. What it cost (recall and tokens: the ten best)", header, tuple(_cost_cells(row) for row in run_report.rows)
    )


def _cost_cells(row: SystemRow) -> tuple[str, ...]:
    cost = row.cost
    return (
        row.system,
        _rate(cost),
        _number(cost.bytes_per_message if cost else None, 0),
        _number(cost.lag_ms if cost else None, 2),
        _number(row.p50_ms, 2),
        _number(row.p95_ms, 2),
        _number(row.tokens, 0),
        _number(cost.model_calls if cost else None, 0),
    )


def _rate(cost: Cost | None) -> str:
    if cost is None:
        return "-"
    rate = cost.messages / max(cost.ingest_seconds, 1e-9)
    return _number(rate, 0) if rate < _INSTANT else "at once"


def _percent(value: Estimate, interval: bool = False) -> str:
    if math.isnan(value.mean):
        return "-"
    shown = f"{100 * value.mean:.1f}"
    return f"{shown} ±{50 * (value.high - value.low):.1f}" if interval else shown


def _signed(value: Estimate | None) -> str:
    if value is None or math.isnan(value.mean):
        return "-"
    return f"{100 * value.mean:+.1f} [{100 * value.low:+.1f}, {100 * value.high:+.1f}]"


def _number(value: float | None, digits: int) -> str:
    return "-" if value is None or math.isnan(value) else f"{value:,.{digits}f}"


def _stacked(run_report: RunReport, form: Callable[[TextTable], str]) -> str:
    blocks = [form(table) for table in tables(run_report)]
    return "\n\n".join([*blocks, "\n".join(f"* {note}" for note in run_report.notes)])


def _rich(run_report: RunReport, stream: TextIO) -> None:
    from rich.console import Console  # rich is loaded only for a terminal
    from rich.table import Table as Grid

    console = Console(file=stream, highlight=False)
    for table in tables(run_report):
        widest = max(map(display_width, aligned(table).splitlines()))
        if widest > console.width:
            stream.write(aligned(table) + "\n\n")
            continue
        grid = Grid(title=table.title, title_justify="left", box=None, pad_edge=False, padding=(0, 2, 0, 0))
        for n, column in enumerate(table.columns):
            grid.add_column(column, justify="left" if n == 0 else "right", no_wrap=True)
        for row in table.rows:
            grid.add_row(*row, style="bold" if row[0] == "mnemic" else None)
        console.print(grid, end="\n\n")
    for note in run_report.notes:
        console.print(f"* {note}", style="dim", markup=False)
