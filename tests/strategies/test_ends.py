"""What ends without a successor, what comes late between two others, and links that are taken away."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import permutations
from pathlib import Path

import pytest

from mnemic import Filter, Invalid, Kind, Memory, MnemicError, Receipt, ScopedMemory, State
from mnemic.core.ids import ItemId
from mnemic.core.transitions import SUPERSEDES
from mnemic.flow import Flow
from mnemic.strategies import Bond, Derivation, Edits, End, Given, Revision, Sight, fetch, known, linked
from mnemic.testing.generators import ManualClock

sys.path.insert(0, str(Path(__file__).parent))
from scripted import INSIGHTS, Scripted, insight, opened

JOB, LEFT = "Ada works at Acme.", "Ada left Acme."
EVERY = Filter(kinds=(Kind.INSIGHT,), states=tuple(State))


def year(number: int) -> datetime:
    return datetime(number, 1, 1, tzinfo=UTC)


def ending(given: Given) -> Flow[Edits]:
    """Write down each job, and end those that somebody is said to have left."""
    own = yield from known(INSIGHTS)
    fresh = [turn for turn in given.evidence if turn.text == JOB]
    gone = [turn for turn in given.evidence if turn.text == LEFT]
    ends = (End(id=one.id, at=turn.said, said=turn.said, source=(turn.id,)) for turn in gone for one in own)
    return Edits(write=tuple(insight(turn, "works at Acme") for turn in fresh), end=tuple(ends))


def employed() -> tuple[Memory, ScopedMemory, Receipt, Receipt]:
    """Ada worked at Acme from 2019 to 2022; her two turns."""
    memory, me = opened(Scripted(ending))
    first = me.observe(JOB, said=year(2019))
    assert memory.flush()
    second = me.observe(LEFT, said=year(2022))
    assert memory.flush()
    return memory, me, first, second


def texts(me: ScopedMemory) -> list[str]:
    return [version.item.text for version in me.list(where=INSIGHTS)]


def test_what_ended_is_hidden_now_and_shown_before() -> None:
    memory, me, first, second = employed()
    with memory:
        assert texts(me) == []
        assert texts(me.as_of(year(2021))) == ["works at Acme"]
        assert texts(me.valid_at(year(2021))) == ["works at Acme"]
        assert texts(me.valid_at(year(2023))) == []
        (ended,) = (version.item for version in me.list(where=EVERY))
        assert (ended.state, ended.known_to, ended.valid_to) == (State.SUPERSEDED, year(2022), year(2022))
        assert ended.source == (first.id, second.id)
        assert second.id in {version.item.id for version in me.history(ended.id)}
        assert memory.admin.verify() == []


@pytest.mark.parametrize("what", ["run", "evidence", "erased"])
def test_once_the_end_is_taken_back_it_holds_again(what: str) -> None:
    memory, me, first, second = employed()
    with memory:
        (ended,) = (version.item for version in me.list(where=EVERY))
        match what:
            case "run":
                me.undo(me.log(limit=1)[0].seq)
            case "evidence":
                me.undo(second.seq)
            case _:
                me.erase(second.id)
                assert memory.flush()
        (again,) = (version.item for version in me.list(where=INSIGHTS))
        assert (again.text, again.valid_to, again.known_to) == ("works at Acme", None, None)
        assert first.id in again.source
        assert (what == "erased") == (again.id != ended.id)
        assert memory.admin.verify() == []


def test_a_run_ends_its_own_of_what_it_was_shown_and_cites_what_it_was_shown() -> None:
    def foreign(given: Given) -> Flow[Edits]:
        (fact,) = yield from known(Filter(kinds=(Kind.FACT,)))
        turn = given.evidence[0]
        return Edits(end=(End(id=fact.id, at=turn.said, said=turn.said, source=(turn.id,)),))

    def unshown(given: Given) -> Flow[Edits]:
        yield from ()
        turn = given.evidence[0]
        return Edits(end=(End(id=ItemId("0" * 26), at=turn.said, said=turn.said, source=(turn.id,)),))

    def unfounded(given: Given) -> Flow[Edits]:
        (fact,) = yield from known(Filter(kinds=(Kind.FACT,)))
        return Edits(end=(End(id=fact.id, at=fact.said, said=fact.said, source=()),))

    refused = ((foreign, "is not by scripted"), (unshown, "which was neither"), (unfounded, "cites nothing"))
    for think, told in refused:
        memory, me = opened(Scripted(think))
        with memory:
            me.write("somebody's", kind=Kind.FACT)
            me.observe("one")
            with pytest.raises(Invalid, match=told):
                memory.flush()


CITIES = {2015: "Paris", 2017: "Rome", 2019: "Oslo", 2021: "Lisbon"}


def placing(given: Given) -> Flow[Edits]:
    """Keep one history of cities, whatever comes when: each supersedes the one before; the one after outdates it."""
    made = list((yield from known(EVERY, 1_000)))
    write: list[Derivation] = []
    refs: dict[datetime, ItemId | int] = {item.valid_from or item.said: item.id for item in made}
    for turn in given.evidence:
        began = turn.said
        before, after = [when for when in refs if when < began], [when for when in refs if when > began]
        write.append(
            Derivation(
                key=f"scripted:{turn.id}:0", kind=Kind.INSIGHT, text=turn.text, slots={"by": "scripted"},
                source=(turn.id,), said=turn.said, valid_from=began,
                supersedes=refs[max(before)] if before else None, outdated_by=refs[min(after)] if after else None,
            )
        )  # fmt: skip
        refs[began] = len(write) - 1
    return Edits(write=tuple(write))


def lived(order: Sequence[int], *, at_once: bool = False) -> tuple[Memory, ScopedMemory]:
    memory, me = opened(Scripted(placing))
    for number in order:
        me.observe(CITIES[number], said=year(number))
        assert at_once or memory.flush()
    assert memory.flush()
    return memory, me


def history(me: ScopedMemory) -> list[tuple[str, State, datetime | None, datetime | None, datetime | None]]:
    items = sorted((version.item for version in me.list(where=EVERY)), key=lambda item: item.said)
    return [(item.text, item.state, item.valid_from, item.valid_to, item.known_to) for item in items]


def test_four_values_make_one_history_in_every_order_of_arrival() -> None:
    years = sorted(CITIES)
    ends = [*map(year, years[1:]), None]
    held = [
        (CITIES[number], State.ACTIVE if end is None else State.SUPERSEDED, year(number), end, end)
        for number, end in zip(years, ends, strict=True)
    ]
    for order in permutations(years):
        memory, me = lived(order)
        with memory:
            assert history(me) == held
            for number in years:
                assert texts(me.valid_at(year(number + 1))) == [CITIES[number]]
                assert texts(me.as_of(year(number + 1))) == [CITIES[number]]
    memory, me = lived(years[::-1], at_once=True)
    with memory:
        assert history(me) == held
        assert memory.admin.verify() == []


@pytest.mark.parametrize("what", ["run", "evidence", "erased"])
def test_once_what_came_between_is_taken_back_the_one_before_is_as_it_was(what: str) -> None:
    memory, me = lived([2015, 2021])
    with memory:
        before = history(me)
        between = me.observe(CITIES[2017], said=year(2017))
        assert memory.flush()
        assert [end for *_, end, _ in history(me)] == [year(2017), year(2021), None]
        match what:
            case "run":
                me.undo(me.log(limit=1)[0].seq)
            case "evidence":
                me.undo(between.seq)
            case _:
                me.erase(between.id)
        standing = Filter(states=(State.ACTIVE, State.SUPERSEDED), kinds=(Kind.INSIGHT,))
        assert [item for item in history(me) if item[1] is not State.RETIRED] == before
        assert me.count(where=standing) == 2
        assert memory.admin.verify() == []


def tying(then: Callable[[ItemId, ItemId], Bond]) -> Scripted:
    """Tie each turn to a topic when it comes, and untie the first once a second comes."""

    def think(given: Given) -> Flow[Edits]:
        own = yield from known(INSIGHTS)
        turn = given.evidence[0]
        if not own:
            return Edits(write=(insight(turn, "topic"),), tie=(Bond(src=turn.id, dst=0, type="about", weight=0.5),))
        links = yield from linked(own[0].id, types=("about",))
        yield from fetch(*(link.src for link in links))
        return Edits(untie=tuple(then(link.src, link.dst) for link in links))

    return Scripted(think)


def test_a_link_is_untied_and_an_undo_brings_it_back() -> None:
    memory, me = opened(tying(lambda src, dst: Bond(src=src, dst=dst, type="about")))
    with memory:
        me.observe("one")
        assert memory.flush()
        (topic,) = (version.item.id for version in me.list(where=INSIGHTS))
        (link,) = me.links(topic)
        me.observe("two")
        assert memory.flush()
        assert me.links(topic) == []
        me.undo(me.log(limit=1)[0].seq)
        assert me.links(topic) == [link]
        assert memory.admin.verify() == []


def test_only_a_link_that_is_there_is_untied_and_none_that_is_history() -> None:
    for bond in (
        lambda src, dst: Bond(src=dst, dst=src, type="about"),
        lambda src, dst: Bond(src=src, dst=dst, type=SUPERSEDES),
        lambda src, dst: Bond(src=src, dst=0, type="about"),
    ):
        memory, me = opened(tying(bond))
        with memory:
            me.observe("one")
            assert memory.flush()
            me.observe("two")
            with pytest.raises(Invalid, match="to untie"):
                memory.flush()


def test_a_run_is_told_when_what_it_is_about_was_recorded_and_again_the_same() -> None:
    told: list[datetime] = []

    def think(given: Given) -> Flow[Edits]:
        yield from ()
        told.append(given.now)
        return Edits(write=tuple(insight(turn, turn.text) for turn in given.evidence))

    clock = ManualClock(step=1)
    memory, me = opened(Scripted(think), clock=clock)
    with memory:
        for text in ("one", "two"):
            receipt = me.observe(text, said=year(2001))
            clock.tick(60_000_000)
            assert memory.flush()
            assert told[-1] == me.history(receipt.id)[0].recorded
        clock.tick(60_000_000)
        memory.admin.rerun("scripted", user="ada")
        assert memory.flush()
        assert told[2:] == [told[1]]


def test_words_and_ends_are_written_and_revised_end_to_end() -> None:
    def think(given: Given) -> Flow[Edits]:
        own = yield from known(INSIGHTS)
        turn = given.evidence[0]
        if own:
            again = (Revision(id=one.id, words="heron", valid_to=year(2030), source=(turn.id,)) for one in own)
            return Edits(revise=tuple(again))
        made = Derivation(
            key=f"scripted:{turn.id}:0", kind=Kind.INSIGHT, text="shown", words="kingfisher", slots={"by": "scripted"},
            source=(turn.id,), said=turn.said, valid_to=year(2020), sight=Sight.ALL,
        )  # fmt: skip
        return Edits(write=(made,))

    memory, me = opened(Scripted(think))
    with memory:
        for words, other, until in (("kingfisher", "heron", 2020), ("heron", "kingfisher", 2030)):
            me.observe("a turn", said=year(2010))
            assert memory.flush()
            (own,) = (version.item for version in me.list(where=INSIGHTS))
            assert own.valid_to == year(until)
            assert [one.text for one in me.recall(words, k=1)] == ["shown"]
            assert me.recall("shown", k=1).items[0].components.get("own", 0.0) == 0.0
            assert other not in str(own.key)
            assert texts(me.valid_at(year(until - 1))) == ["shown"]
            assert texts(me.valid_at(year(until + 1))) == []
        assert len(own.source) == 2
        assert memory.admin.verify() == []


def test_what_one_keeps_for_itself_takes_the_place_of_nothing_that_others_see() -> None:
    def taking(given: Given) -> Flow[Edits]:
        (fact,) = yield from known(Filter(kinds=(Kind.FACT,)))
        return Edits(write=(replace(insight(given.evidence[0], "kept"), supersedes=fact.id, sight=Sight.OWN),))

    memory, me = opened(Scripted(taking))
    with memory:
        written = me.write("The user lives in Porto.")
        me.observe("one")
        with pytest.raises(MnemicError, match="is not by scripted"):
            memory.flush()
        assert me.get(written.id).item.state is State.ACTIVE
