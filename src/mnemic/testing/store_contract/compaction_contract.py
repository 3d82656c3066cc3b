"""Compaction: what lies behind the horizon goes, slice by slice; what stands, is held or is rested on stays."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from mnemic.core.events import Verb
from mnemic.core.items import Item, Link, State, Strength
from mnemic.core.queries import View
from mnemic.core.scope import SHARED
from mnemic.errors import Compacted, Invalid, NotFound, Refused
from mnemic.store.engine import compaction, holds, rewinding
from mnemic.store.values.drafts import Erasure, Note, Put, Tie
from mnemic.store.values.heads import Hold
from mnemic.testing.deeds import state_hash
from mnemic.testing.store_contract.contract_world import ANY_STATE, TENANT, World

_MOMENT = 1e-9
"""Less time than any work takes: a slice does one step."""


def sweep(world: World, seconds: float = 1.0) -> int:
    """Sweep until nothing is left; how many versions went."""
    versions, more = 0, True
    while more:
        swept = world.store.sweep(TENANT, seconds)
        versions, more = versions + swept.versions, swept.more
    return versions


def gone(world: World, *items: Item) -> bool:
    """Whether no version of any of these is left."""
    with world.store.read() as snapshot:
        return not any(snapshot.history((world.space(),), item.id) for item in items)


def test_a_retired_item_goes_once_the_horizon_has_passed_it(world: World) -> None:
    item = world.item("gone")
    world.commit(world.put(item))
    seq = world.retire(item).seq
    assert compaction.compact(world.store, TENANT, seq - 1) == 0
    assert not gone(world, item)
    assert compaction.compact(world.store, TENANT, seq) == 2
    assert gone(world, item)
    assert world.texts(ANY_STATE) == []
    assert world.faults() == []


def test_what_was_retired_takes_its_links_and_counters_along(world: World) -> None:
    item, other = world.item("gone"), world.item("stays")
    world.commit(world.put(item), world.put(other))
    world.tie(item.id, other.id)
    world.commit(Note(verb=Verb.USED, payload=b"{}"), used={item.id: Strength(uses=1)})
    compaction.compact(world.store, TENANT, world.retire(item).seq)
    with world.store.read() as snapshot:
        space = world.space()
        assert snapshot.links((space,), (other.id,)) == []
        assert snapshot.strength(space, (item.id,)) == {}
    assert world.texts(ANY_STATE) == ["stays"]
    assert world.faults() == []


@pytest.mark.parametrize("cites", ["source", "context"])
def test_what_something_live_cites_stays(world: World, cites: str) -> None:
    evidence, other = world.item("evidence"), world.item("other")
    cited = {"source": (other.id,), cites: (evidence.id,)}
    fact = world.item("fact", **cited)
    world.commit(*map(world.put, (evidence, other, fact)))
    compaction.compact(world.store, TENANT, world.retire(evidence).seq)
    assert not gone(world, evidence)
    compaction.compact(world.store, TENANT, world.retire(fact).seq)
    assert gone(world, fact, evidence)
    assert world.faults() == []


def test_what_was_retired_lately_still_keeps_what_it_cites(world: World) -> None:
    evidence = world.item("evidence")
    fact = world.item("fact", source=(evidence.id,))
    world.commit(world.put(evidence), world.put(fact))
    seq = world.retire(evidence).seq
    world.retire(fact)
    compaction.compact(world.store, TENANT, seq)
    assert not gone(world, evidence)
    assert world.faults() == []


def test_shared_evidence_stays_while_any_user_rests_on_it(world: World) -> None:
    evidence = world.item("evidence")
    world.commit(world.put(evidence), user=SHARED)
    world.commit(world.put(world.item("fact", source=(evidence.id,))), user="bob")
    compaction.compact(world.store, TENANT, world.retire(evidence, user=SHARED).seq)
    assert len(world.versions(ANY_STATE, user=SHARED)) == 1
    assert world.faults() == []


def test_what_a_live_item_is_linked_to_stays(world: World) -> None:
    old, new, other = world.item("old"), world.item("new"), world.item("other")
    world.commit(world.put(old), world.put(new), world.put(other))
    world.tie(new.id, old.id, "supersedes")
    world.commit(Tie(verb=Verb.LINKED, link=Link(src=new.id, dst=new.id, type="about", evidence=(other.id,))))
    world.retire(old)
    compaction.compact(world.store, TENANT, world.retire(other).seq)
    assert not gone(world, old)
    assert not gone(world, other)
    world.tie(new.id, old.id, "supersedes", verb=Verb.UNLINKED)
    compaction.compact(world.store, TENANT, world.seq())
    assert gone(world, old)
    assert world.faults() == []


def test_a_link_that_the_journal_still_tells_of_keeps_its_ends(world: World) -> None:
    item, other = world.item("gone"), world.item("stays")
    world.commit(world.put(item), world.put(other))
    seq = world.retire(item).seq
    world.tie(item.id, other.id)
    compaction.compact(world.store, TENANT, seq)
    assert not gone(world, item)
    assert world.faults() == []


def test_a_pinned_item_stays_retired_or_not(world: World) -> None:
    item = world.item("pinned", pinned=True)
    world.commit(world.put(item))
    compaction.compact(world.store, TENANT, world.retire(item).seq)
    assert not gone(world, item)


def test_an_untied_link_leaves_nothing(world: World) -> None:
    one, two = world.item("one"), world.item("two")
    world.commit(world.put(one), world.put(two))
    world.tie(one.id, two.id)
    world.tie(one.id, two.id, verb=Verb.UNLINKED)
    compaction.compact(world.store, TENANT, world.seq())
    assert [change.seq for change in world.changes()][:2] == [1, 3]
    assert world.faults() == []


def test_names_go_with_what_bore_them(world: World) -> None:
    item = world.item("gone", session="zebra", agent="yak")
    world.commit(world.put(item), world.put(world.item("stays", agent="yak")), actor="walrus")
    world.retire(item, actor="tester")
    world.commit("later")
    compaction.compact(world.store, TENANT, world.seq())
    with world.store.read() as snapshot:
        assert snapshot.name_id(world.space(), "zebra") is None
        assert snapshot.name_id(world.space(), "yak") is not None
    world.commit(world.put(world.item("again", session="zebra")))
    assert world.faults() == []


def test_names_are_looked_for_again_once_as_much_has_gone_as_makes_it_worth_while(world: World) -> None:
    stay = [world.item(f"stays {n}") for n in range(60)]
    gone = [world.item(f"gone {n}", session=f"s{n}") for n in range(12)]
    world.commit(*map(world.put, (*stay, *gone)))

    def named(first: int, last: int) -> list[bool]:
        with world.store.read() as snapshot:
            return [snapshot.name_id(world.space(), f"s{n}") is not None for n in range(first, last)]

    for first, last, stands in ((0, 1, False), (1, 2, True), (2, 12, False)):
        world.commit(*(_retired(item) for item in gone[first:last]))
        compaction.compact(world.store, TENANT, world.seq())
        assert set(named(first, last)) == {stands}
    assert named(1, 2) == [False]
    assert world.faults() == []


def test_a_name_that_outlives_what_bore_it_goes_when_it_is_erased(world: World) -> None:
    stay = [world.item(f"stays {n}", session="zebra" if n else "yak") for n in range(60)]
    gone = [world.item(f"gone {n}", session=f"s{n}") for n in range(2)]
    world.commit(*map(world.put, (*stay, *gone)))
    for item in gone:
        compaction.compact(world.store, TENANT, world.retire(item).seq)
    with world.store.read() as snapshot:
        assert snapshot.name_id(world.space(), "s1") is not None
    world.store.erase(Erasure(tenant=TENANT, user="ada", names=("s1", "zebra", "never")))
    with world.store.read() as snapshot:
        assert snapshot.name_id(world.space(), "s1") is None
        assert snapshot.name_id(world.space(), "zebra") is not None
    world.store.erase(Erasure(tenant=TENANT, user="ada", ids=(stay[0].id,), names=("yak",)))
    with world.store.read() as snapshot:
        assert snapshot.name_id(world.space(), "yak") is None
    assert world.faults() == []


def test_the_number_of_a_version_that_went_is_never_given_again(world: World) -> None:
    item = world.item("gone")
    world.commit(world.put(item))
    world.retire(item)
    with world.store.read() as snapshot:
        newest = snapshot.newest(world.space())
    compaction.compact(world.store, TENANT, world.seq())
    world.commit("later")
    with world.store.read() as snapshot:
        assert [entry.ver for entry in snapshot.entries(world.space()) if entry.ver <= newest] == []


def test_the_past_is_refused_from_the_moment_the_horizon_moves(world: World) -> None:
    item = world.item("one")
    world.commit(world.put(item))
    world.commit(world.put(replace(item, text="two"), Verb.REVISED))
    assert world.store.transact(compaction.move, TENANT, 2) == 0
    with pytest.raises(Compacted):
        world.texts(view=View(at=1))
    assert world.faults() == []
    assert world.texts(view=View(at=2)) == ["two"]


def test_every_slice_leaves_a_sound_store_that_shows_the_same(world: World) -> None:
    _busy(world)
    shown = world.texts()
    horizon = world.seq()
    world.store.transact(compaction.move, TENANT, horizon)
    hashes, more = set(), True
    while more:
        swept = world.store.sweep(TENANT, _MOMENT)
        more = swept.more
        assert world.faults() == []
        assert world.texts() == world.texts(view=View(at=horizon)) == shown
        hashes.add(state_hash(world.store, TENANT))
    assert len(hashes) > 1


def test_writers_come_between_slices(world: World) -> None:
    _busy(world)
    world.store.transact(compaction.move, TENANT, world.seq())
    numbers: Iterator[int] = iter(range(1000))
    while world.store.sweep(TENANT, _MOMENT).more:
        world.commit(world.put(world.item(f"meanwhile {next(numbers)}", session=f"s{next(numbers)}")))
    sweep(world)
    assert world.faults() == []
    assert len([text for text in world.texts() if text.startswith("meanwhile")]) == next(numbers) // 2


def test_a_sweep_that_was_left_half_way_is_finished_by_the_next(world: World) -> None:
    _busy(world)
    world.store.transact(compaction.move, TENANT, world.seq())
    world.store.sweep(TENANT, _MOMENT)
    world.commit("later")
    world.store.transact(compaction.move, TENANT, world.seq())
    sweep(world)
    with world.store.read() as snapshot:
        number = snapshot.tenant(TENANT)
        assert number is not None
        assert snapshot.version_counts(number).closed == 0
    assert world.faults() == []


def test_sweeping_without_a_horizon_takes_nothing(world: World) -> None:
    _busy(world)
    state = state_hash(world.store, TENANT)
    assert sweep(world) == 0
    assert state_hash(world.store, TENANT) == state
    with pytest.raises(NotFound):
        world.store.sweep("nowhere", 1.0)


def test_compaction_takes_nothing_that_an_export_of_what_stands_would_miss(world: World) -> None:
    _busy(world)
    before = [v.item for v in world.versions()]
    compaction.compact(world.store, TENANT, world.seq())
    assert [v.item for v in world.versions()] == before
    assert world.faults() == []


# Holds


def test_a_held_item_cannot_be_erased_by_item_session_or_user(world: World) -> None:
    item = world.item("held", session="s")
    world.commit(world.put(item))
    for hold in (
        Hold(tenant=TENANT, user="ada", item=item.id, reason="case 7"),
        Hold(tenant=TENANT, user="ada", session="s"),
        Hold(tenant=TENANT, user="ada"),
        Hold(tenant=TENANT),
    ):
        number = world.store.transact(holds.place, hold)
        with pytest.raises(Refused, match=f"hold {number}"):
            world.erase(item.id)
        with pytest.raises(Refused, match=f"hold {number}"):
            world.erase(whole=True)
        with pytest.raises(Refused, match=f"hold {number}"):
            world.erase(whole=True, user=None)
        world.store.transact(holds.lift, TENANT, number)
    assert world.texts() == ["held"]
    world.erase(item.id)
    assert world.texts() == []
    assert world.faults() == []


def test_a_hold_keeps_what_was_derived_from_being_erased_with_its_source(world: World) -> None:
    evidence = world.item("evidence")
    fact = world.item("fact", source=(evidence.id,))
    world.commit(world.put(evidence), world.put(fact))
    world.store.transact(holds.place, Hold(tenant=TENANT, user="ada", item=fact.id))
    with pytest.raises(Refused):
        world.erase(evidence.id)
    assert world.texts() == ["evidence", "fact"]


def test_a_hold_on_one_user_is_nothing_to_another(world: World) -> None:
    item = world.item("bob's")
    world.commit(world.put(item), user="bob")
    world.commit("ada's")
    world.store.transact(holds.place, Hold(tenant=TENANT, user="ada"))
    world.erase(item.id, user="bob")
    assert world.texts(user="bob") == []


def test_the_horizon_does_not_pass_a_hold_and_what_it_keeps_is_not_swept(world: World) -> None:
    item, other = world.item("held"), world.item("other")
    world.commit(world.put(item), world.put(other))
    world.commit(world.put(replace(item, text="held two"), Verb.REVISED))
    world.commit(world.put(replace(other, text="other two"), Verb.REVISED))
    number = world.store.transact(holds.place, Hold(tenant=TENANT, user="ada", item=item.id))
    world.commit("later")
    with pytest.raises(Refused, match=f"hold {number}"):
        compaction.compact(world.store, TENANT, world.seq())
    assert compaction.compact(world.store, TENANT, 3) == 1
    with world.store.read() as snapshot:
        assert [v.item.text for v in snapshot.history((world.space(),), item.id)] == ["held", "held two"]
        assert snapshot.floor(world.tenant())[0] == 3
    assert world.faults() == []
    world.store.transact(holds.lift, TENANT, number)
    assert compaction.compact(world.store, TENANT, world.seq()) == 1
    assert world.faults() == []


def test_holds_are_listed_with_who_and_why_and_their_reason_is_not_journaled(world: World) -> None:
    item = world.item("held")
    world.commit(world.put(item))
    number = world.store.transact(
        holds.place, Hold(tenant=TENANT, user="ada", item=item.id, reason="zebra", actor="counsel")
    )
    with world.store.read() as snapshot:
        (hold,) = snapshot.holds(world.tenant())
        assert (hold.id, hold.user, hold.item, hold.reason, hold.actor) == (number, "ada", item.id, "zebra", "counsel")
        assert list(snapshot.reasons_to_keep(world.tenant(), world.space(), [item.id])) == [item.id]
    assert not any(b"zebra" in (event.payload or b"") for change in world.changes() for event in change.events)
    world.store.transact(holds.lift, TENANT, number)
    with world.store.read() as snapshot:
        assert snapshot.holds(world.tenant()) == []


def test_a_hold_on_what_is_not_there_is_refused(world: World) -> None:
    world.commit("x")
    with pytest.raises(NotFound):
        world.store.transact(holds.place, Hold(tenant="nowhere"))
    with pytest.raises(NotFound):
        world.store.transact(holds.place, Hold(tenant=TENANT, user="nobody"))
    with pytest.raises(NotFound):
        world.store.transact(holds.place, Hold(tenant=TENANT, user="ada", item=world.item("never").id))
    with pytest.raises(Invalid):
        world.store.transact(holds.place, Hold(tenant=TENANT, session="s"))
    with pytest.raises(NotFound):
        world.store.transact(holds.lift, TENANT, 7)


def test_a_note_is_journaled_and_its_facts_are_kept(world: World) -> None:
    world.commit("x")
    seq = world.store.transact(compaction.enter, TENANT, Verb.COLLECTED, b'{"freed":1}', {"gc": b"a"})
    world.store.transact(compaction.enter, TENANT, Verb.COLLECTED, b"{}", {"gc": b"b"})
    with world.store.read() as snapshot:
        assert snapshot.memo(world.tenant(), "gc") == b"b"
        assert snapshot.memo(world.tenant(), "other") is None
    change = world.changes()[seq - 1]
    assert (change.seq, change.events[0].verb, change.events[0].payload) == (seq, Verb.COLLECTED, b'{"freed":1}')
    assert world.faults() == []


def _busy(world: World) -> None:
    """Items revised, retired, linked and untied, with counters, over a hundred commits."""
    for n in range(20):
        item, fact = world.item(f"item {n}", session=f"old {n}"), world.item(f"fact {n}")
        fact = replace(fact, source=(item.id,))
        world.commit(world.put(item), world.put(fact))
        world.commit(world.put(replace(fact, text=f"fact {n} again"), Verb.REVISED))
        world.tie(fact.id, item.id, f"type {n}")
        world.commit(Note(verb=Verb.USED, payload=b"{}"), used={fact.id: Strength(uses=1)})
        if n % 2:
            world.tie(fact.id, item.id, f"type {n}", verb=Verb.UNLINKED)
        if n % 3:
            world.retire(replace(fact, text=f"fact {n} again"))
        if n % 5:
            world.retire(item)


# What others do between two slices


@pytest.mark.parametrize("slices", range(1, 9))
def test_a_link_that_takes_the_number_of_one_that_went_is_seen(world: World, slices: int) -> None:
    old, kept, erased = world.item("old"), world.item("kept"), world.item("erased")
    fact = world.item("fact", source=(old.id,))
    world.commit(*map(world.put, (old, kept, erased, fact)))
    world.retire(old)
    world.tie(kept.id, erased.id, "first")
    world.store.transact(compaction.move, TENANT, world.retire(fact).seq)
    for _ in range(slices):
        world.store.sweep(TENANT, _MOMENT)
    if gone(world, old):
        return
    world.erase(erased.id)
    world.commit(Tie(verb=Verb.LINKED, link=Link(src=kept.id, dst=kept.id, type="second", evidence=(old.id,))))
    sweep(world)
    assert not gone(world, old)
    assert world.faults() == []


def test_a_sweep_begins_again_when_the_store_went_back_in_time(world: World) -> None:
    stays = world.item("stays")
    items = [world.item(f"gone {n}", session=f"s{n}") for n in range(600)]
    world.commit(world.put(stays), *map(world.put, items))
    gone_at = world.commit(*(_retired(item) for item in items)).seq
    for n in range(3):
        world.commit(world.put(world.item(f"later {n}")))
    world.store.transact(compaction.move, TENANT, gone_at)
    while not (swept := world.store.sweep(TENANT, _MOMENT)).names:
        pass
    assert swept.more
    world.store.transact(rewinding.rewind, TENANT, world.seq() - 2)
    world.commit(world.put(world.item("after all")), actor="walrus")
    sweep(world)
    assert world.faults() == []
    assert [change.actor for change in world.changes()][-1] == "walrus"


def _retired(item: Item) -> Put:
    return Put(verb=Verb.RETIRED, item=replace(item, state=State.RETIRED), terms=None)
