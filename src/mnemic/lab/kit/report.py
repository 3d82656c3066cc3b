"""From a log to the tables: every figure is recomputed from the answers, none is read back."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from mnemic.lab.kit import log, metrics
from mnemic.lab.kit.baselines import BAR
from mnemic.lab.kit.datasets import UNANSWERABLE
from mnemic.lab.kit.log import Answer, Cost, Run
from mnemic.lab.kit.metrics import Array, Estimate

Mask: TypeAlias = npt.NDArray[np.bool_]

HEADLINE: Final = "R@10"
_ORDER: Final = ("single-hop", "multi-hop", "temporal", "open-domain", "adversarial")


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
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
class Report:
    """A run's tables as values."""

    header: Mapping[str, Any]
    complete: bool
    rows: tuple[Row, ...]
    notes: tuple[str, ...]


def report(log_path: Path, *, seed: int | None = None) -> Report:
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
    return Report(header=run.header, complete=run.complete, rows=rows, notes=_notes(run))


def as_json(made: Report) -> str:
    """The report for machines: every metric with its interval; what cannot be had is null."""
    record = {
        "header": dict(made.header),
        "complete": made.complete,
        "rows": [asdict(row) for row in made.rows],
        "notes": list(made.notes),
    }
    return json.dumps(finite(record), ensure_ascii=False, indent=2)


def _row(run: Run, system: str, answers: Sequence[Answer], seed: int) -> Row:
    outcomes = [run.outcome(answer) for answer in answers]
    values = metrics.measure(outcomes)
    categories = np.array([answer.category for answer in answers])
    latencies = [answer.milliseconds for answer in answers]
    return Row(
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


def _gain(run: Run, system: str, values: Array, seed: int) -> Estimate | None:
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


def _notes(run: Run) -> tuple[str, ...]:
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


def finite(value: object) -> object:
    """The same with null for what is no number, as JSON has it."""
    match value:
        case float():
            return value if math.isfinite(value) else None
        case Mapping():
            return {key: finite(inner) for key, inner in value.items()}
        case list() | tuple():
            return [finite(inner) for inner in value]
        case _:
            return value
