"""What a strategy is told of items without reading them: how they rank, how near they are, how often they were used."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from mnemic import Filter, Kind
from mnemic.core.items import Strength
from mnemic.flow import Flow
from mnemic.store.engine.snapshot import Snapshot
from mnemic.strategies.base import Bond, Edits, Given
from mnemic.strategies.strategy_requests import fetch, scored, search, spread, strengths, vectors

sys.path.insert(0, str(Path(__file__).parent))
from scripted import Scripted, insight, opened

FACTS = Filter(kinds=(Kind.FACT,))


def test_items_are_ranked_without_being_read(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[list[str]] = []
    read: list[int] = []

    def think(given: Given) -> Flow[Edits]:
        versions = Snapshot._versions
        with monkeypatch.context() as patch:
            patch.setattr(Snapshot, "_versions", lambda *a: read.append(len(a[2])) or versions(*a))
            ranked = yield from scored("Where does Ada live?", FACTS)
        assert [score for _, score in ranked] == sorted((score for _, score in ranked), reverse=True)
        items = yield from fetch(*(id for id, _ in ranked))
        seen.append([items[id].text for id, _ in ranked])
        return Edits()

    memory, me = opened(Scripted(think))
    with memory:
        me.write("Ben has a dog", kind="fact")
        me.write("Ada lives in Porto", kind="fact")
        me.write("Ada lives in Porto", kind="fact")
        me.observe("I moved.")
        assert memory.flush()
    assert seen[0][:2] == ["Ada lives in Porto"] * 2  # what says the same stays in
    assert sum(read) == 0


def test_nothing_behind_the_cut_is_ranked_but_what_the_strategy_wrote() -> None:
    seen: list[list[str]] = []

    def think(given: Given) -> Flow[Edits]:
        ranked = yield from scored("garden")
        items = yield from fetch(*(id for id, _ in ranked))
        assert set(items) == {id for id, _ in ranked}
        seen.append(sorted(item.text for item in items.values()))
        (turn,) = given.evidence
        return Edits(write=(insight(turn, f"saw {turn.text}"),))

    strategy = Scripted(think)
    strategy.batch = 1
    strategy.reads = frozenset({Kind.TURN, Kind.INSIGHT})
    memory, me = opened(strategy)
    with memory:
        me.observe(["a garden", "my garden"])
        assert memory.flush()
    assert seen == [["a garden"], ["a garden", "my garden", "saw a garden"]]


def test_nothing_behind_the_cut_is_reached_along_links_but_what_the_strategy_wrote() -> None:
    seen: list[set[str]] = []

    def think(given: Given) -> Flow[Edits]:
        (turn,) = given.evidence
        reached = yield from spread({turn.id: 1.0})
        items = yield from fetch(*reached)
        assert set(items) == set(reached)
        seen.append({item.text for item in items.values()})
        (first, *_) = items.values()
        return Edits(write=(insight(turn, f"saw {turn.text}"),), tie=(Bond(src=first.id, dst=0, type="of"),))

    strategy = Scripted(think)
    strategy.batch = 1
    memory, me = opened(strategy)
    with memory:
        one, two, three = me.observe(["one", "two", "three"]).ids
        me.link(one, two, "next")
        me.link(two, three, "next")
        assert memory.flush()
    assert seen == [{"one"}, {"one", "two", "saw one"}, {"one", "two", "three", "saw one", "saw two"}]


def test_a_search_tells_how_near_in_meaning_items_are_once_they_have_vectors() -> None:
    seen: list[dict[str, float | None]] = []

    def think(given: Given) -> Flow[Edits]:
        hits = yield from search("a dog called Rex", FACTS)
        seen.append({hit.item.text: hit.cosine for hit in hits})
        made = yield from vectors("a dog called Rex", "Ben has a dog")
        assert len(made) == 2
        assert float(made[0] @ made[1]) == pytest.approx(seen[-1]["Ben has a dog"], abs=1e-3)
        return Edits()

    memory, me = opened(Scripted(think), embedder="scripted:256")
    with memory:
        me.write("a dog called Rex", kind="fact")
        me.write("Ben has a dog", kind="fact")
        assert memory.flush()
        me.observe("hm")
        assert memory.flush()
    assert seen[0]["a dog called Rex"] == pytest.approx(1, abs=1e-3)


def test_without_an_embedder_there_are_no_vectors_and_no_nearness() -> None:
    seen: list[object] = []

    def think(given: Given) -> Flow[Edits]:
        hits = yield from search("dog", FACTS)
        seen.extend(hit.cosine for hit in hits)
        seen.append((yield from vectors("dog", "cat")))
        return Edits()

    memory, me = opened(Scripted(think))
    with memory:
        me.write("Ben has a dog", kind="fact")
        me.observe("hm")
        assert memory.flush()
    assert seen == [None, []]


def test_how_often_items_were_recalled_is_told_of_those_that_never_were_too() -> None:
    seen: list[list[Strength]] = []

    def think(given: Given) -> Flow[Edits]:
        hits = yield from search("dog cat", FACTS)
        counted = yield from strengths(*(hit.item.id for hit in hits))
        seen.append(sorted(counted.values(), key=lambda one: one.uses))
        return Edits()

    memory, me = opened(Scripted(think))
    with memory:
        dog = me.write("Ben has a dog", kind="fact").ids[0]
        me.write("Cleo has a cat", kind="fact")
        me.recall("dog", k=1)
        me.feedback(dog, useful=True)
        memory._opened.uses.flush()  # else it is written once a second
        me.observe("hm")
        assert memory.flush()
    (never, often) = seen[-1]
    assert never == Strength()
    assert (often.uses, often.useful) == (1, 1)
