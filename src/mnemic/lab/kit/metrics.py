"""How good a ranking is: pure functions from one question's outcome to a number, and honest intervals over many.

Definitions: `R@k` = gold found in the first k / gold. `any@k`, `all@k` = 1 if any, or every, gold is
among them. A session's rank is that of its best turn, counting sessions, not turns. By token budget:
gold found in the longest run from the top that fits the budget. `NDCG@k` follows LongMemEval's
published evaluation (Wu et al., arXiv:2410.10813): gain 1 for any gold, no discount at ranks 1 and 2,
then 1 / log2(rank). `nDCG@k` is the usual one: 1 / log2(1 + rank) from the first rank on. `MRR` = 1 / the rank of
the first gold. A metric that a question cannot have (no gold of that level) is NaN, and means
leave it out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from itertools import accumulate
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from mnemic.lab.kit.contestant import ContextLine, CreditedHit, GivenAnswer

Array: TypeAlias = npt.NDArray[np.float64]
Weights: TypeAlias = npt.NDArray[np.float32]

DRAWS: Final = 2_000
FEW: Final = 5
"""Of fewer there is no interval."""

_ALIKE: Final = 1e-5
"""Bounds that are nearer to each other differ by how sums are rounded."""

KS: Final = (1, 2, 3, 5, 10, 20, 50)
SESSION_KS: Final = (1, 5, 10)
BUDGETS: Final = (1_000, 2_000, 4_000)

DEPTH: Final = 200
"""Documents that hold what the deepest metrics look at: 50 turns, ten sessions, 4,000 tokens."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """One system's answer to one question, with what the metrics need to know of its documents.

    Attributes:
        gold, sessions: The evidence, as ids of documents and of sessions.
        ranked: Ids of documents, best first; `ranked_sessions` and `tokens` run beside it.
        tokens: What each ranked document costs in a prompt.
        score: Of the best document, comparable between questions or not, as the system has it; NaN for none.
        wanted: The right answer, in words.
        given: What was answered in words; None where nobody asked for it.
        hits: What was shown, of one that shows more than documents.
        block: What stands in the context; None where that was not asked for, or cannot be told.
        key: What the metrics of its task judge by besides, by name.
    """

    question: str
    category: str
    gold: tuple[str, ...]
    sessions: tuple[str, ...]
    ranked: tuple[str, ...]
    ranked_sessions: tuple[str, ...]
    tokens: tuple[int, ...]
    score: float = math.nan
    wanted: str = ""
    given: GivenAnswer | None = None
    hits: tuple[CreditedHit, ...] = ()
    block: tuple[ContextLine, ...] | None = None
    key: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean with its 95 % interval, over `n` questions that have the metric; NaN when there is none."""

    mean: float
    low: float
    high: float
    n: int

    @property
    def has_interval(self) -> bool:
        """Whether its bounds say how sure the mean is.

        Where all values are alike, all draws come to the same: that shows no doubt, and is no certainty.
        """
        return self.high - self.low > _ALIKE


def recall(gold: Sequence[str], ranked: Sequence[str], k: int) -> float:
    """Gold found in the first `k` / gold; NaN without gold."""
    return len(set(gold) & set(ranked[:k])) / len(set(gold)) if gold else math.nan


def any_at(gold: Sequence[str], ranked: Sequence[str], k: int) -> float:
    """1 if any gold is among the first `k`, else 0; NaN without gold."""
    return float(recall(gold, ranked, k) > 0) if gold else math.nan


def all_at(gold: Sequence[str], ranked: Sequence[str], k: int) -> float:
    """1 if all gold is among the first `k`, else 0; NaN without gold."""
    return float(recall(gold, ranked, k) == 1) if gold else math.nan


def ndcg(gold: Sequence[str], ranked: Sequence[str], k: int) -> float:
    """Normalised discounted gain of the first `k`, any gold counting 1; NaN without gold."""
    return _gain(gold, ranked, k, _late)


def usual_ndcg(gold: Sequence[str], ranked: Sequence[str], k: int) -> float:
    """The same discounted from the first rank on, as scikit-learn and most others have it; NaN without gold."""
    return _gain(gold, ranked, k, lambda rank: 1 / math.log2(1 + rank))


def reciprocal_rank(gold: Sequence[str], ranked: Sequence[str]) -> float:
    """1 / the rank of the first gold, 0 where none is ranked; NaN without gold."""
    if not gold:
        return math.nan
    return next((1 / rank for rank, doc in enumerate(ranked, start=1) if doc in gold), 0.0)


def _gain(gold: Sequence[str], ranked: Sequence[str], k: int, discount: Callable[[int], float]) -> float:
    wanted = set(gold)
    ideal = sum(discount(rank) for rank in range(1, min(k, len(wanted)) + 1))
    gained = sum(discount(rank) for rank, doc in enumerate(ranked[:k], start=1) if doc in wanted)
    return gained / ideal if wanted else math.nan


def fitting(tokens: Iterable[int], budget: int) -> int:
    """How many documents from the top fit in `budget` tokens together."""
    return sum(1 for total in accumulate(tokens) if total <= budget)


def distinct(names: Iterable[str]) -> tuple[str, ...]:
    """Names in the order of their first appearance: how sessions are ranked by their best turn."""
    return tuple(dict.fromkeys(names))


def auroc(positive: Sequence[float], negative: Sequence[float]) -> float:
    """Chance that a positive scores above a negative, ties counting half; NaN if either side is empty."""
    if not positive or not negative:
        return math.nan
    ordered = np.sort(np.asarray(negative, dtype=np.float64))
    below = np.searchsorted(ordered, positive, side="left")
    upto = np.searchsorted(ordered, positive, side="right")
    return float((below + upto).sum() / 2 / len(positive) / len(negative))


def _late(rank: int) -> float:
    return 1.0 if rank <= 2 else 1 / math.log2(rank)


Metric: TypeAlias = Callable[[Outcome], float]
_Measure: TypeAlias = Callable[[Sequence[str], Sequence[str], int], float]


def _turns(measure: _Measure, k: int, outcome: Outcome) -> float:
    return measure(outcome.gold, outcome.ranked, k)


def _sessions(measure: _Measure, k: int, outcome: Outcome) -> float:
    return measure(outcome.sessions, distinct(outcome.ranked_sessions), k)


def _within(budget: int, outcome: Outcome) -> float:
    return recall(outcome.gold, outcome.ranked, fitting(outcome.tokens, budget))


def _tokens_shown(k: int, outcome: Outcome) -> float:
    return float(sum(outcome.tokens[:k]))


def _metrics() -> dict[str, Metric]:
    table: dict[str, Metric] = {}
    for name, measure in (("R", recall), ("any", any_at), ("all", all_at)):
        table |= {f"{name}@{k}": partial(_turns, measure, k) for k in KS}
        table |= {f"session {name}@{k}": partial(_sessions, measure, k) for k in SESSION_KS}
    table |= {f"NDCG@{k}": partial(_turns, ndcg, k) for k in (5, 10)}
    table |= {f"nDCG@{k}": partial(_turns, usual_ndcg, k) for k in (5, 10)}
    table["MRR"] = lambda outcome: reciprocal_rank(outcome.gold, outcome.ranked)
    table |= {f"R@{budget // 1000}k tokens": partial(_within, budget) for budget in BUDGETS}
    table |= {f"tokens@{k}": partial(_tokens_shown, k) for k in (10, 50)}
    return table


METRICS: Final[Mapping[str, Metric]] = _metrics()
"""Every per-question metric by name; all but `tokens@k` lie in [0, 1]."""


def _reach(name: str) -> float:
    """How many documents a metric of `METRICS` looks at; sessions and tokens take as many as it needs to fill them."""
    _, at, depth = name.rpartition("@")
    if name.startswith("session ") and depth == "1":
        return 1
    return math.inf if name.startswith("session ") or name.endswith(" tokens") else int(depth) if at else 1


def within(by: Mapping[str, Metric], asked: int) -> dict[str, Metric]:
    """Leave out the metrics of `METRICS` that look deeper than was asked for; those of a task's own stay.

    Sessions and budgets want `DEPTH`. `MRR` is that of the documents that were asked for.
    """
    return {
        name: metric for name, metric in by.items() if asked >= (min(_reach(name), DEPTH) if name in METRICS else 0)
    }


def measure(outcomes: Sequence[Outcome], by: Mapping[str, Metric] = METRICS) -> dict[str, Array]:
    """Every metric of every outcome, in their order."""
    return {name: np.array([metric(o) for o in outcomes], dtype=np.float64) for name, metric in by.items()}


@lru_cache(maxsize=8)
def resample(n: int, seed: int, draws: int = DRAWS) -> Weights:
    """How often each of `n` questions is drawn in each bootstrap sample, (draws, n); not to be written to."""
    picked = np.random.default_rng(seed).integers(0, n, size=(draws, n)) + np.arange(draws)[:, None] * n
    weights = np.bincount(picked.ravel(), minlength=draws * n).reshape(draws, n).astype(np.float32)
    weights.flags.writeable = False
    return weights


def estimates(values: Mapping[str, Array], seed: int) -> dict[str, Estimate]:
    """The mean of each column (n questions) without NaN, with its percentile bootstrap interval.

    All columns share the same samples, so what is compared is compared on the same draws.
    """
    nothing = Estimate(math.nan, math.nan, math.nan, 0)
    table = np.stack(list(values.values()), axis=1)
    if not len(table):
        return dict.fromkeys(values, nothing)
    there = ~np.isnan(table)
    filled = np.where(there, table, 0)
    samples = resample(len(table), seed)
    weight = samples @ there.astype(np.float32)
    means = samples @ filled.astype(np.float32) / np.maximum(weight, 1)
    nowhere = (weight == 0) & there.any(axis=0)  # a draw of questions none of which has the metric says nothing of it
    if nowhere.any():
        means[nowhere] = np.nan
    low, high = (np.nanpercentile if nowhere.any() else np.percentile)(means, (2.5, 97.5), axis=0)
    n = there.sum(axis=0)
    mean = filled.sum(axis=0) / np.maximum(n, 1)
    return {
        name: Estimate(float(mean[i]), float(low[i]), float(high[i]), int(n[i])) if n[i] else nothing
        for i, name in enumerate(values)
    }


def of_enough(value: Estimate) -> Estimate:
    """The same without its interval where it is of fewer than `FEW`: draws of so few hardly differ, or not at all."""
    return value if value.n >= FEW else replace(value, low=math.nan, high=math.nan)


def difference(values: Array, baseline: Array, seed: int) -> Estimate:
    """Paired: by how much `values` beat `baseline` on the same questions, with its interval."""
    return estimates({"difference": values - baseline}, seed)["difference"]


def clustered(values: Array, groups: Sequence[str], seed: int) -> Estimate:
    """The mean of a column, with the percentile interval of a bootstrap that draws whole groups, such as conversations.

    Values that are NaN are left out. The interval is NaN where there are fewer than two groups.
    """
    there = ~np.isnan(values)
    values, groups = values[there], [group for group, is_there in zip(groups, there, strict=True) if is_there]
    names = distinct(groups)
    if len(names) < 2:
        return Estimate(float(np.mean(values)) if len(values) else math.nan, math.nan, math.nan, len(values))
    member = np.array(groups)[:, None] == np.array(names)[None, :]
    return _of_sums(values @ member, member.sum(axis=0).astype(np.float64), seed)


def ratio(over: Sequence[float], under: Sequence[float], seed: int) -> Estimate:
    """The sum of one column over that of another beside it, with its percentile bootstrap interval over their rows."""
    return _of_sums(np.asarray(over, np.float64), np.asarray(under, np.float64), seed)


def _of_sums(over: Array, under: Array, seed: int) -> Estimate:
    samples = resample(len(over), seed)
    low, high = np.percentile((samples @ over) / (samples @ under), (2.5, 97.5))
    return Estimate(float(over.sum() / under.sum()), float(low), float(high), len(over))


def auroc_estimate(positive: Sequence[float], negative: Sequence[float], seed: int) -> Estimate:
    """Chance that a positive scores above a negative, with its percentile bootstrap interval over both."""
    if not positive or not negative:
        return Estimate(math.nan, math.nan, math.nan, 0)
    chance = np.random.default_rng(seed)
    order = np.argsort(negative)
    below = np.searchsorted(negative, positive, side="left", sorter=order)
    upto = np.searchsorted(negative, positive, side="right", sorter=order)
    drawn, before = np.empty(DRAWS), np.zeros(len(negative) + 1, np.int64)
    for draw in range(DRAWS):  # sorted once: how many of those drawn stand before each place is counted
        positives = chance.integers(0, len(positive), len(positive))
        negatives = chance.integers(0, len(negative), len(negative))
        np.cumsum(np.bincount(negatives, minlength=len(negative))[order], out=before[1:])
        drawn[draw] = (before[below] + before[upto])[positives].sum() / 2 / len(positive) / len(negative)
    low, high = np.percentile(drawn, (2.5, 97.5))
    return Estimate(auroc(positive, negative), float(low), float(high), len(positive) + len(negative))
