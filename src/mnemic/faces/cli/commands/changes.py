"""`log`, `history`, `diff`, `undo`: what was done, and taking it back."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

import click

from mnemic.core.events import Verb as Did
from mnemic.errors import Conflict, Invalid, NotFound
from mnemic.faces.cli.command import WORDS, verb
from mnemic.faces.cli.commands.asking import item_line
from mnemic.faces.cli.commands.remember import acknowledge
from mnemic.faces.cli.invocation import Invocation, invocation
from mnemic.faces.cli.item_ids import resolve
from mnemic.faces.cli.item_words import said_time, source_label, validity
from mnemic.faces.cli.output import Output, excerpt, flat, freed, many
from mnemic.lanes.slices import DERIVER
from mnemic.operations.journal_records import change_record, difference_record, drops_branch
from mnemic.operations.records import version_record
from mnemic.past.undo_plans import LASTING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mnemic.core.events import Change, Event
    from mnemic.core.items import Item, Version
    from mnemic.memory import ScopedMemory
    from mnemic.past.journal_views import Difference
    from mnemic.past.undo_plans import Undone

_RANGE: Final = re.compile(r"([0-9]{1,18})\.\.([0-9]{1,18})")
_SHOWN: Final = 3
"""Items of a commit that the log names; the rest are counted."""


@verb(
    "mnemic log",
    "mnemic log -n 5 --json",
    "mnemic log --after 2 --oldest-first",
    "mnemic log --collected",
)
@click.option("-n", "--limit", type=int, default=20, show_default=True, help="Most commits.")
@click.option(
    "--after", type=WORDS, metavar="SEQ|CURSOR", help="Only commits after this one; or go on from where a page ended."
)
@click.option("--oldest-first", is_flag=True, help="In the order they were made.")
@click.option("--all", "every", is_flag=True, help="Also commits that only count what was used.")
@click.option("--collected", "whole", is_flag=True, help="In place of them what collecting did: dropped, freed, cost.")
def log(limit: int, after: str | None, oldest_first: bool, every: bool, whole: bool) -> None:
    """The journal: every commit of this user, newest first."""
    run = invocation()
    start = int(after or 0) if after is None or (after.isascii() and after.isdigit()) else after
    with run.memory() as memory:
        me, newest = run.scoped(memory, shelved=False), not oldest_first
        if whole:
            changes = memory.admin.log(limit=limit, after=start, newest=newest, tenant=run.tenant)
        else:
            changes = me.log(limit=limit, after=start, newest=newest, every=every)
        if run.output.json:
            run.output.records([change_record(change) for change in changes], changes.next)
            return
        for change in changes:
            _print_change(run.output, me, change)
        jumps = not (whole or every) and _skips_counting(me, [change.seq for change in changes])
    if not changes:
        run.output.note("no commits yet")
    elif jumps:
        run.output.note("numbers in between only count what was shown: mnemic log --all")
    run.output.more(changes.next)


def _skips_counting(me: ScopedMemory, seqs: Sequence[int]) -> bool:
    """Whether commits of this memory lie between those that are shown, which only count what was shown."""
    if not seqs:
        return False
    every = me.log(after=min(seqs) - 1, limit=len(seqs), newest=False, every=True)
    return any(change.seq < max(seqs) and change.seq not in seqs for change in every)


def _print_change(output: Output, me: ScopedMemory, change: Change) -> None:
    cause = f"  because of commit {change.cause}" if change.cause else ""
    output.line(
        f"{output.ink(f'commit {change.seq}', fg='yellow')}  {change.at:%Y-%m-%d %H:%M:%S} UTC  "
        f"{flat(change.actor) if change.space else 'the store'}  {output.dim(change.hash.hex()[:12])}{cause}"
    )
    verbs = Counter(event.verb for event in change.events)
    for did, count in verbs.items():
        shown = [event for event in change.events if event.verb is did][:_SHOWN]
        for event in shown:
            words = _payload(event) if event.item is None else _words(output, me, change, event)
            output.line(f"    {did.name.lower()}  {words}".rstrip())
        if count > _SHOWN:
            output.line(output.dim(f"    {did.name.lower()}  and {many(count - _SHOWN, 'more item')}"))


def _payload(event: Event) -> str:
    """Describe an event that is about no single item: how many it touched, which commit it undid, and why."""
    try:
        payload = json.loads(event.payload or b"{}")
    except ValueError:
        return ""
    if event.verb is Did.USED:
        return many(len(payload), "item")
    if event.verb is Did.COLLECTED:
        return _collected(payload)
    if drops_branch(event):
        return "a branch, with what was written to it alone"
    parts = [many(len(payload["ids"]), "item")] if "ids" in payload else []
    parts += [f"commit {payload[name]}" for name in ("seq", "horizon") if name in payload]
    parts += [flat(str(payload["reason"]))] if "reason" in payload else []
    return ", ".join(parts)


def _collected(payload: Mapping[str, Any]) -> str:
    """Describe a collecting run: what a batch hid and why, or what all of it hid, dropped and freed."""
    if "collector" in payload:
        reason = next(iter(payload["reasons"].values()), "")
        parts = [f"{many(payload['items'], 'item')} hidden by {payload['collector']}", reason]
    else:
        taken = ", ".join(f"{count:,} by {name}" for name, count in payload["collected"].items())
        pause = f"longest pause {payload['pause_ms']:,.0f} ms of {many(payload['slices'], 'slice')}"
        parts = [
            f"hidden {taken}" if taken else "",
            f"{many(payload['versions'], 'version')} dropped",
            freed(payload["freed"]),
            pause,
        ]
    return flat(f"{payload['trigger']}: {', '.join(filter(None, parts))}")


def _words(output: Output, me: ScopedMemory, change: Change, event: Event) -> str:
    """Write the item that an event touched, as the commit left it, whatever has become of it since."""
    if event.item is None or event.erased:
        return f"{event.item}  {output.dim('(its words are gone)')}"
    try:
        versions = [v for v in me.history(event.item) if v.item.id == event.item]
    except NotFound:
        return f"{event.item}  {output.dim('(its words are gone)')}"
    then = [version for version in versions if version.seq_from <= change.seq]
    return item_line(output, (then or versions)[-1 if then else 0].item)


@verb(
    "mnemic history last",
    "mnemic history last --json",
)
@click.argument("id", type=WORDS)
def history(id: str) -> None:
    """Every version of an item, oldest first.

    And of what it took the place of, and of what took its place.
    """
    run = invocation()
    with run.user_memory() as me:
        item = resolve(me, id)
        versions = me.history(item)
    if run.output.json:
        run.output.document({"id": item, "versions": [version_record(version) for version in versions]})
    else:
        print_history(run.output, versions)


def print_history(output: Output, versions: Sequence[Version]) -> None:
    """Print versions for a person, a line or two each."""
    for version in versions:
        item = version.item
        standing = version.seq_to is None
        span = f"commit {version.seq_from}" + ("" if standing else f" to {version.seq_to}")
        output.line(
            f"{output.ink(item.id, fg='yellow')}  {span}, {output.ink(item.state.name.lower(), bold=standing)}, "
            f"said {said_time(item)}" + (f", {validity(item)}" if validity(item) else "")
        )
        output.line(f"    {source_label(item)}: {flat(excerpt(item.text, item.id))}")


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
    run = invocation()
    with run.user_memory() as me:
        differences = me.diff(a, b)
    if run.output.json:
        run.output.document({"a": a, "b": b, "items": [difference_record(difference) for difference in differences]})
        return
    for difference in differences:
        _print_difference(run.output, difference)
    if not differences:
        run.output.note("no difference")


def _print_difference(output: Output, difference: Difference) -> None:
    output.line(output.ink(difference.id, fg="yellow"))
    if difference.before is not None:
        output.line("  " + output.ink(f"- {_item_words(difference.before)}", fg="red"))
    if difference.after is not None:
        output.line("  " + output.ink(f"+ {_item_words(difference.after)}", fg="green"))


def _item_words(item: Item) -> str:
    marks = (item.state.name.lower(), "pinned" if item.pinned else "", validity(item))
    return f"{source_label(item)}: {flat(excerpt(item.text, item.id))}  ({', '.join(mark for mark in marks if mark)})"


@verb(
    "mnemic undo last",
    "mnemic undo 2..3 --cascade",
    "mnemic undo --import chat",
    "mnemic undo last --cascade --json",
)
@click.argument("seq", type=WORDS, required=False, metavar="SEQ|FIRST..LAST")
@click.option(
    "--import", "source", type=WORDS, metavar="NAME", help="What came in by `import` under this name, or its file."
)
@click.option("--cascade", is_flag=True, help="Go ahead where something it touched has changed since.")
def undo(seq: str | None, source: str | None, cascade: bool) -> None:
    """Take a commit back, a range of them, or an import, with the consequences.

    SEQ is a commit's number, or `last` for the last one that still stands; again, it is the one before that. Undoing an
    undo, by its number, is redo. An erasure cannot be undone: `last` passes over none, FIRST..LAST and --import do.
    """
    run = invocation()
    if (seq is None) == (source is None):
        raise Invalid("seq", "is missing" if seq is None else "stands beside --import", "Name a commit, or an import.")
    with run.user_memory() as me:
        if source is not None:
            _tell_undone(run, me.undo_import(source, cascade=cascade))
            return
        if (ends := _RANGE.fullmatch(str(seq))) is not None:
            _tell_undone(run, me.undo_range(int(ends[1]), int(ends[2]), cascade=cascade))
            return
        seq = str(seq)
        # All that came after the last commit that stands has been taken back: nothing in the way is worth keeping.
        number = _commit(me, seq)
        receipt = me.undo(number, cascade=cascade or seq == "last")
        acknowledge(run, "changed", receipt, then=f"commit {number} is undone; redo: mnemic undo {receipt.seq}")


def _tell_undone(run: Invocation, done: Sequence[Undone]) -> None:
    """Say which commits were taken back, in short: an import may have been of hundreds."""
    first, last = done[0].receipt.seq, done[-1].receipt.seq
    ids = list(dict.fromkeys(id for undone in done for id in undone.receipt.ids))
    has_gaps = len(done) <= done[0].seq - done[-1].seq
    between = (
        f"of the commits {done[-1].seq} to {done[0].seq}" if has_gaps else f"commits, {done[-1].seq} to {done[0].seq},"
    )
    span = f"commit {done[0].seq}" if len(done) == 1 else f"{len(done):,} {between}"
    again = f"{first}..{last}" if len(done) > 1 else first
    summary = f"{span} {'is' if len(done) == 1 else 'are'} undone: {many(len(ids), 'item')} changed"
    run.output.answer(
        {"undone": [undone.seq for undone in done], "first_commit": first, "last_commit": last, "ids": ids},
        f"{summary}; redo: mnemic undo {again}",
    )


def _commit(me: ScopedMemory, typed: str) -> int:
    if typed.isascii() and typed.isdigit():
        return int(typed)
    if typed != "last":
        raise Invalid(
            "seq",
            f"{typed[:60]!r} is not a commit",
            "Give its number, as `mnemic log` shows it, `last`, or FIRST..LAST.",
        )
    asked = 200
    while True:
        changes = me.log(limit=asked)
        standing, erased = _last_standing(changes)
        if erased is not None and (standing is not None or len(changes) < asked):
            before = "" if standing is None else f" `mnemic undo {standing}` takes back the one before it"
            raise Conflict(f"commit {erased} erased, and an erasure cannot be undone; nothing was changed.{before}")
        if standing is not None:
            return standing
        if len(changes) < asked:
            raise NotFound("no commit here that could be undone; `mnemic log` shows them")
        asked *= 4


def _last_standing(changes: Sequence[Change]) -> tuple[int | None, int | None]:
    """Find the newest of these commits, newest first, whose effect could be taken back, and an erasure after it.

    An undo has none of its own, nor has what it undid; an undo of an undo stands for what it brought back. What rules
    derived goes with its evidence, and is nobody's last act.
    """
    undid = {c.seq: c.cause for c in changes if c.cause and any(event.verb is Did.UNDID for event in c.events)}
    undone: set[int] = set()
    erased = None
    for change in changes:
        if change.seq in undone or change.actor == DERIVER:
            continue
        if change.seq in undid:
            undone.add(undid[change.seq])
        if any(event.verb is Did.ERASED for event in change.events):
            erased = erased or change.seq
            continue
        if _redoes(change.seq, undid) and any(e.verb not in LASTING and not e.erased for e in change.events):
            return change.seq, erased
    return None, erased


def _redoes(seq: int, undid: Mapping[int, int]) -> bool:
    """Whether a commit does something, or does it again: an even number of undos, if any, lead to it."""
    turns = 0
    while seq in undid:
        seq, turns = undid[seq], turns + 1
    return turns % 2 == 0
