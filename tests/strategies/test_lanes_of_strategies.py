"""What comes before a strategy's lane: all that it reads, each once, however the journal is cut."""

from __future__ import annotations

import sys
from pathlib import Path
from threading import Event

from mnemic import Memory
from mnemic.flow import Flow
from mnemic.strategies.base import Edits, Given
from mnemic.strategies.triggers import Buffer, EachEvent

sys.path.insert(0, str(Path(__file__).parent))
from scripted import Scripted, insight, opened


def work(memory: Memory) -> None:
    """Be a worker until nothing is left that triggers fire for."""
    memory._opened.background.serve(Event(), once=True)


def first_of_all(given: Given) -> Flow[Edits]:
    yield from ()
    turns = tuple(item.id for item in given.evidence)
    return Edits(write=(insight(given.evidence[0], "all", key="all", source=turns),))


def test_what_upkeep_has_cited_is_still_given_to_on_write() -> None:
    strategy = Scripted(on_maintain=first_of_all)
    strategy.triggers, strategy.maintain = (Buffer(count=50),), (EachEvent(),)
    memory, me = opened(strategy)
    with memory:
        texts = [f"turn {n}" for n in range(6)]
        me.observe(texts)
        work(memory)
        assert strategy.seen == []
        assert memory.flush()
        assert strategy.seen == [texts]


def test_what_on_write_has_cited_is_not_given_again_once_it_is_pinned() -> None:
    strategy = Scripted(first_of_all)
    memory, me = opened(strategy)
    with memory:
        (turn,) = me.observe("one").ids
        assert memory.flush()
        me.pin(turn)
        assert memory.flush()
        assert strategy.seen == [["one"]]
