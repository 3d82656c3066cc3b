"""Patience with endpoints: what is busy is asked again, and what wants to be left alone is left alone by all calls."""

from __future__ import annotations

import email.utils
import itertools
import math
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Final, TypeVar

from mnemic.errors import ModelError

T = TypeVar("T")

TRIES: Final = 4
"""How often a request is sent that meets a busy or broken server."""

_FIRST_PAUSE: Final = 0.5
"""Seconds before the second try; each pause is twice the one before, where the server asks for none."""

_LONGEST_PAUSE: Final = 30.0
"""Most seconds that a call waits at a time; one that would have to wait longer fails at once."""

_LONGEST_CLOSED: Final = 3600.0
"""Most seconds that an endpoint is left alone, whatever it asks for."""

_ONE_BY_ONE: Final = 0.05
"""Seconds between the calls that have waited for the same endpoint, so that they do not all come at once."""


class Busy(Exception):
    """The server may do better at another try; after `pause` seconds, if it says so."""

    def __init__(self, problem: str, pause: float | None = None) -> None:
        super().__init__(problem)
        self.pause = pause


class Patience:
    """Repeats calls of endpoints that are busy. Safe for many threads, which share what an endpoint asks for.

    Where one call is told to come again after some seconds, no other call of the same model is sent before.

    Args:
        sleep: Waits, in seconds.
        now: Seconds on a clock that only goes on.
    """

    def __init__(self, sleep: Callable[[float], None] = time.sleep, now: Callable[[], float] = time.monotonic) -> None:
        self._sleep, self._now = sleep, now
        self._opens: dict[str, float] = {}

    def call(self, name: str, attempt: Callable[[], T]) -> T:
        """Call `attempt` up to `TRIES` times while it raises `Busy`; return what it returns.

        Args:
            name: Of the model: those of the same name are left alone together.

        Raises:
            ModelError: it was busy every time, or wants to be left alone for longer than a call waits.
        """
        for tried in itertools.count(1):
            self._wait_until_open(name)
            try:
                return attempt()
            except Busy as busy:
                if busy.pause is not None:
                    closed = min(busy.pause, _LONGEST_CLOSED)
                    self._opens[name] = max(self._opens.get(name, 0.0), self._now() + closed)
                if tried == TRIES:
                    raise ModelError(f"{name}: {busy}, {TRIES} times in a row") from busy
                if busy.pause is None:
                    self._sleep(_FIRST_PAUSE * 2 ** (tried - 1))
        raise AssertionError

    def _wait_until_open(self, name: str) -> None:
        """Wait until a model may be asked again; those that wait for it go on one by one.

        Raises:
            ModelError: that is too long.
        """
        waited = False
        while (left := self._opens.get(name, 0.0) - self._now()) > 0:
            if left > _LONGEST_PAUSE:
                raise ModelError(f"{name}: wants to be left alone for another {left:,.0f} s")
            self._sleep(left)
            waited = True
        if waited:
            self._opens[name] = self._now() + _ONE_BY_ONE


SHARED: Final = Patience()
"""That of all endpoints of this process."""


def asked_pause(headers: Mapping[str, str]) -> float | None:
    """Read for how many seconds a server asks to be left alone, in seconds or by a date; None where it says nothing."""
    said = next((value for name, value in headers.items() if name.lower() == "retry-after"), "")
    try:
        seconds = float(said)
        return None if math.isnan(seconds) else min(max(seconds, 0.0), _LONGEST_CLOSED)
    except ValueError:
        pass
    try:
        until = email.utils.parsedate_to_datetime(said)
    except ValueError:
        return None
    aware = until if until.tzinfo is not None else until.replace(tzinfo=UTC)
    return max((aware - datetime.now(UTC)).total_seconds(), 0.0)
