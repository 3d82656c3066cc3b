"""`mnemic top` and what `stats` says of a store's processes: once, in a pipe, for programs, and live in a terminal."""

from __future__ import annotations

import json
import multiprocessing
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from commandline import Run

import mnemic
from mnemic import Memory, NotFound, Settings
from mnemic.store.values.meters import PERIOD
from mnemic.testing.generators import ManualClock
from mnemic.testing.terminal import Terminal, terminal
from patience import PATIENCE

pytestmark = pytest.mark.heavy

QUIET = Settings(background=False, use_flush_seconds=1e6)  # five seconds go by on a busy machine
SPAWN = multiprocessing.get_context("spawn")


class Shifted(ManualClock):
    """The time of day, moved on by hand."""

    def __init__(self) -> None:
        from mnemic.core.clock import SystemClock

        super().__init__(SystemClock().now() - 4 * PERIOD)


def busy(path: str, done: Any, leave: Any) -> None:
    """A program that uses the store, says so with its commits, and stays."""
    clock = Shifted()
    with Memory(path, clock=clock, embedder="none", settings=QUIET) as memory:
        me = memory.scope(user="me")
        for n in range(20):
            me.observe(f"Secret note {n}.")
        for _ in range(5):
            me.recall("note")
        for _ in range(2):
            try:
                me.get("01m815bvc3f4ch3bp4rs0yda9x")
            except NotFound:
                continue
        clock.tick(PERIOD)
        me.observe("And another.")
        done.set()
        leave.wait(PATIENCE)


@pytest.fixture
def other(home: Path) -> Iterator[int]:
    """Another process with the store open; its number."""
    home.mkdir()
    done, leave = SPAWN.Event(), SPAWN.Event()
    process = SPAWN.Process(target=busy, args=(str(home / "memory.db"), done, leave))
    process.start()
    assert done.wait(PATIENCE)
    yield process.pid or 0
    leave.set()
    process.join(PATIENCE)


@contextmanager
def topping(home: Path, *args: str, **more: str) -> Iterator[Terminal]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("MNEMIC_")}
    environ = {**kept, "MNEMIC_HOME": str(home), "MNEMIC_EMBEDDER": "none", "TERM": "xterm-256color", **more}
    environ["PYTHONPATH"] = str(Path(mnemic.__file__).parent.parent)
    with terminal([sys.executable, "-m", "mnemic", "top", *args], environ=environ) as shown:
        yield shown


@contextmanager
def topping_piped(home: Path, *args: str) -> Iterator[Iterator[str]]:
    environ = {**os.environ, "MNEMIC_HOME": str(home), "MNEMIC_EMBEDDER": "none"}
    environ["PYTHONPATH"] = str(Path(mnemic.__file__).parent.parent)
    command = [sys.executable, "-m", "mnemic", "top", *args]
    with subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield process.stdout
        process.terminate()


def test_it_shows_what_another_process_does(run: Run, other: int) -> None:
    seen = run("top", "--once", "--json").json
    assert seen["commits"] == 21
    assert seen["verbs"]["observe"]["count"] == 20
    assert seen["verbs"]["recall"]["count"] == 5
    assert (seen["verbs"]["get"]["count"], seen["verbs"]["get"]["failed"]) == (2, 2)
    assert 0 < seen["verbs"]["recall"]["p50"] <= seen["verbs"]["recall"]["p95"] <= seen["verbs"]["recall"]["max"]
    assert seen["requests"]["commit"]["count"] == 20
    assert [process["pid"] for process in seen["processes"]] == [other]
    assert seen["log_bytes"] > 0
    assert "Secret" not in run("top", "--once").out


def test_in_a_pipe_it_is_one_look_in_words(run: Run, other: int) -> None:
    told = run("top").out
    assert "21 in all" in told
    assert f"{other}, open for" in told
    recall = next(line for line in told.splitlines() if line.startswith("recall"))
    assert recall.split()[2] == "5"
    assert "no session has one yet" in told
    assert "\x1b" not in told


def test_in_a_pipe_it_is_one_look_for_programs(run: Run, other: int) -> None:
    assert run("top", "--json").json["commits"] == 21


def test_in_a_pipe_lines_go_on_for_who_says_how_often(home: Path, other: int) -> None:
    with topping_piped(home, "--json", "--every", "0.1") as lines:
        assert [json.loads(next(lines))["commits"] for _ in range(2)] == [21, 21]


def test_of_a_store_that_nobody_uses_it_says_so(run: Run, add: Callable[..., str]) -> None:
    add("Hello.")
    assert "no process has said yet what it does" in run("top", "--once").out
    assert run("top", "--once", "--json").json["processes"] == []


def test_stats_for_programs_says_all_that_it_said_and_what_top_shows(run: Run, other: int) -> None:
    stats = run("stats", "--json").json
    assert {"user", "tenant", "url", "bytes", "format", "items", "users", "lanes"} <= set(stats)
    assert stats["items"] == 21
    assert stats["commits"] == 21
    assert stats["verbs"]["observe"]["count"] == 20
    assert stats["free_bytes"] >= 0


def test_live_it_is_redrawn_until_ctrl_c(home: Path, run: Run, other: int, add: Callable[..., str]) -> None:
    with topping(home, "--every", "0.1") as it:
        it.until("21 in all")
        add("Another.")
        it.until("22 in all")
        it.interrupt()
        assert it.rest() == 0
    assert b"\x1b[?1049h" in it.shown  # its own screen, left as it was
    assert b"\x1b[?1049l" in it.shown


def test_live_for_programs_it_is_a_line_each_time(home: Path, other: int) -> None:
    with topping(home, "--every", "0.1", "--json") as it:
        for _ in range(2):
            it.until('"commits": 21')
            it.until("\n")
        it.interrupt()
        assert it.rest() == 0
    assert json.loads(it.text.splitlines()[0])["commits"] == 21


def test_a_profile_of_a_command(run: Run, add: Callable[..., str], tmp_path: Path) -> None:
    file = tmp_path / "profile.jsonl"
    add("The tea is in the tin.", "--profiler", str(file))
    run("recall", "tea", "--profiler", str(file))
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert [line["verb"] for line in lines][:2] == ["observe", "recall"]
    assert "tea" not in file.read_text()
