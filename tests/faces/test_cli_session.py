"""`mnemic session`: the windows of talks, from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commandline import Run

from mnemic.lab.prefix import Played, Prefix


@pytest.fixture
def talked(run: Run) -> Run:
    run("add", "The spare key lies under the blue flowerpot.", "--session", "trip")
    run("add", "We leave on Friday at nine.", "--session", "trip")
    return run


def test_a_question_opens_a_window_over_the_talk_s_last_turns(talked: Run) -> None:
    told = talked("session", "context", "trip", "Where is the spare key?")
    assert "blue flowerpot" in told.out
    assert "pressure none" in told.err


def test_the_window_is_listed_and_shown_afterwards(talked: Run) -> None:
    talked("session", "context", "trip", "Where is the spare key?", "--budget", "600")
    assert "trip" in talked("session", "list").out
    shown = talked("session", "show", "trip").out
    assert "of 600 tokens" in shown
    assert "We leave on Friday" in shown
    record = json.loads(talked("session", "show", "trip", "--json").out)
    assert (record["session"], record["budget"], record["open_until"]) == ("trip", 600, None)
    assert [page["tier"] for page in record["pages"]] == ["short", "short"]


def test_a_program_is_given_the_window_s_sections(talked: Run) -> None:
    record = json.loads(talked("session", "context", "trip", "spare key", "--json").out)
    assert sum(record["tokens"].values()) == 4000
    assert record["pressure"] == "none"


def test_a_talk_without_a_window_is_said_to_have_none(talked: Run) -> None:
    assert "no talk has a window yet" in talked("session", "list").err
    told = talked("session", "show", "trip", code=3)
    assert "no talk 'trip'" in told.err


def test_a_budget_that_holds_nothing_is_refused(talked: Run) -> None:
    told = talked("session", "context", "trip", "x", "--budget", "10", code=2)
    assert "budget" in told.err


def test_what_is_said_in_a_talk_comes_into_its_window(run: Run) -> None:
    told = run("session", "observe", "trip", "We leave on Friday at nine.", "--role", "user", "--budget", "600")
    assert "remembered" in told.out
    assert "of 600 tokens, pressure none" in told.err
    record = run("session", "observe", "trip", "-", "--speaker", "Ben", "--json", stdin="The ferry is late.").json
    assert record["session"] == "trip"
    assert sum(record["tokens"].values()) == 600
    shown = run("session", "show", "trip", "--json").json
    assert [page["id"] for page in shown["pages"]][-1] == record["ids"][0]
    said = [one["text"] for one in run("list", "--session", "trip", "--json").lines]
    assert said == ["The ferry is late.", "We leave on Friday at nine."]


def test_pages_are_moved_and_pinned_by_name(talked: Run) -> None:
    def pages() -> dict[str, bool]:
        shown = talked("session", "show", "trip", "--json").json["pages"]
        return {page["id"]: page["pinned"] for page in shown if page["resident"]}

    talked("session", "context", "trip", "key")
    newest = list(pages())[-1]
    talked("add", "Something else altogether.")
    assert talked("session", "pin", "trip", "last", "--json").json["ids"] == [newest]
    assert pages()[newest] is True
    assert "unpin it first" in talked("session", "page-out", "trip", newest, code=4).err
    assert "unpinned" in talked("session", "unpin", "trip", newest[-6:]).out
    assert newest not in talked("session", "page-out", "trip", newest, "--json").json["pages"]
    assert newest not in pages()
    assert "not in the window" in talked("session", "pin", "trip", newest, code=3).err
    assert f"paged in: {newest}" in talked("session", "page-in", "trip", newest).out
    assert list(pages())[-1] == newest
    assert "is not an id" in talked("session", "page-in", "trip", "??????", code=2).err
    assert "nothing was said in a talk 'trap'" in talked("session", "page-in", "trap", newest, code=3).err


def test_a_talk_keeps_its_budget_from_one_command_to_the_next(talked: Run) -> None:
    talked("session", "context", "trip", "key", "--budget", "600", "--policy", "arc")
    assert "of 600 tokens" in talked("session", "observe", "trip", "So be it.").err
    assert talked("session", "show", "trip", "--json").json["policy"] == "arc"
    assert "There are: fifo, lru" in talked("session", "context", "trip", "key", "--policy", "nope", code=2).err


@pytest.mark.parametrize(("reused", "code"), [(81, 0), (79, 8)])
def test_a_bench_that_misses_a_bar_says_so_by_its_exit_code(
    run: Run, monkeypatch: pytest.MonkeyPatch, reused: int, code: int
) -> None:
    one = Played(
        name="lru", questions=9, windows=9, found=0.9, packed=0.9, rendered=100, reused=reused, hits=1, references=2
    )
    monkeypatch.setattr("mnemic.lab.prefix.prefix", lambda *_, **__: Prefix(whole=one, each=(one,)))
    path = Path(__file__).parent.parent / "fixtures" / "locomo_small.json"
    assert ("MISSED" in run("bench", "session", str(path), "--skip-long", code=code).out) is (code == 8)


def test_a_bench_of_conversations_wants_some(run: Run) -> None:
    assert "path: is missing" in run("bench", "session", "--skip-long", code=2).err
