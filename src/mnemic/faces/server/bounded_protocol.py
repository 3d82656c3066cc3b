"""HTTP/1.1 of uvicorn, with an end to how long a request's head may be and how long a request may take to come.

uvicorn's reader of httptools keeps a head until it is complete, however long that grows, and waits for it for ever:
before anybody has said who they are, so that no key or quota would stop them.
"""

from __future__ import annotations

import asyncio
from typing import Any, ClassVar

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

_TOO_LARGE = b"HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"


class BoundedHttpProtocol(HttpToolsProtocol):
    """One connection.

    Attributes:
        head_limit: Bytes that may come before a head is complete, beside the piece that completes it.
        head_seconds: How long a head may take, from the connection or the request's first byte on.
        body_seconds: How long a body may take from there.
    """

    head_limit: ClassVar[int] = 64 * 1024
    head_seconds: ClassVar[float] = 30.0
    body_seconds: ClassVar[float] = 120.0

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self._in_head, self._head_bytes = True, 0
        self._deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn narrows it
        """Begin to wait for the first request."""
        super().connection_made(transport)
        self._expect_within(self.head_seconds)

    def data_received(self, data: bytes) -> None:
        """Take what has come, unless a head grows beyond its limit."""
        if self._in_head:
            self._head_bytes += len(data)
        super().data_received(data)
        if self._in_head and self._head_bytes > self.head_limit and not self.transport.is_closing():
            self.transport.write(_TOO_LARGE)
            self.transport.close()

    def on_message_begin(self) -> None:
        """Begin to read a request."""
        self._in_head = True
        self._expect_within(self.head_seconds)
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """Begin to answer, while the body may still be on its way."""
        self._in_head, self._head_bytes = False, 0
        self._expect_within(self.body_seconds)
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """Wait no longer: all of it is here."""
        self._expect_within(None)
        super().on_message_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._expect_within(None)
        super().connection_lost(exc)

    def _expect_within(self, seconds: float | None) -> None:
        """Cut the connection unless what comes next is here in time; None for nothing that is waited for."""
        if self._deadline is not None:
            self._deadline.cancel()
        self._deadline = None if seconds is None else self.loop.call_later(seconds, self.transport.close)
