"""The strategy `skills` keeps how a task was done once it succeeded, under what it does, in versions.

Wang et al., "Voyager: An Open-Ended Embodied Agent with Large Language Models" (arXiv:2305.16291, section 3.2): a
program that did what it should is kept under a description, by which it is found again for a task like it; the five
nearest are shown.

Departures. A skill is the steps that a success took, without those that were setbacks; its task is its description,
and how the task came out is told by whoever ran it, so no model is asked. A shorter way supersedes the longer one of
the same task, which stays in the history; the code replaces by name. The paper never drops a skill: here one that
misled three times more often than it helped, as `feedback` tells, is shown no more.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

from mnemic.core.items import Item, Kind
from mnemic.core.queries import Filter
from mnemic.strategies.base import Asked, Budget, Derivation, Edits, Given, Pick, known
from mnemic.strategies.experience_records import standing, task_tag
from mnemic.strategies.strategy_requests import search, strengths
from mnemic.strategies.trajectories import Trajectory, experiences
from mnemic.strategies.try_learner import TryLearner

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mnemic.flow import Flow

SHOWN: Final = 5
"""Skills that are shown (section 3.2)."""
DROPPED: Final = -3
_CANDIDATES: Final = 20
_SKILLS: Final = Filter(kinds=(Kind.PROCEDURE,), by=("skills",))


@dataclass(frozen=True, slots=True, kw_only=True)
class Skills(TryLearner):
    """Keeps the ways in which tasks were done, and asks no model.

    Over the bundled conversation it takes 0.00 calls and 0 tokens a message.
    """

    name: ClassVar[str] = "skills"
    by: ClassVar[str] = "skills"
    budget: ClassVar[Budget] = Budget()

    def on_write(self, given: Given) -> Flow[Edits]:
        """Keep each success whose task has no skill yet, or one of more steps."""
        made: dict[str, Derivation] = {}
        for item, trajectory in experiences(given.as_written):
            tag = task_tag(trajectory.task)
            if not trajectory.succeeded or tag in made:
                continue
            old = yield from known(Filter(kinds=_SKILLS.kinds, by=_SKILLS.by, tags=(tag,)), 1)
            if not old or len(old[0].text.splitlines()) > len(steps_of(trajectory).splitlines()):
                made[tag] = _skill(item, trajectory, old[0] if old else None)
        return Edits(write=tuple(made.values()))

    def on_recall(self, asked: Asked) -> Flow[Sequence[Pick]]:
        """Show the five skills nearest to what is asked that have not misled."""
        hits = yield from search(asked.text, _SKILLS, _CANDIDATES)
        told = yield from strengths(*(hit.item.id for hit in hits))
        trusted = [hit for hit in hits if hit.item.id not in told or standing(told[hit.item.id]) > DROPPED]
        return [Pick(item=hit.item, score=hit.score, why="how a task like it was done") for hit in trusted[:SHOWN]]


def steps_of(trajectory: Trajectory) -> str:
    """Lay a success out as a skill: its task, and its steps by number, without what was seen."""
    steps = (f"{number}. {step.action}" for number, step in enumerate(trajectory.effective, start=1))
    return "\n".join((f"How to: {trajectory.task}", *steps))


def _skill(item: Item, trajectory: Trajectory, old: Item | None) -> Derivation:
    return Derivation(
        key=f"{Skills.name}:{item.id}:skill",
        kind=Kind.PROCEDURE,
        text=steps_of(trajectory),
        words=trajectory.task,
        slots={"by": Skills.by},
        tags=(task_tag(trajectory.task),),
        source=(item.id,),
        said=item.said,
        said_offset=item.said_offset,
        supersedes=None if old is None else old.id,
    )
