"""What we write into a client's configuration, by what we know it again, and whose hooks are whose."""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

_PROGRAM: Final = re.compile(r"(?:^|[/\\])mnemic(?:\.exe)?$", re.IGNORECASE)
_SCOPE: Final = ("--store", "--user", "--tenant", "--agent")
_JOINED: Final = tuple(f"{option}=" for option in _SCOPE)
_PYTHON: Final = re.compile(r"(?:^|[/\\])(?:python[0-9.]*|pypy[0-9.]*)(?:\.exe)?$", re.IGNORECASE)


Scope = frozenset[tuple[str, str]]
"""Options that say whose memory, in which store, with their values; one that is left out means what is usual."""


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
    import subprocess

    return subprocess.list2cmdline([words[0].replace("\\", "/"), *words[1:]])


def is_our_entry(entry: Any) -> bool:
    """Whether an MCP entry, of any client's shape, starts `mnemic mcp`."""
    return isinstance(entry, Mapping) and _starts(_entry_words(entry), "mcp")


def is_our_hook(command: Any) -> bool:
    """Whether a hook's command line starts `mnemic hook`."""
    return isinstance(command, str) and _starts(_words(command), "hook")


def entry_scope(entry: Mapping[str, Any]) -> Scope:
    """Whose memory an MCP entry of ours offers."""
    return scope_of(_entry_words(entry))


def hook_scope(command: str) -> Scope:
    """Whose memory a hook of ours writes."""
    return scope_of(_words(command))


def scope_of(words: Sequence[Any]) -> Scope:
    """The options of a command line that say whose memory it is."""
    plain = [word for word in words if isinstance(word, str)]
    apart = {(word, value) for word, value in pairwise(plain) if word in _SCOPE}
    joined = {(word.partition("=")[0], word.partition("=")[2]) for word in plain if word.startswith(_JOINED)}
    return frozenset(apart | joined)


def _entry_words(entry: Mapping[str, Any]) -> list[Any]:
    command, args = entry.get("command"), entry.get("args", [])
    return [*(command if isinstance(command, list) else [command]), *(args if isinstance(args, list) else [args])]


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


@dataclass(frozen=True, slots=True)
class Ownership:
    """Our entries in a client's file, seen from the one that is put in or goes.

    Attributes:
        name: That entry's.
        scopes: Whose memory each entry offers, by its name, as it stands.
    """

    name: str
    scopes: Mapping[str, Scope]

    def holds(self, scope: Scope) -> bool:
        """Whether hooks of a scope are not for this entry alone to take elsewhere."""
        return self.scopes.get(self.name) != scope or self.names(scope) != [self.name]

    def spares(self, scope: Scope) -> bool:
        """Whether hooks of a scope stay where this entry's go; with the last entry go all."""
        others = [name for name in self.scopes if name != self.name]
        return bool(others) and self.holds(scope)

    def names(self, scope: Scope) -> list[str]:
        """The entries of a scope."""
        return [name for name, owned in self.scopes.items() if owned == scope]
