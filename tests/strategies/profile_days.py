"""The facts of a profile that hold in the end, as rules make them of turns a day apart, for tests of `house`."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from mnemic import Kind
from mnemic.core.ids import ItemId
from mnemic.core.items import ENDED, Channel, Item, State
from mnemic.core.transitions import outdated, superseded
from mnemic.strategies.house import digest

if TYPE_CHECKING:
    from collections.abc import Sequence

MAY = datetime(2024, 5, 1, tzinfo=UTC)


def turn(text: str, day: float = 0) -> Item:
    name = ItemId(f"{abs(hash((text, day))):026d}"[:26])
    said = MAY + timedelta(days=day)
    return Item(id=name, kind=Kind.TURN, text=text, said=said, channel=Channel.USER, slots={"role": "user"})


def after(*turns: Item, known: Sequence[Item] = ()) -> list[Item]:
    """The items of a profile once a run over these turns has been written, in whatever state."""
    items = {item.id: item for item in known}
    written = digest(turns, known, "ada")
    ids = [ItemId(derivation.key) for derivation in written]
    for id, d in zip(ids, written, strict=True):
        items[id] = Item(
            id=id, kind=d.kind, text=d.text, said=d.said, slots=d.slots, source=d.source, valid_from=d.valid_from
        )
        for ref in (d.supersedes, *d.revokes):
            if ref is not None:
                older = ids[ref] if isinstance(ref, int) else ref
                items[older] = superseded(items[older], items[id])
        if d.outdated_by is not None:
            newer = ids[d.outdated_by] if isinstance(d.outdated_by, int) else d.outdated_by
            items[id] = outdated(items[id], items[newer])
    return list(items.values())


def profile(items: Sequence[Item]) -> set[tuple[object, object]]:
    """What is so: slots and values."""
    facts = (item for item in items if item.kind is Kind.PROFILE and item.state is State.ACTIVE)
    return {(item.slots["slot"], item.slots["value"]) for item in facts if not item.slots.get(ENDED)}


def said(*texts: str) -> set[tuple[object, object]]:
    """What is so after these were said, a day apart."""
    return profile(after(*(turn(text, day) for day, text in enumerate(texts))))
