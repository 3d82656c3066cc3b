"""A gate between readers and the one who needs them all out for a moment."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Gate:
    """Many may read; `alone` waits for them to finish and holds newcomers back meanwhile."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._readers = 0
        self._shut = False
        self._inside = threading.local()

    @property
    def idle(self) -> bool:
        """Whether nobody is inside just now."""
        return self._readers == 0

    @property
    def held(self) -> bool:
        """Whether the calling thread is reading."""
        return getattr(self._inside, "depth", 0) > 0

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Hold the gate open; a thread that already holds it goes straight in, so that nesting cannot deadlock."""
        depth = getattr(self._inside, "depth", 0)
        with self._changed:
            while self._shut and depth == 0:
                self._changed.wait()
            self._readers += 1
        self._inside.depth = depth + 1
        try:
            yield
        finally:
            self._inside.depth = depth
            with self._changed:
                self._readers -= 1
                if self._shut:
                    self._changed.notify_all()

    @contextmanager
    def alone(self, patience: float | None = None) -> Iterator[bool]:
        """Hold the gate shut with nobody else inside; what the calling thread itself reads does not count.

        Yields whether it came to that within `patience` seconds (None: however long); if not, the gate stays open.
        """
        own = getattr(self._inside, "depth", 0)
        with self._changed:
            shut = self._changed.wait_for(lambda: not self._shut, patience)
            self._shut = True
            quiet = shut and self._changed.wait_for(lambda: self._readers <= own, patience)
            if shut and not quiet:
                self._open()
        try:
            yield quiet
        finally:
            if quiet:
                with self._changed:
                    self._open()

    def _open(self) -> None:
        self._shut = False
        self._changed.notify_all()
