"""The three file systems under SQLite."""

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from random import Random

import apsw
import pytest

from mnemic.testing.faulty_disk import Deleted, Disk, DiskWrite, Loss, OpenFile, Synced, Truncated, lay
from mnemic.testing.vfs import Call, FailingVFS, RecordingVFS, SlowVFS, Trouble


def _open(path: Path, vfs: str | None = None, synchronous: str = "FULL") -> apsw.Connection:
    db = apsw.Connection(str(path), vfs=vfs)
    db.pragma("journal_mode", "WAL")
    db.pragma("synchronous", synchronous)
    return db


def _numbers(path: Path) -> list[int]:
    with closing(_open(path)) as db:
        assert db.pragma("integrity_check") == "ok"
        return [row[0] for row in db.execute("SELECT n FROM t ORDER BY n")]


@pytest.fixture
def recording() -> Iterator[RecordingVFS]:
    with RecordingVFS() as vfs:
        yield vfs


def _write(path: Path, vfs: RecordingVFS, synchronous: str = "FULL") -> None:
    with closing(_open(path, vfs.name, synchronous)) as db:
        db.execute("CREATE TABLE t(n)").fetchall()
        for n in range(5):
            db.execute("INSERT INTO t VALUES(?)", (n,))
            vfs.mark(str(n))
        vfs.mark("closing")


def _left(vfs: RecordingVFS, at: int, loss: Loss, folder: Path, seed: int = 1) -> tuple[list[str], Path]:
    disk = Disk(vfs.steps)
    disk.forward(at)
    folder.mkdir()
    lay(disk.image(loss, Random(seed)), folder)
    return list(disk.said), folder / "m.db"


def test_a_record_replayed_to_its_end_gives_the_same_files(tmp_path: Path, recording: RecordingVFS) -> None:
    _write(tmp_path / "m.db", recording)
    _, left = _left(recording, len(recording.steps), Loss.DROP, tmp_path / "left")
    assert left.read_bytes() == (tmp_path / "m.db").read_bytes()


def test_a_record_holds_every_kind_of_step_in_order(tmp_path: Path, recording: RecordingVFS) -> None:
    _write(tmp_path / "m.db", recording)
    kinds = [type(step) for step in recording.steps]
    assert kinds.index(OpenFile) < kinds.index(DiskWrite) < kinds.index(Synced)
    assert {OpenFile, DiskWrite, Synced, Deleted} <= set(kinds)
    assert any(isinstance(step, Synced) and step.folder for step in recording.steps)


def test_a_truncation_is_recorded(tmp_path: Path, recording: RecordingVFS) -> None:
    _write(tmp_path / "m.db", recording)
    with closing(_open(tmp_path / "m.db", recording.name)) as db:
        db.execute("INSERT INTO t VALUES(9)")
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        assert any(isinstance(step, Truncated) and step.size == 0 for step in recording.steps)


def test_sqlite_keeps_what_it_acknowledged_at_full(tmp_path: Path, recording: RecordingVFS) -> None:
    _write(tmp_path / "m.db", recording)
    end = next(i for i, step in enumerate(recording.steps) if getattr(step, "text", "") == "closing")
    said, left = _left(recording, end, Loss.DROP, tmp_path / "left")
    assert len(said) == 5
    assert _numbers(left) == [0, 1, 2, 3, 4]


def test_a_cut_before_sqlite_opens_the_log_it_was_left_loses_nothing(tmp_path: Path, recording: RecordingVFS) -> None:
    _write(tmp_path / "m.db", recording)
    end = next(i for i, step in enumerate(recording.steps) if getattr(step, "text", "") == "closing")
    _, left = _left(recording, end, Loss.DROP, tmp_path / "left")
    with RecordingVFS() as second:
        with closing(_open(left, second.name)) as db:
            db.execute("SELECT n FROM t").fetchall()
        opened = [step.name for step in second.steps if isinstance(step, OpenFile)]
        assert opened == [str(left), f"{left}-wal"]
        _, again = _left(second, 1, Loss.DROP, tmp_path / "again")
    assert _numbers(again) == [0, 1, 2, 3, 4]


def test_sqlite_loses_what_it_acknowledged_when_off(tmp_path: Path, recording: RecordingVFS) -> None:
    _write(tmp_path / "m.db", recording, "OFF")
    end = next(i for i, step in enumerate(recording.steps) if getattr(step, "text", "") == "closing")
    said, left = _left(recording, end, Loss.DROP, tmp_path / "left")
    assert len(said) == 5
    with pytest.raises(apsw.SQLError, match="no such table"):
        _numbers(left)


def test_sqlite_drops_a_torn_frame_of_its_log(tmp_path: Path, recording: RecordingVFS) -> None:
    _write(tmp_path / "m.db", recording)
    marks = [i for i, step in enumerate(recording.steps) if getattr(step, "text", "") == "2"]
    for number, cut in enumerate(range(marks[0] + 1, marks[0] + 4)):  # while the fourth insert is being written
        for seed in range(5):
            _, left = _left(recording, cut, Loss.TORN, tmp_path / f"left{number}-{seed}", seed)
            assert _numbers(left) in ([0, 1, 2], [0, 1, 2, 3])


def _insert(db: apsw.Connection) -> None:
    db.execute("INSERT INTO t VALUES(1)")


def _checkpoint(db: apsw.Connection) -> None:
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


@pytest.mark.parametrize(
    ("call", "act", "full", "error"),
    [
        (Call.WRITE, _insert, False, apsw.IOError),
        (Call.WRITE, _insert, True, apsw.FullError),
        (Call.SYNC, _insert, False, apsw.IOError),
        (Call.TRUNCATE, _checkpoint, False, apsw.IOError),
    ],
)
def test_a_failing_call_reaches_the_caller_once_and_then_all_is_well(
    tmp_path: Path, call: Call, act: Callable[[apsw.Connection], None], full: bool, error: type[apsw.Error]
) -> None:
    with FailingVFS() as vfs, closing(_open(tmp_path / "m.db", vfs.name)) as db:
        db.execute("CREATE TABLE t(n)").fetchall()
        vfs.trouble = Trouble(call=call, nth=vfs.calls[call] + 1, full=full)
        with pytest.raises(error):
            act(db)
        act(db)
        assert vfs.hurt == 1
    assert _numbers(tmp_path / "m.db") == ([1] if act is _insert else [])


def test_a_lasting_fault_stays_until_it_is_cleared(tmp_path: Path) -> None:
    with FailingVFS() as vfs, closing(_open(tmp_path / "m.db", vfs.name)) as db:
        db.execute("CREATE TABLE t(n)").fetchall()
        vfs.trouble = Trouble(call=Call.WRITE, nth=vfs.calls[Call.WRITE] + 1, lasting=True)
        for _ in range(3):
            with pytest.raises(apsw.IOError):
                _insert(db)
        vfs.clear()
        _insert(db)
        assert vfs.hurt >= 3


def test_a_read_that_fails_and_a_file_that_does_not_open_are_errors(tmp_path: Path) -> None:
    with closing(_open(tmp_path / "m.db")) as db:
        db.execute("CREATE TABLE t(n)").fetchall()
    with FailingVFS(Trouble(call=Call.READ, nth=2)) as vfs, pytest.raises(apsw.IOError):
        _open(tmp_path / "m.db", vfs.name).execute("SELECT * FROM t").fetchall()
    with FailingVFS(Trouble(call=Call.OPEN, nth=1)) as vfs, pytest.raises(apsw.CantOpenError):
        _open(tmp_path / "m.db", vfs.name)


def test_a_slow_disk_spends_its_time_in_sync(tmp_path: Path) -> None:
    with SlowVFS(0.0) as vfs, closing(_open(tmp_path / "m.db", vfs.name)) as db:
        db.execute("CREATE TABLE t(n)").fetchall()
        before = vfs.syncs
        for _ in range(3):
            _insert(db)
        assert vfs.syncs == before + 3


def test_a_name_is_free_again_after_use() -> None:
    with RecordingVFS() as vfs:
        assert vfs.name in apsw.vfs_names()
    assert vfs.name not in apsw.vfs_names()
