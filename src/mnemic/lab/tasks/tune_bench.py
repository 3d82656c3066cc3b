"""Tunes the numbers of recall on tasks: each memory is taken in once, what its questions gather is kept, and settings
are tried by ranking that anew."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mnemic.errors import Invalid
from mnemic.lab.contestants.mnemic_contestant import Reweighed, reweighed
from mnemic.lab.entries import task as task_of
from mnemic.lab.kit.contestant import SHOWN, Means
from mnemic.lab.kit.metrics import Outcome, measure, within
from mnemic.lab.kit.run import Progress, silent
from mnemic.lab.kit.task import data_of
from mnemic.lab.kit.tuning import Grid, Setting, TunedTask, Tuning, Values, tune, worded
from mnemic.recall.weights import WEIGHTS

if TYPE_CHECKING:
    from mnemic.lab.kit.datasets import BenchQuestion, Dataset
    from mnemic.lab.kit.metrics import Array, Metric
    from mnemic.lab.kit.task import BenchTask

NUMBERS: Final = (
    *("beside_meaning.own", "beside_meaning.window", "beside_meaning.session"),
    *("marks.dense", "marks.gist", "marks.hub", "marks.speaker", "marks.self", "of_several", "new", "all_arms"),
)
"""Those that are moved where none is named: what nearness, words, speakers and walks count for."""

TIMES: Final = (0.67, 1.5)
"""How many times its own value each is put to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TunePlan:
    """What is tuned, and on what.

    Attributes:
        tasks: By name, each with the file or folder of its data. What two of them ask counts for the first.
        numbers: Which are moved, by name (`RecallWeights.named`).
        times: How many times its own value each is put to.
    """

    tasks: Mapping[str, Path]
    numbers: Sequence[str] = NUMBERS
    times: Sequence[float] = TIMES
    folds: int = 6
    steps: int = 3
    means: Means = field(default_factory=Means)
    limit: int | None = None
    seed: int = 0


def grid_of(numbers: Sequence[str], times: Sequence[float]) -> Grid:
    """Where each number may be put, its own value first.

    Raises:
        Invalid: there is no number of a name.
    """
    named = WEIGHTS.named()
    if unknown := [name for name in numbers if name not in named]:
        raise Invalid("numbers", f"{unknown[0]!r} is none of recall", f"There are: {', '.join(named)}.")
    return {name: (named[name], *(round(named[name] * factor, 4) for factor in times)) for name in numbers}


def bench_tune(plan: TunePlan, *, progress: Progress = silent) -> Tuning:
    """Take all in, and choose numbers by cross-validation.

    Raises:
        Invalid: a task, its data or a number is not there, or no question of a task has evidence.
    """
    grid = grid_of(plan.numbers, plan.times)
    asked: set[tuple[str, str]] = set()
    with ExitStack() as left:
        courses: list[_TunedCourse] = []
        for name, where in plan.tasks.items():
            chosen = task_of(name)
            dataset = _unasked(data_of(chosen, where, plan.limit), asked, name)
            asked |= {(question.ns, question.id) for question in dataset.questions}
            told = any(corpus.told for corpus in dataset.corpora)
            contestant = left.enter_context(closing(reweighed(replace(plan.means, told=told))))
            progress(f"{name}: taken in", 0, 1)
            contestant.ingest(dataset.corpora)
            progress(f"{name}: taken in", 1, 1)
            courses.append(_TunedCourse(chosen, dataset, contestant))
        tried = 0

        def measured(setting: Setting) -> Values:
            nonlocal tried
            tried += 1
            values = {course.task.name: course.values(setting) for course in courses}
            progress(f"settings, last {worded(setting)}", tried, tried)
            return values

        tasks = [course.tuned for course in courses]
        return tune(tasks, grid, measured, folds=plan.folds, steps=plan.steps, seed=plan.seed)


def _unasked(dataset: Dataset, asked: set[tuple[str, str]], name: str) -> Dataset:
    """The data with the questions that have evidence and that no task before has asked."""
    new = tuple(q for q in dataset.questions if q.scorable and not q.of_context and (q.ns, q.id) not in asked)
    if not new:
        raise Invalid("tasks", f"{name} has no question with evidence that is not asked already", "Leave it out.")
    needed = {question.ns for question in new}
    return replace(dataset, questions=new, corpora=tuple(c for c in dataset.corpora if c.ns in needed))


@dataclass(frozen=True, slots=True)
class _TunedCourse:
    """A task with its questions, and the contestant that has taken its data in."""

    task: BenchTask
    dataset: Dataset
    contestant: Reweighed

    @property
    def tuned(self) -> TunedTask:
        return TunedTask(
            name=self.task.name,
            headline=self.headline,
            spaces=tuple(question.ns for question in self.dataset.questions),
            categories=tuple(question.category for question in self.dataset.questions),
        )

    @property
    def headline(self) -> str:
        """What the task is tuned for: its headline; of one that looks deeper than is asked, the first that does not."""
        return next(iter(self.metrics))

    @property
    def metrics(self) -> dict[str, Metric]:
        """What the task shows of as many documents as are asked for, its headline first."""
        return within({name: self.task.metrics[name] for name in (self.task.headline, *self.task.shown)}, SHOWN)

    @property
    def sessions(self) -> dict[str, dict[str, str]]:
        return {corpus.ns: {doc.id: doc.session for doc in corpus.docs} for corpus in self.dataset.corpora}

    def values(self, setting: Setting) -> dict[str, Array]:
        self.contestant.weights = WEIGHTS.varied(dict(setting))
        sessions = self.sessions
        outcomes = [self._outcome(question, sessions[question.ns]) for question in self.dataset.questions]
        return measure(outcomes, self.metrics)

    def _outcome(self, question: BenchQuestion, session_of: Mapping[str, str]) -> Outcome:
        ranked = self.contestant.rank(question, SHOWN)
        return Outcome(
            question=question.id,
            category=question.category,
            gold=question.gold,
            sessions=question.sessions,
            ranked=ranked.ids,
            ranked_sessions=tuple(session_of[doc] for doc in ranked.ids),
            tokens=(),
            wanted=question.answer,
            hits=ranked.hits,
            key=question.key,
        )
