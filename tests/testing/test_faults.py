"""Faults on order, and the real store under those that need no faulty disk."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import cast

import pytest

from mnemic import Memory
from mnemic.core.clock import SystemClock
from mnemic.core.queries import Filter
from mnemic.errors import StoreError, StoreReadOnly
from mnemic.store.contract import Store
from mnemic.store.sqlite.sqlite_store import SqliteStore
from mnemic.testing.faults import (
    CountingProbe,
    FailAt,
    Flaky,
    JumpingClock,
    KillAt,
    SkewedClock,
    largest_file,
    most_files,
    read_only,
)
from mnemic.testing.torture import children

HOUR = 3_600_000_000


@pytest.fixture
def folder() -> Iterator[Path]:
    with children.folder() as made:
        made.chmod(0o755)
        yield made


def _texts(memory: Memory) -> list[str]:
    return [version.item.text for version in memory.scope(user="ada").list(where=Filter(), limit=100)]


def test_a_probe_counts_the_points_that_a_commit_passes(folder: Path) -> None:
    passed = CountingProbe()
    with Memory(SqliteStore(folder / "m.db", probe=passed)) as memory:
        memory.scope(user="ada").observe("one")
    assert passed.points["commit:before-commit"] == 1
    assert passed.points["commit:after-commit"] == 1


def test_a_kill_at_a_point_ends_the_process_there(folder: Path) -> None:
    probe = KillAt("point", 2)

    def work(say: children.Say) -> None:
        for n in range(5):
            say(str(n))
            probe("other")
            probe("point")

    child = children.fork(work)
    assert child.lines() == ["0", "1"]
    assert child.status() == -9


def test_a_child_that_fails_says_so(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    def work(say: children.Say) -> None:
        raise ValueError("on purpose")

    with pytest.raises(ChildProcessError, match="ended with 1"):
        children.asked(work)
    assert "on purpose" in capfd.readouterr().err


def test_an_error_at_a_named_point_leaves_nothing_half_written(folder: Path) -> None:
    probe = FailAt("commit:before-commit", StoreError("on purpose"), 2)
    with Memory(SqliteStore(folder / "m.db", probe=probe)) as memory:
        me = memory.scope(user="ada")
        me.observe("one")
        with pytest.raises(StoreError, match="on purpose"):
            me.observe("two", key="k")
        assert _texts(memory) == ["one"]
        me.observe("two", key="k")
        assert _texts(memory) == ["two", "one"]
        assert list(memory.admin.verify()) == []


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_retry_with_the_same_key_brings_no_twin_whether_the_commit_had_landed_or_not(folder: Path, when: str) -> None:
    second = frozenset({2})
    none: frozenset[int] = frozenset()
    store = Flaky(
        SqliteStore(folder / "m.db"),
        before=second if when == "before" else none,
        after=second if when == "after" else none,
    )
    with Memory(cast(Store, store)) as memory:
        me = memory.scope(user="ada")
        me.observe("one")
        with pytest.raises(StoreError):
            me.observe("two", key="k")
        receipt = me.observe("two", key="k")
        assert receipt.repeated == (1 if when == "after" else 0)
        assert _texts(memory) == ["two", "one"]


def test_a_clock_set_back_never_turns_the_journal_back(folder: Path) -> None:
    clock = JumpingClock(SystemClock().now(), every=3)
    with Memory(SqliteStore(folder / "m.db", clock=clock), clock=clock) as memory:
        me = memory.scope(user="ada")
        for n in range(10):
            me.observe(f"number {n}")
        recorded = [change.at for change in me.log(limit=100, newest=False)]
        assert recorded == sorted(recorded)
        assert len(recorded) == 10
        assert list(memory.admin.verify()) == []


def test_a_jumping_clock_goes_on_and_falls_back() -> None:
    clock = JumpingClock(0, step=1, every=3, back=10)
    assert [clock.now() for _ in range(6)] == [1, 2, -8, -7, -6, -16]
    assert SkewedClock(JumpingClock(0, step=1), HOUR).now() == HOUR + 1


def test_a_file_that_may_not_grow_is_a_typed_error_and_then_all_is_well(folder: Path) -> None:
    with Memory(SqliteStore(folder / "m.db")) as memory:
        me = memory.scope(user="ada")
        me.observe("one")
        size = max(path.stat().st_size for path in folder.iterdir())
        with largest_file(size + 4096), pytest.raises(StoreError):
            me.observe([f"number {n} " + "word " * 500 for n in range(20)])
        assert _texts(memory) == ["one"]
        me.observe("last")
        assert _texts(memory) == ["last", "one"]
        assert list(memory.admin.verify()) == []


def test_a_process_out_of_file_handles_is_a_typed_error_and_then_all_is_well(folder: Path) -> None:
    with closing(SqliteStore(folder / "m.db")) as store:
        me = Memory(store).scope(user="ada")
        me.observe("one")
        with most_files(3), pytest.raises(StoreError):
            SqliteStore(folder / "other.db")
        me.observe("two")
        assert me.count() == 2


def test_a_folder_that_cannot_be_written_is_a_typed_error_and_leaves_the_store_as_it_was(folder: Path) -> None:
    place = folder / "home"
    place.mkdir(mode=0o755)
    with Memory(place / "m.db") as memory:
        memory.scope(user="ada").observe("one")
    before = (place / "m.db").read_bytes()
    with read_only(place):
        with Memory(place / "m.db") as memory:
            assert _texts(memory) == ["one"]
            with pytest.raises(StoreReadOnly):
                memory.scope(user="ada").observe("two")
        with pytest.raises(StoreReadOnly):
            Memory(place / "new.db")
    assert (place / "m.db").read_bytes() == before
    with Memory(place / "m.db") as memory:
        memory.scope(user="ada").observe("two")
        assert _texts(memory) == ["two", "one"]
