"""Letting the foreground pass: who waits how long, and how rarely it wakes, by a clock that the test turns."""

from __future__ import annotations

import pytest

from mnemic import answering
from mnemic.answering import BESIDE_SECONDS, LINGER_SECONDS, PARKED_SECONDS, Yielding


class Turned:
    """A clock that goes on when somebody waits; stands for the module `time`, and for an event that is never set."""

    def __init__(self) -> None:
        self.now, self.wakes, self.open = 1000.0, 0, False

    def monotonic(self) -> float:
        return self.now

    def wait(self, seconds: float) -> bool:
        self.now += seconds
        self.wakes += 1
        return self.open

    def set(self) -> None:
        self.open = True


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Turned:
    turned = Turned()
    monkeypatch.setattr(answering, "time", turned)
    return turned


def paced(clock: Turned) -> Yielding:
    made = Yielding()
    made._all = clock  # type: ignore[assignment]
    return made


def test_with_nobody_in_front_nobody_waits(clock: Turned) -> None:
    pace = paced(clock)
    pace.park()
    assert clock.wakes == 0


def test_it_waits_until_it_has_been_quiet_for_a_while(clock: Turned) -> None:
    pace, began = paced(clock), clock.now
    with pace:
        pass
    pace.park()
    assert (clock.wakes, clock.now - began) == (1, pytest.approx(LINGER_SECONDS))


def test_a_verb_that_does_not_end_is_waited_for_as_long_as_is_fair_and_woken_for_rarely(clock: Turned) -> None:
    pace, began = paced(clock), clock.now
    with pace:
        pace.park()
        assert clock.now - began == pytest.approx(PARKED_SECONDS)
        assert clock.wakes <= 6
        woken = clock.wakes
        pace.park()  # beside it, for a moment
        assert clock.wakes == woken
        clock.now += 2 * BESIDE_SECONDS
        pace.park()
        assert clock.wakes > woken


def test_who_took_long_waits_longer(clock: Turned) -> None:
    pace = paced(clock)
    with pace.working():
        clock.now += 1.0
    began = clock.now
    with pace:
        pace.park()
    assert clock.now - began == pytest.approx(2.0)


def test_when_all_are_let_through_nobody_waits(clock: Turned) -> None:
    pace = paced(clock)
    pace.let_all()
    with pace:
        pace.park()
    assert clock.wakes == 1


def test_it_tells_for_how_long_nobody_has_been_in_front(clock: Turned) -> None:
    pace = paced(clock)
    with pace:
        clock.now += 1.0
        assert pace.quiet_seconds() == 0
    clock.now += 3.0
    assert pace.quiet_seconds() == pytest.approx(3.0)
