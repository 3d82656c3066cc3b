"""`undo` of more than one commit: a range, an import."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from commandline import Run


def texts(run: Run) -> set[str]:
    return {json.loads(line)["text"] for line in run("list", "--json").out.splitlines()}


def test_a_range_is_undone_and_redone_by_what_it_prints(run: Run, add: Callable[..., str]) -> None:
    for n in range(4):
        add(f"Fox {n}.")
    told = run("undo", "2..3").out
    assert "2 commits, 2 to 3, are undone: 2 items changed" in told
    assert texts(run) == {"Fox 0.", "Fox 3."}
    run(*told.strip().rpartition("redo: mnemic ")[2].split())
    assert len(texts(run)) == 4


def test_a_range_that_ends_in_a_commit_to_come_undoes_nothing(run: Run, add: Callable[..., str]) -> None:
    for n in range(3):
        add(f"Fox {n}.")
    assert "no commit 900 yet, the newest is 3" in run("undo", "2..900", code=3).err
    assert "no commit 9 yet, the newest is 3" in run("undo", "9..9", code=3).err
    assert texts(run) == {"Fox 0.", "Fox 1.", "Fox 2."}
    run("undo", "2..3")
    assert texts(run) == {"Fox 0."}


def test_how_many_of_a_range_were_undone_is_told(run: Run, add: Callable[..., str]) -> None:
    for n in range(3):
        add(f"Fox {n}.")
    run("undo", "2")
    assert "2 of the commits 1 to 3 are undone" in run("undo", "1..3").out


def test_an_import_is_undone_by_the_range_that_it_prints_and_by_its_name(run: Run, add: Callable[..., str]) -> None:
    add("My own words.")
    lines = [json.dumps({"id": str(n), "text": f"message {n}", "time": "2025-01-01T00:00:00Z"}) for n in range(450)]
    Path("chat.jsonl").write_text("\n".join(lines))
    told = run("import", "chat.jsonl").out
    command = told.partition("take them back: mnemic ")[2].partition(")")[0].split()
    assert command == ["undo", "2..4"]
    run(*command)
    assert texts(run) == {"My own words."}
    done = run("undo", "5..7", "--json").json
    assert len(done["ids"]) == 450
    done = run("undo", "--import", "chat", "--json").json
    assert (len(done["undone"]), len(done["ids"])) == (3, 450)
    assert texts(run) == {"My own words."}
    assert "has been taken back already" in run("undo", "--import", "chat", code=3).err


def test_an_import_is_undone_by_the_file_that_was_given(run: Run) -> None:
    Path("desk").mkdir()
    Path("desk/notes.md").write_text("# Garden\n\nThe tomatoes went in.\n")
    run("import", "desk/notes.md")
    done = run("undo", "--import", "desk/notes.md", "--json").json
    assert texts(run) == set()
    run("undo", str(done["first_commit"]))
    assert run("undo", "--import", "notes.md", "--json").json["ids"] == done["ids"]
    assert "no import 'weeds.md' here" in run("undo", "--import", "weeds.md", code=3).err


def test_what_is_no_range_is_told(run: Run, add: Callable[..., str]) -> None:
    add("Fox.")
    assert "FIRST..LAST" in run("undo", "1-2", code=2).err
    backwards = run("undo", "9..2", code=2).err
    assert "is 2, before 9" in backwards
    assert "from the older commit to the newer: 2..9" in backwards
    assert "last" in run("undo", "2..0", code=2).err
    assert "Name a commit, or an import" in run("undo", code=2).err
    assert "stands beside --import" in run("undo", "1", "--import", "notes", code=2).err
    assert "no import 'notes' here" in run("undo", "--import", "notes", code=3).err


def test_a_front_matter_date_without_a_zone_is_taken_and_told(run: Run) -> None:
    Path("notes.md").write_text("---\ndate: 2025-07-01\n---\n# Garden\n\nThe tomatoes went in.\n")
    told = run("import", "notes.md", MNEMIC_TIMEZONE="Europe/Lisbon").out
    assert "1 without a zone, read as Europe/Lisbon (--zone names another)" in told
    assert run("show", "last", "--json").json["said"] == "2025-07-01T00:00:00+01:00"
    assert run("import", "notes.md", "--dry-run", "--json").json["zones_assumed"] == {"UTC": 1}
