"""Facts by Zipf in 64 clusters: a small layer, one widened by what a bank fetches, one of as many weights, and a bank.

A fact is an entity of a cluster and its attribute, one of 32; a fact of rank n is seen with weight 1/n. What is asked
is the entity's vector. An oracle says the cluster, or k-means over contexts that lie about their cluster's direction.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 - what everybody calls it

from mnemic.lab.kit.figures import Figure
from mnemic.lab.tasks.neural.experiment import CurvePoint, ExperimentPlan
from mnemic.neural.base import State
from mnemic.neural.ffn_bank import BankSettings, FfnBank, k_means, routed

CLUSTERS: Final = 64
FACTS: Final = 32
"""Of a cluster."""
ATTRIBUTES: Final = 32
_WIDTH: Final = 32
_UNITS: Final = 16


@dataclass(frozen=True, slots=True)
class _Facts:
    """Entities (N, D), attributes, clusters, how often each is seen, and ranks from the commonest, (N,)."""

    entities: Tensor
    attributes: Tensor
    clusters: Tensor
    often: Tensor
    rank: Tensor

    @property
    def rare(self) -> Tensor:
        """The rarer half."""
        return self.rank >= len(self.rank) // 2


@dataclass(frozen=True, slots=True)
class _Learned:
    bank: FfnBank
    head: Tensor

    def right(self, facts: _Facts, fetched: Tensor, state: State) -> Tensor:
        """Which facts are told."""
        return (self.logits(facts.entities, fetched, state).argmax(-1) == facts.attributes).float()

    def logits(self, entities: Tensor, fetched: Tensor, state: State) -> Tensor:
        return self.bank.read(entities[:, None], fetched[:, None], state)[:, 0] @ self.head.mT


def measure(plan: ExperimentPlan) -> Iterator[Figure | CurvePoint]:
    """Learn the same facts in each form; then delete one cluster."""
    steps = 150 if plan.quick else 1_500
    draw = torch.Generator().manual_seed(plan.seed)
    facts = _drawn(draw)
    oracle, none = facts.clusters, torch.full_like(facts.clusters, -1)
    forms = {
        "small": (16, none),
        "equally active": (16 + _UNITS, none),
        "as many weights": (16 + CLUSTERS * _UNITS, none),
        "bank": (16, oracle),
    }
    if not plan.quick:
        spread = F.normalize(torch.randn(CLUSTERS, 24, generator=draw), dim=-1)[facts.clusters]
        contexts = spread + 0.1 * torch.randn(spread.shape, generator=draw)
        forms["bank by k-means"] = (16, routed(contexts, k_means(contexts, CLUSTERS, plan.seed)))
    rarer, bank = dict[str, float](), None
    for name, (forward, fetched) in forms.items():
        plan.progress(f"{name}: {steps} steps")
        learned = _trained(facts, forward, fetched, steps, plan.seed)
        right = learned.right(facts, fetched, learned.bank.empty())
        rarer[name] = float(right[facts.rare].mean())
        for tenth in range(10):
            of = facts.rank * 10 // len(facts.rank) == tenth
            yield CurvePoint(name, tenth, float(right[of].mean()))
        yield Figure(name=f"rarer half, {name}", value=rarer[name], unit="")
        yield Figure(name=f"commoner half, {name}", value=float(right[~facts.rare].mean()), unit="")
        bank = learned if name == "bank" else bank
    bar = 0.10 if plan.quick else 0.40
    gain = rarer["bank"] - rarer["equally active"]
    yield Figure(name="rarer half, bank over equally active", value=gain, unit="", bar=bar, more=True)
    if bank is not None:
        yield from _deleted(bank, facts)


def _drawn(draw: torch.Generator) -> _Facts:
    count = CLUSTERS * FACTS
    rank = torch.randperm(count, generator=draw)
    often = 1 / (rank + 1.0)
    return _Facts(
        F.normalize(torch.randn(count, _WIDTH, generator=draw), dim=-1) * _WIDTH**0.5,
        torch.randint(ATTRIBUTES, (count,), generator=draw), torch.arange(CLUSTERS).repeat_interleave(FACTS),
        often, rank,
    )  # fmt: skip


def _trained(facts: _Facts, forward: int, fetched: Tensor, steps: int, seed: int) -> _Learned:
    """Every form sees the same facts in the same order."""
    draw = torch.Generator().manual_seed(seed + 1_000_003)
    bank = FfnBank(BankSettings(width=_WIDTH, forward=forward, clusters=(CLUSTERS,), units=(_UNITS,), seed=seed))
    learned = _Learned(bank, torch.randn(ATTRIBUTES, _WIDTH, generator=draw) / _WIDTH**0.5)
    weights = [weight.requires_grad_() for weight in (*bank.weights.values(), learned.head)]
    used = weights if bool((fetched >= 0).any()) else [*weights[:2], weights[-1]]
    optimizer = torch.optim.Adam(used, lr=5e-3)
    state = bank.empty()
    for _ in range(steps):
        chosen = torch.multinomial(facts.often, 256, replacement=True, generator=draw)
        loss = F.cross_entropy(learned.logits(facts.entities[chosen], fetched[chosen], state), facts.attributes[chosen])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    for weight in weights:
        weight.requires_grad_(requires_grad=False)
    return learned


def _deleted(learned: _Learned, facts: _Facts) -> Iterator[Figure]:
    """One cluster's block is taken away: its facts go, and every other one's logits stay."""
    cluster, state = 7, learned.bank.empty()
    left = learned.bank.forget(0, cluster, state)
    within = facts.clusters == cluster
    told = learned.right(facts, facts.clusters, left)[within].mean()
    yield Figure(name="facts of a cluster that was deleted", value=float(told), unit="", bar=0.15)
    before, after = (learned.logits(facts.entities, facts.clusters, s) for s in (state, left))
    changed = (before != after).any(-1)[~within].sum()
    yield Figure(name="others whose logits changed by a bit", value=float(changed), unit="", bar=0.0)
