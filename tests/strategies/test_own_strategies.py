"""A strategy of one's own: named by where it lives or handed over, and refused with what is wrong with it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from threading import Event

import pytest
from noting import Noting

import mnemic.strategies
from mnemic import Filter, Invalid, Kind, Memory, Settings, State
from mnemic.store.sqlite.sqlite_store import MemoryStore
from mnemic.strategies import (
    Budget,
    Buffer,
    Derivation,
    EachEvent,
    Edits,
    Flow,
    Given,
    Revision,
    Trigger,
    known,
    nothing,
)
from mnemic.strategies.triggers import SECOND, Waiting
from mnemic.strategies.zep import Zep
from mnemic.testing.generators import ManualClock

sys.path.insert(0, str(Path(__file__).parent))
OWN = """
from mnemic import Kind
from mnemic.strategies import Budget, Derivation, EachEvent, Edits, nothing, pause


class Shout:
    name = by = "shout"
    reads, triggers, maintain = frozenset({Kind.TURN}), (EachEvent(),), ()
    budget, batch = Budget(), 8

    def on_write(self, given):
        yield from pause()
        return Edits(
            write=tuple(
                Derivation(
                    key=f"shout:{one.id}:0", kind=Kind.INSIGHT, text=one.text.upper(),
                    slots={"by": self.by}, source=(one.id,), said=one.said,
                )
                for one in given.evidence
            )
        )

    on_maintain = nothing


class Mute:
    name = by = "mute"


class Loud(Shout):
    name = "embed"


class Twin(Shout):
    name = "twin"


class Namesake(Shout):
    name = by = "zep"


class Ghostwriter(Shout):
    name, by = "ghost", "zep"


number = 3
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "ours_alone.py").write_text(OWN)
    (tmp_path / "broken_alone.py").write_text("import nowhere_to_be_found\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "ours_alone", raising=False)
    return "ours_alone"


def opened(strategies: object = None, named: str = "house") -> Memory:
    settings = Settings(background=False, strategies=named)
    return Memory("memory:", settings=settings, strategies=strategies, clock=ManualClock())  # type: ignore[arg-type]


def shouted(memory: Memory) -> list[str]:
    me = memory.scope(user="ada")
    me.observe("hello")
    memory.flush()
    return [one.item.text for one in me.list(where=Filter(kinds=(Kind.INSIGHT,)))]


def test_a_strategy_is_named_by_where_it_lives(module: str) -> None:
    with opened(named=f"house, {module}:Shout, {module}:Shout") as memory:
        assert shouted(memory) == ["HELLO"]
        assert memory.admin.lane_names()[:2] == ["house", "shout"]
        assert [one.lane for one in memory.admin.behind()] == ["house", "shout"]


def test_a_strategy_is_handed_over_in_place_of_the_setting(module: str) -> None:
    own = __import__(module).Shout
    for given in ([own()], [own], [f"{module}:Shout"], ["house", own()]):
        with opened(given) as memory:
            assert shouted(memory) == ["HELLO"]
    with opened([]) as memory:
        assert set(memory.admin.lane_names()) == {"embed", "jobs", "pack", "expire", "slots"}


@pytest.mark.parametrize(
    ("named", "told"),
    [
        ("dreams", "'dreams' is not known"),
        ("nowhere_at_all:Mine", "there is no module 'nowhere_at_all'"),
        ("broken_alone:Mine", "'broken_alone' cannot be imported: No module named 'nowhere_to_be_found'"),
        ("ours_alone:Absent", "'ours_alone' has no 'Absent'"),
        ("ours_alone:number", "int has no name"),
        ("ours_alone:Mute", "Mute has no reads, triggers, maintain, budget, batch, on_write, on_maintain"),
        ("ours_alone:Loud", "Loud's name 'embed'"),
        ("ours_alone:", "'ours_alone:' is not known"),
        ("ours_alone:Shout, ours_alone:Twin", "two of them write as 'shout'"),
        (
            "house, ours_alone:Namesake",
            "two strategies claim one name: Namesake is called 'zep', and so is one of ours",
        ),
        ("ours_alone:Ghostwriter", "'ghost' writes as 'zep', which is what 'zep' does"),
    ],
)
def test_what_is_wrong_with_one_is_said_when_the_store_is_opened(module: str, named: str, told: str) -> None:
    with pytest.raises(Invalid, match=r"^strategies: ") as refused:
        opened(named=named)
    assert told in str(refused.value)


def test_what_is_handed_over_is_looked_at_too() -> None:
    with pytest.raises(Invalid, match="'nope' is not known"):
        opened(["nope"])
    with pytest.raises(Invalid, match="object has no name"):
        opened([object()])
    with pytest.raises(Invalid, match="two of them are called 'noting'"):
        opened([Noting(), Noting()])
    with pytest.raises(Invalid, match="Give a list"):
        opened(Noting())


def test_one_of_ours_with_arguments_of_its_own_keeps_its_name() -> None:
    class Bilingual(Zep):
        pass

    for given in (Zep(), Zep, Bilingual):
        with opened([given]) as memory:
            assert memory.admin.lane_names()[0] == "zep"


def test_all_that_a_strategy_needs_has_one_public_place() -> None:
    assert mnemic.Order.__name__ == "Order"
    for name in mnemic.strategies.__all__:
        assert getattr(mnemic.strategies, name) is not None
    wanted = {
        *("Strategy", "Given", "Edits", "Derivation", "Revision", "Bond", "Budget", "known", "pause", "nothing"),
        *("EachEvent", "Buffer", "Importance", "TaskEnd", "OnQuestion", "Interval", "Trigger", "Waiting"),
        *("ask", "ChatMessage", "Flow", "SearchHit", "search", "fetch", "keyed", "linked"),
    }
    assert wanted <= set(mnemic.strategies.__all__)


class Tally:
    """Counts the turns in one insight of its own, which it looks up and revises."""

    name = by = "tally"
    reads, maintain = frozenset({Kind.TURN, Kind.INSIGHT}), ()
    triggers: tuple[Trigger, ...] = (EachEvent(),)
    budget, batch = Budget(), 8
    between: Callable[[], object] = staticmethod(lambda: None)
    states: tuple[State, ...] = ()

    def on_write(self, given: Given) -> Flow[Edits]:
        own = yield from known(Filter(kinds=(Kind.INSIGHT,), states=self.states))
        self.between()
        if own:
            text = str(int(own[0].text) + len(given.evidence))
            return Edits(revise=(Revision(id=own[0].id, text=text),))
        first = given.evidence[0]
        key, text = f"tally:{first.id}:0", str(len(given.evidence))
        made = Derivation(
            key=key, kind=Kind.INSIGHT, text=text, slots={"by": self.by}, source=(first.id,), said=first.said
        )
        return Edits(write=(made,))

    on_maintain = nothing


INSIGHTS = Filter(kinds=(Kind.INSIGHT,))


def insights(memory: Memory) -> list[str]:
    return [one.item.text for one in memory.scope(user="ada").list(where=INSIGHTS)]


def test_a_strategy_revises_what_it_looked_up() -> None:
    with opened([Tally()]) as memory:
        me = memory.scope(user="ada")
        for turn in ("one", "two", "three"):
            me.observe(turn)
            assert memory.flush()
        assert insights(memory) == ["3"]


def test_what_changed_since_it_was_looked_up_is_read_again() -> None:
    tally = Tally()
    with opened([tally]) as memory:
        me = memory.scope(user="ada")
        me.observe("one")
        memory.flush()
        (own,) = me.list(where=INSIGHTS)

        def meddle() -> None:
            tally.between = lambda: None  # type: ignore[method-assign]
            me.revise(own.item.id, text="10")

        tally.between = meddle  # type: ignore[method-assign]
        me.observe("two")
        assert memory.flush()
        assert insights(memory) == ["11"]


def test_what_its_owner_hid_a_strategy_cannot_change_though_it_looks_it_up() -> None:
    tally = Tally()
    with opened([tally]) as memory:
        me = memory.scope(user="ada")
        me.observe("one")
        memory.flush()
        me.forget(me.list(where=INSIGHTS)[0].item.id)
        tally.states = (State.RETIRED,)
        me.observe("two")
        with pytest.raises(Invalid, match="is hidden"):
            memory.flush()
        assert insights(memory) == []


def test_what_a_strategy_wrote_itself_sets_off_no_trigger_and_waits_for_none() -> None:
    tally = Tally()
    tally.triggers = (Buffer(count=3),)
    with opened([tally]) as memory:
        me, background = memory.scope(user="ada"), memory._opened.background
        me.observe(["one", "two", "three"])
        background.serve(Event(), once=True)
        assert insights(memory) == ["3"]
        assert {lane.pending for lane in memory.admin.behind()} == {0}
        me.observe(["four", "five"])
        background.serve(Event(), once=True)
        assert insights(memory) == ["3"]
        me.observe("six")
        background.serve(Event(), once=True)
        assert insights(memory) == ["6"]


def test_a_space_that_waits_for_its_time_is_not_looked_at_before_it_or_before_something_is_written() -> None:
    tally, clock = Tally(), ManualClock()
    asked: list[int] = []

    class Quiet(Buffer):
        def fires(self, waiting: Waiting, now: int) -> bool:
            asked.append(now)
            return super().fires(waiting, now)

    tally.triggers = (Quiet(idle=600),)
    with Memory(MemoryStore(clock=clock), settings=Settings(background=False), clock=clock, embedder="none",
                strategies=[tally]) as memory:  # fmt: skip
        me, background = memory.scope(user="ada"), memory._opened.background
        for _ in range(2):
            me.observe("one")
            background.serve(Event(), once=True)
            clock.tick(599 * SECOND)
            assert asked
            asked.clear()
            background.serve(Event(), once=True)
            assert asked == []
        clock.tick(SECOND)
        background.serve(Event(), once=True)
        assert insights(memory) == ["2"]
        me.observe("two")
        assert memory.flush()
        assert insights(memory) == ["3"]


def test_what_somebody_says_is_read_whatever_its_slots_claim(module: str) -> None:
    with opened([f"{module}:Shout"]) as memory:
        me = memory.scope(user="ada")
        me.observe("hello", slots={"by": "shout"})
        memory.flush()
        assert insights(memory) == ["HELLO"]


class NoFlow(Tally):
    name = "no_flow"

    def on_write(self, given: Given) -> Flow[Edits]:
        return Edits()  # type: ignore[return-value]  # the mistake that is made: nothing is yielded


class Listing(Tally):
    name = "listing"

    def on_write(self, given: Given) -> Flow[Edits]:
        yield from ()
        return []  # type: ignore[return-value]


class Twins(Tally):
    name = "twins"

    def on_write(self, given: Given) -> Flow[Edits]:
        yield from ()
        (turn, *_) = given.evidence
        one = Derivation(
            key="twins:x:0", kind=Kind.INSIGHT, text="x", slots={"by": self.by}, source=(turn.id,), said=turn.said
        )
        return Edits(write=(one, one))


@pytest.mark.parametrize(
    ("strategy", "told"),
    [
        (NoFlow, r"no_flow.on_write yields nothing and returned Edits. Begin it with `yield from \(\)`"),
        (Listing, r"listing.on_write returned list, not Edits. .* end it with `return Edits"),
        (Twins, "strategy twins writes key 'twins:x:0' twice"),
    ],
)
def test_a_flow_that_is_none_is_told_with_the_strategy_and_the_remedy(strategy: type[Tally], told: str) -> None:
    with opened([strategy()]) as memory:
        memory.scope(user="ada").observe("one")
        with pytest.raises(Invalid, match=told):
            memory.flush()
