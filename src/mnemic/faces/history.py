"""`log`, `history`, `diff`, `undo`: what was done, and taking it back."""

from __future__ import annotations

import json
import time
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

import click

from mnemic.core.events import Verb as Did
from mnemic.errors import Compacted, Invalid, NotFound
from mnemic.faces.asking import item_line
from mnemic.faces.errand import errand
from mnemic.faces.naming import resolve
from mnemic.faces.paper import Paper, flat, many
from mnemic.faces.records import change_record, item_record, said, validity, version_record, who
from mnemic.faces.verb import WORDS, verb
from mnemic.faces.writing import acknowledge

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mnemic.core.events import Change, Event
    from mnemic.core.ids import ItemId
    from mnemic.core.items import Item, Version
    from mnemic.kernel import Difference
    from mnemic.memory import ScopedMemory

_SHOWN: Final = 3
"""Items of a commit that the log names; the rest are counted."""


@verb(
    "mnemic log",
    "mnemic log -n 5 --json",
    "mnemic log --after 2 --oldest-first",
)
@click.option("-n", "--limit", type=int, default=20, show_default=True, help="Most commits.")
@click.option("--after", type=int, default=0, metavar="SEQ", help="Only commits after this one.")
@click.option("--oldest-first", is_flag=True, help="In the order they were made.")
def log(limit: int, after: int, oldest_first: bool) -> None:
    """The journal: every commit of this user, newest first."""
    run = errand()
    with run.mine() as me:
        changes = me.log(limit=limit, after=after, newest=not oldest_first)
        for change in changes:
            if run.paper.json:
                run.paper.record(change_record(change))
            else:
                _print_change(run.paper, me, change)
    if not changes:
        run.paper.note("no commits yet")


def _print_change(paper: Paper, me: ScopedMemory, change: Change) -> None:
    cause = f"  because of commit {change.cause}" if change.cause else ""
    paper.line(
        f"{paper.ink(f'commit {change.seq}', fg='yellow')}  {change.at:%Y-%m-%d %H:%M:%S} UTC  "
        f"{flat(change.actor)}  {paper.dim(change.hash.hex()[:12])}{cause}"
    )
    verbs = Counter(event.verb for event in change.events)
    for did, count in verbs.items():
        shown = [event for event in change.events if event.verb is did][:_SHOWN]
        for event in shown:
            told = _payload(event) if event.item is None else _words(paper, me, change, event.item)
            paper.line(f"    {did.name.lower()}  {told}".rstrip())
        if count > _SHOWN:
            paper.line(paper.dim(f"    {did.name.lower()}  and {many(count - _SHOWN, 'more item')}"))


def _payload(event: Event) -> str:
    """What an event about no one item says: how many it touched, which commit it undid, for which reason."""
    try:
        said = json.loads(event.payload or b"{}")
    except ValueError:
        return ""
    if event.verb is Did.USED:
        return many(len(said), "item")
    told = [many(len(said["ids"]), "item")] if "ids" in said else []
    told += [f"commit {said[name]}" for name in ("seq", "horizon") if name in said]
    told += [flat(str(said["reason"]))] if "reason" in said else []
    return ", ".join(told)


def _words(paper: Paper, me: ScopedMemory, change: Change, item: ItemId) -> str:
    for view in (me.at(change.seq), me.at(max(change.seq - 1, 1))):
        try:
            return item_line(paper, view.get(item).item)
        except (NotFound, Compacted):
            continue
    return f"{item}  {paper.dim('(its words are gone)')}"


@verb(
    "mnemic history last",
    "mnemic history last --json",
)
@click.argument("id", type=WORDS)
def history(id: str) -> None:
    """Every version of an item, oldest first.

    And of what it took the place of, and of what took its place.
    """
    run = errand()
    with run.mine() as me:
        item = resolve(me, id)
        versions = me.history(item)
    if run.paper.json:
        run.paper.document({"id": item, "versions": [version_record(version) for version in versions]})
    else:
        print_history(run.paper, versions)


def print_history(paper: Paper, versions: Sequence[Version]) -> None:
    """Versions for a person, a line or two each."""
    for version in versions:
        item = version.item
        standing = version.seq_to is None
        span = f"commit {version.seq_from}" + ("" if standing else f" to {version.seq_to}")
        paper.line(
            f"{paper.ink(item.id, fg='yellow')}  {span}, {paper.ink(item.state.name.lower(), bold=standing)}, "
            f"said {said(item)}" + (f", {validity(item)}" if validity(item) else "")
        )
        paper.line(f"    {who(item)}: {flat(item.text)}")


@verb(
    "mnemic diff 1",
    "mnemic diff 1 2 --json",
)
@click.argument("a", type=int)
@click.argument("b", type=int, required=False)
def diff(a: int, b: int | None) -> None:
    """What differs between two commits.

    From commit A to commit B; B left out is now.
    """
    run = errand()
    with run.mine() as me:
        differences = me.diff(a, b)
    if run.paper.json:
        run.paper.document({"a": a, "b": b, "items": [_difference(one) for one in differences]})
        return
    for one in differences:
        _print_difference(run.paper, one)
    if not differences:
        run.paper.note("no difference")


def _difference(one: Difference) -> dict[str, Any]:
    return {
        "id": one.id,
        "before": item_record(one.before) if one.before else None,
        "after": item_record(one.after) if one.after else None,
    }


def _print_difference(paper: Paper, one: Difference) -> None:
    paper.line(paper.ink(one.id, fg="yellow"))
    if one.before is not None:
        paper.line("  " + paper.ink(f"- {_said(one.before)}", fg="red"))
    if one.after is not None:
        paper.line("  " + paper.ink(f"+ {_said(one.after)}", fg="green"))


def _said(item: Item) -> str:
    marks = (item.state.name.lower(), "pinned" if item.pinned else "", validity(item))
    return f"{who(item)}: {flat(item.text)}  ({', '.join(mark for mark in marks if mark)})"


@verb(
    "mnemic undo last",
    "mnemic undo last --cascade --json",
)
@click.argument("seq", type=WORDS)
@click.option("--cascade", is_flag=True, help="Go ahead where something it touched has changed since.")
def undo(seq: str, cascade: bool) -> None:
    """Take a commit back, with its consequences.

    SEQ is its number, or `last` for the last one that changed something. Undoing an undo is redo.
    """
    run = errand()
    with run.mine() as me:
        number = _commit(me, seq)
        began = time.perf_counter()
        receipt = me.undo(number, cascade=cascade)
        acknowledge(run, "changed", receipt, began, then=f"commit {number} is undone; redo: mnemic undo {receipt.seq}")


def _commit(me: ScopedMemory, given: str) -> int:
    if given.isascii() and given.isdigit():
        return int(given)
    if given != "last":
        raise Invalid("seq", f"{given[:60]!r} is not a commit", "Give its number, as `mnemic log` shows it, or `last`.")
    lasting = {Did.USED, Did.ERASED, Did.COMPACTED, Did.RESTORED}
    for change in me.log(limit=200):
        if any(event.verb not in lasting and not event.erased for event in change.events):
            return change.seq
    raise NotFound("no commit here that could be undone; `mnemic log` shows them")


COMMANDS: Final = {command.name: command for command in (log, history, diff, undo)}
