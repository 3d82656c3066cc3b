"""What a folder shows of an item, and what of that counts as changed."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from mnemic.core.clock import source_time
from mnemic.core.items import Item, Kind

_BLANK_ENDS: Final = re.compile(r"[ \t]+$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownItem:
    """What a folder shows of an item; two that are equal say the same.

    Attributes:
        text: As `plain_text` leaves it.
        name: Who said it; "" where nobody is named.
        day, time: When a piece of evidence was said, on its own clock: `2026-03-01`, `14:05`; "" for anything else.
        title, tags: Of a document.
    """

    text: str
    name: str = ""
    day: str = ""
    time: str = ""
    pinned: bool = False
    title: str = ""
    tags: tuple[str, ...] = ()

    def completed(self, known: ShownItem) -> ShownItem:
        """Take over from `known` what a person has left out of an entry: who, when, the title."""
        return replace(
            self,
            name=self.name or known.name,
            day=self.day or known.day,
            time=self.time or known.time,
            title=self.title or known.title,
        )

    @property
    def digest(self) -> str:
        """A short hash of all of it, by which a folder's manifest tells whether an entry was edited."""
        shown = [self.text, self.name, self.day, self.time, self.pinned, self.title, list(self.tags)]
        encoded = json.dumps(shown, ensure_ascii=False, separators=(",", ":")).encode(errors="surrogatepass")
        return hashlib.blake2b(encoded, digest_size=12).hexdigest()


def plain_text(text: str) -> str:
    """Leave out of a text what editors change by themselves: sorts of line ends, blanks that end lines, outer lines."""
    unified = text.replace("\r\n", "\n").replace("\r", "\n")
    return _BLANK_ENDS.sub("", unified).strip("\n")


def shown_document(item: Item, text: str) -> ShownItem:
    """What the file of a document shows; `text` is all of it, also where the item holds a title alone."""
    said = source_time(item.said, item.said_offset)
    title = item.slots.get("title")
    return ShownItem(
        text=plain_text(text),
        day=_day(said),
        time=f"{said:%H:%M}",
        pinned=item.pinned,
        title=title if isinstance(title, str) else "",
        tags=tuple(sorted(item.tags)),
    )


def shown_turn(item: Item) -> ShownItem:
    """What a conversation shows of a turn."""
    said = source_time(item.said, item.said_offset)
    return ShownItem(
        text=plain_text(item.text),
        name=speaker_shown(item),
        day=_day(said),
        time=f"{said:%H:%M}",
        pinned=item.pinned,
    )


def shown_statement(item: Item) -> ShownItem:
    """What a list of statements shows of one."""
    return ShownItem(text=plain_text(item.text), pinned=item.pinned)


def shown_item(item: Item, text: str) -> ShownItem:
    """What a folder shows of an item, by its kind."""
    if item.kind in (Kind.DOCUMENT, Kind.CHUNK):
        return shown_document(item, text)
    return shown_turn(item) if item.kind is Kind.TURN else shown_statement(item)


def speaker_shown(item: Item) -> str:
    """The name or the role of who said a turn, if it is one that a line can show."""
    for slot in ("speaker", "role"):
        name = item.slots.get(slot)
        if isinstance(name, str) and name and name == name.strip() and not re.search(r"[\x00-\x1f\x7f]", name):
            return name
    return ""


def _day(said: datetime) -> str:
    return f"{said.year:04}-{said:%m-%d}"
