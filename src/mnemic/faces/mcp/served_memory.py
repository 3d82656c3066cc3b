"""One user's memory as a server holds it: opened beside the handshake, at the latest by the first call."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, ExitStack
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from mnemic.errors import MnemicError, StoreError
from mnemic.registry import TOOLS, load
from mnemic.tools.base import Result, Tool

if TYPE_CHECKING:
    from mnemic.memory import ScopedMemory
    from mnemic.tools.toolbox import Toolbox

Opening = Callable[[], AbstractContextManager["ScopedMemory"]]


class ServedMemory:
    """The tools of a profile over a memory that is not open yet. Its methods block; safe to share between threads.

    Args:
        opening: Opens the memory; the served closes it. What it raises the caller gets, and the next call tries again.
        read_only: Only tools that change nothing.
        before_writing: Called before a tool that changes something; what it raises is the tool's answer.
    """

    def __init__(
        self,
        opening: Opening,
        profile: str,
        *,
        read_only: bool = False,
        before_writing: Callable[[], object] = lambda: None,
    ) -> None:
        self.profile, self.read_only, self._before_writing = profile, read_only, before_writing
        self._opening = opening
        self._stack = ExitStack()
        self._lock = threading.Lock()
        self._toolbox: Toolbox | None = None
        self._ahead: threading.Thread | None = None
        self._closed = False

    def tools(self) -> tuple[Tool, ...]:
        """Return the tools that are offered; listing them opens no memory."""
        every: tuple[Tool, ...] = load(TOOLS, self.profile)
        return tuple(tool for tool in every if tool.read_only or not self.read_only)

    def toolbox(self) -> Toolbox:
        """Open the memory if it is not, and return the tools over it.

        Raises:
            MnemicError: the memory cannot be opened, or the served is over.
        """
        from mnemic.tools.toolbox import Toolbox

        with self._lock:
            if self._closed:
                raise StoreError("the client has left, and the memory is closed")
            if self._toolbox is None:
                memory = self._stack.enter_context(self._opening())
                self._toolbox = Toolbox(memory, self.profile, read_only=self.read_only)
            return self._toolbox

    def memory(self) -> ScopedMemory:
        """Open the memory if it is not, and return it."""
        return self.toolbox().memory

    def call(self, name: str, arguments: Mapping[str, Any]) -> Result:
        """Run a tool.

        Raises:
            LookupError: there is no such tool.
        """
        tool = next((tool for tool in self.tools() if tool.name == name), None)
        if tool is None:
            raise LookupError(name)
        try:
            if not tool.read_only:
                self._before_writing()
            return self.toolbox().call(name, arguments)
        except MnemicError as error:
            return Result(text=f"{type(error).__name__}: {error}", failed=True)

    def begin(self) -> None:
        """Open the memory in a thread, and load what a question needs before there is one."""
        if self._ahead is None:
            self._ahead = threading.Thread(target=self._prepare, name="mnemic-opening", daemon=True)
            self._ahead.start()

    def close(self) -> None:
        """Close what was opened; what is only made ready is not waited for, and finds the memory closed."""
        with self._lock:
            self._closed, self._toolbox = True, None
            self._stack.close()

    def _prepare(self) -> None:
        try:
            memory = self.memory()
            if self.profile == "verbs" and not self._closed:
                memory.as_of(datetime.now(UTC)).recall("What is remembered?", k=1)  # a look at the past counts no use
        except Exception:  # noqa: BLE001 - the first call meets the same, and has somebody to tell
            return
