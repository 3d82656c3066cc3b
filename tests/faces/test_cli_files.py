"""`mnemic files`: a memory written as a folder, looked at, and brought back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from commandline import Run


@pytest.fixture
def written(run: Run, add: Callable[..., str], fact: Callable[..., str], home: Path) -> Path:
    add("I moved to Lisbon last week.", "--speaker", "Ada", "--said", "2026-03-01T14:05:00Z")
    fact("Ada's sister is Noor.")
    fact("Ada has a cat.")
    run("files", "write", "memory")
    return home.parent / "desk" / "memory"


def edit(written: Path, path: str, before: str, after: str) -> None:
    text = (written / path).read_text()
    assert before in text
    (written / path).write_text(text.replace(before, after, 1))


def test_the_whole_way(run: Run, written: Path) -> None:
    assert "nothing to apply; written as of commit" in run("files", "status", "memory").out
    assert run("files", "diff", "memory").err == "nothing to apply\n"
    edit(written, "facts.md", "Noor", "Nora")
    edit(written, "facts.md", "- Ada has", "- New here.\n- Ada has")
    shown = run("files", "status", "memory").out
    assert "~ facts.md:3  edited: Ada's sister is Nora.\n" in shown
    assert "+ facts.md:4  added: New here.\n" in shown
    assert "2 changes; written as of commit" in shown
    assert "-Ada's sister is Noor.\n+Ada's sister is Nora.\n" in run("files", "diff", "memory").out
    assert "would apply 2 changes" in run("files", "apply", "memory", "--dry-run").out
    record = run("files", "apply", "memory", "--json").json
    assert [one["sort"] for one in record["applied"]] == ["edited", "added"]
    assert "New here. <!-- ^" in (written / "facts.md").read_text()
    assert run("files", "status", "memory", "--json").json["clean"]
    run("undo", str(record["receipt"]["seq"]))
    assert "memory has changed 2 entries since" in run("files", "status", "memory").out


def test_apply_says_what_it_did_and_how_to_take_it_back(run: Run, written: Path) -> None:
    assert run("files", "apply", "memory").err == "nothing to apply\n"
    edit(written, "facts.md", "Noor", "Nora")
    text = (written / "facts.md").read_text()
    (written / "facts.md").write_text("".join(line for line in text.splitlines(True) if "cat" not in line))
    ran = run("files", "apply", "memory")
    assert "applied 1 change in commit" in ran.out
    assert "undo: mnemic undo" in ran.out
    assert "1 deleted from the folder stay in memory" in ran.err
    assert "a cat" in (written / "facts.md").read_text()


def test_a_conflict_is_shown_and_ends_with_its_code(run: Run, written: Path) -> None:
    (item,) = [one["id"] for one in run("list", "--json").lines if "Noor" in one["text"]]
    run("revise", item, "Ada's sister is called Noor.")
    edit(written, "facts.md", "Noor", "Nora")
    ran = run("files", "apply", "memory", code=4)
    assert "conflict: edited: Ada's sister is Nora." in ran.out
    assert "memory says: Ada's sister is called Noor." in ran.out
    assert "--prefer folder or --prefer memory" in ran.err
    assert run("files", "apply", "memory", "--prefer", "folder", "--json").json["receipt"]["ids"] == [item]


def test_what_cannot_be_taken_is_named_by_file_and_line(run: Run, written: Path) -> None:
    edit(written, "facts.md", "<!-- ^", "<!-- ^x")
    for shown in ("status", "diff"):
        ran = run("files", shown, "memory", code=2)
        assert "facts.md:3  has a mark that is damaged" in ran.out
        assert "facts.md, line 3" in ran.err
    ran = run("files", "apply", "memory", code=2)
    assert "facts.md, line 3: has a mark that is damaged" in ran.err
    ran = run("files", "apply", "memory", "--dry-run")
    assert "! facts.md:3" in ran.out


def test_what_could_not_be_read_is_counted_when_it_is_written_over(run: Run, written: Path) -> None:
    edit(written, "facts.md", "<!-- ^", "<!-- ^x")
    assert "written over: 1 place that could not be read" in run("files", "write", "memory", "--force").out


def test_edits_are_not_written_over(run: Run, written: Path) -> None:
    edit(written, "facts.md", "Noor", "Nora")
    assert "1 changes that memory does not have" in run("files", "write", "memory", code=4).err
    assert "written over: 1 edit" in run("files", "write", "memory", "--force").out


def test_another_user_is_refused(run: Run, written: Path) -> None:
    run("add", "hello", "--user", "bea")
    assert "not the memory of 'bea'" in run("files", "status", "memory", "--user", "bea", code=4).err
    assert "is no folder of a memory" in run("files", "status", "elsewhere", code=3).err


def test_what_a_file_says_does_not_steer_a_terminal(run: Run, written: Path) -> None:
    edit(written, "facts.md", "Noor", "\x1b[2J\u202eNora")
    for command in ("status", "diff"):
        shown = run("files", command, "memory").out
        assert "\x1b" not in shown
        assert "\u202e" not in shown
