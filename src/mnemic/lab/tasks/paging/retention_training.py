"""Trains the law by which pages are kept: policy gradient over rollouts of one trace, compared with each other.

A rollout replays a trace with evictions drawn: a page leaves with a probability that falls with its worth. So many
rollouts of the same trace are a group. Source: MemAgent's Multi-Conv DAPO (Yu et al., arXiv:2507.02259), after GRPO:
the advantage is the reward less the mean of the group, without division by its deviation, and the ratio of new to old
probability is clipped. Departures: there the reward comes once, at the end, and is shared by all steps; here it is
what came in the next `horizon` references, compared with the group at the same reference, for what a page's leaving
costs shows soon. There is no penalty for leaving the law it starts from (KL).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from mnemic.errors import Invalid
from mnemic.lab.tasks.paging.paging_bench import capacity
from mnemic.lab.tasks.paging.traces import PageTrace
from mnemic.tiers.policies.learned import NAMES, features

Floats: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.intp]
Progress: TypeAlias = Callable[[str, int, int], None]

SHARES: Final = (0.03, 0.05, 0.1, 0.2)
"""Capacities trained at; one is drawn for each group."""

BY_HAND: Final = {"importance_bent": 8.0, "age": -1.0, "uses": 1.0, "moments": 0.8, "turns": 0.8}
"""The law of `combined`, as near as these features come to it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """How it is trained.

    Attributes:
        updates: Steps of the weights; each sees `groups` groups of `rollouts` and goes over them `epochs` times.
        horizon: References whose reward an eviction answers for.
        space: What a window full of pages of mean length costs a reference, in hits.
        clip: How far the ratio may go from 1 before it no longer counts.
        decay: Of the weights, so that features that tell nothing fall to 0.
        by_hand: Whether it starts from the law made by hand, not from nothing.
    """

    updates: int = 60
    groups: int = 4
    rollouts: int = 16
    epochs: int = 2
    horizon: int = 300
    space: float = 0.02
    clip: float = 0.2
    rate: float = 0.06
    decay: float = 1e-3
    by_hand: bool = True
    seed: int = 0


class Step(NamedTuple):
    """One eviction in every rollout that had to: what there was, and what went.

    Attributes:
        features: Features of the pages resident anywhere, (pages, features).
        there: Whether each is resident in each rollout, (pages, rollouts).
        gone: Which left in each rollout, an index into the pages; -1 where none did.
        chance: The logarithm of its probability then.
    """

    now: int
    features: Floats
    there: npt.NDArray[np.bool_]
    gone: Ints
    chance: Floats


@dataclass(slots=True)
class Rolled:
    """A group's rollouts: the evictions, and the reward of each reference in each rollout, (references, rollouts)."""

    steps: list[Step]
    rewards: Floats

    def advantages(self, horizon: int) -> Floats:
        """Reward of the `horizon` references after each, less the group's mean; (references, rollouts)."""
        summed = np.concatenate([np.zeros((1, self.rewards.shape[1])), np.cumsum(self.rewards, axis=0)])
        last = len(self.rewards)
        ends = np.minimum(np.arange(last) + 1 + horizon, last)
        ahead = summed[ends] - summed[np.arange(last) + 1]
        return np.asarray(ahead - ahead.mean(axis=1, keepdims=True))


def train(
    traces: Sequence[PageTrace], recipe: Recipe = Recipe(), progress: Progress = lambda name, done, total: None
) -> Floats:
    """Weights for `NAMES`; the same for the same traces, recipe and arithmetic.

    Raises:
        Invalid: there is no trace.
    """
    if not traces:
        raise Invalid("paths", "hold no conversation with questions that have evidence", "Give LoCoMo's json.")
    draw = np.random.default_rng(recipe.seed)
    weights = np.array([BY_HAND.get(name, 0.0) * recipe.by_hand for name in NAMES])
    step = _Adam(len(NAMES), recipe.rate)
    for update in range(recipe.updates):
        groups = [_group(traces, weights, recipe, draw) for _ in range(recipe.groups)]
        for _ in range(recipe.epochs):
            weights = weights + step.of(np.mean([_gradient(group, weights, recipe) for group in groups], axis=0))
            weights *= 1 - recipe.decay
        progress("retention", update + 1, recipe.updates)
    return weights


def write(weights: Floats, recipe: Recipe, data: Sequence[str], path: Path) -> None:
    """The file that `Learned` reads, with what it was made from."""
    record = {
        "weights": {name: round(float(weight), 4) for name, weight in zip(NAMES, weights, strict=True)},
        "recipe": asdict(recipe),
        "data": list(data),
    }
    path.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")


def rollouts(trace: PageTrace, size: int, weights: Floats, recipe: Recipe, draw: np.random.Generator) -> Rolled:
    """Replay a trace in `recipe.rollouts` windows of `size` pages at once, with evictions drawn by `weights`."""
    window = _Windows(trace, size, weights, recipe, draw)
    rewards = np.stack(
        [
            window.refer(now, reference.page, read=not reference.write)
            for now, reference in enumerate(trace.references, 1)
        ]
    )
    return Rolled(window.steps, rewards)


class _Windows:
    """The windows of a group. Uses and ages are the same in all of them; what is resident is not."""

    def __init__(self, trace: PageTrace, size: int, weights: Floats, recipe: Recipe, draw: np.random.Generator) -> None:
        pages = len(trace.pages)
        self._columns = _Columns(trace)
        self._born, self._last, self._uses = np.zeros(pages), np.zeros(pages), np.zeros(pages)
        self._there = np.zeros((pages, recipe.rollouts), dtype=bool)
        self._size, self._weights, self._draw = size, weights, draw
        self._price = recipe.space * self._columns.tokens / (size * self._columns.tokens.mean())
        self._cost = np.zeros(recipe.rollouts)
        self.steps: list[Step] = []

    def refer(self, now: int, page: int, *, read: bool) -> Floats:
        """The reward of one reference in each window."""
        hit = self._there[page] & read
        self._born[page] = self._born[page] or now
        self._last[page] = now
        self._uses[page] += read
        self._cost += self._price[page] * ~self._there[page]
        self._there[page] = True
        if (full := self._there.sum(axis=0) > self._size).any():
            self._evict(now, full)
        return np.asarray(hit - self._cost)

    def _evict(self, now: int, full: npt.NDArray[np.bool_]) -> None:
        rows = np.flatnonzero(self._there.any(axis=1))
        page_features = self._columns.features(rows, now - self._born[rows], now - self._last[rows], self._uses[rows])
        there = self._there[rows]
        leaving = _leaving(page_features, there, self._weights)
        noise = self._draw.gumbel(size=leaving.shape)
        gone = np.where(full, (leaving + noise).argmax(axis=0), -1)
        windows = np.flatnonzero(full)
        chosen = rows[gone[windows]]
        self._there[chosen, windows] = False
        self._cost[windows] -= self._price[chosen]
        chance = leaving[gone, np.arange(len(gone))]
        self.steps.append(Step(now, page_features, there, gone, chance))


class _Columns:
    """What does not change of a trace's pages, a column each."""

    def __init__(self, trace: PageTrace) -> None:
        self.tokens = np.array([float(page.tokens) for page in trace.pages])
        self._importance = np.array([page.importance for page in trace.pages])
        self._novelty = np.array([page.novelty for page in trace.pages])
        self._facts = np.array([float(page.entities) for page in trace.pages])
        self._assistant = np.array([float(page.role == "assistant") for page in trace.pages])
        self._position = np.array([max(page.position, 0) for page in trace.pages])

    def features(self, rows: Ints, age: Floats, idle: Floats, uses: Floats) -> Floats:
        """Of these pages, (pages, features)."""
        return np.stack(
            features(
                importance=self._importance[rows],
                novelty=self._novelty[rows],
                facts=self._facts[rows],
                tokens=self.tokens[rows],
                assistant=self._assistant[rows],
                position=self._position[rows],
                age=age,
                idle=idle,
                uses=uses,
                log=np.log,
                exp=np.exp,
            ),
            axis=1,
        )


def _leaving(page_features: Floats, resident: npt.NDArray[np.bool_], weights: Floats) -> Floats:
    """The logarithm of each page's chance to leave each window: falls with its worth; -inf where it is not there."""
    scores = np.where(resident, -(page_features @ weights)[:, None], -np.inf)
    top = scores.max(axis=0)
    return np.asarray(scores - top - np.log(np.exp(scores - top).sum(axis=0)))


def _gradient(rolled: tuple[Rolled, Floats], weights: Floats, recipe: Recipe) -> Floats:
    """Of the clipped surrogate: what each eviction did better than its group, along how its chance changes."""
    steps, advantages = rolled[0].steps, rolled[1]
    total, count = np.zeros(len(weights)), 0
    for step in steps:
        leaving = _leaving(step.features, step.there, weights)
        windows = np.flatnonzero(step.gone >= 0)
        gone = step.gone[windows]
        gain = advantages[step.now - 1, windows]
        ratio = np.exp(leaving[gone, windows] - step.chance[windows])
        open_ = np.where(gain > 0, ratio < 1 + recipe.clip, ratio > 1 - recipe.clip)
        pull = gain * ratio * open_
        expected = np.exp(leaving[:, windows]).T @ step.features
        total += pull @ (expected - step.features[gone])
        count += len(windows)
    return total / max(count, 1)


def _group(
    traces: Sequence[PageTrace], weights: Floats, recipe: Recipe, draw: np.random.Generator
) -> tuple[Rolled, Floats]:
    trace = traces[int(draw.integers(len(traces)))]
    size = capacity(trace, float(draw.choice(SHARES)))
    rolled = rollouts(trace, size, weights, recipe, draw)
    return rolled, rolled.advantages(recipe.horizon)


class _Adam:
    """Kingma and Ba, arXiv:1412.6980, uphill, with the rate falling off never: there are few updates."""

    def __init__(self, size: int, rate: float) -> None:
        self._mean, self._square, self._rate, self._count = np.zeros(size), np.zeros(size), rate, 0

    def of(self, gradient: Floats) -> Floats:
        """How far to go."""
        self._count += 1
        self._mean = 0.9 * self._mean + 0.1 * gradient
        self._square = 0.99 * self._square + 0.01 * gradient**2
        mean = self._mean / (1 - 0.9**self._count)
        square = self._square / (1 - 0.99**self._count)
        return np.asarray(self._rate * mean / (np.sqrt(square) + 1e-8))
