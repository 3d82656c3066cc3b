"""Infini-attention: a passkey among segments of noise, how much a width holds, and what the kernel does to keys.

A passkey is one write of a key and a value somewhere among segments of noise; the last segment asks for its value.
What a width holds is asked of pairs alone, written as one segment.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 - what everybody calls it

from mnemic.lab.kit.figures import Figure
from mnemic.lab.tasks.neural.experiment import CurvePoint, ExperimentPlan
from mnemic.lab.tasks.neural.recall_task import KEYS, VALUES, Recall, RecallModel, Rule, accuracy, one_cycle, train
from mnemic.neural.infini_attention import InfiniAttention, InfiniBlock, InfiniSettings, Kernel

SEGMENT: Final = 16
TRAINED: Final = 8
"""Segments of a document that is trained on."""

_PASSKEYS: Final = 16
"""Keys that may be asked for; the other ones are noise."""


@dataclass(frozen=True, slots=True)
class _Size:
    steps: int
    pair_steps: int
    lengths: tuple[int, ...]
    widths: tuple[int, ...]
    tested: int


_FULL: Final = _Size(300, 300, (8, 16, 32, 64), (8, 16, 32, 64), 6)
_QUICK: Final = _Size(100, 100, (8,), (), 2)


@dataclass(frozen=True, slots=True)
class Passkeys:
    """Documents: what stands at each position, (B, T), the value beside it (none: VALUES), and the answer (B,)."""

    keys: Tensor
    values: Tensor
    answers: Tensor


def measure(plan: ExperimentPlan) -> Iterator[Figure | CurvePoint]:
    """Passkeys, capacity, kernels."""
    size = _QUICK if plan.quick else _FULL
    yield from _passkeys(plan, size)
    yield from _kernels(plan, size)
    if not plan.quick:
        yield from _capacity(plan, size)


def passkeys(segments: int, batch: int, draw: torch.Generator) -> Passkeys:
    """Noise with one passkey before the last segment, and its key alone at the very end."""
    time = segments * SEGMENT
    keys = torch.randint(_PASSKEYS, KEYS, (batch, time), generator=draw)
    values = torch.full((batch, time), VALUES)
    key = torch.randint(_PASSKEYS, (batch, 1), generator=draw)
    answers = torch.randint(VALUES, (batch, 1), generator=draw)
    at = torch.randint(time - SEGMENT, (batch, 1), generator=draw)
    keys = keys.scatter(1, at, key)
    keys[:, -1:] = key
    return Passkeys(keys, values.scatter(1, at, answers), answers[:, 0])


class PasskeyModel:
    """Vectors, a block over segments, which makes of (B, T, D) what is read, and a head at the last position."""

    def __init__(
        self, width: int, block: Callable[[Tensor], Tensor], weights: Mapping[str, Tensor], seed: int
    ) -> None:  # fmt: skip
        draw = torch.Generator().manual_seed(seed)
        self.block = block
        self.keys = torch.randn(KEYS, width, generator=draw)
        self.values = torch.randn(VALUES, width, generator=draw) * 0.5
        self.head = torch.randn(VALUES, width, generator=draw) / width**0.5
        self.weights = [self.keys, self.values, self.head, *weights.values()]
        for weight in self.weights:
            weight.requires_grad_()

    def logits(self, task: Passkeys) -> Tensor:
        """Of each document's last position (B, VALUES)."""
        x = self.keys[task.keys] + F.pad(self.values, (0, 0, 0, 1))[task.values]
        return self.block(x)[:, -1] @ self.head.mT


def passkey_model(settings: InfiniSettings, *, remembers: bool = True) -> PasskeyModel:
    """The model around our block."""
    block = InfiniBlock(settings, SEGMENT)

    def read(x: Tensor) -> Tensor:
        return block.run(x, block.memory.empty(len(x)), remembers=remembers)[0]

    return PasskeyModel(settings.width, read, block.weights, settings.seed)


def train_passkeys(model: PasskeyModel, steps: int, seed: int, rate: float = 1e-2) -> None:
    """Learn to tell a passkey, through all segments of a document."""
    draw = torch.Generator().manual_seed(seed + 1)

    def loss(step: int) -> Tensor:
        task = passkeys(TRAINED, 32, draw)
        return F.cross_entropy(model.logits(task), task.answers)

    one_cycle(model.weights, loss, steps, rate)


def passkeys_told(model: PasskeyModel, segments: int, batches: int, seed: int) -> float:
    """The share of passkeys told, in documents that no training saw."""
    draw = torch.Generator().manual_seed(seed + 1_000_003)
    with torch.no_grad():
        tasks = [passkeys(segments, 64, draw) for _ in range(batches)]
        right = [(model.logits(task).argmax(-1) == task.answers).float().mean() for task in tasks]
    return float(torch.stack(right).mean())


def _passkeys(plan: ExperimentPlan, size: _Size) -> Iterator[Figure | CurvePoint]:
    told: dict[str, dict[int, float]] = {}
    forms = {
        "unit keys": InfiniSettings(kernel="unit", seed=plan.seed),
        "unit keys, delta": InfiniSettings(kernel="unit", rule="delta", seed=plan.seed),
        "ELU + 1": InfiniSettings(seed=plan.seed),
        "local attention only": InfiniSettings(seed=plan.seed),
    }
    if plan.quick:
        del forms["unit keys, delta"], forms["ELU + 1"]
    for name, settings in forms.items():
        plan.progress(f"passkeys: {name}")
        model = passkey_model(settings, remembers=name != "local attention only")
        train_passkeys(model, size.steps, plan.seed)
        told[name] = {n: passkeys_told(model, n, size.tested, plan.seed) for n in size.lengths}
        yield from (CurvePoint(f"passkey, {name}", n, right) for n, right in told[name].items())
    at = {name: right[TRAINED] for name, right in told.items()}
    if not plan.quick:
        yield Figure(name=f"passkey at {TRAINED} segments, ELU + 1 as in the paper", value=at["ELU + 1"], unit="")
        yield Figure(name="passkey at 64 segments, unit keys, trained at 8", value=told["unit keys"][64], unit="")
        yield Figure(name=f"passkey at {TRAINED} segments, unit keys, delta", value=at["unit keys, delta"], unit="")
    yield Figure(
        name=f"passkey at {TRAINED} segments, unit keys, as trained", value=at["unit keys"], unit="",
        bar=0.2 if plan.quick else 0.90, more=True,
    )  # fmt: skip
    yield Figure(
        name=f"passkey at {TRAINED} segments, local attention only", value=at["local attention only"], unit="",
        bar=0.10 if plan.quick else 0.08, detail="leak check: nothing is carried on; chance .031",
    )  # fmt: skip


def _kernels(plan: ExperimentPlan, size: _Size) -> Iterator[Figure]:
    right: dict[Kernel, float] = {}
    kernels: tuple[Kernel, ...] = ("unit_elu", "unit") if plan.quick else ("unit_elu", "elu", "unit")
    for kernel in kernels:
        plan.progress(f"16 pairs, kernel {kernel}")
        settings = InfiniSettings(kernel=kernel, seed=plan.seed)
        right[kernel] = _pairs(settings, 16, (16,), size, plan.seed)[16]
    for kernel, told in right.items():
        named = {"unit_elu": "ELU + 1 on unit keys", "elu": "ELU + 1, the paper's", "unit": "unit keys alone"}[kernel]
        yield Figure(name=f"16 pairs: {named}", value=told, unit="")
    yield Figure(
        name="16 pairs: unit keys alone minus ELU + 1 on unit keys", value=right["unit"] - right["unit_elu"], unit="",
        bar=0.1 if plan.quick else 0.3, more=True,
    )  # fmt: skip


def _capacity(plan: ExperimentPlan, size: _Size) -> Iterator[Figure | CurvePoint]:
    held: dict[int, dict[int, float]] = {}
    for width in size.widths:
        plan.progress(f"what a width of {width} holds")
        settings = InfiniSettings(width=width, kernel="unit", seed=plan.seed)
        held[width] = _pairs(settings, 32, (8, 16, 32, 64), size, plan.seed)
        yield from (CurvePoint(f"pairs, width {width}", n, right) for n, right in held[width].items())
    yield Figure(name="32 pairs in width 64", value=held[64][32], unit="", bar=0.90, more=True)
    yield Figure(name="32 pairs in width 16", value=held[16][32], unit="", detail="what it holds grows with its width")


def _pairs(
    settings: InfiniSettings, trained: int, tested: tuple[int, ...], size: _Size, seed: int
) -> dict[int, float]:  # fmt: skip
    """The share of values told of so many pairs, each key once, written as one segment."""
    memory = InfiniAttention(settings)
    rule: Rule = lambda h, q: memory.read(q, memory.write(h, memory.empty(len(h))))  # noqa: E731
    model = RecallModel(settings.width, rule, memory.weights, seed)

    def task(draw: torch.Generator, pairs: int = trained, batch: int = 32) -> Recall:
        keys = torch.rand(batch, KEYS, generator=draw).argsort(1)[:, :pairs]
        values = torch.randint(VALUES, keys.shape, generator=draw)
        return Recall(keys, values, keys[:, :8], values[:, :8])

    train(model.weights, model.logits, task, size.pair_steps, seed)
    return {n: accuracy(model.logits, partial(task, pairs=n, batch=64), size.tested, seed) for n in tested}
