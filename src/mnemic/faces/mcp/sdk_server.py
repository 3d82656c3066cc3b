"""The official SDK's own server over what is offered; it speaks both generations of the Model Context Protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp.server.lowlevel import Server

from mnemic import _version
from mnemic.faces.mcp.methods import HINTS, NAME, Offer

if TYPE_CHECKING:
    from mnemic.faces.mcp.served_memory import Visit
    from mnemic.faces.mcp.subscriptions import Watched


def build(visit: Visit) -> Server[Watched]:
    """The server of what `visit` offers. The memory is opened behind the answer to the first request."""
    offer = Offer(visit)
    server = Server(
        NAME,
        version=_version.__version__,
        title=NAME,
        instructions=offer.instructions,
        cache_hints=HINTS,
        lifespan=offer.connection,
    )
    for method, (params, answer) in offer.answers().items():
        server.add_request_handler(method, params, answer)
    server.middleware.append(offer.opened_behind)
    return server
