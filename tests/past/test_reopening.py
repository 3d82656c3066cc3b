"""What a newer item took the place of stands again once that is gone, the same whichever verb takes it away."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta

import pytest

from mnemic import Memory
from mnemic.core.events import Receipt
from mnemic.core.ids import ItemId
from mnemic.core.items import State
from mnemic.settings import Settings
from mnemic.strategies.house import House
from mnemic.testing.generators import ManualClock


def day(number: int) -> datetime:
    return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=number)


OWN_END = day(400)
"""The end that the owner gave, later than the beginning of anything that takes the item's place."""


class Home:
    """Where Ada lives: by her own word until `OWN_END`; something read from the evidence has taken its place."""

    def __init__(self, memory: Memory) -> None:
        self.memory, self.me = memory, memory.scope(user="ada")
        self.own = self.me.write("Ada lives in Paris", said=day(0), valid_to=OWN_END)
        self.evidence = self.me.observe("hm")
        self.newer = self.derived(self.own.id, "Ada lives in Lisbon", day(30))

    def derived(self, old: ItemId, text: str, said: datetime) -> Receipt:
        return self.me.supersede(old, text, said=said, source=self.evidence.ids, slots={"by": House.by})

    def now(self) -> tuple[State, datetime | None, datetime | None, str]:
        """How the owner's own word stands."""
        item = next(v.item for v in reversed(self.me.history(self.own.id)) if v.item.id == self.own.id)
        return item.state, item.known_to, item.valid_to, item.text

    def rerun(self) -> None:
        self.memory.admin.rerun("house", user="ada")
        assert self.memory.flush()


REOPENED = (State.ACTIVE, None, OWN_END, "Ada lives in Paris")


@pytest.fixture
def home() -> Iterator[Home]:
    clock = ManualClock()
    with Memory("memory:", settings=Settings(background=False), clock=clock, embedder="none") as memory:
        yield Home(memory)
        assert memory.admin.verify() == []


def undone(home: Home) -> None:
    home.me.undo(home.newer.seq, cascade=True)


def undone_with_its_evidence(home: Home) -> None:
    home.me.undo(home.evidence.seq, cascade=True)


def erased(home: Home) -> None:
    home.me.erase(home.newer.id)


def erased_with_its_evidence(home: Home) -> None:
    home.me.erase(home.evidence.id)


def rerun(home: Home) -> None:
    home.rerun()


def reverted(home: Home) -> None:
    home.me.revert(home.own.seq)


def rewound(home: Home) -> None:
    home.memory.admin.rewind(home.own.seq)


def erased_and_rewound(home: Home) -> None:
    home.me.erase(home.newer.id)
    home.memory.admin.rewind(home.newer.seq)


ANY_WAY = (
    undone,
    undone_with_its_evidence,
    erased,
    erased_with_its_evidence,
    rerun,
    reverted,
    rewound,
    erased_and_rewound,
)
BY_CONSEQUENCE = (undone_with_its_evidence, erased_with_its_evidence, rerun)
"""Those that take all that was read from the evidence, one after the other."""


@pytest.mark.parametrize("taken_away", ANY_WAY)
def test_what_stands_again_has_the_end_that_its_owner_gave_it(home: Home, taken_away: Callable[[Home], None]) -> None:
    assert home.now()[0] is State.SUPERSEDED
    taken_away(home)
    assert home.now() == REOPENED


@pytest.mark.parametrize("taken_away", [way for way in ANY_WAY if way is not undone])
def test_what_was_forgotten_while_it_was_superseded_and_brought_back_keeps_no_clock_of_that_time(
    home: Home, taken_away: Callable[[Home], None]
) -> None:
    home.me.undo(home.me.forget(home.own.id).seq)
    assert home.now()[0] is State.SUPERSEDED
    taken_away(home)
    assert home.now() == REOPENED


def test_rewinding_reopens_with_the_words_of_then(home: Home) -> None:
    home.me.revise(home.own.id, text="Ada lived in Paris")
    home.me.erase(home.newer.id)
    home.memory.admin.rewind(home.newer.seq)
    assert home.now() == REOPENED
    assert home.me.recall("Where does Ada live?").items[0].text == "Ada lives in Paris"


def test_rewinding_leaves_superseded_what_something_else_had_taken_the_place_of_then(home: Home) -> None:
    other = home.me.write("Ada paints")
    home.me.undo(home.newer.seq)
    again = home.me.supersede(home.own.id, "Ada lives in Rome", said=day(40))
    home.me.erase(again.id, other.id)
    assert home.now() == REOPENED
    home.memory.admin.rewind(other.seq)
    assert home.now()[0] is State.SUPERSEDED


def test_what_was_read_late_and_was_superseded_at_once_stands_open_when_what_had_its_place_is_reverted(
    home: Home,
) -> None:
    rome = home.me.write("Ada lives in Rome", said=day(60))
    late = home.derived(rome.id, "Ada lives in Oslo", day(50))
    assert [v.item.state for v in home.me.history(late.id) if v.item.id == late.id] == [State.SUPERSEDED]
    home.me.revert(home.newer.seq)
    item = home.me.get(late.id).item
    assert (item.state, item.known_to, item.valid_to) == (State.ACTIVE, None, None)


@pytest.mark.parametrize("taken_away", BY_CONSEQUENCE)
def test_the_first_of_a_chain_stands_again_when_all_of_the_chain_goes(
    home: Home, taken_away: Callable[[Home], None]
) -> None:
    home.derived(home.newer.id, "Ada lives in Rome", day(60))
    taken_away(home)
    assert home.now() == REOPENED


@pytest.mark.parametrize("taken_away", BY_CONSEQUENCE)
def test_the_first_of_a_chain_stays_superseded_while_the_last_stands(
    home: Home, taken_away: Callable[[Home], None]
) -> None:
    home.me.supersede(home.newer.id, "Ada lives in Oslo", said=day(60))
    taken_away(home)
    assert home.now()[0] is State.SUPERSEDED
    assert [v.item.text for v in home.me.list() if v.item.text != "hm"] == ["Ada lives in Oslo"]


def test_what_a_view_of_then_shows_has_the_end_that_its_owner_gave_it(home: Home) -> None:
    from mnemic.faces.cli.commands.asking import version_as_of

    version = home.me.as_of(day(10)).get(home.own.id)
    shown = version_as_of(home.me, version).item
    assert (shown.state, shown.known_to, shown.valid_to, shown.text) == REOPENED
