"""A pool that drops at random: how long a fact is found, beside the law of its slots, the oldest going first, and M+.

A fact is the sum of a key's and a value's vector, one write each; a question is a key's vector, and a linear head
answers. The pool is full long before anything is asked, so every write costs as many slots as it brings.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 - what everybody calls it

from mnemic.lab.kit.figures import Figure
from mnemic.lab.tasks.neural.experiment import CurvePoint, ExperimentPlan
from mnemic.lab.tasks.neural.recall_task import one_cycle
from mnemic.neural.base import State
from mnemic.neural.memory_pool import MemoryPool, PoolSettings

KEYS: Final = 128
VALUES: Final = 32
AGES: Final = (0, 1, 2, 4, 8, 12, 16, 24, 32, 48, 64)
"""How many writes ago a fact was written."""

_POOL: Final = PoolSettings(width=48, heads=2, slots=64, fresh=4)
_WRITES: Final = 96
"""Of a test: the oldest that is asked for was written when the pool had been full for as many writes as it holds."""


@dataclass(frozen=True, slots=True)
class _Size:
    steps: int
    tested: int
    endless: int


_FULL: Final = _Size(300, 8, 100_000)
_QUICK: Final = _Size(120, 1, 1_000)


@dataclass(frozen=True, slots=True)
class _Vectors:
    keys: Tensor
    values: Tensor
    head: Tensor

    def facts(self, keys: Tensor, values: Tensor) -> Tensor:
        """One write each (B, W, D)."""
        return self.keys[keys] + self.values[values]


def measure(plan: ExperimentPlan) -> Iterator[Figure | CurvePoint]:
    """Train one pool, and read it under each rule of what is dropped."""
    size = _QUICK if plan.quick else _FULL
    settings = replace(_POOL, seed=plan.seed)
    plan.progress("a pool learns to write")
    pool, vectors = _trained(settings, size.steps, plan.seed)
    shown: dict[str, dict[int, float]] = {}
    alive: dict[int, float] = {}
    rules = {
        "random": settings, "oldest go first": replace(settings, dropped="oldest"),
        "M+": replace(settings, retrieved=16),
    }  # fmt: skip
    for name, rule in rules.items():
        plan.progress(f"facts of up to {AGES[-1]} writes ago: {name}")
        shown[name], lives = _recall(MemoryPool(rule, pool.weights), vectors, size.tested, plan.seed)
        alive = lives if name == "random" else alive
    kept = {t: (1 - settings.fresh / settings.slots) ** t for t in AGES}
    law = {t: 1 - (1 - slot) ** settings.fresh for t, slot in kept.items()}
    curves = {**shown, "any slot of the fact lives (law)": law, "a slot lives (law)": kept}
    yield from (CurvePoint(name, at, value) for name, curve in curves.items() for at, value in curve.items())
    recall, oldest, plus = shown.values()
    yield Figure(name="fresh recall, full pool", value=recall[0], unit="", bar=0.10 if plan.quick else 0.90, more=True)
    yield from _laws(plan, recall, alive, law, kept)
    if not plan.quick:
        yield Figure(name="oldest go first: 8 writes ago", value=oldest[8], unit="", bar=0.90, more=True)
        yield Figure(name="M+: 64 writes ago", value=plus[64], unit="", bar=0.80, more=True, detail="never trained so")
    yield Figure(name="oldest go first: 16 writes ago", value=oldest[16], unit="", bar=0.12 if plan.quick else 0.08,
                 detail="leak check: no slot of it is left")  # fmt: skip
    plan.progress("no pool")
    none = _none(pool, vectors, size.tested, plan.seed)
    yield Figure(name="no pool", value=none, unit="", bar=0.12 if plan.quick else 0.06,
                 detail="leak check: nothing is stored; chance .031")  # fmt: skip
    plan.progress(f"{size.endless:,} writes")
    yield _endless(pool, vectors, size.endless, plan.seed)


def _laws(
    plan: ExperimentPlan, recall: Mapping[int, float], alive: Mapping[int, float], law: Mapping[int, float],
    kept: Mapping[int, float],
) -> Iterator[Figure]:  # fmt: skip
    died = max(abs(alive[t] - kept[t]) for t in AGES)
    yield Figure(
        name="slots alive: farthest from (1-K/N)^t", value=died, unit="", bar=0.08 if plan.quick else 0.03,
        detail="counted slot by slot",
    )  # fmt: skip
    if plan.quick:
        return
    yield Figure(
        name="recall: farthest from 1-(1-(1-K/N)^t)^K", value=max(abs(recall[t] - law[t]) for t in AGES), unit="",
        bar=0.12,
    )  # fmt: skip
    yield Figure(
        name="recall: farthest from the slots' own law", value=max(abs(recall[t] - kept[t]) for t in AGES), unit="",
        bar=0.12, more=True, detail="so it is not that law",
    )  # fmt: skip


def _facts(writes: int, batch: int, draw: torch.Generator) -> tuple[Tensor, Tensor]:
    keys = torch.rand(batch, KEYS, generator=draw).argsort(1)[:, :writes]
    return keys, torch.randint(VALUES, keys.shape, generator=draw)


def _written(pool: MemoryPool, facts: Tensor) -> State:
    state = pool.empty(len(facts))
    for n in range(facts.shape[1]):
        state = pool.write(facts[:, n : n + 1], state)
    return state


def _trained(settings: PoolSettings, steps: int, seed: int) -> tuple[MemoryPool, _Vectors]:
    """Write four facts and ask for each; in the last third 24, and ask for the last ten: full pools that drop."""
    draw = torch.Generator().manual_seed(seed)
    vectors = _Vectors(
        torch.randn(KEYS, settings.width, generator=draw), torch.randn(VALUES, settings.width, generator=draw) * 0.5,
        torch.randn(VALUES, settings.width, generator=draw) / settings.width**0.5,
    )  # fmt: skip
    pool = MemoryPool(settings)
    weights = [*pool.weights.values(), vectors.keys, vectors.values, vectors.head]
    for weight in weights:
        weight.requires_grad_()

    def loss(step: int) -> Tensor:
        written, asked, batch = (4, 4, 32) if step < steps * 2 // 3 else (24, 10, 16)
        keys, values = _facts(written, batch, draw)
        state = _written(pool, vectors.facts(keys, values))
        logits = pool.read(vectors.keys[keys[:, -asked:]], state) @ vectors.head.mT
        return F.cross_entropy(logits.flatten(0, 1), values[:, -asked:].flatten())

    one_cycle(weights, loss, steps, 5e-3)
    for weight in weights:
        weight.requires_grad_(requires_grad=False)
    return pool, vectors


def _recall(
    pool: MemoryPool, vectors: _Vectors, batches: int, seed: int
) -> tuple[dict[int, float], dict[int, float]]:  # fmt: skip
    """For each age the share of facts that are told, and of their slots that live."""
    draw = torch.Generator().manual_seed(seed + 1_000_003)
    right, lives = torch.zeros(len(AGES)), torch.zeros(len(AGES))
    at = _WRITES - 1 - torch.tensor(AGES)
    for n in range(batches):
        keys, values = _facts(_WRITES, 64, draw)
        batch = MemoryPool(replace(pool.settings, seed=seed * 1_000 + n), pool.weights)  # drops others each time
        state = _written(batch, vectors.facts(keys, values))
        asked = vectors.keys[keys[:, at]].flatten(0, 1)[:, None]  # each alone: no question sees another
        rows = {name: part.repeat_interleave(len(AGES), 0) for name, part in state.items()}
        answers = (batch.read(asked, rows)[:, 0] @ vectors.head.mT).argmax(-1).unflatten(0, (-1, len(AGES)))
        right += (answers == values[:, at]).float().mean(0) / batches
        lives += (state["born"][:, 0, None] == at[:, None]).sum(2).float().mean(0) / pool.settings.fresh / batches
    return dict(zip(AGES, right.tolist(), strict=True)), dict(zip(AGES, lives.tolist(), strict=True))


def _none(pool: MemoryPool, vectors: _Vectors, batches: int, seed: int) -> float:
    keys, values = _facts(32, 16 * batches, torch.Generator().manual_seed(seed + 2_000_003))
    asked = vectors.keys[keys.flatten()][:, None]
    answers = (pool.read(asked, pool.empty(len(asked)))[:, 0] @ vectors.head.mT).argmax(-1)
    return float((answers == values.flatten()).float().mean())


def _endless(pool: MemoryPool, vectors: _Vectors, writes: int, seed: int) -> Figure:
    """One pool written very often: every slot stays finite."""
    draw = torch.Generator().manual_seed(seed + 3_000_003)
    keys, values = torch.randint(KEYS, (writes,), generator=draw), torch.randint(VALUES, (writes,), generator=draw)
    facts, state = vectors.facts(keys, values)[:, None, None], pool.empty(1)
    for fact in facts:
        state = pool.write(fact, state)
    finite = all(bool(torch.isfinite(part).all()) for part in state.values())
    return Figure(
        name="writes after which every slot is finite", value=writes if finite else 0, unit="", bar=writes, more=True
    )
