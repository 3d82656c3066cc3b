"""A semaphore that is free once the calls inside have ended: threads in order, nesting, interrupts anywhere, forks."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import FrameType
from typing import Any

import pytest

from mnemic.core import mutex as mutex_module
from mnemic.core import semaphore as semaphore_module
from mnemic.core.semaphore import FairSemaphore
from patience import PATIENCE, eventually


def test_as_many_as_its_places_and_no_more() -> None:
    semaphore, inside, most, counting = FairSemaphore(2), [0], [0], threading.Lock()
    both = threading.Barrier(2)

    def work() -> None:
        with semaphore:
            with counting:
                inside[0] += 1
                most[0] = max(most[0], inside[0])
            both.wait(PATIENCE)
            with counting:
                inside[0] -= 1

    with ThreadPoolExecutor(8) as pool:
        for done in [pool.submit(work) for _ in range(8)]:
            done.result(PATIENCE)
    assert most == [2]
    assert (semaphore.inside, semaphore.waiting) == (0, 0)


def test_whoever_came_first_goes_first() -> None:
    semaphore, order = FairSemaphore(1), list[int]()

    def work(number: int) -> None:
        with semaphore:
            order.append(number)

    with ThreadPoolExecutor(8) as pool:
        with semaphore:
            running = []
            for number in range(8):
                running.append(pool.submit(work, number))
                eventually(lambda: semaphore.waiting == len(running))
        for done in running:
            done.result(PATIENCE)
    assert order == list(range(8))


def test_a_thread_that_is_inside_comes_in_again_and_keeps_its_place() -> None:
    semaphore = FairSemaphore(1)

    def nested() -> None:
        with semaphore:
            assert semaphore.inside == 1

    with semaphore:
        nested()
        assert semaphore.inside == 1, "the inner call gave the place of the outer one away"
    assert semaphore.inside == 0


def leave_it_full(semaphore: FairSemaphore) -> None:
    """A call that is interrupted before the first step of leaving."""
    semaphore.__enter__()
    raise KeyboardInterrupt


def test_a_call_that_ended_holds_no_place() -> None:
    semaphore = FairSemaphore(1)
    with pytest.raises(KeyboardInterrupt) as kept:
        leave_it_full(semaphore)
    assert semaphore.inside == 0, "not even where its traceback is kept"
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(comes_in, semaphore).result(PATIENCE)
    del kept


def test_who_waits_goes_on_where_the_call_inside_ends_without_leaving() -> None:
    semaphore, over = FairSemaphore(1), threading.Event()

    def cut_short() -> None:
        semaphore.__enter__()
        over.wait(PATIENCE)

    with ThreadPoolExecutor(4) as pool:
        inside = pool.submit(cut_short)
        eventually(lambda: semaphore.inside == 1)
        waiting = [pool.submit(comes_in, semaphore) for _ in range(3)]
        eventually(lambda: semaphore.waiting == 3)
        over.set()
        inside.result(PATIENCE)
        assert all(one.result(PATIENCE) for one in waiting)


def comes_in(semaphore: FairSemaphore) -> bool:
    with semaphore:
        return semaphore.inside == 1


class Step:
    """A tracer that interrupts before the n-th bytecode of the semaphore and of the lock in it."""

    def __init__(self, at: int) -> None:
        self.at, self.count = at, 0

    def cuts_short(self, act: Callable[[], object]) -> bool:
        before = sys.gettrace()
        sys.settrace(self._entered)
        try:
            act()
        except KeyboardInterrupt:
            return True
        finally:
            sys.settrace(before)
        return False

    def _entered(self, frame: FrameType, _event: str, _value: object) -> Any:
        if frame.f_code.co_filename not in (semaphore_module.__file__, mutex_module.__file__, __file__):
            return None
        if frame.f_code.co_name == "cuts_short":
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        return self._passed

    def _passed(self, _frame: FrameType, event: str, _value: object) -> Any:
        if event == "opcode":
            self.count += 1
            if self.count == self.at:
                raise KeyboardInterrupt
        return self._passed


def test_an_interrupt_between_any_two_steps_leaves_no_place_taken_and_nobody_waiting() -> None:
    semaphore, at, cut = FairSemaphore(1), 0, True
    while cut:
        at += 1
        cut = Step(at).cuts_short(lambda: comes_in(semaphore))
        assert (semaphore.inside, semaphore.waiting) == (0, 0), f"at step {at}"
        assert comes_in(semaphore), f"at step {at}"
    assert at > 100, "it was interrupted nowhere"


@pytest.mark.parametrize("beginning", [0, 1, 2])
def test_an_interrupt_amid_a_line_of_others_lets_all_of_them_go_on(
    beginning: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The one in the middle is cut short: while it comes to wait, while it waits and when it is let in, or leaving."""
    monkeypatch.setattr(semaphore_module, "TURN_SECONDS", 0.01)  # in half of all steps the last one has to look itself
    at, cut = beginning, True
    while cut:
        at += 3
        semaphore, over = FairSemaphore(1), threading.Event()

        def holds(semaphore: FairSemaphore = semaphore, over: threading.Event = over) -> None:
            with semaphore:
                over.wait(PATIENCE)

        with ThreadPoolExecutor(3) as pool:
            first = pool.submit(holds)
            eventually(lambda: semaphore.inside == 1)  # noqa: B023 - it is over when the loop goes on
            middle = pool.submit(Step(at).cuts_short, lambda: comes_in(semaphore))  # noqa: B023 - likewise
            eventually(lambda: semaphore.waiting == 1 or middle.done())  # noqa: B023 - likewise
            last = pool.submit(comes_in, semaphore)
            over.set()
            first.result(PATIENCE)
            cut = middle.result(PATIENCE)
            assert last.result(PATIENCE), f"at step {at}"
        assert (semaphore.inside, semaphore.waiting) == (0, 0), f"at step {at}"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
def test_a_child_comes_in_though_a_thread_of_its_parent_was_inside() -> None:
    semaphore, over = FairSemaphore(1), threading.Event()

    def holds() -> None:
        with semaphore:
            over.wait(PATIENCE)

    with ThreadPoolExecutor(1) as pool:
        inside = pool.submit(holds)
        eventually(lambda: semaphore.inside == 1)
        child = os.fork()
        if child == 0:
            os._exit(0 if comes_in(semaphore) else 1)
        _, status = os.waitpid(child, 0)
        over.set()
        inside.result(PATIENCE)
    assert os.waitstatus_to_exitcode(status) == 0
