"""What differs between two runs, and what each stage of recall is worth: paired, question by question."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from mnemic.errors import Invalid
from mnemic.lab.contestants.mnemic_contestant import WHOLE, WITHOUT
from mnemic.lab.kit import metrics
from mnemic.lab.kit.log import differences
from mnemic.lab.kit.run_report import RunReport, TaskReport, beside, percent_of
from mnemic.lab.kit.tables import TextTable, signed

if TYPE_CHECKING:
    from mnemic.lab.kit.metrics import Estimate

_FREE_MS: Final = 0.02
"""What costs less cannot be told from nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricChange:
    """One metric of one contestant at one task, in a run and in a later one, over the questions that both asked.

    Attributes:
        before, after: The means.
        by_question, by_conversation: The difference, with the interval of a bootstrap over either.
        rose, fell: How many questions.
    """

    task: str
    system: str
    metric: str
    before: float
    after: float
    by_question: Estimate
    by_conversation: Estimate
    rose: int
    fell: int


def changes(before: RunReport, after: RunReport) -> list[MetricChange]:
    """Compare every metric that is shown of what both runs have: tasks on the same data, contestants of one name.

    A run of one contestant is compared with another run of one, whatever their names.

    Raises:
        Invalid: they have nothing in common.
    """
    made: list[MetricChange] = []
    earlier = {each.task.name: each for each in before.tasks}
    for later in after.tasks:
        if (same := earlier.get(later.task.name)) is not None:
            made += _of_task(same, later, before.seed)
    if not made:
        raise Invalid("run", "shares no task with the other, on the same data with the same contestant", "Name others.")
    return made


def settings_that_differ(before: RunReport, after: RunReport) -> Iterator[str]:
    """What else is not the same: settings, by name, as they were and as they are."""
    for name, was, now in differences(_facts(before.header), _facts(after.header)):
        yield f"{name}: {was} before, {now} after"


def _facts(header: Mapping[str, Any]) -> dict[str, Any]:
    git = header.get("git") or {}
    return {**header["settings"], "uncommitted changes": git.get("dirty")}


def change_table(made: list[MetricChange]) -> TextTable:
    """A line for each change."""
    columns = ("task", "contestant", "metric", "before", "after", "difference", "by conversation", "rose", "fell", "n")
    rows = tuple(
        (
            change.task,
            change.system,
            change.metric,
            _hundredfold(change.before),
            _hundredfold(change.after),
            signed(change.by_question),
            signed(change.by_conversation),
            str(change.rose),
            str(change.fell),
            str(change.by_question.n),
        )
        for change in made
    )
    return TextTable("What has changed, % and points, with 95 % intervals", columns, rows, (0, 1, 2))


def _of_task(before: TaskReport, after: TaskReport, seed: int) -> Iterator[MetricChange]:
    if before.run.header["data"][before.task.name]["sha256"] != after.run.header["data"][after.task.name]["sha256"]:
        return
    was, now = before.run.answers, after.run.answers
    pairs = {name: name for name in now if name in was}
    if not pairs and len(was) == len(now) == 1:
        pairs = {next(iter(now)): next(iter(was))}
    for name, other in pairs.items():
        answers = now[name]
        spaces = [answer.ns for answer in answers]
        for metric in after.task.shown:
            values = np.array([after.task.metrics[metric](after.run.outcome(a)) for a in answers], np.float64)
            difference = values - beside(before.task, before.run, was[other], answers, metric)
            both = ~np.isnan(difference)
            if not both.any():
                continue
            yield MetricChange(
                task=after.task.name,
                system=name if name == other else f"{name} after {other}",
                metric=metric,
                before=float((values - difference)[both].mean()),
                after=float(values[both].mean()),
                by_question=metrics.estimates({"": difference}, seed)[""],
                by_conversation=metrics.clustered(difference, spaces, seed),
                rose=int((difference[both] > 0).sum()),
                fell=int((difference[both] < 0).sum()),
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class StagePrice:
    """What leaving something out of recall loses, and what it saves.

    Attributes:
        points, points_by_conversation: The headline metric of the whole minus that without it.
        milliseconds: Processor time of a recall, the same way.
        per_millisecond: Points, of a hundred; NaN where it costs nothing that can be told.
    """

    without: str
    points: Estimate
    points_by_conversation: Estimate
    milliseconds: Estimate
    per_millisecond: float


def prices(of: TaskReport, seed: int) -> list[StagePrice]:
    """What each part of recall is worth that a row of the run leaves out, dearest first; none without the whole."""
    whole = of.run.answers.get(WHOLE)
    if whole is None:
        return []
    made = []
    cpu = {(a.ns, a.question): a.cpu_ms for a in whole}
    for name, answers in of.run.answers.items():
        if name == WHOLE or not name.startswith(WITHOUT):
            continue
        values = np.array([of.task.metrics[of.task.headline](of.run.outcome(a)) for a in answers], np.float64)
        lost = beside(of.task, of.run, whole, answers, of.task.headline) - values
        saved = [(cpu.get((a.ns, a.question)), a.cpu_ms) for a in answers]
        took = np.array([w - o if w is not None and o is not None else math.nan for w, o in saved], np.float64)
        points, milliseconds = (metrics.estimates({"": column}, seed)[""] for column in (lost, took))
        made.append(
            StagePrice(
                without=name.removeprefix(WITHOUT),
                points=points,
                points_by_conversation=metrics.clustered(lost, [a.ns for a in answers], seed),
                milliseconds=milliseconds,
                per_millisecond=100 * points.mean / milliseconds.mean if milliseconds.mean > _FREE_MS else math.nan,
            )
        )
    return sorted(made, key=lambda price: -price.points.mean)


def price_table(of: TaskReport, made: list[StagePrice]) -> TextTable:
    """A line for each price."""
    whole = next(row for row in of.rows if row.system == WHOLE)
    columns = ("left out", f"{of.task.headline} lost", "by conversation", "CPU ms saved", "points per ms")
    rows = tuple(
        (
            price.without,
            signed(price.points),
            signed(price.points_by_conversation),
            f"{price.milliseconds.mean:.2f} [{price.milliseconds.low:.2f}, {price.milliseconds.high:.2f}]",
            "-" if math.isnan(price.per_millisecond) else f"{price.per_millisecond:+.2f}",
        )
        for price in made
    )
    found = percent_of(whole.scores[of.task.headline], True)
    return TextTable(f"What each stage is worth ({of.task.headline} of the whole: {found} %)", columns, rows)


def _hundredfold(share: float) -> str:
    return f"{100 * share:.1f}"
