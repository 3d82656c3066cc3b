"""Tenant and user are walls: nothing of one space is seen, counted or numbered in another."""

from __future__ import annotations

from contextlib import suppress

import pytest

from mnemic.core.items import State
from mnemic.core.queries import Filter
from mnemic.core.scope import SHARED
from mnemic.errors import MnemicError
from mnemic.testing.generators import NAMES
from mnemic.testing.store_contract.contract_world import ANY_STATE, TENANT, World


def test_users_are_told_apart_by_every_character_of_their_names(world: World) -> None:
    for place, name in enumerate(NAMES):
        world.commit(f"secret {place}", user=name)
    assert len({world.space(name) for name in NAMES}) == len(NAMES)
    for place, name in enumerate(NAMES):
        assert world.texts(user=name) == [f"secret {place}"], name
    assert world.faults() == []


def test_tenants_are_told_apart_by_every_character_of_their_names(world: World) -> None:
    for place, name in enumerate(NAMES):
        world.commit(f"secret {place}", tenant=name)
    for place, name in enumerate(NAMES):
        assert world.texts(tenant=name) == [f"secret {place}"], name
    with world.store.read() as snapshot:
        assert sorted(name for _, name in snapshot.tenants()) == sorted(NAMES)


def test_agents_and_sessions_are_told_apart_by_every_character_of_their_names(world: World) -> None:
    world.commit(*(world.put(world.item(f"{place}", session=name, agent=name)) for place, name in enumerate(NAMES)))
    for place, name in enumerate(NAMES):
        assert world.texts(Filter(session=name)) == [f"{place}"], name
        assert world.texts(Filter(agent=name)) == [f"{place}"], name
        assert world.texts(Filter(tags=(name,))) == []


def test_a_space_never_shows_anothers_items(world: World) -> None:
    mine, theirs = world.item("mine"), world.item("theirs", session="s", tags=("t",))
    world.commit(world.put(mine))
    world.commit(world.put(theirs), user="bob")
    world.tie(theirs.id, theirs.id, user="bob")
    here = (world.space(),)
    with world.store.read() as snapshot:
        assert set(snapshot.get(here, (mine.id, theirs.id))) == {mine.id}
        assert set(snapshot.standing(here, (mine.id, theirs.id))) == {mine.id}
        assert snapshot.history(here, theirs.id) == []
        assert snapshot.links(here, (theirs.id,)) == []
        assert snapshot.count(here) == 1
        assert snapshot.count(here, Filter(session="s")) == snapshot.count(here, Filter(tags=("t",))) == 0
        assert [v.item.id for v in snapshot.latest(here, ANY_STATE)] == [mine.id]
        assert snapshot.name_id(here[0], "s") is None
        assert snapshot.written(here[0], 2) == []
        assert snapshot.links_written(here[0], 3) == []


def test_anothers_version_cannot_be_had_by_its_number(world: World) -> None:
    world.commit("mine")
    world.commit("theirs", user="bob")
    with world.store.read() as snapshot:
        ((ver, theirs),) = snapshot.scan((world.space("bob"),))
        assert snapshot.item_ids(world.space("bob"), (ver,)) == {ver: theirs.item.id}
        assert snapshot.versions(world.space(), (ver,)) == {}
        assert snapshot.item_ids(world.space(), (ver,)) == {}
        assert [entry.ver for entry in snapshot.entries(world.space())] != [ver]


def test_the_shared_space_is_nobodys_name(world: World) -> None:
    world.commit("common", user=SHARED)
    world.commit("mine", user="SHARED")
    assert world.space(SHARED) != world.space("SHARED")
    assert world.texts(user=SHARED) == ["common"]


def test_several_spaces_are_read_together_when_all_are_named(world: World) -> None:
    world.commit("common", user=SHARED)
    world.commit("mine")
    world.commit("theirs", user="bob")
    both = (world.space(), world.space(SHARED))
    with world.store.read() as snapshot:
        assert [v.item.text for _, v in snapshot.scan(both)] == ["common", "mine"]
        assert snapshot.count(both) == 2
        assert [head.id for head in snapshot.spaces(both)] == list(both)


def test_no_space_shows_nothing(world: World) -> None:
    world.commit("mine")
    with world.store.read() as snapshot:
        assert snapshot.scan(()) == []
        assert snapshot.latest(()) == []
        assert snapshot.count(()) == 0
        assert snapshot.get((), (world.item("x").id,)) == {}


def test_the_spaces_of_a_tenant_are_its_own(world: World) -> None:
    for user, tenant in (("ada", "t"), ("bob", "u"), (SHARED, "t")):
        world.commit("x", user=user, tenant=tenant)
    with world.store.read() as snapshot:
        number = snapshot.tenant(TENANT)
        assert number is not None
        heads = snapshot.all_spaces(number)
    assert [head.user for head in heads] == ["ada", SHARED]
    assert [head.seq for head in heads] == [1, 2]


def test_a_change_of_anothers_item_makes_one_of_ones_own_at_most(world: World) -> None:
    theirs = world.item("theirs")
    world.commit(world.put(theirs), user="bob")
    with suppress(MnemicError):
        world.retire(theirs)
    assert world.texts(user="bob") == ["theirs"]
    with world.store.read() as snapshot:
        assert snapshot.history((world.space("bob"),), theirs.id)[-1].item.state is State.ACTIVE


def test_erasing_under_anothers_name_takes_nothing(world: World) -> None:
    theirs = world.item("theirs")
    world.commit(world.put(theirs), user="bob")
    world.commit("mine")
    receipt = world.erase(theirs.id)
    assert (receipt.seq, receipt.ids, receipt.versions) == (None, (), 0)
    assert world.texts(user="bob") == ["theirs"]


@pytest.mark.parametrize("name", ["%", "*", "?", "_", "ad", "da", "ADA"])
def test_a_pattern_is_no_name(world: World, name: str) -> None:
    world.commit("mine")
    with world.store.read() as snapshot:
        assert snapshot.space(world.tenant(), name) is None
        assert snapshot.tenant(name) is None
