"""`mnemic watch`: what there is, what comes, from this machine's other programs, in words and for programs."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from commandline import Run, count_in_a_commit

import mnemic
from mnemic import SHARED, Memory
from mnemic.testing.terminal import Terminal, terminal


@contextmanager
def watching(home: Path, *args: str) -> Iterator[Terminal]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("MNEMIC_")}
    environ = {**kept, "MNEMIC_HOME": str(home), "MNEMIC_EMBEDDER": "none", "TERM": "xterm-256color"}
    environ["PYTHONPATH"] = str(Path(mnemic.__file__).parent.parent)
    with terminal([sys.executable, "-m", "mnemic", "watch", *args], environ=environ) as shown:
        yield shown


def test_once_shows_what_there_is(run: Run, add: Callable[..., str]) -> None:
    first, second = add("I moved to Lisbon."), add("I like tea.", "--agent", "planner")
    told = run("watch", "--once").out
    assert told.index("I moved to Lisbon.") < told.index("I like tea.")
    assert first in told
    assert "planner  wrote" in told
    (line,) = run("watch", "--once", "--after", "1", "--json").lines
    assert line["seq"] == 2
    assert line["actor"] == "planner"
    assert line["events"] == [{"n": 0, "verb": "wrote", "item": second, "erased": False, "what": None}]
    assert line["items"][0]["text"] == "I like tea."
    assert line["shared"] is False
    assert run("watch", "--once", "--agent", "planner", "--json").lines == [line]
    third = add("I like mate.")
    (more,) = run("watch", "--once", "--after", line["mark"], "--json").lines
    assert more["items"][0]["id"] == third
    run("restore", "--to", "1", "--yes")
    for text in ("Another.", "And another."):
        add(text)
    assert "brought back" in run("watch", "--once", "--after", line["mark"], code=3).err
    assert "after:" in run("watch", "--once", "--after", "yesterday", code=2).err


def test_once_says_what_was_shared_and_leaves_others_out(run: Run, add: Callable[..., str], home: Path) -> None:
    add("Mine.")
    add("Not mine.", "--user", "bob")
    with Memory(home / "memory.db") as memory:
        memory.scope(user=SHARED, actor="office").observe("For all.")
    mine, shared = run("watch", "--once", "--json").lines
    assert (mine["user"], mine["shared"]) == ("me", False)
    assert (shared["user"], shared["shared"], shared["actor"]) == (None, True, "office")
    assert "office  shared  wrote" in run("watch", "--once").out


def test_commits_that_only_count_use_are_shown_when_asked_for(run: Run, add: Callable[..., str]) -> None:
    count_in_a_commit(add("The tea is in the tin."))
    assert len(run("watch", "--once", "--json").lines) == 1
    assert [line["events"][0]["verb"] for line in run("watch", "--once", "--all", "--json").lines] == ["wrote", "used"]


def test_what_was_erased_is_shown_without_its_words(run: Run, add: Callable[..., str]) -> None:
    run("erase", add("A secret."), "--yes")
    told = run("watch", "--once")
    assert "secret" not in told.out
    assert "erased" in told.out


def test_without_a_store_there_is_nothing_to_watch(run: Run) -> None:
    assert "nothing has been remembered" in run("watch", "--once", code=3).err


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_what_another_program_writes_is_shown_as_it_comes(
    home: Path, add: Callable[..., str], form: tuple[str, ...]
) -> None:
    add("Before.")
    with watching(home, *form) as it:
        if not form:
            it.until("after commit 1; Ctrl-C ends it")
            add("While it watches.", "--agent", "planner")
            assert "planner" in it.until("While it watches.")
        else:
            with Memory(home / "memory.db") as memory:
                while b"\n" not in it.shown:  # it says nothing of when it is ready
                    memory.scope(user="me").observe("While it watches.")
                    it.follow(0.2)
            line = json.loads(it.text.splitlines()[0])
            assert line["items"][0]["text"] == "While it watches."
        it.interrupt()
        assert it.rest() == 0
    assert "Before." not in it.text
