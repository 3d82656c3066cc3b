"""`bench session`, `bench paging`, `bench retention-train`: what small windows cost, and which page leaves first."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mnemic.core.checking import did_you_mean
from mnemic.errors import Invalid
from mnemic.faces.cli.bars import hold_to_bars, progress, split_names
from mnemic.faces.cli.bench import bench_options as options
from mnemic.faces.cli.bench.bench_options import FILE, NAMES
from mnemic.faces.cli.command import WORDS, verb
from mnemic.faces.cli.invocation import Invocation, invocation

if TYPE_CHECKING:
    from mnemic.lab.kit.run import Progress
    from mnemic.lab.tasks.paging.paging_bench import PagingPlan, PagingRow
    from mnemic.lab.tasks.session.prefix import PrefixReuse
    from mnemic.lab.tasks.session.session_bench import LongTalk


@verb(
    "mnemic bench session --tokens 20000",
    "mnemic bench session --tokens 20000 --csv stretches.csv --json",
    "mnemic bench session locomo10.json --skip-long --limit 5 --policy lru,arc",
    name="session",
)
@click.argument("path", type=click.Path(path_type=Path, exists=True, dir_okay=False), required=False)
@options.count("--tokens", 1_000_000, "Of the long talk.", least=10_000)
@options.count("--budget", 4_000, "Tokens of the window.", least=256)
@options.count("--every", 4, "Turns between two questions.")
@click.option("--policy", type=WORDS, help="Which page leaves first; for PATH several, separated by commas.")
@options.limit("questions of PATH")
@click.option("--skip-long", is_flag=True, help="Only the conversations of PATH.")
@click.option("--csv", "sheet", type=FILE, help="The stretches of the long talk, as a sheet.")
@options.embedder("none", "For PATH; `auto`: the best there is.")
@options.seed("the talk, and of when questions are asked")
def session(
    path: Path | None,
    tokens: int,
    budget: int,
    every: int,
    policy: str | None,
    limit: int | None,
    skip_long: bool,
    sheet: Path | None,
    embedder: str,
    seed: int,
) -> None:
    """A talk of a million tokens in a small window; and, of LoCoMo at PATH, how much of each window is reused.

    A bar that is missed decides the exit code where as much is measured as the bars are stated for.
    """
    if path is None and (skip_long or limit is not None):
        raise Invalid("path", "is missing", "Name the conversations, or leave --skip-long and --limit out.")
    from mnemic.lab.tasks.session.session_report import figures, show, write_csv

    run = invocation()
    named = split_names(policy or run.settings.policy)
    with progress(run) as report_progress:
        long = None if skip_long else _spoken(tokens, budget, every, named[0], seed, report_progress)
        played = [] if path is None else _played(run, path, named, budget, embedder, seed, limit, report_progress)
    if sheet is not None and long is not None:
        write_csv(long, sheet)
    must = figures(long, played, budget=budget, whole=limit is None)
    show(long, played, must, sys.stdout, as_json=run.output.json)
    hold_to_bars(must)


def _spoken(tokens: int, budget: int, every: int, policy: str, seed: int, progress: Progress) -> LongTalk:
    from tempfile import TemporaryDirectory

    from mnemic.lab.tasks.session.session_bench import long_talk

    with TemporaryDirectory() as folder:
        where = str(Path(folder) / "memory.db")
        return long_talk(where, tokens=tokens, budget=budget, every=every, policy=policy, seed=seed, progress=progress)


def _played(
    run: Invocation,
    path: Path,
    policies: list[str],
    budget: int,
    embedder: str,
    seed: int,
    limit: int | None,
    progress: Progress,
) -> list[PrefixReuse]:
    from mnemic.lab.kit.datasets import load
    from mnemic.lab.tasks.session.prefix import prefix
    from mnemic.models.model_opening import open_embedder

    reader, data = open_embedder(embedder, run.settings), load(path)
    return [
        prefix(data, budget=budget, policy=policy, seed=seed, embedder=reader, progress=progress, limit=limit)
        for policy in policies
    ]


@verb(
    "mnemic bench paging --families loop,scan --policies lru,window,adaptive --draws 1 --capacity 0.1",
    "mnemic bench paging locomo10.json --families after,spread --policies lru,learned --json",
    "mnemic bench paging --families shifting --draws 1 --policies lru --capacity 0.1 --save shifting.jsonl",
)
@click.argument("paths", nargs=-1, type=FILE)
@click.option("--families", type=NAMES, help="Left out: all; those of conversations need PATHS.")
@options.conversations
@click.option("--capacity", type=WORDS, default="0.05,0.1,0.2", show_default=True, help="Shares of a trace's pages.")
@click.option("--policies", type=NAMES, help="Only these; lru is the baseline in any case.")
@options.count("--prefetch", 0, "Pages fetched behind a fault.", least=0)
@click.option("--tokens", "by_tokens", is_flag=True, help="A window in tokens, beside a bound for the optimum.")
@options.count("--draws", 3, "Traces drawn of each family.")
@options.limit("questions of each file")
@click.option("--trace", type=FILE, multiple=True, help="A trace of your own (JSONL); repeatable.")
@click.option("--save", type=FILE, help="Write the traces here.")
@click.option("--csv", "sheet", type=FILE, help="Write the figures here.")
@options.plots
@options.seed("traces, policies and bootstrap")
def paging(
    paths: tuple[Path, ...],
    families: Sequence[str] | None,
    conversations: Sequence[str],
    capacity: str,
    policies: Sequence[str] | None,
    trace: tuple[Path, ...],
    save: Path | None,
    sheet: Path | None,
    plots: Path | None,
    **plan: Any,
) -> None:
    """Hit rates of replacement policies beside Belady's optimum.

    PATHS hold conversations with questions (LoCoMo's json, unified jsonl). A bar that is missed decides the exit code,
    where all families and both baselines are measured at the usual capacities.
    """
    from mnemic.lab.tasks.paging import paging_bench as lab
    from mnemic.lab.tasks.paging import traces

    run = invocation()
    wanted = lab.PagingPlan(
        policies=_policies(policies), capacities=_capacities(capacity), conversations=tuple(conversations), **plan
    )
    chosen = list(families) if families else [] if trace and not paths else list(lab.FAMILIES)
    with progress(run) as report_progress:
        every = list(lab.gather(paths, trace, chosen, wanted, report_progress))
        if save is not None:
            traces.save(every, save)
        rows = lab.measure(every, wanted, report_progress)
    _show(run, rows, wanted, sheet, plots)


def _show(run: Invocation, rows: Sequence[PagingRow], plan: PagingPlan, sheet: Path | None, plots: Path | None) -> None:
    from mnemic.lab.tasks.paging import paging_report

    paging_report.show(rows, plan, sys.stdout, as_json=run.output.json)
    if sheet is not None:
        paging_report.write_csv(rows, sheet)
    if plots is not None:
        from mnemic.lab.tasks.paging.paging_plots import draw

        for path in draw(rows, plots):
            run.output.note(f"drawn: {path}")
    hold_to_bars(paging_report.bars(rows, plan))


@verb("mnemic bench retention-train locomo10.json --out learned.json --updates 1 --rollouts 2 --draws 1")
@click.argument("paths", nargs=-1, required=True, type=FILE)
@options.conversations
@click.option("--out", type=FILE, required=True, help="Where the weights go.")
@options.count("--updates", 60, "Steps of the weights.")
@options.count("--rollouts", 16, "Replays in a group.", least=2)
@options.count("--draws", 5, "Traces drawn of each family.")
@click.option("--from-nothing", is_flag=True, help="Do not start from the law made by hand.")
@options.seed("the rollouts")
def retention_train(
    paths: tuple[Path, ...], conversations: Sequence[str], out: Path, draws: int, from_nothing: bool, **steps: int
) -> None:
    """Train the policy `learned` on conversations with questions; seed 0 of their traces is never seen."""
    from mnemic.lab.tasks.paging import dialogues, paging_bench, retention_training

    run = invocation()
    recipe = retention_training.Recipe(by_hand=not from_nothing, **steps)
    plan = paging_bench.PagingPlan(draws=draws, conversations=tuple(conversations), seed=1)
    every = list(paging_bench.gather(paths, (), list(dialogues.GOLD), plan))
    with progress(run) as report_progress:
        weights = retention_training.train(every, recipe, report_progress)
    retention_training.write(weights, recipe, sorted({trace.name for trace in every}), out)
    run.output.note(f"weights: {out}")


def _policies(names: Sequence[str] | None) -> tuple[str, ...]:
    from mnemic.registry import POLICIES

    chosen = tuple(POLICIES) if names is None else tuple(names)
    for name in chosen:
        if name not in POLICIES:
            raise Invalid("policies", f"{name!r} is not one", did_you_mean(name, POLICIES))
    return chosen


def _capacities(text: str) -> tuple[float, ...]:
    try:
        shares = tuple(float(share) for share in split_names(text))
    except ValueError as error:
        raise Invalid("capacity", f"{text!r} is no list of shares", "Write 0.05,0.1.") from error
    if not shares or not all(0 < share <= 1 for share in shares):
        raise Invalid("capacity", f"{text!r} has a share outside 0 to 1", "Write 0.05,0.1.")
    return shares
