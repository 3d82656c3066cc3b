"""`recall`, `context`, `ask`, `why-not`, `list`: memory asked, now or as it was known at a moment."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import click

from mnemic.core.items import Channel, Kind, Sight, State
from mnemic.core.queries import Filter
from mnemic.core.transitions import last_open, reopened
from mnemic.errors import Invalid
from mnemic.faces.cli.command import WORDS, page_options, past_options, verb
from mnemic.faces.cli.commands.remember import read_said
from mnemic.faces.cli.invocation import argument_text, invocation, looking_at
from mnemic.faces.cli.item_ids import resolve
from mnemic.faces.cli.item_words import said_time, source_label, validity
from mnemic.faces.cli.output import Output, cut, excerpt, flat, indented, many, plain, width
from mnemic.operations.records import answer_record, context_record, version_record
from mnemic.strategies.loading import author_called, followed

if TYPE_CHECKING:
    from mnemic.core.facets import SlotValue
    from mnemic.core.ids import ItemId
    from mnemic.core.items import Item, Version
    from mnemic.core.queries import Context, Recalled
    from mnemic.memory import ScopedMemory

_KINDS: Final = click.Choice([kind.value for kind in Kind])
_CHANNELS: Final = click.Choice([channel.value for channel in Channel])
_STATES: Final = click.Choice([state.name.lower() for state in State])


def filter_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say which items are meant; `_filter` reads them."""
    for option in (
        click.option("--slot", "slots", type=WORDS, multiple=True, metavar="NAME=VALUE", help="Only with this slot."),
        click.option("--channel", "channels", type=_CHANNELS, multiple=True, help="Only what came in by this channel."),
        click.option("--tag", "tags", type=WORDS, multiple=True, help="Only items with one of these tags."),
        click.option("--kind", "kinds", type=_KINDS, multiple=True, help="Only items of this kind; may be repeated."),
    ):
        command = option(command)
    return command


def _filter(given: dict[str, Any], states: tuple[State, ...] = ()) -> Filter:
    """Take the options of `filter_options` out of what a command was given."""
    return Filter(
        kinds=tuple(map(Kind, given.pop("kinds"))),
        tags=given.pop("tags"),
        channels=tuple(map(Channel, given.pop("channels"))),
        slots=tuple(map(_slot, given.pop("slots"))),
        states=states,
        by=given.pop("by", ()),
    )


def _by_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the option that names whose recall answers."""
    return click.option("--by", type=WORDS, metavar="STRATEGY", help="By this strategy's recall.")(command)


def _slot(given: str) -> tuple[str, SlotValue]:
    """Read `name=value`: a value that JSON reads as a number, true, false, null or a quoted text is that, or a text."""
    name, equals, value = given.partition("=")
    if not equals:
        raise Invalid("slot", f"{given!r} has no =", "Write the slot's name, = and its value.")
    try:
        read = json.loads(value)
    except (ValueError, RecursionError):
        return name, value
    return name, read if read is None or isinstance(read, str | int) else value


@verb(
    'mnemic recall "which city does she live in?"',
    'mnemic recall "她住在哪个城市？" -k 3 --explain',
    'mnemic recall "which city?" --as-of 2025-03-31',
    'mnemic recall "what did we plan last March?" --kind turn --json',
    'mnemic recall "which city does she live in?" --by zep',
)
@click.argument("query", type=WORDS)
@click.option("-k", type=int, help="Most items (left out: setting `k`).")
@click.option("--budget", type=int, metavar="TOKENS", help="Most tokens.")
@_by_option
@filter_options
@click.option("--now", type=WORDS, metavar="TIME", help="When it is asked, for words such as `yesterday`.")
@click.option("--explain", is_flag=True, help="Also what each score is made of, and what each stage let through.")
@past_options
def recall(
    query: str,
    k: int | None,
    budget: int | None,
    now: str | None,
    explain: bool,
    by: str | None,
    **past: Any,
) -> None:
    """The best evidence for a question, best first, with reasons."""
    run = invocation()
    where = _filter(past)
    asked = read_said(now, None, "now")
    words = argument_text(query, run.settings)
    with run.caught_up_memory() as me:
        context = _recalled(me, past, words, explain=explain, k=k, budget=budget, where=where, now=asked, by=by)
    if run.output.json:
        run.output.document(context_record(context))
    else:
        print_recalled(run.output, context, explain=explain)


def _recalled(
    me: ScopedMemory,
    past: dict[str, str | None],
    words: str,
    *,
    explain: bool = False,
    block: bool = False,
    **options: Any,
) -> Context:
    """Recall, each item as it stood then; add a note where the budget leaves all of them out."""
    looking = looking_at(me, **past)
    context = (looking.context if block else looking.recall)(words, explain=True, **options)
    dropped = any(stage == "pack" and taken and not left for stage, taken, left in context.stages)
    if dropped:
        note = f"a budget of {many(options['budget'], 'token')} is too small for any item found; raise --budget"
        context = replace(context, notes=(*context.notes, note))
    if past["as_of"] is not None:
        context = context_as_of(me, context)
    return context if explain else replace(context, stages=())


def print_recalled(output: Output, context: Context, *, explain: bool) -> None:
    """Print recalled items for a person, with a line about how they were found."""
    for rank, recalled in enumerate(context.items, start=1):
        _print_hit(output, rank, recalled, explain=explain)
    for note in context.notes:
        output.line(output.dim(plain(note)))
    for stage, taken, left in context.stages:
        output.line(output.dim(f"{stage:>10}: {taken:,} in, {left:,} out"))
    count = many(len(context.items), "item") if context.items else "nothing found"
    output.line(
        output.dim(
            f"{count}, {many(context.tokens, 'token')}; {context.considered:,} considered in "
            f"{context.milliseconds:.1f} ms, as of commit {context.seq}"
        )
    )


def _print_hit(output: Output, rank: int, hit: Recalled, *, explain: bool) -> None:
    item = hit.item
    head = [said_time(item), output.ink(source_label(item), fg="cyan")]
    head += [plain(f"session {item.session}")] if item.session else []
    head += [flag] if (flag := _flags(item)) else []
    output.line(f"{output.bold(f'{rank:>2}')} " + "  ".join(head))
    output.line(indented(excerpt(item.text, item.id)))
    output.line(f"   {output.ink(hit.id, fg='yellow')}  {output.dim(f'score {hit.score:.2f}')}")
    if hit.reasons:
        output.line(output.dim("   why: " + plain("; ".join(hit.reasons))))
    if explain:
        parts = ", ".join(f"{name} {value:.2f}" for name, value in hit.components.items())
        output.line(output.dim(f"   score = {plain(parts)}; {many(hit.tokens, 'token')}; commit {hit.seq}"))


def _flags(item: Item) -> str:
    flags = [item.state.name.lower()] if item.state is not State.ACTIVE else []
    flags += ["pinned"] if item.pinned else []
    flags += [validity(item)] if validity(item) else []
    return ", ".join(flags)


@verb(
    'mnemic context "plan dinner with her" --budget 500',
    'mnemic context "what should I know about Ada?" > prompt.txt',
)
@click.argument("query", type=WORDS)
@click.option("--budget", type=int, metavar="TOKENS", help="Most tokens (left out: setting `budget`).")
@click.option("-k", type=int, help="Most items (left out: as many as fit).")
@_by_option
@past_options
def context(query: str, budget: int | None, k: int | None, by: str | None, **past: str | None) -> None:
    """A block ready for a prompt.

    What is always at hand comes first: standing instructions, pinned items, the profile. After it as much of the best
    evidence as fits the budget, oldest first, fenced as data.
    """
    run = invocation()
    words = argument_text(query, run.settings)
    with run.caught_up_memory() as me:
        budget = run.settings.budget if budget is None else budget
        block = _recalled(me, past, words, block=True, k=k, budget=budget, by=by)
    if run.output.json:
        run.output.document(context_record(block))
        return
    if block.text:
        run.output.line(plain(block.text))
    for note in block.notes:
        run.output.note(plain(note))
    shown = many(len(block.items) + len(block.always), "item")
    run.output.note(f"{shown}, {many(block.tokens, 'token')}, {block.milliseconds:.1f} ms")


@verb('mnemic ask "which city does she live in?"', 'mnemic ask "她住在哪个城市？" --json')
@click.argument("query", type=WORDS)
@click.option("-k", type=int, help="Most items to read (left out: setting `k`).")
@click.option("--now", type=WORDS, metavar="TIME", help="When it is asked, for words such as `yesterday`.")
@past_options
def ask(query: str, k: int | None, now: str | None, **past: str | None) -> None:
    """An answer in the words of the evidence, cited; or that memory does not hold it.

    No model is asked: it quotes what was said, or the profile that rules made of it.
    """
    run = invocation()
    asked = read_said(now, None, "now")
    words = argument_text(query, run.settings)
    with run.caught_up_memory() as me:
        answer = looking_at(me, **past).ask(words, k=k, now=asked)
    run.output.answer(answer_record(answer), plain(answer.text))
    run.output.note(f"confidence {answer.confidence:.2f}")


_LOST: Final = {
    "scope": "not in this memory",
    "view": "not shown at the time looked at",
    "filter": "left out by the filter",
    "gather": "not among what was found",
    "fuse": "ranked too low",
    "diversify": "passed over as a repeat",
    "pack": "ranked high enough, but there was no room",
}
"""What the stages that lose an item have done, in the words of whoever asks."""


@verb(
    'mnemic why-not "which city?" last',
    'mnemic why-not "which city?" last -k 1',
)
@click.argument("query", type=WORDS)
@click.argument("id", type=WORDS)
@click.option("-k", type=int, help="Most items (left out: setting `k`).")
@click.option("--budget", type=int, metavar="TOKENS", help="Most tokens.")
@past_options
def why_not(query: str, id: str, k: int | None, budget: int | None, **past: str | None) -> None:
    """At which stage a recall lost an item, and why."""
    run = invocation()
    with run.user_memory() as me:
        item = resolve(me, id)
        lost = looking_at(me, **past).why_not(query, item, k=k, budget=budget)
    where = f"{run.output.bold(_LOST.get(lost.stage, lost.stage))}: " if lost.stage else ""
    run.output.answer(
        {"id": item, "lost": bool(lost.stage), "stage": lost.stage, "reason": lost.reason}, where + plain(lost.reason)
    )


@verb(
    "mnemic list",
    "mnemic list --kind fact --limit 50",
    "mnemic list --channel import --slot speaker=Ada",
    "mnemic list --session trip --as-of 2025-03-31",
    "mnemic list --by house",
    "mnemic list --state retired --json",
    name="list",
)
@page_options(20)
@filter_options
@click.option("--by", type=WORDS, multiple=True, metavar="NAME", help="Only what this strategy derived.")
@click.option("--derived", is_flag=True, help="Also what strategies keep for their own recall.")
@click.option("--state", "states", type=_STATES, multiple=True, help="In this state (left out: what recall sees).")
@past_options
def list_(limit: int, after: str | None, states: tuple[str, ...], derived: bool, **past: Any) -> None:
    """What was said and written, and what everybody sees of what was derived, newest first.

    What strategies keep for their own recall is left out: --derived lists it too, --by what one of them derived.
    """
    run = invocation()
    chosen = followed(run.settings.strategies) if past["by"] else ()
    past["by"] = tuple(author_called(name, chosen) for name in past["by"])
    where = _filter(past, tuple(State[state.upper()] for state in states))
    left_out = 0
    with run.user_memory() as me:
        then = looking_at(me, **past)
        if not derived and not where.by:
            left_out = then.count(where=replace(where, sights=(Sight.OWN, Sight.NONE)))
            where = replace(where, sights=(Sight.ALL,))
        page = then.list(where=where, limit=limit, after=after)
        versions = list(page) if past["as_of"] is None else [version_as_of(me, version) for version in page]
    if run.output.json:
        run.output.records([version_record(version) for version in versions], page.next)
        return
    for version in versions:
        run.output.line(item_line(run.output, version.item))
    if not versions:
        run.output.note("nothing here")
    if left_out:
        run.output.note(f"{many(left_out, 'more item')} for strategies' own recall: --derived, or --by NAME")
    run.output.more(page.next)


def item_line(output: Output, item: Item) -> str:
    """Write an item on one line, cut where a terminal ends and where its text is long."""
    start = f"{item.id}  {said_time(item)}  "
    flags = _flags(item)
    rest = f"{source_label(item)}: {flat(excerpt(item.text, item.id))}" + (f"  ({flags})" if flags else "")
    if output.columns is not None:
        rest = cut(rest, max(output.columns - width(start), 10))
    return f"{output.ink(item.id, fg='yellow')}  {output.dim(said_time(item))}  {rest}"


def version_as_of(me: ScopedMemory, version: Version) -> Version:
    """Show `version`, seen as of a moment, without the end that only became known after it.

    Args:
        me: A handle on now, which knows the item's former versions.
    """
    if version.item.state is not State.SUPERSEDED:
        return version
    versions = _versions(me, version.item.id)
    former = last_open(versions)
    shown = version if former is None else replace(former, seq_to=None)
    return replace(shown, item=reopened(shown.item, versions))


def context_as_of(me: ScopedMemory, context: Context) -> Context:
    """Show `context` with every item as `version_as_of` shows it."""
    return replace(context, items=tuple(_recalled_as_of(me, recalled) for recalled in context.items))


def _recalled_as_of(me: ScopedMemory, hit: Recalled) -> Recalled:
    if hit.item.state is not State.SUPERSEDED:
        return hit
    versions = _versions(me, hit.item.id)
    former = last_open(versions)
    if former is None:
        return replace(hit, item=reopened(hit.item, versions))
    return replace(hit, item=reopened(former.item, versions), seq=former.seq_from)


def _versions(me: ScopedMemory, item: ItemId) -> list[Version]:
    """Read the versions of an item that are still kept, oldest first, without those of what superseded it."""
    return [version for version in me.history(item) if version.item.id == item]
