"""SECURITY.md cannot promise what no test holds."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from mnemic import Memory
from mnemic.settings import Settings

ROOT = Path(__file__).resolve().parent.parent
NAMED = re.compile(r"`([\w/]+\.py)(?:::(\w+))?`")
"""A test as SECURITY.md names it: a file of this repository, and a function in it."""


def rows(heading: str) -> list[str]:
    """The rows of the table under a heading of SECURITY.md, without its head."""
    section = (ROOT / "SECURITY.md").read_text().split(f"## {heading}")[1].split("\n## ")[0]
    return [line for line in section.splitlines() if line.startswith("| ")][1:]


def functions(path: Path) -> set[str]:
    tree = ast.parse(path.read_text())
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}


@pytest.mark.parametrize("heading", ["What is promised", "Memory and context poisoning"])
def test_every_promise_names_a_test_that_is_there(heading: str) -> None:
    promises = rows(heading)
    assert len(promises) >= 6
    for promise in promises:
        named = NAMED.findall(promise)
        assert named, f"no test is named: {promise}"
        for file, function in named:
            assert (ROOT / file).is_file(), f"{file} is not there: {promise}"
            assert not function or function in functions(ROOT / file), f"{file} has no {function}: {promise}"


def test_a_tenants_numbers_do_not_move_with_anothers() -> None:
    with Memory(":memory:", settings=Settings(background=False), embedder="none") as memory:
        mine, theirs = memory.scope(tenant="a", user="ada"), memory.scope(tenant="b", user="ada")
        first = mine.observe("I keep bees.").seq
        for _ in range(5):
            theirs.observe("I keep ducks.")
        assert mine.recall("bees").seq == first
        assert mine.observe("I keep geese.").seq == first + 1
