"""`forget` and `erase`: hidden until undone, and gone for good."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final

import click

from mnemic.errors import Invalid, NotFound, Refused
from mnemic.faces.cli.command import WORDS, verb
from mnemic.faces.cli.commands.remember import acknowledge
from mnemic.faces.cli.invocation import Invocation, invocation
from mnemic.faces.cli.item_ids import resolve_all
from mnemic.faces.cli.output import Output, flat, many
from mnemic.operations.records import erasure_record, receipt_record

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mnemic.core.ids import ItemId
    from mnemic.memory import ScopedMemory
    from mnemic.store.values.receipts import ErasureReceipt
    from mnemic.verbs.artefact_keeping import KeptArtefact

PENDING: Final = 7
"""The exit code of an erasure that another process still holds up."""


@verb("mnemic forget last")
@click.argument("ids", type=WORDS, nargs=-1)
@click.option("--by", type=WORDS, metavar="STRATEGY", help="All that a strategy derived of what you said.")
def forget(ids: tuple[str, ...], by: str | None) -> None:
    """Hide items; `undo` brings them back. (`erase` takes them out for good.)

    Name ids, or --by and a strategy, such as house.
    """
    run = invocation()
    if bool(ids) is (by is not None):
        raise Invalid("ids", "or --by: one of them is needed", "`mnemic list` shows ids.")
    with run.user_memory() as me:
        if by is not None:
            receipt = me.forget_by(by)
            hidden = f"{many(len(receipt.ids), 'item')} hidden that {flat(by)} derived"
            back, anew = f"bring back: mnemic undo {receipt.seq}", f"derive anew: mnemic rerun {flat(by)}"
            run.output.answer(receipt_record(receipt), f"{hidden}; {back}; {anew}")
            return
        resolved = resolve_all(me, ids)
        said = _excerpts(me, resolved)
        receipt = me.forget(*resolved)
        if not run.output.json:
            _say(run.output, said)
        then = f"bring back: mnemic undo {receipt.seq}"
        acknowledge(run, "hidden", receipt, then=then, already="was hidden already, nothing changed")


@verb(
    "mnemic erase last --yes",
    "mnemic erase --session trip --yes",
    "mnemic erase --source chat --reason 'asked for by mail' --yes",
    "mnemic erase --everything --yes",
)
@click.argument("ids", type=WORDS, nargs=-1)
@click.option("--source", type=WORDS, metavar="NAME", help="All that was imported under this name.")
@click.option("--everything", is_flag=True, help="All of this user, their name included.")
@click.option("--reason", type=WORDS, help="For the journal; erased itself with the whole user.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
def erase(ids: tuple[str, ...], source: str | None, everything: bool, reason: str | None, yes: bool) -> None:
    """Take out for good: items, a session, a source, everything.

    With all that was derived from them. Name ids, or one of --session, --source and --everything.
    The receipt says which files were cleaned, and what lies outside our hands.
    """
    run = invocation()
    session = run.options.session
    named = [
        name for name, given in (("ids", ids), ("session", session), ("source", source)) if given not in (None, ())
    ]
    if len(named) + everything != 1:
        raise Invalid("ids", "erase takes one of: ids, --session, --source, --everything", "Name just one of them.")
    with run.user_memory(shelved=False) as me:
        resolved = resolve_all(me, ids)
        said = _excerpts(me, resolved)
        if not run.confirm(f"Erase {_target(run, me, resolved, said, session, source)} for good?", yes=yes):
            run.output.note("nothing was erased")
            return
        before = _artefacts(me)
        if everything:
            receipt = me.erase_user(reason=reason or "")
        else:
            receipt = me.erase(*resolved, session=session, source=source, reason=reason or "")
    gone = set(receipt.ids)
    _report(run, receipt, said, [kept for kept in before if kept.id in gone])


_NAMED: Final = 3
"""Items that are shown before they go; the rest are counted."""
_CHARACTERS: Final = 60


def _excerpts(me: ScopedMemory, ids: Sequence[ItemId]) -> list[str]:
    """The texts of items that are shown just now, shortened, as a person is told what will go."""
    said = []
    for item in ids:
        with suppress(NotFound):
            text = " ".join(flat(me.get(item).item.text).split())
            said.append(text if len(text) <= _CHARACTERS else f"{text[: _CHARACTERS - 4].rstrip()} ...")
    return said


def _artefacts(me: ScopedMemory) -> Sequence[KeptArtefact]:
    """What models have computed of this memory, of every session; nothing where the store keeps none."""
    try:
        return me.artefacts.kept()
    except Refused:
        return ()


def _shown(said: Sequence[str]) -> list[str]:
    more = len(said) - _NAMED
    return [*said[:_NAMED], *([f"and {many(more, 'more item')}"] if more > 0 else [])]


def _say(output: Output, said: Sequence[str]) -> None:
    for text in _shown(said):
        output.line(f"    {text}")


def _target(
    run: Invocation,
    me: ScopedMemory,
    ids: Sequence[ItemId],
    said: Sequence[str],
    session: str | None,
    source: str | None,
) -> str:
    if ids:
        return many(len(ids), "item") + (f" ({'; '.join(_shown(said))})" if said else "")
    if session is not None:
        return f"session {session!r}"
    if source is not None:
        return f"everything from source {source!r}"
    return f"everything of user {run.user!r} ({many(me.count(), 'item')})"


def _report(run: Invocation, receipt: ErasureReceipt, said: Sequence[str], artefacts: Sequence[KeptArtefact]) -> None:
    if receipt.seq is None and not (receipt.ids or receipt.left):
        raise NotFound("nothing here is named so; nothing was erased")
    if run.output.json:
        gone = [
            {"id": kept.id, "mechanism": kept.artefact.mechanism, "text": kept.version.item.text} for kept in artefacts
        ]
        run.output.document({**erasure_record(receipt), "artefacts": gone})
    else:
        print_receipt(run.output, receipt, run.seconds)
        _say(run.output, said)
        if artefacts:
            run.output.line(f"{many(len(artefacts), 'artefact')} of models went with it:")
        for kept in artefacts:
            run.output.line(f"    {kept.id}  {flat(kept.artefact.mechanism)}: {flat(kept.version.item.text)}")
        if any(kept.artefact.author for kept in artefacts):
            run.output.line("`mnemic neural learn` learns again from what is left")
    if receipt.status != "clean":
        if run.path is None:
            run.output.note("the server's tables still hold some of it; `mnemic verify` rewrites them, in a quiet hour")
        else:
            whose = (
                "a file beside the store may still hold some of it" if receipt.left else "another process still reads"
            )
            run.output.note(f"{whose}; the next command that opens the store, or `mnemic verify`, goes on with it")
        click.get_current_context().exit(PENDING)


def print_receipt(output: Output, receipt: ErasureReceipt, seconds: float) -> None:
    """Print an erasure's receipt for a person."""
    good = receipt.status == "clean"
    journaled = "in copies alone" if receipt.seq is None else f"commit {receipt.seq}"
    rows = [
        (
            "erased",
            ", ".join((many(len(receipt.ids), "item"), many(receipt.versions, "version"), many(receipt.links, "link"))),
        ),
        ("status", output.ink(receipt.status, fg="green" if good else "red")),
        ("journaled", f"{journaled}, {seconds * 1000:.0f} ms"),
    ]
    rows += [("left" if place == 0 else "", flat(name)) for place, name in enumerate(receipt.left)]
    rows += [("scanned" if place == 0 else "", flat(name)) for place, name in enumerate(receipt.scanned)]
    rows += [("not in our hands" if place == 0 else "", flat(name)) for place, name in enumerate(receipt.outside)]
    output.table(rows)
