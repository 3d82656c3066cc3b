"""`watch`: what is committed to this user's memory, as it happens; like `tail -f` of the journal."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Final

import click

from mnemic.errors import NotFound
from mnemic.faces.cli.command import WORDS, verb
from mnemic.faces.cli.commands.asking import item_line
from mnemic.faces.cli.invocation import Invocation, invocation
from mnemic.faces.cli.output import Output, flat, many
from mnemic.operations.journal_records import drops_branch, notice_record
from mnemic.operations.records import version_record

if TYPE_CHECKING:
    from mnemic.core.items import Version
    from mnemic.memory import ScopedMemory
    from mnemic.watching.feed import Notice

_SHOWN: Final = 5
"""Items of a commit that are shown; the rest are counted."""
_PAGE: Final = 500


@verb("mnemic watch --once", "mnemic watch --once --after 2 --json")
@click.option("--after", type=WORDS, metavar="SEQ|MARK", help="Go on after this commit (left out: from now on).")
@click.option("--once", is_flag=True, help="Show what there is (without --after: everything), and end.")
@click.option("--all", "every", is_flag=True, help="Also commits that only count what was used.")
def watch(after: str | None, *, once: bool, every: bool) -> None:
    """What is committed to this memory and the shared one, as it happens.

    By this machine's programs and agents, whichever they are, or of one of its shelves; Ctrl-C ends it. A later one
    goes on with --after and the last commit shown: its number, or its `mark` (--json), by which it is noticed if the
    store was brought back to before it.
    """
    run = invocation()
    with run.memory() as memory, suppress(KeyboardInterrupt):
        me = run.scoped(memory)
        if once:
            _show(run, me, _there(me, after or 0, every=every))
            return
        with me.watch(after=after, every=every) as watched:
            run.output.note(f"watching {run.user}'s memory after commit {watched.seq}; Ctrl-C ends it")
            _show(run, me, watched)


def _there(me: ScopedMemory, after: int | str, *, every: bool) -> Iterable[Notice]:
    while page := me.changes(after=after, limit=_PAGE, every=every):
        yield from page
        after = page[-1].mark


def _show(run: Invocation, me: ScopedMemory, notices: Iterable[Notice]) -> None:
    for notice in notices:
        if run.output.json:
            versions = [version_record(version) for version in _versions(me, notice)]
            run.output.record({**notice_record(notice), "items": versions})
        else:
            _print(run.output, notice, _versions(me, notice))


def _versions(me: ScopedMemory, notice: Notice) -> list[Version]:
    try:
        return list(me.written(notice.seq))
    except NotFound:  # erased with its user since
        return []


def _print(output: Output, notice: Notice, versions: list[Version]) -> None:
    shared = "  shared" if notice.shared else ""
    cause = f"  because of commit {notice.cause}" if notice.cause else ""
    verbs = Counter("erased a branch" if drops_branch(event) else event.verb.name.lower() for event in notice.events)
    did = ", ".join(name if count == 1 else f"{name} {count}" for name, count in verbs.items())
    output.line(
        f"{output.dim(f'{notice.at:%H:%M:%S}')}  {output.ink(str(notice.seq), fg='yellow')}  "
        f"{flat(notice.actor)}{shared}  {did}{output.dim(cause)}"
    )
    for version in itertools.islice(versions, _SHOWN):
        output.line(f"    {item_line(output, version.item)}")
    if len(versions) > _SHOWN:
        output.line(output.dim(f"    and {many(len(versions) - _SHOWN, 'more item')}"))
