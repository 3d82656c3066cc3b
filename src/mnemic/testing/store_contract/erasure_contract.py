"""Erasure erases: the item, what was derived from it, its links, keys and names; the chain stays whole."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest

from mnemic.core.events import Verb
from mnemic.core.items import Strength
from mnemic.core.queries import View
from mnemic.errors import Conflict, NotFound
from mnemic.store.values.drafts import Erasure, Note
from mnemic.testing.store_contract.contract_world import ANY_STATE, TENANT, World, us


def _exported(world: World) -> bytes:
    return b"".join(world.store.export(TENANT))


def test_an_erased_item_is_gone_from_every_view(world: World) -> None:
    item, other = world.item("secret zebra"), world.item("other")
    world.commit(world.put(item), world.put(other))
    world.commit(world.put(replace(item, text="zebra yak"), Verb.REVISED))
    receipt = world.erase(item.id)
    assert (receipt.seq, receipt.ids, receipt.versions) == (3, (item.id,), 2)
    assert receipt.status == "clean" or (receipt.left and world.store.settle())
    for view in (View(), View(at=1), View(at=2), View(as_of=us(5)), View(valid_at=us(5))):
        assert world.texts(ANY_STATE, view) == ["other"]
    with world.store.read() as snapshot:
        assert snapshot.history((world.space(),), item.id) == []
        assert len(list(snapshot.entries(world.space()))) == 1
    assert b"zebra" not in _exported(world)
    assert world.faults() == []


def test_erasing_keeps_the_commits_and_their_numbers(world: World) -> None:
    item = world.item("secret")
    world.commit(world.put(item))
    hashes = [change.hash for change in world.changes()]
    world.erase(item.id)
    first, last = world.changes()
    assert [first.hash] == hashes
    assert first.events[0].erased
    assert (last.seq, last.events[0].verb, last.actor) == (2, Verb.ERASED, "tester")


def test_what_was_derived_from_it_goes_too(world: World) -> None:
    evidence = world.item("evidence")
    fact = world.item("fact", source=(evidence.id,))
    insight = world.item("insight", source=(fact.id,))
    apart = world.item("apart")
    world.commit(*(world.put(item) for item in (evidence, fact, insight, apart)))
    receipt = world.erase(evidence.id)
    assert set(receipt.ids) == {evidence.id, fact.id, insight.id}
    assert world.texts(ANY_STATE) == ["apart"]
    assert world.faults() == []


def test_what_was_judged_beside_it_goes_too(world: World) -> None:
    evidence, beside = world.item("evidence"), world.item("beside")
    fact = world.item("fact", source=(evidence.id,), context=(beside.id,))
    world.commit(*(world.put(item) for item in (evidence, beside, fact)))
    with world.store.read() as snapshot:
        assert snapshot.derived(world.space(), (beside.id,)) == []
    assert set(world.erase(beside.id).ids) == {beside.id, fact.id}
    assert world.texts(ANY_STATE) == ["evidence"]
    assert world.faults() == []


def test_its_links_go_from_both_ends(world: World) -> None:
    one, two, three = (world.item(text) for text in ("one", "two", "three"))
    world.commit(*(world.put(item) for item in (one, two, three)))
    for src, dst in ((one, two), (two, one), (one, three)):
        world.tie(src.id, dst.id, "about")
    world.tie(two.id, one.id, "about", verb=Verb.UNLINKED)
    receipt = world.erase(two.id)
    assert receipt.links == 3
    with world.store.read() as snapshot:
        space = (world.space(),)
        assert [ln.dst for ln in snapshot.links(space, (one.id, two.id, three.id))] == [three.id]
        assert snapshot.links(space, (one.id,), View(at=3)) == []
    assert world.faults() == []


def test_links_that_rest_on_it_go_with_all_that_stood_between_the_same_ends(world: World) -> None:
    one, two, why, other = (world.item(text) for text in ("one", "two", "why", "other"))
    world.commit(*(world.put(item) for item in (one, two, why, other)))
    world.tie(one.id, two.id, "zebra")
    world.tie(one.id, two.id, "zebra", evidence=(why.id, other.id))
    world.tie(one.id, two.id, "zebra", verb=Verb.UNLINKED)
    world.tie(one.id, two.id, "stays", evidence=(other.id,))
    receipt = world.erase(why.id)
    assert (receipt.ids, receipt.links) == ((why.id,), 3)
    with world.store.read() as snapshot:
        space = (world.space(),)
        assert [link.type for link in snapshot.links(space, (one.id,))] == ["stays"]
        assert [link.type for at in range(1, 6) for link in snapshot.links(space, (one.id,), View(at=at))] == ["stays"]
        assert snapshot.links_resting(world.space(), (why.id,)) == []
        assert snapshot.name_id(world.space(), "zebra") is None
    assert b"zebra" not in _exported(world)
    assert world.faults() == []


def test_its_counters_and_provenance_go(world: World) -> None:
    evidence, fact = world.item("evidence"), world.item("fact")
    fact = replace(fact, source=(evidence.id,))
    world.commit(world.put(evidence), world.put(fact))
    world.commit(Note(verb=Verb.USED, payload=b"{}"), used={fact.id: Strength(uses=1)})
    world.erase(fact.id)
    with world.store.read() as snapshot:
        assert snapshot.strength(world.space(), (fact.id,)) == {}
        assert snapshot.derived(world.space(), (evidence.id,)) == []


def test_names_go_with_the_last_item_that_bears_them(world: World) -> None:
    one, two = world.item("one", session="zebra", agent="yak"), world.item("two", session="zebra")
    world.commit(world.put(one), world.put(two), actor="walrus")
    world.erase(one.id)
    with world.store.read() as snapshot:
        assert snapshot.name_id(world.space(), "zebra") is not None
        assert snapshot.name_id(world.space(), "yak") is None
    world.erase(two.id)
    with world.store.read() as snapshot:
        assert snapshot.name_id(world.space(), "zebra") is None
    assert world.changes()[0].actor == "walrus"
    assert world.faults() == []


def test_a_name_never_stands_for_one_that_was_erased(world: World) -> None:
    item = world.item("one", agent="yak", session="yak")
    world.commit(world.put(item), actor="yak")
    world.erase(item.id)
    world.commit(world.put(world.item("two", session="newcomer")), actor="zoe")
    assert world.changes()[0].actor not in ("newcomer", "zoe")


def test_an_erased_import_does_not_come_back_under_its_key(world: World) -> None:
    first = world.commit(world.put("secret", key="chat:1", lasting=True))
    world.erase(first.id)
    again = world.commit(world.put("secret", key="chat:1", lasting=True))
    other = world.commit(world.put("something else", key="chat:1", lasting=True))
    assert again.ids == other.ids == first.ids
    assert again.seq == other.seq == first.seq
    assert world.texts(ANY_STATE) == []
    assert world.seq() == 2


def test_an_everyday_key_is_free_again_after_erasure(world: World) -> None:
    first = world.commit(world.put("secret", key="k"))
    world.erase(first.id)
    world.commit(world.put("other", key="k"))
    assert world.texts() == ["other"]


def test_a_part_of_an_import_that_was_erased_stays_away_and_the_rest_comes(world: World) -> None:
    batch = [world.put(f"message {n}", key=f"chat:{n}", lasting=True) for n in range(3)]
    first = world.commit(*batch[:2])
    world.erase(first.ids[0])
    again = world.commit(*(world.put(op.item.text, key=op.key, lasting=True) for op in batch))
    assert again.repeated == 2
    assert world.texts() == ["message 1", "message 2"]


def test_erasing_raises_the_epoch_so_that_caches_start_over(world: World) -> None:
    item = world.item("x")
    world.commit(world.put(item))
    world.commit("y", user="bob")
    before, bobs = world.epoch(), world.epoch("bob")
    world.erase(item.id)
    assert world.epoch() > before
    assert world.epoch("bob") == bobs


def test_erasing_what_is_not_there_writes_nothing(world: World) -> None:
    world.commit("x")
    receipt = world.erase(world.item("never").id)
    assert (receipt.seq, receipt.ids, receipt.versions, receipt.links) == (None, (), 0, 0)
    assert world.seq() == 1
    assert receipt.outside


def test_erasing_twice_erases_once(world: World) -> None:
    item = world.item("x")
    world.commit(world.put(item))
    world.erase(item.id)
    assert world.erase(item.id).seq is None


def test_an_unknown_tenant_or_user_is_named(world: World) -> None:
    with pytest.raises(NotFound):
        world.erase(world.item("x").id)
    world.commit("x")
    with pytest.raises(NotFound):
        world.erase(whole=True, user="nobody")
    with pytest.raises(NotFound):
        world.store.erase(Erasure(tenant="nowhere", user=None, whole=True))


def test_a_revision_that_was_under_way_does_not_bring_an_item_back(world: World) -> None:
    item = world.item("secret")
    seq = world.commit(world.put(item)).seq
    world.erase(item.id)
    with pytest.raises(Conflict):
        world.commit(world.put(replace(item, text="secret two"), Verb.REVISED), expect={item.id: seq})
    assert world.texts(ANY_STATE) == []


def test_a_whole_user_goes_name_and_all(world: World) -> None:
    item = world.item("secret zebra", session="zebra", agent="zebra")
    world.commit(world.put(item), world.put("more zebra", key="zebra", lasting=True), user="zebra", actor="zebra")
    world.tie(item.id, item.id, "zebra", user="zebra", actor="zebra")
    world.commit("other")
    receipt = world.erase(user="zebra", whole=True)
    assert receipt.versions == 2
    assert item.id in receipt.ids
    assert b"zebra" not in _exported(world)
    assert world.texts() == ["other"]
    assert [change.seq for change in world.changes()] == [1, 2, 3, 4]
    with world.store.read() as snapshot:
        assert snapshot.space(world.tenant(), "zebra") is None
        assert [head.user for head in snapshot.all_spaces(world.tenant())] == [None, "ada"]
    assert world.faults() == []


def test_a_user_of_the_same_name_starts_with_nothing(world: World) -> None:
    first = world.commit(world.put("secret", key="k", lasting=True))
    space = world.space()
    world.erase(whole=True)
    again = world.commit(world.put("secret", key="k", lasting=True))
    assert world.space() != space
    assert again.ids != first.ids
    assert world.texts() == ["secret"]
    assert world.faults() == []


def test_a_whole_tenant_goes_and_the_others_stay(world: World) -> None:
    for user, tenant in (("ada", "t"), ("bob", "t"), ("ada", "u")):
        world.commit("secret", user=user, tenant=tenant)
    receipt = world.erase(user=None, whole=True)
    assert receipt.versions == 2
    with world.store.read() as snapshot:
        assert snapshot.tenant("t") is None
    assert world.texts(tenant="u") == ["secret"]
    assert world.faults() == []
    world.commit("anew")
    assert world.texts() == ["anew"]
    assert world.faults() == []


def test_an_erasure_after_another_leaves_nothing_to_complain_of(world: World) -> None:
    items = [world.item(f"{n}", session="s") for n in range(6)]
    world.commit(*(world.put(item) for item in items))
    for one, two in pairwise(items):
        world.tie(one.id, two.id)
    for item in items[::2]:
        world.erase(item.id, reason="asked to")
        assert world.faults() == []
    world.erase(whole=True)
    assert world.faults() == []
    assert world.store.settle()
