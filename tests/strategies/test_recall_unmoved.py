"""What strategies keep for themselves moves nobody else's recall."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from mnemic import Memory, Settings
from mnemic.demo import conversation, questions
from mnemic.lab.kit.scripted_readers import terse
from mnemic.strategies.base import Strategy
from mnemic.strategies.hippo2 import Hippo2
from mnemic.strategies.mem0 import Mem0
from mnemic.strategies.memoryos import MemoryOS
from mnemic.strategies.stream import Stream
from mnemic.strategies.zep import Zep
from mnemic.testing.generators import ManualClock

sys.path.insert(0, str(Path(__file__).parent))
from told_chat import ToldChat


def recalled(*strategies: Strategy) -> list[list[str]]:
    """The texts that each question about the bundled conversation brings."""
    memory = Memory(
        "memory:", settings=Settings(background=False), clock=ManualClock(step=1), embedder="none",
        strategies=["house", *strategies], model=ToldChat(terse),
    )  # fmt: skip
    with memory:
        me = memory.scope(user="ada")
        me.observe(conversation())
        assert memory.flush()
        return [[one.item.text for one in me.recall(question.text, k=10)] for question in questions()]


@pytest.fixture(scope="module")
def by_the_house() -> list[list[str]]:
    return recalled()


@pytest.mark.parametrize("strategy", [Mem0(), Stream(threshold=3.0), Hippo2(), Zep(), MemoryOS()])
def test_the_recall_of_the_house_is_the_same_with_a_strategy_beside_it(
    strategy: Strategy, by_the_house: list[list[str]]
) -> None:
    assert recalled(strategy) == by_the_house
