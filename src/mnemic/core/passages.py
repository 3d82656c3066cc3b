"""What is embedded of an item: each of its parts, with who said it or what it is a part of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mnemic.core.tokens import BY_RULES, part_texts

if TYPE_CHECKING:
    from mnemic.core.items import Item


def passage_texts(item: Item) -> list[str]:
    """One text for each part of an item, in the order of its entries: "speaker: words", or "title, heading: words".

    None for what rules derived, which says what its evidence says.
    """
    if item.slots.get("by") == BY_RULES and item.source:
        return []
    head = _head(item)
    return [f"{head}: {part}" if head else part for part in part_texts(item)]


def _head(item: Item) -> str:
    """Whose words, or of what document: without it a vector cannot tell two speakers apart."""
    slots = item.slots
    speaker = slots.get("speaker") or slots.get("role")
    if isinstance(speaker, str):
        return speaker
    headings = (slots.get(name) for name in ("title", "heading"))
    return ", ".join(text for text in headings if isinstance(text, str) and text)
