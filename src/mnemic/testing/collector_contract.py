"""The collector contract as tests: what every collector promises, whatever stands before it.

A collector proves itself with one import and one fixture, in a test file of its own::

    from mnemic.testing.collector_contract import *


    @pytest.fixture(params=list(COLLECTORS))
    def collector(request):
        return load(COLLECTORS, request.param)()
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from random import Random

import pytest

from mnemic.core.ids import ItemId, from_bytes
from mnemic.core.items import EVIDENCE, Kind, State
from mnemic.tiers.collectors.base import Collector, Ground, StandingItem, StandingLink, chosen
from mnemic.tiers.retention import Retention

DAY = 86_400 * 1_000_000
_RETENTION = Retention({"normal": None, "keep": None, "ephemeral": DAY}, {Kind.SUMMARY: "ephemeral"})
_KINDS = (Kind.TURN, Kind.FACT, Kind.ENTITY, Kind.PROFILE, Kind.SUMMARY, Kind.CHUNK)
_SEEDS = range(60)


def ground(seed: int) -> Ground:
    """Thirty items of all sorts, some resting on others, on what is elsewhere, or on what is gone."""
    draw = Random(seed)
    ids = [from_bytes(draw.randbytes(16)) for _ in range(36)]
    items: dict[ItemId, StandingItem] = {}
    for n, item in enumerate(ids[:30]):
        source = tuple(draw.sample(ids[:n] + ids[30:], min(n, draw.choice((0, 0, 1, 2)))))
        items[item] = StandingItem(
            id=item, kind=draw.choice(_KINDS), seq=n + 1, written=draw.randrange(200) * DAY, source=source,
            state=draw.choice((State.ACTIVE, State.ACTIVE, State.SUPERSEDED)), pinned=draw.random() < 0.1,
            tags=draw.choice(((), (), ("retain:ephemeral",), ("retain:keep",), ("retain:nothing",))),
            until=draw.choice((None, None, draw.randrange(400) * DAY)),
            digest=draw.choice((b"", b"a", b"b")) if source else b"", uses=draw.choice((0, 0, 1)),
        )  # fmt: skip
    pairs = [draw.sample(ids, 2) for _ in range(draw.randrange(20))]
    edges = tuple(StandingLink(src, dst, "about") for src, dst in pairs)
    held = dict.fromkeys(draw.sample(ids[:30], 3), "is held")
    return Ground(
        items=items, edges=edges, keep_reasons=held, shared_sources=frozenset(ids[30:32]),
        gone_ends=frozenset(ids[32:]), now=300 * DAY, head=draw.choice((40, 5_000)), retention=_RETENTION,
    )  # fmt: skip


def taken(collector: Collector, of: Ground) -> Mapping[ItemId, str]:
    """What it takes, and why."""
    return {choice.id: choice.reason for choice in chosen([collector], of)[collector.name]}


@pytest.mark.parametrize("seed", _SEEDS)
def test_it_never_takes_what_is_pinned_held_or_kept(collector: Collector, seed: int) -> None:
    of = ground(seed)
    for item in taken(collector, of):
        assert not of.items[item].pinned
        assert item not in of.keep_reasons
        assert "retain:keep" not in of.items[item].tags


@pytest.mark.parametrize("seed", _SEEDS)
def test_it_never_takes_what_something_that_stays_rests_on(collector: Collector, seed: int) -> None:
    of = ground(seed)
    going = taken(collector, of)
    assert not [s for item in of.items.values() if item.id not in going for s in item.source if s in going]


@pytest.mark.parametrize("seed", _SEEDS)
def test_evidence_goes_only_by_a_class_that_its_owner_set(collector: Collector, seed: int) -> None:
    of = ground(seed)
    for item in (of.items[i] for i in taken(collector, of) if of.items[i].kind in EVIDENCE):
        assert of.retention.lasts(of.retention.of(item.kind, item.tags)) is not None


@pytest.mark.parametrize("seed", _SEEDS[:10])
def test_it_answers_alike_when_asked_alike_and_gives_its_reasons(collector: Collector, seed: int) -> None:
    first, again = taken(collector, ground(seed)), taken(collector, ground(seed))
    assert first == again
    assert all(first.values())


@pytest.mark.parametrize("seed", _SEEDS[:20])
def test_what_it_took_once_it_need_not_take_again(collector: Collector, seed: int) -> None:
    of = ground(seed)
    left = of
    for _ in range(len(of.items)):
        going = taken(collector, left)
        if not going:
            break
        left = replace(left, items={i: item for i, item in left.items.items() if i not in going})
    assert not taken(collector, left)


def test_nothing_is_taken_from_nothing(collector: Collector) -> None:
    assert taken(collector, Ground(items={})) == {}


__all__ = ["DAY", "ground", "taken", *(name for name in dir() if name.startswith("test_"))]
