"""Triggers: when a strategy runs, each a pure and monotone condition over what waits past its lane's cursor.

A trigger that fires goes on firing as more waits and as time goes by; only what waits for quiet begins to wait anew
with each write. What waits is counted when somebody asks (decision 22): a write pays nothing for its lanes' triggers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Protocol

from mnemic.core.clock import micros
from mnemic.core.items import Item, Kind, Version

SECOND: Final = 1_000_000
MIDDLING: Final = 0.5
"""The importance of what nobody has judged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """What waits past a lane's cursor, counted: of the kinds that the strategy reads, without what it wrote itself.

    Attributes:
        count: How many versions.
        tokens: How many tokens their texts have.
        importance: The sum of their slots `importance`, each 0 to 1; 0.5 for one that has none.
        tasks: How many tasks have ended, as items of any kind tell: episodes, and those with a slot `outcome`.
        judged: How many times somebody said of an item that it helped, or misled, since the lane ran last; counted for
            a `Feedback` only.
        since, last: When the first and the last of what is counted was written (microseconds); 0 for none.
        ran: When the lane was last leased (microseconds); 0 for never.
        asked: Somebody asks right now, and would profit from what the strategy makes of it.
    """

    count: int = 0
    tokens: int = 0
    importance: float = 0.0
    tasks: int = 0
    judged: int = 0
    since: int = 0
    last: int = 0
    ran: int = 0
    asked: bool = False

    def plus(self, versions: Sequence[Version], tokens: int) -> Waiting:
        """Count some versions more, in the order they were written."""
        if not versions:
            return self
        first, last = micros(versions[0].recorded), micros(versions[-1].recorded)
        return replace(
            self,
            count=self.count + len(versions),
            tokens=self.tokens + tokens,
            importance=self.importance + sum(importance(version.item) for version in versions),
            tasks=self.tasks + sum(ends_task(version.item) for version in versions),
            since=self.since or first,
            last=max(self.last, last),
        )


class Trigger(Protocol):
    """A condition under which a strategy runs."""

    def fires(self, waiting: Waiting, now: int) -> bool:
        """Whether it is time, `now` in microseconds."""
        ...


@dataclass(frozen=True, slots=True)
class EachEvent:
    """Fires as soon as anything waits."""

    def fires(self, waiting: Waiting, now: int) -> bool:
        return waiting.count > 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Buffer:
    """Fires when enough waits, or what waits has waited long enough; None leaves a bound out.

    Attributes:
        tokens, count: So much.
        idle: Nothing was written for so many seconds.
        debounce: Whatever else says so, not before nothing was written for so many seconds: who is still talking is
            let finish.
    """

    tokens: int | None = None
    count: int | None = None
    idle: float | None = None
    debounce: float = 0.0

    def fires(self, waiting: Waiting, now: int) -> bool:
        quiet = (now - waiting.last) / SECOND
        if not waiting.count or quiet < self.debounce:
            return False
        return (
            (self.tokens is not None and waiting.tokens >= self.tokens)
            or (self.count is not None and waiting.count >= self.count)
            or (self.idle is not None and quiet >= self.idle)
        )


@dataclass(frozen=True, slots=True)
class Importance:
    """Fires when what waits is important enough, taken together (the reflection of Generative Agents)."""

    at_least: float

    def fires(self, waiting: Waiting, now: int) -> bool:
        return waiting.count > 0 and waiting.importance >= self.at_least


@dataclass(frozen=True, slots=True)
class TaskEnd:
    """Fires when so many tasks have ended."""

    every: int = 1

    def fires(self, waiting: Waiting, now: int) -> bool:
        return waiting.tasks >= self.every


@dataclass(frozen=True, slots=True)
class Feedback:
    """Fires when so often since the last run an item was said to have helped or misled, and anything waits.

    What was said of which item, `strategy_requests.strengths` tells.
    """

    every: int = 1

    def fires(self, waiting: Waiting, now: int) -> bool:
        return waiting.count > 0 and waiting.judged >= self.every


@dataclass(frozen=True, slots=True)
class OnQuestion:
    """Fires when somebody asks, and something waits that they would not see otherwise."""

    def fires(self, waiting: Waiting, now: int) -> bool:
        return waiting.asked and waiting.count > 0


@dataclass(frozen=True, slots=True)
class Interval:
    """Fires so many seconds after the last run, if anything was written since: without news, no dream."""

    seconds: float

    def fires(self, waiting: Waiting, now: int) -> bool:
        return waiting.count > 0 and now - (waiting.ran or waiting.since) >= self.seconds * SECOND


def fired(triggers: Sequence[Trigger], waiting: Waiting, now: int) -> bool:
    """Whether any of these triggers fires."""
    return any(trigger.fires(waiting, now) for trigger in triggers)


def first_moment(triggers: Sequence[Trigger], waiting: Waiting, now: int, latest: int) -> int:
    """Find the first moment after `now` at which one of these triggers fires if nothing more is written, or `latest`.

    As time goes by a trigger only begins to fire, so half of what is left is left out each time.
    """
    silent, fires = now, latest
    while fires - silent > 1:
        middle = (silent + fires) // 2
        if fired(triggers, waiting, middle):
            fires = middle
        else:
            silent = middle
    return fires


def importance(item: Item) -> float:
    """Read the importance that an item states, clipped to [0, 1]."""
    said = item.slots.get("importance")
    return min(1.0, max(0.0, float(said))) if isinstance(said, int | float) and not isinstance(said, bool) else MIDDLING


def ends_task(item: Item) -> bool:
    """Whether an item ends a task: an episode, or whatever says how something came out."""
    return item.kind is Kind.EPISODE or item.slots.get("outcome") is not None
