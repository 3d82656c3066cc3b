"""`add`, `fact`, `supersede`, `revise`, `pin`, `unpin`: the words that go in."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

import click

from mnemic.core.clock import span
from mnemic.core.items import EVIDENCE, Kind, State
from mnemic.errors import Invalid, NotFound
from mnemic.faces.cli.command import WORDS, verb
from mnemic.faces.cli.invocation import Invocation, checked_words, invocation, naming_option
from mnemic.faces.cli.item_ids import resolve, resolve_all
from mnemic.faces.cli.output import flat, many
from mnemic.operations.records import receipt_record
from mnemic.strategies.house import withheld_instructions

if TYPE_CHECKING:
    from mnemic.core.events import Receipt
    from mnemic.core.ids import ItemId
    from mnemic.core.items import Item
    from mnemic.memory import ScopedMemory

_STATED: Final = [kind.value for kind in Kind if kind not in EVIDENCE]


def read_said(text: str | None, zone: str | None, field: str) -> datetime | None:
    """A moment given to a verb: with its zone, or else in that of `--zone`, or else in the setting `timezone`.

    Raises:
        Invalid: no time.
    """
    if text is None and zone is None:
        return None
    from mnemic.ingest.timestamps import known_zone, said_at

    known_zone(zone)
    with naming_option(field):
        return said_at(text, zone or invocation().settings.timezone)


def read_expires(text: str | None, zone: str | None) -> datetime | timedelta | None:
    """When something expires, as it is given on a write: a moment as above, or how long from now.

    Raises:
        Invalid: it is neither.
    """
    if text is None:
        return None
    length = span(text)
    return read_said(text, zone, "expires") if length is None else timedelta(microseconds=min(length, _LONGEST))


_LONGEST: Final = timedelta.max // timedelta(microseconds=1)
"""Longer than anything that can be counted from now on, which is refused."""


def acknowledge(
    run: Invocation,
    did: str,
    receipt: Receipt,
    *,
    closed: ItemId | None = None,
    then: str = "",
    already: str = "",
) -> None:
    """Say what a write did: `did` to each item but `closed`, which it closed; `already` if nothing had to be done."""
    took = run.seconds * 1000
    output = run.output
    if output.json:
        output.document({**receipt_record(receipt), "milliseconds": round(took, 3)})
        return
    repeated = bool(receipt.repeated) and receipt.repeated == len(receipt.ids)
    said = (already or "was there already") if repeated else did
    for item_id in receipt.ids:
        output.line(f"{'closed' if item_id == closed else said} {output.ink(item_id, fg='yellow')}")
    if repeated and already:
        return
    output.line(output.dim(f"commit {receipt.seq}, durable in {took:.1f} ms"))
    for kind, count in receipt.masked:
        output.note(f"masked before it was written: {count} x {kind} (setting mask_secrets)")
    if receipt.behind:
        output.note(f"{many(receipt.behind, 'passage')} wait to be understood: `mnemic flush` or `mnemic worker`")
    if then:
        output.line(then)


def note_withheld(run: Invocation, me: ScopedMemory, receipt: Receipt) -> None:
    """Tell a person that what was just said instructs, and does not stand, since its speaker need not be the user."""
    if (
        run.output.json or len(receipt.ids) > 1 or receipt.repeated
    ):  # a text in parts is a document, and instructs nobody
        return
    with suppress(NotFound):  # it has expired already
        item = me.get(receipt.id).item
        for instruction in withheld_instructions(item, run.user):
            run.output.note(f"{instruction}: {why_withheld(item)}")


def why_withheld(item: Item) -> str:
    """Say why an instruction of an item does not stand, and how it would."""
    return (
        f"kept as {flat(str(item.slots['speaker']))}'s, not yours: it does not stand. "
        "What you say yourself does: without --speaker, or with --role user"
    )


def said_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add what can be told of words that were said: by whom, when, under which key."""
    for name, metavar, text in (
        ("--key", None, "Makes a retry safe: the same words and --said again under this key write nothing."),
        ("--expires", "TIME", "From when on nobody is shown it: a time, or how long from now, such as 30d."),
        ("--zone", None, "Zone of times given without one (left out: setting `timezone`)."),
        ("--said", "TIME", "When it was said (left out: now)."),
        ("--role", None, "In which role, such as user or assistant."),
        ("--speaker", None, "Who said it."),
    ):
        function = click.option(name, type=WORDS, metavar=metavar, help=text)(function)
    return click.option("--tag", "tags", type=WORDS, multiple=True, help="A tag; may be repeated.")(function)


def said_fields(said: str | None, zone: str | None, **fields: Any) -> dict[str, Any]:
    """What `said_options` were given, as the library takes it."""
    return {"said": read_said(said, zone, "said"), **fields, "expires": read_expires(fields["expires"], zone)}


@verb(
    'mnemic add "I moved from Paris to Lisbon in March."',
    'mnemic add "See you on Friday!" --speaker Ben --session trip --said 2025-03-02T18:30:00+00:00',
    'echo "The wifi password is on the fridge." | mnemic add -',
    'mnemic add "The door code is 4711 this week." --expires 7d',
    'mnemic add "Dinner at eight." --said "2025-03-02 18:30" --zone Europe/Lisbon --key mail:42',
)
@click.argument("text", type=WORDS)
@said_options
def add(text: str, **options: Any) -> None:
    """Remember something, in the words it was given.

    TEXT `-` reads standard input.
    """
    run = invocation()
    fields = said_fields(**options)
    words = checked_words(text, run.settings)
    with run.user_memory(create=True) as me:
        receipt = me.observe(words, **fields)
        if len(receipt.ids) == 1 or run.output.json:
            acknowledge(run, "remembered", receipt)
        else:
            _acknowledge_parts(run, receipt)
        note_withheld(run, me, receipt)


def _acknowledge_parts(run: Invocation, receipt: Receipt) -> None:
    """A long text makes a document and its parts: one line names it, however many those are."""
    document, *parts = receipt.ids
    there = ", was there already" if receipt.repeated == len(receipt.ids) else ""
    whole = replace(receipt, ids=(document,), repeated=0)
    acknowledge(run, f"1 document in {many(len(parts), 'part')}{there}:", whole)


def _statement_options(function: Callable[..., Any]) -> Callable[..., Any]:
    for option in (
        click.option("--key", type=WORDS, help="Makes a retry safe."),
        click.option("--tag", "tags", type=WORDS, multiple=True, help="A tag; may be repeated."),
        click.option("--from", "sources", type=WORDS, multiple=True, metavar="ID", help="Evidence it rests on."),
        click.option("--zone", type=WORDS, help="Zone of times given without one (left out: setting `timezone`)."),
        click.option(
            "--said", type=WORDS, metavar="TIME", help="When it was said (left out: as its evidence, or now)."
        ),
        click.option(
            "--expires", type=WORDS, metavar="TIME", help="From when on nobody is shown it: a time, or such as 30d."
        ),
        click.option("--valid-to", type=WORDS, metavar="TIME", help="Until when it held."),
        click.option("--valid-from", type=WORDS, metavar="TIME", help="Since when it holds (left out: since said)."),
        click.option("--kind", type=click.Choice(_STATED), default="fact", show_default=True, help="What it is."),
    ):
        function = option(function)
    return function


def _fields(kind: str, zone: str | None, **fields: Any) -> dict[str, Any]:
    """What `_statement_options` were given, as the library takes it."""
    moments = {
        name: read_said(fields[name], zone, name.replace("_", "-")) for name in ("valid_from", "valid_to", "said")
    }
    return {**fields, "kind": Kind(kind), **moments, "expires": read_expires(fields["expires"], zone)}


@verb(
    'mnemic fact "Ada lives in Paris."',
    'mnemic fact "Ada is a vegetarian." --valid-from 2019-09-01T00:00:00+01:00 --from last',
    'mnemic fact "Prefers mornings." --kind profile --tag habits',
)
@click.argument("text", type=WORDS)
@_statement_options
def fact(text: str, sources: tuple[str, ...], **options: Any) -> None:
    """Write a statement, something held to be true.

    It can later be revised, or superseded.
    """
    run = invocation()
    fields = _fields(**options)
    words = checked_words(text, run.settings)
    with run.user_memory(create=True) as me:
        receipt = me.write(words, **fields, source=resolve_all(me, sources))
        acknowledge(run, "wrote", receipt)


@verb(
    'mnemic supersede last "Ada lives in Lisbon." --valid-from 2025-03-15T00:00:00+00:00',
)
@click.argument("id", type=WORDS)
@click.argument("text", type=WORDS)
@_statement_options
def supersede(id: str, text: str, sources: tuple[str, ...], **options: Any) -> None:
    """Say that the world has changed.

    TEXT takes the place of the item ID from its --valid-from on; what was true before stays known.
    """
    run = invocation()
    fields = _fields(**options)
    words = checked_words(text, run.settings)
    with run.user_memory() as me:
        old = resolve(me, id)
        receipt = me.supersede(old, words, **fields, source=resolve_all(me, sources))
        acknowledge(run, "wrote", receipt, closed=_closed(me, receipt), then=f"see both: mnemic history {old}")


def _closed(me: ScopedMemory, receipt: Receipt) -> ItemId | None:
    """Which of a supersession's items is closed: the older one, which may be the new words."""
    for version in me.history(receipt.id):
        if version.seq_from == receipt.seq and version.item.state is State.SUPERSEDED:
            return version.item.id
    return None


@verb(
    'mnemic revise last "Ada lives in Paris, near the canal."',
    "mnemic revise last --valid-to 2025-03-15T00:00:00+00:00",
)
@click.argument("id", type=WORDS)
@click.argument("text", type=WORDS, required=False)
@click.option("--valid-from", type=WORDS, metavar="TIME", help="Since when it holds.")
@click.option("--valid-to", type=WORDS, metavar="TIME", help="Until when it held.")
@click.option("--expires", type=WORDS, metavar="TIME", help="When it expires: a time, such as 30d, or never.")
@click.option("--zone", type=WORDS, help="Zone of times given without one.")
@click.option("--tag", "tags", type=WORDS, multiple=True, help="Its tags from now on; may be repeated.")
def revise(
    id: str,
    text: str | None,
    valid_from: str | None,
    valid_to: str | None,
    expires: str | None,
    zone: str | None,
    tags: tuple[str, ...],
) -> None:
    """Correct what a statement says.

    What it said before stays in its history. What was said or read (evidence) is never revised,
    but for when it expires.
    """
    run = invocation()
    given = {"valid_from": valid_from, "valid_to": valid_to}
    moments = {name: read_said(when, zone, name.replace("_", "-")) for name, when in given.items()}
    changes: dict[str, Any] = {name: when for name, when in moments.items() if when is not None}
    if expires is not None:
        changes["expires"] = None if expires == "never" else read_expires(expires, zone)
    if tags:
        changes["tags"] = tags
    if text is None and not changes:
        raise Invalid("text", "is missing", "Give the corrected words, or an option that changes something.")
    words = None if text is None else checked_words(text, run.settings)
    with run.user_memory() as me:
        acknowledge(run, "revised", me.revise(resolve(me, id), words, **changes))


@verb("mnemic pin last")
@click.argument("ids", type=WORDS, nargs=-1, required=True)
def pin(ids: tuple[str, ...]) -> None:
    """Keep items at hand, whatever a policy says."""
    run = invocation()
    with run.user_memory() as me:
        acknowledge(run, "pinned", me.pin(*resolve_all(me, ids)), already="was pinned already, nothing changed")


@verb("mnemic unpin last")
@click.argument("ids", type=WORDS, nargs=-1, required=True)
def unpin(ids: tuple[str, ...]) -> None:
    """Let pinned items go again."""
    run = invocation()
    with run.user_memory() as me:
        acknowledge(run, "unpinned", me.unpin(*resolve_all(me, ids)), already="was not pinned, nothing changed")
