"""When to collect garbage: triggers over measures of a store, and a bandit that learns which of them pay."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Final, Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Measures:
    """Measures of a store that triggers go by.

    Attributes:
        since: Seconds since the last run.
        dead: Share of versions that no view of now shows: closed, or retired.
        free: Share of the file's pages that hold nothing.
        grown: Bytes that the store has grown by since the last run, as a share of what it was then.
        idle: Seconds since anything was written or asked.
    """

    since: float = 0.0
    dead: float = 0.0
    free: float = 0.0
    grown: float = 0.0
    idle: float = 0.0


class RunTrigger(Protocol):
    """A condition under which a garbage collection run begins."""

    name: ClassVar[str]

    def urge(self, measures: Measures) -> float:
        """Return how urgent a run is, never falling as the measure rises; the trigger fires at 1."""
        ...


class Periodic:
    """Fires so many seconds after the last run."""

    name: ClassVar[str] = "periodic"

    def __init__(self, seconds: float = 6 * 3600) -> None:
        self._seconds = seconds

    def urge(self, measures: Measures) -> float:
        return measures.since / self._seconds


class Fragmentation:
    """Fires when so large a share of the store is dead or free."""

    name: ClassVar[str] = "fragmentation"

    def __init__(self, share: float = 0.5) -> None:
        self._share = share

    def urge(self, measures: Measures) -> float:
        return max(measures.dead, measures.free) / self._share


class Growth:
    """Fires when the store has grown by such a share since the last run."""

    name: ClassVar[str] = "growth"

    def __init__(self, share: float = 0.5) -> None:
        self._share = share

    def urge(self, measures: Measures) -> float:
        return measures.grown / self._share


class Load:
    """Fires when the store has been idle for so long and has something to collect."""

    name: ClassVar[str] = "load"

    def __init__(self, seconds: float = 60.0, share: float = 0.05) -> None:
        self._seconds, self._share = seconds, share

    def urge(self, measures: Measures) -> float:
        worth = max(measures.dead, measures.free) >= self._share
        return measures.idle / self._seconds if worth else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """Thresholds of the triggers, each on its own measure; 0 is never.

    Attributes:
        seconds: Since the last run.
        share: Of what the store holds, dead or free.
        growth: Since the last run, as a share.
        idle: Seconds without a write.
    """

    seconds: float = 6 * 3600
    share: float = 0.5
    growth: float = 0.5
    idle: float = 60.0

    def triggers(self) -> tuple[RunTrigger, ...]:
        """List the enabled triggers, in the order in which those that fire are named."""
        made: tuple[tuple[float, Callable[[float], RunTrigger]], ...] = (
            (self.seconds, Periodic),
            (self.share, Fragmentation),
            (self.growth, Growth),
            (self.idle, Load),
        )
        return tuple(trigger(at) for at, trigger in made if at)


TRIGGERS: Final = Thresholds().triggers()
"""Those of the measured defaults."""


def firing(measures: Measures, triggers: Sequence[RunTrigger] = TRIGGERS) -> list[str]:
    """Name the triggers that fire."""
    return [trigger.name for trigger in triggers if trigger.urge(measures) >= 1]


@dataclass(slots=True)
class Bandit:
    """Epsilon-greedy over triggers (Sutton and Barto, section 2.2): of those that fire, the run goes by the one whose
    runs have paid best, but for a small share of draws. One that has not been tried yet comes first.

    Attributes:
        runs, worth: By trigger, how often it was followed, and the mean of what that paid.
        epsilon: The share of draws; 0 to 1.
    """

    runs: dict[str, int] = field(default_factory=dict)
    worth: dict[str, float] = field(default_factory=dict)
    epsilon: float = 0.1

    def pick(self, fired: Sequence[str], seed: int) -> str | None:
        """Choose one of the triggers that fire; None when none is worth a run.

        A trigger whose runs have cost more than they freed is followed by a draw only.
        """
        if not fired:
            return None
        draw = random.Random(seed)  # noqa: S311 - which of several reasons to follow is no secret
        if draw.random() < self.epsilon:
            return draw.choice(list(fired))
        fresh = [name for name in fired if not self.runs.get(name)]
        best = fresh[0] if fresh else max(fired, key=lambda name: self.worth[name])
        return best if fresh or self.worth[best] > 0 else None

    def learn(self, name: str, reward: float) -> None:
        """Update a trigger's mean worth with the reward of one run."""
        runs = self.runs.get(name, 0) + 1
        before = self.worth.get(name, 0.0)
        self.runs[name], self.worth[name] = runs, before + (reward - before) / runs

    def state(self) -> dict[str, list[float]]:
        """Return the learnt state for JSON: runs and mean worth by trigger."""
        return {name: [float(runs), self.worth[name]] for name, runs in self.runs.items()}

    @classmethod
    def from_state(cls, state: Mapping[str, Sequence[float]], epsilon: float = 0.1) -> Bandit:
        """Make a bandit that goes on from a `state()`."""
        runs = {name: int(pair[0]) for name, pair in state.items()}
        return cls(runs, {name: float(pair[1]) for name, pair in state.items()}, epsilon)


PAUSE_PRICE: Final = 64.0
"""Megabytes that a second of the write lock is worth: somebody may wait for it."""


def reward(freed: int, paused: float) -> float:
    """Compute a run's reward: megabytes freed, less a price for the seconds it had the write lock."""
    return freed / 2**20 - PAUSE_PRICE * paused
