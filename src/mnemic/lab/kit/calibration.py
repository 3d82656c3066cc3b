"""How well a confidence says how often it is right: a reliability diagram in bins, and its expected error.

Source: Guo et al., "On Calibration of Modern Neural Networks", arXiv:1706.04599, section 2.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from mnemic.lab.kit.metrics import DRAWS, Estimate

BINS: Final = 10


@dataclass(frozen=True, slots=True)
class Bin:
    """The answers of confidence in `[low, high)`, the last bin with its end: how sure they are, how many are right."""

    low: float
    high: float
    n: int
    confidence: float
    right: float


def reliability(confidences: Sequence[float], right: Sequence[bool]) -> tuple[Bin, ...]:
    """Every bin, also those without answers, whose figures are NaN."""
    sure, held = np.asarray(confidences, np.float64), np.asarray(right, np.float64)
    places = np.minimum((sure * BINS).astype(int), BINS - 1)
    bins = []
    for n in range(BINS):
        here = places == n
        some = bool(here.any())
        confidence, share = (float(sure[here].mean()), float(held[here].mean())) if some else (math.nan, math.nan)
        bins.append(Bin(n / BINS, (n + 1) / BINS, int(here.sum()), confidence, share))
    return tuple(bins)


def expected_error(confidences: Sequence[float], right: Sequence[bool]) -> float:
    """How far the bins' confidence lies from how often they are right, each weighing its answers; NaN without any."""
    bins = reliability(confidences, right)
    n = sum(each.n for each in bins)
    return sum(each.n * abs(each.confidence - each.right) for each in bins if each.n) / n if n else math.nan


def error_estimate(confidences: Sequence[float], right: Sequence[bool], seed: int) -> Estimate:
    """The expected error with its percentile bootstrap interval."""
    if not len(confidences):
        return Estimate(math.nan, math.nan, math.nan, 0)
    sure, held = np.asarray(confidences, np.float64), np.asarray(right, np.float64)
    places = np.minimum((sure * BINS).astype(int), BINS - 1)
    picked = np.random.default_rng(seed).integers(0, len(sure), size=(DRAWS, len(sure)))
    gaps = (sure - held)[picked]
    within = [np.abs(np.where(places[picked] == n, gaps, 0).sum(axis=1)) for n in range(BINS)]
    low, high = np.percentile(np.sum(within, axis=0) / len(sure), (2.5, 97.5))
    return Estimate(expected_error(confidences, right), float(low), float(high), len(sure))
