"""The profiler log: what a line says, what it never says, and that it does not grow without bound."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from mnemic import Invalid, Memory, NotFound, Settings
from mnemic.testing.generators import ManualClock
from mnemic.watching import profiling
from mnemic.watching.profiling import COLUMNS, Profile
from patience import PATIENCE


def used(folder: Path, file: Path, **settings: Any) -> None:
    with Memory(folder / "memory.db", settings=Settings(profiler=str(file), background=False, **settings)) as memory:
        me, bob = memory.scope(user="ada"), memory.scope(user="bob")
        me.observe(["I moved to Lisbon.", "I like tea."])
        me.recall("where is Lisbon?")
        bob.observe("Hello.")
        with pytest.raises(NotFound):
            me.get("01m815bvc3f4ch3bp4rs0yda9x")


def test_a_line_of_json_says_what_a_verb_cost_and_gave_and_no_word_of_it(tmp_path: Path) -> None:
    file = tmp_path / "profile.jsonl"
    used(tmp_path, file)
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert [line["verb"] for line in lines] == ["observe", "recall", "observe", "get"]
    assert all(tuple(line) == COLUMNS for line in lines)
    observed, recalled, _, got = lines
    assert (observed["seq"], observed["items"], observed["error"], observed["user"]) == (1, 2, None, None)
    assert [name for name, _ in observed["requests"]] == ["commit"]
    assert 0 < observed["requests"][0][1] <= observed["ms"]
    assert recalled["items"] >= 1
    assert recalled["considered"] >= 1
    assert recalled["tokens"] >= 1
    assert got["error"] == "NotFound"
    for word in ("Lisbon", "tea", "ada", "01m815"):
        assert word not in file.read_text()


def test_a_file_that_ends_in_csv_is_csv_with_one_header(tmp_path: Path) -> None:
    file = tmp_path / "profile.csv"
    used(tmp_path, file)
    used(tmp_path, file)
    rows = list(csv.DictReader(file.read_text().splitlines()))
    assert [row["verb"] for row in rows] == ["observe", "recall", "observe", "get"] * 2
    assert rows[0]["requests"].startswith("commit:")


def test_users_are_told_apart_when_asked_for_but_not_named(tmp_path: Path) -> None:
    file = tmp_path / "profile.jsonl"
    used(tmp_path, file, profiler_users=True)
    users = [json.loads(line)["user"] for line in file.read_text().splitlines()]
    assert users[0] == users[1] != users[2]
    again = tmp_path / "again.jsonl"
    used(tmp_path, again, profiler_users=True)
    assert json.loads(again.read_text().splitlines()[0])["user"] != users[0]


def test_a_file_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match=r"profile: .* cannot be written"):
        Memory(tmp_path / "memory.db", settings=Settings(profiler=str(tmp_path / "absent" / "p.jsonl")))


def test_a_large_file_is_put_aside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(profiling, "LARGEST", 100)
    monkeypatch.setattr(profiling, "EVERY", PATIENCE)  # all lines of a program are written as it ends
    file = tmp_path / "profile.jsonl"
    used(tmp_path, file)
    used(tmp_path, file)
    assert len(file.read_text().splitlines()) == 4
    assert len((tmp_path / "profile.jsonl.1").read_text().splitlines()) == 4


def test_what_comes_too_fast_is_left_out_and_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(profiling, "WAITING", 3)
    monkeypatch.setattr(Profile, "_start", lambda self: None)
    file = tmp_path / "profile.jsonl"
    profile = Profile(file, ManualClock())
    with Memory("memory:", settings=Settings(background=False), embedder="none") as memory:
        memory._opened.meters.observers = (profile,)
        for _ in range(5):
            memory.scope(user="ada").count()
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert [line["verb"] for line in lines] == ["count", "count", "count", "(left out)"]
    assert lines[-1]["items"] == 2
