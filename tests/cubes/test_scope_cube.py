"""A memory carried as one file: all of it arrives once, under its ids, and what cannot be of use is set aside."""

from __future__ import annotations

import ast
import errno
import hashlib
import json
import os
import signal
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from cube_world import ADAPTER, CACHE, MADE_BY, QUIET, Told, contents, files_below, forged, journal_of, tell, unzipped

import mnemic.cubes
from mnemic.artefacts.artefact_files import Wall
from mnemic.core.items import Sight, State
from mnemic.core.scope import SHARED
from mnemic.cubes.cube_file import CubeFile
from mnemic.errors import Conflict, NotFound, Refused, StoreError, StoreFull
from mnemic.memory import Memory, ScopedMemory
from mnemic.scope_artefacts import ScopeArtefacts
from mnemic.settings import Settings
from mnemic.store.sqlite.sqlite_store import SqliteStore
from mnemic.testing.faults import CountingProbe, Probe, largest_file
from mnemic.testing.torture.children import asked, fork


class KillAtAny:
    """A probe that ends its own process at the n-th point that it passes, counted from 0."""

    def __init__(self, at: int) -> None:
        self._left = at

    def __call__(self, point: str, /) -> None:
        self._left -= 1
        if self._left < 0:
            os.kill(os.getpid(), signal.SIGKILL)


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    with Memory(tmp_path / "m.db", settings=QUIET) as memory:
        yield memory  # type: ignore[misc]


@pytest.fixture
def other(tmp_path: Path) -> Memory:
    (tmp_path / "other").mkdir()
    with Memory(tmp_path / "other" / "m.db", settings=QUIET) as memory:
        yield memory  # type: ignore[misc]


@pytest.fixture
def told(memory: Memory) -> Told:
    return tell(memory)


@pytest.fixture
def me(memory: Memory, told: Told) -> ScopedMemory:
    return memory.scope(user="ada")


@pytest.fixture
def there(other: Memory) -> ScopedMemory:
    return other.scope(user="ada")


def exported(me: ScopedMemory, path: Path) -> Path:
    me.export_cube(path, caches=True)
    return path


def test_all_of_a_memory_arrives_once_and_understood(
    me: ScopedMemory, there: ScopedMemory, other: Memory, tmp_path: Path
) -> None:
    done = me.export_cube(tmp_path / "ada.cube", caches=True)
    assert (done.items, done.links, done.artefacts, done.aside) == (6, 1, 2, ())
    assert done.path.stat().st_mode & 0o077 == 0
    assert done.path.stat().st_size == done.bytes
    came = there.import_cube(done.path, made_by=MADE_BY, caches=True)
    assert (came.items, came.links, len(came.artefacts), came.aside) == ({"written": 4}, 1, 2, ())
    assert contents(there) == contents(me)
    assert [belief.text for belief in there.profile()] == [belief.text for belief in me.profile()]
    other.flush()  # rules take what they derived there for read
    assert contents(there) == contents(me)
    assert other.admin.verify() == []
    state = other.admin.state_hash()
    again = there.import_cube(done.path, made_by=MADE_BY, caches=True)
    assert (again.seq, again.items, again.artefacts, again.there) == (None, {"there": 4}, (), 2)
    assert other.admin.state_hash() == state
    assert contents(me) == contents(there)
    here = me.import_cube(exported(there, tmp_path / "back.cube"), made_by=MADE_BY, caches=True)
    assert (here.seq, here.there) == (None, 2)


def test_undo_takes_the_text_back(me: ScopedMemory, there: ScopedMemory, tmp_path: Path) -> None:
    came = there.import_cube(exported(me, tmp_path / "ada.cube"))
    assert came.seq is not None
    there.undo(came.seq)
    assert there.count() == 0


def test_a_newer_cube_follows_what_nobody_changed_here(
    me: ScopedMemory, there: ScopedMemory, told: Told, tmp_path: Path
) -> None:
    there.import_cube(exported(me, tmp_path / "ada.cube"), made_by=MADE_BY)
    newer = me.supersede(told.new, "Ada keeps a cat.").id
    me.forget(told.turn)
    there.revise(told.old, tags=["mine"])
    came = there.import_cube(exported(me, tmp_path / "newer.cube"), made_by=MADE_BY)
    assert came.items == {"written": 1, "updated": 2, "there": 1, "changed_here": 1}
    held = {one.version.item.id: one.version.item for one in there.holdings()}
    assert (held[told.turn].state, held[told.new].state) == (State.RETIRED, State.SUPERSEDED)
    assert there.get(newer).item == me.get(newer).item
    assert held[told.old].tags == ("mine",)
    old = there.import_cube(tmp_path / "ada.cube", made_by=MADE_BY)  # the older one changes nothing back
    assert (old.seq, old.items) == (None, {"there": 1, "changed_here": 3})


def test_what_was_erased_here_stays_away_with_all_that_rests_on_it(
    me: ScopedMemory, there: ScopedMemory, told: Told, other: Memory, tmp_path: Path
) -> None:
    cube = exported(me, tmp_path / "ada.cube")
    there.import_cube(cube, made_by=MADE_BY)
    receipt = there.erase(told.turn)
    assert told.adapter in receipt.ids
    assert any("exports that you took out" in place for place in receipt.outside)
    state = other.admin.state_hash()
    came = there.import_cube(cube, made_by=MADE_BY, caches=True)
    assert (came.seq, came.items) == (None, {"there": 2, "erased_here": 2})
    assert {one.reason for one in came.aside} == {"erased here", "1 of 1 of its sources are not here"}
    assert (other.admin.state_hash(), files_below(tmp_path / "other" / "m.db.artefacts")) == (state, [])


def test_what_rests_on_what_does_not_come_stays_away(memory: Memory, other: Memory, tmp_path: Path) -> None:
    ours = memory.scope(user=SHARED).observe("The office is in Oslo.").id
    me, there = memory.scope(user="ada"), other.scope(user="ada")
    own = me.observe("I like it there.").id
    fact = me.write("Ada works in Oslo.", source=[ours, own]).id
    me.artefacts.put(ADAPTER, mechanism="lora", made_by=MADE_BY, sources=(ours, own))
    came = there.import_cube(exported(me, tmp_path / "ada.cube"), made_by=MADE_BY)
    assert came.items == {"written": 1, "unfounded": 1}
    assert [one.reason for one in came.aside] == ["1 of 2 of its sources are not here"]
    with pytest.raises(NotFound):
        there.get(fact)
    assert other.admin.verify() == []


@pytest.mark.parametrize(
    ("made_by", "caches", "reasons"),
    [
        (
            None,
            True,
            {"no model was named that it could be of use to; import it again with --model, the one that made it"},
        ),
        (
            {**MADE_BY, "model": "b" * 64},
            True,
            {"of another model; import it again with --model, the one that made it"},
        ),
        ({**MADE_BY, "engine": "xllamacpp 2"}, True, {"of another engine"}),
        ({**MADE_BY, "settings": "context 1"}, True, {"of another settings"}),
        (MADE_BY, False, {"a cache, and caches were not asked for"}),
    ],
)
def test_what_another_model_made_is_set_aside_and_the_text_arrives(
    made_by: dict[str, str] | None,
    caches: bool,
    reasons: set[str],
    me: ScopedMemory,
    there: ScopedMemory,
    told: Told,
    tmp_path: Path,
) -> None:
    cube = exported(me, tmp_path / "ada.cube")
    came = there.import_cube(cube, made_by=made_by, caches=caches)
    assert came.items == {"written": 4}
    assert {one.reason for one in came.aside} == reasons
    assert told.cache in {one.id for one in came.aside}
    assert len(came.artefacts) + len(came.aside) == 2
    later = there.import_cube(cube, made_by=MADE_BY, caches=True)
    assert len(later.artefacts) == len(came.aside)
    assert contents(there) == contents(me)


def test_a_cube_without_caches_has_none_of_their_bytes(me: ScopedMemory, there: ScopedMemory, tmp_path: Path) -> None:
    done = me.export_cube(tmp_path / "ada.cube")
    assert [one.reason for one in done.aside] == ["a cache, and caches were not asked for"]
    assert CACHE not in done.path.read_bytes()
    assert there.import_cube(done.path, made_by=MADE_BY).aside == (), "what was never in it is not set aside here"
    came = there.import_cube(done.path, made_by=MADE_BY, caches=True)
    assert [one.reason for one in came.aside] == ["its bytes are not in the cube"]


def test_a_header_larger_than_its_file_reaches_nobody(me: ScopedMemory, there: ScopedMemory, tmp_path: Path) -> None:
    turn = me.observe("I ride a tandem.").id
    bomb = (2 << 30).to_bytes(8, "little") + b"{}"
    for made in (bomb, (2).to_bytes(8, "little") + b"[[", b"short"):
        me.artefacts.put(made, mechanism="lora", made_by=MADE_BY, sources=(turn,))
    me.artefacts.put(b"GGUF and more", mechanism="lora", made_by=MADE_BY, sources=(turn,))
    came = there.import_cube(exported(me, tmp_path / "ada.cube"), made_by=MADE_BY)
    assert len(came.artefacts) == 2
    assert sum(one.reason == "neither safetensors nor GGUF, by its header" for one in came.aside) == 3


def test_bytes_that_are_gone_come_back(me: ScopedMemory, there: ScopedMemory, told: Told, tmp_path: Path) -> None:
    cube = exported(me, tmp_path / "ada.cube")
    there.import_cube(cube, made_by=MADE_BY, caches=True)
    there.artefacts.open(told.adapter).unlink()
    came = there.import_cube(cube, made_by=MADE_BY, caches=True)
    assert (came.seq, came.artefacts, came.there) == (None, (told.adapter,), 1)
    assert there.artefacts.open(told.adapter).read_bytes() == ADAPTER


def test_bytes_that_are_gone_or_changed_are_left_out(me: ScopedMemory, told: Told, tmp_path: Path) -> None:
    me.artefacts.open(told.adapter).write_bytes(b"x" * len(ADAPTER))
    me.artefacts.open(told.cache).unlink()
    done = me.export_cube(tmp_path / "ada.cube", caches=True)
    assert {one.reason for one in done.aside} == {"its bytes are gone", "its bytes are not what was kept"}


def test_a_store_that_keeps_no_artefacts_takes_the_text(me: ScopedMemory, tmp_path: Path) -> None:
    cube = exported(me, tmp_path / "ada.cube")
    with Memory("memory:", settings=QUIET) as memory:
        there = memory.scope(user="ada")
        came = there.import_cube(cube, made_by=MADE_BY, caches=True)
        assert (came.items, len(came.aside)) == ({"written": 4}, 2)
        done = there.export_cube(tmp_path / "text.cube", caches=True)
        assert (done.items, done.artefacts) == (4, 0)


def test_secrets_are_masked_where_they_come_in(other: Memory, tmp_path: Path) -> None:
    loose = Settings(background=False, mask_secrets=False)
    with Memory(tmp_path / "loose.db", settings=loose) as memory:
        memory.scope(user="ada").observe("The key is sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGH.")
        cube = exported(memory.scope(user="ada"), tmp_path / "ada.cube")
    there = other.scope(user="ada")
    came = there.import_cube(cube)
    assert came.masked == 1
    assert "sk-proj" not in there.list()[0].item.text
    assert there.import_cube(cube).items == {"there": 1}


def copying(monkeypatch: pytest.MonkeyPatch, meanwhile: Callable[[], object]) -> None:
    """Have something happen right before the bytes of an artefact are copied out of a cube."""
    copy = CubeFile.copy

    def act(cube: CubeFile, sha256: str, into: Path) -> None:
        meanwhile()
        copy(cube, sha256, into)

    monkeypatch.setattr(CubeFile, "copy", act)


def test_an_artefact_that_is_erased_while_its_bytes_are_copied_stays_away(
    me: ScopedMemory, there: ScopedMemory, told: Told, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cube = exported(me, tmp_path / "ada.cube")
    there.import_cube(cube, made_by=MADE_BY, caches=True)
    there.artefacts.open(told.adapter).unlink()
    copying(monkeypatch, lambda: there.erase(told.adapter))
    came = there.import_cube(cube, made_by=MADE_BY)
    assert (came.artefacts, [one.id for one in came.aside if "erased here" in one.reason]) == ((), [told.adapter])
    with pytest.raises(NotFound):
        there.get(told.adapter)
    assert files_below(tmp_path / "other" / "m.db.artefacts") == [hashlib.sha256(CACHE).hexdigest()]


@pytest.mark.parametrize("moment", ["before", "amid", "after"])
def test_something_else_erased_amid_the_copying_says_to_import_again(
    me: ScopedMemory, there: ScopedMemory, told: Told, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    cube = exported(me, tmp_path / "ada.cube")
    other = there.observe("Something else.").id
    copy = CubeFile.copy

    def act(cube: CubeFile, sha256: str, into: Path) -> None:
        monkeypatch.setattr(CubeFile, "copy", copy)
        if moment == "before":
            there.erase(other)
        copy(cube, sha256, into)
        if moment == "after":
            there.erase(other)

    pieces = CubeFile._pieces

    def erased_amid(cube: CubeFile, part: Any) -> Any:
        monkeypatch.setattr(CubeFile, "_pieces", pieces)
        there.erase(other)
        return pieces(cube, part)

    monkeypatch.setattr(CubeFile, "copy", act)
    if moment == "amid":
        copying(monkeypatch, lambda: monkeypatch.setattr(CubeFile, "_pieces", erased_amid))
    came = there.import_cube(cube, made_by=MADE_BY, caches=True)
    assert [(one.id, "do the same again" in one.reason) for one in came.aside] == [(told.adapter, True)]
    again = there.import_cube(cube, made_by=MADE_BY, caches=True)
    assert (again.artefacts, again.aside) == ((told.adapter,), ())


def test_what_cannot_be_brought_once_the_text_is_here_is_set_aside(
    me: ScopedMemory, there: ScopedMemory, told: Told, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its source is erased, or the cube is changed, between the text and the bytes."""
    large = ADAPTER + bytes(100_000)  # more than is read ahead
    other = me.artefacts.put(large, mechanism="lora", made_by=MADE_BY, sources=(told.turn,)).id
    cube = exported(me, tmp_path / "ada.cube")
    whole = cube.read_bytes()

    def change(what: str, done: int, of: int | None) -> None:
        if what == "items":
            cube.write_bytes(whole.replace(large, large[:-1] + b"!"))

    came = there.import_cube(cube, made_by=MADE_BY, caches=True, progress=change)
    assert came.items == {"written": 4}
    assert [(one.id, one.reason) for one in came.aside] == [(other, "file was changed while it was read")]
    cube.write_bytes(whole)
    there.artefacts.open(told.adapter).unlink()
    copying(monkeypatch, lambda: there.erase(told.new))
    came = there.import_cube(cube, made_by=MADE_BY)
    assert came.artefacts == (other,)
    assert "erased here" in {one.id: one.reason for one in came.aside}[told.adapter]


def test_bytes_that_an_erasure_took_once_their_item_was_committed_are_copied_again(
    me: ScopedMemory, there: ScopedMemory, told: Told, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep_again = ScopeArtefacts._keep_again

    def taken(artefacts: ScopeArtefacts, wall: Wall, *more: Any) -> None:
        artefacts._folder.leave(wall, ())
        keep_again(artefacts, wall, *more)

    cube = exported(me, tmp_path / "ada.cube")
    monkeypatch.setattr(ScopeArtefacts, "_keep_again", taken)
    came = there.import_cube(cube, made_by=MADE_BY)
    assert came.artefacts == (told.adapter,)
    assert there.artefacts.open(told.adapter).read_bytes() == ADAPTER


def test_a_secret_in_what_does_not_come_is_not_counted_as_masked(other: Memory, tmp_path: Path) -> None:
    with Memory(tmp_path / "loose.db", settings=Settings(background=False, mask_secrets=False)) as memory:
        ours = memory.scope(user=SHARED).observe("The office is in Oslo.").id
        key = "Ada's key is sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGH."
        memory.scope(user="ada").write(key, source=[ours])
        came = other.scope(user="ada").import_cube(exported(memory.scope(user="ada"), tmp_path / "ada.cube"))
    assert (came.items, came.masked) == ({"unfounded": 1}, 0)


def test_a_version_whose_secret_was_masked_here_is_followed_by_a_newer_one(other: Memory, tmp_path: Path) -> None:
    loose, there = Settings(background=False, mask_secrets=False), other.scope(user="ada")
    with Memory(tmp_path / "loose.db", settings=loose) as memory:
        me = memory.scope(user="ada")
        note = me.write("The key is sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGH.").id
        there.import_cube(exported(me, tmp_path / "ada.cube"))
        me.revise(note, text="The key lies in the vault.")
        assert there.import_cube(exported(me, tmp_path / "newer.cube")).items == {"updated": 1}
    assert there.get(note).item.text == "The key lies in the vault."
    assert there.import_cube(tmp_path / "ada.cube").items == {"changed_here": 1}


def test_the_line_of_an_artefact_is_masked_held_to_the_limit_and_never_seen(
    me: ScopedMemory, there: ScopedMemory, told: Told, tmp_path: Path
) -> None:
    cube = exported(me, tmp_path / "ada.cube")
    secret = "of sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGH"
    for text, arrives in (("x" * 40_000, False), (secret, True)):
        cube.write_bytes(with_artefact(cube.read_bytes(), text=text, sight="all"))
        came = there.import_cube(cube, made_by=MADE_BY)
        assert (told.adapter in came.artefacts) is arrives
    item = there.get(told.adapter).item
    assert "sk-proj" not in item.text
    assert item.sight is Sight.NONE
    again = there.import_cube(cube, made_by=MADE_BY)
    assert (again.seq, again.artefacts, again.there) == (None, (), 1)


def with_artefact(cube: bytes, **changes: object) -> bytes:
    """A cube that says something else of its adapters."""
    lines = [json.loads(line) for line in journal_of(cube)]
    for line in lines:
        body = json.loads(line["event"].get("version", "{}"))
        if body.get("slots", {}).get("artefact") == "lora":
            line["event"]["version"] = json.dumps({**body, **changes})
    parts = [(row["kind"], unzipped(cube)[f"parts/{row['sha256']}"]) for row in manifest(cube)["parts"][1:]]
    return forged([("journal", b"\n".join(json.dumps(line).encode() for line in lines) + b"\n"), *parts])


def manifest(cube: bytes) -> dict[str, Any]:
    read: dict[str, Any] = json.loads(unzipped(cube)["manifest.json"])
    return read


def test_a_full_disk_leaves_nothing_half_and_the_next_import_goes_on(
    me: ScopedMemory, there: ScopedMemory, told: Told, other: Memory, tmp_path: Path
) -> None:
    large = b"GGUF" + bytes(4_000_000)
    kept = me.artefacts.put(large, mechanism="lora", made_by=MADE_BY, sources=(told.turn,))
    with largest_file(3_000_000), pytest.raises(StoreFull):
        me.export_cube(tmp_path / "full.cube")
    assert not [path for path in tmp_path.iterdir() if "cube" in path.name]
    cube = exported(me, tmp_path / "ada.cube")
    with largest_file(3_000_000), pytest.raises(StoreFull):
        there.import_cube(cube, made_by=MADE_BY)
    assert large not in [path.read_bytes() for path in (tmp_path / "other").rglob("*") if path.is_file()]
    assert not [name for name in files_below(tmp_path / "other" / "m.db.artefacts") if "unfinished" in name]
    assert other.admin.verify() == []
    there.import_cube(cube, made_by=MADE_BY)
    assert there.artefacts.open(kept.id).read_bytes() == large


def test_a_branch_is_carried_as_it_reads(me: ScopedMemory, there: ScopedMemory, tmp_path: Path) -> None:
    draft = me.branch("draft")
    idea = draft.write("Ada plans a zoo.").id
    cube = exported(draft, tmp_path / "draft.cube")
    assert there.import_cube(cube, made_by=MADE_BY).items == {"written": 5}
    assert there.get(idea).item == draft.get(idea).item
    assert me.import_cube(cube).items == {"written": 1, "there": 4}


def test_the_text_is_the_lines_of_an_export(me: ScopedMemory, memory: Memory, tmp_path: Path) -> None:
    lines = [json.loads(line)["event"] for line in journal_of(exported(me, tmp_path / "ada.cube").read_bytes())]
    journal = [json.loads(line).get("event", {}) for line in memory.admin.export()]
    bodies = {event["version"] for event in journal if "version" in event}
    assert {event["version"] for event in lines if "version" in event} == bodies
    assert {event["link"]["body"] for event in lines if "link" in event} <= {
        event["link"]["body"] for event in journal if "link" in event
    }


def test_what_cannot_be_exported_says_so_and_leaves_no_file(me: ScopedMemory, memory: Memory, tmp_path: Path) -> None:
    before = sorted(tmp_path.iterdir())
    for handle in (me.at(1), me.as_of("2030-01-01"), me.shelf(session="trip")):
        with pytest.raises(Refused, match="whole memory"):
            handle.export_cube(tmp_path / "x.cube")
    with pytest.raises(NotFound, match="no folder"):
        me.export_cube(tmp_path / "nowhere" / "x.cube")
    with pytest.raises(Conflict, match="not overwritten"):
        me.export_cube(tmp_path / "m.db")
    with pytest.raises(NotFound, match="nothing has been remembered"):
        memory.scope(user="nobody").export_cube(tmp_path / "x.cube")
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("linked", [True, False])
def test_a_file_that_is_made_meanwhile_is_not_overwritten(
    me: ScopedMemory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, linked: bool
) -> None:
    dest = tmp_path / "ada.cube"
    link, rename = os.link, os.rename

    def beside(name: Callable[..., None], fresh: str, at: Path) -> None:
        if at == dest and not dest.exists():
            dest.write_bytes(b"mine")
        if name is link and not linked:
            raise PermissionError(errno.EPERM, "Operation not permitted")  # as a stick says that has no links
        name(fresh, at)

    monkeypatch.setattr(os, "link", partial(beside, link))
    monkeypatch.setattr(os, "rename", partial(beside, rename))
    with pytest.raises(Conflict, match="not overwritten"):
        me.export_cube(dest)
    assert dest.read_bytes() == b"mine"
    assert [path.name for path in tmp_path.iterdir() if "cube" in path.name] == ["ada.cube"]


def test_a_cube_is_written_where_files_have_no_second_name(
    me: ScopedMemory, there: ScopedMemory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*given: object) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    done = me.export_cube(tmp_path / "ada.cube")
    assert there.import_cube(done.path).items == {"written": 4}
    assert [path.name for path in tmp_path.iterdir() if "cube" in path.name] == ["ada.cube"]


def test_the_folder_of_a_cube_is_synced_and_one_that_cannot_be_leaves_none(
    me: ScopedMemory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, synced, fsync = tmp_path.stat().st_ino, list[bool](), os.fsync

    def note(descriptor: int) -> None:
        if os.fstat(descriptor).st_ino == folder:
            synced.append((tmp_path / "ada.cube").exists())
            if len(synced) > 1:
                raise OSError(errno.EIO, "Input/output error")
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", note)
    me.export_cube(tmp_path / "ada.cube")
    assert synced == [True]
    (tmp_path / "ada.cube").unlink()
    with pytest.raises(StoreError, match="nothing is left"):
        me.export_cube(tmp_path / "ada.cube")
    assert not [path for path in tmp_path.iterdir() if "cube" in path.name]


def test_what_is_followed_is_chosen_where_the_memory_is(me: ScopedMemory, there: ScopedMemory, tmp_path: Path) -> None:
    me.follow("house", "zep")
    came = there.import_cube(exported(me, tmp_path / "ada.cube"))
    assert came.items["choice"] == 1
    assert there.following() == ("house",)


def test_a_process_killed_at_any_point_leaves_what_the_next_import_completes(
    memory: Memory, told: Told, tmp_path: Path
) -> None:
    me = memory.scope(user="ada")
    cube, wanted = exported(me, tmp_path / "ada.cube"), contents(me)
    memory.close()

    def imported(store: Path, probe: Probe) -> None:
        with Memory(SqliteStore(store, probe=probe), settings=QUIET) as memory:
            memory.scope(user="ada").import_cube(cube, made_by=MADE_BY, caches=True)

    def count(say: Callable[[str], None]) -> None:
        probe = CountingProbe()
        imported(tmp_path / "counted.db", probe)
        say(str(sum(probe.points.values())))

    (points,) = map(int, asked(count))
    assert points >= 15
    for at in range(points):
        store = tmp_path / f"cut-{at}" / "m.db"
        store.parent.mkdir()
        child = fork(lambda say, store=store, at=at: imported(store, KillAtAny(at)))  # type: ignore[misc]
        assert child.status() == -signal.SIGKILL
        with Memory(store, settings=QUIET) as cut:
            assert cut.admin.verify() == []
            cut.scope(user="ada").import_cube(cube, made_by=MADE_BY, caches=True)
            cut.scope(user="ada").artefacts.sweep()
            assert contents(cut.scope(user="ada")) == wanted
            assert cut.admin.verify() == []


def test_nothing_of_a_model_is_imported_and_nothing_is_unpickled() -> None:
    for path in Path(mnemic.cubes.__file__).parent.glob("*.py"):
        names = {n.module or "" for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.ImportFrom)}
        names |= {a.name for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.Import) for a in n.names}
        assert not {name for name in names if name.startswith(("mnemic.neural", "torch", "pickle", "shelve"))}
