"""Listings on the command line: a page, how to get the next one, and the same for a program."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

import pytest
from commandline import Run

QUIET = {"MNEMIC_EMBEDDER": "none", "MNEMIC_BACKGROUND": "false"}


@pytest.fixture
def filled(run: Run) -> Run:
    for n in range(5):
        run("add", f"Word {n}.", **QUIET)
        run("branch", f"b{n}", **QUIET)
        run("hold", "add", "--everything", "--reason", f"case {n}", **QUIET)
        run("add", "Mine.", "--user", f"user {n}", "--session", "trip", **QUIET)
        run("session", "observe", f"talk {n}", "Which word?", **QUIET)
    return run


COMMANDS: dict[str, tuple[str, ...]] = {
    "list": ("list",),
    "log": ("log",),
    "log of the store": ("log", "--collected"),
    "branches": ("branches",),
    "sessions": ("session", "list"),
    "holds": ("hold", "list"),
    "stats": ("stats",),
    "jobs": ("jobs",),
}
_TOLD = re.compile(r"there is more: the same again with --after (\S+)")


def _records(out: str) -> tuple[Sequence[Any], str | None]:
    """The records of a page, and its cursor: of one document, or of a line each."""
    try:
        document = json.loads(out)
    except ValueError:
        document = None
    if document is not None and "next" in document and not {"id", "seq", "name", "session"} & set(document):
        name = next(name for name in ("users", "entries", "holds") if isinstance(document.get(name), list))
        return document[name], document["next"]
    lines = [json.loads(line) for line in out.splitlines()]
    cursors = [line.pop("next", None) for line in lines]
    assert not any(cursors[:-1])
    return lines, cursors[-1] if cursors else None


def test_every_listing_goes_on_where_a_page_ended(filled: Run) -> None:
    for name, command in COMMANDS.items():
        whole, end = _records(filled(*command, "--json", "--limit", "1000", **QUIET).out)
        assert end is None, name
        assert len(whole) >= 5, name
        found: list[Any] = []
        after: tuple[str, ...] = ()
        while True:
            page, cursor = _records(filled(*command, "--json", "--limit", "3", *after, **QUIET).out)
            told = _TOLD.findall(filled(*command, "--limit", "3", *after, **QUIET).err)
            assert told == ([cursor] if cursor else []), name
            found += page
            if cursor is None:
                break
            after = ("--after", cursor)
        assert found == whole, name


def test_a_cursor_of_another_listing_is_refused_by_the_name_of_its_option(filled: Run) -> None:
    (cursor,) = _TOLD.findall(filled("list", "-n", "1", **QUIET).err)
    told = filled("log", "--after", cursor, code=2, **QUIET).err
    assert "--after: is a cursor of another listing" in told
    assert "--after: 'nonsense' is no cursor" in filled("list", "--after", "nonsense", code=2, **QUIET).err
    assert len(filled("log", "--after", "2", "--json", "-n", "99", **QUIET).out.splitlines()) > 3
