"""Helpers of commands that take long or measure: lists of names in options, bars on the terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import TYPE_CHECKING, Final

import click

from mnemic.faces.cli.invocation import Invocation

if TYPE_CHECKING:
    from mnemic.lab.kit.figures import Figure

BarReport = Callable[[str, int, int | None], None]
"""Takes the name of what goes on, how much is done, and of how much; None where nobody knows."""

MISSED: Final = 8
_BAR: Final = 24
_APART: Final = 10.0
"""Seconds between two lines that tell how far something is."""


def meter(used: int, of: int) -> str:
    """Draw how much of something is used, as a bar of characters."""
    full = min(_BAR, round(used / of * _BAR))
    return "█" * full + "░" * (_BAR - full)


def split_names(text: str) -> list[str]:
    """Split names that are separated by commas."""
    return [name.strip() for name in text.split(",") if name.strip()]


@contextmanager
def progress(run: Invocation, *, unit: str = "", lines: bool = False) -> Iterator[BarReport]:
    """Draw bars on a terminal's standard error, one for each name that progress is reported of.

    Elsewhere a person is told in lines, a program nothing.

    Args:
        unit: What is counted; "bytes" for sizes.
        lines: Where no bars are drawn, tell each tenth at once; else no line comes within some seconds of another.
    """
    if not run.output.draws:
        yield progress_lines(run.output.note, perf_counter, apart=0.0 if lines else _APART, unit=unit)
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TaskID, TimeRemainingColumn

    amount = DownloadColumn() if unit == "bytes" else "{task.fields[amount]}"
    columns = ("{task.description}", BarColumn(), amount, TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True, no_color=not run.output.color), transient=True) as shown:
        tasks: dict[str, TaskID] = {}

        def report(name: str, done: int, total: int | None) -> None:
            if name not in tasks:
                tasks[name] = shown.add_task(name, total=total, amount="")
            shown.update(tasks[name], completed=done, total=total, amount=_amount(done, total, unit))

        yield report


def _amount(done: int, total: int | None, unit: str) -> str:
    of = f" of {total:,}" if total else ""
    return f"{done:,}{of} {unit}".rstrip()


def progress_lines(
    tell: Callable[[str], None], clock: Callable[[], float], *, apart: float = 0.0, unit: str = ""
) -> BarReport:
    """Return what tells in lines how much is done of a name, at each tenth of it, and how long the rest may take.

    Args:
        apart: Seconds that no line of a name comes after another of it, or after the beginning; but the end is told of
            whatever a line has told of. Where some are, a line comes too once none has for six times as long, though a
            tenth is not done.
        unit: What is counted.
    """
    begun: dict[str, tuple[int, float]] = {}
    tenths: dict[str, int] = {}
    last: dict[str, float] = {}
    newest = clock()

    def report(name: str, done: int, total: int | None) -> None:
        nonlocal newest
        if done == begun.get(name, (done, 0.0))[0]:
            begun[name] = done, clock()  # until the first is done other things are, such as taking in
        first, since = begun[name]
        tenth = 10 * done // total if total else 0
        silent = clock() - last.setdefault(name, newest)
        ends = bool(total) and done == total and tenths.get(name, 10) < 10
        due = silent >= apart and (tenth > tenths.get(name, -1) or silent >= 6 * apart > 0)
        if not (ends or due):
            return
        tenths[name], newest = tenth, clock()
        last[name] = newest
        left = ""
        if total and first < done < total:
            seconds = (clock() - since) / (done - first) * (total - done)
            left = f", {seconds / 60:,.0f} min left at most" if seconds >= 90 else f", {seconds:.0f} s left at most"
        tell(f"{name}: {_amount(done, total, unit)}{left}")

    return report


@contextmanager
def saying_what_is_kept(kept: str = "", nothing: str = "nothing is kept") -> Iterator[None]:
    """Say in the line of an interrupt what is kept, and how to go on.

    Args:
        kept: Where a log was begun, with `{log}` where its path stands; "" for a log that is gone afterwards.
        nothing: Where none was.
    """
    from mnemic.lab.kit.log import InterruptedRun

    try:
        yield
    except InterruptedRun as stop:
        raise click.Abort(kept.format(log=stop.log) if kept else nothing) from stop
    except KeyboardInterrupt as stop:
        raise click.Abort(nothing) from stop


def advancing(report: BarReport, name: str, total: int | None) -> Callable[[int], None]:
    """Return a function that moves the bar of a name on by so many."""
    done = 0

    def advance(more: int) -> None:
        nonlocal done
        done += more
        report(name, done, total)

    return advance


def hold_to_bars(figures: Iterable[Figure]) -> None:
    """Leave with an exit code of its own where a figure, shown by then, misses its bar."""
    if any(figure.met is False for figure in figures):
        click.get_current_context().exit(MISSED)
