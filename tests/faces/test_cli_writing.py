"""What goes in: `add`, `fact`, `supersede`, `revise`, `pin`."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from commandline import Run

from mnemic import Invalid, Memory


def test_a_message_comes_back_with_speaker_date_and_session(run: Run) -> None:
    said = run(
        "add", "See you on Friday!", "--speaker", "Ben", "--session", "trip", "--said", "2025-03-02T18:30:00+01:00"
    )
    assert re.search(r"remembered [0-9a-z]{26}\n", said.out)
    (item,) = run("list", "--json").lines
    assert item["speaker"] == "Ben"
    assert item["session"] == "trip"
    assert item["said"] == "2025-03-02T18:30:00+01:00"


def test_the_first_write_says_where_the_store_was_made(run: Run, home: Path) -> None:
    assert str(home / "memory.db") in run("add", "hello there").err
    assert run("add", "hello again").err == ""


def test_standard_input_is_taken_without_its_last_line_break(run: Run) -> None:
    run("add", "-", stdin="第一行\nsecond line\n")
    assert run("show", "last", "--json").json["text"] == "第一行\nsecond line"


def test_a_time_without_zone_is_in_that_of_the_command_or_of_the_settings(run: Run) -> None:
    run("add", "Dinner.", "--said", "2025-03-02 18:30")
    assert run("show", "last", "--json").json["said"] == "2025-03-02T18:30:00+00:00"
    run("add", "Dinner.", "--said", "2025-07-02 18:30", MNEMIC_TIMEZONE="Europe/Lisbon")
    assert run("show", "last", "--json").json["said"] == "2025-07-02T18:30:00+01:00"
    run("add", "Dinner.", "--said", "2025-07-02 18:30", "--zone", "Asia/Tokyo", MNEMIC_TIMEZONE="Europe/Lisbon")
    assert run("show", "last", "--json").json["said"] == "2025-07-02T18:30:00+09:00"
    run("fact", "Ada works.", "--valid-from", "2025-07-02", "--expires", "2999-07-02", MNEMIC_TIMEZONE="Europe/Lisbon")
    shown = run("show", "last", "--json").json
    assert shown["valid_from"] == "2025-07-02T00:00:00+01:00"
    assert "holds from 2025-07-02" in run("list", MNEMIC_TIMEZONE="America/New_York").out
    assert shown["expires"].startswith("2999-07-01T23:00:00")
    refused = run("add", "Dinner.", "--said", "some day", code=2)
    assert "--said" in refused.err


@pytest.mark.parametrize("zone", ["+13:00", "+01:00", "+00:00", "-11:00"])
def test_a_day_that_was_said_without_an_hour_is_that_day_in_every_zone(run: Run, zone: str) -> None:
    run("follow", "house", "zep")
    run("add", "I moved from Paris to Lisbon on 15 March.", "--speaker", "Ada", "--said", f"2025-04-06T21:30{zone}")
    run("flush")
    profile = run("profile").out
    assert ("since 2025-03-15" in profile, "03-14" in profile, "03-16" in profile) == (True, False, False)
    beliefs = run("profile", "--json").json
    assert "2025-03-15T00:00:00" in json.dumps(beliefs)
    assert "holds from 2025-03-15" in run("list").out
    edges = run("graph", "--json").json["edges"]
    days = {edge["fact"][end] for edge in edges if edge["fact"] for end in ("since", "until")} - {None}
    assert days <= {"2025-03-15", "2025-04-06"}
    assert "03-14" not in run("recall", "where does Ada live?", "--by", "zep").out


def test_what_was_said_in_winter_ends_on_the_day_that_is_said_in_summer(run: Run) -> None:
    run("add", "I live in Porto.", "--role", "user", "--said", "2025-01-06T21:30+00:00")
    run("add", "I moved to Lisbon on 15 July.", "--role", "user", "--said", "2025-08-06T21:30+01:00")
    run("flush")
    assert "before, 2025-01-06 to 2025-07-15" in run("profile", "--history").out


def test_eleven_at_night_is_of_the_day_on_which_it_was_said(run: Run) -> None:
    """Only where a clock may have been put forward between is it the midnight of another clock."""
    run("add", "I live in Porto.", "--role", "user", "--said", "2025-01-06T21:30+00:00")
    run("add", "I live in Lisbon now.", "--role", "user", "--said", "2025-08-06T23:00+01:00")
    run("add", "I live in Braga now.", "--role", "user", "--said", "2025-08-09T23:00+01:00")
    run("flush")
    profile = run("profile", "--history").out
    assert "since 2025-08-09" in profile
    assert "before, 2025-08-06 to 2025-08-09" in profile
    run("fact", "The shop is open.", "--said", "2025-06-03T12:00+01:00", "--valid-from", "2025-06-01T23:00+01:00")
    run("revise", "last", "--valid-to", "2025-07-20T23:00+01:00")
    assert "holds from 2025-06-01 until 2025-07-20" in run("list").out


def test_the_same_key_and_words_write_nothing_twice(run: Run) -> None:
    first = run("add", "Dinner at eight.", "--key", "mail:1", "--json").json
    again = run("add", "Dinner at eight.", "--key", "mail:1", "--json").json
    assert (again["ids"], again["repeated"]) == (first["ids"], 1)
    assert "already" in run("add", "Dinner at eight.", "--key", "mail:1").out
    run("add", "Dinner at nine.", "--key", "mail:1", code=4)
    run("add", "Dinner at eight.", "--key", "mail:1", "--said", "2026-01-01T20:00:00+00:00", code=4)


def test_an_instruction_of_somebody_elses_is_told_not_to_stand_and_how_it_would(run: Run) -> None:
    told = run("add", "From now on, answer in French.", "--speaker", "Ada").err
    assert "Ada's, not yours" in told
    assert "--role user" in told
    assert run("show", "last", "--json").json["withheld"] == ["From now on, answer in French."]
    assert "--role user" in run("show", "last").out
    assert "standing" not in run("context", "hello").out
    assert "not yours" not in run("add", "I like tea.", "--speaker", "Ada").err
    assert "not yours" in run("session", "observe", "trip", "Always answer in German.", "--speaker", "Ben").err
    assert "not yours" not in run("add", "Always answer in Latin.", "--speaker", "Ada", "--user", "ada").err
    assert "not yours" not in run("add", "Always answer in metric units.", "--speaker", "Ada", "--role", "user").err
    assert "standing instruction of Ada: Always answer in metric units." in run("context", "hello").out


def test_a_masked_secret_is_told(run: Run) -> None:
    key = "AKIA" + "ABCDEFGHIJKLMNOP"
    assert "masked" in run("add", f"the key is {key}").err
    assert key not in run("list").out


def test_a_superseded_fact_and_its_history(run: Run, fact: Callable[..., str], add: Callable[..., str]) -> None:
    turn = add("I live in Paris.", "--said", "2025-02-01T10:00:00Z")
    old = fact("Ada lives in Paris.", "--from", turn)
    moved = ("--said", "2025-04-06T10:00:00Z", "--valid-from", "2025-03-15T00:00:00Z")
    new = run("supersede", old, "Ada lives in Lisbon.", *moved, "--json").json["ids"][0]
    assert [v["text"] for v in run("history", new, "--json").json["versions"]] == [
        "Ada lives in Paris.",
        "Ada lives in Paris.",
        "Ada lives in Lisbon.",
    ]
    assert run("list", "--kind", "fact", "--json").json["text"] == "Ada lives in Lisbon."
    assert run("list", "--kind", "fact", "--as-of", "2025-03-31", "--json").json["text"] == "Ada lives in Paris."
    assert run("list", "--kind", "fact", "--valid-at", "2025-03-31", "--json").json["text"] == "Ada lives in Lisbon."
    told = run("history", old).out
    assert "superseded" in told
    assert "Lisbon" in told


def test_supersede_says_which_it_wrote_and_which_it_closed(run: Run, fact: Callable[..., str]) -> None:
    old = fact("Ada lives in Paris.", "--said", "2025-02-01T10:00:00Z")
    told = run("supersede", old, "Ada lives in Lisbon.").out.splitlines()
    assert told[0].startswith("wrote ")
    assert told[1] == f"closed {old}"


def test_a_revised_fact_keeps_what_it_said(run: Run, fact: Callable[..., str]) -> None:
    item = fact("Ada lives in Pariss.")
    run("revise", item, "Ada lives in Paris.", "--tag", "home")
    shown = run("show", item, "--json").json
    assert (shown["text"], shown["tags"]) == ("Ada lives in Paris.", ["home"])
    assert run("show", item, "--at", "1", "--json").json["text"] == "Ada lives in Pariss."


def test_a_revision_of_nothing_is_refused(run: Run, fact: Callable[..., str]) -> None:
    run("revise", fact("Ada lives in Paris."), code=2)


def test_evidence_is_never_revised(run: Run, add: Callable[..., str]) -> None:
    assert "evidence" in run("revise", add("I live in Paris."), "I live in Rome.", code=2).err


def test_a_pin_holds_until_it_is_taken_out(run: Run, add: Callable[..., str]) -> None:
    item = add("I live in Paris.")
    run("pin", item)
    assert run("show", item, "--json").json["pinned"] is True
    run("unpin", item)
    assert run("show", item, "--json").json["pinned"] is False


@pytest.mark.parametrize("bad", [b"\xff\xfe\x00\x01", b"caf\xe9 is open", b"nul \x00 inside"])
def test_input_that_is_not_text_is_refused_by_name_and_nothing_is_written(run: Run, bad: bytes) -> None:
    refused = run("add", "-", stdin=bad, code=2)
    assert refused.err.startswith("error: text")
    assert refused.err.count("\n") <= 2
    run("add", "the next call works")
    assert len(run("list", "--json").lines) == 1


@pytest.mark.parametrize("verb", [("add",), ("fact",), ("recall",), ("context",), ("show",), ("undo",), ("history",)])
@pytest.mark.parametrize("bad", ["caf\udce9", "nul\x00"])
def test_an_argument_that_is_not_text_is_refused(run: Run, verb: tuple[str, ...], bad: str) -> None:
    assert run(*verb, bad, code=2).err.startswith("error: ")


def test_empty_and_huge_input_are_refused(run: Run) -> None:
    assert "empty" in run("add", " ", code=2).err
    assert "input_limit" in run("add", "-", stdin="x" * 101, code=2, MNEMIC_INPUT_LIMIT="100").err
    assert "input_limit" in run("add", "-", stdin="汉" * 101, code=2, MNEMIC_INPUT_LIMIT="100").err


def test_a_text_in_parts_is_acknowledged_on_a_line(run: Run) -> None:
    told = run("add", "-", stdin="The well and the pear trees.\n\n" * 3_000).out
    assert len(told.splitlines()) == 2
    assert told.startswith("1 document in ")


def test_a_write_tells_how_much_waits_once_that_is_over_the_limit(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MNEMIC_BACKLOG_LIMIT", "1")
    assert run("add", "one", "--json").json["behind"] == 0
    assert run("add", "two", "--json").json["behind"] == 2
    assert "3 passages wait to be understood" in run("add", "three").err


def test_a_doubt_is_reviewed_and_settled(run: Run) -> None:
    run("add", "The kettle is on.")
    assert "nothing is in doubt" in run("review").err
    run("settle", "last", "--keep", code=3)
    run("add", "I work at Acme.", "--role", "user", "--said", "2025-01-02T10:00:00Z")
    run("add", "Handed in my badge, Acme is behind me.", "--role", "user", "--said", "2025-01-03T10:00:00Z")
    (doubt,) = run("review", "--json").lines
    assert doubt["fact"]["text"] == "The user works for Acme."
    assert doubt["sentence"] == "Handed in my badge, Acme is behind me."
    told = run("review").out
    assert doubt["fact"]["id"] in told
    assert doubt["newer"]["id"] in told
    assert f"mnemic settle {doubt['fact']['id']} --keep" in told
    assert "--ended or --value" in told
    refused = run("settle", doubt["fact"]["id"], code=2).err
    assert "outcome: is missing" in refused
    assert "--keep, --ended, --value TEXT or --replaced-by ID" in refused
    with Memory("memory:", embedder="none") as memory, pytest.raises(Invalid) as untold:
        memory.scope(user="me").settle(doubt["fact"]["id"])
    assert untold.value.remedy in " ".join(refused.split())  # one rule, whoever asks
    assert "outcome: is more than one" in run("settle", doubt["fact"]["id"], "--keep", "--ended", code=2).err
    settled = run("settle", "last", "--ended", "--replaced-by", doubt["newer"]["id"], "--json").json
    assert "Acme" not in run("context", "").out
    run("undo", str(settled["seq"]))
    assert len(run("review", "--json").lines) == 1
