"""What every request passes before a route sees it, and every answer behind it: ids, hosts, sizes, the last resort."""

from __future__ import annotations

import logging
import re
import secrets
from collections.abc import Collection
from itertools import count
from typing import Final

import anyio
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mnemic.errors import TooLarge
from mnemic.faces.server.problems import plain_problem, problem_of

LOG: Final = logging.getLogger("mnemic.server")
BODY_LIMIT: Final = 4 * 1024 * 1024
"""Bytes that a request's body may have."""
LOOPBACK_HOSTS: Final = ("localhost", "127.0.0.1", "::1")
_HEARD_OUT: Final = 32 * 1024 * 1024
"""Bytes of a body that is refused which are still read, and dropped: whoever sends first and reads then would lose the
answer with a connection that is closed on them."""
_SILENCE: Final = 1.0
"""Seconds without a byte after which no more of it is waited for."""
_HEARD_OUT_SECONDS: Final = 30.0
"""Seconds for which it is read at all: what drips has no end."""
_REQUEST_ID: Final = re.compile(r"[A-Za-z0-9._:-]{1,128}\Z")
_SAFE: Final = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-store"),
)


class BodyTooLarge(Exception):
    """A body goes over the limit while it is read."""


class Guards:
    """Gives each request an id, refuses foreign hosts, origins and large bodies, and answers what nobody caught.

    Args:
        hosts: Names by which the server may be asked, without ports: a page of another site cannot reach it by having
            its own name resolve to here.
        own: Whether answers are this program's own, and get an id and headers; else they are another's, and pass.
    """

    def __init__(
        self,
        app: ASGIApp,
        hosts: Collection[str] = LOOPBACK_HOSTS,
        body_limit: int = BODY_LIMIT,
        *,
        own: bool = True,
    ) -> None:
        self._app, self._limit, self._own = app, body_limit, own
        self._hosts = frozenset(map(host_name, hosts))
        self._ids, self._numbers = secrets.token_hex(8), count(1)

    def _new_id(self) -> str:
        """An id that no other request has, of this process or another.

        Drawn anew for each it would cost a call of the system, and with it the interpreter: a verb that waits for that
        begins then, amid the requests that have come together, and has a commit to itself.
        """
        return f"{self._ids}{next(self._numbers):016x}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        headers = Headers(scope=scope)
        if headers.get("x-forwarded-proto", "").partition(",")[0].strip().lower() == "https":
            scope["scheme"] = "https"  # whoever says so untruly makes only their own cookie and addresses useless
        proposed = headers.get("x-request-id", "")
        request_id = proposed if _REQUEST_ID.match(proposed) else self._new_id()
        scope.setdefault("state", {})["request_id"] = request_id
        answer = _Answer(send, (*_SAFE, (b"x-request-id", request_id.encode())) if self._own else ())
        counted = _Counted(receive, self._limit)
        if refusal := self._refusal(headers, request_id):
            return await refusal(scope, receive, _HearingOut(answer, counted))
        try:
            await self._app(scope, counted, answer)
        except BodyTooLarge:
            await self._too_large(request_id)(scope, receive, _HearingOut(answer, counted))
        except ClientDisconnect:
            return None  # it stopped half-way, and nobody is there to be answered
        except Exception as error:  # noqa: BLE001 - the door: told without its words, which may be a memory's
            LOG.error("request %s: unexpected %s", request_id, _where(error))
            if answer.begun:
                return None  # what is half sent cannot be mended; the connection is cut, and the client knows
            problem = plain_problem(500, "Something went wrong here; it is logged under this request_id.", request_id)
            await problem(scope, receive, answer)
        return None

    def _refusal(self, headers: Headers, request_id: str) -> ASGIApp | None:
        """The answer to a request that is not let in."""
        named = headers.getlist("host")
        if len(named) != 1 or host_name(named[0]) not in self._hosts:
            asked = ", ".join(filter(None, named))[:60]
            detail = f"This server is not {asked!r}; `--allow-host NAME` gives it a name."
            return plain_problem(421, detail if asked else "The request names no host.", request_id)
        # The port counts: a page of another server on this machine is another's, and a browser sends what needs no body
        # without asking first.
        here = named[0].strip().lower()
        if any(origin.partition("://")[2].lower() != here for origin in headers.getlist("origin")):
            detail = "A page of another site may not ask this server."
            return plain_problem(403, detail, request_id)
        length = headers.get("content-length", "0")
        if not length.isascii() or not length.isdigit() or len(length) > 15 or int(length) > self._limit:
            return self._too_large(request_id)
        return None

    def _too_large(self, request_id: str) -> ASGIApp:
        error = TooLarge("body", f"is over {self._limit:,} bytes", "Send it in parts, or import it on the machine.")
        return problem_of(error, request_id)


class _Counted:
    """Receives a body, and stops at the limit whatever its headers said."""

    def __init__(self, receive: Receive, limit: int) -> None:
        self._receive, self._left = receive, limit
        self._whole = False

    async def __call__(self) -> Message:
        message = await self._received()
        if self._left < 0:
            raise BodyTooLarge
        return message

    async def hear_out(self) -> None:
        """Drop what is still to come of the body, unless it is too much or takes too long, or nothing comes."""
        self._left = _HEARD_OUT
        with anyio.move_on_after(_HEARD_OUT_SECONDS):
            while not self._whole and self._left > 0:
                with anyio.move_on_after(_SILENCE) as waiting:
                    await self._received()
                if waiting.cancelled_caught:
                    return

    async def _received(self) -> Message:
        message = await self._receive()
        self._left -= len(message.get("body", b""))
        self._whole = not message.get("more_body", False)
        return message


class _HearingOut:
    """Sends an answer, and ends it once the body that it refuses is heard out: its end may close the connection."""

    def __init__(self, send: Send, body: _Counted) -> None:
        self._send, self._body = send, body

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.body" and not message.get("more_body", False):
            await self._send({**message, "more_body": True})
            await self._body.hear_out()
            message = {"type": "http.response.body", "body": b""}
        await self._send(message)


class _Answer:
    """Sends an answer with the headers that every answer has where it has none of its own."""

    def __init__(self, send: Send, always: Collection[tuple[bytes, bytes]]) -> None:
        self._send, self._always = send, always
        self.begun = False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.begun = True
            headers: list[tuple[bytes, bytes]] = list(message["headers"])
            own = {name for name, _ in headers}
            message["headers"] = headers + [(name, value) for name, value in self._always if name not in own]
        await self._send(message)


def host_name(host: str) -> str:
    """The name of a host without its port, in lower case."""
    host = host.strip().lower()
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.rpartition(":")[0] if host.count(":") == 1 else host


def _where(error: BaseException) -> str:
    """The class of an error and the place that raised it: its words are left out, for they may hold a memory's."""
    place = error.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    at = "" if place is None else f" at {place.tb_frame.f_code.co_filename}:{place.tb_lineno}"
    return f"{type(error).__name__}{at}"
