"""Facts that a person wrote by hand beside those that rules derived: of two values for one thing the later said stands.

A statement by hand names no slot, so it is read as if the user had said it: "The user lives in Paris" as "I live in
Paris". Where it gives another value than a fact of rules, the one said first is in doubt.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mnemic.core.clock import micros
from mnemic.core.items import ENDED
from mnemic.extract.entities import canonical
from mnemic.extract.patterns import SlotAct
from mnemic.extract.slots import is_single, slots
from mnemic.extract.third_person import as_said_by
from mnemic.recall.doubt import Doubt
from mnemic.recall.profile import certain_since

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from mnemic.core.items import Item


def doubted_by_hand(items: Iterable[Item], names: Collection[str]) -> list[Doubt]:
    """Put in doubt what another statement, said later, gives another value to, where one of the two is by hand.

    Args:
        items: What states who somebody is, as the view shows it.
        names: What the user goes by.
    """
    newest: dict[str, tuple[Item, str]] = {}
    doubts = []
    for item, slot, value in sorted(
        _values(items, names), key=lambda each: (each[0].said, _by_hand(each[0]), each[0].id)
    ):
        older, had = newest.get(slot, (item, value))
        newest[slot] = item, value
        if certain_since(older) > micros(item.said):
            continue
        if canonical(had) != canonical(value) and (_by_hand(older) or _by_hand(item)):
            how = "was written by hand later" if _by_hand(item) else "was said later than what was written by hand"
            doubts.append(Doubt(older, item, item.text, f"{how}, and gives another {slot.replace('_', ' ')}"))
    return doubts


def _by_hand(item: Item) -> bool:
    return not item.slots.get("by")


def _values(items: Iterable[Item], names: Collection[str]) -> Iterator[tuple[Item, str, str]]:
    """Each statement about the user that gives a slot of one value its value."""
    for item in items:
        if item.slots.get(ENDED) is True:
            continue
        slot, subject = item.slots.get("slot"), str(item.slots.get("subject") or "user")
        if isinstance(slot, str):
            if subject.casefold() in names and is_single(slot):
                yield item, slot, str(item.slots.get("value"))
        elif _by_hand(item):
            own = as_said_by(item.text, names)
            for finding in slots(own, "user", micros(item.said), item.said_offset):
                if finding.act is SlotAct.STATES and finding.single:
                    yield item, finding.slot, str(finding.value)
