"""Round trips to a PostgreSQL server, which a network makes dear and a file hides: how many each verb takes."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

from mnemic.memory import Memory
from mnemic.settings import Settings
from mnemic.store.engine import lane_cursors
from mnemic.store.postgres.postgres_store import PostgresStore
from mnemic.testing.store_contract.contract_world import TENANT, World

BIRDS = ("heron", "wren", "robin", "magpie", "swift", "owl", "lark", "crow")


@pytest.fixture(scope="module")
def world(module_postgres_database: str) -> Iterator[World]:
    store = PostgresStore(module_postgres_database)
    world = World(store)
    world.commit(world.put("first", key="first"))
    yield world
    store.close()


def trips(world: World, work: Callable[[], object]) -> int:
    store = world.store
    assert isinstance(store, PostgresStore)
    before = store.trips
    work()
    return store.trips - before


def test_a_group_of_commits_takes_two(world: World) -> None:
    assert trips(world, lambda: world.commit("one")) == 2
    assert trips(world, lambda: world.commit("one", "two", "three")) == 2


def test_a_keyed_commit_takes_two_and_so_does_its_repetition(world: World) -> None:
    item = world.item("keyed")
    assert trips(world, lambda: world.commit(world.put(item, key="k"))) == 2
    assert trips(world, lambda: world.commit(world.put(item, key="k"))) == 2


def test_a_commit_with_names_that_are_new_takes_two(world: World) -> None:
    item = world.item("named", session="a new session", agent="a new agent")
    assert trips(world, lambda: world.commit(world.put(item))) == 2


def test_a_commit_that_another_process_came_before_takes_three(world: World, module_postgres_database: str) -> None:
    other = PostgresStore(module_postgres_database)
    World(other, "other").commit("theirs")
    other.close()
    assert trips(world, lambda: world.commit("ours")) == 3
    assert trips(world, lambda: world.commit("ours again")) == 2


def test_callers_who_wait_are_written_together(world: World) -> None:
    start = threading.Barrier(16)

    def write(number: int) -> None:
        item = world.item(f"{number}")
        start.wait()
        world.commit(world.put(item))

    def all_of_them() -> None:
        with ThreadPoolExecutor(16) as pool:
            list(pool.map(write, range(16)))

    assert trips(world, all_of_them) < 2 * 16


def test_who_comes_while_a_group_waits_for_the_tenant_goes_along(world: World, module_postgres_database: str) -> None:
    store = world.store
    assert isinstance(store, PostgresStore)
    world.commit("known")
    queue = store._queues[TENANT]

    def both() -> None:
        with psycopg.connect(module_postgres_database) as other, ThreadPoolExecutor(2) as pool:
            other.execute("SET LOCAL mnemic.across = 'on'")
            other.execute("SELECT FROM mnemic.tenant FOR UPDATE")
            written = []
            for waiting in (1, 2):
                written.append(pool.submit(world.commit, f"caller {waiting}"))
                while len(queue._waiting) < waiting:
                    time.sleep(0.001)
            other.rollback()
            assert [each.result().seq for each in written] == [start + 1, start + 2]

    start = world.commit("before").seq
    assert trips(world, both) == 3  # each group's two, and one for what the late one looks up


def test_a_read_takes_one_for_each_question_and_one_to_end(world: World) -> None:
    space = world.space()

    def read() -> None:
        with world.store.read() as snapshot:
            snapshot.scan((space,), limit=10)

    assert trips(world, read) == 4  # the space, its versions, and when they were written


def test_the_verbs_of_a_memory(module_postgres_database: str) -> None:
    settings = Settings(background=False, embedder="none")
    with Memory(module_postgres_database, settings=settings) as memory:
        world = World(memory._opened.store)
        me = memory.scope(user="ada", tenant="verbs")
        for text in ("I live in Lisbon.", "I work at a bakery."):
            me.observe(text)
        me.recall("Where do I live?")
        counted = {
            "observe": trips(world, lambda: me.observe("I was born in Porto.")),
            "recall after a write": trips(world, lambda: me.recall("Where was I born?")),
            "recall": trips(world, lambda: me.recall("Where do I live?")),
            "list": trips(world, lambda: me.list(limit=5)),
        }
    assert counted == {"observe": 2, "recall after a write": 6, "recall": 4, "list": 4}


def test_a_recall_that_asks_something_new_takes_four(module_postgres_database: str) -> None:
    settings = Settings(background=False, embedder="none")
    with Memory(module_postgres_database, settings=settings) as memory:
        world = World(memory._opened.store)
        me = memory.scope(user="ada", tenant="new questions")
        me.observe([f"The {bird} came to the garden in the {hour}." for bird in BIRDS for hour in ("morning", "night")])
        me.recall("What came in the morning?", k=3)
        assert [trips(world, lambda bird=bird: me.recall(f"When did the {bird} come?", k=3)) for bird in BIRDS] == [
            4
        ] * 8


def test_a_lane_is_claimed_in_few(world: World) -> None:
    space = world.space()
    assert trips(world, lambda: world.store.transact(lane_cursors.claim, space, "lane", "me", 60.0)) == 5


def test_a_look_for_work_takes_two_whatever_it_asks(world: World) -> None:
    world.store.transact(lane_cursors.follow, "looked at")

    def look() -> None:
        with world.store.read() as snapshot:
            assert snapshot.due_spaces("looked at", 1, resting=True).complete

    assert trips(world, look) == 2


def test_the_first_commit_of_a_tenant_takes_three(world: World) -> None:
    assert (
        trips(world, lambda: world.commit(world.put(world.item("hello", session="s")), tenant="one that is new")) == 3
    )
    assert trips(world, lambda: world.commit("more", tenant="one that is new")) == 2
