"""Many threads on one store: every acknowledged write is there, and a snapshot is of one moment."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace

import pytest

from mnemic.core.events import Verb
from mnemic.core.items import Item
from mnemic.errors import Conflict
from mnemic.testing.store_contract.contract_world import World

_THREADS = 8
_EACH = 10


def _all(jobs: list[Callable[[], object]]) -> list[Future[object]]:
    with ThreadPoolExecutor(len(jobs)) as pool:
        return [pool.submit(job) for job in jobs]


def test_many_threads_write_and_every_write_is_there(world: World) -> None:
    def write(thread: int) -> list[int]:
        return [world.commit(f"{thread}.{n}", user=f"user {thread % 3}").seq for n in range(_EACH)]

    done = _all([lambda thread=thread: write(thread) for thread in range(_THREADS)])  # type: ignore[misc]
    seqs = sorted(seq for future in done for seq in future.result())  # type: ignore[attr-defined]
    assert seqs == list(range(1, _THREADS * _EACH + 1))
    texts = {text for user in range(3) for text in world.texts(user=f"user {user}")}
    assert texts == {f"{thread}.{n}" for thread in range(_THREADS) for n in range(_EACH)}
    assert world.faults() == []


def test_a_thread_reads_its_own_writes_at_once(world: World) -> None:
    def write(thread: int) -> None:
        for n in range(_EACH):
            item = world.item(f"{thread}.{n}")
            world.commit(world.put(item))
            assert world.get(item.id) is not None

    for future in _all([lambda thread=thread: write(thread) for thread in range(_THREADS)]):  # type: ignore[misc]
        future.result()


def test_of_many_who_expect_the_same_version_one_succeeds(world: World) -> None:
    item = world.item("zero")
    seq = world.commit(world.put(item)).seq
    start = threading.Barrier(_THREADS)

    def revise(thread: int) -> bool:
        revised: Item = replace(item, text=f"by {thread}")
        start.wait()
        try:
            world.commit(world.put(revised, Verb.REVISED), expect={item.id: seq})
        except Conflict:
            return False
        return True

    done = _all([lambda thread=thread: revise(thread) for thread in range(_THREADS)])  # type: ignore[misc]
    assert [future.result() for future in done].count(True) == 1
    assert world.seq() == 2
    assert world.faults() == []


def test_one_key_in_many_threads_is_written_once(world: World) -> None:
    start = threading.Barrier(_THREADS)

    def write() -> tuple[int, str]:
        start.wait()
        receipt = world.commit(world.put("the same", key="k"))
        return receipt.seq, receipt.id

    assert len({future.result() for future in _all([write] * _THREADS)}) == 1
    assert world.texts() == ["the same"]


def test_a_snapshot_does_not_see_a_commit_made_after_it_was_opened(world: World) -> None:
    """A keeper may make the writer wait for the reader instead: to the reader that looks the same."""
    world.commit("before")
    space = world.space()
    started = threading.Event()

    def write() -> None:
        started.set()
        world.commit("after")

    with ThreadPoolExecutor(1) as pool:
        with world.store.read() as snapshot:
            assert snapshot.count((space,)) == 1
            writing = pool.submit(write)
            started.wait()
            for _ in range(50):
                assert snapshot.count((space,)) == 1
                assert snapshot.head(world.tenant()).seq == 1
        writing.result()
    assert world.texts() == ["before", "after"]


def test_a_reader_never_sees_half_a_commit(world: World) -> None:
    world.commit("start")
    space = world.space()
    stop = threading.Event()

    def read() -> set[int]:
        seen = set()
        while not stop.is_set():
            with world.store.read() as snapshot:
                seen.add(snapshot.count((space,)))
        return seen

    with ThreadPoolExecutor(2) as pool:
        readers = [pool.submit(read) for _ in range(2)]
        for n in range(20):
            world.commit(f"{n}a", f"{n}b", f"{n}c")
        stop.set()
        assert all(count % 3 == 1 for reader in readers for count in reader.result())


def test_reads_nest_in_a_thread(world: World) -> None:
    world.commit("x")
    with world.store.read() as outer:
        assert world.texts() == ["x"]
        assert outer.tenant("t") is not None


def test_readers_and_erasers_get_along(world: World) -> None:
    items = [world.item(f"{n}") for n in range(12)]
    world.commit(*(world.put(item) for item in items))
    jobs: list[Callable[[], object]] = [lambda item=item: world.erase(item.id) for item in items]  # type: ignore[misc]
    jobs += [lambda: world.texts() for _ in range(4)]
    for future in _all(jobs):
        future.result()
    assert world.texts() == []
    assert world.faults() == []


def test_an_error_inside_a_read_leaves_the_store_usable(world: World) -> None:
    world.commit("x")
    with pytest.raises(ZeroDivisionError), world.store.read():
        raise ZeroDivisionError
    world.commit("y")
    assert world.texts() == ["x", "y"]
