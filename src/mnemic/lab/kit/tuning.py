"""Chooses numbers on some questions and says what they come to on others: a search that never sees what it is held to.

A setting is what differs from the numbers as they are. From there one number at a time is put where the tasks gain most
together, each task counting alike however many questions it has; what lets a task fall too far on the questions that
are looked at is refused. Each fold's questions are then answered by the setting that was chosen without them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mnemic.errors import Invalid
from mnemic.lab.kit.metrics import DRAWS, Array, Estimate, clustered, distinct, estimates, resample
from mnemic.lab.kit.tables import TextTable, signed

Setting: TypeAlias = tuple[tuple[str, float], ...]
"""What differs from the numbers as they are, by name, in the order of the names; empty for nothing."""

AS_IT_IS: Final[Setting] = ()

FALL: Final = 0.01
"""How much of its headline a task may lose."""

LEAST: Final = 0.0005
"""What a step must gain, of the mean of the headlines: less is chance, and would be undone by the next question."""

Grid: TypeAlias = Mapping[str, Sequence[float]]
"""What each number may be put to, by its name, its own value among them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TunedTask:
    """A task whose questions a setting is chosen on.

    Attributes:
        spaces, categories: Of each question, its conversation and its category.
        headline: The metric that is tuned for.
    """

    name: str
    headline: str
    spaces: tuple[str, ...]
    categories: tuple[str, ...]


def folds_of(tasks: Sequence[TunedTask], count: int) -> dict[str, NDArray[np.intp]]:
    """Deal conversations out in turn, one that several tasks ask about into one fold; a task of few by its questions.

    Returns:
        Of each task the fold of each of its questions.
    """
    whole = [task for task in tasks if len(distinct(task.spaces)) >= count]
    dealt = {name: n % count for n, name in enumerate(distinct(space for task in whole for space in task.spaces))}
    return {
        task.name: np.array([dealt[space] for space in task.spaces], np.intp)
        if task in whole
        else np.arange(len(task.spaces)) % count
        for task in tasks
    }


Values: TypeAlias = Mapping[str, Mapping[str, Array]]
"""Of each task, of each metric, its value for each question; NaN where a question does not have it."""

Measure: TypeAlias = Callable[[Setting], Values]
"""Says what a setting comes to; asked once for each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoldChoice:
    """What was chosen without one fold, and the mean gain of the headlines there and where it was held."""

    setting: Setting
    gain: float
    held: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskChange:
    """One metric of one task, or of one of its categories: before, and by what was chosen without each fold.

    Attributes:
        headline: It is what the task is tuned for, as a whole.
        fitted: By what is chosen on all questions, these among them: no honest figure.
        rose, fell: How many questions.
    """

    task: str
    category: str
    metric: str
    headline: bool
    before: float
    after: float
    fitted: float
    by_question: Estimate
    by_conversation: Estimate
    rose: int
    fell: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuning:
    """What came of it.

    Attributes:
        fitted: What is chosen on all questions.
        gain: The mean of the headlines' differences by what was chosen without each fold; its interval by a bootstrap
            over conversations, or over questions where a task has one.
        alone: Of each number put elsewhere by itself, by how much each headline differs.
        tried: How many settings were looked at.
    """

    folds: tuple[FoldChoice, ...]
    fitted: Setting
    gain: Estimate
    changes: tuple[TaskChange, ...]
    alone: Mapping[Setting, Mapping[str, float]]
    tried: int

    @property
    def fallen(self) -> tuple[str, ...]:
        """The tasks that lose more than they may, where they were held to what had not seen them."""
        return tuple(each.task for each in self.changes if each.headline and each.after < each.before - FALL)

    @property
    def wins(self) -> bool:
        """Whether the numbers should be changed: a gain that is no chance, and no task pays for it."""
        return self.fitted != AS_IT_IS and self.gain.low > 0 and not self.fallen


def tune(tasks: Sequence[TunedTask], grid: Grid, measure: Measure, *, folds: int, steps: int, seed: int = 0) -> Tuning:
    """Choose numbers of a grid by cross-validation.

    Args:
        grid: With the value that each number has first.
        folds: Into how many parts the questions are dealt.
        steps: How many numbers may be moved, one after the other.

    Raises:
        Invalid: there are fewer than two folds.
    """
    if folds < 2:
        raise Invalid("folds", f"is {folds}", "What is chosen must be held to other questions: at least 2.")
    search = _Search(tasks, grid, measure)
    parts = folds_of(tasks, folds)
    chosen = [search.fitted({name: part != n for name, part in parts.items()}, steps) for n in range(folds)]
    whole = {name: np.ones(len(part), np.bool_) for name, part in parts.items()}
    fitted = search.fitted(whole, steps)
    held = {
        task.name: {
            metric: _dealt([search.values(setting)[task.name][metric] for setting in chosen], parts[task.name])
            for metric in search.values(AS_IT_IS)[task.name]
        }
        for task in tasks
    }
    outside = [
        FoldChoice(
            setting=setting,
            gain=search.gain(setting, {name: part != n for name, part in parts.items()}),
            held=search.gain(setting, {name: part == n for name, part in parts.items()}),
        )
        for n, setting in enumerate(chosen)
    ]
    before, after = search.values(AS_IT_IS), search.values(fitted)
    return Tuning(
        folds=tuple(outside),
        fitted=fitted,
        gain=_mean_gain([(t, held[t.name][t.headline] - before[t.name][t.headline]) for t in tasks], seed),
        changes=tuple(c for t in tasks for c in _changes(t, before[t.name], held[t.name], after[t.name], seed)),
        alone={
            setting: {task.name: search.difference(setting, task, whole[task.name]) for task in tasks}
            for setting in search.around(AS_IT_IS)
        },
        tried=search.tried,
    )


class _Search:
    """Looks for the setting by which some questions gain most."""

    def __init__(self, tasks: Sequence[TunedTask], grid: Grid, measure: Measure) -> None:
        self._tasks, self._grid, self._measure = tasks, grid, measure
        self._known: dict[Setting, Values] = {}

    @property
    def tried(self) -> int:
        return len(self._known)

    def values(self, setting: Setting) -> Values:
        if setting not in self._known:
            self._known[setting] = self._measure(setting)
        return self._known[setting]

    def difference(self, setting: Setting, task: TunedTask, among: NDArray[np.bool_]) -> float:
        """By how much the headline of a task differs among some questions; 0 where none has it."""
        new, old = (self.values(each)[task.name][task.headline] for each in (setting, AS_IT_IS))
        differences = (new - old)[among]
        there = differences[~np.isnan(differences)]
        return float(there.mean()) if len(there) else 0.0

    def gain(self, setting: Setting, among: Mapping[str, NDArray[np.bool_]]) -> float:
        """The mean of the differences of all tasks."""
        return math.fsum(self.difference(setting, task, among[task.name]) for task in self._tasks) / len(self._tasks)

    def around(self, setting: Setting) -> Iterator[Setting]:
        """The settings that differ in one number."""
        now = dict(setting)
        for name, places in self._grid.items():
            for place in places:
                if place != now.get(name, places[0]):
                    moved = {**now, name: place}
                    yield tuple(sorted((n, v) for n, v in moved.items() if v != self._grid[n][0]))

    def fitted(self, among: Mapping[str, NDArray[np.bool_]], steps: int) -> Setting:
        """Move one number after the other to where some questions gain most, as long as they do."""
        best, most = AS_IT_IS, 0.0
        for _ in range(steps):
            allowed = [setting for setting in self.around(best) if not self._falls(setting, among)]
            further = max(allowed, key=lambda setting: self.gain(setting, among), default=best)
            if self.gain(further, among) < most + LEAST:
                break
            best, most = further, self.gain(further, among)
        return best

    def _falls(self, setting: Setting, among: Mapping[str, NDArray[np.bool_]]) -> bool:
        return any(self.difference(setting, task, among[task.name]) < -FALL for task in self._tasks)


def _dealt(by_fold: Sequence[Array], folds: NDArray[np.intp]) -> Array:
    """Of each question the value by the setting of its own fold."""
    return np.stack(by_fold)[folds, np.arange(len(folds))]


def _mean_gain(differences: Sequence[tuple[TunedTask, Array]], seed: int) -> Estimate:
    """The mean over tasks of their mean differences, with the interval of a bootstrap within each task."""
    means, drawn, count = [], np.zeros(DRAWS), 0
    for n, (task, values) in enumerate(differences):
        there = ~np.isnan(values)
        if not there.any():
            continue
        spaces = np.array(task.spaces)[there]
        names, member = np.unique(spaces, return_inverse=True)
        if len(names) < 2:
            member = np.arange(len(spaces))
        sums, sizes = np.bincount(member, values[there]), np.bincount(member)
        samples = resample(len(sums), seed + n)
        drawn += (samples @ sums) / (samples @ sizes)
        means.append(float(values[there].mean()))
        count += len(spaces)
    if not means:
        return Estimate(math.nan, math.nan, math.nan, 0)
    low, high = np.percentile(drawn / len(means), (2.5, 97.5))
    return Estimate(math.fsum(means) / len(means), float(low), float(high), count)


def _changes(
    task: TunedTask, before: Mapping[str, Array], held: Mapping[str, Array], fitted: Mapping[str, Array], seed: int
) -> Iterator[TaskChange]:
    """Of a task every metric, and its headline by category."""
    categories = np.array(task.categories)
    parts = [("", metric, np.ones(len(categories), np.bool_)) for metric in before]
    if len(named := distinct(task.categories)) > 1:
        parts += [(category, task.headline, categories == category) for category in named]
    for category, metric, among in parts:
        difference = np.where(among, held[metric] - before[metric], np.nan)
        there = ~np.isnan(difference)
        if not there.any():
            continue
        yield TaskChange(
            task=task.name,
            category=category,
            metric=metric,
            headline=not category and metric == task.headline,
            before=float(before[metric][there].mean()),
            after=float(held[metric][there].mean()),
            fitted=float(fitted[metric][there].mean()),
            by_question=estimates({"": difference}, seed)[""],
            by_conversation=clustered(difference, task.spaces, seed),
            rose=int((difference[there] > 0).sum()),
            fell=int((difference[there] < 0).sum()),
        )


# Tables


def change_table(made: Tuning) -> TextTable:
    """What rose and what fell: by what was chosen without each question, and by what is chosen on all."""
    columns = ("task", "metric", "before", "after", "difference", "by conversation", "rose", "fell", "n", "fitted")
    rows = [
        (
            f"{each.task}: {each.category}" if each.category else each.task,
            each.metric,
            f"{100 * each.before:.1f}",
            f"{100 * each.after:.1f}",
            signed(each.by_question),
            signed(each.by_conversation),
            str(each.rose),
            str(each.fell),
            str(each.by_question.n),
            f"{100 * each.fitted:.1f}",
        )
        for each in made.changes
    ]
    return TextTable(
        "By what was chosen without the question, % and points, with 95 % intervals", columns, tuple(rows), (0, 1)
    )


def choice_table(made: Tuning) -> TextTable:
    """What was chosen without each fold, and on all questions."""
    rows = [
        (f"without {n}", worded(each.setting), f"{100 * each.gain:+.2f}", f"{100 * each.held:+.2f}")
        for n, each in enumerate(made.folds, start=1)
    ]
    rows.append(("on all", worded(made.fitted), "", signed(made.gain)))
    return TextTable(
        "What was chosen, and the mean gain of the headlines", ("fold", "numbers", "there", "held"), tuple(rows), (0, 1)
    )


def alone_table(made: Tuning) -> TextTable:
    """What each number does when it alone is put elsewhere."""
    names = list(next(iter(made.alone.values()), {}))
    rows = [
        (worded(setting), *(f"{100 * gains[name]:+.1f}" for name in names)) for setting, gains in made.alone.items()
    ]
    return TextTable("One number elsewhere, points of the headline, on all questions", ("number", *names), tuple(rows))


def worded(setting: Setting) -> str:
    """A setting as a person reads it."""
    return ", ".join(f"{name} {value:g}" for name, value in setting) or "as it is"


def verdict(made: Tuning) -> str:
    """Say in a line whether the numbers should be changed, and why not."""
    if made.wins:
        return f"keep {worded(made.fitted)}: the gain is no chance, and no task loses more than {100 * FALL:g} point"
    if made.fallen:
        return f"leave the numbers as they are: {', '.join(made.fallen)} would lose more than {100 * FALL:g} point"
    if made.fitted == AS_IT_IS:
        return "leave the numbers as they are: none gains elsewhere"
    return f"leave the numbers as they are: what {worded(made.fitted)} gains may be chance"
