"""What judges' replies say, and how far to believe them: spread over runs, agreement, and answers shown in both orders.

A reply that cannot be read is counted and never guessed. Agreement is Cohen's kappa (Educational and Psychological
Measurement 20, 1960): how much oftener two judges say the same than they would by chance.
"""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from mnemic.lab.kit.answer_prompts import LABELS, PREFERENCES, schema_of
from mnemic.models.chat.soundness import Unfit, fitting

SEVERAL_TEMPERATURE: Final = 0.7
"""At which a judge is asked several times; once, it is asked at 0."""


def temperature(runs: int) -> float:
    """How freely a judge chooses its words that is asked so many times."""
    return SEVERAL_TEMPERATURE if runs > 1 else 0.0


def mark(reply: str) -> bool | None:
    """Whether a judge found an answer right; None where its reply cannot be read."""
    label = _label(reply, LABELS)
    return None if label is None else label == "RIGHT"


def preference(reply: str, *, swapped: bool) -> int | None:
    """1 where a judge found the first contestant's answer better, -1 the other's, 0 neither; None for unreadable.

    Args:
        swapped: The other's answer was shown first.
    """
    label = _label(reply, PREFERENCES)
    return None if label is None else {"A": 1, "B": -1, "SAME": 0}[label] * (-1 if swapped else 1)


def _label(reply: str, labels: Sequence[str]) -> str | None:
    """The label of a reply in JSON, or one that is a label and nothing else."""
    if reply.strip().strip('".') in labels:
        return reply.strip().strip('".')
    try:
        fields = fitting(reply, schema_of(labels))
    except Unfit:
        return None
    return str(fields["label"]) if isinstance(fields, Mapping) else None


def settled(straight: int | None, swapped: int | None) -> int | None:
    """What two orders come to: a preference that both have, else 0; None where one cannot be read."""
    if straight is None or swapped is None:
        return None
    return straight if straight == swapped else 0


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far two judges agree on the same `n` marks; NaN without any, kappa also where chance alone would agree."""

    kappa: float
    same: float
    n: int


def agreement(one: Sequence[bool | None], other: Sequence[bool | None]) -> Agreement:
    """Compare two judges' marks of the same answers; a pair of which one cannot be read is left out."""
    pairs = [(a, b) for a, b in zip(one, other, strict=True) if a is not None and b is not None]
    if not pairs:
        return Agreement(math.nan, math.nan, 0)
    same = sum(a == b for a, b in pairs) / len(pairs)
    ones, others = Counter(a for a, _ in pairs), Counter(b for _, b in pairs)
    by_chance = sum(ones[label] * others[label] for label in (True, False)) / len(pairs) ** 2
    return Agreement(math.nan if by_chance == 1 else (same - by_chance) / (1 - by_chance), same, len(pairs))


@dataclass(frozen=True, slots=True)
class RunSpread:
    """How a share differs between runs: its mean, standard deviation (NaN for one run), lowest and highest."""

    mean: float
    deviation: float
    low: float
    high: float


def spread(runs: Sequence[Sequence[bool | None]]) -> RunSpread:
    """The share of right marks by run, over those that can be read; runs without any are left out."""
    read = [[mark for mark in run if mark is not None] for run in runs]
    shares = [sum(run) / len(run) for run in read if run]
    if not shares:
        return RunSpread(*[math.nan] * 4)
    deviation = statistics.stdev(shares) if len(shares) > 1 else math.nan
    return RunSpread(statistics.fmean(shares), deviation, min(shares), max(shares))
