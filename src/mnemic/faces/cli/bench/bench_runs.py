"""`bench run` and what reads its logs: `locomo`, `multihop` and `asked` are names for one task."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from mnemic.errors import Invalid
from mnemic.faces.cli.bars import progress, saying_what_is_kept
from mnemic.faces.cli.bench import bench_options as options
from mnemic.faces.cli.bench.bench_options import FILE, NAMES, Option
from mnemic.faces.cli.command import WORDS, verb
from mnemic.faces.cli.invocation import Invocation, invocation

if TYPE_CHECKING:
    from mnemic.lab.kit.contestant import Means
    from mnemic.lab.kit.log import LoggedRun
    from mnemic.lab.kit.run import RunPlan
    from mnemic.lab.kit.task import BenchTask

FAILED: Final = 9
"""Left with where a contestant did not come to its end."""

_KEPT: Final = (
    "what was measured is kept. To go on: the same command with --out {log} --resume; to see it: "
    "mnemic bench report {log}"
)


_reader = click.option(
    "--reader",
    type=WORDS,
    default="none",
    show_default=True,
    help="Whom strategies ask: `scripted`, `copying`, or a model.",
)

_answering: Final[tuple[Option, ...]] = (
    click.option("--answers", is_flag=True, help="Have questions answered, too."),
    click.option("--model", type=WORDS, help="Who answers over what was recalled (left out: the setting `model`)."),
    click.option("--full-context", is_flag=True, help="Have --model answer over all documents, too."),
    click.option("--judges", type=NAMES, default=(), help="Models by commas that mark the answers."),
    options.count("--judge-runs", 1, "How often each judge is asked of an answer."),
    click.option("--pairwise", is_flag=True, help="Judges also compare answers two by two, in both orders."),
)
"""Who answers, and who judges."""


def apart(command: Any) -> Any:
    """Add the options that say where a run's log goes, and how contestants run."""
    added: tuple[Option, ...] = (
        options.out,
        click.option("--resume", is_flag=True, help="Go on with the log --out where it ends."),
        click.option("--jobs", type=click.IntRange(1), default=1, show_default=True, help="Contestants at once."),
        click.option("--html", type=FILE, help="Write the report to this page, too."),
        click.option("--here", is_flag=True, help="Run contestants in this process, without limits."),
        click.option(
            "--silent", type=click.FloatRange(0.1), default=1_800.0, show_default=True,
            help="Seconds that a contestant may go without an answer.",
        ),
        click.option(
            "--memory", type=click.FloatRange(1), default=8_192.0, show_default=True, help="MiB that one may hold."
        ),
        click.option(
            "--disk", type=click.FloatRange(1), default=16_384.0, show_default=True, help="MiB that one may write."
        ),
    )  # fmt: skip
    return _with(command, added)


def _running(command: Any) -> Any:
    """Add the options of every command that runs contestants."""
    means: tuple[Option, ...] = (options.limit(), options.embedder(), options.cache, options.seed(), _reader)
    return _with(command, (apart, *means, *_answering))


def _with(command: Any, added: Sequence[Option]) -> Any:
    for option in reversed(added):
        command = option(command)
    return command


@verb(
    "mnemic bench run hotpotqa=questions.jsonl --with mnemic,hippo2 --embedder none",
    "mnemic bench run locomo=locomo10.json,multihop=questions.jsonl --with mnemic --limit 2 --embedder none --here",
    "mnemic bench run locomo=locomo10.json --with mnemic --limit 2 --embedder none --here --model scripted:yes",
    name="run",
)
@click.argument("tasks", type=NAMES)
@click.option("--with", "rows", type=NAMES, default=(), help="Contestants by name (left out: those of each task).")
@click.option(
    "--data", type=FILE, default=Path("data"), show_default=True, help="Folder of the data of tasks without =FILE."
)
@_running
def run_(tasks: Sequence[str], rows: Sequence[str], data: Path, **how: Any) -> None:
    """Any TASKS with any contestants: a log from which every figure is recomputed, and its tables.

    TASKS are names by commas, each with its file behind = or in the folder --data. `mnemic bench tasks` lists tasks and
    contestants. Each contestant runs in a process of its own; one that crashes, hangs or takes too much is a row that
    says so, and decides the exit code.
    """
    _run(_all_placed(tasks, data), rows, **how)


def _all_placed(tasks: Sequence[str], data: Path) -> dict[str, Path]:
    """Where the data of each task is; none is named twice."""
    where: dict[str, Path] = {}
    for name, place in (_placed(named, data) for named in tasks):
        if name in where:
            raise Invalid("tasks", f"{name!r} is named twice", "Name each once; another file of it is another run.")
        where[name] = place
    return where


def _placed(named: str, data: Path) -> tuple[str, Path]:
    """A task that is named with its file, or found in the folder of the data, unless it makes its own."""
    from mnemic.lab.entries import task
    from mnemic.lab.kit.task import SelfMadeTask

    name, _, file = named.partition("=")
    return name, Path(file) if file else Path() if isinstance(task(name), SelfMadeTask) else data


@verb(
    "mnemic bench locomo locomo10.json --out runs --limit 20",
    "mnemic bench locomo locomo10.json --systems mnemic --json",
    "mnemic bench locomo locomo10.json --systems mnemic --without dense,session,speaker",
)
@options.path
@click.option("--systems", type=NAMES, help="Only these rows of the table, separated by commas.")
@click.option("--without", type=NAMES, default=(), help="Stages of recall: for each a row of mnemic without it.")
@_running
def locomo(path: Path, systems: Sequence[str] | None, without: Sequence[str], **how: Any) -> None:
    """Evidence retrieval on LoCoMo (its json, or unified jsonl), mnemic beside its baselines: `run locomo=PATH`."""
    from mnemic.lab.kit.run import usual_rows

    means = _means(invocation(), how["embedder"], how["cache"])
    rows = [*(systems or usual_rows("locomo", means)), *(f"without {stage}" for stage in without)]
    _run({"locomo": path}, rows, **how)


@verb("mnemic bench multihop questions.jsonl --embedder none", "mnemic bench multihop questions.jsonl --by hippo2")
@options.path
@click.option("--untitled", is_flag=True, help="Take the titles out of the documents.")
@click.option("--without", type=NAMES, default=(), help="Stages of recall to leave out, all at once.")
@click.option("--by", metavar="NAME", help="A strategy whose own recall answers, or a baseline such as 'BM25 turns'.")
@_running
def multihop(path: Path, untitled: bool, without: Sequence[str], by: str | None, **how: Any) -> None:
    """Passages found for multi-hop questions over a pool of documents (2Wiki, HotpotQA, MuSiQue as unified jsonl).

    It is `run multihop=PATH --with mnemic`.
    """
    if by and without:
        raise Invalid("by", "does not go with --without", "Ask for one of them at a time.")
    rows = [by or (f"without {'+'.join(without)}" if without else "mnemic")]
    _run({"multihop-untitled" if untitled else "multihop": path}, rows, **how)


@verb("mnemic bench asked data --embedder none")
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False))
@_running
def asked(folder: Path, **how: Any) -> None:
    """Our own questions: Chinese, across languages, and things that were never said; FOLDER holds the dialogues.

    It is `run asked=FOLDER`.
    """
    _run({"asked": folder}, (), **how)


def _run(
    tasks: dict[str, Path],
    rows: Sequence[str],
    *,
    limit: int | None,
    embedder: str,
    cache: Path | None,
    seed: int,
    reader: str,
    html: Path | None,
    jobs: int,
    answers: bool,
    model: str | None,
    full_context: bool,
    judges: Sequence[str],
    judge_runs: int,
    pairwise: bool,
    **how: Any,
) -> None:
    from mnemic.lab.kit.answer_stage import AnswerPlan
    from mnemic.lab.kit.output_places import refuse_log, refuse_page
    from mnemic.lab.kit.run import RunPlan

    run = invocation()
    refuse_page(html, refuse_log(how["out"], going_on=how["resume"]))
    means = replace(_means(run, embedder, cache), reader=reader)
    asked: AnswerPlan | None = None
    if answers or model or full_context or judges or pairwise or judge_runs > 1:
        asked = AnswerPlan(
            model=run.settings.model if model is None else model, full_context=full_context, judges=tuple(judges),
            runs=judge_runs, pairwise=pairwise, at_once=jobs,
        )  # fmt: skip
    plan = RunPlan(tasks=tasks, rows=tuple(rows), means=means, limit=limit, seed=seed, answers=asked)
    show_run(run, logged(run, plan, jobs=jobs, **how), html=html)


def run_alone(
    task: BenchTask,
    *,
    embedder: str,
    cache: Path | None,
    seed: int,
    html: Path | None,
    secret: bool = False,
    **how: Any,
) -> LoggedRun:
    """Run a task by its own rows, as it is set, and read what came of it; a contestant that failed ends the command.

    Args:
        secret: Its words are nobody's to look at: the log is gone afterwards.
    """
    from mnemic.lab.kit import log
    from mnemic.lab.kit.output_places import refuse_log, refuse_page
    from mnemic.lab.kit.run import RunPlan

    run = invocation()
    refuse_page(html, None if secret else refuse_log(how["out"], going_on=how["resume"]))
    means = _means(run, embedder, cache)
    plan = RunPlan(tasks={task.name: Path()}, variants={task.name: task}, means=means, seed=seed)
    if secret:
        if html is not None or how["resume"]:
            raise Invalid("held_back", "leaves no log and no page", "Leave --html and --resume out.")
        with tempfile.TemporaryDirectory(prefix="mnemic-lab-") as folder:
            made = log.read(logged(run, plan, **{**how, "out": Path(folder)}, secret=True))
    else:
        path = logged(run, plan, **how)
        made = log.read(path)
        if html is not None:
            _write_page(run, path, html)
    for system, why in made.failures.items():
        run.output.note(f"{system} did not come to its end: {why}")
    if made.failures:
        click.get_current_context().exit(FAILED)
    return made


def _write_page(run: Invocation, path: Path, html: Path) -> None:
    from mnemic.lab.kit.run_page import write_page
    from mnemic.lab.kit.run_report import report

    run.output.note(f"page: {write_page(report(path), html)}")


def logged(
    run: Invocation,
    plan: RunPlan,
    *,
    out: Path,
    resume: bool,
    jobs: int,
    here: bool,
    silent: float,
    memory: float,
    disk: float,
    secret: bool = False,
) -> Path:
    """Run a plan with bars on the terminal; say where its log is, unless that is gone afterwards."""
    from mnemic.lab.contestants.peer_contestant import make_ready
    from mnemic.lab.kit import run as runs
    from mnemic.lab.kit.contest import Limits

    limits = None if here else Limits(silent_seconds=silent, memory_mib=memory, disk_mib=disk)
    runs.contestants_of(plan)  # before somebody's environment is made for a plan that is refused
    kept = f"{out} is as it was; the same command goes on" if resume else "nothing is kept"
    with saying_what_is_kept("" if secret else _KEPT, nothing=kept):
        make_ready(plan.rows, run.settings, lambda said: run.output.note(f"{said} ..."))  # who is not, its row says
        with progress(run) as report_progress:
            log = runs.run(plan, out, resume=resume, apart=limits, at_once=jobs, warm=here, progress=report_progress)
    if not secret:
        run.output.note(f"log: {log} (the same tables again: mnemic bench report {log})")
    return log


def _means(run: Invocation, embedder: str, cache: Path | None) -> Means:
    from mnemic.lab.kit.contestant import Means

    return Means(embedder=embedder, cache=None if cache is None else cache.resolve(), settings=run.settings)


def show_run(
    run: Invocation, log: Path, *, seed: int | None = None, markdown: bool = False, html: Path | None = None
) -> None:
    """Show the tables of a run; a contestant that failed decides the exit code."""
    from mnemic.lab.kit.comparison import price_notes, price_tables, prices
    from mnemic.lab.kit.output_places import refuse_page
    from mnemic.lab.kit.run_page import write_page
    from mnemic.lab.kit.run_report import marked, record, report, show
    from mnemic.lab.kit.tables import aligned, finite, piped

    refuse_page(html)
    made = report(log, seed=seed)
    if html is not None:
        run.output.note(f"page: {write_page(made, html)}")
    form = "json" if run.output.json else "markdown" if markdown else None if run.output.color else "plain"
    worth = [(each, parts) for each in made.tasks if (parts := prices(each, made.seed))]
    if form == "json":
        priced = {each.task.name: [part.record for part in parts] for each, parts in worth}
        whole = {**record(made), **({"left_out": priced} if priced else {})}
        run.output.document({name: finite(value) for name, value in whole.items()})
    else:
        show(made, sys.stdout, form)
        for each, parts in worth:
            for table in price_tables(each, parts):
                print(f"\n{(piped if markdown else aligned)(marked(table, each))}")
            print("\n" + "\n".join(f"* {note}" for note in price_notes(each, parts)))
    if any(row.failure for each in made.tasks for row in each.rows):
        click.get_current_context().exit(FAILED)


@verb("mnemic bench compare runs/run.jsonl runs/run.jsonl", "mnemic bench compare runs/run.jsonl runs/run.jsonl --json")
@click.argument("before", type=FILE)
@click.argument("after", type=FILE)
@click.option("--seed", type=int, help="Of the bootstrap (left out: the first run's own).")
def compare(before: Path, after: Path, seed: int | None) -> None:
    """What has changed from the log BEFORE to the log AFTER, question by question, with intervals."""
    from mnemic.lab.kit.comparison import change_table, changes, settings_that_differ
    from mnemic.lab.kit.run_report import report
    from mnemic.lab.kit.tables import aligned, finite, in_line

    run = invocation()
    with saying_what_is_kept(nothing="both logs are as they were; the same command begins anew"):
        was, now = report(before, seed=seed), report(after, seed=seed)
        made, other = changes(was, now), list(settings_that_differ(was, now))
    if run.output.json:
        run.output.document({"settings": other, "changes": finite([asdict(change) for change in made])})
        return
    print(aligned(change_table(made)))
    for line in other:
        print(f"* {in_line(line)}")


@verb(
    "mnemic bench ablate multihop=questions.jsonl --stages links --embedder none",
    "mnemic bench ablate locomo=locomo10.json --stages links,speaker --limit 2 --embedder none --json",
    "mnemic bench ablate locomo=locomo10.json --strategies mem0 --limit 2 --embedder none",
)
@click.argument("task", type=WORDS)
@click.option("--stages", type=NAMES, help="Of recall, by commas; A+B for both at once (left out: each).")
@click.option(
    "--strategies", type=NAMES, help="What each of these asks a model, a task at a time (with --stages: both)."
)
@click.option(
    "--data", type=FILE, default=Path("data"), show_default=True, help="Folder of the data, for a task without =FILE."
)
@_running
def ablate(
    task: str, stages: Sequence[str] | None, strategies: Sequence[str] | None, data: Path, reader: str, **how: Any
) -> None:
    """What a stage of recall, or what a strategy asks a model, is worth at TASK: points that are lost without it, for
    each millisecond and each call that it takes.

    Points and times are paired, question by question, with intervals. With --strategies rules judge what is left out,
    in place of --reader; where none is named that is `copying`, a script by which calls are counted and no more.
    """
    from mnemic.core.queries import Stage
    from mnemic.lab.contestants.mnemic_contestant import WHOLE, WITHOUT
    from mnemic.lab.contestants.strategy_contestant import without_each_task
    from mnemic.lab.kit.contestant import COPYING
    from mnemic.models.model_opening import NONE

    rows = [WHOLE, *(f"{WITHOUT}{stage}" for stage in stages or Stage)] if stages or not strategies else []
    if strategies:
        reader = COPYING if reader == NONE else reader
        rows += without_each_task(strategies)
    _run(dict([_placed(task, data)]), rows, reader=reader, **how)


@verb(
    "mnemic bench tune multihop=questions.jsonl --embedder none --numbers new,by_words.window --folds 2",
    "mnemic bench tune locomo=locomo10.json --limit 2 --embedder none --numbers of_several --folds 2 --json",
)
@click.argument("tasks", type=NAMES)
@click.option("--numbers", type=NAMES, help="Which are moved, by commas, such as `marks.dense` (left out: eleven).")
@click.option("--times", type=NAMES, help="How many times its own value each is put to, by commas.")
@click.option("--folds", type=click.IntRange(2), help="Into how many parts questions are dealt (left out: 6).")
@options.count("--steps", 3, "How many numbers may be moved, one after the other.")
@click.option(
    "--data", type=FILE, default=Path("data"), show_default=True, help="Folder of the data of tasks without =FILE."
)
@options.limit()
@options.embedder()
@options.cache
@options.seed()
@click.option("--markdown", is_flag=True, help="Tables for a page.")
@click.option("--out", type=FILE, help="A log of what each setting came to: the same is not measured twice.")
def tune(
    tasks: Sequence[str],
    data: Path,
    numbers: Sequence[str] | None,
    times: Sequence[str] | None,
    embedder: str,
    cache: Path | None,
    markdown: bool,
    out: Path | None,
    **how: Any,
) -> None:
    """Whether other numbers of recall do better at all TASKS: chosen without some conversations, held to those.

    A setting by which a task would lose more than a point is refused. Each memory is taken in once, and what a question
    gathers is kept, so that a setting costs milliseconds a question. Nothing is changed.
    """
    from mnemic.lab.kit.tables import aligned, finite, piped
    from mnemic.lab.kit.tuning import alone_table, change_table, choice_table, verdict
    from mnemic.lab.tasks.tune_bench import TunePlan, bench_tune

    run = invocation()
    given = {"numbers": numbers, "times": None if times is None else tuple(map(_factor, times)), **how}
    plan = TunePlan(tasks=_all_placed(tasks, data), means=_means(run, embedder, cache), **options.without_none(given))
    again = "nothing is kept; with --out LOG the same command goes on where it was stopped"
    kept = again if out is None else f"settings that were measured are kept in {out}: the same command goes on"
    with saying_what_is_kept(nothing=kept), progress(run) as report_progress:
        made = bench_tune(plan, out, progress=report_progress)
    if run.output.json:
        alone = [{"numbers": dict(setting), "points": gains} for setting, gains in made.alone.items()]
        whole = {**asdict(replace(made, alone={})), "alone": alone, "wins": made.wins, "verdict": verdict(made)}
        run.output.document({name: finite(value) for name, value in whole.items()})
        return
    for table in (change_table(made), choice_table(made), alone_table(made)):
        print(f"{(piped if markdown else aligned)(table)}\n")
    print(f"{made.tried} settings: {verdict(made)}")


def _factor(text: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise Invalid("times", f"{text!r} is no number", "Give numbers by commas, such as 0.5,2.") from error


@verb("mnemic bench tasks", "mnemic bench tasks --json")
def tasks() -> None:
    """The tasks that there are, who can be asked to take part, and what is measured by commands of its own."""
    from mnemic.lab.entries import MEASUREMENTS, TASKS, offered, task

    run, listed = invocation(), [task(name) for name in TASKS]
    if run.output.json:
        about = {each.name: {"about": each.about, "rows": list(each.rows)} for each in listed}
        run.output.document({"tasks": about, "contestants": list(offered()), "measurements": dict(MEASUREMENTS)})
        return
    for each in listed:
        print(f"{each.name:20} {each.about}")
    print(f"\ncontestants: {', '.join(offered())}\n\nmeasured by commands of their own:")
    for command, what in MEASUREMENTS.items():
        print(f"  {command:34} {what}")


@verb("mnemic bench samples samples", "mnemic bench samples samples --seed 1 --json")
@click.argument("folder", type=FILE)
@options.seed("what is made up")
def samples(folder: Path, seed: int) -> None:
    """Write a small made-up sample of every published data set to FOLDER, each in its own form, to try a task on.

    `mnemic bench run dmr --data FOLDER/dmr` runs on one. A figure on them says nothing about a memory.
    """
    from mnemic.lab.kit.made_samples import write_samples

    run, written = invocation(), write_samples(folder, seed)
    if run.output.json:
        run.output.document({"files": [str(path) for path in written]})
        return
    for path in written:
        print(path)
