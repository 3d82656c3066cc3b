"""The feed and what goes with it: commits in order, heard at once, resumable; what processes say of themselves."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Final

import pytest

from mnemic.core.events import Change
from mnemic.core.scope import SHARED, Shared
from mnemic.errors import Compacted, StoreError
from mnemic.store.contract import Store
from mnemic.store.engine import compaction, rewinding
from mnemic.store.values.meters import LIFE, PERIOD
from mnemic.testing.generators import ManualClock
from mnemic.testing.store_contract.contract_world import TENANT, World

OTHERS = 500
_HUNG: Final = 300.0
"""Seconds after which what is waited for will never come, however busy the machine."""


def _fed(
    world: World, *users: str | Shared, after: int = 0, limit: int = 100, tenant: str = TENANT
) -> tuple[list[Change], int]:
    spaces = [world.space(user, tenant) for user in users]
    with world.store.read() as snapshot:
        number = snapshot.tenant(tenant)
        assert number is not None
        return snapshot.feed(number, spaces, after, limit)


def test_the_feed_has_the_commits_of_its_spaces_in_order(world: World) -> None:
    for user in ("ada", "bob", "ada", SHARED, "bob"):
        world.commit(f"for {user}", user=user)
    found, upto = _fed(world, "ada", SHARED)
    assert [change.seq for change in found] == [1, 3, 4]
    assert upto == 5
    assert [len(change.events) for change in found] == [1, 1, 1]
    assert found == [change for change in world.changes() if change.seq in (1, 3, 4)]


def test_the_feed_goes_on_from_any_seq_without_a_gap_or_a_repeat(world: World) -> None:
    for n in range(12):
        world.commit(f"{n}", user="ada" if n % 3 else "bob")
    whole, _ = _fed(world, "ada")
    parts: list[Change] = []
    after = 0
    while True:
        some, upto = _fed(world, "ada", after=after, limit=3)
        if upto == after:
            break
        parts, after = parts + some, upto
    assert parts == whole
    assert _fed(world, "ada", after=after) == ([], after)


def test_a_quiet_space_among_many_commits_of_others_is_found(world: World) -> None:
    world.commit("quiet", user="ada")
    for n in range(OTHERS):
        world.commit(f"{n}", user="bob")
    world.commit("again", user="ada")
    found, upto = _fed(world, "ada", limit=2)
    assert [change.seq for change in found] == [1, OTHERS + 2]
    assert upto == OTHERS + 2


def test_the_feed_behind_the_horizon_says_so(world: World) -> None:
    for n in range(5):
        world.commit(f"{n}")
    compaction.compact(world.store, TENANT, 3)
    with pytest.raises(Compacted, match="horizon"):
        _fed(world, "ada", after=2)
    assert [change.seq for change in _fed(world, "ada", after=3)[0]] == [4, 5]
    assert [change.seq for change in _fed(world, "ada")[0]] == [4, 5]


def test_the_feed_past_the_end_says_where_to_go_on(world: World) -> None:
    for n in range(5):
        world.commit(f"{n}")
    world.store.transact(rewinding.rewind, TENANT, 2)
    with pytest.raises(Compacted, match="ends at commit 2; go on from there"):
        _fed(world, "ada", after=5)
    assert _fed(world, "ada", after=2) == ([], 2)


def test_waiting_ends_at_once_where_something_was_written_before(world: World) -> None:
    before = world.store.moved()
    world.commit("one")
    assert world.store.wait(before, _HUNG)
    assert not world.store.wait(world.store.moved(), 0)


def test_who_waits_is_woken_by_a_commit(world: World) -> None:
    world.commit("one")
    before, waits = world.store.moved(), threading.Event()

    def wait() -> bool:
        waits.set()
        return world.store.wait(before, _HUNG)

    with ThreadPoolExecutor(1) as pool:
        done = pool.submit(wait)
        assert waits.wait(_HUNG)
        world.commit("two", tenant="new")
        assert done.result(_HUNG)


def test_the_spaces_that_moved_since_a_commit_are_told_by_its_number_and_hash(world: World) -> None:
    for user in ("ada", "bob", "ada"):
        world.commit("x", user=user)
    ada, bob = world.space(), world.space("bob")
    first, *_, last = world.changes()
    with world.store.read() as snapshot:
        (tenant,) = (number for number, _ in snapshot.tenants())
        assert snapshot.moved_since(tenant, 0, b"") == {ada, bob}
        assert snapshot.moved_since(tenant, first.seq, first.hash) == {ada, bob}
        assert snapshot.moved_since(tenant, 2, world.changes()[1].hash) == {ada}
        assert snapshot.moved_since(tenant, last.seq, last.hash) == set()
        assert snapshot.moved_since(tenant, 2, first.hash) is None
    world.store.transact(rewinding.rewind, TENANT, 2)
    with world.store.read() as snapshot:
        assert snapshot.moved_since(tenant, last.seq, last.hash) is None


def test_who_waits_is_told_when_the_store_is_closed(world: World) -> None:
    with ThreadPoolExecutor(1) as pool:
        done = pool.submit(world.store.wait, world.store.moved(), 60)
        time.sleep(0.02)
        world.store.close()
        with pytest.raises(StoreError, match="closed"):
            done.result(_HUNG)


def test_what_a_process_says_of_itself_goes_along_with_a_commit(world: World, clock: ManualClock) -> None:
    said = [("one", b'{"n":1}'), ("one", b'{"n":2}'), ("two", b'{"n":3}')]
    world.store.carry(lambda: said.pop(0) if said else None)
    world.commit("too soon")
    assert _meters(world.store) == []
    clock.tick(PERIOD)
    world.commit("takes the first along")
    world.commit("too soon after it")
    assert _meters(world.store) == [("one", b'{"n":1}')]
    for _ in range(2):
        clock.tick(PERIOD)
        world.commit("takes the next along")
    assert _meters(world.store) == [("two", b'{"n":3}'), ("one", b'{"n":2}')]
    clock.tick(PERIOD)
    world.commit("nothing new")
    assert len(_meters(world.store)) == 2
    assert world.faults() == []


def test_what_a_process_said_that_is_long_gone_is_dropped(world: World, clock: ManualClock) -> None:
    said = ["old", "new"]
    world.store.carry(lambda: (said.pop(0), b"{}"))
    clock.tick(PERIOD)
    world.commit("one")
    clock.tick(LIFE)
    world.commit("two")
    assert _meters(world.store) == [("new", b"{}")]


def _meters(store: Store) -> list[tuple[str, bytes]]:
    with store.read() as snapshot:
        return [(row.process, row.body) for row in snapshot.meters()]
