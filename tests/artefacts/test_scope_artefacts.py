"""Artefacts as items whose bytes lie beside the store: kept, found again, behind walls, gone with their sources."""

from __future__ import annotations

import os
import threading
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from mnemic.artefacts.artefact_files import ArtefactFolder, StoredBytes, Wall
from mnemic.artefacts.artefact_records import Artefact
from mnemic.errors import Conflict, Invalid, NotFound, Refused, StoreCorrupt, StoreReadOnly
from mnemic.flow import run
from mnemic.memory import Memory, ScopedMemory
from mnemic.scope_artefacts import ScopeArtefacts
from mnemic.settings import Settings
from mnemic.store.engine import artefact_rows
from mnemic.store.moving import move_tenant
from mnemic.store.offline import replace_store
from mnemic.store.sqlite.sqlite_store import MemoryStore, SqliteStore
from mnemic.verbs.artefact_keeping import KeptArtefact

MADE_BY = {"model": "a" * 64, "engine": "test 1"}


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    with Memory(tmp_path / "m.db", settings=Settings(background=False)) as memory:
        yield memory  # type: ignore[misc]


def told(memory: Memory, user: str = "ada", text: str = "I keep a tuatara named Quill.") -> tuple[ScopedMemory, str]:
    me = memory.scope(user=user)
    return me, me.observe(text).id


def put(me: ScopedMemory, source: str, made: bytes = b"state of a model", **more: object) -> KeptArtefact:
    return me.artefacts.put(made, mechanism="kv", made_by=MADE_BY, sources=(source,), **more)


def files(memory: Memory) -> list[Path]:
    folder = memory._opened.store.artefacts
    assert folder is not None
    return sorted(path for path in folder.root.rglob("*") if path.is_file())


def test_what_is_put_is_opened_again_and_named_by_its_digest(memory: Memory) -> None:
    me, source = told(memory)
    kept = put(me, source)
    path = me.artefacts.open(kept.id)
    assert path.read_bytes() == b"state of a model"
    assert path.name == kept.artefact.stored.sha256
    assert [place.stat().st_mode & 0o077 for place in (path, *list(path.parents)[:3])] == [0, 0, 0, 0]
    assert me.artefacts.stored_bytes() == len(b"state of a model")
    assert [found.id for found in me.artefacts.kept("kv")] == [kept.id]
    assert me.artefacts.kept("lora") == ()
    assert me.artefacts.get(kept.id).artefact.made_by == MADE_BY
    assert list(memory._opened.store.verify()) == []


def test_no_recall_shows_an_artefact(memory: Memory) -> None:
    me, source = told(memory)
    kept = put(me, source, text="kv of a tuatara")
    assert kept.id not in [hit.id for hit in me.recall("tuatara").items]


def test_another_user_has_other_files_even_of_the_same_bytes(memory: Memory) -> None:
    ada, hers = told(memory)
    bob, his = told(memory, "bob")
    put(ada, hers)
    kept = put(bob, his)
    assert len(files(memory)) == 2
    with pytest.raises(NotFound):
        ada.artefacts.open(kept.id)
    ada.erase_user()
    assert [path.name for path in files(memory)] == [kept.artefact.stored.sha256]
    assert bob.artefacts.open(kept).read_bytes() == b"state of a model"


def test_it_goes_with_any_of_its_sources_before_the_receipt_is_there(memory: Memory) -> None:
    me, source = told(memory)
    other = me.observe("I live in Lisbon.").id
    kept = me.artefacts.put(b"one", mechanism="kv", made_by=MADE_BY, sources=(source, other))
    stays = put(me, other, b"two")
    receipt = me.erase(source)
    assert kept.id in receipt.ids
    assert receipt.status == "clean"
    assert [path.name for path in files(memory)] == [stays.artefact.stored.sha256]


def test_an_erasure_takes_unfinished_files_too(memory: Memory) -> None:
    me, source = told(memory)
    put(me, source)
    me.artefacts.unfinished().write_bytes(b"half")
    me.erase(source)
    assert files(memory) == []


def test_an_erasure_that_was_cut_short_goes_on_when_the_store_is_opened(tmp_path: Path) -> None:
    class Cut(BaseException):
        pass

    def probe(point: str) -> None:
        if point == "erase:after-commit":
            raise Cut

    with Memory(tmp_path / "m.db", settings=Settings(background=False)) as memory:
        me, source = told(memory)
        put(me, source)
        memory._opened.store._probe = probe  # type: ignore[attr-defined]
        with pytest.raises(Cut):
            me.erase(source)
        memory._opened.store._probe = lambda point: None  # type: ignore[attr-defined]
        assert len(files(memory)) == 1
    with Memory(tmp_path / "m.db", settings=Settings(background=False)) as memory:
        assert files(memory) == []


def test_what_cites_nothing_or_something_that_is_gone_leaves_no_bytes(memory: Memory) -> None:
    me, source = told(memory)
    with pytest.raises(Invalid, match="sources"):
        me.artefacts.put(b"x", mechanism="kv", made_by=MADE_BY, sources=())
    me.observe("Something else.")
    me.erase(source)
    with pytest.raises(NotFound):
        put(me, source)
    assert files(memory) == []


def test_a_source_that_goes_between_look_and_commit_takes_the_bytes_along(memory: Memory) -> None:
    me, source = told(memory)
    me.observe("Something else.")
    folder = memory._opened.store.artefacts
    assert folder is not None
    opened = memory._opened
    wall = run(opened.kernel.artefact_wall(me._who), opened.answering.attend)
    stored = folder.keep(wall, b"bytes")
    flow = opened.kernel.keep_artefact(
        me._who, Artefact(mechanism="kv", stored=stored, made_by=MADE_BY), "kv", (source,)
    )
    commit = flow.send(opened.answering.attend(next(flow)))
    me.erase(source)
    with pytest.raises((Conflict, NotFound)):
        opened.answering.attend(commit)


def test_damaged_bytes_are_not_handed_on_and_verify_says_so(memory: Memory) -> None:
    me, source = told(memory)
    kept = put(me, source)
    path = me.artefacts.open(kept)
    path.write_bytes(b"stAte of a model")
    with pytest.raises(StoreCorrupt):
        me.artefacts.open(kept)
    assert [fault.where for fault in memory._opened.store.verify()] == [f"artefact {path.name[:12]}"]
    path.write_bytes(b"state of a mode")
    with pytest.raises(StoreCorrupt):
        me.artefacts.open(kept)
    path.unlink()
    with pytest.raises(NotFound, match="made again"):
        me.artefacts.open(kept)
    assert len(list(memory._opened.store.verify())) == 1


def test_what_can_be_made_again_may_be_gone_and_leaves_when_it_is_replaced(memory: Memory) -> None:
    me, source = told(memory)
    first = put(me, source, b"first", remade=True)
    second = put(me, source, b"second", remade=True, replaces=first.id)
    assert second.id == first.id
    assert [path.read_bytes() for path in files(memory)] == [b"second"]
    assert len(me.history(first.id)) == 2
    assert me.artefacts.drop_bytes(second) == 6
    assert files(memory) == []
    assert list(memory._opened.store.verify()) == []
    lasting = put(me, source, b"third")
    put(me, source, b"fourth", replaces=lasting.id)
    assert len(files(memory)) == 2
    with pytest.raises(Refused):
        me.artefacts.drop_bytes(me.artefacts.get(lasting.id))


def test_a_past_view_opens_what_stood_then(memory: Memory) -> None:
    me, source = told(memory)
    first = put(me, source, b"first")
    put(me, source, b"second", replaces=first.id)
    (then,) = me.at(first.version.seq_from).artefacts.kept()
    assert me.artefacts.open(then).read_bytes() == b"first"
    assert me.artefacts.open(first.id).read_bytes() == b"second"


def test_several_who_keep_the_same_at_once_leave_one_whole_file(memory: Memory) -> None:
    me, source = told(memory)
    first = put(me, source, b"first", remade=True)
    outcomes: list[object] = []

    def keep() -> None:
        try:
            outcomes.append(put(me, source, b"the same", remade=True, replaces=first.id))
        except Conflict as error:
            outcomes.append(error)

    threads = [threading.Thread(target=keep) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(outcomes) == 4
    assert any(isinstance(outcome, KeptArtefact) for outcome in outcomes)
    assert [path.read_bytes() for path in files(memory)] == [b"the same"]
    assert me.artefacts.open(first.id).read_bytes() == b"the same"


def test_forgetting_and_undoing(memory: Memory) -> None:
    me, source = told(memory)
    kept = put(me, source)
    me.artefacts.forget(kept.id)
    assert me.artefacts.kept() == ()
    seq = me.log(limit=1)[0].seq
    me.undo(seq)
    assert me.artefacts.open(kept.id).read_bytes() == b"state of a model"
    cache = put(me, source, b"cache", remade=True)
    assert me.artefacts.forget(cache.id) == 5


def test_a_branch_has_its_own_artefacts_behind_the_same_wall(memory: Memory) -> None:
    me, source = told(memory)
    kept = put(me, source)
    branch = me.branch("what-if")
    assert branch.artefacts.open(kept.id).read_bytes() == b"state of a model"
    other = branch.artefacts.put(b"on the branch", mechanism="kv", made_by=MADE_BY, sources=(source,))
    assert [found.id for found in me.artefacts.kept()] == [kept.id]
    me.merge("what-if")
    assert me.artefacts.open(other.id).read_bytes() == b"on the branch"


def test_a_backup_has_what_cannot_be_made_again_and_a_restore_brings_it_back(tmp_path: Path) -> None:
    with Memory(tmp_path / "m.db", settings=Settings(background=False)) as memory:
        me, source = told(memory)
        other = me.observe("I moved to Lisbon.").id
        kept, cache = put(me, source), put(me, source, b"cache", remade=True)
        going = put(me, other, b"of what is erased")
        memory.admin.backup(tmp_path / "b.db")
        assert {p.name for p in (tmp_path / "b.db.artefacts").rglob("*") if p.is_file()} == {
            kept.artefact.stored.sha256,
            going.artefact.stored.sha256,
        }
        me.erase(other)
    replace_store(tmp_path / "b.db", tmp_path / "m.db", without_tombstones=False)
    with Memory(tmp_path / "m.db", settings=Settings(background=False)) as memory:
        me = memory.scope(user="ada")
        assert me.artefacts.open(kept.id).read_bytes() == b"state of a model"
        assert [path.name for path in files(memory)] == sorted(
            [kept.artefact.stored.sha256, cache.artefact.stored.sha256]
        )
        assert list(memory._opened.store.verify()) == []
    assert not (tmp_path / "m.db.restoring.artefacts").exists()


def test_moving_a_tenant_carries_what_cannot_be_made_again_or_says_that_it_cannot(
    memory: Memory, tmp_path: Path
) -> None:
    me, source = told(memory)
    told(memory, "bob")
    kept, cache = put(me, source), put(me, source, b"cache", remade=True)
    here = memory._opened.store
    assert isinstance(here, SqliteStore)
    with closing(SqliteStore(tmp_path / "there.db")) as there:
        move_tenant(here, there, "default")
    with Memory(tmp_path / "there.db", settings=Settings(background=False)) as moved:
        theirs = moved.scope(user="ada").artefacts
        assert theirs.open(kept.id).read_bytes() == b"state of a model"
        assert theirs.unchecked(theirs.get(cache.id)) is None
        assert list(moved.admin.verify()) == []
    with closing(MemoryStore()) as nowhere, pytest.raises(Refused, match="1 artefacts"):
        move_tenant(here, nowhere, "default")


def test_an_erasure_reaches_the_artefacts_of_checkpoints(memory: Memory, tmp_path: Path) -> None:
    me, source = told(memory)
    put(me, source)
    memory.admin.checkpoint("before")
    assert len(list((tmp_path / "checkpoints").rglob("*.artefacts"))) == 1
    me.erase(source)
    assert [p for p in (tmp_path / "checkpoints").rglob("*") if p.is_file() and "artefacts" in str(p.parent)] == []
    memory.admin.drop_checkpoint("before")
    assert list((tmp_path / "checkpoints").iterdir()) == []


def test_a_store_without_a_folder_says_so() -> None:
    with Memory("memory:", settings=Settings(background=False)) as memory:
        me, _ = told(memory)
        with pytest.raises(Refused, match="in a file"):
            _ = me.artefacts


def test_a_name_that_leads_elsewhere_is_refused(tmp_path: Path) -> None:
    folder = ArtefactFolder(tmp_path / "a")
    with pytest.raises(StoreCorrupt):
        folder.path(Wall(1, 1), "../../etc/passwd")
    with pytest.raises(StoreCorrupt):
        folder.verified(Wall(1, 1), StoredBytes("A" * 64, 1))


def test_young_files_that_nobody_names_are_left_to_whoever_is_about_to(memory: Memory) -> None:
    me, source = told(memory)
    kept = put(me, source)
    orphan = files(memory)[0].with_name("0" * 64)
    orphan.write_bytes(b"orphan")
    assert me.artefacts.sweep() == []
    assert orphan.exists()
    folder = memory._opened.store.artefacts
    assert folder is not None
    for wall in folder.walls():
        folder.leave(wall, {kept.artefact.stored.sha256})
    assert not orphan.exists()
    assert os.listdir(orphan.parent) == [kept.artefact.stored.sha256]


def test_the_handle_is_made_anew_each_time(memory: Memory) -> None:
    me, _ = told(memory)
    assert isinstance(me.artefacts, ScopeArtefacts)
    assert me.artefacts.stored_bytes() == 0


@pytest.mark.parametrize("digest", ["zz", "0" * 64])
def test_what_a_writer_says_of_files_is_believed_by_no_backup(tmp_path: Path, digest: str) -> None:
    with Memory(tmp_path / "memory.db", embedder="none") as memory:
        me = memory.scope(user="ada")
        source = me.observe("I play the cello.").ids[0]
        me.artefacts.put(b"computed", mechanism="kv", made_by={"model": "m"}, sources=(source,))
        forged = {"artefact": "x", "sha256": digest, "bytes": 1, "made_by": {}}
        me.write("mine", kind="resource", tags=("artefact",), slots=forged)
        memory.admin.backup(tmp_path / "backup.db")
        assert list(memory.admin.verify()) == []


@pytest.mark.parametrize("act", ["drop", "kept", "size", "copy", "drop all", "unchecked"])
def test_a_folder_that_cannot_be_reached_is_one_of_our_errors(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, act: str
) -> None:
    """As root nothing is refused, so the disk's refusal is put in its place."""
    me, source = told(memory)
    kept = put(me, source, remade=True)
    folder = memory._opened.store.artefacts
    assert folder is not None
    (wall,) = folder.walls()

    def refuse(*given: object, **named: object) -> None:
        raise PermissionError(13, "Permission denied")

    for name in ("unlink", "lstat", "stat", "iterdir"):
        monkeypatch.setattr(Path, name, refuse)
    monkeypatch.setattr("shutil.rmtree", refuse)
    acts = {
        "drop": lambda: folder.drop(wall, kept.artefact.stored.sha256),
        "kept": lambda: folder.kept(wall),
        "size": folder.size,
        "copy": lambda: folder.copy_to(ArtefactFolder(tmp_path / "other"), {wall: [kept.artefact.stored.sha256]}),
        "drop all": folder.drop_all,
        "unchecked": lambda: me.artefacts.unchecked(kept),
    }
    with pytest.raises(StoreReadOnly, match="cannot be reached"):
        acts[act]()
    monkeypatch.undo()


def test_the_folder_in_which_the_first_file_makes_its_root_is_synced_too(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    me, source = told(memory)
    synced, fsync = set[int](), os.fsync

    def note(descriptor: int) -> None:
        synced.add(os.fstat(descriptor).st_ino)
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", note)
    kept = put(me, source)
    monkeypatch.undo()
    path = me.artefacts.open(kept)
    assert {folder.stat().st_ino for folder in list(path.parents)[:4]} <= synced


@pytest.mark.parametrize("act", ["forget", "erase"])
def test_bytes_that_somebody_names_just_then_are_not_unlinked(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, act: str
) -> None:
    """Another process keeps the same bytes between the look at what is named and the unlinking."""
    me, source = told(memory)
    other = me.observe("Something else.").id
    first = put(me, source, remade=True)
    beside = Memory(tmp_path / "m.db", settings=Settings(background=False))
    theirs: list[KeptArtefact] = []
    keeping = threading.Thread(target=lambda: theirs.append(put(beside.scope(user="ada"), other, remade=True)))
    named_by = artefact_rows._named_by

    def looked(*given: object) -> list[artefact_rows.NamedArtefact]:
        named = list(named_by(*given))  # type: ignore[arg-type]
        if not keeping.ident:
            keeping.start()
            keeping.join(0.5)  # it waits for us, or it is done by then
        return named

    monkeypatch.setattr(artefact_rows, "_named_by", looked)
    if act == "forget":
        me.artefacts.forget(first.id)
    else:
        me.erase(source)
    keeping.join()
    monkeypatch.undo()
    assert me.artefacts.open(theirs[0]).read_bytes() == b"state of a model"
    beside.close()


def test_keeping_reads_no_version_that_names_another_file(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    me, source = told(memory)
    kept = put(me, source, b"0", remade=True)
    read: list[int] = []
    described = artefact_rows.artefact_of

    def count(*given: object) -> Artefact | None:
        read.append(1)
        return described(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(artefact_rows, "artefact_of", count)
    for n in range(1, 9):
        kept = put(me, source, str(n).encode(), remade=True, replaces=kept.id)
    assert len(read) <= 2 * 8


def test_dropping_what_can_be_made_again_leaves_the_same_bytes_to_what_cannot(memory: Memory) -> None:
    me, source = told(memory)
    lasting, cache = put(me, source), put(me, source, remade=True)
    assert lasting.artefact.stored == cache.artefact.stored
    assert me.artefacts.drop_bytes(cache) == 0
    assert me.artefacts.open(lasting).read_bytes() == b"state of a model"
    twice = [put(me, source, b"cache", remade=True) for _ in range(2)]
    assert me.artefacts.drop_bytes(twice[0]) == 5
    assert list(memory._opened.store.verify()) == []


def test_an_artefact_that_is_erased_between_look_and_commit_is_not_brought_back(memory: Memory) -> None:
    me, source = told(memory)
    kept = put(me, source)
    me.erase(kept.id)
    fresh, opened = put(me, source), memory._opened
    item = replace(fresh.version.item, id=kept.id)
    flow = opened.kernel.bring_artefact(me._who, item, lambda snapshot: "")
    commit = flow.send(opened.answering.attend(next(flow)))
    me.erase(fresh.id)  # anything: what was erased has been looked at before
    with pytest.raises(Conflict):
        opened.answering.attend(commit)


@pytest.mark.parametrize("given", ["bytes", "file"])
@pytest.mark.parametrize("remade", [True, False])
def test_who_fails_to_name_the_same_bytes_takes_them_from_nobody(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str, remade: bool
) -> None:
    """Another process keeps the same bytes, of a source that is gone, and lets them go, before ours are committed."""
    me, source = told(memory)
    gone = me.observe("Something else.").id
    me.erase(gone)
    beside = Memory(tmp_path / "m.db", settings=Settings(background=False))
    named, made = ArtefactFolder.keep, me.artefacts.unfinished() if given == "file" else b"state of a model"
    if isinstance(made, Path):
        made.write_bytes(b"state of a model")

    def kept(folder: ArtefactFolder, wall: Wall, given: bytes | Path) -> StoredBytes:
        monkeypatch.setattr(ArtefactFolder, "keep", named)
        stored = folder.keep(wall, given)
        with pytest.raises(NotFound):
            put(beside.scope(user="ada"), gone)
        return stored

    monkeypatch.setattr(ArtefactFolder, "keep", kept)
    ours = me.artefacts.put(made, mechanism="lora", made_by=MADE_BY, sources=(source,), remade=remade)
    assert me.artefacts.open(ours).read_bytes() == b"state of a model"
    assert [path.name for path in files(memory)] == [ours.artefact.stored.sha256]
    beside.close()


@pytest.mark.parametrize("point", ["artefact:written", "artefact:synced", "artefact:named", "artefact:kept"])
@pytest.mark.parametrize("given", ["bytes", "file"])
def test_an_erasure_amid_keeping_leaves_all_or_nothing_and_says_what_to_do(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, point: str, given: str
) -> None:
    me, source = told(memory)
    other = me.observe("Something else.").id
    made = me.artefacts.unfinished() if given == "file" else b"state of a model"
    if isinstance(made, Path):
        made.write_bytes(b"state of a model")
    folder = memory._opened.store.artefacts
    assert folder is not None

    def probe(name: str) -> None:
        if name == point:
            monkeypatch.setattr(folder, "_probe", lambda name: None)
            me.erase(other)

    monkeypatch.setattr(folder, "_probe", probe)
    refused = ""
    try:
        me.artefacts.put(made, mechanism="lora", made_by=MADE_BY, sources=(source,))
    except Conflict as error:
        refused = str(error)
    kept = me.artefacts.kept()
    assert (refused == "") == bool(kept)
    assert "do the same again" in refused or kept
    assert [me.artefacts.open(one).read_bytes() for one in kept] == [b"state of a model"] * len(kept)
    assert len(files(memory)) == len(kept)
    assert list(memory._opened.store.verify()) == []
