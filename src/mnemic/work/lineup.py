"""Who is next: the spaces that have something before a lane, found by what has arrived since the last look.

A look asks the store for versions newer than the newest one it knows of, so spaces in which nothing happens cost
nothing, however many there are. Once a minute it asks for everything: what another process has sent back to the
beginning is not new.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from mnemic.core.scope import Shared
    from mnemic.store.base import Store
    from mnemic.store.heads import SpaceHead
    from mnemic.store.snapshot import Snapshot

Owner = tuple[str, "str | Shared", str]
"""Tenant, user and branch: whose space it is, as a draft says it."""

ALL_SECONDS: Final = 60.0
"""How often everything is looked at."""

COUNTED: Final = 4
"""A crowd is counted up to so many times the limit."""


@dataclass(slots=True)
class _Lane:
    """What is known of a lane: how far arrivals were seen, the spaces behind, and when all were looked at."""

    seen: int = 0
    waiting: set[int] = field(default_factory=set)
    all_at: float = float("-inf")


class Lineup:
    """The lanes of one open store. Safe for many threads.

    Args:
        limit: How many passages of a space may wait before it counts as crowded.
    """

    def __init__(self, store: Store, limit: int) -> None:
        self._store, self._limit = store, limit
        self._lock = threading.Lock()
        self._lanes: dict[str, _Lane] = {}
        self._crowds: dict[str, dict[int, tuple[Owner, int]]] = {}

    def behind(self, name: str) -> list[int]:
        """The spaces in which a lane has something before it, by number."""
        with self._lock, self._store.read() as snapshot:
            lane = self._lanes.setdefault(name, _Lane())
            highest = snapshot.highest()
            if time.monotonic() - lane.all_at >= ALL_SECONDS:
                lane.waiting = {space for space, _, _ in snapshot.backlog(name)}
                lane.all_at = time.monotonic()
            elif highest > lane.seen:
                lane.waiting |= snapshot.arrived(lane.seen).keys()
            lane.seen = highest
            crowd: dict[int, tuple[Owner, int]] = {}
            lane.waiting = {space for space in lane.waiting if self._has_work(snapshot, space, name, crowd)}
            self._crowds[name] = crowd
            return sorted(lane.waiting)

    def crowd(self, owner: Owner) -> int:
        """How many passages of a user wait, as of the last look, if they are more than the limit; else 0.

        Counted up to four times the limit.
        """
        if not any(list(self._crowds.values())):
            return 0
        return max((n for one in list(self._crowds.values()) for who, n in one.values() if who == owner), default=0)

    def again(self) -> None:
        """Look at everything next time."""
        with self._lock:
            self._lanes.clear()

    def _has_work(self, snapshot: Snapshot, space: int, name: str, crowd: dict[int, tuple[Owner, int]]) -> bool:
        (head,) = snapshot.spaces((space,)) or (None,)
        if head is None or head.user is None or not head.lanes:
            return False
        cursor, newest = snapshot.lane(space, name).cursor, snapshot.newest(space)
        if newest - cursor > self._limit:  # at least that many numbers, though others' may be among them
            self._count(snapshot, head, cursor, crowd)
        return newest > cursor

    def _count(self, snapshot: Snapshot, head: SpaceHead, cursor: int, crowd: dict[int, tuple[Owner, int]]) -> None:
        assert head.user is not None
        waiting = sum(1 for _ in islice(snapshot.entries(head.id, cursor), COUNTED * self._limit))
        if waiting > self._limit:
            crowd[head.id] = (dict(snapshot.tenants())[head.tenant], head.user, head.branch), waiting
