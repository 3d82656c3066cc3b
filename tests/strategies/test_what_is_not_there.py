"""What happens without the house's rules, and without a language model."""

from __future__ import annotations

import sys
from pathlib import Path
from threading import Event

from mnemic import Filter, Kind, Memory, Settings
from mnemic.errors import NoModel
from mnemic.flow import Flow
from mnemic.models.chat.base import ChatMessage
from mnemic.models.model_requests import ask
from mnemic.strategies.base import Budget, Edits, Given
from mnemic.testing.generators import ManualClock

sys.path.insert(0, str(Path(__file__).parent))
from noting import Noting
from scripted import INSIGHTS, Scripted, insight, opened


def test_rules_that_are_not_followed_are_not_read_ahead() -> None:
    memory, me = opened()
    with memory:
        me.observe("From now on, answer in French. I live in Lisbon.", role="user")
        context = me.context("Where do I live?")
        assert "<memory-always" not in context.text
        me.context("")
        assert memory.flush()
        assert me.list(where=Filter(kinds=(Kind.PROFILE, Kind.PROCEDURE))) == []
    memory, me = opened("house")
    with memory:
        me.observe("From now on, answer in French.", role="user")
        assert "<memory-always" in me.context("").text


def test_without_a_model_a_strategy_that_needs_one_waits_and_keeps_nobody_else_from_being_done() -> None:
    clock = ManualClock()
    with Memory("memory:", settings=Settings(background=False), clock=clock, embedder="none",
                strategies=["house", Noting()]) as memory:  # fmt: skip
        me = memory.scope(user="ada")
        me.observe(["I live in Lisbon.", "hm"], role="user")
        assert not memory.flush()
        assert [one.item.text for one in me.list(where=Filter(kinds=(Kind.PROFILE,)))] != []
        (lane,) = (job for job in memory.admin.jobs() if job.name == "noting")
        assert "`model` names none" in lane.error
        memory._opened.background.serve(Event(), once=True)
        clock.tick(3_600_000_000)
        assert not memory.flush()
        assert list(memory.admin.dead()) == []


def test_without_a_model_a_strategy_may_go_by_rules() -> None:
    def think(given: Given) -> Flow[Edits]:
        turn = given.evidence[0]
        try:
            text = (yield from ask([ChatMessage("user", turn.text)])) + ""
        except NoModel:
            text = "by rules"
        return Edits(write=(insight(turn, text),))

    strategy = Scripted(think)
    strategy.budget = Budget(calls=1)
    memory, me = opened(strategy)
    with memory:
        me.observe("one")
        assert memory.flush()
        assert [one.item.text for one in me.list(where=INSIGHTS)] == ["by rules"]
