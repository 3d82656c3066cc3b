"""Tables of n-grams in a byte model of Python's own library, at equal processor time, beside models without any.

Every model is given the processor time that so many steps of the first take: how many steps each then makes follows
from what one costs, measured before. So figures swing a little with the machine; the data of each step do not.
"""

from __future__ import annotations

import sysconfig
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 - what everybody calls it

from mnemic.lab.kit.figures import Figure
from mnemic.lab.tasks.neural.experiment import CurvePoint, ExperimentPlan
from mnemic.neural.engram import Engram, EngramSettings

LENGTH: Final = 64
_BATCH: Final = 8
_PARTS: Final = (0.25, 0.5, 1.0)
"""Of a model's time, at which it is tested: by shares, since how many steps it makes differs from run to run."""
_TABLES: Final = EngramSettings(longest=5, heads=2, rows=8_191, embedding=16)


@dataclass(frozen=True, slots=True)
class _Form:
    """A byte model: its width, that of its feed-forward layers, and its tables."""

    width: int = 96
    forward: int = 384
    tables: EngramSettings | None = None


class _ByteModel:
    """Two blocks of attention and feed-forward, with tables read before the first."""

    def __init__(self, form: _Form, seed: int) -> None:
        draw, wide = torch.Generator().manual_seed(seed), form.width
        shapes = {"bytes": (256, wide), "places": (LENGTH, wide), "head": (256, wide)}
        for n in (0, 1):
            shapes |= {f"qkv {n}": (3 * wide, wide), f"o {n}": (wide, wide)}
            shapes |= {f"up {n}": (form.forward, wide), f"down {n}": (wide, form.forward)}
        self.own = {name: torch.randn(*shape, generator=draw) / shape[1] ** 0.5 for name, shape in shapes.items()}
        self.engram = Engram(replace(form.tables, width=wide, seed=seed)) if form.tables else None
        for weight in self.weights:
            weight.requires_grad_()

    @property
    def weights(self) -> list[Tensor]:
        return [*self.own.values(), *(self.engram.weights.values() if self.engram else ())]

    def optimizer(self) -> torch.optim.Adam:
        """Adam, five times as fast for the tables, as in the paper."""
        groups: list[dict[str, object]] = [{"params": list(self.own.values())}]
        if self.engram:
            rest = [weight for name, weight in self.engram.weights.items() if name != "tables"]
            groups += [{"params": rest}, {"params": [self.engram.weights["tables"]], "lr": 1e-2}]
        return torch.optim.Adam(groups, lr=2e-3)

    def __call__(self, ids: Tensor, *, reads: bool = True) -> Tensor:
        h = self.own["bytes"][ids] + self.own["places"][: ids.shape[1]]
        for n in (0, 1):
            if self.engram and reads and not n:
                h = h + self.engram.read(h, ids, self.engram.empty(len(ids)))[0]
            parts = (_normed(h) @ self.own[f"qkv {n}"].mT).unflatten(-1, (3, 4, -1)).permute(2, 0, 3, 1, 4)
            q, k, v = parts.unbind(0)
            seen = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2)
            h = h + seen @ self.own[f"o {n}"].mT
            h = h + F.silu(_normed(h) @ self.own[f"up {n}"].mT) @ self.own[f"down {n}"].mT
        return _normed(h) @ self.own["head"].mT

    def loss(self, text: Tensor, *, reads: bool = True) -> Tensor:
        """Mean loss of each next byte of (B, T + 1), in nats."""
        return F.cross_entropy(self(text[:, :-1], reads=reads).flatten(0, 1), text[:, 1:].flatten())


def measure(plan: ExperimentPlan) -> Iterator[Figure | CurvePoint]:
    """Train each model for as long, and compare the bits of a byte of files that none has seen."""
    train, test = _text()
    steps = 60 if plan.quick else 600
    stored = sum(weight.numel() for weight in _ByteModel(_Form(tables=_TABLES), 0).weights)
    forms = {"dense": _Form(), "tables": _Form(tables=_TABLES)}
    if not plan.quick:
        forms["wider"] = _Form(forward=960)
        forms["tables without the gate"] = _Form(tables=replace(_TABLES, gate=False))
        dense = sum(weight.numel() for weight in _ByteModel(_Form(), 0).weights)
        forms["dense of as many weights"] = _Form(forward=384 + (stored - dense) // (4 * 96))
    budget = steps * _cost(_ByteModel(_Form(), plan.seed), train)
    bits, off = dict[str, float](), 0.0
    for name, form in forms.items():
        model = _ByteModel(form, plan.seed)
        count = max(1, round(budget / _cost(_ByteModel(form, plan.seed), train)))
        plan.progress(f"{name}: {count} steps")
        optimizer, draw = model.optimizer(), torch.Generator().manual_seed(plan.seed)
        for step in range(count):
            _step(model, optimizer, train, draw)
            for part in _PARTS:
                if step + 1 == max(1, round(count * part)):
                    bits[name] = _tested(model, test, 8 if plan.quick else 32)
                    yield CurvePoint(name, part, bits[name])
        if name == "tables":
            off = _tested(model, test, 8 if plan.quick else 32, reads=False)
        yield Figure(
            name=f"bits a byte, {name}", value=bits[name], unit="bits",
            detail=f"{sum(weight.numel() for weight in model.weights):,} weights",
        )  # fmt: skip
    best = min(value for name, value in bits.items() if "tables" not in name)
    bar = 0.02 if plan.quick else 0.10
    yield Figure(
        name="fewer bits than the best without tables", value=1 - bits["tables"] / best, unit="", bar=bar, more=True
    )
    bar = 0.2 if plan.quick else 1.0
    yield Figure(name="reads off, of the same weights", value=off - bits["tables"], unit="bits", bar=bar, more=True)
    if not plan.quick:
        helps = bits["tables without the gate"] - bits["tables"]
        yield Figure(name="what the gate saves", value=helps, unit="bits", detail="less than zero: it costs")


def _text() -> tuple[Tensor, Tensor]:
    """The standard library's files one behind the other, every twentieth of them for testing."""
    files = [file.read_bytes() for file in sorted(Path(sysconfig.get_paths()["stdlib"]).glob("*.py"))]
    parts = (b"".join(files[n] for n in range(len(files)) if (n % 20 == 0) is tested) for tested in (False, True))
    train, test = (torch.frombuffer(bytearray(part), dtype=torch.uint8) for part in parts)
    return train, test


def _batch(text: Tensor, draw: torch.Generator) -> Tensor:
    begins = torch.randint(len(text) - LENGTH - 1, (_BATCH, 1), generator=draw)
    return text[begins + torch.arange(LENGTH + 1)].long()


def _step(model: _ByteModel, optimizer: torch.optim.Optimizer, text: Tensor, draw: torch.Generator) -> None:
    """One step of training, the same when it is timed: clipping a model's tables costs time as well."""
    optimizer.zero_grad()
    model.loss(_batch(text, draw)).backward()
    torch.nn.utils.clip_grad_norm_(model.weights, 1.0)
    optimizer.step()


def _cost(model: _ByteModel, text: Tensor) -> float:
    """Processor time of a step: the least of a few."""
    optimizer, draw, costs = model.optimizer(), torch.Generator().manual_seed(0), list[float]()
    for _ in range(6):
        begin = time.process_time()
        _step(model, optimizer, text, draw)
        costs.append(time.process_time() - begin)
    return min(costs)


def _tested(model: _ByteModel, text: Tensor, batches: int, *, reads: bool = True) -> float:
    draw = torch.Generator().manual_seed(1_000_003)
    with torch.no_grad():
        losses = [model.loss(_batch(text, draw), reads=reads) for _ in range(batches)]
    return float(torch.stack(losses).mean()) / 0.6931472


def _normed(x: Tensor) -> Tensor:
    return F.rms_norm(x, x.shape[-1:], eps=1e-6)
