"""Vectors and lanes in a file: erased to the byte, kept whole under kills, shared by processes, carried by backups."""

from __future__ import annotations

import random
import signal
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from mnemic.core.events import Verb
from mnemic.core.items import Item
from mnemic.errors import Conflict
from mnemic.store.engine import lane_cursors
from mnemic.store.engine.rows import Rows
from mnemic.store.offline import replace_store
from mnemic.store.sqlite.sqlite_store import SqliteStore
from mnemic.store.values.drafts import Advance, Draft, Put
from mnemic.store.values.work import EmbedderState, VectorRow, Vectors, embedding_lane
from mnemic.testing.deeds import dismiss
from mnemic.testing.faults import FailAt, KillAt, Probe
from mnemic.testing.store_contract.contract_world import TENANT, World
from mnemic.testing.store_contract.vector_contract import batch, cursor, enlist, vectors
from mnemic.testing.torture import children

DIMS = 384


def left(path: Path, marks: list[bytes]) -> list[bytes]:
    data = b"".join(file.read_bytes() for file in path.parent.iterdir() if file.is_file())
    return [mark for mark in marks if mark in data]


def keep_marked(world: World, model: int, chance: random.Random) -> dict[int, bytes]:
    """Fill the lane with random vectors; returns them by version."""
    given = batch(world, model)
    marked = {row.ver: chance.randbytes(2 * DIMS) for row in given.rows}
    world.store.transact(
        lane_cursors.keep, replace(given, rows=tuple(row._replace(f16=marked[row.ver]) for row in given.rows))
    )
    return marked


def items(world: World) -> dict[int, Item]:
    with world.store.read() as snapshot:
        return {ver: version.item for ver, version in snapshot.scan((world.space(),), limit=1000)}


def test_no_byte_of_an_erased_items_vectors_is_left_in_any_file(world: World, path: Path) -> None:
    chance = random.Random(5)
    world.commit(*(f"turn {n}" for n in range(300)))
    marks: list[dict[int, bytes]] = []
    for name in ("e-1", "e-2"):
        marks.append(keep_marked(world, enlist(world, name, DIMS), chance))
    every = items(world)
    gone = chance.sample(sorted(every), 60)
    for ver in gone[:20]:  # a second version carries the vectors on
        item = every[ver]
        world.commit(Put(verb=Verb.PINNED, item=replace(item, pinned=True), terms=None))
    dismiss(world.store, 2)
    secret = [marked[ver][at : at + 16] for marked in marks for ver in gone for at in (0, 300, 752)]
    kept = [marks[0][ver][:16] for ver in every if ver not in gone]
    assert len(left(path, secret)) >= 60 * 3
    receipt = world.erase(*(every[ver].id for ver in gone))
    assert receipt.status == "clean"
    assert left(path, secret) == []
    assert left(path, kept) == kept
    assert world.faults() == []
    world.store.close()
    assert left(path, secret) == []


def test_no_byte_of_an_erased_users_vectors_and_errors_is_left(world: World, path: Path) -> None:
    world.commit(*(f"turn {n}" for n in range(100)))
    world.commit("stays", user="bob")
    marked = keep_marked(world, enlist(world, dims=DIMS), random.Random(6))
    world.store.transact(lane_cursors.claim, world.space(), "house", "one", 60)
    world.store.transact(lane_cursors.release, world.space(), "house", "one", error="zqxerror")
    assert b"zqxerror" in b"".join(file.read_bytes() for file in path.parent.iterdir())
    world.erase(whole=True)
    assert left(path, [b"zqxerror", *(mark[:16] for mark in marked.values())]) == []
    assert world.faults() == []


@pytest.mark.parametrize("point", ["keep:before-commit", "keep:after-commit"])
def test_a_kill_leaves_a_batch_kept_whole_or_not_at_all(path: Path, point: str) -> None:
    def work(_say: object) -> None:
        world = World(SqliteStore(path, probe=KillAt(point, 2)))
        world.commit(*(f"turn {n}" for n in range(20)))
        model = enlist(world)
        while (given := batch(world, model, limit=8)).rows:
            world.store.transact(lane_cursors.keep, given)

    child = children.fork(work)
    child.lines()
    assert child.status() == -signal.SIGKILL
    world = World(SqliteStore(path))
    assert len(vectors(world, 1)) == (8 if point == "keep:before-commit" else 16)
    assert cursor(world, 1) == vectors(world, 1)[-1].ver
    assert world.faults() == []
    while (given := batch(world, 1)).rows:
        world.store.transact(lane_cursors.keep, given)
    assert len(vectors(world, 1)) == 20
    world.store.close()


def opened(path: Path, probe: Probe) -> World:
    return World(SqliteStore(path, probe=probe))


def half_dismissed(path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[World, int]:
    """A world of ten turns, and the embedder whose dismissal was cut short in it."""
    monkeypatch.setattr(lane_cursors, "SLICE", 3)
    world = opened(path, FailAt("dismiss:after-commit", RuntimeError("cut"), 2))
    world.commit(*(f"turn {n}" for n in range(10)))
    model = enlist(world)
    world.store.transact(lane_cursors.keep, batch(world, model))
    with pytest.raises(RuntimeError):
        dismiss(world.store, model)
    return world, model


def test_a_dismissal_that_is_cut_short_goes_on(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world, model = half_dismissed(path, monkeypatch)
    with world.store.read() as snapshot:
        assert snapshot.embedders()[0].state is EmbedderState.RETIRING
    assert 0 < len(vectors(world, model)) < 10
    assert world.faults() == []
    dismiss(world.store, model)
    with world.store.read() as snapshot:
        assert snapshot.embedders() == []
    assert vectors(world, model) == []
    world.store.close()


def test_a_half_dismissed_embedder_that_is_enlisted_again_starts_at_the_beginning(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world, model = half_dismissed(path, monkeypatch)
    assert enlist(world) == model
    assert cursor(world, model) == 0
    world.store.transact(lane_cursors.keep, batch(world, model))
    assert len(vectors(world, model)) == 10
    world.store.close()


def test_of_two_handles_that_keep_the_same_step_one_does(world: World, path: Path) -> None:
    world.commit(*(f"turn {n}" for n in range(60)))
    model = enlist(world)

    def fill(other: World) -> int:
        kept = 0
        while (given := batch(world, model, limit=2)).rows:
            try:
                kept += other.store.transact(lane_cursors.keep, given)
            except Conflict:
                continue
        return kept

    with closing(SqliteStore(path)) as second, ThreadPoolExecutor(2) as pool:
        assert sum(pool.map(fill, (world, World(second)))) == len(vectors(world, model)) == 60
    assert world.faults() == []


def test_a_backup_holds_the_vectors_and_nobodys_lease(world: World, tmp_path: Path) -> None:
    world.commit("x", "y")
    model = enlist(world)
    world.store.transact(lane_cursors.keep, batch(world, model))
    world.store.transact(lane_cursors.claim, world.space(), embedding_lane(model), "one", 3600)
    world.store.backup(tmp_path / "copy.db")
    copy = World(SqliteStore(tmp_path / "copy.db"))
    assert vectors(copy, model) == vectors(world, model)
    with copy.store.read() as snapshot:
        stands = snapshot.lane(copy.space(), embedding_lane(model))
    assert (stands.owner, stands.lease_until, stands.cursor) == ("", 0, cursor(world, model))
    copy.store.close()


def test_restoring_brings_back_no_vector_of_what_was_erased_since(world: World, path: Path, tmp_path: Path) -> None:
    gone = world.item("gone")
    world.commit("x", world.put(gone), "y")
    marked = keep_marked(world, enlist(world, dims=DIMS), random.Random(7))
    (ver,) = (ver for ver, item in items(world).items() if item.id == gone.id)
    world.store.backup(tmp_path / "copy")
    world.erase(gone.id)
    world.store.close()
    replace_store(tmp_path / "copy", path, without_tombstones=False)
    with closing(SqliteStore(path)) as store:
        assert [row.f16 for row in vectors(World(store), 1)] == [v for k, v in marked.items() if k != ver]
        assert list(store.verify()) == []
    (tmp_path / "copy").unlink()
    assert left(path, [marked[ver][:16]]) == []


def test_a_commit_that_fails_in_a_group_moves_no_lane_but_its_own(world: World) -> None:
    """A group is written again, one behind the other, when one of it is refused: a cursor must not move twice."""
    world.commit(*(f"turn {n}" for n in range(8)))
    end = max(items(world))

    def work(n: int) -> bool:
        step = Advance(name="house", owner="", after=0, upto=end)
        draft = Draft(tenant=TENANT, user="ada", actor="t", ops=(world.put(f"derived {n}"),), lane=step)
        try:
            world.store.commit(draft)
        except Conflict:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(work, range(16))) == 1
    assert len(world.texts()) == 9
    assert world.faults() == []


def test_a_row_of_vectors_is_plain(world: World) -> None:
    world.commit("x")
    model = enlist(world)
    given = batch(world, model)
    assert isinstance(given, Vectors)
    world.store.transact(lane_cursors.keep, given)
    (row,) = vectors(world, model)
    assert isinstance(row, VectorRow)
    assert type(row.f16) is bytes


def test_a_write_makes_a_space_due_again_that_a_look_has_taken_out(world: World, path: Path) -> None:
    def drop(rows: Rows) -> None:
        rows.lanes.drop_due("noting", (space,))

    def due(store: SqliteStore) -> list[int]:
        with store.read() as snapshot:
            return snapshot.due("noting")

    world.store.transact(lane_cursors.follow, "noting")
    world.commit("one")
    space = world.space()
    world.commit("two")
    assert due(world.store) == [space]
    for _ in range(2):
        world.store.transact(drop)
        world.commit("said after a look of this process")
        assert due(world.store) == [space]
    with closing(SqliteStore(path)) as other:
        other.transact(drop)
        world.commit("said after a look of another connection")
        assert due(other) == [space]
        other.transact(lane_cursors.follow, "later")
        other.transact(lambda rows: rows.lanes.drop_lanes("noting"))
        world.commit("and after another lane was followed")
        assert other.transact(lambda rows: rows.lanes.due("later", 1)) == [space]
