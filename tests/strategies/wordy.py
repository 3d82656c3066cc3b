"""A strategy with a mistake: what it writes depends on the order of a set."""

from __future__ import annotations

from typing import ClassVar

from mnemic import Kind
from mnemic.flow import Flow
from mnemic.strategies.base import Budget, Derivation, Edits, Given, nothing
from mnemic.strategies.triggers import EachEvent, Trigger


class Wordy:
    name: ClassVar[str] = "wordy"
    by: ClassVar[str] = "wordy"
    reads: ClassVar[frozenset[Kind]] = frozenset({Kind.TURN})
    triggers: ClassVar[tuple[Trigger, ...]] = (EachEvent(),)
    maintain: ClassVar[tuple[Trigger, ...]] = ()
    budget: ClassVar[Budget] = Budget()
    batch: ClassVar[int] = 8

    def on_write(self, given: Given) -> Flow[Edits]:
        yield from ()
        made = []
        for item in given.evidence:
            words = {*item.text.split()}
            made += [
                Derivation(
                    key=f"wordy:{item.id}:{word}", kind=Kind.INSIGHT, text=word, slots={"by": self.by},
                    source=(item.id,), said=item.said,
                )
                for word in words
            ]  # fmt: skip
        return Edits(write=tuple(made))

    on_maintain = nothing
