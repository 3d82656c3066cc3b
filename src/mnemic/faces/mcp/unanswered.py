"""What a client has asked and not been answered yet: the connection outlasts its last word until there is nothing."""

from __future__ import annotations

from typing import Any, Final

import anyio
import mcp_types as types
from anyio.abc import ObjectReceiveStream, ObjectSendStream
from mcp.shared.message import SessionMessage

PATIENCE: Final = 10.0
"""Seconds that answers are waited for once the client has said its last."""

_UNENDING: Final = "subscriptions/listen"
"""Answered when the client leaves, and not before."""


class Unanswered:
    """The requests of one client that are under way."""

    def __init__(self) -> None:
        self._ids: set[str | int] = set()
        self._patient = True
        self._changed = anyio.Event()

    def heard(self, message: types.JSONRPCMessage) -> None:
        """The client said this."""
        if isinstance(message, types.JSONRPCRequest) and message.method != _UNENDING:
            self._ids.add(message.id)
        elif isinstance(message, types.JSONRPCNotification) and message.method == "notifications/cancelled":
            self._settle((message.params or {}).get("requestId"))

    def said(self, message: types.JSONRPCMessage) -> None:
        """The server said this."""
        if isinstance(message, types.JSONRPCResponse | types.JSONRPCError):
            self._settle(message.id)

    def give_up(self) -> None:
        """Nobody waits for the rest."""
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


class Heard(ObjectReceiveStream[Any]):
    """What a client says; the end of it comes once all is answered."""

    def __init__(self, inner: Any, unanswered: Unanswered) -> None:
        self._inner, self._unanswered = inner, unanswered

    async def receive(self) -> Any:
        """The next message, or what could not be read as one."""
        try:
            item = await self._inner.receive()
        except anyio.EndOfStream:
            await self._unanswered.settled()
            raise
        if isinstance(item, SessionMessage):
            self._unanswered.heard(item.message)
        return item

    async def aclose(self) -> None:
        """Hear no more."""
        await self._inner.aclose()


class Said(ObjectSendStream[Any]):
    """What the server says to it."""

    def __init__(self, inner: Any, unanswered: Unanswered) -> None:
        self._inner, self._unanswered = inner, unanswered

    async def send(self, item: Any) -> None:
        """Hand a message to the writer."""
        await self._inner.send(item)
        self._unanswered.said(item.message)

    async def aclose(self) -> None:
        """Say no more."""
        await self._inner.aclose()
