"""A memory that has been told a case turn by turn: what weights are learned from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mnemic.lab.kit.set_clock import SetClock
from mnemic.lab.tasks.current.current_cases import CurrentCase, CurrentQuestion, ToldTurn, told_alone
from mnemic.memory import Memory
from mnemic.settings import Settings

if TYPE_CHECKING:
    from mnemic.memory import ScopedMemory
    from mnemic.models.base import Embedder


class ToldMemory:
    """A memory of one user who has been told turns, with a clock that stands where it is put."""

    def __init__(self, order: Sequence[ToldTurn], embedder: Embedder | None) -> None:
        self._clock = SetClock()
        self._memory = Memory(
            "memory:", settings=Settings(background=False), embedder=embedder or "none", clock=self._clock
        )
        self._me = self._memory.scope(user="me")
        self.places: dict[str, int] = {}
        latest = order[0].said
        for told_turn in order:
            latest = max(latest, told_turn.said)
            self._clock.put(latest)
            turn = told_turn.turn
            (id,) = self._me.observe(turn.text, role=turn.role or None, speaker=turn.speaker, said=told_turn.said).ids
            if told_turn.place is not None:
                self.places[id] = told_turn.place
        self._memory.flush()

    def asked(self, question: CurrentQuestion) -> ScopedMemory:
        """A handle on the past that a question is about, at the moment it is asked."""
        self._clock.put(question.asked)
        me = self._me
        if question.as_of is not None:
            me = me.as_of(question.as_of)
        return me if question.valid_at is None else me.valid_at(question.valid_at)

    def close(self) -> None:
        self._memory.close()


def told_memory(case: CurrentCase, embedder: Embedder | None) -> ToldMemory:
    """A memory that was told all of a case, and nothing else."""
    return ToldMemory(told_alone(case), embedder)
