"""What a view of an earlier knowledge shows of an item that was closed since: the item as it stood then."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mnemic.core.items import State
from mnemic.core.transitions import last_open, reopened

if TYPE_CHECKING:
    from mnemic.core.ids import ItemId
    from mnemic.core.items import Version
    from mnemic.core.queries import Context, Recalled
    from mnemic.memory import ScopedMemory


def version_then(me: ScopedMemory, version: Version) -> Version:
    """Show `version`, seen as of a moment, without the end that only became known after it.

    Args:
        me: A handle on now, which knows the item's former versions.
    """
    if version.item.state is not State.SUPERSEDED:
        return version
    versions = _versions(me, version.item.id)
    former = last_open(versions)
    shown = version if former is None else replace(former, seq_to=None)
    return replace(shown, item=reopened(shown.item, versions))


def context_then(me: ScopedMemory, context: Context) -> Context:
    """Show `context` with every item as `version_then` shows it."""
    return replace(context, items=tuple(_recalled_then(me, one) for one in context.items))


def _recalled_then(me: ScopedMemory, one: Recalled) -> Recalled:
    if one.item.state is not State.SUPERSEDED:
        return one
    versions = _versions(me, one.item.id)
    former = last_open(versions)
    if former is None:
        return replace(one, item=reopened(one.item, versions))
    return replace(one, item=reopened(former.item, versions), seq=former.seq_from)


def _versions(me: ScopedMemory, item: ItemId) -> list[Version]:
    """The versions of an item that are still kept, oldest first, without those of what superseded it."""
    return [version for version in me.history(item) if version.item.id == item]
