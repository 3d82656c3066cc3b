"""The application: routes from the table of operations, problems for errors, guards round all of it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager, nullcontext
from difflib import get_close_matches
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import Lifespan

from mnemic import _version
from mnemic.errors import MnemicError
from mnemic.faces.server.event_stream import feed
from mnemic.faces.server.guards import BODY_LIMIT, LOOPBACK_HOSTS, Guards
from mnemic.faces.server.listeners import Listeners
from mnemic.faces.server.mem0_surface import mem0_routes
from mnemic.faces.server.openapi import document
from mnemic.faces.server.problems import logged_problem, plain_problem
from mnemic.faces.server.prometheus import RequestMeter, metrics
from mnemic.faces.server.readiness import Readiness, ready
from mnemic.faces.server.routes import addresses, operation_routes
from mnemic.faces.server.service import Service
from mnemic.operations.operation_table import OPERATIONS

if TYPE_CHECKING:
    from mnemic.faces.server.mcp_http import McpOverHttp


def application(
    service: Service,
    *,
    hosts: Collection[str] = LOOPBACK_HOSTS,
    body_limit: int = BODY_LIMIT,
    more: Sequence[BaseRoute] = (),
    lifespan: Lifespan[Starlette] | None = None,
) -> Starlette:
    """Make the application that serves a memory.

    Args:
        service: The memory, and who may ask; routes find it as `request.app.state.service`.
        hosts: Names by which it may be asked.
        body_limit: Bytes that a body may have.
        more: Routes beside those of the operations.
        lifespan: What is done before the first request and after the last.
    """
    routes = [
        *operation_routes(),  # first: what is asked for a thousand times a second passes no others on its way
        Route("/health", _health, methods=["GET"]),
        Route("/ready", ready, methods=["GET"]),
        Route("/openapi.json", _openapi, methods=["GET"]),
        Route("/metrics", metrics, methods=["GET"]),
        Route("/v1/feed", feed, methods=["GET"]),
        *mem0_routes(),
        *more,
    ]
    mcp = _mcp(service, hosts, body_limit)
    app = Starlette(
        routes=routes if mcp is None else [*routes, *mcp.routes()],
        middleware=[
            Middleware(RequestMeter, meters=service.memory.admin.meters),
            Middleware(Guards, hosts=hosts, body_limit=body_limit),
        ],
        exception_handlers={MnemicError: _on_error, HTTPException: _on_http_error},
        lifespan=_around(service, mcp, lifespan),
    )
    app.router.redirect_slashes = False
    app.state.service, app.state.listeners = service, Listeners(service)
    app.state.readiness = Readiness(service.memory.admin)
    return app


def _mcp(service: Service, hosts: Collection[str], body_limit: int) -> McpOverHttp | None:
    """Offer MCP beside REST where its SDK is installed."""
    if find_spec("mcp") is None:
        return None
    from mnemic.faces.server.mcp_http import McpOverHttp

    return McpOverHttp(service, hosts, body_limit)


def _around(service: Service, mcp: McpOverHttp | None, lifespan: Lifespan[Starlette] | None) -> Lifespan[Starlette]:
    """Have MCP answer for as long as the application runs, and no verb run on after it."""

    @asynccontextmanager
    async def running(app: Starlette) -> AsyncIterator[None]:
        try:
            async with (
                nullcontext() if mcp is None else mcp.running(),
                nullcontext() if lifespan is None else lifespan(app),
            ):
                yield
        finally:
            await service.close_pool()

    return running


@cache
def _paths() -> tuple[str, ...]:
    return tuple(dict.fromkeys(path for _, _, path in addresses(OPERATIONS.values())))


async def _health(_: Request) -> Response:
    """Answer that the process answers; it looks at no memory."""
    return JSONResponse({"status": "ok", "version": _version.__version__})


async def _openapi(_: Request) -> Response:
    return Response(_document(), media_type="application/json")


@cache
def _document() -> bytes:
    return json.dumps(document(), ensure_ascii=False).encode()


async def _on_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, MnemicError)
    return logged_problem(error, request.state.request_id)


async def _on_http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    detail, headers = error.detail, error.headers or {}
    if error.status_code == 404:
        near = get_close_matches(request.url.path, _paths(), 1, 0.8)
        meant = f" Did you mean {near[0]}?" if near else ""
        detail = f"There is nothing at this address.{meant} /openapi.json lists what there is."
    elif error.status_code == 405:
        taking = "/v1/forget hides items, /v1/erase takes them out for good; " if request.method == "DELETE" else ""
        detail = (
            f"{request.method} is not for this address; it takes {headers['Allow']}. {taking}/openapi.json lists all."
        )
    return plain_problem(error.status_code, detail, request.state.request_id, headers)
