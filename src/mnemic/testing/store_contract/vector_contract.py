"""Embedders and their vectors: kept with the lane they fill, carried with tokens, and gone with what they stand for."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from mnemic.core.events import Verb
from mnemic.core.items import Item, Kind, Sight, State
from mnemic.core.queries import View
from mnemic.core.scope import SHARED
from mnemic.errors import Compacted, Conflict, Invalid, NotFound
from mnemic.models.base import TRAITS
from mnemic.store.engine import compaction, journal_io, lane_cursors
from mnemic.store.sqlite.sqlite_store import MemoryStore
from mnemic.store.values.drafts import Put
from mnemic.store.values.work import EmbedderState, VectorRow, Vectors, embedding_lane
from mnemic.testing.deeds import dismiss, state_hash
from mnemic.testing.store_contract.contract_world import TENANT, World, day, us

DIMS = 4


def enlist(world: World, name: str = "e-1", dims: int = DIMS, state: EmbedderState = EmbedderState.FILLING) -> int:
    """An embedder of four numbers."""
    return world.store.transact(lane_cursors.enlist, name, dims, state)


def f16(number: int) -> bytes:
    """A vector that says whose it is."""
    return (number & 0xFFFF).to_bytes(2, "little") * DIMS


def batch(world: World, model: int, user: str = "ada", limit: int = 1000, owner: str = "") -> Vectors:
    """Vectors of the next versions past the lane's cursor."""
    space = world.space(user)
    with world.store.read() as snapshot:
        after = snapshot.lane(space, embedding_lane(model)).cursor
        entries = list(snapshot.entries(space, after))
    upto = max([after, *sorted({entry.ver for entry in entries})[:limit]])
    rows = tuple(VectorRow(e.ver, e.part, f16(e.ver)) for e in entries if e.ver <= upto)
    return Vectors(space=space, model=model, rows=rows, lane=embedding_lane(model), owner=owner, after=after, upto=upto)


def vectors(world: World, model: int, user: str = "ada", after: int = 0) -> list[VectorRow]:
    """What is held."""
    with world.store.read() as snapshot:
        return list(snapshot.vectors(world.space(user), model, after))


def vers(world: World, item: Item) -> list[int]:
    """The numbers of an item's standing version's entries."""
    with world.store.read() as snapshot:
        found = snapshot.scan((world.space(),), view=View(), limit=1000)
        return [ver for ver, version in found if version.item.id == item.id]


def cursor(world: World, model: int) -> int:
    """How far the embedder's lane has come."""
    with world.store.read() as snapshot:
        return snapshot.lane(world.space(), embedding_lane(model)).cursor


def test_an_embedder_is_made_known_once(world: World) -> None:
    one, two = enlist(world), enlist(world, "e-2", 8, EmbedderState.SERVING)
    assert enlist(world, state=EmbedderState.SERVING) == one != two
    with world.store.read() as snapshot:
        assert snapshot.embedders() == [
            (one, "e-1", DIMS, EmbedderState.FILLING),
            (two, "e-2", 8, EmbedderState.SERVING),
        ]


def test_an_embedder_of_other_dimensions_needs_another_name(world: World) -> None:
    enlist(world)
    with pytest.raises(Conflict, match="dimensions"):
        enlist(world, dims=DIMS + 1)


def test_an_embedder_is_appointed(world: World) -> None:
    one = enlist(world)
    world.store.transact(lane_cursors.appoint, one, EmbedderState.SERVING)
    with world.store.read() as snapshot:
        assert snapshot.embedders()[0].state is EmbedderState.SERVING
    with pytest.raises(NotFound):
        world.store.transact(lane_cursors.appoint, 99, EmbedderState.SERVING)


def test_vectors_are_kept_and_read_in_order_with_the_lane_they_fill(world: World) -> None:
    world.commit("one", world.put("long " * 3_000))
    world.commit("three")
    model = enlist(world)
    given = batch(world, model)
    shuffled = replace(given, rows=tuple(reversed(given.rows)))
    assert world.store.transact(lane_cursors.keep, shuffled) == len(given.rows) > 4
    assert vectors(world, model) == list(given.rows)
    assert cursor(world, model) == given.upto
    assert vectors(world, model, after=given.upto - 1) == [given.rows[-1]]
    assert vectors(world, model + 1) == []
    assert world.faults() == []


def test_vectors_are_kept_in_steps(world: World) -> None:
    world.commit(*(f"turn {n}" for n in range(5)))
    model, kept = enlist(world), 0
    while step := batch(world, model, limit=2).rows:
        kept += world.store.transact(lane_cursors.keep, batch(world, model, limit=2))
        assert len(step) <= 2
    assert kept == len(vectors(world, model)) == 5
    with world.store.read() as snapshot:
        assert snapshot.backlog(embedding_lane(model)) == []


def test_a_step_without_vectors_moves_the_lane(world: World) -> None:
    world.commit("x")
    model = enlist(world)
    given = batch(world, model)
    assert world.store.transact(lane_cursors.keep, replace(given, rows=())) == 0
    assert cursor(world, model) == given.upto
    assert vectors(world, model) == []


def test_a_batch_is_kept_once(world: World) -> None:
    world.commit("x")
    model = enlist(world)
    given = batch(world, model)
    world.store.transact(lane_cursors.keep, given)
    with pytest.raises(Conflict, match="stands at"):
        world.store.transact(lane_cursors.keep, replace(given, rows=(VectorRow(given.upto, 0, f16(7)),)))
    assert vectors(world, model) == list(given.rows)


def test_vectors_with_traits_are_kept_as_they_are_and_are_sound(world: World) -> None:
    world.commit("x")
    model = enlist(world)
    given = batch(world, model)
    rows = tuple(VectorRow(row.ver, row.part, row.f16 + bytes(range(len(TRAITS)))) for row in given.rows)
    world.store.transact(lane_cursors.keep, replace(given, rows=rows))
    assert vectors(world, model) == list(rows)
    assert world.faults() == []


def eight(number: int) -> bytes:
    """Traits that say whose they are."""
    return bytes([number & 0x7F]) * len(TRAITS)


def without_traits(world: World, model: int) -> dict[int, int]:
    """How many vectors have none, by space."""
    with world.store.read() as snapshot:
        return snapshot.without_traits(next(row for row in snapshot.embedders() if row.id == model))


def test_traits_come_behind_vectors_that_have_none_and_caches_start_over_with_the_last(world: World) -> None:
    world.commit("x", "y", "z")
    world.commit("hers", user="bob")
    model = enlist(world)
    first, second, third = batch(world, model).rows
    rows = (first, second, third._replace(f16=third.f16 + eight(99)))
    world.store.transact(lane_cursors.keep, replace(batch(world, model), rows=rows))
    world.store.transact(lane_cursors.keep, batch(world, model, "bob"))
    ada, bob = world.space(), world.space("bob")
    assert without_traits(world, model) == {ada: 2, bob: 1}
    epoch, reached = world.epoch(), cursor(world, model)
    fill = lane_cursors.add_traits
    assert world.store.transact(fill, ada, model, {(first.ver, 0): eight(first.ver)}, last=False) == 1
    assert (world.epoch(), without_traits(world, model)) == (epoch, {ada: 1, bob: 1})
    given = {(row.ver, 0): eight(row.ver) for row in (first, second, third)}
    assert world.store.transact(fill, ada, model, given, last=True) == 1
    assert world.epoch() > epoch
    assert vectors(world, model) == [*(row._replace(f16=row.f16 + eight(row.ver)) for row in rows[:2]), rows[2]]
    assert (without_traits(world, model), cursor(world, model)) == ({bob: 1}, reached)
    assert world.faults() == []


def test_traits_of_a_vector_that_has_gone_or_of_another_size_are_not_kept(world: World) -> None:
    item = world.put("x")
    world.commit(item)
    model = enlist(world)
    given = batch(world, model)
    (row,) = given.rows
    world.store.transact(lane_cursors.keep, given)
    space = world.space()
    with pytest.raises(Invalid, match="traits"):
        world.store.transact(lane_cursors.add_traits, space, model, {(row.ver, 0): b"1234567"}, last=True)
    with pytest.raises(NotFound):
        world.store.transact(lane_cursors.add_traits, space, model + 1, {(row.ver, 0): eight(1)}, last=True)
    assert world.store.transact(lane_cursors.add_traits, space, model, {}, last=True) == 0
    assert vectors(world, model) == [row]
    world.erase(whole=True)
    assert world.store.transact(lane_cursors.add_traits, space, model, {(row.ver, 0): eight(1)}, last=True) == 0
    assert world.faults() == []


def test_a_vector_of_any_other_size_is_refused(world: World) -> None:
    world.commit("x")
    model = enlist(world)
    given = batch(world, model)
    for size in (2 * DIMS - 2, 2 * DIMS + 2, 2 * DIMS + len(TRAITS) + 1):
        rows = tuple(VectorRow(row.ver, row.part, bytes(size)) for row in given.rows)
        with pytest.raises(Invalid, match=f"a vector has {size} bytes"):
            world.store.transact(lane_cursors.keep, replace(given, rows=rows))
    assert vectors(world, model) == []


def test_who_has_lost_the_lease_keeps_nothing(world: World) -> None:
    world.commit("x")
    model = enlist(world)
    given = batch(world, model)
    world.store.transact(lane_cursors.claim, world.space(), embedding_lane(model), "one", 60)
    for owner in ("two", ""):
        with pytest.raises(Conflict, match="leased"):
            world.store.transact(lane_cursors.keep, replace(given, owner=owner))
    assert vectors(world, model) == []
    assert world.store.transact(lane_cursors.keep, replace(given, owner="one")) == 1


def test_a_batch_that_cannot_be_right_is_refused(world: World) -> None:
    world.commit("x", "y")
    model = enlist(world)
    given = batch(world, model)
    (first, last) = given.rows
    for wrong in (
        replace(given, rows=(first._replace(f16=b"short"),)),
        replace(given, upto=first.ver),
        replace(given, lane="house"),
        replace(given, rows=(), after=5, upto=4),
    ):
        with pytest.raises(Invalid):
            world.store.transact(lane_cursors.keep, wrong)
    with pytest.raises(NotFound):
        world.store.transact(lane_cursors.keep, replace(given, model=model + 1, lane=embedding_lane(model + 1)))
    with pytest.raises(NotFound):
        world.store.transact(lane_cursors.keep, replace(given, space=99))
    assert vectors(world, model) == []
    assert cursor(world, model) == 0
    assert last.ver == given.upto


def test_an_embedder_that_retires_takes_no_more_vectors_until_it_is_enlisted_again(world: World) -> None:
    world.commit("x")
    model = enlist(world)
    world.store.transact(lane_cursors.appoint, model, EmbedderState.RETIRING)
    with pytest.raises(Conflict, match="retires"):
        world.store.transact(lane_cursors.keep, batch(world, model))
    assert enlist(world) == model
    assert world.store.transact(lane_cursors.keep, batch(world, model)) == 1


def test_what_was_erased_meanwhile_is_never_brought_back(world: World) -> None:
    gone, stays = world.item("gone " * 1_000), world.item("stays")
    world.commit(world.put(stays), world.put(gone))
    model = enlist(world)
    given = batch(world, model)
    world.erase(gone.id)
    world.commit("takes no number of another's")
    assert world.store.transact(lane_cursors.keep, given) == 1
    assert [row.ver for row in vectors(world, model)] == vers(world, stays)
    assert len(batch(world, model).rows) == 1
    assert world.faults() == []


def test_nothing_is_kept_for_an_erased_user(world: World) -> None:
    world.commit("x")
    world.commit("y", user="bob")
    model = enlist(world)
    given = batch(world, model)
    world.store.transact(lane_cursors.keep, replace(given, rows=()))
    world.erase(whole=True)
    with pytest.raises(NotFound):
        world.store.transact(lane_cursors.keep, given)
    assert world.faults() == []


def test_a_version_of_the_same_words_has_its_vectors_at_once(world: World) -> None:
    item = world.item("words " * 1_000)
    world.commit(world.put(item), "other")
    models = [enlist(world), enlist(world, "e-2")]
    for model in models:
        world.store.transact(lane_cursors.keep, batch(world, model))
    before = vers(world, item)
    world.commit(Put(verb=Verb.PINNED, item=replace(item, pinned=True), terms=None))
    (after,) = vers(world, item)
    for model in models:
        was = [row for row in vectors(world, model) if row.ver in before]
        assert vectors(world, model, after=after - 1) == [row._replace(ver=after) for row in was]
        assert len(was) > 1
        assert cursor(world, model) < after
        world.store.transact(lane_cursors.keep, batch(world, model))
        assert {row.f16 for row in vectors(world, model, after=after - 1)} == {f16(after)}
    assert world.faults() == []


def test_a_version_of_other_words_has_no_vectors_yet(world: World) -> None:
    item = world.item("x")
    world.commit(world.put(item))
    model = enlist(world)
    world.store.transact(lane_cursors.keep, batch(world, model))
    world.commit(world.put(replace(item, text="y"), Verb.REVISED))
    assert [row.ver for row in vectors(world, model)] == [cursor(world, model)]
    assert len(batch(world, model).rows) == 1


def test_an_erased_item_takes_its_vectors_along(world: World) -> None:
    gone, stays = world.item("gone"), world.item("stays")
    world.commit(world.put(gone), world.put(stays))
    model, other = enlist(world), enlist(world, "e-2")
    for one in (model, other):
        world.store.transact(lane_cursors.keep, batch(world, one))
    world.commit(world.put(replace(gone, text="gone too"), Verb.REVISED))
    world.store.transact(lane_cursors.keep, batch(world, model))
    world.erase(gone.id)
    for one in (model, other):
        assert [row.ver for row in vectors(world, one)] == vers(world, stays)
    assert world.faults() == []


def test_an_erased_user_takes_all_vectors_along_and_no_others(world: World) -> None:
    world.commit("x")
    world.commit("y", user="bob")
    model, space = enlist(world), world.space()
    world.store.transact(lane_cursors.keep, batch(world, model))
    world.store.transact(lane_cursors.keep, batch(world, model, "bob"))
    world.erase(whole=True)
    with world.store.read() as snapshot:
        assert list(snapshot.vectors(space, model)) == []
    assert len(vectors(world, model, "bob")) == 1
    assert world.faults() == []


def test_compaction_drops_the_vectors_of_what_it_drops(world: World) -> None:
    item = world.item("one")
    world.commit(world.put(item))
    world.commit(world.put(replace(item, text="two"), Verb.REVISED))
    model = enlist(world)
    world.store.transact(lane_cursors.keep, batch(world, model))
    assert len(vectors(world, model)) == 2
    compaction.compact(world.store, TENANT, 2)
    assert [row.ver for row in vectors(world, model)] == vers(world, item)
    assert world.faults() == []


def test_a_dismissed_embedder_goes_with_its_vectors_and_lanes(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lane_cursors, "SLICE", 3)
    world.commit(*(f"turn {n}" for n in range(10)))
    world.commit("y", user="bob")
    model, other = enlist(world), enlist(world, "e-2")
    for one in (model, other):
        world.store.transact(lane_cursors.keep, batch(world, one))
        world.store.transact(lane_cursors.keep, batch(world, one, "bob"))
    dismiss(world.store, model)
    dismiss(world.store, model)
    with world.store.read() as snapshot:
        assert [row.id for row in snapshot.embedders()] == [other]
    assert vectors(world, model) == vectors(world, model, "bob") == []
    assert len(vectors(world, other)) == 10
    assert cursor(world, model) == 0
    dismiss(world.store, other)
    assert enlist(world) > other
    assert world.faults() == []


def test_vectors_are_no_part_of_what_is_remembered(world: World) -> None:
    world.commit("x")
    model = enlist(world)
    before = state_hash(world.store, TENANT), list(world.store.export(TENANT))
    world.store.transact(lane_cursors.keep, batch(world, model))
    assert (state_hash(world.store, TENANT), list(world.store.export(TENANT))) == before
    fresh = World(MemoryStore())
    fresh.store.transact(journal_io.load, iter(before[1]))
    with fresh.store.read() as snapshot:
        assert snapshot.embedders() == []
        assert snapshot.lane(fresh.space(), embedding_lane(model)).cursor == 0


@pytest.mark.parametrize("seed", range(5))
def test_whatever_order_things_come_in_no_vector_is_without_its_part(world: World, seed: int) -> None:
    chance = random.Random(seed)
    models = [enlist(world), enlist(world, "e-2")]
    first = world.item("first")
    world.commit(world.put(first))
    held: list[Vectors] = []
    for act in range(60):
        found = [version.item for version in world.versions()]
        item = chance.choice(found) if len(found) > 1 else None
        match chance.randrange(7):
            case 0 | 1:
                world.commit("text", world.put("words " * chance.choice((1, 900))))
            case 2 if item is not None:
                world.commit(Put(verb=Verb.PINNED, item=replace(item, pinned=not item.pinned), terms=None))
            case 3 if item is not None:
                world.erase(item.id)
            case 4:
                held.append(batch(world, chance.choice(models), limit=chance.randint(1, 4)))
            case 5:
                with world.store.read() as snapshot:
                    horizon = snapshot.head(world.tenant()).horizon
                compaction.compact(world.store, TENANT, chance.randint(horizon, world.seq()))
            case _ if held:
                given = held.pop(chance.randrange(len(held)))
                try:
                    world.store.transact(lane_cursors.keep, given)
                except Conflict:
                    assert cursor(world, given.model) != given.after
        if act % 6 == 5:  # what is wrong stays wrong, and a server takes long to look through all
            assert world.faults() == []
    for model in models:
        while batch(world, model).rows:
            world.store.transact(lane_cursors.keep, batch(world, model))
        with world.store.read() as snapshot:
            parts = [(entry.ver, entry.part) for entry in snapshot.entries(world.space())]
        assert [(row.ver, row.part) for row in vectors(world, model)] == parts


def core(world: World, view: View = View(), limit: int = 100, *users: str) -> list[str]:
    """The texts of what is always at hand."""
    spaces = [world.space(user) for user in users or ("ada",)]
    with world.store.read() as snapshot:
        return [version.item.text for version in snapshot.core(spaces, view, limit)]


def test_what_is_pinned_profile_or_procedure_is_at_hand(world: World) -> None:
    rule = world.item("rule", kind=Kind.PROCEDURE)
    world.commit("x", world.put(rule), world.put("long " * 3_000), world.put(world.item("pin", pinned=True)))
    world.commit(world.put(world.item("lives in Lisbon", kind=Kind.PROFILE)), "y")
    assert core(world) == ["rule", "pin", "lives in Lisbon"]
    assert core(world, View(), 2) == ["rule", "pin"]
    world.commit(world.put(replace(rule, text="newer rule"), Verb.REVISED))
    assert core(world) == ["pin", "lives in Lisbon", "newer rule"]
    assert core(world, View(at=2)) == ["rule", "pin", "lives in Lisbon"]
    assert core(world, View(at=1)) == ["rule", "pin"]


def test_what_is_no_longer_pinned_or_active_is_not_at_hand(world: World) -> None:
    pin, rule = world.item("pin", pinned=True), world.item("rule", kind=Kind.PROCEDURE)
    world.commit(world.put(pin), world.put(rule))
    world.commit(Put(verb=Verb.UNPINNED, item=replace(pin, pinned=False), terms=None))
    assert core(world) == ["rule"]
    world.commit(Put(verb=Verb.RETIRED, item=replace(rule, state=State.RETIRED), terms=None))
    assert core(world) == []
    world.commit(Put(verb=Verb.PINNED, item=replace(pin, pinned=True), terms=None))
    assert core(world) == ["pin"]
    world.erase(pin.id)
    assert core(world) == []


def test_what_was_at_hand_then_is_seen_in_the_view(world: World) -> None:
    old = world.item("lives in Paris", kind=Kind.PROFILE, valid_from=day(0))
    new = world.item("lives in Lisbon", kind=Kind.PROFILE, said=day(10), valid_from=day(5))
    world.commit(world.put(old))
    world.commit(*world.superseding(old, new))
    assert core(world) == ["lives in Lisbon"]
    assert core(world, View(as_of=us(7))) == ["lives in Paris"]
    assert core(world, View(valid_at=us(2))) == ["lives in Paris"]
    compaction.compact(world.store, TENANT, 2)
    with pytest.raises(Compacted):
        core(world, View(at=1))


def test_what_a_strategy_keeps_is_at_hand_for_it_alone_or_pinned(world: World) -> None:
    turn = world.item("turn", kind=Kind.TURN)
    own = {"kind": Kind.PROFILE, "slots": {"by": "mem0"}, "source": (turn.id,)}
    items = [world.item(str(sight), sight=sight, **own) for sight in Sight]
    pinned = world.item("pinned", sight=Sight.OWN, pinned=True, **own)
    world.commit(*(world.put(item) for item in (turn, *items, pinned)))
    assert core(world) == ["all", "pinned"]
    with world.store.read() as snapshot:
        for reader, shown in (("mem0", ["all", "own", "none", "pinned"]), ("zep", ["all", "pinned"])):
            versions = snapshot.core((world.space(),), View(), 100, reader)
            assert [version.item.text for version in versions] == shown


def test_what_is_at_hand_comes_from_the_spaces_named_and_in_order_of_commit(world: World) -> None:
    world.commit(world.put(world.item("mine", pinned=True)))
    world.commit(world.put(world.item("ours", pinned=True)), user=SHARED)
    world.commit(world.put(world.item("theirs", pinned=True)), user="bob")
    world.commit(world.put(world.item("mine again", pinned=True)))
    spaces = world.space(), world.space(SHARED)
    with world.store.read() as snapshot:
        assert [v.item.text for v in snapshot.core(spaces)] == ["mine", "ours", "mine again"]
        assert [v.item.text for v in snapshot.core(spaces, View(), 2)] == ["ours", "mine again"]
