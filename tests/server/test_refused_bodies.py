"""A body that is refused is heard out, so that its sender reads why: but not for ever."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from starlette.types import Message, Receive, Scope, Send

from mnemic.faces.server import guards
from mnemic.faces.server.guards import Guards
from patience import PATIENCE


def test_a_refused_body_that_drips_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guards, "_HEARD_OUT_SECONDS", 0.05)
    sent: list[Message] = []

    async def receive() -> Message:
        await asyncio.sleep(0)
        return {"type": "http.request", "body": b"", "more_body": True}

    async def send(message: Message) -> None:
        sent.append(message)

    async def never(scope: Scope, receive: Receive, send: Send) -> None:
        raise AssertionError("it is refused before the application is asked")

    scope: dict[str, Any] = {"type": "http", "headers": [(b"host", b"localhost"), (b"content-length", b"9999")]}
    asyncio.run(asyncio.wait_for(Guards(never, body_limit=100)(scope, receive, send), PATIENCE))
    assert sent[0]["status"] == 413
    assert not sent[-1].get("more_body", False)
