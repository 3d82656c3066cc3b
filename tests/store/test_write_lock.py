"""The lock of those who write: one at a time, and it knows who waits."""

from __future__ import annotations

import threading
import time

from mnemic.store.write_lock import WriteLock


def wait_until_somebody_waits(lock: WriteLock) -> None:
    deadline = time.monotonic() + 30
    while not lock.waited:
        assert time.monotonic() < deadline
        time.sleep(0.001)


def test_nobody_waits_for_a_lock_that_is_free() -> None:
    lock = WriteLock()
    assert lock.waited == 0
    with lock:
        assert lock.waited == 0
        assert not lock.acquire(timeout=0.001)
        assert lock.waited == 0


def test_who_holds_it_is_told_how_long_the_first_has_waited() -> None:
    lock, order = WriteLock(), []

    def write() -> None:
        with lock:
            order.append("waited")

    with lock:
        threads = [threading.Thread(target=write) for _ in range(3)]
        for thread in threads:
            thread.start()
        wait_until_somebody_waits(lock)
        before = lock.waited
        time.sleep(0.01)
        assert lock.waited >= before + 0.01
        order.append("held")
    for thread in threads:
        thread.join()
    assert order == ["held", "waited", "waited", "waited"]
    assert lock.waited == 0
