"""Things that go wrong, on order: a kill at a named point, a full disk, a clock that jumps, a store that fails."""

from __future__ import annotations

import os
import resource
import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from mnemic.core.clock import Clock
from mnemic.core.events import Receipt
from mnemic.errors import StoreError
from mnemic.store.contract import Store
from mnemic.store.values.drafts import Draft


class Probe(Protocol):
    """A function that a store calls at its named points, such as `commit:before-commit`."""

    def __call__(self, point: str, /) -> None: ...


class CountingProbe:
    """A probe that counts how often a store passes each point.

    Attributes:
        points: The counts, by point.
    """

    def __init__(self) -> None:
        self.points: Counter[str] = Counter()

    def __call__(self, point: str, /) -> None:
        self.points[point] += 1


class KillAt:
    """A probe that ends its own process at the n-th pass of a point, with no chance to clean up."""

    def __init__(self, point: str, n: int = 1) -> None:
        self._point = point
        self._left = n

    def __call__(self, point: str, /) -> None:
        if point == self._point:
            self._left -= 1
            if self._left == 0:
                os.kill(os.getpid(), signal.SIGKILL)


class FailAt:
    """A probe that raises `error` at the n-th pass of a point."""

    def __init__(self, point: str, error: Exception, n: int = 1) -> None:
        self._point = point
        self._error = error
        self._left = n

    def __call__(self, point: str, /) -> None:
        if point == self._point:
            self._left -= 1
            if self._left == 0:
                raise self._error


class JumpingClock:
    """A clock that someone sets back: `step` microseconds on at each call, `back` back at every `every`-th."""

    def __init__(self, start: int, *, step: int = 1_000_000, every: int = 10, back: int = 3_600_000_000) -> None:
        self._now = start
        self._step = step
        self._every = every
        self._back = back
        self._calls = 0

    def now(self) -> int:
        self._calls += 1
        self._now += self._step if self._calls % self._every else -self._back
        return self._now


class SkewedClock:
    """Another clock, off by some microseconds, as on a second machine."""

    def __init__(self, clock: Clock, by: int) -> None:
        self._clock = clock
        self._by = by

    def now(self) -> int:
        return self._clock.now() + self._by


class Flaky:
    """A store whose commits fail on order: before anything is written, or after all of it has landed.

    The second is the nastiest fault there is: the caller cannot know. Commits are counted from 1.
    """

    def __init__(
        self, store: Store, *, before: frozenset[int] = frozenset(), after: frozenset[int] = frozenset()
    ) -> None:
        self._store = store
        self._before = before
        self._after = after
        self.commits = 0

    def commit(self, draft: Draft) -> Receipt:
        self.commits += 1
        number = self.commits
        if number in self._before:
            raise StoreError(f"commit {number} failed before it was written, says the fault harness. Try again.")
        receipt = self._store.commit(draft)
        if number in self._after:
            raise StoreError(f"commit {number} failed after it was written, says the fault harness. Try again.")
        return receipt

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    """No file of this process may grow past `size` bytes meanwhile: a write beyond it fails."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, ignored)


@contextmanager
def most_files(count: int) -> Iterator[None]:
    """This process may hold at most `count` files open meanwhile."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (count, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """Nothing in `folder` can be written, made or removed meanwhile, not even by root.

    Root obeys no permission bits, so it becomes nobody for the time; the folder's parents must
    then be open to everybody.
    """
    paths = [folder, *folder.iterdir()]
    modes = [path.stat().st_mode for path in paths]
    for path in paths:
        path.chmod(0o555 if path.is_dir() else 0o444)
    root = os.geteuid() == 0
    if root:
        os.seteuid(_NOBODY)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)
        for path, mode in zip(paths, modes, strict=True):
            if path.exists():
                path.chmod(mode)


_NOBODY = 65534
