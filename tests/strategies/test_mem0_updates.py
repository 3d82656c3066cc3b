"""Of facts that change `mem0` recalls the current one first, and the old one as of then, if its reader reads well."""

from __future__ import annotations

import sys
from datetime import timedelta
from itertools import pairwise
from pathlib import Path

import pytest

from mnemic import Memory, ScopedMemory, Settings
from mnemic.lab.tasks.current.current_cases import CurrentCase, Half, read_cases
from mnemic.strategies.mem0 import Mem0
from mnemic.strategies.units import TurnUnit
from mnemic.strategies.zep import Zep

sys.path.insert(0, str(Path(__file__).parent))
from perfect_reader import PerfectReader, State, matters, states
from told_chat import ToldChat

CASES = read_cases(Half.DEVELOPMENT)[::4]
"""A quarter of the cases, of every kind and in both languages."""


def first(me: ScopedMemory, question: str) -> str:
    """The fact that a recall by the strategy brings first."""
    return next((one.item.text for one in me.recall(question, k=1, by="mem0")), "")


def read(case: CurrentCase) -> tuple[Memory, ScopedMemory]:
    memory = Memory(
        "memory:", settings=Settings(background=False), embedder="none", model=ToldChat(PerfectReader(case)),
        strategies=[Mem0(unit=TurnUnit())],
    )  # fmt: skip
    me = memory.scope(user="me")
    for turn in case.turns:
        me.observe(turn.text, role=turn.role, speaker=turn.speaker, said=turn.said)
    assert memory.flush()
    return memory, me


@pytest.fixture(scope="module")
def outcomes() -> list[tuple[str, bool, State]]:
    """For each state of each matter, whether it comes first as of when it was current; and now for the current one."""
    found: list[tuple[str, bool, State]] = []
    for case in CASES:
        memory, me = read(case)
        with memory:
            for question in matters(case):
                told = states(case, question)
                current = [one.text for one in told if one.is_current]
                found.append(("now", first(me, question.text) in current, told[-1]))
                for one, after in pairwise(told):
                    said, until = case.turns[one.place].said, case.turns[after.place].said
                    assert said is not None
                    assert until is not None
                    if until - said > timedelta(minutes=1) and not one.is_current:
                        then = me.as_of(until - timedelta(minutes=1))
                        found.append(("then", first(then, question.text) == one.text, one))
    return found


@pytest.mark.parametrize("when", ["now", "then"])
def test_what_held_comes_first(outcomes: list[tuple[str, bool, State]], when: str) -> None:
    right = [is_right for time, is_right, _ in outcomes if time == when]
    wrong = [state.text for time, is_right, state in outcomes if time == when and not is_right]
    assert len(right) > 20
    assert sum(right) >= 0.95 * len(right), wrong


def test_with_rules_alone_it_is_not_below_everybodys_recall() -> None:
    """What comes first is, or rests on, what is current, and on nothing that is outdated: of every sixth case.

    That of `zep`, which ranks by the same rule where there is no model, is asked beside it.
    """
    right = {"mem0": 0, "zep": 0, "everybody": 0}
    asked = 0
    for case in read_cases(Half.DEVELOPMENT)[::6]:
        with Memory(
            "memory:", settings=Settings(background=False), embedder="none", strategies=[Mem0(unit=TurnUnit()), Zep()]
        ) as memory:
            me = memory.scope(user="me")
            places: dict[str, int] = {}
            for place, turn in enumerate(case.turns):
                (id,) = me.observe(turn.text, role=turn.role, speaker=turn.speaker, said=turn.said).ids
                places[id] = place
            assert memory.flush()
            for question in (one for one in case.questions if one.current and not one.of_the_past):
                asked += 1
                for name in right:
                    found = me.recall(question.text, k=1, by=None if name == "everybody" else name)
                    item = found[0].item if len(found) else None
                    rests = {places[one] for one in (() if item is None else (item.id, *item.source)) if one in places}
                    right[name] += bool(rests & set(question.current)) and not rests & set(question.outdated)
    assert asked > 25
    assert min(right["mem0"], right["zep"]) >= right["everybody"] > 0, right
