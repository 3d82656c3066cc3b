"""`profile`, `review`, `settle`: what memory takes to be so of you, what puts that in doubt, and what is so."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

import click

from mnemic.errors import NotFound
from mnemic.faces.cli.command import WORDS, past_options, verb
from mnemic.faces.cli.commands.remember import acknowledge
from mnemic.faces.cli.invocation import argument_text, invocation, looking_at
from mnemic.faces.cli.item_ids import resolve
from mnemic.faces.cli.item_words import said_time
from mnemic.faces.cli.output import cut, excerpt, flat, indented, plain
from mnemic.operations.records import belief_record, doubt_record, since, until

if TYPE_CHECKING:
    from mnemic.core.ids import ItemId
    from mnemic.faces.cli.output import Output
    from mnemic.memory import ScopedMemory
    from mnemic.recall.beliefs import Belief
    from mnemic.recall.doubt import Doubt

_SOURCES: Final = 2
_EXCERPT: Final = 90
"""Sources of a fact that are shown, and columns of each."""


@verb("mnemic profile", "mnemic profile --history", "mnemic profile --as-of 2025-03-31 --json")
@click.option("--history", is_flag=True, help="Also what was so before.")
@past_options
def profile(history: bool, **past: str | None) -> None:
    """What memory believes of you: since when, derived by whom, from what, what is in doubt.

    It is the profile, and what the strategies that you follow keep about you.
    """
    run = invocation()
    with run.caught_up_memory() as me:
        beliefs = looking_at(me, **past).profile(history=history)
    if run.output.json:
        for belief in beliefs:
            run.output.record(belief_record(belief))
        return
    for whom, about_one in groupby(beliefs, key=lambda each: each.subject):
        run.output.line(run.output.bold("you" if whom == "user" else plain(whom)))
        for matter, some in groupby(about_one, key=lambda each: each.matter):
            run.output.line(run.output.ink(f" {plain(matter.replace('_', ' ')) or 'more'}", fg="cyan"))
            for belief in some:
                _print_belief(run.output, belief)
    if not beliefs:
        run.output.note("nothing is known of you yet: say who you are, or `mnemic follow` a strategy that keeps facts")


def _print_belief(output: Output, belief: Belief) -> None:
    fact = belief.facts[0]
    over = f", until {until(fact)}" if belief.ended else ""
    output.line(indented(excerpt(belief.text, fact.id)))
    by = ", ".join(plain(name) or "by hand" for name in belief.by)
    output.line(f"     {output.ink(fact.id, fg='yellow')}  {output.dim(f'since {since(fact)}{over}; {by}')}")
    if belief.doubt is not None:
        newer = belief.doubt.newer
        output.line(output.ink(f'     in doubt: "{flat(belief.doubt.sentence)}"', fg="red"))
        output.line(output.dim(f"       {newer.id}  {said_time(newer)}  it {plain(belief.doubt.reason)}"))
    for source in belief.evidence[:_SOURCES]:
        output.line(output.dim(f"     from {source.id}  {said_time(source)}  {cut(flat(source.text), _EXCERPT)}"))
    if (more := len(belief.evidence) - _SOURCES) > 0:
        output.line(output.dim(f"     and from {more} more; `mnemic show {fact.id}`"))
    for text, old in {flat(old.text): old for old in reversed(belief.former)}.items():
        output.line(output.dim(f"     before, {since(old)} to {until(old)}: {cut(text, _EXCERPT)}"))


@verb("mnemic review", "mnemic review --json")
@past_options
def review(**past: str | None) -> None:
    """Facts about you that something said later puts in doubt, with both sentences.

    `settle` ends a doubt.
    """
    run = invocation()
    with run.caught_up_memory() as me:
        doubts = looking_at(me, **past).review()
    if run.output.json:
        for doubt in doubts:
            run.output.record(doubt_record(doubt))
        return
    for doubt in doubts:
        _print_doubt(run.output, doubt)
    if not doubts:
        run.output.note("nothing is in doubt")


def _print_doubt(output: Output, doubt: Doubt) -> None:
    from mnemic.recall.profile import is_only_confirmed

    for item, text in ((doubt.fact, doubt.fact.text), (doubt.newer, doubt.sentence)):
        output.line(f"{output.ink(item.id, fg='yellow')}  {said_time(item)}")
        output.line(indented(excerpt(text, item.id)))
    output.line(output.dim(f"   why: the second {plain(doubt.reason)}"))
    ends = f"mnemic forget {doubt.fact.id}" if is_only_confirmed(doubt.fact) else "--ended or --value instead of --keep"
    output.line(output.dim(f"   it is so: mnemic settle {doubt.fact.id} --keep; it is not: {ends}"))


@verb(
    "mnemic settle last --keep",
    "mnemic settle last --value Globex --json",
)
@click.argument("id", type=WORDS)
@click.option("--keep", is_flag=True, help="It is so: what was said until now puts it in doubt no more.")
@click.option("--ended", is_flag=True, help="It is so no longer.")
@click.option("--value", type=WORDS, metavar="TEXT", help="What is so instead, such as a city's name.")
@click.option("--replaced-by", type=WORDS, metavar="ID", help="The item that says what is so instead.")
def settle(id: str, **outcome: Any) -> None:
    """Say whether a fact about you is so.

    ID is the fact, or `last` for the one that `review` lists last. Name one of the options; --replaced-by may stand
    beside --ended or --value. `undo` takes it back.
    """
    run = invocation()
    value = outcome["value"]
    if value is not None:
        outcome["value"] = argument_text(value, run.settings)
    with run.user_memory() as me:
        newer = outcome["replaced_by"]
        outcome["replaced_by"] = None if newer is None else resolve(me, newer)
        receipt = me.settle(_fact(me, id), **outcome)
        acknowledge(run, "settled", receipt, then=f"take it back: mnemic undo {receipt.seq}")


def _fact(me: ScopedMemory, typed: str) -> ItemId:
    if typed.strip().lower() != "last":
        return resolve(me, typed)
    doubts = me.review()
    if not doubts:
        raise NotFound("nothing is in doubt")
    return doubts[-1].fact.id
