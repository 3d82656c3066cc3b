"""Who asked to be told when a resource changes, in both generations of the protocol; nobody else is.

Older clients say `resources/subscribe`, and are told on their one connection; newer ones keep `subscriptions/listen`
open. Changes made by other processes on the same store are not seen here.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import mcp_types as types
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ResourceUpdated

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext
    from mcp.server.session import ServerSession

Watched = dict[str, "ServerSession"]
"""What one connection asked to be told of, and the way to it."""


class Subscriptions:
    """Tells clients of changes to the resources that they subscribed to."""

    def __init__(self) -> None:
        self._bus = InMemorySubscriptionBus()
        self._connections: list[Watched] = []
        self.listen = ListenHandler(self._bus)

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[Watched]:
        """Keep the subscriptions of one client until it leaves."""
        mine: Watched = {}
        self._connections.append(mine)
        try:
            yield mine
        finally:
            self._connections[:] = [other for other in self._connections if other is not mine]

    async def subscribe(
        self, ctx: ServerRequestContext[Watched, Any], params: types.SubscribeRequestParams
    ) -> types.EmptyResult:
        """Subscribe, as the older protocol's clients do."""
        ctx.lifespan_context[str(params.uri)] = ctx.session
        return types.EmptyResult()

    async def unsubscribe(
        self, ctx: ServerRequestContext[Watched, Any], params: types.UnsubscribeRequestParams
    ) -> types.EmptyResult:
        """Unsubscribe, as the older protocol's clients do."""
        ctx.lifespan_context.pop(str(params.uri), None)
        return types.EmptyResult()

    async def changed(self, uris: Sequence[str]) -> None:
        """Tell subscribers that these resources may have changed."""
        for uri in uris:
            await self._bus.publish(ResourceUpdated(uri=uri))
            for asked in list(self._connections):
                if uri in asked:
                    await asked[uri].send_resource_updated(uri)
