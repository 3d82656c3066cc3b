"""Erasing from the command line leaves no byte, and says so."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest
from commandline import Run

from mnemic.faces.cli.invocation import Invocation


def everything(home: Path) -> bytes:
    return b"".join(file.read_bytes() for file in home.iterdir())


def test_an_erased_item_is_in_no_file(run: Run, add: Callable[..., str], home: Path) -> None:
    item = add("the canary sings zanzibar")
    assert b"zanzibar" in everything(home)
    receipt = run("erase", item[-8:], "--yes", "--json").json
    assert (receipt["ids"], receipt["status"]) == ([item], "clean")
    assert receipt["scanned"]
    assert receipt["outside"]
    assert b"zanzibar" not in everything(home)


def test_the_receipt_tells_what_was_scanned_and_what_is_out_of_reach(run: Run, add: Callable[..., str]) -> None:
    told = run("erase", add("a canary"), "--yes").out
    for part in ("1 item", "clean", "memory.db", "not in our hands", "backups"):
        assert part in told


def test_an_erasure_that_another_reader_holds_up_is_pending_and_is_completed_later(
    run: Run, add: Callable[..., str], home: Path
) -> None:
    item = add("the canary sings zanzibar")
    reader = apsw.Connection(str(home / "memory.db"))
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM version").fetchall()
    told = run("erase", item, "--yes", code=7)
    assert "pending" in told.out
    reader.close()
    assert run("verify", "--json").json["settled"] is True
    assert b"zanzibar" not in everything(home)


def test_a_session_a_source_and_a_user_go_as_a_whole(run: Run, add: Callable[..., str]) -> None:
    add("on the trip", "--session", "trip")
    add("at home")
    Path("chat.jsonl").write_text(json.dumps({"text": "in the chat", "time": "2025-01-01T00:00:00Z"}) + "\n")
    run("import", "chat.jsonl")
    assert len(run("erase", "--session", "trip", "--yes", "--json").json["ids"]) == 1
    assert len(run("erase", "--source", "chat", "--yes", "--json").json["ids"]) == 1
    assert len(run("list", "--json").lines) == 1
    run("erase", "--everything", "--yes")
    assert run("list").out == ""
    assert run("stats", "--json").json["items"] == 0


def test_an_erased_import_does_not_come_back(run: Run) -> None:
    Path("chat.jsonl").write_text(json.dumps({"text": "in the chat", "time": "2025-01-01T00:00:00Z"}) + "\n")
    run("import", "chat.jsonl")
    run("erase", "--source", "chat", "--yes")
    assert run("import", "chat.jsonl", "--json").json["written"] == 0
    assert run("list").out == ""


def test_erase_takes_exactly_one_thing_to_erase(run: Run, add: Callable[..., str]) -> None:
    item = add("a canary")
    run("erase", "--yes", code=2)
    run("erase", item, "--session", "trip", "--yes", code=2)
    run("erase", item, "--everything", "--yes", code=2)
    assert item in run("list").out


def test_nobody_to_ask_means_no_erasure(run: Run, add: Callable[..., str]) -> None:
    item = add("a canary")
    assert "--yes" in run("erase", item, code=2).err
    assert "--yes" in run("erase", item, "--json", code=2).err
    assert item in run("list").out


def test_what_is_not_there_cannot_be_erased(run: Run, add: Callable[..., str]) -> None:
    add("a canary")
    run("erase", "--session", "nowhere", "--yes", code=3)
    run("erase", "--source", "nowhere", "--yes", code=3)
    run("erase", "0" * 26, "--yes", code=3)


def test_last_is_what_was_said_not_what_rules_made_of_it(run: Run, add: Callable[..., str]) -> None:
    said = add("I live in Rome.")
    run("flush")
    assert run("list", "--kind", "profile").out
    told = run("erase", "last", "--yes")
    assert "I live in Rome." in told.out
    assert run("list").out == ""
    other = add("I live in Oslo.")
    run("flush")
    assert run("history", "last", "--json").json["id"] == other != said
    assert "I live in Oslo." in run("forget", "last").out


def test_last_is_what_was_said_and_not_what_is_followed_since(run: Run, add: Callable[..., str]) -> None:
    said = add("I live in Rome.")
    run("follow", "house", "zep")
    assert run("show", "last", "--json").json["id"] == said
    assert "I live in Rome." in run("forget", "last").out


def test_last_is_a_whole_document_and_not_its_last_piece(run: Run) -> None:
    ids = run("add", "A sentence about the sea and the land.\n\n" * 900, "--json").json["ids"]
    assert len(ids) > 1
    assert run("history", "last", "--json").json["id"] == ids[0]


def test_what_will_go_is_shown_before_it_goes(
    run: Run, add: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    monkeypatch.setattr(Invocation, "confirm", lambda self, question, *, yes: asked.append(question))
    add("the first of them")
    add("a long story " * 30)
    run("erase", "last")
    assert "1 item (a long story a long story" in asked[0]
    assert " ...)" in asked[0]
    assert len(run("list", "--json").lines) == 2


def test_an_erasure_reaches_the_checkpoint_that_restore_took(run: Run, add: Callable[..., str], home: Path) -> None:
    add("The code word is zebra-falcon.")
    add("a second")
    add("a third")
    run("restore", "--to", "2", "--yes")
    run("erase", "--everything", "--yes")
    kept = [file.read_bytes() for file in home.rglob("*") if file.is_file()]
    assert len(list((home / "checkpoints").iterdir())) == 1
    assert not any(b"zebra-falcon" in data for data in kept)
