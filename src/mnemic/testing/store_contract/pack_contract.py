"""Packs: bytes that a store keeps beside the entries they were made of, and that go with the first of those."""

from __future__ import annotations

from dataclasses import replace

from mnemic.core.items import Item
from mnemic.store.engine import compaction, job_queue, lane_cursors, rewinding
from mnemic.store.engine.pack_rows import keep_pack
from mnemic.store.values.drafts import JobStep
from mnemic.store.values.work import EmbedderState, NewPack, Order, PackRow, VectorRow, Vectors, embedding_lane
from mnemic.testing.store_contract.contract_world import TENANT, World

_BODY = bytes(range(256)) * 400
"""More than a page holds."""


def _packed(world: World, after: int, upto: int, body: bytes = _BODY, **fields: object) -> bool:
    """Keep a pack of what the space has between two versions; whether it was kept."""
    space = world.space()
    with world.store.read() as snapshot:
        (head,) = snapshot.spaces((space,))
        rows = snapshot.entry_count(space, after, upto, 1_000)
    row = PackRow(0, space, after, upto, head.seq, rows, 1, b"digest")
    instead, epoch = fields.pop("instead", ()), fields.pop("epoch", head.epoch)
    new = NewPack(row=row._replace(**fields), body=body, epoch=epoch, instead=instead)  # type: ignore[arg-type]
    return world.store.transact(keep_pack, new)


def _packs(world: World, model: int = 0) -> list[tuple[int, int]]:
    """What the packs of the space hold, of entries or of an embedder's vectors."""
    with world.store.read() as snapshot:
        return [(row.after, row.upto) for row in snapshot.packs(world.space(), model)]


def _written(world: World, count: int) -> tuple[list[Item], list[int]]:
    """Some items, a commit each, and the numbers of their versions."""
    items = [world.item(f"item {n}") for n in range(count)]
    for item in items:
        world.commit(world.put(item))
    with world.store.read() as snapshot:
        return items, [entry.ver for entry in snapshot.entries(world.space())]


def test_a_pack_comes_back_as_it_was_kept(world: World) -> None:
    _, vers = _written(world, 4)
    assert _packed(world, vers[1], vers[3], seq=3, build=7)
    assert _packed(world, 0, vers[1], b"")
    with world.store.read() as snapshot:
        first, second = snapshot.packs(world.space())
        assert (first.after, first.upto, first.rows) == (0, vers[1], 2)
        assert second[1:] == (world.space(), vers[1], vers[3], 3, 2, 7, b"digest", 0)
        assert (snapshot.pack_body(first.id), snapshot.pack_body(second.id)) == (bytearray(), bytearray(_BODY))
        assert snapshot.pack_body(first.id + second.id) is None
    assert world.faults() == []


def test_a_pack_takes_the_place_of_others_and_none_holds_what_another_holds(world: World) -> None:
    _, vers = _written(world, 4)
    assert _packed(world, 0, vers[1])
    assert not _packed(world, 0, vers[3])
    assert not _packed(world, vers[0], vers[2])
    with world.store.read() as snapshot:
        (former,) = snapshot.packs(world.space())
    assert _packed(world, 0, vers[3], instead=(former.id,))
    assert _packs(world) == [(0, vers[3])]


def test_a_pack_of_what_has_gone_meanwhile_is_not_kept(world: World) -> None:
    items, vers = _written(world, 4)
    assert not _packed(world, 0, vers[3], rows=5)
    epoch = world.epoch()
    world.erase(items[3].id)
    assert not _packed(world, 0, vers[2], epoch=epoch)
    assert _packed(world, 0, vers[2])
    world.erase(whole=True)
    with world.store.read() as snapshot:
        tenant = snapshot.tenant(TENANT)
        assert tenant is not None
        (head,) = snapshot.all_spaces(tenant)
    row = PackRow(0, head.id, 0, 9, head.seq, 0, 1, b"")
    assert not world.store.transact(keep_pack, NewPack(row=row, body=b"", epoch=head.epoch))


def test_erasing_an_item_takes_the_packs_with_a_version_of_it(world: World) -> None:
    items, vers = _written(world, 6)
    for after, upto in ((0, vers[1]), (vers[1], vers[3]), (vers[3], vers[5])):
        assert _packed(world, after, upto)
    world.erase(items[3].id)
    assert _packs(world) == [(0, vers[1]), (vers[3], vers[5])]
    world.commit("something more")
    assert len(_packs(world)) == 2


def test_erasing_a_user_takes_all_packs(world: World) -> None:
    _, vers = _written(world, 2)
    space = world.space()
    assert _packed(world, 0, vers[1])
    world.erase(whole=True)
    with world.store.read() as snapshot:
        assert snapshot.packs(space) == []


def test_compaction_takes_the_packs_with_what_it_drops(world: World) -> None:
    items, vers = _written(world, 6)
    for after, upto in ((0, vers[1]), (vers[1], vers[3]), (vers[3], vers[5])):
        assert _packed(world, after, upto)
    seq = world.retire(items[2]).seq
    compaction.compact(world.store, TENANT, seq)
    assert _packs(world) == [(0, vers[1]), (vers[3], vers[5])]


def test_going_back_in_time_takes_the_packs_made_since(world: World) -> None:
    _, vers = _written(world, 6)
    assert _packed(world, 0, vers[1], seq=2)
    assert _packed(world, vers[1], vers[3])
    world.store.transact(rewinding.rewind, TENANT, 5)
    assert _packs(world) == [(0, vers[1])]
    assert world.faults() == []


def test_spaces_are_known_that_have_entries_enough_outside_of_packs(world: World) -> None:
    items, vers = _written(world, 6)
    world.commit("one thing", user="bob")

    def unpacked(least: int) -> list[int]:
        with world.store.read() as snapshot:
            return snapshot.unpacked(least)

    assert unpacked(1) == [world.space(), world.space("bob")]
    assert unpacked(6) == [world.space()]
    assert unpacked(7) == []
    assert _packed(world, 0, vers[1])
    assert _packed(world, vers[1], vers[3])
    assert (unpacked(2), unpacked(3)) == ([world.space()], [])
    world.erase(items[0].id)
    assert unpacked(7) == [world.space()]  # there are some before its first pack


# Packs of an embedder's vectors


def _embedded(world: World, vers: list[int]) -> int:
    """Give versions a vector each; the embedder's number."""
    model = world.store.transact(lane_cursors.enlist, "e-1", 4, EmbedderState.SERVING)
    world.store.transact(lane_cursors.keep, _batch(world, model, vers))
    return model


def _batch(world: World, model: int, vers: list[int], after: int = 0) -> Vectors:
    rows = tuple(VectorRow(ver, 0, bytes(8)) for ver in vers)
    lane = embedding_lane(model)
    return Vectors(space=world.space(), model=model, rows=rows, lane=lane, owner="", after=after, upto=vers[-1])


def test_packs_of_vectors_stand_beside_those_of_entries(world: World) -> None:
    _, vers = _written(world, 4)
    model = _embedded(world, vers)
    assert _packed(world, 0, vers[3])
    assert _packed(world, 0, vers[2], model=model)
    assert (_packs(world), _packs(world, model)) == ([(0, vers[3])], [(0, vers[2])])
    with world.store.read() as snapshot:
        assert [row.model for row in snapshot.all_packs(world.space())] == [0, model]
        assert snapshot.unpacked(1) == []
        (former,) = snapshot.packs(world.space(), model)
    assert not _packed(world, 0, vers[3], model=model)
    assert _packed(world, 0, vers[3], model=model, instead=(former.id,))
    assert _packs(world, model) == [(0, vers[3])]


def test_a_pack_of_vectors_reaches_no_further_than_they_do(world: World) -> None:
    _, vers = _written(world, 4)
    model = _embedded(world, vers[:2])
    assert not _packed(world, 0, vers[2], model=model)
    assert not _packed(world, 0, vers[1], model=model + 1)
    assert _packed(world, 0, vers[1], model=model)
    world.store.transact(lane_cursors.appoint, model, EmbedderState.RETIRING)
    assert not _packed(world, vers[1], vers[1], model=model)


def test_packs_of_vectors_go_with_what_they_hold(world: World) -> None:
    items, vers = _written(world, 4)
    model = _embedded(world, vers)
    assert _packed(world, 0, vers[3], model=model)
    world.erase(items[2].id)
    assert _packs(world, model) == []
    assert _packed(world, 0, vers[3], model=model)
    compaction.compact(world.store, TENANT, world.retire(items[1]).seq)
    assert _packs(world, model) == []
    world.commit("one more")
    assert _packed(world, 0, vers[3], model=model)
    world.store.transact(rewinding.rewind, TENANT, world.seq() - 1)
    assert _packs(world, model) == []
    assert world.faults() == []


def test_packs_of_vectors_go_with_their_embedder(world: World) -> None:
    _, vers = _written(world, 2)
    model = _embedded(world, vers)
    assert _packed(world, 0, vers[1])
    assert _packed(world, 0, vers[1], model=model)
    world.store.transact(lane_cursors.dismiss, model)
    assert (_packs(world), _packs(world, model)) == ([(0, vers[1])], [])


def test_a_vector_that_comes_late_takes_the_pack_along_that_it_would_belong_to(world: World) -> None:
    _, vers = _written(world, 4)
    model = _embedded(world, [vers[0], vers[3]])
    assert _packed(world, 0, vers[3], model=model)
    number = world.store.transact(job_queue.order, Order(name="letter", key="1", space=world.space()))
    world.store.transact(job_queue.claim, ("letter",), "me", 60)
    late = replace(_batch(world, model, [vers[1]], vers[0]), owner="me", job=JobStep(number, "me"))
    world.store.transact(lane_cursors.keep, late)
    assert _packs(world, model) == []
