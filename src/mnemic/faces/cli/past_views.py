"""What a view of an earlier knowledge shows of an item that was closed since: the item as it stood then."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mnemic.core.items import State

if TYPE_CHECKING:
    from mnemic.core.items import Item, Version
    from mnemic.core.queries import Context, Recalled
    from mnemic.memory import ScopedMemory


def version_then(me: ScopedMemory, version: Version) -> Version:
    """`version`, seen as of a moment, without the end that only became known after it.

    Args:
        me: A handle on now, which knows the item's former versions.
    """
    if version.item.state is not State.SUPERSEDED:
        return version
    return _before_its_end(me, version.item) or replace(version, item=_open(version.item))


def context_then(me: ScopedMemory, context: Context) -> Context:
    """`context` with every item as `version_then` shows it."""
    return replace(context, items=tuple(_recalled_then(me, one) for one in context.items))


def _recalled_then(me: ScopedMemory, one: Recalled) -> Recalled:
    if one.item.state is not State.SUPERSEDED:
        return one
    before = _before_its_end(me, one.item)
    return replace(one, item=before.item, seq=before.seq_from) if before else replace(one, item=_open(one.item))


def _before_its_end(me: ScopedMemory, item: Item) -> Version | None:
    """The last version before it was superseded; None if it arrived so, or if that version is no longer kept."""
    former = [v for v in me.history(item.id) if v.item.id == item.id and v.item.state is State.ACTIVE]
    return replace(former[-1], seq_to=None) if former else None


def _open(item: Item) -> Item:
    return replace(item, state=State.ACTIVE, known_to=None, valid_to=None)
