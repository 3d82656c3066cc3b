"""Titans beside the rules it is made of: values that are written over, episodes that are over, segments ago.

Every row is trained alike, on the recall of `recall_task`: the same data, steps, width and optimiser.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 - what everybody calls it

from mnemic.lab.kit.figures import Figure
from mnemic.lab.tasks.neural.experiment import CurvePoint, ExperimentPlan
from mnemic.lab.tasks.neural.recall_task import (
    ASKED,
    KEYS,
    VALUES,
    Recall,
    RecallModel,
    Rule,
    accuracy,
    projections,
    train,
)
from mnemic.neural.titans import Place, Titans, TitansBlock, TitansSettings


@dataclass(frozen=True, slots=True)
class _Size:
    steps: int
    episode_steps: int
    segment_steps: int
    batch: int
    tested: int


_FULL: Final = _Size(600, 400, 400, 16, 12)
_QUICK: Final = _Size(90, 0, 0, 16, 2)


def measure(plan: ExperimentPlan) -> Iterator[Figure | CurvePoint]:
    """Overwriting, episodes, segments, each with every control."""
    size = _QUICK if plan.quick else _FULL
    yield from _overwriting(plan, size)
    if not plan.quick:
        yield from _episodes(plan, size)
        yield from _segments(plan, size)


def overwriting(writes: int, batch: int, draw: torch.Generator) -> Recall:
    """Writes over 16 keys, each to a value of its own; asked is the last value of 8 keys that were written."""
    chosen = torch.rand(batch, KEYS, generator=draw).argsort(1)[:, :16]
    first = torch.arange(16).expand(batch, -1)[:, : min(16, writes)]
    again = torch.randint(16, (batch, max(0, writes - 16)), generator=draw)
    order = torch.cat((first, again), 1)
    order = order.gather(1, torch.rand(order.shape, generator=draw).argsort(1))
    values = torch.randint(VALUES, order.shape, generator=draw)
    asked = torch.rand(batch, 16, generator=draw).argsort(1)[:, :ASKED]
    return Recall(chosen.gather(1, order), values, chosen.gather(1, asked), _latest(order, values, asked))


def episodes(count: int, batch: int, draw: torch.Generator) -> Recall:
    """Episodes of 16 keys of their own each, once; asked are keys of the last one."""
    keys = torch.cat([torch.rand(batch, KEYS, generator=draw).argsort(1)[:, :16] for _ in range(count)], 1)
    values = torch.randint(VALUES, keys.shape, generator=draw)
    asked = torch.rand(batch, 16, generator=draw).argsort(1)[:, :ASKED] + keys.shape[1] - 16
    return Recall(keys, values, keys.gather(1, asked), values.gather(1, asked))


def _latest(order: Tensor, values: Tensor, asked: Tensor) -> Tensor:
    """The value of the last write of each key that is asked."""
    same = order[:, None] == asked[..., None]  # (B, Q, T)
    last = (same * torch.arange(1, order.shape[1] + 1)).argmax(2)
    return values.gather(1, last)


def titans_rule(settings: TitansSettings) -> tuple[Rule, Mapping[str, Tensor]]:
    """The mechanism as a rule, and its weights."""
    memory = Titans(settings)
    return lambda h, q: memory.read(q, memory.write(h, memory.empty(len(h)))), memory.weights


def hebbian_rule(width: int, seed: int) -> tuple[Rule, Mapping[str, Tensor]]:
    """M = Σ v kᵀ: written without being read."""
    w = projections(width, seed)

    def rule(h: Tensor, q: Tensor) -> Tensor:
        k, query = F.normalize(h @ w["key"].mT, dim=-1), F.normalize(q @ w["query"].mT, dim=-1)
        return query @ (k.mT @ (h @ w["value"].mT)) @ w["out"].mT

    return rule, w


def attention_rule(width: int, seed: int, *, recency: bool) -> tuple[Rule, Mapping[str, Tensor]]:
    """Softmax over all writes, at a temperature of its own; with recency, a slope over their age that is learned."""
    w = projections(width, seed) | {"temperature": torch.tensor(2.0)}
    if recency:
        w["slope"] = torch.tensor(-2.0)

    def rule(h: Tensor, q: Tensor) -> Tensor:
        k, query = F.normalize(h @ w["key"].mT, dim=-1), F.normalize(q @ w["query"].mT, dim=-1)
        scores = query @ k.mT * w["temperature"].exp()
        if recency:
            scores = scores - w["slope"].exp() * torch.arange(h.shape[1] - 1, -1, -1.0)
        return scores.softmax(-1) @ (h @ w["value"].mT) @ w["out"].mT

    return rule, w


def no_rule(width: int, seed: int) -> tuple[Rule, Mapping[str, Tensor]]:
    """What is asked, and nothing of what was written."""
    w = {"out": projections(width, seed)["out"]}
    return lambda h, q: q @ w["out"].mT, w


def _overwriting(plan: ExperimentPlan, size: _Size) -> Iterator[Figure | CurvePoint]:
    width, seed = 64, plan.seed
    full = TitansSettings(width=width, seed=seed)
    rules = {
        "titans": titans_rule(full),
        "delta rule alone": titans_rule(TitansSettings(width=width, momentum=0.0, forgetting=0.0, seed=seed)),
        "attention, recency learned": attention_rule(width, seed, recency=True),
        "attention, order unseen": attention_rule(width, seed, recency=False),
        "Hebbian": hebbian_rule(width, seed),
        "none": no_rule(width, seed),
    }
    if plan.quick:  # as dear as the whole
        del rules["delta rule alone"]
    lengths = (16, 48) if plan.quick else (16, 48, 96, 192)
    reached: dict[str, dict[int, float]] = {}
    for name, (rule, weights) in rules.items():
        plan.progress(f"values written over: {name}")
        model = RecallModel(width, rule, weights, seed)
        train(model.weights, model.logits, lambda draw: overwriting(48, size.batch, draw), size.steps, seed)
        reached[name] = {
            writes: accuracy(model.logits, partial(overwriting, writes, 64), size.tested, seed) for writes in lengths
        }
        for writes, right in reached[name].items():
            yield CurvePoint(name, writes, right)
    at = {name: values[48] for name, values in reached.items()}
    more = 0.3 if plan.quick else 0.97
    yield Figure(name="latest value of a key, 48 writes over 16 keys", value=at["titans"], unit="", bar=more, more=True)
    if not plan.quick:
        yield Figure(name="192 writes, trained at 48", value=reached["titans"][192], unit="", bar=0.95, more=True)
        yield Figure(name="48 writes: delta rule alone, which does as well", value=at["delta rule alone"], unit="")
        yield Figure(name="192 writes: delta rule alone", value=reached["delta rule alone"][192], unit="")
        yield Figure(
            name="192 writes: attention, recency learned", value=reached["attention, recency learned"][192], unit=""
        )
    yield Figure(name="48 writes: attention, recency learned", value=at["attention, recency learned"], unit="")
    yield Figure(name="48 writes: attention, order unseen", value=at["attention, order unseen"], unit="")
    yield Figure(name="48 writes: Hebbian", value=at["Hebbian"], unit="", bar=0.60)
    yield Figure(
        name="48 writes: none", value=at["none"], unit="", bar=0.08 if plan.quick else 0.06, detail="chance .031"
    )


def _episodes(plan: ExperimentPlan, size: _Size) -> Iterator[Figure | CurvePoint]:
    width, seed = 24, plan.seed
    forms = {
        "titans, episodes": TitansSettings(width=width, seed=seed),
        "without forgetting": TitansSettings(width=width, forgetting=0.0, seed=seed),
        "without momentum": TitansSettings(width=width, momentum=0.0, seed=seed),
        "delta rule, episodes": TitansSettings(width=width, momentum=0.0, forgetting=0.0, seed=seed),
    }
    last: dict[str, dict[int, float]] = {}
    for name, settings in forms.items():
        plan.progress(f"episodes that are over: {name}")
        rule, weights = titans_rule(settings)
        model = RecallModel(width, rule, weights, seed)
        train(model.weights, model.logits, lambda draw: episodes(4, size.batch, draw), size.episode_steps, seed)
        last[name] = {
            count: accuracy(model.logits, partial(episodes, count, 64), size.tested, seed) for count in (4, 8)
        }
    full, still, steady, delta = last.values()
    four = "the last of four episodes of 16, width 24"
    yield Figure(name=four, value=full[4], unit="")
    yield Figure(name=f"{four}: delta rule alone", value=delta[4], unit="")
    yield Figure(name="full minus delta rule", value=full[4] - delta[4], unit="", bar=0.02, more=True)
    eight = "the last of eight episodes, trained at four"
    yield Figure(name=eight, value=full[8], unit="")
    yield Figure(name=f"{eight}: no forgetting", value=still[8], unit="")
    yield Figure(name="full minus no forgetting", value=full[8] - still[8], unit="", bar=0.015, more=True)
    yield Figure(name="what momentum adds at four episodes", value=full[4] - steady[4], unit="")


def _segments(plan: ExperimentPlan, size: _Size) -> Iterator[Figure | CurvePoint]:
    """Pairs in the first of four segments, questions in the last; attention sees one segment at a time."""
    places: tuple[tuple[Place, str], ...] = (("context", "MAC"), ("gate", "MAG"), ("layer", "MAL"))
    for place, short in places:
        for remembers in (True, False):
            plan.progress(f"segments ago: {short}{'' if remembers else ' without its memory'}")
            right = _across(place, plan.seed, size, remembers=remembers)
            name = f"{short}: pairs of three segments ago" if remembers else f"{short} that remembers nothing"
            bar = (0.90, True) if remembers else (0.06, False)
            yield Figure(name=name, value=right, unit="", bar=bar[0], more=bar[1])


def _across(place: Place, seed: int, size: _Size, *, remembers: bool) -> float:
    width, segment = 48, 8
    block = TitansBlock(TitansSettings(width=width, chunk=segment // 2, seed=seed), place, segment)

    def rule(h: Tensor, q: Tensor) -> Tensor:
        made, _ = block.run(torch.cat((h, q), 1), block.memory.empty(len(h)), remembers=remembers)
        return made[:, h.shape[1] :]

    def task(draw: torch.Generator, batch: int = size.batch) -> Recall:
        keys = torch.rand(batch, KEYS, generator=draw).argsort(1)[:, : 3 * segment]
        values = torch.randint(VALUES, keys.shape, generator=draw)
        asked = torch.rand(batch, segment, generator=draw).argsort(1)
        return Recall(keys, values, keys.gather(1, asked), values.gather(1, asked))

    model = RecallModel(width, rule, block.weights, seed)
    train(model.weights, model.logits, task, size.segment_steps, seed)
    return accuracy(model.logits, lambda draw: task(draw, 64), size.tested, seed)
