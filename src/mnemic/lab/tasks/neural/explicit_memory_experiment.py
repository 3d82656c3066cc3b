"""Explicit memory on the smallest real model: how much of a paragraph's use is left when few of its keys are kept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import TYPE_CHECKING, Final

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 - what everybody calls it

from mnemic.lab.kit.figures import Figure
from mnemic.lab.tasks.neural.experiment import CurvePoint, ExperimentPlan
from mnemic.lab.tasks.neural.made_up_people import MadeUpFact, made_up_facts, share
from mnemic.neural.base import State, state_bytes
from mnemic.neural.explicit_memory import CHUNK, ExplicitMemory, ExplicitSettings, TextReference
from mnemic.neural.llama import BARE, Entries, LowRank

if TYPE_CHECKING:
    from mnemic.neural.gguf_weights import TextModel

_FEW: Final = 16
_SAID: Final = 12
"""Tokens of an answer, at most."""
_RANK: Final = 8
_UPPER: Final = 10
"""Layers of the reader that are trained."""
_BATCH: Final = 4


@dataclass(frozen=True, slots=True)
class _Case:
    """A paragraph that holds a fact, the question that follows it, the question alone, and the answer."""

    fact: MadeUpFact
    reference: TextReference
    question: tuple[int, ...]
    alone: tuple[int, ...]
    answer: tuple[int, ...]

    @property
    def half(self) -> int:
        """Half of the paragraph's tokens."""
        return len(self.reference.tokens) // 2


def measure(plan: ExperimentPlan) -> Iterator[Figure | CurvePoint]:
    """Ask about paragraphs that are told, kept whole, kept in part, kept at random, or not there at all."""
    model, count = plan.open_model(), 4 if plan.quick else 16
    order = Random(plan.seed)  # noqa: S311 - data, not a secret
    facts = made_up_facts(count if plan.quick else 160, plan.seed)
    cases = [_case(model, fact, order) for fact in facts[:count]]
    whole = _memory(model, CHUNK)
    plan.progress("whole, as in the prompt, and not at all")
    states = [whole.write([case.reference], whole.empty()) for case in cases]
    off, told = zip(*(_told(model, whole, *pair) for pair in zip(cases, states, strict=True)), strict=True)
    bare = [_loss(model, case, BARE) for case in cases]
    yield Figure(name="a whole reference against the prompt: largest difference of a logit", value=max(off), unit="",
                 bar=1e-3)  # fmt: skip
    gain = (sum(bare) - sum(told)) / count
    yield Figure(name="loss without the paragraph", value=sum(bare) / count, unit="nats a token")
    yield Figure(name="loss that the paragraph saves, told in the prompt", value=gain, unit="nats a token", bar=0.5,
                 more=True)  # fmt: skip
    half = _kept_share(model, cases, [case.half for case in cases], bare, told)
    yield Figure(name="of that, half the tokens keep", value=half, unit="", bar=0.6 if plan.quick else 0.70, more=True)
    few = _kept_share(model, cases, [_FEW] * count, bare, told)
    length = sum(len(case.reference.tokens) for case in cases) / count
    yield Figure(name="tokens of a paragraph", value=length, unit="on average")
    yield Figure(name=f"of that, {_FEW} tokens keep", value=few, unit="", bar=0.35 if plan.quick else 0.45, more=True)
    draw = torch.Generator().manual_seed(plan.seed)
    memory = _memory(model, _FEW)
    random = [_random(state, _FEW, draw) for state in states]
    chance = _gained([_loss(model, c, memory.attach(s)) for c, s in zip(cases, random, strict=True)], bare, told)
    yield Figure(name=f"control: {_FEW} tokens at random keep", value=chance, unit="")
    yield Figure(name="above those at random", value=few - chance, unit="", bar=0.05 if plan.quick else 0.10,
                 more=True)  # fmt: skip
    if plan.quick:
        return
    yield from _curve(model, cases, bare, told)
    yield from _said(plan, model, cases, states)
    yield from _layers_below(model, cases, bare, told)
    yield from _bytes(model, cases)
    yield from _trained(plan, model, cases, [_case(model, fact, order) for fact in facts[count:]], random)


def _case(model: TextModel, fact: MadeUpFact, order: Random) -> _Case:
    memory, asked = _memory(model, CHUNK), fact.taught[0]
    (reference,) = memory.system_references(fact.paragraph(order), (fact.id,))
    alone = tuple(model.prompt(("user", asked)))
    return _Case(fact, reference, tuple(memory.question(asked)), alone, tuple(model.ids(fact.said)))


def _memory(model: TextModel, kept: int, layers: int = 0) -> ExplicitMemory:
    return ExplicitMemory(model, ExplicitSettings(kept, layers, "float32"))


def _loss(model: TextModel, case: _Case, entries: Entries) -> float:
    """Mean loss of the answer's tokens behind the question."""
    asked = case.question if entries.past else case.alone
    with torch.inference_mode():
        logits = model.decoder.logits(torch.tensor([[*asked, *case.answer]]), entries)[0]
    return float(F.cross_entropy(logits[len(asked) - 1 : -1], torch.tensor(case.answer)))


def _told(model: TextModel, memory: ExplicitMemory, case: _Case, state: State) -> tuple[float, float]:
    """How far a whole reference is from the prompt, in logits; and the answer's loss with the prompt."""
    rest = [*case.question, *case.answer]
    with torch.inference_mode():
        anew = model.decoder.logits(torch.tensor([[*case.reference.tokens, *rest]]))[0, -len(rest) :]
    off = float((anew - memory.read(torch.tensor([rest]), state)[0]).abs().max())
    return off, float(F.cross_entropy(anew[len(case.question) - 1 : -1], torch.tensor(case.answer)))


def _gained(losses: Sequence[float], bare: Sequence[float], told: Sequence[float]) -> float:
    """Share of what the prompt saves that is saved with these losses."""
    return (sum(bare) - sum(losses)) / (sum(bare) - sum(told))


def _kept_share(
    model: TextModel, cases: Sequence[_Case], counts: Sequence[int], bare: Sequence[float], told: Sequence[float],
    layers: int = 0,
) -> float:  # fmt: skip
    losses = []
    for case, kept in zip(cases, counts, strict=True):
        memory = _memory(model, kept, layers)
        losses.append(_loss(model, case, memory.attach(memory.write([case.reference], memory.empty()))))
    return _gained(losses, bare, told)


def _random(state: State, kept: int, draw: torch.Generator) -> State:
    """A whole reference of which each layer and head keeps tokens that are drawn, not looked at."""
    made = dict(state)
    name = next(iter(state)).split(".")[0]
    keys = state[f"{name}.keys"]  # (L, H_kv, S, d)
    chosen = torch.rand(keys.shape[:3], generator=draw).argsort(-1)[..., :kept].sort(-1).values
    for part in ("keys", "values"):
        made[f"{name}.{part}"] = state[f"{name}.{part}"].gather(2, chosen[..., None].expand(-1, -1, -1, keys.shape[3]))
    return made


def _curve(
    model: TextModel, cases: Sequence[_Case], bare: Sequence[float], told: Sequence[float]
) -> Iterator[Figure | CurvePoint]:
    for kept in (8, 32):
        yield CurvePoint("share of the loss saved", kept, _kept_share(model, cases, [kept] * len(cases), bare, told))


def _said(plan: ExperimentPlan, model: TextModel, cases: Sequence[_Case], states: Sequence[State]) -> Iterator[Figure]:
    plan.progress("said freely")
    facts = [case.fact for case in cases]

    def answered(kept: int | None) -> float:
        answers = []
        for case, state in zip(cases, states, strict=True):
            memory = _memory(model, kept or CHUNK)
            made = state if kept is None else memory.write([case.reference], memory.empty())
            answers.append(memory.answer(case.fact.taught[0], memory.attach(made), _SAID))
        return share(facts, answers)

    yield Figure(name="answers that hold the value, whole reference", value=answered(None), unit=f"of {len(cases)}")
    yield Figure(name=f"answers that hold the value, {_FEW} tokens", value=answered(_FEW), unit=f"of {len(cases)}")
    yield Figure(name="answers that hold the value, 8 tokens", value=answered(8), unit=f"of {len(cases)}")


def _layers_below(
    model: TextModel, cases: Sequence[_Case], bare: Sequence[float], told: Sequence[float]
) -> Iterator[Figure]:
    lower = _kept_share(model, cases, [_FEW] * len(cases), bare, told, model.decoder.shape.layers // 2)
    yield Figure(name=f"of the loss saved, {_FEW} tokens in the lower half of the layers keep", value=lower, unit="")


def _bytes(model: TextModel, cases: Sequence[_Case]) -> Iterator[Figure]:
    sizes = []
    for kept in (CHUNK, _FEW):
        memory = ExplicitMemory(model, ExplicitSettings(kept))
        sizes.append(state_bytes(memory.write([cases[0].reference], memory.empty())) / 1e6)
    yield Figure(name="tokens of a reference", value=len(cases[0].reference.tokens), unit="")
    yield Figure(name="its bytes, whole", value=sizes[0], unit="MB", detail="float16")
    yield Figure(name=f"its bytes, {_FEW} tokens kept", value=sizes[1], unit="MB", detail="float16")


def _trained(
    plan: ExperimentPlan, model: TextModel, cases: Sequence[_Case], lessons: Sequence[_Case], random: Sequence[State]
) -> Iterator[Figure]:
    """Train adapters of the reader to answer behind sparse references of other facts; what is kept stays as it was."""
    memory, steps = _memory(model, _FEW), 300
    plan.progress(f"{steps} steps of training the reader")
    states = [memory.write([case.reference], memory.empty()) for case in cases]

    def losses(added: Mapping[str, Sequence[LowRank]], given: Sequence[State]) -> float:
        return sum(
            _loss(model, case, replace(memory.attach(state), added=added))
            for case, state in zip(cases, given, strict=True)
        ) / len(cases)

    before = losses({}, states)
    added = _reader(model, memory, lessons[:40], steps, plan.seed)
    after, empty, chance = losses(added, states), losses(added, [{}] * len(cases)), losses(added, random)
    yield Figure(name=f"loss behind {_FEW} tokens", value=before, unit="nats a token")
    yield Figure(name=f"loss behind {_FEW} tokens, after {steps} steps of training the reader", value=after,
                 unit="nats a token")  # fmt: skip
    yield Figure(name="what training the reader saves", value=before - after, unit="nats a token", bar=0, more=True)
    yield Figure(name="control: the trained reader, no memory", value=empty, unit="nats a token")
    yield Figure(name=f"control: the trained reader, {_FEW} tokens at random", value=chance, unit="nats a token")


def _reader(
    model: TextModel, memory: ExplicitMemory, lessons: Sequence[_Case], steps: int, seed: int
) -> dict[str, list[LowRank]]:
    """Adapters beside W_q and W_o of the upper layers; below them all is computed once."""
    decoder, first = model.decoder, model.decoder.shape.layers - _UPPER
    draw, order = torch.Generator().manual_seed(seed), Random(seed)  # noqa: S311 - an order, not a secret
    added: dict[str, list[LowRank]] = {}
    leaves: list[Tensor] = []
    for layer in range(first, decoder.shape.layers):
        for target in ("q_proj", "o_proj"):
            name = f"model.layers.{layer}.self_attn.{target}.weight"
            out, into = decoder.weights[name].shape
            a = (torch.randn(_RANK, into, generator=draw) / _RANK**0.5).requires_grad_()
            b = torch.zeros(out, _RANK, requires_grad=True)
            added[name], leaves = [LowRank(a, b, 2.0)], [*leaves, a, b]
    position = max(len(case.reference.tokens) for case in lessons)
    pasts, lower, counted = [], [], []
    longest = max(len(case.question) + len(case.answer) for case in lessons)
    with torch.no_grad():
        for case in lessons:
            entries = replace(memory.attach(memory.write([case.reference], memory.empty())), position=position)
            row = torch.tensor([[*case.question, *case.answer, *[0] * (longest - len(case.question + case.answer))]])
            lower.append(decoder.run(decoder.embed(row), entries, last=first)[0][0].clone())
            pasts.append([(k.clone(), v.clone()) for k, v in list(entries.past)[first:]])
            counted.append((len(case.question) - 1, len(case.answer)))
    optimizer = torch.optim.Adam(leaves, lr=1e-3)
    for step in range(steps):
        chosen = order.sample(range(len(lessons)), _BATCH)
        layers = zip(*(pasts[n] for n in chosen), strict=True)
        past = [(torch.cat([k for k, _ in layer]), torch.cat([v for _, v in layer])) for layer in layers]
        for group in optimizer.param_groups:
            group["lr"] = 1e-3 * min(1.0, (step + 1) / 10, 0.1 + (steps - step) / steps)
        optimizer.zero_grad()
        with torch.enable_grad():
            entries = Entries(past, added=added, position=position)
            h, _ = decoder.run(torch.stack([lower[n] for n in chosen]), entries, first=first)
            spans = [(row, *counted[n]) for row, n in enumerate(chosen)]
            said = torch.cat([h[row, at : at + length] for row, at, length in spans])
            answers = torch.cat([torch.tensor(lessons[n].answer) for n in chosen])
            F.cross_entropy(decoder.head(said), answers).backward()
        torch.nn.utils.clip_grad_norm_(leaves, 1.0)
        optimizer.step()
    return {name: [LowRank(low.a.detach(), low.b.detach(), low.scale) for low in lows] for name, lows in added.items()}
