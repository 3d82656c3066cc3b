"""HTTP/1.1 of uvicorn, with an end to how long a head may be, and to how long a peer may send or read nothing.

uvicorn's reader of httptools keeps a head until it is complete, however long that grows, and waits for it for ever:
before anybody has said who they are, so that no key or quota would stop them. And asyncio closes a connection only when
all that was written to it has been read: whoever never reads keeps its place, its socket and the bytes for ever.

Whoever asks too slowly, too much or no HTTP at all is told so by a problem document like every other, and then cut.
"""

from __future__ import annotations

import asyncio
import uuid
from http import HTTPStatus
from typing import Any, ClassVar

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from mnemic.faces.server.problems import plain_problem


class _LongHeadError(Exception):
    """Stops the parser, which has read a head that is too long."""


class BoundedHttpProtocol(HttpToolsProtocol):
    """One connection.

    Attributes:
        head_limit: Bytes that a head may have, with one space behind each colon.
        head_seconds: How long a head may take, from the connection or the request's first byte on.
        body_seconds: How long a body may take from there.
        flush_seconds: How long a peer may take nothing of what waits for it.
    """

    head_limit: ClassVar[int] = 64 * 1024
    head_seconds: ClassVar[float] = 30.0
    body_seconds: ClassVar[float] = 120.0
    flush_seconds: ClassVar[float] = 20.0

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self._in_head, self._head_bytes = True, 0
        """Of a head that is not complete, the bytes that came: the parser keeps them, and tells of none."""
        self._head_is_long = self._begun = False
        self._patience: float | None = None
        self._patience_is_new = False
        self._deadline: asyncio.TimerHandle | None = None
        self._flushing: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn narrows it
        """Begin to wait for the first request."""
        super().connection_made(transport)
        self._expect_within(self.head_seconds)

    def data_received(self, data: bytes) -> None:
        """Take what has come, unless a head grows beyond its limit."""
        if self._in_head:
            self._head_bytes += len(data)
        super().data_received(data)
        if self._patience_is_new:  # looked at once for all that came: a request that is whole is waited for by no timer
            self._patience_is_new = False
            self._expect_within(self._patience)
        if self._in_head and self._head_bytes > self.head_limit and not self.transport.is_closing():
            self._refuse_long_head()

    def send_400_response(self, msg: str) -> None:
        """Say that what came is no HTTP, or a head that is too long: the parser stopped there."""
        if self._head_is_long:
            self._refuse_long_head()
        else:
            self._refuse(400, "This is no request of HTTP/1.1.")

    def _refuse_long_head(self) -> None:
        self._refuse(431, f"The head of a request may have {self.head_limit:,} bytes.")

    def on_message_begin(self) -> None:
        """Begin to read a request."""
        self._in_head = self._begun = True
        self._patience, self._patience_is_new = self.head_seconds, True
        super().on_message_begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header, without the white space behind its value; a trailer, behind a chunked body, is none.

        RFC 9110, 5.5 and 6.5.1. httptools tells of both alike, and uvicorn's list of headers is the application's.
        """
        if self._in_head:
            super().on_header(name, value.strip(b" \t"))

    def on_headers_complete(self) -> None:
        """Begin to answer, while the body may still be on its way, unless the head was too long."""
        head = len(self.url) + len(self.parser.get_method()) + len(b"  HTTP/1.1\r\n\r\n")
        if head + sum(len(name) + len(value) + len(b": \r\n") for name, value in self.headers) > self.head_limit:
            self._head_is_long = True
            raise _LongHeadError
        super().on_headers_complete()
        self._in_head, self._head_bytes = False, 0
        self._patience, self._patience_is_new = self.body_seconds, True

    def on_message_complete(self) -> None:
        """Wait no longer: all of it is here."""
        self._in_head, self._begun = True, False
        self._patience, self._patience_is_new = None, True
        super().on_message_complete()

    def pause_writing(self) -> None:
        """Write no more until the peer has read, for which it has so long."""
        super().pause_writing()
        self._cut_unless_read()

    def resume_writing(self) -> None:
        """Go on writing, unless the connection is only waiting for its end."""
        super().resume_writing()
        if self._flushing is not None and not self.transport.is_closing():
            self._flushing.cancel()
            self._flushing = None

    def timeout_keep_alive_handler(self) -> None:
        """Close a connection on which nothing is asked, whether or not its last answer is read."""
        super().timeout_keep_alive_handler()
        self._cut_unless_read()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._expect_within(None)
        if self._flushing is not None:
            self._flushing.cancel()
        super().connection_lost(exc)

    def _cut_unless_read(self, waited: int | None = None) -> None:
        """Cut the connection once nothing was read of what waits for so long.

        Args:
            waited: Bytes that waited when this was last looked at.
        """
        if self._flushing is not None:
            self._flushing.cancel()
        waiting = self.transport.get_write_buffer_size()
        if waited is not None and waiting >= waited:
            self.transport.abort()
        else:
            self._flushing = self.loop.call_later(self.flush_seconds, self._cut_unless_read, waiting)

    def _expect_within(self, seconds: float | None) -> None:
        """Refuse to wait longer than this for what comes next; None for nothing that is waited for."""
        if self._deadline is not None:
            self._deadline.cancel()
        self._deadline = None if seconds is None else self.loop.call_later(seconds, self._too_late)

    def _too_late(self) -> None:
        """Say that the rest of a request did not come in time; whoever has not begun one is told nothing."""
        if self._begun:
            self._refuse(408, "The rest of this request did not come in time.")
        else:
            self.transport.close()

    def _refuse(self, status: int, detail: str) -> None:
        """Answer with a problem and close; where there is an answer already, only close: each request has one."""
        cycle = self.cycle  # in a head, of the request before
        unanswered = cycle is not None and not cycle.response_complete
        if unanswered and self._in_head and not cycle.response_started:
            cycle.keep_alive = False  # the connection ends with its answer
            return
        if not (unanswered or self._in_head) or (unanswered and (self.pipeline or cycle.response_started)):
            self.transport.close()
            return
        request_id = uuid.uuid4().hex
        problem = plain_problem(status, detail, request_id, {"x-request-id": request_id, "connection": "close"})
        head = b"".join(b"%s: %s\r\n" % header for header in problem.raw_headers)
        line = f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\n".encode()
        self.transport.write(line + head + b"\r\n" + bytes(problem.body))
        if unanswered:
            cycle.disconnected = True  # whoever waits for its body does so no more, and answers nobody
            cycle.message_event.set()
        self.transport.close()
