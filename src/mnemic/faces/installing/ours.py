"""What we write into a client's configuration, and by what we know it again: its command."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

_PROGRAM: Final = re.compile(r"(?:^|[/\\])mnemic(?:\.exe)?$", re.IGNORECASE)
_PYTHON: Final = re.compile(r"(?:^|[/\\])(?:python[0-9.]*|pypy[0-9.]*)(?:\.exe)?$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Launch:
    """How a client starts us.

    Attributes:
        program: The words before ours: one absolute path, or a Python and `-m mnemic`.
        scope: Options that say whose memory, in which store.
        serve: Options of `mnemic mcp` alone.
    """

    program: tuple[str, ...]
    scope: tuple[str, ...] = ()
    serve: tuple[str, ...] = ()

    @property
    def mcp(self) -> tuple[str, ...]:
        """The command line of the MCP server."""
        return (*self.program, "mcp", *self.scope, *self.serve)

    def hook(self, event: str, client: str) -> str:
        """The command of a hook, as a shell takes it."""
        return quoted((*self.program, "hook", event, "--client", client, *self.scope))


def program() -> tuple[str, ...]:
    """What starts this very installation from anywhere, with no environment activated."""
    python = Path(sys.executable).absolute()
    script = python.parent / ("mnemic.exe" if os.name == "nt" else "mnemic")
    return (str(script),) if script.is_file() else (str(python), "-m", "mnemic")


def quoted(words: Sequence[str]) -> str:
    """Words as one line for the shell that clients run hooks with; on Windows that may be any of three."""
    if os.name != "nt":
        return shlex.join(words)
    return subprocess.list2cmdline([words[0].replace("\\", "/"), *words[1:]])


def is_our_entry(entry: Any) -> bool:
    """Whether an MCP entry, of any client's shape, starts `mnemic mcp`."""
    if not isinstance(entry, Mapping):
        return False
    command, args = entry.get("command"), entry.get("args", [])
    words = [*(command if isinstance(command, list) else [command]), *(args if isinstance(args, list) else [args])]
    return _starts(words, "mcp")


def is_our_hook(command: Any) -> bool:
    """Whether a hook's command line starts `mnemic hook`."""
    return isinstance(command, str) and _starts(_words(command), "hook")


def _starts(words: Sequence[Any], verb: str) -> bool:
    match words:
        case [str(first), str(second), *_] if _PROGRAM.search(first):
            return second == verb
        case [str(first), "-m", "mnemic", str(fourth), *_] if _PYTHON.search(first):
            return fourth == verb
        case _:
            return False


def _words(command: str) -> list[str]:
    try:
        if os.name == "nt":
            return [word.strip('"') for word in shlex.split(command, posix=False)]
        return shlex.split(command)
    except ValueError:  # an open quote: somebody else's
        return []
