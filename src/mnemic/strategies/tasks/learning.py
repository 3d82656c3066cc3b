"""Learn from how tasks came out: compare trajectories, and plan the next try."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from mnemic.core.json_schema import many, shape, text, whole
from mnemic.models.chat.soundness import Unfit
from mnemic.strategies.judging import JudgeTask
from mnemic.strategies.rules.contrasted_lessons import MOST_CHANGES, MOST_PIECES, contrasted, pieces, planned
from mnemic.strategies.showing import block, in_line, numbered
from mnemic.strategies.tasks.answers import SENTENCE, one_line, places, reasoned, short
from mnemic.strategies.trajectories import Contrast, LessonChange, LessonOp

if TYPE_CHECKING:
    from mnemic.strategies.trajectories import Trajectory

_ON_LESSON: Final = frozenset({LessonOp.EDIT, LessonOp.AGREE, LessonOp.REMOVE})
_WITH_TEXT: Final = frozenset({LessonOp.ADD, LessonOp.EDIT})


def _shown_contrast(given: Contrast) -> str:
    if not given.successes:
        return ""
    shown = [block("Successes", numbered(each.text for each in given.successes))]
    if given.failure is not None:
        shown.append(block("Failure", [in_line(given.failure.text)]))
    shown.append(block("Lessons so far", numbered(given.lessons) or ["(none yet)"]))
    return "\n\n".join(shown)


def _changes(given: Contrast, answer: Any) -> tuple[LessonChange, ...]:
    return tuple(_change(change, len(given.lessons)) for change in answer["changes"])


def _change(change: dict[str, Any], lessons: int) -> LessonChange:
    op = LessonOp(change["do"])
    place = places([change["lesson"]], lessons)[0] if op in _ON_LESSON else None
    words = one_line(change["text"]) if op in _WITH_TEXT else ""
    if op in _WITH_TEXT and words[-1] not in ".!?。！？":
        raise Unfit("a lesson is a sentence and ends with a full stop")
    return LessonChange(op=op, lesson=place, text=words)


CONTRAST_LESSONS: Final = JudgeTask(
    id="contrast_lessons",
    schema=reasoned(
        changes=many(
            shape({"do": text(among=LessonOp), "lesson": whole(low=0), "text": short(SENTENCE, 0)}),
            maxItems=MOST_CHANGES,
        )
    ),
    show=_shown_contrast,
    sound=_changes,
    rules=contrasted,
)
"""What trajectories teach beside each other, as changes to the lessons so far."""


def _shown_trajectory(given: Trajectory) -> str:
    return block("Failed try", [in_line(given.text)])


def _plan(given: Trajectory, answer: Any) -> str:
    return one_line(answer["plan"])


MAKE_PLAN: Final = JudgeTask(
    id="make_plan",
    schema=reasoned(plan=short(2 * SENTENCE)),
    show=_shown_trajectory,
    sound=_plan,
    rules=planned,
)
"""What to do otherwise at the next try of a task that failed."""


def _pieces(given: Trajectory, answer: Any) -> tuple[str, ...]:
    return tuple(dict.fromkeys(map(one_line, answer["pieces"])))


EXPERIENCE_PIECES: Final = JudgeTask(
    id="experience_pieces",
    schema=reasoned(pieces=many(short(), maxItems=MOST_PIECES)),
    show=lambda given: block("Try", [in_line(given.text)]),
    sound=_pieces,
    rules=pieces,
)
"""What one try teaches for tasks like it: of a success what to do, of a failure what to avoid."""
