"""The protocol of a task: data, questions and metrics; and what most tasks are, a ranking that is held to evidence."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from mnemic.errors import Invalid
from mnemic.lab.kit.answer_metrics import USUAL_RULE
from mnemic.lab.kit.datasets import Dataset, load
from mnemic.lab.kit.metrics import DEPTH, METRICS, Metric

if TYPE_CHECKING:
    from mnemic.lab.kit.log import LoggedRun
    from mnemic.lab.kit.tables import TextTable


class BenchTask(Protocol):
    """Something that memories are compared by.

    Attributes:
        name: As `TASKS` has it.
        about: What it measures, in a line.
        depth: How many documents a question asks for; more than ten are asked for once more, untimed.
        answered: Contestants that can are asked for an answer, too.
        metrics: Of one answer to one question, by name; NaN where a question does not have one. Those that look
            deeper than `depth` are left out (`metrics.within`).
        headline: The metric that rows, categories and runs are compared by.
        shown: The metrics of the first table, by name, with what stands above the column.
        rows: Contestants that run where none is named.
        against: The row that differences are taken against, where it takes part (`baselines.stood_beside`).
        notes: What stands under its tables, besides what holds of every task.
    """

    @property
    def name(self) -> str: ...
    @property
    def about(self) -> str: ...
    @property
    def depth(self) -> int: ...
    @property
    def answered(self) -> bool: ...
    @property
    def metrics(self) -> Mapping[str, Metric]: ...
    @property
    def headline(self) -> str: ...
    @property
    def shown(self) -> Mapping[str, str]: ...
    @property
    def rows(self) -> Sequence[str]: ...
    @property
    def against(self) -> str: ...
    @property
    def notes(self) -> Sequence[str]: ...

    def read(self, where: Path) -> Dataset:
        """Read the data from a file, or from the folder that holds it.

        Raises:
            Invalid: it is not there, or no document can be read from it.
        """
        ...

    def tables(self, run: LoggedRun, seed: int) -> Iterator[TextTable]:
        """Tables of its own, beside those that every task has."""
        ...


@runtime_checkable
class LongTask(Protocol):
    """A task whose data is too large to be read whole for a few questions."""

    def read_first(self, where: Path, limit: int) -> Dataset:
        """Read the first `limit` questions, and the corpora that they need.

        Raises:
            Invalid: as of `BenchTask.read`.
        """
        ...


@runtime_checkable
class SelfMadeTask(Protocol):
    """A task that makes its own questions: nothing is read.

    Attributes:
        self_made: True.
    """

    @property
    def self_made(self) -> bool: ...


def data_of(task: BenchTask, where: Path, limit: int | None = None) -> Dataset:
    """Read the data of a task, with the first `limit` questions only: of what it makes itself, as many of each sort.

    Raises:
        Invalid: it is not there, or no document can be read from it.
    """
    if limit is not None and isinstance(task, LongTask):
        return task.read_first(where, limit)
    data = task.read(where)
    return data.first_of_each(limit) if limit is not None and isinstance(task, SelfMadeTask) else data.first(limit)


@runtime_checkable
class WordedTask(Protocol):
    """A task that says by which rule its paper scores answers in words.

    Attributes:
        worded: As `answer_metrics.paper_rule` has it.
    """

    @property
    def worded(self) -> str: ...


def rule_of(task: BenchTask) -> str:
    """The rule by which a task scores answers in words."""
    return task.worded if isinstance(task, WordedTask) else USUAL_RULE


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalTask:
    """A task whose data is one file.

    Attributes:
        files: Patterns of its file's name, where a folder is given.
        source: Where the data is to be had.
        reader: Reads the file.
        worded: The rule by which its paper scores answers in words.
    """

    name: str
    about: str
    files: tuple[str, ...]
    source: str
    headline: str
    shown: Mapping[str, str]
    rows: Sequence[str]
    against: str
    depth: int = DEPTH
    answered: bool = False
    metrics: Mapping[str, Metric] = field(default_factory=lambda: METRICS)
    notes: Sequence[str] = ()
    reader: Callable[[Path], Dataset] = load
    worded: str = USUAL_RULE

    def read(self, where: Path) -> Dataset:
        return self.reader(self.file(where))

    def file(self, where: Path) -> Path:
        """The file of the data: the one that is named, or the one of its name in a folder.

        Raises:
            Invalid: there is none, or there are several.
        """
        if not where.exists():
            name_it = f"Name the file, {self.name}=FILE, or its folder, --data FOLDER. {self.source}"
            raise Invalid("tasks", f"{self.name} has no data: there is no {where.name}", name_it)
        if not where.is_dir():
            return where
        there = sorted({file for pattern in self.files for file in where.glob(pattern)})
        if len(there) != 1:
            what = f"{where.name} holds {' and '.join(file.name for file in there) or 'no file'} for {self.name}"
            raise Invalid("tasks", what, f"Name the file: {self.name}=FILE. {self.source}")
        return there[0]

    def tables(self, run: LoggedRun, seed: int) -> Iterator[TextTable]:
        yield from ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TalkTask(RetrievalTask):
    """Questions about talks: a file of passages is another task's."""

    def read(self, where: Path) -> Dataset:
        return self.checked(RetrievalTask.read(self, where))

    def checked(self, dataset: Dataset) -> Dataset:
        """The data itself, if it holds any talk.

        Raises:
            Invalid: it is passages.
        """
        if all(doc.is_passage for corpus in dataset.corpora for doc in corpus.docs):
            what = f"{dataset.name} holds no talk for {self.name}: it is passages"
            raise Invalid("tasks", what, f"Name another file, or run it as multihop=FILE. {self.source}")
        return dataset
