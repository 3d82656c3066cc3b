"""A lock that is free once its holder's call has ended: interrupts, threads, and how long somebody has waited."""

from __future__ import annotations

import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from mnemic.core.mutex import Mutex
from patience import PATIENCE, eventually


def leave_it_shut(mutex: Mutex) -> None:
    """A call that is interrupted before it could give the lock back."""
    mutex.take(sys._getframe())
    raise KeyboardInterrupt


def test_a_call_that_ended_holds_nothing() -> None:
    mutex = Mutex()
    for _ in range(3):
        with pytest.raises(KeyboardInterrupt) as kept:
            leave_it_shut(mutex)
        assert not mutex.held
        assert mutex.take(sys._getframe(), 0), "not even where its traceback is kept"
        mutex.give_back(sys._getframe())
        del kept


def test_another_thread_goes_on_where_a_call_ended() -> None:
    mutex = Mutex()
    with pytest.raises(KeyboardInterrupt):
        leave_it_shut(mutex)
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(lambda: mutex.take(sys._getframe(), 0)).result(PATIENCE)


def test_one_at_a_time_and_whoever_waits_gets_it() -> None:
    mutex, inside, most = Mutex(), [0], [0]

    def work() -> None:
        for _ in range(200):
            with mutex:
                inside[0] += 1
                most[0] = max(most[0], inside[0])
                threading.Event().wait(0)
                inside[0] -= 1

    with ThreadPoolExecutor(8) as pool:
        for done in [pool.submit(work) for _ in range(8)]:
            done.result(PATIENCE)
    assert most == [1]
    assert not mutex.held


def test_patience_ends_and_a_wait_is_seen_by_the_holder() -> None:
    mutex = Mutex()
    with mutex, ThreadPoolExecutor(1) as pool:
        assert mutex.waited() == 0
        assert not pool.submit(lambda: mutex.take(sys._getframe(), 0)).result(PATIENCE)
        waiting = pool.submit(lambda: mutex.take(sys._getframe(), PATIENCE))
        eventually(lambda: mutex.waited() > 0)
        mutex.give_back(sys._getframe())
        assert waiting.result(PATIENCE)


def test_giving_back_what_another_holds_changes_nothing() -> None:
    mutex = Mutex()
    with mutex:
        leave = lambda: mutex.give_back(sys._getframe())  # noqa: E731
        leave()
        assert mutex.held
    assert not mutex.held


def test_whoever_takes_it_between_two_steps_of_taking_it_has_it_alone() -> None:
    """What a tracer does between any two looks at who holds it, or threads without a lock in common."""
    mutex, holding = Mutex(), Mutex.__dict__["_last"]
    quicker, looks = sys._getframe(), [0]

    class Slow(Mutex):
        """The same lock for somebody who is passed by after the first look."""

        @property
        def _last(self) -> Any:
            seen = holding.__get__(mutex)
            looks[0] += 1
            if looks[0] == 1:
                assert mutex.take(quicker, 0)
            return seen

        @_last.setter
        def _last(self, now: Any) -> None:
            holding.__set__(mutex, now)

    def take() -> bool:
        return Slow.__new__(Slow).take(sys._getframe(), 0)

    assert not take(), "two hold it"
