"""A policy that overwrites its slots while cards go by, learnt from the last answer alone, on streams of four chunks.

One hop: one card has the question's key. Two hops: that card's value is the key of a later card, which is the answer.
Tested on streams up to 64 chunks long. Controls: first in first out, chance, and an oracle that keeps what counts.
Then the same policy in words, as a reader of long texts is given it: `reading_policy_training`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 - what everybody calls it

from mnemic.lab.kit.figures import Figure
from mnemic.lab.tasks.neural.experiment import CurvePoint, ExperimentPlan
from mnemic.lab.tasks.neural.reading_policy_training import in_words
from mnemic.neural.overwrite_rl import OverwritePolicy, PolicySettings, copied, dapo_loss, first_in_first_out

Who: TypeAlias = Literal["policy", "oldest go first", "chance", "oracle"]

CARDS: Final = 4
"""Of a chunk."""
LENGTHS: Final = (4, 8, 16, 32, 64)
_QUESTIONS: Final = 16
_ROLLOUTS: Final = 16
_NAMES: Final = {1: "one hop", 2: "two hops"}


@dataclass(frozen=True, slots=True)
class _Stream:
    """Streams of cards (B, K, C, d), the questions (B, d), and where the cards that count stand, in order (B, hops)."""

    keys: Tensor
    values: Tensor
    question: Tensor
    counts: Tensor

    def right(self, values: Tensor) -> Tensor:
        """Whether one of the slots' values (B, M, d) is the answer's."""
        flat = self.values.flatten(1, 2)
        answer = flat[torch.arange(len(flat)), self.counts[:, -1]]
        return (values == answer[:, None]).all(-1).any(-1)


def measure(plan: ExperimentPlan) -> Iterator[Figure | CurvePoint]:
    """Learn each task, and read longer and longer streams."""
    for hops, steps in ((1, 60), (2, 60)) if plan.quick else ((1, 300), (2, 900)):
        settings = PolicySettings(slots=2, seed=plan.seed)
        plan.progress(f"{hops} hops")
        policy = _learned(settings, hops, steps, plan.seed)
        rows, name = 128 if plan.quick else 512, _NAMES[hops]
        shown: dict[Who, dict[int, float]] = {}
        whos: tuple[Who, ...] = ("policy", "oldest go first", "chance", "oracle")
        for who in whos:
            shown[who] = {chunks: _tested(policy, hops, chunks, who, rows, plan.seed) for chunks in LENGTHS}
            yield from (CurvePoint(f"{who}, {name}", at, value) for at, value in shown[who].items())
        judged = hops == 1
        bar = (0.50 if plan.quick else 0.98) if judged else None
        yield Figure(name=f"{name}, 4 chunks, as trained", value=shown["policy"][4], unit="", bar=bar, more=True)
        bar = (0.30 if plan.quick else 0.98) if judged else None
        yield Figure(name=f"{name}, 64 chunks", value=shown["policy"][64], unit="", bar=bar, more=True)
        for who in whos[1:3]:
            yield Figure(name=f"{name}, 64 chunks, {who}", value=shown[who][64], unit="", bar=0.05)
        yield Figure(name=f"{name}, 64 chunks, oracle", value=shown["oracle"][64], unit="", bar=1.0, more=True)
    yield from in_words(plan)


def _streams(rows: int, chunks: int, hops: int, width: int, draw: torch.Generator) -> _Stream:
    """Keys and values are random directions; those that count stand at random places, in order."""
    keys, values = (F.normalize(torch.randn(rows, chunks * CARDS, width, generator=draw), dim=-1) for _ in range(2))
    starts = torch.rand(rows, chunks, generator=draw).argsort(1)[:, :hops].sort(1).values  # a chunk each
    counts = starts * CARDS + torch.randint(CARDS, starts.shape, generator=draw)
    at = torch.arange(rows)
    for n in range(1, hops):
        keys[at, counts[:, n]] = values[at, counts[:, n - 1]]
    question = keys[at, counts[:, 0]].clone()
    return _Stream(keys.unflatten(1, (chunks, CARDS)), values.unflatten(1, (chunks, CARDS)), question, counts)


def _learned(settings: PolicySettings, hops: int, steps: int, seed: int) -> OverwritePolicy:
    draw = torch.Generator().manual_seed(seed)
    policy = OverwritePolicy(settings)
    weights = [weight.requires_grad_() for weight in policy.weights.values()]
    optimizer = torch.optim.Adam(weights, lr=0.03)
    for _ in range(steps):
        few = _streams(_QUESTIONS, 4, hops, settings.width, draw)
        stream = _Stream(
            *(part.repeat_interleave(_ROLLOUTS, 0) for part in (few.keys, few.values, few.question, few.counts))
        )
        state, logs = policy.start(stream.question), []
        for k in range(4):
            state, _, log = policy.write(stream.keys[:, k], stream.values[:, k], state, draw=draw)
            logs.append(log)
        told = torch.stack(logs, 1).unflatten(0, (_QUESTIONS, _ROLLOUTS))
        rewards = stream.right(state["values"]).float().unflatten(0, (_QUESTIONS, _ROLLOUTS))
        loss = dapo_loss(told, told.detach(), rewards, torch.ones_like(told, dtype=torch.bool), settings)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    for weight in weights:
        weight.requires_grad_(requires_grad=False)
    return policy


def _tested(policy: OverwritePolicy, hops: int, chunks: int, who: Who, rows: int, seed: int) -> float:
    draw, slots = torch.Generator().manual_seed(seed + 1_000_003), policy.settings.slots
    stream = _streams(rows, chunks, hops, policy.settings.width, draw)
    state = policy.start(stream.question)
    for k in range(chunks):
        keys, values = stream.keys[:, k], stream.values[:, k]
        match who:
            case "policy":
                state, _, _ = policy.write(keys, values, state)
                continue
            case "oldest go first":
                done = first_in_first_out(CARDS, k, slots).expand(rows, -1)
            case "chance":
                done = torch.randint(CARDS + 1, (rows, slots), generator=draw)
            case "oracle":
                done = torch.zeros(rows, slots, dtype=torch.int64)
                for n in range(hops):
                    here = stream.counts[:, n] // CARDS == k
                    done[:, n % slots] = torch.where(here, stream.counts[:, n] % CARDS + 1, done[:, n % slots])
        state = copied(keys, values, state, done)
    return float(stream.right(state["values"]).float().mean())
