"""What commands that fill or measure something share: lists in their options, and bars on the terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import click

from mnemic.faces.cli.invocation import Invocation

if TYPE_CHECKING:
    from mnemic.lab.kit.figures import Figure

MISSED: Final = 8
_BAR: Final = 24


def meter(used: int, of: int) -> str:
    """How much of something is used, as a bar of its own."""
    full = min(_BAR, round(used / of * _BAR))
    return "█" * full + "░" * (_BAR - full)


def listed(text: str) -> list[str]:
    """Names separated by commas."""
    return [name.strip() for name in text.split(",") if name.strip()]


@contextmanager
def progress(run: Invocation) -> Iterator[Callable[[str, int, int], None]]:
    """A bar for each system on a terminal's standard error; silence elsewhere."""
    if run.output.json or not sys.stderr.isatty():
        yield lambda system, done, total: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True, no_color=not run.output.color), transient=True) as bar:
        tasks: dict[str, object] = {}

        def tell(system: str, done: int, total: int) -> None:
            if system not in tasks:
                tasks[system] = bar.add_task(system, total=total)
            bar.update(tasks[system], completed=done, total=total)  # type: ignore[arg-type]

        yield tell


def hold_to_bars(figures: Iterable[Figure]) -> None:
    """Leave with an exit code of its own where a figure, shown by then, misses its bar."""
    if any(figure.met is False for figure in figures):
        click.get_current_context().exit(MISSED)
