"""What stands beside an answer: what was recalled and why, and what was written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from mnemic.core.items import Kind
from mnemic.faces.cli.item_ids import LEAST
from mnemic.faces.cli.json_records import said, who
from mnemic.faces.cli.output import cut, flat, many

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mnemic.core.items import Item
    from mnemic.core.queries import Context
    from mnemic.faces.chat.conversation import Turn

SHOWN: Final = 5
"""Recalled items that are shown at once; `/why` shows all."""

_TEXT: Final = 140
"""Columns of an item's text that are shown at once."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line beside an answer: what it says, how far it is set in, and whether it is a heading or an aside."""

    text: str
    indent: int = 0
    heading: bool = False
    aside: bool = False


def short(id: str) -> str:
    """Shorten an id to what still names it in a command: its end."""
    return id[-LEAST:]


def recalled_rows(context: Context) -> Iterator[Row]:
    """Yield the rows about what was recalled, best first, each with its reasons."""
    if not context.items and not context.always:
        yield Row("recalled nothing", heading=True)
        return
    yield Row(
        f"recalled {many(len(context.items), 'item')} of {context.considered:,}, {many(context.tokens, 'token')}, "
        f"confidence {context.confidence:.2f}",
        heading=True,
    )
    for rank, one in enumerate(context.items[:SHOWN], start=1):
        yield Row(f"{rank} {short(one.id)} {said(one.item)} {who(one.item)}, score {one.score:.2f}", indent=1)
        yield Row(_quoted(one.item), indent=3)
        if one.reasons:
            yield Row("why: " + "; ".join(map(flat, one.reasons)), indent=3, aside=True)
    if len(context.items) > SHOWN:
        yield Row(f"and {len(context.items) - SHOWN} more: /why", indent=1, aside=True)
    for item in context.always:
        yield Row(f"always {short(item.id)} {_sort(item)}: {_quoted(item)}", indent=1)
    for note in context.notes:
        yield Row(flat(note), indent=1, aside=True)


def written_rows(turn: Turn) -> Iterator[Row]:
    """Yield the rows about what a person's turn wrote, and what rules derived from it."""
    yield Row("written", heading=True)
    ids = turn.written.ids
    more = f" and its {many(len(ids) - 1, 'part')}" if len(ids) > 1 else ""
    yield Row(f"+ {short(ids[0])} what you said{more}, commit {turn.written.seq}", indent=1)
    for item in turn.derived:
        yield Row(f"+ {short(item.id)} {_sort(item)}: {_quoted(item)}", indent=1)
    for item in turn.closed:
        yield Row(f"- {short(item.id)} no longer: {_quoted(item)}", indent=1)
    for kind, count in turn.written.masked:
        yield Row(f"masked before it was written: {count} x {kind}", indent=1)


def answer_rows(turn: Turn) -> Iterator[Row]:
    """Yield the rows about what the answer wrote."""
    if turn.reply is not None:
        yield Row(f"+ {short(turn.reply.id)} what the model said, commit {turn.reply.seq}", indent=1)
        for kind, count in turn.reply.masked:
            yield Row(f"masked before it was written: {count} x {kind}", indent=1)


def _quoted(item: Item) -> str:
    return f'"{cut(flat(item.text), _TEXT)}"'


def _sort(item: Item) -> str:
    from mnemic.recall.always import is_standing

    if is_standing(item):
        return "standing instruction"
    if item.kind is Kind.PROCEDURE and item.slots.get("standing") is False:
        return "instruction taken back"
    return "pinned" if item.pinned else item.kind.value
