"""A model that reads cases of facts that change perfectly: it knows what each turn says about what will be asked."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mnemic.lab.kit.scripted_readers import shown
from mnemic.lab.tasks.current.current_cases import CurrentCase, CurrentQuestion
from mnemic.lab.tasks.current.grading import names
from mnemic.models.chat.base import Ask

sys.path.insert(0, str(Path(__file__).parent))
from told_chat import decided, extracted


@dataclass(frozen=True)
class State:
    """What one turn of a case says about a matter, as a fact that stands for itself."""

    question: CurrentQuestion
    place: int
    text: str

    @property
    def is_current(self) -> bool:
        return self.place in self.question.current


def matters(case: CurrentCase) -> list[CurrentQuestion]:
    """The questions of a case about the present."""
    present = [one for one in case.questions if not one.of_the_past and one.current]
    return [one for one in present if max(one.current) > max(one.outdated, default=-1)]


def states(case: CurrentCase, question: CurrentQuestion) -> list[State]:
    """What the turns say about a matter, in the order in which they were said."""
    places = sorted({*question.current, *question.outdated}, key=lambda place: (case.turns[place].said, place))
    told: list[State] = []
    for place in places:
        one = State(question, place, _statement(case, question, place))
        if told and told[-1].text == one.text and told[-1].is_current != one.is_current:
            one = State(question, place, _statement(case, question, place, in_full=True))
        told.append(one)
    return told


def _statement(case: CurrentCase, question: CurrentQuestion, place: int, *, in_full: bool = False) -> str:
    """The question, and the value that the turn names; the turn's words where it names none, or is asked yes or no."""
    text = case.turns[place].text
    values = question.answers if place in question.current else question.wrong
    value = next((one for one in values if names(text, one) and not in_full), text)
    return f"{question.text} {value}"[:400]


class PerfectReader:
    """Answers the two tasks of `mem0` about one case: of one matter only what is current stands side by side."""

    def __init__(self, case: CurrentCase) -> None:
        self.says: dict[str, list[str]] = {}
        self.contradicts: dict[str, set[str]] = {}
        for question in matters(case):
            told = states(case, question)
            for one in told:
                facts = self.says.setdefault(case.turns[one.place].text, [])
                facts += [one.text] if one.text not in facts else []
                others = (other for other in told if not (one.is_current and other.is_current))
                self.contradicts.setdefault(one.text, set()).update(other.text for other in others)

    def __call__(self, ask: Ask) -> dict[str, Any]:
        if ask.task == "extract_items":
            return extracted(self.says, ask)
        old = shown(ask, "Old facts")
        ops = {
            new: ("delete", over)
            for new in shown(ask, "New facts")
            for over in old
            if over != new and over in self.contradicts.get(new, ())
        }
        return decided(ops, ask)
