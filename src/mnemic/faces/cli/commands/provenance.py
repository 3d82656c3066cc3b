"""`show`: one item, who derived it and from what, what it took the place of, and what ended it."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import click

from mnemic.core.items import EVIDENCE, Channel
from mnemic.core.transitions import SUPERSEDES
from mnemic.errors import NotFound
from mnemic.faces.cli.command import WORDS, past_options, verb
from mnemic.faces.cli.commands.asking import version_as_of
from mnemic.faces.cli.commands.remember import why_withheld
from mnemic.faces.cli.invocation import invocation, looking_at
from mnemic.faces.cli.item_ids import resolve
from mnemic.faces.cli.item_words import said_time
from mnemic.faces.cli.output import cut, flat, indented
from mnemic.operations.records import item_record, link_record, said_on_clock, version_record
from mnemic.strategies.house import withheld_instructions

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mnemic.core.ids import ItemId
    from mnemic.core.items import Item, Link, Strength, Version
    from mnemic.faces.cli.output import Output
    from mnemic.memory import ScopedMemory

_CHAIN: Final = 4
"""Steps from an item to its sources, to theirs, that are shown; evidence has none."""
_EXCERPT: Final = 90
_LOOKUP_KEY: Final = re.compile("[0-9a-f]{16}")
"""A tag by which a strategy finds what it derived: a digest, which tells a person nothing."""


@dataclass(frozen=True, slots=True)
class ItemCard:
    """An item with all that is known about it.

    Attributes:
        sources: What it rests on, and what that rests on, each with its distance, from 1.
        ends: The items at the other ends of its links, by their ids.
        withheld: What it instructs, and does not stand, since somebody else said it.
    """

    version: Version
    links: Sequence[Link]
    strength: Strength
    sources: Sequence[tuple[int, Item]]
    ends: dict[ItemId, Item]
    withheld: Sequence[str]

    def others(self, *, taken: bool) -> list[Item]:
        """What took the item's place, or with `taken` what it took the place of, as far as that is there."""
        links = [link for link in self.links if link.type == SUPERSEDES]
        ids = [link.dst if taken else link.src for link in links if (link.src if taken else link.dst) == self.id]
        return [self.ends[id] for id in ids if id in self.ends]

    @property
    def id(self) -> ItemId:
        return self.version.item.id


@verb(
    "mnemic show last",
    "mnemic show last --json",
    "mnemic show last --as-of today",
)
@click.argument("id", type=WORDS)
@past_options
def show(id: str, **past: str | None) -> None:
    """One item with all that is known about it: who derived it, from what, what has ended it.

    Without a moment in the past it is shown whatever has become of it, unless it was erased.
    """
    run = invocation()
    with run.user_memory() as me:
        card = _card(me, looking_at(me, **past), resolve(me, id), past, run.user)
    if run.output.json:
        run.output.document(_card_record(card))
    else:
        _print_card(run.output, card)


def _card(me: ScopedMemory, then: ScopedMemory, item: ItemId, past: dict[str, str | None], user: str) -> ItemCard:
    """Read all that is known about an item."""
    try:
        version = then.get(item)
    except NotFound:
        if any(past.values()):
            raise
        version = _last_version(me, item)
    if past["as_of"] is not None:
        version = version_as_of(me, version)
    links = then.links(item)
    sources, front, seen = list[tuple[int, "Item"]](), [version.item], {item}
    for step in range(1, _CHAIN + 1):
        cited = [id for each in front for id in each.source if id not in seen]
        seen |= set(cited)
        front = _known(me, dict.fromkeys(cited))
        sources += ((step, each) for each in front)
    ends = _known(me, dict.fromkeys(end for link in links for end in (link.src, link.dst) if end != item))
    withheld = withheld_instructions(version.item, user)
    return ItemCard(version, links, me.strength(item), sources, {each.id: each for each in ends}, withheld)


def _known(me: ScopedMemory, ids: Iterable[ItemId]) -> list[Item]:
    """Read items in whatever state; those that are gone for good are left out."""
    items = []
    for id in ids:
        with suppress(NotFound):
            items.append(_last_version(me, id).item)
    return items


def _last_version(me: ScopedMemory, item: ItemId) -> Version:
    return [version for version in me.history(item) if version.item.id == item][-1]


def _card_record(card: ItemCard) -> dict[str, Any]:
    strength = card.strength
    return {
        **version_record(card.version),
        "derived_by": card.version.item.author,
        "evidence": [
            {
                "id": item_or_id.id,
                "steps": steps,
                "kind": item_or_id.kind.value,
                "said": said_on_clock(item_or_id),
                "text": item_or_id.text,
            }
            for steps, item_or_id in card.sources
        ],
        "superseded_by": [item_or_id.id for item_or_id in card.others(taken=False)],
        "supersedes": [item_or_id.id for item_or_id in card.others(taken=True)],
        "withheld": list(card.withheld),
        "links": [link_record(item_or_id) for item_or_id in card.links],
        "strength": {
            "uses": strength.uses,
            "useful": strength.useful,
            "harms": strength.harms,
            "last_used": strength.last_used,
        },
    }


def _print_card(output: Output, card: ItemCard) -> None:
    version, strength, item = card.version, card.strength, card.version.item
    output.line(f"{output.ink(item.id, fg='yellow')}  {item.kind}, {item.state.name.lower()}")
    output.line(indented(item.text))
    left_out = ("id", "kind", "text", "state", "source")
    shown = {name: value for name, value in item_record(item).items() if name not in left_out}
    if item.author is not None:  # its channel is that of a model if its strategy may ask one, whether or not it did
        shown = shown | {"channel": None, "tags": [tag for tag in item.tags if not _LOOKUP_KEY.fullmatch(tag)]}
    rows = [(name, _cell(value)) for name, value in shown.items() if value not in (None, [], {}, False)]
    rows.append(
        ("written", f"commit {version.seq_from}, {version.recorded:%Y-%m-%d %H:%M:%S} UTC, {_written_by(item)}")
    )
    rows += [("instructs", f"{flat(instruction)}: {why_withheld(item)}") for instruction in card.withheld]
    rows += [("from", f"{'  ' * (steps - 1)}{_item_line(each)}") for steps, each in card.sources]
    if missing := len(set(item.source) - {each.id for _, each in card.sources}):
        rows.append(("from", f"{missing} more that are gone"))
    rows += [("in place of", _item_line(each)) for each in card.others(taken=True)]
    rows += [
        ("ended by" if each.kind in EVIDENCE else "superseded by", _item_line(each))
        for each in card.others(taken=False)
    ]
    if version.seq_to is not None:
        rows.append(("replaced", f"commit {version.seq_to}"))
    if strength.uses or strength.useful or strength.harms:
        rows.append(("used", f"shown {strength.uses}, useful {strength.useful}, misled {strength.harms}"))
    rows += [("link", _linked(item, each, card.ends)) for each in card.links if each.type != SUPERSEDES]
    output.table([(output.dim(name), value) for name, value in rows])


def _written_by(item: Item) -> str:
    """Say who wrote an item: a strategy, an agent's model, or whoever said or stated it."""
    if item.author is not None:
        return f"derived by {flat(item.author)}"
    if item.kind in EVIDENCE:
        return "as it was said" if item.channel is Channel.USER else f"as it came in by {item.channel}"
    return "by a model" if item.channel is Channel.MODEL else "by hand"


def _item_line(item: Item) -> str:
    return f"{item.id}  {said_time(item)}  {item.kind}: {cut(flat(item.text), _EXCERPT)}"


def _cell(value: object) -> str:
    if isinstance(value, dict):
        return flat(", ".join(f"{name}={inner}" for name, inner in value.items()))
    return flat(", ".join(map(str, value)) if isinstance(value, list) else str(value))


def _linked(item: Item, link: Link, ends: dict[ItemId, Item]) -> str:
    other = link.dst if link.src == item.id else link.src
    words = f"  {cut(flat(ends[other].text), _EXCERPT)}" if other in ends else ""
    return f"{link.type} {other}{words}" if link.src == item.id else f"{other} {link.type} this{words}"
