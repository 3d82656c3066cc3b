"""Who waits to write: whoever has the lock is told how long the others have."""

from __future__ import annotations

import threading
import time

from mnemic.store.sqlite.connections import WriterQueue
from patience import eventually


def test_nobody_waits_for_oneself() -> None:
    waiting = WriterQueue()
    assert waiting.seconds == 0
    with waiting:
        assert waiting.seconds == 0
    assert waiting.seconds == 0


def test_who_has_the_lock_is_told_how_long_the_first_has_waited() -> None:
    waiting, lock = WriterQueue(), threading.Lock()
    inside: list[float] = []

    def write() -> None:
        with waiting, lock:
            inside.append(time.monotonic())

    threads = [threading.Thread(target=write) for _ in range(3)]
    with lock:
        for thread in threads:
            thread.start()
        eventually(lambda: waiting.seconds, "the first of the three")
        before = waiting.seconds
        time.sleep(0.01)
        assert waiting.seconds >= before + 0.01
    for thread in threads:
        thread.join()
    assert len(inside) == 3
    assert waiting.seconds == 0
