"""Records of what was tried: beside each experience a note of its task, what it did that went well, and how it ended.

By these a strategy finds earlier tries of one task, and tasks like it: the note is searched by its task alone. An
experience itself is evidence, and never touched.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mnemic.core.items import Item, Kind, Strength
from mnemic.core.queries import Filter
from mnemic.strategies.base import Derivation, known
from mnemic.strategies.rules.merge_ops import wording_digest
from mnemic.strategies.trajectories import Trajectory, trajectory_of

if TYPE_CHECKING:
    from mnemic.flow import Flow

SUCCESS: Final = "success"
FAILURE: Final = "failure"


def record_of(by: str, item: Item, trajectory: Trajectory, *, nth: int = 0) -> Derivation:
    """Note an experience, without the steps that were setbacks if it succeeded; `nth` is its number, where that
    counts.
    """
    steps = trajectory.effective if trajectory.succeeded else trajectory.steps
    noted = Trajectory(task=trajectory.task, steps=steps, succeeded=trajectory.succeeded, why=trajectory.why)
    outcome = SUCCESS if trajectory.succeeded else FAILURE
    return Derivation(
        key=f"{by}:{item.id}:record",
        kind=Kind.SUMMARY,
        text=noted.text,
        words=trajectory.task,
        slots={"by": by, "nth": nth},
        tags=(outcome, task_tag(trajectory.task), f"{outcome}:{task_tag(trajectory.task)}"),
        source=(item.id,),
        said=item.said,
        said_offset=item.said_offset,
    )


def records(by: str, *tags: str) -> Filter:
    """Which items are records of a strategy, with any of these tags."""
    return Filter(kinds=(Kind.SUMMARY,), by=(by,), tags=tags)


def latest(by: str, tag: str, limit: int) -> Flow[list[tuple[Item, Trajectory]]]:
    """The latest records of a tag, the last first."""
    noted = yield from known(records(by, tag), limit)
    read = ((item, trajectory_of(item.text)) for item in noted)
    return [(item, trajectory) for item, trajectory in read if trajectory is not None]


def task_tag(task: str) -> str:
    """The tag by which tries of one task are found, however it is written."""
    return wording_digest(task)


def counterpart_tag(trajectory: Trajectory) -> str:
    """The tag of tries of the same task that ended the other way."""
    return f"{FAILURE if trajectory.succeeded else SUCCESS}:{task_tag(trajectory.task)}"


def standing(strength: Strength, start: int = 0, *, reward: int = 1, penalty: int = 1) -> int:
    """What is left of trust in something after all that was said of its use: up by each that helped, down by others."""
    return start + reward * strength.useful - penalty * strength.harms
