"""What strategies of experience have alike: they read tries at tasks, and make nothing of any other turn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from mnemic.core.items import Kind
from mnemic.strategies.base import nothing
from mnemic.strategies.triggers import EachEvent, Trigger
from mnemic.strategies.units import TurnUnit, Unit

if TYPE_CHECKING:
    from mnemic.core.items import Item


@dataclass(frozen=True, slots=True, kw_only=True)
class TryLearner:
    """Learns from tries as they are told, a turn each: one that a subclass finds in `trajectories.experiences`."""

    reads: ClassVar[frozenset[Kind]] = frozenset({Kind.TURN})
    triggers: ClassVar[tuple[Trigger, ...]] = (EachEvent(),)
    maintain: ClassVar[tuple[Trigger, ...]] = ()
    batch: ClassVar[int] = 16

    unit: Unit = TurnUnit()  # noqa: RUF009 - it is frozen

    def lookup_tags(self, item: Item) -> tuple[str, ...]:
        """The tags by which what it wrote is looked up: tasks, and how they came out."""
        return item.tags

    on_maintain = nothing
