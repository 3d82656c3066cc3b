"""Every failure is one line on standard error and a documented exit code."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from commandline import Run

from mnemic.faces.cli import app as front
from mnemic.faces.cli.command_table import COMMANDS, SYNONYMS

WRONG = [
    (("frobnicate",), 2),
    (("add",), 2),
    (("add", "x", "--nope"), 2),
    (("recall", "x", "-k", "many"), 2),
    (("list", "--kind", "rumour"), 2),
    (("add", "x", "--user", ""), 2),
    (("add", "x", "--user", "a\nb"), 2),
    (("add", "x", "--session", "s" * 300), 2),
    (("recall", "x"), 3),
]


@pytest.mark.parametrize(("args", "code"), WRONG)
def test_it_is_one_line(run: Run, args: tuple[str, ...], code: int) -> None:
    err = run(*args, code=code).err
    if code:
        assert err.startswith("error: ")
        assert err.count("\n") == 1
        assert "Traceback" not in err


@pytest.mark.parametrize(("args", "code"), [(args, code) for args, code in WRONG if code])
def test_with_json_it_is_a_json_object(run: Run, args: tuple[str, ...], code: int) -> None:
    error = json.loads(run("--json", *args, code=code).err)["error"]
    assert error["exit"] == code
    assert error["message"]
    assert set(error) == {"type", "message", "field", "remedy", "exit"}


def test_an_unknown_setting_is_named_with_the_nearest_known_one(run: Run) -> None:
    assert "MNEMIC_BUDGET" in run("list", code=2, MNEMIC_BUDGTE="5").err


def test_a_past_that_cannot_be_read_is_refused(run: Run) -> None:
    run("add", "one thing")
    for option in ("--as-of", "--valid-at", "--at"):
        run("recall", "thing", option, "whenever it suits", code=2)


def test_every_exit_code_is_in_the_help(run: Run) -> None:
    told = run("--help").out
    codes = {front.OK, front.FAILED, front.USAGE, front.ABSENT, front.CONFLICT, front.STORE, 6, 7, 8, 9, 130, 141}
    section = told.partition("Exit codes:")[2]
    assert {
        int(line.split()[0]) for line in section.splitlines() if line[:3].strip() and line.split()[0].isdigit()
    } == codes


FOREIGN = [
    (("gc", "--collectors", "nope"), "--collectors: 'nope' is not known"),
    (("list", "--profiler", "nowhere/x"), "--profiler: nowhere/x cannot be written"),
    (("branch", "b", "--at", "999"), "--at: commit 999 is not between"),
    (("restore", "--to", "garbage", "--yes"), "--to: 'garbage' is not a time"),
    (("restore", "--to", "1"), "--yes: is missing"),
    (("recall", "x", "-k", "0"), "-k: is 0"),
    (("recall", "x", "--as-of", "garbage"), "--as-of: 'garbage'"),
    (("list", "--user", " "), "--user: is empty"),
    (("undo", "nope"), "seq: 'nope' is not a commit"),
]


@pytest.mark.parametrize(("args", "told"), FOREIGN)
def test_what_is_wrong_is_said_of_the_option_that_was_typed(run: Run, args: tuple[str, ...], told: str) -> None:
    run("add", "one thing")
    assert run(*args, code=2).err.startswith(f"error: {told}")
    field = told.partition(":")[0].lstrip("-")
    assert json.loads(run("--json", *args, code=2).err)["error"]["field"] == field


@pytest.mark.parametrize(
    "args",
    [("checkpoint", ""), ("checkpoint", "  "), ("add", "x", "--tag", "retain:"), ("add", "x", "--tag", "retain: ")],
)
def test_what_names_nothing_is_refused(run: Run, args: tuple[str, ...]) -> None:
    run("add", "one thing")
    told = run(*args, code=2).err
    assert "is empty" in told or "names no class" in told
    assert run("checkpoints").out == ""


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


@pytest.mark.parametrize("name", ["MODEL", "SMALL_MODEL", "MODEL_KEY", "EMBEDDER_KEY", "PRICES"])
@pytest.mark.parametrize("command", ["list", "flush", "jobs", "doctor"])
def test_an_empty_variable_names_no_model_and_no_key(run: Run, name: str, command: str) -> None:
    run("add", "hello")
    assert f"MNEMIC_{name}" not in run(command, **{f"MNEMIC_{name}": " "}).out


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


def test_a_name_out_of_the_environment_is_no_option(run: Run) -> None:
    run("add", "one thing")
    assert run("list", code=2, MNEMIC_USER="a\nb").err.startswith("error: user: ")
    assert run("list", "--user", "a\nb", code=2).err.startswith("error: --user: ")
    assert run("--user", "a\nb", "list", code=2).err.startswith("error: --user: ")


@pytest.mark.parametrize("group", ["session", "hold", "bench"])
def test_a_group_without_a_command_shows_its_help_as_it_is(run: Run, group: str) -> None:
    alone = run(group, code=2)
    assert alone.err == run(group, "--help").out
    assert "Missing command" in json.loads(run(group, "--json", code=2).err)["error"]["message"]
    assert "Missing command" in json.loads(run("--json", group, code=2).err)["error"]["message"]


def test_a_file_of_something_else_is_no_riddle(run: Run, tmp_path: Path) -> None:
    run("add", "one thing")
    other = tmp_path / "other.db"
    other.write_bytes(bytes(range(256)) * 16)
    told = run("restore", str(other), "--yes", code=5).err
    assert "is not a mnemic store" in told
    assert "not an error" not in told


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("recal", "recall"), ("lst", "list"), ("session sho", "show"), ("bench lokomo", "locomo"), ("hold ad", "add")],
)
def test_a_command_that_is_not_there_names_the_nearest(run: Run, typed: str, meant: str) -> None:
    err = run(*typed.split(), code=2).err
    assert f"Did you mean '{meant}'?" in err


@pytest.mark.parametrize(("typed", "meant"), sorted(SYNONYMS.items()))
def test_another_programs_word_for_a_command_names_ours(run: Run, typed: str, meant: str) -> None:
    assert meant in COMMANDS
    assert f"Did you mean '{meant}'?" in run(typed, code=2).err


def test_a_word_that_is_near_no_command_is_refused_without_a_guess(run: Run) -> None:
    assert run("xyzzy", code=2).err == "error: No such command 'xyzzy'. Try `mnemic --help`.\n"


def test_an_option_that_is_not_there_names_the_nearest(run: Run) -> None:
    assert "'--limit'" in run("list", "--limt", "3", code=2).err


STEERING = "fox \x9b31m \x7f \u061c\u2028\u200b\u202e end"


def test_nothing_that_steers_a_terminal_is_echoed_raw(run: Run, home: Path) -> None:
    run("--user", STEERING.replace("\x7f", ""), "add", STEERING)
    run("add", STEERING, "--tag", "a\u202eb")
    told = [
        run(*command, code=code)
        for command, code in (
            (("show", STEERING), 2),
            (("show", STEERING, "--json"), 2),
            (("recall", "fox", "--as-of", STEERING), 2),
            ((STEERING,), 2),
            (("--store", f"{home}/\u202e\x9b.db", "list"), 3),
            (("--store", f"{home}/\u202e\x9b.db", "list", "--json"), 3),
            (("--store", f"{home}/\u202e.db", "add", "x"), 0),
            (("list",), 0),
            (("list", "--json"), 0),
            (("recall", "fox", "--json"), 0),
            (("stats",), 0),
            (("stats", "--json"), 0),
            (("export",), 0),
        )
    ]
    for ran in told:
        assert not set("\x1b\x9b\x7f\u061c\u2028\u200b\u202e") & set(ran.out + ran.err), ran
    assert json.loads(told[8].out.splitlines()[0])["text"] == STEERING


def test_an_export_with_its_unseen_characters_escaped_is_the_same_export(run: Run, tmp_path: Path) -> None:
    run("add", STEERING)
    run("--store", str(tmp_path / "copy.db"), "load", "-", stdin=run("export").out)
    assert run("--store", str(tmp_path / "copy.db"), "verify").code == 0
    assert run("--store", str(tmp_path / "copy.db"), "show", "last", "--json").json["text"] == STEERING


def test_the_log_of_another_command_names_the_one_that_reads_it(run: Run, tmp_path: Path) -> None:
    (log := tmp_path / "tune.log").write_text('{"task": "locomo", "of": "a", "setting": [], "values": {}}\n')
    told = run("bench", "report", str(log), code=2).err
    assert "tune.log is of `bench tune`" in told
    assert f"mnemic bench tune TASKS --out {log}" in told
    compared = run("bench", "compare", str(log), str(log), code=2).err
    assert "tune.log is of `bench tune`" in compared
    assert f"mnemic bench tune TASKS --out {log}" in compared
    (stream := tmp_path / "stream.jsonl").write_text('{"kind": "run", "format": 2, "bench": "stream"}\n')
    compared = run("bench", "compare", str(stream), str(stream), code=2).err
    assert "stream.jsonl is a log of `bench stream`, not of `bench run`" in compared
    assert "mnemic bench report LOG" in compared


def test_a_choice_that_is_not_there_names_the_nearest(run: Run) -> None:
    assert "Did you mean 'dialogue'?" in run("import", "x.txt", "--format", "dialoge", code=2).err
    assert "Did you mean 'lru'?" in run("bench", "paging", "--policies", "lruu", code=2).err
    assert "'asked' is named twice" in run("bench", "run", "asked=a,asked=b", code=2).err
    assert "Did you mean 'lru'?" in run("list", code=2, MNEMIC_POLICY="lruu").err


def test_a_setting_that_cannot_be_taken_does_not_keep_one_from_looking_for_it(run: Run) -> None:
    run("add", "x")
    bad = {"MNEMIC_TIMEZONE": "Mars/Base", "MNEMIC_KK": "3"}
    assert "Mars/Base" in run("list", code=2, MNEMIC_TIMEZONE="Mars/Base").err
    told = run("settings", code=6, **bad)
    assert "MNEMIC_TIMEZONE: 'Mars/Base' is no time zone known here" in told.err
    assert "MNEMIC_KK: is not a setting" in told.err
    assert "TIMEZONE" in told.out
    assert len(run("settings", "--json", code=6, **bad).json["wrong"]) == 2
    told = run("doctor", code=6, **bad)
    assert "MNEMIC_TIMEZONE" in told.out
    assert any(not one["ok"] for one in run("doctor", "--json", code=6, **bad).json["checks"])


@pytest.mark.parametrize("variable", ["MNEMIC_TIMEZONE", "MNEMIC_KK"])
def test_a_setting_that_cannot_be_taken_is_not_blamed_on_an_option(run: Run, variable: str) -> None:
    refused = run("add", "x", "--said", "2025-03-01", code=2, **{variable: "Mars/Base"})
    assert refused.err.startswith(f"error: {variable}: ")


@pytest.mark.parametrize("command", ["stats", "flush", "list", "verify", "jobs", "branches"])
def test_a_branch_that_is_not_there_is_refused_by_every_command(run: Run, command: str) -> None:
    run("add", "I live in Paris.")
    assert "no branch 'nope' here" in run("--branch", "nope", command, code=3).err
    run("branch", "try")
    run("--branch", "try", command)


@pytest.mark.parametrize("day", ["2025-02-31", "2025-02-31T10:00:00Z", "2025-04-31 10:00"])
def test_a_day_that_its_month_does_not_have_is_called_so(run: Run, day: str) -> None:
    told = run("fact", "Ada lives in Paris.", "--said", day, code=2).err
    assert f"--said: '{day}' names a day that its month does not have" in told


def test_a_branch_is_refused_before_a_store_is_made_for_it(run: Run, home: Path) -> None:
    run("--branch", "nope", "add", "I live in Paris.", code=3)
    run("--branch", "nope", "import", "-", "--format", "text", stdin="I live in Paris.", code=3)
    assert not home.exists()


def test_a_client_is_installed_on_no_branch(run: Run) -> None:
    assert "--branch: means nothing here" in run("--branch", "try", "install", "cursor", "--dry-run", code=2).err


def test_a_question_of_several_words_is_to_be_quoted(run: Run) -> None:
    assert "Put several words between quotation marks." in run("recall", "what", "is", "this", code=2).err
