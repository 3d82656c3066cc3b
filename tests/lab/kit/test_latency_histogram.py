"""Latencies are counted to three per cent, and histograms of several processes add up."""

from __future__ import annotations

import random

import numpy as np
import pytest

from mnemic.lab.kit.latency_histogram import LatencyHistogram


def histogram(values: list[float]) -> LatencyHistogram:
    made = LatencyHistogram()
    for value in values:
        made.record(value)
    return made


@pytest.mark.parametrize("share", [50, 90, 99, 99.9, 100])
def test_a_percentile_is_within_three_per_cent(share: float) -> None:
    dice = random.Random(share)
    values = [dice.lognormvariate(-5, 2) for _ in range(5_000)]
    exact = float(np.percentile(values, share, method="inverted_cdf"))
    assert exact <= histogram(values).percentile(share) <= exact * 1.0301


def test_those_of_several_processes_add_up() -> None:
    whole, parts = histogram([0.001, 0.002, 0.5]), histogram([0.001])
    parts.add([histogram([0.002]), histogram([0.5])])
    assert parts.buckets == whole.buckets
    assert sum(count for _, count in parts.rows()) == parts.count == 3


def test_nothing_recorded_has_no_percentile_and_no_time_at_all_is_counted() -> None:
    assert LatencyHistogram().percentile(50) == 0.0
    assert histogram([0.0, -1.0]).percentile(100) == pytest.approx(1e-6)
