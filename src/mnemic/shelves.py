"""Agent and session as shelves: what is shown to who reads from one, and the filter that it comes to."""

from __future__ import annotations

from dataclasses import replace

from mnemic.checking import text_field, whole
from mnemic.core.items import Item
from mnemic.core.queries import Filter
from mnemic.core.scope import Scope
from mnemic.errors import Invalid


def shelved(scope: Scope, where: Filter) -> Filter:
    """A filter as it is asked from this shelf; `Invalid` where it names another."""
    shelves: dict[str, str | None] = {}
    for name in ("agent", "session"):
        wanted, mine = getattr(where, name), getattr(scope, name)
        if wanted is not None:
            text_field(name, wanted)
        if None not in (wanted, mine) and wanted != mine:
            raise Invalid(name, f"{wanted!r} is not this handle's {mine!r}", "Use a handle without that shelf.")
        shelves[name] = mine if wanted is None else wanted
    for name in ("said_from", "said_to"):
        if getattr(where, name) is not None:
            whole(name, getattr(where, name), low=-(2**62))
    return replace(where, agent=shelves["agent"], session=shelves["session"])


def on_shelf(scope: Scope, item: Item) -> bool:
    """Whether an item is shown to who reads from this shelf."""
    return scope.agent in (None, item.agent) and scope.session in (None, item.session)


def always_shown(scope: Scope, item: Item) -> bool:
    """Whether an item is always on here: one that belongs to no agent, or no session, is so for all of them."""
    return all(
        here is None or theirs in (None, here)
        for here, theirs in ((scope.agent, item.agent), (scope.session, item.session))
    )
