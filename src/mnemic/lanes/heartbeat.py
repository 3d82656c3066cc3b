"""A heartbeat: a thread prolongs a lease for as long as it is held, while a model elsewhere is waited for."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Final

from mnemic.core.mutex import Flag
from mnemic.errors import MnemicError
from mnemic.lanes.slices import LEASE_SECONDS

BEAT_SECONDS: Final = LEASE_SECONDS / 3
"""How often: a beat that the store is too busy for does no harm yet."""


@contextmanager
def beating(beat: Callable[[], bool]) -> Iterator[None]:
    """Call `beat` every `BEAT_SECONDS` during the block, until it says that no lease is held; errors are ignored."""
    over = Flag()

    def follow() -> None:
        held = True
        while held and not over.wait(BEAT_SECONDS):
            with suppress(MnemicError):
                held = beat()

    thread = threading.Thread(target=follow, name="mnemic-heartbeat", daemon=True)
    try:
        thread.start()
        yield
    finally:
        over.set()
        if thread.ident is not None:
            thread.join()
