"""The backlog: which spaces have versions past a lane's cursor, as the store's rows of what is due tell.

A commit that makes work writes them, the slice that leaves nothing takes them out: spaces in which nothing happens cost
a look nothing, however many there are.
"""

from __future__ import annotations

import time
from itertools import islice
from typing import TYPE_CHECKING, Final

from mnemic.core.clock import FOREVER
from mnemic.core.mutex import Mutex
from mnemic.lanes.following import choice_of, follows
from mnemic.store.engine import lane_cursors
from mnemic.store.values.work import indexed_slot

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mnemic.core.scope import Shared
    from mnemic.store.contract import Store
    from mnemic.store.engine.snapshot import Snapshot
    from mnemic.store.values.heads import SpaceHead

SpaceOwner = tuple[str, "str | Shared", str]
"""Tenant, user and branch: whose space it is, as a draft says it."""

COUNTED: Final = 10_000
"""What waits is counted up to so many passages, or four times the limit where that is more."""

COUNT_SECONDS: Final = 1.0
"""How long a count of a user's passages holds; what this process writes meanwhile is added."""

_SHARE: Final = 0.01
"""Most of the time that counting may take: nine thousand passages are 50 ms, and hold for five seconds."""

_USERS: Final = 1_000
"""Users whose counts are remembered."""


class Backlog:
    """Tracks which spaces wait for each lane of one open store. Safe for many threads.

    Args:
        limit: How many passages of a user may wait before their writers are told.
        strategies: The strategies that are followed for users who have chosen none.
        embedders: Names the lanes of embedders before which passages of every user wait, as things stand.
    """

    def __init__(
        self, store: Store, limit: int, strategies: Sequence[str], embedders: Callable[[Snapshot], Sequence[str]]
    ) -> None:
        self._store, self._limit, self._strategies, self._embedders = store, limit, strategies, embedders
        self._counting = Mutex()
        self._later: dict[str, bool] = {}
        self._counts: dict[SpaceOwner, tuple[int, float]] = {}

    def behind(self, name: str, now: int = FOREVER) -> dict[int, int]:
        """Find the spaces with versions past a lane's cursor: each number with its epoch.

        Args:
            now: Only those that are to be looked at by this time (microseconds); by default all.
        """
        while True:
            with self._store.read() as snapshot:
                # Whoever waits for all, and who looks first, asks of spaces too in which the lane rests: their
                # users may follow it by now, or by what another process takes for the default.
                found = snapshot.due_spaces(name, now, resting=now == FOREVER or name not in self._later)
                if found.complete:
                    awake, later = found.now, found.later
                    due = sorted({*awake, *found.resting})
                    heads = (head for space in due for head in snapshot.spaces((space,)))
                    behind = {head.id: head.epoch for head in heads if self._has_work(snapshot, head, name)}
                    idle = {space: snapshot.newest(space) for space in awake if space not in behind}
                    break
                if snapshot.first_waiting(name) is None:
                    return {}
            self._store.transact(lane_cursors.follow, name)
        if now < FOREVER:  # who waits for all asks of every space, and is told nothing of later
            self._later[name] = later
        if idle:
            self._store.transact(lane_cursors.rest, name, idle)
        return behind

    def settle(self, slots: Sequence[str]) -> None:
        """Let go of slots that are followed and that nobody indexes any more: each commit writes a row for each."""
        with self._store.read() as snapshot:
            indexed = {name: indexed_slot(name) for name in snapshot.followed_lanes()}
        if gone := [name for name, slot in indexed.items() if slot is not None and slot not in slots]:
            self._store.transact(lane_cursors.unfollow, gone)

    def has_later(self, name: str) -> bool:
        """Whether the last look at a lane by the time left spaces that are to be looked at later."""
        return self._later.get(name, False)

    def over_limit(self, owner: SpaceOwner, written: int) -> int:
        """Count a user's passages that wait for the lane furthest behind; 0 unless they exceed the limit.

        They are counted once in `COUNT_SECONDS`, more seldom where they are many, and where the limit seems passed.

        Args:
            written: How many of them were written just now.
        """
        with self._counting:
            before, until = self._counts.get(owner, (0, float("-inf")))
            began, waiting = time.monotonic(), before + written
            if began >= until or before <= self._limit < waiting:
                waiting, now = self._counted(owner), time.monotonic()
                until = now + max(COUNT_SECONDS, (now - began) / _SHARE)
                if len(self._counts) >= _USERS:
                    self._counts.clear()
            self._counts[owner] = waiting, until
        return waiting if waiting > self._limit else 0

    def recount(self) -> None:
        """Discard the counts, so that the next question counts anew."""
        with self._counting:
            self._counts.clear()

    def _counted(self, owner: SpaceOwner) -> int:
        """Count the waiting passages; an upper bound is enough where it is within the limit."""
        with self._store.read() as snapshot:
            head, _ = snapshot.owned(*owner)
            embedders = self._embedders(snapshot)
            names = (*self._strategies, *embedders)
            if head is None or not head.lanes or not names:
                return 0
            first, newest = snapshot.lane_and_newest(head.id, names[0])
            cursor = min((first.cursor, *(snapshot.lane(head.id, name).cursor for name in names[1:])))
            if newest - cursor <= self._limit:  # no more than these numbers, and others' may be among them
                return max(0, newest - cursor)
            if (choice := choice_of(snapshot, head.id)) is not None:
                lanes = [snapshot.lane(head.id, name).cursor for name in (*choice, *embedders)]
                cursor = min(lanes, default=newest)
            most = max(COUNTED, 4 * self._limit)
            return sum(1 for _ in islice(snapshot.entries(head.id, cursor), most))

    def _has_work(self, snapshot: Snapshot, head: SpaceHead, name: str) -> bool:
        if head.user is None or not head.lanes:
            return False
        lane, newest = snapshot.lane_and_newest(head.id, name)
        return newest > lane.cursor and follows(snapshot, head.id, name, self._strategies)
