"""Serving on standard input and output until the client leaves or a signal says so; both end it the same way."""

from __future__ import annotations

import asyncio
import io
import os
import signal
import sys
import threading
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Protocol

import anyio
from mcp.server.stdio import stdio_server

if TYPE_CHECKING:
    from mcp.server.models import InitializationOptions

_CHUNK: Final = 65_536


class Served(Protocol):
    """A server, the SDK's own or one like it."""

    def create_initialization_options(self) -> InitializationOptions:
        """How it introduces itself."""
        ...

    async def run(self, read: Any, write: Any, options: InitializationOptions, /) -> None:
        """Serve one client until it leaves."""
        ...


class Lines:
    """Standard input, line by line, and an end that can be brought about from outside.

    A thread that waits for input cannot be called back, and the SDK's own reader keeps the process until the client
    says one more thing. This one reads in a thread that nobody waits for.
    """

    def __init__(self, read: Callable[[], bytes]) -> None:
        self._read = read
        self._send, self._receive = anyio.create_memory_object_stream[str](0)

    def __aiter__(self) -> Lines:
        self._loop = asyncio.get_running_loop()
        threading.Thread(target=self._follow, name="mnemic-stdin", daemon=True).start()
        return self

    async def __anext__(self) -> str:
        try:
            return await self._receive.receive()
        except anyio.EndOfStream:
            self._receive.close()
            raise StopAsyncIteration from None

    def end(self) -> None:
        """No more is to be read. Called in the loop's own thread."""
        self._send.close()

    def _follow(self) -> None:
        rest = b""
        try:
            while chunk := self._read():
                *whole, rest = (rest + chunk).split(b"\n")
                for line in whole:
                    asyncio.run_coroutine_threadsafe(
                        self._send.send(line.decode("utf-8", "replace")), self._loop
                    ).result()
            self._loop.call_soon_threadsafe(self.end)
        except (RuntimeError, OSError, anyio.ClosedResourceError, anyio.BrokenResourceError):
            return  # the loop has ended, or nobody reads any more


def serve(server: Served) -> None:
    """Serve one client; returns when it has left, or at SIGINT or SIGTERM."""
    try:
        anyio.run(_serve, server)
    except* BrokenPipeError:
        pass  # it left without waiting for its answer


async def _serve(server: Served) -> None:
    lines = Lines(_standard_input())
    async with anyio.create_task_group() as group:
        group.start_soon(_until_told, lines)
        stdin: Any = lines  # the SDK only iterates over it
        async with stdio_server(stdin=stdin) as (read, write):
            await server.run(read, write, server.create_initialization_options())
        group.cancel_scope.cancel()


async def _until_told(lines: Lines) -> None:
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async for _ in signals:
            lines.end()
            return


def _standard_input() -> Callable[[], bytes]:
    try:
        return partial(os.read, sys.stdin.fileno(), _CHUNK)
    except io.UnsupportedOperation:  # not a file of the system's
        return partial(sys.stdin.buffer.read, _CHUNK)
