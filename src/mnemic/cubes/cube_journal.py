"""The text of a cube: what one memory holds, in the event lines of `mnemic export`, item by item with its versions.

What belongs to the chain of one store, salts and digests and the numbers of spaces, is left out: an import writes a
commit of its own.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from mnemic.artefacts.artefact_records import Artefact, artefact_of
from mnemic.core.checking import clean_name, flag, list_of, mapping, member, number, optional, record, within, words
from mnemic.core.clock import micros
from mnemic.core.ids import ItemId, from_bytes, item_id, to_bytes
from mnemic.core.items import Item, Link, State, Version
from mnemic.errors import Invalid
from mnemic.store.engine.codec import decode_item, encode_item, encode_link
from mnemic.store.engine.journal_io import UNREADABLE, journal_line

_DAY_OF_MINUTES: Final = 24 * 60

_item = record(
    Item,
    {
        "text": words, "said_offset": within(-_DAY_OF_MINUTES + 1, _DAY_OF_MINUTES - 1), "key": optional(words),
        "slots": mapping, "source": list_of(item_id), "context": list_of(item_id), "tags": list_of(clean_name),
        "pinned": flag, "agent": optional(clean_name), "session": optional(clean_name), "pos": within(-(2**62)),
        "state": member(State),
    },
)  # fmt: skip
_link = record(
    Link, {"type": clean_name, "weight": number, "evidence": list_of(item_id), "by": words, "upkeep": flag}
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class CubeJournal:
    """What a cube says.

    Attributes:
        stories: The versions of each item, oldest first, in the order in which what stands was written.
        links: Those that stand.
    """

    stories: Mapping[ItemId, tuple[Item, ...]]
    links: tuple[Link, ...]

    def artefacts(self) -> dict[ItemId, Artefact]:
        """What it says of artefacts that stand, by their items."""
        said = {id: described(story[-1]) for id, story in self.stories.items() if story[-1].state is State.ACTIVE}
        return {id: artefact for id, artefact in said.items() if artefact is not None}


def described(item: Item) -> Artefact | None:
    """What an item says of an artefact; None where it is none."""
    return artefact_of(item.kind, item.channel, item.tags, item.slots)


def story_lines(story: Sequence[Version], links: Iterable[Link]) -> Iterator[bytes]:
    """An item as lines: its versions, oldest first, and the links that start at it."""
    for version in story:
        event = {"item": to_bytes(version.item.id).hex(), "seq": version.seq_from}
        yield journal_line("event", {**event, "version": encode_item(version.item).decode()})
    for link in links:
        told = {"dst": to_bytes(link.dst).hex(), "body": encode_link(link).decode()}
        yield journal_line("event", {"item": to_bytes(link.src).hex(), "link": told})


def read_journal(raw: bytes) -> CubeJournal:
    """Read the lines of a cube, each field of them checked.

    Raises:
        Invalid: a line is none of a cube's.
    """
    stories: dict[ItemId, list[Item]] = {}
    links: dict[tuple[ItemId, ItemId, str], Link] = {}
    seqs: dict[ItemId, int] = {}
    for place, line in enumerate(raw.removesuffix(b"\n").split(b"\n") if raw else (), start=1):
        try:
            ((kind, event),) = json.loads(line).items()
            if kind != "event":
                raise ValueError(kind)
            id = _id(event["item"])
            if "link" in event:
                link = _read_link(id, event["link"])
                links[link.src, link.dst, link.type] = link
                continue
            item = _item("item", decode_item(id, event["version"].encode()))
            for when in (item.said, item.known_to, item.valid_from, item.valid_to, item.expires):
                if when is not None:
                    micros(when)
            if type(event["seq"]) is not int or event["seq"] <= seqs.get(id, 0):
                raise ValueError(event["seq"])
            seqs[id] = event["seq"]
            stories.setdefault(id, []).append(item)
        except Invalid as error:
            raise _refused(f"line {place} is none of a memory ({error.field} {error.problem})") from error
        except UNREADABLE as error:
            raise _refused(f"line {place} is none of a memory") from error
    return CubeJournal({id: tuple(story) for id, story in stories.items()}, tuple(links.values()))


def _refused(problem: str) -> Invalid:
    return Invalid("file", problem, "Nothing was taken from it. Export it again with `mnemic cube export`.")


def _id(told: str) -> ItemId:
    raw = bytes.fromhex(told)
    if len(raw) != 16:
        raise ValueError(told)
    return from_bytes(raw)


def _read_link(src: ItemId, told: Mapping[str, Any]) -> Link:
    said = json.loads(told["body"])
    link = Link(
        src=src, dst=_id(told["dst"]), type=said["type"], weight=said["weight"],
        evidence=tuple(said.get("evidence", ())), by=said.get("by", ""), upkeep=said.get("upkeep", False),
    )  # fmt: skip
    checked: Link = _link("link", link)
    return checked
