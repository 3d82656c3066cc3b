"""What holds now comes first, and what held before in its time: hand-written cases of facts that change.

The extractor is perfect: a fact for each turn that bears on a question, filed by its matter, and a judge who knows
which of them exclude each other. Questions name the matter as the extractor does, so that it is the history of facts
that is measured, and not how well words find them.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from mnemic.lab.tasks.current.current_cases import CurrentCase, CurrentQuestion, Half, read_cases

sys.path.insert(0, str(Path(__file__).parent))
from graph_world import GraphModel, Told, graph_memory

SINCE = {"en-rep1-08": {2: "2021"}, "zh-rep1-08": {2: "2021"}}
"""When something began that a turn tells of the past, where a question turns on it."""


@dataclass
class KnowingModel(GraphModel):
    """Knows of each fact which turn of the case it is, and which turns exclude each other."""

    places: Mapping[str, int] = field(default_factory=dict)
    over: frozenset[tuple[int, int]] = frozenset()

    def _match(self, new: int, facts: Mapping[int, Told]) -> dict[str, object]:
        one = facts[new]
        others = {n: other for n, other in facts.items() if n != new and other.predicate == one.predicate}
        pairs = {n: (self.places[one.fact], self.places[other.fact]) for n, other in others.items()}
        over = [n for n, pair in pairs.items() if pair in self.over]
        same = [n for n, other in others.items() if n not in over and other.object == one.object]
        return {"new": new, "same_as": same, "contradicts": over}


def knowing(case: CurrentCase) -> tuple[KnowingModel, dict[int, str]]:
    """The model of a case, and the matter of each turn that a question is about."""
    matters: list[set[int]] = []
    for question in case.questions:
        bearing = {*question.current, *question.outdated}
        bearing |= {place for matter in matters if matter & bearing for place in matter}
        matters = [matter for matter in matters if not matter & bearing] + [bearing]
    named = {place: f"matter{n}" for n, matter in enumerate(matters) for place in matter}
    values = {place: _value(case, place) for place in named}
    told = {
        case.turns[place].text: Told(
            "somebody",
            matter,
            values[place],
            f"{matter}: {case.turns[place].text}",
            SINCE.get(case.id, {}).get(place, ""),
        )
        for place, matter in named.items()
    }
    pairs = {(a, b) for question in case.questions for a in question.current for b in question.outdated}
    changes = {named[a] for a, _ in pairs}
    pairs |= {(a, b) for a in named for b in named if named[a] == named[b] in changes and values[a] != values[b]}
    places = {told[case.turns[place].text].fact: place for place in named}
    over = frozenset((*pairs, *((b, a) for a, b in pairs)))
    return KnowingModel({text: [one] for text, one in told.items()}, places=places, over=over), named


def _value(case: CurrentCase, place: int) -> str:
    """The value that a turn states, as a question names it."""
    text = case.turns[place].text.casefold()
    named = (v for q in case.questions for v in (*q.answers, *q.wrong) if v.casefold() in text)
    return next(named, f"value {place}")


def moment(case: CurrentCase, places: tuple[int, ...]) -> datetime:
    return max(said for place in places if (said := case.turns[place].said) is not None)


def is_about_now(case: CurrentCase, question: CurrentQuestion) -> bool:
    """Whether a question asks for what holds last: not one that says in words which year it means."""
    if not question.outdated or (case.id in SINCE and not question.of_the_past):
        return not set(question.current) & SINCE.get(case.id, {}).keys()
    return moment(case, question.current) >= moment(case, question.outdated)


def test_the_current_value_comes_first_and_the_old_one_in_its_time() -> None:
    right = {"now": [0, 0], "past": [0, 0]}
    for case in read_cases(Half.DEVELOPMENT)[::2]:
        model, named = knowing(case)
        with graph_memory(model) as (memory, me):
            turns = {}
            for place, turn in enumerate(case.turns):
                (id,) = me.observe(turn.text, role=turn.role, speaker=turn.speaker, said=turn.said).ids
                turns[id] = place
            assert memory.flush()
            for question in (q for q in case.questions if q.current and (q.of_the_past or is_about_now(case, q))):
                handle = me if question.as_of is None else me.as_of(question.as_of)
                handle = handle if question.valid_at is None else handle.valid_at(question.valid_at)
                found = handle.recall(f"{named[question.current[0]]} {question.text}", by="zep")
                first = {turns[id] for id in found[0].item.source if id in turns} if len(found) else set()
                counted = right["past" if question.of_the_past else "now"]
                counted[0] += bool(first & set(question.current)) and not first & set(question.outdated)
                counted[1] += 1
    assert right["now"][0] >= 0.95 * right["now"][1] > 80
    assert right["past"][0] >= 0.95 * right["past"][1] > 10
