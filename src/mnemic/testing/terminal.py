"""A program in a pseudo-terminal of a given size: typed to, and read as a person would read it. POSIX only."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final

_CODES: Final = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[=>()][0-9A-Za-z]?)|\x07")
_CHUNK: Final = 1 << 16
_PATIENCE: Final = 300.0
"""Seconds after which nothing will come any more: a bound on a program that hangs, on a machine however busy."""


class Terminal:
    """One program and what it has shown so far.

    Attributes:
        shown: All bytes that came, escape codes included.
    """

    def __init__(self, process: subprocess.Popen[bytes], end: int) -> None:
        self._process, self._end = process, end
        self._read_to = 0
        self.shown = b""

    def type(self, text: str) -> None:
        """Press the keys of `text`; a line break is the Enter key."""
        os.write(self._end, text.encode())

    def interrupt(self) -> None:
        """Press Ctrl-C."""
        self.type("\x03")

    def leave(self) -> None:
        """Press Ctrl-D."""
        self.type("\x04")

    def until(self, text: str, seconds: float = _PATIENCE) -> str:
        """What is shown from the last such moment on until `text` comes.

        Raises:
            TimeoutError: it does not come in time, or the program ended before.
        """
        began, until = self._read_to, time.monotonic() + seconds
        while (at := self.shown.find(text.encode(), began)) < 0:
            if not self._more(until - time.monotonic()):
                raise TimeoutError(f"{text!r} did not come; after it was waited for: {self.shown[began:]!r}")
        self._read_to = at + len(text.encode())
        return as_read(self.shown[began : self._read_to])

    def follow(self, seconds: float) -> None:
        """Read what comes within some seconds, or until something has."""
        self._more(seconds)

    def rest(self, seconds: float = _PATIENCE) -> int:
        """Read until the program ends; its exit code.

        Raises:
            TimeoutError: it does not end in time.
        """
        until = time.monotonic() + seconds
        while self._more(until - time.monotonic()):
            pass
        try:
            return self._process.wait(max(until - time.monotonic(), 0.1))
        except subprocess.TimeoutExpired as error:
            raise TimeoutError(f"it did not end; the last it showed: {self.shown[-200:]!r}") from error

    @property
    def text(self) -> str:
        """All that was shown, as it is read."""
        return as_read(self.shown)

    def _more(self, seconds: float) -> bool:
        """Read what has come, waiting for it; whether anything did."""
        if not select.select([self._end], [], [], max(seconds, 0))[0]:
            return False
        try:
            came = os.read(self._end, _CHUNK)
        except OSError:  # the other end is closed
            return False
        self.shown += came
        return bool(came)


def as_read(shown: bytes) -> str:
    """What stands in the terminal after `shown`: without escape codes, and with lines overwritten as they were."""
    text = _CODES.sub("", shown.decode("utf-8", "replace")).replace("\r\n", "\n")
    return "\n".join(_overwritten(line) for line in text.split("\n"))


def _overwritten(line: str) -> str:
    cells: list[str] = []
    place = 0
    for character in line:
        if character == "\r":
            place = 0
        elif character == "\b":
            place = max(place - 1, 0)
        else:
            cells[place : place + 1] = [character]
            place += 1
    return "".join(cells)


@contextmanager
def terminal(
    command: Sequence[str], *, environ: Mapping[str, str], columns: int = 120, rows: int = 40
) -> Iterator[Terminal]:
    """Run a program in a terminal; at the end it is ended if it still runs."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    sized = {name: value for name, value in environ.items() if name not in ("COLUMNS", "LINES")}
    process = subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, env=sized, start_new_session=True, preexec_fn=_own
    )
    os.close(theirs)
    try:
        yield Terminal(process, ours)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        os.close(ours)


def _own() -> None:
    """Make standard input the terminal that Ctrl-C in it comes from, and heed it though our parent may not."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
