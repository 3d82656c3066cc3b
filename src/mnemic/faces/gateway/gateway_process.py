"""One process of a gateway: it opens the store, and answers on a socket until it is told to stop."""

from __future__ import annotations

import signal
import socket
from collections.abc import Callable
from dataclasses import dataclass

import uvicorn

from mnemic.credentials.authenticator import Authenticator
from mnemic.faces.gateway.relay import GatewayOptions, application
from mnemic.faces.gateway.remembering import Caller, Remembering
from mnemic.faces.server.bounded_protocol import BoundedHttpProtocol
from mnemic.faces.server.guards import LOOPBACK_HOSTS, Guards
from mnemic.faces.server.service import DRAIN_SECONDS
from mnemic.memory import Memory
from mnemic.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class GatewayProcess:
    """What a process of a gateway needs to know; it is sent to each of several.

    Attributes:
        where: The store.
        names: Host names by which it may be asked, beside those of this machine.
        proving: Whether each request must prove who asks; else whoever asks is this machine's owner.
    """

    where: str
    settings: Settings
    options: GatewayOptions
    names: tuple[str, ...]
    proving: bool

    def serve(self, bound: socket.socket, ready: Callable[[], None] = lambda: None) -> None:
        """Open the store and answer on a bound socket until a signal ends it; `ready` is called once one would."""
        with Memory(self.where, settings=self.settings) as memory:
            asked = Authenticator.from_settings(memory.keys, self.settings) if self.proving else None
            remembering = Remembering(memory, budget=self.options.budget, cache=self.options.cache)
            relay = application(remembering, self.options, asked)
            app = Guards(relay, (*LOOPBACK_HOSTS, *self.names), self.options.body_limit, own=False)
            config = uvicorn.Config(
                app, http=BoundedHttpProtocol, ws="none", access_log=False, log_level="warning", proxy_headers=False,
                server_header=False, date_header=False, timeout_graceful_shutdown=DRAIN_SECONDS,
            )  # fmt: skip
            server = uvicorn.Server(config)
            for number in (signal.SIGTERM, signal.SIGINT):
                # Uvicorn takes signals only while it runs, and raises them again once it has drained.
                signal.signal(number, server.handle_exit)
            _load_recall()
            if self.options.user is not None:
                remembering.warm(Caller(tenant=self.options.tenant, user=self.options.user))
            ready()
            server.run(sockets=[bound])


def _load_recall() -> None:
    """Recall something in a store of its own: where nothing is remembered yet, a look at that loads next to nothing."""
    with Memory("memory:", settings=Settings(embedder="none", background=False)) as memory:
        me = memory.scope(user="me")
        me.observe(["I live in Lisbon.", "Which city was it?"])
        me.context("Where do I live?")
        me.recall("Where do I live?")
