"""Agents of streams: one driven by rules, which reads what its memory tells, and one driven by a chat model."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

from mnemic.lab.kit.task_stream import (
    Advice,
    MakeAgent,
    Playing,
    Seen,
    StreamChoice,
    StreamMemory,
    StreamWorld,
    is_about,
)
from mnemic.models.chat.base import Ask, ChatMessage, reply_of
from mnemic.strategies.rules.contrasted_lessons import lessons_in
from mnemic.strategies.trajectories import ACTION, trajectory_of

if TYPE_CHECKING:
    from mnemic.core.ids import ItemId
    from mnemic.models.chat.base import Chat

_STEP: Final = "0123456789"
_LIMIT: Final = 64


@dataclass(frozen=True, slots=True)
class Told:
    """An action that advice speaks of: whether it went well, and what was seen then."""

    action: str
    well: bool
    seen: str


def told_in(text: str) -> list[Told]:
    """Read advice: lessons ("Do ...", "Avoid ..."), a trajectory, or the numbered steps of a skill."""
    if (trajectory := trajectory_of(text)) is not None:
        went = [Told(step.action, well=True, seen=step.observation) for step in trajectory.effective]
        return [*went, *(Told(step.action, well=False, seen=step.observation) for step in trajectory.setbacks)]
    lessons = [Told(action, well=do, seen=text) for do, action in lessons_in(text)]
    numbered = [line.partition(". ") for line in text.splitlines() if line[:1] in _STEP and ". " in line]
    return [*lessons, *(Told(action, well=True, seen="") for _, _, action in numbered)]


class RuleAgent:
    """Goes about a task as the world's own solver does, and decides by what its memory tells, else by lot.

    It asks its memory for the task, and for each question that arises, once. Of the options it takes the one that most
    of what it was told speaks for, and by lot among equals: so none that is told to have failed while there is another.
    """

    def __init__(self, world: StreamWorld, memory: StreamMemory, lot: str) -> None:
        self._world, self._memory, self._lot = world, memory, random.Random(lot)  # noqa: S311
        self._advice: dict[str, Sequence[Advice]] = {}
        self._used: dict[ItemId, None] = {}
        self._playing: Playing | None = None

    @property
    def used(self) -> Sequence[ItemId]:
        return tuple(self._used)

    def begin(self, goal: str, first: str) -> None:
        self._advice = {goal: self._memory.advise(goal)}
        self._playing = Playing(self._world.play(goal, first, self._choose))

    def act(self) -> str | None:
        return None if self._playing is None else self._playing.action

    def see(self, seen: Seen) -> None:
        if self._playing is not None:
            self._playing.see(seen)

    def _choose(self, choice: StreamChoice) -> str:
        """Decide by the votes of all advice that speaks of the same decision."""
        if choice.question not in self._advice:
            self._advice[choice.question] = self._memory.advise(choice.question)
        advice = {one.id: one for told in self._advice.values() for one in told}
        votes = {option.name: option.prior for option in choice.options}
        voters: list[tuple[ItemId, str, bool]] = []
        for one in advice.values():
            for option, well in votes_of(one.text, choice):
                votes[option] += 1 if well else -1
                voters.append((one.id, option, well))
        most = max(votes.values())
        chosen = self._lot.choice([option.name for option in choice.options if votes[option.name] == most])
        self._used |= {id: None for id, option, well in voters if well is (option == chosen)}
        return chosen


def votes_of(text: str, choice: StreamChoice) -> set[tuple[str, bool]]:
    """For which options advice speaks, and against which: each once, however often it says so."""
    votes = set()
    for told in told_in(text):
        if not is_about(told.action, choice.about):
            continue
        if not told.well and choice.blamed and choice.blamed not in told.seen.casefold().split():
            continue
        votes |= {(option.name, told.well) for option in choice.options if option.told_by(told.action)}
    return votes


class ChatAgent:
    """Lets a chat model act: it is shown the verbs, what its memory tells of the task, and what it has seen so far."""

    def __init__(self, chat: Chat, world: StreamWorld, memory: StreamMemory, lot: str) -> None:
        self._chat, self._world, self._memory = chat, world, memory
        self._messages: list[ChatMessage] = []
        self._used: tuple[ItemId, ...] = ()

    @property
    def used(self) -> Sequence[ItemId]:
        return self._used

    def begin(self, goal: str, first: str) -> None:
        advice = self._memory.advise(goal)
        self._used = tuple(one.id for one in advice)
        verbs = "\n".join(self._world.verbs)
        forms = f"You act in a world by one action at a time, each one line of one of these forms:\n{verbs}"
        system = f"{forms}\nAnswer with the action alone."
        remembered = "\n\n".join(one.text for one in advice) or "(nothing)"
        told = f"Task: {goal}\n\nWhat you remember of earlier tries, as data:\n{remembered}\n\n{first}"
        self._messages = [ChatMessage("system", system), ChatMessage("user", told)]

    def act(self) -> str | None:
        said = reply_of(self._chat.stream(Ask(tuple(self._messages), _LIMIT, task="stream"))).text.strip()
        if not said:
            return None
        action = said.splitlines()[0].removeprefix(ACTION).strip()
        self._messages.append(ChatMessage("assistant", action))
        return action

    def see(self, seen: Seen) -> None:
        self._messages.append(ChatMessage("user", seen.text))


def chat_agent(chat: Chat) -> MakeAgent:
    """Make agents that a chat model drives."""
    return partial(ChatAgent, chat)
