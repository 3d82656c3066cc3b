"""A store in a file or folder that cannot be written: everything that reads goes on, a write is a typed error."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import apsw
import pytest

from mnemic import Memory, Settings, StoreReadOnly
from mnemic.errors import StoreError
from mnemic.memory import ScopedMemory
from mnemic.testing.faults import read_only

QUIET = Settings(background=False)
_NOBODY = 65534


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder whose parents everybody may pass, for tests that give up being root."""
    above = Path(tempfile.mkdtemp())
    os.chmod(above, 0o755)
    (above / "store").mkdir()
    yield above / "store"
    shutil.rmtree(above)


def opened(path: Path, **settings: Any) -> Memory:
    return Memory(path, settings=Settings(background=False, **settings), embedder="scripted")


def filled(path: Path, turns: int = 3) -> None:
    with opened(path) as memory:
        me = memory.scope(user="ada")
        me.observe([f"Fox {n} sleeps." for n in range(turns)])
        me.observe("I live in Lisbon.", role="user")
        memory.flush()
        me.observe("From now on, answer in French.", role="user")
        for read in READS.values():  # whoever gives up being root may import nothing that is not imported yet
            read(me)


@contextmanager
def file_of_mode_0400(folder: Path) -> Iterator[None]:
    """The file may only be read, though others may be made beside it."""
    root = os.geteuid() == 0
    (folder / "m.db").chmod(0o400)
    if root:
        for path in (folder, *folder.iterdir()):
            os.chown(path, _NOBODY, _NOBODY)
        os.seteuid(_NOBODY)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)
        (folder / "m.db").chmod(0o600)


WAYS: dict[str, Callable[[Path], AbstractContextManager[None]]] = {
    "a read-only folder": read_only,
    "a file of mode 0400": file_of_mode_0400,
}

READS: dict[str, Callable[[ScopedMemory], object]] = {
    "recall": lambda me: me.recall("where does the fox sleep?").items[0].text,
    "context": lambda me: "French" in me.context("fox").text,
    "ask": lambda me: me.ask("where do I live?").text,
    "list": lambda me: [version.item.text for version in me.list()],
    "count": lambda me: me.count(),
    "log": lambda me: [change.seq for change in me.log()],
    "history": lambda me: len(me.history(me.list()[0].item.id)),
    "as_of": lambda me: me.as_of("2000-01-01").recall("fox").items,
    "at": lambda me: me.at(1).count(),
    "changes": lambda me: len(me.changes()),
    "why_not": lambda me: me.why_not("fox", me.list()[0].item.id).stage,
}


@pytest.mark.parametrize("way", WAYS)
def test_everything_that_reads_answers_as_it_did(folder: Path, way: str) -> None:
    filled(folder / "m.db")
    with opened(folder / "m.db") as memory:
        before = {name: read(memory.scope(user="ada")) for name, read in READS.items()}
    files = sorted(os.listdir(folder))
    with WAYS[way](folder), opened(folder / "m.db") as memory:
        me = memory.scope(user="ada")
        assert {name: read(me) for name, read in READS.items()} == before
        assert memory.admin.verify() == []
        assert memory.admin.stats().users
        assert list(memory.admin.export())
    assert sorted(os.listdir(folder)) == files


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "write",
    [
        lambda me: me.observe("Late."),
        lambda me: me.write("Late."),
        lambda me: me.undo(1),
        lambda me: me.forget(me.list()[0].item.id),
        lambda me: me.session("chat").observe("Late."),
        lambda me: me.erase_user(),
    ],
)
def test_a_write_is_a_typed_error_that_says_what_to_do_and_reading_goes_on(
    folder: Path, way: str, write: Callable[[ScopedMemory], object]
) -> None:
    filled(folder / "m.db")
    with opened(folder / "warm.db") as memory:  # what is imported on the way is imported as root
        me = memory.scope(user="ada")
        me.observe("Early.")
        write(me)
    with WAYS[way](folder), opened(folder / "m.db") as memory:
        me = memory.scope(user="ada")
        with pytest.raises(StoreReadOnly, match="it cannot be written; check the owner and mode"):
            write(me)
        assert me.recall("fox").items


@pytest.mark.parametrize("way", WAYS)
def test_a_copy_is_made_elsewhere_and_no_checkpoint_is_left_half_made(folder: Path, way: str) -> None:
    filled(folder / "m.db")
    elsewhere = folder.parent / "copies"
    elsewhere.mkdir()
    elsewhere.chmod(0o777)
    with opened(folder / "warm.db") as memory:
        memory.scope(user="ada").observe("Early.")
        memory.admin.backup(elsewhere / "warm.db")
        memory.admin.checkpoint("warm")
    shutil.rmtree(folder / "checkpoints")
    with WAYS[way](folder), opened(folder / "m.db") as memory:
        memory.admin.backup(elsewhere / "copy.db")
        with pytest.raises(StoreReadOnly):
            memory.admin.checkpoint("now")
        assert memory.admin.checkpoints() == []
        assert not list(folder.glob("checkpoints/*now*"))
        with opened(elsewhere / "copy.db") as copy:
            assert copy.scope(user="ada").recall("fox").items


def test_a_thread_behind_does_no_harm_to_who_reads(folder: Path) -> None:
    filled(folder / "m.db")
    with read_only(folder), Memory(folder / "m.db", settings=Settings(background=True), embedder="none") as memory:
        me = memory.scope(user="ada")
        for _ in range(20):
            assert me.recall("fox").items
            assert "French" in me.context("fox").text


def test_who_is_far_behind_the_rules_is_answered_all_the_same(folder: Path) -> None:
    with opened(folder / "m.db") as memory:
        me = memory.scope(user="ada")
        me.observe([f"Fox {n} sleeps." for n in range(700)])
        me.observe("From now on, answer in French.", role="user")
    filled(folder / "other.db")
    with read_only(folder), opened(folder / "m.db") as memory:
        assert "French" in memory.scope(user="ada").context("fox").text
        assert memory.scope(user="ada").ask("which fox sleeps?").text


def test_what_lies_in_the_log_of_a_store_that_is_open_elsewhere_is_read(folder: Path) -> None:
    filled(folder / "m.db")
    with opened(folder / "m.db") as writing:
        writing.scope(user="ada").observe("A late owl.")
        with read_only(folder), opened(folder / "m.db") as memory:
            assert memory.scope(user="ada").recall("owl").items[0].text == "A late owl."


def test_a_log_that_cannot_be_read_without_writing_is_told_and_never_passed_over(folder: Path) -> None:
    filled(folder / "m.db")
    with opened(folder / "m.db") as writing:
        writing.scope(user="ada").observe("A late owl.")
        copy = folder / "copy"
        copy.mkdir()
        for name in ("m.db", "m.db-wal"):
            shutil.copy(folder / name, copy / name)
    with read_only(copy), pytest.raises(StoreReadOnly, match=r"m.db-wal holds commits .* open it once"):
        opened(copy / "m.db")
    with opened(copy / "m.db") as memory:
        assert memory.scope(user="ada").recall("owl").items


def test_a_store_that_somebody_else_begins_to_write_is_read_no_further_without_locks(folder: Path) -> None:
    filled(folder / "m.db")
    with read_only(folder):
        memory = opened(folder / "m.db")
        assert memory.scope(user="ada").recall("fox").items
    with opened(folder / "m.db") as writing:
        writing.scope(user="ada").observe("A late owl.")
        with pytest.raises(StoreError, match="is written by somebody else"):
            memory.scope(user="ada").recall("owl")
    memory.close()
    with read_only(folder), opened(folder / "m.db") as again:
        assert again.scope(user="ada").recall("owl").items[0].text == "A late owl."


def test_a_file_of_an_earlier_format_wants_to_be_brought_up_to_date_where_it_can_be_written(folder: Path) -> None:
    filled(folder / "m.db")
    db = apsw.Connection(str(folder / "m.db"))
    db.pragma("user_version", 3)
    db.close()
    with read_only(folder), pytest.raises(StoreReadOnly, match="earlier mnemic"):
        opened(folder / "m.db")
