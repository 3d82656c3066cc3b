"""Quotas: how many requests a minute and how many writes a day one credential may make, in each process.

A token bucket for each: it holds as many tokens as its period allows, each request takes one, and they come back evenly
(ITU-T I.371, annex A, where it is the generic cell rate algorithm). A key that rests may thus ask a whole minute's
worth at once, and never more than twice its rate in any minute. Counts are kept in the process: several processes
allow so many each, and one that starts anew starts with full buckets.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from mnemic.core.mutex import Mutex
from mnemic.credentials.principal import Principal
from mnemic.errors import Invalid, OverQuota

MINUTE: Final = 60.0
DAY: Final = 86_400.0
_MOST: Final = 10_000
"""Credentials of which counts are kept; past it those that are full again are let go."""


@dataclass(slots=True)
class TokenBucket:
    """Holds the tokens that are left of a quota.

    Attributes:
        size: How many it holds when it is full, and how many come back in `period` seconds.
        level: How many there were at `at`.
    """

    size: int
    period: float
    level: float
    at: float

    def refill(self, now: float) -> None:
        """Let come back what is due."""
        self.level = min(self.size, self.level + max(0.0, now - self.at) * self.size / self.period)
        self.at = now

    @property
    def wait(self) -> float:
        """In how many seconds there is a whole token; 0 if there is one."""
        return 0.0 if self.level >= 1 else (1 - self.level) * self.period / self.size

    def take(self) -> None:
        """Take a token, where `wait` says that there is one."""
        self.level -= 1


class Quotas:
    """Counts what each credential asks for against its quotas.

    Args:
        requests_a_minute, writes_a_day: What each credential may do; 0 for no limit.
        seconds: Tells seconds that never go back.
    """

    def __init__(
        self, requests_a_minute: int = 0, writes_a_day: int = 0, seconds: Callable[[], float] = time.monotonic
    ) -> None:
        for name, limit in (("requests_a_minute", requests_a_minute), ("writes_a_day", writes_a_day)):
            if limit < 0:
                raise Invalid(name, f"is {limit}", "Give a number of at least 1, or 0 for no limit.")
        limits = (("requests a minute", requests_a_minute, MINUTE, False), ("writes a day", writes_a_day, DAY, True))
        self._limits = tuple(limit for limit in limits if limit[1])
        self._seconds = seconds
        self._buckets: dict[tuple[str, str, str], tuple[TokenBucket, ...]] = {}
        self._mutex = Mutex()

    def charge(self, principal: Principal, *, writes: bool) -> None:
        """Charge a request, and a write too if it `writes`; a request that is refused is charged nothing.

        Raises:
            OverQuota: one of them is used up; it says which, and in how many seconds the next will be taken.
        """
        who, now = (principal.tenant, principal.key, principal.name), self._seconds()
        with self._mutex:
            buckets = self._of(who, now)
            charged = [
                (bucket, f"{most:,} {unit}")
                for bucket, (unit, most, _, of_writes) in zip(buckets, self._limits, strict=True)
                if writes or not of_writes
            ]
            longest, quota = max(((bucket.wait, quota) for bucket, quota in charged), default=(0.0, ""))
            if longest > 0:
                raise OverQuota(f"{principal.name!r} may make {quota}; try again in {longest:,.1f} s", longest)
            for bucket, _ in charged:
                bucket.take()

    def _of(self, who: tuple[str, str, str], now: float) -> tuple[TokenBucket, ...]:
        buckets = self._buckets.get(who)
        if buckets is None:
            if len(self._buckets) >= _MOST:
                self._let_go(now)
            buckets = tuple(TokenBucket(most, period, most, now) for _, most, period, _ in self._limits)
            self._buckets[who] = buckets
        for bucket in buckets:
            bucket.refill(now)
        return buckets

    def _let_go(self, now: float) -> None:
        """Let go of full buckets, which a new one would equal; of all if none is, since memory must end somewhere."""
        for buckets in self._buckets.values():
            for bucket in buckets:
                bucket.refill(now)
        kept = {who: some for who, some in self._buckets.items() if any(each.level < each.size for each in some)}
        self._buckets = kept if len(kept) < _MOST else {}
