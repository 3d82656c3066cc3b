"""A side memory on the smallest real model: edits one by one, beside fine-tuning of the same matrix, plain and fair."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING, Final

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 - what everybody calls it

from mnemic.lab.kit.figures import Figure
from mnemic.lab.tasks.neural.experiment import CurvePoint, ExperimentPlan
from mnemic.lab.tasks.neural.made_up_people import REHEARSED_NAMES, MadeUpFact, made_up_facts
from mnemic.neural.llama import BARE, Entries
from mnemic.neural.wise import (
    Edit,
    EditedLayer,
    PromptRows,
    WiseMemory,
    WiseSettings,
    joined,
    replay_and_negatives,
)

if TYPE_CHECKING:
    from mnemic.neural.gguf_weights import TextModel

_ELSEWHERE: Final = (
    "What is the capital of Norway?", "How many legs does a spider have?", "Give me a synonym for happy.",
    "What language is spoken in Brazil?", "Who wrote Hamlet?", "How does a bicycle work?", "What is 9 times 6?",
    "Name a river in Africa.",
)  # fmt: skip
"""Prompts that no memory has heard, which are to be answered as before; near misses come beside them."""


def measure(plan: ExperimentPlan) -> Iterator[Figure | CurvePoint]:
    """Edit facts one by one into a side memory, and into the matrix itself: what is answered then, and what else is."""
    model, count = plan.open_model(), 2 if plan.quick else 12
    facts = made_up_facts(count, plan.seed)
    edits = [_edit(fact, n) for n, fact in enumerate(facts)]
    near = [fact.other for fact in made_up_facts(20, plan.seed + 1)]
    unrelated = _Unrelated(
        model, [*_ELSEWHERE[: 2 if plan.quick else 8], *dict.fromkeys(near)][: 4 if plan.quick else 16]
    )
    settings = WiseSettings(seed=plan.seed, wordings=1, steps=12 if plan.quick else 25)
    memory = WiseMemory(model, settings)
    plan.progress(f"{count} edits, one by one")
    state = memory.empty()
    for n in range(count):
        state = memory.write(edits[: n + 1], state)
        if n + 1 in (4, 8):
            entries = _routed(memory, model, state)
            yield CurvePoint("side memory", n + 1, _reliable(model, edits[: n + 1], entries))
    entries = _routed(memory, model, state)
    yield Figure(name="reliability", value=_reliable(model, edits, entries), unit=f"of {count}",
                 bar=0.5 if plan.quick else 0.90, more=True)  # fmt: skip
    same, alike = unrelated.unharmed(entries)
    yield Figure(name="unrelated prompts whose logits are the bare model's, to the bit", value=same,
                 unit=f"of {len(unrelated)}", bar=0.5 if plan.quick else 0.75, more=True)  # fmt: skip
    dropped = memory.forget([edit.id for edit in edits], state)
    yield Figure(name="the same with the side memory dropped", unit=f"of {len(unrelated)}",
                 value=unrelated.unharmed(_routed(memory, model, dropped))[0], bar=1, more=True)  # fmt: skip
    said = _reliable(model, _otherwise(edits, facts), entries)
    yield Figure(name="asked otherwise", value=said, unit=f"of {count}")
    yield Figure(name="unrelated prompts, next token as before", value=alike, unit=f"of {len(unrelated)}")
    controls = (("fine-tuning with the same replay and negatives", True), ("plain fine-tuning", False))
    for name, fair in controls[: 1 if plan.quick else 2]:
        plan.progress(name)
        yield from _tuned(plan, model, facts, edits, unrelated, name, settings, fair=fair)
    if not plan.quick:
        yield from _without(plan, model, edits[:8], unrelated, settings)


def _edit(fact: MadeUpFact, n: int) -> Edit:
    asked = fact.taught[0]
    others = tuple(asked.replace(fact.name, REHEARSED_NAMES[(n + k) % len(REHEARSED_NAMES)]) for k in (0, 3))
    return Edit(fact.id, (asked,), fact.said, others, (fact.id,))


def _otherwise(edits: Sequence[Edit], facts: Sequence[MadeUpFact]) -> list[Edit]:
    """The edits, asked for in words that nobody has taught."""
    return [replace(edit, prompts=(fact.unseen,)) for edit, fact in zip(edits, facts, strict=True)]


def _routed(memory: WiseMemory, model: TextModel, state: dict[str, Tensor]) -> Callable[[list[int]], Entries]:
    return lambda ids: memory.attach(state, memory.route(ids, state))


def _reliable(model: TextModel, edits: Sequence[Edit], entries: Callable[[list[int]], Entries]) -> float:
    """Share of edits of whose targets every token is the likeliest behind the ones before it."""
    right = 0
    for edit in edits:
        ids, target = model.prompt(("user", edit.prompts[0])), model.ids(edit.target)
        logits = _last(model, [*ids, *target[:-1]], entries(ids), len(target))
        right += logits.argmax(-1).tolist() == target
    return right / len(edits)


def _last(model: TextModel, ids: Sequence[int], entries: Entries, count: int = 1) -> Tensor:
    """Logits (count, V) of the last tokens."""
    with torch.inference_mode():
        h, _ = model.decoder.run(model.decoder.embed(torch.tensor([list(ids)])), entries)
        return model.decoder.head(h[0, -count:])


class _Unrelated:
    """Prompts that are to be answered as before, and what the bare model makes of them."""

    def __init__(self, model: TextModel, prompts: Sequence[str]) -> None:
        self._model = model
        self._bare = [(ids, _last(model, ids, BARE)) for ids in (model.prompt(("user", text)) for text in prompts)]

    def __len__(self) -> int:
        return len(self._bare)

    def unharmed(self, entries: Callable[[list[int]], Entries]) -> tuple[float, float]:
        """Shares of prompts whose logits are the bare model's to the bit, and whose next token is the same."""
        same = alike = 0
        for ids, bare in self._bare:
            now = _last(self._model, ids, entries(ids))
            same += torch.equal(bare, now)
            alike += int(bare.argmax()) == int(now.argmax())
        return same / len(self), alike / len(self)


def _tuned(
    plan: ExperimentPlan, model: TextModel, facts: Sequence[MadeUpFact], edits: Sequence[Edit],
    unrelated: _Unrelated, name: str, settings: WiseSettings, *, fair: bool,
) -> Iterator[Figure | CurvePoint]:  # fmt: skip
    """The same matrix, changed for every prompt."""
    place = EditedLayer(model, model.decoder.shape.layers + settings.layer)
    delta = torch.zeros_like(place.matrix)
    for n in range(len(edits)):
        delta = _tune(place, delta, edits[: n + 1], settings, plan.seed * 1_000 + n, fair=fair)
        if n + 1 in (4, 8):
            changed = Entries(replaced={place.name: place.matrix + delta})
            right = _reliable(model, edits[: n + 1], _always(changed))
            yield CurvePoint(name, n + 1, right)
    changed = Entries(replaced={place.name: place.matrix + delta})
    yield Figure(name=f"control, {name}: reliability", unit=f"of {len(edits)}",
                 value=_reliable(model, edits, _always(changed)))  # fmt: skip
    yield Figure(name=f"control, {name}: asked otherwise", unit=f"of {len(edits)}",
                 value=_reliable(model, _otherwise(edits, facts), _always(changed)))  # fmt: skip
    same, alike = unrelated.unharmed(_always(changed))
    yield Figure(name=f"control, {name}: unrelated prompts, next token as before", value=alike,
                 unit=f"of {len(unrelated)}")  # fmt: skip
    yield Figure(name=f"control, {name}: unrelated prompts, to the bit", value=same, unit=f"of {len(unrelated)}")


def _always(entries: Entries) -> Callable[[list[int]], Entries]:
    return lambda ids: entries


def _tune(
    place: EditedLayer, delta: Tensor, edits: Sequence[Edit], settings: WiseSettings, seed: int, *, fair: bool
) -> Tensor:
    """One edit more; fair with the side memory's own replay and unrelated prompts, held to what the bare model says."""
    order = Random(seed)  # noqa: S311 - an order, not a secret
    changed = delta.clone().requires_grad_()
    optimizer = torch.optim.Adam([changed], lr=settings.rate)
    asked = [place.rows(edit.prompts[0], edit.target) for edit in edits]
    bare: dict[str, Tensor] = {}
    for _ in range(settings.steps):
        replayed, unrelated = replay_and_negatives(edits, settings, order) if fair else ([], [])
        negatives = [_asked(place.rows(text)) for text in unrelated]
        with torch.no_grad():
            for text, rows in zip(unrelated, negatives, strict=True):
                if text not in bare:
                    bare[text] = F.log_softmax(place.logits(rows, torch.zeros_like(delta)), -1)
        with torch.enable_grad():
            loss, right = place.loss(joined([asked[-1], *(asked[n] for n in replayed)]), changed)
            if fair:
                now = F.log_softmax(place.logits(joined(negatives), changed), -1)
                wanted = torch.cat([bare[text] for text in unrelated])
                drift = F.kl_div(now, wanted, reduction="batchmean", log_target=True)
                right = right and float(drift.detach()) < 0.02
                loss = loss + drift
            if right:
                break
            optimizer.zero_grad()
            loss.backward()
        torch.nn.utils.clip_grad_norm_([changed], 1.0)
        optimizer.step()
    return changed.detach()


def _asked(rows: PromptRows) -> PromptRows:
    """PromptRows of which the token behind the prompt counts."""
    last = torch.zeros_like(rows.counted)
    last[:, int(rows.asked.sum()) - 1] = True
    return replace(rows, counted=last)


def _without(
    plan: ExperimentPlan, model: TextModel, edits: Sequence[Edit], unrelated: _Unrelated, settings: WiseSettings
) -> Iterator[Figure]:
    """The side memory with nothing replayed."""
    plan.progress("without replay")
    memory = WiseMemory(model, replace(settings, replayed=0))
    entries = _routed(memory, model, memory.write(edits, memory.empty()))
    same, _ = unrelated.unharmed(entries)
    yield Figure(name=f"ablation, {len(edits)} edits without replay: reliability",
                 value=_reliable(model, edits, entries), unit=f"of {len(edits)}")  # fmt: skip
    yield Figure(name=f"ablation, {len(edits)} edits without replay: unrelated prompts, to the bit", value=same,
                 unit=f"of {len(unrelated)}")  # fmt: skip
