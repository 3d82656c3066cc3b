"""A chat in a real terminal: two columns where there is room, keys that stop and leave."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

import mnemic
from mnemic.models.chat.scripted_chat import ScriptedChat
from mnemic.testing.chat_server import serving
from mnemic.testing.terminal import Terminal, terminal
from patience import PATIENCE

pytestmark = pytest.mark.heavy

PROMPT = "you> "
MOVED = "I moved from Paris to Lisbon in March 2026."
WHEN = "When did I move to Lisbon?"
BAR = "│"


@contextmanager
def chatting(home: Path, *args: str, columns: int = 120, **more: str) -> Iterator[Terminal]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("MNEMIC_") and name != "NO_COLOR"}
    environ = {**kept, "MNEMIC_HOME": str(home), "MNEMIC_EMBEDDER": "none", "TERM": "xterm-256color", "PYTHONUTF8": "1"}
    environ["PYTHONPATH"] = str(Path(mnemic.__file__).parent.parent)
    command = [sys.executable, "-m", "mnemic", "chat", *args]
    with terminal(command, environ={**environ, **more}, columns=columns) as shown:
        shown.until(PROMPT)
        yield shown


def test_a_wide_terminal_has_the_answer_left_and_memory_right(tmp_path: Path) -> None:
    with chatting(
        tmp_path, "--model", "scripted:How nice for you, I hope the light is as good as they say it is."
    ) as it:
        it.type(f"{MOVED}\n")
        turn = it.until(PROMPT)
        lines = turn.splitlines()
        assert any(line.startswith("How nice for you") and BAR in line for line in lines)
        assert all(line.index(BAR) == 61 for line in lines if BAR in line)
        assert max(map(len, lines)) < 120
        it.type(f"{WHEN}\n")
        turn = it.until(PROMPT)
        assert [line for line in turn.splitlines() if "why: " in line and BAR in line]
        it.leave()
        assert it.rest() == 0
        assert b"\x1b[1m" in it.shown


def test_a_narrow_terminal_has_plain_text_without_colour(tmp_path: Path) -> None:
    with chatting(tmp_path, "--model", "scripted:How nice.", columns=70) as it:
        it.type(f"{MOVED}\n")
        turn = it.until(PROMPT)
        it.type("/quit\n")
        assert it.rest() == 0
    assert BAR not in turn
    assert turn.index("How nice.") < turn.index("recalled nothing") < turn.index("written")
    assert b"\x1b[1m" not in it.shown
    assert b"\x1b[3" not in it.shown


@pytest.mark.parametrize("quiet", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_colour_can_be_declined(tmp_path: Path, quiet: dict[str, str]) -> None:
    with chatting(tmp_path, **quiet) as it:
        it.type(f"{MOVED}\n")
        assert BAR in it.until(PROMPT)
    assert b"\x1b[1m" not in it.shown


def test_wide_characters_keep_the_columns(tmp_path: Path) -> None:
    with chatting(tmp_path, "--model", "scripted:" + "我三月从巴黎搬到了里斯本。" * 6) as it:
        it.type("你好\n")
        lines = [line for line in it.until(PROMPT).splitlines() if BAR in line and "里斯本" in line]
    assert len(lines) >= 2
    wide = [sum(2 if "\u3000" <= c <= "\uffef" else 1 for c in line.partition(BAR)[0]) for line in lines]
    assert set(wide) == {61}


def test_ctrl_c_stops_the_answer_and_keeps_what_was_said(tmp_path: Path) -> None:
    told, given_up = threading.Event(), threading.Event()

    def slow(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.end_headers()
        handler.wfile.write(b'data: {"choices": [{"delta": {"content": "Let me think about "}}]}\n\n')
        told.set()
        handler.connection.settimeout(PATIENCE)
        handler.rfile.read(1)
        given_up.set()

    with serving(ScriptedChat("In March.")) as server:
        server.faults = [slow]
        with chatting(tmp_path, "--model", f"openai:words-1@{server.url}") as it:
            it.type(f"{MOVED}\n")
            assert told.wait(PATIENCE)
            it.until("Let me think")
            it.interrupt()
            turn = it.until(PROMPT)
            assert "[stopped]" in turn
            assert "what the model said" in turn
            assert given_up.wait(PATIENCE)
            it.type(f"{WHEN}\n")
            assert "In March." in it.until(PROMPT)
            it.leave()
            assert it.rest() == 0


def pressed_until_heeded(it: Terminal) -> str:
    """Press Ctrl-C, and again if nothing comes: readline overlooks one that falls between two keys."""
    for _ in range(10):
        it.interrupt()
        try:
            return it.until("Ctrl-D", seconds=3)
        except TimeoutError:
            continue
    raise AssertionError("Ctrl-C is not heeded")


def test_ctrl_c_at_the_prompt_drops_the_line(tmp_path: Path) -> None:
    with chatting(tmp_path) as it:
        it.type("never mind")
        it.until("never mind")
        told = pressed_until_heeded(it)
        assert "Ctrl-D" in told + it.until(PROMPT)
        it.type(f"{MOVED}\n")
        assert "recalled nothing" in it.until(PROMPT)
        it.leave()
        assert it.rest() == 0


def test_a_line_can_be_edited_and_fetched_again(tmp_path: Path) -> None:
    pytest.importorskip("readline")
    with chatting(tmp_path) as it:
        it.type("I moved to Lisbom\x7fn.\n")
        it.until(PROMPT)
        it.type("\x1b[A\n")
        again = it.until(PROMPT)
        assert "I moved to Lisbon." in again.splitlines()[0]
        assert '"I moved to Lisbon."' in again
        it.leave()
        assert it.rest() == 0
