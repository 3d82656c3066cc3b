"""The processes that a contestant began, wherever they went: what they hold is counted, and they are ended with it.

A process leaves its group with one call. So whoever was begun by a member is one, as Linux tells it; whoever outlives
its parent is adopted by the contestant (`adopt_orphans`), or was seen before, or has the contestant's folder in its
environment. Elsewhere than on Linux only the group is known.
"""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import wait
from pathlib import Path
from typing import Final

_PAGE: Final = 4096 if not hasattr(os, "sysconf") else os.sysconf("SC_PAGE_SIZE")
_ADOPT: Final = 36
"""`PR_SET_CHILD_SUBREAPER`."""
_ROUNDS: Final = 50
"""How often members are looked for and ended: one may begin another meanwhile."""


@dataclass(frozen=True, slots=True)
class SeenProcess:
    """A process as Linux tells of it; `began` tells it from a later one of the same number."""

    pid: int
    parent: int
    group: int
    began: int
    pages: int

    @property
    def known_by(self) -> tuple[int, int]:
        """What no other process has."""
        return self.pid, self.began


def running() -> Iterator[SeenProcess]:
    """Every process that has not ended; none where nobody tells."""
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError, ValueError, IndexError):  # it has ended meanwhile
            state, *fields = (folder / "stat").read_text().rpartition(") ")[2].split()
            if state not in "ZX":
                yield SeenProcess(int(folder.name), int(fields[0]), int(fields[1]), int(fields[18]), int(fields[20]))


class Offspring:
    """A process that leads a group, and all that it began.

    Args:
        folder: What stands in the environment of whatever it begins.
    """

    def __init__(self, leader: int, folder: str) -> None:
        self._leader, self._mark = leader, os.fsencode(folder)
        self._seen: set[tuple[int, int]] = set()

    def held_mib(self) -> float:
        """Memory that they hold; 0 where nobody tells."""
        return sum(process.pages for process in self._members()) * _PAGE / 2**20

    def end(self) -> None:
        """End them, the leader last; on return none of them runs, where Linux tells."""
        for _ in range(_ROUNDS):
            members = self._members(marked=True)
            for process in sorted(members, key=lambda process: process.pid == self._leader):
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(process.pid, signal.SIGKILL)
            if not members:
                break
        if hasattr(os, "killpg"):
            with suppress(ProcessLookupError, PermissionError):  # nobody is left of its group
                os.killpg(self._leader, signal.SIGKILL)

    def _members(self, *, marked: bool = False) -> list[SeenProcess]:
        others = list(running())
        members: dict[int, SeenProcess] = {}
        found = [process for process in others if self._belongs(process, marked=marked)]
        while found:
            members |= {process.pid: process for process in found}
            found = [process for process in others if process.parent in members and process.pid not in members]
        self._seen |= {process.known_by for process in members.values()}
        return list(members.values())

    def _belongs(self, process: SeenProcess, *, marked: bool) -> bool:
        if self._leader in (process.pid, process.group) or process.known_by in self._seen:
            return True
        if not marked or process.pid == os.getpid():
            return False
        with suppress(OSError):  # somebody else's
            return self._mark in Path(f"/proc/{process.pid}/environ").read_bytes()
        return False


def adopt_orphans() -> None:
    """Become the parent of whoever outlives a parent among one's own offspring, where Linux runs."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_ADOPT, 1, 0, 0, 0)


def end_with_parent(folder: str) -> None:
    """Have this process and its offspring end when whoever began it has, in whichever way."""
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def watch() -> None:
        wait([parent.sentinel])
        Offspring(os.getpid(), folder).end()

    threading.Thread(target=watch, name="parent", daemon=True).start()
