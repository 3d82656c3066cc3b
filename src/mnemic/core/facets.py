"""Facets: what a filter asks of an item's tags, slots and author, each as a digest of one size, however long it is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    from mnemic.core.items import Slot

SlotValue: TypeAlias = str | int | bool | None
"""A value of a slot that a filter can ask for."""

WIDEST: Final = 2**63 - 1
"""The largest whole number that a filter can ask for; the least is one below its negative."""

_SIZE: Final = 16


@lru_cache(maxsize=4096)
def tag_facet(tag: str) -> bytes:
    """Digest one tag."""
    return blake2b(tag.encode(), digest_size=_SIZE, person=b"tag").digest()


def tag_facets(tags: Iterable[str]) -> set[bytes]:
    """Digest the tags of an item, each once."""
    return {tag_facet(tag) for tag in tags}


@lru_cache(maxsize=256)
def author_facet(author: str) -> bytes:
    """Digest the name of the strategy that derived an item."""
    return blake2b(author.encode(), digest_size=_SIZE, person=b"author").digest()


def written_facets(tags: Iterable[str], author: str | None) -> set[bytes]:
    """Digest what is written down with a version, in its transaction: its tags, and who derived it."""
    return tag_facets(tags) | (set() if author is None else {author_facet(author)})


def slot_facet(name: str, value: Slot) -> bytes | None:
    """Digest a slot; None for a value that no filter can ask for: a list, a mapping, a fraction, too large a number.

    Numbers that are equal have one digest, `True` and 1 too: filters compare as Python does.
    """
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int) and -WIDEST - 1 <= value <= WIDEST:
        held = b"i%d" % value
    elif isinstance(value, str):
        held = b"s" + value.encode()
    elif value is None:
        held = b"n"
    else:
        return None
    key = name.encode()
    return blake2b(b"%d:%b%b" % (len(key), key, held), digest_size=_SIZE, person=b"slot").digest()


def slot_facets(slots: Mapping[str, Slot], names: Iterable[str]) -> set[bytes]:
    """Digest those slots of an item that have one of these names and a value that a filter can ask for."""
    facets = (slot_facet(name, slots[name]) for name in names if name in slots)
    return {facet for facet in facets if facet is not None}
