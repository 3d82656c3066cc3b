"""Group commit: callers queue, one of them writes for all who wait, and each gets its own answer.

Whoever finds nobody writing becomes the writer: a lone caller pays for no hand-over to another
thread. It takes what is waiting, never waits for more, and names its successor when it is done.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from mnemic.core.events import Receipt
from mnemic.errors import StoreError
from mnemic.store.engine.ledger import Prepared

BATCH: Final = 256
"""Most callers in one transaction."""


def _closed_gate() -> threading.Lock:
    gate = threading.Lock()
    gate.acquire()
    return gate


@dataclass(slots=True, eq=False)
class Ticket:
    """One caller's place in the queue; its gate opens when the work is done, or when it is its turn to write."""

    work: Prepared
    gate: threading.Lock = field(default_factory=_closed_gate)
    receipt: Receipt | None = None
    error: BaseException | None = None

    @property
    def done(self) -> bool:
        return self.receipt is not None or self.error is not None


class CommitQueue:
    """Callers in, batches out; `write` fills in a receipt or an error for every ticket it takes.

    `write` may leave tickets untouched at the end of its batch: they go back to the head of the queue. Callers whose
    work has landed are woken by their successor, at the latest when it calls `wake`, just before it waits for the disk:
    woken earlier, they would prepare their next work in its way, and have nothing left to do while it waits.
    """

    def __init__(self, write: Callable[[Sequence[Ticket]], None]) -> None:
        self._write = write
        self._mutex = threading.Lock()
        self._waiting: deque[Ticket] = deque()
        self._landed: list[Ticket] = []
        self._busy = False

    def submit(self, work: Prepared) -> Receipt:
        """Have `work` committed; returns once it is on disk.

        Raises:
            MnemicError: what the writing of this one caller's work raised.
        """
        ticket = Ticket(work)
        with self._mutex:
            self._waiting.append(ticket)
            leads = not self._busy
            self._busy = True
        if not leads:
            self._await_turn(ticket)
        if not ticket.done:
            self._lead(ticket)
        if ticket.error is not None:
            raise ticket.error
        assert ticket.receipt is not None
        return ticket.receipt

    def wake(self) -> None:
        """Let those go on whose work the batch before this one has brought to disk."""
        if not self._landed:
            return
        with self._mutex:
            landed, self._landed = self._landed, []
        for ticket in landed:
            ticket.gate.release()

    def _await_turn(self, ticket: Ticket) -> None:
        try:
            ticket.gate.acquire()
        except BaseException:  # an interrupt while waiting: leave the queue, and pass on the turn if it had come
            with self._mutex:
                queued = ticket in self._waiting
                if queued:
                    self._waiting.remove(ticket)
                nominated = queued and ticket.gate.acquire(blocking=False)
            if nominated:
                self._hand_over([])
            raise

    def _lead(self, ticket: Ticket) -> None:
        batch: list[Ticket] = []
        try:
            with self._mutex:
                batch += [self._waiting.popleft() for _ in range(min(BATCH, len(self._waiting)))]
            self._write(batch)
        except BaseException:
            for other in batch:
                if not other.done:
                    other.error = StoreError("the write was interrupted and may have landed; retry with the same key")
            raise
        finally:
            self.wake()
            with self._mutex:
                self._waiting.extendleft(t for t in reversed(batch) if not t.done)
            self._hand_over([other for other in batch if other is not ticket and other.done])

    def _hand_over(self, landed: list[Ticket]) -> None:
        with self._mutex:
            self._landed += landed
            successor = self._waiting[0] if self._waiting else None
            self._busy = successor is not None
        if successor is None:
            self.wake()
        else:
            successor.gate.release()
