"""Made-up users whose facts are learnt, and a text that nobody has learnt, for whatever measures adapters."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

from mnemic.neural.fact_wordings import CHARACTER, USER, WORDINGS, fact_of, turned
from mnemic.neural.lora_memory import TaughtFact

_FIXTURES: Final = Path(__file__).parent.parent.parent / "fixtures"

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


class Persona:
    """A made-up user: what is to be learnt of them, and how they and others are asked for it.

    Args:
        count: How many of their facts.
        preset: `CHARACTER` where the model speaks as this person.
    """

    def __init__(self, name: str, count: int, preset: str = USER) -> None:
        self.name, self._preset = name, preset
        self.values: dict[str, str] = dict(list(_fixture()["personas"][name].items())[:count])

    def facts(self) -> list[TaughtFact]:
        """What is to be learnt."""
        made = [
            fact_of(f"{self.name}.{slot}", slot, value, (f"{self.name}.{slot}",), preset=self._preset)
            for slot, value in self.values.items()
        ]
        return [fact for fact in made if fact is not None]

    def statements(self) -> str:
        """The same, told in the prompt."""
        return " ".join(WORDINGS[slot].answer.format(value=value) for slot, value in self.values.items())

    def taught(self) -> list[Asked]:
        """A question for each slot, of those that were taught."""
        return [(slot, self._put(WORDINGS[slot].questions[n % 4])) for n, slot in enumerate(self.values)]

    def unseen(self) -> list[Asked]:
        """Questions that nobody has taught."""
        return [(slot, self._put(question)) for slot in self.values for question in _fixture()["unseen"][slot]]

    def of_others(self) -> list[Asked]:
        """Questions about people of whom nothing is known, in words and of names that nobody has taught."""
        names, forms = _fixture()["strangers"], _fixture()["others"]
        return [(slot, forms[slot].format(name=names[n % len(names)])) for n, slot in enumerate(self.values)]

    def share(self, asked: Sequence[Asked], answers: Sequence[str]) -> float:
        """Share of answers that hold the value of their slot."""
        right = [self.values[slot].lower() in answer.lower() for (slot, _), answer in zip(asked, answers, strict=True)]
        return sum(right) / len(right)

    def leaked(self, answers: Sequence[str]) -> float:
        """Share of answers that hold any value of theirs, whichever was asked for."""
        said = [any(value.lower() in answer.lower() for value in self.values.values()) for answer in answers]
        return sum(said) / len(said)

    def _put(self, question: str) -> str:
        return turned(question) if self._preset == CHARACTER else question


def persona_names() -> list[str]:
    """All of them."""
    return list(_fixture()["personas"])
