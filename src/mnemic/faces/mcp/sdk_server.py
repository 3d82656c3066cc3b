"""The official SDK's own server over what is offered; it speaks both generations of the Model Context Protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp.server.lowlevel import Server

from mnemic import _version
from mnemic.faces.mcp.methods import HINTS, NAME, Offer

if TYPE_CHECKING:
    from mnemic.faces.mcp.served_memory import ServedMemory
    from mnemic.faces.mcp.subscriptions import Watched


def build(served: ServedMemory) -> Server[Watched]:
    """The server of what `served` offers. The memory is opened behind the answer to the first request."""
    offer = Offer(served)
    server = server_of(offer)
    server.middleware.append(offer.opened_behind)
    return server


def server_of(offer: Offer) -> Server[Watched]:
    """The server that gives the answers of an offer."""
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
    return server
