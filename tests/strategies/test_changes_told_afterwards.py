"""Of a change that is told after the fact, the strategies that keep facts come to one present."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from itertools import permutations

import pytest

from mnemic import Filter, Kind, Memory, ScopedMemory, Settings, State
from mnemic.core.items import ENDED
from mnemic.strategies.base import Strategy
from mnemic.strategies.house import House
from mnemic.strategies.mem0 import Mem0
from mnemic.strategies.units import TurnUnit
from mnemic.strategies.zep import Zep
from mnemic.testing.generators import ManualClock

SAID = datetime(2026, 3, 10, 12, tzinfo=UTC)
FACTS = Filter(kinds=(Kind.FACT, Kind.PROFILE))
EVER = Filter(kinds=(Kind.FACT,), states=(State.ACTIVE, State.SUPERSEDED))
STRATEGIES: list[Strategy] = [House(), Mem0(unit=TurnUnit()), Zep()]
CHANGES = [
    (("I live in Paris.", "I moved to Lisbon last week."), "Lisbon"),
    (("I live in Paris.", "I moved to Lisbon last week.", "I moved to Porto yesterday."), "Porto"),
    (("I live in Paris.", "I moved from Paris to Lisbon last week. I moved to Porto yesterday."), "Porto"),
    (("I live in Paris.", "I moved to Lisbon last week.", "I live in Porto."), "Porto"),
    (("I live in Paris.", "I used to live in Rome."), "Paris"),
    (("I live in Paris.", "I lived in Rome until 2020."), "Paris"),
    (("I live in Paris.", "In 2019 I lived in Rome."), "Paris"),
    (("I have lived in Paris since 2020.", "I moved to Lisbon last week."), "Lisbon"),
    (("我住在巴黎。", "我上周搬到里斯本了。"), "里斯本"),
    (("我住在巴黎。", "我以前住在罗马。"), "巴黎"),
    (("我住在巴黎。", "2019年我住在罗马。"), "巴黎"),
]


@contextmanager
def told(strategy: Strategy, turns: Iterable[tuple[int, str]]) -> Iterator[ScopedMemory]:
    """A memory that was told turns, each so many days after the first was said."""
    with Memory(
        "memory:", settings=Settings(background=False), clock=ManualClock(step=1), embedder="none",
        strategies=[strategy],
    ) as memory:  # fmt: skip
        me = memory.scope(user="ada")
        for day, text in turns:
            me.observe(text, role="user", speaker="Ada", said=SAID + timedelta(days=day))
            assert memory.flush()
        yield me


def present(strategy: Strategy, turns: Iterable[tuple[int, str]]) -> set[str]:
    """Where Ada lives."""
    with told(strategy, turns) as me:
        slots = [one.item.slots for one in me.list(where=FACTS) if one.item.slots.get(ENDED) is not True]
    filled = [one for one in slots if "city" in (one.get("slot"), one.get("relation"))]
    return {str(one.get("value") or one.get("object")) for one in filled}


@pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda one: one.name)
@pytest.mark.parametrize(("turns", "city"), CHANGES, ids=lambda one: one if isinstance(one, str) else None)
def test_where_somebody_lives_after_a_change_that_is_told(
    strategy: Strategy, turns: tuple[str, ...], city: str
) -> None:
    assert present(strategy, enumerate(turns)) == {city}


@pytest.mark.parametrize(("turns", "city"), CHANGES[:1] + CHANGES[3:5])
def test_the_graph_comes_to_it_in_any_order_of_arrival(turns: tuple[str, ...], city: str) -> None:
    for order in permutations(enumerate(turns)):
        assert present(Zep(), order) == {city}, order


def test_what_came_before_ends_at_the_change_and_not_when_it_was_overlooked() -> None:
    turns = (-20, "I moved to Rome last week."), (0, "I live in Paris."), (1, "I moved to Lisbon last week.")
    spans = {"Rome": ("2026-02-09", "2026-03-02"), "Paris": ("", "2026-03-02"), "Lisbon": ("2026-03-02", "")}
    for order in permutations(turns):
        with told(Zep(), order) as me:
            items = [one.item for one in me.list(where=EVER)]
            ends = {str(one.slots["object"]): (one.valid_from, one.valid_to) for one in items}
            assert {city: tuple(f"{end:%F}" if end else "" for end in span) for city, span in ends.items()} == spans
