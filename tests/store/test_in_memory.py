"""A store in memory: of one process and one owner, carried to a file and forked with what it holds."""

import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from mnemic.errors import Invalid, NotFound, StoreError, StoreLocked
from mnemic.store.sqlite.sqlite_store import MemoryStore, SqliteStore
from mnemic.testing.store_contract.carrying_contract import same
from mnemic.testing.store_contract.contract_world import TENANT, World


@pytest.fixture
def world() -> Iterator[World]:
    world = World(MemoryStore())
    yield world
    world.store.close()


def test_each_store_is_its_own(world: World) -> None:
    other = World(MemoryStore())
    world.commit("mine")
    assert other.seq() == 0
    other.store.close()
    assert world.texts() == ["mine"]


def test_a_backup_is_a_file_that_can_be_used_at_once(world: World, tmp_path: Path) -> None:
    world.commit("one", "two")
    world.store.backup(tmp_path / "copy.db")
    copy = World(SqliteStore(tmp_path / "copy.db"), "copy")
    same(world.store, copy.store)
    assert copy.store.info().settings["journal_mode"] == "wal"
    assert copy.commit("three").seq == world.seq() + 1
    copy.store.close()


def test_a_checkpoint_has_no_folder_to_lie_in(world: World) -> None:
    world.commit("x")
    with pytest.raises(Invalid, match="backup"):
        world.store.checkpoint("before")
    with pytest.raises(NotFound):
        world.store.drop_checkpoint("before")


def test_a_thread_that_reads_is_told_to_end_the_read_before_it_writes(world: World) -> None:
    world.commit("x")
    with world.store.read(), pytest.raises(StoreError, match="end the read"):
        world.commit("y")
    with world.store.read(), pytest.raises(StoreError, match="end the read"):
        world.erase(whole=True)
    world.commit("y")
    assert world.texts() == ["x", "y"]


def test_a_writer_waits_for_readers_of_other_threads_no_longer_than_it_is_told() -> None:
    world = World(MemoryStore(busy_timeout=0.01))
    world.commit("x")
    reading, done = threading.Event(), threading.Event()

    def read() -> None:
        with world.store.read():
            reading.set()
            done.wait()

    reader = threading.Thread(target=read)
    reader.start()
    reading.wait()
    with pytest.raises(StoreLocked, match="readers"):
        world.commit("y")
    done.set()
    reader.join()
    world.commit("y")
    assert world.texts() == ["x", "y"]


def test_who_leaves_a_check_or_an_export_half_way_keeps_nobody_from_writing(world: World) -> None:
    world.commit("x")
    lines, faults = world.store.export(TENANT), world.store.verify()
    next(lines)
    next(faults, None)
    world.commit("y")
    assert world.texts() == ["x", "y"]


def test_a_forked_child_goes_on_with_a_copy_of_its_own(world: World) -> None:
    world.commit("before")
    child = os.fork()
    if not child:
        try:
            world.commit("in the child")
            os._exit(world.texts() != ["before", "in the child"] or bool(world.faults()))
        except BaseException:  # noqa: BLE001 - a child of a test must not run the rest of the suite
            os._exit(2)
    assert os.waitpid(child, 0)[1] == 0
    world.commit("in the parent")
    assert world.texts() == ["before", "in the parent"]
