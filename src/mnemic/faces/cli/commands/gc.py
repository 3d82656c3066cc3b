"""`gc`, `hold`: collecting garbage, what would go and why, and what may not go at all."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from mnemic.core.listing import LISTED
from mnemic.errors import Invalid
from mnemic.faces.cli.bars import advancing, progress, split_names
from mnemic.faces.cli.command import WORDS, CommandGroup, page_options, verb
from mnemic.faces.cli.invocation import Invocation, invocation
from mnemic.faces.cli.item_ids import resolve_all
from mnemic.faces.cli.output import flat, many, size
from mnemic.operations.store_records import hold_record

if TYPE_CHECKING:
    from mnemic.collecting.housekeeping import Collected
    from mnemic.core.ids import ItemId
    from mnemic.store.values.heads import Hold


@verb(
    "mnemic gc --dry-run",
    "mnemic gc --keep-days 30 --json",
    "mnemic gc --keep-commits 10000",
    "mnemic gc --rebuild",
    says={"name": "collectors"},
)
@click.option("--dry-run", is_flag=True, help="Only say what would go, and why.")
@click.option("--keep-days", type=click.IntRange(0), help="Days of the past to keep (left out: setting `keep_past`).")
@click.option("--keep-commits", type=click.IntRange(0), help="Commits of the past to keep, beside those of gc.")
@click.option("--collectors", type=WORDS, metavar="NAMES", help="Who chooses, separated by commas.")
@click.option("--rebuild", is_flag=True, help="Then write the file anew, dense; nobody else may have it open.")
def gc(dry_run: bool, keep_days: int | None, keep_commits: int | None, collectors: str | None, rebuild: bool) -> None:
    """Collect garbage: hide what collectors choose, drop the past that is not kept.

    What collectors choose is hidden as `forget` does, and `undo` brings it back while its commit is kept. By default
    all of the past is kept, so nothing is dropped: say --keep-days or --keep-commits, or set MNEMIC_KEEP_PAST. It may
    be stopped at any moment. An older file gives its free pages back only when it is written anew (--rebuild).

    A `mnemic worker` begins runs by itself, by the settings `keep_past` and `collectors`: every `gc_seconds`, when a
    `gc_share` is dead or free, when the file has grown by `gc_growth`, or after `gc_idle` seconds without a write; of
    several reasons the one whose runs have paid best. 0 switches one off, and `gc_auto` (MNEMIC_GC_AUTO=no) all.
    `mnemic top` and `stats --json` show the last run, `mnemic log --collected` each: by what, bytes freed, pause.
    """
    if keep_days is not None and keep_commits is not None:
        raise Invalid("keep-days", "comes with --keep-commits", "Say just one of them.")
    run = invocation()
    _refuse_scope(run)
    keep = f"{keep_days} days" if keep_days is not None else None
    keep = f"{keep_commits} commits" if keep_commits is not None else keep
    named = None if collectors is None else split_names(collectors)
    with run.memory() as memory, progress(run, unit="items and rows") as report:
        advance = advancing(report, "collecting", None)
        collected = memory.admin.gc(dry_run=dry_run, collectors=named, keep=keep, tenant=run.tenant, progress=advance)
    rebuilt = _rebuilt(run) if rebuild and not dry_run else None
    if run.output.json:
        run.output.document({**_record(collected), **_rebuilt_record(collected, rebuilt)})
    else:
        _print(run, collected, rebuilt)


def _refuse_scope(run: Invocation) -> None:
    """Refuse options that name one scope: collecting goes over everybody's memory."""
    for option in ("user", "agent", "session", "branch"):
        if getattr(run.options, option) is not None:
            raise Invalid(f"--{option}", "cannot narrow this: it goes over everybody's memory", "Leave the option out.")


def _rebuilt(run: Invocation) -> tuple[int, int]:
    from mnemic.store.offline import rebuild
    from mnemic.store.seal_key import seal_key

    if run.path is None:
        raise Invalid("rebuild", "is for a store in a file", "Leave it out.")
    return rebuild(run.path, seal_key(run.settings.seal))


def _rebuilt_record(collected: Collected, rebuilt: tuple[int, int] | None) -> dict[str, Any]:
    """Make the part of the record about a rebuilt file, whose size is that of the whole run."""
    if rebuilt is None:
        return {"rebuilt": None}
    before, after = rebuilt
    sizes = {"bytes_before": before, "bytes_after": after}
    return {"bytes_after": after, "freed": collected.bytes_before - after, "rebuilt": sizes}


def _record(collected: Collected) -> dict[str, Any]:
    taken = [{"user": t.user, "id": t.id, "collector": t.collector, "reason": t.reason} for t in collected.taken]
    numbers = {
        name: getattr(collected, name)
        for name in (
            "passed", "unknown_classes", "horizon_before", "horizon", "held_back",
            "versions", "links", "events", "names", "pages", "bytes_before",
            "bytes_after", "freed", "slices", "longest", "p99", "seconds", "seq",
        )
    }  # fmt: skip
    return {"dry_run": collected.dry_run, "taken": taken, **numbers}


def _print(run: Invocation, collected: Collected, rebuilt: tuple[int, int] | None) -> None:
    output = run.output
    for collected_item in collected.taken if collected.dry_run else ():
        whose = "" if collected_item.user == run.user else f"of {flat(collected_item.user or '(shared)')}  "
        output.line(f"{collected_item.id}  {whose}{output.dim(collected_item.collector)}  {collected_item.reason}")
    which = ", ".join(f"{count:,} by {name}" for name, count in sorted(collected.by_collector.items())) or "nothing"
    rows = [("would hide" if collected.dry_run else "hidden", which)]
    rows += _unknown(run, collected)
    rows += _foreseen(collected) if collected.dry_run else _dropped(collected)
    if rebuilt is not None:
        rows.append(("rebuilt", f"{size(rebuilt[0])} -> {size(rebuilt[1])}"))
    output.table(rows)


def _unknown(run: Invocation, collected: Collected) -> Iterator[tuple[str, str]]:
    for name, items in collected.unknown_classes.items():
        tagged = f"{flat(name)!r}: {many(items, 'item')} tagged with it, and kept"
        yield "no such class", f"{tagged}; setting `retention` has {flat(run.settings.retention)}"


def _foreseen(collected: Collected) -> Iterator[tuple[str, str]]:
    if collected.horizon == collected.horizon_before:
        yield "past", f"kept from commit {collected.horizon}, as now" if collected.horizon else "kept, all of it"
    else:
        yield (
            "past",
            f"would be kept from commit {collected.horizon}; what lies before could not be asked for, or undone",
        )
    if collected.held_back:
        yield "held back", flat(collected.held_back)
    if collected.versions:
        yield "would drop", f"up to {many(collected.versions, 'version')}, for good"


def _dropped(collected: Collected) -> Iterator[tuple[str, str]]:
    yield "past", f"kept from commit {collected.horizon}" if collected.horizon else "kept, all of it"
    if collected.held_back:
        yield "held back", flat(collected.held_back)
    if collected.slices:
        rows = (many(collected.versions, "version"), many(collected.links, "link"), many(collected.events, "event"))
        yield "dropped", ", ".join(rows)
        yield "size", f"{size(collected.bytes_before)} -> {size(collected.bytes_after)}"
        pauses = f"p99 {collected.p99 * 1000:.0f} ms, longest {collected.longest * 1000:.0f} ms"
        yield "pauses", f"{many(collected.slices, 'slice')}, {pauses}"


@click.group(cls=CommandGroup, examples=("mnemic hold add last --reason 'case 7'", "mnemic hold list"))
def hold() -> None:
    """Legal holds: what may not be erased, collected or dropped."""


@verb("mnemic hold add last --reason 'case 7'", "mnemic hold add --session trip", "mnemic hold add --everything")
@click.argument("ids", type=WORDS, nargs=-1)
@click.option("--everything", is_flag=True, help="All of this user.")
@click.option("--reason", type=WORDS, help="Why; whoever is refused is told.")
def add(ids: tuple[str, ...], everything: bool, reason: str | None) -> None:
    """Hold items, a session, or everything of this user."""
    run = invocation()
    session = run.options.session
    if bool(ids) + (session is not None) + everything != 1:
        raise Invalid("ids", "hold takes one of: ids, --session, --everything", "Name just one of them.")
    with run.memory() as memory:
        resolved: list[ItemId | None] = [*resolve_all(run.scoped(memory, shelved=False), ids)]
        numbers = [
            memory.admin.hold(
                user=run.user, item=item, session=session, reason=reason or "", actor=run.user, tenant=run.tenant
            )
            for item in resolved or [None]
        ]
    run.output.answer({"holds": numbers}, f"held: {', '.join(f'hold {number}' for number in numbers)}")


@verb("mnemic hold list", "mnemic hold list --json", name="list")
@page_options(LISTED)
def listed(limit: int, after: str | None) -> None:
    """Every hold of this installation."""
    run = invocation()
    with run.memory() as memory:
        holds = memory.admin.holds(tenant=run.tenant, limit=limit, after=after)
    if run.output.json:
        run.output.document({"holds": list(map(hold_record, holds)), "next": holds.next})
        return
    if not holds:
        run.output.line("nothing is held")
        return
    rows = [
        (str(hold.id), _held_words(hold), flat(hold.actor), f"commit {hold.seq}", flat(hold.reason)) for hold in holds
    ]
    run.output.table(rows, head=("hold", "what", "by", "since", "why"))
    run.output.more(holds.next)


@verb("mnemic hold release 1")
@click.argument("number", type=click.IntRange(1))
def release(number: int) -> None:
    """Let go of what a hold keeps."""
    run = invocation()
    with run.memory() as memory:
        memory.admin.release_hold(number, tenant=run.tenant)
    run.output.answer({"released": number}, f"released: hold {number}")


def _held_words(row: Hold) -> str:
    if row.user is None:
        return "everything"
    whose = flat(row.user) if isinstance(row.user, str) else "(shared)"
    if row.item is not None:
        return f"item {row.item} of {whose}"
    return f"session {flat(row.session)} of {whose}" if row.session else f"everything of {whose}"


for _command in (add, listed, release):
    hold.add_command(_command)
