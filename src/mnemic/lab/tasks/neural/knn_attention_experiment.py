"""A layer with a store of keys: pairs told 42 segments ago, and names of Python's own library that come again.

Pairs: a segment tells 16, and asks for those of its own and of an earlier one. Then 672 are told, and the first are
asked for. Controls: the same weights with the store off, and a layer that was trained without one.
Bytes: a small language model reads files of the standard library in order, one segment after the other.
"""

from __future__ import annotations

import re
import sysconfig
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Protocol

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 - what everybody calls it

from mnemic.lab.kit.figures import Figure
from mnemic.lab.tasks.neural.experiment import CurvePoint, ExperimentPlan
from mnemic.lab.tasks.neural.recall_task import one_cycle
from mnemic.neural.base import State
from mnemic.neural.knn_attention import KnnAttention, KnnSettings, Mix

KEYS: Final = 1_024
VALUES: Final = 32
PAIRS: Final = 16
"""Of a segment."""
SEGMENTS: Final = 42

_LEAK: Final = "leak check: nothing but a leak could pass this"
WIDTH: Final = 64
_LENGTH: Final = 64
"""Bytes of a segment of the language model."""


class StoringLayer(Protocol):
    """A layer that attends to a segment, and to what was stored of earlier ones."""

    @property
    def weights(self) -> Mapping[str, Tensor]: ...

    def empty(self) -> Any: ...

    def write(self, given: Tensor, state: Any) -> Any: ...

    def read(self, asked: Tensor, state: Any) -> Tensor: ...


@dataclass(frozen=True, slots=True)
class LearnedPairs:
    """Vectors of keys and values, a layer with a store, a head."""

    keys: Tensor
    values: Tensor
    head: Tensor
    layer: StoringLayer


def measure(plan: ExperimentPlan) -> Iterator[Figure | CurvePoint]:
    """Far pairs under either mix, with both controls; then bytes."""
    steps, back = (80, 4) if plan.quick else (500, SEGMENTS)  # so few steps find little that is far
    bars: dict[Mix, float] = {"gate": 0.12} if plan.quick else {"gate": 0.95, "joint": 0.98}
    for mix, bar in bars.items():
        plan.progress(f"pairs: {mix}")
        pairs = learned_pairs(_layer(plan.seed, mix), plan.seed, steps)
        far = far_recall(pairs, plan.seed, back)
        told = f"{back} segments back, {back * PAIRS} pairs"
        yield Figure(name=f"far recall, {mix}", value=far, unit="", bar=bar, more=True, detail=told)
        off = far_recall(pairs, plan.seed, back, store=False)
        yield Figure(name=f"store off, {mix}", value=off, unit="", bar=0.10 if plan.quick else 0.06, detail=_LEAK)
        if mix == "gate":
            for at in (1, 4, 12, SEGMENTS):
                yield CurvePoint("store", at, far_recall(pairs, plan.seed, at))
                yield CurvePoint("store off", at, far_recall(pairs, plan.seed, at, store=False))
    plan.progress("pairs: trained without a store")
    without = learned_pairs(_layer(plan.seed, "gate"), plan.seed, steps, store=False)
    alone = far_recall(without, plan.seed, back, store=False)
    yield Figure(name="trained without a store", value=alone, unit="", bar=0.10 if plan.quick else 0.06,
                 detail=_LEAK)  # fmt: skip
    late = far_recall(without, plan.seed, back)
    yield Figure(name="trained without, store given afterwards", value=late, unit="", detail="shown, not judged")
    if not plan.quick:
        yield from _bytes(plan)


def _layer(seed: int, mix: Mix) -> KnnAttention:
    return KnnAttention(KnnSettings(width=WIDTH, rows=16, nearest=32, mix=mix, seed=seed))


def learned_pairs(
    layer: StoringLayer, seed: int, steps: int, *, store: bool = True, rate: float = 5e-3
) -> LearnedPairs:  # fmt: skip
    """Train a layer on four segments of pairs at a time, of which a later one asks."""
    draw = torch.Generator().manual_seed(seed)
    keys, values, head = (
        torch.randn(count, WIDTH, generator=draw) / scale for count, scale in ((KEYS, 1), (VALUES, 1), (VALUES, 8))
    )
    pairs = LearnedPairs(keys, values, head, layer)
    weights = [weight.requires_grad_() for weight in (*layer.weights.values(), keys, values, head)]

    def loss(step: int) -> Tensor:
        told = torch.rand(16, KEYS, generator=draw).argsort(1)[:, : PAIRS * 4].unflatten(1, (4, PAIRS))
        means = torch.randint(VALUES, told.shape, generator=draw)
        state, total = layer.empty(), torch.zeros(())
        for n in range(4):
            of = int(torch.randint(n + 1, (1,), generator=draw))
            asked, right = (torch.cat((x[:, n, :8], x[:, of, 8:]), 1) for x in (told, means))
            segment = keys[told[:, n]] + values[means[:, n]]
            made = layer.read(torch.cat((segment, keys[asked]), 1), state)[:, PAIRS:] @ head.mT
            total = total + F.cross_entropy(made.flatten(0, 1), right.flatten())
            state = layer.write(segment, state) if store else state
        return total

    one_cycle(weights, loss, steps, rate)
    for weight in weights:
        weight.requires_grad_(requires_grad=False)
    return pairs


def far_recall(pairs: LearnedPairs, seed: int, back: int, *, store: bool = True) -> float:
    """Tell segments, and ask for the first."""
    draw = torch.Generator().manual_seed(seed + 1_000_003)
    told = torch.rand(16, KEYS, generator=draw).argsort(1)[:, : PAIRS * back].unflatten(1, (back, PAIRS))
    means = torch.randint(VALUES, told.shape, generator=draw)
    state = pairs.layer.empty()
    for n in range(back if store else 0):
        state = pairs.layer.write(pairs.keys[told[:, n]] + pairs.values[means[:, n]], state)
    made = pairs.layer.read(pairs.keys[told[:, 0]], state) @ pairs.head.mT
    return float((made.argmax(-1) == means[:, 0]).float().mean())


class _ByteModel:
    """Bytes, a layer of local attention, one with a store, each with a feed-forward layer behind it."""

    def __init__(self, seed: int) -> None:
        draw = torch.Generator().manual_seed(seed)
        form = KnnSettings(width=WIDTH, rows=8, heads=4, nearest=16, slots=4_096)
        self.local = KnnAttention(replace(form, seed=seed, mix="joint"))
        self.far = KnnAttention(replace(form, seed=seed + 1))
        shapes = {"bytes": (256, WIDTH), "places": (_LENGTH, WIDTH), "head": (256, WIDTH)}
        for n in (0, 1):
            shapes |= {f"up {n}": (4 * WIDTH, WIDTH), f"down {n}": (WIDTH, 4 * WIDTH)}
        self.own = {name: torch.randn(*shape, generator=draw) / shape[1] ** 0.5 for name, shape in shapes.items()}

    @property
    def weights(self) -> list[Tensor]:
        return [*self.own.values(), *self.local.weights.values(), *self.far.weights.values()]

    def __call__(self, read: Tensor, state: State, *, store: bool = True) -> tuple[Tensor, State]:
        """Logits of the byte behind each of (B, T), and the state after the segment."""
        h = self.own["bytes"][read] + self.own["places"][: read.shape[1]]
        h = h + self.local.read(F.rms_norm(h, h.shape[-1:]), self.local.empty(len(read)))
        h = self._forward(0, h)
        seen = F.rms_norm(h, h.shape[-1:])
        h = self._forward(1, h + self.far.read(seen, state))
        return F.rms_norm(h, h.shape[-1:]) @ self.own["head"].mT, self.far.write(seen, state) if store else state

    def _forward(self, n: int, h: Tensor) -> Tensor:
        return h + F.silu(F.rms_norm(h, h.shape[-1:]) @ self.own[f"up {n}"].mT) @ self.own[f"down {n}"].mT


def _bytes(plan: ExperimentPlan) -> Iterator[Figure]:
    """Bits of a byte, of all and of names that stood in the file before, outside the segment."""
    files = [file.read_bytes() for file in sorted(Path(sysconfig.get_paths()["stdlib"]).glob("*.py"))]
    files = [text for text in files if len(text) >= 6_144]
    draw = torch.Generator().manual_seed(plan.seed)
    order = torch.randperm(len(files), generator=draw).tolist()
    train, test = [files[n] for n in order[16:]], [files[n] for n in order[:16]]
    bits = {}
    for store in (True, False):
        plan.progress(f"bytes of the standard library, {'with' if store else 'without'} a store")
        model, draw = _ByteModel(plan.seed), torch.Generator().manual_seed(plan.seed + 1)  # both see the same files
        weights = [weight.requires_grad_() for weight in model.weights]
        optimizer = torch.optim.AdamW(weights, lr=3e-3, weight_decay=0.0)
        for _ in range(60):
            chosen = torch.randint(len(train), (8,), generator=draw).tolist()
            state = model.far.empty()
            for segment in torch.stack([_tensor(train[n])[:1_025] for n in chosen]).split(_LENGTH, 1):
                if segment.shape[1] < 2:
                    break
                logits, state = model(segment[:, :-1], state, store=store)
                loss = F.cross_entropy(logits.flatten(0, 1), segment[:, 1:].flatten())
                optimizer.zero_grad()
                loss.backward()
                torch.nn.utils.clip_grad_norm_([weight for weight in weights if weight.grad is not None], 1.0)
                optimizer.step()
        for weight in weights:
            weight.requires_grad_(requires_grad=False)
        name = "with a store" if store else "trained without"
        bits[name] = _tested(model, test, store=store)
        if store:
            bits["store off"] = _tested(model, test, store=False)
    for name, (every, repeated) in bits.items():
        yield Figure(name=f"bits a byte, {name}", value=every, unit="bits")
        yield Figure(name=f"bits a byte of repeated names, {name}", value=repeated, unit="bits")


def _tested(model: _ByteModel, test: list[bytes], *, store: bool) -> tuple[float, float]:
    sums, counts = torch.zeros(2), torch.zeros(2)
    for rows in (test[:8], test[8:]):
        state = model.far.empty()
        text, marks = torch.stack([_tensor(one)[:4_097] for one in rows]), torch.stack([_repeated(one) for one in rows])
        for segment, marked in zip(text.split(_LENGTH, 1), marks.split(_LENGTH, 1), strict=True):
            if segment.shape[1] < 2:
                break
            logits, state = model(segment[:, :-1], state, store=store)
            lost = F.cross_entropy(logits.transpose(1, 2), segment[:, 1:], reduction="none") / 0.6931
            for n, weight in enumerate((torch.ones_like(lost), marked[:, 1:].float())):
                sums[n] += (lost * weight).sum()
                counts[n] += weight.sum()
    every, repeated = (sums / counts).tolist()
    return every, repeated


def _tensor(text: bytes) -> Tensor:
    return torch.frombuffer(bytearray(text), dtype=torch.uint8).long()


def _repeated(text: bytes) -> Tensor:
    """Which of the first 4,097 bytes are of a name of six letters or more, last seen over a segment ago."""
    marks, last = torch.zeros(4_097, dtype=torch.bool), dict[bytes, int]()
    for name in re.finditer(rb"[A-Za-z_]\w{5,}", text[:4_097]):
        begin, end = name.span()
        if begin - last.get(name.group(), begin) > _LENGTH:
            marks[begin + 1 : end] = True
        last[name.group()] = end
    return marks
