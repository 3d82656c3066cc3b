"""`files`: a memory as a folder of Markdown that a person edits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from difflib import unified_diff
from typing import TYPE_CHECKING, Any, Final

import click

from mnemic.errors import Conflict, Invalid
from mnemic.faces.cli.bars import progress
from mnemic.faces.cli.command import WORDS, CommandGroup, verb
from mnemic.faces.cli.invocation import Invocation, invocation
from mnemic.faces.cli.output import cut, flat, many, plain
from mnemic.operations.records import receipt_record

if TYPE_CHECKING:
    from mnemic.faces.cli.output import Output
    from mnemic.markdown_folder.folder_comparison import FolderChange, FolderComparison
    from mnemic.markdown_folder.scope_folder import FolderApply, FolderWrite

_SIGNS: Final = {
    "added": ("+", "green"),
    "edited": ("~", "yellow"),
    "pinned": ("~", "yellow"),
    "unpinned": ("~", "yellow"),
    "removed": ("-", "red"),
}
_WORDS: Final = 72
_NOTES: Final = 10
"""Notes that are listed before the rest is counted."""


@click.group(
    cls=CommandGroup, examples=("mnemic files write memory", "mnemic files status memory", "mnemic files apply memory")
)
def files() -> None:
    """Your memory as a folder of Markdown: write it, edit it, bring it back.

    `write` makes a file of each talk and document, and of the profile, instructions and facts. Edit them in any editor.
    `status` says what you have changed, `diff` shows it, `apply` takes it over in one commit, which `undo` takes back.
    """


@verb("mnemic files write memory", "mnemic files write memory --force --json")
@click.argument("folder", type=WORDS)
@click.option("--force", is_flag=True, help="Over edits that were not applied, or beside files of another origin.")
def write(folder: str, force: bool) -> None:
    """Write this memory into FOLDER, a new one or one that it was written into before.

    Edits that are not applied yet are never written over without --force (exit code 4). What is hidden, expired or
    erased is not in it; files that are not ours are left alone.
    """
    run = invocation()
    with run.caught_up_memory() as me, progress(run) as report:
        done = me.write_folder(folder, force=force, progress=lambda at, of: report("files", at, of))
    run.output.answer(_write_record(done), *_write_lines(done))


@verb("mnemic files status memory", "mnemic files status memory --json")
@click.argument("folder", type=WORDS)
def status(folder: str) -> None:
    """What you have changed in FOLDER since it was written, and what memory has.

    A place that cannot be taken, such as a damaged mark, is named, and the exit code is 2.
    """
    run = invocation()
    with run.user_memory() as me:
        comparison = me.compare_folder(folder)
    run.output.answer(comparison_record(comparison), *_status_lines(run.output, comparison))
    _refuse_problems(comparison)


@verb("mnemic files diff memory", "mnemic files diff memory --json")
@click.argument("folder", type=WORDS)
def diff(folder: str) -> None:
    """The words that you have changed in FOLDER, before and after."""
    run = invocation()
    with run.user_memory() as me:
        comparison = me.compare_folder(folder)
    run.output.answer(comparison_record(comparison), *_diff_lines(run.output, comparison))
    if not run.output.json and not (comparison.changes or comparison.conflicts or comparison.problems):
        run.output.note("nothing to apply")
    _refuse_problems(comparison)


def _refuse_problems(comparison: FolderComparison) -> None:
    """Have a command that shows a folder fail where `apply` would take nothing of it.

    Raises:
        Invalid: a place in it cannot be taken.
    """
    if problems := comparison.problems:
        first, places = problems[0], many(len(problems), "place")
        raise Invalid(f"{first.path}, line {first.line}", f"{first.problem}; {places} cannot be taken", first.remedy)


@verb(
    "mnemic files apply memory --dry-run",
    "mnemic files apply memory",
    "mnemic files apply memory --forget-removed --prefer folder --json",
)
@click.argument("folder", type=WORDS)
@click.option("--dry-run", is_flag=True, help="Only say what it would do.")
@click.option("--forget-removed", is_flag=True, help="Forget what you deleted; left out, it stays and comes back.")
@click.option("--prefer", type=click.Choice(["folder", "memory"]), help="Whose word counts where both have changed.")
def apply(folder: str, dry_run: bool, forget_removed: bool, prefer: str | None) -> None:
    """Take over what you have changed in FOLDER, in one commit, and write the folder again.

    What memory has changed too is shown and nothing is written (exit code 4), unless --prefer says who is right.
    Neither is anything where a place in a file cannot be taken; it is named.
    """
    run = invocation()
    with run.user_memory(create=False) as me, progress(run) as report:
        done = me.apply_folder(
            folder,
            dry_run=dry_run,
            forget_removed=forget_removed,
            prefer=prefer,
            progress=lambda at, of: report("files", at, of),
        )
    if run.output.json:
        run.output.document(_apply_record(done, dry_run=dry_run))
    else:
        _print_apply(run, done, dry_run=dry_run)
    if done.refused:
        raise Conflict(
            f"{many(len(done.found.conflicts), 'conflict')} between {folder} and memory; nothing was written. Say whose"
            " word counts: --prefer folder or --prefer memory"
        )


def _write_record(done: FolderWrite) -> dict[str, Any]:
    names = ("folder", "seq", "items", "files", "written", "removed", "left_out")
    lost = None if done.lost is None else comparison_record(done.lost)
    return {**{name: getattr(done, name) for name in names}, "lost": lost}


def _write_lines(done: FolderWrite) -> Iterator[str]:
    changed = f"{done.written:,} written, {done.removed:,} deleted" if done.written or done.removed else "none changed"
    summary = f"{_entries(done.items)} in {many(done.files, 'file')} ({changed}), as of commit {done.seq}"
    yield f"{flat(done.folder)}: {summary}"
    if done.left_out:
        yield f"left out: {done.left_out:,} that strategies keep for themselves, or that are over"
    if done.lost is not None:
        yield f"written over: {many(len(done.lost.changes) + len(done.lost.conflicts), 'edit')}"
        if damaged := len(done.lost.problems):
            yield f"written over: {many(damaged, 'place')} that could not be read"


def _entries(count: int) -> str:
    return f"{count:,} {'entry' if count == 1 else 'entries'}"


def comparison_record(comparison: FolderComparison) -> dict[str, Any]:
    """Make the record of what was found in a folder."""
    return {
        "folder": comparison.folder,
        "seq": comparison.seq,
        "changes": [_change_record(each) for each in comparison.changes],
        "conflicts": [{**_change_record(each.change), "memory": each.memory} for each in comparison.conflicts],
        "problems": [
            {"path": each.path, "line": each.line, "problem": each.problem, "remedy": each.remedy}
            for each in comparison.problems
        ],
        "notes": [
            {"path": each.path, "line": each.line, "note": each.note, "lost": each.lost} for each in comparison.notes
        ],
        "behind": comparison.behind,
        "clean": comparison.is_clean,
    }


def _change_record(change: FolderChange) -> dict[str, Any]:
    return {name: getattr(change, name) for name in ("sort", "path", "line", "id", "before", "after")}


def _status_lines(output: Output, comparison: FolderComparison) -> Iterator[str]:
    for change in comparison.changes:
        yield _change_line(output, change)
    for clash in comparison.conflicts:
        yield _change_line(output, clash.change, "conflict: ")
        yield f"    memory says: {_excerpt(clash.memory) if clash.memory is not None else '(forgotten there)'}"
    for problem in comparison.problems:
        place = f"{plain(problem.path)}:{problem.line}"
        yield f"{output.ink('!', fg='red')} {place}  {flat(problem.problem)}. {flat(problem.remedy)}"
    for note in comparison.notes[:_NOTES]:
        lost = ", and goes when the folder is written again" if note.lost else ""
        yield output.dim(f"  {plain(note.path)}:{note.line}  {flat(note.note)}{lost}")
    if len(comparison.notes) > _NOTES:
        yield output.dim(f"  and {len(comparison.notes) - _NOTES:,} more notes (--json has all)")
    yield _summary(comparison)


def _summary(comparison: FolderComparison) -> str:
    counts = [
        (len(comparison.changes), "change"),
        (len(comparison.conflicts), "conflict"),
        (len(comparison.problems), "problem"),
    ]
    counted = ", ".join(many(count, noun) for count, noun in counts if count) or "nothing to apply"
    behind = f"; memory has changed {_entries(comparison.behind)} since" if comparison.behind else ""
    return f"{counted}; written as of commit {comparison.seq}{behind}"


def _change_line(output: Output, change: FolderChange, what: str = "") -> str:
    sign, colour = _SIGNS[change.sort]
    place = plain(change.path) + (f":{change.line}" if change.line else "")
    line = f"{sign} {place}  {what}{change.sort}: {_excerpt(change.after or change.before)}"
    return output.ink(line, fg="magenta" if what else colour)


def _excerpt(text: str) -> str:
    return cut(flat(text), _WORDS)


def _diff_lines(output: Output, comparison: FolderComparison) -> Iterator[str]:
    for change, memory in (
        *((each, "") for each in comparison.changes),
        *((each.change, f"conflict; memory says: {each.memory}") for each in comparison.conflicts),
    ):
        place = plain(change.path) + (f":{change.line}" if change.line else "")
        yield output.bold(f"{place}  {change.sort}" + (f"  {change.id}" if change.id else ""))
        if memory:
            yield output.ink(flat(memory), fg="magenta")
        yield from _difference(output.ink, change.before, change.after)
    for problem in comparison.problems:
        yield output.ink(f"{plain(problem.path)}:{problem.line}  {flat(problem.problem)}", fg="red")


def _difference(ink: Callable[..., str], before: str, after: str) -> Iterator[str]:
    """The lines of one change, with a line around it, as `diff -u` has them."""
    lines = unified_diff(before.split("\n") if before else [], after.split("\n") if after else [], n=1, lineterm="")
    for line in list(lines)[2:]:
        colour = {"+": "green", "-": "red", "@": "cyan"}.get(line[:1])
        yield ink(plain(line), fg=colour) if colour else plain(line)


def _apply_record(done: FolderApply, *, dry_run: bool) -> dict[str, Any]:
    return {
        "receipt": None if done.receipt is None else receipt_record(done.receipt),
        "dry_run": dry_run,
        "refused": done.refused,
        "applied": [_change_record(change) for change in done.applied],
        "left": [_change_record(change) for change in done.left],
        "found": comparison_record(done.found),
    }


def _print_apply(run: Invocation, done: FolderApply, *, dry_run: bool) -> None:
    output = run.output
    if done.refused or (dry_run and done.found.problems):
        for line in _status_lines(output, done.found):
            output.line(line)
        return
    for change in done.applied[:_NOTES]:
        output.line(_change_line(output, change))
    if len(done.applied) > _NOTES:
        output.line(f"  and {len(done.applied) - _NOTES:,} more")
    removed = sum(change.sort == "removed" for change in done.left)
    count = many(len(done.applied), "change")
    if done.receipt is not None:
        output.line(f"applied {count} in commit {done.receipt.seq}; undo: mnemic undo {done.receipt.seq}")
    elif done.applied:
        output.line(f"would apply {count}")
    else:
        output.note("nothing to apply")
    if masked := sum(number for _, number in done.receipt.masked) if done.receipt else 0:
        output.note(f"{many(masked, 'secret')} masked")
    if removed:
        output.note(f"{removed:,} deleted from the folder stay in memory: --forget-removed forgets them")
    if kept := len(done.left) - removed:
        output.note(f"{kept:,} left as memory has them")


for _command in (write, status, diff, apply):
    files.add_command(_command)
