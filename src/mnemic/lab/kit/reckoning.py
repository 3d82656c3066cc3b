"""How long a run may take: reckoned by counts of documents and questions from what a smaller one took."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mnemic.lab.entries import task
from mnemic.lab.kit.contestant import SHOWN
from mnemic.lab.kit.log import read_tasks
from mnemic.lab.kit.tables import TextTable

if TYPE_CHECKING:
    from mnemic.lab.kit.log import LoggedRun


@dataclass(frozen=True, slots=True, kw_only=True)
class RowPace:
    """What one contestant took at one task, in seconds by the clock, and of processors.

    Attributes:
        start: Until it was made, by the clock; nobody measures what of that processors took.
        document, document_cpu: To take one in, on the mean.
        question, question_cpu: For one that was asked; twice that where more than ten documents are asked for, once
            more.
    """

    start: float
    document: float
    question: float
    document_cpu: float
    question_cpu: float

    def taken(self, size: TaskSize) -> TimeTaken:
        """What so many of each take at this pace."""
        return TimeTaken(
            self.start + size.documents * self.document + size.questions * self.question,
            size.documents * self.document_cpu + size.questions * self.question_cpu,
        )


@dataclass(frozen=True, slots=True)
class TaskSize:
    """How much a task holds."""

    documents: int
    questions: int


@dataclass(frozen=True, slots=True)
class TimeTaken:
    """Seconds by the clock, and of processors."""

    clock: float
    cpu: float


def added(times: Iterable[TimeTaken]) -> TimeTaken:
    """All of them one after the other."""
    listed = list(times)
    return TimeTaken(sum(each.clock for each in listed), sum(each.cpu for each in listed))


@dataclass(frozen=True, slots=True)
class Paces:
    """What was measured: by task and contestant."""

    known: Mapping[tuple[str, str], RowPace]

    def reckoned(self, name: str, row: str, size: TaskSize) -> TimeTaken | None:
        """What a contestant takes at a task: at the pace it had there, else on the mean of others; None without any."""
        here = self.known.get((name, row))
        if here is not None:
            return here.taken(size)
        elsewhere = [pace.taken(size) for (_, other), pace in self.known.items() if other == row]
        whole = added(elsewhere)
        return TimeTaken(whole.clock / len(elsewhere), whole.cpu / len(elsewhere)) if elsewhere else None


def paces_of(logs: Iterable[Path]) -> Paces:
    """Read what was measured from logs; of what several measured the last counts, and what failed nowhere.

    Raises:
        NotFound: there is no such log.
        Invalid: one is no log of a run.
    """
    known: dict[tuple[str, str], RowPace] = {}
    for log in logs:
        for name, run in read_tasks(log).items():
            known |= {(name, row): pace for row, pace in _paces(name, run)}
    return Paces(known)


def _paces(name: str, run: LoggedRun) -> Iterable[tuple[str, RowPace]]:
    asked = 2 if task(name).depth > SHOWN else 1
    for row, cost in run.costs.items():
        took = run.answers.get(row, ())
        each, messages = asked / max(len(took), 1) / 1000, max(cost.messages, 1)
        yield (
            row,
            RowPace(
                start=cost.start_seconds or 0.0,
                document=cost.ingest_seconds / messages,
                question=each * sum(answer.milliseconds for answer in took),
                document_cpu=(cost.ingest_cpu_seconds or 0.0) / messages,
                question_cpu=each * sum(answer.cpu_ms or 0.0 for answer in took),
            ),
        )


def reckoning_table(paces: Paces, sizes: Mapping[str, TaskSize], rows: Mapping[str, Iterable[str]]) -> TextTable:
    """What there is of each task, and how long it may take with all of its contestants one after the other."""
    lines, total, unknown = list[tuple[str, ...]](), list[TimeTaken](), 0
    for name, size in sizes.items():
        each = [paces.reckoned(name, row, size) for row in rows[name]]
        known = [time for time in each if time is not None]
        total += known
        without = len(each) - len(known)
        unknown += without
        counts = (f"{size.documents:,}", f"{size.questions:,}", str(len(each)), str(without or ""))
        lines.append((name, *counts, *_spoken(known, at_least=without > 0)))
    sums = (sum(size.documents for size in sizes.values()), sum(size.questions for size in sizes.values()))
    lines.append(
        ("all", *(f"{count:,}" for count in sums), "", str(unknown or ""), *_spoken(total, at_least=unknown > 0))
    )
    columns = (
        "task", "documents", "questions", "contestants", "of unknown pace", "by the clock", "of processors",
    )  # fmt: skip
    return TextTable("How long it may take: reckoned by counts, one contestant after the other", columns, tuple(lines))


def _spoken(times: Sequence[TimeTaken], *, at_least: bool) -> tuple[str, str]:
    """Times by the clock and of processors; `at_least` where some take more that nobody knows."""
    if not times:
        return "-", "-"
    whole, more = added(times), "at least " if at_least else ""
    return f"{more}{spoken_time(whole.clock)}", f"{more}{spoken_time(whole.cpu)}"


def spoken_time(seconds: float) -> str:
    """A length of time as a person says it."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5_400 else f"{seconds / 3_600:.1f} h"
