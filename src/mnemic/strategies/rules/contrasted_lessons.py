"""Learn from trajectories by rule: what went well where something else had failed, and what never did.

A rule cannot tell why. It keeps actions as they were done, with what was seen after them: those which only the success
has are to be done, setbacks of the failure to be avoided; and of many successes, what several share.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Final

from mnemic.core.tokens import words
from mnemic.strategies.rules.sentence_relevance import content_terms
from mnemic.strategies.trajectories import Contrast, LessonChange, LessonOp

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mnemic.strategies.trajectories import ActionStep, Trajectory

MOST_CHANGES: Final = 4
"""Changes that one comparison makes (ExpeL's prompt; G-Memory's, too)."""
_AVOIDED: Final = 2
"""Of these, those that say what to avoid."""
MOST_PIECES: Final = 3
_KEPT: Final = 6
_SEEN: Final = 120
"""Characters of an observation that a lesson quotes."""
_LESSON: Final = re.compile(r'(Do|Avoid) "([^"\n]+)"')


def lesson(step: ActionStep, *, do: bool) -> str:
    """Say that an action is to be done, or avoided, and what was seen after it: a sentence with a full stop."""
    action = step.action.replace('"', "'")
    seen = step.observation.replace('"', "'")
    cut = seen if len(seen) <= _SEEN else f"{seen[:_SEEN].rsplit(' ', 1)[0]} ..."
    return f'{"Do" if do else "Avoid"} "{action}": {(cut or "nothing was seen").rstrip(".")}.'


def lessons_in(text: str) -> list[tuple[bool, str]]:
    """The lessons of a text in the words of `lesson`: whether to do it, and the action."""
    return [(verb == "Do", action) for verb, action in _LESSON.findall(text)]


def contrasted(given: Contrast) -> tuple[LessonChange, ...]:
    """Compare a success with a failure, or several successes with each other; at most four changes to the lessons."""
    good = given.successes
    if given.failure is None:
        return _changes(given.lessons, _shared(good))
    done = {words_of(step.action) for trajectory in good for step in trajectory.effective}
    had = {words_of(step.action) for step in given.failure.effective}
    avoid = [lesson(s, do=False) for s in given.failure.setbacks if words_of(s.action) not in done][-_AVOIDED:]
    fresh = [step for trajectory in good for step in trajectory.effective if words_of(step.action) not in had]
    return _changes(given.lessons, [*avoid, *(lesson(step, do=True) for step in telling(fresh))])


def planned(given: Trajectory) -> str:
    """Say what a failed try teaches the next one: what to avoid, and which steps of it to keep."""
    avoid = [lesson(step, do=False) for step in given.setbacks[-_AVOIDED - 1 :]]
    kept = set(telling(given.effective)[:_KEPT])
    keep = [lesson(step, do=True) for step in given.effective if step in kept]
    looped = [action for action, times in Counter(step.action for step in given.steps).items() if times > 2]
    loops = [f'It was no use to repeat "{looped[0]}".'] if looped else []
    return " ".join((*avoid, *keep, *loops)) or "Nothing was tried: begin with another step."


def pieces(given: Trajectory) -> tuple[str, ...]:
    """Say what one try teaches: of a success the steps that name most, of a failure its last setbacks."""
    if given.succeeded:
        return tuple(lesson(step, do=True) for step in telling(given.effective)[:MOST_PIECES])
    return tuple(lesson(step, do=False) for step in given.setbacks[-MOST_PIECES:])


def telling(steps: Iterable[ActionStep]) -> list[ActionStep]:
    """Steps by how much their actions name, the most first: "go on" says nothing of what a task was about."""
    return sorted(steps, key=lambda step: -len(content_terms(step.action)))


def words_of(action: str) -> str:
    """What is the same of an action however it is written."""
    return " ".join(words(action))


def _shared(successes: Sequence[Trajectory]) -> list[str]:
    """What at least two of several successes did, what names most first."""
    counts: Counter[str] = Counter()
    steps: dict[str, ActionStep] = {}
    for trajectory in successes:
        own = {words_of(step.action): step for step in trajectory.effective}
        counts.update(own.keys())
        steps = {**own, **steps}
    shared = [steps[action] for action, held_by in counts.most_common() if held_by > 1]
    return [lesson(step, do=True) for step in telling(shared)]


def _changes(known: Sequence[str], lessons: Sequence[str]) -> tuple[LessonChange, ...]:
    """Agree with lessons that are known, add others, and take back known ones that say the contrary."""
    place_of = {(do, words_of(action)): place for place, text in enumerate(known) for do, action in lessons_in(text)}
    changes: list[LessonChange] = []
    for text in lessons[:MOST_CHANGES]:
        ((do, action),) = lessons_in(text)
        if (contrary := place_of.get((not do, words_of(action)))) is not None:
            changes.append(LessonChange(op=LessonOp.REMOVE, lesson=contrary))
        same = place_of.get((do, words_of(action)))
        op = LessonOp.ADD if same is None else LessonOp.AGREE
        changes.append(LessonChange(op=op, lesson=same, text=text if same is None else ""))
    return tuple(changes[:MOST_CHANGES])
