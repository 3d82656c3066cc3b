"""Waiting for what other threads and processes do: until it is done, not for as long as it takes on an idle machine."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Final

PATIENCE: Final = 300.0
"""Seconds after which something will never come: a bound on a test that hangs, far above what a busy machine needs."""


def eventually(true: Callable[[], object], what: str = "it") -> None:
    """Return once `true` answers with something true; fail if it never does."""
    pause, until = threading.Event(), time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < until, f"{what} did not come in {PATIENCE:.0f} seconds"
        pause.wait(0.01)
