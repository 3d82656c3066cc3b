"""What may be a store's file: a typed error for everything else, and a stranger's file stays as it was to the byte."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from mnemic.errors import (
    Invalid,
    MnemicError,
    StoreCorrupt,
    StoreError,
    StoreForeign,
    StoreLocked,
    StoreNewer,
    StoreReadOnly,
)
from mnemic.store.engine import compaction
from mnemic.store.sqlite import disk
from mnemic.store.sqlite.disk import Host, refuse_network, this_host
from mnemic.store.sqlite.schema import FORMAT
from mnemic.store.sqlite.sqlite_store import SqliteStore
from mnemic.testing.faults import largest_file, read_only
from mnemic.testing.raw_store import raw_store
from mnemic.testing.store_contract.contract_world import World


def filled(path: Path, texts: int = 3) -> World:
    world = World(SqliteStore(path))
    for n in range(texts):
        world.commit(f"text {n}")
    return world


def plain(path: Path) -> bytes:
    """A closed store of three texts, in one file."""
    filled(path).store.close()
    return path.read_bytes()


def test_an_empty_file_becomes_a_store(path: Path) -> None:
    path.touch()
    world = filled(path)
    assert world.texts() == ["text 0", "text 1", "text 2"]
    world.store.close()


def test_folders_and_files_are_their_owners_only(tmp_path: Path) -> None:
    path = tmp_path / "a" / "memory.db"
    world = filled(path)
    modes = {f.name: stat.S_IMODE(f.stat().st_mode) for f in path.parent.iterdir()}
    assert modes == {"memory.db": 0o600, "memory.db-wal": 0o600, "memory.db-shm": 0o600}
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    world.store.backup(tmp_path / "copy.db")
    assert stat.S_IMODE((tmp_path / "copy.db").stat().st_mode) == 0o600
    world.store.close()


def test_a_missing_file_is_not_made_when_it_is_not_to_be(path: Path) -> None:
    with pytest.raises(StoreError, match="no store"):
        SqliteStore(path, create=False)
    assert not path.exists()


@pytest.mark.parametrize(
    "content",
    [b"xy", b"hello, this is text\n" * 50, bytes(range(256)) * 40, b"SQLite format 3", b"\x00" * 4096, b"%PDF-1.7"],
)
def test_bytes_of_something_else_are_refused_and_left_alone(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(StoreForeign, match=r"memory\.db"):
        SqliteStore(path)
    assert path.read_bytes() == content
    assert [f.name for f in path.parent.iterdir()] == ["memory.db"]


@pytest.mark.parametrize("mark", [0, 0x12345678])
def test_another_programs_database_is_refused_and_left_alone(path: Path, mark: int) -> None:
    db = apsw.Connection(str(path))
    db.execute("CREATE TABLE theirs(x); INSERT INTO theirs VALUES (1)")
    db.pragma("application_id", mark)
    db.close()
    before = path.read_bytes()
    with pytest.raises(StoreForeign, match="another program"):
        SqliteStore(path)
    assert path.read_bytes() == before


def test_a_newer_format_is_refused_and_left_alone(path: Path) -> None:
    plain(path)
    db = apsw.Connection(str(path))
    db.pragma("user_version", FORMAT + 1)
    db.close()
    before = path.read_bytes()
    with pytest.raises(StoreNewer, match=f"format {FORMAT + 1}"):
        SqliteStore(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("keep", [50, 100, 4096, 3 * 4096, 5 * 4096 + 17])
def test_a_truncated_file_is_an_error_of_ours_when_opened_or_read(path: Path, keep: int) -> None:
    path.write_bytes(plain(path)[:keep])
    with pytest.raises((StoreCorrupt, StoreForeign, StoreError)):  # noqa: PT012 - which of the steps finds it is open
        world = World(SqliteStore(path))
        try:
            if not world.faults():
                world.texts()
                raise AssertionError("a truncated file passed")
            raise StoreCorrupt("verify found it")
        finally:
            world.store.close()


def test_a_file_full_of_noise_behind_a_true_header_is_an_error_of_ours(path: Path) -> None:
    content = plain(path)
    path.write_bytes(content[:100] + bytes(255 - b for b in content[100:]))
    with pytest.raises(StoreError):
        World(SqliteStore(path)).commit("x")


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="folder"):
        SqliteStore(tmp_path)


def test_a_file_where_a_folder_should_be_is_named(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("x")
    with pytest.raises(MnemicError, match="taken"):
        SqliteStore(tmp_path / "taken" / "memory.db")


MOUNTS = """\
/dev/sda1 / ext4 rw 0 0
server:/export /home/ada nfs4 rw 0 0
/dev/sdb1 /home/ada/local xfs rw 0 0
//nas/share /mnt/nas\\040share cifs rw 0 0
broken line
"""


@pytest.mark.parametrize(
    ("folder", "refused"),
    [
        ("/home/ada", True),
        ("/home/ada/.mnemic", True),
        ("/home/ada/local/x", False),
        ("/home/adam", False),
        ("/mnt/nas share/x", True),
        ("/var/lib", False),
    ],
)
def test_a_network_file_system_is_refused(folder: str, refused: bool) -> None:
    if refused:
        with pytest.raises(Invalid, match="network"):
            refuse_network(Path(folder), MOUNTS)
    else:
        refuse_network(Path(folder), MOUNTS)


def test_another_machines_lease_locks_the_store_until_it_runs_out(path: Path) -> None:
    world = filled(path)

    def lease(until: float) -> None:
        with raw_store(path, knowing=True) as db:
            db.execute("INSERT OR REPLACE INTO meta VALUES ('lease', ?)", (f"another-machine {until:.0f}".encode(),))

    lease(time.time() + 60)
    for write in (
        lambda: world.commit("x"),
        lambda: world.erase(world.versions()[0].item.id),
        lambda: compaction.compact(world.store, "t", 1),
    ):
        with pytest.raises(StoreLocked, match="another machine"):
            write()
    assert len(world.texts()) == 3
    lease(time.time() - 1)
    world.commit("x")
    assert len(world.texts()) == 4
    world.store.close()


def lease_in(path: Path) -> bytes | None:
    db = apsw.Connection(str(path))
    try:
        return db.execute("SELECT value FROM meta WHERE key = 'lease'").get  # type: ignore[no-any-return]
    finally:
        db.close()


def put_lease(path: Path, value: bytes) -> None:
    with raw_store(path, knowing=True) as db:
        db.execute("INSERT OR REPLACE INTO meta VALUES ('lease', ?)", (value,))


def test_a_clock_that_was_a_year_ahead_keeps_nobody_from_writing(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as ahead:
        ahead.setattr(disk, "this_host", lambda: Host("another-boot", "another"))
        ahead.setattr(disk.time, "time", lambda now=time.time: now() + 365 * 86_400)
        world = filled(path)
        kept = lease_in(path)
        world.store.close()
    assert kept is not None
    put_lease(path, kept)  # as after a crash
    world = World(SqliteStore(path), "again")
    world.commit("x")
    assert lease_in(path) != kept
    world.store.close()


def test_a_machine_that_starts_again_writes_at_once_and_its_clock_may_have_gone_back(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = filled(path)
    kept = lease_in(path)
    here = this_host()
    monkeypatch.setattr(disk, "this_host", lambda: Host("after the next start", here.name))
    for ahead in (0, -30, -86_400, 86_400):
        put_lease(path, kept or b"")
        with monkeypatch.context() as set_back:
            set_back.setattr(disk.time, "time", lambda ahead=ahead, now=time.time: now() + ahead)
            world.commit("x")
    world.store.close()


def test_closing_drops_the_lease_and_reading_takes_none(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world = filled(path)
    assert lease_in(path) is not None
    world.store.close()
    assert lease_in(path) is None
    monkeypatch.setattr(disk, "this_host", lambda: Host("another-boot", "another"))
    world = World(SqliteStore(path), "again")
    assert len(world.texts()) == 3
    assert lease_in(path) is None
    world.commit("x")
    world.store.close()


@pytest.mark.parametrize(
    "value", [b"", b"x", b"a b c d", b"a b nan", b"a b inf", b"\xff\xfe", b"a b 9e999", b"another 1e30"]
)
def test_a_lease_that_is_none_keeps_nobody_from_writing(path: Path, value: bytes) -> None:
    filled(path).store.close()
    put_lease(path, value)
    world = World(SqliteStore(path), "again")
    world.commit("x")
    world.store.close()


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder whose parents everybody may pass, for tests that give up being root."""
    folder = Path(tempfile.mkdtemp())
    os.chmod(folder, 0o755)
    yield folder
    shutil.rmtree(folder)


def test_a_read_only_folder_is_a_typed_error_and_the_next_call_works(open_folder: Path) -> None:
    path = open_folder / "memory.db"
    plain(path)
    with read_only(open_folder), pytest.raises(StoreReadOnly):
        World(SqliteStore(path), "again").commit("x")
    world = World(SqliteStore(path), "again")
    world.commit("x")
    assert len(world.texts()) == 4
    world.store.close()


def test_a_folder_in_which_nothing_can_be_made_is_a_typed_error(open_folder: Path) -> None:
    with read_only(open_folder), pytest.raises(StoreReadOnly, match="sub"):
        SqliteStore(open_folder / "sub" / "memory.db")
    with read_only(open_folder), pytest.raises(StoreReadOnly):
        SqliteStore(open_folder / "memory.db")


def test_a_full_disk_is_a_typed_error_and_the_next_call_works(path: Path) -> None:
    world = filled(path)
    size = max(f.stat().st_size for f in path.parent.iterdir())
    with largest_file(size + 8192), pytest.raises(StoreError):
        world.commit("long " * 20_000)
    assert len(world.texts()) == 3
    world.commit("x")
    assert len(world.texts()) == 4
    assert world.faults() == []
    world.store.close()


def test_a_log_that_was_deleted_under_an_open_store_takes_nothing_along_that_was_acknowledged(path: Path) -> None:
    world = filled(path)
    log = path.with_name(path.name + "-wal")
    log.unlink()
    with pytest.raises(StoreError, match="was deleted while the store was open"):
        world.commit("text 3")
    shutil.copy(path, path.with_name("killed.db"))  # as if the process died here
    world.store.close()
    for left in (path, path.with_name("killed.db")):
        again = World(SqliteStore(left))
        assert again.texts() == ["text 0", "text 1", "text 2"]
        assert again.faults() == []
        again.store.close()


@pytest.mark.parametrize("left", [0.0, 0.5, 0.99])
def test_a_log_that_was_cut_short_under_an_open_store_is_written_into_no_more(path: Path, left: float) -> None:
    world = filled(path)
    log = path.with_name(path.name + "-wal")
    with raw_store(path) as db:
        _, frames, _ = db.execute("PRAGMA wal_checkpoint(NOOP)").fetchall()[0]
    os.truncate(log, int((32 + frames * (4096 + 24)) * left))  # what is behind these frames is of before
    cut = log.read_bytes()
    for number in range(2):
        with pytest.raises(StoreError, match="was cut short while the store was open"):
            world.commit(f"text {3 + number}")
    world.store.close()
    assert log.read_bytes() == cut
    again = World(SqliteStore(path), "again")
    again.commit("it goes on")
    *kept, last = again.texts()
    assert (kept, last) == ([f"text {n}" for n in range(len(kept))], "it goes on")
    assert again.faults() == []
    again.store.close()


def test_a_log_that_another_one_replaced_is_not_touched(path: Path) -> None:
    world = filled(path)
    log = path.with_name(path.name + "-wal")
    log.unlink()
    log.write_bytes(b"a stranger's")
    with pytest.raises(StoreError, match="another log"):
        world.commit("text 3")
    assert log.read_bytes() == b"a stranger's"
    world.store.close()
