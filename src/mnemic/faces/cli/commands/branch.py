"""`branch`, `branches`, `merge`, `drop-branch`, `revert`: trying something out, and taking it over or leaving it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from mnemic.core.items import Item
from mnemic.core.listing import LISTED, all_of
from mnemic.errors import Conflict
from mnemic.faces.cli.command import WORDS, page_options, verb
from mnemic.faces.cli.commands.asking import item_line
from mnemic.faces.cli.invocation import invocation, looking_at
from mnemic.faces.cli.output import Output, excerpt, flat, many
from mnemic.operations.journal_records import branch_record, merge_record
from mnemic.operations.records import receipt_record

if TYPE_CHECKING:
    from mnemic.core.items import Link
    from mnemic.memory import ScopedMemory
    from mnemic.past.merging import Merge


@verb("mnemic branch try", "mnemic branch before --at 1 --json", says={"base": "at"})
@click.argument("name", type=WORDS)
@click.option("--at", type=WORDS, metavar="SEQ|WHEN", help="The commit that it comes off (left out: the last).")
@click.option("--understand", is_flag=True, help="Have rules and the embedder follow what is written to it.")
def branch(name: str, at: str | None, understand: bool) -> None:
    """Make a branch of this memory, where things can be tried out.

    It shows what was there at its commit; a moment before anything was remembered is refused. What is written with
    --branch NAME stays on it until `mnemic merge NAME`.
    """
    run = invocation()
    with run.user_memory(shelved=False) as me:
        known = {each.name for each in all_of(me.branches)}
        looking_at(me, None, None, at).branch(name, understand=understand)
        made, items = next(each for each in all_of(me.branches) if each.name == name), me.on_branch(name).count()
    shows = f"shows {many(items, 'item')}" if items else "it is empty"
    there = " was there already, and" if name in known else ""
    run.output.answer(
        {**branch_record(made), "items": items},
        f"branch {flat(name)}{there} comes off commit {made.base}: {shows}",
        f"write to it: mnemic --branch {flat(name)} add ...; take it over: mnemic merge {flat(name)}",
    )


@verb("mnemic branches", "mnemic branches --json")
@page_options(LISTED)
def branches(limit: int, after: str | None) -> None:
    """Every branch of this memory."""
    run = invocation()
    with run.user_memory(shelved=False) as me:
        page = me.branches(limit=limit, after=after)
    if run.output.json:
        run.output.records([branch_record(branch) for branch in page], page.next)
        return
    for branch in page:
        of = f" of {flat(branch.of)}" if branch.of else ""
        run.output.line(f"{flat(branch.name)}{of}  off commit {branch.base}, last changed by commit {branch.seq}")
    if not page:
        run.output.note("no branches; `mnemic branch NAME` makes one")
    run.output.more(page.next)


@verb("mnemic merge try --dry-run", "mnemic merge try --prefer branch --json")
@click.argument("name", type=WORDS)
@click.option("--prefer", type=click.Choice(["branch", "parent"]), help="Whose word counts where both have changed.")
@click.option("--dry-run", is_flag=True, help="Only say what it would do.")
def merge(name: str, prefer: str | None, dry_run: bool) -> None:
    """Take over what a branch has changed, in one commit.

    What both sides have changed is shown and nothing is written (exit code 4, of a --dry-run too), unless --prefer says
    who is right.
    """
    run = invocation()
    with run.user_memory(shelved=False) as me:
        done = me.merge(name, prefer=prefer, dry_run=dry_run)
        if run.output.json:
            run.output.document(merge_record(done, dry_run=dry_run))
        else:
            _print_merge(run.output, me, name, done, dry_run=dry_run)
    if done.refused:
        raise Conflict(
            f"{many(len(done.conflicts), 'conflict')} between branch {name!r} and what it comes off; nothing was"
            " written. Say whose word counts: --prefer branch or --prefer parent"
        )


def _print_merge(output: Output, me: ScopedMemory, name: str, merged: Merge, *, dry_run: bool) -> None:
    for clash in () if merged.repeated else merged.conflicts:
        output.line(output.ink(f"{clash.id}  changed on both sides", fg="yellow"))
        for side, said in (("branch", clash.branch), ("parent", clash.parent)):
            output.line(f"    {side}  {_version_line(said)}")
    what = f"{many(len(merged.ids), 'item')} and {many(merged.links, 'link')}"
    if dry_run and not merged.repeated:
        output.line(f"would take {what} from branch {flat(name)}")
        for item in merged.ids[:10]:
            output.line(f"    {item_line(output, me.on_branch(name).history(item)[-1].item)}")
    elif merged.repeated:
        output.note(f"nothing on branch {flat(name)} is new here: commit {merged.seq} merged {what} from it")
    elif merged.seq is not None:
        output.line(f"merged {what} from branch {flat(name)} in commit {merged.seq}; undo: mnemic undo {merged.seq}")
        for item in merged.ids[:10]:
            output.line(f"    {item_line(output, me.history(item)[-1].item)}")
    elif not merged.conflicts:
        output.note(f"nothing on branch {flat(name)} is new here")


def _version_line(version: Item | Link | None) -> str:
    if version is None:
        return "(not there)"
    if isinstance(version, Item):
        return f"{version.state.name.lower()}: {excerpt(version.text, version.id)}"
    return f"{version.src} -{flat(version.type)}-> {version.dst} ({version.weight:g})"


@verb("mnemic drop-branch try --yes", "mnemic drop-branch try --yes --json")
@click.argument("name", type=WORDS)
@click.option("-y", "--yes", is_flag=True, help="Do not ask before it is gone.")
def drop_branch(name: str, yes: bool) -> None:
    """Take a branch out for good, with what was written to it alone."""
    run = invocation()
    with run.user_memory(shelved=False) as me:
        me.on_branch(name).count()  # nobody is asked about a branch that is not there
        if not run.confirm(f"Drop branch {name}, with what was not merged?", yes=yes):
            run.output.note("nothing was changed")
            return
        done = me.drop_branch(name)
    run.output.answer(
        {"branch": name, "seq": done.seq, "versions": done.versions, "links": done.links},
        f"dropped branch {flat(name)}: {many(done.versions, 'version')} of its own, commit {done.seq}",
    )


@verb("mnemic revert 2", "mnemic revert 2 --json")
@click.argument("seq", type=int)
def revert(seq: int) -> None:
    """Bring this memory back to what it was after a commit, by a commit more.

    What was only understood since, from what was there at SEQ, stays. Nothing is lost: `mnemic undo` of that commit
    takes it back.
    """
    run = invocation()
    with run.user_memory(shelved=False) as me:
        receipt = me.revert(seq)
    took = run.seconds * 1000
    if run.output.json:
        run.output.document({**receipt_record(receipt), "milliseconds": round(took, 3)})
    elif receipt.repeated:
        run.output.note(f"already as of commit {seq}; nothing was changed")
    else:
        changed = f"{many(len(receipt.ids), 'item')} changed" if receipt.ids else "only links changed"
        run.output.line(f"as of commit {seq}: {changed}, commit {receipt.seq}, durable in {took:.1f} ms")
        run.output.line(f"undo: mnemic undo {receipt.seq}")
