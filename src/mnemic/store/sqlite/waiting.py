"""Who of a process waits to write, and since when."""

from __future__ import annotations

import threading
import time


class Waiting:
    """Those who have the write lock or wait for it, from before they ask for it until they have given it back.

    It stands beside the lock, not around it: an interrupt can do no worse here than leave a name too many.
    """

    def __init__(self) -> None:
        self._since: dict[int, float] = {}

    @property
    def seconds(self) -> float:
        """How long whoever else waits longest has waited, for the one who has the lock; 0 if nobody does."""
        me = threading.get_ident()
        others = [since for thread, since in self._since.copy().items() if thread != me]
        return time.monotonic() - min(others) if others else 0.0

    def __enter__(self) -> None:
        self._since[threading.get_ident()] = time.monotonic()

    def __exit__(self, *_: object) -> None:
        self._since.pop(threading.get_ident(), None)
