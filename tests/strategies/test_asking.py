"""What a strategy asks of its memory: it is shown what stands there, and may cite, tie and change that."""

from __future__ import annotations

import sys
from pathlib import Path
from threading import Event

from mnemic import Filter, Kind
from mnemic.flow import Flow
from mnemic.strategies.base import Bond, Derivation, Edits, End, Given, Revision, Sight, known
from mnemic.strategies.strategy_requests import SearchHit, fetch, keyed, linked, search

sys.path.insert(0, str(Path(__file__).parent))
from scripted import INSIGHTS, Scripted, insight, opened

FACTS = Filter(kinds=(Kind.FACT,))


def test_a_fact_of_somebody_elses_is_found_by_its_words_cited_tied_and_superseded() -> None:
    seen: list[SearchHit] = []

    def think(given: Given) -> Flow[Edits]:
        turn = given.evidence[0]
        found = yield from search("Where does Ada live?", FACTS)
        seen.extend(found)
        old = found[0].item
        newer = Derivation(
            key=f"scripted:{turn.id}:0",
            kind=Kind.FACT,
            text="Ada lives in Lisbon",
            slots={"by": "scripted"},
            source=(turn.id, old.id),
            said=turn.said,
            supersedes=old.id,
            sight=Sight.ALL,  # what everybody sees is replaced only by what everybody sees
        )
        return Edits(write=(newer,), tie=(Bond(src=turn.id, dst=old.id, type="about"),))

    memory, me = opened(Scripted(think))
    with memory:
        me.write("Ada lives in Porto", kind="fact")
        me.write("Ben has a dog", kind="fact")
        me.observe("I moved.")
        assert memory.flush()
        assert [(one.item.text, one.overlap > 0) for one in seen][:1] == [("Ada lives in Porto", True)]
        assert sorted(one.item.text for one in me.list(where=FACTS)) == ["Ada lives in Lisbon", "Ben has a dog"]
        (newer,) = (one.item for one in me.list(where=FACTS) if one.item.source)
        assert [source in newer.source for source in (seen[0].item.id,)] == [True]
        assert memory.admin.verify() == []


def test_what_is_derived_again_from_an_earlier_turn_is_the_item_that_is_there() -> None:
    def think(given: Given) -> Flow[Edits]:
        earlier = yield from search("Where does Ada live?", Filter(kinds=(Kind.TURN,)))
        first, turn = (earlier[0].item if earlier else given.evidence[0]), given.evidence[0]
        written = yield from keyed(key := f"scripted:{first.id}:0")
        again = insight(first, "Ada lives in Porto", key=key)
        ends = tuple(End(id=item.id, source=(turn.id,), at=turn.said, said=turn.said) for item in written.values())
        return Edits(write=(again,), end=ends)

    memory, me = opened(Scripted(think))
    with memory:
        me.observe("Where Ada lives: Porto.")
        assert memory.flush()
        me.observe("She has moved.")
        assert memory.flush()
        assert me.list(where=INSIGHTS) == []
        assert memory.admin.verify() == []


def test_its_own_it_finds_by_key_by_id_and_along_links() -> None:
    seen: list[object] = []

    def think(given: Given) -> Flow[Edits]:
        turn = given.evidence[0]
        topics = yield from keyed("scripted:topic:0", "scripted:nothing:0")
        if not topics:
            return Edits(
                write=(insight(turn, "1", key="scripted:topic:0"),), tie=(Bond(src=0, dst=turn.id, type="of"),)
            )
        (topic,) = topics.values()
        links = yield from linked(topic.id, types=("of",))
        turns = yield from fetch(*(link.dst for link in links))
        seen.append([item.text for item in turns.values()])
        number = Revision(id=topic.id, text=str(int(topic.text) + 1), source=(turn.id,))
        return Edits(revise=(number,), tie=(Bond(src=topic.id, dst=turn.id, type="of"),))

    memory, me = opened(Scripted(think))
    with memory:
        ids: list[str] = []
        for text in ("one", "two", "three"):
            ids += me.observe(text).ids
            assert memory.flush()
        assert seen == [["one"], ["one", "two"]]
        (topic,) = (one.item for one in me.list(where=INSIGHTS))
        assert (topic.text, topic.source) == ("3", tuple(ids))
        assert memory.admin.verify() == []


def test_a_run_is_not_shown_what_it_will_be_given_later() -> None:
    seen: list[list[str]] = []

    def think(given: Given) -> Flow[Edits]:
        found = yield from search("garden")
        seen.append(sorted(one.item.text for one in found))
        return Edits()

    strategy = Scripted(think)
    strategy.batch = 1
    memory, me = opened(strategy)
    with memory:
        me.observe(["a garden", "my garden", "no garden"])
        assert memory.flush()
        assert seen == [["a garden"], ["a garden", "my garden"], ["a garden", "my garden", "no garden"]]


def test_a_search_that_finds_nothing_says_so() -> None:
    seen: list[object] = []

    def think(given: Given) -> Flow[Edits]:
        seen.append((yield from search("zeppelins", FACTS)))
        return Edits()

    memory, me = opened(Scripted(think))
    with memory:
        me.write("Ben has a dog", kind="fact")
        me.observe("hm")
        assert memory.flush()
        assert seen == [[]]


def test_what_is_behind_a_run_takes_no_place_of_what_is_known_before_it() -> None:
    """Else a run beside a backlog is shown less than the same run live, and makes something else."""
    shown: list[list[str]] = []

    def think(given: Given) -> Flow[Edits]:
        shown.append([item.text for item in (yield from known(Filter(kinds=(Kind.TURN,)), 2))])
        return Edits()

    scripted = Scripted(think)
    scripted.batch = 1
    memory, me = opened(scripted)
    with memory:
        for text in ("one", "two", "three", "four"):
            me.observe(text)
        memory._opened.background.serve(Event(), once=True)
        assert shown == [["one"], ["two", "one"], ["three", "two"], ["four", "three"]]
