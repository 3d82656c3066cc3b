"""Folders and archives: what is read, in which order, and what is left out and why."""

from __future__ import annotations

import gzip
import io
import json
import os
import zipfile
from collections.abc import Callable
from fnmatch import fnmatch
from pathlib import Path

import pytest

from mnemic.errors import Invalid, TooLarge
from mnemic.ingest import Message, Skipped, count_hint, detect, inputs, read

Write = Callable[[str, str | bytes], Path]
HELLO = {
    "author": {"role": "user"},
    "content": {"content_type": "text", "parts": ["Hello."]},
    "create_time": 1.5,
}
CHAT = json.dumps([{"conversation_id": "c1", "mapping": {"a": {"message": HELLO, "parent": None, "children": []}}}])


def fill(folder: Path, files: dict[str, str | bytes]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


def packed(path: Path, files: dict[str, str | bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


DESK: dict[str, str | bytes] = {
    "a/README.md": "# One\n\nWords of a.\n",
    "b/README.md": "# One\n\nWords of b.\n",
    "cart.py": "def add():\n    pass\n",
    "page.html": "<title>T</title><p>A page.",
    "notes.txt": "Plain words.",
    ".git/config": "x",
    ".env": "x",
    "node_modules/x/index.js": "x",
    "leaf.png": b"\x89PNG",
    "odd.dat": b"\x00\x01\x02",
    "empty.txt": "",
    "old.zip": b"PK\x03\x04",
    "latin.txt": "caf\xe9".encode("latin-1"),
}


def test_a_folder_is_read_file_by_file_and_says_what_it_left_out(tmp_path: Path) -> None:
    given = list(read(fill(tmp_path / "desk", DESK)))
    assert [(m.key, m.slots["path"]) for m in given if isinstance(m, Message)] == [
        ("desk:cart.py:block-0", "cart.py"),
        ("desk:notes.txt:document", "notes.txt"),
        ("desk:page.html:section-0", "page.html"),
        ("desk:a/README.md:section-1", "a/README.md"),
        ("desk:b/README.md:section-1", "b/README.md"),
    ]
    why = {one.where: one.why for one in given if isinstance(one, Skipped)}
    assert set(why) == {
        ".git/", ".env", "node_modules/", "leaf.png", "odd.dat", "empty.txt", "old.zip", "latin.txt",
    }  # fmt: skip
    assert why["odd.dat"].startswith("is binary")
    assert why["empty.txt"].startswith("is empty")
    assert why["latin.txt"].startswith("is not UTF-8")
    assert why[".env"] == why[".git/"] == "is hidden"


def test_names_and_paths_can_be_excluded(tmp_path: Path) -> None:
    given = list(read(fill(tmp_path / "desk", DESK), exclude=["*.py", "a/*", "b"]))
    assert [m.slots["path"] for m in given if isinstance(m, Message)] == ["notes.txt", "page.html"]
    assert {one.where for one in given if isinstance(one, Skipped) and one.why == "is excluded"} == {
        "cart.py", "a/README.md", "b/",
    }  # fmt: skip


def test_links_are_not_followed(tmp_path: Path) -> None:
    folder = fill(tmp_path / "desk", {"a.txt": "Words."})
    (folder / "loop").symlink_to(folder)
    (folder / "b.txt").symlink_to("/etc/hostname")
    os.mkfifo(folder / "pipe")
    why = {one.where: one.why for one in read(folder) if isinstance(one, Skipped)}
    assert why == {"loop/": "is a symbolic link", "b.txt": "is a symbolic link", "pipe": "is no ordinary file"}


def test_what_breaks_in_one_file_is_told_with_its_path(tmp_path: Path) -> None:
    folder = fill(tmp_path / "desk", {"a.json": '[{"text": "fine"}, {]', "b.txt": "Words.", "c.jsonl": "{}\n{x\n"})
    given = list(read(folder))
    assert [m.text for m in given if isinstance(m, Message)] == ["fine", "Words."]
    skipped = [one for one in given if isinstance(one, Skipped)]
    assert [one.where for one in skipped] == ["a.json", "c.jsonl, line 1", "c.jsonl, line 2"]
    assert "not JSON" in skipped[0].why


def test_progress_rises_to_the_size_of_a_folder(tmp_path: Path) -> None:
    folder = fill(tmp_path / "desk", {f"{n}.txt": "words " * 30_000 for n in range(3)})
    told: list[int] = []
    list(read(folder, progress=told.append))
    assert told == sorted(told)
    assert told[-1] == count_hint(folder) == 540_000


def test_too_many_files_or_folders_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deep = fill(tmp_path / "deep", {"/".join("x" * 40) + "/a.txt": "Words."})
    with pytest.raises(TooLarge, match="folders deep"):
        list(read(deep))
    assert count_hint(deep) == 0
    monkeypatch.setattr(inputs, "FILES", 3)
    many = fill(tmp_path / "many", {f"{n}.txt": "x" for n in range(5)})
    with pytest.raises(TooLarge, match="over 3 files"):
        list(read(many))
    with pytest.raises(TooLarge, match="over 3 files"):
        list(read(packed(tmp_path / "many.zip", {f"{n}.txt": "x" for n in range(5)})))


def test_an_export_is_read_from_its_archive_as_it_was_downloaded(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "user.json": "{}",
        "chat.html": "<p>x",
        "conversations.json": CHAT,
        "file-leaf.png": b"\x89PNG",
    }
    archive = packed(tmp_path / "export.zip", files)
    assert detect(archive) == "chatgpt"
    told: list[int] = []
    given = list(read(archive, progress=told.append))
    (message,) = (one for one in given if isinstance(one, Message))
    assert message.key == "chatgpt:c1:a", "the same as of the file by itself: either may be imported, or both"
    assert message == next(read(fill(tmp_path / "x", {"conversations.json": CHAT}) / "conversations.json"))
    assert len([one for one in given if isinstance(one, Skipped)]) == 3
    assert told == sorted(told)
    assert told[-1] <= count_hint(archive)


def test_an_export_in_parts_is_read_in_order(tmp_path: Path) -> None:
    parts: dict[str, str | bytes] = {f"export/conversations-00{n}.json": CHAT.replace("c1", f"c{n}") for n in (1, 0)}
    given = read(packed(tmp_path / "export.zip", parts))
    assert [m.session for m in given if isinstance(m, Message)] == ["c0", "c1"]


def test_an_archive_of_documents_is_read_as_a_folder(tmp_path: Path) -> None:
    given = list(read(packed(tmp_path / "desk.zip", DESK)))
    assert sorted(m.key for m in given if isinstance(m, Message)) == [
        "desk:a/README.md:section-1",
        "desk:b/README.md:section-1",
        "desk:cart.py:block-0",
        "desk:notes.txt:document",
        "desk:page.html:section-0",
    ]
    why = {one.where: one.why for one in given if isinstance(one, Skipped)}
    assert why["node_modules/x/index.js"] == "is ignored: made by a tool"
    assert why[".git/config"] == "is hidden"


def test_a_bomb_is_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bomb = packed(tmp_path / "bomb.zip", {"a.txt": b"a" * 3_000_000, "b.txt": "Words."})
    given = list(read(bomb))
    assert [m.text for m in given if isinstance(m, Message)] == ["Words."]
    assert [one.why for one in given if isinstance(one, Skipped)] == ["unpacks to over 250 times its size"]
    monkeypatch.setattr(inputs, "UNPACKED", 1_000)
    with pytest.raises(TooLarge, match="unpacks to over"):
        list(read(bomb))


def test_a_gzip_bomb_is_given_up_in_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mnemic.ingest.source._UNSUSPECTED", 1_000_000)
    line = b'{"text": "' + b"a" * 5_000 + b'"}\n'
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(gzip.compress(line * 4_000, 9))
    with pytest.raises(TooLarge, match="unpacks to over 250 times"):
        list(read(path))
    path = tmp_path / "a.json.gz"
    path.write_bytes(gzip.compress(b"[" + b" " * 20_000_000, 9))
    with pytest.raises(TooLarge, match="unpacks to over 250 times"):
        list(read(path))


def test_a_damaged_locked_or_office_archive_is_refused_or_told(tmp_path: Path) -> None:
    whole = packed(tmp_path / "a.zip", {"a.txt": "Words. " * 500, "b.txt": "More. " * 500}).read_bytes()
    (tmp_path / "cut.zip").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(Invalid, match="damaged zip"):
        list(read(tmp_path / "cut.zip"))
    with pytest.raises(Invalid, match="office document"):
        list(read(packed(tmp_path / "a.docx", {"[Content_Types].xml": "x"})))
    flagged = bytearray(whole)
    for mark in (b"PK\x03\x04", b"PK\x01\x02"):
        place = flagged.find(mark) + (6 if mark == b"PK\x03\x04" else 8)
        flagged[place] |= 1
    (tmp_path / "locked.zip").write_bytes(bytes(flagged))
    given = list(read(tmp_path / "locked.zip"))
    assert [one.why for one in given if isinstance(one, Skipped)] == ["is encrypted"]
    assert len(given) == 2


def test_damage_anywhere_in_an_archive_is_a_typed_error_or_a_skip(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {"conversations.json": CHAT, "a.txt": "Words."}
    whole = packed(tmp_path / "a.zip", files).read_bytes()
    for place in range(4, len(whole)):
        (tmp_path / "b.zip").write_bytes(whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :])
        try:
            given = list(read(tmp_path / "b.zip"))
        except Invalid:
            continue
        assert all(isinstance(one, Message | Skipped) for one in given)


def test_damage_far_into_an_export_stops_it_there(tmp_path: Path) -> None:
    one = json.loads(CHAT)[0]
    chats = json.dumps([{**one, "conversation_id": str(n)} for n in range(2_000)]).encode()
    whole = bytearray(packed(tmp_path / "a.zip", {"conversations.json": chats}).read_bytes())
    middle = len(whole) // 2
    whole[middle : middle + 200] = bytes(200)
    (tmp_path / "a.zip").write_bytes(bytes(whole))
    given = read(tmp_path / "a.zip")
    assert isinstance(next(given), Message)
    with pytest.raises(Invalid, match=r"zip file|not JSON"):
        list(given)


def test_names_that_lead_out_of_an_archive_lead_nowhere(tmp_path: Path) -> None:
    given = read(packed(tmp_path / "a.zip", {"../../up.txt": "Words.", "/etc/top.txt": "Words."}))
    assert all(not Path(str(one.slots["path"])).exists() for one in given if isinstance(one, Message))


def test_an_archive_on_standard_input_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    raw = packed(tmp_path / "a.zip", {"a.txt": "Words."}).read_bytes()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(raw)))
    with pytest.raises(Invalid, match=r"binary|not UTF-8"):
        list(read("-"))


def test_whether_an_archive_is_an_export_is_asked_of_each_member_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "many.zip"
    with zipfile.ZipFile(place, "w") as archive:
        for n in range(50):
            archive.writestr(f"{n}.txt", "a")
    asked: list[str] = []
    monkeypatch.setattr(inputs, "fnmatch", lambda name, pattern: asked.append(name) or fnmatch(name, pattern))
    assert len([one for one in read(place) if isinstance(one, Message)]) == 50
    assert len(asked) == 50


def test_a_member_that_lies_too_deep_is_skipped(tmp_path: Path) -> None:
    place = tmp_path / "deep.zip"
    with zipfile.ZipFile(place, "w") as archive:
        archive.writestr("d/" * 20_000 + "a.txt", "a")
        archive.writestr("d/" * inputs.DEPTH + "b.txt", "b")
    good, deep = read(place)
    assert isinstance(good, Message)
    assert isinstance(deep, Skipped)
    assert deep.why == "lies over 32 folders deep"
