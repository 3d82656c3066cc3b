"""MCP over streamable HTTP, beside REST: the same keys, the same open memory, a path for each profile of tools.

There are no sessions: each request proves who asks, and is about that one's memory, whatever its arguments say. So a
session's id is nothing that could be stolen, and any process may answer. Both generations of the protocol are spoken.
Each is answered by one document: no tool says anything before it is done, and proxies cut streams that begin too soon.
Nobody subscribes to resources here: their addresses are the same for every user, and a stream would have to outlive the
request that proved who asks. `GET /v1/feed` tells of commits within the walls, and for as long as a credential is good.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection
from contextlib import AsyncExitStack, asynccontextmanager, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Final

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.requests import Request
from starlette.routing import BaseRoute, Route

from mnemic.credentials.principal import Right
from mnemic.errors import MnemicError
from mnemic.faces.mcp.methods import Offer
from mnemic.faces.mcp.sdk_server import server_of
from mnemic.faces.mcp.served_memory import ServedMemory
from mnemic.faces.server.http_arguments import read_headers
from mnemic.faces.server.problems import logged_problem
from mnemic.registry import TOOLS

if TYPE_CHECKING:
    from starlette.types import Message, Receive, Scope, Send

    from mnemic.faces.mcp.methods import Context
    from mnemic.faces.server.service import Service
    from mnemic.memory import ScopedMemory

PATH: Final = "/mcp"
_METHODS: Final = ["GET", "POST", "DELETE"]
_SERVED: Final = "mnemic_served"


class McpOverHttp:
    """The tools of each profile over HTTP. Made once for an application, and run once.

    Args:
        hosts: Names by which the server may be asked, without ports.
    """

    def __init__(self, service: Service, hosts: Collection[str], body_limit: int) -> None:
        self._service = service
        self._endpoints = {profile: _Endpoint(service, profile, _security(hosts), body_limit) for profile in TOOLS}

    def routes(self) -> list[BaseRoute]:
        """Make the routes: `/mcp` for the verbs, `/mcp/reference` and `/mcp/files` for those profiles."""
        first = next(iter(TOOLS))
        paths = {profile: PATH if profile == first else f"{PATH}/{profile}" for profile in TOOLS}
        return [Route(paths[profile], endpoint, methods=_METHODS) for profile, endpoint in self._endpoints.items()]

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Answer requests until the block is left."""
        async with AsyncExitStack() as stack:
            for endpoint in self._endpoints.values():
                await stack.enter_async_context(endpoint.manager.run())
            yield


class _Endpoint:
    """One profile's endpoint: finds out who asks, and hands the request to the SDK."""

    def __init__(self, service: Service, profile: str, security: TransportSecuritySettings, body_limit: int) -> None:
        self._service, self._profile = service, profile
        listed = ServedMemory(lambda: nullcontext(_nobodys()), profile, read_only=service.read_only)
        self.manager = StreamableHTTPSessionManager(
            server_of(Offer(listed, _served_by_request, service.pool.run_admitted, subscribing=False)),
            stateless=True, json_response=True, security_settings=security, max_request_body_size=body_limit,
        )  # fmt: skip

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = await Request(scope, receive).body()  # before there is a place for it: a slow one keeps nobody out
        try:
            headers = read_headers(scope["headers"])
            served = await self._service.pool.run(lambda: self._served(headers, scope["method"]))
        except MnemicError as error:
            await logged_problem(error, scope["state"]["request_id"])(scope, receive, send)
            return
        scope["state"][_SERVED] = served
        await self.manager.handle_request(scope, _with_body(body, receive), send)

    def _served(self, headers: dict[str, str], method: str) -> ServedMemory:
        """The memory that a request is about, with the tools that its key's right allows; it blocks."""
        service, asked = self._service, f"mcp {self._profile}"
        reads = service.read_only or service.authenticator.authenticate(headers, method).right < Right.WRITE
        memory = service.scoped(headers, method=method, operation=asked)
        charge = partial(service.scoped, headers, Right.WRITE, method=method, operation=asked)
        return ServedMemory(lambda: nullcontext(memory), self._profile, read_only=reads, before_writing=charge)


def _with_body(body: bytes, receive: Receive) -> Receive:
    """Receive a body that was read already, and then what comes."""
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> Message:
        return messages.pop() if messages else await receive()

    return again


def _served_by_request(ctx: Context) -> ServedMemory:
    """The memory that the request of a context is about."""
    assert isinstance(ctx.request, Request)
    served = ctx.request.scope["state"][_SERVED]
    assert isinstance(served, ServedMemory)
    return served


def _nobodys() -> ScopedMemory:
    raise AssertionError("every request brings its own memory")


def _security(hosts: Collection[str]) -> TransportSecuritySettings:
    """Have the SDK check hosts and origins too: it does so on no address unless it is told to."""
    names = [f"[{host}]" if ":" in host else host for host in hosts]
    origins = [f"{scheme}://{name}" for scheme in ("http", "https") for name in names]
    return TransportSecuritySettings(
        enable_dns_rebinding_protection=True,
        allowed_hosts=[*names, *(f"{name}:*" for name in names)],
        allowed_origins=[*origins, *(f"{origin}:*" for origin in origins)],
    )
