"""`gc` as somebody types it: what it would take and why, and what it says of a class that is none."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from commandline import Run

from mnemic.core.clock import SystemClock

PAGES = 4 * 4096
"""Room for what the journal of a run itself takes."""


def test_a_misspelt_class_is_told_and_what_names_it_is_kept(run: Run, add: Callable[..., str]) -> None:
    add("the gate code is 4711", "--tag", "retain:ephemral")
    for words in (["gc", "--dry-run"], ["gc"]):
        told = run(*words).out
        assert "no such class" in told
        assert "'ephemral': 1 item tagged with it, and kept" in told
        assert "ephemeral=1 day" in told
    assert run("gc", "--dry-run", "--json").json["unknown_classes"] == {"ephemral": 1}
    assert "4711" in run("list").out


def test_nothing_is_said_of_classes_that_are_there(run: Run, add: Callable[..., str]) -> None:
    add("the gate code is 4711", "--tag", "retain:ephemeral")
    assert "no such class" not in run("gc", "--dry-run").out


@pytest.mark.parametrize("option", ["--user", "--agent", "--session", "--branch"])
def test_a_scope_is_refused_since_everybody_is_collected(run: Run, option: str) -> None:
    assert f"{option}: cannot narrow this" in run("gc", option, "ada", code=2).err


def test_what_is_of_others_says_whose_it_is(run: Run, add: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> None:
    item = add("code 4711", "--user", "ben", "--tag", "retain:ephemeral")
    later = SystemClock().now() + 1_100_000
    monkeypatch.setattr(SystemClock, "now", lambda self: later)
    told = run("gc", "--dry-run", MNEMIC_RETENTION="ephemeral=1 second").out
    assert f"{item}  of ben  ttl" in told


def test_sizes_are_those_without_the_log(run: Run, fact: Callable[..., str], home: Path) -> None:
    for n in range(5):
        run("revise", fact(f"note {n}"), f"note {n} again")
    before = (home / "memory.db").stat().st_size
    did = run("gc", "--keep-commits", "1", "--json").json
    assert did["versions"] == 4
    assert did["bytes_before"] == before
    assert abs(did["bytes_after"] - (home / "memory.db").stat().st_size) <= PAGES


def test_a_rebuild_says_what_the_file_was_and_is(run: Run, add: Callable[..., str], home: Path) -> None:
    add("the gate code is 4711")
    before = (home / "memory.db").stat().st_size
    did = run("gc", "--rebuild", "--json").json
    now = (home / "memory.db").stat().st_size
    assert set(did["rebuilt"]) == {"bytes_before", "bytes_after"}
    assert did["rebuilt"]["bytes_after"] == did["bytes_after"] == now
    assert (did["bytes_before"], did["freed"]) == (before, before - now)
    assert run("gc", "--json").json["rebuilt"] is None


def test_help_says_when_a_run_begins_by_itself_and_by_which_settings(run: Run) -> None:
    told = " ".join(run("gc", "--help").out.split())
    assert "mnemic worker" in told
    for name in ("gc_auto", "gc_seconds", "gc_share", "gc_growth", "gc_idle", "keep_past", "collectors"):
        assert name in told


def test_the_log_says_what_a_run_took_freed_and_kept_writers_out(run: Run, fact: Callable[..., str]) -> None:
    for n in range(5):
        run("revise", fact(f"note {n}"), f"note {n} again")
    run("gc", "--keep-commits", "1")
    told = run("log", "--collected").out
    assert "collected  asked: " in told
    assert "4 versions dropped" in told
    assert "freed" in told
    assert "longest pause" in told
    (change,) = run("log", "--collected", "--json").lines[:1]
    assert change["events"][0]["collected"]["versions"] == 4
    assert {"freed", "pause_ms", "trigger"} <= change["events"][0]["collected"].keys()


def test_the_time_of_a_hold_is_told_as_any_other(run: Run, add: Callable[..., str]) -> None:
    item = add("the gate code is 4711")
    run("hold", "add", item)
    (held,) = run("hold", "list", "--json").json["holds"]
    assert datetime.fromisoformat(held["at"]).utcoffset() == timedelta(0)


def test_a_hold_on_a_session_that_is_not_there_is_refused(run: Run, add: Callable[..., str]) -> None:
    add("said on the way", "--session", "trip")
    assert "no session 'tirp'" in run("hold", "add", "--session", "tirp", code=3).err
    assert run("hold", "list").out == "nothing is held\n"
    assert run("hold", "add", "--session", "trip", "--json").json == {"holds": [1]}
