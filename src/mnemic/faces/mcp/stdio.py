"""Serving on standard input and output until the client has left, with its answers, or a signal says so."""

from __future__ import annotations

import asyncio
import concurrent.futures
import io
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Protocol

import anyio
from mcp.server.stdio import stdio_server

from mnemic.faces.mcp.unanswered import Heard, Said, Unanswered

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

    Attributes:
        failed: Why no more could be read, where that was not the end.
    """

    def __init__(self, read: Callable[[], bytes]) -> None:
        self.failed: OSError | None = None
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
        try:
            for line in lines_of(self._read):
                self._hand_over(line.decode("utf-8", "replace"))
        except OSError as error:
            self.failed = error
        except (anyio.ClosedResourceError, anyio.BrokenResourceError, concurrent.futures.CancelledError):
            pass  # nobody reads any more
        finally:
            with suppress(RuntimeError):  # the loop has ended
                self._loop.call_soon_threadsafe(self.end)

    def _hand_over(self, line: str) -> None:
        sending = self._send.send(line)
        try:
            handed = asyncio.run_coroutine_threadsafe(sending, self._loop)
        except RuntimeError:
            sending.close()
            raise anyio.ClosedResourceError from None
        handed.result()


def lines_of(read: Callable[[], bytes]) -> Iterator[bytes]:
    """The lines of what comes in pieces, without their ends; a last one that was not ended is one too."""
    pieces: list[bytes] = []
    while chunk := read():
        first, *more = chunk.split(b"\n")
        pieces.append(first)
        for begun in more:
            yield b"".join(pieces)
            pieces = [begun]
    if rest := b"".join(pieces):
        yield rest


def serve(server: Served) -> None:
    """Serve one client; returns when it has left, or at SIGINT or SIGTERM.

    Raises:
        OSError: standard input cannot be read; what was asked before is answered.
    """
    lines = Lines(_standard_input())
    try:
        anyio.run(_serve, server, lines)
    except* BrokenPipeError:
        pass  # it left without waiting for its answer
    if (failed := lines.failed) is not None:
        raise OSError(failed.errno, failed.strerror, "standard input") from failed


async def _serve(server: Served, lines: Lines) -> None:
    unanswered = Unanswered()
    async with anyio.create_task_group() as group:
        group.start_soon(_until_told, lines, unanswered)
        stdin: Any = lines  # the SDK only iterates over it
        async with stdio_server(stdin=stdin) as (read, write):
            heard, said = Heard(read, unanswered), Said(write, unanswered)
            await server.run(heard, said, server.create_initialization_options())
        group.cancel_scope.cancel()


async def _until_told(lines: Lines, unanswered: Unanswered) -> None:
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async for _ in signals:
            unanswered.give_up()
            lines.end()
            return


def _standard_input() -> Callable[[], bytes]:
    try:
        file = sys.stdin.fileno()
        os.set_blocking(file, True)  # whoever started this may have left it otherwise, and a thread reads it
        return partial(os.read, file, _CHUNK)
    except io.UnsupportedOperation:  # not a file of the system's
        return partial(sys.stdin.buffer.read, _CHUNK)
