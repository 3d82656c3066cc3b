"""What every long command of the laboratory shares: lists in its options, and a bar on the terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from mnemic.faces.errand import Errand


def listed(text: str) -> list[str]:
    """Names separated by commas."""
    return [name.strip() for name in text.split(",") if name.strip()]


@contextmanager
def progress(run: Errand) -> Iterator[Callable[[str, int, int], None]]:
    """A bar for each system on a terminal's standard error; silence elsewhere."""
    if run.paper.json or not sys.stderr.isatty():
        yield lambda system, done, total: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True, no_color=not run.paper.color), transient=True) as bar:
        tasks: dict[str, object] = {}

        def tell(system: str, done: int, total: int) -> None:
            if system not in tasks:
                tasks[system] = bar.add_task(system, total=total)
            bar.update(tasks[system], completed=done, total=total)  # type: ignore[arg-type]

        yield tell
