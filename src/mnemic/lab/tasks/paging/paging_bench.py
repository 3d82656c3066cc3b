"""Every policy over every trace, beside the optimum: hit rates, the share of the gap closed, and what it cost."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np

from mnemic.errors import Invalid
from mnemic.lab.contestants.mnemic_contestant import MnemicContestant
from mnemic.lab.kit.datasets import Dataset, load
from mnemic.lab.kit.metrics import Array, Estimate, resample
from mnemic.lab.kit.run import Progress, silent
from mnemic.lab.tasks.paging import dialogues, traces
from mnemic.lab.tasks.paging.belady import bound, optimum
from mnemic.lab.tasks.paging.replay import ReplayTally, pooled, replay
from mnemic.lab.tasks.paging.traces import PageTrace
from mnemic.registry import POLICIES
from mnemic.tiers.policies import open_policy

RECALLED: Final = "recalled"
FAMILIES: Final = (*dialogues.GOLD, RECALLED, *traces.SYNTHETIC)
CAPACITIES: Final = (0.05, 0.1, 0.2)
BASELINE: Final = "lru"
"""The gap that is closed lies between it and the optimum."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PagingPlan:
    """What is measured.

    Attributes:
        capacities: Shares of a trace's pages (or of their tokens, if `by_tokens`) that fit in the window.
        prefetch: Pages that come in behind a fault.
        draws: How many traces of a family that is drawn: synthetic ones by seed, questions spread anew.
        conversations: Only these, by name; all of them if empty.
        limit: Only the first so many questions of each file, and the conversations they are about.
        seed: Of the first draw, of the policies that draw, and of the bootstrap.
    """

    policies: tuple[str, ...] = tuple(POLICIES)
    capacities: tuple[float, ...] = CAPACITIES
    prefetch: int = 0
    by_tokens: bool = False
    draws: int = 3
    conversations: tuple[str, ...] = ()
    limit: int | None = None
    seed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PagingRow:
    """One policy on one family at one capacity.

    Attributes:
        traces: How many. Intervals are over conversations (for synthetic traces, over seeds): draws of one are one.
        hit_rate: Hits of reads, all traces together; `optimal` is the optimum's, or its bound.
        closed: The share of the gap between LRU and the optimum that it closes, hits of prefetched pages left out; NaN
            where LRU has all that can be had.
        tally: Sums over the traces.
    """

    family: str
    capacity: float
    policy: str
    traces: int
    hit_rate: Estimate
    optimal: float
    closed: Estimate
    tally: ReplayTally

    @property
    def of_optimal(self) -> float:
        """The hit rate as a share of the optimum's."""
        return self.hit_rate.mean / self.optimal if self.optimal else 0.0


def gather(
    paths: Sequence[Path], files: Sequence[Path], families: Sequence[str], plan: PagingPlan, progress: Progress = silent
) -> Iterator[PageTrace]:
    """The traces of these families: of conversations in `paths`, synthetic ones, and those of trace `files`.

    Raises:
        Invalid: no such family or conversation, no such file, or one in no known form.
    """
    for name in families:
        if name not in FAMILIES:
            raise Invalid("families", f"{name!r} is not one", f"There are: {', '.join(FAMILIES)}.")
    data = [_chosen(load(path).first(plan.limit), plan.conversations) for path in paths]
    for family in families:
        seeds = range(plan.seed, plan.seed + (plan.draws if family != "after" else 1))
        if family in traces.SYNTHETIC:
            yield from map(traces.SYNTHETIC[family], seeds)
        for one in data if family in dialogues.GOLD else ():
            for seed in seeds:
                yield from dialogues.GOLD[family](one, seed)
        for one in data if family == RECALLED else ():
            yield from _recalled(one, seeds, progress)
    for file in files:
        yield from traces.load(file)


def measure(every: Sequence[PageTrace], plan: PagingPlan, progress: Progress = silent) -> list[PagingRow]:
    """A row for each family, capacity and policy, in that order.

    Raises:
        Invalid: there is nothing to measure, or no such policy.
    """
    if not every:
        raise Invalid("paths", "hold no conversation with questions that have evidence", "Give LoCoMo's json, or none.")
    by_family: dict[str, list[PageTrace]] = {}
    for trace in every:
        by_family.setdefault(trace.family, []).append(trace)
    rows: list[PagingRow] = []
    total = len(by_family) * len(plan.capacities) * len(plan.policies)
    for family, group in by_family.items():
        for share in plan.capacities:
            place = _Place(family, share, group, plan)
            for policy in plan.policies:
                rows.append(place.row(policy))
                progress("paging", len(rows), total)
    return rows


class _Place:
    """A family's traces at one capacity: the optimum and LRU are reckoned once for all policies."""

    def __init__(self, family: str, share: float, group: Sequence[PageTrace], plan: PagingPlan) -> None:
        self._family, self._share, self._group, self._plan = family, share, group, plan
        self._sizes = [capacity(trace, share, by_tokens=plan.by_tokens) for trace in group]
        self._names = [trace.name for trace in group]
        best = bound if plan.by_tokens else optimum
        self._best = self._column(best(trace, size) for trace, size in zip(group, self._sizes, strict=True))
        self._reads = self._column(trace.reads for trace in group)
        self._base = self._column(_asked_for(tally) for tally in self._tallies(BASELINE, prefetch=0))

    def row(self, policy: str) -> PagingRow:
        tallies = self._tallies(policy, prefetch=self._plan.prefetch)
        hits = self._column(tally.hits for tally in tallies)
        own = self._column(_asked_for(tally) for tally in tallies)
        return PagingRow(
            family=self._family,
            capacity=self._share,
            policy=policy,
            traces=len(tallies),
            hit_rate=ratio(hits, self._reads, self._plan.seed),
            optimal=float(self._best.sum() / max(self._reads.sum(), 1)),
            closed=ratio(own - self._base, self._best - self._base, self._plan.seed),
            tally=pooled(tallies),
        )

    def _column(self, counts: Iterable[int]) -> Array:
        """Sums by conversation, in the order of their names' first appearance."""
        summed = dict.fromkeys(self._names, 0)
        for name, count in zip(self._names, counts, strict=True):
            summed[name] += count
        return np.array(list(summed.values()), dtype=np.float64)

    def _tallies(self, policy: str, *, prefetch: int) -> list[ReplayTally]:
        return [
            replay(
                trace,
                open_policy(policy, seed=self._plan.seed),
                size,
                by_tokens=self._plan.by_tokens,
                prefetch=prefetch,
            )
            for trace, size in zip(self._group, self._sizes, strict=True)
        ]


def capacity(trace: PageTrace, share: float, *, by_tokens: bool = False) -> int:
    """A share of a trace's pages, or of their tokens; at least 1."""
    whole = sum(page.tokens for page in trace.pages) if by_tokens else len(trace.pages)
    return max(1, round(share * whole))


def ratio(above: Array, below: Array, seed: int) -> Estimate:
    """Sum over sum, with its interval by bootstrap over the columns; NaN where there is nothing to divide by."""
    samples = resample(len(above), seed).astype(np.float64)
    shares = samples @ above
    divisors = samples @ below
    kept = divisors > 0
    if below.sum() <= 0 or not kept.any():
        return Estimate(float("nan"), float("nan"), float("nan"), len(above))
    low, high = np.percentile(shares[kept] / divisors[kept], (2.5, 97.5))
    return Estimate(float(above.sum() / below.sum()), float(low), float(high), len(above))


def _recalled(data: Dataset, seeds: Iterable[int], progress: Progress) -> Iterator[PageTrace]:
    """Reads by mnemic with all conversations written, by words alone; each question is asked once for all draws."""
    answers: dict[tuple[str, str], Sequence[str]] = {}
    with closing(MnemicContestant()) as system:
        system.ingest(data.corpora)
        for done, question in enumerate(data.questions, start=1):
            answers[question.ns, question.id] = system.rank(question, dialogues.LOOKED_AT).ids
            progress("recall", done, len(data.questions))
    for seed in seeds:
        yield from dialogues.recalled(data, seed, lambda question, k: answers[question.ns, question.id][:k])


def _chosen(data: Dataset, only: Sequence[str]) -> Dataset:
    names = {corpus.ns for corpus in data.corpora}
    if unknown := sorted(set(only) - names):
        raise Invalid(
            "conversations", f"{unknown[0]!r} is not in {data.name}", f"There are: {', '.join(sorted(names))}."
        )
    if not only:
        return data
    corpora = tuple(corpus for corpus in data.corpora if corpus.ns in only)
    return replace(
        data, corpora=corpora, questions=tuple(question for question in data.questions if question.ns in only)
    )


def _asked_for(tally: ReplayTally) -> int:
    return tally.hits - tally.prefetch_hits
