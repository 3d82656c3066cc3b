"""The journal as a feed: gap-free, in order, with what each commit wrote, closed and tied."""

from __future__ import annotations

from dataclasses import replace

from mnemic.core.events import Verb
from mnemic.core.items import Link, State
from mnemic.core.queries import View
from mnemic.store.values.drafts import Note, Tie
from mnemic.testing.store_contract.contract_world import TENANT, World


def test_the_feed_is_gap_free_from_any_place(world: World) -> None:
    for n in range(9):
        world.commit(f"{n}", user="ada" if n % 2 else "bob")
    with world.store.read() as snapshot:
        number = snapshot.tenant(TENANT)
        assert number is not None
        for after in range(10):
            seqs = [change.seq for change in snapshot.changes(number, after)]
            assert seqs == list(range(after + 1, 10))
        assert [c.seq for c in snapshot.changes(number, 2, 3)] == [3, 4, 5]


def test_the_commits_that_note_something_are_found_without_the_others(world: World) -> None:
    world.commit("a", Note(verb=Verb.COLLECTED, payload=b"{}"))
    world.commit("b", Note(verb=Verb.MERGED, payload=b"{}"))
    world.commit("c")
    world.commit("d", Note(verb=Verb.COLLECTED, payload=b"{}"))
    with world.store.read() as snapshot:
        number = snapshot.tenant(TENANT)
        assert number is not None
        assert snapshot.note_seqs(number, (Verb.COLLECTED, Verb.COMPACTED)) == [1, 4]
        assert snapshot.note_seqs(number, (Verb.MERGED,)) == [2]
        assert snapshot.note_seqs(number, (Verb.COLLECTED, Verb.MERGED, Verb.WROTE), after=1) == [2, 4]


def test_the_newest_changes_come_newest_first(world: World) -> None:
    for n in range(5):
        world.commit(f"{n}")
    with world.store.read() as snapshot:
        number = snapshot.tenant(TENANT)
        assert number is not None
        assert [c.seq for c in snapshot.changes(number, 0, 3, newest=True)] == [5, 4, 3]
        assert [c.seq for c in snapshot.changes(number, 3, 100, newest=True)] == [5, 4]


def test_a_change_says_who_where_and_why(world: World) -> None:
    item = world.item("x")
    world.commit(world.put(item), actor="planner")
    (change,) = world.changes()
    assert (change.actor, change.space, change.cause) == ("planner", world.space(), None)
    assert change.events[0].erased is False
    assert len(change.events[0].digest) == len(change.hash) == 32


def test_written_pairs_each_version_with_the_one_it_followed(world: World) -> None:
    old, new = world.item("old"), world.item("new")
    world.commit(world.put(old))
    world.commit(world.put(new), world.put(replace(old, text="older"), Verb.REVISED))
    with world.store.read() as snapshot:
        pairs = snapshot.written(world.space(), 2)
    assert [(a.item.text, b and b.item.text) for a, b in pairs] == [("new", None), ("older", "old")]


def test_a_link_stands_until_it_is_untied_and_its_past_is_kept(world: World) -> None:
    one, two = world.item("one"), world.item("two")
    world.commit(world.put(one), world.put(two))
    world.tie(one.id, two.id)
    world.commit(
        Tie(verb=Verb.LINKED, link=Link(src=one.id, dst=two.id, type="about", weight=0.25, evidence=(two.id,)))
    )
    world.tie(one.id, two.id, verb=Verb.UNLINKED)
    with world.store.read() as snapshot:
        space = (world.space(),)
        at = [[ln.weight for ln in snapshot.links(space, (one.id,), View(at=seq))] for seq in range(1, 5)]
        assert at == [[], [1.0], [0.25], []]
        assert snapshot.links(space, (two.id,), View(at=3))[0].evidence == (two.id,)
        assert [[(ln.type, opened) for ln, opened in snapshot.links_written(space[0], seq)] for seq in (1, 3, 4)] == [
            [],
            [("about", True)],
            [("about", False)],
        ]
        assert snapshot.links(space, (one.id,)) == []


def test_links_of_different_types_and_directions_stand_beside_each_other(world: World) -> None:
    one, two = world.item("one"), world.item("two")
    world.commit(world.put(one), world.put(two))
    for src, dst, type_ in ((one, two, "about"), (two, one, "about"), (one, two, "About"), (one, one, "about")):
        world.tie(src.id, dst.id, type_)
    with world.store.read() as snapshot:
        found = snapshot.links((world.space(),), (one.id,))
        both = snapshot.links((world.space(),), (one.id, two.id))
    assert len(found) == len(both) == 4
    assert {(ln.src, ln.dst, ln.type) for ln in found} == {
        (one.id, two.id, "about"),
        (two.id, one.id, "about"),
        (one.id, two.id, "About"),
        (one.id, one.id, "about"),
    }


def test_derived_items_are_found_by_the_evidence_they_stand_on(world: World) -> None:
    evidence, other = world.item("evidence"), world.item("other")
    fact = world.item("fact", source=(evidence.id, other.id))
    world.commit(world.put(evidence), world.put(other), world.put(fact))
    with world.store.read() as snapshot:
        assert snapshot.derived(world.space(), (evidence.id,)) == [fact.id]
    world.commit(world.put(replace(fact, source=(other.id,)), Verb.REVISED))
    with world.store.read() as snapshot:
        assert snapshot.derived(world.space(), (evidence.id,)) == []
        assert snapshot.derived(world.space(), (evidence.id, other.id)) == [fact.id]


def test_standing_shows_an_item_in_whatever_state_it_is(world: World) -> None:
    item = world.item("x")
    world.commit(world.put(item))
    world.retire(item)
    with world.store.read() as snapshot:
        assert snapshot.standing((world.space(),), (item.id,))[item.id].item.state is State.RETIRED
        assert snapshot.get((world.space(),), (item.id,)) == {}


def test_a_space_knows_the_last_commit_that_touched_it(world: World) -> None:
    world.commit("x")
    world.commit("y", user="bob")
    world.commit("z")
    with world.store.read() as snapshot:
        heads = {head.user: head.seq for head in snapshot.all_spaces(world.tenant())}
    assert heads == {"ada": 3, "bob": 2}
