"""What differs between two runs, and what each part that is left out is worth: paired, question by question."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from mnemic.errors import Invalid
from mnemic.lab.contestants.mnemic_contestant import WHOLE, WITHOUT
from mnemic.lab.contestants.strategy_contestant import MODEL, left_out_of
from mnemic.lab.kit import metrics
from mnemic.lab.kit.contestant import COPYING, SCRIPTED
from mnemic.lab.kit.log import differences
from mnemic.lab.kit.run_report import RunReport, SystemRow, TaskReport, beside, is_made_up
from mnemic.lab.kit.tables import TextTable, named_as_made_up, percent_of, signed

if TYPE_CHECKING:
    from mnemic.lab.kit.log import Cost
    from mnemic.lab.kit.metrics import Estimate

_FREE_MS: Final = 0.02
"""What costs less cannot be told from nothing."""

_FREE_CALLS: Final = 1e-9

_OF_TIMES: Final = (
    "Each row ran by itself: how the machine drifts from one to the next is in no interval of a time saved."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricChange:
    """One metric of one contestant at one task, in a run and in a later one, over the questions that both asked.

    Attributes:
        before, after: The means.
        by_question, by_conversation: The difference, with the interval of a bootstrap over either.
        rose, fell: How many questions.
        made_up: Whether the data is nobody's.
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
    made_up: bool = False


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
            named_as_made_up(change.task, change.made_up),
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
                made_up=is_made_up(after),
                system=name if name == other else f"{name} after {other}",
                metric=metric,
                before=float((values - difference)[both].mean()),
                after=float(values[both].mean()),
                by_question=metrics.of_enough(metrics.estimates({"": difference}, seed)[""]),
                by_conversation=metrics.of_enough(metrics.clustered(difference, spaces, seed)),
                rose=int((difference[both] > 0).sum()),
                fell=int((difference[both] < 0).sum()),
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class PartPrice:
    """What a row loses by leaving something out, and what that saves.

    What is saved is for a document that is taken in, for a question that is asked, or, where a ratio is made of it, for
    one of each. Below 0 it is more that is taken without than with it.

    Attributes:
        of: The row that is whole.
        without: What is left out of it: stages of recall, or tasks that rules judge in place of a model.
        points, points_by_conversation: The headline metric of the whole minus that without it.
        milliseconds: Processor time of a recall, the same way.
        intake_milliseconds: Processor time for a document; NaN of stages, since recall alone differs there.
        calls, tokens: Of a language model for a document; `recall_calls`, `recall_tokens` for a question.
        per_millisecond, per_call: Points, of a hundred; NaN where nothing is saved that can be told.
    """

    of: str
    without: str
    points: Estimate
    points_by_conversation: Estimate
    milliseconds: Estimate
    intake_milliseconds: float = math.nan
    calls: float = 0.0
    tokens: float = 0.0
    recall_calls: float = 0.0
    recall_tokens: float = 0.0

    @property
    def per_millisecond(self) -> float:
        intake = 0.0 if math.isnan(self.intake_milliseconds) else self.intake_milliseconds
        return _ratio(100 * self.points.mean, self.milliseconds.mean + intake, _FREE_MS)

    @property
    def per_call(self) -> float:
        return _ratio(100 * self.points.mean, self.calls + self.recall_calls, _FREE_CALLS)

    @property
    def record(self) -> dict[str, object]:
        """All of it, for machines."""
        return {**asdict(self), "per_millisecond": self.per_millisecond, "per_call": self.per_call}


def _ratio(points: float, saved: float, free: float) -> float:
    return points / saved if saved > free else math.nan


def prices(of: TaskReport, seed: int) -> list[PartPrice]:
    """What each part is worth that a row of the run leaves out of another, by that row, dearest first."""
    made = [
        _price(of, name, whole, without, seed)
        for name in of.run.answers
        for whole, without in [_left_out(name)]
        if whole != name and whole in of.run.answers
    ]
    rows = list(of.run.answers)
    return sorted(made, key=lambda price: (rows.index(price.of), -price.points.mean))


def _left_out(name: str) -> tuple[str, str]:
    """The row that is whole beside a row, and what is left out of it; the row itself where nothing is."""
    if name != WHOLE and name.startswith(WITHOUT):
        return WHOLE, name.removeprefix(WITHOUT)
    return left_out_of(name) or (name, "")


def _price(of: TaskReport, name: str, whole: str, without: str, seed: int) -> PartPrice:
    answers, others = of.run.answers[name], of.run.answers[whole]
    cpu = {(a.ns, a.question): a.cpu_ms for a in others}
    values = np.array([of.task.metrics[of.task.headline](of.run.outcome(a)) for a in answers], np.float64)
    lost = beside(of.task, of.run, others, answers, of.task.headline) - values
    saved = [(cpu.get((a.ns, a.question)), a.cpu_ms) for a in answers]
    took = np.array([w - o if w is not None and o is not None else math.nan for w, o in saved], np.float64)
    points, milliseconds = (metrics.of_enough(metrics.estimates({"": each}, seed)[""]) for each in (lost, took))
    price = PartPrice(
        of=whole,
        without=without,
        points=points,
        points_by_conversation=metrics.of_enough(metrics.clustered(lost, [a.ns for a in answers], seed)),
        milliseconds=milliseconds,
    )
    before, after = of.run.costs.get(whole), of.run.costs.get(name)
    if whole == WHOLE or before is None or after is None:
        return price
    return replace(
        price,
        intake_milliseconds=_intake_ms(before) - _intake_ms(after),
        calls=before.model_calls - after.model_calls,
        tokens=before.model_tokens - after.model_tokens,
        recall_calls=before.recall_calls - after.recall_calls,
        recall_tokens=before.recall_tokens - after.recall_tokens,
    )


def _intake_ms(cost: Cost) -> float:
    seconds = cost.ingest_cpu_seconds
    return math.nan if seconds is None else 1000 * seconds / max(cost.messages, 1)


def price_tables(of: TaskReport, made: Sequence[PartPrice]) -> tuple[TextTable, ...]:
    """A table for each row that something was left out of, with a line for each price."""
    rows = {row.system: row for row in of.rows}
    return tuple(
        _price_table(of.task.headline, rows[whole], [price for price in made if price.of == whole])
        for whole in dict.fromkeys(price.of for price in made)
    )


def _price_table(headline: str, whole: SystemRow, made: Sequence[PartPrice]) -> TextTable:
    of_stages = whole.system == WHOLE
    what = "What each stage" if of_stages else f"What a model's answers to {whole.system}"
    asked = () if of_stages else _ASKED
    columns = ("left out", f"{headline} lost", "by conversation", "recall CPU ms saved", *asked)
    lines = tuple(
        (
            price.without,
            signed(price.points),
            signed(price.points_by_conversation),
            _milliseconds(price.milliseconds),
            *(() if of_stages else _asked_cells(price)),
            _figure(price.per_millisecond),
            *(() if of_stages else (_figure(price.per_call),)),
        )
        for price in made
    )
    found = percent_of(whole.scores[headline], True)
    title = f"{what} {'is' if of_stages else 'are'} worth ({headline} of the whole: {found} %)"
    return TextTable(title, (*columns, "points per ms", *(() if of_stages else ("points per call",))), lines)


_ASKED: Final = (
    "intake CPU ms/doc saved", "calls/doc saved", "tokens/doc saved", "calls/recall saved", "tokens/recall saved",
)  # fmt: skip


def _asked_cells(price: PartPrice) -> tuple[str, ...]:
    return (
        _figure(price.intake_milliseconds),
        _figure(price.calls, 3),
        _figure(price.tokens, 0),
        _figure(price.recall_calls),
        _figure(price.recall_tokens, 0),
    )


def _milliseconds(value: Estimate) -> str:
    interval = f" [{value.low:.2f}, {value.high:.2f}]" if value.has_interval else ""
    return "-" if math.isnan(value.mean) else f"{value.mean:.2f}{interval}"


def _figure(value: float, digits: int = 2) -> str:
    return "-" if math.isnan(value) else f"{value:+,.{digits}f}"


def price_notes(of: TaskReport, made: Sequence[PartPrice]) -> tuple[str, ...]:
    """What has to be said under prices, each once."""
    notes = [_OF_TIMES] if made else []
    if any(price.of == WHOLE for price in made):
        notes.append("No stage of recall asks a language model: there are no points per call.")
    if any(price.of != WHOLE for price in made):
        reader = of.run.header["settings"]["reader"]
        notes.append(
            f"What is left out is judged by rules; `{MODEL}`: all of it, and the strategy knows of no model. Reader: "
            f"{reader}. Points per ms and per call: for a document taken in and a question asked, together; - where "
            "leaving it out saves none. Saved is the difference of whole rows: what others ask then counts, too."
        )
        if reader in (SCRIPTED, COPYING):
            notes.append(f"`{reader}` is no language model: calls are counted true, points say nothing of a real one.")
    return tuple(notes)


def _hundredfold(share: float) -> str:
    return f"{100 * share:.1f}"
