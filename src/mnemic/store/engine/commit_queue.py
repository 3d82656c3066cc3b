"""Group commit: callers queue, one of them writes for all who wait, and each gets its own answer.

Whoever finds nobody writing becomes the writer: a lone caller pays for no hand-over to another
thread. It takes what is waiting and what comes while it writes that, never waits for more, and names its successor
when it is done.
"""

from __future__ import annotations

import sys
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from itertools import islice
from typing import Final

from mnemic.core.events import Receipt
from mnemic.core.mutex import Mutex, wait_among, wake_all
from mnemic.errors import MnemicError, StoreError
from mnemic.store.engine.ledger import Prepared

BATCH: Final = 256
"""Most callers in one transaction."""

TURN_SECONDS: Final = 0.1
"""How long a caller waits to be woken before it looks whether anybody writes at all."""


class Ticket:
    """One caller's place in the queue: its work, and what came of it.

    Attributes:
        gate: What its caller waits at, if it does; opened when the work is done, or when nobody writes and it is next.
    """

    __slots__ = ("error", "gate", "receipt", "work")

    def __init__(self, work: Prepared) -> None:
        self.work = work
        self.gate: threading.Lock | None = None
        self.receipt: Receipt | None = None
        self.error: BaseException | None = None

    @property
    def done(self) -> bool:
        return self.receipt is not None or self.error is not None

    def wait(self) -> None:
        """Wait to be woken, at most for `TURN_SECONDS`.

        The first time it only makes the gate, and all is to be looked at again: who came before it found none to open.
        """
        if self.gate is None:
            gate = threading.Lock()
            gate.acquire()
            self.gate = gate
        else:
            self.gate.acquire(timeout=TURN_SECONDS)

    def wake(self) -> None:
        """Have its caller look; to say so twice does no harm."""
        if self.gate is not None and self.gate.locked():
            with suppress(RuntimeError):  # somebody else has just done it
                self.gate.release()


class CommitQueue:
    """Callers in, batches out; `write` fills in a receipt or an error for every ticket it takes.

    `write` may leave tickets untouched at the end of its batch: they stay at the head of the queue. And it may have
    those go along who come while it writes (`join`): callers whose answers have just gone out come back one by one, and
    whoever comes first would have a group to itself, while the others wait for the next. Callers whose
    work has landed are woken by the next to write, at the latest when it calls `wake`, just before it waits for the
    disk: woken earlier, they would prepare their next work in its way, and have nothing left to do while it waits.

    Nothing here says who is to write but a lock that is free once its holder's call has ended, and a caller who waits
    looks from time to time: an interrupt at any moment costs the others a look, never their turn.
    """

    def __init__(self, write: Callable[[list[Ticket]], None]) -> None:
        self._write = write
        self._leading = Mutex()
        self._waiting: deque[Ticket] = deque()
        self._batch: list[Ticket] = []
        self._landed: deque[Ticket] = deque()

    def submit(self, work: Prepared) -> Receipt:
        """Have `work` committed; returns once it is on disk.

        Raises:
            MnemicError: what the writing of this one caller's work raised.
        """
        ticket = Ticket(work)
        try:
            self._waiting.append(ticket)
            while not ticket.done:
                if not self._leading.take(sys._getframe(), patience=0):
                    ticket.wait()
                    continue
                if not ticket.done:
                    self._lead()
                self._leading.give_back(sys._getframe())
                self._hand_over()
        except BaseException:  # an interrupt: leave the queue, and pass on the turn if it had come
            self._leading.give_back(sys._getframe())
            self._leave(ticket)
            self._hand_over()
            raise
        if ticket.error is not None:
            raise ticket.error
        assert ticket.receipt is not None
        return ticket.receipt

    def wake(self) -> None:
        """Let those go on whose work the batch before this one has brought to disk."""
        while self._landed:
            try:
                self._landed.popleft().wake()
            except IndexError:  # another thread wakes them too
                return

    def join(self, batch: list[Ticket]) -> None:
        """Add those who wait and are not in a batch yet, as far as it has room."""
        known = set(map(id, batch))
        fresh = (ticket for ticket in self._waiting.copy() if not ticket.done and id(ticket) not in known)
        batch.extend(islice(fresh, max(0, BATCH - len(batch))))

    def _lead(self) -> None:
        try:
            if self._batch:  # a leader before this one was cut short
                self._break_off()
            self._batch = []
            self.join(self._batch)
            self._write(self._batch)
            self.wake()
            for ticket in self._batch:
                if ticket.done:
                    self._leave(ticket)
                    self._landed.append(ticket)
            self._batch = []
        except BaseException:
            self._break_off()
            raise

    def _leave(self, ticket: Ticket) -> None:
        try:
            self._waiting.remove(ticket)
        except ValueError:  # it has left
            return

    def _break_off(self) -> None:
        """Tell those whose work a writer had taken, and who never heard of it, that nobody knows whether it landed."""
        for ticket in self._batch:
            if not ticket.done:
                ticket.error = StoreError("the write was interrupted and may have landed; retry with the same key")
            self._leave(ticket)
            ticket.wake()
        self._batch = []

    def _hand_over(self) -> None:
        """Have the next in line write; where there is none, those whose work has landed go on at once."""
        successor = (
            next((ticket for ticket in self._waiting.copy() if not ticket.done), None) if self._waiting else None
        )
        if successor is None:
            self.wake()
        else:
            successor.wake()


class Bell:
    """Rung after every commit of this process; who waits for it hears each ring that came since `count` was read."""

    def __init__(self) -> None:
        self._waiting: deque[threading.Lock] = deque()
        self.count = 0

    def ring(self) -> None:
        """Something was committed."""
        self.count += 1
        wake_all(self._waiting)

    def wait(self, heard: int, seconds: float) -> None:
        """Return once it has been rung since `count` was `heard`, at the latest in so many seconds."""
        wait_among(self._waiting, lambda: self.count == heard, seconds)


def copied(error: MnemicError) -> MnemicError:
    """The same error for another caller: one exception object raised in two threads would mix their tracebacks."""
    twin = type(error).__new__(type(error), *error.args)
    twin.__dict__.update(error.__dict__)
    twin.args = error.args
    twin.__cause__ = error.__cause__
    return twin
