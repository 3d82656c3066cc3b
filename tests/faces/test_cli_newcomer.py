"""What a newcomer trips over: empty names, other people's formats, long texts, a disk that is full."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from commandline import Run

LONG = "\n".join(f"line {n} of a long letter about the garden, the well and the pear trees" for n in range(40))


@pytest.mark.parametrize("option", ["--user", "--tenant", "--agent", "--session", "--store"])
@pytest.mark.parametrize("empty", ["", "  "])
def test_an_empty_name_is_refused_and_means_nobody(run: Run, add: Callable[..., str], option: str, empty: str) -> None:
    kept = add("I live in Paris.")
    for before, after in (((option, empty), ()), ((), (option, empty))):
        refused = run(*before, "erase", "--everything", "--yes", *after, code=2)
        assert refused.err.startswith(f"error: {option}: is empty")
    assert kept in run("list").out


def test_an_empty_time_is_not_now(run: Run) -> None:
    assert run("add", "Dinner.", "--said", "", code=2).err.startswith("error: --said: is empty")


@pytest.mark.parametrize(
    ("name", "value"),
    [("USER", ""), ("STORE", " "), ("K", "0"), ("BUDGET", "-5"), ("BUSY_TIMEOUT", "-1"), ("BUSY_TIMEOUT", "nan")],
)
def test_a_setting_that_cannot_be_meant_is_refused_by_name(run: Run, name: str, value: str) -> None:
    assert run("list", code=2, **{f"MNEMIC_{name}": value}).err.startswith(f"error: MNEMIC_{name}: is ")


def test_an_earlier_knowledge_does_not_know_how_it_ends(run: Run, fact: Callable[..., str]) -> None:
    old = fact("Ada lives in Paris.", "--said", "2025-02-01T10:00:00Z")
    run("supersede", old, "Ada lives in Lisbon.", "--said", "2025-04-06T10:00:00Z")
    for command in (("recall", "Ada"), ("list",), ("show", old)):
        then = run(*command, "--as-of", "2025-03-01")
        assert "Paris" in then.out
        assert "superseded" not in then.out
        assert "until" not in then.out
        assert "Lisbon" not in then.out
    shown = run("show", old, "--as-of", "2025-03-01", "--json").json
    assert (shown["state"], shown["known_to"], shown["valid_to"], shown["seq_to"]) == ("active", None, None, None)
    (recalled,) = run("recall", "Ada", "--as-of", "2025-03-01", "--json").json["items"]
    assert recalled["item"]["state"] == "active"
    assert "superseded" in run("history", old).out


def test_a_fact_that_arrived_superseded_was_open_before_it_ended(run: Run, fact: Callable[..., str]) -> None:
    new = fact("Ada lives in Lisbon.", "--said", "2025-04-06T10:00:00Z")
    told = run("supersede", new, "Ada lives in Paris.", "--said", "2025-02-01T10:00:00Z")
    assert told.out.startswith("closed ")
    then = run("list", "--as-of", "2025-03-01", "--json").json
    assert (then["text"], then["state"], then["valid_to"]) == ("Ada lives in Paris.", "active", None)


def test_supersede_says_which_it_wrote_and_which_it_closed(run: Run, fact: Callable[..., str]) -> None:
    old = fact("Ada lives in Paris.", "--said", "2025-02-01T10:00:00Z")
    told = run("supersede", old, "Ada lives in Lisbon.").out.splitlines()
    assert told[0].startswith("wrote ")
    assert told[1] == f"closed {old}"


def test_an_unreadable_time_names_its_option_and_a_form_that_is_taken(run: Run, add: Callable[..., str]) -> None:
    refused = run("add", "Dinner.", "--said", "garbage", code=2).err
    assert refused.startswith("error: --said: 'garbage'")
    assert "last March" not in refused
    taken = refused.partition("such as ")[2].partition(",")[0]
    run("add", "Dinner.", "--said", taken)
    for option in ("as-of", "valid-at", "at"):
        assert run("recall", "x", f"--{option}", "garbage", code=2).err.startswith(f"error: --{option}: 'garbage'")
    assert run("recall", "x", "--now", "garbage", code=2).err.startswith("error: --now: ")
    assert run("add", "x", "--zone", "Mars/Base", code=2).err.startswith("error: --zone: 'Mars/Base'")


def test_what_is_wrong_with_an_id_is_said(run: Run, add: Callable[..., str]) -> None:
    add("one thing")
    odd = run("show", "nosuchid99", code=2).err
    assert "'o', 'u'" in odd
    assert "or more" not in odd
    assert "too short" in run("show", "abc", code=2).err
    assert "26 characters" in run("show", "a" * 27, code=2).err


def test_long_items_are_cut_for_a_person_and_whole_for_a_program(run: Run, add: Callable[..., str]) -> None:
    item = add(LONG)
    for command in (("recall", "garden"), ("list",), ("log",), ("history", item)):
        told = run(*command).out
        assert len(told) < 1200
        assert f"more characters; `mnemic show {item}`)" in told
    assert "line 39" in run("show", item).out
    assert run("list", "--json").json["text"] == LONG
    assert run("recall", "garden", "--json").json["items"][0]["item"]["text"] == LONG


def test_a_text_in_parts_is_acknowledged_on_a_line(run: Run) -> None:
    told = run("add", "-", stdin=(LONG + "\n\n") * 30).out
    assert len(told.splitlines()) == 2
    assert told.startswith("1 document in ")


def test_a_budget_that_nothing_fits_is_told(run: Run, add: Callable[..., str]) -> None:
    add("I live in Paris.")
    for command in ("recall", "context"):
        told = run(command, "Paris", "--budget", "1")
        assert "budget of 1 token is too small" in told.out + told.err
    assert "too small" in run("recall", "Paris", "--budget", "1", "--json").json["notes"][-1]
    assert "too small" not in run("recall", "Paris", "--budget", "500").out
    run("context", "Paris", "--budget", "0", code=2)


def test_the_log_says_gone_only_of_what_was_erased(run: Run, fact: Callable[..., str]) -> None:
    new = fact("Ada lives in Lisbon.", "--said", "2025-04-06T10:00:00Z")
    run("supersede", new, "Ada lives in Paris.", "--said", "2025-02-01T10:00:00Z")
    run("undo", "last")
    run("undo", "last")
    told = run("log").out
    assert "gone" not in told
    assert "Lisbon" in told.partition("commit 1 ")[2]
    run("erase", new, "--yes")
    assert "gone" in run("log").out


def test_the_log_leaves_out_counters_of_use_unless_asked(run: Run, add: Callable[..., str]) -> None:
    add("The train to Paris was late.")
    for _ in range(3):
        run("recall", "Paris")
    assert "used" not in run("log").out
    assert [change["seq"] for change in run("log", "-n", "1", "--json").lines] == [1]
    assert "used" in run("log", "--all").out


def test_undo_last_goes_further_back_each_time_and_redo_is_undone_first(run: Run, fact: Callable[..., str]) -> None:
    item = fact("Ada lives in Pariss.")
    run("revise", item, "Ada lives in Paris.")
    fact("Ada has a cat.")
    undone = [run("undo", "last").out.splitlines()[-1] for _ in range(3)]
    assert [line.split()[1] for line in undone] == ["3", "2", "1"]
    assert run("list").out == ""
    run("undo", "last", code=3)
    run("undo", "6")
    assert run("list", "--json").json["text"] == "Ada lives in Pariss."
    run("undo", "last")
    assert run("list").out == ""
    run("undo", "last", code=3)


def test_doctor_names_the_store(run: Run, add: Callable[..., str], home: Path) -> None:
    add("one thing")
    row = next(line for line in run("doctor").out.splitlines() if line.startswith("store "))
    assert str(home / "memory.db") in row


def test_version_and_completion_are_json_when_asked(run: Run) -> None:
    version = run("--version").out.split()[1]
    assert run("--json", "--version").json == run("--version", "--json").json == {"version": version}
    assert "_MNEMIC_COMPLETE" in run("completion", "bash", "--json").json["script"]


def test_copies_go_to_folders_that_are_there(run: Run, add: Callable[..., str]) -> None:
    add("one thing")
    for command in (("backup", "nosuch/deep/x.db"), ("export", "--out", "nosuch/deep/x.jsonl")):
        refused = run(*command, code=3).err
        assert str(Path.cwd() / "nosuch" / "deep") in refused
        assert not Path("nosuch").exists()
    assert "nowhere.db" in run("restore", "nowhere.db", "--yes", code=3).err


def chat(*records: dict[str, object]) -> str:
    Path("chat.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    return "chat.jsonl"


def said(n: int, **more: object) -> dict[str, object]:
    return {"id": str(n), "text": f"message number {n}", "time": f"2025-01-01T00:00:{n:02}Z", **more}


def test_an_import_of_which_nothing_can_be_taken_fails(run: Run, home: Path) -> None:
    path = chat({"id": "1"}, {"id": "2"})
    for options in ((), ("--dry-run",)):
        assert "nothing here could be imported; 2 records skipped" in run("import", path, *options, code=1).err
    assert run("import", path, "--json", code=1).json["written"] == 0
    assert not home.exists()


def test_a_zone_that_is_none_is_refused_before_a_record_is_read(run: Run) -> None:
    assert run("import", chat(said(1)), "--zone", "Mars/Base", code=2).err.startswith("error: --zone: ")


def test_a_dry_run_counts_as_the_real_one(run: Run) -> None:
    path = chat(said(1), said(2, text=LONG * 30), said(3, text=""))
    dry = run("import", path, "--dry-run", "--json").json
    assert "not looked up" in run("import", path, "--dry-run").out
    real = run("import", path, "--json").json
    assert (dry["readable"], dry["repeated"]) == (real["written"], None)
    assert dry["skipped"] == real["skipped"]


def test_the_summary_names_the_commits(run: Run) -> None:
    assert "mnemic undo 1)" in run("import", chat(said(1))).out
    many = chat(*(said(n % 60, id=f"x{n}") for n in range(450)))
    told = run("import", many, "--json").json
    assert (told["first_commit"], told["last_commit"]) == (2, 4)
    assert run("import", many, "--json").json["first_commit"] is None


@pytest.mark.parametrize("gone", [("undo", "1"), ("erase", "--source", "chat", "--yes")])
def test_an_import_that_was_taken_back_or_erased_is_said_to_stay_away(run: Run, gone: tuple[str, ...]) -> None:
    path = chat(said(1), said(2))
    run("import", path)
    run(*gone)
    told = run("import", path).out
    assert "2 were imported before and since erased or taken back" in told
    assert run("import", path, "--json").json["away"] == 2
    assert run("list").out == ""
    again = run("import", path, "--source", "again", "--json").json
    assert (again["written"], again["away"]) == (2, 0)
