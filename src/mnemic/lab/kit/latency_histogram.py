"""Counts how long things took, to three per cent; histograms of several processes add up."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

_STEP: Final = math.log(1.03)
_LEAST: Final = 1e-6


class LatencyHistogram:
    """Latencies by bucket, each 3 % wider than the one before.

    What is counted is up to who records: `bench load` counts from when a request was due and not from when it was
    sent, so that a stall is counted for each request that should have been made meanwhile (coordinated omission).
    """

    def __init__(self, buckets: Mapping[int, int] | None = None) -> None:
        self.buckets: Counter[int] = Counter(buckets or {})

    def record(self, seconds: float) -> None:
        """Count one."""
        self.buckets[0 if seconds <= _LEAST else math.ceil(math.log(seconds / _LEAST) / _STEP)] += 1

    def add(self, others: Iterable[LatencyHistogram]) -> None:
        """Count what others have counted, too."""
        for other in others:
            self.buckets.update(other.buckets)

    @property
    def count(self) -> int:
        """How many were recorded."""
        return self.buckets.total()

    def percentile(self, share: float) -> float:
        """The seconds that `share` per cent took at most: the upper edge of their bucket; 0 for none."""
        wanted, seen = self.count * share / 100, 0
        for bucket in sorted(self.buckets):
            seen += self.buckets[bucket]
            if seen >= wanted:
                return upper_edge(bucket)
        return 0.0

    def rows(self) -> list[tuple[float, int]]:
        """The upper edge of each bucket in milliseconds, and how many are in it."""
        return [(round(upper_edge(bucket) * 1000, 4), self.buckets[bucket]) for bucket in sorted(self.buckets)]


def upper_edge(bucket: int) -> float:
    """The most seconds that are counted in a bucket."""
    return _LEAST * math.exp(bucket * _STEP)
