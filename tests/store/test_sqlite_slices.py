"""What one slice of compaction asks of SQLite: each statement, and each row, may cost a turn of the interpreter."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import apsw
import pytest

from mnemic.core.events import Verb
from mnemic.core.mutex import Mutex
from mnemic.core.scope import SHARED
from mnemic.errors import StoreError
from mnemic.store.engine import compaction, holds
from mnemic.store.sqlite import past_tables, sweeping
from mnemic.store.sqlite.sqlite_store import SqliteStore
from mnemic.store.values.heads import Hold
from mnemic.testing.faulty_disk import Synced
from mnemic.testing.store_contract.contract_world import TENANT, World
from mnemic.testing.vfs import RecordingVFS

_ONE_STEP = 1e-9


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    with closing(SqliteStore(tmp_path / "memory.db")) as store:
        yield store


def counting(store: SqliteStore) -> Counter[str]:
    """What `asked` counts from now on: statements and rows of the writer, and of slices."""
    counts: Counter[str] = Counter()

    def statement(*_: Any) -> bool:
        counts["asked"] += 1
        return True

    def row(_: Any, values: Any) -> Any:
        counts["asked"] += 1
        return values

    with store._sweeping_connection() as slices:
        for db in (store._writer_connection(), slices):
            db.exec_trace, db.row_trace = statement, row
    return counts


def asked(store: SqliteStore) -> int:
    """The most statements and rows that any slice of a sweep takes."""
    counts, most, more = counting(store), 0, True
    while more:
        counts.clear()
        more = store.sweep(TENANT, _ONE_STEP).more
        most = max(most, counts["asked"])
    return most


def filled(world: World, items: int) -> None:
    """Pairs of evidence and a fact, revised, linked and retired, each in a session of its own."""
    pairs = []
    for n in range(items):
        item, fact = world.item(f"item {n}", session=f"s{n}"), world.item(f"fact {n}", session=f"s{n}")
        pairs.append((item, replace(fact, source=(item.id,))))
    world.commit(*(world.put(one) for pair in pairs for one in pair))
    for item, fact in pairs:
        world.tie(fact.id, item.id, "about")
    for item, fact in pairs:
        world.retire(fact)
        world.retire(item)


@pytest.mark.parametrize("held", [False, True])
def test_a_slice_asks_as_much_for_many_items_as_for_few(store: SqliteStore, held: bool) -> None:
    world = World(store)
    filled(world, 60)
    store.transact(compaction.move, TENANT, world.seq())
    if held:
        kept = world.item("kept")
        world.commit(world.put(kept))
        store.transact(holds.place, Hold(tenant=TENANT, user="ada", item=kept.id))
    assert asked(store) < 70
    with store.read() as snapshot:
        counts = snapshot.version_counts(1)
    assert (counts.closed, counts.retired) == (0, 0)
    assert world.faults() == []


def test_what_is_shared_asks_no_more_however_many_users_there_are(store: SqliteStore) -> None:
    world = World(store)
    item = world.item("shared")
    world.commit(world.put(item), user=SHARED)
    for n in range(80):
        world.commit(world.put(world.item("mine")), user=f"user {n}")
    seq, counts = world.retire(item, user=SHARED).seq, counting(store)
    store.transact(compaction.move, TENANT, seq)
    assert counts["asked"] < 70
    assert asked(store) < 70
    assert world.faults() == []


def test_a_log_that_cannot_be_folded_leaves_no_connection_open(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = World(store)
    item = world.item("one")
    world.commit(world.put(item))
    store.transact(compaction.move, TENANT, world.retire(item).seq)
    opened: list[apsw.Connection] = []
    real = store._open

    def failing() -> apsw.Connection:
        db = real()
        db.exec_trace = lambda _, sql, bound: "checkpoint" not in sql
        opened.append(db)
        return db

    store._drop_sweeper()
    monkeypatch.setattr(store, "_open", failing)
    monkeypatch.setattr(sweeping, "LOG_PAGES", 1)
    with pytest.raises(StoreError):
        store.sweep(TENANT, 1.0)
    (sweeper,) = opened
    with pytest.raises(apsw.ConnectionClosedError):
        sweeper.execute("SELECT 1")


def test_a_slice_that_was_not_written_is_done_again(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(store)
    item = world.item("version 0")
    world.commit(world.put(item))
    for n in range(300):
        world.commit(world.put(replace(item, text=f"version {n + 1}"), verb=Verb.REVISED))
    store.transact(compaction.move, TENANT, world.seq())

    def fails(point: str) -> None:
        if point == "gc:before-commit":
            raise OSError("no room")

    with monkeypatch.context() as patched:
        patched.setattr(store, "_probe", fails)
        with pytest.raises(OSError, match="no room"):
            store.sweep(TENANT, _ONE_STEP)
    more = True
    while more:
        more = store.sweep(TENANT, _ONE_STEP).more
        assert world.faults() == []
    assert len(world.versions()) == 1


def test_a_slice_leaves_its_sync_to_the_next_commit(tmp_path: Path) -> None:
    def synced() -> int:
        return sum(isinstance(step, Synced) for step in vfs.steps)

    with RecordingVFS() as vfs, closing(SqliteStore(tmp_path / "memory.db", vfs=vfs.name)) as store:
        world = World(store)
        item = world.item("one")
        world.commit(world.put(item))
        store.transact(compaction.move, TENANT, world.retire(item).seq)
        before = synced()
        assert store.sweep(TENANT, 60.0).versions == 2
        assert synced() == before
        world.commit("later")
        assert synced() > before


class Held(Mutex):
    """Somebody has been waiting so long."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self._told = seconds

    def waited(self) -> float:
        return self._told


def test_a_slice_goes_on_while_nobody_waits_and_ends_when_a_writer_has_waited(store: SqliteStore) -> None:
    world = World(store)
    item = world.item("version 0")
    for n in range(600):
        world.commit(world.put(replace(item, text=f"version {n}"), verb=Verb.REVISED if n else Verb.WROTE))
    store.transact(compaction.move, TENANT, world.seq())
    store._writing = Held(21.0)
    beside = store.sweep(TENANT, 60.0).versions
    store._writing = Held(19.0)
    alone = store.sweep(TENANT, 60.0).versions
    assert 0 < 2 * beside < alone


def test_what_is_taken_out_is_found_by_index_to_the_item(store: SqliteStore) -> None:
    db = store._writer_connection()
    for statement in past_tables._DROP_TRACES:
        plan = [str(row[3]) for row in db.execute("EXPLAIN QUERY PLAN " + statement, ("[]", "[]"))]
        (search,) = [line for line in plan if line.startswith(("SEARCH", "SCAN page", "SCAN strength", "SCAN derived"))]
        assert "(space=? AND" in search
