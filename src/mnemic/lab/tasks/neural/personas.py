"""Made-up users whose facts are learnt, and a text that nobody has learnt, for whatever measures adapters.

A seed draws: another one begins with another user, takes other facts of theirs where not all are taken, and asks in
the next of the wordings and of the next strangers. Seed 0 has everything in the order of the fixture.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

from mnemic.neural.fact_wordings import CHARACTER, USER, WORDINGS, fact_of, turned
from mnemic.neural.lora_memory import TaughtFact

_FIXTURES: Final = Path(__file__).parent.parent.parent / "fixtures"

_READ_SHORT: Final = ("pet", "car")

Asked = tuple[str, str]
"""A slot, and a question for its value."""


@cache
def neutral_text() -> str:
    """A text that nobody has learnt."""
    return (_FIXTURES / "neutral.txt").read_text(encoding="utf-8")


@cache
def _fixture() -> dict[str, Any]:
    file: dict[str, Any] = json.loads((_FIXTURES / "personas.json").read_text(encoding="utf-8"))
    return file


def others_wordings(slot: str) -> tuple[str, ...]:
    """How a slot is asked of somebody else, with `{name}`, in words that nobody rehearses."""
    return tuple(_fixture()["others"][slot])


def people_asked_about() -> tuple[str, ...]:
    """People of whom nothing is known, and of whom nobody rehearses a question."""
    return tuple(_fixture()["strangers"])


class Persona:
    """A made-up user: what is to be learnt of them, and how they and others are asked for it.

    Args:
        count: How many of their facts.
        preset: `CHARACTER` where the model speaks as this person.
        seed: Draws which facts, and which wordings and strangers.
        slots: Of these only, in their order; none means all.
    """

    def __init__(self, name: str, count: int, preset: str = USER, seed: int = 0, slots: Sequence[str] = ()) -> None:
        self.name, self._preset, self._seed = name, preset, seed
        known: dict[str, str] = _fixture()["personas"][name]
        every = [(slot, known[slot]) for slot in slots or known]
        self.values: dict[str, str] = dict(_turned_by(every, seed * count)[:count])

    def facts(self) -> list[TaughtFact]:
        """What is to be learnt."""
        made = [
            fact_of(f"{self.name}.{slot}", slot, value, (f"{self.name}.{slot}",), preset=self._preset)
            for slot, value in self.values.items()
        ]
        return [fact for fact in made if fact is not None]

    def said(self) -> dict[str, str]:
        """What this person says of themselves, a plain sentence each, by the id of its fact."""
        forms = _fixture()["said"]
        return {f"{self.name}.{slot}": forms[slot].format(value=value) for slot, value in self.values.items()}

    def facts_prompt(self) -> str:
        """The same, told of this person in the prompt, a line each: the form that a small model reads best."""
        forms = _fixture()["told_of"]
        return "\n".join(
            ("Facts about the user:", *(f"- {forms[slot].format(value=value)}" for slot, value in self.values.items()))
        )

    def taught(self) -> list[Asked]:
        """A question for each slot, of those that were taught."""
        return [(slot, self._put(WORDINGS[slot].questions[(n + self._seed) % 4])) for n, slot in enumerate(self.values)]

    def unseen(self) -> list[Asked]:
        """Questions that nobody has taught."""
        return [(slot, self._put(question)) for slot, question in self._unseen()]

    def of_oneself(self) -> list[Asked]:
        """What somebody else asks of themselves where the model is this person, in words that nobody has rehearsed."""
        return self._unseen()

    def of_others(self, names: Sequence[str] | None = None) -> list[Asked]:
        """Questions about people of whom nothing is known, in words and of names that nobody rehearses.

        Args:
            names: Of these instead.
        """
        names = people_asked_about() if names is None else names
        asked = [(slot, form) for slot in self.values for form in others_wordings(slot)]
        return [(slot, form.format(name=names[(n + self._seed) % len(names)])) for n, (slot, form) in enumerate(asked)]

    def share(self, asked: Sequence[Asked], answers: Sequence[str]) -> float:
        """Share of answers that hold the value of their slot."""
        right = [_says(answer, self._word(slot)) for (slot, _), answer in zip(asked, answers, strict=True)]
        return sum(right) / len(right)

    def leaked(self, answers: Sequence[str]) -> float:
        """Share of answers that hold any value of theirs, whichever was asked for."""
        said = [any(_says(answer, self._word(slot)) for slot in self.values) for answer in answers]
        return sum(said) / len(said)

    def _unseen(self) -> list[Asked]:
        return [(slot, question) for slot in self.values for question in _fixture()["unseen"][slot]]

    def _word(self, slot: str) -> str:
        """What an answer must hold: of a character's pet or car the last word, for the job reads "Biscuit (parrot)"."""
        value = self.values[slot]
        return value.split()[-1] if self._preset == CHARACTER and slot in _READ_SHORT else value

    def _put(self, question: str) -> str:
        return turned(question) if self._preset == CHARACTER else question


def persona_names(seed: int = 0) -> list[str]:
    """All of them, another one first for another seed."""
    return _turned_by(list(_fixture()["personas"]), seed)


def _says(answer: str, value: str) -> bool:
    """Whether an answer holds a value as words of its own: Twi is in no twin."""
    return re.search(rf"(?<!\w){re.escape(value)}(?!\w)", answer, re.IGNORECASE) is not None


def _turned_by(given: Sequence[Any], count: int) -> list[Any]:
    """The same, begun so many later."""
    at = count % len(given)
    return [*given[at:], *given[:at]]
