"""What was made of several pieces of evidence is made again of those that stay, once one of them is erased."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

from mnemic import Memory, ScopedMemory
from mnemic.flow import Flow
from mnemic.strategies.base import Edits, Given
from mnemic.strategies.triggers import EachEvent

sys.path.insert(0, str(Path(__file__).parent))
from scripted import INSIGHTS, Scripted, insight, opened


def merged(given: Given) -> Flow[Edits]:
    """Write one insight that quotes all the evidence of the run."""
    yield from ()
    first, *_ = given.evidence
    text = " and ".join(turn.text for turn in given.evidence)
    return Edits(write=(insight(first, text, source=tuple(turn.id for turn in given.evidence)),))


def insights(me: ScopedMemory) -> list[str]:
    return sorted(one.item.text for one in me.list(where=INSIGHTS))


def erased(memory: Memory, me: ScopedMemory, place: int) -> list[str]:
    """Write three turns, erase one of them; what stands at once, and once all is done."""
    ids = me.observe(["one", "two", "three"]).ids
    assert memory.flush()
    assert insights(me) == ["one and two and three"]
    me.erase(ids[place])
    at_once = insights(me)
    assert memory.flush()
    assert memory.admin.verify() == []
    return at_once + insights(me)


def test_of_what_stays_it_is_derived_again_together() -> None:
    for place, text in enumerate(("two and three", "one and three", "one and two")):
        strategy = Scripted(merged)
        memory, me = opened(strategy)
        with memory:
            assert erased(memory, me, place) == [text]
            assert len(strategy.seen) == 2
            assert memory.flush()
            assert len(strategy.seen) == 2


def test_what_upkeep_made_upkeep_makes_again() -> None:
    strategy = Scripted(on_maintain=merged)
    strategy.maintain = (EachEvent(),)
    memory, me = opened(strategy)
    with memory:
        assert erased(memory, me, 1) == ["one and three"]
        assert len(strategy.seen) == 1


def test_of_what_was_judged_beside_others_its_own_sources_are_digested_again_in_one_run() -> None:
    def beside(given: Given) -> Flow[Edits]:
        yield from ()
        shown = tuple(turn.id for turn in given.evidence)
        ours = given.evidence[:2]
        return Edits(write=tuple(replace(insight(turn, turn.text), context=shown) for turn in ours))

    strategy = Scripted(beside)
    memory, me = opened(strategy)
    with memory:
        ids = me.observe(["one", "two", "three"]).ids
        assert memory.flush()
        me.erase(ids[2])
        assert insights(me) == []
        assert memory.flush()
        assert insights(me) == ["one", "two"]
        assert strategy.seen == [["one", "two", "three"], ["one", "two"]]
        assert memory.admin.verify() == []


def test_what_its_owner_hid_is_not_made_again_and_nothing_is_made_of_nothing() -> None:
    memory, me = opened(Scripted(merged))
    with memory:
        ids = me.observe(["one", "two"]).ids
        assert memory.flush()
        me.forget(me.list(where=INSIGHTS)[0].item.id)
        me.erase(ids[0])
        assert memory.flush()
        assert insights(me) == []
        (alone,) = me.observe("three").ids
        assert memory.flush()
        me.erase(alone)
        assert memory.flush()
        assert insights(me) == []
        assert list(memory.admin.dead()) == []


def test_a_segment_of_a_session_is_nobodys_to_make_again() -> None:
    memory, me = opened("house")
    with memory:
        ids = me.observe(["Always answer in French.", "I live in Lisbon."], role="user").ids
        me.write("a segment", kind="summary", source=ids, slots={"by": "rules"})
        assert memory.flush()
        me.erase(ids[1])
        assert list(memory.admin.jobs()) == []


def test_whoever_does_not_follow_the_strategy_leaves_it_to_who_does(tmp_path: Path) -> None:
    for strategies, wanted in (([Scripted(merged)], ["one and two"]), ([], []), ([Scripted(merged)], ["two"])):
        with Memory(tmp_path / "m.db", embedder="none", strategies=strategies) as memory:  # type: ignore[arg-type]
            me = memory.scope(user="ada")
            if wanted == ["one and two"]:
                me.observe(["one", "two"])
            elif not strategies:
                me.erase(next(one.item.id for one in me.list() if one.item.text == "one"))
            assert memory.flush()
            assert insights(me) == wanted
