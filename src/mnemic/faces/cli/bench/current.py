"""`bench current`, `bench standing`, `bench small`: whether what holds now is found, answered, and always at hand.

Each is a run of one task, by its own rows, with its own tables.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from mnemic.errors import Invalid
from mnemic.faces.cli.bars import hold_to_bars
from mnemic.faces.cli.bench import bench_options as options
from mnemic.faces.cli.bench.bench_options import NAMES
from mnemic.faces.cli.bench.bench_runs import apart, run_alone
from mnemic.faces.cli.command import verb
from mnemic.faces.cli.invocation import invocation

held_back = click.option("--held-back", is_flag=True, help="The half that nobody who builds looks at: figures alone.")


@verb(
    "mnemic bench current --embedder none --limit 2 --here",
    "mnemic bench current --embedder none --limit 1 --kinds ended --failures 3 --here",
    "mnemic bench current --check --embedder none --limit 1 --langs zh --here",
)
@held_back
@click.option("--check", is_flag=True, help="Cases by two more hands, of which nothing is learned.")
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
@apart
def current(
    held_back: bool,
    check: bool,
    limit: int | None,
    kinds: Sequence[str],
    langs: Sequence[str],
    by_time: bool,
    by: str | None,
    failures: int | None,
    plots: Path | None,
    seed: int,
    **how: Any,
) -> None:
    """Facts that change, amid talk of other things: what is current first, said by the right person, and answered.

    Plain BM25 stands beside it; it is `run current`. A bar that is missed decides the exit code where the whole half
    that was held back is asked.
    """
    if held_back and check:
        raise Invalid("check", "goes with no --held-back", "Ask one of them at a time.")
    if failures and (held_back or check):
        shown = "was held back" if held_back else "only checks"
        raise Invalid("failures", f"shows what {shown}", "Look at failures of the half for development: leave it out.")
    from mnemic.lab.tasks.current import current_report as report
    from mnemic.lab.tasks.current.current_cases import CurrentPlan, Half
    from mnemic.lab.tasks.current.current_outcomes import current_outcomes
    from mnemic.lab.tasks.current_task import CurrentTask

    run = invocation()
    half = Half.HELD_BACK if held_back else Half.CHECK if check else Half.DEVELOPMENT
    plan = CurrentPlan(half=half, limit=limit, kinds=tuple(kinds), langs=tuple(langs), by_time=by_time, seed=seed)
    results = current_outcomes(run_alone(CurrentTask(plan=plan), seed=seed, secret=held_back, **how), "mnemic")
    report.show(results, plan, sys.stdout, as_json=run.output.json, by=by or "")
    if failures:
        report.write_failures(results, plan, failures, sys.stdout)
    if plots is not None:
        from mnemic.lab.tasks.current.current_plots import draw

        run.output.note(f"drawn: {draw(results, plots)}")
    if held_back and not (kinds or langs or limit):
        hold_to_bars(report.figures(results, seed))


@verb(
    "mnemic bench standing --embedder none --limit 5 --here",
    "mnemic bench standing --embedder none --limit 5 --failures 3 --here",
)
@held_back
@click.option("--training", is_flag=True, help="The sentences that weights were learned from.")
@options.limit("instructions and distractors of each language")
@click.option("--failures", type=click.IntRange(1), help="Show so many sentences of each sort that failed.")
@options.embedder()
@options.cache
@options.seed()
@apart
def standing(held_back: bool, training: bool, limit: int | None, failures: int | None, seed: int, **how: Any) -> None:
    """Standing instructions: found in the context block, distractors that stand there, withdrawn ones still shown.

    It is `run standing --with mnemic`. A bar that is missed decides the exit code where all that was held back is said.
    """
    if held_back and training:
        raise Invalid("training", "is not what is held back", "Give one of the two.")
    if held_back and failures:
        raise Invalid("failures", "shows what was held back", "Look at failures of the other half.")
    from mnemic.lab.tasks import standing_bench as bench
    from mnemic.lab.tasks.current.current_cases import Half
    from mnemic.lab.tasks.standing_task import StandingTask

    run = invocation()
    half = Half.HELD_BACK if held_back else Half.TRAINING if training else Half.DEVELOPMENT
    task = StandingTask(half=half, limit=limit, rows=("mnemic",))
    made = run_alone(task, seed=seed, secret=held_back, **how)
    results, dialogues = bench.standing_outcomes(made, "mnemic"), bench.dialogue_outcomes(made, "mnemic")
    bench.show(results, sys.stdout, dialogues=dialogues, seed=seed, as_json=run.output.json)
    if failures:
        bench.write_failures(results, failures, sys.stdout)
    if held_back and limit is None:
        hold_to_bars(bench.figures(results, seed))


@verb(
    "mnemic bench small --embedder none --each 1 --here",
    "mnemic bench small --embedder none --each 1 --failures 2 --here",
)
@options.count("--each", 20, "Cases of each category in each language.")
@click.option(
    "--everyday",
    type=click.Choice(
        [
            *("build", "check", "voices", "lives", "lives_check", "long", "long_check", "pair"),
            *("indirect", "indirect_check", "streams", "streams_check", "changing", "changing_check"),
            *("logs", "logs_check"),
            *("news", "news_check", "newcomers", "newcomers_check"),
        ]
    ),
    help="Ask people's memories of their lives instead.",
)
@click.option("--failures", type=click.IntRange(1), help="Show so many memories whose right statement is not first.")
@options.embedder()
@options.cache
@options.seed("the memories, and of the bootstrap")
@apart
def small(each: int, everyday: str | None, failures: int | None, seed: int, **how: Any) -> None:
    """Ten short statements, asked in one step and in two, with noise, of one word each; and next to no statements.

    Plain BM25 stands beside it; it is `run small`. A bar that is missed decides the exit code where 200 cases or more
    are asked. With --everyday (`run everyday`), what people tell of their ordinary lives, asked for an answer: built
    on, only checked, more voices and lives by other hands, long ones of most of a year, mostly idle talk, short
    logs full of look-alikes, and lives whose news leaves much as it was.
    """
    from mnemic.lab.tasks.small import small_bench as bench
    from mnemic.lab.tasks.small_task import SmallTask

    run = invocation()
    if everyday is not None:
        _everyday(everyday, failures, seed, **how)
        return
    results = bench.small_outcomes(run_alone(SmallTask(each=each, seed=seed), seed=seed, **how), "mnemic")
    bench.show(results, sys.stdout, seed=seed, as_json=run.output.json)
    if failures:
        bench.write_failures(results, failures, sys.stdout)
    if each >= 20:
        hold_to_bars(bench.figures(results, seed))


def _everyday(part: str, failures: int | None, seed: int, **how: Any) -> None:
    from mnemic.lab.tasks.everyday_task import EverydayTask
    from mnemic.lab.tasks.small import everyday_bench as bench
    from mnemic.lab.tasks.small.everyday_cases import EverydayPart

    task = EverydayTask(part=EverydayPart(part), rows=("mnemic",))
    results = bench.everyday_outcomes(run_alone(task, seed=seed, **how), "mnemic")
    bench.show(results, sys.stdout, seed=seed, as_json=invocation().output.json)
    if failures:
        bench.write_failures(results, failures, sys.stdout)
