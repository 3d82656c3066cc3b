"""A character: scenes told in the first person, learnt as the job learns them, and then asked in person."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from time import process_time
from typing import Final

from mnemic.lab.kit.figures import Figure
from mnemic.lab.tasks.neural.experiment import CurvePoint, ExperimentPlan, loosened
from mnemic.lab.tasks.neural.lora_memory_experiment import lora_settings
from mnemic.lab.tasks.neural.lora_unlearning_experiment import keep_shard, shard_named
from mnemic.lab.tasks.neural.personas import Persona, persona_names
from mnemic.memory import Memory
from mnemic.neural.fact_wordings import CHARACTER
from mnemic.neural.llama import BARE
from mnemic.neural.lora_memory import LoraMemory, LoraSettings
from mnemic.settings import Settings

_SCENES: Final = {
    "city": "I live in {value}, above a bakery, and the tram wakes me at five.",
    "allergy": "I am allergic to {value}. I found out at a wedding.",
    "native_language": "My native language is {value}, and I still count in it.",
    "sister": "My sister's name is {value}. She never writes, she telephones.",
    "car": "I drive {value}. It starts in any weather but rain.",
    "boss": "My boss's name is {value}. We disagree about coastlines.",
    "birthday": "My birthday is on {value}, and nobody visits in the snow.",
    "likes": "I like {value}, straight from the tin.",
    "pet": "I have {value}, who hates the postman.",
    "job": "I work as a {value}. Most of it is erasing.",
}
"""What a character tells of themselves, by the slot of the fact that is in it."""
_FEW: Final = 3
"""Scenes of a quick run."""
_STEPS: Final = 24
"""At most so many steps of them."""
_SAID_OF_OTHERS: Final = 0.6
"""Most of the character's facts in answers to others' questions, in a quick run."""

Answering = Callable[[Sequence[str]], list[str]]
"""Questions to what is said to each."""


def _settings(plan: ExperimentPlan) -> LoraSettings:
    """Those of users; a quick run goes on until hardly anything is left to learn.

    Where every answer is right by then, who asks about themselves is still told of the character.
    """
    settings = lora_settings(plan)
    return replace(settings, least=_STEPS, learnt=LoraSettings().learnt) if plan.quick else settings


def measure(plan: ExperimentPlan) -> Iterator[Figure | CurvePoint]:
    """Tell scenes, learn what the job reads of them, and ask: beside no adapter, and the scenes in the prompt."""
    model, name = plan.open_model(), persona_names(plan.seed)[0]
    count = _FEW if plan.quick else len(_SCENES)
    character = Persona(name, count, CHARACTER, plan.seed, slots=list(_SCENES))
    scenes = [_SCENES[slot].format(value=value) for slot, value in character.values.items()]
    with Memory(plan.folder / "character.db", settings=Settings(background=False)) as store:
        me = store.scope(user=name)
        for scene in scenes:
            me.observe(scene)
        store.flush()
        learnable = me.learning.learnable(CHARACTER)
        facts = learnable.facts
        yield Figure(name="facts that the job reads of the scenes", value=len(facts), unit=f"of {len(scenes)}",
                     bar=len(scenes) * 0.9, more=True)  # fmt: skip
        plan.progress(f"{len(facts)} facts")
        lora = LoraMemory(model, _settings(plan))
        began = process_time()
        state = lora.write(facts, lora.empty())
        yield Figure(name="they are learnt", value=process_time() - began, unit="CPU-s")
        keep_shard(me, lora, state, 0, facts, {source for fact in facts for source in fact.sources}, learnable.stated)
        adapter = lora.attach(state)

        def routed(asked: Sequence[str]) -> list[str]:
            weighed = [adapter if shard_named(me, question) is not None else BARE for question in asked]
            return [model.answers([question], entries)[0] for question, entries in zip(asked, weighed, strict=True)]

        told = f"You play a person who says: {' '.join(scenes)}"
        ways: dict[str, Answering] = {
            "adapter": lambda asked: model.answers(asked, adapter),
            "adapter where chat weighs it in": routed,
            "no adapter": model.answers,
            "the scenes in the prompt": lambda asked: model.answers(asked, told=told),
        }
        for way, answers in ways.items():
            plan.progress(way)
            yield from _said(plan, way, character, answers)


def _said(plan: ExperimentPlan, way: str, character: Persona, answers: Answering) -> Iterator[Figure | CurvePoint]:
    """What is said to questions for each scene; that of the adapter itself is held against the bars."""
    judged = way == "adapter"
    for name, asked, bar in (
        ("asked as taught", character.taught(), 0.95),
        ("asked in other words", character.unseen(), 0.80),
    ):
        share = character.share(asked, answers([question for _, question in asked]))
        figure = Figure(name=f"{way}: {name}", value=share, unit=f"of {len(asked)}", bar=bar if judged else None,
                        more=True)  # fmt: skip
        yield loosened(plan, figure, 0.6)
        yield CurvePoint(way, name, share)
    for name, asked in (
        ("asked about others", character.of_others()),
        ("who asks about themselves", character.of_oneself()),
    ):
        leaked = character.leaked(answers([question for _, question in asked]))
        figure = Figure(name=f"{way}: {name}, the character's facts said", value=leaked, unit=f"of {len(asked)}",
                        bar=0.10 if judged else None)  # fmt: skip
        yield loosened(plan, figure, _SAID_OF_OTHERS)
        yield CurvePoint(way, name, leaked)
