"""The background: one thread that runs what the lanes have before them, and ends when there is nothing."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from mnemic.core.forking import renew_in_child
from mnemic.errors import MnemicError
from mnemic.flow import Flow, Request, run
from mnemic.kernel import Kernel
from mnemic.lanes import BUSY, HOUSE, Slice, embed_slice, house_slice
from mnemic.meaning import Meaning
from mnemic.models.requests import Embed, EmbedQuestion
from mnemic.store.base import Store, embedding_lane
from mnemic.store.requests import answer

IDLE_SECONDS: Final = 2.0
"""How long the thread waits for more before it ends; the next write starts another."""

_RETRY_SECONDS: Final = 0.5
"""How long it waits for a lane that another worker has, or that waits after a failure."""

PARKED_SECONDS: Final = 0.05
"""Longest that a slice waits for the verbs in the foreground before it goes on beside them."""


class Background:
    """Runs slices of lanes until there are none: in a thread behind the caller or, in `drain`, in the caller's own."""

    def __init__(self, store: Store, kernel: Kernel, meaning: Meaning) -> None:
        self._store, self._kernel, self._meaning = store, kernel, meaning
        self.renew()
        renew_in_child(self)

    def renew(self) -> None:
        """Start over without a thread, as a forked child must."""
        self._lock = threading.Lock()
        self._working = threading.Lock()
        self._wake = threading.Event()
        self._thread: threading.Thread | None = None
        self._closed = False
        self._foreground = 0
        self._quiet = threading.Event()
        self._quiet.set()
        self._owner = uuid.uuid4().hex
        self.error: MnemicError | None = None

    def perform(self, request: Request) -> Any:
        """Answer one request of a flow."""
        match request:
            case Embed(model, texts):
                return self._meaning.passages(model, texts)
            case EmbedQuestion(text):
                return self._meaning.question(text)
            case _:
                return answer(self._store, request)

    def notify(self) -> None:
        """Something was written."""
        with self._lock:
            if self._closed:
                return
            self._wake.set()
            if self._thread is None:
                self._thread = threading.Thread(target=self._follow, name="mnemic-worker", daemon=True)
                self._thread.start()

    @contextmanager
    def foreground(self) -> Iterator[None]:
        """While a verb runs, no new slice begins."""
        with self._lock:
            self._foreground += 1
            self._quiet.clear()
        try:
            yield
        finally:
            with self._lock:
                self._foreground -= 1
                if not self._foreground:
                    self._quiet.set()

    def drain(self, told: Callable[[str, int], None] | None = None, seconds: float | None = None) -> bool:
        """Run slices in this thread until nothing is left; whether that was reached.

        Args:
            told: Called after each slice with its lane and how much it did.
            seconds: Longest to go on; None for as long as it takes. A lane that another worker has is waited for.

        Raises:
            MnemicError: a slice failed; what was done before it is kept.
        """
        until = None if seconds is None else time.monotonic() + seconds
        while True:
            passed = _Pass()
            for lane, did in self._slices(passed):
                if told is not None and did.done:
                    told(lane, did.done)
                if until is not None and time.monotonic() >= until:
                    return False
            if not passed.any:
                return True
            if passed.busy_only:
                time.sleep(_RETRY_SECONDS / 10)
            if until is not None and time.monotonic() >= until:
                return False

    def close(self) -> None:
        """Let the slice that runs finish, and begin no other."""
        with self._lock:
            self._closed = True
            thread, self._thread = self._thread, None
            self._wake.set()
            self._quiet.set()
        if thread is not None and thread is not threading.current_thread():
            thread.join()

    def _slices(self, passed: _Pass) -> Iterator[tuple[str, Slice]]:
        """One slice of every lane that has something before it, each run when it is asked for."""
        for lane, flow in self._flows():
            with self._working:
                did = run(flow, self.perform)
            passed.count(did)
            yield lane, did

    def _flows(self) -> Iterator[tuple[str, Flow[Slice]]]:
        """What is to be done now: rules first, because they are quick, then meaning."""
        for space in self._behind(HOUSE):
            yield HOUSE, house_slice(self._kernel.desk, space)
        for model in self._meaning.to_fill():
            for space in self._behind(embedding_lane(model)):
                yield embedding_lane(model), embed_slice(space, model, self._owner, self._kernel.desk.clock.now())

    def _behind(self, lane: str) -> list[int]:
        with self._store.read() as snapshot:
            return [space for space, _, _ in snapshot.backlog(lane)]

    def _follow(self) -> None:
        while not self._closed:
            self._wake.clear()
            passed = _Pass()
            try:
                self._run(passed)
            except MnemicError as error:
                self.error = error  # the lane waits by itself, and `flush` raises what still fails
                passed.count(BUSY)
            if passed.did or self._wake.wait(_RETRY_SECONDS if passed.any else IDLE_SECONDS):
                continue
            if not passed.any and self._ended():
                return

    def _run(self, passed: _Pass) -> None:
        for _ in self._slices(passed):
            self._quiet.wait(PARKED_SECONDS)
            if self._closed:
                return
        self.error = None

    def _ended(self) -> bool:
        with self._lock:
            if self._wake.is_set():
                return False
            self._thread = None
            return True


@dataclass(slots=True)
class _Pass:
    """What became of one look at all lanes."""

    did: int = 0
    busy: int = 0

    def count(self, one: Slice) -> None:
        if one.busy:
            self.busy += 1
        else:
            self.did += 1

    @property
    def any(self) -> bool:
        return bool(self.did or self.busy)

    @property
    def busy_only(self) -> bool:
        return bool(self.busy and not self.did)
