"""The background: one thread that runs what the lanes have before them, and ends when there is nothing."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Final

from mnemic.core.forking import renew_in_child
from mnemic.errors import MnemicError
from mnemic.flow import Flow, Request, run
from mnemic.kernel import Kernel
from mnemic.lanes import BUSY, HOUSE, Slice, embed_slice, house_failed, house_slice
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
        self._asked = False

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

    def asked(self) -> None:
        """A question was asked: the first one wakes the thread, for what a process before this one left undone."""
        if not self._asked:
            self._asked = True
            self.notify()

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
            MnemicError: a slice failed, once the other lanes have nothing left; what was done is kept.
        """
        until = None if seconds is None else time.monotonic() + seconds
        failed: MnemicError | None = None
        while True:
            passed = _Pass()
            for lane, did in self._slices(passed):
                if told is not None and did.done:
                    told(lane, did.done)
                if until is not None and time.monotonic() >= until:
                    return False
            failed = passed.failed or failed
            if failed is not None and not passed.did:
                raise failed
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
        """One slice of every lane that has something before it, each run when it is asked for.

        One that fails waits by itself, and the others go on.
        """
        for lane, space, flow in self._flows(passed):
            with self._working:
                did = self._attempt(lane, space, flow, passed)
            passed.count(did)
            yield lane, did

    def _attempt(self, lane: str, space: int, flow: Flow[Slice], passed: _Pass) -> Slice:
        try:
            return run(flow, self.perform)
        except MnemicError as error:
            failed = error
        except Exception as error:  # noqa: BLE001 - a worker loop: one space's fault must not stop the others
            failed = MnemicError(f"lane {lane}: {type(error).__name__}: {error}")
        if lane == HOUSE:  # the others' lanes wait by themselves
            self._have_wait(space, failed)
        passed.failed = failed
        return BUSY

    def _have_wait(self, space: int, error: MnemicError) -> None:
        with suppress(MnemicError):
            run(house_failed(space, self._owner, self._kernel.desk.clock.now(), str(error)), self.perform)

    def _flows(self, passed: _Pass) -> Iterator[tuple[str, int, Flow[Slice]]]:
        """What is to be done now: rules first, because they are quick, then meaning."""
        for space in self.behind(HOUSE):
            yield HOUSE, space, house_slice(self._kernel.desk, space)
        try:
            models = self._meaning.to_fill()
        except MnemicError as error:
            passed.failed = error
            return
        for model in models:
            for space in self.behind(embedding_lane(model)):
                flow = embed_slice(space, model, self._owner, self._kernel.desk.clock.now())
                yield embedding_lane(model), space, flow

    def behind(self, lane: str) -> list[int]:
        """The spaces in which a lane has something before it."""
        with self._store.read() as snapshot:
            return [space for space, _, _ in snapshot.backlog(lane)]

    def _follow(self) -> None:
        while not self._closed:
            self._wake.clear()
            passed = _Pass()
            try:
                self._run(passed)
            except Exception:  # noqa: BLE001 - a worker loop: what a store cannot do now it may do later
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
    failed: MnemicError | None = None

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
