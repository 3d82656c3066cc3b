"""The file commands answer what the memory tool of Anthropic's SDK answers: 600 random commands, 2,000 if slow."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from differential_files import run

from mnemic import Settings
from mnemic.tools import files_commands

WHOLE = Settings(background=False)
IN_PARTS = Settings(item_limit=2048, background=False)
"""Files of more than this many bytes are kept in several items."""


@pytest.fixture(autouse=True)
def _no_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """The reference waits for the disk at every write; what it answers does not hang on that."""
    monkeypatch.setattr(os, "fsync", lambda fd: None)


@pytest.mark.parametrize("seed", [*range(6), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(6, 20))])
def test_a_hundred_random_commands_get_the_same_answers(seed: int, tmp_path: Path) -> None:
    difference, ran = run(seed, 100, tmp_path, IN_PARTS if seed % 2 else WHOLE)
    assert difference is None, difference
    assert ran.total() == 100


def test_the_streams_reach_every_answer_of_every_command(tmp_path: Path) -> None:
    ran: Counter[str] = Counter()
    for seed in range(100, 106):
        ran += run(seed, 100, tmp_path, WHOLE)[1]
    commands = ("view", "create", "str_replace", "insert", "delete", "rename")
    assert {f"{command} {how}" for command in commands for how in ("done", "refused")} <= set(ran)
    assert {"create broken", "rename broken"} <= set(ran)


@pytest.mark.parametrize(
    ("name", "other"),
    [("_size", lambda count: "1B"), ("DEPTH", 1), ("_AROUND", 1), ("_lines_of", lambda needle, text: [1])],
)
def test_a_small_difference_is_found(name: str, other: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files_commands, name, other)
    assert any(run(seed, 100, tmp_path, WHOLE)[0] for seed in range(5))
