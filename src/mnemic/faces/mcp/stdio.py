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
import mcp_types as types
from anyio.abc import ObjectReceiveStream, ObjectSendStream
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage

if TYPE_CHECKING:
    from mcp.server.models import InitializationOptions

_CHUNK: Final = 65_536


class Served(Protocol):
    """A server, the SDK's own or one like it."""

    def create_initialization_options(self) -> InitializationOptions:
        """Make what it introduces itself by."""
        ...

    async def run(self, read: Any, write: Any, options: InitializationOptions, /) -> None:
        """Serve one client until it leaves."""
        ...


class StdinLines:
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

    def __aiter__(self) -> StdinLines:
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
        """Stop reading. To be called in the loop's own thread."""
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
    """Split what comes in pieces into lines without their ends; an unfinished last line counts."""
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
    lines = StdinLines(_standard_input())
    try:
        anyio.run(_serve, server, lines)
    except* BrokenPipeError:
        pass  # it left without waiting for its answer
    if (failed := lines.failed) is not None:
        raise OSError(failed.errno, failed.strerror, "standard input") from failed


async def _serve(server: Served, lines: StdinLines) -> None:
    pending = PendingRequests()
    async with anyio.create_task_group() as group:
        group.start_soon(_until_told, lines, pending)
        stdin: Any = lines  # the SDK only iterates over it
        async with stdio_server(stdin=stdin) as (read, write):
            requests, answers = RequestStream(read, pending), AnswerStream(write, pending)
            await server.run(requests, answers, server.create_initialization_options())
        group.cancel_scope.cancel()


async def _until_told(lines: StdinLines, pending: PendingRequests) -> None:
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async for _ in signals:
            pending.give_up()
            lines.end()
            return


def _standard_input() -> Callable[[], bytes]:
    try:
        file = sys.stdin.fileno()
        os.set_blocking(file, True)  # whoever started this may have left it otherwise, and a thread reads it
        return partial(os.read, file, _CHUNK)
    except io.UnsupportedOperation:  # not a file of the system's
        return partial(sys.stdin.buffer.read, _CHUNK)


PATIENCE: Final = 10.0
"""Seconds that answers are waited for once the client has said its last."""

_UNENDING: Final = "subscriptions/listen"
"""Answered when the client leaves, and not before."""


class PendingRequests:
    """The requests of one client that are under way."""

    def __init__(self) -> None:
        self._ids: set[str | int] = set()
        self._patient = True
        self._changed = anyio.Event()

    def received(self, message: types.JSONRPCMessage) -> None:
        """Note a message of the client: a request is under way, a cancelled one no more."""
        if isinstance(message, types.JSONRPCRequest) and message.method != _UNENDING:
            self._ids.add(message.id)
        elif isinstance(message, types.JSONRPCNotification) and message.method == "notifications/cancelled":
            self._settle((message.params or {}).get("requestId"))

    def sent(self, message: types.JSONRPCMessage) -> None:
        """Note a message of the server: an answer settles its request."""
        if isinstance(message, types.JSONRPCResponse | types.JSONRPCError):
            self._settle(message.id)

    def give_up(self) -> None:
        """Wait for no more answers."""
        self._patient = False
        self._changed.set()

    async def settled(self) -> None:
        """Wait until all is answered; not for ever, and not once it was given up."""
        with anyio.move_on_after(PATIENCE):
            while self._ids and self._patient:
                self._changed = anyio.Event()
                await self._changed.wait()

    def _settle(self, id: object) -> None:
        if isinstance(id, str | int):
            self._ids.discard(id)
            self._changed.set()


class RequestStream(ObjectReceiveStream[Any]):
    """What a client says; the end of it comes once all is answered."""

    def __init__(self, inner: Any, pending: PendingRequests) -> None:
        self._inner, self._pending = inner, pending

    async def receive(self) -> Any:
        """Return the next message, or what could not be read as one."""
        try:
            item = await self._inner.receive()
        except anyio.EndOfStream:
            await self._pending.settled()
            raise
        if isinstance(item, SessionMessage):
            self._pending.received(item.message)
        return item

    async def aclose(self) -> None:
        """Close the stream of requests."""
        await self._inner.aclose()


class AnswerStream(ObjectSendStream[Any]):
    """What the server says to it."""

    def __init__(self, inner: Any, pending: PendingRequests) -> None:
        self._inner, self._pending = inner, pending

    async def send(self, item: Any) -> None:
        """Hand a message to the writer."""
        await self._inner.send(item)
        self._pending.sent(item.message)

    async def aclose(self) -> None:
        """Close the stream of answers."""
        await self._inner.aclose()
