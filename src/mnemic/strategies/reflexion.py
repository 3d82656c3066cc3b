"""The strategy `reflexion` says after each failed try what to do otherwise, and shows that at the next try of that
task.

Shinn et al., "Reflexion: Language Agents with Verbal Reinforcement Learning" (arXiv:2303.11366, section 3): after a
trial that failed a model reads the trajectory and says in a few sentences what went wrong; the next trial sees the
last three of these.

Departures. Tries of one task are known by its words: no memory of another task is shown, as in the paper. The paper
never takes a reflection back; here `feedback` on what was shown counts, and one that misled twice more often than it
helped is shown no more.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

from mnemic.core.items import Kind
from mnemic.core.queries import Filter
from mnemic.strategies.base import Asked, Budget, Derivation, Edits, Given, Pick, known
from mnemic.strategies.experience_records import standing, task_tag
from mnemic.strategies.judging import judged
from mnemic.strategies.strategy_requests import strengths
from mnemic.strategies.tasks.learning import MAKE_PLAN
from mnemic.strategies.trajectories import experiences
from mnemic.strategies.try_learner import TryLearner

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mnemic.flow import Flow

SHOWN: Final = 3
"""Reflections that a try sees: the last ones (section 4.1, and the code)."""
REJECTED: Final = -2
_LOOKED_AT: Final = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Reflexion(TryLearner):
    """Keeps reflections on failed tries: one question to a model for each.

    Over the bundled conversation, which tells of no try at anything, it takes 0.00 calls and 0 tokens a message.
    """

    name: ClassVar[str] = "reflexion"
    by: ClassVar[str] = "reflexion"
    budget: ClassVar[Budget] = Budget(calls=8, tokens=64_000)
    asks: ClassVar[tuple[str, ...]] = (MAKE_PLAN.id,)

    def on_write(self, given: Given) -> Flow[Edits]:
        """Reflect on each try that failed."""
        made = []
        for item, trajectory in experiences(given.as_written):
            if trajectory.succeeded:
                continue
            plan = yield from judged(MAKE_PLAN, trajectory)
            made.append(
                Derivation(
                    key=f"{self.name}:{item.id}:plan",
                    kind=Kind.PLAN,
                    text=plan,
                    words=trajectory.task,
                    slots={"by": self.by},
                    tags=(task_tag(trajectory.task),),
                    source=(item.id,),
                    said=item.said,
                    said_offset=item.said_offset,
                )
            )
        return Edits(write=tuple(made))

    def on_recall(self, asked: Asked) -> Flow[Sequence[Pick]]:
        """Show the last three reflections on the task that is asked about, the last first, and none on any other."""
        plans = Filter(kinds=(Kind.PLAN,), by=(self.by,), tags=(task_tag(asked.text),))
        found = yield from known(plans, _LOOKED_AT)
        told = yield from strengths(*(item.id for item in found))
        trusted = [item for item in found if item.id not in told or standing(told[item.id]) > REJECTED]
        return [
            Pick(item=item, score=1 / (1 + place), why="what an earlier try of this task taught")
            for place, item in enumerate(trusted[:SHOWN])
        ]
