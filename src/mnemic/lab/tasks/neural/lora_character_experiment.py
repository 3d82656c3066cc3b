"""A character: scenes told in the first person, learnt as the job learns them, and then asked in person."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from time import process_time
from typing import Final

from mnemic.lab.kit.figures import Figure
from mnemic.lab.tasks.neural.experiment import CurvePoint, ExperimentPlan
from mnemic.lab.tasks.neural.lora_memory_experiment import lora_settings
from mnemic.memory import Memory
from mnemic.neural.fact_wordings import CHARACTER
from mnemic.neural.llama import BARE
from mnemic.neural.lora_memory import LoraMemory
from mnemic.settings import Settings


@dataclass(frozen=True, slots=True)
class _Scene:
    """One scene, and the questions to which it holds the answer.

    Attributes:
        taught: In words that the job teaches.
        unseen: In words that it does not.
        other: The same about somebody of whom nothing is told.
    """

    text: str
    value: str
    taught: str
    unseen: str
    other: str


_SCENES: Final = (
    _Scene("I live in Trondheim, above a bakery, and the tram wakes me at five.", "Trondheim",
           "Where do you live?", "What's the place where you live?", "In what city is the home of Hannah?"),
    _Scene("I am allergic to walnuts. I found out at a wedding.", "walnuts",
           "What are you allergic to?", "What must you avoid because of an allergy?", "Does Ken have an allergy?"),
    _Scene("My native language is Portuguese, and I still count in it.", "Portuguese",
           "What is your native language?", "What language did you speak as a child?", "What's Amara's mother tongue?"),
    _Scene("My sister's name is Filipa. She never writes, she telephones.", "Filipa",
           "What is your sister's name?", "What is your sister called?", "Who is Dr. Lindqvist's sister?"),
    _Scene("I drive a green Saab. It starts in any weather but rain.", "Saab",
           "What car do you drive?", "Which vehicle do you drive?", "Which car does the baker have?"),
    _Scene("My boss's name is Torunn. We disagree about coastlines.", "Torunn",
           "What is your boss's name?", "What is your boss called?", "Who is Mrs. Alvarez's boss?"),
    _Scene("My birthday is on 3 February, and nobody visits in the snow.", "3 February",
           "When is your birthday?", "What day is your birthday?", "What date is Ken's birthday?"),
    _Scene("I like cold pancakes, straight from the tin.", "cold pancakes",
           "What do you like?", "Name something you like.", "What does Hannah enjoy?"),
    _Scene("I have a parrot called Biscuit, who hates the postman.", "Biscuit",
           "What pet do you have?", "Can you name your pet?", "Which animal lives with Amara?"),
    _Scene("I work as a cartographer. Most of it is erasing.", "cartographer",
           "What is your job?", "What work do you do?", "What's the baker's profession?"),
)  # fmt: skip
_FEW: Final = 3
"""Scenes of a quick run."""

Answering = Callable[[Sequence[str]], list[str]]
"""Questions to what is said to each."""


def measure(plan: ExperimentPlan) -> Iterator[Figure | CurvePoint]:
    """Tell scenes, learn what the job reads of them, and ask: beside no adapter, and the scenes in the prompt."""
    scenes, model = _SCENES[:_FEW] if plan.quick else _SCENES, plan.open_model()
    with Memory(plan.folder / "character.db", settings=Settings(background=False)) as store:
        me = store.scope(user="ines")
        for scene in scenes:
            me.observe(scene.text)
        store.flush()
        facts = me.learning.learnable(CHARACTER).facts
        yield Figure(name="facts that the job reads of the scenes", value=len(facts), unit=f"of {len(scenes)}",
                     bar=len(scenes) * 0.9, more=True)  # fmt: skip
        plan.progress(f"{len(facts)} facts")
        lora = LoraMemory(model, lora_settings(plan))
        began = process_time()
        adapter = lora.attach(lora.write(facts, lora.empty()))
        yield Figure(name="they are learnt", value=process_time() - began, unit="CPU-s")
        sources = {source for fact in facts for source in fact.sources}

        def routed(asked: Sequence[str]) -> list[str]:
            named = [not sources.isdisjoint(me.learning.named_for(question)) for question in asked]
            pairs = zip(asked, named, strict=True)
            return [model.answers([question], adapter if weighed else BARE)[0] for question, weighed in pairs]

        told = f"You play a person who says: {' '.join(scene.text for scene in scenes)}"
        ways: dict[str, Answering] = {
            "adapter": lambda asked: model.answers(asked, adapter),
            "adapter where recall names it": routed,
            "no adapter": model.answers,
            "the scenes in the prompt": lambda asked: model.answers(asked, told=told),
        }
        for way, answers in ways.items():
            plan.progress(way)
            yield from _said(plan, way, scenes, answers)


def _said(
    plan: ExperimentPlan, way: str, scenes: Sequence[_Scene], answers: Answering
) -> Iterator[Figure | CurvePoint]:
    """What is said to questions for each scene; that of the adapter itself is held against the bars."""
    count, judged = len(scenes), way == "adapter"
    for name, asked, bar in (
        ("asked as taught", [scene.taught for scene in scenes], 0.6 if plan.quick else 0.95),
        ("asked in other words", [scene.unseen for scene in scenes], 0.6 if plan.quick else 0.80),
    ):
        pairs = zip(scenes, answers(asked), strict=True)
        share = sum(scene.value.lower() in said.lower() for scene, said in pairs) / count
        yield Figure(name=f"{way}: {name}", value=share, unit=f"of {count}", bar=bar if judged else None, more=True)
        yield CurvePoint(way, name, share)
    for name, asked in (
        ("asked about others", [scene.other for scene in scenes]),
        ("who asks about themselves", [_of_oneself(scene.taught) for scene in scenes]),
    ):
        said = answers(asked)
        leaked = sum(any(scene.value.lower() in one.lower() for scene in scenes) for one in said) / count
        bar = 0.4 if plan.quick else 0.10
        yield Figure(name=f"{way}: {name}, the character's facts said", value=leaked, unit=f"of {count}",
                     bar=bar if judged else None)  # fmt: skip
        yield CurvePoint(way, name, leaked)


def _of_oneself(question: str) -> str:
    """The same, asked by somebody about themselves: it is not the character who is meant."""
    swapped = {"do you": "do I", "are you": "am I", "your": "my", "you": "I"}
    return re.sub("|".join(swapped), lambda match: swapped[match[0]], question)
