"""An erasure reaches the copies that lie beside the store: checkpoints, half-made ones, logs put aside."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from mnemic import Conflict, Memory, NotFound
from mnemic.admin import restore
from mnemic.errors import StoreCorrupt
from mnemic.store.sqlite.sqlite_store import SqliteStore
from mnemic.store.values.drafts import Erasure, Named
from mnemic.testing.raw_store import raw_store


def holding(folder: Path, word: str) -> list[str]:
    return sorted(p.name for p in folder.rglob("*") if p.is_file() and word.encode() in p.read_bytes())


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path / "memory.db", embedder="none") as opened:
        yield opened
        assert opened.admin.verify() == []


def sound(path: Path) -> bool:
    with closing(SqliteStore(path, create=False)) as copy:
        return list(copy.verify()) == []


def test_everything_of_a_user_goes_from_a_checkpoint_and_others_stay(memory: Memory, tmp_path: Path) -> None:
    ada, bob = memory.scope(user="zebraqada"), memory.scope(user="bob")
    memory.scope(user="zebraqada", session="zebraqtrip").observe("The code word is zebraqfalcon.")
    bob.observe("bobs-own-words")
    made = memory.admin.checkpoint("before")
    receipt = ada.erase_user()
    assert receipt.status == "clean"
    assert receipt.left == ()
    assert str(made.path) in receipt.scanned
    assert holding(tmp_path, "zebraq") == []
    assert made.path.name in holding(tmp_path, "bobs-own-words")
    assert sound(made.path)
    assert sorted(p.name for p in made.path.parent.iterdir()) == [made.path.name]


def test_an_item_a_session_a_source_and_a_tenant_go_from_it(memory: Memory, tmp_path: Path) -> None:
    ada = memory.scope(user="ada")
    item = ada.observe("zebraqitem is a word").id
    memory.scope(user="ada", session="zebraqsession").observe("zebraqinsession")
    ada.observe("zebraqsourced", slots={"source": "zebraqchat"})
    memory.scope(user="eve", tenant="zebraqtenant").observe("zebraqofeve")
    made = memory.admin.checkpoint("all")
    for erase, words in (
        (lambda: ada.erase(item), ("zebraqitem",)),
        (lambda: ada.erase(session="zebraqsession"), ("zebraqinsession", "zebraqsession")),
        (lambda: ada.erase(source="zebraqchat"), ("zebraqsourced", "zebraqchat")),
        (lambda: memory.admin.erase_tenant("zebraqtenant"), ("zebraqtenant", "zebraqofeve")),
    ):
        assert erase().status == "clean"
        assert [holding(tmp_path, word) for word in words] == [[] for _ in words], words
        assert sound(made.path)


def test_what_only_the_checkpoint_still_holds_goes_too(memory: Memory, tmp_path: Path) -> None:
    ada = memory.scope(user="ada")
    ada.observe("what stays in the store")
    memory.scope(user="ada", session="zebraqtrip").observe("zebraqlater")
    item = ada.observe("zebraqlast").id
    memory.admin.checkpoint("later")
    memory.admin.rewind(1)
    assert ada.erase(session="zebraqtrip").status == "clean"
    assert holding(tmp_path, "zebraqlater") == []
    receipt = ada.erase(item)
    assert (receipt.seq, receipt.ids, receipt.status) == (None, (item,), "clean")
    assert holding(tmp_path, "zebraq") == []
    memory.admin.checkpoint("with-ada")
    memory.admin.rewind(0)
    assert ada.erase_user().status == "clean"
    assert holding(tmp_path, "what stays") == []
    with pytest.raises(NotFound):
        ada.erase_user()


def test_its_state_hash_is_told_anew_and_it_restores_without_what_was_erased(tmp_path: Path) -> None:
    with Memory(tmp_path / "memory.db", embedder="none") as memory:
        ada = memory.scope(user="ada")
        gone = ada.observe("zebraqgone").id
        ada.observe("zebraqkept")
        before = memory.admin.checkpoint("both")
        ada.observe("later")
        ada.erase(gone)
        (after,) = memory.admin.checkpoints()
        assert (after.seq, after.there) == (before.seq, True)
        assert after.hash != before.hash
    with Memory(before.path, embedder="none") as copy:
        assert copy.admin.state_hash() == after.hash
    assert restore("both", tmp_path / "memory.db") == 0
    with Memory(tmp_path / "memory.db", embedder="none") as memory:
        assert [v.item.text for v in memory.scope(user="ada").list()] == ["zebraqkept"]
        assert memory.admin.verify() == []
    assert holding(tmp_path, "zebraqgone") == []


def test_a_checkpoint_that_is_being_read_is_named_and_done_once_the_store_is_opened_again(tmp_path: Path) -> None:
    with Memory(tmp_path / "memory.db", embedder="none") as memory:
        ada = memory.scope(user="ada")
        ada.observe("zebraqheld")
        made = memory.admin.checkpoint("held")
        with closing(apsw.Connection(str(made.path))) as reader:
            reader.execute("BEGIN")
            assert reader.execute("SELECT count(*) FROM version").get
            receipt = ada.erase_user()
            assert receipt.status == "pending"
            assert any(left.startswith(str(made.path)) for left in receipt.left)
            assert str(made.path) not in receipt.scanned
            assert not memory.admin.settle()
        assert holding(tmp_path / "checkpoints", "zebraqheld")
    Memory(tmp_path / "memory.db", embedder="none").close()
    assert holding(tmp_path, "zebraq") == []


def test_a_damaged_checkpoint_is_named_and_letting_it_go_settles_it(memory: Memory, tmp_path: Path) -> None:
    ada = memory.scope(user="ada")
    ada.observe("zebraqdamaged")
    made = memory.admin.checkpoint("bad")
    data = made.path.read_bytes()
    made.path.write_bytes(b"x" * 100 + data[100:])
    receipt = ada.erase_user()
    assert receipt.status == "pending"
    assert [left.split(": ")[0] for left in receipt.left] == [str(made.path)]
    assert not memory.admin.settle()
    memory.admin.drop_checkpoint("bad")
    assert memory.admin.settle()
    assert holding(tmp_path, "zebraq") == []


@pytest.mark.parametrize("point", ["erase:after-commit", "erase:copy", "erase:copies-done"])
def test_an_erasure_that_was_cut_short_at_a_checkpoint_is_finished_by_who_opens_the_store(
    tmp_path: Path, point: str
) -> None:
    class Cut(BaseException):
        pass

    def probe(name: str) -> None:
        if name == point:
            raise Cut

    path = tmp_path / "memory.db"
    with Memory(path, embedder="none") as memory:
        memory.scope(user="ada", session="zebraqtrip").observe("zebraqcut")
        memory.scope(user="ada").observe("stays")
        memory.admin.checkpoint("one")
        memory.admin.checkpoint("two")
    store = SqliteStore(path, create=False, probe=probe)
    with pytest.raises(Cut):
        store.erase(Erasure(tenant="default", user="ada", named=Named(session="zebraqtrip"), names=("zebraqtrip",)))
    store.close()
    SqliteStore(path, create=False).close()
    assert holding(tmp_path / "checkpoints", "zebraq") == []
    assert sound(path)


def test_a_copy_that_nobody_listed_is_reached_and_another_stores_is_not(memory: Memory, tmp_path: Path) -> None:
    ada = memory.scope(user="ada")
    ada.observe("zebraqstray")
    made = memory.admin.checkpoint("listed")
    stray = made.path.with_name("memory-stray.db")
    stray.write_bytes(made.path.read_bytes())
    with Memory(tmp_path / "memory-other.db", embedder="none") as other:
        other.scope(user="ada").observe("zebraqother")
        theirs = other.admin.checkpoint("mine").path
    half = made.path.with_name("memory-half.db.999999999.unfinished")
    half.write_bytes(b"zebraqhalf")
    (tmp_path / "memory.db.restoring").write_bytes(b"zebraqrestoring")
    assert ada.erase_user().status == "clean"
    assert holding(tmp_path, "zebraqstray") == []
    assert not half.exists()
    assert holding(tmp_path, "zebraqrestoring") == []
    assert holding(tmp_path / "checkpoints", "zebraqother") == [theirs.name]


def test_a_copy_that_is_being_made_and_a_log_put_aside_are_named(memory: Memory, tmp_path: Path) -> None:
    ada = memory.scope(user="ada")
    ada.observe("zebraqword")
    made = memory.admin.checkpoint("made").path
    half = made.with_name(f"memory-half.db.{os.getpid()}.unfinished")
    half.write_bytes(b"zebraqhalf")
    aside = tmp_path / "memory.db-wal.stale"
    aside.write_bytes(b"zebraqlog")
    receipt = ada.erase_user()
    assert receipt.status == "pending"
    assert sorted(left.split(": ")[0] for left in receipt.left) == sorted([str(half), str(aside)])
    half.unlink()
    aside.unlink()
    assert memory.admin.settle()
    assert holding(tmp_path, "zebraq") == []


def test_what_is_erased_while_a_checkpoint_is_made_is_in_none(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"

    def making(name: str, point: str) -> None:
        def probe(passed: str) -> None:
            if passed == point:
                with Memory(path, embedder="none") as second:
                    second.scope(user="ada").erase_user()

        with Memory(path, embedder="none") as memory:
            memory.scope(user="ada").observe("zebraqmeanwhile")
        with closing(SqliteStore(path, create=False, probe=probe)) as store:
            store.checkpoint(name)

    making("named", "checkpoint:copied")
    with pytest.raises(Conflict, match="erased"):
        making("half", "backup:copied")
    with Memory(path, embedder="none") as memory:
        assert [made.name for made in memory.admin.checkpoints()] == ["named"]
    assert holding(tmp_path, "zebraq") == []


def owing(path: Path, files: list[str], *, knowing: bool) -> None:
    whole = {"tenant": "default", "user": "ada", "shared": False, "ids": [], "whole": True, "actor": "", "names": []}
    named: dict[str, object] = {"ids": [], **dict.fromkeys(("session", "source", "agent", "shelf"))}
    value = json.dumps([{**whole, "named": named, "files": files}]).encode()
    with raw_store(path, knowing=knowing) as db:
        db.execute("INSERT OR REPLACE INTO meta(key, value) VALUES ('copies', ?)", (value,))


@pytest.mark.parametrize("name", ["precious.txt", "memory.db", "notes.db", "../precious.txt", "checkpoints/../x"])
@pytest.mark.parametrize("knowing", [False, True])
def test_a_store_that_was_made_to_owe_an_erasure_to_another_file_touches_none(
    tmp_path: Path, name: str, knowing: bool
) -> None:
    path = tmp_path / "deep" / "memory.db"
    others = (path.with_name("notes.db"), path.with_name("precious.txt"), tmp_path / "precious.txt")
    for store in (path, others[0]):
        with Memory(store, embedder="none") as memory:
            memory.scope(user="ada").observe("zebraqheld")
            memory.admin.checkpoint("c")
    for file in others[1:]:
        file.write_bytes(b"zebraq")
    owing(path, [name], knowing=knowing)
    if knowing:
        with Memory(path, embedder="none") as memory:
            assert not memory.admin.settle()
    else:
        with pytest.raises(StoreCorrupt, match="still to be erased"):
            Memory(path, embedder="none")
    assert all(b"zebraq" in file.read_bytes() for file in (path, *others))


def test_a_debt_to_another_stores_checkpoint_is_named_and_not_done(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with Memory(tmp_path / "notes.db", embedder="none") as notes:
        notes.scope(user="ada").observe("zebraqnotes")
        theirs = notes.admin.checkpoint("c").path
    with Memory(path, embedder="none") as memory:
        memory.scope(user="ada").observe("a word")
        memory.admin.checkpoint("c")
    owing(path, ["checkpoints/notes-c.db"], knowing=True)
    with raw_store(path, knowing=True) as db:
        db.execute("UPDATE checkpoint SET file = 'notes-c.db'")
    Memory(path, embedder="none").close()
    assert b"zebraqnotes" in theirs.read_bytes()


@pytest.mark.parametrize("knowing", [False, True])
def test_restoring_does_not_do_what_the_backup_says_it_owes(tmp_path: Path, knowing: bool) -> None:
    path, copy = tmp_path / "memory.db", tmp_path / "backup.db"
    with Memory(path, embedder="none") as memory:
        gone = memory.scope(user="ada").observe("zebraqgone").id
        memory.scope(user="ada").observe("stays")
        memory.admin.backup(copy)
        memory.scope(user="ada").erase(gone)
        kept = memory.admin.checkpoint("c").path
    owing(copy, ["memory.db", "checkpoints/memory-c.db"], knowing=knowing)
    before = path.read_bytes()
    if knowing:
        assert restore(copy, path) == 1
        with Memory(path, embedder="none") as memory:
            assert [v.item.text for v in memory.scope(user="ada").list()] == ["stays"]
    else:
        with pytest.raises(StoreCorrupt, match="not as it was written"):
            restore(copy, path)
        assert path.read_bytes() == before
    assert b"stays" in kept.read_bytes()
