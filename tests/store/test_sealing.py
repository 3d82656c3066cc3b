"""A sealed store: nobody without the key changes anything of it unseen, and nobody without it writes."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from mnemic import admin
from mnemic.errors import Invalid, StoreCorrupt, StoreReadOnly
from mnemic.memory import Memory
from mnemic.settings import Settings
from mnemic.store import offline
from mnemic.store.engine import journal_io
from mnemic.store.seal_key import seal_key
from mnemic.store.sqlite.sqlite_store import MemoryStore, SqliteStore
from mnemic.testing.raw_store import raw_store
from mnemic.testing.store_contract.contract_world import World

KEY, OTHER = b"k" * 32, b"o" * 32


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A sealed store with three commits and an erasure."""
    path = tmp_path / "memory.db"
    with closing(SqliteStore(path, seal=KEY)) as store:
        world = World(store)
        done = world.commit("one")
        world.commit("two", user="bob")
        world.erase(*done.ids)
        world.commit("three")
    return path


def faults(path: Path, key: bytes = KEY) -> list[str]:
    with closing(SqliteStore(path, seal=key)) as store:
        return World(store).faults()


def test_with_its_key_it_is_sound_through_every_way_of_writing(path: Path, tmp_path: Path) -> None:
    with closing(SqliteStore(path, seal=KEY)) as store:
        world = World(store, "more")
        world.commit("four")
        world.erase(world.versions()[0].item.id)
        store.settle()
        store.checkpoint("c")
        store.backup(tmp_path / "backup.db")
    assert faults(path) == []
    assert faults(tmp_path / "backup.db") == []
    offline.rebuild(path, KEY)
    assert faults(path) == []
    assert offline.replace_store(tmp_path / "backup.db", path, without_tombstones=True, seal=KEY) == 0
    assert faults(path) == []


def test_a_tenant_that_is_loaded_into_it_is_sealed_with_the_others(path: Path) -> None:
    with closing(MemoryStore()) as memory:
        other = World(memory, "other")
        other.commit("of another house", user="eve", tenant="house")
        lines = list(memory.export("house"))
    with closing(SqliteStore(path, seal=KEY)) as store:
        with pytest.raises(Invalid):
            store.transact(journal_io.load, iter(lines[:-1]))
        assert World(store).faults() == []
        store.transact(journal_io.load, iter(lines))
        World(store, "more").commit("four")
    assert faults(path) == []
    with raw_store(path, knowing=True) as db:
        db.execute("UPDATE space SET number = 7 WHERE user = 'eve'")
    assert any("checksum" in fault for fault in faults(path))


def test_without_its_key_it_is_read_and_said_to_be_unchecked_and_not_written(path: Path, tmp_path: Path) -> None:
    with closing(SqliteStore(path)) as store:
        world = World(store, "more")
        assert world.texts() == ["three"]
        assert [fault for fault in world.faults() if "sealed" in fault]
        for write in (lambda: world.commit("four"), lambda: store.backup(tmp_path / "b.db")):
            with pytest.raises(StoreReadOnly, match="sealed"):
                write()
    assert faults(path) == []


def test_another_key_is_refused(path: Path) -> None:
    with pytest.raises(StoreCorrupt, match="another key"):
        SqliteStore(path, seal=OTHER)


def rewritten(path: Path, statements: tuple[str, ...]) -> None:
    with raw_store(path, knowing=True) as db:
        for statement in statements:
            db.execute(statement)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE space SET user = 'mallory' WHERE user = 'bob'",
        "UPDATE idem SET seq = 1",
        "UPDATE tenant SET name = 'other'",
        "INSERT INTO hold(tenant, space, session, reason, actor, at, seq) VALUES (1, 0, '', '', '', 0, 1)",
        "INSERT INTO tomb VALUES (1, zeroblob(16), 1)",
    ],
)
def test_who_has_our_code_and_not_the_key_changes_no_row_unseen(path: Path, statement: str) -> None:
    with closing(SqliteStore(path, seal=KEY)) as store:
        world = World(store, "more")
        world.commit(world.put("keyed", key="k"))
    rewritten(path, (statement,))
    assert faults(path)


def test_a_whole_chain_that_was_written_anew_is_seen(path: Path, tmp_path: Path) -> None:
    """The strongest that can be done without the key: our own code writes another history, the old seal is put on."""
    other = tmp_path / "other.db"
    with closing(SqliteStore(other)) as store:
        world = World(store)
        for text in ("forged one", "forged two", "forged three", "forged four"):
            world.commit(text)
        assert world.faults() == []
    with raw_store(path) as db:
        seal = db.execute("SELECT value FROM meta WHERE key = 'seal'").get
    rewritten(other, ())
    with raw_store(other, knowing=True) as db:
        db.execute("INSERT INTO meta(key, value) VALUES ('seal', ?)", (seal,))
    with pytest.raises(StoreCorrupt, match="another key, or was changed"):
        SqliteStore(other, seal=KEY)


def test_a_chain_whose_end_was_written_anew_is_seen(path: Path) -> None:
    with raw_store(path, knowing=True) as db:
        db.execute("UPDATE change SET hash = zeroblob(32) WHERE seq = 4")
    assert any("seal" in fault for fault in faults(path))


def test_taking_the_seal_off_is_seen(path: Path) -> None:
    with raw_store(path) as db:
        db.execute("DELETE FROM meta WHERE key = 'seal'")
    with pytest.raises(StoreCorrupt, match="no seal"):
        SqliteStore(path, seal=KEY)


def test_a_process_that_has_it_open_writes_no_more_once_its_seal_is_taken_off(path: Path) -> None:
    with closing(SqliteStore(path, seal=KEY)) as store:
        world = World(store, "more")
        world.commit("four")
        with raw_store(path) as db:
            db.execute("DELETE FROM meta WHERE key = 'seal'")
        with pytest.raises(StoreCorrupt, match="taken off"):
            world.commit("five")


def test_who_has_no_key_writes_to_no_store_whose_seal_was_taken_off(path: Path) -> None:
    with raw_store(path) as db:
        db.execute("DELETE FROM meta WHERE key = 'seal'")
    with closing(SqliteStore(path)) as store:
        world = World(store, "more")
        assert world.texts() == ["three"]
        with pytest.raises(StoreReadOnly, match="sealed"):
            world.commit("four")


def test_a_store_whose_tenants_went_with_its_seal_is_not_sealed_anew(path: Path) -> None:
    with raw_store(path) as db:
        db.execute("DELETE FROM meta WHERE key = 'seal'")
        db.execute("DELETE FROM tenant")
    with pytest.raises(StoreCorrupt, match="no seal"):
        SqliteStore(path, seal=KEY)


def test_a_store_that_has_none_is_sealed_as_it_stands_if_it_is_sound(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with closing(SqliteStore(path)) as store:
        World(store).commit("one")
    with pytest.raises(StoreCorrupt, match="no seal"):
        SqliteStore(path, seal=KEY)
    file = tmp_path / "key"
    file.write_bytes(b"correct horse battery staple")
    with pytest.raises(Invalid, match="seal"):
        admin.seal(path, Settings())
    admin.seal(path, Settings(seal=str(file)))
    assert faults(path, seal_key(str(file))) == []
    with raw_store(tmp_path / "memory.db") as db:
        db.execute("UPDATE version SET state = 3")
    assert faults(path, seal_key(str(file)))


def test_a_store_that_is_not_sound_is_not_sealed(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with closing(SqliteStore(path)) as store:
        World(store).commit("one")
    with raw_store(path) as db:
        db.execute("UPDATE version SET state = 3")
    with pytest.raises(StoreCorrupt, match="not sealed"):
        offline.seal_store(path, KEY)


def test_the_key_comes_out_of_a_file_or_of_a_command(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_text("correct horse battery staple\n")
    assert len(seal_key(str(file))) == 32
    assert seal_key(f"!cat {file}") == seal_key(str(file))
    assert seal_key("") == b""
    for said in ("!false", str(tmp_path / "none"), "!", "!printf short"):
        with pytest.raises(Invalid, match="seal") as told:
            seal_key(said)
        assert ".." not in str(told.value)


def test_a_memory_is_sealed_by_its_settings(tmp_path: Path) -> None:
    file, path = tmp_path / "key", tmp_path / "memory.db"
    file.write_text("correct horse battery staple\n")
    settings = Settings(seal=str(file), background=False)
    with Memory(path, settings=settings, embedder="none") as memory:
        memory.scope(user="ada").observe("hello")
        assert memory.admin.verify() == []
    with Memory(path, settings=Settings(background=False), embedder="none") as memory:
        assert [fault.where for fault in memory.admin.verify()] == ["seal"]
        with pytest.raises(StoreReadOnly):
            memory.scope(user="ada").observe("hello again")
