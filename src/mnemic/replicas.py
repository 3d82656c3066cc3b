"""Reads from replicas of a PostgreSQL server, none of them older than who reads has asked for."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from itertools import count
from types import TracebackType
from typing import Any, Final, Self

from mnemic.core.mutex import Mutex
from mnemic.core.scope import Shared
from mnemic.errors import StoreError
from mnemic.memory import Memory, ScopedMemory

AVOIDED_SECONDS: Final = 5.0
"""How long a replica that did not answer is not asked again."""


class ReadReplicas:
    """Reads from replicas what is new enough there, and from the primary what is not. Share one between threads.

    A replica lags: what was just written may not be there yet. Whoever reads says how new it must be by the number of a
    commit, such as the `seq` of a receipt, which may have come from another process; a replica that has not replayed it
    in time is passed over. Without a number any state will do that the replica has.

    Args:
        primary: The memory that is written to; whoever opened it closes it.
        urls: Of the replicas. What is written to one is refused by it (`StoreReadOnly`).
        patience: Seconds that a read waits for a replica before it goes to the primary.
        options: Those of `Memory` that the primary was opened with, such as an `embedder` of one's own.

    A replica is opened by the first read whose turn it is, and one that is down is passed over until it answers.
    """

    def __init__(self, primary: Memory, urls: Sequence[str], *, patience: float = 0.2, **options: Any) -> None:
        self._primary, self._patience = primary, patience
        self._turn, self._avoiding = count(), Mutex()
        self._avoided: dict[int, float] = {}
        """By place, until when a replica is not asked."""
        self.from_primary = 0
        """How many reads went to the primary since no replica was new enough, or none answered."""
        self._urls, self._options = tuple(urls), {**options, "settings": replace(primary.settings, background=False)}
        self._replicas: dict[int, Memory] = {}
        self._opened = ExitStack()

    def scope(
        self,
        *,
        user: str | Shared | None = None,
        tenant: str | None = None,
        agent: str | None = None,
        session: str | None = None,
        at_least: int = 0,
    ) -> ScopedMemory:
        """Return a handle on one user's memory for reading, as new as the tenant's commit `at_least` or newer.

        Take one for each read, or for some that belong together: it stays with the server that it was given for.

        Raises:
            Invalid: `user` is left out, or a name cannot name anything.
        """
        at_primary = self._primary.scope(user=user, tenant=tenant, agent=agent, session=session)
        named = self._primary.settings.tenant if tenant is None else tenant
        replica = self._new_enough(named, at_least)
        if replica is None:
            with self._avoiding:
                self.from_primary += 1
            return at_primary
        return replica.scope(user=user, tenant=tenant, agent=agent, session=session)

    def _new_enough(self, tenant: str, at_least: int) -> Memory | None:
        """The replica whose turn it is, or the next that answers, if it has replayed a commit in time."""
        first, until = next(self._turn), time.monotonic() + self._patience
        for turn in range(len(self._urls)):
            place = (first + turn) % len(self._urls)
            if self._avoided.get(place, 0.0) > time.monotonic():
                continue
            try:
                replica = self._replica(place)
                if at_least <= 0 or _replayed(replica, tenant, at_least, until):
                    return replica
            except StoreError:
                with self._avoiding:
                    self._avoided[place] = time.monotonic() + AVOIDED_SECONDS
        return None

    def _replica(self, place: int) -> Memory:
        """The replica at a place, opened if nobody has asked it yet.

        Raises:
            StoreError: it cannot be opened; its class says why.
        """
        if place not in self._replicas:
            opened = Memory(self._urls[place], **self._options)
            with self._avoiding:
                if self._replicas.setdefault(place, opened) is opened:
                    self._opened.enter_context(opened)
                    return opened
            opened.close()  # somebody was quicker
        return self._replicas[place]

    def close(self) -> None:
        """Close the replicas."""
        self._opened.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _replayed(replica: Memory, tenant: str, seq: int, until: float) -> bool:
    """Whether a replica has a tenant's commit by a moment."""
    store = replica._opened.store
    while True:
        moved = store.moved()
        with store.read() as snapshot:
            number = snapshot.tenant(tenant)
            if number is not None and snapshot.head(number).seq >= seq:
                return True
        left = until - time.monotonic()
        if left <= 0:
            return False
        store.wait(moved, left)
