"""`mnemic session`: the windows of talks, from the command line."""

from __future__ import annotations

import json

import pytest
from commandline import Run


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
