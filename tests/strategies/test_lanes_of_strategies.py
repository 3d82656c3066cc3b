"""What comes before a strategy's lane: all that it reads, each once, however the journal is cut."""

from __future__ import annotations

import sys
from pathlib import Path
from threading import Event

from mnemic import Kind, Memory, Settings
from mnemic.flow import Flow
from mnemic.strategies.base import Edits, Given, known
from mnemic.strategies.triggers import Buffer, EachEvent, Feedback
from mnemic.strategies.units import TurnUnit
from mnemic.testing.generators import ManualClock

sys.path.insert(0, str(Path(__file__).parent))
from scripted import INSIGHTS, Scripted, insight, opened


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


def slices(memory: Memory, lane: str) -> list[int]:
    """Run everything that waits; how much each slice of a lane did."""
    did: list[tuple[str, int]] = []
    assert memory._opened.background.drain(lambda name, done: did.append((name, done)))
    return [done for name, done in did if name == lane]


def test_versions_that_a_strategy_does_not_read_or_wrote_itself_take_no_run() -> None:
    def each(given: Given) -> Flow[Edits]:
        yield from ()
        return Edits(write=tuple(insight(turn, turn.text.upper()) for turn in given.evidence))

    strategy, reader = Scripted(each), Scripted(name="reader")
    strategy.reads = frozenset({Kind.TURN, Kind.INSIGHT})
    memory, me = opened(strategy, reader)
    with memory:
        for n in range(64):
            me.write(f"fact {n}", kind="fact")
            me.observe(f"turn {n}")
        done = slices(memory, "scripted")
        assert (len(strategy.seen), len(done) <= 9, sum(done[:8])) == (8, True, 64)
        assert len(slices(memory, "reader")) == 0
        assert len(reader.seen) == 8
        for n in range(130):
            me.write(f"another fact {n}", kind="fact")
        assert len(slices(memory, "reader")) == 1
        assert {lane.pending for lane in memory.admin.behind()} == {0}


def test_triggers_count_what_the_strategy_reads() -> None:
    strategy = Scripted()
    strategy.triggers = (Buffer(count=3),)
    memory, me = opened(strategy)
    with memory:
        for n in range(5):
            me.write(f"fact {n}", kind="fact")
        me.observe(["one", "two"])
        work(memory)
        assert strategy.seen == []
        me.observe("three")
        work(memory)
        assert strategy.seen == [["one", "two", "three"]]


def test_feedback_wakes_a_strategy_that_waits_for_it_once() -> None:
    strategy = Scripted()
    strategy.triggers = (Feedback(every=2), Buffer(count=100))
    memory, me = opened(strategy)
    with memory:
        first, second = me.observe(["one", "two"]).ids
        memory.scope(user="bob").observe("another's")
        work(memory)
        me.feedback(first, useful=True)
        for _ in range(3):
            memory.scope(user="bob").feedback(memory.scope(user="bob").list()[0].item.id, useful=True)
        work(memory)
        assert strategy.seen == [["another's"]]
        me.feedback(second, useful=False)
        work(memory)
        assert strategy.seen == [["another's"], ["one", "two"]]
        me.observe("three")
        work(memory)
        assert len(strategy.seen) == 2
        me.feedback(first, second, useful=True)
        work(memory)
        assert strategy.seen[2:] == [["three"]]


def test_feedback_that_comes_before_the_next_turn_counts_for_it() -> None:
    strategy = Scripted()
    strategy.triggers = (Feedback(), Buffer(count=2))
    memory, me = opened(strategy)
    with memory:
        first, _ = me.observe(["one", "two"]).ids
        work(memory)
        me.feedback(first, useful=True)
        work(memory)
        assert strategy.seen == [["one", "two"]]
        me.observe("three")
        work(memory)
        assert strategy.seen[1:] == [["three"]]


def test_what_cannot_be_digested_is_put_aside_among_what_is_not_read() -> None:
    def chokes(given: Given) -> Flow[Edits]:
        yield from ()
        if any(turn.text == "poison" for turn in given.evidence):
            raise ValueError("it chokes")
        return Edits()

    clock = ManualClock()
    strategy = Scripted(chokes)
    with Memory("memory:", settings=Settings(background=False), clock=clock, embedder="none",
                strategies=[strategy]) as memory:  # type: ignore[list-item]  # fmt: skip
        me = memory.scope(user="ada")
        for text in ("one", "two", "poison", "four"):
            me.write(f"a fact beside {text}", kind="fact")
            me.observe(text)
        for _ in range(12):
            work(memory)
            clock.tick(120_000_000)
        (letter,) = memory.admin.dead()
        assert letter.item is not None
        assert me.get(letter.item).item.text == "poison"
        assert strategy.seen[-1] == ["four"]


def test_upkeep_waits_until_what_was_written_is_digested() -> None:
    """One flush cuts a talk into units; upkeep that came after the first would see a part of what is derived."""

    def noted(given: Given) -> Flow[Edits]:
        yield from ()
        return Edits(write=tuple(insight(item, item.text) for item in given.evidence))

    def counted(given: Given) -> Flow[Edits]:
        insights = yield from known(INSIGHTS)
        seen.append(len(insights))
        return Edits()

    seen: list[int] = []
    strategy = Scripted(noted, counted)
    strategy.maintain, strategy.unit = (EachEvent(),), TurnUnit()
    memory, me = opened(strategy)
    with memory:
        me.observe(["one", "two", "three"])
        assert memory.flush()
        assert seen == [3]


def test_what_is_left_falls_while_a_strategy_works() -> None:
    def many(given: Given) -> Flow[Edits]:
        yield from ()
        return Edits(
            write=tuple(insight(turn, f"{turn.text} {n}", key=str(n)) for turn in given.evidence for n in "ab")
        )

    strategy, left = Scripted(many), []
    strategy.batch = 2
    memory, me = opened(strategy)
    with memory:
        me.write("a fact", kind="fact")
        me.observe([f"turn {n}" for n in range(6)])

        def look() -> int:
            (lane,) = memory.admin.behind()
            assert [job.pending for job in memory.admin.jobs()] in ([lane.pending], [])
            return lane.pending

        assert look() == 6
        assert memory.flush(progress=lambda lane, done: left.append(look()))
        assert left[:3] == [4, 2, 0]
        assert set(left[3:]) <= {0}
