"""`top`: what a store's processes do just now, live in a terminal, once, or as lines for programs."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Final

import click

from mnemic.core.clock import moment
from mnemic.faces.cli.command import verb
from mnemic.faces.cli.commands.worker import lane_row
from mnemic.faces.cli.invocation import Invocation, invocation
from mnemic.faces.cli.output import Output, flat, freed, many, size
from mnemic.models.model_requests import JudgedBy
from mnemic.operations.vitals_records import look_record, prompt_work_record
from mnemic.watching.metering import Sort

if TYPE_CHECKING:
    from mnemic.admin import Behind
    from mnemic.memory import Memory
    from mnemic.watching.metering import Histogram
    from mnemic.watching.vitals import Process, Vitals, WindowUse

_EVERY: Final = 2.0
"""Seconds between two looks."""

_VERBS: Final = 12
"""Most verbs that are shown live, those that take the most time first."""


@verb("mnemic top --once", "mnemic top --once --json")
@click.option("--every", type=click.FloatRange(0.1), help="Seconds between two looks (left out: 2).")
@click.option("--once", is_flag=True, help="One look, as in a pipe.")
def top(every: float | None, *, once: bool) -> None:
    """What the programs that use this store do just now.

    Commits and verbs a second, how long they take, what waits, how full the windows of sessions are, what the file
    holds. Figures of other processes are those they wrote with their last commit. Ctrl-C ends it. In a pipe it is one
    look; with --json and --every a line each time, for a program that reads on.
    """
    run = invocation()
    with run.memory() as memory, suppress(KeyboardInterrupt):
        if once or (run.output.columns is None and (every is None or not run.output.json)):
            _once(run, memory)
        elif run.output.json:
            for vitals, behind in _looks(memory, every or _EVERY):
                run.output.record(look_record(vitals, behind))
        else:
            _live(run, memory, every or _EVERY)


def _look(memory: Memory) -> tuple[Vitals, list[Behind]]:
    return memory.admin.vitals(), memory.admin.behind()


def _looks(memory: Memory, every: float) -> Iterator[tuple[Vitals, list[Behind]]]:
    while True:
        yield _look(memory)
        time.sleep(every)


def _once(run: Invocation, memory: Memory) -> None:
    vitals, behind = _look(memory)
    if run.output.json:
        run.output.document(look_record(vitals, behind))
    else:
        for line in lines(run, vitals, behind):
            run.output.line(line)


def _live(run: Invocation, memory: Memory, every: float) -> None:
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    console = Console(no_color=not run.output.color, highlight=False)
    with Live(console=console, screen=True, auto_refresh=False) as shown:
        for vitals, behind in _looks(memory, every):
            text = Text.from_ansi("\n".join(lines(run, vitals, behind)), no_wrap=True, overflow="ellipsis")
            shown.update(text, refresh=True)


def lines(run: Invocation, vitals: Vitals, behind: list[Behind]) -> list[str]:
    """Write one look for a person, as lines."""
    output = run.output
    title = f"{output.bold('mnemic top')}  {flat(run.shown_where)}  {output.dim(f'{moment(vitals.at):%H:%M:%S} UTC')}"
    rows = [
        ("commits", f"{vitals.commits:,} in all, {vitals.commits_per_second:.1f} a second"),
        ("windows", _windows(vitals)),
        *((("lanes" if place == 0 else ""), ": ".join(lane_row(part))) for place, part in enumerate(behind)),
        *([("models", _models(vitals))] if vitals.gauge("models.calls") else []),
        *([("prompts", prompt_line(vitals))] if vitals.gauge("kv.prompts") else []),
        *([("judged", value)] if (value := _judged(vitals)) else []),
        ("jobs", ", ".join(f"{count:,} {state}" for state, count in sorted(vitals.jobs.items())) or "none"),
        ("collected", _collected(vitals)),
        ("file", f"{size(vitals.bytes)}, of it {size(vitals.free)} free and {size(vitals.log)} log"),
        *((("processes" if place == 0 else ""), _process(part)) for place, part in enumerate(vitals.processes)),
    ]
    return [title, "", *(f"{output.dim(f'{name:<10}')}{value}" for name, value in rows), "", *_table(output, vitals)]


def _windows(vitals: Vitals) -> str:
    held: WindowUse = vitals.windows
    if not held.known:
        return "no session has one yet"
    summary = f"{held.sessions} open of {held.known}"
    if held.sessions:
        summary += f": {held.tokens:,} of {held.budget:,} tokens ({held.share:.0%}), {many(held.pages, 'page')}"
    uses = vitals.gauge("windows.references")
    if uses:
        hits, faults, evicted = (vitals.gauge(f"windows.{name}") for name in ("hits", "faults", "evictions"))
        summary += f"; {hits / uses:.0%} hits, {faults:,.0f} faults, {evicted:,.0f} evictions"
        summary += f", {vitals.gauge('windows.write_backs'):,.0f} write-backs"
    if rendered := vitals.gauge("windows.rendered"):
        summary += f", {vitals.gauge('windows.reused') / rendered:.0%} of the tokens reused"
    return summary


def _models(vitals: Vitals) -> str:
    calls, failed, flying, asked, answered = (
        int(vitals.gauge(f"models.{name}"))
        for name in ("calls", "failed", "in_flight", "prompt_tokens", "answer_tokens")
    )
    summary = f"{many(calls, 'call')}, {failed:,} failed, {flying:,} under way"
    return f"{summary}; {asked:,} tokens of prompts, {answered:,} of answers (`mnemic stats --models`: since ever)"


def prompt_line(vitals: Vitals) -> str:
    """Say what local engines had of prompts and had to read, and why they had nothing where they had not."""
    work = prompt_work_record(vitals)
    asked = work["prefilled"] + work["reused"]
    summary = f"{many(work['prompts'], 'prompt')} of {many(asked, 'token')}: {work['prefilled']:,} read"
    summary += f", {work['reused']:,} had; {many(work['hits'], 'hit')}"
    if work["misses"]:
        reasons = ", ".join(f"{count:,} {flat(reason)}" for reason, count in work["missed"].items())
        summary += f", {work['misses']:,} missed ({reasons})"
    summary += f"; first word after {work['first_token_milliseconds']:,.0f} ms"
    return f"{summary}; {work['held']:,} held, {size(work['bytes'])} kept"


def _judged(vitals: Vitals) -> str:
    """Say who judged the tasks of strategies, since each process opened the store; "" where none was judged."""
    counts: Counter[str] = Counter()
    for process in vitals.processes:
        for name, count in process.measured.gauges.items():
            if name.startswith("judged."):
                counts[name.rpartition(".")[2]] += int(count)
    if not counts:
        return ""
    repaired, unsound, over, alone = (
        counts[by] for by in (JudgedBy.REPAIR, JudgedBy.RULES, JudgedBy.RULES_BY_BUDGET, JudgedBy.RULES_ALONE)
    )
    summary = f"{many(counts[JudgedBy.ANSWER] + repaired, 'task')} by a model, {repaired:,} of them repaired"
    return f"{summary}; by rules {unsound:,} for no answer was sound, {over:,} over budget, {alone:,} without a model"


def _collected(vitals: Vitals) -> str:
    last = vitals.collected
    if last is None:
        return "nothing yet"
    run = f"{_span((vitals.at - last.at) / 1e6)} ago ({flat(last.trigger)}): {many(last.items, 'item')} retired"
    return f"{run}, {freed(last.freed)}, longest pause {milliseconds(last.pause)}"


def _process(process: Process) -> str:
    ago = "now" if process.age < 1 else f"{process.age:,.0f} s ago"
    return f"{process.measured.pid}, open for {_span(process.measured.seconds)}, said so {ago}"


def _span(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def _table(output: Output, vitals: Vitals) -> list[str]:
    """Write a row for each verb, then for each lane, the most costly first."""
    head = f"{'':<24}{'a second':>9}{'count':>10}{'p50':>10}{'p95':>10}{'longest':>10}{'failed':>8}"
    rows = [
        _row(name, vitals.rate(name, sort), timed)
        for sort in (Sort.VERB, Sort.RUN)
        for name, timed in sorted(vitals.timed(sort).items(), key=lambda pair: -pair[1].total)[:_VERBS]
    ]
    return [output.dim(head), *rows] if rows else [output.dim("no process has said yet what it does")]


def _row(name: str, rate: float, timed: Histogram) -> str:
    took = "".join(
        f"{milliseconds(quantile):>10}" for quantile in (timed.quantile(0.5), timed.quantile(0.95), timed.longest)
    )
    return f"{flat(name):<24}{rate:>9.1f}{timed.count:>10,}{took}{timed.failed:>8,}"


def milliseconds(seconds: float) -> str:
    """Write a duration in milliseconds, to three figures."""
    ms = seconds * 1000
    return f"{ms:,.0f} ms" if ms >= 100 else f"{ms:.3g} ms"
