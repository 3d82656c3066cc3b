"""A strategy for tests that notes every turn, ties notes that follow each other, and recalls along these ties."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from mnemic.core.items import Kind
from mnemic.core.queries import Filter
from mnemic.flow import Flow
from mnemic.strategies.base import Asked, Bond, Budget, Derivation, Edits, Given, Pick, nothing
from mnemic.strategies.strategy_requests import fetch, scored, spread, strengths
from mnemic.strategies.triggers import EachEvent, Trigger

NOTES = Filter(kinds=(Kind.INSIGHT,))


class Minding:
    name: ClassVar[str] = "minding"
    by: ClassVar[str] = "minding"
    reads: ClassVar[frozenset[Kind]] = frozenset({Kind.TURN})
    triggers: ClassVar[tuple[Trigger, ...]] = (EachEvent(),)
    maintain: ClassVar[tuple[Trigger, ...]] = ()
    budget: ClassVar[Budget] = Budget()
    batch: ClassVar[int] = 8
    on_maintain = nothing

    def on_write(self, given: Given) -> Flow[Edits]:
        yield from ()
        made = tuple(
            Derivation(
                key=f"{self.name}:{turn.id}:0",
                kind=Kind.INSIGHT,
                text=f"noted: {turn.text}",
                slots={"by": self.by},
                source=(turn.id,),
                said=turn.said,
            )
            for turn in given.evidence
        )
        return Edits(write=made, tie=tuple(Bond(src=n, dst=n + 1, type="next") for n in range(len(made) - 1)))

    def on_recall(self, asked: Asked) -> Flow[Sequence[Pick]]:
        ranked = yield from scored(asked.text, NOTES)
        shares = yield from spread({id: score for id, score in ranked if score > 0}, types=("next",))
        items = yield from fetch(*shares)
        used = yield from strengths(*shares)
        return [
            Pick(item=items[id], score=share, components={"share": share, "uses": float(used[id].uses)}, why="by ties")
            for id, share in shares.items()
            if id in items
        ]


class Reckless(Minding):
    """Picks in the order of a set."""

    name = by = "reckless"

    def on_recall(self, asked: Asked) -> Flow[Sequence[Pick]]:
        picks = yield from super().on_recall(asked)
        texts = {pick.item.text: pick for pick in picks}
        return [texts[text] for text in set(texts)]
