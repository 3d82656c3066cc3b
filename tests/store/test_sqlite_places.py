"""Where a store and what belongs to it may lie: names that come out of it, links to it, a file put in its place."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from mnemic.admin import restore
from mnemic.errors import Conflict, Invalid, StoreCorrupt, StoreError
from mnemic.memory import Memory
from mnemic.store.engine import compaction
from mnemic.store.sqlite import connections, location
from mnemic.store.sqlite.location import InFile
from mnemic.store.sqlite.sqlite_store import SqliteStore
from mnemic.store.values.heads import CheckpointRow
from mnemic.testing.raw_store import raw_store
from mnemic.testing.store_contract.contract_world import TENANT, World
from patience import PATIENCE


@pytest.mark.parametrize(
    "said", ["../../precious-c.txt", "/precious-c", "..", "", "a\\x-c", "x-c\0", 7, None, "other.db"]
)
def test_a_checkpoint_is_a_bare_name_in_its_folder_that_says_which(said: str) -> None:
    with pytest.raises(StoreCorrupt, match="has been changed"):
        CheckpointRow(1, "c", 1, 0, "", said).within(Path("checkpoints"))


def test_a_changed_store_deletes_no_file_outside_its_folder(tmp_path: Path) -> None:
    place, precious = tmp_path / "memory.db", tmp_path / "precious-c.txt"
    precious.write_text("precious")
    with Memory(place, embedder="none") as memory:
        memory.scope(user="ada").observe("The heron stands in the river.")
        memory.admin.checkpoint("c")
    with raw_store(place) as db:
        db.execute("UPDATE checkpoint SET file = '../precious-c.txt'")
    with Memory(place, embedder="none") as memory:
        for act in (lambda: memory.admin.drop_checkpoint("c"), memory.admin.checkpoints):
            with pytest.raises(StoreCorrupt, match="precious"):
                act()
    assert precious.read_text() == "precious"


@pytest.mark.parametrize("is_forged", [False, True])
def test_a_store_drops_no_checkpoint_of_another_store_in_its_folder(tmp_path: Path, *, is_forged: bool) -> None:
    with Memory(tmp_path / "a-b.db", embedder="none") as other:
        other.scope(user="eve").observe("The river rises.")
        other.admin.checkpoint("c")
    theirs = tmp_path / "checkpoints" / "a-b-c.db"
    assert theirs.is_file()
    with Memory(tmp_path / "a.db", embedder="none") as memory:
        memory.scope(user="ada").observe("The heron stands in the river.")
        memory.admin.checkpoint("mine")
    if is_forged:
        with raw_store(tmp_path / "a.db") as db:
            db.execute("UPDATE checkpoint SET name = 'b-c', file = 'a-b-c.db'")
    with Memory(tmp_path / "a.db", embedder="none") as memory:
        with pytest.raises(Conflict, match=r"a-b-c\.db is another store's"):
            memory.admin.drop_checkpoint("b-c")
        theirs.rename(tmp_path / "away.db")
        if is_forged:
            memory.admin.drop_checkpoint("b-c")
            assert not memory.admin.checkpoints()
        else:
            memory.admin.drop_checkpoint("mine")
            assert not any((tmp_path / "checkpoints").iterdir())


def test_a_checkpoint_that_is_damaged_can_be_dropped(tmp_path: Path) -> None:
    with Memory(tmp_path / "a.db", embedder="none") as memory:
        memory.scope(user="ada").observe("The heron stands in the river.")
        memory.admin.checkpoint("c")
        (tmp_path / "checkpoints" / "a-c.db").write_bytes(b"no store at all" * 400)
        memory.admin.drop_checkpoint("c")
        assert not memory.admin.checkpoints()
        assert not any((tmp_path / "checkpoints").iterdir())


# Links


def test_a_store_is_opened_through_a_link_and_its_log_lies_beside_the_file(tmp_path: Path) -> None:
    real, link = tmp_path / "real" / "memory.db", tmp_path / "link.db"
    link.symlink_to(real)
    through, direct = World(SqliteStore(link)), World(SqliteStore(real), "direct")
    through.commit("through the link")
    direct.commit("by its name")
    assert through.texts() == direct.texts() == ["through the link", "by its name"]
    assert {file.name for file in tmp_path.iterdir()} == {"link.db", "real"}
    assert (real.parent / "memory.db-wal").exists()
    through.store.close()
    direct.store.close()


def test_restoring_into_a_link_replaces_the_file_and_keeps_the_link(tmp_path: Path) -> None:
    real, link = tmp_path / "real.db", tmp_path / "link.db"
    link.symlink_to(real)
    with Memory(link, embedder="none") as memory:
        memory.scope(user="ada").observe("Before.")
        memory.admin.backup(tmp_path / "copy.db")
        memory.scope(user="ada").observe("After.")
    restore(tmp_path / "copy.db", link)
    assert link.is_symlink()
    with Memory(real, embedder="none") as memory:
        assert [one.item.text for one in memory.scope(user="ada").list()] == ["Before."]


def test_links_in_a_circle_are_told(tmp_path: Path) -> None:
    (tmp_path / "a.db").symlink_to(tmp_path / "b.db")
    (tmp_path / "b.db").symlink_to(tmp_path / "a.db")
    with pytest.raises(Invalid, match="circle"):
        SqliteStore(tmp_path / "a.db")


# A file that is deleted or replaced while it is open


def _another(path: Path) -> Path:
    """A store with one text, closed."""
    other = World(SqliteStore(path.with_name("other.db")), "other")
    other.commit("another's")
    other.store.close()
    return path.with_name("other.db")


def _deleted(path: Path) -> None:
    path.unlink()


def _moved_away(path: Path) -> None:
    path.rename(path.with_name("away.db"))


def _renamed_over(path: Path) -> None:
    _another(path).rename(path)


def _copied_over(path: Path) -> None:
    shutil.copyfile(_another(path), path)


def _folder_removed(path: Path) -> None:
    shutil.rmtree(path.parent)


REPLACED = (_deleted, _moved_away, _renamed_over, _copied_over, _folder_removed)


@pytest.mark.parametrize("written", [1, 50], ids=["a little", "much"])
@pytest.mark.parametrize("act", REPLACED)
def test_a_store_whose_file_is_gone_acknowledges_nothing_and_touches_nothing(
    tmp_path: Path, act: Callable[[Path], None], written: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(location, "FOLDING_SECONDS", 0.05)
    path = tmp_path / "folder" / "memory.db"
    world = World(SqliteStore(path))
    item = world.item("to be erased")
    world.commit(world.put(item))
    for n in range(written):
        world.commit(f"text {n} " * 100)
    act(path)
    before = path.read_bytes() if path.exists() else None
    for write in (
        lambda: world.commit("into nowhere"),
        lambda: world.erase(item.id),
        lambda: compaction.compact(world.store, TENANT, 1),
        lambda: world.store.sweep(TENANT, 1.0),
    ):
        with pytest.raises(StoreError, match=r"memory\.db was|place of .*memory\.db"):
            write()
    if act is not _copied_over:  # which a reader cannot tell by one look
        for read in (world.texts, lambda: world.store.backup(tmp_path / "copy.db"), world.faults):
            with pytest.raises(StoreError, match=r"memory\.db was|place of .*memory\.db"):
                read()
    world.store.close()
    assert (path.read_bytes() if path.exists() else None) == before
    if act in (_renamed_over, _copied_over):
        again = World(SqliteStore(path), "again")
        assert again.texts() == ["another's"]
        assert again.faults() == []
        again.commit("goes on")
        again.store.close()
    if act is _moved_away:
        away = World(SqliteStore(path.with_name("away.db")))
        assert len(away.texts()) == written + 1
        away.store.close()


def test_a_log_of_another_store_in_our_place_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    world = World(SqliteStore(path))
    world.commit("ours")
    other = World(SqliteStore(tmp_path / "other.db"), "other")
    other.commit("another's, in its log")
    for end in ("", "-wal", "-shm"):
        (tmp_path / f"other.db{end}").rename(tmp_path / f"memory.db{end}")
    with pytest.raises(StoreError, match="another file"):
        world.commit("into nowhere")
    world.store.close()
    again = World(SqliteStore(path), "again")
    assert again.texts() == ["another's, in its log"]
    again.store.close()
    with pytest.raises(StoreError):
        other.commit("moved away")
    other.store.close()


def test_what_other_handles_write_and_fold_is_no_replacement(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    one, two = World(SqliteStore(path)), World(SqliteStore(path), "two")
    for n in range(6):
        one.commit(f"one {n}")
        item = two.item("gone")
        two.commit(two.put(item), f"two {n}")
        two.erase(item.id)
        if n % 2:
            with raw_store(path) as db:
                db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    assert len(one.texts()) == 12
    one.store.close()
    two.commit("after the other has gone")
    two.store.close()


def _fold(path: Path) -> None:
    with raw_store(path) as db:
        db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()


def test_a_new_time_of_writing_alone_is_no_replacement(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    world = World(SqliteStore(path))
    world.commit("before")
    os.utime(path, ns=(1, 1))
    world.commit("after")
    assert world.texts() == ["before", "after"]
    world.store.close()
    assert not path.with_name("memory.db-wal.stale").exists()


def test_a_folding_that_was_killed_is_no_replacement(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(location, "FOLDING_SECONDS", 0.05)
    path = tmp_path / "memory.db"
    world = World(SqliteStore(path))
    _fold(path)
    for n in range(50):
        world.commit(f"text {n} " * 100)
    log = path.with_name("memory.db-wal").read_bytes()
    width = int.from_bytes(log[8:12])
    frames = {
        int.from_bytes(log[at : at + 4]): log[at + 24 : at + 24 + width] for at in range(32, len(log), 24 + width)
    }
    before = path.stat().st_size
    file = InFile(path, vfs=None, synchronous="FULL", create=False).raw()
    for number in sorted(frames)[: len(frames) // 2]:
        file.xWrite(frames[number], (number - 1) * width)
    file.xClose()
    assert path.stat().st_size > before
    world.commit("after")
    assert len(world.texts()) == 51
    assert world.faults() == []
    world.store.close()


def test_a_log_that_another_has_open_is_not_put_aside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(location, "FOLDING_SECONDS", 0.05)
    path = tmp_path / "memory.db"
    stale = path.with_name("memory.db-wal.stale")
    one, two = World(SqliteStore(path)), World(SqliteStore(path), "two")
    one.commit("one")
    two.commit("two")
    kept = path.read_bytes()
    _copied_over(path)
    one.store.close()
    assert not stale.exists()
    path.write_bytes(kept)  # the alarm was false
    two.commit("what the other wrote next")
    two.store.close()
    assert not stale.exists()
    again = World(SqliteStore(path), "again")
    assert again.texts() == ["one", "two", "what the other wrote next"]
    again.store.close()


def test_a_file_that_was_analysed_opens_and_is_sound(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with closing(SqliteStore(path)) as store:
        World(store).commit("tea")
    with raw_store(path) as db:
        db.execute("ANALYZE")
    with closing(SqliteStore(path)) as store:
        assert list(store.verify()) == []


def test_a_store_that_was_overwritten_is_not_read_on_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(location, "FOLDING_SECONDS", 0.05)
    path, other = tmp_path / "memory.db", tmp_path / "other.db"
    with Memory(other, embedder="none") as memory:
        memory.scope(user="ada").observe("Of another store.")
    with Memory(path, embedder="none") as memory:
        me = memory.scope(user="ada")
        me.observe("The heron stands in the river.")
        shutil.copyfile(other, path)
        for verb in (lambda: me.list(), lambda: me.recall("heron?"), lambda: me.observe("more")):
            with pytest.raises(StoreError, match="overwritten") as raised:
                verb()
            assert type(raised.value) is StoreError


def test_a_reader_that_outlives_its_store_leaves_no_log_beside_the_file(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "PATIENCE", 0.1)
    store = SqliteStore(path)
    World(store).commit("tea")
    with store.read() as snapshot:
        assert list(snapshot.entries(1))
        with ThreadPoolExecutor(1) as pool:
            pool.submit(store.close).result(PATIENCE)
    assert [file.name for file in path.parent.iterdir()] == [path.name]
