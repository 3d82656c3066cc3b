"""Each collector against the contract, and what each is for."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mnemic.core.ids import from_bytes
from mnemic.core.items import Kind
from mnemic.errors import Invalid
from mnemic.registry import COLLECTORS, load
from mnemic.testing.collector_contract import *  # noqa: F403
from mnemic.testing.collector_contract import DAY, taken
from mnemic.tiers.collectors.base import Collector, Ground, StandingItem, StandingLink, chosen
from mnemic.tiers.collectors.duplicates import Duplicates
from mnemic.tiers.collectors.expiry import Expiry
from mnemic.tiers.collectors.generations import Generations
from mnemic.tiers.collectors.reach import MarkAndSweep
from mnemic.tiers.retention import RetainedPast, past, retention

A, B, C, D = (from_bytes(bytes([n]) * 16) for n in range(4))


@pytest.fixture(params=list(COLLECTORS))
def collector(request: pytest.FixtureRequest) -> Collector:
    made: Collector = load(COLLECTORS, request.param)()
    return made


def test_each_collector_goes_by_its_name_in_the_registry() -> None:
    assert [load(COLLECTORS, name).name for name in COLLECTORS] == list(COLLECTORS)


def of(*items: StandingItem, **fields: object) -> Ground:
    return Ground(items={item.id: item for item in items}, **{"now": 100 * DAY, "head": 5_000, **fields})  # type: ignore[arg-type]


def turn(item: str, **fields: object) -> StandingItem:
    return StandingItem(id=item, kind=Kind.TURN, seq=1, written=0, **fields)  # type: ignore[arg-type]


def fact(item: str, *source: str, **fields: object) -> StandingItem:
    return StandingItem(id=item, kind=fields.pop("kind", Kind.FACT), seq=2, written=0, source=source, **fields)  # type: ignore[arg-type]


def test_a_class_keeps_its_own_for_as_long_as_it_says() -> None:
    classes = retention("ephemeral=100 days", "turn=ephemeral")
    assert taken(Expiry(), of(turn(A), retention=classes)) == {A: "class ephemeral kept it until 1970-04-11 00:00"}
    assert taken(Expiry(), of(turn(A), retention=classes, now=100 * DAY - 1)) == {}
    assert taken(Expiry(), of(turn(A, until=DAY), retention=classes)) == {}
    assert taken(Expiry(), of(turn(A, tags=("retain:normal",)), retention=classes)) == {}
    assert taken(Expiry(), of(turn(A, tags=("retain:misspelt",)), retention=classes)) == {}


def test_evidence_that_a_fact_rests_on_stays_until_the_fact_has_gone() -> None:
    classes = retention("ephemeral=1 day", "turn=ephemeral")
    assert taken(Expiry(), of(turn(A), fact(B, A), retention=classes)) == {}
    both = retention("ephemeral=1 day", "turn=ephemeral, fact=ephemeral")
    assert set(taken(Expiry(), of(turn(A), fact(B, A), retention=both))) == {A, B}


def test_what_none_of_whose_sources_stands_goes_unless_something_leads_to_it() -> None:
    assert set(taken(MarkAndSweep(), of(fact(A, D)))) == {A}
    assert taken(MarkAndSweep(), of(turn(D), fact(A, D))) == {}
    assert taken(MarkAndSweep(), of(fact(A, D), shared_sources=frozenset({D}))) == {}
    assert taken(MarkAndSweep(), of(fact(A, D), fact(B), edges=(StandingLink(B, A, "about"),))) == {}
    assert taken(MarkAndSweep(), of(fact(A, D, kind=Kind.PROFILE))) == {}
    assert set(taken(MarkAndSweep(), of(fact(A, D), fact(B, A)))) == set()  # B rests on A, which stands
    assert (
        set(taken(MarkAndSweep(), of(fact(A, D), fact(C, D, pinned=True), edges=(StandingLink(C, A, "about"),))))
        == set()
    )


def test_an_entity_whose_every_neighbour_is_gone_goes() -> None:
    entity = fact(A, kind=Kind.ENTITY)
    assert set(taken(MarkAndSweep(), of(entity, edges=(StandingLink(D, A, "knows"),), gone_ends=frozenset({D})))) == {A}
    assert (
        taken(
            MarkAndSweep(),
            of(entity, edges=(StandingLink(D, A, "knows"), StandingLink(A, B, "knows")), gone_ends=frozenset({D})),
        )
        == {}
    )
    assert taken(MarkAndSweep(), of(entity)) == {}


def test_what_was_used_once_is_never_young_again() -> None:
    young = fact(A, D)
    assert set(taken(Generations(), of(young))) == {A}
    assert taken(Generations(), of(replace(young, uses=1))) == {}
    assert taken(Generations(), of(replace(young, useful=1))) == {}
    assert taken(Generations(), of(young, head=1_001)) == {}
    assert taken(Generations(), of(young, now=89 * DAY)) == {}
    assert taken(Generations(), of(fact(A))) == {}


def test_of_what_says_the_same_the_oldest_stays_and_inherits() -> None:
    ground = of(fact(A, C, digest=b"x"), fact(B, D, digest=b"x"), turn(C), turn(D))
    (choice,) = chosen([Duplicates()], ground)["duplicates"]
    assert (choice.id, choice.heir) == (B, A)
    assert taken(Duplicates(), of(fact(A, digest=b"x"), fact(B, digest=b"x"))) == {}


@pytest.mark.parametrize("text", ["ephemeral", "a=1 fortnight", "keep=1 day", "=1 day"])
def test_a_class_that_cannot_be_read_is_refused(text: str) -> None:
    with pytest.raises(Invalid):
        retention(text, "")


@pytest.mark.parametrize("text", ["turn", "letter=normal", "turn=nothing"])
def test_a_kind_that_cannot_be_read_is_refused(text: str) -> None:
    with pytest.raises(Invalid):
        retention("", text)


def test_how_much_past_is_kept_is_read_in_commits_or_time() -> None:
    assert past("all") == RetainedPast()
    assert past("0 commits") == RetainedPast(commits=0)
    assert past("30 days") == RetainedPast(span=30 * DAY)
    with pytest.raises(Invalid):
        past("some")
