"""A strategy for tests whose flow is whatever a test says."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from mnemic import Kind, Memory, Settings
from mnemic.core.ids import ItemId
from mnemic.core.items import Item
from mnemic.core.queries import Filter
from mnemic.flow import Flow
from mnemic.strategies.base import Budget, Derivation, Edits, Given
from mnemic.strategies.triggers import EachEvent, Trigger
from mnemic.strategies.units import Unit
from mnemic.testing.generators import ManualClock

if TYPE_CHECKING:
    from mnemic import ScopedMemory
    from mnemic.models.chat.base import Chat

Think = Callable[[Given], Flow[Edits]]
INSIGHTS = Filter(kinds=(Kind.INSIGHT,))


def silent(given: Given) -> Flow[Edits]:
    yield from ()
    return Edits()


class Scripted:
    """Thinks what it was told to; `seen` are the texts of each of its runs."""

    name: str
    by: str
    reads: frozenset[Kind] = frozenset({Kind.TURN})
    triggers: tuple[Trigger, ...] = (EachEvent(),)
    maintain: tuple[Trigger, ...] = ()
    budget: Budget = Budget()
    batch: int = 8
    unit: Unit | None = None

    def __init__(self, on_write: Think = silent, on_maintain: Think = silent, *, name: str = "scripted") -> None:
        self.name = self.by = name
        self.write, self.upkeep = on_write, on_maintain
        self.seen: list[list[str]] = []

    def on_write(self, given: Given) -> Flow[Edits]:
        self.seen.append([item.text for item in given.evidence])
        return (yield from self.write(given))

    def on_maintain(self, given: Given) -> Flow[Edits]:
        return (yield from self.upkeep(given))


def insight(
    item: Item, text: str, *, key: str = "0", by: str = "scripted", source: tuple[ItemId, ...] = ()
) -> Derivation:
    """An insight about an item, under a key of its own or, if one with a colon is given, under that."""
    return Derivation(
        key=key if ":" in key else f"{by}:{item.id}:{key}",
        kind=Kind.INSIGHT,
        text=text,
        slots={"by": by},
        source=source or (item.id,),
        said=item.said,
    )


def opened(
    *strategies: object, embedder: str = "none", clock: ManualClock | None = None, model: Chat | None = None
) -> tuple[Memory, ScopedMemory]:
    """A memory that follows these strategies, and Ada's share of it."""
    memory = Memory(
        "memory:", settings=Settings(background=False), clock=clock or ManualClock(step=1), embedder=embedder,
        model=model,
        strategies=list(strategies),  # type: ignore[arg-type]  # attributes of an instance do for a lane
    )  # fmt: skip
    return memory, memory.scope(user="ada")
