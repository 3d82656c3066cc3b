"""`bench current`, `bench standing`, `bench small`: whether what holds now is found, answered, and always at hand."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from mnemic.errors import Invalid
from mnemic.faces.cli.bars import hold_to_bars, progress
from mnemic.faces.cli.bench import bench_options as options
from mnemic.faces.cli.bench.bench_options import NAMES, opened_embedder
from mnemic.faces.cli.command import verb
from mnemic.faces.cli.invocation import invocation

held_back = click.option("--held-back", is_flag=True, help="The half that nobody who builds looks at: figures alone.")


@verb(
    "mnemic bench current --embedder none --limit 2",
    "mnemic bench current --embedder none --limit 1 --kinds ended --failures 3",
)
@held_back
@options.limit("cases of each language")
@click.option("--kinds", type=NAMES, default=(), help="Only these kinds of cases, by commas.")
@click.option("--langs", type=NAMES, default=(), help="Only these languages: en, zh.")
@click.option("--by-time", is_flag=True, help="Take turns in by their dates, and not as the file has them.")
@click.option("--by", type=click.Choice(["kind", "type"]), help="Rows by kinds in each language, or types of answers.")
@click.option("--failures", type=click.IntRange(1), help="Show so many questions that failed, and why.")
@options.embedder()
@options.cache
@options.plots
@options.seed("the talk around the cases, and of the bootstrap")
def current(
    held_back: bool,
    by: str | None,
    failures: int | None,
    embedder: str,
    cache: Path | None,
    plots: Path | None,
    seed: int,
    kinds: Sequence[str],
    langs: Sequence[str],
    **asked: Any,
) -> None:
    """Facts that change, amid talk of other things: what is current first, said by the right person, and answered.

    Plain BM25 stands beside it. A bar that is missed decides the exit code where the whole half that was held back is
    asked.
    """
    if held_back and failures:
        raise Invalid("failures", "shows what was held back", "Look at failures of the other half.")
    from mnemic.lab.tasks.current import current_report as report
    from mnemic.lab.tasks.current.current_bench import CurrentPlan, bench_current
    from mnemic.lab.tasks.current.current_cases import Half

    run = invocation()
    half = Half.HELD_BACK if held_back else Half.DEVELOPMENT
    plan = CurrentPlan(half=half, kinds=tuple(kinds), langs=tuple(langs), seed=seed, **asked)
    with progress(run) as report_progress:
        results = bench_current(plan, embedder=opened_embedder(run, embedder, cache), progress=report_progress)
    report.show(results, plan, sys.stdout, as_json=run.output.json, by=by or "")
    if failures:
        report.write_failures(results, failures, sys.stdout)
    if plots is not None:
        from mnemic.lab.tasks.current.current_plots import draw

        run.output.note(f"drawn: {draw(results, plots)}")
    if held_back and not (kinds or langs or plan.limit):
        hold_to_bars(report.figures(results, seed))


@verb("mnemic bench standing --embedder none --limit 5", "mnemic bench standing --embedder none --limit 5 --failures 3")
@held_back
@click.option("--training", is_flag=True, help="The sentences that weights were learned from.")
@options.limit("instructions and distractors of each language")
@click.option("--failures", type=click.IntRange(1), help="Show so many sentences of each sort that failed.")
@options.embedder()
@options.cache
@options.seed()
def standing(
    held_back: bool,
    training: bool,
    limit: int | None,
    failures: int | None,
    embedder: str,
    cache: Path | None,
    seed: int,
) -> None:
    """Standing instructions: found in the context block, distractors that stand there, withdrawn ones still shown.

    A bar that is missed decides the exit code where all that was held back is said.
    """
    if held_back and training:
        raise Invalid("training", "is not what is held back", "Give one of the two.")
    if held_back and failures:
        raise Invalid("failures", "shows what was held back", "Look at failures of the other half.")
    from mnemic.lab.tasks import standing_bench as bench
    from mnemic.lab.tasks.current.current_cases import Half

    run = invocation()
    half = Half.HELD_BACK if held_back else Half.TRAINING if training else Half.DEVELOPMENT
    with progress(run) as report_progress:
        reader = opened_embedder(run, embedder, cache)
        results = bench.bench_standing(half, limit=limit, embedder=reader, progress=report_progress)
        dialogues = bench.bench_dialogues(limit=limit, embedder=reader) if half is Half.DEVELOPMENT else ()
    bench.show(results, sys.stdout, dialogues=dialogues, seed=seed, as_json=run.output.json)
    if failures:
        bench.write_failures(results, failures, sys.stdout)
    if held_back and limit is None:
        hold_to_bars(bench.figures(results, seed))


@verb("mnemic bench small --embedder none --each 1", "mnemic bench small --embedder none --each 1 --failures 2")
@options.count("--each", 20, "Cases of each category in each language.")
@click.option(
    "--everyday",
    type=click.Choice(["build", "check", "voices", "lives", "lives_check", "long", "long_check", "pair"]),
    help="Ask people's memories of their lives instead.",
)
@click.option("--failures", type=click.IntRange(1), help="Show so many memories whose right statement is not first.")
@options.embedder()
@options.cache
@options.seed("the memories, and of the bootstrap")
def small(each: int, everyday: str | None, failures: int | None, embedder: str, cache: Path | None, seed: int) -> None:
    """Ten short statements, asked in one step and in two, with noise, of one word each; and next to no statements.

    Plain BM25 stands beside it. A bar that is missed decides the exit code where 200 cases or more are asked.
    With --everyday, what people tell of their ordinary lives, asked for an answer: built on, only checked,
    more voices and lives by other hands, and long ones of most of a year.
    """
    from mnemic.lab.tasks.small import small_bench as bench

    run = invocation()
    if everyday is not None:
        _everyday(everyday, failures, embedder, cache, seed)
        return
    with progress(run) as report_progress:
        reader = opened_embedder(run, embedder, cache)
        results = bench.bench_small(seed=seed, each=each, embedder=reader, progress=report_progress)
    bench.show(results, sys.stdout, seed=seed, as_json=run.output.json)
    if failures:
        bench.write_failures(results, failures, sys.stdout)
    if each >= 20:
        hold_to_bars(bench.figures(results, seed))


def _everyday(part: str, failures: int | None, embedder: str, cache: Path | None, seed: int) -> None:
    from mnemic.lab.tasks.small import everyday_bench as bench
    from mnemic.lab.tasks.small.everyday_cases import EverydayPart

    run = invocation()
    with progress(run) as report_progress:
        reader = opened_embedder(run, embedder, cache)
        results = bench.bench_everyday(EverydayPart(part), embedder=reader, progress=report_progress)
    bench.show(results, sys.stdout, seed=seed, as_json=run.output.json)
    if failures:
        bench.write_failures(results, failures, sys.stdout)
