"""What is always at hand for who asks: pinned items, standing instructions, the profile."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mnemic.core.ids import ItemId
from mnemic.core.items import Item, Kind, Version
from mnemic.shelves import at_hand
from mnemic.store.snapshot import Snapshot
from mnemic.verbs.who import Who, spaces_of, view_of

if TYPE_CHECKING:
    from mnemic.recall.always import Always

CORE_LIMIT: Final = 300
"""Most items that are looked at for the always-on part of a context."""


def always_part(snapshot: Snapshot, who: Who, room: int) -> Always:
    """The always-on part of a context, of at most `room` tokens."""
    from mnemic.recall.always import always_on

    core, sources = _core(snapshot, who)
    return always_on(core, sources, str(who.scope.user), room)


def profile_of(snapshot: Snapshot, who: Who) -> list[Item]:
    """What the profile says, as far as its evidence is still shown."""
    from mnemic.recall.always import supported

    core, sources = _core(snapshot, who)
    return [v.item for v in core if v.item.kind is Kind.PROFILE and supported(v.item, sources)]


def _core(snapshot: Snapshot, who: Who) -> tuple[list[Version], dict[ItemId, Version]]:
    """What is always at hand here, and those of its sources that the view shows."""
    spaces, view = spaces_of(snapshot, who), view_of(snapshot, who)
    core = [v for v in snapshot.core(spaces, view, CORE_LIMIT) if at_hand(who.scope, v.item)] if spaces else []
    return core, dict(snapshot.get(spaces, list({i for v in core for i in v.item.source}), view)) if core else {}
