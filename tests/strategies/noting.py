"""A strategy for tests: it asks a model about every turn, notes the answer, and counts them when there is time."""

from __future__ import annotations

from typing import ClassVar

from mnemic.core.items import Kind
from mnemic.core.queries import Filter
from mnemic.flow import Flow
from mnemic.models.chat.base import ChatMessage
from mnemic.models.model_requests import ask
from mnemic.strategies.base import Budget, Derivation, Edits, Given, known
from mnemic.strategies.triggers import Buffer, EachEvent, TaskEnd, Trigger


class Noting:
    name: ClassVar[str] = "noting"
    by: ClassVar[str] = "noting"
    reads: ClassVar[frozenset[Kind]] = frozenset({Kind.TURN})
    triggers: ClassVar[tuple[Trigger, ...]] = (EachEvent(),)
    maintain: ClassVar[tuple[Trigger, ...]] = (TaskEnd(),)
    budget: ClassVar[Budget] = Budget(calls=16)
    batch: ClassVar[int] = 8

    def on_write(self, given: Given) -> Flow[Edits]:
        made = []
        for item in given.evidence:
            answer = yield from ask([ChatMessage("user", item.text)])
            made.append(_note(f"{self.name}:{item.id}:0", answer, item.id, item.said))
        return Edits(write=tuple(made))

    def on_maintain(self, given: Given) -> Flow[Edits]:
        notes = yield from known(Filter(kinds=(Kind.INSIGHT,)), 100)
        if not given.evidence:
            return Edits()
        last = given.evidence[-1]
        return Edits(write=(_note(f"{self.name}:{last.id}:all", f"{len(notes)} notes", last.id, last.said),))


class Patient(Noting):
    name = by = "patient"
    triggers = (Buffer(count=3),)
    maintain = ()


def _note(key: str, text: str, source: object, said: object) -> Derivation:
    name = key.partition(":")[0]
    return Derivation(key=key, kind=Kind.INSIGHT, text=text, slots={"by": name}, source=(source,), said=said)  # type: ignore[arg-type]
