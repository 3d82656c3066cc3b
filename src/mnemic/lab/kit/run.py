"""A run: every contestant takes in the data of every task and answers its questions, and all of it goes to one log."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from mnemic._version import __version__
from mnemic.core.tokens import count_tokens
from mnemic.errors import Invalid
from mnemic.lab.contestants import peer_contestant
from mnemic.lab.contestants.mnemic_contestant import idle_with
from mnemic.lab.contestants.strategy_contestant import idle_over
from mnemic.lab.entries import contestants, task
from mnemic.lab.kit.answer_stage import AnsweredTask, AnswerPlan, answer_and_judge
from mnemic.lab.kit.baselines import DENSE
from mnemic.lab.kit.contest import ContestJob, Limits, Step, compete, compete_apart, warm_up
from mnemic.lab.kit.contestant import SHOWN, Make, Means
from mnemic.lab.kit.datasets import first_fault
from mnemic.lab.kit.log import RUN_BENCH, Cost, Log, LoggedAnswer, LoggedRun, Placed, checkout, differences, read_tasks
from mnemic.lab.kit.made_samples import lies_in_a_sample
from mnemic.lab.kit.output_places import is_log, log_at, refuse_log
from mnemic.lab.kit.task import SelfMadeTask, data_of

if TYPE_CHECKING:
    from mnemic.lab.kit.datasets import Corpus, Dataset
    from mnemic.lab.kit.task import BenchTask

Progress: TypeAlias = Callable[[str, int, int], None]
"""Called with a row's name, how many of its questions are answered, and how many there are."""

_EXCERPT: Final = 400
"""Characters of a document that the log keeps."""

_LISTED: Final = 50
"""Faults of a task's data that the log lists; the rest are counted."""


def silent(system: str, done: int, total: int) -> None:
    """Ignore progress."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPlan:
    """What a run is to do.

    Attributes:
        tasks: By name, each with the file or folder of its data.
        rows: Contestants by name; the rows of each task when empty.
        limit: Only the first so many questions of each task.
        seed: Of the bootstrap; nothing else is random.
        variants: Tasks by the same names that are set otherwise than those of the table, such as to another part.
        answers: Who answers and judges; None where rankings are all.
    """

    tasks: Mapping[str, Path]
    rows: tuple[str, ...] = ()
    variants: Mapping[str, BenchTask] = field(default_factory=dict)
    means: Means = field(default_factory=Means)
    limit: int | None = None
    seed: int = 0
    answers: AnswerPlan | None = None


@dataclass(frozen=True, slots=True)
class _Course:
    """A task with its data, and who runs; and who would have nothing to do there, with the reason."""

    task: BenchTask
    dataset: Dataset
    made_up: bool
    rows: Mapping[str, Make]
    docs: Mapping[str, Mapping[str, Placed]]
    left_out: Mapping[str, str]


def run(
    plan: RunPlan,
    out: Path,
    *,
    resume: bool = False,
    apart: Limits | None = None,
    at_once: int = 1,
    warm: bool = False,
    progress: Progress = silent,
) -> Path:
    """Run the plan and return the log it wrote; `lab.kit.run_report.report` makes the tables from that.

    Args:
        out: A folder, which gets a log named after tasks and time, or the log file itself (`.jsonl`).
        resume: Go on with the log `out` where it ends.
        apart: Run each contestant in a process of its own, with these limits; None for this process, where a
            contestant that fails ends the run.
        at_once: So many of these processes at once; their times are then not what they are alone.
        warm: In this process, have each contestant try a few documents first, so that none pays for what all load.

    Raises:
        Invalid: a task, its data or a contestant is not there, the log exists, or it was begun with other settings.
        ModelError: a model that answers or judges failed several times in a row.
        InterruptedRun: it was interrupted once its log was begun.
    """
    _refuse(plan, out, resume=resume, at_once=at_once)
    named = contestants_of(plan)  # before the data, which may take minutes
    courses = {name: _course(name, where, plan, named[name]) for name, where in plan.tasks.items()}
    if plan.answers is not None:
        _refuse_answers(plan.answers, plan.means, courses)  # before hours of rankings, not behind them
    header = _header(plan, courses, apart, at_once)
    name = "+".join(courses) if len(courses) > 1 else next(iter(courses.values())).dataset.name
    path = log_at(out, name)
    before: Mapping[str, LoggedRun] = {}
    if resume and path.exists():
        before = read_tasks(path)
        _same(next(iter(before.values())).header, header)
        if all(logged.is_whole for logged in before.values()):
            return path
    with Log(path, going_on=bool(before)) as log:
        scribe = _Scribe(log, courses, before, progress)
        if before:
            log.add("resumed", at=datetime.now(UTC).isoformat())
        else:
            log.header(**header)
        with tempfile.TemporaryDirectory(prefix="mnemic-lab-journals-", ignore_cleanup_errors=True) as folder:
            jobs = list(_jobs(courses, replace(plan, means=replace(plan.means, journals=Path(folder))), before))
            if apart is None:
                for job in jobs:
                    if warm:
                        warm_up(job)
                    for step in compete(job):
                        scribe.take(job, step)
            else:
                compete_apart(jobs, scribe.take, scribe.failed, limits=apart, at_once=at_once, alive=scribe.alive)
        if plan.answers is not None:
            asked = {name: AnsweredTask(c.dataset, list(c.rows), c.task.against) for name, c in courses.items()}
            answer_and_judge(log, path, asked, plan.answers, plan.means.settings, progress)
        log.end()
    return path


def _refuse(plan: RunPlan, out: Path, *, resume: bool, at_once: int) -> None:
    """Refuse what cannot be run, whatever the data."""
    if not plan.tasks:
        raise Invalid("tasks", "are none", "Name some, by commas; `mnemic bench tasks` lists them.")
    if plan.limit is not None and plan.limit < 1:
        raise Invalid("limit", f"is {plan.limit}", "Ask at least one question.")
    refuse_jobs(at_once, plan.means)
    if resume and not is_log(out):
        raise Invalid("resume", f"goes on with a log, and {out.name} is none", "Name the .jsonl file of the run.")
    refuse_log(out, going_on=resume)


def refuse_jobs(at_once: int, means: Means) -> None:
    """Refuse so many contestants at once.

    Raises:
        Invalid: they are none, or several would share a cache.
    """
    if at_once < 1:
        raise Invalid("jobs", f"is {at_once}", "Let at least one contestant run at once.")
    if at_once > 1 and means.cache is not None:
        raise Invalid("jobs", "does not go with a cache of vectors, which is one process's", "Leave one of them out.")


def _refuse_answers(answers: AnswerPlan, means: Means, courses: Mapping[str, _Course]) -> None:
    """Refuse a plan whose models are not there, or that compares the answers of one contestant."""
    answers.opened(means.settings)
    if answers.pairwise and (alone := [name for name, course in courses.items() if len(course.rows) < 2]):
        raise Invalid("pairwise", f"compares contestants, and {alone[0]} has one", "Name two or more, or leave it out.")


def contestants_of(plan: RunPlan) -> dict[str, dict[str, Make]]:
    """Who is named for each task of a plan; no data is read, and nobody is made.

    Raises:
        Invalid: there is no such task or contestant, or one needs an embedder and there is none.
    """
    named = {name: contestants(plan.rows or usual_rows(name, plan.means)) for name in plan.tasks}
    sighted = {*DENSE, *(peer.name for peer in peer_contestant.PEERS if not peer.unfit)}
    if plan.means.embedder_name is None and (
        blind := [row for rows in named.values() for row in rows if row in sighted]
    ):
        raise Invalid("with", f"{blind[0]!r} needs an embedder, and there is none", "Give --embedder, or leave it out.")
    return named


def _course(name: str, where: Path, plan: RunPlan, named: Mapping[str, Make]) -> _Course:
    chosen = plan.variants.get(name) or task(name)
    if isinstance(chosen, SelfMadeTask) and where != Path():
        raise Invalid("tasks", f"{name} makes its own questions, and reads no {where.name}", "Leave the file out.")
    dataset = data_of(chosen, where, plan.limit)
    if not dataset.questions:
        raise Invalid(
            "tasks", f"{name} has no question in {where.name}{first_fault(dataset)}", "Name a file that has some."
        )
    if plan.limit is None and dataset.dropped and dataset.unscorable == len(dataset.questions):
        whole = f"{name} has {dataset.unscorable:,} questions, and all evidence of them points nowhere"
        raise Invalid("tasks", f"{whole}{first_fault(dataset)}", "Name a file whose ids are those of its documents.")
    idle = {row: why for row, make in named.items() if (why := idle_over(make, dataset) or idle_with(make, plan.means))}
    rows = {row: make for row, make in named.items() if row not in idle}
    if not rows:
        raise Invalid("with", f"leaves nobody for {name}: {'; '.join(idle.values())}", "Name others.")
    return _Course(
        chosen, dataset, lies_in_a_sample(where), rows, {corpus.ns: _placed(corpus) for corpus in dataset.corpora}, idle
    )


def usual_rows(name: str, means: Means) -> list[str]:
    """The contestants of a task where none is named: without an embedder, those that need none.

    Raises:
        Invalid: there is no such task, or no such embedder.
    """
    rows = task(name).rows
    return list(rows) if means.embedder_name is not None else [row for row in rows if row not in DENSE]


def _placed(corpus: Corpus) -> dict[str, Placed]:
    return {doc.id: Placed(doc.session, count_tokens(f"{doc.speaker}: {doc.text}")) for doc in corpus.docs}


def _jobs(courses: Mapping[str, _Course], plan: RunPlan, before: Mapping[str, LoggedRun]) -> Iterator[ContestJob]:
    """What is still to be done: contestants that have no cost yet, with the questions that they have not answered."""
    for name, course in courses.items():
        logged = before.get(name, LoggedRun(header={}))
        for row, make in course.rows.items():
            if row in logged.costs:
                continue
            answered = {(answer.ns, answer.question) for answer in logged.answers.get(row, ())}
            left = tuple(q for q in course.dataset.questions if (q.ns, q.id) not in answered)
            told = any(corpus.told for corpus in course.dataset.corpora)
            yield ContestJob(
                task=name, contestant=row, make=make, means=replace(plan.means, told=told), docs=course.docs,
                dataset=replace(course.dataset, questions=left), depth=course.task.depth,
                answered=course.task.answered or plan.answers is not None,
            )  # fmt: skip


class _Scribe:
    """Writes what comes of jobs into the log."""

    def __init__(
        self, log: Log, courses: Mapping[str, _Course], before: Mapping[str, LoggedRun], progress: Progress
    ) -> None:
        self._log, self._courses, self._progress = log, courses, progress
        self._said = {name: {("question", *key) for key in logged.questions} for name, logged in before.items()}
        for name, logged in before.items():
            self._said[name] |= {("text", *key) for key in logged.texts}
        self._placed = {
            name
            for name, logged in before.items()
            if name in courses and courses[name].docs.keys() <= logged.docs.keys()
        }
        self._done = {
            (name, row): len(answers) for name, logged in before.items() for row, answers in logged.answers.items()
        }
        self._words = {
            name: {("question", q.ns, q.id): q.text for q in course.dataset.questions}
            | {("text", doc.ns, doc.id): doc.text for corpus in course.dataset.corpora for doc in corpus.docs}
            for name, course in courses.items()
        }

    def take(self, job: ContestJob, step: Step) -> None:
        """Log an answer, with the words that it brings up, or a cost; None is only a sign of life."""
        at = (job.task, job.contestant)
        self._done.setdefault(at, 0)
        if isinstance(step, LoggedAnswer):
            self._begin(job.task)
            self._say(job.task, "question", step.ns, step.question)
            for doc in (*step.gold, *step.ranked[:SHOWN]):
                self._say(job.task, "text", step.ns, doc)
            self._log.answer(step)
            self._done[at] += 1
        elif isinstance(step, Cost):
            self._begin(job.task)
            self._log.cost(step)
        self.alive(job)

    def alive(self, job: ContestJob) -> None:
        """Say how far a job is."""
        row = job.contestant if len(self._courses) == 1 else f"{job.task}: {job.contestant}"
        done = self._done.get((job.task, job.contestant), 0)
        self._progress(row, done, len(self._courses[job.task].dataset.questions))

    def failed(self, job: ContestJob, why: str) -> None:
        self._begin(job.task)
        self._log.failed(job.contestant, why)

    def _begin(self, name: str) -> None:
        self._log.of_task(name)
        if name not in self._placed:
            self._placed.add(name)
            for ns, docs in self._courses[name].docs.items():
                self._log.corpus(ns, docs)

    def _say(self, name: str, kind: str, ns: str, id: str) -> None:
        said = self._said.setdefault(name, set())
        if (kind, ns, id) not in said:
            said.add((kind, ns, id))
            self._log.words(kind, ns, id, self._words[name][kind, ns, id][:_EXCERPT])


# What a run says of itself


def _header(plan: RunPlan, courses: Mapping[str, _Course], apart: Limits | None, at_once: int) -> dict[str, object]:
    git = checkout()
    return {
        "bench": RUN_BENCH,
        "seed": plan.seed,
        "tasks": list(courses),
        "settings": {
            "tasks": {name: course.dataset.sha256 for name, course in courses.items()},
            "contestants": {name: list(course.rows) for name, course in courses.items()},
            "embedder": plan.means.embedder_name,
            "reader": plan.means.reader,
            "limit": plan.limit,
            "seed": plan.seed,
            "jobs": at_once,
            "limits": None if apart is None else asdict(apart),
            "version": __version__,
            "commit": None if git is None else git["commit"],
            **({} if plan.answers is None else {"answers": plan.answers.settings()}),
        },
        "peers": peer_contestant.about([row for course in courses.values() for row in course.rows]),
        "left_out": {name: dict(course.left_out) for name, course in courses.items()},
        "data": {name: {**_described(course.dataset), "made_up": course.made_up} for name, course in courses.items()},
        "effective": {
            name: {"questions": len(course.dataset.questions), "depth": course.task.depth}
            for name, course in courses.items()
        },
    }


def _described(dataset: Dataset) -> dict[str, object]:
    return {
        "name": dataset.name,
        "sha256": dataset.sha256,
        "corpora": len(dataset.corpora),
        "docs": sum(len(corpus.docs) for corpus in dataset.corpora),
        "undated": dataset.undated,
        "questions": len(dataset.questions),
        "unscorable": dataset.unscorable,
        "doubted": dataset.doubted,
        "evidence_mended": dataset.mended,
        "evidence_dropped": dataset.dropped,
        "faults": len(dataset.faults),
        "faults_listed": [asdict(fault) for fault in dataset.faults[:_LISTED]],
    }


def _same(begun: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    """Refuse to go on with another run."""
    if begun.get("bench") != RUN_BENCH:
        raise Invalid("out", "is the log of another bench", "Name a log of `bench run`, or another file.")
    differing = differences(begun["settings"], now["settings"])
    if other := [f"{name}: {was} then, {wanted} now" for name, was, wanted in differing]:
        raise Invalid("resume", f"the run was begun with other settings ({'; '.join(other)})", "Give the same ones.")
