"""Resolves what a person types for an id: all of it, its beginning or its end, or `last`: what was said last."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mnemic.artefacts.artefact_records import artefact_of
from mnemic.core.ids import ALPHABET, ItemId, to_bytes
from mnemic.core.items import Kind
from mnemic.core.listing import all_of
from mnemic.core.tokens import BY_MODEL
from mnemic.errors import Invalid, NotFound
from mnemic.lanes.following import FOLLOWS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mnemic.core.items import Item
    from mnemic.memory import ScopedMemory

LEAST: Final = 6
"""Fewest characters that name an item."""
_WHOLE: Final = 26
_COUNTED: Final = 100
"""Most ids that are looked for to say how many a few characters name."""


def resolve(me: ScopedMemory, text: str) -> ItemId:
    """Find the one item that `text` names in this user's memory, whatever its state.

    Ids begin with their time, so items of one import share a beginning; the last six characters tell them apart.

    Raises:
        Invalid: it cannot be an id, or names several.
        NotFound: it names none.
    """
    typed = text.strip().lower()
    if typed == "last":
        return _last(me)
    if len(typed) == _WHOLE:
        to_bytes(typed)
        return ItemId(typed)
    _check(text, typed)
    return _only(typed, me.find_ids(typed, limit=_COUNTED))


def _check(text: str, typed: str) -> None:
    if odd := sorted(set(typed) - set(ALPHABET)):
        problem = f"{text[:60]!r} is not an id: none holds {', '.join(map(repr, odd[:5]))}"
        raise Invalid("id", problem, "`mnemic list` shows the ids; `last` names what was said last.")
    if len(typed) > _WHOLE:
        raise Invalid("id", f"{text[:60]!r} is not an id", f"Ids have {_WHOLE} characters.")
    if len(typed) < LEAST:
        problem = f"{text!r} is too short for an id"
        raise Invalid("id", problem, f"Give {LEAST} or more of its first or last characters, or `last`.")


def resolve_all(me: ScopedMemory, texts: Sequence[str]) -> list[ItemId]:
    """Resolve each of `texts`; repeats count once."""
    return list(dict.fromkeys(resolve(me, text) for text in texts))


def _last(me: ScopedMemory) -> ItemId:
    """Find what was said or stated last.

    What rules or a strategy made of it is written later, and nobody said it; nor did anybody say what `follow` writes,
    or what a model computed.
    """
    for version in all_of(me.list):
        item = version.item
        computed = artefact_of(item.kind, item.channel, item.tags, item.slots) is not None
        if not (computed or _is_derived(item) or FOLLOWS in item.tags):
            return item.id
    raise NotFound("nothing has been remembered for this user yet")


def _is_derived(item: Item) -> bool:
    """Whether an item was made of others: by a strategy, or as a piece of a document that was cut."""
    return bool(item.source) and (item.kind is Kind.CHUNK or item.slots.get("by") not in (None, BY_MODEL))


def _only(typed: str, ids: Sequence[ItemId]) -> ItemId:
    if not ids:
        raise NotFound(f"no item {typed} here; `mnemic list` shows the ids")
    if len(ids) > 1:
        count = f"{len(ids)} items" if len(ids) < _COUNTED else f"{len(ids)} items or more"
        raise Invalid("id", f"{typed!r} names {count}", f"Give more of it, or its last {LEAST} characters.")
    return ids[0]
