"""Woven memory on the smallest real model: a new task learnt, the old one kept, beside adapters of equal size."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final, TypeAlias

import torch
from torch import Tensor

from mnemic.lab.kit.figures import Figure
from mnemic.lab.tasks.neural.experiment import CurvePoint, ExperimentPlan
from mnemic.lab.tasks.neural.made_up_people import STRANGERS, MadeUpFact, made_up_facts, share
from mnemic.neural import shards
from mnemic.neural.llama import BARE, Entries
from mnemic.neural.lora_memory import LoraMemory, LoraSettings, TaughtFact
from mnemic.neural.memgen import Experience, MemGen
from mnemic.neural.memgen_weaver import MemGenSettings, RunTexts

if TYPE_CHECKING:
    from mnemic.neural.base import State
    from mnemic.neural.gguf_weights import TextModel

_KNOWN: Final = (
    ("What is the capital of Norway?", "oslo"), ("Who wrote Hamlet?", "shakespeare"),
    ("What language is spoken in Brazil?", "portuguese"), ("What do bees make?", "honey"),
    ("What is the capital of Japan?", "tokyo"), ("Which planet is called the red planet?", "mars"),
    ("How many legs does a spider have?", "eight"), ("What colour is a ripe banana?", "yellow"),
)  # fmt: skip
"""The old task: questions that no memory has heard, and the answer's word."""
_SAID: Final = 10
"""Tokens of an answer, at most; in quick mode `_SAID_QUICK`."""
_SAID_QUICK: Final = 6

_Speaker: TypeAlias = Callable[[list[list[int]]], list[list[int]]]
"""What a model with some memory says behind each of some prompts."""


class _Tasks:
    """What everybody is asked: facts that were learnt, as taught and in unseen words; the old task; strangers."""

    def __init__(self, model: TextModel, plan: ExperimentPlan) -> None:
        count, old = (2, 2) if plan.quick else (8, len(_KNOWN))
        facts = made_up_facts(20, plan.seed)
        self.model, self.facts, self.known = model, facts[:count], _KNOWN[:old]
        self.limit = _SAID_QUICK if plan.quick else _SAID
        taught, unseen = [fact.taught[0] for fact in self.facts], [fact.unseen for fact in self.facts]
        strangers = [fact.taught[0] for fact in facts[count : count + old]]
        self.prompts = {
            name: [model.prompt(("user", question)) for question in questions]
            for name, questions in (
                ("as taught", taught), ("in unseen words", unseen),
                ("old task", [question for question, _ in self.known]), ("strangers", strangers),
            )
        }  # fmt: skip
        self.bare = self.answers(_speaker(model, self.limit))

    def answers(self, speaker: _Speaker) -> dict[str, list[list[int]]]:
        """What is said to each group of prompts."""
        said = iter(speaker([ids for prompts in self.prompts.values() for ids in prompts]))
        return {name: [next(said) for _ in prompts] for name, prompts in self.prompts.items()}

    def told(self, answers: dict[str, list[list[int]]], group: str = "as taught") -> float:
        """Share of facts that are said."""
        return share(self.facts, [self.model.answer(said) for said in answers[group]])

    def right(self, answers: dict[str, list[list[int]]]) -> float:
        """Share of the old task's answers that hold the word."""
        said = [self.model.answer(ids).lower() for ids in answers["old task"]]
        return sum(word in text for (_, word), text in zip(self.known, said, strict=True)) / len(said)

    def kept(self, answers: dict[str, list[list[int]]], group: str) -> float:
        """Share of answers that are, token by token, the bare model's."""
        pairs = list(zip(answers[group], self.bare[group], strict=True))
        return sum(said == bare for said, bare in pairs) / len(pairs)

    def figures(self, name: str, answers: dict[str, list[list[int]]]) -> Iterator[Figure]:
        """What is said of the new task, and what is left of the old."""
        for group in ("as taught", "in unseen words"):
            yield Figure(name=f"{name}: new task, {group}", value=self.told(answers, group),
                         unit=f"of {len(self.facts)}")  # fmt: skip
        yield Figure(name=f"{name}: old task, right", value=self.right(answers), unit=f"of {len(self.known)}")
        for group in ("old task", "strangers"):
            yield Figure(name=f"{name}: {group}, token by token as before", value=self.kept(answers, group),
                         unit=f"of {len(self.prompts[group])}")  # fmt: skip


def measure(plan: ExperimentPlan) -> Iterator[Figure | CurvePoint]:
    """Teach facts to a weaver and to adapters: what is said of them then, and of everything else."""
    model = plan.open_model()
    plan.progress("the bare model")
    tasks = _Tasks(model, plan)
    settings = MemGenSettings(seed=plan.seed)
    if plan.quick:
        settings = replace(settings, batch=2, least=12, passes=1, untold=4)
    memory = MemGen(model, settings)
    experiences = [_experience(fact, 1 if plan.quick else 2) for fact in tasks.facts]
    plan.progress(f"{len(experiences)} facts, woven in")
    state = memory.write(experiences, memory.empty())
    plan.progress("what is said then")
    yield from _gates(tasks, memory, state, quick=plan.quick)
    answers = tasks.answers(_weaving(memory, state, tasks.limit))
    yield from tasks.figures("woven memory", answers)
    lost = tasks.right(answers) - tasks.right(tasks.bare)
    yield Figure(name="old task, right: less what the bare model has", value=lost, unit="", bar=-0.01, more=True)
    yield from _beside_adapters(plan, tasks, memory, state, experiences, answers)
    if not plan.quick:
        yield from tasks.figures(
            "ablation, woven in always", tasks.answers(_weaving(memory, _moved(state, 1e6), tasks.limit))
        )
        yield from _behind_others(plan, memory, state, experiences)


def _moved(state: State, offset: float) -> State:
    """The same weaver with a trigger that is pulled always, or never."""
    return {**state, "shard.0.offset": state["shard.0.offset"] + offset}


def _experience(fact: MadeUpFact, wordings: int) -> Experience:
    others = tuple(fact.taught[0].replace(fact.name, stranger) for stranger in STRANGERS[: 1 + wordings])
    return Experience(fact.id, fact.taught[:wordings], fact.said, others, (fact.id,))


def _speaker(model: TextModel, limit: int, entries: Entries = BARE) -> _Speaker:
    return lambda prompts: model.decoder.generate(prompts, limit, frozenset({model.end}), entries)


def _weaving(memory: MemGen, state: State, limit: int) -> _Speaker:
    ends = frozenset({memory.model.end})
    return lambda prompts: [list(memory.generate(ids, state, limit, ends).tokens) for ids in prompts]


def _gates(tasks: _Tasks, memory: MemGen, state: State, *, quick: bool) -> Iterator[Figure]:
    """Nothing is inserted where it is not called for, K positions where it is, and how often that is."""
    few = [prompts[0] for prompts in tasks.prompts.values()]
    bare = [_speaker(tasks.model, tasks.limit)([ids])[0] for ids in few]  # one by one: padding moves the last digits
    silent = _weaving(memory, _moved(state, -1e6), tasks.limit)(few)
    same = [one == other for one, other in zip(silent, bare, strict=True)]
    yield Figure(name="trigger off: token by token the bare model", value=sum(same) / len(same), unit=f"of {len(same)}",
                 bar=1, more=True)  # fmt: skip
    spoken = [memory.generate(ids, _moved(state, 1e6), 2) for ids in few]
    inserted = [said.length - len(ids) - len(said.tokens) + 1 for said, ids in zip(spoken, few, strict=True)]
    off = [abs(count - memory.settings.latents * len(said.woven)) for said, count in zip(spoken, inserted, strict=True)]
    yield Figure(name="trigger on: positions inserted, at least", value=min(inserted), unit="",
                 bar=memory.settings.latents, more=True)  # fmt: skip
    yield Figure(name="trigger on: most that a weaving is off from K", value=max(off), unit="positions", bar=0)
    texts = memory.weaver.run_texts(
        tasks.prompts["as taught"], [[*tasks.model.ids(fact.said), tasks.model.end] for fact in tasks.facts]
    )
    saved = float(memory.weaver.saved(shards.part(state, 0), texts).mean())
    yield Figure(name="what latents save of the taught answers' loss", value=saved, unit="nats a token",
                 bar=0.5 if quick else 1.5, more=True)  # fmt: skip
    bars = {"as taught": 0.5 if quick else 0.9, "old task": 0.5 if quick else 0.1}
    for group, prompts in tasks.prompts.items():
        called = [memory.called(ids, state) is not None for ids in prompts]
        yield Figure(name=f"called for: {group}", value=sum(called) / len(called), unit=f"of {len(called)}",
                     bar=bars.get(group), more=group == "as taught")  # fmt: skip


def _behind_others(
    plan: ExperimentPlan, memory: MemGen, state: State, experiences: Sequence[Experience]
) -> Iterator[Figure]:
    """Whether latents are of their question: the answers' loss behind its own, another's, and constant ones."""
    model = memory.model
    texts = memory.weaver.run_texts(
        [model.prompt(("user", one.prompts[0])) for one in experiences],
        [[*model.ids(one.answer), model.end] for one in experiences],
    )
    with torch.inference_mode():
        own = memory.weaver.woven(shards.part(state, 0), texts.past, texts.pad)
    plan.progress("constant latents")
    constant = _constant(memory, texts, own.square().mean().sqrt(), plan.seed)
    for name, latents in (
        ("no latents", None),
        ("its own latents", own),
        ("control: another question's latents", own.roll(1, 0)),
        ("control: constant latents, learnt alike (prefix tuning)", constant),
    ):
        with torch.inference_mode():
            loss = float(memory.weaver.losses(texts, latents).mean())
        yield Figure(name=f"loss of the answers, {name}", value=loss, unit="nats a token")


def _constant(memory: MemGen, texts: RunTexts, length: Tensor, seed: int) -> Tensor:
    """K latents that are the same for every question, learnt in as many steps as the weaver has at least."""
    settings, draw = memory.settings, torch.Generator().manual_seed(seed)
    width = memory.model.decoder.shape.width
    latents = (length * torch.randn(settings.latents, width, generator=draw)).requires_grad_()
    optimizer = torch.optim.Adam([latents], lr=0.1)
    for step in range(settings.least):
        rows = texts.rows([(step * settings.batch + n) % len(texts.pad) for n in range(settings.batch)])
        optimizer.zero_grad()
        with torch.enable_grad():
            memory.weaver.losses(rows, latents.expand(len(rows.pad), -1, -1)).mean().backward()
        torch.nn.utils.clip_grad_norm_([latents], 1.0)
        optimizer.step()
    return latents.detach().expand(len(texts.pad), -1, -1)


def _beside_adapters(
    plan: ExperimentPlan, tasks: _Tasks, memory: MemGen, state: State, experiences: Sequence[Experience],
    ours: dict[str, list[list[int]]],
) -> Iterator[Figure]:  # fmt: skip
    """Adapters on the reasoner, no fewer numbers than the weaver has, as many steps on the same texts."""
    settings = memory.settings
    adapters = LoraSettings(
        first=settings.first, targets=settings.targets, batch=settings.batch, rate=2e-3, passes=settings.passes,
        least=settings.least, learnt=settings.learnt, seed=plan.seed, others_weight=0, sentences_weight=0,
    )  # fmt: skip
    of_rank = _numbers(tasks.model, replace(adapters, rank=1))
    rank = -(-memory.size // of_rank)
    adapters = replace(adapters, rank=rank, alpha=2.0 * rank)
    yield Figure(name="numbers learnt, weaver and trigger", value=memory.size / 1e3, unit="thousand")
    yield Figure(name="numbers learnt, adapters", value=rank * of_rank / 1e3, unit="thousand")
    facts = [TaughtFact(one.id, one.prompts, one.answer, one.others, one.sources) for one in experiences]

    def taught(name: str, chosen: LoraSettings) -> dict[str, list[list[int]]]:
        plan.progress(name)
        lora = LoraMemory(tasks.model, chosen)
        return tasks.answers(_speaker(tasks.model, tasks.limit, lora.attach(lora.write(facts, lora.empty()))))

    plain = taught("adapters", adapters)
    yield from tasks.figures("control, adapters of equal size", plain)
    yield Figure(name="new task as taught, less what the adapters reach", value=tasks.told(ours) - tasks.told(plain),
                 unit="", bar=None if plan.quick else -0.1, more=True)  # fmt: skip
    behind = {
        group: [
            (bare if memory.called(ids, state) is None else said)
            for ids, bare, said in zip(prompts, tasks.bare[group], plain[group], strict=True)
        ]
        for group, prompts in tasks.prompts.items()
    }
    yield from tasks.figures("control, adapters behind the same trigger", behind)
    if not plan.quick:
        fair = replace(adapters, others=4, sentences=2, others_weight=2.0, sentences_weight=1.5)
        yield from tasks.figures("control, adapters that rehearse", taught("adapters that rehearse", fair))


def _numbers(model: TextModel, settings: LoraSettings) -> int:
    """How many numbers adapters of rank 1 have."""
    layers = range(model.decoder.shape.layers + settings.first, model.decoder.shape.layers)
    names = [f"model.layers.{n}.{target}.weight" for n in layers for target in settings.targets]
    return sum(sum(model.decoder.weights[name].shape) for name in names)
