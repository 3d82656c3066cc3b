"""From the log of a run to its tables: every figure is recomputed from the answers, none is read back."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TextIO, TypeAlias

import numpy as np
import numpy.typing as npt

from mnemic.errors import Invalid
from mnemic.lab.contestants.strategy_contestant import after_papers
from mnemic.lab.entries import task as named_task
from mnemic.lab.kit import log, metrics
from mnemic.lab.kit.answer_report import (
    AnswerReport,
    Answers,
    answer_notes,
    answer_tables,
    answered,
    answers_of,
)
from mnemic.lab.kit.baselines import DENSE, stood_beside
from mnemic.lab.kit.datasets import UNANSWERABLE
from mnemic.lab.kit.metrics import Array, Estimate
from mnemic.lab.kit.tables import (
    MADE_UP,
    TextTable,
    aligned,
    bar,
    display_width,
    finite,
    in_line,
    in_markdown,
    made_up,
    named_as_made_up,
    percent_of,
    piped,
    signed,
)
from mnemic.lab.kit.task import SelfMadeTask

if TYPE_CHECKING:
    from mnemic.lab.kit.log import Cost, LoggedAnswer, LoggedRun
    from mnemic.lab.kit.task import BenchTask

Mask: TypeAlias = npt.NDArray[np.bool_]

_INSTANT: Final = 1e6
_OF_SAMPLE: Final = (
    f"{MADE_UP.strip()}: a sample of `mnemic bench samples`; a figure on it says nothing about a memory."
)
_SELF_MADE: Final = (
    f"{MADE_UP.strip()}: cases of our own, told by nobody; a figure on them says nothing about other data."
)
_WITH_INTERVAL: Final = frozenset({"R@5", "R@10"})
_ORDER: Final = ("single-hop", "multi-hop", "temporal", "open-domain", "adversarial")
_NOTHING: Final = Estimate(math.nan, math.nan, math.nan, 0)

WORST: Final = 20
"""Questions that are shown as the worst."""

_BESIDE: Final = 5
"""Documents that stand beside what was wanted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemRow:
    """One contestant at one task.

    Attributes:
        asked: Questions it answered, scorable or not.
        scores: Every metric over all questions, with the interval of a bootstrap over questions.
        clustered: The headline metric with that of one over whole conversations; NaN bounds where there is only one.
        answerable: Every metric without adversarial and abstention questions.
        categories: The metrics that are shown, by category.
        gain: The headline metric minus that of the row it is held against, on the same questions; None for that row
            itself, or without it. `clustered_gain` draws whole conversations.
        auroc: How well the best score tells answerable questions from the others; NaN without scores or without others.
        p50_ms, p95_ms: Recall latency.
        cpu_ms: What a recall takes of all processors, on the mean; NaN where it was not measured.
        cost: None when the run was cut short before it was measured.
        failure: Why it did not come to its end; "" if it did, or was not ended.
    """

    system: str
    asked: int
    scores: Mapping[str, Estimate]
    clustered: Estimate
    answerable: Mapping[str, Estimate]
    categories: Mapping[str, Mapping[str, Estimate]]
    gain: Estimate | None
    clustered_gain: Estimate | None
    auroc: float
    p50_ms: float
    p95_ms: float
    cpu_ms: float
    tokens: float
    cost: Cost | None
    failure: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskReport:
    """What came of one task, as values.

    Attributes:
        against: The row that the others are held against; "" where there is no other.
    """

    task: BenchTask
    run: LoggedRun
    rows: tuple[SystemRow, ...]
    against: str
    own: tuple[TextTable, ...]
    notes: tuple[str, ...]
    answers: AnswerReport | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunReport:
    """A run's tables as values, by task."""

    header: Mapping[str, Any]
    complete: bool
    tasks: tuple[TaskReport, ...]
    seed: int


def report(log_path: Path, *, seed: int | None = None) -> RunReport:
    """Compute every figure of a run from its log.

    Args:
        seed: Of the bootstrap; the run's own when None.

    Raises:
        NotFound: no such log.
        Invalid: not the log of such a run.
    """
    runs = log.read_tasks(log_path)
    first = next(iter(runs.values()))
    if (bench := first.header.get("bench")) != log.RUN_BENCH:
        problem = f"{log_path.name} is a log of `bench {bench}`, not of `bench run`"
        raise Invalid("log", problem, "`mnemic bench report LOG` shows the tables of any bench's log.")
    seed = int(first.header["seed"]) if seed is None else seed
    tasks = tuple(_of_task(named_task(name), run, seed) for name, run in runs.items())
    return RunReport(header=first.header, complete=first.complete, tasks=tasks, seed=seed)


def as_json(run_report: RunReport) -> str:
    """The report for machines: every metric with its interval; what cannot be had is null."""
    return json.dumps(finite(record(run_report)), ensure_ascii=False, indent=2)


def record(run_report: RunReport) -> dict[str, object]:
    """The report as a mapping."""
    return {
        "header": dict(run_report.header),
        "complete": run_report.complete,
        "tasks": {
            each.task.name: {
                "against": each.against,
                "rows": [asdict(row) for row in each.rows],
                "tables": [asdict(table) for table in each.own],
                "notes": list(each.notes),
                **({} if each.answers is None else {"answers": _answers_record(each.answers)}),
            }
            for each in run_report.tasks
        },
    }


def _answers_record(answers: AnswerReport) -> dict[str, object]:
    agreements = [{"judges": list(judges), **asdict(found)} for judges, found in answers.agreements.items()]
    return {**asdict(replace(answers, agreements={})), "agreements": agreements}


def _of_task(task: BenchTask, run: LoggedRun, seed: int) -> TaskReport:
    names = dict.fromkeys((*run.answers, *run.failures))
    against = stood_beside(task.against, run.answering) if len(names) > 1 else ""
    rows = tuple(_row(task, run, name, run.answers.get(name, []), against, seed) for name in names)
    own, answers = tuple(task.tables(run, seed)), answered(task, run, seed)
    notes = (
        *_notes(task, run, against, seed),
        *_counted(task, rows),
        *(() if answers is None else answer_notes(answers, run)),
    )
    return TaskReport(task=task, run=run, rows=rows, against=against, own=own, notes=notes, answers=answers)


def _row(
    task: BenchTask, run: LoggedRun, system: str, answers: Sequence[LoggedAnswer], against: str, seed: int
) -> SystemRow:
    outcomes = [run.outcome(answer) for answer in answers]
    values = metrics.measure(outcomes, metrics.within(task.metrics, task.depth))
    categories = np.array([answer.category for answer in answers])
    headline, spaces = values[task.headline], [answer.ns for answer in answers]
    shown = {name: values[name] for name in task.shown}
    beyond = None if system == against else _beyond(task, run, against, answers, headline)
    return SystemRow(
        system=system,
        asked=len(answers),
        scores=_estimates(values, np.ones(len(answers), np.bool_), seed),
        clustered=metrics.of_enough(metrics.clustered(headline, spaces, seed)),
        answerable=_estimates(values, ~np.isin(categories, list(UNANSWERABLE)), seed),
        categories={
            name: _estimates(shown, categories == name, seed)
            for name in _ordered({answer.category for answer in answers})
        },
        gain=None if beyond is None else metrics.of_enough(metrics.estimates({"": beyond}, seed)[""]),
        clustered_gain=None if beyond is None else metrics.of_enough(metrics.clustered(beyond, spaces, seed)),
        auroc=_answerability(outcomes),
        p50_ms=_percentile(answers, 50),
        p95_ms=_percentile(answers, 95),
        cpu_ms=_mean([answer.cpu_ms for answer in answers if answer.cpu_ms is not None]),
        tokens=_mean([answer.tokens for answer in answers]),
        cost=run.costs.get(system),
        failure=run.failures.get(system, ""),
    )


def _percentile(answers: Sequence[LoggedAnswer], share: float) -> float:
    return float(np.percentile([answer.milliseconds for answer in answers], share)) if answers else math.nan


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if values else math.nan


def _estimates(values: Mapping[str, Array], chosen: Mask, seed: int) -> dict[str, Estimate]:
    made = metrics.estimates({name: column[chosen] for name, column in values.items()}, seed)
    return {name: metrics.of_enough(value) for name, value in made.items()}


def _beyond(
    task: BenchTask, run: LoggedRun, against: str, answers: Sequence[LoggedAnswer], values: Array
) -> Array | None:
    """By how much each answer beats that of the row it is held against; None where there is no such row."""
    if not against:
        return None
    return values - beside(task, run, run.answers[against], answers, task.headline)


def beside(
    task: BenchTask, run: LoggedRun, others: Sequence[LoggedAnswer], answers: Sequence[LoggedAnswer], metric: str
) -> Array:
    """A metric of the others' answers to the same questions, in the order of `answers`; NaN where there is none."""
    measured = {(other.ns, other.question): task.metrics[metric](run.outcome(other)) for other in others}
    return np.array([measured.get((answer.ns, answer.question), math.nan) for answer in answers], np.float64)


def _answerability(outcomes: Sequence[metrics.Outcome]) -> float:
    scored = [o for o in outcomes if not math.isnan(o.score)]
    return metrics.auroc(
        [o.score for o in scored if o.category not in UNANSWERABLE],
        [o.score for o in scored if o.category in UNANSWERABLE],
    )


def _ordered(categories: set[str]) -> list[str]:
    return [name for name in _ORDER if name in categories] + sorted(categories - set(_ORDER))


@dataclass(frozen=True, slots=True)
class ShownDoc:
    """A document beside a question: its id, the beginning of its words, its rank from 1, and whether it is wanted."""

    id: str
    text: str
    rank: int | None
    wanted: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class BadQuestion:
    """A question that went badly, with what was wanted and what came first.

    Attributes:
        right: The right answer, in words.
        answers: What was answered: by which reader, its words, and how judges marked it.
    """

    id: str
    ns: str
    category: str
    text: str
    score: float
    wanted: tuple[ShownDoc, ...]
    recalled: tuple[ShownDoc, ...]
    right: str = ""
    answers: tuple[tuple[str, str, str], ...] = ()


def worst(of: TaskReport, system: str, most: int = WORST) -> list[BadQuestion]:
    """The questions with the lowest headline metric; of equal ones those whose first evidence ranks lowest."""
    scored = []
    for answer in of.run.answers.get(system, ()):
        score = of.task.metrics[of.task.headline](of.run.outcome(answer))
        if not math.isnan(score) and score < 1:
            scored.append((score, metrics.reciprocal_rank(answer.gold, answer.ranked), answer))
    scored.sort(key=lambda row: row[:2])
    chosen = scored[:most]
    answers = answers_of(of.run, {(system, answer.ns, answer.question) for _, _, answer in chosen})
    return [_bad(of.run, answer, score, answers) for score, _, answer in chosen]


def _bad(run: LoggedRun, answer: LoggedAnswer, score: float, answers: Answers) -> BadQuestion:
    rank = {doc: n for n, doc in enumerate(answer.ranked, start=1)}

    def shown(doc: str) -> ShownDoc:
        return ShownDoc(doc, run.texts.get((answer.ns, doc), ""), rank.get(doc), doc in answer.gold)

    return BadQuestion(
        id=answer.question,
        ns=answer.ns,
        category=answer.category,
        text=run.questions.get((answer.ns, answer.question), ""),
        score=score,
        wanted=tuple(map(shown, answer.gold)),
        recalled=tuple(map(shown, answer.ranked[:_BESIDE])),
        right=answer.wanted,
        answers=tuple(answers.get((answer.system, answer.ns, answer.question), ())),
    )


def best_first(of: TaskReport) -> list[SystemRow]:
    """The contestants by the headline, the best first, ties by name; those without a figure last."""

    def place(row: SystemRow) -> tuple[bool, float, str]:
        mean = row.scores[of.task.headline].mean
        return math.isnan(mean), 0.0 if math.isnan(mean) else -mean, row.system

    return sorted(of.rows, key=place)


def chief(of: TaskReport) -> str:
    """The contestant whose worst questions are shown: mnemic, or the first; "" where nobody answered."""
    return "mnemic" if "mnemic" in of.run.answers else next(iter(of.run.answers), "")


def _notes(task: BenchTask, run: LoggedRun, against: str, seed: int) -> tuple[str, ...]:
    data, settings = run.header["data"][task.name], run.header["settings"]
    mended = f" Evidence mended {data['evidence_mended']}." if data["evidence_mended"] else ""
    lost = f" Evidence that names no document: {data['evidence_dropped']}." if data["evidence_dropped"] else ""
    notes = [
        f"{data['name']}, sha256 {data['sha256'][:12]}: {data['docs']:,} documents ({data['undated']} undated), "
        f"{data['questions']:,} questions, {data['unscorable']} without evidence and left out{_turnless(run)}."
        f"{mended}{lost}",
        *task.notes,
        f"95 % intervals: percentile bootstrap over questions, {metrics.DRAWS:,} draws, seed {seed}; by conversation: "
        f"the same drawing whole ones; none of fewer than {metrics.FEW} questions, nor where all draws come to the "
        "same.",
    ]
    if against:
        instead = "" if against == task.against else f" (`{task.against}` took no part)"
        notes.append(f"Differences are from `{against}`{instead}, paired, in points, with their 95 % interval.")
    if any(name.startswith("R@") for name in task.shown):
        notes.append("R@k = gold found / gold.")
    if any(answer.category in UNANSWERABLE for answers in run.answers.values() for answer in answers):
        notes.append(
            "AUROC: how well the best score tells answerable questions from the others; 0.5 is chance. mnemic's "
            "`confidence` tells better: docs/laboratory.md has the figures."
        )
    if data.get("doubted"):
        notes.append(f"{data['doubted']} questions have an answer or evidence that an audit doubts.")
    notes += _of_made_up([(task, bool(data.get("made_up")))])
    if data["faults"]:
        notes.append(f"{of_faults(data['faults'])}, of which the first: {_faults(data['faults_listed'][:5])}")
    if settings["embedder"] is None and set(DENSE) & set(task.rows):
        missing = " and ".join(f"`{row}`" for row in task.rows if row in DENSE)
        notes.append(f"Without an embedder there is no row of {missing}.")
    if any(cost.replayed for cost in run.costs.values()):
        notes.append("* reads a journal that was taken in once: intake and bytes are what comes on top of that.")
    notes += of_vectors(run)
    peers: Mapping[str, Mapping[str, str]] = run.header.get("peers", {})
    notes += _of_papers([*run.answers, *run.failures])
    notes += [f"`{name}` is {of['package']}: {of['settings']}." for name, of in peers.items()]
    left_out: Mapping[str, str] = run.header.get("left_out", {}).get(task.name, {})
    notes += [f"`{row}` was left out: {why}." for row, why in left_out.items()]
    notes += [f"`{system}` did not come to its end: {why}." for system, why in run.failures.items()]
    notes += _of_lost_lines(task, run)
    if not run.complete:
        notes.append("The run was cut short: figures cover the questions answered until then.")
    return tuple(notes)


def _of_lost_lines(task: BenchTask, run: LoggedRun) -> Iterator[str]:
    """Who came to its end though not all of its answers stand in the log."""
    asked = run.header["effective"][task.name]["questions"]
    for system in run.costs:
        if (there := len(run.answers.get(system, ()))) < asked:
            yield f"Of `{system}` {there:,} of {asked:,} answers stand in the log: lines are missing."


def _turnless(run: LoggedRun) -> str:
    """How many questions have a session for evidence and nothing in it, which no metric of documents counts."""
    asked = {(a.ns, a.question) for answers in run.answers.values() for a in answers if a.sessions and not a.gold}
    return f", {len(asked)} with none but a session: no metric of turns counts them" if asked else ""


def _counted(task: BenchTask, rows: Sequence[SystemRow]) -> tuple[str, ...]:
    """Which metrics are means over other questions than the headline, which `n` is of, and over how many."""
    others: dict[str, list[str]] = {}
    for metric, title in task.shown.items():
        counted = {row.scores[metric].n: None for row in rows if row.scores[metric].n != row.scores[task.headline].n}
        counts = [n for n in counted if n]
        if counts:
            others.setdefault(" or ".join(f"{n:,}" for n in counts), []).append(title)
    told = "; ".join(f"of {', '.join(titles)}: {n}" for n, titles in others.items())
    return (f"n is of {task.headline}; {told}.",) if told else ()


def of_vectors(run: LoggedRun) -> tuple[str, ...]:
    """What is said where contestants made vectors that those after them found in the cache."""
    made = [f"`{name}` made {cost.vectors_made:,}" for name, cost in run.costs.items() if cost.vectors_made]
    told = f"The cache of vectors was not full: in their times {', '.join(made)}, which others found there."
    return (told,) if made else ()


def of_faults(count: int) -> str:
    """How many faults there are, in words."""
    return f"{count} {'fault' if count == 1 else 'faults'} in the data"


def _faults(listed: Sequence[Mapping[str, str]]) -> str:
    return "; ".join(f"{fault['where']}: {fault['what']}" for fault in listed)


def tables(of: TaskReport) -> tuple[TextTable, ...]:
    """What was found, by category, what it cost, and the task's own."""
    words = () if of.answers is None else answer_tables(of.answers)
    made = (_recall_table(of), _by_category(of), _costs(of), *_each_category(of), *words, *of.own)
    return tuple(marked(table, of) for table in made)


def marked(table: TextTable, of: TaskReport) -> TextTable:
    """The table of a task, whose title says so where the data is made up."""
    return made_up(table) if is_made_up(of) else table


def marked_name(of: TaskReport) -> str:
    """The name of a task, and whether its data is made up."""
    return named_as_made_up(of.task.name, is_made_up(of))


def overview(run_report: RunReport) -> TextTable:
    """The headline of every task, a line each, by contestants."""
    systems = list(dict.fromkeys(row.system for each in run_report.tasks for row in each.rows))
    return TextTable(
        "Every task at a glance: its headline, %",
        ("task", "headline", "n", *systems),
        tuple(_at_a_glance(each, systems) for each in run_report.tasks),
        words=(0, 1),
    )


def _at_a_glance(of: TaskReport, systems: Sequence[str]) -> tuple[str, ...]:
    rows = {row.system: row for row in of.rows}
    scores = (percent_of(rows[name].scores[of.task.headline]) if name in rows else "" for name in systems)
    failed = (name in rows and bool(rows[name].failure) for name in systems)
    cells = (f"{score} (failed)" if over else score for score, over in zip(scores, failed, strict=True))
    counted = max((row.scores[of.task.headline].n for row in of.rows), default=0)
    return marked_name(of), of.task.headline, f"{counted:,}", *cells


def is_made_up(of: TaskReport) -> bool:
    """Whether its data is one of our made-up samples, or cases that it makes itself."""
    return is_of_sample(of) or isinstance(of.task, SelfMadeTask)


def is_of_sample(of: TaskReport) -> bool:
    """Whether its data is one of our made-up samples."""
    return bool(of.run.header["data"][of.task.name].get("made_up"))


def _of_made_up(tasks: Sequence[tuple[BenchTask, bool]]) -> tuple[str, ...]:
    """What is said of made-up data, each once: of tasks, and whether theirs is a sample."""
    sample, own = any(of_sample for _, of_sample in tasks), any(isinstance(task, SelfMadeTask) for task, _ in tasks)
    return (*((_OF_SAMPLE,) if sample else ()), *((_SELF_MADE,) if own else ()))


def overview_notes(run_report: RunReport) -> tuple[str, ...]:
    """What has to be said under the table of all tasks."""
    made_up = _of_made_up([(each.task, is_of_sample(each)) for each in run_report.tasks])
    return (*made_up, *_of_papers([row.system for each in run_report.tasks for row in each.rows]))


def _of_papers(rows: Sequence[str]) -> tuple[str, ...]:
    """Whose the strategies are that run under the names of papers; nothing where there are none."""
    ours = ", ".join(after_papers(rows))
    others = "packages of others are named as `mnemic bench peers` lists them"
    return (f"{ours}: mnemic's own strategies, after these papers; {others}.",) if ours else ()


def provenance(run_report: RunReport) -> tuple[str, ...]:
    """Where the figures are from: when and by what, with what settings, on which machine; a line each.

    Where tasks are of several runs a line is of those that it names.
    """
    headers = {each.task.name: each.run.header for each in run_report.tasks} or {"": run_report.header}
    lines: list[str] = []
    for words in (_begun, partial(_set, seed=run_report.seed), _machine):
        named: dict[str, list[str]] = {}
        for name, header in headers.items():
            named.setdefault(words(header), []).append(name)
        lines += named if len(named) == 1 else (f"{line} ({', '.join(names)})" for line, names in named.items())
    return tuple(lines)


def _begun(header: Mapping[str, Any]) -> str:
    git = header.get("git") or {}
    commit = f", commit {git['commit'][:10]}{' with changes' if git.get('dirty') else ''}" if git.get("commit") else ""
    return f"{header['started'][:16]} UTC, mnemic {header['mnemic']}{commit}"


def _set(header: Mapping[str, Any], seed: int) -> str:
    settings = header["settings"]
    return f"embedder {settings['embedder'] or 'none'}, limit {settings['limit'] or 'none'}, seed {seed}"


def _machine(header: Mapping[str, Any]) -> str:
    machine = header["machine"]
    return f"{machine['cores']} cores, Python {machine['python']}, {machine['system']}"


def plain(run_report: RunReport) -> str:
    """Aligned text without colour."""
    return _stacked(run_report, aligned, in_line)


def markdown(run_report: RunReport) -> str:
    """The same for a page, with where it is from before, and the worst questions of each task behind."""
    names = ", ".join(map(marked_name, run_report.tasks))
    origin = "; ".join(map(in_markdown, provenance(run_report)))
    blocks = [f"# {in_markdown(names)}", origin, _stacked(run_report, piped, in_markdown)]
    for each in run_report.tasks:
        name = chief(each)
        if bad := worst(each, name):
            blocks.append(f"**{in_markdown(f'{marked_name(each)}: the worst questions of {name}')}**")
            blocks.append("\n".join(line for question in bad for line in _listed(question)))
    return "\n\n".join(blocks)


def _listed(question: BadQuestion) -> Iterator[str]:
    about = in_markdown(f"{question.category}, {question.id}")
    yield f"1. {in_markdown(question.text)} ({about}: {100 * question.score:.0f} %)"
    for reader, words, marks in question.answers:
        right = in_markdown(question.right)
        yield f"   * answered by {in_markdown(reader)}{marks}: {in_markdown(words)} (right: {right})"
    for doc in question.wanted:
        yield f"   * wanted, {f'rank {doc.rank}' if doc.rank else 'not ranked'}: {in_markdown(doc.text)}"
    for doc in question.recalled:
        yield f"   * {doc.rank}. {'(wanted) ' if doc.wanted else ''}{in_markdown(doc.text)}"


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


def _recall_table(of: TaskReport) -> TextTable:
    header = ("system", "n", *of.task.shown.values(), of.task.headline)
    return TextTable("1. Evidence found, %", header, tuple(_found_cells(of.task, row) for row in best_first(of)))


def _found_cells(task: BenchTask, row: SystemRow) -> tuple[str, ...]:
    scores = row.scores
    cells = (percent_of(scores[name], name in _WITH_INTERVAL) for name in task.shown)
    name = f"{row.system} (failed)" if row.failure else row.system
    return name, f"{scores[task.headline].n:,}", *cells, bar(scores[task.headline].mean)


def _by_category(of: TaskReport) -> TextTable:
    headline = of.task.headline
    names = list(dict.fromkeys(name for row in of.rows for name in row.categories))
    sizes = {name: max(row.categories[name][headline].n for row in of.rows if name in row.categories) for name in names}
    beside_it = (f"beside {of.against}", "by conversation") if of.against else ()
    header = (
        "system", *(f"{name} ({sizes[name]})" for name in names), "answerable only", "all, by conversation", *beside_it,
        "AUROC",
    )  # fmt: skip
    cells = tuple(_category_cells(of, row, names) for row in best_first(of))
    return TextTable(f"2. {headline} by category, %", header, cells)


def _category_cells(of: TaskReport, row: SystemRow, names: Sequence[str]) -> tuple[str, ...]:
    headline = of.task.headline
    return (
        row.system,
        *(percent_of(row.categories.get(name, {}).get(headline, _NOTHING), True) for name in names),
        percent_of(row.answerable[headline], True),
        percent_of(row.clustered, True),
        *((signed(row.gain), signed(row.clustered_gain)) if of.against else ()),
        _number(row.auroc, 2),
    )


def _each_category(of: TaskReport) -> tuple[TextTable, ...]:
    """Of a single contestant every metric by category; several are compared by the headline alone."""
    if len(of.rows) != 1:
        return ()
    (row,) = of.rows
    names = tuple(of.task.shown)
    lines = [("all", row.scores), *row.categories.items()]
    cells = tuple(
        (name, f"{scores[of.task.headline].n:,}", *(percent_of(scores[metric]) for metric in names))
        for name, scores in lines
    )
    return (TextTable(f"4. {row.system} by category, %", ("questions", "n", *of.task.shown.values()), cells),)


def _costs(of: TaskReport) -> TextTable:
    header = (
        "system",
        "start s",
        "ingest docs/s",
        "CPU ms/doc",
        "bytes/doc",
        "write to recall ms",
        "recall p50 ms",
        "p95 ms",
        "CPU ms",
        "tokens/question",
        "model calls/doc",
        "model tokens/doc",
        "calls/recall",
        "peak MiB",
    )
    title = "3. What it cost (recall and tokens: the ten best)"
    return TextTable(title, header, tuple(map(_cost_cells, best_first(of))))


def _cost_cells(row: SystemRow) -> tuple[str, ...]:
    cost = row.cost
    if cost is None:
        return row.system, *["-"] * 5, *_recall_cells(row), *["-"] * 4
    cpu = cost.ingest_cpu_seconds
    return (
        f"{row.system} *" if cost.replayed else row.system,
        _number(cost.start_seconds, 2),
        _rate(cost),
        _number(None if cpu is None else 1000 * cpu / max(cost.messages, 1), 1),
        _number(cost.bytes_per_message, 0),
        _number(cost.lag_ms, 2),
        *_recall_cells(row),
        _number(cost.model_calls, 2 if cost.model_calls else 0),
        _number(cost.model_tokens, 0),
        _number(cost.recall_calls, 2 if cost.recall_calls else 0),
        _number(cost.peak_mib, 0),
    )


def _recall_cells(row: SystemRow) -> tuple[str, ...]:
    return _number(row.p50_ms, 2), _number(row.p95_ms, 2), _number(row.cpu_ms, 2), _number(row.tokens, 0)


def _rate(cost: Cost) -> str:
    rate = cost.messages / max(cost.ingest_seconds, 1e-9)
    return _number(rate, 0) if rate < _INSTANT else "at once"


def _number(value: float | None, digits: int) -> str:
    return "-" if value is None or math.isnan(value) else f"{value:,.{digits}f}"


def _stacked(run_report: RunReport, form: Callable[[TextTable], str], words: Callable[[str], str]) -> str:
    several = len(run_report.tasks) > 1
    blocks = [form(overview(run_report))] if several else []
    if several and (notes := overview_notes(run_report)):
        blocks.append("\n".join(f"* {words(note)}" for note in notes))
    for each in run_report.tasks:
        if several:
            blocks.append(f"{'## ' if form is piped else ''}{words(f'{marked_name(each)}: {each.task.about}')}")
        blocks += [form(table) for table in tables(each)]
        blocks.append("\n".join(f"* {words(note)}" for note in each.notes))
    return "\n\n".join(blocks)


def _rich(run_report: RunReport, stream: TextIO) -> None:
    from rich.console import Console  # rich is loaded only for a terminal
    from rich.table import Table as Grid
    from rich.text import Text

    console = Console(file=stream, highlight=False)
    if len(run_report.tasks) > 1:
        stream.write(aligned(overview(run_report)) + "\n\n")
        for note in overview_notes(run_report):
            console.print(f"* {in_line(note)}", style="dim", markup=False)
    for each in run_report.tasks:
        console.print(f"{marked_name(each)}: {each.task.about}\n", style="bold", markup=False)
        for table in tables(each):
            widest = max(map(display_width, aligned(table).splitlines()))
            if widest > console.width:
                stream.write(aligned(table) + "\n\n")
                continue
            grid = Grid(
                title=Text(in_line(table.title)), title_justify="left", box=None, pad_edge=False, padding=(0, 2, 0, 0)
            )
            for n, column in enumerate(table.columns):
                grid.add_column(Text(in_line(column)), justify="left" if n == 0 else "right", no_wrap=True)
            for row in table.rows:
                grid.add_row(*(Text(in_line(cell)) for cell in row), style="bold" if row[0] == "mnemic" else None)
            console.print(grid, end="\n\n")
        for note in each.notes:
            console.print(f"* {in_line(note)}", style="dim", markup=False)
