from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from mnemic.core.events import Verb
from mnemic.core.items import Item, State
from mnemic.core.queries import Filter, Query, View
from mnemic.flow import run
from mnemic.index import signs, vectors
from mnemic.index.catalogues import Catalogues
from mnemic.index.pack_audit import wrong_packs
from mnemic.index.packing import digest_of
from mnemic.index.packing_lane import pack_slice
from mnemic.index.sign_lane import next_signs, sign_slice
from mnemic.index.vectors import VectorTable
from mnemic.lanes.slices import BUSY, Slice
from mnemic.recall.dense import nearness
from mnemic.store.engine import compaction, lane_cursors, rewinding
from mnemic.store.engine.pack_rows import keep_pack
from mnemic.store.engine.relations import PACK, VECTOR
from mnemic.store.engine.rows import Rows
from mnemic.store.requests import Look, Transact
from mnemic.store.values.drafts import Erasure
from mnemic.store.values.work import EmbedderState, VectorRow, Vectors, embedding_lane

DIMS = 70  # no multiple of 64
MANY = 22
"""Vectors from which a question goes by signs here."""
LEAST = 4


@pytest.fixture(autouse=True)
def few() -> Iterator[None]:
    """Signs from a few vectors on, in short lists and small chunks: what is 20,000 elsewhere is 20 here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vectors, "EXACT", MANY // 5 - 1)  # five times as many for so few dimensions
        patch.setattr(vectors, "SAMPLE", 6)
        patch.setattr(vectors, "_LOAD", 5)
        patch.setattr(signs, "LEAST", 1)
        patch.setattr(signs, "SHORT", 0.2)
        patch.setattr(signs, "CHUNK", 16)
        patch.setattr(signs, "_BLOCK", 8)
        yield


def vector_of(text: str) -> NDArray[np.float32]:
    drawn = np.random.default_rng(list(text.encode())).standard_normal(DIMS) + 2
    made: NDArray[np.float32] = (drawn / np.linalg.norm(drawn)).astype(np.float32)
    return made


def perform(world: Any) -> Callable[[Any], Any]:
    def answer(request: Any) -> Any:
        match request:
            case Look(read):
                with world.store.read() as snapshot:
                    return read(snapshot)
            case Transact(work, args, kwargs):
                return world.store.transact(work, *args, **kwargs)

    return answer


def space_of(world: Any) -> int:
    with world.store.read() as snapshot:
        return int(world.query(snapshot, "").spaces[0])


def enlisted(world: Any, name: str = "e-1") -> int:
    return int(world.store.transact(lane_cursors.enlist, name, DIMS, EmbedderState.SERVING))


def embed(world: Any, model: int, limit: int = 1_000) -> None:
    """Do the lane's next work; every ninth version has no vector."""
    space, name = space_of(world), embedding_lane(model)
    with world.store.read() as snapshot:
        after = snapshot.lane(space, name).cursor
        vers = sorted({entry.ver for entry in snapshot.entries(space, after)})[:limit]
        texts = {ver: version.item.text for ver, version in snapshot.versions(space, vers).items()}
    rows = tuple(VectorRow(v, 0, vector_of(texts[v]).astype("<f2").tobytes()) for v in vers if v % 9)
    upto = max([after, *vers])
    step = Vectors(space=space, model=model, rows=rows, lane=name, owner="", after=after, upto=upto)
    world.store.transact(lane_cursors.keep, step)


def step(world: Any) -> Slice:
    return run(sign_slice(space_of(world), LEAST), perform(world))


def told(world: Any, catalogues: Catalogues, question: str, view: View, where: Filter) -> list[Any]:
    """What recall is told of how near everything is, as bytes: the last digit counts."""
    with world.store.read() as snapshot:
        model = {row.id: vector_of(question) for row in snapshot.embedders()}
        query = Query(text=question, now=0, spaces=(space_of(world),), vectors=model)
        (near,) = nearness(query, catalogues.readings(snapshot, query.spaces, view, where, query.vectors))
    return [near.own.tobytes(), near.hub.tobytes(), near.known, near.pending]


def table_of(catalogues: Catalogues, world: Any, model: int) -> VectorTable:
    return catalogues._held[space_of(world)][1]._vectors[model]


def same_with_and_without(world: Any, views: tuple[View, ...] = (View(),)) -> None:
    for view in views:
        for where in (Filter(), Filter(session="s1")):
            packed, plain = Catalogues(1 << 26, LEAST), Catalogues(1 << 26, 0)
            for question in ("apple 3", "pear", "apple 3"):  # the first goes by signs, the second reads all vectors
                assert told(world, packed, question, view, where) == told(world, plain, question, view, where)


def no_faults(world: Any) -> None:
    with world.store.read() as snapshot:
        assert list(wrong_packs(snapshot)) == []


def many(world: Any, count: int = 3 * MANY) -> int:
    """So many items with vectors, and a pack of their signs."""
    for n in range(count):
        world.say(f"apple {n}", session=f"s{n % 3}")
    model = enlisted(world)
    embed(world, model)
    assert step(world).done
    return model


def test_a_first_question_goes_by_signs_and_reads_few_vectors(world: Any) -> None:
    model = many(world)
    assert not step(world).done
    catalogues = Catalogues(1 << 26, LEAST)
    told(world, catalogues, "apple 3", View(), Filter())
    first = table_of(catalogues, world, model)
    assert first.fetched is not None
    assert 0 < np.count_nonzero(first.fetched) < len(first.fetched) - 9
    size = first.nbytes
    told(world, catalogues, "pear", View(), Filter())
    assert table_of(catalogues, world, model).fetched is None
    assert table_of(catalogues, world, model).nbytes > 2 * size
    same_with_and_without(world)
    no_faults(world)


def test_what_came_behind_a_pack_is_read_and_packed_when_it_is_enough(world: Any) -> None:
    model = many(world, 36)
    for n in range(LEAST - 1):
        world.say(f"pear {n}")
    world.say("pear without a vector")
    embed(world, model, LEAST - 1)
    assert not step(world).done
    catalogues = Catalogues(1 << 26, LEAST)
    told(world, catalogues, "pear 1", View(), Filter())
    assert table_of(catalogues, world, model).fetched is not None
    same_with_and_without(world)
    embed(world, model)
    for n in range(3):
        world.say(f"plum {n}")
    embed(world, model)
    assert step(world).done
    same_with_and_without(world)
    no_faults(world)


def test_signs_are_not_gone_by_where_vectors_have_doubled_since(world: Any) -> None:
    model = many(world, 34)  # four of them have no vector: their mean is of 16
    for n in range(3):
        world.say(f"pear {n}")
    embed(world, model)
    catalogues, asked = Catalogues(1 << 26, 1), []
    catalogues.unpacked = asked.append
    told(world, catalogues, "pear 1", View(), Filter())
    assert table_of(catalogues, world, model).fetched is None
    assert asked == [space_of(world)]
    same_with_and_without(world)
    assert step(world).done
    told(world, fresh := Catalogues(1 << 26, 1), "pear 1", View(), Filter())
    assert table_of(fresh, world, model).fetched is not None
    same_with_and_without(world)


def of_model(rows: Rows, /, **values: Any) -> None:
    rows.packs.relations.update(PACK, values, model=1)


@pytest.mark.parametrize(
    "damage",
    [
        lambda rows: of_model(rows, digest=b"0" * 16),
        lambda rows: of_model(rows, build=99),
        lambda rows: of_model(rows, rows=3),
        lambda rows: of_model(rows, model=2),
        lambda rows: rows.packs.relations.drop(PACK, model=1),
    ],
)
def test_what_is_damaged_is_not_gone_by_and_made_anew(world: Any, damage: Callable[[Rows], None]) -> None:
    assert many(world) == 1
    world.store.transact(damage)
    same_with_and_without(world)
    asked: list[int] = []
    catalogues = Catalogues(1 << 26, LEAST)
    catalogues.unpacked = asked.append
    told(world, catalogues, "pear", View(), Filter())
    assert asked
    assert table_of(catalogues, world, 1).fetched is None
    assert step(world).done
    fresh = Catalogues(1 << 26, LEAST)
    told(world, fresh, "pear", View(), Filter())
    assert table_of(fresh, world, 1).fetched is not None


def test_torn_bytes_are_seen(world: Any) -> None:
    many(world)
    with world.store.read() as snapshot:
        (row,) = snapshot.packs(space_of(world), 1)
        body = bytearray(snapshot.pack_body(row.id))
    body[len(body) // 2] ^= 1
    world.store.transact(lambda rows: rows.packs.drop_packs([row.id]))
    world.store.transact(lambda rows: rows.packs.add_pack(row, bytes(body)))
    with world.store.read() as snapshot:
        assert ["digested" in fault.problem for fault in wrong_packs(snapshot)] == [True]
    same_with_and_without(world)


def test_a_pack_that_holds_together_and_says_something_else_is_told_of(world: Any) -> None:
    many(world)
    with world.store.read() as snapshot:
        (row,) = snapshot.packs(space_of(world), 1)
        body = bytearray(snapshot.pack_body(row.id))
    body[-1] ^= 1
    wrong = row._replace(digest=digest_of(row, body))
    world.store.transact(lambda rows: rows.packs.drop_packs([row.id]))
    world.store.transact(lambda rows: rows.packs.add_pack(wrong, bytes(body)))
    with world.store.read() as snapshot:
        assert ["other signs" in fault.problem for fault in wrong_packs(snapshot)] == [True]
    world.store.transact(lambda rows: of_model(rows, model=7))
    with world.store.read() as snapshot:
        assert ["embedder 7" in fault.problem for fault in wrong_packs(snapshot)] == [True]


def test_vectors_that_a_pack_tells_of_and_nobody_has_are_missed_by_no_answer(world: Any) -> None:
    model = many(world)
    world.store.transact(lambda rows: rows.packs.relations.drop(VECTOR, ("ver", "<", 40)))
    catalogues = Catalogues(1 << 26, LEAST)
    told(world, catalogues, "apple 3", View(), Filter())
    assert table_of(catalogues, world, model).fetched is None
    same_with_and_without(world)


def test_a_pack_of_what_has_gone_meanwhile_is_not_kept(world: Any) -> None:
    many(world)
    world.store.transact(lambda rows: rows.packs.drop_of_embedder(1))
    flow = sign_slice(space_of(world), LEAST)
    request = flow.send(perform(world)(next(flow)))
    world.store.erase(Erasure(tenant="t", user="ada", ids=(world.items[7].id,)))
    with pytest.raises(StopIteration) as ended:
        flow.send(perform(world)(request))
    assert ended.value.value == BUSY
    assert step(world).done
    same_with_and_without(world)


def test_a_retiring_embedder_and_an_erased_user_get_no_packs(world: Any) -> None:
    model = many(world)
    world.store.transact(lambda rows: rows.packs.drop_of_embedder(model))
    world.store.transact(lane_cursors.appoint, model, EmbedderState.RETIRING)
    assert not step(world).done
    world.store.transact(lane_cursors.appoint, model, EmbedderState.SERVING)
    space = space_of(world)
    with world.store.read() as snapshot:
        new = next_signs(snapshot, space, LEAST)
    world.store.erase(Erasure(tenant="t", user="ada", whole=True))
    assert not world.store.transact(keep_pack, new)
    with world.store.read() as snapshot:
        assert next_signs(snapshot, space, LEAST) is None


ACTS = st.lists(
    st.tuples(
        st.sampled_from(
            ["say"] * 3
            + ["embed", "embed", "sign", "sign", "change", "retire", "erase", "compact", "rewind", "pack", "dismiss"]
        ),
        st.integers(0, 10**6),
    ),
    min_size=10,
    max_size=40,
)


@settings(max_examples=25)
@given(ACTS)
def test_whatever_happens_nearness_is_the_same_with_packs_and_without(worlds: Any, acts: list[Any]) -> None:
    world = worlds()
    kept = Catalogues(1 << 26, LEAST)
    for act, number in [("say", 9), ("embed", 0), ("sign", 0), *acts, ("embed", 8), ("sign", 0)]:
        live_through(world, act, number)
        if number % 3 == 0:
            told(world, kept, "apple 3", View(), Filter())
    seq, horizon = head_of(world)
    same_with_and_without(world, (View(), View(at=max(seq - 2, horizon))))
    no_faults(world)


def live_through(world: Any, act: str, number: int) -> None:
    alive: list[Item] = [item for item in world.items if item is not None]
    chosen = alive[number % len(alive)] if alive else None
    match act:
        case "say":
            for n in range(number % 30 + 1):
                word = ("apple", "pear", "plum")[(number + n) % 3]
                world.say(f"{word} {number % 97 + n}", session=f"s{n % 3}" if number % 4 else None, pos=n)
        case "embed":
            embed(world, enlisted(world), number % 40 + 1)
        case "sign":
            while step(world).done:
                pass
        case "change" if chosen is not None:
            world.change(chosen, Verb.REVISED, text=f"changed {number}")
        case "retire" if chosen is not None:
            world.change(chosen, Verb.RETIRED, state=State.RETIRED)
        case "erase" if chosen is not None and len(alive) > 1:
            world.store.erase(Erasure(tenant="t", user="ada", ids=(chosen.id,)))
            world.items[world.items.index(chosen)] = None
        case "compact":
            seq, horizon = head_of(world)
            compaction.compact(world.store, "t", max(horizon, number % (seq + 1)))
        case "rewind":
            seq, horizon = head_of(world)
            world.store.transact(rewinding.rewind, "t", max(horizon, 2, seq - number % 12))
            with world.store.read() as snapshot:
                there = snapshot.standing((space_of(world),), [item.id for item in alive])
            world.items = [item if item is not None and item.id in there else None for item in world.items]
        case "pack":
            while run(pack_slice(space_of(world), LEAST), perform(world)).done:
                pass
        case "dismiss":
            world.store.transact(lane_cursors.dismiss, enlisted(world))


def head_of(world: Any) -> tuple[int, int]:
    with world.store.read() as snapshot:
        head = snapshot.head(snapshot.tenant("t"))
        return int(head.seq), int(head.horizon)
