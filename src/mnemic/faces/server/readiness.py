"""Whether a server is to get requests: it asks the store, which may be another machine's, and waits for it briefly."""

from __future__ import annotations

import asyncio
from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from mnemic.admin import Admin
from mnemic.errors import MnemicError
from mnemic.faces.server.problems import LOG, plain_problem, title_of
from mnemic.faces.server.verb_pool import VerbPool
from mnemic.store.urls import is_server

SECONDS: Final = 2.0
"""Longest that a probe waits for the store; those of a balancer wait some seconds themselves."""
THREADS: Final = 2
"""Most threads that wait for a store which keeps silent: probes come again and again, and one may be stuck for good."""
_RETRY: Final = {"Retry-After": "1"}


class Readiness:
    """Asks a store whether it answers, in threads of its own: verbs that wait for it keep no probe waiting.

    Probes that come while it is asked wait for the same answer. Used from one event loop.
    """

    def __init__(self, admin: Admin) -> None:
        self._admin = admin
        self._pool = VerbPool(THREADS, waiting=0)
        self._ping: asyncio.Task[None] | None = None
        self._late_at = 0.0
        """When, by the loop's clock, the ping in flight is late, and the next probe begins another."""
        self._store = "The PostgreSQL server" if is_server(admin.info().url) else "The file"

    async def failure(self, request_id: str) -> str:
        """What is wrong with the store, in words for anybody; "" if it answers. All of it is logged."""
        try:
            ping = self._ping_in_flight()
            if ping not in (await asyncio.wait((ping,), timeout=SECONDS))[0]:
                raise TimeoutError
            ping.result()
        except MnemicError as error:
            LOG.error("request %s: not ready: %s: %s", request_id, type(error).__name__, error)
            title = title_of(type(error))
            return f"{self._store} of the store does not answer: {title[0].lower()}{title[1:]}; see this server's log."
        except (TimeoutError, HTTPException):
            LOG.error("request %s: not ready: the store did not answer within %g s", request_id, SECONDS)
            return f"{self._store} of the store does not answer within {SECONDS:g} s."
        return ""

    def _ping_in_flight(self) -> asyncio.Task[None]:
        """The ping that runs, unless it is late; else a new one."""
        now = asyncio.get_running_loop().time()
        if self._ping is None or self._ping.done() or now >= self._late_at:
            self._ping = asyncio.create_task(self._pool.run(self._admin.ping))
            self._ping.add_done_callback(_look_at)
            self._late_at = now + SECONDS
        return self._ping


def _look_at(ping: asyncio.Task[None]) -> None:
    """Have asyncio not report the error of a ping that all probes have left: they said that it was late."""
    if not ping.cancelled():
        ping.exception()


async def ready(request: Request) -> Response:
    """Answer whether the store answers, to whoever asks: it names no address and no file."""
    asked: Readiness = request.app.state.readiness
    if failure := await asked.failure(request.state.request_id):
        return plain_problem(503, failure, request.state.request_id, _RETRY)
    return JSONResponse({"status": "ready"})
