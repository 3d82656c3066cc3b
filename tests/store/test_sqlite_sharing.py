"""One file, many hands: threads that share a sync, processes that share a file, children, backups, interrupts."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from mnemic.admin import restore
from mnemic.core.events import Receipt, Verb
from mnemic.errors import Conflict, Invalid, MnemicError, StoreError, StoreLocked
from mnemic.store.engine import commit_queue
from mnemic.store.engine.commit_queue import CommitQueue, Ticket
from mnemic.store.engine.ledger import prepare
from mnemic.store.engine.rewinding import rewind
from mnemic.store.engine.rows import Rows
from mnemic.store.sqlite import group_commit
from mnemic.store.sqlite.sqlite_store import MemoryStore, SqliteStore
from mnemic.store.values.drafts import Draft
from mnemic.testing.faults import CountingProbe, FailAt
from mnemic.testing.generators import SeededEntropy
from mnemic.testing.raw_store import raw_store
from mnemic.testing.sql_counts import counted
from mnemic.testing.store_contract.contract_world import ANY_STATE, TENANT, World
from patience import PATIENCE

SPAWN = multiprocessing.get_context("spawn")


# Group commit


class Held(CountingProbe):
    """A probe that holds the first group open until everybody else is waiting."""

    def __init__(self) -> None:
        super().__init__()
        self.ready, self.go = threading.Event(), threading.Event()

    def __call__(self, point: str, /) -> None:
        super().__call__(point)
        if point == "commit:before-commit" and self.points[point] == 1:
            self.ready.set()
            assert self.go.wait(PATIENCE)


def waiting(store: SqliteStore, count: int) -> None:
    """Return once `count` callers stand in the queue, where whoever writes stands until that is done."""
    pause = threading.Event()
    while len(store._queue._waiting) < count:
        pause.wait(0.001)


@pytest.fixture
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """All who wait fit one group commit, however slow the machine."""
    monkeypatch.setattr(group_commit, "GROUP_SECONDS", PATIENCE)


@pytest.mark.usefixtures("unhurried")
def test_callers_who_wait_share_one_commit_and_a_conflict_takes_only_its_own(path: Path) -> None:
    probe = Held()
    store = SqliteStore(path, probe=probe)
    world = World(store)
    item = world.item("first")

    def write(n: int) -> Receipt:
        return world.commit(f"text {n}", expect={item.id: 99} if n == 7 else None)

    with ThreadPoolExecutor(17) as pool:
        first = pool.submit(world.commit, world.put(item))
        probe.ready.wait(PATIENCE)
        others = [pool.submit(write, n) for n in range(16)]
        waiting(store, 17)
        probe.go.set()
        assert first.result().seq == 1
        assert isinstance(others[7].exception(), Conflict)
        seqs = sorted(f.result().seq for n, f in enumerate(others) if n != 7)
    assert seqs == list(range(2, 17))
    assert probe.points["commit:after-commit"] == 2
    assert set(world.texts()) == {"first", *(f"text {n}" for n in range(16) if n != 7)}
    assert world.faults() == []
    store.close()


@pytest.mark.usefixtures("unhurried")
def test_whoever_comes_while_a_group_is_written_goes_along(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    probe = CountingProbe()
    store = SqliteStore(path, probe=probe)
    world = World(store)
    item = world.item("first")
    world.commit(world.put(item))
    applied, writing = group_commit._applied, threading.Event()

    def applying(rows: Rows, ticket: Ticket) -> Receipt:
        """Begin on the first once the others have come, who came too late to be taken at the beginning."""
        if not writing.is_set():
            writing.set()
            waiting(store, 6)
        return applied(rows, ticket)

    monkeypatch.setattr(group_commit, "_applied", applying)
    before = probe.points["commit:after-commit"]
    with ThreadPoolExecutor(6) as pool:
        first = pool.submit(world.commit, "0")
        writing.wait(PATIENCE)
        others = [pool.submit(world.commit, f"{n}", expect={item.id: 99} if n == 3 else None) for n in range(1, 6)]
        assert first.result(PATIENCE).seq == 2
        assert isinstance(others[2].exception(PATIENCE), Conflict)
        assert sorted(one.result(PATIENCE).seq for n, one in enumerate(others) if n != 2) == [3, 4, 5, 6]
    assert probe.points["commit:after-commit"] == before + 1
    assert world.faults() == []
    store.close()


@pytest.mark.usefixtures("unhurried")
def test_when_a_commit_fails_all_who_shared_it_are_told_and_a_retry_lands_once(path: Path) -> None:
    held = Held()
    fail = FailAt("commit:before-commit", StoreError("the disk said no"), 2)

    def probe(point: str, /) -> None:
        held(point)
        fail(point)

    store = SqliteStore(path, probe=probe)
    world = World(store)
    with ThreadPoolExecutor(5) as pool:
        first = pool.submit(world.commit, "first")
        held.ready.wait(PATIENCE)
        others = [pool.submit(world.commit, world.put(f"{n}", key=f"{n}")) for n in range(4)]
        waiting(store, 5)
        held.go.set()
        first.result()
        assert all(isinstance(f.exception(), StoreError) for f in others)
        assert len({id(f.exception()) for f in others}) == 4
    assert world.texts() == ["first"]
    for n in range(4):
        world.commit(world.put(f"{n}", key=f"{n}"))
    assert world.texts() == ["first", "0", "1", "2", "3"]
    store.close()


# What a writer knows from one group to the next


@pytest.mark.parametrize("memory", [False, True], ids=["file", "memory"])
def test_a_writer_looks_up_once_whose_memory_it_writes(path: Path, memory: bool) -> None:
    with counted() as statements:
        world = World(MemoryStore() if memory else SqliteStore(path))
        world.commit("first")
        world.commit("second")
        statements.reset()
        world.commit("third")
        world.store.close()
    tables = [table for table in ("tenant", "space", "name") if any(f"FROM {table} " in sql for sql in statements.ran)]
    assert (statements.commits, tables) == (1, [])


def _another_commits(world: World, path: Path) -> None:
    other = World(SqliteStore(path), seed="others")
    other.commit("another's", actor="somebody new")
    other.store.close()


def _refused(world: World, path: Path) -> None:
    item = world.item("twice")
    world.commit(world.put(item), user="first seen")
    new = [world.put(world.item(text, agent="never landed")) for text in ("new", "newer")]
    with pytest.raises(Conflict):
        world.commit(*new, world.put(item), user="first seen")


def _failed(world: World, path: Path) -> None:
    assert isinstance(world.store, SqliteStore)
    world.store._probe = FailAt("commit:before-commit", StoreError("no"))
    with pytest.raises(StoreError, match="no"):
        world.commit("never there", user="never there", actor="never there")


BETWEEN: dict[str, Callable[[World, Path], object]] = {
    "another handle commits": _another_commits,
    "its user is erased": lambda world, _: world.erase(whole=True),
    "the tenant is erased": lambda world, _: world.erase(user=None, whole=True),
    "it goes back in time": lambda world, _: world.store.transact(rewind, TENANT, 1),
    "a group is refused": _refused,
    "a group is not written": _failed,
}


@pytest.mark.parametrize("between", BETWEEN.values(), ids=BETWEEN.keys())
def test_a_writer_forgets_what_it_knew_once_anybody_else_has_written(
    world: World, path: Path, between: Callable[[World, Path], object]
) -> None:
    world.commit("first", user="grace")
    world.commit("second")
    between(world, path)
    for user, actor in (("ada", "tester"), ("never there", "never there"), ("first seen", "never landed")):
        last = world.seq()
        assert world.commit(f"after, of {user}", user=user, actor=actor).seq == last + 1
        assert world.texts(user=user)[-1] == f"after, of {user}"
    assert world.faults() == []
    names = {change.actor for change in world.changes()}
    assert {"never there", "never landed"} <= names


@pytest.mark.parametrize("fold", ["NOOP", "PASSIVE", "RESTART", "TRUNCATE"])
@pytest.mark.parametrize("point", ["commit:begin", "commit:after-commit"])
def test_a_writer_notices_what_another_commits_between_any_two_of_its_own_steps(
    path: Path, point: str, fold: str
) -> None:
    other = World(SqliteStore(path), seed="others")
    quiet = [False]

    def meanwhile(passed: str) -> None:
        if passed != point or quiet[0]:
            return
        other.commit("another's")
        with raw_store(path) as db:
            db.execute(f"PRAGMA wal_checkpoint({fold})").fetchall()

    world = World(SqliteStore(path, probe=meanwhile))
    for n in range(8):
        world.commit(f"{n}")
        quiet[0] = n % 3 == 2  # now and then nobody comes between
    assert len(world.texts()) == world.seq()
    assert [change.seq for change in world.changes()] == list(range(1, world.seq() + 1))
    assert world.faults() == []
    world.store.close()
    other.store.close()


def test_an_interrupt_while_waiting_leaves_the_queue_going(monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[Ticket] = []
    release, started = threading.Event(), threading.Event()

    def write(batch: Sequence[Ticket]) -> None:
        started.set()
        assert release.wait(PATIENCE)
        written.extend(batch)
        for place, ticket in enumerate(batch):
            ticket.receipt = Receipt(seq=len(written) - len(batch) + place + 1, ids=())

    class Interrupted(Ticket):
        """A place at which its caller is interrupted."""

        def wait(self) -> None:
            raise KeyboardInterrupt

    queue = CommitQueue(write)
    work = prepare(Draft(tenant="t", user="u", actor="a", ops=(World(None).put("x"),)), SeededEntropy())  # type: ignore[arg-type]
    with ThreadPoolExecutor(3) as pool:
        first = pool.submit(queue.submit, work)
        started.wait(PATIENCE)
        with monkeypatch.context() as patched:
            patched.setattr(commit_queue, "Ticket", Interrupted)
            with pytest.raises(KeyboardInterrupt):
                queue.submit(work)
        third = pool.submit(queue.submit, work)
        release.set()
        assert first.result(PATIENCE).seq == 1
        assert third.result(PATIENCE).seq == 2
    assert len(written) == 2


def test_a_writer_that_vanished_is_replaced_and_those_it_wrote_for_are_told() -> None:
    taken: list[Sequence[Ticket]] = []

    def write(batch: Sequence[Ticket]) -> None:
        taken.append(batch)
        for ticket in batch:
            ticket.receipt = Receipt(seq=len(taken), ids=())

    queue = CommitQueue(write)
    work = prepare(Draft(tenant="t", user="u", actor="a", ops=(World(None).put("x"),)), SeededEntropy())  # type: ignore[arg-type]

    def vanish() -> None:
        """Everything that a writer may leave behind when not one more step of it is run."""
        queue._leading.take(sys._getframe())
        queue._waiting.extend((lost, waits))
        queue._batch = [lost]

    lost, waits = Ticket(work), Ticket(work)
    vanish()
    assert queue.submit(work).seq == 1
    assert isinstance(lost.error, StoreError)
    assert waits.receipt is not None
    assert not queue._waiting


def test_an_interrupt_of_the_writer_leaves_nothing_half_written_and_the_next_commit_works(path: Path) -> None:
    store = SqliteStore(path, probe=FailAt("commit:before-commit", KeyboardInterrupt()))  # type: ignore[arg-type]
    world = World(store)
    with pytest.raises(KeyboardInterrupt):
        world.commit("interrupted")
    world.commit("next")
    assert world.texts() == ["next"]
    assert world.seq() == 1
    store.close()


def test_a_statement_of_a_write_that_was_cut_short_keeps_nobody_from_writing(path: Path) -> None:
    one, two = World(SqliteStore(path, busy_timeout=0.05)), World(SqliteStore(path, busy_timeout=0.05), "two")
    for n in range(3):
        one.commit(f"{n}")
    assert isinstance(one.store, SqliteStore)
    db = one.store._writer
    assert db is not None
    kept = []

    def cut(_rows: object) -> None:
        kept.append(db.execute("SELECT * FROM version"))
        kept[0].fetchone()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        one.store.transact(cut)
    item = two.item("gone")
    two.commit(two.put(item))
    assert two.erase(item.id).status == "clean"
    one.commit("after")
    assert one.texts() == ["0", "1", "2", "after"]
    one.store.close()
    two.store.close()


@pytest.mark.parametrize("then", ["commit", "open"])
def test_an_erasure_that_was_cut_short_is_finished_by_the_next_write_or_opening(path: Path, then: str) -> None:
    store = SqliteStore(path, probe=FailAt("erase:after-commit", KeyboardInterrupt()))  # type: ignore[arg-type]
    world = World(store)
    item = world.item("zqxsecret")
    world.commit(world.put(item), "kept")
    with pytest.raises(KeyboardInterrupt):
        world.erase(item.id)
    other = SqliteStore(path) if then == "open" else None
    if other is None:
        world.commit("next")
    assert not any(b"zqxsecret" in file.read_bytes() for file in path.parent.iterdir())
    assert world.faults() == []
    store.close()
    if other is not None:
        other.close()


# Processes


def write_some(path: str, name: str, count: int) -> None:
    world = World(SqliteStore(path), name)
    for n in range(count):
        item = world.item(f"{name} {n}")
        world.commit(world.put(item), user=name)
        assert world.get(item.id, user=name) is not None
    world.store.close()


def test_several_processes_write_one_file_and_each_reads_its_own_writes(world: World, path: Path) -> None:
    world.commit("here")
    children = [SPAWN.Process(target=write_some, args=(str(path), f"child {n}", 15)) for n in range(3)]
    for child in children:
        child.start()
    for n in range(15):
        world.commit(f"here {n}")
    for child in children:
        child.join(PATIENCE)
        assert child.exitcode == 0
    assert world.seq() == 61
    assert [len(world.texts(user=f"child {n}")) for n in range(3)] == [15, 15, 15]
    assert world.faults() == []


def in_child(act: object) -> int:
    """The exit code of a forked child that does this."""
    child = os.fork()
    if child == 0:
        try:
            act()  # type: ignore[operator]
        except BaseException:  # noqa: BLE001 - the child must not go on as a second test run
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.mark.filterwarnings("ignore:This process.*is multi-threaded:DeprecationWarning")
def test_a_forked_child_writes_beside_its_parent(world: World) -> None:
    world.commit("parent before")
    world.texts()

    def child() -> None:
        World(world.store, "child").commit("child")
        assert world.texts() == ["parent before", "child"]

    assert in_child(child) == 0
    world.commit("parent after")
    assert world.texts() == ["parent before", "child", "parent after"]
    assert world.faults() == []


@pytest.mark.filterwarnings("ignore:This process.*is multi-threaded:DeprecationWarning")
def test_children_forked_while_other_threads_write_are_not_stuck(world: World) -> None:
    world.commit("first")
    stop = threading.Event()

    def write() -> int:
        done = 0
        while not stop.is_set():
            world.commit("parent")
            done += 1
        return done

    with ThreadPoolExecutor(2) as pool:
        writers = [pool.submit(write) for _ in range(2)]
        codes = [in_child(lambda n=n: World(world.store, f"{n}").commit("child", user="kid")) for n in range(3)]  # type: ignore[misc]
        stop.set()
        done = sum(writer.result() for writer in writers)
    assert codes == [0, 0, 0]
    assert world.texts(user="kid") == ["child"] * 3
    assert world.seq() == 1 + done + 3
    assert world.faults() == []


def test_an_unwritten_erasure_of_another_handle_shows_at_once(world: World, path: Path) -> None:
    item = world.item("secret")
    world.commit(world.put(item))
    other = World(SqliteStore(path))
    assert other.texts() == ["secret"]
    epoch = other.epoch()
    world.erase(item.id)
    assert other.texts() == []
    assert other.epoch() > epoch
    other.store.close()


# Backup and restore


def test_a_backup_taken_while_writers_go_on_is_whole(world: World, tmp_path: Path) -> None:
    stop = threading.Event()

    def write() -> int:
        n = 0
        while not stop.is_set():
            world.commit(f"{n}a", f"{n}b")
            n += 1
        return n

    world.commit("first")
    with ThreadPoolExecutor(2) as pool:
        writers = [pool.submit(write) for _ in range(2)]
        for n in range(3):
            world.store.backup(tmp_path / f"copy {n}.db")
        stop.set()
        assert all(f.result() >= 0 for f in writers)
    for n in range(3):
        copy = World(SqliteStore(tmp_path / f"copy {n}.db"))
        assert copy.faults() == []
        assert len(copy.texts()) % 2 == 1
        copy.store.close()


def test_a_backup_is_one_file_that_can_be_used_at_once(world: World, tmp_path: Path) -> None:
    world.commit("x")
    dest = tmp_path / "copies" / "copy.db"
    world.store.backup(dest)
    assert [f.name for f in dest.parent.iterdir()] == ["copy.db"]
    copy = World(SqliteStore(dest), "copy")
    copy.commit("y")
    assert copy.texts() == ["x", "y"]
    copy.store.close()


@pytest.fixture
def backed(world: World, path: Path, tmp_path: Path) -> tuple[Path, Path]:
    """A backup, and the store after it has erased an item and a whole user; closed."""
    item, other = world.item("secret"), world.item("other")
    world.commit(world.put(item, key="chat:1", lasting=True), world.put(other))
    world.commit("eve's secret", user="eve")
    copy = tmp_path / "copy.db"
    world.store.backup(copy)
    world.erase(item.id)
    world.erase(user="eve", whole=True)
    world.commit(world.put(replace(other, text="later"), Verb.REVISED))
    world.store.close()
    return copy, path


def test_restoring_brings_back_the_backup_without_what_was_erased_since(backed: tuple[Path, Path]) -> None:
    copy, path = backed
    assert restore(copy, path) == 2
    world = World(SqliteStore(path))
    assert world.texts(ANY_STATE) == ["other"]
    assert b"secret" not in b"".join(world.store.export(TENANT)).replace(b'"secret":', b"")
    with world.store.read() as snapshot:
        assert snapshot.space(1, "eve") is None
    assert world.faults() == []
    world.commit(world.put("secret", key="chat:1", lasting=True))
    assert world.texts(ANY_STATE) == ["other"]
    world.store.close()


def test_restoring_again_keeps_the_tombstones(backed: tuple[Path, Path]) -> None:
    copy, path = backed
    restore(copy, path)
    assert restore(copy, path) == 2
    world = World(SqliteStore(path))
    assert world.texts(ANY_STATE) == ["other"]
    world.store.close()


def test_a_store_whose_only_user_was_erased_brings_nobody_back(world: World, path: Path, tmp_path: Path) -> None:
    world.commit("secret")
    world.store.backup(tmp_path / "copy.db")
    world.erase(whole=True)
    world.store.close()
    assert restore(tmp_path / "copy.db", path) == 1
    restored = World(SqliteStore(path))
    with restored.store.read() as snapshot:
        assert snapshot.space(1, "ada") is None
    assert restored.faults() == []
    restored.store.close()


def test_a_backup_of_other_origin_asks_whether_anybody_in_it_was_erased(
    world: World, path: Path, tmp_path: Path
) -> None:
    other = World(SqliteStore(tmp_path / "other.db"), "other")
    other.commit("ada's elsewhere")
    other.commit("bob's elsewhere", user="bob")
    other.store.backup(tmp_path / "copy.db")
    other.store.close()
    world.commit("here")
    world.erase(whole=True)
    world.store.close()
    with pytest.raises(Invalid, match="no relative"):
        restore(tmp_path / "copy.db", path)
    assert restore(tmp_path / "copy.db", path, without_tombstones=True) == 0
    restored = World(SqliteStore(path))
    assert restored.texts() == ["ada's elsewhere"]
    assert restored.texts(user="bob") == ["bob's elsewhere"]
    restored.store.close()


def test_restoring_where_no_store_is_asks_whether_there_are_tombstones(
    backed: tuple[Path, Path], tmp_path: Path
) -> None:
    copy, _ = backed
    fresh = tmp_path / "fresh.db"
    with pytest.raises(Invalid, match="tombstones"):
        restore(copy, fresh)
    assert not fresh.exists()
    assert restore(copy, fresh, without_tombstones=True) == 0
    world = World(SqliteStore(fresh))
    assert world.texts() == ["secret", "other"]
    world.store.close()


def test_a_damaged_store_is_replaced_once_it_is_said_that_its_tombstones_are_lost(backed: tuple[Path, Path]) -> None:
    copy, path = backed
    content = path.read_bytes()
    path.write_bytes(content[:100] + bytes(255 - b for b in content[100:]))
    with pytest.raises(Invalid, match="damaged"):
        restore(copy, path)
    assert restore(copy, path, without_tombstones=True) == 0
    world = World(SqliteStore(path))
    assert world.texts() == ["secret", "other"]
    assert world.faults() == []
    world.store.close()


def test_restoring_a_damaged_backup_leaves_the_store_as_it_was(backed: tuple[Path, Path], tmp_path: Path) -> None:
    copy, path = backed
    broken = tmp_path / "broken.db"
    for content in (b"no database at all" * 100, copy.read_bytes()[:5000], b""):
        broken.write_bytes(content)
        before = path.read_bytes()
        with pytest.raises(MnemicError):
            restore(broken, path)
        assert path.read_bytes() == before
        assert [f.name for f in tmp_path.iterdir() if "restoring" in f.name] == []
    world = World(SqliteStore(path))
    assert world.texts() == ["later"]
    world.store.close()


def hold_open(path: str, ready: object, done: object) -> None:
    store = SqliteStore(path)
    with store.read() as snapshot:
        snapshot.tenants()
        ready.set()  # type: ignore[attr-defined]
        done.wait(PATIENCE)  # type: ignore[attr-defined]
    store.close()


def test_restoring_under_another_process_is_refused(backed: tuple[Path, Path]) -> None:
    copy, path = backed
    ready, done = SPAWN.Event(), SPAWN.Event()
    child = SPAWN.Process(target=hold_open, args=(str(path), ready, done))
    child.start()
    assert ready.wait(PATIENCE)
    with pytest.raises(StoreLocked):
        restore(copy, path)
    done.set()
    child.join(PATIENCE)
    world = World(SqliteStore(path))
    assert world.texts() == ["later"]
    world.store.close()
    shutil.rmtree(path.parent, ignore_errors=True)
