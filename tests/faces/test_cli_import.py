"""Files come in: streamed, in batches, told, resumable."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commandline import Run

from mnemic.faces.cli.commands.importing import _FORMATS
from mnemic.ingest import READERS


def write(path: str, *records: object) -> str:
    Path(path).write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def message(n: int, **more: object) -> dict[str, object]:
    return {
        "id": str(n),
        "text": f"message number {n}",
        "time": f"2025-01-01T00:{n // 60 % 60:02}:{n % 60:02}Z",
        **more,
    }


def test_a_chat_is_written_once_however_often_it_is_imported(run: Run) -> None:
    chat = write("chat.jsonl", *(message(n) for n in range(450)))
    first = run("import", chat, "--json").json
    assert (first["written"], first["repeated"], first["commits"]) == (450, 0, 3)
    again = run("import", chat, "--json").json
    assert (again["written"], again["repeated"], again["commits"]) == (0, 450, 0)
    assert "450" in run("import", chat).out


def test_it_goes_on_from_where_it_was_cut(run: Run) -> None:
    run("import", write("chat.jsonl", *(message(n) for n in range(30))))
    assert run("import", write("chat.jsonl", *(message(n) for n in range(50))), "--json").json["written"] == 20


def test_what_is_skipped_is_told_with_reason_and_place(run: Run) -> None:
    chat = Path(write("chat.jsonl", message(1), {"id": "2"}, message(3, time="2025-01-01 10:00")))
    chat.write_text(chat.read_text() + "{broken\n")
    told = run("import", str(chat)).out
    for part in ("line 2", "line 3", "line 4", "--zone"):
        assert part in told
    summary = run("import", str(chat), "--zone", "Europe/Lisbon", "--json").json
    assert summary["written"] == 1
    assert sum(one["count"] for one in summary["skipped"]) == 2


def test_what_expired_before_it_came_is_written_shown_to_nobody_and_told(run: Run) -> None:
    memories = [
        {"id": "1", "memory": "an old code", "updated_at": "2025-01-01T00:00:00Z", "expiration_date": "2025-02-01"},
        {"id": "2", "memory": "likes tea", "updated_at": "2025-01-01T00:00:00Z"},
    ]
    Path("mem0.json").write_text(json.dumps(memories))
    told = run("import", "mem0.json", "--format", "mem0", "--json").json
    assert (told["written"], told["expired"]) == (2, 1)
    assert [one["text"] for one in run("list", "--json").lines] == ["likes tea"]
    assert "nobody is shown" in run("import", "mem0.json", "--format", "mem0").out


def test_a_command_says_when_something_expires(run: Run) -> None:
    run("add", "the door code is 4711", "--expires", "7d")
    assert run("show", "last", "--json").json["expires"] is not None
    run("revise", "last", "--expires", "never")
    assert run("show", "last", "--json").json["expires"] is None


def test_a_dry_run_writes_nothing(run: Run, home: Path) -> None:
    told = run("import", write("chat.jsonl", message(1)), "--dry-run", "--json").json
    assert (told["written"], told["readable"], told["dry_run"]) == (0, 1, True)
    assert not home.exists()


def test_items_carry_their_source_and_channel(run: Run) -> None:
    chat = write("chat.jsonl", message(1))
    assert run("import", chat, "--source", "mail: old", "--json").json["sources"] == ["mail: old"]
    item = run("show", "last", "--json").json
    assert (item["slots"]["source"], item["channel"]) == ("mail: old", "import")
    assert run("import", chat, "--json").json["sources"] == ["chat"]


def test_one_conflicting_message_does_not_hold_up_the_rest(run: Run) -> None:
    run("import", write("chat.jsonl", message(1), message(2)))
    changed = write("chat.jsonl", message(1), message(2, text="other words"), message(3))
    told = run("import", changed, "--json").json
    assert (told["written"], told["repeated"]) == (1, 1)
    assert "other content" in told["skipped"][0]["reason"]


def test_anothers_messages_are_skipped_unless_each_goes_to_its_user(run: Run) -> None:
    chat = write("chat.jsonl", message(1), message(2, user="ben"))
    told = run("import", chat, "--json").json
    assert told["written"] == 1
    assert "--each-user" in told["skipped"][0]["reason"]
    assert run("import", chat, "--each-user", "--json").json["written"] == 1
    assert run("list", "--user", "ben", "--json").json["text"] == "message number 2"


def test_session_names_the_shelf_of_what_names_none(run: Run) -> None:
    run("import", write("chat.jsonl", message(1)), "--session", "trip")
    assert run("show", "last", "--json").json["session"] == "trip"


def test_what_cannot_be_imported_makes_no_store(run: Run, home: Path) -> None:
    Path("picture.png").write_bytes(b"\x89PNG\r\n\x1a\n\x00\x00")
    run("import", "picture.png", code=2)
    run("import", "nowhere.jsonl", code=3)
    run("import", ".", code=1)
    Path("empty").mkdir()
    assert "there is nothing here" in run("import", "empty", code=1).err
    run("import", "-", stdin="", code=2)
    assert not home.exists()


def test_an_import_of_which_nothing_can_be_taken_fails(run: Run, home: Path) -> None:
    path = write("chat.jsonl", {"id": "1"}, {"id": "2"})
    for options in ((), ("--dry-run",)):
        assert "nothing here could be imported; 2 records skipped" in run("import", path, *options, code=1).err
    assert run("import", path, "--json", code=1).json["written"] == 0
    assert not home.exists()


def test_a_zone_that_is_none_is_refused_before_a_record_is_read(run: Run) -> None:
    assert run("import", write("chat.jsonl", message(1)), "--zone", "Mars/Base", code=2).err.startswith(
        "error: --zone: "
    )


def test_a_dry_run_counts_as_the_real_one(run: Run) -> None:
    path = write(
        "chat.jsonl", message(1), message(2, text="The well and the pear trees. " * 3_000), message(3, text="")
    )
    dry = run("import", path, "--dry-run", "--json").json
    assert "not looked up" in run("import", path, "--dry-run").out
    real = run("import", path, "--json").json
    assert (dry["readable"], dry["repeated"]) == (real["written"], None)
    assert dry["skipped"] == real["skipped"]


def test_the_summary_names_the_commits(run: Run) -> None:
    assert "mnemic undo 1)" in run("import", write("chat.jsonl", message(1))).out
    many = write("chat.jsonl", *(message(n % 60, id=f"x{n}") for n in range(450)))
    told = run("import", many, "--json").json
    assert (told["first_commit"], told["last_commit"]) == (2, 4)
    assert run("import", many, "--json").json["first_commit"] is None


@pytest.mark.parametrize("gone", [("undo", "1"), ("erase", "--source", "chat", "--yes")])
def test_an_import_that_was_taken_back_or_erased_is_said_to_stay_away(run: Run, gone: tuple[str, ...]) -> None:
    path = write("chat.jsonl", message(1), message(2))
    run("import", path)
    run(*gone)
    told = run("import", path).out
    assert "2 were imported before and since erased or taken back" in told
    assert run("import", path, "--json").json["away"] == 2
    assert run("list").out == ""
    again = run("import", path, "--source", "again", "--json").json
    assert (again["written"], again["away"]) == (2, 0)


def test_the_formats_that_an_option_offers_are_those_that_are_read() -> None:
    assert sorted(_FORMATS) == sorted(READERS)


def test_one_commit_is_called_one(run: Run) -> None:
    assert "commit 1 (take it back: mnemic undo 1)" in run("import", write("chat.jsonl", message(1))).out


@pytest.mark.parametrize("speaker", ["Maya", "maya", "me"])
def test_lines_in_the_users_name_are_theirs_where_they_say_so(run: Run, speaker: str) -> None:
    lines = (
        {"speaker": speaker, "said": "2025-01-01T00:00:00Z", "text": "I live in Oslo."},
        {"speaker": "Ben", "said": "2025-01-02T00:00:00Z", "text": "I live in Bergen."},
    )
    chat = write("talk.jsonl", *lines)
    first = run("import", chat, "--user", "maya", "--json").json
    assert first["claimed"] == {speaker: 1}
    assert f"--me {speaker}" in run("import", chat, "--user", "maya").out
    assert run("import", chat, "--user", "maya", "--dry-run", "--json").json["claimed"] == {speaker: 1}
    run("flush")
    assert "Oslo" not in run("profile", "--user", "maya").out
    again = run("import", chat, "--user", "maya", "--me", speaker, "--source", "mine", "--json").json
    assert (again["written"], again["claimed"]) == (2, {})
    run("flush")
    assert "lives in Oslo" in run("profile", "--user", "maya").out
    assert run("import", chat, "--user", "ben", "--json").json["claimed"] == (
        {"Ben": 1} if speaker != "me" else {"Ben": 1, "me": 1}
    )
