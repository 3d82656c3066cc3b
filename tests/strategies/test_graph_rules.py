"""The laws of a graph of facts: names that are one, communities that settle, histories, fused rankings."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import combinations
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.core.ids import ItemId
from mnemic.core.items import Item, Kind
from mnemic.strategies.knowledge import FactMatch, FactMatching, Passage, Triple
from mnemic.strategies.rules.edge_history import GraphEdge, edge_stated, placed
from mnemic.strategies.rules.fact_matching import fact_matches, may_exclude
from mnemic.strategies.rules.label_propagation import communities
from mnemic.strategies.rules.name_likeness import alike, is_specific, likeness
from mnemic.strategies.rules.rank_fusion import diversified, likeness_of, reciprocal_ranks
from mnemic.strategies.rules.stated_relations import stated_relations

SAID = datetime(2024, 5, 8, 18, 20, tzinfo=UTC)
NODES = st.sampled_from("abcdefgh")
GRAPHS = st.dictionaries(st.tuples(NODES, NODES), st.integers(1, 5), max_size=20)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Ada", "ada", True),
        ("the Canal Saint-Martin", "Canal Saint-Martin", True),
        ("International Business Machines Corporation", "International Business Machines Corporations", True),
        ("Ada", "Ava", False),
        ("Bob", "Robert", False),
        ("Siemens", "Siemens Energy", False),
        ("aaaaaaaa", "aaaaaaab", False),
        ("王小明", "王小红", False),
    ],
)
def test_names_are_one_only_where_that_is_certain(one: str, other: str, same: bool) -> None:
    assert alike(one, other) is same
    assert alike(other, one) is same


def test_a_short_name_and_one_of_few_letters_are_not_specific() -> None:
    assert [is_specific(name) for name in ("ada", "lisbon", "a b", "xx yy", "aaaaaa")] == [
        False, True, False, False, False,
    ]  # fmt: skip


@given(st.text(max_size=20), st.text(max_size=20))
def test_likeness_is_a_share_and_goes_both_ways(one: str, other: str) -> None:
    assert 0 <= likeness(one, other) == likeness(other, one) <= 1
    assert likeness(one, one) == 1


def test_two_nodes_with_an_edge_of_weight_2_are_one_community() -> None:
    """Labels that all change at once swap for ever here."""
    assert communities({("a", "b"): 2}) == [("a", "b")]
    assert communities({("a", "b"): 1, ("b", "a"): 1}) == [("a", "b")]


def test_two_groups_with_one_edge_between_them_are_two() -> None:
    groups = ("abcd", "wxyz")
    edges = {pair: 2.0 for group in groups for pair in combinations(group, 2)}
    assert communities({**edges, ("a", "z"): 1.0}) == [("a", "b", "c", "d"), ("w", "x", "y", "z")]


@given(GRAPHS, st.randoms())
def test_communities_part_the_nodes_and_do_not_depend_on_the_order_of_edges(
    edges: dict[tuple[str, str], int], chance: object
) -> None:
    found = communities(edges)
    assert sorted(node for group in found for node in group) == sorted(
        {node for pair in edges for node in pair if pair[0] != pair[1]}
    )
    assert communities(dict(sorted(edges.items(), reverse=True))) == found
    assert all(len(group) > 1 for group in found) or not found


def city(year: int, name: str, *, said: int | None = None, until: int | None = None) -> GraphEdge:
    triple = Triple(
        subject="Ada",
        predicate="city",
        object=name,
        fact=f"Ada lives in {name}.",
        source=0,
        since=datetime(year, 1, 1, tzinfo=UTC),
        until=None if until is None else datetime(until, 1, 1, tzinfo=UTC),
    )
    turn = Item(id=ItemId(name), kind=Kind.TURN, text=name, said=datetime(said or year, 1, 1, tzinfo=UTC))
    return edge_stated(triple, year, turn)


def arrived(edges: list[GraphEdge]) -> list[tuple[str, int, int | None]]:
    """The history that comes of edges of one matter, in the order in which they arrive, in years."""
    return [(name, start.year, end.year if end else None) for name, start, end in arrived_exactly(edges)]


def arrived_exactly(edges: list[GraphEdge]) -> list[tuple[str, datetime, datetime | None]]:
    known: list[GraphEdge] = []
    for edge in edges:
        same = [one for one in known if one.triple.object == edge.triple.object]
        place = placed(edge, same, [one for one in known if one not in same])
        if place.again is None:
            known = [one.until(edge.start) if one in place.ends else one for one in known]
            known.append(place.edge if place.ended_by is None else place.edge.until(place.ended_by.start))
    spans = sorted(
        (one.start, one.end or datetime.max.replace(tzinfo=UTC), one.triple.object, one.end) for one in known
    )
    return [(name, start, end) for start, _, name, end in spans]


@given(st.permutations(range(6)))
def test_whatever_the_order_of_arrival_there_is_one_history(order: list[int]) -> None:
    edges = [city(2000 + year, f"city {year}") for year in range(6)]
    spans = [(f"city {year}", 2000 + year, 2001 + year if year < 5 else None) for year in range(6)]
    assert arrived([edges[n] for n in order]) == spans


def test_a_value_that_comes_back_begins_anew_and_one_said_of_earlier_times_goes_before() -> None:
    assert arrived([city(2000, "a"), city(2001, "b"), city(2002, "a")]) == [
        ("a", 2000, 2001), ("b", 2001, 2002), ("a", 2002, None),
    ]  # fmt: skip
    assert arrived([city(2002, "a"), city(2000, "a")]) == [("a", 2000, 2002), ("a", 2002, None)]
    assert arrived([city(2000, "a"), city(2002, "a")]) == [("a", 2000, None)]


@st.composite
def stays(draw: st.DrawFn) -> list[GraphEdge]:
    """What somebody says of the places they live in, in turn, at times with a date, at times a bit late."""
    told: list[GraphEdge] = []
    began = 0
    for n in range(draw(st.integers(2, 5))):
        dated, slow = draw(st.booleans()), bool(told) and not told[-1].dated
        said = began + draw(st.integers(1, 40))
        start = said if not dated else began - (draw(st.integers(0, 30)) if slow else 0)
        stay = Triple(subject="Ada", predicate="city", object=f"c{n}", fact=f"c{n}", source=0, since=None)
        since, spoken = (SAID + timedelta(days=day) for day in (start, said))
        before = [one.start for one in told if one.dated]
        before += [one.said - timedelta(days=31) for one in told[-1:] if not one.dated]
        if before and since <= max(before):  # no place begins before one that was told before it with a date
            since = told[-1].said + timedelta(hours=1)
        turn = Item(id=ItemId(f"c{n}"), kind=Kind.TURN, text="", said=spoken)
        told.append(edge_stated(replace(stay, since=since if dated else None), n, turn))
        began = said + draw(st.integers(1, 40))
    return told


@given(stays(), st.randoms())
def test_places_that_are_told_in_turn_make_one_history_however_they_arrive(
    told: list[GraphEdge], chance: Random
) -> None:
    mixed = list(told)
    chance.shuffle(mixed)
    kept = {name: end for name, _, end in arrived_exactly(mixed)}
    assert [name for name, end in kept.items() if end is None] == [told[-1].triple.object]
    assert arrived_exactly(mixed) == arrived_exactly(told)


def test_what_is_over_before_the_other_began_is_not_touched() -> None:
    assert arrived([city(2010, "a"), city(2000, "b", said=2012, until=2005)]) == [("b", 2000, 2005), ("a", 2010, None)]


def test_an_end_without_a_beginning_ends_what_is_known_and_begins_there() -> None:
    gone = Triple(subject="Ada", predicate="job", object="Bosch", fact="Ada left Bosch.", source=0, until=SAID)
    turn = Item(id=ItemId("t"), kind=Kind.TURN, text="", said=SAID + timedelta(days=9))
    end = edge_stated(gone, 1, turn)
    assert (end.start, end.end, end.closing) == (SAID, None, True)
    open_one = replace(end, ref=0, start=SAID - timedelta(days=99), closing=False)
    assert placed(end, [open_one], []).ends == (open_one,)
    assert placed(open_one, [end], []).ended_by == end


def test_an_end_ends_what_a_judge_says_it_contradicts_between_the_same_names_alone() -> None:
    gone = Triple(subject="Mia", predicate="was with", object="Erik", fact="They parted.", source=0, until=SAID)
    end = edge_stated(gone, 1, Item(id=ItemId("t"), kind=Kind.TURN, text="", said=SAID + timedelta(days=9)))
    together = Triple(
        subject="erik", predicate="is the partner of", object="Mia", fact="Erik is her partner.", source=0
    )
    other = replace(together, subject="Ben")
    began = replace(end, ref=0, start=SAID - timedelta(days=99), closing=False)
    partner, another = replace(began, triple=together), replace(began, triple=other)
    assert placed(end, [], [partner, another]).ends == (partner,)
    assert placed(partner, [], [end]).ended_by == end
    assert placed(another, [], [end]).ended_by is None


def fact(subject: str, relation: str, thing: str, text: str = "") -> Triple:
    return Triple(
        subject=subject, predicate=relation, object=thing, fact=text or f"{subject} {relation} {thing}", source=0
    )


def test_rules_take_for_the_same_or_for_over_only_what_is_certain() -> None:
    old = (fact("Ada", "city", "Paris"), fact("Ada", "likes", "jazz"), fact("Ada", "is married to", "Tom"))
    new = (
        fact("ADA", "city", "Lisbon"),
        fact("Ada", "likes", "rock"),
        fact("Tom", "is married to", "Ada"),
        fact("Bob", "city", "Rome"),
        fact("Ada", "city", "Porto"),
        fact("Jazz", "is liked by", "Ada", "Ada likes jazz"),
    )
    assert fact_matches(FactMatching(new, old)) == (
        FactMatch(over=(0,)),
        FactMatch(),
        FactMatch(same=(2,)),
        FactMatch(),
        FactMatch(over=(0, 3)),
        FactMatch(same=(1,)),
    )
    assert not may_exclude(fact("Ada", "lives in", "Paris"), fact("Paris", "lies in", "France"))
    assert may_exclude(fact("Acme", "employs", "Ada"), fact("Bosch", "employs", "Ada"))


def test_slots_are_relations_and_what_is_over_has_an_end() -> None:
    passages = (
        Passage("I live in Lisbon. My sister Eve works at Siemens.", "Ada", SAID),
        Passage("I don't work at Bosch any more.", "Ada", SAID),
    )
    found = [(one.subject, one.predicate, one.object, one.source, one.until) for one in stated_relations(passages)]
    assert ("Ada", "city", "Lisbon", 0, None) in found
    assert ("Eve", "works at", "Siemens", 0, None) in found
    assert ("Ada", "employer", "Bosch", 1, SAID) in found
    assert len([one for one in found if one[2] == "Lisbon"]) == 1


def test_a_place_further_on_weighs_less_and_rankings_add_up() -> None:
    shares = reciprocal_ranks({"words": ["a", "b"], "meaning": ["b", "c"]}, 1)
    assert shares == {"a": {"words": 1.0}, "b": {"words": 0.5, "meaning": 1.0}, "c": {"meaning": 0.5}}


def test_what_is_like_a_chosen_one_waits() -> None:
    like = {frozenset("ab"): 1.0, frozenset("ac"): 0.0, frozenset("bc"): 0.0}
    chosen = list(diversified({"a": 2.0, "b": 1.8, "c": 1.0}, lambda one, other: like[frozenset((one, other))], 0.5))
    assert [one for one, _ in chosen] == ["a", "c", "b"]
    assert [one for one, _ in diversified({"a": 2.0, "b": 1.8, "c": 1.0}, lambda one, other: 1.0, 1.0)] == [
        "a",
        "b",
        "c",
    ]
    alike_words = likeness_of({1: "the blue ferry", 2: "a blue ferry", 3: "jazz"}, ())
    assert alike_words(1, 2) > alike_words(1, 3) == 0


@pytest.mark.parametrize(
    ("text", "related"),
    [
        ("If I lived in Paris I would eat croissants every day.", []),
        ("What if Ben worked at Siemens?", []),
        ("Maybe Ben works at Siemens.", []),
        ("Ben works at Siemens.", [("Ben", "Siemens")]),
        ("如果我住在上海，我就去看李雷。", []),
    ],
)
def test_what_is_supposed_relates_nothing(text: str, related: list[tuple[str, str]]) -> None:
    relations = stated_relations((Passage(text=text, said=SAID, speaker="Maya"),))
    assert [(each.subject, each.object) for each in relations] == related
