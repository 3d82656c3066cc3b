"""Says of an item, in words for a person, who said it, when, and when it holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mnemic.core.clock import source_time
from mnemic.core.items import Channel
from mnemic.faces.cli.output import day, flat
from mnemic.operations.records import day_it_holds, speaker

if TYPE_CHECKING:
    from mnemic.core.items import Item


def source_label(item: Item) -> str:
    """Name who said an item, or what it is; and the strategy that derived it by a model or in its place, else the
    channel it came by, if that was not the user's."""
    title = item.slots.get("title")
    name = speaker(item) or (title if isinstance(title, str) and title else item.kind.value)
    return flat(name if item.channel in (Channel.USER, Channel.IMPORT) else f"{name} ({item.author or item.channel})")


def said_time(item: Item) -> str:
    """Write when an item was said, on its source's own clock."""
    return day(source_time(item.said, item.said_offset))


def validity(item: Item) -> str:
    """Write when an item holds in the world, as an interval of days; "" where nothing is said about it."""
    if item.valid_from is None and item.valid_to is None:
        return ""
    start = f"from {day_it_holds(item, item.valid_from)}" if item.valid_from else ""
    end = f"until {day_it_holds(item, item.valid_to)}" if item.valid_to else ""
    return " ".join(part for part in ("holds", start, end) if part)
