"""Which strategies a user's memory follows: those of the settings, unless the user has chosen others.

A choice is an item of the user's own memory, marked by a tag: so the journal tells who followed what and when, `undo`
takes a choice back, exports and branches carry it, and every process that works for the user heeds it.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Final

from mnemic.core.items import Channel, Kind
from mnemic.core.queries import Filter
from mnemic.lanes.slices import EMBED
from mnemic.registry import STRATEGIES
from mnemic.store.values.work import SLOT_LANE

if TYPE_CHECKING:
    from mnemic.core.items import Item
    from mnemic.store.engine.snapshot import Snapshot

FOLLOWS: Final = "mnemic:follows"
"""The tag of a choice, and with it the slot that lists what is chosen."""

CHOICES: Final = Filter(kinds=(Kind.RESOURCE,), tags=(FOLLOWS,), channels=(Channel.USER,))
"""Choices that stand: what an import or a tool of an agent writes is none."""

OF_NO_STRATEGY: Final = {EMBED, SLOT_LANE.rstrip(":")}
"""How the names of lanes begin that are of embedders and of slots."""


def choice_of(snapshot: Snapshot, space: int) -> tuple[str, ...] | None:
    """Read which strategies the user of a space has chosen; None where the settings decide."""
    latest = snapshot.latest((space,), CHOICES, limit=1)
    return chosen_names(latest[0].item) if latest else None


def chosen_names(choice: Item) -> tuple[str, ...] | None:
    """Read the names that an item with the tag of a choice lists; None if it lists none as a choice does."""
    names = choice.slots.get("follows")
    return tuple(map(str, names)) if isinstance(names, list) else None


def follows(snapshot: Snapshot, space: int, lane: str, by_default: Collection[str]) -> bool:
    """Whether a lane has anything to do for the user of a space: one of a strategy, if they follow it.

    Args:
        by_default: The strategies that are followed for who has chosen none.
    """
    strategy = lane.partition(":")[0]
    if strategy in OF_NO_STRATEGY:
        return True
    choice = choice_of(snapshot, space)
    return strategy in (by_default if choice is None else choice)


def lost_lanes(snapshot: Snapshot, by_default: Collection[str]) -> dict[str, str]:
    """Find the strategies that users of a store have chosen and that are not known here; why nothing comes of each."""
    names = (name for name in snapshot.followed_lanes() if ":" not in name and name not in OF_NO_STRATEGY)
    return {name: why_lost(name) for name in names if name not in STRATEGIES and name not in by_default}


def why_lost(name: str) -> str:
    """Say what becomes of a strategy that is followed and not known here, and what may be done about it."""
    return (
        f"{name!r} is followed, and no strategy of that name is known here, so it reads nothing: name it in the "
        f"setting `strategies` again, as in `export MNEMIC_STRATEGIES=house,package.module:Class`, or choose others "
        f"with `mnemic follow`; `mnemic forget --by {name}` hides what it derived"
    )
