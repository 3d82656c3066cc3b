"""`gc` as somebody types it: what it would take and why, and what it says of a class that is none."""

from __future__ import annotations

from collections.abc import Callable

from commandline import Run


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
