"""Packing behind the writer: who packs, when, and that nothing is lost where it is cut short."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from mnemic import Memory, StoreError
from mnemic.models.scripted_embedder import ScriptedEmbedder
from mnemic.settings import PACK_ROWS, Settings
from mnemic.store.engine.relations import PACK
from mnemic.store.engine.rows import Rows
from mnemic.store.sqlite.sqlite_store import SqliteStore
from mnemic.store.values.work import PackRow
from mnemic.testing.faults import FailAt, KillAt, read_only
from patience import eventually

FEW = 8


def opened(path: Path, pack_rows: int = FEW, **settings: object) -> Memory:
    return Memory(path, strategies=[], settings=Settings(pack_rows=pack_rows, **settings))  # type: ignore[arg-type]


def filled(memory: Memory, turns: int, user: str = "ada") -> None:
    memory.scope(user=user).observe([f"turn {n} about apples" for n in range(turns)])


def packs(memory: Memory) -> list[PackRow]:
    with memory._opened.store.read() as snapshot:
        spaces = [head.id for tenant, _ in snapshot.tenants() for head in snapshot.all_spaces(tenant)]
        return [row for space in spaces for row in snapshot.packs(space)]


def read_as_entries(memory: Memory) -> list[int]:
    """The spaces of which a first recall reads so many entries one by one that they should be packed."""
    told: list[int] = []
    memory._opened.kernel.catalogues.unpacked = lambda space, unsound: told.append(space)
    memory._opened.kernel.catalogues.clear()
    assert memory.scope(user="ada").recall("apples").considered
    return told


def test_a_flush_packs_every_user_with_enough_and_no_other(tmp_path: Path) -> None:
    with opened(tmp_path / "m.db") as memory:
        filled(memory, 3 * FEW + 1)
        filled(memory, FEW, "bob")
        filled(memory, FEW - 1, "eve")
        assert memory.flush()
        assert [row.rows for row in packs(memory)] == [FEW] * 4
        assert memory.flush()
        filled(memory, FEW)
        assert memory.flush()
        assert [row.rows for row in packs(memory)] == [4 * FEW, FEW]


def test_a_later_process_begins_with_what_was_packed(tmp_path: Path) -> None:
    with opened(tmp_path / "m.db") as memory:
        filled(memory, 3 * FEW)
        assert read_as_entries(memory)
        memory.flush()
    with opened(tmp_path / "m.db") as memory:
        assert not read_as_entries(memory)


def test_what_had_to_be_read_one_by_one_is_packed_behind_the_reader(tmp_path: Path) -> None:
    with opened(tmp_path / "m.db") as memory:
        filled(memory, 3 * FEW)
    with opened(tmp_path / "m.db", background=True) as memory:
        memory.scope(user="ada").recall("apples")
        eventually(lambda: len(packs(memory)) == 3)
        assert memory.admin.verify() == []


def test_what_was_written_is_packed_behind_the_writer(tmp_path: Path) -> None:
    with opened(tmp_path / "m.db", background=True) as memory:
        memory.scope(user="ada").observe("the first")
        for _ in range(3):
            filled(memory, FEW)
        eventually(lambda: sum(row.rows for row in packs(memory)) >= 2 * FEW)


def test_switched_off_nothing_is_packed_and_no_pack_is_read(tmp_path: Path) -> None:
    with opened(tmp_path / "m.db") as memory:
        filled(memory, 3 * FEW)
        memory.flush()
        rows = packs(memory)
    with opened(tmp_path / "m.db", pack_rows=0) as memory:
        filled(memory, FEW)
        memory.flush()
        assert packs(memory) == rows
        assert rows_from_packs(memory) == 0
    with opened(tmp_path / "m.db") as memory:
        assert rows_from_packs(memory) == 3 * FEW


def rows_from_packs(memory: Memory) -> int:
    """How many rows of what a first recall reads come out of packs."""
    memory.scope(user="ada").recall("apples")
    ((_, catalogue),) = memory._opened.kernel.catalogues._held.values()
    return catalogue.columns.packed


def test_by_itself_a_few_turns_are_not_packed(tmp_path: Path) -> None:
    with Memory(tmp_path / "m.db", strategies=[]) as memory:
        assert memory._opened.settings.pack_rows == PACK_ROWS
        filled(memory, 10 * FEW)
        memory.flush()
        assert packs(memory) == []


def test_a_store_that_cannot_be_written_is_read_by_its_packs(open_folder: Path) -> None:
    path = open_folder / "m.db"
    with opened(path) as memory:
        filled(memory, 3 * FEW)
        memory.flush()
        filled(memory, 3 * FEW)
        assert read_as_entries(memory)
        with read_only(open_folder):
            memory._opened.kernel.catalogues.clear()
            assert rows_from_packs(memory) == 3 * FEW


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder whose parents everybody may pass, for tests that give up being root."""
    folder = Path(tempfile.mkdtemp())
    os.chmod(folder, 0o755)
    yield folder
    shutil.rmtree(folder)


def _pack_and_die(path: Path, point: str, n: int) -> None:
    store = SqliteStore(path, probe=KillAt(point, n))
    with Memory(store, strategies=[], settings=Settings(pack_rows=FEW, background=False, embedder="none")) as memory:
        memory.flush()


@pytest.mark.parametrize("point", ["keep_pack:before-commit", "keep_pack:after-commit"])
@pytest.mark.parametrize("n", [1, 3, 5])
def test_a_kill_while_packing_leaves_packs_that_hold(tmp_path: Path, point: str, n: int) -> None:
    with opened(tmp_path / "m.db") as memory:
        filled(memory, 4 * FEW + 1)
    process = multiprocessing.get_context("fork").Process(target=_pack_and_die, args=(tmp_path / "m.db", point, n))
    process.start()
    process.join()
    assert process.exitcode == -9
    with opened(tmp_path / "m.db") as memory:
        assert memory.admin.verify() == []
        assert memory.scope(user="ada").recall("apples").considered == 4 * FEW + 1
        assert memory.flush()
        assert sum(row.rows for row in packs(memory)) == 4 * FEW
        assert memory.admin.verify() == []


def test_a_write_that_fails_leaves_the_space_for_another_time(tmp_path: Path) -> None:
    with opened(tmp_path / "m.db") as memory:
        filled(memory, 2 * FEW)
    store = SqliteStore(tmp_path / "m.db", probe=FailAt("keep_pack:before-commit", StoreError("the disk is full")))
    with Memory(store, strategies=[], settings=Settings(pack_rows=FEW)) as memory:
        with pytest.raises(StoreError, match="disk is full"):
            memory.flush()
        assert packs(memory) == []
        assert read_as_entries(memory)
        memory._opened.background.want_packs(packs_space(memory))
        assert memory.flush()
        assert len(packs(memory)) == 2


def packs_space(memory: Memory) -> int:
    with memory._opened.store.read() as snapshot:
        ((tenant, _),) = snapshot.tenants()
        return snapshot.all_spaces(tenant)[0].id


# Signs of vectors, and what is damaged


@pytest.fixture
def few_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mnemic.index.vectors.EXACT", 2)


def seeing(path: Path) -> Memory:
    """A memory with an embedder, in a process of its own."""
    settings = Settings(pack_rows=FEW, background=False)
    return Memory(path, strategies=[], settings=settings, embedder=ScriptedEmbedder())


def with_signs(path: Path) -> None:
    """Pack the entries of a user, and the signs of their vectors."""
    with seeing(path) as memory:
        filled(memory, 25 * FEW)
        assert memory.flush()
        assert len(sign_packs(memory)) == 1


def sign_packs(memory: Memory) -> list[PackRow]:
    with memory._opened.store.read() as snapshot:
        return [row for row in snapshot.all_packs(packs_space(memory)) if row.model]


def drop_signs(rows: Rows) -> None:
    rows.packs.relations.drop(PACK, ("model", ">", 0))


def damage(rows: Rows, model: int, digest: bytes = b"0" * 16) -> None:
    rows.packs.relations.update(PACK, {"digest": digest}, model=model)


def test_a_flush_of_a_new_process_packs_signs_that_are_missing(tmp_path: Path, few_are_many: None) -> None:
    path = tmp_path / "m.db"
    with_signs(path)
    with seeing(path) as memory:  # as a file of before there were such packs, or a dead letter tried again, leaves it
        memory._opened.store.transact(drop_signs)
    with seeing(path) as memory:
        assert memory.flush()
        assert len(sign_packs(memory)) == 1
        memory._opened.store.transact(drop_signs)
    with seeing(path) as memory:
        memory.admin.serve(threading.Event(), once=True)
        assert len(sign_packs(memory)) == 1


def test_a_reindex_leaves_signs_for_the_next_question(tmp_path: Path, few_are_many: None) -> None:
    path = tmp_path / "m.db"
    with_signs(path)
    with seeing(path) as memory:
        (old,) = sign_packs(memory)
        memory.admin.reindex(ScriptedEmbedder(128))
        assert sign_packs(memory) == []
        assert memory.flush()
        (new,) = sign_packs(memory)
        assert new.model != old.model


@pytest.mark.parametrize("model", [0, 1])
@pytest.mark.parametrize("seen_by", ["verify", "recall"])
def test_a_damaged_pack_that_was_seen_is_made_anew(
    tmp_path: Path, few_are_many: None, model: int, seen_by: str
) -> None:
    def see(memory: Memory) -> None:
        if seen_by == "recall":
            memory.scope(user="ada").recall("apples")
        else:
            assert any("makes it anew" in fault.problem for fault in memory.admin.verify())

    path = tmp_path / "m.db"
    with_signs(path)
    with seeing(path) as memory:
        model = model and sign_packs(memory)[0].model
        memory._opened.store.transact(damage, model)
        see(memory)
        assert memory.flush()
        assert memory.admin.verify() == []  # by a flush of this process
        memory._opened.store.transact(damage, model, b"1" * 16)
    with seeing(path) as memory:
        see(memory)
    with seeing(path) as memory:
        assert memory.flush()
        assert memory.admin.verify() == []  # and of the next
        assert len(sign_packs(memory)) == 1
        assert rows_from_packs(memory) == 25 * FEW
