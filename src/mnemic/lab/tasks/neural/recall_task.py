"""Recall of values by their keys, for experiments on memories of hidden states: task, model and training, all alike.

Writes are sums of a key's and a value's vector, questions a key's vector alone; one memory and a linear head stand
between them and the answer, so that nothing but the memory connects the two.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 - what everybody calls it

KEYS: Final = 128
VALUES: Final = 32
ASKED: Final = 8
RATE: Final = 1e-2
"""Of training, the most of a cycle, for every row."""

Rule: TypeAlias = Callable[[Tensor, Tensor], Tensor]
"""Makes of writes (B, T, D) and questions (B, Q, D) what is read (B, Q, D)."""


@dataclass(frozen=True, slots=True)
class Recall:
    """Writes of keys and values, and what is asked behind them, (B, T) and (B, Q)."""

    keys: Tensor
    values: Tensor
    asked: Tensor
    answers: Tensor


class RecallModel:
    """Vectors of keys and values, a rule between, a head: nothing else."""

    def __init__(self, width: int, rule: Rule, weights: Mapping[str, Tensor], seed: int) -> None:
        draw = torch.Generator().manual_seed(seed)
        self.rule = rule
        self.keys = torch.randn(KEYS, width, generator=draw)
        self.values = torch.randn(VALUES, width, generator=draw) * 0.3  # what is added to a key must not drown it
        self.head = torch.randn(VALUES, width, generator=draw) / width**0.5
        self.weights = [self.keys, self.values, self.head, *weights.values()]
        for weight in self.weights:
            weight.requires_grad_()

    def logits(self, task: Recall) -> Tensor:
        """Of what is asked (B, Q, VALUES)."""
        return self.rule(self.keys[task.keys] + self.values[task.values], self.keys[task.asked]) @ self.head.mT


def train(
    weights: list[Tensor], logits: Callable[[Recall], Tensor], task: Callable[[torch.Generator], Recall], steps: int,
    seed: int, rate: float = RATE,
) -> None:  # fmt: skip
    """Learn to answer what is asked of tasks that are drawn step by step."""
    draw = torch.Generator().manual_seed(seed + 1)

    def loss(step: int) -> Tensor:
        given = task(draw)
        return F.cross_entropy(logits(given).flatten(0, 1), given.answers.flatten())

    one_cycle(weights, loss, steps, rate)


def one_cycle(weights: list[Tensor], loss: Callable[[int], Tensor], steps: int, rate: float) -> None:
    """Learn weights, in place, by the loss of each step: AdamW, one cycle up to a rate, gradients of one at most."""
    optimizer = torch.optim.AdamW(weights, lr=rate, weight_decay=0.0)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, rate, total_steps=max(steps, 2))
    for step in range(steps):
        optimizer.zero_grad()
        loss(step).backward()
        torch.nn.utils.clip_grad_norm_(weights, 1.0)
        optimizer.step()
        schedule.step()


def accuracy(
    logits: Callable[[Recall], Tensor], task: Callable[[torch.Generator], Recall], batches: int, seed: int
) -> float:
    """The share of questions answered, on data that no training saw."""
    draw = torch.Generator().manual_seed(seed + 1_000_003)
    with torch.no_grad():
        right = [
            (logits(given).argmax(-1) == given.answers).float().mean() for given in (task(draw) for _ in range(batches))
        ]
    return float(torch.stack(right).mean())


def projections(width: int, seed: int) -> dict[str, Tensor]:
    """Matrices of keys, values, questions and what is read, as the mechanisms' own begin."""
    draw = torch.Generator().manual_seed(seed)
    made = {name: torch.randn(width, width, generator=draw) / width**0.5 for name in ("key", "value", "out")}
    return {**made, "query": made["key"].clone()}
