"""The store as a whole: first screen, stats, verify, doctor, copies, settings, completion."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest
from commandline import Run

from mnemic import Memory, Settings
from mnemic.core.clock import SystemClock
from mnemic.models.chat.scripted_chat import ScriptedChat
from mnemic.testing.chat_server import serving, status
from mnemic.testing.faults import SkewedClock
from patience import PATIENCE


def test_the_first_screen_works_before_there_is_anything_and_makes_nothing(run: Run, home: Path) -> None:
    told = run().out
    for part in (
        str(home / "memory.db"),
        "not there yet",
        "0 items",
        "backup",
        "export",
        "erase",
        "me (",
        "add",
        "recall",
    ):
        assert part in told
    assert not home.exists()


def test_the_first_screen_tells_whose_where_and_how_much(run: Run, add: Callable[..., str], home: Path) -> None:
    add("one thing", "--user", "ada")
    told = run("--user", "ada").out
    assert "ada (" in told
    assert "1 item," in told
    record = run("--json", "--user", "ada").json
    assert (record["user"], record["items"], record["exists"]) == ("ada", 1, True)
    assert record["bytes"] > 0
    assert record["store"] == str(home / "memory.db")


def test_the_commands_of_the_first_screen_do_what_they_say(run: Run) -> None:
    run("add", "I moved to Lisbon in March.")
    assert "Lisbon" in run("recall", "when did I move?").out


def test_stats_counts_users_apart(run: Run, add: Callable[..., str]) -> None:
    add("one thing")
    add("another", "--user", "ben")
    told = run("stats").out
    assert "me (tenant default): 1 item" in told
    assert "ben" in told
    assert {user["user"]: user["items"] for user in run("stats", "--json").json["users"]} == {"me": 1, "ben": 1}


def test_stats_count_no_branch_as_a_user(run: Run, add: Callable[..., str]) -> None:
    add("one thing")
    run("branch", "try")
    add("another", "--branch", "try")
    assert "of 1 user" in run("stats").out
    assert [user["user"] for user in run("stats", "--json").json["users"]] == ["me"]


def test_verify_finds_a_sound_store_sound(run: Run, add: Callable[..., str]) -> None:
    add("one thing")
    assert "sound" in run("verify").out
    record = run("verify", "--json").json
    assert (record["sound"], record["faults"], record["items"]) == (True, [], 1)


def test_verify_finds_a_changed_word_and_says_so_with_its_exit_code(
    run: Run, add: Callable[..., str], home: Path
) -> None:
    import apsw

    add("one thing")
    db = apsw.Connection(str(home / "memory.db"))
    db.execute("UPDATE version SET body = CAST(replace(CAST(body AS TEXT), 'one thing', 'two thing') AS BLOB)")
    db.close()
    assert "fault" in run("verify", code=6).out
    assert run("verify", "--json", code=6).json["faults"]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("CREATE TRIGGER sly AFTER INSERT ON version BEGIN DELETE FROM link; END", "trigger sly: is not of this store"),
        ("CREATE VIEW sly AS SELECT 1", "view sly: is not of this store"),
        ("DROP INDEX link_dst", "index link_dst: is missing"),
    ],
)
def test_verify_goes_on_with_a_store_that_is_refused_for_what_it_declares(
    run: Run, add: Callable[..., str], home: Path, change: str, told: str
) -> None:
    import apsw

    add("one thing")
    db = apsw.Connection(str(home / "memory.db"))
    db.execute("UPDATE version SET body = CAST(replace(CAST(body AS TEXT), 'one thing', 'two thing') AS BLOB)")
    db.execute(change)
    db.close()
    assert "somebody has changed it" in run("list", code=5).err
    said = run("verify", code=6).out
    assert told in said
    assert "version" in said
    assert "checked" in said
    record = run("verify", "--json", code=6).json
    assert (record["sound"], record["items"], record["settled"]) == (False, None, None)
    assert len(record["faults"]) > 1


def test_verify_tells_a_wrong_key_as_one_fault(run: Run, add: Callable[..., str]) -> None:
    add("one thing")
    Path("memory.key").write_text("correct horse battery staple")
    Path("wrong.key").write_text("another horse battery staple")
    assert "seal: is missing" in run("verify", code=6, MNEMIC_SEAL="memory.key").out
    run("seal", "--key-file", "memory.key")
    faults = run("verify", "--json", code=6, MNEMIC_SEAL="wrong.key").json["faults"]
    assert [(one["where"], one["problem"]) for one in faults] == [
        ("seal", "is of another key: checksums are not looked at")
    ]


def test_verify_says_whether_rows_are_too_many_or_were_changed(run: Run, add: Callable[..., str], home: Path) -> None:
    import apsw

    from mnemic.store.sqlite.row_checksums import register

    add("one thing")
    run("checkpoint", "before")
    db = apsw.Connection(str(home / "memory.db"))
    register(db)
    db.execute("UPDATE checkpoint SET seq = seq + 1")
    db.close()
    assert "checkpoint: counts 1 as it should, and adds up otherwise: a row was changed" in run("verify", code=6).out
    db = apsw.Connection(str(home / "memory.db"))
    db.execute("DELETE FROM checkpoint")
    db.close()
    assert "checkpoint: counts 0, not 1\n" in run("verify", code=6).out


def test_verify_says_of_a_file_that_cannot_be_read_that_it_cannot(
    run: Run, add: Callable[..., str], home: Path
) -> None:
    add("one thing")
    store = home / "memory.db"
    store.write_bytes(store.read_bytes()[:4096] + bytes(8192))
    assert "fault" in run("verify", code=6).out


def test_doctor_looks_at_disk_and_settings(run: Run, add: Callable[..., str]) -> None:
    assert "no store" in run("doctor").out
    add("one thing")
    told = run("doctor").out
    for part in ("synchronous", "file mode", "free space", "input_limit"):
        assert part in told
    assert all(check["ok"] for check in run("doctor", "--json").json["checks"])


def test_doctor_asks_the_model_that_is_set_and_says_what_that_cost(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with serving(ScriptedChat("yes")) as server:
        model = {"MNEMIC_MODEL": f"openai:words-1@{server.url}", "MNEMIC_PRICES": "words-1 1000000 1000000 USD"}
        (check,) = run("doctor", "--json", **model).json["checks"]
        assert re.fullmatch(r"openai:words-1@\S+ answers; asking took \S+ s, \d+ \+ 1 tokens, \S+ USD", check["found"])
        asked = len(server.asked)
        assert "not asked: --offline" in run("doctor", "--offline", **model).out
        assert len(server.asked) == asked == 1
        server.faults[:] = [status(401, b"Bad key sk-secret-1")]
        refused = run("doctor", code=6, MNEMIC_MODEL_KEY="sk-secret-1", **model).out
        assert ("does not answer" in refused, "401 Bad key ***" in refused, "MNEMIC_MODEL" in refused) == (True,) * 3
        assert "sk-secret-1" not in refused
    assert "rules" in run("doctor").out


@pytest.mark.parametrize(
    ("model", "cause"),
    [("openai:gpt-x", "OPENAI_API_KEY"), ("opnai:gpt", "'opnai' is not known"), ("no.gguf", "no file")],
)
def test_doctor_names_what_is_wrong_with_a_model_that_cannot_be_opened(
    run: Run, monkeypatch: pytest.MonkeyPatch, model: str, cause: str
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    for offline in ((), ("--offline",)):
        found = run("doctor", *offline, code=6, MNEMIC_MODEL=model).out
        assert ("cannot be opened" in found, cause in found) == (True, True)


def test_doctor_does_not_wait_for_ever_for_a_model(run: Run) -> None:
    release = threading.Event()

    def silent(handler: BaseHTTPRequestHandler) -> None:
        release.wait(PATIENCE)
        handler.close_connection = True

    with serving(ScriptedChat("yes")) as server:
        server.faults[:] = [silent] * 9
        try:
            found = run("doctor", "--seconds", "0.1", code=6, MNEMIC_MODEL=f"openai:words-1@{server.url}").out
        finally:
            release.set()
    assert "no answer within 0.1 s" in found


def test_doctor_notes_a_newest_commit_ahead_of_the_clock(run: Run, home: Path) -> None:
    for seconds, code in ((30, 0), (3_600, 6)):
        clock = SkewedClock(SystemClock(), seconds * 1_000_000)
        with Memory(home / "memory.db", clock=clock, embedder="none", settings=Settings(background=False)) as memory:
            memory.scope(user="me").observe("one thing")
        assert ("ahead" in run("doctor", code=code).out) is (code == 6)


@pytest.mark.skipif(os.name == "nt", reason="modes are POSIX")
def test_doctor_finds_a_file_that_others_can_read(run: Run, add: Callable[..., str], home: Path) -> None:
    add("one thing")
    (home / "memory.db").chmod(0o644)
    assert "chmod 600" in run("doctor", code=6).out


def test_doctor_names_the_store(run: Run, add: Callable[..., str], home: Path) -> None:
    add("one thing")
    row = next(line for line in run("doctor").out.splitlines() if line.startswith("store "))
    assert str(home / "memory.db") in row


def test_copies_go_to_folders_that_are_there(run: Run, add: Callable[..., str]) -> None:
    add("one thing")
    for command in (("backup", "nosuch/deep/x.db"), ("export", "--out", "nosuch/deep/x.jsonl")):
        refused = run(*command, code=3).err
        assert str(Path.cwd() / "nosuch" / "deep") in refused
        assert not Path("nosuch").exists()
    assert "nowhere.db" in run("restore", "nowhere.db", "--yes", code=3).err


def test_a_backup_brings_back_what_was_there(run: Run, add: Callable[..., str]) -> None:
    kept = add("one thing")
    run("backup", "copy.db")
    run("backup", "copy.db", code=4)
    lost = add("another thing")
    assert "--yes" in run("restore", "copy.db", code=2).err
    run("restore", "copy.db", "--yes")
    assert kept in run("list").out
    assert lost not in run("list").out


def test_what_was_erased_stays_erased_after_a_restore(run: Run, add: Callable[..., str]) -> None:
    item = add("one thing")
    run("backup", "copy.db")
    run("erase", item, "--yes")
    assert run("restore", "copy.db", "--yes", "--json").json["erased_again"] == 1
    assert run("list").out == ""


def test_restoring_where_no_store_was_must_be_said(run: Run, add: Callable[..., str]) -> None:
    add("one thing")
    run("backup", "copy.db")
    assert "--no-tombstones" in run("--store", "new.db", "restore", "copy.db", code=2).err
    run("--store", "new.db", "restore", "copy.db", "--no-tombstones")
    assert "one thing" in run("--store", "new.db", "list").out
    run("restore", "nowhere.db", "--yes", code=3)


def test_an_export_loaded_is_the_same_memory(run: Run, fact: Callable[..., str]) -> None:
    item = fact("Ada lives in Pariss.")
    run("revise", item, "Ada lives in Paris.")
    assert run("export", "--out", "journal.jsonl", "--json").json["lines"] == run("export").out.count("\n")
    run("export", "--out", "journal.jsonl", code=4)
    assert run("--store", "copy.db", "load", "journal.jsonl", "--json").json["commits"] == 2
    assert run("--store", "copy.db", "log", "--json").out == run("log", "--json").out
    assert "--tenant" in run("load", "journal.jsonl", code=4).err
    run("load", "nowhere.jsonl", code=3)
    Path("other.jsonl").write_text("not a journal\n")
    run("--store", "third.db", "load", "other.jsonl", code=2)


def test_an_export_of_one_user_holds_all_that_is_remembered_of_them_and_of_nobody_else(run: Run) -> None:
    ada = ("--user", "ada")
    item = run("fact", "Ada lives in Pariss.", *ada, "--json").json["ids"][0]
    run("revise", item, "Ada lives in Paris.", *ada)
    run("supersede", item, "Ada lives in Oslo.", *ada)
    run("add", "The old code is 1234.", *ada, "--speaker", "Ada")
    run("forget", "last", *ada)
    run("branch", "try", *ada)
    run("add", "Only on the branch.", *ada, "--branch", "try")
    run("add", "Bob was here.", "--user", "bob")
    lines = [json.loads(line) for line in run("export", *ada).out.splitlines()]
    told = {line["item"]["text"]: line for line in lines}
    assert {(text, line["item"]["state"], line["branch"]) for text, line in told.items()} == {
        ("Ada lives in Paris.", "superseded", None),
        ("Ada lives in Oslo.", "active", None),
        ("The old code is 1234.", "retired", None),
        ("Only on the branch.", "active", "try"),
    }
    assert len(lines) == 4
    assert [one["text"] for one in told["Ada lives in Paris."]["versions"]] == [
        "Ada lives in Pariss.",
        "Ada lives in Paris.",
    ]
    assert told["Ada lives in Oslo."]["links"][0]["type"] == "supersedes"
    assert {line["user"] for line in lines} == {"ada"}
    assert run("export", *ada, "--out", "ada.jsonl", "--json").json["lines"] == 4
    assert "nothing is remembered of 'eve'" in run("export", "--user", "eve", code=3).err
    assert '"head"' in run("export").out


def test_an_export_is_loaded_beside_other_tenants(run: Run, add: Callable[..., str]) -> None:
    add("Ada lives in Paris.")
    run("export", "--out", "journal.jsonl")
    loaded = run("load", "journal.jsonl", "--tenant", "twin", "--json").json
    assert (loaded["tenant"], loaded["commits"]) == ("twin", 1)
    assert run("log", "--tenant", "twin", "--json").out == run("log", "--json").out
    assert "of tenant third" in run("--tenant", "third", "load", "-", stdin=run("export", "--tenant", "twin").out).out
    add("Ada lives in Rome.", "--tenant", "third")
    assert run("list", "--tenant", "third").out.count("Ada") == 2
    assert run("list").out.count("Ada") == run("list", "--tenant", "twin").out.count("Ada") == 1
    assert run("verify").code == 0
    assert "empty" in run("load", "journal.jsonl", "--tenant", "", code=2).err


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("MNEMIC_POLICY", "foo", "MNEMIC_POLICY: 'foo' is not one. There are: fifo, lru"),
        ("MNEMIC_WINDOW", "abc", "MNEMIC_WINDOW: 'abc' is not a whole number."),
        ("MNEMIC_WINDOW", "100", "MNEMIC_WINDOW: is 100. Give a number of at least 256."),
    ],
)
def test_a_setting_no_session_can_have_is_refused_with_the_choices(run: Run, name: str, value: str, told: str) -> None:
    assert told in run("list", code=2, **{name: value}).err
    assert told in run("settings", code=6, **{name: value}).err


def test_settings_tell_what_holds_in_a_program_and_what_in_a_command(
    run: Run, add: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(Settings.__init__.__kwdefaults__, "background", True)  # type: ignore[misc, arg-type]
    told = run("settings", "--json").json["settings"]["background"]
    assert (told["value"], told["from"], told["in_commands"]) == (True, "default", False)
    assert run("settings", "--json").json["settings"]["k"]["in_commands"] == Settings().k
    add("one thing")
    for words in (["settings"], ["doctor"]):
        (line,) = [line for line in run(*words).out.splitlines() if line.lower().startswith("background ")]
        assert "True" in line
        assert "default, in commands False" in line
    off = run("settings", "--json", MNEMIC_BACKGROUND="0").json["settings"]["background"]
    assert (off["value"], off["from"]) == (False, "environment")


@pytest.mark.parametrize("field", [one.name for one in dataclasses.fields(Settings) if not one.repr])
def test_settings_never_show_a_secret(run: Run, field: str) -> None:
    given = "postgresql://ada:canary@127.0.0.1:1/memory" if field == "store" else "canary"
    for words in (["settings"], ["settings", "--json"]):
        assert "canary" not in run(*words, **{f"MNEMIC_{field.upper()}": given}).out
    setting = run("settings", "--json", **{f"MNEMIC_{field.upper()}": given}).json["settings"][field]
    assert setting["from"] == "environment"
    assert setting["value"] == ("postgresql://ada:***@127.0.0.1:1/memory" if field == "store" else "***")


@pytest.mark.parametrize("field", [one.name for one in dataclasses.fields(Settings) if not one.repr])
def test_the_doctor_never_shows_a_secret(run: Run, field: str) -> None:
    if field == "store":
        told = run("doctor", "--json", code=5, MNEMIC_STORE="postgresql://ada:canary@127.0.0.1:1/memory")
        assert "canary" not in f"{told.out}{told.err}"
    else:
        assert "canary" not in run("doctor", "--json", **{f"MNEMIC_{field.upper()}": "canary"}).out


def test_settings_tell_value_origin_and_meaning(run: Run) -> None:
    told = run("settings", "--json", MNEMIC_K="5").json["settings"]
    assert told["k"] == {"value": 5, "from": "environment", "in_commands": 5, "meaning": "Items a recall returns."}
    assert told["budget"]["from"] == "default"
    assert all(setting["meaning"] for setting in told.values())
    assert "MNEMIC_" in run("settings").out


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script(run: Run, shell: str) -> None:
    assert "_MNEMIC_COMPLETE" in run("completion", shell).out


def test_version_and_completion_are_json_when_asked(run: Run) -> None:
    version = run("--version").out.split()[1]
    assert run("--json", "--version").json == run("--version", "--json").json == {"version": version}
    assert "_MNEMIC_COMPLETE" in run("completion", "bash", "--json").json["script"]


@pytest.mark.parametrize("name", ["one.txt", "two.db"])
def test_a_foreign_file_is_refused_and_left_as_it_is(run: Run, name: str) -> None:
    Path(name).write_bytes(b"just some text, and more of it" * 20)
    assert "error: " in run("--store", name, "add", "one thing", code=5).err
    assert Path(name).read_bytes() == b"just some text, and more of it" * 20


def test_a_store_is_sealed_once_and_needs_its_key_from_then_on(run: Run, add: Callable[..., str]) -> None:
    add("one thing")
    Path("memory.key").write_text("correct horse battery staple")
    for args in (("--key-file", "none"), ("--key-file", "memory.key", "--key-command", "cat memory.key"), ()):
        assert "--key-" in run("seal", *args, code=2).err
    told = run("seal", "--key-file", "memory.key").out
    assert f"MNEMIC_SEAL={Path('memory.key').absolute()}" in told
    assert "sealed" in run("add", "more", code=5).err
    run("add", "more", MNEMIC_SEAL="memory.key")
    assert run("verify", "--json", MNEMIC_SEAL="memory.key").json["sound"]
    assert "already" in run("seal", "--key-file", "memory.key", code=5).err


def test_where_there_is_no_store_nothing_is_sealed(run: Run, home: Path) -> None:
    Path("memory.key").write_text("correct horse battery staple")
    assert "no store" in run("seal", "--key-file", "memory.key", code=3).err
    assert not home.exists()


def test_a_memory_is_moved_to_another_store_and_back(run: Run) -> None:
    run("--store", "old.db", "add", "Ada lives in Paris.")
    run("--store", "old.db", "add", "Bob lives in Rome.", "--tenant", "other")
    moved = run("move", "old.db", "new.db", "--json").json
    assert [(row["tenant"], row["commits"], row["moved_before"]) for row in moved["tenants"]] == [
        ("default", 1, False),
        ("other", 1, False),
    ]
    assert run("--store", "new.db", "log", "--json").out == run("--store", "old.db", "log", "--json").out
    assert run("--store", "new.db", "verify").code == 0
    assert "was there already, unchanged" in run("move", "old.db", "new.db").out
    back = run("move", "new.db", "back.db", "--tenant", "other", "--json").json
    assert [(row["tenant"], row["state_hash"]) for row in back["tenants"]] == [
        ("other", moved["tenants"][1]["state_hash"])
    ]
    run("--store", "old.db", "add", "Ada lives in Oslo.")
    assert "is there already" in run("move", "old.db", "new.db", code=4).err
    assert "no store" in run("move", "nowhere.db", "new.db", code=3).err
    assert "no tenant 'nobody'" in run("move", "old.db", "new.db", "--tenant", "nobody", code=3).err


def test_migrating_a_store_that_is_up_to_date_changes_nothing(run: Run) -> None:
    assert "nothing has been remembered" in run("migrate", code=3).err
    run("add", "Ada lives in Paris.")
    before = run("export").out
    first, again = run("migrate", "--json").json, run("migrate", "--json").json
    assert first["format"] == again["format"] > 0
    assert run("export").out == before
