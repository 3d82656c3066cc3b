"""Recalls score one at a time, however many threads ask, where the interpreter has one lock."""

from __future__ import annotations

import os
import sys
from typing import Final

from mnemic.core.semaphore import FairSemaphore


def scorers() -> int:
    """How many threads may score at once: one, where one lock lets one thread run Python; else one on each core.

    Scoring is many short steps over arrays, and each gives the lock away and wants it back: threads beside each other
    pass it on at every step, so that all of them together get half as far as one. More cores do not help them.
    """
    one_lock = getattr(sys, "_is_gil_enabled", lambda: True)()
    return 1 if one_lock else os.cpu_count() or 1


SCORING: Final = FairSemaphore(scorers())
"""What a thread enters to score, with all that it needs of the store in hand: no store, model or embedder is waited for
inside. It is the process's and not a store's, as the interpreter is."""
