"""The protocol of experience streams: tasks in a row whose outcome is told, and who may learn from one for the next.

A world makes tasks of a seed; hidden rules of it hold for all tasks of that seed, and no text says them. An agent
acts, a memory advises it and takes in what was done and how it came out. The memory is the only way from one try to
the next: agent and task are made anew for each.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias

from mnemic.errors import Invalid
from mnemic.strategies.trajectories import ActionStep, Trajectory

if TYPE_CHECKING:
    from mnemic.core.ids import ItemId

LOOPED: Final = 3
"""Times that an action brings the same again, in a row, until a try is ended."""
OUT_OF_STEPS: Final = "the steps ran out"
LOOPING: Final = "the same action again and again"


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What comes of an action.

    Attributes:
        over: The try is at its end.
        succeeded: The task is done.
        understood: The world knows an action of this form.
    """

    text: str
    over: bool = False
    succeeded: bool = False
    understood: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One way to decide.

    Attributes:
        name: What it is called by whoever made the choice.
        told_by: Whether an action, in anybody's words, took this way.
        prior: What speaks for it without any advice, below 1: a piece of advice counts 1.
    """

    name: str
    told_by: Callable[[str], bool]
    prior: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamChoice:
    """Something that an agent cannot know, and has to decide.

    Attributes:
        question: As it is put to a memory.
        about: The words that an action has which decides the same.
        blamed: A word of what is seen where this choice was the wrong one, "" where any setback says so.
        options: At least one, in an order that tells nothing.
    """

    question: str
    about: tuple[str, ...]
    options: tuple[Option, ...]
    blamed: str = ""


Choose: TypeAlias = Callable[[StreamChoice], str]
"""Decides: the name of an option."""
Play: TypeAlias = Generator[str, Seen, None]
"""A solver: yields actions, and is sent what comes of them."""


class Situation(Protocol):
    """One try at a task, as it goes on."""

    @property
    def first(self) -> str:
        """What is seen before the first action."""
        ...

    def act(self, action: str) -> Seen:
        """Do something; what the world does not understand changes nothing, and says what it would."""
        ...


class StreamTask(Protocol):
    """A task of a world.

    Attributes:
        goal: What is to be done, in a line.
        steps: Most actions of a try.
    """

    @property
    def goal(self) -> str: ...
    @property
    def steps(self) -> int: ...

    def begin(self) -> Situation:
        """Begin a try: always the same."""
        ...

    def right(self, choice: StreamChoice) -> str:
        """The option that the hidden rules want: for the oracle, never for an agent."""
        ...


class StreamWorld(Protocol):
    """A world: tasks by seed, and how somebody goes about them who knows the verbs and none of the hidden rules.

    Attributes:
        verbs: The forms of its actions, a line for each.
    """

    @property
    def name(self) -> str: ...
    @property
    def about(self) -> str: ...
    @property
    def verbs(self) -> Sequence[str]: ...

    def tasks(self, seed: int, count: int) -> Sequence[StreamTask]:
        """The tasks of a stream, in order: the same for a seed, and a longer stream begins like a shorter one."""
        ...

    def play(self, goal: str, first: str, choose: Choose) -> Play:
        """Go about a task; what it cannot know it has chosen by `choose`."""
        ...


@dataclass(frozen=True, slots=True)
class Advice:
    """Something that a memory tells; `id` names it when its use is told."""

    id: ItemId
    text: str


class StreamMemory(Protocol):
    """What may carry something from one try to the next."""

    def advise(self, question: str) -> Sequence[Advice]:
        """Tell what bears on a task, or on a decision in it, the best first."""
        ...

    def learn(self, trajectory: Trajectory) -> None:
        """Take in what was done, and how it came out."""
        ...

    def told(self, ids: Sequence[ItemId], *, useful: bool) -> None:
        """Hear whether advice that was followed led to success."""
        ...

    def close(self) -> None:
        """Release all resources."""
        ...


class StreamAgent(Protocol):
    """Acts in a world, for one try.

    Attributes:
        used: The advice that it followed.
    """

    @property
    def used(self) -> Sequence[ItemId]: ...

    def begin(self, goal: str, first: str) -> None:
        """Begin a try."""
        ...

    def act(self) -> str | None:
        """The next action; None to give up."""
        ...

    def see(self, seen: Seen) -> None:
        """See what came of it."""
        ...


MakeAgent: TypeAlias = Callable[["StreamWorld", "StreamMemory", str], StreamAgent]
"""Makes an agent for one try in a world, beside a memory; the text is the seed of whatever it draws by lot."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One try.

    Attributes:
        unknown: Actions that the world did not understand.
        looped: It was ended because it did the same again and again.
        used: Pieces of advice that were followed.
    """

    trajectory: Trajectory
    unknown: int
    looped: bool
    used: tuple[ItemId, ...]


def attempt(task: StreamTask, agent: StreamAgent) -> Attempt:
    """Have an agent try a task until it is over, out of steps, given up or going round in circles.

    Raises:
        Invalid: the agent's action is no text of one line.
    """
    situation = task.begin()
    agent.begin(task.goal, situation.first)
    steps: list[ActionStep] = []
    unknown, why, succeeded = 0, OUT_OF_STEPS, False
    while len(steps) < task.steps:
        action = agent.act()
        if action is None:
            why = "it gave up"
            break
        seen = situation.act(checked(action))
        steps.append(ActionStep(action.strip(), seen.text))
        unknown += not seen.understood
        if seen.over:
            succeeded, why = seen.succeeded, ""
            break
        agent.see(seen)
        if len(steps) >= LOOPED and len(set(steps[-LOOPED:])) == 1:
            why = LOOPING
            break
    done = Trajectory(task=task.goal, steps=tuple(steps), succeeded=succeeded, why=why)
    return Attempt(trajectory=done, unknown=unknown, looped=why == LOOPING, used=tuple(agent.used))


def checked(action: object) -> str:
    """Hold an action to what one is.

    Raises:
        Invalid: it is no text, blank, or of several lines.
    """
    if not isinstance(action, str) or not action.strip() or len(action.strip().splitlines()) > 1:
        raise Invalid("agent", f"its action is {action!r}", "An action is a text of one line, or None to give up.")
    return action.strip()


def solved(world: StreamWorld, task: StreamTask) -> Trajectory:
    """How the oracle does a task, who is told the hidden rules."""
    return attempt(task, _Oracle(world, task)).trajectory


class _Oracle:
    """Plays by the right choices."""

    used: Sequence[ItemId] = ()

    def __init__(self, world: StreamWorld, task: StreamTask) -> None:
        self._world, self._task = world, task
        self._playing: Playing | None = None

    def begin(self, goal: str, first: str) -> None:
        self._playing = Playing(self._world.play(goal, first, self._task.right))

    def act(self) -> str | None:
        return None if self._playing is None else self._playing.action

    def see(self, seen: Seen) -> None:
        if self._playing is not None:
            self._playing.see(seen)


class Playing:
    """A solver as it goes on: its next action, None once it has no more."""

    def __init__(self, play: Play) -> None:
        self._play = play
        self.action: str | None = next(play, None)

    def see(self, seen: Seen) -> None:
        """Tell it what came of its action."""
        try:
            self.action = self._play.send(seen)
        except StopIteration:
            self.action = None


def is_about(action: str, about: Sequence[str]) -> bool:
    """Whether an action has all of these words."""
    words = action.casefold().replace("=", " ").split()
    return all(word in words for word in about)


Rows: TypeAlias = Mapping[str, Callable[[], StreamMemory]]
"""Memories by the names of their rows."""
