"""Tunes the numbers of recall on tasks: each memory is taken in once, what its questions gather is kept, and settings
are tried by ranking that anew."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

import mnemic
from mnemic.errors import Invalid
from mnemic.lab.contestants.mnemic_contestant import Reweighed, reweighed
from mnemic.lab.entries import task as task_of
from mnemic.lab.kit.contestant import SHOWN, Means
from mnemic.lab.kit.log import records
from mnemic.lab.kit.metrics import Outcome, measure, within
from mnemic.lab.kit.output_places import refuse_file
from mnemic.lab.kit.run import Progress, silent
from mnemic.lab.kit.tables import finite
from mnemic.lab.kit.task import data_of
from mnemic.lab.kit.tuning import Grid, Setting, TunedTask, Tuning, Values, tune
from mnemic.recall.recall_weights import WEIGHTS

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
    return {name: (named[name], *(round(named[name] * factor, 4) + 0.0 for factor in times)) for name in numbers}


def bench_tune(plan: TunePlan, out: Path | None = None, *, progress: Progress = silent) -> Tuning:
    """Choose numbers by cross-validation.

    Args:
        out: A log of what each setting came to at each task. What stands in it, of the same data asked by the same
            commit with the same embedder, is not measured again; a task of which all stands there is not taken in.

    Raises:
        Invalid: a task, its data or a number is not there, or no question of a task has evidence.
    """
    grid = grid_of(plan.numbers, plan.times)
    if out is not None:
        refuse_file(out, going_on=True)
    asked: set[tuple[str, str]] = set()
    log = _TuneLog(out)
    with ExitStack() as left:
        courses: list[_TunedCourse] = []
        for name, where in plan.tasks.items():
            chosen = task_of(name)
            dataset = _unasked(data_of(chosen, where, plan.limit), asked, name)
            asked |= {(question.ns, question.id) for question in dataset.questions}
            courses.append(_TunedCourse(chosen, dataset, plan.means, left, log, progress))
        tried = 0

        def measured(setting: Setting) -> Values:
            nonlocal tried
            tried += 1
            values = {course.task.name: course.values(setting) for course in courses}
            progress("settings", tried, tried)
            return values

        tasks = [course.tuned for course in courses]
        return tune(tasks, grid, measured, folds=plan.folds, steps=plan.steps, seed=plan.seed)


class _TuneLog:
    """What settings came to, a line for each at each task; without a file nothing is kept."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._known: dict[tuple[str, Setting], dict[str, Array]] = {}
        if path is not None and path.exists():
            for record in records(path):
                if "setting" not in record:
                    raise Invalid(
                        "out", f"{path.name} is no log of `bench tune`", "Name one of its own, or another file."
                    )
                setting = tuple((name, value) for name, value in record["setting"])
                values = {metric: np.array(column, np.float64) for metric, column in record["values"].items()}
                self._known[record["of"], setting] = values

    def values(self, of: str, setting: Setting) -> dict[str, Array] | None:
        return self._known.get((of, setting))

    def add(self, task: str, of: str, setting: Setting, values: Mapping[str, Array]) -> None:
        if self._path is not None:
            columns = {metric: finite(column.tolist()) for metric, column in values.items()}
            line = {"task": task, "of": of, "setting": setting, "values": columns}
            self._path.parent.mkdir(exist_ok=True)
            with self._path.open("a", encoding="utf-8") as file:
                file.write(f"{json.dumps(line)}\n")


@cache
def _digest_of_package() -> str:
    """A digest of all files that recall is made of: a figure of other code, committed or not, is another one."""
    root = Path(mnemic.__path__[0])
    digest = hashlib.sha256()
    for file in sorted(file for file in root.rglob("*") if file.suffix in (".py", ".npz", ".json")):
        digest.update(f"{file.relative_to(root)}\0".encode() + file.read_bytes())
    return digest.hexdigest()


def _unasked(dataset: Dataset, asked: set[tuple[str, str]], name: str) -> Dataset:
    """The data with the questions that have evidence and that no task before has asked."""
    new = tuple(q for q in dataset.questions if q.scorable and not q.of_context and (q.ns, q.id) not in asked)
    if not new:
        raise Invalid("tasks", f"{name} has no question with evidence that is not asked already", "Leave it out.")
    needed = {question.ns for question in new}
    return replace(dataset, questions=new, corpora=tuple(c for c in dataset.corpora if c.ns in needed))


class _TunedCourse:
    """A task with its questions; its data is taken in where a setting is measured first."""

    def __init__(
        self, task: BenchTask, dataset: Dataset, means: Means, left: ExitStack, log: _TuneLog, progress: Progress
    ) -> None:
        told = any(corpus.told for corpus in dataset.corpora)
        self.task, self.dataset = task, dataset
        self._means, self._left, self._log, self._progress = replace(means, told=told), left, log, progress
        questions = [(question.ns, question.id) for question in dataset.questions]
        of = [task.name, dataset.sha256, questions, means.embedder_name, _digest_of_package()]
        self._of = hashlib.sha256(json.dumps(of).encode()).hexdigest()
        self._sessions = {corpus.ns: {doc.id: doc.session for doc in corpus.docs} for corpus in dataset.corpora}

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

    @cached_property
    def _contestant(self) -> Reweighed:
        contestant = self._left.enter_context(closing(reweighed(self._means)))
        self._progress(f"{self.task.name}: taken in", 0, 1)
        contestant.ingest(self.dataset.corpora)
        self._progress(f"{self.task.name}: taken in", 1, 1)
        return contestant

    def values(self, setting: Setting) -> dict[str, Array]:
        """Every metric of every question by a setting."""
        if (known := self._log.values(self._of, setting)) is not None:
            return known
        self._contestant.weights = WEIGHTS.varied(dict(setting))
        values = measure([self._outcome(question) for question in self.dataset.questions], self.metrics)
        self._log.add(self.task.name, self._of, setting, values)
        return values

    def _outcome(self, question: BenchQuestion) -> Outcome:
        ranked, session_of = self._contestant.rank(question, SHOWN), self._sessions[question.ns]
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
