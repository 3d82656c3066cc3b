"""Units: what a strategy is given together, cut from the journal and never by the clock or by who flushes when.

A unit is complete once the journal says so: its tail waits, and no flush digests it. So one journal gives one view.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final, Protocol

from mnemic.core.items import Item
from mnemic.core.tokens import count_tokens
from mnemic.strategies.triggers import importance

_ASKING: Final = ("user", "human")


class Unit(Protocol):
    """A rule by which evidence is cut."""

    def length(self, items: Sequence[Item]) -> int | None:
        """How many of these items, in the order in which they were written, the first unit has.

        None while it is not complete. More items behind these change nothing about one that is.
        """
        ...


@dataclass(frozen=True, slots=True)
class TurnUnit:
    """Each item by itself."""

    def length(self, items: Sequence[Item]) -> int | None:
        return 1 if items else None


@dataclass(frozen=True, slots=True)
class ExchangeUnit:
    """What a person says, and all that follows until a person speaks again.

    Where a turn has no role, whoever speaks it asks: it ends when they speak again. Of sessions that go on at once a
    unit holds turns of each.
    """

    def length(self, items: Sequence[Item]) -> int | None:
        asked = [place for place, item in enumerate(items) if has_asking_role(item)]
        if items and items[0].slots.get("role") is None:
            first = items[0].slots.get("speaker")
            again = (place for place, item in enumerate(items) if place and item.slots.get("speaker") == first)
            return min([*asked, *again], default=None)
        return asked[1] if len(asked) > 1 else None


@dataclass(frozen=True, slots=True)
class SessionUnit:
    """What lies together in one session, until something of another is written."""

    def length(self, items: Sequence[Item]) -> int | None:
        return next((place for place, item in enumerate(items) if item.session != items[0].session), None)


@dataclass(frozen=True, slots=True)
class TokensUnit:
    """So many tokens, and what is left of the item that reaches them."""

    at_least: int

    def length(self, items: Sequence[Item]) -> int | None:
        return _reaches([count_tokens(item.text) for item in items], self.at_least)


@dataclass(frozen=True, slots=True)
class ImportanceUnit:
    """So much importance, by the items' slots `importance`; 0.5 for one that has none."""

    at_least: float

    def length(self, items: Sequence[Item]) -> int | None:
        return _reaches([importance(item) for item in items], self.at_least)


def has_asking_role(item: Item) -> bool:
    """Whether an item has the role of a person."""
    return str(item.slots.get("role")).casefold() in _ASKING


def lacks(unit: Unit, items: Sequence[Item]) -> str:
    """Name what is yet to be written until items make a unit, as in "it waits for ..."; `items` do not make one."""
    match unit:
        case TokensUnit(at_least):
            left = at_least - sum(count_tokens(item.text) for item in items)
            return f"{left:,} more token" + "s" * (left != 1)
        case ImportanceUnit(at_least):
            return f"{at_least - sum(map(importance, items)):.2g} more importance"
        case ExchangeUnit():
            return "the next turn of who asks"
        case SessionUnit():
            return "something of another session"
        case _:
            return "more to be said"


def _reaches(amounts: Sequence[float], at_least: float) -> int | None:
    """How many of these amounts come to so much together; None if all of them do not."""
    return next((place for place, total in enumerate(accumulate(amounts), start=1) if total >= at_least), None)
