"""`GET /v1/feed`: the commits of the caller's memory and the shared one as server-sent events, from any mark on."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from functools import partial
from typing import Final

import anyio
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from mnemic.core.json_schema import text
from mnemic.credentials.principal import Right
from mnemic.errors import Compacted
from mnemic.faces.server.http_arguments import read_headers, read_query
from mnemic.faces.server.listeners import (
    ROOM_BYTES,
    FeedListener,
    Listeners,
    StreamEvent,
    commit_event,
    encoded,
    rewind_event,
    seq_of,
)
from mnemic.faces.server.prometheus import STREAM
from mnemic.faces.server.service import Service
from mnemic.memory import ScopedMemory

HEARTBEAT_SECONDS: Final = 15.0
"""After so long without an event a comment is sent, so that nobody between takes the stream for dead."""
PAGE: Final = 200
"""Commits that are read at once for a client that was away."""
_OPENING: Final = b"retry: 1000\n\n"
"""Milliseconds after which a client that lost the stream is advised to come back."""
FEED_PARAMETERS: Final = {"after": text("The mark or number of a commit: the stream begins after it.")}
_HEARTBEAT: Final = b": still here\n\n"


async def feed(request: Request) -> Response:
    """Open the stream of a caller: `Last-Event-ID` or `after=` says where it goes on; else it begins now."""
    service: Service = request.app.state.service
    listeners: Listeners = request.app.state.listeners
    request.state.operation = STREAM
    headers, query = read_headers(request.scope["headers"]), request.scope.get("query_string", b"")
    memory, listener, mark = await listeners.read(partial(_opened, service, headers, query))
    if request.method == "HEAD":
        return Response(media_type="text/event-stream")
    return EventStream(listeners, listener, memory, mark)


def _opened(service: Service, headers: Mapping[str, str], query: bytes) -> tuple[ScopedMemory, FeedListener, str]:
    """The memory that is listened to, its listener, and the mark to begin after."""
    scope, principal = service.admitted(headers, Right.READ, method="GET", operation="feed")
    memory = service.memory.scope(user=scope.user, tenant=scope.tenant, actor=principal.name)
    after = headers.get("last-event-id") or read_query(FEED_PARAMETERS, query).get("after") or None
    return memory, FeedListener(scope, headers), memory.watch(after=after).mark


class EventStream(Response):
    """An answer that goes on until its client leaves, is too slow, or may not listen any more, or the server drains.

    Args:
        mark: After which commit it begins.
    """

    media_type = "text/event-stream"

    def __init__(self, listeners: Listeners, listener: FeedListener, memory: ScopedMemory, mark: str) -> None:
        super().__init__(headers={"X-Accel-Buffering": "no"})  # a proxy is to pass each event on at once
        del self.headers["content-length"]
        self._listeners, self._listener, self._memory = listeners, listener, memory
        self._seq, self._mark = seq_of(mark), mark

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send events while the client is there."""
        with self._listeners.joined(self._listener) as audience:
            await audience.following.wait()
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_cancel_when_gone, receive, tasks.cancel_scope)
                await self._stream(send)
                tasks.cancel_scope.cancel()

    async def _stream(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        async with aclosing(self._chunks()) as chunks:
            async for chunk in chunks:
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _chunks(self) -> AsyncGenerator[bytes, None]:
        """What was missed, then what comes."""
        listener = self._listener
        yield _OPENING
        behind = True
        while behind and not listener.ended:
            listener.start_over()  # all that waits, and only that, is read or heard again
            events, behind = await self._listeners.read(self._page)
            if chunk := self._unsent(events):
                yield chunk
        yield encoded("live", self._mark, {"mark": self._mark})
        while not listener.ended and not listener.lagging:
            if listener.waiting:
                if chunk := self._unsent(listener.take()):
                    yield chunk
            elif not await listener.something_within(HEARTBEAT_SECONDS):
                yield _HEARTBEAT
        if listener.lagging:
            yield encoded("lagging", self._mark, {"mark": self._mark})

    def _page(self) -> tuple[list[StreamEvent], bool]:
        """Read the commits after the last that was sent, and whether there are more; or say that it is gone."""
        try:
            notices = self._memory.changes(after=self._mark, limit=PAGE)
        except Compacted as error:
            return [rewind_event(self._memory.watch().mark, str(error))], False
        events, size = list[StreamEvent](), 0
        for notice in notices:
            events.append(commit_event(notice))
            size += len(events[-1].encoded)
            if size > ROOM_BYTES:  # it may wait for long, and so may a thousand others
                return events, True
        return events, len(notices) == PAGE

    def _unsent(self, events: Sequence[StreamEvent]) -> bytes:
        """The events that were not sent yet: what is read page by page may be handed out too."""
        chunk = []
        for event in events:
            if event.seq > self._seq or event.begins_anew:
                chunk.append(event.encoded)
                self._seq, self._mark = event.seq, event.mark
        return b"".join(chunk)


async def _cancel_when_gone(receive: Receive, running: anyio.CancelScope) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    running.cancel()
