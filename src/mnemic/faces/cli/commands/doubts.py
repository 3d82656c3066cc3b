"""`review`, `settle`: facts of the profile that something said later puts in doubt, and what is so."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from mnemic.errors import NotFound
from mnemic.faces.cli.command import WORDS, past_options, verb
from mnemic.faces.cli.commands.remember import acknowledge
from mnemic.faces.cli.invocation import argument_text, invocation, looking_at
from mnemic.faces.cli.item_ids import resolve
from mnemic.faces.cli.json_records import doubt_record, said_time
from mnemic.faces.cli.output import excerpt, indented, plain

if TYPE_CHECKING:
    from mnemic.core.ids import ItemId
    from mnemic.faces.cli.output import Output
    from mnemic.memory import ScopedMemory
    from mnemic.recall.doubt import Doubt


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
    for item, text in ((doubt.fact, doubt.fact.text), (doubt.newer, doubt.sentence)):
        output.line(f"{output.ink(item.id, fg='yellow')}  {said_time(item)}")
        output.line(indented(excerpt(text, item.id)))
    output.line(output.dim(f"   why: the second {plain(doubt.reason)}"))


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
