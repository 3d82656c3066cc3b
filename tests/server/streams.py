"""A client of the feed within this process: it speaks to the application as a server would, and reads its events."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from starlette.types import ASGIApp, Message

from patience import PATIENCE


@dataclass(frozen=True)
class Event:
    name: str
    id: str
    data: Any


class Stream:
    """The answer to a request for the feed, as it comes."""

    def __init__(self) -> None:
        self.status = 0
        self.headers: dict[str, str] = {}
        self.reads = asyncio.Event()
        self.reads.set()
        self.leaving = asyncio.Event()
        self.over = False
        self._chunks: asyncio.Queue[bytes] = asyncio.Queue()
        self._text = ""

    async def send(self, message: Message) -> None:
        await self.reads.wait()
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.headers = {name.decode(): value.decode() for name, value in message["headers"]}
        elif body := message.get("body", b""):
            self._chunks.put_nowait(body)
        if message["type"] == "http.response.body" and not message.get("more_body", False):
            self._chunks.put_nowait(b"")

    async def block(self) -> str:
        """The lines up to the next empty one; "" once the answer is over."""
        while "\n\n" not in self._text:
            chunk = await asyncio.wait_for(self._chunks.get(), PATIENCE)
            if not chunk:
                self._chunks.put_nowait(b"")
                self.over = True
                return ""
            self._text += chunk.decode()
        block, _, self._text = self._text.partition("\n\n")
        return block

    async def event(self) -> Event | None:
        """The next event; None once the answer is over."""
        while block := await self.block():
            fields = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
            if "event" in fields:
                return Event(fields["event"], fields["id"], json.loads(fields["data"]))
        return None

    async def live(self) -> Event:
        """Waits until every commit is heard as it comes."""
        event = await self.event()
        assert event is not None
        assert event.name == "live"
        return event

    async def rest(self) -> list[Event]:
        """All events until the answer is over."""
        events = []
        while (event := await self.event()) is not None:
            events.append(event)
        return events


@asynccontextmanager
async def listening(
    app: ASGIApp, query: str = "", headers: Mapping[str, str] | None = None, *, method: str = "GET"
) -> AsyncIterator[Stream]:
    """Opens a stream; leaves it as a client does that closes its connection."""
    stream, asked = Stream(), asyncio.Event()
    sent = {"host": "localhost", **(headers or {})}
    scope: dict[str, Any] = {
        "type": "http",
        "method": method,
        "path": "/v1/feed",
        "raw_path": b"/v1/feed",
        "root_path": "",
        "scheme": "http",
        "http_version": "1.1",
        "query_string": query.encode(),
        "headers": [(name.encode(), value.encode()) for name, value in sent.items()],
        "server": ("localhost", 80),
        "client": ("127.0.0.1", 1),
    }

    async def receive() -> Message:
        if not asked.is_set():
            asked.set()
            return {"type": "http.request", "body": b"", "more_body": False}
        await stream.leaving.wait()
        return {"type": "http.disconnect"}

    task = asyncio.ensure_future(app(scope, receive, stream.send))
    try:
        yield stream
    finally:
        stream.leaving.set()
        stream.reads.set()
        await asyncio.wait_for(task, PATIENCE)
