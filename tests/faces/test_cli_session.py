"""`mnemic session`: the windows of talks, from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commandline import Run

from mnemic.lab.tasks.session.prefix import Played, PrefixReuse
from mnemic.registry import POLICIES


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
    monkeypatch.setattr("mnemic.lab.tasks.session.prefix.prefix", lambda *_, **__: PrefixReuse(whole=one, each=(one,)))
    path = Path(__file__).parent.parent / "fixtures" / "locomo_small.json"
    assert ("MISSED" in run("bench", "session", str(path), "--skip-long", code=code).out) is (code == 8)


def test_a_bench_of_conversations_wants_some(run: Run) -> None:
    assert "path: is missing" in run("bench", "session", "--skip-long", code=2).err


def test_help_names_the_policies_and_case_does_not_matter(run: Run) -> None:
    for words in (["session", "observe"], ["session", "context"], ["session"]):
        told = " ".join(run(*words, "--help").out.split())
        assert all(name in told for name in POLICIES), words
    run("session", "observe", "trip", "We leave on Friday.", "--policy", "LRU")
    assert run("session", "show", "trip", "--json").json["policy"] == "lru"
    assert "Did you mean 'heat'?" in run("session", "observe", "trip", "More.", "--policy", "heet", code=2).err


def test_the_setting_takes_a_policy_in_any_case(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MNEMIC_POLICY", "Heat")
    run("session", "observe", "trip", "We leave on Friday.")
    assert run("session", "show", "trip", "--json").json["policy"] == "heat"


def test_what_was_forgotten_is_not_shown_and_costs_nothing(talked: Run) -> None:
    talked("session", "context", "trip", "key", "--budget", "600")
    before = talked("session", "show", "trip", "--json").json
    talked("forget", before["pages"][0]["id"])
    after = talked("session", "show", "trip", "--json").json
    assert after["pages"] == before["pages"][1:]
    assert after["gone"] == 1
    assert after["tokens"] == before["tokens"] - before["pages"][0]["tokens"]
    assert "1 page not shown" in talked("session", "show", "trip").err


def test_counters_pressure_and_dirty_pages_are_told(talked: Run) -> None:
    told = talked("session", "context", "trip", "Where is the spare key?")
    assert "1 hit" in told.err or "2 hits" in told.err
    record = talked("session", "context", "trip", "Where is the spare key?", "--json").json
    assert record["counters"]["hits"] >= 1
    assert record["dirty"] >= 1
    assert talked("session", "show", "trip", "--json").json["pressure"] == "none"
    assert "pressure none" in talked("session", "show", "trip").out


def test_a_talk_that_nothing_was_said_in_is_said_to_be_new(talked: Run) -> None:
    assert "nothing was said in a talk 'trap' yet" in talked("session", "context", "trap", "spare key").err
    assert talked("session", "context", "trap", "spare key", "--json").json["new"] is True
    assert talked("session", "context", "trip", "spare key", "--json").json["new"] is False


@pytest.mark.parametrize(
    "words", [("observe", "trip", "hi"), ("context", "trip", "hi"), ("pin", "trip", "last")], ids=lambda words: words[0]
)
def test_two_names_for_a_talk_are_refused(talked: Run, words: tuple[str, ...]) -> None:
    assert "--session: names 'other'" in talked("session", *words, "--session", "other", code=2).err
    talked("session", "observe", "trip", "hi", "--session", "trip")


@pytest.mark.parametrize("budget", ["99999999999999999999", "1000000000000"])
def test_a_budget_beyond_all_windows_is_an_error_of_one_line(talked: Run, budget: str) -> None:
    told = talked("session", "observe", "trip", "hi", "--budget", budget, code=2)
    assert "budget" in told.err
    assert "Traceback" not in told.err
