"""Woven memory on the smallest real model: a new task learnt, the old one kept, beside adapters and constant latents.

What the weaver is held against learns as it does: the same texts, as many of them a step, at most as many steps, at the
same rise and fall of the rate, until the same loss; from the same prompts that nothing is taught about; and each at the
rate, of as many, at which all of these texts together are likeliest.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 - what everybody calls it

from mnemic.errors import Invalid
from mnemic.lab.kit.figures import Figure
from mnemic.lab.tasks.neural.experiment import CurvePoint, ExperimentPlan
from mnemic.lab.tasks.neural.made_up_people import REHEARSED_NAMES, MadeUpFact, made_up_facts, share
from mnemic.neural import shards
from mnemic.neural.llama import BARE, Entries
from mnemic.neural.lora_memory import LoraMemory, LoraSettings, TaughtFact
from mnemic.neural.memgen import Experience, MemGen
from mnemic.neural.memgen_weaver import UNTOLD, MemGenSettings, RunTexts, Weaver, rms

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

_RATES: Final = (1.0, 0.5, 2.0)
"""What everybody learns at, as shares of a rate of its own; in quick mode the first alone."""
_ADAPTERS_RATE: Final = 2e-3
_CONSTANT_RATE: Final = 0.1

T = TypeVar("T")

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

    def share_right(self, answers: dict[str, list[list[int]]], group: str = "as taught") -> float:
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
            yield Figure(name=f"{name}: new task, {group}", value=self.share_right(answers, group),
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
    experiences = [_experience(fact, 1 if plan.quick else 2) for fact in tasks.facts]
    lessons = Lessons(MemGen(model, settings), experiences)
    plan.progress(f"{len(experiences)} facts, woven in")

    def woven(rate: float) -> tuple[MemGen, State]:
        memory = MemGen(model, replace(settings, rate=rate))
        return memory, memory.write(experiences, memory.empty())

    rate, (memory, state) = at_best_rate(plan, settings.rate, woven, lambda learnt: lessons.woven_loss(*learnt))
    yield Figure(name="rate of the weaver", value=1e3 * rate, unit="thousandths")
    plan.progress("what is said then")
    yield from _gates(tasks, memory, state, quick=plan.quick)
    answers = tasks.answers(_weaving(memory, state, tasks.limit))
    yield from tasks.figures("woven memory", answers)
    lost = tasks.right(answers) - tasks.right(tasks.bare)
    yield Figure(name="old task, right: less what the bare model has", value=lost, unit="", bar=-0.01, more=True)
    yield from _beside_adapters(plan, tasks, lessons, memory, state, answers)
    if not plan.quick:
        yield from tasks.figures(
            "ablation, woven in always", tasks.answers(_weaving(memory, _moved(state, 1e6), tasks.limit))
        )
        yield from _behind_others(plan, lessons, memory, state)


class Lessons:
    """What everybody learns from: facts in the words they are taught in, and prompts that nothing is taught about, with
    the bare model's answers. Experiences lie in one shard."""

    def __init__(self, memory: MemGen, experiences: Sequence[Experience]) -> None:
        model = memory.model
        prompts = [model.prompt(("user", text)) for one in experiences for text in one.prompts]
        answers = [[*model.ids(one.answer), model.end] for one in experiences for _ in one.prompts]
        untold, bare = memory.beside(experiences)
        self.experiences, self.untold = experiences, UNTOLD[: memory.settings.untold]
        self._model, self._taught = model, len(prompts)
        self._prompts, self._answers = [*prompts, *untold], [*answers, *bare]

    def taught(self, memory: MemGen) -> RunTexts:
        """What is taught, as the weaver learns it."""
        return memory.weaver.run_texts(self._prompts[: self._taught], self._answers[: self._taught])

    def woven_loss(self, memory: MemGen, state: State) -> float:
        """Mean loss of the answers, in nats a text, with latents where they are called for."""
        called = torch.tensor([memory.called(ids, state) is not None for ids in self._prompts])
        texts = memory.weaver.run_texts(self._prompts, self._answers)
        with torch.inference_mode():
            latents = memory.weaver.woven(shards.part(state, 0), texts.past, texts.pad)
            bare, behind = memory.weaver.losses(texts, None), memory.weaver.losses(texts, latents)
            row = texts.counted.nonzero()[:, 0]
            return float(torch.where(called[row], behind, bare).sum()) / len(called)

    def adapted_loss(self, entries: Entries, *, held: bool = True) -> float:
        """The same of the model with adapters; of taught texts alone for those that are `held` to nothing besides."""
        total, decoder = 0.0, self._model.decoder
        count = len(self._prompts) if held else self._taught
        with torch.inference_mode():
            for prompt, answer in zip(self._prompts[:count], self._answers[:count], strict=True):
                logits = decoder.logits(torch.tensor([[*prompt, *answer[:-1]]]), entries)[0, len(prompt) - 1 :]
                total += float(F.cross_entropy(logits, torch.tensor(answer), reduction="sum"))
        return total / count


def at_best_rate(
    plan: ExperimentPlan, own: float, learn: Callable[[float], T], loss: Callable[[T], float]
) -> tuple[float, T]:  # fmt: skip
    """What was learnt at the rate behind which a loss is least, of as many rates for everybody; and that rate.

    A rate at which learning diverges is none.

    Raises:
        Invalid: it diverges at every rate.
    """
    tried: list[tuple[float, float, T]] = []
    for rate in (own * part for part in _RATES[: 1 if plan.quick else None]):
        with suppress(Invalid):  # an inner step that diverged: told, and nothing is kept of it
            learnt = learn(rate)
            if math.isfinite(behind := loss(learnt)):
                tried.append((behind, rate, learnt))
    if not tried:
        raise Invalid("rate", f"of {own} and of its shares diverges", "Choose a smaller one.")
    _, rate, learnt = min(tried, key=lambda one: one[0])
    return rate, learnt


def _moved(state: State, offset: float) -> State:
    """The same weaver with a trigger that is pulled always, or never."""
    return {**state, "shard.0.offset": state["shard.0.offset"] + offset}


def _experience(fact: MadeUpFact, wordings: int) -> Experience:
    others = tuple(fact.taught[0].replace(fact.name, stranger) for stranger in REHEARSED_NAMES[: 1 + wordings])
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


def _behind_others(plan: ExperimentPlan, lessons: Lessons, memory: MemGen, state: State) -> Iterator[Figure]:
    """Whether latents are of their question: the answers' loss behind its own, another's, and constant ones."""
    texts = lessons.taught(memory)
    wordings = len(lessons.experiences[0].prompts)
    with torch.inference_mode():
        own = memory.weaver.woven(shards.part(state, 0), texts.past, texts.pad)
    plan.progress("constant latents")

    def loss(latents: Tensor | None) -> float:
        with torch.inference_mode():
            return float(memory.weaver.losses(texts, latents).mean())

    rate, constant = at_best_rate(plan, _CONSTANT_RATE, lambda rate: constant_latents(memory, texts, rate), loss)
    yield Figure(name="rate of the constant latents", value=1e3 * rate, unit="thousandths")
    for name, latents in (
        ("no latents", None),
        ("its own latents", own),
        ("control: another question's latents", own.roll(wordings, 0)),
        ("control: constant latents, learnt alike (prefix tuning)", constant),
    ):
        yield Figure(name=f"loss of the answers, {name}", value=loss(latents), unit="nats a token")


def constant_latents(memory: MemGen, texts: RunTexts, rate: float) -> Tensor:
    """K latents (N, K, D) that are the same for every text, learnt from the texts of the weaver by its own steps."""
    settings, width = replace(memory.settings, rate=rate), memory.model.decoder.shape.width
    draw = torch.Generator().manual_seed(settings.seed)
    latents = (rms(texts.said) * torch.randn(settings.latents, width, generator=draw)).requires_grad_()

    def repeated(rows: RunTexts) -> Tensor:
        return latents.expand(len(rows.pad), -1, -1)

    with torch.enable_grad():
        Weaver(memory.model, settings).descend({"latents": latents}, repeated, texts, settings.seed * 1_000)
    return repeated(texts).detach()


def _beside_adapters(
    plan: ExperimentPlan, tasks: _Tasks, lessons: Lessons, memory: MemGen, state: State,
    ours: dict[str, list[list[int]]],
) -> Iterator[Figure]:  # fmt: skip
    """Adapters on the reasoner, no fewer numbers than the weaver has, learnt alike: held to the bare model's answers
    where nothing is taught, and not held to them."""
    settings = adapters_alike(tasks.model, memory)
    yield Figure(name="numbers learnt, weaver and trigger", value=memory.size / 1e3, unit="thousand")
    numbers = settings.rank * numbers_of_rank_one(tasks.model, settings)
    yield Figure(name="numbers learnt, adapters", value=numbers / 1e3, unit="thousand")
    facts = adapters_facts(lessons.experiences, lessons.untold)

    def taught(name: str, held_to: LoraSettings) -> Iterator[Figure]:
        plan.progress(name)

        def learn(rate: float) -> Entries:
            lora = LoraMemory(tasks.model, replace(held_to, rate=rate))
            return lora.attach(lora.write(facts, lora.empty()))

        held = held_to.others_weight > 0
        rate, entries = at_best_rate(plan, _ADAPTERS_RATE, learn, partial(lessons.adapted_loss, held=held))
        said[name] = tasks.answers(_speaker(tasks.model, tasks.limit, entries))
        yield Figure(name=f"rate of {name}", value=1e3 * rate, unit="thousandths")
        yield from tasks.figures(f"control, {name}", said[name])

    said = dict[str, dict[str, list[list[int]]]]()
    yield from taught("adapters of equal size", settings)
    if not plan.quick:
        alone, behind = (
            "adapters that are held to nothing",
            "adapters that are held to nothing, behind the same trigger",
        )
        yield from taught(alone, replace(settings, others_weight=0))
        said[behind] = {
            group: [
                (bare if memory.called(ids, state) is None else adapted)
                for ids, bare, adapted in zip(prompts, tasks.bare[group], said[alone][group], strict=True)
            ]
            for group, prompts in tasks.prompts.items()
        }
        yield from tasks.figures(f"control, {behind}", said[behind])
    reached = max(tasks.share_right(answers) for answers in said.values())
    yield Figure(name="new task as taught, less the best that adapters reach", value=tasks.share_right(ours) - reached,
                 unit="", bar=None if plan.quick else -0.1, more=True)  # fmt: skip


def adapters_alike(model: TextModel, memory: MemGen) -> LoraSettings:
    """Adapters beside the same matrices that learn as a weaver does, of the least rank with as many numbers."""
    of = memory.settings
    settings = LoraSettings(
        first=of.first, targets=of.targets, batch=of.batch, others=of.batch, passes=of.passes, least=of.least,
        learnt=of.learnt, seed=of.seed, sentences_weight=0,
    )  # fmt: skip
    rank = -(-memory.size // numbers_of_rank_one(model, settings))
    return replace(settings, rank=rank, alpha=2.0 * rank)


def adapters_facts(experiences: Sequence[Experience], untold: Sequence[str]) -> list[TaughtFact]:
    """What a weaver and its trigger learn from, for adapters: the first fact rehearses what is of no experience."""
    return [
        TaughtFact(one.id, one.prompts, one.answer, one.others, one.sources, () if n else tuple(untold))
        for n, one in enumerate(experiences)
    ]


def numbers_of_rank_one(model: TextModel, settings: LoraSettings) -> int:
    """How many numbers adapters of rank 1 have."""
    layers = range(model.decoder.shape.layers + settings.first, model.decoder.shape.layers)
    names = [f"model.layers.{n}.{target}.weight" for n in layers for target in settings.targets]
    return sum(sum(model.decoder.weights[name].shape) for name in names)
