"""Transitions: what an item becomes, and what stands again once others have gone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from mnemic.core.events import Verb
from mnemic.core.ids import ItemId
from mnemic.core.items import Item, Kind, Link, State, Version
from mnemic.core.transitions import SUPERSEDES, freed, last_open, reopened, retired, superseded, transition

START = datetime(2026, 1, 1, tzinfo=UTC)


def item(name: str, day: int = 0, **fields: object) -> Item:
    said = START + timedelta(days=day)
    return Item(id=ItemId(name), kind=Kind.FACT, text=name, said=said, **fields)  # type: ignore[arg-type]


def versions(*items: Item) -> list[Version]:
    return [Version(item=one, seq_from=n, seq_to=None, recorded=START) for n, one in enumerate(items, start=1)]


def test_what_is_superseded_ends_where_the_newer_begins_or_where_it_ends_itself() -> None:
    newer = item("b", 30, valid_from=START + timedelta(days=20))
    closed = superseded(item("a"), newer)
    assert (closed.state, closed.known_to, closed.valid_to) == (State.SUPERSEDED, newer.said, newer.valid_from)
    ended = START + timedelta(days=10)
    assert superseded(item("a", valid_to=ended), newer).valid_to == ended


def test_what_is_reopened_has_its_words_of_now_and_its_end_of_before() -> None:
    own = item("a", valid_to=START + timedelta(days=400))
    closed = superseded(own, item("b", 30))
    now = replace(closed, text="revised")
    assert reopened(now, versions(own, closed, retired(closed), now)) == replace(own, text="revised")
    assert reopened(closed, versions(closed)) == replace(own, valid_to=None)
    assert last_open(versions(closed)) is None


def test_retiring_keeps_the_clocks_and_adds_the_marks() -> None:
    closed = superseded(item("a", slots={"by": "x"}), item("b"))
    assert retired(closed, rerun=True) == replace(closed, state=State.RETIRED, slots={"by": "x", "rerun": True})


@pytest.mark.parametrize(
    ("was", "becomes", "verb"),
    [
        (None, State.ACTIVE, Verb.WROTE),
        (State.ACTIVE, State.ACTIVE, Verb.REVISED),
        (State.ACTIVE, State.RETIRED, Verb.RETIRED),
        (State.ACTIVE, State.SUPERSEDED, Verb.SUPERSEDED),
        (State.RETIRED, State.SUPERSEDED, Verb.SUPERSEDED),
        (State.RETIRED, State.ACTIVE, Verb.REOPENED),
        (State.SUPERSEDED, State.ACTIVE, Verb.REOPENED),
    ],
)
def test_a_transition_is_called_after_what_an_item_becomes(was: State | None, becomes: State, verb: Verb) -> None:
    now = None if was is None else item("a", state=was)
    assert transition(item("a", state=becomes), now) is verb


@pytest.mark.parametrize(
    ("links", "retired_ones", "going", "stand_again"),
    [
        (["ba"], "", "b", "a"),
        (["ba"], "", "c", ""),
        (["ba"], "b", "b", ""),  # what was forgotten held no place any more
        (["ba", "cb"], "", "bc", "a"),
        (["ba", "cb"], "", "b", ""),  # c has taken the place that b had taken
        (["ba", "ca"], "", "b", ""),
        (["ba", "ca"], "c", "b", "a"),
        (["ba", "ca"], "", "bc", "a"),
        (["ba", "ab"], "", "b", "a"),  # a circle ends
        (["ba", "cb", "bc"], "", "bc", "a"),
        (["ba"], "", "ab", ""),
    ],
)
def test_what_stands_again_is_what_nothing_that_stays_holds_the_place_of(
    links: Sequence[str], retired_ones: str, going: str, stand_again: str
) -> None:
    older = {dst for _, dst in links}
    items = {ItemId(name): item(name, state=State.SUPERSEDED if name in older else State.ACTIVE) for name in "abc"} | {
        ItemId(name): item(name, state=State.RETIRED) for name in retired_ones
    }
    ties = [Link(src=ItemId(src), dst=ItemId(dst), type=SUPERSEDES) for src, dst in links]
    other = Link(src=ItemId("c"), dst=ItemId("a"), type="about")
    assert "".join(freed([other, *ties], items, {ItemId(name) for name in going})) == stand_again
