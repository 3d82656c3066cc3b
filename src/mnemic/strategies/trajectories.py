"""Trajectories: what an agent did for a task, step by step, and how it came out, as a text that memory keeps.

    Task: Polish the bronze bowl.
    > rub bronze bowl with chalk
    The chalk scratches it.
    Outcome: failure (spoilt)

Whoever observes such a text, in one message, has told an experience; every strategy of experience reads it. Between
the task and the outcome a line that begins with "> " is an action, and what follows it, up to the next, is what came
of it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from mnemic.core.sanitize import without_unseen

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mnemic.core.items import Item

ACTION: Final = "> "

_TASK: Final = re.compile(r"task:\s*(\S.*)", re.IGNORECASE)
_OUTCOME: Final = re.compile(r"outcome:\s*(success|failure)\b\s*(?:\((.*)\))?\s*\.?", re.IGNORECASE)
_EXHAUSTED: Final = re.compile(r"\b(?:ran out|run out|too many|limit|gave up|timed? ?out)\b|步数", re.IGNORECASE)
_SETBACK: Final = re.compile(
    r"\b(?:errors?|cannot|nothing happens|no effect|fail(?:s|ed|ure)?|invalid|illegal|refus(?:es|ed)|denied|forbidden"
    r"|unknown|unauthori[sz]ed|no such|missing|wrong|unable|ruin(?:s|ed)?|spoil(?:s|t|ed)?|br(?:eaks|oken|oke)|not"
    r"|[45]\d\d)\b"
    r"|n't\b|错误|失败|无法|不能|不行",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class ActionStep:
    """An action, and what was seen after it."""

    action: str
    observation: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Trajectory:
    """What was done for a task.

    Attributes:
        task: What was to be done, in a line.
        succeeded: Whether it was done in the end.
        why: What is said of the outcome, such as "the steps ran out"; "" for nothing.
    """

    task: str
    steps: tuple[ActionStep, ...]
    succeeded: bool
    why: str = ""

    @property
    def text(self) -> str:
        """The text that `trajectory_of` reads; a line of an observation that looks like another part is indented."""
        return "\n".join((f"Task: {_line(self.task)}", *self._told(), self._outcome))

    def _told(self) -> Iterator[str]:
        for step in self.steps:
            yield f"{ACTION}{_line(step.action)}"
            yield from (
                f" {line}" if _is_part(line) else line for line in step.observation.splitlines() if line.strip()
            )

    @property
    def _outcome(self) -> str:
        why = _line(self.why).replace("(", "").replace(")", "")
        return f"Outcome: {'success' if self.succeeded else 'failure'}{f' ({why})' if why else ''}"

    @property
    def setbacks(self) -> tuple[ActionStep, ...]:
        """The steps that did not go as they were meant to, each action once, in order.

        What is seen says so, or the task ended with it; not where it only ended because there was no more time.
        """
        back = {step.action: step for step in self.steps if is_setback(step)}
        if self.steps and not self.succeeded and not _EXHAUSTED.search(self.why):
            back[self.steps[-1].action] = self.steps[-1]
        return tuple(back.values())

    @property
    def effective(self) -> tuple[ActionStep, ...]:
        """The steps that were no setback, each action once, in order."""
        back = {step.action for step in self.setbacks}
        return tuple({step.action: step for step in reversed(self.steps) if step.action not in back}.values())[::-1]


class LessonOp(StrEnum):
    """What becomes of the lessons after a comparison: the operations of ExpeL (arXiv:2308.10144, section 4.2)."""

    ADD = "add"
    EDIT = "edit"
    AGREE = "agree"
    REMOVE = "remove"


@dataclass(frozen=True, slots=True, kw_only=True)
class LessonChange:
    """One change to the lessons.

    Attributes:
        lesson: The place of the lesson that it changes; None for one that is added.
        text: The words of a lesson that is added or edited.
    """

    op: LessonOp
    lesson: int | None = None
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contrast:
    """Successes beside a failure of the same task, or among themselves, and the lessons so far.

    Attributes:
        failure: None where successes alone are compared.
    """

    successes: tuple[Trajectory, ...]
    failure: Trajectory | None = None
    lessons: tuple[str, ...] = ()


def trajectory_of(text: str) -> Trajectory | None:
    """Read a trajectory; None for a text that is none: it has no task, no action, or does not say how it came out."""
    lines = [line for line in without_unseen(text).splitlines() if line.strip()]
    if len(lines) < 3:
        return None
    task, outcome = _TASK.fullmatch(lines[0].strip()), _OUTCOME.fullmatch(lines[-1].strip())
    if task is None or outcome is None or not lines[1].startswith(ACTION):
        return None
    steps: list[tuple[str, list[str]]] = []
    for line in lines[1:-1]:
        if line.startswith(ACTION):
            steps.append((_line(line.removeprefix(ACTION)), []))
        else:
            steps[-1][1].append(line.strip())
    return Trajectory(
        task=_line(task[1]),
        steps=tuple(ActionStep(action, " ".join(seen)) for action, seen in steps),
        succeeded=outcome[1].casefold() == "success",
        why=(outcome[2] or "").strip(),
    )


def experiences(items: tuple[Item, ...]) -> list[tuple[Item, Trajectory]]:
    """The items that tell a trajectory, each with that, in their order."""
    read = ((item, trajectory_of(item.text)) for item in items)
    return [(item, trajectory) for item, trajectory in read if trajectory is not None]


def is_setback(step: ActionStep) -> bool:
    """Whether what was seen says that an action did not go as it was meant to."""
    return _SETBACK.search(step.observation) is not None


def _line(text: str) -> str:
    return " ".join(text.split())


def _is_part(line: str) -> bool:
    return line.startswith(ACTION) or _OUTCOME.fullmatch(line.strip()) is not None
