"""The lock of those who write, which knows how long somebody has been waiting for it."""

from __future__ import annotations

import threading
import time


class WriteLock:
    """One writer of a process at a time; whoever has it may ask how long the next has been kept waiting."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._since: dict[int, float] = {}

    @property
    def waited(self) -> float:
        """Seconds that whoever of this process has waited longest has been waiting; 0 if nobody is."""
        since = tuple(self._since.values())
        return time.monotonic() - min(since) if since else 0.0

    def acquire(self, timeout: float = -1) -> bool:
        """Wait for it, at most `timeout` seconds if that is not negative; whether it is held now."""
        if self._lock.acquire(blocking=False):
            return True
        me = threading.get_ident()
        self._since[me] = time.monotonic()
        try:
            return self._lock.acquire(timeout=timeout)
        finally:
            del self._since[me]

    def release(self) -> None:
        """Let the next have it."""
        self._lock.release()

    def __enter__(self) -> None:
        self.acquire()

    def __exit__(self, *_: object) -> None:
        self.release()
